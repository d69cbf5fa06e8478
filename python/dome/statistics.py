"""Reductions: over all values, or along axes. Results have the same bits for any number of tasks."""
import math

from dome import arrays as array, dtypes, env, memory, moving
from dome import scalar as scalars
from dome._dome import ffi, lib

any_, builtins_sum = any, sum
_state = env.state
_ident = env._ident
Scalar, _new, _Distributed = array.Scalar, object.__new__, array.Distributed
_F64 = dtypes.float64


def _sum_type(dtype, given):
    if given is not None:
        return dtypes.as_dtype(given)
    return {"b": dtypes.int64, "i": dtypes.int64, "u": dtypes.uint64}.get(dtype.kind, dtype)


def _real_reduction(name):
    """A reduction of floating-point values to a double: now in one task, else pending."""
    now, later = getattr(lib, "dvec_" + name), getattr(lib, f"dvec_{name}_into", None)

    def reduce(x):
        k = x._k
        if _ident() != _state.owner:
            env._refuse()
        z = _new(Scalar)
        z._k, z._value, z._future, z._box = k.single, None, None, None
        if _state.size > 1 and later and k.exact:
            future = scalars.pending()
            if later(future.s, x._v):
                env.fail()
            z._future = future
            return z
        value = now(x._v)
        if value != value and lib.dome_error_status(_state.env):
            env.fail()
        z._value = value if k.exact else array.rounded(k.dtype, value)
        return z

    return reduce


_sum, _prod = _real_reduction("sum"), _real_reduction("prod")
_least, _largest = _real_reduction("min_value"), _real_reduction("max_value")


def _check_value(value):
    if (value != value or not value) and lib.dome_error_status(_state.env):
        env.fail()
    return value


def _integer_sum(x, dtype):
    """Of integers and masks: exact; what does not fit into 64 bits is a RangeError, but for uint64, which wraps."""
    if x._k.dtype is dtypes.uint64:  # halves, because the library's sum of them all may be no int64
        low, high = x & 0xffffffff, x >> 32
        value = _check_value(lib.dvec_sum_i64(low._v)) + (_check_value(lib.dvec_sum_i64(high._v)) << 32)
    else:
        value = _check_value(lib.dvec_sum_i64(x._v))
    return _wrapped(dtype, value)


def _wrapped(dtype, value):
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


def _complex(function, x):
    room = ffi.new("double[2]")
    env.check(function(x._v, room))
    return complex(room[0], room[1])


def _along(name, x, axis, keepdims, dtype):
    """A reduction along axes, by the library."""
    env.env()
    axes = moving.axes_of(axis, len(x._k.shape))
    shape = x._k.shape
    out = tuple(1 if k in axes else n for k, n in enumerate(shape)) if keepdims else \
        tuple(n for k, n in enumerate(shape) if k not in axes)
    view = moving.described("reduce", shape, moving.strides_of(shape), 0)
    bits = 0
    for k in axes:
        bits |= 1 << k
    v = env.pointer(lib.dvec_reduce_view(x._v, view, getattr(lib, f"DVEC_{name}_ALONG"), bits, ffi.NULL))
    return array.wrap(v, dtype, out)


def _all_axes(x, axis):
    return axis is None or isinstance(axis, tuple) and len(axis) == len(x._k.shape) or len(x._k.shape) == 1 and axis in (0, -1)


def _kept(x, z, keepdims):
    return moving.reshape(z, (1,) * len(x._k.shape)) if keepdims else z


def sum(x, /, axis=None, *, dtype=None, keepdims=False):
    """The sum of all values, or along axes (NumPy: sum). Exact sums, rounded once; of integers in 64 bits.

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: any; dtype, or that of x, integers in 64 bits.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice; errors.RangeError beyond int64.

    >>> float(dm.sum(dm.asarray([1e100, 1.0, -1e100])))
    1.0
    >>> dm.sum(dm.ones((2, 3)), 0).tolist()
    [2.0, 2.0, 2.0]
    """
    if axis is None and dtype is None and type(x) is _Distributed and x._k.exact and not keepdims:
        return _sum(x)
    x = array.as_operand(x)
    wanted = _sum_type(x._k.dtype, dtype)
    if wanted.kind == "f" and x._k.dtype is not wanted or wanted.kind == "c":
        x = array.astype(x, wanted, copy=False)
    if not _all_axes(x, axis):
        z = _along("SUM", x, axis, keepdims, _sum_type(x._k.dtype, None))
        return array.astype(z, wanted, copy=False)
    env.env()
    if wanted.kind == "f":
        z = _sum(x)
    elif wanted.kind == "c":
        z = array.scalar_of(wanted, _complex(lib.dvec_sum_c128, x))
    else:
        z = array.scalar_of(wanted, _integer_sum(x, wanted))
    return _kept(x, z, keepdims)


