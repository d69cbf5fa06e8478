"""Dome 1995, section 5.2: other numbers of machines, other sizes."""

from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.products import NAMES, NEEDED, SET_UP, SLOW, TARGETS, in_setting, spread, times

TITLE = "Dome, section 5.2: other numbers of machines and other sizes"
SOURCE = "section 5.2"
WHAT = """The experiment with one slow machine on 4, 6 and 8 machines, and with half and twice the matrix."""
PUBLISHED_TEXT = """the paper says that 4 to 8 machines and other sizes were measured and that the results with six machines represent them; it gives
no figures."""
PUBLISHED = None
PROGRAMS = ["mmpvmopt", "mmdome-none", "mmdome-3", "mmdome"]
ROUNDS = 3
HALF = 0.5  # of the products: a step takes as long, the run half as long
HOSTS_4 = Part("products-slow-4-hosts", ROUNDS, PROGRAMS, 36, in_setting("slow", ["--hosts", "4"], HALF), targets=TARGETS)
HOSTS_8 = Part("products-slow-8-hosts", ROUNDS, PROGRAMS, 22, in_setting("slow", ["--hosts", "8", "--share", "20"], HALF), targets=TARGETS)
SMALL = Part("products-slow-half-size", ROUNDS, PROGRAMS, 14, in_setting("slow", [], HALF, 0.5), targets=TARGETS)
LARGE = Part("products-slow-twice-size", ROUNDS, PROGRAMS, 45, in_setting("slow", [], HALF, 2.0), targets=TARGETS)
PARTS = NEEDED + [SLOW, HOSTS_4, HOSTS_8, SMALL, LARGE]
DIFFERS = SET_UP + ["120 products (six hosts: 240). Eight hosts have 20 % of a processor each, the others 25 %."]
CASES = [("4 hosts", HOSTS_4), ("6 hosts", SLOW), ("8 hosts", HOSTS_8), ("half size", SMALL), ("twice the size", LARGE)]


def condense(r):
    rows = [[name] + [times(r.ratio(part.key, program, "bound")) for program in PROGRAMS] +
            [times(r.ratio(part.key, "mmdome-none", "mmdome"))] for name, part in CASES]
    picture = svg.bars("One slow host: time over the oracle's", "time / oracle's time", [name for name, _ in CASES],
                       [NAMES[program] for program in PROGRAMS],
                       [[spread(r.ratios(part.key, program, "bound")) for program in PROGRAMS] for _, part in CASES])
    return [Table(["over the oracle"] + [NAMES[p] for p in PROGRAMS] + ["no balancing over Dome's default"], rows),
            Plot("dome_6_sizes", "Time over the oracle's for several numbers of hosts and sizes", picture)]


def summary(r):
    return "Dome's default over the oracle: %s" % ", ".join("%s %s" % (name, times(r.ratio(part.key, "mmdome", "bound"))) for name, part in CASES)
