"""What tests of the package share: arrays that all tasks draw alike, and how values are compared."""
import numpy
import pytest


@pytest.fixture
def rng():
    return numpy.random.default_rng(20)


def values(rng, dtype, shape):
    """Numbers of a type, with zeros, negative ones and repetitions among them."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -20, 20, shape).astype(dtype)
    numbers = rng.normal(size=shape).round(2)
    return (numbers + 1j * rng.normal(size=shape).round(2)).astype(dtype) if dtype.kind == "c" else numbers.astype(dtype)


def same(ours, wanted, tolerance=0.0):
    """The same shape, type and values; NaN is NaN."""
    wanted = numpy.asarray(wanted)
    assert ours.shape == wanted.shape
    assert ours.dtype == wanted.dtype, (ours.dtype, wanted.dtype)
    found = ours.numpy()
    if tolerance:
        numpy.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
    else:
        numpy.testing.assert_array_equal(found, wanted)
