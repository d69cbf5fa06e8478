"""CAPE, Figure 4.11."""

from reporting import cape as C
from reporting import svg
from reporting.parts import Plot
from reporting.rounds import spread
from reporting.verdict import Claim

TITLE = "CAPE, Figure 4.11: the product by more and more nodes"
SOURCE = "%s, section 4.5.1, Figure 4.11" % C.THESIS
WHAT = """The product of two matrices of 12,000 x 12,000 on 3 to 31 nodes, by CAPE with complete checkpoints, by CAPE with incremental ones, and by MPI."""
PUBLISHED_TEXT = """a plot, of which the text says: "One can remark that the 3-node case apart, the execution time when using incremental checkpoints is always
better than the execution time using complete checkpoints." CAPE-2 and MPI are "getting closer and closer as the number of nodes is increasing". With
complete checkpoints, "for larger number of nodes, the execution time [...] is directly proportional to the number of nodes. This is due to the amount of data
that is transmitted over the network"."""
PUBLISHED = None
PARTS = [C.BY_NODES]
DIFFERS = C.DIFFERS
NO_CLAIMS = ""


def condense(r):
    series = []
    for way, text in C.WAYS.items():
        points = [(n,) + spread([b / 1e6 for b in C.values(r, C.BY_NODES, n, way, "bytes")]) for n in C.NODES if C.values(r, C.BY_NODES, n, way, "bytes")]
        series += [(text, points, "line")] if points else []
    plot = [Plot("cape_4_11", "MB sent by number of nodes", svg.lines("What a product of matrices sends", "nodes", "MB", series, ylog=True))] if series else []
    return [C.seconds_table(r, C.BY_NODES, C.NODES, "nodes"), C.times_table(r, C.BY_NODES, C.NODES, "nodes")] + C.counts_tables(r, C.BY_NODES, C.NODES, "nodes") + plot


def claims(r):
    """What the text says, as ratios."""
    large, small = C.NODES[-1], C.NODES[1]
    found = [Claim("%d nodes: CAPE-2's time over CAPE-1's (below 1)" % n, (0, 1), C.over(r, C.BY_NODES, n, "cape2", "cape1"), more=False) for n in C.NODES[1:]]
    found.append(Claim("CAPE-1: bytes by 31 nodes over those by 7 (as the slaves, 5)", (large - 1) / (small - 1),
                       C.between_items(r, C.BY_NODES, large, small, "cape1", "bytes"), more=False, exact=True))
    found.append(Claim("31 nodes: this library's bytes over CAPE-1's (below 1)", (0, 1), C.over(r, C.BY_NODES, large, "openmp", "cape1", "bytes"), more=False))
    return found
