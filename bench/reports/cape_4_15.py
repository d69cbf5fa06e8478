"""CAPE, Figure 4.15."""

from reporting import cape as C
from reporting.parts import Table
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "CAPE, Figure 4.15: the speedup"
SOURCE = "%s, section 4.5.3, Figure 4.15" % C.THESIS
WHAT = """The sequential time over that of CAPE-2 by number of nodes."""
PUBLISHED_TEXT = """a plot, of which the text says: "the solution provides an efficiency (the ratio of the speedup over the number of nodes) in the range from 75%
to 90% which is very good. Also, it highlights that the larger the size of matrices, the higher the speedup"."""
PUBLISHED = None
PARTS = [C.ALONE, C.BY_NODES]
DIFFERS = C.DIFFERS + ["The efficiency here is the speedup over the processors, of which there are two, since three nodes have two slaves: 3 nodes of CAPE-2 and of "
                       "MPI by hand, and two tasks."]
NO_CLAIMS = ""
SHARED = """Two slaves and the master share two processors with whatever else runs; the product takes a second or two in place of hours."""


def speedups(r, way):
    """By round: the sequential time over that of three nodes with two slaves, of the same round."""
    pairs = r.beside(C.BY_NODES.key, str(C.NODES[0]), C.ALONE.key, str(C.LARGEST))
    return [alone["sequential"]["seconds"] / nodes[way]["seconds"] for nodes, alone in pairs if way in nodes]


def condense(r):
    rows = [[text, ranged(speedups(r, way)), "%s %%" % ranged([50 * s for s in speedups(r, way)], "%.0f") if speedups(r, way) else "-"]
            for way, text in C.WAYS.items() if way != "openmp"]
    tasks = C.over(r, C.ALONE, C.LARGEST, "sequential", "tasks")
    rows.append([C.WAYS["openmp"] + ", 2 tasks", ranged(tasks), "%s %%" % ranged([50 * s for s in tasks], "%.0f") if tasks else "-"])
    return [Table(["%d x %d" % (C.LARGEST, C.LARGEST), "speedup", "of two processors"], rows)]


def claims(r):
    return [Claim("CAPE-2: speedup over slaves, in percent", (75.0, 90.0), [50 * s for s in speedups(r, "cape2")], form="%.0f", why={"worse": SHARED}),
            Claim("this library: speedup over tasks, in percent", (75.0, 90.0), [50 * s for s in C.over(r, C.ALONE, C.LARGEST, "sequential", "tasks")], form="%.0f",
                  why={"worse": SHARED})]
