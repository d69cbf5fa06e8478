"""Dome 1995, Figure 5."""

from reporting.parts import Table
from reporting.products import CHANGING, NEEDED, SET_UP, beside_1995, times

TITLE = "Dome, Figure 5: machines that others use as well"
SOURCE = "section 5.2, Figures 5 and 6"
WHAT = """The same programs on six machines whose loads change while the programs run: in 1995 a cluster in production, at various hours,
45 runs of each program."""
PUBLISHED_TEXT = """with balancing, Dome needs 10 % more than `mmpvmopt` and, by the text, 44 % less than `mmpvm` (by its table 31 %). The table has
the seconds of Figure 6."""
PUBLISHED = Table(["mmpvmopt", "mmpvm", "no balancing", "lb3"], [["179", "287", "276", "199"]])
PARTS = NEEDED + [CHANGING]
DIFFERS = SET_UP + [
    "Every 5 to 10 s a host's share is halved (1 time in 3) or doubled, between an eighth and a quarter of a processor "
    "(`bench/mm/walk.events`); all programs of a round get the same changes, and each round begins 30 s later in the record.",
    "A run takes about a minute in place of five: a phase is worth less where speeds change so soon after it.",
]


def condense(r):
    published = {"mmpvmopt": 179, "mmpvm": 287, "mmdome-none": 276, "mmdome-3": 199}
    return beside_1995(r, CHANGING, published, "dome_5", "Six hosts with changing shares",
                       "Seconds of each program on hosts with changing shares")


def summary(r):
    return "`mmpvm` over lb3: 1.44, %s; over Dome's default: %s" % (
        times(r.ratio(CHANGING.key, "mmpvm", "mmdome-3")), times(r.ratio(CHANGING.key, "mmpvm", "mmdome")))