def prod(x, /, axis=None, *, dtype=None, keepdims=False):
    """The product of all values, or along axes (NumPy: prod). Of integers in 64 bits.

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: any; dtype, or that of x, integers in 64 bits.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice; errors.RangeError beyond 64 bits.

    >>> int(dm.prod(dm.asarray([2, 3, 7])))
    42
    """
    x = array.as_operand(x)
    wanted = _sum_type(x._k.dtype, dtype)
    x = array.astype(x, wanted, copy=False)
    if not _all_axes(x, axis) or wanted.kind in "iu":
        return array.astype(_along("PROD", x, axis, keepdims, _sum_type(wanted, None)), wanted, copy=False)
    env.env()
    z = array.scalar_of(wanted, _complex(lib.dvec_prod_c128, x)) if wanted.kind == "c" else _prod(x)
    return _kept(x, z, keepdims)


def _of_none(x, axis, keepdims, dtype):
    """No extremes, of an array that has values along the axes asked for, but none along others."""
    shape = x._k.shape
    axes = moving.axes_of(axis, len(shape))
    if any_(shape[k] == 0 for k in axes):
        raise ValueError("the smallest or largest of no values")
    return array.of(dtype, tuple(n if k not in axes else 1 for k, n in enumerate(shape) if keepdims or k not in axes))


def _extreme(name, real, integer):
    def reduce(x, /, axis=None, *, keepdims=False):
        x = array.as_operand(x)
        dtype = x._k.dtype
        if dtype.kind == "c":
            raise TypeError("complex values have no order")
        if not x._k.size:
            return _of_none(x, axis, keepdims, dtype)
        if not _all_axes(x, axis) or dtype is dtypes.uint64:
            return _along(name, x, axis, keepdims, dtype)
        env.env()
        if dtype.kind == "f":
            z = real(x)
        else:
            value = _check_value(integer(x._v))
            z = array.scalar_of(dtype, bool(value) if dtype.kind == "b" else value)
        return _kept(x, z, keepdims)
    return reduce


min = amin = _extreme("MIN", _least, lib.dvec_min_value_i64)
max = amax = _extreme("MAX", _largest, lib.dvec_max_value_i64)
_EXTREME = """{}

Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
Types: real; {}.
Tasks: all call it, and may wait for each other.
Raises: IndexError for an axis that x does not have; TypeError for complex values; ValueError for no values.
"""
min.__name__, min.__doc__ = "min", _EXTREME.format("The smallest value, or along axes; NaN if one is NaN (NumPy: min).", "that of x")
max.__name__, max.__doc__ = "max", _EXTREME.format("The largest value, or along axes; NaN if one is NaN (NumPy: max).", "that of x")


def _count(x, axis):
    count = 1
    for k in moving.axes_of(axis, len(x._k.shape)):
        count *= x._k.shape[k]
    return count


def mean(x, /, axis=None, *, keepdims=False):
    """The mean value, of all or along axes (NumPy: mean).

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: numbers; that of x, float64 for integers and bool.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.

    >>> dm.mean(dm.asarray([[1, 2], [3, 6]]), 1).tolist()
    [1.5, 4.5]
    """
    x = array.as_operand(x)
    if x._k.dtype.kind in "biu":
        x = array.astype(x, _F64)
    n = _count(x, axis)
    total = sum(x, axis=axis, keepdims=keepdims)
    return total / (float(n) if n else math.nan)


def var(x, /, axis=None, *, correction=0.0, ddof=None, keepdims=False):
    """The variance: the mean of squared distances from the mean, with n - correction for n, or NumPy's ddof (NumPy: var).

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: numbers; that of x, float64 for integers and bool.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.
    """
    correction = correction if ddof is None else ddof
    x = array.as_operand(x)
    if x._k.dtype.kind in "biu":
        x = array.astype(x, _F64)
    n = _count(x, axis) - correction
    d = x - mean(x, axis=axis, keepdims=True)
    if d._k.dtype.kind == "c":
        from dome import elementwise
        d = elementwise.abs(d)
    return sum(d * d, axis=axis, keepdims=keepdims) / (float(n) if n > 0 else math.nan)


