"""Functions that NumPy has and the Array API has not. They call functions of the Array API, so what those promise for several tasks holds here."""
import math

from dome import arrays, creation, dtypes, elementwise, env, linalg, moving, searching, statistics

__all__ = ["allclose", "append", "argwhere", "around", "array_equal", "array_split", "atleast_1d", "atleast_2d", "average",
           "bincount", "column_stack", "convolve", "copy", "cov", "deg2rad", "degrees", "diag", "digitize", "fabs", "flatnonzero",
           "fliplr", "flipud", "gradient", "hstack", "inner", "interp", "isclose", "kron", "median", "nan_to_num", "nanmax",
           "nanmean", "nanmin", "nansum", "ndim", "percentile", "ptp", "quantile", "rad2deg", "radians", "ravel", "select", "shape",
           "split", "trapezoid", "trapz", "vstack"]

_array = arrays.as_operand


# ---- comparisons ----

def isclose(x, y, rtol=1e-05, atol=1e-08, *, equal_nan=False):
    """Whether |x - y| <= atol + rtol |y| (NumPy: isclose).

    Shapes: any two that broadcast; the one that both have together.
    Types: numbers; bool.
    Tasks: all call it; nobody waits.
    Raises: errors.ShapeError for shapes that do not fit together.
    """
    x, y = _array(x), _array(y)
    real = [v._k.dtype.kind in "fc" for v in (x, y)]
    wide = [v if is_real else arrays.astype(v, dtypes.float64) for v, is_real in zip((x, y), real)]
    near = elementwise.abs(wide[0] - wide[1]) <= atol + rtol * elementwise.abs(wide[1])
    near = near & elementwise.isfinite(wide[1]) | (x == y)
    return near | (x != x) & (y != y) if equal_nan else near


def allclose(x, y, rtol=1e-05, atol=1e-08, *, equal_nan=False):
    """Whether isclose holds for all values. Waits for it (NumPy: allclose).

    Shapes: any two that broadcast; a bool of Python.
    Types: numbers.
    Tasks: all call it, and wait for each other.
    Raises: errors.ShapeError for shapes that do not fit together.

    >>> dm.allclose(dm.ones(3), 1.0 + 1e-9)
    True
    """
    return bool(statistics.all(isclose(x, y, rtol, atol, equal_nan=equal_nan)))


def array_equal(x, y):
    """Whether shapes and all values are equal. Waits for it (NumPy: array_equal).

    Shapes: any two; a bool of Python.
    Types: any.
    Tasks: all call it, and wait for each other.
    Raises: TypeError for what is no array or number.
    """
    x, y = _array(x), _array(y)
    return x._k.shape == y._k.shape and bool(statistics.all(x == y))


# ---- shapes ----

def shape(x):
    """The shape of an array or of numbers (NumPy: shape).

    Shapes: any; a tuple of numbers.
    Types: any.
    Tasks: any task alone may call it.
    Raises: TypeError for what is no array or number.
    """
    return _array(x)._k.shape


def ndim(x):
    """The number of dimensions (NumPy: ndim).

    Shapes: any; a number of Python.
    Types: any.
    Tasks: any task alone may call it.
    Raises: TypeError for what is no array or number.
    """
    return len(_array(x)._k.shape)


def copy(x):
    """A copy (NumPy: copy).

    Shapes: any; the result has that of x.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    return arrays.copy(_array(x))


def ravel(x):
    """All values in one row (NumPy: ravel; here always a copy).

    Shapes: any; one row.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    return arrays.copy(moving.reshape(x, (-1,)))


def atleast_1d(x):
    """x, or a row of one value for a number (NumPy: atleast_1d).

    Shapes: any; (1,) for a number.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    x = _array(x)
    return moving.reshape(x, (1,)) if not x._k.shape else x


def atleast_2d(x):
    """x, or a matrix of one row (NumPy: atleast_2d).

    Shapes: any; (1, n) for a row.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    x = atleast_1d(x)
    return moving.reshape(x, (1, -1)) if len(x._k.shape) == 1 else x


def vstack(rows):
    """Arrays one below the other (NumPy: vstack).

    Shapes: as concat along axis 0, rows are matrices of one row.
    Types: any; that of all together.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for no arrays; errors.ShapeError for other lengths.
    """
    return moving.concat([atleast_2d(x) for x in rows], axis=0)


