"""The independent reader of checkpoints agrees with the known files on every value, and finds every damage."""
import os
import sys
import tempfile

import modules

modules.need("numpy")
import numpy as np  # noqa: E402

source = os.environ["DOME_SOURCE_DIR"]
sys.path.insert(0, os.path.join(source, "tools"))
import dome_ckpt  # noqa: E402

known = os.path.join(source, "tests/data/checkpoints")
names = ["ckpt-00000001.dckpt", "ckpt-00000002.dckpt"]


def check(good, what):
    if not good:
        print("FAILED:", what)
        sys.exit(1)


def check_values(path, step):
    c = dome_ckpt.Checkpoint(path)
    c.verify()
    check((c.program, c.number, c.loop, c.counters) == ("known", step, 10 * step, {"random": 2**64 - 2}), "description")
    i = np.arange(10)
    for name, code in dome_ckpt.BASIC:
        x = c.array("all of " + name)
        expected = 3 * i if name[0] == "u" else 3 * i - 7 + 1j * i if name[0] == "c" else 3 * i - 7
        check(x.dtype == np.dtype(code) and (x == expected).all(), "all of " + name)
    matrix = np.arange(300).reshape(100, 3) / 8
    if step == 2:
        matrix[99, 2] = -1
    check(np.array_equal(c.array("matrix"), matrix), "matrix")
    p, k = c.array("particles"), np.arange(11)
    check((p["tag"] == 200 + k).all() and (p["mass"] == 0.25 * k).all() and (p["charge"] == 3 - k).all(), "particles")
    check((p["at"]["x"] == np.stack([k, 100 * k], 1)).all() and (p["at"]["y"] == np.stack([-k, 7 + 0 * k], 1)).all(), "points")
    check(len(c.array("empty")) == 0 and c.array("whole").tolist() == [1, 2, 3], "empty and whole")
    check(c.array("root of two")[0] == 2 ** 0.5 and c.array("steps")[0] == step, "scalars")
    check(c.blocks("texts") == [b"some", b"", b"text", b"of no fixed length"], "texts")


def damaged(path):
    try:
        dome_ckpt.Checkpoint(path).verify()
        return None
    except dome_ckpt.Damaged as e:
        return str(e)


for step, name in enumerate(names, 1):
    check_values(os.path.join(known, name), step)

with tempfile.TemporaryDirectory() as copy:
    for name in names:
        with open(os.path.join(known, name), "rb") as f:
            data = f.read()
        path = os.path.join(copy, name)
        for at in range(0, len(data), 7):
            with open(path, "wb") as f:
                f.write(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:])
            message = damaged(path)
            check(message and "\n" not in message and path in message, f"byte {at} of {name}: {message}")
            with open(path, "wb") as f:
                f.write(data[:at])
            check(damaged(path), f"{name} cut at {at}")
        with open(path, "wb") as f:
            f.write(data)
        check(damaged(path) is None, name)
    os.unlink(os.path.join(copy, names[0]))
    check("cannot be opened" in damaged(path), "a missing file")

print("values agree, damage is found")