def std(x, /, axis=None, *, correction=0.0, ddof=None, keepdims=False):
    """The standard deviation (NumPy: std).

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: numbers; that of x, float64 for integers and bool.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.

    >>> float(dm.std(dm.asarray([1.0, 3.0])))
    1.0
    """
    from dome import elementwise
    return elementwise.sqrt(var(x, axis=axis, correction=correction, ddof=ddof, keepdims=keepdims))


def count_nonzero(x, /, axis=None, *, keepdims=False):
    """The number of values that are not 0, of all or along axes.

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: any; int64.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.
    """
    return sum(array.astype(x, dtypes.bool, copy=False), axis=axis, keepdims=keepdims)


def any(x, /, axis=None, *, keepdims=False):
    """Whether any value is not 0 (NumPy: any).

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: any; bool.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.
    """
    return _truth(x, axis, keepdims, "ANY")


def all(x, /, axis=None, *, keepdims=False):
    """Whether all values are not 0 (NumPy: all).

    Shapes: any; the result has no axis that is reduced (None: all are), or with keepdims one of length 1.
    Types: any; bool.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.
    """
    return _truth(x, axis, keepdims, "ALL")


def _truth(x, axis, keepdims, name):
    x = array.astype(array.as_operand(x), dtypes.bool, copy=False)
    if not _all_axes(x, axis):
        return _along(name, x, axis, keepdims, dtypes.bool)
    found = int(sum(x).item())
    z = array.scalar_of(dtypes.bool, found > 0 if name == "ANY" else found == x._k.size)
    return _kept(x, z, keepdims)


def _position(name, function):
    def reduce(x, /, axis=None, *, keepdims=False):
        x = array.as_operand(x)
        if x._k.dtype.kind == "c":
            raise TypeError("complex values have no order")
        if not x._k.size:
            return _of_none(x, axis, keepdims, dtypes.int64)
        if not _all_axes(x, axis):
            return _along(name, x, axis, keepdims, dtypes.int64)
        room = ffi.new("uint64_t *")
        env.check_thread()
        env.check(function(x._v, room))
        return _kept(x, array.scalar_of(dtypes.int64, room[0]), keepdims)
    return reduce


argmin, argmax = _position("ARGMIN", lib.dvec_argmin), _position("ARGMAX", lib.dvec_argmax)
argmin.__doc__ = _EXTREME.format("The position of the smallest value; the first of several (NumPy: argmin).", "int64")
argmax.__doc__ = _EXTREME.format("The position of the largest value; the first of several (NumPy: argmax).", "int64")


def _running(name, one_row):
    def scan(x, /, axis=None, *, dtype=None, include_initial=False):
        x = array.as_operand(x)
        if axis is None:
            if len(x._k.shape) != 1:
                x = moving.reshape(x, (-1,))
            axis = 0
        axis = moving.axis_of(axis, len(x._k.shape))
        wanted = _sum_type(x._k.dtype, dtype)
        x = array.astype(x, wanted, copy=False)
        env.check_thread()
        if len(x._k.shape) == 1 and wanted.kind != "c":
            z = array.new(x._k)
            env.check(one_row(z._v, x._v))
        else:
            view = moving.described("scan", x._k.shape, moving.strides_of(x._k.shape), 0)
            operation = getattr(lib, f"DVEC_{name}_ALONG")
            z = array.wrap(env.pointer(lib.dvec_scan_view(x._v, view, operation, axis, ffi.NULL)), wanted, x._k.shape)
        if include_initial:
            from dome import creation
            shape = tuple(1 if k == axis else n for k, n in enumerate(x._k.shape))
            first = creation.zeros if name == "SUM" else creation.ones
            z = moving.concat([first(shape, dtype=wanted), z], axis=axis)
        return z
    return scan