def hstack(parts):
    """Arrays side by side (NumPy: hstack).

    Shapes: as concat along axis 1, for rows along axis 0.
    Types: any; that of all together.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for no arrays; errors.ShapeError for other lengths.
    """
    parts = [atleast_1d(x) for x in parts]
    if not parts:
        raise ValueError("nothing to put together")
    return moving.concat(parts, axis=0 if len(parts[0]._k.shape) == 1 else 1)


def column_stack(columns):
    """Rows of values as the columns of a matrix (NumPy: column_stack).

    Shapes: rows (n,) or matrices (n, k); (n, all columns).
    Types: any; that of all together.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for other lengths; ValueError for no columns.
    """
    columns = [_array(x) for x in columns]
    return moving.concat([moving.reshape(x, (-1, 1)) if len(x._k.shape) < 2 else x for x in columns], axis=1)


def append(x, values, axis=None):
    """x and more values behind it; a new array (NumPy: append).

    Shapes: as concat; without an axis a row.
    Types: any; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for other lengths; IndexError for an axis that x does not have.
    """
    return moving.concat([_array(x), _array(values)], axis=axis)


def split(x, parts, axis=0):
    """Parts of equal lengths, or parts between indices (NumPy: split).

    Shapes: any; parts of the axis.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for a number that does not divide the axis; IndexError for an axis that x does not have.
    """
    if isinstance(parts, int) and x._k.shape[axis] % parts:
        raise ValueError(f"{x._k.shape[axis]} cannot be divided by {parts}: dome.array_split makes parts of two lengths")
    return array_split(x, parts, axis)


def array_split(x, parts, axis=0):
    """Parts of nearly equal lengths, or parts between indices (NumPy: array_split).

    Shapes: any; parts of the axis.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for no part.
    """
    axis = moving.axis_of(axis, len(x._k.shape))
    n = x._k.shape[axis]
    if isinstance(parts, int):
        if parts < 1:
            raise ValueError("one part at least")
        size, more = divmod(n, parts)
        edges = [k * size + min(k, more) for k in range(parts + 1)]
    else:
        edges = [0, *(slice(None, k).indices(n)[1] for k in parts), n]
    return [moving.part(x, axis, a, max(b - a, 0)) for a, b in zip(edges, edges[1:])]


def flipud(x):
    """The rows in reverse order (NumPy: flipud).

    Shapes: (n, ...); the same.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for no dimension.
    """
    return moving.flip(x, axis=0)


def fliplr(x):
    """The columns in reverse order (NumPy: fliplr).

    Shapes: (n, m, ...); the same.
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for less than two dimensions.
    """
    return moving.flip(x, axis=1)


def diag(x, k=0):
    """A diagonal of a matrix, or the matrix with a row as diagonal (NumPy: diag).

    Shapes: (n, m); (length of the diagonal,); or (n,); (n + |k|, n + |k|).
    Types: any; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for other numbers of dimensions.

    >>> dm.diag(dm.asarray([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    x = _array(x)
    if len(x._k.shape) == 2:
        return linalg.diagonal(x, offset=k)
    if len(x._k.shape) != 1:
        raise ValueError("a diagonal is that of a matrix, or a row")
    n = x._k.size + abs(k)
    z = creation.zeros((n, n), dtype=x._k.dtype)
    moving.put(z, [x._k.size], [n + 1], max(k, 0) + max(-k, 0) * n, x)
    return z


# ---- elements ----

around = elementwise.round


def fabs(x):
    """The magnitude as a floating-point number (NumPy: fabs).

    Shapes: any; the result has that of x.
    Types: real; floating point.
    Tasks: all call it; nobody waits.
    Raises: TypeError for complex values.
    """
    return elementwise.abs(x)


def degrees(x):
    """Angles in degrees of angles in radians (NumPy: degrees).

    Shapes: any; the result has that of x.
    Types: real; floating point.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    return _array(x) * (180.0 / math.pi)


