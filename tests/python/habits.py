"""NumPy's functions that the Array API does not have, beside NumPy; and its habits: arguments by position, dm.array."""
import numpy as np
import pytest
from conftest import same, values

import dome as dm


def pair(rng, *shape, dtype="float64"):
    a = values(rng, dtype, shape)
    return a, dm.asarray(a)


@pytest.mark.parametrize("shape", [(1000,), (7,), (300, 4), (3, 5)])
def test_one_array(rng, shape):
    a, x = pair(rng, *shape)
    for name in "ravel", "flipud", "fabs", "degrees", "radians", "flatnonzero", "argwhere", "copy", "diag", "nan_to_num", "median":
        if name == "diag" and len(shape) == 1 and shape[0] > 100:
            continue
        same(getattr(dm, name)(x), getattr(np, name)(a), 1e-12)
    same(dm.around(x, 2), np.around(a, 2), 1e-12)
    for axis in (None, *range(len(shape))):
        for name in "ptp", "median", "average", "nansum", "nanmean", "nanmin", "nanmax":
            same(getattr(dm, name)(x, axis=axis), getattr(np, name)(a, axis=axis), 1e-12)
        same(dm.quantile(x, [0.0, 0.3, 1.0], axis), np.quantile(a, [0.0, 0.3, 1.0], axis), 1e-12)
        same(dm.percentile(x, 95, axis), np.percentile(a, 95, axis), 1e-12)
    assert dm.shape(x) == shape and dm.ndim(x) == len(shape)


def test_not_numbers(rng):
    a, _ = pair(rng, 300, 4)
    a[rng.random(a.shape) < 0.2] = np.nan
    a[3, 2], a[4, 1] = np.inf, -np.inf
    x = dm.asarray(a)
    same(dm.nan_to_num(x), np.nan_to_num(a))
    same(dm.nan_to_num(x, 1.0, 2.0, 3.0), np.nan_to_num(a, nan=1.0, posinf=2.0, neginf=3.0))
    same(dm.nanmin(x, 0), np.nanmin(a, 0))
    same(dm.nansum(x[5:], 1), np.nansum(a[5:], 1), 1e-12)
    same(dm.median(x, 1), np.median(a, 1), 1e-12)
    same(dm.isclose(x, x), np.isclose(a, a))
    same(dm.isclose(x, x, equal_nan=True), np.isclose(a, a, equal_nan=True))
    assert not dm.allclose(x, x) and dm.allclose(x, x, equal_nan=True) and dm.allclose(dm.ones(5), 1.0 + 1e-9)
    assert dm.array_equal(dm.arange(5), [0, 1, 2, 3, 4]) and not dm.array_equal(dm.arange(5), dm.arange(6))


def test_together_and_apart(rng):
    (a, x), (b, y) = pair(rng, 300, 4), pair(rng, 300, 4)
    (c, u), (d, v) = pair(rng, 300), pair(rng, 300)
    for name in "vstack", "hstack", "column_stack":
        same(getattr(dm, name)([x, y]), getattr(np, name)([a, b]))
        same(getattr(dm, name)([u, v]), getattr(np, name)([c, d]))
    same(dm.append(u, [1.0, 2.0]), np.append(c, [1.0, 2.0]))
    same(dm.append(x, y, 1), np.append(a, b, 1))
    same(dm.atleast_2d(u), np.atleast_2d(c))
    same(dm.atleast_1d(3.0), np.atleast_1d(3.0))
    same(dm.fliplr(x), np.fliplr(a))
    for parts in 3, [1, 4], [2, 2, 900]:
        for one, other in zip(dm.array_split(u, parts), np.array_split(c, parts), strict=True):
            same(one, other)
    for one, other in zip(dm.split(x, 2, 1), np.split(a, 2, 1), strict=True):
        same(one, other)
    with pytest.raises(ValueError):
        dm.split(u, 7)
    for k in -2, 0, 1:
        same(dm.diag(u[:9], k), np.diag(c[:9], k))
        same(dm.diag(x, k), np.diag(a, k))


def test_products_and_places(rng):
    (a, x), (b, y) = pair(rng, 40, 5), pair(rng, 3, 5)
    (c, u), (d, v) = pair(rng, 400), pair(rng, 7)
    same(dm.inner(x, y), np.inner(a, b), 1e-12)
    same(dm.kron(x, y), np.kron(a, b), 1e-12)
    same(dm.kron(u, v), np.kron(c, d), 1e-12)
    same(dm.cov(x), np.cov(a), 1e-10)
    same(dm.cov(u), np.cov(c), 1e-10)
    for mode in "full", "same", "valid":
        same(dm.convolve(u, v, mode), np.convolve(c, d, mode), 1e-12)
    for axis in 0, 1:
        same(dm.gradient(x, 0.5, axis), np.gradient(a, 0.5, axis=axis), 1e-12)
    same(dm.gradient(u[:2]), np.gradient(c[:2]), 1e-12)
    same(dm.trapz(u, dx=0.5), np.trapz(c, dx=0.5), 1e-12)
    same(dm.trapz(u, dm.arange(400) * 2.0), np.trapz(c, np.arange(400) * 2.0), 1e-12)
    points = np.sort(d)
    same(dm.digitize(u, dm.asarray(points)), np.digitize(c, points))
    same(dm.interp(u, dm.asarray(points), v), np.interp(c, points, d), 1e-12)
    same(dm.average(x, 0, dm.arange(40)), np.average(a, 0, np.arange(40)), 1e-12)
    same(dm.average(x, weights=dm.abs(x)), np.average(a, weights=np.abs(a)), 1e-12)
    labels = rng.integers(0, 9, 400)
    same(dm.bincount(dm.asarray(labels), minlength=12), np.bincount(labels, minlength=12))
    same(dm.bincount(dm.asarray(labels), u), np.bincount(labels, c), 1e-12)


