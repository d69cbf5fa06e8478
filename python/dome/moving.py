"""Views of arrays: which of its values an array has, and in which order. The library moves the values, once for each call."""
import math

from dome import arrays as array, dtypes, env, memory
from dome._dome import ffi, lib

_room = {}


def strides_of(shape):
    """The distance of neighbours along each axis, in values (C order)."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return strides[::-1]


def described(name, extents, strides, offset):
    """The library's description of a view."""
    view = _room.get(name)
    if view is None:
        view = _room[name] = ffi.new("dvec_view *")
    view.ndim, view.offset = len(extents), offset
    for k, (extent, stride) in enumerate(zip(extents, strides)):
        view.extent[k], view.stride[k] = extent, stride
    return view


def is_whole(x, extents, strides, offset):
    """Whether a view has all values of x in their order."""
    if offset or math.prod(extents) != x._k.size:
        return False
    wanted = strides_of(extents)
    return all(extent == 1 or stride == want for extent, stride, want in zip(extents, strides, wanted))


def copy_values(to, source):
    """The values of a vector, in order, become those of another of any width and block size."""
    if lib.dvec_length(to) == lib.dvec_length(source) and lib.dvec_width(to) == lib.dvec_width(source):
        env.check(lib.dvec_copy(to, source))
    else:
        env.check(lib.dvec_copy_view(to, ffi.NULL, source, ffi.NULL))


def vector_values(to, source):
    """The same where the shape that a vector has for files does not count."""
    n = lib.dvec_length(source) * lib.dvec_width(source)
    env.check(lib.dvec_copy_view(to, ffi.NULL, source, described("all", [n], [1], 0)))


def take(x, extents, strides, offset, shape=None):
    """A new array of the values of a view of x."""
    env.env()
    shape = tuple(extents if shape is None else shape)
    z = array.of(x._k.dtype, shape)
    if not z._k.size:
        return z
    to = array.target(z)
    if is_whole(x, extents, strides, offset):
        if z._k.length == x._k.length and z._k.width == x._k.width:
            env.check(lib.dvec_copy(to, x._v))
        else:
            vector_values(to, x._v)
    else:
        env.check(lib.dvec_copy_view(to, ffi.NULL, x._v, described("from", extents, strides, offset)))
    return z


def put(z, extents, strides, offset, x):
    """The values of a view of z become those of x, which has as many, or one."""
    if x._k.shape != tuple(extents):
        x = broadcast_to(x, tuple(extents))
    x = array.astype(x, z._k.dtype, copy=False)
    if not x._k.size:
        return
    env.check(lib.dvec_copy_view(z._v, described("to", extents, strides, offset), x._v, ffi.NULL))


def to_scalar(x):
    """An array of one value as a 0-d one."""
    if type(x) is array.Scalar:
        return x
    z = array.of(x._k.dtype, ())
    env.check(lib.dvec_copy(z._w, x._v) if x._k.width == 1 else lib.dvec_copy_view(z._w, ffi.NULL, x._v, ffi.NULL))
    return z