def radians(x):
    """Angles in radians of angles in degrees (NumPy: radians).

    Shapes: any; the result has that of x.
    Types: real; floating point.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    return _array(x) * (math.pi / 180.0)


rad2deg, deg2rad = degrees, radians


def select(conditions, choices, default=0):
    """For each place the choice that belongs to the first condition which holds there (NumPy: select).

    Shapes: as many conditions as choices, which broadcast; the one that they have together.
    Types: bool conditions; that of the choices together.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for other numbers of choices than of conditions; errors.ShapeError for shapes that do not fit together.
    """
    if len(conditions) != len(choices) or not choices:
        raise ValueError("as many choices as conditions, one at least")
    z = default
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        z = searching.where(condition, choice, z)
    return z


def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """Numbers in place of NaN and infinities, which become the largest values (NumPy: nan_to_num).

    Shapes: any; the result has that of x.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number; errors.ShapeError for replacements that do not fit to x.
    """
    x = _array(x)
    if x._k.dtype.kind in "biu":
        return arrays.copy(x)
    limits = dtypes.finfo(x._k.dtype)
    z = searching.where(x != x, nan, x)
    z = searching.where(z == math.inf, limits.max if posinf is None else posinf, z)
    return searching.where(z == -math.inf, limits.min if neginf is None else neginf, z)


# ---- statistics ----

def average(x, axis=None, weights=None):
    """The mean, with weights (NumPy: average).

    Shapes: any, and weights as x or a row along the axis; without the axis.
    Types: numbers; floating point.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice; errors.ShapeError for other weights.
    """
    if weights is None:
        return statistics.mean(x, axis=axis)
    x, weights = _array(x), _array(weights)
    if weights._k.shape != x._k.shape and axis is not None and len(weights._k.shape) == 1:
        axis = moving.axis_of(axis, len(x._k.shape))
        weights = moving.reshape(weights, tuple(n if k == axis else 1 for k, n in enumerate(x._k.shape)))
    return statistics.sum(x * weights, axis=axis) / statistics.sum(moving.broadcast_to(weights, x._k.shape) * 1.0, axis=axis)


def ptp(x, axis=None):
    """The largest value less the smallest (NumPy: ptp).

    Shapes: any; without the axis, () for None.
    Types: real; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice; TypeError for complex values.
    """
    return statistics.max(x, axis=axis) - statistics.min(x, axis=axis)


def _without_nan(x, instead):
    return searching.where(x != x, instead, x) if x._k.dtype.kind in "fc" else x


def nansum(x, axis=None):
    """The sum of what is not NaN (NumPy: nansum).

    Shapes: any; without the axis, () for None.
    Types: any; as sum.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.
    """
    return statistics.sum(_without_nan(_array(x), 0.0), axis=axis)


def nanmean(x, axis=None):
    """The mean of what is not NaN (NumPy: nanmean).

    Shapes: any; without the axis, () for None.
    Types: numbers; floating point.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice.
    """
    x = _array(x)
    return nansum(x, axis) / arrays.astype(statistics.sum(x == x, axis=axis), dtypes.float64)


def nanmin(x, axis=None):
    """The smallest value that is not NaN; infinity if there is none (NumPy: nanmin).

    Shapes: any; without the axis, () for None.
    Types: real; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice; TypeError for complex values.
    """
    return statistics.min(_without_nan(_array(x), math.inf), axis=axis)


def nanmax(x, axis=None):
    """The largest value that is not NaN; -infinity if there is none (NumPy: nanmax).

    Shapes: any; without the axis, () for None.
    Types: real; that of x.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for one named twice; TypeError for complex values.
    """
    return statistics.max(_without_nan(_array(x), -math.inf), axis=axis)


def quantile(x, q, axis=None):
    """The value below which the part q of the values lies, between two values in proportion (NumPy: quantile).

    q is a number, or a list of numbers, whose results stand along a new first axis. NaN if a value is NaN.

    Shapes: any, and one q or several; without the axis, with one in front for several.
    Types: real; floating point.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for a q that is not from 0 to 1, or no values; IndexError for an axis that x does not have.

    >>> float(dm.quantile(dm.arange(5), 0.3))
    1.2
    """
    x = _array(x)
    if isinstance(q, (list, tuple)):
        return moving.stack([quantile(x, one, axis) for one in q])
    if not 0.0 <= q <= 1.0:
        raise ValueError("a quantile is from 0 to 1")
    if axis is None:
        x, axis = moving.reshape(x, (-1,)), 0
    axis = moving.axis_of(axis, len(x._k.shape))
    n = x._k.shape[axis]
    if not n:
        raise ValueError("a quantile of no values")
    x = x if x._k.dtype.kind == "f" else arrays.astype(x, dtypes.float64)
    ordered = searching.sort(x, axis=axis)
    place = q * (n - 1)
    low = min(int(place), n - 1)
    key = (slice(None),) * axis
    a, b, last = (ordered[(*key, k)] for k in (low, min(low + 1, n - 1), n - 1))
    z = a + (b - a) * (place - low) if place != low else a
    return searching.where(last != last, last, z)  # NaN come last


def percentile(x, q, axis=None):
    """quantile of q / 100 (NumPy: percentile).

    Shapes: any, and one q or several; without the axis, with one in front for several.
    Types: real; floating point.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for a q that is not from 0 to 100, or no values; IndexError for an axis that x does not have.
    """
    return quantile(x, [one / 100 for one in q] if isinstance(q, (list, tuple)) else q / 100, axis)


def median(x, axis=None):
    """The value in the middle, or the mean of the two there (NumPy: median).

    Shapes: any; without the axis, () for None.
    Types: real; floating point.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for an axis that x does not have; ValueError for no values.

    >>> float(dm.median(dm.asarray([5, 1, 2])))
    2.0
    """
    return quantile(x, 0.5, axis)


def bincount(labels, weights=None, minlength=0):
    """How many values are 0, 1, ..., or the sums of their weights. Waits for the largest (NumPy: bincount).

    Shapes: a row of labels, and weights as long; one value for each label, minlength at least.
    Types: integers not below 0; int64, or float64 for weights.
    Tasks: all call it, and wait for each other.
    Raises: errors.Error for labels that are no integers, or negative; IndexError for no row.

    >>> dm.bincount(dm.asarray([1, 1, 3])).tolist()
    [0, 2, 0, 1]
    """
    labels = _array(labels)
    k = max(int(statistics.max(labels)) + 1 if labels._k.size else 0, minlength)
    if weights is None:
        return statistics.count_by(labels, k)
    return statistics.sum_by(labels, arrays.astype(_array(weights), dtypes.float64, copy=False), k)


def cov(x, *, ddof=1):
    """The covariances of the rows (NumPy: cov).

    Shapes: (k, n); (k, k).
    Types: real; float64.
    Tasks: all call it, and may wait for each other.
    Raises: IndexError for a row alone.
    """
    x = atleast_2d(x)
    d = x - statistics.mean(x, axis=1, keepdims=True)
    z = linalg.matmul(d, linalg.matrix_transpose(d)) / float(x._k.shape[1] - ddof)
    return moving.to_scalar(z) if z._k.size == 1 else z


# ---- positions ----

def argwhere(x):
    """The indices of all values that are not 0, a row for each (NumPy: argwhere).

    Shapes: any; (found, dimensions of x).
    Types: any; int64.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for an array without dimensions.
    """
    return moving.stack(searching.nonzero(x), axis=1)


def flatnonzero(x):
    """The positions of all values that are not 0 (NumPy: flatnonzero).

    Shapes: any; a row.
    Types: any; int64.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for what is no array.
    """
    return searching.nonzero(moving.reshape(x, (-1,)))[0]


def digitize(x, bins, right=False):
    """The numbers of the bins that values lie in, for ascending edges (NumPy: digitize).

    Shapes: any, and a row of edges; that of x.
    Types: real; int64.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError for complex values; errors.ArgumentError for edges that do not ascend.
    """
    return searching.searchsorted(_array(bins), x, side="left" if right else "right")


def interp(x, xp, fp):
    """Values of the function that is linear between the points (xp, fp), of which xp ascend (NumPy: interp).

    Shapes: any x, rows xp and fp of one length; that of x.
    Types: real; float64.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for other numbers of points than of values.

    >>> dm.interp(dm.asarray([0.5, 9.0]), dm.asarray([0.0, 1.0]), dm.asarray([10.0, 20.0])).tolist()
    [15.0, 20.0]
    """
    x, xp, fp = (arrays.astype(_array(v), dtypes.float64, copy=False) for v in (x, xp, fp))
    n = xp._k.size
    if not n or fp._k.shape != xp._k.shape:
        raise ValueError("as many values as points, one at least")
    if n == 1:
        return moving.broadcast_to(fp, x._k.shape) + x * 0.0
    at = elementwise.clip(searching.searchsorted(xp, x, side="right") - 1, 0, n - 2)
    flat = moving.reshape(at, (-1,))
    x0, x1, y0, y1 = (moving.reshape(v, x._k.shape) for v in (xp[flat], xp[flat + 1], fp[flat], fp[flat + 1]))
    z = y0 + (y1 - y0) / (x1 - x0) * (x - x0)
    return searching.where(x <= xp[0], fp[0], searching.where(x >= xp[-1], fp[-1], z))


# ---- products and differences ----

def inner(x, y):
    """The sum of products along the last axes (NumPy: inner).

    Shapes: (..., n) and (..., n); the other axes of both.
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for shapes that do not fit together.
    """
    x, y = _array(x), _array(y)
    if not x._k.shape or not y._k.shape:
        return x * y
    return linalg.tensordot(x, y, axes=([-1], [-1]))


def kron(x, y):
    """All products of values of two rows or matrices, as blocks (NumPy: kron).

    Shapes: (n, m) and (k, l); (n k, m l); or two rows.
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for other numbers of dimensions.
    """
    x, y = _array(x), _array(y)
    if len(x._k.shape) == len(y._k.shape) == 1:
        return moving.reshape(linalg.outer(x, y), (-1,))
    (a, b), (c, d) = atleast_2d(x)._k.shape, atleast_2d(y)._k.shape
    return moving.reshape(moving.reshape(x, (a, 1, b, 1)) * moving.reshape(y, (1, c, 1, d)), (a * c, b * d))


def convolve(x, y, mode="full"):
    """The products of two rows for each distance; one of them should be short (NumPy: convolve).

    Shapes: n and m values; n + m - 1, max(n, m) for 'same', max(n, m) - min(n, m) + 1 for 'valid'.
    Types: numbers; that of both.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for a row without values, or another mode.

    >>> dm.convolve(dm.asarray([1, 2, 3]), dm.asarray([1, 1])).tolist()
    [1, 3, 5, 3]
    """
    x, y = _array(x), _array(y)
    if x._k.size < y._k.size:
        x, y = y, x
    n, m = x._k.size, y._k.size
    if not m:
        raise ValueError("a row without values has no products")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{mode!r} is no mode: full, same, valid")
    z = creation.zeros((n + m - 1,), dtype=dtypes.result_type(x, y))
    for k, factor in enumerate(arrays.values_of(y)):
        z[k:k + n] += x * factor
    first, length = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]
    return z[first:first + length]


def gradient(x, step=1.0, axis=0):
    """Differences of neighbours on both sides, at the ends on one, over distances (NumPy: gradient, along one axis).

    Shapes: two values at least along the axis; the same.
    Types: numbers; floating point.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for fewer; IndexError for an axis that x does not have.
    """
    x = _array(x)
    x = x if x._k.dtype.kind in "fc" else arrays.astype(x, dtypes.float64)
    axis = moving.axis_of(axis, len(x._k.shape))
    n = x._k.shape[axis]
    if n < 2:
        raise ValueError("two values at least along the axis")
    def of(first, count):
        return moving.part(x, axis, first, count)
    parts = [(of(1, 1) - of(0, 1)) / step, (of(2, n - 2) - of(0, n - 2)) / (2.0 * step), (of(n - 1, 1) - of(n - 2, 1)) / step]
    return moving.concat([part for part in parts if part._k.size], axis=axis)


def trapezoid(y, x=None, dx=1.0):
    """The area below the lines through the points of a row (NumPy: trapezoid).

    Shapes: rows; ().
    Types: real; floating point.
    Tasks: all call it, and may wait for each other.
    Raises: errors.ShapeError for rows of unlike lengths; IndexError for a number.
    """
    env.check_thread()
    y = _array(y)
    mean = (y[1:] + y[:-1]) * 0.5
    if x is None:
        return statistics.sum(mean) * dx
    x = _array(x)
    return statistics.sum(mean * (x[1:] - x[:-1]))


trapz = trapezoid
