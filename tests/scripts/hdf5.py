"""Files of h5py that Dome reads and writes again, as HDF5 and as .npy, and the other way round; files that it must refuse, and damaged
ones: a line each, the same for any number of tasks.

    hdf5.py [DAMAGED [SEED]]"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import modules

modules.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy as np  # noqa: E402

CONVERT = os.path.join(os.environ["DOME_BUILD_DIR"], "tests", "programs", "convert")
RUN_MULTI = os.environ["RUN_MULTI"]
COUNTS = ["self", "1", "2", "3", "7"]
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED: " + text, flush=True)


def has_pvm():
    with open(os.path.join(os.environ["DOME_BUILD_DIR"], "CMakeCache.txt")) as f:
        return "DOME_PVM:BOOL=ON" in f.read()


def convert(tasks, jobs):
    """What the program prints for jobs (from, to, width): {from: what follows its name}."""
    words = [RUN_MULTI, tasks, CONVERT] + [str(w) for job in jobs for w in job]
    environment = dict(os.environ, **({"PVM_ALLOW_ROOT": "1"} if os.geteuid() == 0 else {}))
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, "%s tasks: status %d: %s%s" % (tasks, done.returncode, done.stdout[-500:], done.stderr[-500:]))
    check(done.stderr == "", "%s tasks: %s" % (tasks, done.stderr[-500:]))
    lines = {}
    for line in done.stdout.splitlines():
        name, _, rest = line.partition(": ")
        check(name not in lines, "two lines for %s: %s" % (name, line))
        lines[name] = rest
    check(len(lines) == len({job[0] for job in jobs}), "%s tasks: %d lines for %d jobs" % (tasks, len(lines), len(jobs)))
    return lines


def any_values(draw, dtype, shape):
    """Any bits that the type can have and that are equal to themselves."""
    dtype = np.dtype(dtype)
    if dtype.names:
        x = np.zeros(shape, dtype)
        for name in dtype.names:
            x[name] = any_values(draw, dtype[name].base, x[name].shape)
        return x
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return (draw.integers(0, 2, count) == 1).reshape(shape)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return draw.integers(limits.min, limits.max, count, dtype=dtype.newbyteorder("="), endpoint=True).astype(dtype).reshape(shape)
    x = draw.standard_normal(count)
    if dtype.kind == "c":
        x = x + 1j * draw.standard_normal(count)
    return x.astype(dtype).reshape(shape)


def same(a, b):
    """The same values, whatever their byte order and the padding of structures."""
    if a.dtype.names:
        return a.dtype.names == b.dtype.names and all(same(a[name], b[name]) for name in a.dtype.names)
    return a.shape == b.shape and a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=") and bool(np.all(a == b))


POINT = np.dtype([("x", "<f8"), ("y", ">f4"), ("n", "<i2")])
PADDED = np.dtype({"names": ["a", "b", "z"], "formats": ["u1", "<f8", "<c8"], "offsets": [0, 8, 20], "itemsize": 40})
NESTED = np.dtype([("tag", "u1"), ("p", POINT, (2,)), ("w", "<f8", (2, 3)), ("flag", "?")])


def good_sets(draw):
    """name: (array, arguments of create_dataset)"""
    sets = {}
    for order in "<>":
        for code in ("i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8", "c8", "c16"):
            sets["basic/%s%s" % ("big" if order == ">" else "little", code)] = (any_values(draw, order + code, (211,)), {})
    for code in ("i1", "u1", "?"):
        sets["basic/%s" % code.replace("?", "bool")] = (any_values(draw, code, (50, 3)), {})
    sets["three"] = (any_values(draw, "f8", (7, 5, 4)), {})
    sets["nine"] = (any_values(draw, "i4", (2, 1, 3, 1, 2, 1, 1, 2, 3)), {})
    sets["none"] = (np.zeros((0, 4)), {})
    sets["point"] = (any_values(draw, POINT, (100,)), {})
    sets["padded"] = (any_values(draw, PADDED, (33,)), {})
    sets["nested"] = (any_values(draw, NESTED, (20, 2)), {})
    wide = any_values(draw, "f8", (100, 60, 3))
    sets["chunked"] = (wide, {"chunks": (7, 60, 2)})
    sets["gzip"] = (wide, {"chunks": (33, 11, 3), "compression": "gzip", "shuffle": True, "fletcher32": True})
    sets["gzip_big"] = (wide.astype(">f8"), {"chunks": (64, 60, 1), "compression": "gzip"})
    sets["chunked_points"] = (any_values(draw, POINT, (1000,)), {"chunks": (77,), "compression": "lzf"})
    sets["chunked_one"] = (any_values(draw, "i4", (40000,)), {"chunks": (999,)})
    sets["growing"] = (any_values(draw, "u2", (10, 10)), {"maxshape": (None, 10)})
    return sets


def make_good(draw):
    sets = good_sets(draw)
    with h5py.File("good.h5", "w", userblock_size=512) as f:
        for name, (array, arguments) in sets.items():
            f.create_dataset(name, data=array, **arguments)
        f.create_dataset("late", (30, 2), "f4", fillvalue=2.5)  # not written: it has no place in the file
        sets["late"] = (np.full((30, 2), 2.5, "f4"), {})
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        small = np.arange(6, dtype="i8")
        h5py.h5d.create(f.id, b"compact", h5py.h5t.NATIVE_INT64, h5py.h5s.create_simple((6,)), compact).write(h5py.h5s.ALL, h5py.h5s.ALL, small)
        sets["compact"] = (small, {})
        f["soft"] = h5py.SoftLink("/basic/littlef8")
        sets["soft"] = (sets["basic/littlef8"][0], {})
        f["outside"] = h5py.ExternalLink("other.h5", "/x")
        f.create_dataset("external", data=small, external=[("external.raw", 0, h5py.h5f.UNLIMITED)])
        sets["external"] = (small, {})
    with h5py.File("other.h5", "w") as f:
        f["x"] = wide = any_values(draw, "f8", (500,))
    sets["outside"] = (wide, {})
    with h5py.File("new.hdf5", "w", libver="latest") as f:
        f["x"] = wide
        f["attribute"] = small
    return {name: array for name, (array, _) in sets.items()}


def kind_of(dtype):
    if dtype.names:
        return "struct"
    return "u8" if dtype.kind == "b" else "%s%d" % (dtype.kind, 8 * dtype.itemsize)


def expected_line(array):
    shape = list(array.shape[:7]) + [int(np.prod(array.shape[7:]))] if array.ndim > 8 else list(array.shape)
    return "%s %d x %d: %s" % (kind_of(array.dtype), array.shape[0], int(np.prod(array.shape[1:])), " ".join(str(n) for n in shape))


def as_dome_has_it(array):
    """bool becomes u8, and an array in a field has one dimension."""
    if array.dtype.names:
        columns = {n: as_dome_has_it(array[n]) for n in array.dtype.names}
        shapes = {n: (int(np.prod(array.dtype[n].shape)),) if array.dtype[n].shape else () for n in columns}
        out = np.zeros(array.shape, [(n, c.dtype, shapes[n]) for n, c in columns.items()])
        for n, c in columns.items():
            out[n] = c.reshape(array.shape + shapes[n])
        return out
    return array.astype("u1") if array.dtype.kind == "b" else array


def try_good(draw, counts):
    arrays = make_good(draw)
    arrays_in = {"good.h5:/" + name: array for name, array in arrays.items()}
    arrays_in["new.hdf5:/x"] = arrays["outside"]
    first = None
    for tasks in counts:
        jobs = []
        for path in arrays_in:
            name = path.split(":/")[1].replace("/", "_")
            jobs += [(path, "out.h5:/of/" + name, 0)]
        lines = convert(tasks, jobs)
        for path, array in arrays_in.items():
            check(lines.get(path) == expected_line(array), "%s tasks: %s: %s instead of %s" % (tasks, path, lines.get(path), expected_line(array)))
        lines = convert(tasks, [("out.h5:/of/" + path.split(":/")[1].replace("/", "_"), path.split(":/")[1].replace("/", "_") + ".npy", 0)
                                for path in arrays_in])
        with h5py.File("out.h5", "r") as f:
            check(len(f["of"]) == len(arrays_in), "%s tasks: %d data sets" % (tasks, len(f["of"])))
            for path, array in arrays_in.items():
                name, array = path.split(":/")[1].replace("/", "_"), as_dome_has_it(array)
                if array.ndim > 8:
                    array = array.reshape(array.shape[:7] + (-1,))
                check(same(f["of"][name][...], array), "%s tasks: %s: h5py reads other values" % (tasks, path))
                check(f["of"][name].chunks is None, "%s is contiguous" % name)
                check(same(np.load(name + ".npy"), array), "%s tasks: %s: NumPy reads other values" % (tasks, path))
        with open("out.h5", "rb") as f:
            content = f.read()
        first = first or content
        check(content == first, "%s tasks write other bytes" % tasks)
        os.remove("out.h5")


def try_widths(counts):
    array = np.arange(24, dtype="i4").reshape(2, 3, 4)
    with h5py.File("width.h5", "w") as f:
        f["x"] = array
        f.create_dataset("chunks", data=array, chunks=(1, 2, 3))
    np.save("width.npy", array)
    for tasks in counts:
        for source in ("width.h5:/x", "width.h5:/chunks", "width.npy"):
            for width, line in ((0, "2 x 12"), (1, "24 x 1"), (4, "6 x 4"), (24, "1 x 24"), (8, None)):
                got = convert(tasks, [(source, "width.out.h5:/x", width)])[source]
                if line is None:
                    check("its width is 12" in got, got)
                    continue
                check(got == "i32 %s: 2 3 4" % line, "%s, width %d: %s" % (source, width, got))
                with h5py.File("width.out.h5", "r") as f:
                    check(same(f["x"][...], array), "%s, width %d" % (source, width))


def try_adding(counts):
    """A data set that is added, or replaced, leaves the others as they are."""
    x, y = np.arange(1000.0), np.arange(12, dtype="i2").reshape(3, 4)
    np.save("x.npy", x)
    np.save("y.npy", y)
    for tasks in counts:
        with h5py.File("add.h5", "w") as f:
            f["old"] = x
            f["group/inner"] = y
            f["group"].attrs["unit"] = "m"
            f.create_dataset("chunks", data=np.arange(5000), chunks=(100,), compression="gzip")
        convert(tasks, [("x.npy", "add.h5:/group/new", 0)])
        convert(tasks, [("y.npy", "add.h5:/a/b/c", 0)])
        convert(tasks, [("y.npy", "add.h5:/old", 0)])
        with h5py.File("add.h5", "r") as f:
            check(sorted(f) == ["a", "chunks", "group", "old"] and sorted(f["group"]) == ["inner", "new"], "%s" % list(f))
            check(same(f["group/new"][...], x) and same(f["a/b/c"][...], y) and same(f["old"][...], y), "what was written")
            check(same(f["group/inner"][...], y) and f["group"].attrs["unit"] == "m" and same(f["chunks"][...], np.arange(5000)), "the others")
        before = open("add.h5", "rb").read()
        for path, words in (("add.h5:/group", "a group at '/group'"), ("add.h5:/old/x", "has no group at '/old'"), ("add.h5:/", "no data set")):
            got = convert(tasks, [("x.npy", path, 0)])["x.npy"]
            check(words in got, "%s: %s" % (path, got))
        with h5py.File("add.h5", "r") as f:
            check(sorted(f) == ["a", "chunks", "group", "old"] and same(f["old"][...], y), "after failures")
        after = os.path.getsize("add.h5")
        check(after <= len(before) + 4096, "failures leave %d bytes behind" % (after - len(before)))
        with h5py.File("add.h5", "r"):  # another program has it open
            got = convert(tasks, [("x.npy", "add.h5:/locked", 0)])["x.npy"]
            check("in use by another program" in got, got)

        # A file with this one data set is replaced; it does not grow.
        convert(tasks, [("x.npy", "one.h5:/x", 0)])
        size = os.path.getsize("one.h5")
        convert(tasks, [("x.npy", "one.h5:/x", 0), ("one.h5:/x", "one.h5:/x", 0)])
        check(os.path.getsize("one.h5") == size, "%d instead of %d bytes" % (os.path.getsize("one.h5"), size))
        os.remove("one.h5")


def try_replaced():
    """A data set of a file that is replaced meanwhile is read as a whole, or not at all."""
    for value in (1, 2):
        with h5py.File("r%d.h5" % value, "w") as f:
            f.create_dataset("x", data=np.full(3000000, float(value)), chunks=(100000,), compression="gzip")
    shutil.copyfile("r1.h5", "r.h5")
    stop = threading.Event()

    def replace():
        value = 1
        while not stop.is_set():
            value = 3 - value
            shutil.copyfile("r%d.h5" % value, "next.h5")
            os.replace("next.h5", "r.h5")
            time.sleep(0.002)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(5):
            got = convert("self", [("r.h5:/x", "r.npy", 0)])["r.h5:/x"]
            if got.startswith("failed: "):
                check("changes while it is read" in got, got)
            else:
                check(len(set(np.load("r.npy"))) == 1, "a mixture of two files is read")
    finally:
        stop.set()
        thread.join()
    got = convert("self", [("r.h5:/x", "r.npy", 0)])["r.h5:/x"]
    check(got == "f64 3000000 x 1: 3000000" and len(set(np.load("r.npy"))) == 1, "in the end: " + got)


def add_filtered(f, name, number, text):
    """A data set with a filter that only its number says."""
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_chunk((100,))
    settings.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (1, 2, 3))
    made = h5py.h5d.create(f.id, name, h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((200,)), settings)
    made.write_direct_chunk((0,), text)


def make_bad():
    """path: words of the line"""
    with h5py.File("bad.h5", "w") as f:
        f["text"] = np.array([b"abc", b"d"])
        f["words"] = ["a", "bcd"]
        f.create_dataset("lists", (2,), h5py.vlen_dtype("i4"))
        f.create_dataset("half", data=np.zeros(4, "f2"))
        f.create_dataset("long", data=np.zeros(4, np.longdouble))
        f["one"] = 1.5
        f["empty"] = h5py.Empty("f4")
        f.create_dataset("opaque", data=np.zeros(3, "V5"))
        f["group/x"] = 1
        f["inside"] = np.zeros(3, [("a", "i4"), ("s", "S4")])
        f.create_dataset("references", (2,), h5py.ref_dtype)
        f.create_dataset("thin", (3, 0), "f4")
        f["dangling"] = h5py.SoftLink("/nowhere")
        f["type"] = np.dtype("f8")
        f.create_dataset("lzf", data=np.arange(1000.0), chunks=(100,), compression="lzf")
        f.create_dataset("more_lzf", data=np.arange(1000.0), chunks=(100,), compression="lzf", shuffle=True, fletcher32=True)
        add_filtered(f, b"zstd", 32015, b"\x28\xb5\x2f\xfd")
        add_filtered(f, b"unknown", 300, b"abc")
    with h5py.File("damage.h5", "w") as f:
        f["x"] = np.arange(1000.0)
    content = open("damage.h5", "rb").read()
    open("short.h5", "wb").write(content[:4000])
    open("shorter.h5", "wb").write(content[:100])
    open("text.h5", "w").write("no HDF5 file at all\n" * 100)
    open("empty.h5", "w").close()
    os.mkdir("folder.h5")
    return {
        "bad.h5:/text": "strings in '/text'", "bad.h5:/words": "variable length|strings", "bad.h5:/lists": "variable length",
        "bad.h5:/half": "2 bytes", "bad.h5:/long": "unusual form", "bad.h5:/one": "single value", "bad.h5:/empty": "nothing",
        "bad.h5:/opaque": "raw bytes", "bad.h5:/group": "a group at '/group'", "bad.h5:/inside": "strings",
        "bad.h5:/references": "references", "bad.h5:/thin": "without values", "bad.h5:/dangling": "no data set '/dangling'",
        "bad.h5:/type": "a type at", "bad.h5:/none": "no data set '/none'; it has '/", "bad.h5:/group/x/y": "no data set",
        "bad.h5:/lzf": "needs the filter lzf (number 32000) for '/lzf'", "bad.h5:/more_lzf": "filter lzf (number 32000)",
        "bad.h5:/zstd": "filter zstd (number 32015)", "bad.h5:/unknown": "filter without a name (number 300)",
        "bad.h5": "no data set of 'bad.h5' is named", "short.h5:/x": "truncated", "shorter.h5:/x": "bad|cannot|truncated",
        "text.h5:/x": "not an HDF5 file", "empty.h5:/x": "empty", "folder.h5:/x": "regular file", "missing.h5:/x": "No such file",
        "missing/x.h5:/x": "No such file",
    }


def try_bad(counts):
    bad = make_bad()
    first = None
    for tasks in counts:
        lines = convert(tasks, [(path, "never.npy", 0) for path in bad])
        for path, words in bad.items():
            got = lines.get(path, "")
            check(got.startswith("failed: ") and any(w in got for w in words.split("|")), "%s: %s" % (path, got))
        lines = {path: line.split(" (task")[0] for path, line in lines.items()}
        first = first or lines
        check(lines == first, "%s tasks: other lines: %s" % (tasks, {p: v for p, v in lines.items() if v != first.get(p)}))
        check(not os.path.exists("never.npy"), "something was written")
        np.save("x.npy", np.arange(10.0))
        for path, words in (("text.h5:/x", "not an HDF5 file"), ("folder.h5:/x", "regular file"), ("missing/x.h5:/x", "No such file")):
            got = convert(tasks, [("x.npy", path, 0)])["x.npy"]
            check(words in got, "write %s: %s" % (path, got))
        check(open("text.h5").read(2) == "no", "a file of something else is kept")


def damaged(chance, content):
    data = bytearray(content)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(min(len(data), 2048) if chance.random() < 0.8 else len(data))
        data[at] = chance.choice([0, 255, chance.randrange(256), data[at] ^ (1 << chance.randrange(8))])
    if chance.random() < 0.1:
        del data[chance.randrange(len(data)):]
    return bytes(data)


def try_damaged(count, seed):
    """Damaged files are read or refused with a line, and end no program."""
    chance = random.Random(seed)
    with h5py.File("d0.h5", "w") as f:
        f["x"] = np.arange(300.0)
    with h5py.File("d1.h5", "w") as f:
        f.create_dataset("x", data=np.arange(300.0), chunks=(50,), compression="gzip")
    with h5py.File("d2.h5", "w", libver="latest") as f:
        f["x"] = np.zeros(30, NESTED)
    contents = [open("d%d.h5" % k, "rb").read() for k in range(3)]
    jobs = []
    for k in range(count):
        with open("damaged%d.h5" % k, "wb") as f:
            f.write(damaged(chance, contents[k % 3]))
        jobs.append(("damaged%d.h5:/x" % k, "damaged.npy", 0))
    lines = convert("self", jobs)
    refused = sum(line.startswith("failed: ") for line in lines.values())
    check(count < 20 or 0 < refused < count, "%d of %d were refused" % (refused, count))
    np.save("small.npy", np.arange(5.0))
    for k in range(count):  # a file of one job is named after what is read
        os.link("small.npy", "small%d.npy" % k)
    lines = convert("self", [("small%d.npy" % k, "damaged%d.h5:/new" % k, 0) for k in range(count)])
    added = sum(not line.startswith("failed: ") for line in lines.values())
    check(count < 20 or 0 < added < count, "to %d of %d was added" % (added, count))
    print("damaged: %d of %d refused, seed %d" % (refused, count, seed))


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counts = COUNTS if has_pvm() else COUNTS[:1]
    few = counts[:1] + counts[3:4]
    with tempfile.TemporaryDirectory(prefix="dome-hdf5.") as folder:
        os.chdir(folder)
        try:
            try_good(np.random.default_rng(seed), counts)
            try_widths(few)
            try_adding(few)
            try_replaced()
            try_bad(few)
            try_damaged(count, seed)
            left = [name for name in os.listdir(".") if name.startswith(".dome")]
            check(not left, "left behind: %s" % left)
        finally:
            os.chdir("/")
    print("%d failures" % len(failures))
    return 1 if failures else 0


sys.exit(main())
