"""Making arrays."""
import math

from dome import arrays, dtypes, env, memory, moving
from dome._dome import ffi, lib

newaxis = None
e, pi, inf, nan = math.e, math.pi, math.inf, math.nan


def _shape(shape):
    if isinstance(shape, (tuple, list)):
        result = tuple(n.__index__() for n in shape)
    else:
        result = (shape.__index__(),)
    if min(result, default=0) < 0:
        raise ValueError(f"an array cannot have the shape {result}")
    return result


def _cpu(device):
    if device not in (None, "cpu"):
        raise ValueError(f"there is no device {device!r}: arrays are in the memory of processors")


def _made(what, dtype, shape, device=None):
    _cpu(device)
    shape = _shape(shape)
    env.env()
    env.note_creation(what, shape)
    return arrays.of(dtypes.float64 if dtype is None else dtypes.as_dtype(dtype), shape)


def _filled(z, value):
    if type(z) is arrays.Scalar:
        return arrays.scalar_of(z._k.dtype, value_of(z._k.dtype, value))
    if z._k.size:
        env.check(lib.dvec_fill_value(z._v, arrays.packed(z._k.dtype, value)))
    return z


def value_of(dtype, value):
    """A Python number as the value of a type."""
    return arrays.unpacked(dtype, arrays.packed(dtype, value))


def empty(shape, dtype=None, *, device=None):
    """A new array of arbitrary values (NumPy: empty). Collective in order: all tasks give one shape.

    Shapes: the given one: a length, or a tuple of lengths.
    Types: dtype, or float64.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a negative length or another device; TypeError for no element type.
    """
    return _filled(_made("empty", dtype, shape, device), 0)


