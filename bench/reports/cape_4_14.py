"""CAPE, Figure 4.14."""

from reporting import cape as C
from reporting.verdict import Claim

TITLE = "CAPE, Figure 4.14: the phases of the product by size"
SOURCE = "%s, section 4.5.2, Figure 4.14" % C.THESIS
WHAT = """The same phases on 31 nodes, for matrices of 3,000 to 12,000 rows and columns."""
PUBLISHED_TEXT = """plots, of which the text says: "the execution time of phase *Before* is very small for CAPE-2 and MPI and does almost not depend on the size of
the matrix. It is very different for CAPE-1 where this time is very important and directly proportional to the square of matrix size. [...] phase *Update* is quite
similar for CAPE-2 and MPI, and always larger for CAPE-1"."""
PUBLISHED = None
PARTS = [C.BY_SIZE]
DIFFERS = C.DIFFERS
NO_CLAIMS = ""


def condense(r):
    return C.phases_tables(r, C.BY_SIZE, C.SIZES, "size")


TURNS = "A slave of 31 on two processors waits for its turn, which is not what the thesis measured."


def claims(r):
    large, small = C.SIZES[-1], C.SIZES[0]
    return [Claim("CAPE-1, master: before at four times the size (as its square, 16)", 16.0, C.between_items(r, C.BY_SIZE, large, small, "cape1", "before"), more=False),
            Claim("%d, master: CAPE-2's update over MPI's" % large, 1.0, C.over(r, C.BY_SIZE, large, "cape2", "by_hand", "update"), more=False, why={"worse": TURNS}),
            Claim("%d, master: CAPE-2's update over CAPE-1's (below 1)" % large, (0, 1), C.over(r, C.BY_SIZE, large, "cape2", "cape1", "update"), more=False,
                  why={"worse": TURNS})]
