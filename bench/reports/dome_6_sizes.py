"""Dome 1995, section 5.2: other numbers of machines, other sizes."""

from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.products import ALONE, NAMES, NEEDED, SET_UP, SLOW, TARGETS, in_setting, spread, times

TITLE = "Dome, section 5.2: other numbers of machines and other sizes"
SOURCE = "section 5.2"
WHAT = """The experiment with one slow machine on 4, 6 and 8 machines, and with half and twice the matrix."""
PUBLISHED_TEXT = """no figures: from 4 to 8 machines, various sizes and various numbers of phases were measured, and "the results presented here for the
case of six machines are representative of the overall behavior of the programs"."""
PUBLISHED = None
PROGRAMS = ["mmpvmopt", "mmdome-none", "mmdome-3", "mmdome"]
ROUNDS = 3
HALF = 0.5  # of the products: a step takes as long, the run half as long


def part(name, seconds, words, rows=1.0):
    return Part("products-slow-" + name, ROUNDS, PROGRAMS, seconds, in_setting("slow", words, HALF, rows), targets=TARGETS, needs=ALONE)


HOSTS_4 = part("4-hosts", 36, ["--hosts", "4"])
HOSTS_8 = part("8-hosts", 22, ["--hosts", "8", "--share", "20"])
SMALL = part("half-size", 14, [], 0.5)
LARGE = part("twice-size", 45, [], 2.0)
PARTS = NEEDED + [SLOW, HOSTS_4, HOSTS_8, SMALL, LARGE]
DIFFERS = SET_UP + ["120 products (six hosts: 240). Eight hosts have 20 % of a processor each, the others 25 %."]
NO_CLAIMS = "The paper has no figures for this. The table shows how far six hosts stand for the others here."
CASES = [("4 hosts", HOSTS_4), ("6 hosts", SLOW), ("8 hosts", HOSTS_8), ("half size", SMALL), ("twice the size", LARGE)]


def claims(r):
    return []


def condense(r):
    rows = [[name] + [times(r, part, program, "bound") for program in PROGRAMS] + [times(r, part, "mmdome-none", "mmdome")] for name, part in CASES]
    picture = svg.bars("One slow host: time over the oracle's", "time / oracle's time", [name for name, _ in CASES],
                       [NAMES[program] for program in PROGRAMS],
                       [[spread(r.ratios(part.key, program, "bound")) for program in PROGRAMS] for _, part in CASES])
    return [Table(["over the oracle"] + [NAMES[p] for p in PROGRAMS] + ["no balancing over Dome's default"], rows),
            Plot("dome_6_sizes", "Time over the oracle's for several numbers of hosts and sizes", picture)]