def zeros(shape, dtype=None, *, device=None):
    """A new array of zeros (NumPy: zeros).

    Shapes: the given one: a length, or a tuple of lengths.
    Types: dtype, or float64.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a negative length or another device; TypeError for no element type.

    >>> dm.zeros((2, 3)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return _filled(_made("zeros", dtype, shape, device), 0)


def ones(shape, dtype=None, *, device=None):
    """A new array of ones (NumPy: ones).

    Shapes: the given one: a length, or a tuple of lengths.
    Types: dtype, or float64.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a negative length or another device; TypeError for no element type.
    """
    return _filled(_made("ones", dtype, shape, device), 1)


def full(shape, fill_value, dtype=None, *, device=None):
    """A new array of one value (NumPy: full). The type is that of the value, unless it is given.

    Shapes: the given one: a length, or a tuple of lengths.
    Types: dtype, or that of the value.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a negative length or another device; TypeError for no element type, or a value that is no number;
        OverflowError for a value that dtype does not have.

    >>> dm.full((3,), 7).tolist()
    [7, 7, 7]
    """
    if isinstance(fill_value, arrays.Array):
        dtype = dtype or fill_value._k.dtype
        fill_value = fill_value.item()
    elif hasattr(fill_value, "item"):  # a number of NumPy's
        dtype, fill_value = dtype or fill_value.dtype, fill_value.item()
    if dtype is None and type(fill_value) not in dtypes.BY_PYTHON:
        raise TypeError(f"{fill_value!r} is no number: arrays have numbers and bool, no objects, texts or times")
    return _filled(_made("full", dtype or dtypes.BY_PYTHON[type(fill_value)], shape, device), fill_value)


def empty_like(x, /, dtype=None, *, device=None):
    """As empty, with the shape of x (NumPy: empty_like).

    Shapes: that of x.
    Types: dtype, or that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for no element type; ValueError for another device.
    """
    return empty(x._k.shape, dtype=dtype or x._k.dtype, device=device)


def zeros_like(x, /, dtype=None, *, device=None):
    """As zeros, with the shape of x (NumPy: zeros_like).

    Shapes: that of x.
    Types: dtype, or that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for no element type; ValueError for another device.
    """
    return zeros(x._k.shape, dtype=dtype or x._k.dtype, device=device)


def ones_like(x, /, dtype=None, *, device=None):
    """As ones, with the shape of x (NumPy: ones_like).

    Shapes: that of x.
    Types: dtype, or that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for no element type; ValueError for another device.
    """
    return ones(x._k.shape, dtype=dtype or x._k.dtype, device=device)


def full_like(x, /, fill_value, dtype=None, *, device=None):
    """As full, with the shape of x (NumPy: full_like).

    Shapes: that of x.
    Types: dtype, or that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for no element type or a value that is no number; OverflowError for a value that dtype does not have;
        ValueError for another device.
    """
    return full(x._k.shape, fill_value, dtype=dtype or x._k.dtype, device=device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, ... up to stop, which is left out (NumPy: arange).

    Shapes: numbers; one axis of ceil((stop - start) / step) values.
    Types: dtype, or int64 for integers and float64 for others.
    Tasks: all call it; nobody waits.
    Raises: ValueError for another device; ZeroDivisionError for a step of 0; TypeError for no numbers.

    >>> dm.arange(2, 10, 3).tolist()
    [2, 5, 8]
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (v.item() if hasattr(v, "item") else v for v in (start, stop, step))
    if dtype is None:
        dtype = dtypes.int64 if all(isinstance(v, int) for v in (start, stop, step)) else dtypes.float64
    dtype = dtypes.as_dtype(dtype)
    if all(isinstance(v, int) for v in (start, stop, step)):
        count = len(range(start, stop, step))
    else:
        count = max(0, math.ceil((stop - start) / step))
    z = _made("arange", dtype, (count,), device)
    if not count:
        return z
    ramp = z if dtype.kind in "iuf" else arrays.of(dtypes.float64, (count,))
    whole = ramp._k.dtype.kind in "iu"
    if dtype is dtypes.uint64 and all(isinstance(v, int) for v in (start, step)) and step < 0:
        return arrays.astype(arange(count, dtype=dtypes.int64) * step, dtype) + start  # modulo 2^64
    if whole and not all(isinstance(v, int) for v in (start, step)):
        return arrays.astype(arange(float(start), float(stop), float(step)), dtype)
    if whole and ramp._k.dtype.itemsize < 8 or ramp._k.dtype is dtypes.float32:  # steps in a type that holds all of them
        wide = arange(start, stop, step, dtype=dtypes.int64 if whole else dtypes.float64)
        return arrays.astype(wide, dtype)
    env.check(lib.dvec_iota(ramp._v))
    if step != 1:
        ramp *= step
    if start != 0:
        ramp += start
    return ramp if ramp is z else arrays.astype(ramp, dtype)


def linspace(start, stop, /, num=50, *, dtype=None, device=None, endpoint=True):
    """num values at even distances from start to stop (NumPy: linspace).

    Shapes: (num,).
    Types: dtype, or float64, complex128 for complex numbers.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a negative num or another device; TypeError for no element type.

    >>> dm.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if dtype is None:
        dtype = dtypes.complex128 if isinstance(start, complex) or isinstance(stop, complex) else dtypes.float64
    dtype = dtypes.as_dtype(dtype)
    parts = num - 1 if endpoint else num
    wide = dtypes.complex128 if dtype.kind == "c" else dtypes.float64
    z = _made("linspace", wide, (num,), device)
    if not num:
        return arrays.astype(z, dtype)
    env.check(lib.dvec_iota(z._v))
    kind = complex if dtype.kind == "c" else float
    step = (kind(stop) - kind(start)) / max(parts, 1)
    z = z * step
    z += kind(start)
    if endpoint and num > 1:
        env.check(lib.dvec_set(z._v, num - 1, arrays.packed(wide, stop)))
    if dtype.kind in "iu":
        from dome import elementwise
        z = elementwise.floor(z)
    return arrays.astype(z, dtype, copy=False)


