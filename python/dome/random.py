"""Random numbers that depend on the seed and the place alone: the same for any number of tasks."""
from dome import arrays as array, creation, dtypes, elementwise, env
from dome._dome import lib


def _floating(dtype):
    dtype = dtypes.as_dtype(dtype)
    if dtype.kind not in "fc":
        raise TypeError(f"random numbers of {dtype}: use dome.random.integers")
    return dtype


def random(shape, *, seed, dtype=dtypes.float64):
    """Uniform random numbers in [0, 1) (NumPy: Generator.random)."""
    z = creation._made("random", _floating(dtype), shape)
    env.check(lib.dvec_random(array.target(z), seed))
    return z


def normal(shape, *, seed, dtype=dtypes.float64):
    """Normal random numbers of mean 0 and variance 1 (NumPy: Generator.standard_normal)."""
    z = creation._made("normal", _floating(dtype), shape)
    env.check(lib.dvec_random_normal(array.target(z), seed))
    return z


standard_normal = normal


def integers(low, high, shape, *, seed, dtype=dtypes.int64):
    """Random integers from low on, below high; the range is 2^53 at most (NumPy: Generator.integers)."""
    if not 0 < high - low <= 1 << 53:
        raise ValueError("high is more than low, by 2^53 at most")
    low, dtype = int(low), dtypes.as_dtype(dtype)
    z = array.astype(elementwise.floor(random(shape, seed=seed) * float(high - low)), dtypes.int64)
    if low >= 1 << 63:
        z = array.astype(z, dtypes.uint64)
    return array.astype(z + low, dtype, copy=False)


def permutation(n, *, seed):
    """The numbers 0 ... n - 1 in a random order (NumPy: Generator.permutation)."""
    from dome import searching
    return searching.argsort(random((n,), seed=seed))
