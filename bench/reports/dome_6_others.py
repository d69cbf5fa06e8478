"""Run time without and with the machines of others."""

from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.products import NAMES, NEEDED, SET_UP, TARGETS, in_setting, seconds, spread, times

TITLE = "Dome, section 1: without and with the machines of others"
SOURCE = "sections 1 and 5"
WHAT = """A user has three machines; three more belong to others, whose programs take a changing part of them. Is it worth using them?"""
PUBLISHED_TEXT = """no figures of its own; that a network of machines which others use pays off is the paper's premise, and its production
experiment (Figure 5) the evidence."""
PUBLISHED = None
PROGRAMS = ["mmpvmopt", "mmdome-none", "mmdome"]
OWN = Part("products-own-hosts", 3, PROGRAMS, 46, in_setting("equal", ["--hosts", "3"]), targets=TARGETS)
OTHERS = Part("products-others-hosts", 3, PROGRAMS, 40, in_setting("others"), targets=TARGETS)
PARTS = NEEDED + [OWN, OTHERS]
DIFFERS = SET_UP + ["h1 to h3 have 25 % of a processor throughout, h4 to h6 follow `bench/mm/walk.events`, between an eighth and a quarter."]


def gains(r, program):
    """Round by round: three hosts over six."""
    own, others = r.data(OWN.key, program), r.data(OTHERS.key, program)
    return [own[k]["seconds"] / others[k]["seconds"] for k in sorted(set(own) & set(others))]


def middle(values):
    return times(spread(values)[0]) if values else "-"


def condense(r):
    rows = [[NAMES[p], seconds(r.median(OWN.key, p, "seconds")), seconds(r.median(OTHERS.key, p, "seconds")), middle(gains(r, p))] for p in PROGRAMS]
    rows.append(["oracle", seconds(r.median(OWN.key, "mmdome", "bound")), seconds(r.median(OTHERS.key, "mmdome", "bound")), ""])
    picture = svg.bars("Three hosts of one's own, and three of others besides", "seconds", [NAMES[p] for p in PROGRAMS], ["three own", "with three of others"],
                       [[spread(r.values(part.key, p, "seconds")) for part in (OWN, OTHERS)] for p in PROGRAMS])
    return [Table(["program", "three own hosts", "with three of others", "gain"], rows),
            Plot("dome_6_others", "Seconds on one's own hosts and with those of others", picture)]


def summary(r):
    return "times as fast with the machines of others: no balancing %s, Dome's default %s" % (middle(gains(r, "mmdome-none")), middle(gains(r, "mmdome")))
