"""Decompositions of matrices (Array API: the extension linalg), and what follows from them.

Task 0 computes them by LAPACK, through NumPy, and the others get the result: the matrices fit into one memory, and all tasks
have the same bits. The arguments are arrays of floating-point or complex values; stacks of matrices are allowed.
"""
import collections
import math

from dome import arrays as array, dtypes, env, errors, linalg, local, moving

EighResult = collections.namedtuple("EighResult", ("eigenvalues", "eigenvectors"))
QRResult = collections.namedtuple("QRResult", ("Q", "R"))
SlogdetResult = collections.namedtuple("SlogdetResult", ("sign", "logabsdet"))
SVDResult = collections.namedtuple("SVDResult", ("U", "S", "Vh"))
LARGEST = local.GATHER_BYTES


def _gathered(x):
    x = array.as_operand(x)
    if x.dtype.kind not in "fc":
        raise TypeError(f"matrices of {x.dtype} have no decompositions: use astype")
    if x.nbytes > LARGEST:
        raise errors.MemoryExhausted(f"a decomposition has its matrices in one memory, and these have {x.nbytes >> 20} MB")
    return local.gathered(x)


def _on_task_0(function, *arrays):
    """The results of a function of NumPy arrays, computed once. All tasks raise what it raises."""
    import json
    np = local.numpy()
    values = [_gathered(x) for x in arrays]
    text, results = b"", ()
    if env.state.rank == 0:
        try:
            results = function(np, *values)
            results = [np.ascontiguousarray(one).reshape(np.shape(one)) for one in results]
            text = json.dumps([[one.dtype.name, one.shape] for one in results]).encode()
        except Exception as error:  # also of shapes that NumPy refuses: the others wait for what this task tells
            text = json.dumps(str(error)).encode()
    told = json.loads(env.bcast_bytes(text))
    if isinstance(told, str):
        raise errors.ArgumentError(f"the matrix has no such decomposition: {told}")
    return [array._creation.asarray(np.frombuffer(env.bcast_bytes(results[k].tobytes() if results else b""), dtype=name)
                                    .reshape(shape)) for k, (name, shape) in enumerate(told)]


def _square(x):
    shape = array.as_operand(x).shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise errors.ShapeError(f"matrices of the shape {shape} are not square")


def cholesky(x, /, *, upper=False):
    """The triangular L with x = L L^H, or U with x = U^H U (Array API: cholesky).

    Shapes: (..., n, n), one matrix or a stack; the same.
    Types: floating point and complex; that of x.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError if they are not square; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    _square(x)
    factor, = _on_task_0(lambda np, a: (np.linalg.cholesky(a),), x)
    if not upper:
        return factor
    from dome import elementwise
    turned = moving.matrix_transpose(factor)
    return elementwise.conj(turned) if turned.dtype.kind == "c" else turned


def det(x, /):
    """The determinants (NumPy: linalg.det).

    Shapes: (..., n, n), one matrix or a stack; (...).
    Types: floating point and complex; that of x.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError if they are not square; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    _square(x)
    return _on_task_0(lambda np, a: (np.linalg.det(a),), x)[0]


def eigh(x, /):
    """Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices (NumPy: linalg.eigh).

    Shapes: (..., n, n), one matrix or a stack; (..., n) and (..., n, n).
    Types: floating point and complex; real, and that of x.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError if they are not square; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    _square(x)
    return EighResult(*_on_task_0(lambda np, a: np.linalg.eigh(a), x))


def eigvalsh(x, /):
    """The eigenvalues alone (NumPy: linalg.eigvalsh).

    Shapes: (..., n, n), one matrix or a stack; (..., n).
    Types: floating point and complex; real.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError if they are not square; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    _square(x)
    return _on_task_0(lambda np, a: (np.linalg.eigvalsh(a),), x)[0]


def inv(x, /):
    """The inverses (NumPy: linalg.inv).

    Shapes: (..., n, n), one matrix or a stack; the same.
    Types: floating point and complex; that of x.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError if they are not square; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    _square(x)
    return _on_task_0(lambda np, a: (np.linalg.inv(a),), x)[0]


def solve(x1, x2, /):
    """The y with x1 y = x2; x2 of one dimension is a single vector (Array API: solve).

    Shapes: (..., n, n), one matrix or a stack, and (n,) or (..., n, k); that of x2.
    Types: floating point and complex; that of both.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError if they are not square; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    _square(x1)
    dtype = dtypes.result_type(x1, x2)
    x1, x2 = array.astype(x1, dtype, copy=False), array.astype(x2, dtype, copy=False)
    if len(x2.shape) == 1:
        return _on_task_0(lambda np, a, b: (np.linalg.solve(a, np.broadcast_to(b[:, None], (*a.shape[:-1], 1)))[..., 0],), x1, x2)[0]
    # NumPy takes an array of one dimension less for a stack of vectors
    return _on_task_0(lambda np, a, b: (np.linalg.solve(a, b[None] if b.ndim == a.ndim - 1 else b),), x1, x2)[0]


