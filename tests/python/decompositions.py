"""dome.linalg's decompositions beside NumPy's, on stacks of matrices, and what they refuse. Task 0 computes them: all have the bits."""
import dome as dm
import numpy
import pytest
from conftest import same


def matrices(rng, dtype, *shape):
    numbers = rng.normal(size=shape)
    return (numbers + 1j * rng.normal(size=shape)).astype(dtype) if dtype.startswith("c") else numbers.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(4, 4), (1, 1), (2, 3, 5, 5), (0, 0)])
def test_square(rng, dtype, shape):
    a = matrices(rng, dtype, *shape)
    x = dm.asarray(a)
    same(dm.linalg.det(x), numpy.linalg.det(a))
    same(dm.linalg.inv(x), numpy.linalg.inv(a))
    same(dm.linalg.matrix_power(x, 3), numpy.linalg.matrix_power(a, 3))
    for ours, wanted in zip(dm.linalg.slogdet(x), numpy.linalg.slogdet(a)):
        same(ours, wanted)
    hermitian = a + numpy.conj(numpy.swapaxes(a, -1, -2))
    values, vectors = dm.linalg.eigh(dm.asarray(hermitian))
    same(values, numpy.linalg.eigh(hermitian)[0])
    same(vectors, numpy.linalg.eigh(hermitian)[1])
    same(dm.linalg.eigvalsh(dm.asarray(hermitian)), numpy.linalg.eigvalsh(hermitian))
    b = matrices(rng, dtype, *shape[:-1], 2)
    same(dm.linalg.solve(x, dm.asarray(b)), numpy.linalg.solve(a, b))


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 6, 2)])
def test_oblong(rng, shape):
    a = matrices(rng, "float64", *shape)
    x = dm.asarray(a)
    for full in True, False:
        for ours, wanted in zip(dm.linalg.svd(x, full_matrices=full), numpy.linalg.svd(a, full_matrices=full)):
            same(ours, wanted)
    same(dm.linalg.svdvals(x), numpy.linalg.svd(a, compute_uv=False))
    for mode in "reduced", "complete":
        for ours, wanted in zip(dm.linalg.qr(x, mode=mode), numpy.linalg.qr(a, mode=mode)):
            same(ours, wanted)
    same(dm.linalg.matrix_rank(x), numpy.linalg.matrix_rank(a))
    same(dm.linalg.pinv(x), numpy.linalg.pinv(a, max(shape[-2:]) * numpy.finfo("float64").eps))
    for ord in "fro", "nuc", 1, 2, numpy.inf:
        same(dm.linalg.matrix_norm(x, ord=ord), numpy.linalg.norm(a, ord, axis=(-2, -1)))


def test_cholesky(rng):
    a = matrices(rng, "complex128", 3, 4, 4)
    positive = a @ numpy.conj(numpy.swapaxes(a, -1, -2)) + 4 * numpy.eye(4)
    lower = numpy.linalg.cholesky(positive)
    same(dm.linalg.cholesky(dm.asarray(positive)), lower)
    same(dm.linalg.cholesky(dm.asarray(positive), upper=True), numpy.conj(numpy.swapaxes(lower, -1, -2)))


def test_refusals():
    """An exception of task 0 is one of all tasks, and the next call works."""
    with pytest.raises(dm.Error, match="Singular"):
        dm.linalg.inv(dm.zeros((3, 3)))
    with pytest.raises(dm.Error, match="not positive definite"):
        dm.linalg.cholesky(dm.asarray([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="not square"):
        dm.linalg.det(dm.zeros((3, 2)))
    with pytest.raises(TypeError, match="astype"):
        dm.linalg.svd(dm.ones((2, 2), dtype=dm.int32))
    assert float(dm.linalg.det(dm.eye(3))) == 1.0


def test_zero_dimensions():
    """0-d arrays take another value, and no other array does."""
    x = dm.asarray(5.0)
    y = x + 0
    x[()] = 7
    assert (float(x), float(y), float(x + 1)) == (7.0, 5.0, 8.0)
    x[...] = dm.asarray(2.5)
    x[dm.asarray(False)] = 9.0
    assert float(x) == 2.5
    x //= 2
    assert float(x) == 1.0
    with pytest.raises(IndexError):
        x[0] = 1.0


def test_limits_for_each_matrix(rng):
    a = rng.random((3, 4, 4)) + numpy.eye(4) * numpy.array([1.0, 1e-3, 1e-9])[:, None, None]
    limits = numpy.array([0.5, 1e-3, 1e-12])
    x = dm.asarray(a)
    same(dm.linalg.pinv(x, rtol=dm.asarray(limits)), numpy.linalg.pinv(a, limits), 1e-6)
    s = numpy.linalg.svd(a, compute_uv=False)
    same(dm.linalg.matrix_rank(x, rtol=dm.asarray(limits)), (s > s[:, :1] * limits[:, None]).sum(axis=-1))
    same(dm.linalg.matrix_rank(x, rtol=0.5), (s > s[:, :1] * 0.5).sum(axis=-1))
    assert dm.linalg.pinv(dm.zeros((0, 2, 2)), rtol=dm.zeros(0)).shape == (0, 2, 2)


def test_one_side_for_all_matrices(rng):
    a = rng.random((5, 2, 2)) + numpy.eye(2) * 3
    for b in rng.random(2), rng.random((2, 3)), rng.random((5, 2, 3)):
        x = dm.linalg.solve(dm.asarray(a), dm.asarray(b)).numpy()
        wanted = numpy.stack([numpy.linalg.solve(one, b if b.ndim < 3 else b[k]) for k, one in enumerate(a)])
        numpy.testing.assert_allclose(x, wanted, rtol=1e-12)
    assert dm.linalg.solve(dm.zeros((0, 0, 0)), dm.zeros(0)).shape == (0, 0)
