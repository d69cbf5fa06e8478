"""CAPE, Table 2.1."""

from reporting import cape as C
from reporting.parts import Table
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "CAPE, Table 2.1: a product of matrices by more and more threads"
SOURCE = "%s, section 2.2, Table 2.1" % C.THESIS
WHAT = """OpenMP on one machine of two cores, and on one of 16: seconds by the number of threads."""
PUBLISHED_TEXT = """seconds. "Normally, the speed-up is the best when the number of threads equals the number of processors.\""""
SECONDS = {1: 1852.70, 2: 1050.01, 4: 1054.53, 8: 1068.93}
PUBLISHED = Table(["threads", "1", "2", "4", "8", "16", "24", "32"],
                  [["2 cores"] + ["%.2f" % s for s in SECONDS.values()] + ["", "", ""],
                   ["16 cores", "246.18", "130.71", "63.56", "41.40", "31.13", "31.66", "31.17"]])
PARTS = [C.BY_THREADS]
NO_CLAIMS = ""
DIFFERS = ["%d x %d here; the thesis's size is not given (its times are those of 6,000 in its Table 4.2)." % (C.LARGEST, C.LARGEST),
           "*threads*: gcc's OpenMP. *tasks*: OpenMP over so many tasks of this library, with a thread each, on two processors."]


def condense(r):
    rows = [[name] + [ranged(C.values(r, C.BY_THREADS, n, name, "seconds")) for n in SECONDS] for name in ("threads", "tasks")]
    rows += [[name + ", over two"] + [ranged(C.between_items(r, C.BY_THREADS, n, 2, name)) for n in SECONDS] for name in ("threads", "tasks")]
    return [Table(["seconds by their number"] + [str(n) for n in SECONDS], rows)]


MORE = "Each further task has a copy of the matrices and fetches it, and three tasks or more share two processors."


def claims(r):
    return [Claim("%s: %d over 2" % (name, n), SECONDS[n] / SECONDS[2], C.between_items(r, C.BY_THREADS, n, 2, name), more=n < 2,
                  why={"worse": MORE if name == "tasks" and n > 2 else ""}) for name in ("threads", "tasks") for n in (1, 4, 8)]
