"""dome ckpt agrees with the independent reader on every value, and names every damage in one line."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import modules

modules.need("numpy")
import numpy as np  # noqa: E402

source, build = os.environ["DOME_SOURCE_DIR"], os.environ["DOME_BUILD_DIR"]
sys.path.insert(0, os.path.join(source, "tools"))
import dome_ckpt  # noqa: E402

np.seterr(all="ignore")
known = os.path.join(source, "tests/data/checkpoints")
names = ["ckpt-00000001.dckpt", "ckpt-00000002.dckpt"]


def check(good, what):
    if not good:
        print("FAILED:", what)
        sys.exit(1)


def ckpt(*arguments):
    done = subprocess.run([os.path.join(build, "tools/dome"), "ckpt", *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def output(*arguments, status=0):
    code, out, err = ckpt(*arguments)
    check(code == status and not err, f"{arguments}: status {code}, {err}")
    return out


def bad(status, part, *arguments):
    """Ends with this status and one line with this part."""
    code, out, err = ckpt(*arguments)
    check(code == status and err.count("\n") == 1 and err.startswith("dome: ") and part in err, f"{arguments}: {code}, {err}")


def columns(values, prefix=""):
    """As dome ckpt names them: (name, array whose first axis is the element)."""
    if values.dtype.names:
        for name in values.dtype.names:
            yield from columns(values[name], prefix + "." * bool(prefix) + name)
    elif values.dtype.kind == "c":
        yield prefix + "." * bool(prefix) + "re", values.real
        yield prefix + "." * bool(prefix) + "im", values.imag
    else:
        yield prefix, values


def number(value):
    return float(value) if isinstance(value, str) else value


def same(a, b):
    return a == b or (a != a and b != b)


def check_statistics(column, values, what):
    values = values.astype(values.dtype.newbyteorder("="))
    good = values[~np.isnan(values)]
    finite = good[np.isfinite(good)]
    check((column["values"], column["nan"], column["infinite"]) ==
          (values.size, values.size - good.size, good.size - finite.size), f"{what}: {column}")
    kind = values.dtype.type
    if good.size:
        check(kind(number(column["min"])) == good.min() and kind(number(column["max"])) == good.max(), f"{what}: {column}")
    if finite.size:
        numbers = [int(v) if values.dtype.kind in "iu" else float(v) for v in finite.flat]
        mean = sum(numbers) / len(numbers) if values.dtype.kind in "iu" else math.fsum(numbers) / len(numbers)
        scale = max(abs(v) for v in numbers)
        check(abs(column["mean"] - mean) <= 1e-13 * abs(mean) + 1e-16 * scale, f"{what}: {column}, mean {mean}")


def check_values(directory, n, o, array):
    """Every value of an object as dome ckpt prints it."""
    lines = output("show", "--values", o.name, f"{directory}:{n}").splitlines()
    check(len(lines) == o.length, f"{o.name}: {len(lines)} lines")
    if o.length == 0:
        return
    rows = array.reshape(o.length, -1)
    expected = []
    for k in range(rows.shape[1]):
        expected += [part.reshape(o.length, -1) for _, part in columns(rows[:, k])]
    printed = [line.split() for line in lines]
    for k, part in enumerate(np.concatenate([p.astype(object) for p in expected], axis=1).T):
        kind = np.concatenate([[p.dtype] * p.shape[1] for p in expected])[k]
        for i, value in enumerate(part):
            text = printed[i][k]
            read = int(text) if kind.kind in "iu" else np.dtype(kind).newbyteorder("=").type(float(text))
            check(same(read, value), f"{o.name}, element {i}, column {k}: {text} and {value}")


def check_show(directory, n):
    c = dome_ckpt.Checkpoint(os.path.join(directory, f"ckpt-{n:08}.dckpt"))
    shown = json.loads(output("show", "--json", f"{directory}:{n}"))
    check((shown["program"], shown["number"], shown["loop"], shown["counters"], shown["bytes"], shown["refers_to"]) ==
          (c.program, c.number, c.loop, c.counters, c.file_bytes, list(c.earlier)), "description")
    check(len(shown["objects"]) == len(c.objects), "objects")
    for s, o in zip(shown["objects"], c.objects):
        rows = c.table[o.first_entry:o.first_entry + o.blocks]
        check((s["name"], s["kind"], s["type"], s["length"], s["width"], s["distribution"], s["block_size"], s["blocks"]) ==
              (o.name, o.kind, c.type_name(o.type), o.length, o.width, dome_ckpt.DISTRIBUTIONS[o.distribution], o.block_size,
               o.blocks), f"{o.name}: {s}")
        check(s["shape"] == c.shapes.get(o.name, []), f"{o.name}: shape {s['shape']}")
        check((s["bytes"], s["own"]) == (int(rows["length"].sum()), int(rows["length"][rows["source"] == c.number].sum())),
              f"{o.name}: {s}")
        if not o.fixed:
            check(s["columns"] == [], o.name)
            continue
        array = c.array(o.name)
        expected = list(columns(array))
        check([column["name"] for column in s["columns"]] == [name for name, _ in expected], f"{o.name}: {s}")
        for column, (name, values) in zip(s["columns"], expected):
            check_statistics(column, values, f"{o.name}.{name}")
        check_values(directory, n, o, array)
    return len(c.objects)


def bits(values):
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def check_diff(directory):
    a, b = (dome_ckpt.Checkpoint(os.path.join(directory, name)) for name in names)
    told = {d["name"]: d for d in json.loads(output("diff", "--json", directory + ":1", directory + ":2", status=1))["differences"]}
    expected = {"loop"}
    for o in a.objects:
        other = [p for p in b.objects if p.name == o.name]
        if not other or other[0].length != o.length:
            expected.add(o.name)
            continue
        if not o.fixed:
            x, y = a.blocks(o.name), b.blocks(o.name)
            if x != y:
                expected.add(o.name)
                check(told[o.name]["blocks"] == sum(p != q for p, q in zip(x, y)), o.name)
            continue
        x, y = a.array(o.name), b.array(o.name)
        differ = np.zeros(o.length, bool)
        for (name, u), (_, v) in zip(columns(x), columns(y)):
            unequal = bits(u) != bits(v)
            if not unequal.any():
                continue
            expected.add(o.name)
            differ |= unequal.reshape(o.length, -1).any(axis=1)
            column = [c for c in told[o.name]["columns"] if c["name"] == name][0]
            first = tuple(np.argwhere(unequal)[0])
            at = int(first[0]), int(first[1]) if o.width > 1 else 0
            exact = [abs(int(p) - int(q)) if u.dtype.kind in "iu" else abs(float(p) - float(q))
                     for p, q in zip(u[unequal].flat, v[unequal].flat)]
            largest = float(max([d for d in exact if d == d], default=0))
            check((column["values"], tuple(column["first"])) == (unequal.sum(), at), f"{o.name}.{name}: {column}")
            check(math.isclose(number(column["largest"]), largest, rel_tol=1e-14), f"{o.name}.{name}: {column}, {largest}")
            kind = u.dtype.newbyteorder("=").type
            check(same(kind(number(column["a"])), u[first]) and same(kind(number(column["b"])), v[first]), f"{o.name}: {column}")
        if differ.any():
            check(told[o.name]["elements"] == differ.sum(), f"{o.name}: {told[o.name]}")
    expected |= {o.name for o in b.objects if o.name not in {p.name for p in a.objects}}
    check(set(told) == expected, f"differences: {sorted(told)}, {sorted(expected)}")
    for which in (":1", ":2"):
        check(json.loads(output("diff", "--json", directory + which, directory + which)) == {"differences": [], "equal": True}, which)
        check(output("diff", directory + which, directory + which) == "", which)
    text = output("diff", "--objects", directory + ":1", directory + ":2", status=1)
    check("loop" not in text and all(f"{name}: " in text for name in expected - {"loop"}), text)


def check_damage(directory):
    """Any byte of any file: found by verify, with object and block where it is in the data."""
    draw = random.Random(1)
    for name in names:
        path = os.path.join(directory, name)
        with open(path, "rb") as f:
            data = f.read()
        head = int.from_bytes(data[24:32], "big")
        for at in [draw.randrange(head) for _ in range(25)] + [draw.randrange(head, len(data)) for _ in range(25)]:
            with open(path, "r+b") as f:
                f.seek(at)
                f.write(bytes([data[at] ^ 1 << draw.randrange(8)]))
            bad(1, path, "verify", path)
            if at >= head:
                _, _, err = ckpt("verify", path)
                check("object '" in err and ", block " in err, err)
                code, _, err = ckpt("show", path)
                check(code == 1 and "object '" in err, err)
            else:
                bad(1, path, "show", path)
                code, _, err = ckpt("ls", directory)
                check(code == 1 and path in err, err)
            with open(path, "wb") as f:
                f.write(data)
        for size in (0, 63, head - 1, len(data) - 1):
            os.truncate(path, size)
            bad(1, path, "verify", path)
            bad(2, path, "diff", path, path)
            with open(path, "wb") as f:
                f.write(data)
    check(output("verify", directory).count(": good: ") == 2, "put right again")
    os.rename(os.path.join(directory, names[0]), os.path.join(directory, "away"))
    bad(1, "needs an earlier one", "verify", directory + ":2")
    check(ckpt("show", directory)[0] == 1, "nothing whole is left")
    check("incomplete" in ckpt("ls", directory)[1], "ls says that it is incomplete")
    os.rename(os.path.join(directory, "away"), os.path.join(directory, names[0]))


with tempfile.TemporaryDirectory() as work:
    samples = os.path.join(work, "samples")
    os.mkdir(samples)
    subprocess.run([os.path.join(build, "tests/scripts/checkpoint_samples"), samples, "20"], check=True)
    for directory in (known, samples):
        listed = json.loads(output("ls", "--json", directory))
        check([(c["number"], c["state"], c["refers_to"]) for c in listed] == [(1, "good", []), (2, "good", [1])], str(listed))
        for n in (1, 2):
            check(check_show(directory, n) > 15, "objects")
        check_diff(directory)
    check_damage(samples)

    bad(1, "cannot be opened", "show", os.path.join(work, "nothing"))
    bad(1, "cannot be opened", "show", samples + ":7")
    bad(2, "cannot be read", "ls", os.path.join(work, "nothing"))
    bad(1, "has no checkpoint", "show", work)
    bad(1, "has no checkpoint", "verify", work)
    bad(1, "is not a checkpoint", "show", __file__)
    bad(1, "has no object", "show", "--values", "x", samples)
    bad(1, "only its kind can read", "show", "--values", "texts", samples)
    bad(2, "no command", "lost")
    bad(2, "--help", "show")
    bad(2, "--help", "diff", samples)
    bad(2, "--help", "ls", "--no-such-option", samples)
    for command in ("ls", "show", "verify", "diff"):
        check("Exit status" in output(command, "--help"), command + " --help")

print("values, differences and damage agree")
