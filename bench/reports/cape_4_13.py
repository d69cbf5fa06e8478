"""CAPE, Figure 4.13."""

from reporting import cape as C
from reporting.verdict import Claim

TITLE = "CAPE, Figure 4.13: the phases of the product by number of nodes"
SOURCE = "%s, section 4.5.2, Figure 4.13" % C.THESIS
WHAT = """Where the time goes on the master and on the slaves: *init* until the loop begins, *before* until each slave has its part, *compute*, *update* until
the results are at the master. 9,000 x 9,000 there."""
PUBLISHED_TEXT = """plots, of which the text says: "In the *Before* phase of CAPE-2 and MPI, the time is very small and quite similar for the different number
of nodes. It is very different for the case of CAPE-1, as this time is very important and directly proportional to the number of nodes." In *compute* "the time is
always longer with CAPE-2. However, the larger the number of nodes, the smaller the difference"."""
PUBLISHED = None
PARTS = [C.BY_NODES]
DIFFERS = C.DIFFERS
NO_CLAIMS = ""


def condense(r):
    return C.phases_tables(r, C.BY_NODES, C.NODES, "nodes")


def claims(r):
    most, few = C.NODES[-1], C.NODES[0]
    return [Claim("CAPE-1, master: before by 31 nodes over that by 3 (as the slaves, 15)", (most - 1) / (few - 1),
                  C.between_items(r, C.BY_NODES, most, few, "cape1", "before"), more=False),
            Claim("31 nodes, master: CAPE-2's before over CAPE-1's (far below 1)", (0, 0.1), C.over(r, C.BY_NODES, most, "cape2", "cape1", "before"), more=False, form="%.4f"),
            Claim("3 nodes, slaves: CAPE-2's compute over MPI's (above 1)", (1, 10), C.over(r, C.BY_NODES, few, "cape2", "by_hand", "slaves-compute"), more=False)]
