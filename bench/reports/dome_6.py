"""Dome 1995, Figure 6."""

from reporting import svg
from reporting.parts import Plot, Table
from reporting.products import ALONE, CHANGING, EQUAL, NEEDED, NAMES, SET_UP, SLOW, seconds, spread, times

TITLE = "Dome, Figure 6: three experiments"
SOURCE = "section 5.2, Figure 6"
WHAT = """Mean seconds of the sequential program, of two programs written for PVM by hand and of Dome without and with balancing, on equal
machines, with one loaded, and on machines in production."""
PUBLISHED_TEXT = ""
PUBLISHED = Table(["experiment", "mmseq", "mmpvmopt", "mmpvm", "no balancing", "lb3"],
                  [["1: equal", "655", "109", "171", "174", "184"], ["2: one loaded", "1964", "380", "451", "671", "335"],
                   ["3: production", "498", "179", "287", "276", "199"]])
PARTS = NEEDED + [EQUAL, SLOW, CHANGING]
DIFFERS = SET_UP + [
    "`mmseq` runs on a host of 25 % with nothing else on it; the paper's three values are those of the machines of each experiment.",
    "The oracle knows all speeds in advance and never waits: the work over the sum of the shares at each moment.",
]
COLUMNS = ["mmpvmopt", "mmpvm", "mmdome-none", "mmdome-3", "mmdome"]
EXPERIMENTS = [("1: equal", EQUAL, (109, 171, 174, 184)), ("2: one slow", SLOW, (380, 451, 671, 335)), ("3: changing", CHANGING, (179, 287, 276, 199))]


def condense(r):
    alone = seconds(r.median(ALONE.key, "mmseq", "seconds"))
    ours = [[name, alone if part is EQUAL else ""] + [seconds(r.median(part.key, column, "seconds")) for column in COLUMNS] +
            [seconds(r.median(part.key, "mmdome", "bound"))] for name, part, _ in EXPERIMENTS]
    over = []
    for name, part, published in EXPERIMENTS:
        cells = ["%s (%.2f)" % (times(r.ratio(part.key, column, "mmdome-3")), published[k] / published[3]) if k < 4 else
                 times(r.ratio(part.key, column, "mmdome-3")) for k, column in enumerate(COLUMNS)]
        over.append([name] + cells)
    picture = svg.bars("Three experiments: time over the oracle's", "time / oracle's time", [name for name, _, _ in EXPERIMENTS],
                       [NAMES[column] for column in COLUMNS],
                       [[spread(r.ratios(part.key, column, "bound")) for column in COLUMNS] for _, part, _ in EXPERIMENTS])
    return [Table(["seconds", "mmseq"] + [NAMES[c] for c in COLUMNS] + ["oracle"], ours),
            Table(["over lb3 (in 1995)"] + [NAMES[c] for c in COLUMNS], over),
            Plot("dome_6", "Time of each program over the oracle's in three experiments", picture)]


def summary(r):
    return "cost of needless balancing, equal hosts: 1.06, %s; no balancing over lb3: 0.95, 2.00, 1.39; %s" % (
        times(r.ratio(EQUAL.key, "mmdome-3", "mmdome-none")),
        ", ".join(times(r.ratio(part.key, "mmdome-none", "mmdome-3")) for _, part, _ in EXPERIMENTS))
