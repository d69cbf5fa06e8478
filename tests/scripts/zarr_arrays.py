"""Zarr arrays that other programs write and read: zarr-python (version 2 of the format), the reader and writer of version 3 below, which
share nothing with the library, and zarrita for Node.js, where it is installed (npm install --prefix BUILD_DIR zarrita).

    zarr_arrays.py [SEED]

tests/programs/convert reads arrays and writes them as others; all cases of one number of tasks are one run of it."""

import gzip
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import modules

modules.need("numpy", optional=["zarr"])
import numpy  # noqa: E402

BUILD, RUN_MULTI = os.environ["DOME_BUILD_DIR"], os.environ["RUN_MULTI"]
CONVERT = os.path.join(BUILD, "tests", "programs", "convert")
TYPES = ("|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8", "<c8", "<c16", ">i2", ">u4", ">f8", ">c16", "|b1")
NAMES = {"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64",
         "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128", "b1": "bool"}
STRUCT = [("a", "<f8"), ("b", "<i2"), ("c", [("x", "|u1"), ("y", ">f4")])]

try:
    import numcodecs
    import zarr
except ImportError:
    zarr = None
with open(os.path.join(BUILD, "CMakeCache.txt")) as cache:
    CACHE = cache.read()
WITH_BLOSC, WITH_LZ4 = zarr and "\nBLOSC_FOUND:INTERNAL=1" in CACHE, zarr and "\nLZ4_FOUND:INTERNAL=1" in CACHE
failures = []


def fail(text):
    failures.append(text)
    print("failed: " + text)


def values(draw, dtype, shape):
    count = int(numpy.prod(shape))
    raw = numpy.frombuffer(draw.randbytes(4 * count), "<i4").astype("<f8") / 1000
    if isinstance(dtype, list):
        array = numpy.zeros(count, dtype)
        array["a"], array["b"], array["c"]["x"], array["c"]["y"] = raw, raw.astype("<i4") % 1000, numpy.arange(count) % 200, raw
    elif dtype[1] == "c":
        array = (raw + 1j * raw[::-1]).astype(dtype)
    else:
        array = (raw if dtype[1] == "f" else raw.astype("<i8") % 100).astype(dtype)
    return array.reshape(shape)


def same(a, b):
    if a.dtype.kind == "b" or b.dtype.kind == "b":
        a, b = a.astype("u1"), b.astype("u1")
    return a.shape == b.shape and a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=") and bool((a == b).all())


# ---- version 3, by the words of its specification alone ----

CRC = []
for start in range(256):
    for _ in range(8):
        start = start >> 1 ^ (0x82F63B78 if start & 1 else 0)
    CRC.append(start)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 255]
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "little")


def zstd(data, way):
    return (numcodecs.Zstd(level=3).encode if way == "encode" else numcodecs.Zstd().decode)(data)


def blosc(draw):
    """As zarr-python's default, or another one of its compressors."""
    return numcodecs.Blosc(draw.choice(["lz4", "lz4", "blosclz", "lz4hc", "zlib", "zstd"]), draw.randint(0, 9), draw.choice([0, 1, 2]),
                           draw.choice([0, 64]))


def encoded(data, codecs):
    for codec in codecs:
        data = {"gzip": gzip.compress, "crc32c": lambda d: d + crc32c(d), "zstd": lambda d: zstd(d, "encode"),
                "blosc": lambda d: numcodecs.Blosc().encode(d)}[codec](data)
    return data