cumulative_sum = cumsum = _running("SUM", lib.dvec_scan)
cumulative_prod = cumprod = _running("PROD", lib.dvec_cumprod)
_RUNNING = """Running {} along an axis, or of all values in a row (NumPy: {}).

Shapes: any; the result has that of x, one row for None; with include_initial one value more.
Types: any; dtype, or that of x, integers in 64 bits.
Tasks: all call it, and may wait for each other.
Raises: IndexError for an axis that x does not have.
"""
cumulative_sum.__doc__, cumulative_prod.__doc__ = _RUNNING.format("sums", "cumsum"), _RUNNING.format("products", "cumprod")


_BY_LABEL = """

Shapes: a row of labels, and x with as many rows; (k, ...).
Types: integer labels, real x; float64.
Tasks: all call it, and wait for each other.
Raises: errors.Error for labels that are no integers, or of another length; ValueError for a negative k.
"""


def _by_label(name, doc):
    function = getattr(lib, f"dvec_{name}_by")

    def reduce(labels, x, k, /):
        width = math.prod(x._k.shape[1:]) or 1
        keep, v = array._indexing.flat_vector(x, width)
        room = ffi.new("double[]", k * width)
        env.check_thread()
        status = function(v, labels._v, k, room)
        array._indexing.done(keep)
        env.check(status)
        return _replicated(_F64, (k, *x._k.shape[1:]), room)
    reduce.__name__, reduce.__doc__ = name + "_by", doc + _BY_LABEL
    return reduce


def _replicated(dtype, shape, room):
    """An array of values that every task has."""
    from dome import local
    z = array.of(dtype, shape)
    if z._k.size:
        local.take_part(z, ffi.cast("char *", room))
    return z


sum_by = _by_label("sum", "Row j: the sum of the rows of x whose label is j, for 0 ... k - 1 (NumPy: bincount with weights).")
min_by = _by_label("min", "Row j: the smallest values of the rows of x whose label is j.")
max_by = _by_label("max", "Row j: the largest values of the rows of x whose label is j.")


def nearest(x, rows, /):
    """For each row of x the number of that one of `rows` which is nearest to it; the first of several (SciPy: vq).

    x and rows are real arrays of as many columns. The squares of the differences are added in the order of the columns.

    Shapes: (n, d) and (k, d); (n,).
    Types: real; int64.
    Tasks: all call it; nobody waits.
    Raises: errors.ShapeError for shapes that do not fit together.

    >>> dm.nearest(dm.asarray([[0.1], [0.9], [5.0]]), dm.asarray([[0.0], [1.0]])).tolist()
    [0, 1, 1]
    """
    x, rows = array.as_operand(x), array.as_operand(rows)
    dtype = dtypes.result_type(x, rows)
    if len(x._k.shape) != 2 or len(rows._k.shape) != 2 or x._k.shape[1] != rows._k.shape[1] or not rows._k.size:
        raise array.ShapeMismatch((x._k.shape, rows._k.shape))
    if dtype.kind in "biu":
        dtype = _F64
    x, rows = (array.astype(one, dtype, copy=False) for one in (x, rows))
    z = array.of(dtypes.int64, x._k.shape[:1])
    if not z._k.size:
        return z
    width, inside = x._k.shape[1], array._indexing
    keep_x, v = inside.flat_vector(x, width)
    keep_rows, w = inside.flat_vector(rows, width)
    env.check_thread()
    status = lib.dvec_nearest(z._v, v, w)
    inside.done(keep_x, keep_rows)
    env.check(status)
    return z


def count_by(labels, k, /):
    """How many labels are 0, 1, ... k - 1 (NumPy: bincount).

    Shapes: a row of labels; (k,).
    Types: integer labels; int64.
    Tasks: all call it, and wait for each other.
    Raises: errors.Error for labels that are no integers; ValueError for a negative k.

    >>> dm.count_by(dm.asarray([0, 2, 2]), 3).tolist()
    [1, 0, 2]
    """
    room = ffi.new("uint64_t[]", k)
    env.check_thread()
    env.check(lib.dvec_count_by(labels._v, k, room))
    return _replicated(dtypes.int64, (k,), room)


def _edges(x, bins, range):
    """The edges of bins as Python numbers, and whether the bins are equally wide."""
    if isinstance(bins, int):
        low, high = range if range else (float(min(x)), float(max(x)))
        if low == high:
            low, high = low - 0.5, high + 0.5
        return [low + j * ((high - low) / bins) for j in builtins_range(bins)] + [high], True
    edges = [float(edge) for edge in (bins.tolist() if hasattr(bins, "tolist") else bins)]
    if len(edges) < 2:
        raise ValueError("bins are a number of them, or two edges at least")
    return edges, False


