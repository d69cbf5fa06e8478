"""What the Array API has had since 2022.12, which the standard's own suite at hand does not test: beside NumPy."""
import itertools

import numpy as np
import pytest
from conftest import same, values

import dome as dm

REAL, WHOLE = ["float64", "float32"], ["int64", "int8", "uint16"]


@pytest.mark.parametrize("dtype", REAL + WHOLE)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extremes(rng, name, dtype):
    a, b = values(rng, dtype, (300, 3)), values(rng, dtype, (3,))
    same(getattr(dm, name)(dm.asarray(a), dm.asarray(b)), getattr(np, name)(a, b))
    same(getattr(dm, name)(dm.asarray(a), 2), getattr(np, name)(a, np.asarray(2, dtype)))
    if dtype in REAL:
        nan = np.array([np.nan, 1, np.nan, -0.0], dtype)
        same(getattr(dm, name)(dm.asarray(nan), dm.asarray(nan[::-1].copy())), getattr(np, name)(nan, nan[::-1]))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ["copysign", "hypot", "nextafter", "logaddexp", "atan2"])
def test_pairs(rng, name, dtype):
    numpys = {"atan2": "arctan2"}.get(name, name)
    special = np.array(list(itertools.product([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan], repeat=2)), dtype)
    for a, b in (special[:, 0], special[:, 1]), (values(rng, dtype, 500), values(rng, dtype, 500)):
        tolerance = 0 if name in ("copysign", "nextafter") else 1e-6 if dtype == "float32" else 1e-14
        with np.errstate(all="ignore"):
            wanted = getattr(np, numpys)(a, b)
        same(getattr(dm, name)(dm.asarray(a), dm.asarray(b)), wanted, tolerance)
    a = values(rng, dtype, 20)
    same(getattr(dm, name)(dm.asarray(a), -1.0), getattr(np, numpys)(a, np.asarray(-1, dtype)), 1e-6)
    same(getattr(dm, name)(-1.0, dm.asarray(a)), getattr(np, numpys)(np.asarray(-1, dtype), a), 1e-6)


def test_signs_and_reciprocals(rng):
    a = np.array([0.0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, -np.nan])
    same(dm.signbit(dm.asarray(a)), np.signbit(a))
    with np.errstate(all="ignore"):
        same(dm.reciprocal(dm.asarray(a)), np.reciprocal(a))
    z = np.array([3 + 4j, -2j, 0, -1])
    same(dm.sign(dm.asarray(z)), np.array([0.6 + 0.8j, -1j, 0, -1]), 1e-15)
    same(dm.reciprocal(dm.asarray(z[:2])), np.reciprocal(z[:2]), 1e-15)


def test_truth_values():
    for name, x, y in itertools.product(["and", "or", "xor"], [True, False], [True, False]):
        wanted = getattr(np, "logical_" + name)(x, y)
        assert bool(getattr(dm, "logical_" + name)(dm.asarray(x), dm.asarray(y))) == wanted
        same(getattr(dm, "logical_" + name)(dm.asarray([x, True]), y), getattr(np, "logical_" + name)([x, True], y))
        same(getattr(dm, "bitwise_" + name)(x, dm.asarray([y, True])), getattr(np, "bitwise_" + name)(x, [y, True]))


@pytest.mark.parametrize("dtype", REAL + WHOLE)
def test_clip(rng, dtype):
    a = values(rng, dtype, (300, 4))
    x, low, high = dm.asarray(a), np.asarray(3, dtype), np.asarray(9, dtype)
    same(dm.clip(x), a)
    same(dm.clip(x, 3), np.maximum(a, low))
    same(dm.clip(x, max=9), np.minimum(a, high))
    same(dm.clip(x, 3, 9), np.clip(a, low, high))
    bounds = values(rng, dtype, 4)
    same(dm.clip(x, dm.asarray(bounds), None), np.maximum(a, bounds))
    same(dm.clip(x, dm.asarray(bounds), dm.asarray(bounds + high)), np.clip(a, bounds, bounds + high))


