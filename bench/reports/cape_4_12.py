"""CAPE, Figure 4.12."""

from reporting import cape as C
from reporting.verdict import Claim

TITLE = "CAPE, Figure 4.12: the product by size"
SOURCE = "%s, section 4.5.1, Figure 4.12" % C.THESIS
WHAT = """Matrices of 3,000 to 12,000 rows and columns on 31 nodes."""
PUBLISHED_TEXT = """a plot, of which the text says: "the execution time for CAPE using complete checkpoints is directly proportional to the square of the matrix
size, while the execution time for both CAPE using incremental checkpoints and MPI is directly proportional to the matrix size"; and "the execution time for
CAPE using incremental checkpoints is only 10% higher than the execution time for MPI, except for 3,000 x 3,000 matrices where the ratio is 1.3"."""
PUBLISHED = None
PARTS = [C.BY_SIZE]
DIFFERS = C.DIFFERS + ["A product takes time by the cube of the size; that the thesis's times grow by the size itself contradicts its Table 4.2."]
NO_CLAIMS = ""
COPIES = """31 processes share two processors, so that every page which CAPE-2 copies before its first write, and every comparison, is time that nobody
hides; on 31 machines it is a thirty-first."""


def condense(r):
    return [C.seconds_table(r, C.BY_SIZE, C.SIZES, "size"), C.times_table(r, C.BY_SIZE, C.SIZES, "size")] + C.counts_tables(r, C.BY_SIZE, C.SIZES, "size")


def claims(r):
    published = {n: 1.3 if n == C.SIZES[0] else 1.1 for n in C.SIZES}
    found = [Claim("%d (for %s): %s's time over MPI's" % (n, C.PUBLISHED_SIZES[n], name), published[n], C.over(r, C.BY_SIZE, n, way, "by_hand"), more=False,
                   why={"worse": COPIES if way == "cape2" else FETCHES}) for way, name in (("cape2", "CAPE-2"), ("openmp", "this library")) for n in C.SIZES]
    found.append(Claim("CAPE-1: bytes at four times the size (as its square, 16)", 16.0,
                       C.between_items(r, C.BY_SIZE, C.SIZES[-1], C.SIZES[0], "cape1", "bytes"), more=False, exact=True))
    return found


FETCHES = """The matrices are filled by task 0 alone, and each of 31 tasks fetches one of them and its part of the other; MPI's nodes fill them
themselves."""
