"""Local parts, buffers and DLPack: what they share with the array, and when they raise."""
import gc

import numpy as np
import pytest
from conftest import same, values

import dome as dm


def parts_of(part):
    while part:
        yield part
        part = part.rest


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "complex128", "bool"])
@pytest.mark.parametrize("shape", [(1000,), (300, 4), (3, 4, 5), (5,)])
def test_parts(rng, dtype, shape):
    a = values(rng, dtype, shape)
    x = dm.asarray(a)
    seen = 0
    for part in parts_of(x.local_const):
        rows = a.reshape(-1) if part.flat else a
        assert np.array_equal(part.numpy(), rows[part.first:part.first + len(part)])
        assert not part.numpy().flags.writeable
        assert bytes(part.buffer()) == rows[part.first:part.first + len(part)].tobytes()
        seen += part.numpy().size
    assert dm.tasks.allreduce(seen) == a.size
    for part in parts_of(x.local):
        part.numpy()[...] = 1
    same(x, np.ones(shape, dtype))


def test_moved_data_raises():
    """Movements of data are called for: a part from before raises where its blocks have moved."""
    x = dm.arange(200_000.0)
    part = x.local
    before = dm._loop.lib.dome_layout_ref(part._layout)
    for _ in range(40):
        y = dm.sort(x)
        dm.checkpoint()
    moved = dm.local.layout_of(x) != before
    dm._loop.lib.dome_layout_unref(before)
    if moved:
        with pytest.raises(BufferError, match="pinned"):
            part.numpy()
    else:
        part.numpy()
    assert float(y[7]) == 7


def test_dlpack():
    x = dm.asarray(np.arange(12.0).reshape(3, 4))
    if dm.size() == 1:
        assert np.array_equal(np.from_dlpack(x), np.arange(12.0).reshape(3, 4))
    else:
        with pytest.raises(BufferError, match="local"):
            np.from_dlpack(x)
    for part in parts_of(x.local):
        assert np.from_dlpack(part).size == part.numpy().size
    same(dm.from_dlpack(np.arange(7)), np.arange(7))
    assert x.__dlpack_device__() == (1, 0)


def test_gathering_is_limited(monkeypatch):
    x = dm.zeros(1000)
    assert np.asarray(x).shape == (1000,)
    monkeypatch.setattr(dm.local, "GATHER_BYTES", 100)
    with pytest.raises(MemoryError, match="x.local"):
        np.asarray(x)
    assert x.numpy().shape == (1000,)


def test_numpy_and_arrays_together():
    x = dm.arange(5.0)
    same(np.arange(5.0) + x, 2 * np.arange(5.0))
    same(x * np.float64(2.0), 2 * np.arange(5.0))
    x[1:3] = np.array([7.0, 8.0])
    same(x, np.array([0, 7, 8, 3, 4.0]))


def test_frees_agree():
    """Tasks keep and drop different arrays: the next rounds free what is dead everywhere."""
    mine = []
    for k in range(1500):
        y = dm.ones(64) + float(k)
        if k % (dm.rank() + 2) == 0:
            mine.append(y)
        if k % 97 == dm.rank():
            gc.collect()
    known = len(dm.memory._numbers)
    del mine, y
    gc.collect()
    dm.memory.collect()
    assert len(dm.memory._dead) == 0
    same(dm.ones(64) * 3.0, np.full(64, 3.0))
    assert dm.size() == 1 or known < 4000


def test_map_of_c_function():
    ffi = dm._loop.ffi
    x = dm.arange(1000.0)

    @ffi.callback("dvec_kernel")
    def twice(ctx, first, count, out, inputs):
        source, target = ffi.cast("double *", inputs[0]), ffi.cast("double *", out)
        for k in range(count):
            target[k] = 2 * source[k]

    same(dm.map(int(ffi.cast("uintptr_t", twice)), x), 2 * np.arange(1000.0))