@pytest.mark.parametrize("dtype", ["float64", "int16", "uint8", "complex128"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_results(rng, axis, dtype):
    a = values(rng, dtype, (7, 5))
    kind = np.dtype(dtype).kind
    wide = {"i": "int64", "u": "uint64"}.get(kind, dtype)
    for name, numpys, start in ("cumulative_sum", np.cumsum, 0), ("cumulative_prod", np.cumprod, 1):
        compute = getattr(dm, name)
        wanted = numpys(a, axis=axis, dtype=wide)
        same(compute(dm.asarray(a), axis=axis), wanted, 0 if kind in "iu" else 1e-9)
        first = np.full([1 if k == axis % 2 else n for k, n in enumerate(a.shape)], start, wide)
        wanted = np.concatenate([first, wanted], axis=axis)
        same(compute(dm.asarray(a), axis=axis, include_initial=True), wanted, 0 if kind in "iu" else 1e-9)
    same(dm.cumulative_sum(dm.asarray(a[0]), dtype=dm.complex128), np.cumsum(a[0], dtype="complex128"), 1e-12)


def test_parts_and_axes(rng):
    a = rng.normal(size=(3, 4, 5))
    x = dm.asarray(a)
    for axis in 0, 1, -1:
        parts = dm.unstack(x, axis=axis)
        assert isinstance(parts, tuple) and len(parts) == a.shape[axis]
        for part, wanted in zip(parts, np.moveaxis(a, axis, 0)):
            same(part, wanted)
    for source, to in (0, -1), (2, 0), ((0, 1), (-1, -2)):
        same(dm.moveaxis(x, source, to), np.moveaxis(a, source, to))
    for times in (2,), (2, 3), (1, 1, 2), (2, 1, 1, 1), ():
        same(dm.tile(x, times), np.tile(a, times))
    same(dm.repeat(x, 2, axis=1), np.repeat(a, 2, axis=1))
    same(dm.repeat(x, 3), np.repeat(a, 3))
    counts = np.array([2, 0, 1, 3])
    same(dm.repeat(x, dm.asarray(counts), axis=1), np.repeat(a, counts, axis=1))
    same(dm.matrix_transpose(x), np.swapaxes(a, -1, -2))
    same(dm.unstack(dm.zeros((2, 0)))[1], np.zeros(0))


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "complex64"])
def test_counts(rng, dtype):
    a = values(rng, dtype, (300, 3, 2)) * (rng.random((300, 3, 2)) < 0.5)
    a = a.astype(dtype)
    x = dm.asarray(a)
    assert int(dm.count_nonzero(x)) == np.count_nonzero(a)
    for axis in 0, 1, -1, (0, 2):
        same(dm.count_nonzero(x, axis=axis), np.count_nonzero(a, axis=axis))
        same(dm.count_nonzero(x, axis=axis, keepdims=True), np.count_nonzero(a, axis=axis, keepdims=True))


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8"])
def test_places(rng, dtype):
    a = np.sort(values(rng, dtype, 400))
    b = values(rng, dtype, (20, 3))
    for side in "left", "right":
        same(dm.searchsorted(dm.asarray(a), dm.asarray(b), side=side), np.searchsorted(a, b, side=side))
    mixed = rng.permutation(a)
    order = np.argsort(mixed, kind="stable")
    same(dm.searchsorted(dm.asarray(mixed), dm.asarray(b), sorter=dm.asarray(order)), np.searchsorted(a, b))
    c = values(rng, dtype, (6, 300))
    for axis in 0, 1:
        places = np.argsort(c, axis=axis, kind="stable")
        same(dm.take_along_axis(dm.asarray(c), dm.asarray(places), axis=axis), np.sort(c, axis=axis))
    same(dm.take(dm.asarray(c), dm.asarray([1, -1])), np.take(c, [1, -1]))


def test_differences(rng):
    a = rng.normal(size=(5, 300))
    x = dm.asarray(a)
    for n, axis in itertools.product([0, 1, 2, 4, 7], [0, -1]):
        same(dm.diff(x, n=n, axis=axis), np.diff(a, n=n, axis=axis), 1e-12)
    before, after = rng.normal(size=(5, 2)), rng.normal(size=(5, 1))
    same(dm.diff(x, prepend=dm.asarray(before), append=dm.asarray(after)), np.diff(a, prepend=before, append=after))


def test_grids(rng):
    rows = [rng.normal(size=n) for n in (3, 1, 4)]
    for indexing, count in itertools.product(["xy", "ij"], range(4)):
        ours = dm.meshgrid(*map(dm.asarray, rows[:count]), indexing=indexing)
        wanted = np.meshgrid(*rows[:count], indexing=indexing)
        assert len(ours) == len(wanted)
        for x, a in zip(ours, wanted):
            same(x, a)


def test_numbers_as_operands():
    """Python's numbers in functions of two arrays have the array's type where it holds them."""
    x = dm.asarray([1, 2, 3], dtype=dm.int8)
    for compute in dm.add, dm.multiply, dm.maximum, dm.bitwise_and, dm.floor_divide, dm.pow:
        assert compute(x, 2).dtype == dm.int8
    assert dm.add(2.5, x).dtype == dm.float64
    assert dm.add(dm.asarray([1.0], dtype=dm.float32), 1j).dtype == dm.complex64
    same(dm.where(x > 1, x, 0), np.array([0, 2, 3], "int8"))
    same(dm.where(x > 1, 1.5, dm.asarray([0.5, 0.5, 0.5])), np.array([0.5, 1.5, 1.5]))
    assert dm.result_type(x, 1) == dm.int8 and dm.result_type(dm.float32, 1.0) == dm.float32
    assert dm.result_type(dm.float32, 1j) == dm.complex64 and dm.result_type(dm.int8, dm.uint8, 3) == dm.int16


def test_types():
    for kind, names in {"bool": ["bool"], "signed integer": ["int8", "int64"], "unsigned integer": ["uint8"],
                        "integral": ["int8", "uint64"], "real floating": REAL, "complex floating": ["complex64"],
                        "numeric": ["int8", "float32", "complex128"]}.items():
        for name in names:
            dtype = getattr(dm, name)
            assert dm.isdtype(dtype, kind) and dm.isdtype(dtype, (kind, "bool")) and dm.isdtype(dtype, dtype)
        assert not dm.isdtype(dm.bool, kind) or kind == "bool"
    assert not dm.isdtype(dm.int8, dm.int16)
    with pytest.raises(ValueError):
        dm.isdtype(dm.int8, "numbers")
    x = dm.astype(dm.asarray([1.5]), dm.int32, device="cpu")
    assert x.dtype == dm.int32 and x.to_device("cpu") is x and x.device == "cpu"
    y = dm.from_dlpack(np.arange(4.0), copy=True)
    same(y, np.arange(4.0))


def test_what_the_library_says_of_itself():
    info = dm.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}
    assert info.default_device() == "cpu" and info.devices() == ["cpu"]
    assert info.default_dtypes(device="cpu") == {"real floating": dm.float64, "complex floating": dm.complex128,
                                                 "integral": dm.int64, "indexing": dm.int64}
    assert info.dtypes(kind="real floating") == {"float32": dm.float32, "float64": dm.float64}
    assert set(info.dtypes(device="cpu", kind=("bool", "signed integer"))) == {"bool", "int8", "int16", "int32", "int64"}
    assert len(info.dtypes()) == 13
    assert dm.zeros(3).__array_namespace__(api_version="2024.12") is dm