def test_habits(rng):
    a, x = pair(rng, 30, 4)
    same(dm.array([[1, 2], [3, 4]], float), np.array([[1, 2], [3, 4]], float))
    y = dm.array(x)
    y[0] = 0.0
    same(x, a)
    same(dm.sum(x, 1), np.sum(a, 1), 1e-12)
    same(dm.max(x, 0), np.max(a, 0))
    same(dm.concatenate([x, x], 1), np.concatenate([a, a], 1))
    same(dm.argsort(x, 0), np.argsort(a, 0, kind="stable"))
    same(dm.full((2, 3), 7, "int8"), np.full((2, 3), 7, "int8"))
    same(dm.logspace(0, 3, 7), np.logspace(0, 3, 7), 1e-14)
    same(dm.zeros_like(x, int), np.zeros_like(a, int))
    same(dm.diff(x, 2, 0), np.diff(a, 2, 0), 1e-12)
    same(dm.diff(x, axis=1, prepend=0.0, append=x[:, :2]), np.diff(a, axis=1, prepend=0.0, append=a[:, :2]), 1e-12)
    same(dm.diff(x > 0, axis=0), np.diff(a > 0, axis=0))
    for one, other in zip(divmod(x, 0.3), divmod(a, 0.3), strict=True):
        same(one, other, 1e-12)
    same(x.trace(), a.trace(), 1e-12)
    same(x.diagonal(1), a.diagonal(1))
    same(x.round(1), a.round(1), 1e-12)
    same(dm.round(dm.asarray([15, 25, -25]), -1), np.round(np.array([15, 25, -25]), -1))
    same(dm.searchsorted(dm.arange(5), [1, 2]), [1, 2])
    same(dm.float32(2.5), np.float32(2.5))
    same(dm.select([x > 0.5, x < -0.5], [x, -x], 2.0), np.select([a > 0.5, a < -0.5], [a, -a], 2.0))
    same(dm.var(x, 0, ddof=1), np.var(a, 0, ddof=1), 1e-12)
    assert isinstance(x, dm.ndarray) and round(x[0, 0], 2) == round(float(a[0, 0]), 2)
    assert float(np.sum(x)) == float(x.sum()) and float(np.mean(x)) == float(x.mean())
    for one, other in zip(dm.where(x > 0), np.where(a > 0), strict=True):
        same(one, other)


def test_histograms_and_classes(rng):
    a, x = pair(rng, 900)
    for kwargs in ({}, {"bins": 7, "range": (-1, 1)}, {"bins": [-2.0, -0.5, 0.1, 3.0]}, {"bins": 5, "density": True}):
        for one, other in zip(dm.histogram(x, **kwargs), np.histogram(a, **kwargs), strict=True):
            same(one, other, 1e-12)
    labels = rng.integers(0, 9, 300)
    wanted = {"return_index": True, "return_inverse": True, "return_counts": True}
    for one, other in zip(dm.unique(dm.asarray(labels), **wanted), np.unique(labels, **wanted), strict=True):
        same(one, other)
    same(dm.unique(dm.asarray(labels), return_counts=True)[1], np.unique(labels, return_counts=True)[1])
    b, y = pair(rng, 300, 3)
    for one, other in zip(dm.linalg.lstsq(y, x[:300]), np.linalg.lstsq(b, a[:300], rcond=None), strict=True):
        same(one, other, 1e-10)


def test_generators():
    one, other = dm.random.default_rng(5), dm.random.default_rng(5)
    for draw in (lambda g: g.random((500,)), lambda g: g.normal(3.0, 0.1, (500,)), lambda g: g.uniform(2, 3, (500,)),
                 lambda g: g.integers(0, 7, (500,)), lambda g: g.permutation(500), lambda g: g.choice(9, (500,)),
                 lambda g: g.choice(dm.arange(600), 500, replace=False), lambda g: g.standard_normal((500,))):
        x = draw(one)
        assert dm.array_equal(x, draw(other)) and not dm.array_equal(x, draw(one)) and x.shape == (500,)
        draw(other)
    assert dm.array_equal(dm.sort(one.permutation(99)), dm.arange(99)) and 0 <= float(one.random()) < 1
    assert dm.unique(one.choice(dm.arange(60), 50, replace=False)).size == 50
    with pytest.raises(ValueError):
        one.choice(3, (4,), replace=False)
