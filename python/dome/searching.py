"""Searching, sorting and sets."""
from collections import namedtuple

from dome import arrays as array, dtypes, env, memory, moving, statistics
from dome._dome import ffi, lib

nonzero, take, take_along_axis = array._indexing.nonzero, array._indexing.take, array._indexing.take_along_axis
argmin, argmax, count_nonzero = statistics.argmin, statistics.argmax, statistics.count_nonzero


def where(condition, x1=None, x2=None, /):
    """x1 where the condition holds, else x2; without these the indices of what is not 0 (NumPy: where).

    Shapes: any three that broadcast; the one that they have together, without x1 and x2 a row for each axis.
    Types: any; that of x1 and x2 together, or int64.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for shapes that do not fit together; ValueError for a number alone.

    >>> dm.where(dm.asarray([True, False]), 1.0, -1.0).tolist()
    [1.0, -1.0]
    """
    if x1 is None and x2 is None:
        return nonzero(array.as_operand(condition))
    condition = array.as_operand(condition)
    if condition._k.dtype.kind != "b":
        condition = array.astype(condition, dtypes.bool)
    env.check_thread()
    dtype = dtypes.result_type(x1, x2)
    x1, x2 = (array.astype(array.as_operand(x, dtype), dtype, copy=False) for x in (x1, x2))
    kind = memory.kind_of(dtype, array.broadcast_shapes(condition._k.shape, x1._k.shape, x2._k.shape))
    z = array.new(kind)
    a, b, c = (_operand(x, kind) for x in (condition, x1, x2))
    env.check(lib.dvec_select(array.target(z), a, b, c))
    return z


