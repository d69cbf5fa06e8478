"""Dome 1995, Figure 4."""

from reporting.parts import Table
from reporting.products import NEEDED, SET_UP, SLOW, beside_1995, times

TITLE = "Dome, Figure 4: one of six machines is loaded"
SOURCE = "section 5.2, Figures 4 and 6"
WHAT = """240 products of matrices on six machines, of which one is slower than the others throughout: programs written for PVM by hand,
Dome without balancing, and Dome with one, two and three balancing phases (lb1 to lb3)."""
PUBLISHED_TEXT = """with balancing, Dome is 35 % faster than `mmpvm` and 13 % faster than `mmpvmopt`; more than one phase gains little. The
table has the seconds of Figure 6."""
PUBLISHED = Table(["mmpvmopt", "mmpvm", "no balancing", "lb3"], [["380", "451", "671", "335"]])
PARTS = NEEDED + [SLOW]
DIFFERS = SET_UP + [
    "The slow host (h4) has a third of the others' share. In 1995 the slow machine was loaded by other programs; the sequential program "
    "took three times as long there.",
    "lb1 to lb3: phases after 1, 2 and 3 twelfths of the run. Dome's default chooses its phases itself.",
]


def condense(r):
    published = {"mmpvmopt": 380, "mmpvm": 451, "mmdome-none": 671, "mmdome-3": 335}
    return beside_1995(r, SLOW, published, "dome_4", "One of six hosts at a third of its speed",
                       "Seconds of each program with one slow host")


def summary(r):
    return "no balancing over lb3: 2.00, %s; `mmpvmopt` over lb3: 1.13, %s" % (
        times(r.ratio(SLOW.key, "mmdome-none", "mmdome-3")), times(r.ratio(SLOW.key, "mmpvmopt", "mmdome-3")))
