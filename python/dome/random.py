"""Random numbers that depend on the seed and the place alone: the same for any number of tasks."""
import math
import sys

from dome import arrays as array, creation, dtypes, elementwise, env
from dome._dome import lib


def _floating(dtype):
    dtype = dtypes.as_dtype(dtype)
    if dtype.kind not in "fc":
        raise TypeError(f"random numbers of {dtype}: use dome.random.integers")
    return dtype


def random(shape, *, seed, dtype=dtypes.float64):
    """Uniform random numbers in [0, 1) (NumPy: Generator.random).

    Shapes: the given one: a length, or a tuple of lengths.
    Types: dtype: floating point or complex.
    Tasks: all call it; nobody waits.
    Raises: TypeError for other types; ValueError for a negative length.

    >>> dm.random.random((1000,), seed=1).shape
    (1000,)
    """
    z = creation._made("random", _floating(dtype), shape)
    env.check(lib.dvec_random(array.target(z), seed))
    return z


def normal(shape, *, seed, dtype=dtypes.float64):
    """Normal random numbers of mean 0 and variance 1 (NumPy: Generator.standard_normal).

    Shapes: the given one: a length, or a tuple of lengths.
    Types: dtype: floating point or complex.
    Tasks: all call it; nobody waits.
    Raises: TypeError for other types; ValueError for a negative length.
    """
    z = creation._made("normal", _floating(dtype), shape)
    env.check(lib.dvec_random_normal(array.target(z), seed))
    return z


standard_normal = normal


def integers(low, high, shape, *, seed, dtype=dtypes.int64):
    """Random integers from low on, below high; the range is 2^53 at most (NumPy: Generator.integers).

    Shapes: the given one: a length, or a tuple of lengths.
    Types: dtype, or int64.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a range that is empty or too large, or a negative length; TypeError for no element type.
    """
    if not 0 < high - low <= 1 << 53:
        raise ValueError("high is more than low, by 2^53 at most")
    low, dtype = int(low), dtypes.as_dtype(dtype)
    z = array.astype(elementwise.floor(random(shape, seed=seed) * float(high - low)), dtypes.int64)
    if low >= 1 << 63:
        z = array.astype(z, dtypes.uint64)
    return array.astype(z + low, dtype, copy=False)


def permutation(n, *, seed):
    """The numbers 0 ... n - 1 in a random order (NumPy: Generator.permutation).

    Shapes: (n,).
    Types: int64.
    Tasks: all call it, and may wait for each other.
    Raises: ValueError for a negative n.

    >>> sorted(dm.random.permutation(4, seed=1).tolist())
    [0, 1, 2, 3]
    """
    from dome import searching
    return searching.argsort(random((n,), seed=seed))


class Generator:
    """Random numbers one call after the other (NumPy: Generator). All tasks make one with the same seed, and the same calls."""

    def __init__(self, seed, of=None):
        self._seed, self._calls, self._functions = int(seed), 0, of

    @property
    def _of(self):
        return self._functions or sys.modules[__name__]

    def _next(self):
        """The seed of a call: a mixed number of 64 bits (splitmix64)."""
        self._calls += 1
        z = (self._seed + self._calls * 0x9e3779b97f4a7c15) & (1 << 64) - 1
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94d049bb133111eb & (1 << 64) - 1
        return z ^ z >> 31

    def random(self, size=(), *, dtype=dtypes.float64):
        """Uniform random numbers in [0, 1).

        Shapes: size.
        Types: dtype: floating point or complex.
        Tasks: all call it; nobody waits.
        Raises: ValueError for a negative length; TypeError for other types.
        """
        return self._of.random(size, seed=self._next(), dtype=dtype)

    def standard_normal(self, size=(), *, dtype=dtypes.float64):
        """Normal random numbers of mean 0 and variance 1.

        Shapes: size.
        Types: dtype: floating point or complex.
        Tasks: all call it; nobody waits.
        Raises: ValueError for a negative length; TypeError for other types.
        """
        return self._of.normal(size, seed=self._next(), dtype=dtype)

    def normal(self, loc=0.0, scale=1.0, size=()):
        """Normal random numbers of mean loc and standard deviation scale.

        Shapes: size.
        Types: float64.
        Tasks: all call it; nobody waits.
        Raises: ValueError for a negative length; TypeError for a mean or deviation that are no numbers.
        """
        return self._of.normal(size, seed=self._next()) * scale + loc

    def uniform(self, low=0.0, high=1.0, size=()):
        """Uniform random numbers in [low, high).

        Shapes: size.
        Types: float64.
        Tasks: all call it; nobody waits.
        Raises: ValueError for a negative length; TypeError for limits that are no numbers.
        """
        return self._of.random(size, seed=self._next()) * (high - low) + low

    def integers(self, low, high=None, size=(), *, dtype=dtypes.int64):
        """Random integers from low on, below high; or below low.

        Shapes: size.
        Types: dtype, or int64.
        Tasks: all call it; nobody waits.
        Raises: ValueError for a range that is empty or too large; TypeError for no element type.
        """
        low, high = (0, low) if high is None else (low, high)
        return self._of.integers(low, high, size, seed=self._next(), dtype=dtype)

    def permutation(self, x):
        """The numbers below x, or the values of an array along its first axis, in a random order.

        Shapes: a number n, or any; (n,), or that of x.
        Types: int64, or that of x.
        Tasks: all call it, and may wait for each other.
        Raises: ValueError for a negative number.
        """
        if isinstance(x, int):
            return self._of.permutation(x, seed=self._next())
        return x[self._of.permutation(x.shape[0], seed=self._next())]

    def choice(self, x, size=(), *, replace=True):
        """Numbers below x, or values of an array; without `replace` different ones.

        Shapes: a number, or any; size.
        Types: int64, or that of x.
        Tasks: all call it, and may wait for each other.
        Raises: ValueError for more different ones than there are, or none to choose from.
        """
        n = x if isinstance(x, int) else x.shape[0]
        shape = creation._shape(size)
        count = math.prod(shape)
        if replace:
            places = self._of.integers(0, n, shape, seed=self._next())
        elif count > n:
            raise ValueError(f"there are no {count} different ones among {n}")
        else:
            places = self._of.permutation(n, seed=self._next())[:count].reshape(shape)
        if isinstance(x, int):
            return places
        return x[places] if shape else x[int(places)]


def default_rng(seed, of=None):
    """A generator (NumPy: default_rng); the seed must be given, because all tasks need the same one. `of`: a client's functions.

    Tasks: any task alone may call it.
    Raises: ValueError or TypeError for a seed that is no integer.
    """
    return Generator(seed, of)


def uniform(low, high, shape, *, seed):
    """Uniform random numbers in [low, high) (NumPy: Generator.uniform).

    Shapes: the given one: a length, or a tuple of lengths.
    Types: float64.
    Tasks: all call it; nobody waits.
    Raises: ValueError for a negative length; TypeError for limits that are no numbers.
    """
    return random(shape, seed=seed) * (high - low) + low
