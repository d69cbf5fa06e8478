"""CAPE, Table 4.2."""

from reporting import cape as C
from reporting.parts import Table
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "CAPE, Table 4.2: the product on one node, sequential and with OpenMP"
SOURCE = "%s, section 4.5, Table 4.2" % C.THESIS
WHAT = """The program with which CAPE is measured, on one node of two cores: without OpenMP, and with it."""
PUBLISHED_TEXT = """seconds. "Moreover, the speedup obtained by OpenMP is 1.8 for the first three matrix sizes and 1.65 for the fourth one, which are expected
values." The ratios are computed."""
SECONDS = {375: (258.9, 142.4), 750: (1852.7, 1048.7), 1125: (7314.5, 3986.2), 1500: (14990.5, 8999.4)}
PUBLISHED = Table(["size", "sequential", "OpenMP", "ratio"],
                  [[C.PUBLISHED_SIZES[n], "%.1f" % a, "%.1f" % b, "%.2f" % (a / b)] for n, (a, b) in SECONDS.items()])
PARTS = [C.ALONE]
NO_CLAIMS = ""
DIFFERS = ["An eighth of the thesis's sizes, on each side.", "*threads*: gcc's OpenMP with two threads. *tasks*: OpenMP over two tasks of this library."]


def condense(r):
    return [Table(["size", "sequential, s", "threads, s", "tasks, s", "sequential over threads", "sequential over tasks"],
                  [[str(n)] + [ranged(C.values(r, C.ALONE, n, name, "seconds"), "%.3f") for name in ("sequential", "threads", "tasks")] +
                   [ranged(C.over(r, C.ALONE, n, "sequential", name)) for name in ("threads", "tasks")] for n in C.SIZES])]


BUSY = """In rounds that other programs disturb, a second thread or task has no processor of its own; the second task also fetches the
matrices."""


def claims(r):
    return [Claim("%d: sequential over two %s" % (n, name), a / b, C.over(r, C.ALONE, n, "sequential", name), why={"worse": BUSY})
            for n, (a, b) in SECONDS.items() for name in ("threads", "tasks")]