def histogram(x, bins=10, range=None, density=False):
    """Counts by bin, and the edges of the bins, which may be given (NumPy: histogram). Waits for the counts.

    Shapes: any; (bins,) and (bins + 1,).
    Types: real; int64, or float64 for densities; float64.
    Tasks: all call it, and wait for each other.
    Raises: ValueError for fewer than two edges; errors.ArgumentError for edges that do not ascend.

    >>> counts, edges = dm.histogram(dm.asarray([0.1, 0.2, 0.9]), 2, (0, 1))
    >>> counts.tolist(), edges.tolist()
    ([2, 1], [0.0, 0.5, 1.0])
    """
    from dome import creation
    x = array.as_operand(x)
    edges, regular = _edges(x, bins, range)
    bins = len(edges) - 1
    counts = ffi.new("uint64_t[]", bins)
    env.check_thread()
    if regular:
        env.check(lib.dvec_histogram(x._v, bins, edges[0], edges[-1], counts))
    else:
        env.check(lib.dvec_histogram_edges(x._v, bins, edges, counts))
    if not density:
        return _replicated(dtypes.int64, (bins,), counts), creation.asarray(edges)
    widths = [b - a for a, b in zip(edges, edges[1:])]
    total = builtins_sum(counts)
    return creation.asarray([n / w / total for n, w in zip(counts, widths)]), creation.asarray(edges)


builtins_range = range


def diff(x, /, n=1, axis=-1, *, prepend=None, append=None):
    """Differences of neighbours along an axis, n times, with values put before and behind (NumPy: diff).

    Shapes: any; n values fewer along the axis.
    Types: numbers; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have.

    >>> dm.diff(dm.asarray([1, 4, 9])).tolist()
    [3, 5]
    """
    x = array.as_operand(x)
    axis = moving.axis_of(axis, len(x._k.shape))
    if prepend is not None or append is not None:
        ends = [one if one is None else array.as_operand(one) for one in (prepend, append)]
        side = tuple(1 if k == axis else length for k, length in enumerate(x._k.shape))
        ends = [moving.broadcast_to(one, side) if one is not None and not one._k.shape else one for one in ends]
        x = moving.concat([part for part in (ends[0], x, ends[1]) if part is not None], axis=axis)
    from dome import elementwise
    minus = elementwise.not_equal if x._k.dtype.kind == "b" else elementwise.subtract
    for _ in builtins_range(n):
        length = x._k.shape[axis]
        if length < 1:
            break
        x = minus(moving.part(x, axis, 1, length - 1), moving.part(x, axis, 0, length - 1))
    return x


def _install():
    A = array.Array
    A.prod = lambda x, axis=None, dtype=None, keepdims=False: prod(x, axis=axis, dtype=dtype, keepdims=keepdims)
    for function in (min, max, mean, any, all, argmin, argmax):
        name = function.__name__ if function.__name__ != "reduce" else {argmin: "argmin", argmax: "argmax"}[function]
        setattr(A, name, _method(function))
    A.var = lambda x, axis=None, dtype=None, out=None, ddof=0, keepdims=False: var(x, axis=axis, correction=ddof, keepdims=keepdims)
    A.std = lambda x, axis=None, dtype=None, out=None, ddof=0, keepdims=False: std(x, axis=axis, correction=ddof, keepdims=keepdims)
    A.cumsum, A.cumprod = (lambda x, axis=None: cumsum(x, axis=axis)), (lambda x, axis=None: cumprod(x, axis=axis))

    def sum_method(x, axis=None, dtype=None, out=None, keepdims=False):
        if out is not None:
            raise TypeError("a sum is a new array: there is no `out`")
        if axis is None and x._k.exact and dtype is None and not keepdims and type(x) is _Distributed:
            return _sum(x)
        return sum(x, axis=axis, dtype=dtype, keepdims=keepdims)
    A.sum = sum_method


def _method(function):
    def method(x, axis=None, dtype=None, out=None, keepdims=False):  # numpy.mean(x) gives them all
        if dtype is not None or out is not None:
            raise TypeError("a result is a new array of the usual type: there is no `dtype` or `out`")
        return function(x, axis=axis, keepdims=keepdims)
    method.__doc__ = function.__doc__
    return method


_install()