def _operand(x, kind):
    return array.operand(x, kind)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where the values of x2 belong in the ascending x1 (NumPy: searchsorted).

    Shapes: a row x1, any x2; that of x2.
    Types: real; int64.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for another side; TypeError for complex values.

    >>> dm.searchsorted(dm.asarray([1, 3, 5]), dm.asarray([3, 4])).tolist()
    [1, 2]
    """
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    x1, x2 = array.as_operand(x1), x2 if isinstance(x2, array._Number) else array.as_operand(x2)
    dtype = dtypes.result_type(x1, x2)
    x1, x2 = array.astype(x1, dtype, copy=False), array.astype(array.as_operand(x2), dtype, copy=False)
    flat = moving.reshape(x2, (-1,)) if len(x2._k.shape) != 1 else x2
    z = array.of(dtypes.int64, flat._k.shape)
    env.check(lib.dvec_searchsorted(z._v, x1._v, flat._v, side == "right"))
    return moving.reshape(z, x2._k.shape)


def _rows(x, axis):
    """x with an axis last, and the way back."""
    order = [k for k in range(len(x._k.shape)) if k != axis] + [axis]
    back = sorted(range(len(order)), key=order.__getitem__)
    return (x, None) if order == sorted(order) else (moving.permute_dims(x, tuple(order)), tuple(back))


def argsort(x, /, axis=-1, *, descending=False, stable=True):
    """The positions of the values in ascending order (NumPy: argsort). Equal values keep their order.

    Shapes: any; the result has that of x.
    Types: real; int64.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; TypeError for complex values.

    >>> dm.argsort(dm.asarray([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    axis = moving.axis_of(axis, len(x._k.shape))
    if not x._k.size:
        return array.of(dtypes.int64, x._k.shape)
    if len(x._k.shape) == 1:
        return _argsort_row(x, descending)
    moved, back = _rows(x, axis)
    shape = moved._k.shape
    n = shape[-1]
    flat = moving.reshape(moved, (-1,))
    order = _argsort_row(flat, descending)  # by value; then, stably, by row
    row = _divided(order, n)
    by_row = _argsort_row(row, False)
    position = order[by_row]
    inside = array.new(position._k)
    env.check(lib.dvec_fmods(inside._v, position._v, float(n)))
    z = moving.reshape(inside, shape)
    return z if back is None else moving.permute_dims(z, back)


def _divided(x, n):
    z = array.new(x._k)
    env.check(lib.dvec_divs(z._v, x._v, float(n)))
    return z


def _argsort_row(x, descending):
    if x._k.dtype.kind == "b":
        x = array.astype(x, dtypes.uint8)
    env.check_thread()
    z = array.of(dtypes.int64, x._k.shape)
    if not descending:
        env.check(lib.dvec_argsort(z._v, x._v))
        return z
    env.check(lib.dvec_argsort(z._v, moving.flip(x)._v))  # equal values in their order: those of the flipped array, backwards
    return moving.flip((x._k.size - 1) - z)


def sort(x, /, axis=-1, *, descending=False, stable=True):
    """The values in ascending order along an axis (NumPy: sort). NaN come last.

    Shapes: any; the result has that of x.
    Types: real; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; TypeError for complex values.

    >>> dm.sort(dm.asarray([3, 1, 2]), descending=True).tolist()
    [3, 2, 1]
    """
    axis = moving.axis_of(axis, len(x._k.shape))
    if not x._k.size:
        return array.copy(x)
    if len(x._k.shape) == 1:
        env.check_thread()
        z = array.new(x._k)
        env.check(lib.dvec_sort(z._v, x._v))
        return moving.flip(z) if descending else z
    return take_along_axis(x, argsort(x, axis=axis, descending=descending), axis=axis)


def topk(x, k, /, *, largest=True):
    """The k largest values, or smallest ones, in order, and where they stand (PyTorch: topk). Of one row.

    Shapes: a row of at least k values; (k,) twice.
    Types: real; that of x, and int64.
    Tasks: all call it, and may wait for each other.
    Raises: errors.Error for a k beyond the row; ValueError for a negative one; TypeError for complex values.
    """
    if k < 0:
        raise ValueError(f"there are no {k} values")
    values = ffi.new("char[]", max(1, k * x._k.dtype.itemsize))
    places = ffi.new("uint64_t[]", max(1, k))
    env.check_thread()
    env.check(lib.dvec_topk(x._v, k, largest, values, places))
    return statistics._replicated(x._k.dtype, (k,), values), statistics._replicated(dtypes.int64, (k,), places)


UniqueAll = namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = namedtuple("UniqueCounts", "values counts")
UniqueInverse = namedtuple("UniqueInverse", "values inverse_indices")


def _flat(x):
    x = moving.reshape(x, (-1,)) if len(x._k.shape) != 1 else x
    return x


def unique_values(x, /):
    """The different values in ascending order (NumPy: unique).

    Shapes: any; a row.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for what is no array.
    """
    flat = _flat(x)
    if flat._k.dtype.kind == "f":
        return _runs(flat)[0]
    env.check_thread()
    v = env.pointer(lib.dvec_unique(flat._v, ffi.NULL))
    return array.wrap(v, x._k.dtype, (lib.dvec_length(v),))


def unique(x, /, *, return_index=False, return_inverse=False, return_counts=False):
    """The different values in ascending order, one NaN among them (NumPy: unique).

    With `return_...` also where each stands first, the number of each value's class, and how many there are of each; each NaN
    then is a class of its own.

    Shapes: any; one row of as many as there are.
    Types: any; that of x, others int64.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for what is no array.

    >>> values, counts = dm.unique(dm.asarray([3, 1, 3]), return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    x = array.as_operand(x)
    if return_index or return_inverse or return_counts:
        found = unique_all(x)
        wanted = (found.indices, return_index), (found.inverse_indices, return_inverse), (found.counts, return_counts)
        return (found.values, *(part for part, is_wanted in wanted if is_wanted))
    flat = _flat(x)
    env.check_thread()
    v = env.pointer(lib.dvec_unique(flat._v, ffi.NULL))
    return array.wrap(v, x._k.dtype, (lib.dvec_length(v),))


def _runs(flat):
    """The different values (each NaN is one), where in sorted order each begins, and that order."""
    from dome import creation
    n = flat._k.size
    order = argsort(flat)
    ordered = flat[order] if n else flat
    if n < 2:
        first = creation.ones((n,), dtype=dtypes.bool)
    else:
        first = moving.concat([creation.ones((1,), dtype=dtypes.bool), ordered[1:] != ordered[:-1]])
    begins = nonzero(first)[0] if n else creation.zeros((0,), dtype=dtypes.int64)
    return (ordered[begins] if n else ordered), begins, order, first


def unique_all(x, /):
    """The different values, where each stands first, the number of each value's class, and how many are in each.

    Shapes: any; rows, inverse_indices as x.
    Types: any; that of x, then int64.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for what is no array.
    """
    from dome import creation
    flat = _flat(x)
    n = flat._k.size
    values, begins, order, first = _runs(flat)
    ends = moving.concat([begins[1:], creation.full((1,), n, dtype=dtypes.int64)]) if n else begins
    number = statistics.cumulative_sum(array.astype(first, dtypes.int64)) - 1
    inverse = array.new(order._k)
    if n:
        env.check(lib.dvec_scatter(inverse._v, number._v, order._v))
    indices = order[begins] if n else begins
    return UniqueAll(values, indices, moving.reshape(inverse, x._k.shape), ends - begins)


def unique_counts(x, /):
    """The different values, and how many there are of each.

    Shapes: any; two rows.
    Types: any; that of x, then int64.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for what is no array.
    """
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x, /):
    """The different values, and for each value of x the number of its class.

    Shapes: any; a row, and that of x.
    Types: any; that of x, then int64.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for what is no array.
    """
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def isin(x, values, /):
    """Whether each value of x is among `values` (NumPy: isin).

    Shapes: any; the result has that of x.
    Types: any; bool.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for what is no array or number.

    >>> dm.isin(dm.arange(3), dm.asarray([2, 5])).tolist()
    [False, False, True]
    """
    dtype = dtypes.result_type(x, values)
    x, row = array.astype(x, dtype, copy=False), sort(_flat(array.astype(values, dtype, copy=False)))
    if not row._k.size:
        from dome import creation
        return creation.zeros(x._k.shape, dtype=dtypes.bool)
    left, right = searchsorted(row, x), searchsorted(row, x, side="right")
    return (left != right) & (x == x)


def _install():
    A = array.Array
    A.argsort = lambda x, axis=-1: argsort(x, axis=axis)
    A.take = lambda x, indices, axis=None: take(x, indices, axis=axis)
    A.nonzero = lambda x: nonzero(x)

    def sort_in_place(x, axis=-1):
        """Puts the values in ascending order along an axis (NumPy: ndarray.sort).

        Shapes: any.
        Types: real.
        Tasks: all call it, and may wait for each other.
        Raises: IndexError for an axis that x does not have; TypeError for complex values.
        """
        env.check(lib.dvec_copy(x._v, sort(x, axis=axis)._v))
    A.sort = sort_in_place
    for name in ("reshape", "transpose"):
        setattr(A, name, _variadic(getattr(moving, name)))
    A.flatten = A.ravel = lambda x: array.copy(_flat(x))
    A.squeeze = lambda x, axis=None: moving.squeeze(x, axis)
    A.repeat = lambda x, n, axis=None: moving.repeat(x, n, axis=axis)
    A.swapaxes = lambda x, a, b: moving.swapaxes(x, a, b)
    A.T = property(lambda x: moving.transpose(x), doc="The axes in reverse order.")
    A.mT = property(lambda x: moving.matrix_transpose(x), doc="The last two axes exchanged.")


def _variadic(function):
    def method(x, *lengths):
        return function(x, lengths[0] if len(lengths) == 1 and not isinstance(lengths[0], int) else lengths or None)
    method.__doc__ = function.__doc__
    return method


_install()
