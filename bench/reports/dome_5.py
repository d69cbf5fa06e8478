"""Dome 1995, Figure 5."""

from reporting import svg
from reporting.parts import Plot, Table
from reporting.products import ALL, CHANGING, NAMES, NEEDED, SET_UP, seconds, spread, times

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
    published = {"mmpvmopt": 179 / 199, "mmpvm": 287 / 199, "mmdome-none": 276 / 199, "mmdome-3": 1.0}
    rows = [[NAMES[name], seconds(r.median(CHANGING.key, name, "seconds")), times(r.ratio(CHANGING.key, name, "bound")),
             times(r.ratio(CHANGING.key, name, "mmdome-3")), times(published.get(name))] for name in ALL]
    picture = svg.bars("Six hosts with changing shares", "seconds", [""], [NAMES[name] for name in ALL],
                       [[spread(r.values(CHANGING.key, name, "seconds")) for name in ALL]])
    return [Table(["program", "seconds", "over the oracle", "over lb3", "over lb3 in 1995"], rows),
            Plot("dome_5", "Seconds of each program on hosts with changing shares", picture)]


def summary(r):
    return "`mmpvm` over lb3: 1.44, %s; over Dome's default: %s" % (
        times(r.ratio(CHANGING.key, "mmpvm", "mmdome-3")), times(r.ratio(CHANGING.key, "mmpvm", "mmdome")))
