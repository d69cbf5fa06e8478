"""x[key] and x[key] = value: slices and numbers, masks, and arrays of indices along the first axis."""
import operator

from dome import arrays as array, dtypes, env, memory, moving
from dome._dome import ffi, lib

_FULL = slice(None)


def _expanded(key, ndim):
    """A key as a list with one entry for each axis, and None for new axes."""
    key = list(key) if isinstance(key, tuple) else [key]
    dots = [k for k, one in enumerate(key) if one is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has one ... at most")
    used = sum(one is not None and one is not Ellipsis for one in key)
    if used > ndim:
        raise IndexError(f"{used} indices for an array of {ndim} dimensions")
    at = dots[0] if dots else len(key)
    key[at:at + 1] = [_FULL] * (ndim - used)
    return key


def view_of(shape, key):
    """The view of a key of slices, integers and None: extents, strides, offset."""
    own = moving.strides_of(shape)
    extents, strides, offset, axis = [], [], 0, 0
    for one in _expanded(key, len(shape)):
        if one is None:
            extents.append(1)
            strides.append(0)
            continue
        n, stride = shape[axis], own[axis]
        if isinstance(one, slice):
            start, stop, step = one.indices(n)
            count = len(range(start, stop, step))
            extents.append(count)
            strides.append(stride * step)
            offset += start * stride if count else 0
        else:
            index = operator.index(one)
            if not -n <= index < n:
                raise IndexError(f"index {index} is not in axis {axis}, whose length is {n}")
            offset += index % n * stride
        axis += 1
    return extents, strides, offset


def _is_mask(key):
    return isinstance(key, array.Array) and key._k.dtype.kind == "b"


def _is_indices(key):
    return isinstance(key, array.Array) and key._k.dtype.kind in "iu" and key._k.shape != ()


def _with_arrays(key):
    """A key whose lists and arrays of NumPy are arrays."""
    if isinstance(key, tuple):
        return tuple(_with_arrays(one) for one in key)
    if isinstance(key, list):
        return array._creation.asarray(key, dtype=None if key else dtypes.int64)
    return array._creation.asarray(key) if hasattr(key, "__array_interface__") else key


def get(x, key):
    env.env()
    key = _with_arrays(key)
    if isinstance(key, bool):
        key = array.of_value(dtypes.bool, key)
    if _is_mask(key):
        return compressed(x, key)
    if _is_indices(key):
        return take(x, key, axis=0)
    if isinstance(key, tuple) and any(isinstance(k, array.Array) and not _is_number(k) for k in key):
        if _is_mask(key[0]) and all(one is Ellipsis or isinstance(one, slice) and one == _FULL for one in key[1:]):
            _expanded(key[1:], len(x._k.shape) - len(key[0]._k.shape))
            return compressed(x, key[0])
        return _get_mixed(x, _positions(key, x._k.shape))
    shape = x._k.shape
    if type(key) is int and len(shape) == 1:
        return one_value(x, key)
    extents, strides, offset = view_of(shape, key)
    if not extents and shape:
        return one_value(x, offset)
    if not shape:
        return moving.broadcast_to(x, tuple(extents))
    return moving.take(x, extents, strides, offset)


def _is_number(key):
    return isinstance(key, array.Array) and key._k.shape == () and key._k.dtype.kind in "iu"


def _positions(key, shape):
    """A key with the positions of what is true in place of each mask, which counts for as many axes as it has."""
    counts = [len(one._k.shape) if _is_mask(one) else one is not None and one is not Ellipsis for one in key]
    found, axis = [], 0
    for k, (one, count) in enumerate(zip(key, counts)):
        if one is Ellipsis:
            axis = len(shape) - sum(counts[k + 1:])
        if _is_mask(one):
            if not count or one._k.shape != shape[axis:axis + count]:
                raise IndexError(f"a mask of the shape {one._k.shape} does not fit to {shape} at axis {axis}")
            found += nonzero(one)
        else:
            found.append(one)
        axis += count
    return tuple(found)


def _get_mixed(x, key):
    """One array of indices among slices, or arrays of indices for all axes."""
    key = _expanded(key, len(x._k.shape))
    arrays = [k for k, one in enumerate(key) if isinstance(one, array.Array) and not _is_number(one)]
    if len(arrays) == len(key) == len(x._k.shape):
        return moving.reshape(x, (-1,))[_flat_index(x._k.shape, key)]
    if len(arrays) > 1 or None in key:
        raise IndexError("an index may have one array among slices, or an array for each axis")
    at = arrays[0]
    gone = sum(not isinstance(one, (slice, array.Array)) or _is_number(one) for one in key[:at])
    rest = get(x, tuple(_FULL if k == at else one for k, one in enumerate(key)))
    return take(rest, key[at], axis=at - gone)


def _flat_index(shape, key):
    strides, flat = moving.strides_of(shape), 0
    for n, stride, one in zip(shape, strides, key):
        one = array.astype(array.as_operand(one), dtypes.int64, copy=False)
        flat = flat + _positive(one, n) * stride
    return flat


def one_value(x, index):
    """x[index] of all values, in order, as a 0-d array."""
    size = x._k.size
    if not -size <= index < size:
        raise IndexError(f"index {index} is not in an axis of the length {size}")
    index %= size
    width = x._k.width
    room = ffi.new("char[]", width * x._k.dtype.itemsize)
    env.check(lib.dvec_get(x._v, index // width, room))
    return array.scalar_of(x._k.dtype, array.unpacked(x._k.dtype, room + index % width * x._k.dtype.itemsize))


def flat_vector(x, width=1):
    """x as an array whose vector has elements of this width, and that array's vector: (keeper, vector)."""
    if x._k.width == width and not x._k.whole:
        return x, x._v
    rows = x._k.size // width
    v = spare(x._k.dtype, rows, width)
    moving.vector_values(v, x._v)
    return Spare(v), v


class Spare:
    """A vector that is freed when the operation that needs it is over, at the same place in all tasks."""

    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v

    def done(self):
        memory.free(self.v)


def spare(dtype, length, width):
    options = ffi.new("dvec_options *", {"size": ffi.sizeof("dvec_options"), "width": width})
    return env.pointer(lib.dvec_new_with(env.env(), ffi.NULL, dtype.ctype, length, options))


def done(*keepers):
    for keeper in keepers:
        if isinstance(keeper, Spare):
            keeper.done()


def compressed(x, mask):
    """x[mask]: of the first axes, which the mask has, those places where it is true."""
    depth = len(mask._k.shape)
    if depth > len(x._k.shape) or any(m not in (n, 0) for m, n in zip(mask._k.shape, x._k.shape)):
        raise IndexError(f"a mask of the shape {mask._k.shape} does not fit to {x._k.shape}")
    if 0 in mask._k.shape:  # the standard allows it for any length
        return array.of(x._k.dtype, (0, *x._k.shape[depth:]))
    if depth == 0:
        return moving.reshape(x, (1, *x._k.shape)) if mask else array.of(x._k.dtype, (0, *x._k.shape))
    rest = x._k.shape[depth:]
    width = 1
    for n in rest:
        width *= n
    if not x._k.size:
        return array.of(x._k.dtype, (int(array._statistics.count_nonzero(mask)), *rest))
    keep_x, v = flat_vector(x, width)
    keep_mask, m = flat_vector(mask)
    z = env.pointer(lib.dvec_compress(v, m, ffi.NULL))
    done(keep_x, keep_mask)
    return array.wrap(z, x._k.dtype, (lib.dvec_length(z), *rest))


def nonzero(x, /):
    """The indices of all values that are not 0, for each axis (NumPy: nonzero). The length follows from the values.

    Shapes: any; a row for each axis.
    Types: any; int64.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for an array without dimensions.

    >>> dm.nonzero(dm.asarray([0, 5, 7]))[0].tolist()
    [1, 2]
    """
    if not x._k.shape:
        raise ValueError("a 0-d array has no positions")
    flat = moving.reshape(x, (-1,)) if len(x._k.shape) > 1 else x
    v = env.pointer(lib.dvec_nonzero(flat._v, ffi.NULL))
    position = array.wrap(v, dtypes.int64, (lib.dvec_length(v),))
    if len(x._k.shape) == 1:
        return (position,)
    result = []
    for stride, n in zip(moving.strides_of(x._k.shape), x._k.shape):
        z = array.new(position._k)
        env.check(lib.dvec_divs(z._v, position._v, float(max(stride, 1))))
        env.check(lib.dvec_fmods(z._v, z._v, float(max(n, 1))))
        result.append(z)
    return tuple(result)


def _positive(index, n):
    """Indices that count from the end as ones that count from the beginning."""
    z = array.new(index._k)
    if index._k.dtype.kind == "u":
        return index
    less = index < 0
    env.check(lib.dvec_select(z._v, less._v, (index + n)._v, index._v))
    return z


def take(x, indices, /, axis=None):
    """Along an axis, what stands at these indices (NumPy: take).

    Shapes: x, and a row of indices; their number along the axis.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an index or axis that x does not have.

    >>> dm.take(dm.arange(5) * 10, dm.asarray([3, -1])).tolist()
    [30, 40]
    >>> dm.take(dm.arange(5), dm.asarray([5])).tolist()
    Traceback (most recent call last):
        ...
    dome.errors.RangeError: ...
    """
    env.env()
    indices = array._creation.asarray(indices) if not isinstance(indices, array.Array) else indices
    if axis is None:
        x, axis = moving.reshape(x, (-1,)), 0
    axis = moving.axis_of(axis, len(x._k.shape))
    if axis:
        order = (axis, *(k for k in range(len(x._k.shape)) if k != axis))
        moved = take(moving.permute_dims(x, order), indices, axis=0)
        depth = len(indices._k.shape)
        back = list(range(depth, depth + axis)) + list(range(depth)) + list(range(depth + axis, len(moved._k.shape)))
        return moving.permute_dims(moved, tuple(back))
    rest = x._k.shape[1:]
    flat = moving.reshape(array.astype(indices, dtypes.int64, copy=False), (-1,))
    if flat._k.size and not x._k.shape[0]:
        raise IndexError("an axis of the length 0 has no index")
    if not flat._k.size or not x._k.size:
        return array.of(x._k.dtype, indices._k.shape + rest)
    flat = _positive(flat, x._k.shape[0])
    width = x._k.size // x._k.shape[0]
    keep, v = flat_vector(x, width)
    out = memory.kind_of(x._k.dtype, (flat._k.size, *rest))
    if out.width == width and not out.whole:
        z = array.new(out)
        env.check(lib.dvec_gather(z._v, v, flat._v))
        done(keep)
        return moving.reshape(z, indices._k.shape + rest)
    w = spare(x._k.dtype, flat._k.size, width)
    status = lib.dvec_gather(w, v, flat._v)
    z = array.of(x._k.dtype, indices._k.shape + rest)
    if not status:
        moving.vector_values(z._v, w)
    memory.free(w)
    done(keep)
    env.check(status)
    return z


def take_along_axis(x, indices, /, axis=-1):
    """Along an axis, the values at the indices of an array of the same other lengths (NumPy: take_along_axis).

    Shapes: x, and indices with the same other lengths; that of the indices.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an index or axis that x does not have; errors.ShapeError for shapes that do not fit.
    """
    axis = moving.axis_of(axis, len(x._k.shape))
    shape = x._k.shape
    extents = list(indices._k.shape)
    strides = moving.strides_of(shape)
    flat = _positive(moving.reshape(array.astype(indices, dtypes.int64, copy=False), (-1,)), shape[axis]) * strides[axis]
    for k, n in enumerate(extents):
        if k != axis:
            steps = [0] * len(extents)
            steps[k] = strides[k]
            ramp = moving.take(array._creation.arange(n * strides[k]), extents, steps, 0, (flat._k.size,))
            flat = flat + ramp
    return moving.reshape(moving.reshape(x, (-1,))[flat], extents)


def put(x, key, value):
    env.env()
    if type(x) is array.Scalar:
        return put_scalar(x, key, value)
    key = _with_arrays(key)
    if not isinstance(value, (array.Array, *array._Number)):
        value = array._creation.asarray(value)
    if _is_mask(key):
        return put_masked(x, key, value)
    if _is_indices(key):
        return put_at(x, key, value)
    shape = x._k.shape
    if key is Ellipsis or isinstance(key, slice) and len(shape) and key == _FULL:
        return put_all(x, value)
    if isinstance(key, tuple) and any(isinstance(k, array.Array) and not _is_number(k) for k in key):
        places = get(moving.reshape(array._creation.arange(x._k.size), shape), key)
        return put_at(x, places, value, len(shape))
    extents, strides, offset = view_of(shape, key)
    if not isinstance(value, array.Array):
        value = array.of_value(x._k.dtype, value)
    _castable(x, value)
    if not extents and x._k.width == 1:
        env.check(lib.dvec_set(x._v, offset, array.packed(x._k.dtype, value.item())))
    else:
        moving.put(x, extents, strides, offset, _without_front(value, len(extents)))


def _without_front(value, ndim):
    while len(value._k.shape) > ndim and value._k.shape[0] == 1:
        value = moving.reshape(value, value._k.shape[1:])
    return value


def _castable(x, value):
    if value._k.dtype.kind == "c" and x._k.dtype.kind != "c":
        raise TypeError(f"complex values do not fit into an array of {x._k.dtype}")


def put_scalar(x, key, value):
    """x[()] = value and x[...] = value for a 0-d array, or x[mask] = value with a 0-d mask."""
    if _is_mask(key) and key._k.shape == () or isinstance(key, bool):
        if not key:
            return
    else:
        view_of((), key)
    if not isinstance(value, array.Array):
        value = array.of_value(x._k.dtype, value)
    if value._k.size != 1:
        raise array.ShapeMismatch(((), value._k.shape))
    _castable(x, value)
    number = moving.to_scalar(array.astype(value, x._k.dtype, copy=False)).item()
    array.set_scalar(x, number)


def put_all(x, value):
    """x[...] = value: no round trip, no other array."""
    if isinstance(value, array.Array):
        if value._k is x._k:
            env.check(lib.dvec_copy(x._v, value._v))
            return
        _castable(x, value)
        value = array.astype(value, x._k.dtype, copy=False)
        env.check(lib.dvec_copy(x._v, array.operand(value, memory.kind_of(x._k.dtype, x._k.shape))))
        return
    env.check(lib.dvec_fill_value(x._v, array.packed(x._k.dtype, value)))


def put_masked(x, mask, value):
    """x[mask] = value, for one value or one for each place that is true."""
    if mask._k.shape != x._k.shape[:len(mask._k.shape)]:
        raise IndexError(f"a mask of the shape {mask._k.shape} does not fit to {x._k.shape}")
    if not isinstance(value, array.Array):
        value = array.of_value(x._k.dtype, value)
    _castable(x, value)
    value = array.astype(value, x._k.dtype, copy=False)
    if value._k.size != 1:
        return put_at(x, nonzero(moving.reshape(mask, (-1,)))[0], value, len(mask._k.shape))
    if mask._k.shape != x._k.shape:
        mask = moving.broadcast_to(moving.reshape(mask, mask._k.shape + (1,) * (len(x._k.shape) - len(mask._k.shape))), x._k.shape)
    env.check(lib.dvec_select(x._v, mask._v, moving.to_scalar(value)._v, x._v))


def put_at(x, index, value, depth=1):
    """x[index] = value along the first axes, which count as one; of several values for a place the last counts."""
    rest = x._k.shape[depth:]
    places = 1
    for n in x._k.shape[:depth]:
        places *= n
    if not isinstance(value, array.Array):
        value = array.of_value(x._k.dtype, value)
    _castable(x, value)
    value = moving.broadcast_to(array.astype(value, x._k.dtype, copy=False), index._k.shape + rest)
    if not value._k.size:
        return
    flat = _positive(moving.reshape(array.astype(index, dtypes.int64, copy=False), (-1,)), places)
    width = x._k.size // places
    keep_value, source = flat_vector(value, width)
    keep_x, v = flat_vector(x, width)
    status = lib.dvec_scatter(v, source, flat._v)
    if not status and isinstance(keep_x, Spare):
        moving.vector_values(x._v, v)
    done(keep_value, keep_x)
    env.check(status)