def lstsq(x1, x2, /):
    """Least squares: the y that minimizes |x1 y - x2|, the squared residuals, the rank of x1, its singular values (NumPy: linalg.lstsq).

    Shapes: (m, n), and (m,) or (m, k); (n,) or (n, k), and three more.
    Types: floating point and complex; that of both.
    Tasks: all call it, and wait for each other.
    Raises: TypeError for integers and bool; errors.ArgumentError if there is none; errors.MemoryExhausted beyond 80 MB;
        ImportError without NumPy.
    """
    return tuple(_on_task_0(lambda np, a, b: np.linalg.lstsq(a, b, rcond=None), x1, x2))


def qr(x, /, *, mode="reduced"):
    """Q with orthonormal columns and an upper triangular R (NumPy: linalg.qr).

    Shapes: (..., m, n); (..., m, k) and (..., k, n) with k = min(m, n), m for 'complete'.
    Types: floating point and complex; that of x.
    Tasks: all call it, and wait for each other.
    Raises: ValueError for another mode; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"{mode!r} is no mode of qr: reduced, complete")
    return QRResult(*_on_task_0(lambda np, a: np.linalg.qr(a, mode=mode), x))


def slogdet(x, /):
    """The sign of the determinants and the logarithm of their size (NumPy: linalg.slogdet).

    Shapes: (..., n, n), one matrix or a stack; (...) twice.
    Types: floating point and complex; that of x, and real.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError if they are not square; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    _square(x)
    return SlogdetResult(*_on_task_0(lambda np, a: np.linalg.slogdet(a), x))


def svd(x, /, *, full_matrices=True):
    """x = U diag(S) Vh with descending S (NumPy: linalg.svd).

    Shapes: (..., m, n); (..., m, m), (..., min(m, n)) and (..., n, n), without full_matrices min(m, n) in place of the
        larger.
    Types: floating point and complex; S is real.
    Tasks: all call it, and wait for each other.
    Raises: TypeError for integers and bool; errors.ArgumentError if there is none; errors.MemoryExhausted beyond 80 MB;
        ImportError without NumPy.
    """
    return SVDResult(*_on_task_0(lambda np, a: np.linalg.svd(a, full_matrices=full_matrices), x))


def svdvals(x, /):
    """The singular values alone (Array API: svdvals).

    Shapes: (..., m, n); (..., min(m, n)).
    Types: floating point and complex; real.
    Tasks: all call it, and wait for each other.
    Raises: TypeError for integers and bool; errors.ArgumentError if there is none; errors.MemoryExhausted beyond 80 MB;
        ImportError without NumPy.
    """
    return _on_task_0(lambda np, a: (np.linalg.svd(a, compute_uv=False),), x)[0]


def _limit(x, rtol):
    """The part of the largest singular value that counts as 0: a number for all matrices, or an array with one for each."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * dtypes.finfo(x.dtype).eps
    return array.astype(array.as_operand(rtol), dtypes.float64, copy=False)


def pinv(x, /, *, rtol=None):
    """The pseudo-inverses (Array API: pinv); singular values up to rtol times the largest count as 0.

    Shapes: (..., m, n); (..., n, m).
    Types: floating point and complex; that of x.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError for less than two dimensions; TypeError for integers and bool; errors.ArgumentError if there is
        none; errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    x = array.as_operand(x)
    if len(x.shape) < 2:
        raise errors.ShapeError("pinv is for matrices")
    return _on_task_0(lambda np, a, limit: (np.linalg.pinv(a, limit),), x, _limit(x, rtol))[0]


def matrix_rank(x, /, *, rtol=None):
    """The number of singular values above rtol times the largest (Array API: matrix_rank).

    Shapes: (..., m, n); (...).
    Types: floating point and complex; int64.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError for less than two dimensions; TypeError for integers and bool; errors.ArgumentError if there is
        none; errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    x = array.as_operand(x)
    if len(x.shape) < 2:
        raise errors.ShapeError("matrix_rank is for matrices")

    def rank(np, a, limit):
        s = np.linalg.svd(a, compute_uv=False)
        largest = s.max(axis=-1, keepdims=True, initial=0)
        return (np.asarray((s > largest * limit[..., None]).sum(axis=-1), dtype=np.int64),)
    return _on_task_0(rank, x, _limit(x, rtol))[0]


def matrix_power(x, n, /):
    """The product of n factors x; of -n inverses if n is negative (NumPy: linalg.matrix_power).

    Shapes: (..., n, n), one matrix or a stack; the same.
    Types: floating point and complex; that of x.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError if they are not square; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    _square(x)
    return _on_task_0(lambda np, a: (np.linalg.matrix_power(a, int(n)),), x)[0]


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf, -inf (Array API: matrix_norm).

    Shapes: (..., m, n); (...), or with keepdims (..., 1, 1).
    Types: floating point and complex; real.
    Tasks: all call it, and wait for each other.
    Raises: ValueError for another ord; TypeError for integers and bool; errors.ArgumentError if there is none;
        errors.MemoryExhausted beyond 80 MB; ImportError without NumPy.
    """
    if ord not in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise ValueError(f"{ord!r} is no norm of matrices")
    return _on_task_0(lambda np, a: (np.linalg.norm(a, ord=ord, axis=(-2, -1), keepdims=keepdims),), x)[0]


def _install():
    for name in ("cholesky", "det", "eigh", "eigvalsh", "inv", "solve", "lstsq", "qr", "slogdet", "svd", "svdvals", "pinv", "matrix_rank",
                 "matrix_power", "matrix_norm"):
        setattr(linalg, name, globals()[name])


_install()
