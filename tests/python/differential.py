"""Random programs on arrays beside NumPy: views, masks, broadcasting, types, and assignments. Each seed is a program.

DOME_TEST_PROGRAMS=FIRST-LAST runs others than the usual ones."""
import os
import random

import numpy as np
import pytest
from conftest import same

import dome as dm

FIRST, LAST = (int(word) for word in os.environ.get("DOME_TEST_PROGRAMS", "0-40").split("-"))
TYPES = ["float64", "float64", "float32", "int64", "int32", "int16", "uint8", "uint32", "bool", "complex128"]
LENGTHS = [0, 1, 1, 2, 3, 4, 5, 7, 300, 600]
EXACT = "biu"


def compare(z, a):
    """Shapes and values; of the types the kind, because NumPy 1 chooses the type of a result by values without dimensions."""
    assert z.dtype.kind == a.dtype.kind, (z.dtype, a.dtype)
    small = min(z.itemsize, a.itemsize) == (8 if a.dtype.kind == "c" else 4)
    same(z.astype(a.dtype.name), a, 0 if a.dtype.kind in EXACT else 1e-3 if small else 1e-9)


class Program:
    """Arrays of both libraries with the same values, and steps that make more of them."""

    def __init__(self, seed):
        self.draw, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.pairs = []
        for _ in range(4):
            self.pairs.append(self.created())

    def shape(self):
        draw = self.draw
        shape = [draw.choice(LENGTHS) for _ in range(draw.choice([0, 1, 1, 2, 2, 2, 3]))]
        while np.prod(shape, dtype=float) > 20000:
            shape[shape.index(max(shape))] = draw.choice([1, 2, 3])
        return tuple(shape)

    def values(self, shape, dtype):
        kind = np.dtype(dtype).kind
        if kind == "b":
            return self.rng.random(shape) < 0.5
        if kind in "iu":
            return self.rng.integers(0 if kind == "u" else -9, 10, shape).astype(dtype)
        a = np.round(self.rng.normal(size=shape) * 4) / 4
        return (a + 1j * np.round(self.rng.normal(size=shape)) if kind == "c" else a).astype(dtype)

    def created(self, shape=None):
        a = np.asarray(self.values(self.shape() if shape is None else shape, self.draw.choice(TYPES)))
        return a, dm.asarray(a)

    def pick(self, test=lambda a: True):
        fitting = [pair for pair in self.pairs if test(pair[0])]
        return self.draw.choice(fitting) if fitting else None

    def partner(self, a):
        """An array that fits to another by broadcasting, or a number."""
        if a.ndim and self.draw.random() < 0.3:
            number = self.draw.choice([0, 1, 2, 3] if a.dtype.kind in "biu" else [0, 1, 2, 3, 0.5, -1.5])
            return number, number
        shape = tuple(1 if self.draw.random() < 0.3 else n for n in a.shape[self.draw.randrange(a.ndim + 1):])
        b, y = self.created(shape)
        if not a.ndim or not b.ndim:  # NumPy 1 looks at the values of those without dimensions to choose a type
            b = b.astype(a.dtype) if a.dtype.kind == "c" or b.dtype.kind != "c" else b.real.astype(a.dtype)
            y = dm.asarray(b)
        return b, y

    def slices(self, a):
        key = []
        for n in a.shape[:self.draw.randrange(a.ndim + 1)]:
            what = self.draw.random()
            if what < 0.3 and n:
                key.append(self.draw.randrange(-n, n))
            else:
                ends = [self.draw.choice([None, self.draw.randrange(-n - 1, n + 2)]) for _ in range(2)]
                key.append(slice(*ends, self.draw.choice([None, None, 1, 2, -1, -3])))
        if self.draw.random() < 0.2:
            key.append(Ellipsis)
        if self.draw.random() < 0.2:
            key.insert(self.draw.randrange(len(key) + 1), None)
        return tuple(key)

    def key(self, a):
        """An index for NumPy, and the same for Dome."""
        what = self.draw.random()
        if what < 0.55 or not a.ndim:
            key = self.slices(a)
            return key, key
        if what < 0.75:
            mask = self.rng.random(a.shape[:self.draw.randrange(1, a.ndim + 1)]) < 0.4
            return mask, dm.asarray(mask)
        if not a.shape[0]:
            return Ellipsis, Ellipsis
        index = self.rng.integers(-a.shape[0], a.shape[0], self.draw.choice([(0,), (5,), (2, 3)]))
        return index, dm.asarray(index)

    # ---- steps: each returns functions of NumPy and of Dome ----

    def binary(self):
        a, x = self.pick()
        b, y = self.partner(a)
        name = self.draw.choice(["add", "subtract", "multiply", "equal", "not_equal", "logical_and", "logical_or"] + (
            [] if "c" in (a.dtype.kind, np.asarray(b).dtype.kind) else
            ["maximum", "minimum", "less", "less_equal", "greater", "floor_divide", "remainder", "bitwise_xor", "bitwise_and"]) + (
            ["hypot", "arctan2", "copysign"] if a.dtype == np.asarray(b).dtype == np.float64 else []))
        if name in ("floor_divide", "remainder") and not np.all(b):
            name = "add"
        if self.draw.random() < 0.5:
            a, x, b, y = b, y, a, x
        if name in ("floor_divide", "remainder") and not np.all(b):
            name = "add"
        return (lambda: getattr(np, name)(a, b)), (lambda: getattr(dm, name)(x, y)), name

    def unary(self):
        a, x = self.pick()
        name = self.draw.choice(["abs", "negative", "isnan", "isfinite", "real", "imag", "logical_not", "invert", "positive"] + {
            "f": ["sqrt", "exp", "sin", "floor", "rint", "sign", "tanh", "ceil", "trunc"], "c": ["exp", "sin", "sqrt", "tanh", "conj"],
            "i": ["sign", "square"]}.get(a.dtype.kind, []))
        if name == "sqrt" and a.dtype.kind == "f":
            return (lambda: np.sqrt(np.abs(a))), (lambda: dm.sqrt(dm.abs(x))), name
        return (lambda: getattr(np, name)(a)), (lambda: getattr(dm, name)(x)), name

    def read(self):
        a, x = self.pick()
        key, mine = self.key(a)
        return (lambda: a[key].copy()), (lambda: x[mine]), f"read {key!r}"

    def write(self):
        a, x = self.pick(lambda a: a.ndim and a.flags.writeable)
        key, mine = self.key(a)
        target = a[key]
        shape = tuple(1 if self.draw.random() < 0.3 else n for n in target.shape[self.draw.randrange(target.ndim + 1):])
        dtype = self.draw.choice([a.dtype.name, "bool" if a.dtype.kind in "iu" else a.dtype.name])
        b = np.asarray(self.values(shape, dtype))
        if isinstance(key, np.ndarray) and key.dtype != bool:  # of several values for one place the last counts here
            key = np.unique(key % a.shape[0])
            mine, b = dm.asarray(key), np.asarray(self.values((), dtype))

        def in_numpy():
            a[key] = b
            return a

        def in_dome():
            x[mine] = dm.asarray(b)
            return x
        return in_numpy, in_dome, f"write {key!r} {b.shape}"

    def in_place(self):
        pair = self.pick(lambda a: a.ndim and a.dtype.kind in "iufc")
        if not pair:
            return self.unary()
        a, x = pair
        b, y = self.partner(a)
        name = self.draw.choice(["__iadd__", "__isub__", "__imul__"])

        def in_numpy():
            kept = a.copy()
            getattr(a, name)(b)
            result = a.copy()
            a[...] = kept
            return result

        def in_dome():
            z = x.copy()
            return getattr(z, name)(y)
        return in_numpy, in_dome, name

    def reduction(self):
        a, x = self.pick(lambda a: a.dtype.kind != "c") or self.pick()
        axis = self.draw.choice([None, *range(-a.ndim, a.ndim)])
        keep = self.draw.random() < 0.3
        name = self.draw.choice(["sum", "mean", "max", "min", "any", "all", "argmax", "argmin", "count_nonzero", "prod", "var"])
        if name in ("prod", "var", "mean") and a.size > 5000:
            name = "sum"
        return (lambda: getattr(np, name)(a, axis=axis, keepdims=keep)), (lambda: getattr(dm, name)(x, axis=axis, keepdims=keep)), name

    def moved(self):
        a, x = self.pick()
        axes = list(range(a.ndim))
        self.draw.shuffle(axes)
        axis = self.draw.choice([None, *range(-a.ndim, a.ndim)]) if a.ndim else None
        return self.draw.choice([
            ((lambda: a.reshape(-1).copy()), (lambda: dm.reshape(x, (-1,), copy=True)), "flat"),
            ((lambda: a.transpose(axes).copy()), (lambda: dm.permute_dims(x, tuple(axes))), f"transpose {axes}"),
            ((lambda: np.flip(a, axis)), (lambda: dm.flip(x, axis=axis)), "flip"),
            ((lambda: np.roll(a, 3, axis)), (lambda: dm.roll(x, 3, axis=axis)), "roll"),
            ((lambda: np.repeat(a, 2, axis)), (lambda: dm.repeat(x, 2, axis=axis)), "repeat"),
            ((lambda: np.tile(a, (2, 1))), (lambda: dm.tile(x, (2, 1))), "tile"),
            ((lambda: np.concatenate([a, a[::-1]], 0)), (lambda: dm.concat([x, x[::-1]], axis=0)), "concat"),
            ((lambda: np.stack([a, a], -1)), (lambda: dm.stack([x, x], axis=-1)), "stack"),
            ((lambda: np.broadcast_to(a, (2, *a.shape)).copy()), (lambda: dm.broadcast_to(x, (2, *x.shape))), "broadcast")])

    def ordered(self):
        pair = self.pick(lambda a: a.ndim and a.dtype.kind != "c")
        if not pair:
            return self.unary()
        a, x = pair
        axis = self.draw.randrange(-a.ndim, a.ndim)
        return self.draw.choice([
            ((lambda: np.sort(a, axis)), (lambda: dm.sort(x, axis=axis)), "sort"),
            ((lambda: np.argsort(a, axis, kind="stable")), (lambda: dm.argsort(x, axis=axis)), "argsort"),
            ((lambda: np.cumsum(a, axis)), (lambda: dm.cumulative_sum(x, axis=axis)), "cumsum"),
            ((lambda: np.unique(a, return_counts=True)[1]), (lambda: dm.unique(x, return_counts=True)[1]), "unique"),
            ((lambda: np.diff(a, axis=axis)), (lambda: dm.diff(x, axis=axis)), "diff"),
            ((lambda: np.take_along_axis(a, np.argsort(a, axis, kind="stable"), axis)),
             (lambda: dm.take_along_axis(x, dm.argsort(x, axis=axis), axis=axis)), "take_along_axis")])

    def others(self):
        a, x = self.pick()
        b, y = self.partner(a)
        mask = self.rng.random(a.shape) < 0.5
        dtype = self.draw.choice(TYPES)
        m, n = self.created((a.shape[-1], 3)) if a.ndim else self.created(())
        choices = [((lambda: np.where(mask, a, b)), (lambda: dm.where(dm.asarray(mask), x, y)), "where")]
        if a.dtype.kind != "c" and (a.dtype.kind not in "f" or np.all(np.abs(a) < 100)) and not (
                a.dtype.kind == "f" and dtype.startswith("u")):
            choices.append(((lambda: a.astype(dtype)), (lambda: x.astype(dtype)), f"astype {dtype}"))
        if a.ndim and a.size < 3000:
            choices.append(((lambda: a @ m), (lambda: x @ n), "matmul"))
        return self.draw.choice(choices)

    def step(self, number):
        what = self.draw.choice([self.binary, self.binary, self.unary, self.read, self.read, self.write, self.write, self.in_place,
                                 self.reduction, self.moved, self.ordered, self.others])
        made = what() if what != self.write or self.pick(lambda a: a.ndim) else self.unary()
        in_numpy, in_dome, name = made
        kept = [a.copy() for a, _ in self.pairs]
        try:
            with np.errstate(all="ignore"):
                a = np.asarray(in_numpy())
        except (TypeError, ValueError, IndexError):
            a = None
        if a is None:
            for (b, _), before in zip(self.pairs, kept):
                if b.shape == before.shape and b.ndim and b.flags.writeable:
                    b[...] = before
            try:
                in_dome()
            except (TypeError, ValueError, IndexError, dm.Error):
                pass
            return
        if a.dtype.name not in TYPES + ["uint64", "uint16", "int8", "complex64"]:
            return  # float16, which there is not
        z = in_dome()
        try:
            compare(z, a)
        except AssertionError as error:
            raise AssertionError(f"step {number}, {name}: {error}") from error
        if a.size <= 20000 and np.all(np.isfinite(a)) and np.all(np.abs(a.astype(complex)) < 1e6):
            if not any(a is b for b, _ in self.pairs):  # rounded otherwise, it could become far from NumPy's
                self.pairs.append((a.copy() if a.dtype.kind in EXACT else z.numpy(), z))
        if len(self.pairs) > 9:
            self.pairs.pop(self.draw.randrange(len(self.pairs)))


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_program(seed):
    program = Program(seed)
    for number in range(40):
        program.step(number)
    for a, x in program.pairs:
        compare(x, a)
