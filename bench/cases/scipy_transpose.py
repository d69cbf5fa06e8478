"""The transpose of arrays.c in SciPy, into a new matrix of compressed rows: scipy_transpose.py poisson|random [SECONDS]"""
import sys

import numpy
import scipy.sparse
from numpy_arrays import measure

SIDE, ROWS, LINKS = 1000, 1000000, 10


def matrix(kind):
    """Those of sparse_rows.h; random ones have other columns."""
    if kind == "poisson":
        line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(SIDE, SIDE))
        one = scipy.sparse.identity(SIDE)
        return (scipy.sparse.kron(line, one) + scipy.sparse.kron(one, line)).tocsr()
    random = numpy.random.default_rng(1).random(ROWS * LINKS)
    rows = numpy.repeat(numpy.arange(ROWS), LINKS)
    return scipy.sparse.coo_matrix((random - 0.5, ((random * ROWS).astype(numpy.int64), rows)), shape=(ROWS, ROWS)).T.tocsr()


a = matrix(sys.argv[1])
a.sort_indices()
measure("transpose", lambda: a.T.tocsr(), float(sys.argv[2]) if len(sys.argv) > 2 else 3)
