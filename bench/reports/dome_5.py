"""Dome 1995, Figure 5."""

from reporting.parts import Table
from reporting.products import CHANGING, NEEDED, SET_UP, beside_1995, held, published

TITLE = "Dome, Figure 5: machines that others use as well"
SOURCE = "section 5.2, Figures 5 and 6"
WHAT = """The same programs on six machines whose loads change while the programs run: in 1995 a cluster in production, at various hours,
45 runs of each program."""
PUBLISHED_TEXT = """Dome with balancing "is only 10% slower than the hand-optimized PVM implementation", and presents "a significant gain of 44% over the
equivalent PVM implementation (*mmpvm*)": 199/179 = 1.11 and 287/199 = 1.44 of the table, which has the mean seconds of Figure 6."""
PUBLISHED = Table(["mmpvmopt", "mmpvm", "no balancing", "lb3"], [published(CHANGING, "mmpvmopt", "mmpvm", "mmdome-none", "mmdome-3")])
PARTS = NEEDED + [CHANGING]
DIFFERS = SET_UP + [
    "Every 5 to 10 s a host's share is halved (1 time in 3) or doubled, between an eighth and a quarter of a processor "
    "(`bench/mm/walk.events`); all programs of a round get the same changes, and each round begins 30 s later in the record, so rounds differ.",
    "A run takes about a minute in place of three to five: a phase is worth less where speeds change so soon after it.",
]
NO_CLAIMS = ""
WORSE = """Speeds change every 5 to 10 s here, and lb3 balances three times in the first quarter of the run: by the end its division is that of
speeds long gone, and no better than equal parts. Dome's default, which the paper lacks, goes on balancing; what it gains is in the table
above."""


def claims(r):
    return [held(r, CHANGING, "mmpvm", "mmdome-3", why={"worse": WORSE}), held(r, CHANGING, "mmdome-none", "mmdome-3", why={"worse": WORSE}),
            held(r, CHANGING, "mmdome-3", "mmpvmopt", more=False)]


def condense(r):
    return beside_1995(r, CHANGING, "dome_5", "Six hosts with changing shares", "Seconds of each program on hosts with changing shares")