def reshape(x, /, shape, *, copy=None):
    """The same values in another shape; -1 stands for the length that fits (NumPy: reshape).

    Returns a new array; its values are moved if rows of the old shape lie otherwise on the tasks.

    Shapes: any; the given one, with as many values.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: errors.ShapeError for another number of values; ValueError for two lengths of -1, or copy=False.

    >>> dm.reshape(dm.arange(6), (2, -1)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    >>> dm.reshape(dm.arange(6), (4, 2))
    Traceback (most recent call last):
        ...
    dome.errors.ShapeError: arrays of the shapes (6,) and (4, 2) do not fit together
    """
    shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    if shape.count(-1) > 1:
        raise ValueError("only one length of a shape can be -1")
    if -1 in shape:
        rest = -math.prod(shape)
        if not rest or x._k.size % rest:
            raise array.ShapeMismatch((x._k.shape, shape))
        shape = tuple(x._k.size // rest if n == -1 else n for n in shape)
    if math.prod(shape) != x._k.size or min(shape, default=0) < 0:
        raise array.ShapeMismatch((x._k.shape, shape))
    if copy is False and shape != x._k.shape:
        raise ValueError("reshape makes a copy: arrays are no views of each other")
    if shape == x._k.shape and not copy:
        return x
    if shape == ():
        return to_scalar(x)
    if x._k.shape == ():
        return broadcast_to(x, shape)
    return take(x, x._k.shape, strides_of(x._k.shape), 0, shape)


def _no_negative(lengths):
    if any(n < 0 for n in lengths):
        raise ValueError(f"{tuple(lengths)} has a negative length")


def broadcast_to(x, /, shape):
    """x repeated along axes of length 1 and along new ones in front (NumPy: broadcast_to; here a copy).

    Shapes: any that fits; the given one.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: errors.ShapeError for shapes that do not fit together; ValueError for a negative length.

    >>> dm.broadcast_to(dm.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    old = x._k.shape
    if old == shape:
        return x
    _no_negative(shape)
    extra = len(shape) - len(old)
    if extra < 0 or any(a != b and a != 1 for a, b in zip(old, shape[extra:])):
        raise array.ShapeMismatch((old, shape))
    if x._k.size == 1:
        z = array.of(x._k.dtype, shape)
        one = to_scalar(x)
        if z._k.size:
            fill_with(z, one)
        return z
    own = strides_of(old)
    strides = [0] * extra + [0 if a == 1 else s for a, s in zip(old, own)]
    return take(x, shape, strides, 0)


def fill_with(z, one):
    """All values of z become that of a 0-d array. Waits for nothing."""
    env.check(lib.dvec_copy(array.target(z), one._v))


def broadcast_arrays(*arrays):
    """Arrays repeated to the shape that they have together (NumPy: broadcast_arrays).

    Shapes: any that broadcast; the one that they have together.
    Types: any; those of the arrays.
    Tasks: all call it; nobody waits.
    Raises: errors.ShapeError for shapes that do not fit together.
    """
    shape = array.broadcast_shapes(*(x._k.shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def axis_of(axis, ndim):
    if not -ndim <= axis < ndim:
        raise IndexError(f"there is no axis {axis} in an array of {ndim} dimensions")
    return axis % ndim


def axes_of(axis, ndim):
    """Axes as a sorted tuple; None: all."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis_of(a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) != len(axes):
        raise ValueError("an axis is named twice")
    return tuple(sorted(axes))


def permute_dims(x, /, axes):
    """The axes in another order (NumPy: transpose).

    Shapes: any; the lengths in the new order.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for what is no order of the axes; IndexError for an axis that x does not have.

    >>> dm.permute_dims(dm.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    ndim = len(x._k.shape)
    axes = tuple(axis_of(a, ndim) for a in axes)
    if sorted(axes) != list(range(ndim)):
        raise ValueError(f"{axes} is no order of {ndim} axes")
    strides = strides_of(x._k.shape)
    return take(x, [x._k.shape[a] for a in axes], [strides[a] for a in axes], 0)


def transpose(x, axes=None):
    """The axes in reverse order, or in a given one (NumPy: transpose).

    Shapes: any; the lengths in reverse order, or in the given one.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for what is no order of the axes; IndexError for an axis that x does not have.
    """
    return permute_dims(x, tuple(range(len(x._k.shape)))[::-1] if axes is None else axes)


def matrix_transpose(x, /):
    """The last two axes exchanged (Array API: matrix_transpose).

    Shapes: (..., n, m); (..., m, n).
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for less than two dimensions.
    """
    ndim = len(x._k.shape)
    if ndim < 2:
        raise ValueError("a matrix has two dimensions")
    return permute_dims(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def moveaxis(x, source, destination, /):
    """Axes at other places, the rest in their order (NumPy: moveaxis).

    Shapes: any; the lengths in their new order.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have.
    """
    ndim = len(x._k.shape)
    source = [axis_of(a, ndim) for a in (source if isinstance(source, (tuple, list)) else (source,))]
    destination = [axis_of(a, ndim) for a in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    order = [a for a in range(ndim) if a not in source]
    for to, from_ in sorted(zip(destination, source)):
        order.insert(to, from_)
    return permute_dims(x, tuple(order))


def swapaxes(x, a, b):
    """Two axes exchanged (NumPy: swapaxes).

    Shapes: any; two lengths exchanged.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have.
    """
    order = list(range(len(x._k.shape)))
    a, b = axis_of(a, len(order)), axis_of(b, len(order))
    order[a], order[b] = order[b], order[a]
    return permute_dims(x, tuple(order))


def expand_dims(x, /, axis=0):
    """A new axis of length 1 (NumPy: expand_dims).

    Shapes: any; one more axis, of length 1.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: IndexError for a place that is none.
    """
    axis = axis_of(axis, len(x._k.shape) + 1)
    return reshape(x, x._k.shape[:axis] + (1,) + x._k.shape[axis:])


def squeeze(x, /, axis=None):
    """Without axes of length 1 (NumPy: squeeze).

    Shapes: any; without the axes.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: ValueError for an axis of another length; IndexError for one that x does not have.
    """
    shape = x._k.shape
    axes = axes_of(axis, len(shape)) if axis is not None else tuple(k for k, n in enumerate(shape) if n == 1)
    if any(shape[k] != 1 for k in axes):
        raise ValueError(f"only axes of length 1 can be left out of {shape}")
    return reshape(x, tuple(n for k, n in enumerate(shape) if k not in axes))


def flip(x, /, axis=None):
    """The values along axes in reverse order (NumPy: flip).

    Shapes: any; the result has that of x.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.

    >>> dm.flip(dm.arange(3)).tolist()
    [2, 1, 0]
    """
    shape, strides, offset = x._k.shape, strides_of(x._k.shape), 0
    if not x._k.size:
        return array.copy(x)
    for a in axes_of(axis, len(shape)):
        offset += strides[a] * (shape[a] - 1)
        strides[a] = -strides[a]
    return take(x, shape, strides, offset) if shape else array.copy(x)


def roll(x, /, shift, axis=None):
    """The values moved along axes, round (NumPy: roll).

    Shapes: any; the result has that of x.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for other numbers of shifts than of axes.

    >>> dm.roll(dm.arange(5), 2).tolist()
    [3, 4, 0, 1, 2]
    """
    shape = x._k.shape
    if axis is None:
        return reshape(roll(reshape(x, (-1,)), shift, axis=0), shape) if len(shape) != 1 else _roll(x, int(shift), 0)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    if len(axes) != len(shifts):
        raise ValueError("as many shifts as axes")
    for a, k in zip(axes, shifts):
        x = _roll(x, int(k), axis_of(a, len(shape)))
    return x


def _roll(x, k, axis):
    shape = x._k.shape
    if not x._k.size:
        return array.copy(x)
    if axis == 0 and x._k.length == shape[0]:
        z = array.new(x._k)
        env.check(lib.dvec_roll(z._v, x._v, k))
        return z
    k %= shape[axis]
    if not k:
        return array.copy(x)
    return concat([part(x, axis, shape[axis] - k, k), part(x, axis, 0, shape[axis] - k)], axis=axis)


def part(x, axis, first, count):
    """Along an axis, `count` indices from `first` on."""
    shape, strides = list(x._k.shape), strides_of(x._k.shape)
    shape[axis] = count
    return take(x, shape, strides, first * strides[axis])


def concat(arrays, /, axis=0):
    """Arrays one behind the other along an axis; None: their values in one row (NumPy: concatenate).

    Shapes: those of the arrays are equal but along the axis; there the lengths add up.
    Types: any; that of all together.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for no arrays; errors.ShapeError for other lengths; IndexError for an axis that they do not have.

    >>> dm.concat([dm.zeros((1, 2)), dm.ones((2, 2))]).shape
    (3, 2)
    """
    arrays = [array.as_operand(x) for x in arrays]
    if not arrays:
        raise ValueError("nothing to put together")
    if axis is None:
        arrays, axis = [reshape(x, (-1,)) for x in arrays], 0
    dtype = dtypes.result_type(*arrays)
    axis = axis_of(axis, len(arrays[0]._k.shape))
    shape = list(arrays[0]._k.shape)
    for x in arrays[1:]:
        other = list(x._k.shape)
        if len(other) != len(shape) or other[:axis] + other[axis + 1:] != shape[:axis] + shape[axis + 1:]:
            raise array.ShapeMismatch([x._k.shape for x in arrays])
    shape[axis] = sum(x._k.shape[axis] for x in arrays)
    z = array.of(dtype, tuple(shape))
    strides, at = strides_of(shape), 0
    for x in arrays:
        if x._k.size:
            put(z, x._k.shape, strides, at * strides[axis], x)
        at += x._k.shape[axis]
    return z


concatenate = concat


def stack(arrays, /, axis=0):
    """Arrays of one shape along a new axis (NumPy: stack).

    Shapes: equal ones; one more axis, of as many as there are arrays.
    Types: any; that of all together.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for no arrays; errors.ShapeError for unlike shapes; IndexError for a place that is none.

    >>> dm.stack([dm.arange(2), dm.arange(2)], axis=1).tolist()
    [[0, 0], [1, 1]]
    """
    arrays = [array.as_operand(x) for x in arrays]
    axis = axis_of(axis, len(arrays[0]._k.shape) + 1)
    return concat([expand_dims(x, axis=axis) for x in arrays], axis=axis)


def unstack(x, /, *, axis=0):
    """The parts of an array along an axis, without it (Array API: unstack).

    Shapes: any; each part has no longer the axis.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have.

    >>> [row.tolist() for row in dm.unstack(dm.eye(2))]
    [[1.0, 0.0], [0.0, 1.0]]
    """
    axis = axis_of(axis, len(x._k.shape))
    shape, strides = x._k.shape, strides_of(x._k.shape)
    rest = [n for k, n in enumerate(shape) if k != axis]
    steps = [s for k, s in enumerate(strides) if k != axis]
    return tuple(take(x, rest, steps, i * strides[axis]) for i in range(shape[axis]))


def tile(x, repetitions, /):
    """x repeated along each axis (NumPy: tile).

    Shapes: any; each length times its repetitions.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for repetitions that are no integers; ValueError for negative ones.

    >>> dm.tile(dm.arange(2), (2,)).tolist()
    [0, 1, 0, 1]
    """
    repetitions = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    _no_negative(repetitions)
    ndim = max(len(repetitions), len(x._k.shape))
    shape = (1,) * (ndim - len(x._k.shape)) + x._k.shape
    repetitions = (1,) * (ndim - len(repetitions)) + repetitions
    own = strides_of(shape)
    extents = [n for pair in zip(repetitions, shape) for n in pair]
    strides = [s for stride in own for s in (0, stride)]
    result = tuple(a * b for a, b in zip(repetitions, shape))
    if x._k.shape == ():
        return broadcast_to(x, result)
    return take(x, extents, strides, 0, result)


def repeat(x, repeats, /, axis=None):
    """Each value several times (NumPy: repeat, with one number of repeats or one for each).

    Shapes: any; the sum of the repeats along the axis, without an axis one row.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for as many repeats as do not fit, or negative ones.

    >>> dm.repeat(dm.arange(3), 2).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = axis_of(axis, len(x._k.shape))
    if isinstance(repeats, array.Array) and repeats._k.size != 1:
        counts = array.values_of(repeats)
        if len(counts) != x._k.shape[axis]:
            raise ValueError("as many repeats as there are values along the axis")
        index = [i for i, n in enumerate(counts) for _ in range(n)]
        return array._indexing.take(x, array._creation.asarray(index, dtype=dtypes.int64), axis=axis)
    count = int(repeats)
    _no_negative((count,))
    shape, strides = x._k.shape, strides_of(x._k.shape)
    extents = [*shape[:axis + 1], count, *shape[axis + 1:]]
    result = [*shape[:axis], shape[axis] * count, *shape[axis + 1:]]
    return take(x, extents, [*strides[:axis + 1], 0, *strides[axis + 1:]], 0, result)
