"""Sparse matrices, with scipy.sparse's names. Rows are distributed."""
import os

from dome import arrays as array, creation, dtypes, env, memory
from dome._dome import ffi, lib

_ENTRIES = {"i": dtypes.int64, "u": dtypes.int64, "f": dtypes.float64, "c": dtypes.complex128}  # types of entries that are given


class Matrix:
    """A sparse matrix in rows (CSR). `A @ x` is its product with an array of one or two dimensions."""

    _sparse = True
    __array_ufunc__ = None
    __slots__ = ("_a", "shape", "dtype")

    def __init__(self, a):
        env.pointer(a)
        self._a = a
        self.shape = (lib.dsparse_rows(a), lib.dsparse_columns(a))
        self.dtype = dtypes.BY_KIND[lib.dsparse_type(a)]
        memory.note_matrix(a)

    def __del__(self):
        try:
            memory.drop_matrix(self._a)
        except AttributeError:
            pass

    def __repr__(self):
        return f"<dome sparse matrix {self.dtype.name} {self.shape}>"

    @property
    def nnz(self):
        """The number of entries. Collective."""
        env.check_thread()
        return lib.dsparse_entries(self._a)

    def __matmul__(self, x):
        """The product with an array of one or two dimensions.

        Shapes: (n, m), and (m,) or (m, k); (n,) or (n, k).
        Types: numbers; that of the matrix.
        Tasks: all call it, and may wait for each other.
        Raises: errors.ShapeError for shapes that do not fit together; TypeError for complex values with a real matrix.
        """
        return _multiplied(lib.dsparse_multiply, self, x, self.shape[0], self.shape[1])

    def __rmatmul__(self, x):
        return _multiplied(lib.dsparse_multiply_transposed, self, x, self.shape[1], self.shape[0])

    dot = __matmul__

    @property
    def T(self):
        """The transpose, a matrix of its own. Collective."""
        env.env()
        t = env.pointer(lib.dsparse_new_of(env.state.env, ffi.NULL, self.dtype.ctype, self.shape[1], self.shape[0]))
        env.check(lib.dsparse_transpose(t, self._a))
        return Matrix(t)

    transpose = T

    def diagonal(self):
        """The entries of the diagonal, one for each row.

        Shapes: (n, m); (n,).
        Types: that of the matrix.
        Tasks: all call it, and may wait for each other.
        Raises: errors.Error if a task is lost and the program is told of it.
        """
        env.env()
        z = array.of(self.dtype, (self.shape[0],))
        env.check(lib.dsparse_diagonal(z._v, self._a))
        return z

    def __mul__(self, factor):
        raise TypeError("entries are multiplied in place: A *= factor")

    def __imul__(self, factor):
        env.check_thread()
        env.check(lib.dsparse_scale(self._a, float(factor)))
        return self

    def save(self, path):
        """Writes a Matrix Market file (scipy.io.mmwrite).

        Shapes: any.
        Types: any.
        Tasks: all call it, and wait for each other.
        Raises: errors.FileError if it cannot be written.
        """
        env.check_thread()
        env.check(lib.dsparse_write(self._a, os.fsencode(os.fspath(path))))

    def __reduce__(self):
        raise TypeError("a distributed matrix cannot be pickled: A.save(path) writes it to a file")


def _multiplied(function, a, x, rows, columns):
    x = array.astype(array.as_operand(x), a.dtype, copy=False)
    if x._k.shape[:1] != (columns,) or len(x._k.shape) > 2:
        raise array.ShapeMismatch((a.shape, x._k.shape))
    env.check_thread()
    z = array.of(a.dtype, (rows, *x._k.shape[1:]))
    if len(x._k.shape) == 2:
        keep, v = array._indexing.flat_vector(x, x._k.shape[1])
        out = z._v if z._k.width == x._k.shape[1] else array._indexing.spare(a.dtype, rows, x._k.shape[1])
        status = function(out, a._a, v)
        if out is not z._v:
            if not status:
                array._moving.vector_values(z._v, out)
            memory.free(out)
        array._indexing.done(keep)
        env.check(status)
    else:
        env.check(function(z._v, a._a, x._v))
    return z


def load(path):
    """Reads a Matrix Market file (scipy.io.mmread). Collective.

    Shapes: that of the file.
    Types: float64, or complex128.
    Tasks: all call it, and wait for each other.
    Raises: errors.FileError if it cannot be read, or is no such file.
    """
    return Matrix(lib.dsparse_read(env.env(), ffi.NULL, os.fsencode(os.fspath(path))))


def coo_matrix(entries, *, shape, dtype=dtypes.float64):
    """A matrix of entries (values, (rows, columns)), as scipy.sparse.coo_matrix has them; those for one place are added.

    The three are arrays of Dome, of which each task gives its part, or values that all tasks have alike.

    Shapes: three rows of one length; shape.
    Types: numbers and integers; dtype.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError for unlike lengths; errors.RangeError or errors.ArgumentError for an entry outside; TypeError
        for a type that matrices do not have.
    """
    values, (rows, columns) = entries
    environment = env.env()
    dtype = dtypes.as_dtype(dtype)
    rows, columns = (creation.asarray(x) for x in (rows, columns))
    rows, columns = (x if x._k.dtype is dtypes.uint64 else array.astype(x, dtypes.int64, copy=False) for x in (rows, columns))
    values = array.astype(creation.asarray(values), _ENTRIES[dtype.kind], copy=False)
    if not rows._k.shape == columns._k.shape == values._k.shape or len(rows._k.shape) != 1:
        raise array.ShapeMismatch((rows._k.shape, columns._k.shape, values._k.shape))
    a = env.pointer(lib.dsparse_new_of(environment, ffi.NULL, dtype.ctype, *shape))
    env.check(lib.dsparse_assemble_vectors(a, rows._v, columns._v, values._v))
    return Matrix(a)


def csr_matrix(given, *, shape=None, dtype=None):
    """A matrix of a SciPy matrix that all tasks have alike, or of entries as coo_matrix takes them.

    Shapes: that of the given matrix, or shape.
    Types: numbers; dtype, or float64.
    Tasks: all call it, and wait for each other.
    Raises: as coo_matrix: errors.ShapeError, TypeError; ValueError for what are no entries.
    """
    if hasattr(given, "tocoo"):
        coo = given.tocoo()
        return coo_matrix((coo.data, (coo.row, coo.col)), shape=coo.shape, dtype=dtype or dtypes.float64)
    return coo_matrix(given, shape=shape, dtype=dtype or dtypes.float64)
