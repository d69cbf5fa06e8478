"""Products of arrays, and norms."""
import math

from dome import arrays as array, dtypes, env, memory, moving, statistics
from dome._dome import ffi, lib


def _number_row(x):
    return len(x._k.shape) == 1


def dot_of(x, y):
    """The sum of x * y, of one row of each; x is not conjugated.

    Shapes: (n,) and (n,); ().
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for shapes that do not fit together.
    """
    if x._k.shape != y._k.shape:
        raise array.ShapeMismatch((x._k.shape, y._k.shape))
    dtype = dtypes.result_type(x, y)
    if dtype.kind in "fiu" and x._k.dtype is y._k.dtype and dtype.kind != "u":
        env.check_thread()
        if dtype.kind == "i":
            value = statistics._check_value(lib.dvec_dot_i64(x._v, y._v))
            return array.scalar_of(dtype, statistics._wrapped(dtype, value))
        if env.state.size > 1 and x._k.exact:
            s = array.scalar(memory.kind_of(dtype, ()), None, statistics.scalars.pending())
            env.check(lib.dvec_dot_into(s._future.s, x._v, y._v))
            return s
        value = lib.dvec_dot(x._v, y._v)
        if value != value and lib.dome_error_status(env.state.env):
            env.fail()
        return array.scalar_of(dtype, array.rounded(dtype, value))
    return array.astype(statistics.sum(x * y), dtype, copy=False)


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of conj(x1) * x2 along an axis (Array API: vecdot).

    Shapes: two with one length along the axis, which broadcast elsewhere; without the axis.
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for shapes that do not fit; IndexError for an axis that is not there.
    """
    if x1._k.dtype.kind == "c":
        from dome import elementwise
        x1 = elementwise.conj(x1)
    if len(x1._k.shape) == len(x2._k.shape) == 1:
        return dot_of(x1, x2)
    n = len(array.broadcast_shapes(x1._k.shape, x2._k.shape))
    product = x1 * x2
    return array.astype(statistics.sum(product, axis=moving.axis_of(axis, n)), product._k.dtype, copy=False)


def vdot(x1, x2, /):
    """The sum of conj(x1) * x2 over all values (NumPy: vdot).

    Shapes: two of one number of values; ().
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for shapes that do not fit together.
    """
    return vecdot(moving.reshape(x1, (-1,)), moving.reshape(x2, (-1,)))


def _matrix_product(a, b):
    """(n, k) times (k, m), of floating-point values: by the library's BLAS."""
    (n, k), m = a._k.shape, b._k.shape[1]
    z = array.of(a._k.dtype, (n, m))
    if not n * m:
        return z
    if not k:
        z[...] = 0
        return z
    inside = array._indexing
    keep_a, va = inside.flat_vector(a, k)
    keep_b, vb = inside.flat_vector(b, m)
    direct = z._k.width == m
    vz = z._v if direct else inside.spare(a._k.dtype, n, m)
    status = lib.dvec_matmul(vz, va, vb)
    if not direct:
        if not status:
            moving.vector_values(z._v, vz)
        memory.free(vz)
    inside.done(keep_a, keep_b)
    env.check(status)
    return z


PRODUCTS = 1 << 22  # values that a product of integers needs at a time, if it can be divided so


