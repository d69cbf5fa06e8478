"""Dome 1995, Figure 6."""

from reporting import svg
from reporting.parts import Plot, Table
from reporting.products import (ALONE, CHANGING, EQUAL, NAMES, NEEDED, SECONDS_1995, SET_UP, SLOW, held, over_1995, published, seconds, spread,
                                times)
import dome_4
import dome_5

TITLE = "Dome, Figure 6: three experiments"
SOURCE = "section 5.2, Figure 6"
WHAT = """Mean seconds of the sequential program, of two programs written for PVM by hand and of Dome without and with balancing, on equal
machines, with one loaded, and on machines in production."""
PUBLISHED_TEXT = """"the overhead of unnecessary load balancing is around 6%" (184/174)."""
ROW = ["mmseq", "mmpvmopt", "mmpvm", "mmdome-none", "mmdome-3"]
PUBLISHED = Table(["experiment", "mmseq", "mmpvmopt", "mmpvm", "no balancing", "lb3"],
                  [["1: equal"] + published(EQUAL, *ROW), ["2: one loaded"] + published(SLOW, *ROW), ["3: production"] + published(CHANGING, *ROW)])
PARTS = NEEDED + [EQUAL, SLOW, CHANGING]
DIFFERS = SET_UP + [
    "`mmseq` runs on a host of 25 % with nothing else on it; the paper's three values are those of the machines of each experiment.",
    "The oracle knows all speeds in advance and never waits: the work over the sum of the shares at each moment. The work is the processor time of "
    "`mmseq` in the same round. A program can still be some percent faster: the processors of a virtual machine are not always equally fast, and "
    "a part of the matrix fits the caches where the whole does not.",
]
NO_CLAIMS = ""
COLUMNS = ["mmpvmopt", "mmpvm", "mmdome-none", "mmdome-3", "mmdome"]
EXPERIMENTS = [("1: equal", EQUAL), ("2: one slow", SLOW), ("3: changing", CHANGING)]


def claims(r):
    return [held(r, EQUAL, "mmdome-3", "mmdome-none", more=False, text="needless balancing (lb3 over none)"),
            held(r, EQUAL, "mmdome-none", "mmpvm", more=False),
            held(r, SLOW, "mmdome-none", "mmdome-3", why={"better": dome_4.BETTER}),
            held(r, CHANGING, "mmdome-none", "mmdome-3", why={"worse": dome_5.WORSE})]


def condense(r):
    ours = [[name, seconds(r, ALONE, "mmseq") if part is EQUAL else ""] + [seconds(r, part, column) for column in COLUMNS] +
            [seconds(r, part, "mmdome", "bound")] for name, part in EXPERIMENTS]
    over = []
    for name, part in EXPERIMENTS:
        over.append([name] + ["%s; %.2f" % (times(r, part, column, "mmdome-3"), over_1995(part, column)) if column in SECONDS_1995[part.key] else
                              times(r, part, column, "mmdome-3") for column in COLUMNS])
    picture = svg.bars("Three experiments: time over the oracle's", "time / oracle's time", [name for name, _ in EXPERIMENTS],
                       [NAMES[column] for column in COLUMNS],
                       [[spread(r.ratios(part.key, column, "bound")) for column in COLUMNS] for _, part in EXPERIMENTS])
    return [Table(["seconds", "mmseq"] + [NAMES[c] for c in COLUMNS] + ["oracle"], ours),
            Table(["over lb3: ours; in 1995"] + [NAMES[c] for c in COLUMNS], over),
            Plot("dome_6", "Time of each program over the oracle's in three experiments", picture)]