def logspace(start, stop, num=50, *, base=10.0, dtype=None):
    """num values from base ** start to base ** stop, each the one before times the same factor (NumPy: logspace).

    Shapes: (num,).
    Types: dtype, or float64.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a negative num; TypeError for no element type.
    """
    z = linspace(start, stop, num)
    return arrays.astype(float(base) ** z, dtypes.float64 if dtype is None else dtype, copy=False)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """A matrix with ones in diagonal k (NumPy: eye).

    Shapes: (n_rows, n_cols), or (n_rows, n_rows).
    Types: dtype, or float64.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a negative length or another device; TypeError for no element type.

    >>> dm.eye(2, k=1).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    n_cols = n_rows if n_cols is None else n_cols
    z = zeros((n_rows, n_cols), dtype=dtype, device=device)
    first, count = max(k, 0) + max(-k, 0) * n_cols, max(0, min(n_rows - max(-k, 0), n_cols - max(k, 0)))
    if count:
        moving.put(z, [count], [n_cols + 1], first, ones((count,), dtype=z._k.dtype))
    return z


identity = eye


def meshgrid(*rows, indexing="xy"):
    """Matrices of coordinates (NumPy: meshgrid).

    Shapes: rows of n1, n2, ... values; (n2, n1, ...) for 'xy', (n1, n2, ...) for 'ij'.
    Types: those of the rows.
    Tasks: all call it; nobody waits.
    Raises: ValueError for another indexing.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing is 'xy' or 'ij'")
    n = len(rows)
    order = list(range(n))
    if indexing == "xy" and n > 1:
        order[:2] = [1, 0]
    shape = tuple(rows[k]._k.size for k in order)
    result = []
    for k, x in enumerate(rows):
        at = order.index(k)
        column = moving.reshape(x, (1,) * at + (x._k.size,) + (1,) * (n - at - 1))
        result.append(arrays.copy(moving.broadcast_to(column, shape)))
    return result


def _triangle(x, k, keep_low):
    rows, columns = x._k.shape[-2:]
    i = moving.broadcast_to(moving.reshape(arange(rows), (rows, 1)), (rows, columns))
    j = moving.broadcast_to(arange(columns), (rows, columns))
    mask = (j - i <= k) if keep_low else (j - i >= k)
    from dome import searching
    return searching.where(mask, x, arrays.of_value(x._k.dtype, x._k.dtype.type(0)))


def tril(x, /, *, k=0):
    """The lower triangle; the rest is 0 (NumPy: tril).

    Shapes: (..., n, m); the same.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: ValueError for less than two dimensions.
    """
    return _triangle(x, k, True)


def triu(x, /, *, k=0):
    """The upper triangle; the rest is 0 (NumPy: triu).

    Shapes: (..., n, m); the same.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: ValueError for less than two dimensions.
    """
    return _triangle(x, k, False)


# ---- from values that all tasks have ----

def _nested_shape(value):
    shape = []
    while isinstance(value, (list, tuple, range)):
        shape.append(len(value))
        if not len(value):
            break
        value = value[0]
    return tuple(shape)


def _flattened(value, shape, into):
    if not shape:
        if isinstance(value, (list, tuple)):
            raise ValueError("the lists are not of one length")
        if getattr(value, "shape", ()) != ():
            raise TypeError("a list of arrays is no list of numbers: dome.stack puts arrays together")
        into.append(value.item() if hasattr(value, "item") else value)
        return
    if not isinstance(value, (list, tuple, range)) or len(value) != shape[0]:
        raise ValueError("the lists are not of one length")
    for one in value:
        _flattened(one, shape[1:], into)


_ORDER = (bool, int, float, complex)


