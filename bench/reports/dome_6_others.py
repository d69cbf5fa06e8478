"""Run time without and with the machines of others."""

from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.products import ALONE, NAMES, NEEDED, SET_UP, TARGETS, in_setting, seconds, spread
from reporting.rounds import ranged

TITLE = "Dome, section 1: without and with the machines of others"
SOURCE = "sections 1 and 5"
WHAT = """A user has three machines; three more belong to others, whose programs take a changing part of them. Is it worth using them?"""
PUBLISHED_TEXT = """no figures. "A collection of workstations can be the computational equivalent of a supercomputer" is where the paper begins, and its
production experiment (Figure 5) is the evidence."""
PUBLISHED = None
PROGRAMS = ["mmpvmopt", "mmdome-none", "mmdome"]
OWN = Part("products-own-hosts", 3, PROGRAMS, 46, in_setting("equal", ["--hosts", "3"]), targets=TARGETS, needs=ALONE)
OTHERS = Part("products-others-hosts", 3, PROGRAMS, 40, in_setting("others"), targets=TARGETS, needs=ALONE)
PARTS = NEEDED + [OWN, OTHERS]
DIFFERS = SET_UP + ["h1 to h3 have 25 % of a processor throughout, h4 to h6 follow `bench/mm/walk.events`, between an eighth and a quarter."]
NO_CLAIMS = "The paper has no figures for this."


def claims(r):
    return []


def gains(r, program):
    """Round by round: three hosts over six."""
    return [own["seconds"] / others["seconds"] for own, others in r.beside(OWN.key, program, OTHERS.key, program)]


def condense(r):
    rows = [[NAMES[p], seconds(r, OWN, p), seconds(r, OTHERS, p), ranged(gains(r, p))] for p in PROGRAMS]
    rows.append(["oracle", seconds(r, OWN, "mmdome", "bound"), seconds(r, OTHERS, "mmdome", "bound"), ""])
    picture = svg.bars("Three hosts of one's own, and three of others besides", "seconds", [NAMES[p] for p in PROGRAMS], ["three own", "with three of others"],
                       [[spread(r.values(part.key, p, "seconds")) for part in (OWN, OTHERS)] for p in PROGRAMS])
    return [Table(["program", "three own hosts", "with three of others", "times as fast"], rows),
            Plot("dome_6_others", "Seconds on one's own hosts and with those of others", picture)]