def _by_sums(a, b):
    """Products of other types and of stacks of matrices: sums of all products along the common axis, a part of it at a time."""
    k = a._k.shape[-1]
    shape = array.broadcast_shapes(a._k.shape[:-2], b._k.shape[:-2])
    step = max(1, PRODUCTS // max(1, math.prod(shape) * a._k.shape[-2] * b._k.shape[-1]))
    if k <= step:
        return _one_sum(a, b)
    total = None
    for first in range(0, k, step):
        count = min(step, k - first)
        part = _one_sum(moving.part(a, len(a._k.shape) - 1, first, count), moving.part(b, len(b._k.shape) - 2, first, count))
        total = part if total is None else total + part
    return total


def _largest(x):
    """The largest magnitude that a value of x has, or that its type allows if that is small."""
    limits = dtypes.iinfo(x._k.dtype)
    if limits.bits <= 16:
        return max(-limits.min, limits.max)
    return max(-int(statistics.min(x)), int(statistics.max(x)))


def _integer_product(a, b):
    """By the BLAS, if all sums of products are small enough that doubles hold them exactly."""
    if not a._k.size or not b._k.size or _largest(a) * _largest(b) * a._k.shape[1] >= 1 << 53:
        return _by_sums(a, b)
    z = _matrix_product(array.astype(a, dtypes.float64), array.astype(b, dtypes.float64))
    return array.astype(array.astype(z, dtypes.int64), a._k.dtype, copy=False)


def _complex_product(a, b):
    """By four products of real matrices."""
    from dome import elementwise
    (ar, ai), (br, bi) = ((elementwise.real(x), elementwise.imag(x)) for x in (a, b))
    return elementwise.complex_of(_matrix_product(ar, br) - _matrix_product(ai, bi),
                                  _matrix_product(ar, bi) + _matrix_product(ai, br))


def _one_sum(a, b):
    left = moving.expand_dims(a, axis=-1)  # (..., n, k, 1)
    right = moving.expand_dims(b, axis=-3)  # (..., 1, k, m)
    product = left * right
    return array.astype(statistics.sum(product, axis=len(product._k.shape) - 2), product._k.dtype, copy=False)


def matmul(x1, x2, /):
    """The product of matrices, or of a matrix and a row (NumPy: matmul, @).

    Shapes: (n, k) or (k,), and (k, m) or (k,), or stacks (..., n, k); (..., n, m), without the axes that were not there.
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for shapes that do not fit together; ValueError for a number.

    >>> (dm.asarray([[1, 2], [3, 4]]) @ dm.asarray([1, 1])).tolist()
    [3, 7]
    """
    x1, x2 = array.as_operand(x1), array.as_operand(x2)
    if not x1._k.shape or not x2._k.shape:
        raise ValueError("a 0-d array has no product of matrices")
    if x1._k.shape[-1] != x2._k.shape[-2 if len(x2._k.shape) > 1 else -1]:
        raise array.ShapeMismatch((x1._k.shape, x2._k.shape))
    if _number_row(x1) and _number_row(x2):
        return dot_of(x1, x2)
    if _number_row(x1):
        return moving.squeeze(matmul(moving.reshape(x1, (1, -1)), x2), -2)
    if _number_row(x2):
        return moving.squeeze(matmul(x1, moving.reshape(x2, (-1, 1))), -1)
    dtype = dtypes.result_type(x1, x2)
    env.check_thread()
    if dtype.kind == "f" and len(x1._k.shape) == len(x2._k.shape) == 2:
        return _matrix_product(array.astype(x1, dtype, copy=False), array.astype(x2, dtype, copy=False))
    if dtype.kind in "iu" and len(x1._k.shape) == len(x2._k.shape) == 2:
        return _integer_product(array.astype(x1, dtype, copy=False), array.astype(x2, dtype, copy=False))
    if dtype.kind == "c" and len(x1._k.shape) == len(x2._k.shape) == 2:
        return _complex_product(array.astype(x1, dtype, copy=False), array.astype(x2, dtype, copy=False))
    return _by_sums(array.astype(x1, dtype, copy=False), array.astype(x2, dtype, copy=False))


def dot(x1, x2, /):
    """NumPy's dot of rows and matrices.

    Shapes: rows (n,), matrices (n, k) and (k, m); as matmul.
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for shapes that do not fit together; ValueError for a number.
    """
    return matmul(x1, x2)


def outer(x1, x2, /):
    """All products of the values of two rows (NumPy: outer).

    Shapes: n and m values; (n, m).
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for what is no array.

    >>> dm.outer(dm.arange(2), dm.arange(3)).tolist()
    [[0, 0, 0], [0, 1, 2]]
    """
    return moving.reshape(x1, (-1, 1)) * moving.reshape(x2, (1, -1))


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products along several axes (NumPy: tensordot).

    Shapes: arrays whose lengths along the paired axes are equal; the other axes of x1, then of x2.
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for lengths that do not fit; IndexError for an axis that is not there.
    """
    a, b = x1._k.shape, x2._k.shape
    if isinstance(axes, int):
        left, right = list(range(len(a) - axes, len(a))), list(range(axes))
    else:
        left = [moving.axis_of(k, len(a)) for k in axes[0]]
        right = [moving.axis_of(k, len(b)) for k in axes[1]]
    if [a[k] for k in left] != [b[k] for k in right]:
        raise array.ShapeMismatch((a, b))
    keep_a, keep_b = [k for k in range(len(a)) if k not in left], [k for k in range(len(b)) if k not in right]
    size = math.prod(a[k] for k in left)
    rows, columns = math.prod(a[k] for k in keep_a), math.prod(b[k] for k in keep_b)
    m1 = moving.reshape(moving.permute_dims(x1, (*keep_a, *left)), (rows, size))
    m2 = moving.reshape(moving.permute_dims(x2, (*right, *keep_b)), (size, columns))
    return moving.reshape(matmul(m1, m2), (*(a[k] for k in keep_a), *(b[k] for k in keep_b)))


def norm(x, /, ord=None, axis=None, *, keepdims=False):
    """The norm of all values or along an axis: None or 2 the Euclidean one, 1, inf, -inf, 0 or another power.

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: numbers; float64, or float32 for float32 and complex64.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.

    >>> float(dm.linalg.norm(dm.asarray([3.0, 4.0])))
    5.0
    """
    from dome import elementwise
    env.check_thread()
    if axis is None and ord in (None, 2) and x._k.real and not keepdims:
        value = lib.dvec_norm2(x._v)
        if value != value and lib.dome_error_status(env.state.env):
            env.fail()
        return array.scalar_of(x._k.dtype, array.rounded(x._k.dtype, value))
    size = elementwise.abs(x)
    if size._k.dtype.kind in "biu":
        size = array.astype(size, dtypes.float64)
    if ord in (None, 2):
        return elementwise.sqrt(statistics.sum(size * size, axis=axis, keepdims=keepdims))
    if ord in (math.inf, -math.inf):
        return (statistics.max if ord > 0 else statistics.min)(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return array.astype(statistics.count_nonzero(size, axis=axis, keepdims=keepdims), size._k.dtype)
    if ord == 1:
        return statistics.sum(size, axis=axis, keepdims=keepdims)
    return statistics.sum(size ** float(ord), axis=axis, keepdims=keepdims) ** (1.0 / ord)


vector_norm = norm


def trace(x, /, *, offset=0, dtype=None):
    """The sum of a diagonal of the last two axes (NumPy: trace).

    Shapes: (..., n, m); (...).
    Types: numbers; dtype, or that of x, integers in 64 bits.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for less than two dimensions.
    """
    return statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def diagonal(x, /, *, offset=0):
    """A diagonal of the last two axes, as the last axis (NumPy: diagonal).

    Shapes: (..., n, m); (..., length of the diagonal).
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: ValueError for less than two dimensions.
    """
    shape, strides = x._k.shape, moving.strides_of(x._k.shape)
    rows, columns = shape[-2:]
    count = max(0, min(rows - max(-offset, 0), columns - max(offset, 0)))
    first = max(offset, 0) * strides[-1] + max(-offset, 0) * strides[-2]
    return moving.take(x, [*shape[:-2], count], [*strides[:-2], strides[-1] + strides[-2]], first if count else 0)


def cross(x1, x2, /, *, axis=-1):
    """The product of vectors of 3 values along an axis (NumPy: cross).

    Shapes: arrays with 3 values along the axis; the same.
    Types: numbers; that of both.
    Tasks: all call it; nobody waits.
    Raises: ValueError for other lengths; IndexError for an axis that they do not have; errors.ShapeError for shapes that do
        not fit.
    """
    x1, x2 = moving.broadcast_arrays(x1, x2)
    axis = moving.axis_of(axis, len(x1._k.shape))
    if x1._k.shape[axis] != 3:
        raise ValueError("the product of vectors is for 3 values")
    a, b = moving.unstack(x1, axis=axis), moving.unstack(x2, axis=axis)
    return moving.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], axis=axis)


matrix_transpose = moving.matrix_transpose


def _install():
    A = array.Array
    A.__matmul__ = lambda x, y: matmul(x, y) if not hasattr(y, "_sparse") else NotImplemented
    A.__rmatmul__ = lambda x, y: matmul(array.as_operand(y), x)
    A.__imatmul__ = _product_in_place
    A.trace = lambda x, offset=0: trace(x, offset=offset)
    A.diagonal = lambda x, offset=0: diagonal(x, offset=offset)
    A.dot = lambda x, y: matmul(x, y)


def _product_in_place(x, y):
    x[...] = matmul(x, y)
    return x


_install()