def _type_of_numbers(numbers):
    kind = 0
    for number in numbers:
        if type(number) not in dtypes.BY_PYTHON:
            raise TypeError(f"{number!r} is no number: arrays have numbers and bool, no objects, texts or times")
        kind = max(kind, _ORDER.index(type(number)))
    if not numbers:
        return dtypes.float64
    if _ORDER[kind] is int and any(not -(1 << 63) <= n < 1 << 63 for n in numbers):
        if any(n < 0 or n >= 1 << 64 for n in numbers):
            raise OverflowError("a number is in the range of no integer type")
        return dtypes.uint64
    return dtypes.BY_PYTHON[_ORDER[kind]]


def asarray(obj, /, dtype=None, *, device=None, copy=None):
    """An array of values that all tasks have alike: numbers, lists, NumPy arrays, buffers, what has DLPack.

    Each task keeps its part. An array of Dome is returned as it is, unless `copy` or another type is asked for.

    Shapes: that of obj: lists of lists have an axis for each level.
    Types: dtype, or that of the values: bool, int64, float64, complex128 for Python's.
    Tasks: all call it; nobody waits.
    Raises: TypeError for values that are no numbers; ValueError for lists of unlike lengths, another device, or copy=False
        where a copy is needed; OverflowError for integers beyond 64 bits.

    >>> dm.asarray([[1, 2], [3, 4]]).shape
    (2, 2)
    >>> dm.asarray(['a'])
    Traceback (most recent call last):
        ...
    TypeError: 'a' is no number: arrays have numbers and bool, no objects, texts or times
    """
    _cpu(device)
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    env.env()
    if isinstance(obj, arrays.Array):
        if dtype is not None and dtype is not obj._k.dtype:
            if copy is False:
                raise ValueError("another type needs a copy")
            return arrays.astype(obj, dtype)
        return arrays.copy(obj) if copy else obj
    if copy is False:
        raise ValueError("values are copied to where their tasks are")
    if type(obj) in dtypes.BY_PYTHON:
        wanted = dtype or _type_of_numbers([obj])
        return arrays.scalar_of(wanted, value_of(wanted, obj))
    if isinstance(obj, (list, tuple, range)):
        return _from_lists(obj, dtype)
    from dome import local
    return local.from_memory(obj, dtype)


def _from_lists(obj, dtype):
    shape = _nested_shape(obj)
    numbers = []
    _flattened(obj, shape, numbers)
    dtype = dtype or _type_of_numbers(numbers)
    env.note_creation("asarray", shape)
    z = arrays.of(dtype, shape)
    if not z._k.size:
        return z
    from dome import local
    if dtype.kind == "c":
        numbers = [part for n in numbers for part in (complex(n).real, complex(n).imag)]
    elif dtype.kind == "f":
        numbers = [float(n) for n in numbers]
    elif dtype.kind == "b":
        numbers = [1 if n else 0 for n in numbers]
    else:
        numbers = [arrays.integer(dtype, n) for n in numbers]
    values = ffi.new(dtype.cname + "[]", numbers)
    local.take_part(z, ffi.cast("char *", values))
    return z


def from_dlpack(x, /, *, device=None, copy=None):
    """An array of the values of an object with DLPack, which all tasks have alike (Array API: from_dlpack).

    Shapes: that of x.
    Types: that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for an object without DLPack; ValueError for another device; ImportError without NumPy.
    """
    _cpu(device)
    if isinstance(x, arrays.Array):
        return arrays.copy(x) if copy else x
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"{type(x).__name__} has no __dlpack__")
    from dome import local
    return local.from_memory(x, None)


def array(obj, dtype=None, *, copy=True):
    """A new array of values that all tasks have alike (NumPy: array); of an array of Dome a copy.

    Shapes: that of obj: lists of lists have an axis for each level.
    Types: dtype, or that of the values: bool, int64, float64, complex128 for Python's.
    Tasks: all call it; nobody waits.
    Raises: TypeError for values that are no numbers; ValueError for lists of unlike lengths; OverflowError for integers
        beyond 64 bits.
    """
    return asarray(obj, dtype=dtype, copy=True if copy and isinstance(obj, arrays.Array) else None)