def write_v3(path, array, chunk, codecs, key, fill):
    order = "big" if array.dtype.byteorder == ">" else "little"
    separator = key[1]
    kind = array.dtype.kind
    os.makedirs(path)
    meta = {
        "zarr_format": 3, "node_type": "array", "shape": array.shape, "data_type": NAMES[array.dtype.str[1:]],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": key[0], "configuration": {"separator": separator}},
        "fill_value": [fill, 0] if kind == "c" else bool(fill) if kind == "b" else fill,
        "codecs": [{"name": "bytes", "configuration": {"endian": order}}] + [{"name": c, "configuration": {}} for c in codecs],
        "attributes": {"made by": "a test", "id": 2 ** 64 - 1, "valid": [float("nan"), float("inf")], "a": {"fill_value": "}]\\\""}},
    }
    with open(path + "/zarr.json", "w") as f:
        json.dump(meta, f)
    for index in itertools.product(*(range(-(-n // c)) for n, c in zip(array.shape, chunk))):
        part = array[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunk))]
        if (part == fill).all():
            continue
        whole = numpy.zeros(chunk, array.dtype)
        whole[tuple(slice(0, n) for n in part.shape)] = part
        name = separator.join((["c"] if key[0] == "default" else []) + [str(i) for i in index])
        os.makedirs(os.path.dirname(path + "/" + name), exist_ok=True)
        with open(path + "/" + name, "wb") as f:
            f.write(encoded(whole.tobytes(), codecs))


def read_v3(path):
    with open(path + "/zarr.json") as f:
        meta = json.load(f)
    assert meta["zarr_format"] == 3 and meta["node_type"] == "array" and meta["chunk_grid"]["name"] == "regular"
    first, *codecs = meta["codecs"]
    assert first["name"] == "bytes"
    order = ">" if first.get("configuration", {}).get("endian") == "big" else "<"
    dtype = numpy.dtype(order + {v: k for k, v in NAMES.items()}[meta["data_type"]])
    chunk, key = meta["chunk_grid"]["configuration"]["chunk_shape"], meta["chunk_key_encoding"]
    array = numpy.zeros(meta["shape"], dtype)
    for index in itertools.product(*(range(-(-n // c)) for n, c in zip(array.shape, chunk))):
        name = key["configuration"]["separator"].join((["c"] if key["name"] == "default" else []) + [str(i) for i in index])
        with open(path + "/" + name, "rb") as f:
            data = f.read()
        for codec in reversed(codecs):
            assert codec["name"] == "zstd"
            data = zstd(data, "decode")
        whole = numpy.frombuffer(data, dtype).reshape(chunk)
        part = array[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunk))]
        part[...] = whole[tuple(slice(0, n) for n in part.shape)]
    return array


# ---- cases ----

def shapes(draw):
    ndim = draw.randint(1, 4)
    shape = [draw.randint(1, 700 if ndim == 1 else 40 if ndim == 2 else 9) for _ in range(ndim)]
    return tuple(shape), tuple(draw.randint(1, n + 2) for n in shape)


def foreign_v2(draw, path, dtype):
    shape, chunk = shapes(draw)
    array = values(draw, dtype, shape)
    compressor = draw.choice([None, numcodecs.Zlib(level=1), numcodecs.GZip(level=1), numcodecs.Zstd(level=1)] +
                             [numcodecs.LZ4()] * bool(WITH_LZ4) + [blosc(draw) for _ in range(4 * bool(WITH_BLOSC))])
    fill = None if isinstance(dtype, list) else draw.choice([0, 1, None] + ["NaN"] * ("f" in dtype) + [2 ** 64 - 1] * 3 * ("u8" in dtype))
    if fill not in (None, "NaN"):
        array[: shape[0] // 2] = fill
    z = zarr.open(path, mode="w", shape=shape, chunks=chunk, dtype=dtype, compressor=compressor,
                  fill_value=float("nan") if fill == "NaN" else fill, dimension_separator=draw.choice("./"),
                  write_empty_chunks=draw.choice([True, False]))
    z[...] = array
    return array


def foreign_v3(draw, path, dtype):
    shape, chunk = shapes(draw)
    array = values(draw, dtype, shape)
    kinds = [[], ["gzip"], ["crc32c"], ["gzip", "crc32c"]] + ([["zstd"], ["zstd", "crc32c"], ["crc32c", "zstd"]] if zarr else []) + \
        [["blosc"], ["blosc", "crc32c"]] * bool(WITH_BLOSC)
    fill = draw.choice([1, 2 ** 64 - 1]) if dtype == "<u8" else 1
    if draw.random() < 0.5:
        array[: shape[0] // 2] = fill
    write_v3(path, array, chunk, draw.choice(kinds), draw.choice([("default", "/"), ("default", "."), ("v2", "."), ("v2", "/")]), fill)
    return array


def widths(shape):
    """Products of some of the last dimensions."""
    return [0] + [int(numpy.prod(shape[k:])) for k in range(len(shape) + 1)]


def run(tasks, cases):
    """Of each case (from, to, width): the library's line, if it could not be done, or ''."""
    words = [str(word) for case in cases for word in case]
    done = subprocess.run([RUN_MULTI, tasks, CONVERT] + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    if done.returncode:
        fail("%s tasks: status %d: %s" % (tasks, done.returncode, done.stdout[-2000:]))
    return [said[case[0]][8:] if said.get(case[0], "failed: no line").startswith("failed: ") else "" for case in cases]


def round_of(tasks, draw):
    made, lines = [], []
    for number, dtype in enumerate(list(TYPES) + [STRUCT] * 2):
        for version in (2, 3):
            if (version == 2 and not zarr) or (version == 3 and isinstance(dtype, list)):
                continue
            source, target = "%d-%d.zarr" % (number, version), "out-%d-%d.zarr" % (number, version)
            array = (foreign_v2 if version == 2 else foreign_v3)(draw, source, dtype)
            other = 2 if isinstance(dtype, list) else draw.choice([2, 3] if zarr else [3])
            level = draw.choice([0, 0, 3]) if zarr else 0
            made.append((source, target, array, other))
            lines.append((os.path.abspath(source), "%s,%d,%d,%d" % (os.path.abspath(target), other, level,
                                                                    draw.choice([0, draw.randint(1, 60)])),
                          draw.choice(widths(array.shape))))
    for line, (source, target, array, other) in zip(run(tasks, lines), made):
        if line:
            fail("%s tasks: %s, shape %s, dtype %s: %s" % (tasks, source, array.shape, array.dtype, line))
            continue
        if other == 2:
            z = zarr.open(target, mode="r")
            found, bad = z[...], z.nchunks_initialized != z.nchunks
        else:
            found, bad = read_v3(target), False
        if bad or not same(found, array):
            fail("%s tasks: %s is not %s" % (tasks, target, source))
    return made


ZARRITA = """
import * as zarr from "zarrita";
import { FileSystemStore } from "@zarrita/storage";
const cases = JSON.parse(process.argv[2]);
for (const path of cases) {
    const array = await zarr.open.v3(new FileSystemStore(path), { kind: "array" });
    const chunk = await zarr.get(array);
    console.log(JSON.stringify([chunk.shape, Array.from(chunk.data, (v) => Number(v))]));
}
"""


def zarrita(draw):
    """Arrays of version 3 that Dome writes, read by zarrita."""
    if not shutil.which("node") or not os.path.isdir(os.path.join(BUILD, "node_modules", "zarrita")):
        print("without zarrita: Node.js or the package is not installed")
        return
    arrays, lines = [], []
    for number, dtype in enumerate(("<f8", "<i4", "|u1", "<f4", "<u2")):
        array = values(draw, dtype, (11, 7)[: 1 + number % 2])
        write_v3("z%d.zarr" % number, array, array.shape, [], ("default", "/"), 0)
        arrays.append(array)
        lines.append((os.path.abspath("z%d.zarr" % number), "%s,3,%d,3" % (os.path.abspath("zout%d.zarr" % number), 3 * (number % 3 == 0)), 0))
    run("self", lines)
    os.symlink(os.path.join(BUILD, "node_modules"), "node_modules")
    with open("read.mjs", "w") as f:
        f.write(ZARRITA)
    done = subprocess.run(["node", "read.mjs", json.dumps([line[1].split(",")[0] for line in lines])], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    if done.returncode or len(found) != len(arrays):
        fail("zarrita: status %d: %s" % (done.returncode, done.stdout[-2000:]))
    for (shape, data), array in zip(found, arrays):
        if tuple(shape) != array.shape or not numpy.array_equal(numpy.array(data), array.ravel().astype("<f8")):
            fail("zarrita reads other values of shape %s, dtype %s" % (array.shape, array.dtype))


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 30)
    draw = random.Random(seed)
    counts = ("self",) if "DOME_PVM:BOOL=OFF" in CACHE else ("self", "1", "2", "3", "7")
    print("seed %d%s" % (seed, "" if zarr else ", without zarr-python: version 3 alone"))
    folder = tempfile.mkdtemp(prefix="dome-zarr.")
    os.chdir(folder)
    try:
        probe = values(draw, "<f8", (3,))
        write_v3("probe.zarr", probe, (2,), [], ("default", "/"), 0)
        line = run("self", [(folder + "/probe.zarr", folder + "/probe-out.zarr", 0)])[0]
        if "without the library" in line:
            print("skipped: " + line)
            return 77
        for tasks in counts:
            os.mkdir(tasks)
            os.chdir(tasks)
            round_of(tasks, draw)
            os.chdir("..")
        zarrita(draw)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return 1 if failures else 0


sys.exit(main())
