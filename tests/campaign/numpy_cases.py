"""Random calls of the vector interface beside the same in NumPy.

    numpy_cases.py [CHAINS [SEED [NUMBER]]]

A chain is some calls on vectors of one length. In half of the chains every call's result is printed and compared with what NumPy makes
of the same operands; in the other half, with operations that have one right result to the bit, only the end is, so that the calls in
between are deferred and computed together. Each run of the program makes many chains, as one task or as several."""

import fractions
import math
import os
import random
import statistics
import sys
import warnings

import campaign
import harness
import modules
from harness import PROGRAMS, Failure, Run, check

modules.need("numpy")
import numpy as np  # noqa: E402

warnings.simplefilter("ignore")
INTERPRET = os.path.join(PROGRAMS, "interpret")
CHAINS_PER_RUN = 50
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
TYPES = {name: np.dtype({"i": "int", "u": "uint"}[name[0]] + name[1:]) for name in INTEGERS}
TYPES.update(f32=np.dtype("f4"), f64=np.dtype("f8"), c64=np.dtype("c8"), c128=np.dtype("c16"))
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
NEAR = {"f32": 4e-6, "f64": 4e-14, "c64": 2e-5, "c128": 2e-13}


def is_integer(t):
    return t in INTEGERS


def wrapped(values, dtype):
    """Python's integers as the type holds them."""
    bits = dtype.itemsize * 8
    values = np.array(values, dtype=object)
    flat = [int(v) & ((1 << bits) - 1) for v in values.ravel()]
    return np.array(flat, dtype="u%d" % dtype.itemsize).view(dtype).reshape(values.shape)


def integer_operation(name, a, b):
    if name == "div":
        q = abs(a) // abs(b)
        return q if (a < 0) == (b < 0) else -q
    if name in ("floor_divide", "remainder"):
        return a // b if name == "floor_divide" else a % b
    if name == "fmod":
        return abs(a) % abs(b) * (-1 if a < 0 else 1)
    if name in BITS:
        return {"bitand": a & b, "bitor": a | b, "bitxor": a ^ b}[name]
    if name == "pow":
        if b >= 0:
            return pow(a, b, 1 << 64)
        return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)
    return {"add": a + b, "sub": a - b, "mul": a * b, "min": min(a, b), "max": max(a, b)}[name]


BITS = ["bitand", "bitor", "bitxor"]
SHIFTS = {"lshift": np.left_shift, "rshift": np.right_shift}
NEAR_FUNCTIONS = ["exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp2", "expm1", "log2", "log10", "log1p", "cbrt"]
WHOLE_VECTOR = 2  # DOME_WHOLE
WHOLE = ["floor", "ceil", "round", "trunc"]

FLOATING = {"tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
            "exp2": np.exp2, "expm1": np.expm1, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "cbrt": np.cbrt,
            "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "conj": np.conj, "fmod": np.fmod,
            "atan2": np.arctan2, "hypot": np.hypot, "floor_divide": np.floor_divide, "remainder": np.remainder, "copysign": np.copysign, "nextafter": np.nextafter,
            "logaddexp": np.logaddexp, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sign": np.sign,
            "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit,
            "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum, "max": np.maximum, "pow": np.power,
            "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos,
            "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
            "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not}


def binary(name, x, y):
    if name in SHIFTS:
        return SHIFTS[name](x, y)
    if x.dtype.kind in "iu" and name not in COMPARISONS:
        return wrapped([integer_operation(name, int(a), int(b)) for a, b in zip(x.ravel(), y.ravel())], x.dtype).reshape(x.shape)
    return FLOATING[name](x, y)


def unary(name, x):
    if name == "bitnot":
        return ~x
    if x.dtype.kind in "iu" and name in ("neg", "abs"):
        return wrapped([-int(a) if name == "neg" or a < 0 else int(a) for a in x.ravel()], x.dtype).reshape(x.shape)
    result = FLOATING[name](x)
    return result.astype(x.dtype)


def converted(x, dtype):
    if dtype.kind in "iu" and x.dtype.kind in "iuf":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        exact = [0 if a != a else low if a == -math.inf else high if a == math.inf else max(low, min(high, int(a))) for a in x.ravel().tolist()]
        return np.array(exact, dtype=dtype).reshape(x.shape)
    return x.astype(dtype)


def random_values(chance, dtype, shape, special):
    count = int(np.prod(shape))
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = chance.random() < 0.5
        pick = (lambda: chance.randint(max(-9, info.min), 9)) if small else (lambda: chance.randint(info.min, info.max))
        values = [info.min if special and chance.random() < 0.1 else pick() for _ in range(count)]
        return np.array(values, dtype=dtype).reshape(shape)

    def real():
        if special and chance.random() < 0.2:
            return chance.choice([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-40, 1e30, 5e-324])
        return chance.choice([chance.uniform(-3, 3), chance.uniform(0, 1), float(chance.randint(-5, 5)), chance.gauss(0, 1e3)])

    if dtype.kind == "c":
        return np.array([complex(real(), real()) for _ in range(count)]).astype(dtype).reshape(shape)
    return np.array([real() for _ in range(count)]).astype(dtype).reshape(shape)


def same(got, wanted):
    if got.dtype.kind == "c" and wanted.dtype == got.dtype:  # where a NaN stands counts
        got, wanted = (np.ascontiguousarray(a).view("f%d" % (a.dtype.itemsize // 2)) for a in (got, wanted))
    return got.shape == wanted.shape and bool(np.all((got == wanted) | ((got != got) & (wanted != wanted))))


def near(got, wanted, t, scale=None):
    """Within a few last bits; of numbers that are not finite, only real ones are looked at."""
    finite = np.isfinite(wanted) & np.isfinite(got)
    size = np.abs(wanted) if scale is None else scale
    close = np.abs(got - wanted) <= NEAR[t] * (np.maximum(size, np.abs(got)) + 1)
    other = np.isnan(got) & np.isnan(wanted) if got.dtype.kind == "c" else ((got == wanted) | (np.isnan(got) & np.isnan(wanted)))
    loose = got.dtype.kind == "c"
    return bool(np.all(np.where(finite, close, other | loose)))


def exact_sum(values):
    """Of numbers that need not be finite."""
    values = [float(a) for a in values]
    special = [a for a in values if not math.isfinite(a)]
    return sum(special) if special else math.fsum(values)


def equal(got, wanted):
    return got == wanted or (got != got and wanted != wanted)


def close(got, wanted, size):
    """size: of the numbers that were added, without their signs."""
    both = math.isfinite(got) and math.isfinite(wanted)
    return abs(got - wanted) <= 1e-12 * size + 1e-300 if both else equal(got, wanted)


def philox(seed, count):
    """64 bits for the real, and for the imaginary part of the normal numbers of so many positions: Philox4x32-10."""
    low, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    position = np.arange(count, dtype="u8")
    c = [position & mask, position >> low, np.ones(count, "u8"), np.zeros(count, "u8")]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> low) ^ c[1] ^ np.uint64(k[0]), b & mask, (a >> low) ^ c[3] ^ np.uint64(k[1]), a & mask]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[1] << low | c[0], c[3] << low | c[2]


def normal(bits):
    """Python's own inverse of the distribution function, with the sign of the last bit."""
    inverse = statistics.NormalDist().inv_cdf
    return np.array([-inverse((int(b) | 1) / 2**65) if b & np.uint64(1) else inverse((int(b) | 1) / 2**65) for b in bits])


class Chain:
    """Makes the lines of a chain, and judges what was printed for them."""

    def __init__(self, chance):
        self.chance = chance
        self.type = chance.choice(list(TYPES))
        self.dtype = TYPES[self.type]
        self.stepwise = chance.random() < 0.5 or self.dtype.kind == "c"
        self.special = chance.random() < 0.3
        length = chance.choice([0, 1, 2, 3, 17, 64, 100, chance.randint(1, 700)])
        self.shape = (length, chance.choice([1, 1, 1, 2, 3]))
        self.distribution = chance.choice([0, 0, 0, 1, 2])
        self.lines, self.judges, self.values, self.description = [], [], {}, []
        for k in range(3):
            self.new(k, self.type, random_values(chance, self.dtype, self.shape, self.special))
        self.new(3, "u8", random_values(chance, TYPES["u8"], self.shape, False))
        self.other = chance.choice(list(TYPES))
        self.new(6, "u8", random_values(chance, TYPES["u8"], self.shape, False) & 1)
        self.new(4, self.other, random_values(chance, TYPES[self.other], self.shape, self.special))
        for _ in range(chance.randint(2, 8)):
            self.step()
        for k in range(5):
            self.print(k, "the end", lambda: None)
        if length:
            self.reductions()
        self.lines += ["free %d" % k for k in (0, 1, 2, 3, 4, 6)]

    def new(self, k, t, values):
        self.lines.append("new %d %s %d %d %d" % (k, t, *self.shape, self.distribution))
        self.lines.append("set %d %s" % (k, values.tobytes().hex()))
        self.values[k] = values
        self.judges.append(None)
        self.judges.append(None)

    def print(self, k, what, expected, judge=None):
        """expected() gives the values once all printed before are known; None: what the model has."""
        self.lines.append("print %d" % k)
        self.description.append(what)

        def look(text):
            got = np.frombuffer(bytes.fromhex(text), dtype=self.values[k].dtype).reshape(self.values[k].shape)
            wanted = expected()
            if wanted is None:
                wanted = self.values[k]
            check(judge(got, wanted) if judge else same(got, wanted), "%s: %r instead of %r" % (what, got[:8], wanted[:8]))
            self.values[k] = got.copy()

        self.judges.append(look)

    def result(self, z, what, compute, judge=None):
        """The last line writes vector z."""
        if self.stepwise:
            self.print(z, what, compute, judge)
        else:
            self.values[z] = compute()

    def operation(self, line, z, compute, judge=None):
        self.lines.append(line)
        self.result(z, line, compute, judge)

    def step(self):
        c, kind = self.chance, self.dtype.kind
        z, x, y = c.randrange(3), c.randrange(3), c.randrange(3)
        exact = ["add", "sub", "neg", "copy", "fill", "iota", "roll", "shift", "select", "scalar", "compare", "compare_scalar", "gather", "scatter", "scatter_add", "logic", "test", "compress",
                 "slice", "concatenate", "nonzero", "text", "topk", "factorize",
                 "view", "view", "put", "along", "along", "scan_along"]
        exact += ["sort", "argsort", "searchsorted", "unique"]
        exact += ["get_many", "repeated"]
        if kind in "fc":
            exact += ["random_normal"]
        if kind in "iuf":
            exact += ["histogram", "histogram_edges", "by"]
        if kind in "iu":
            exact += ["mul", "min", "max", "abs", "div", "pow", "fmod", "floor_divide", "remainder", "sign", "scan", "exscan", "cumprod", "bitnot", "reversed"] + BITS + list(SHIFTS)
        elif kind == "f":
            exact += ["mul", "div", "abs", "sqrt", "axpy", "axpby", "combination", "fmod", "floor_divide", "remainder", "copysign", "nextafter", "sign", "reversed"] + WHOLE
        if self.stepwise:
            exact += ["convert", "mixed"]
            if kind == "f":
                exact += ["min", "max", "pow", "scan", "exscan", "matmul", "transpose_matmul", "atan2", "hypot", "logaddexp"] + NEAR_FUNCTIONS
            elif kind == "c":
                exact += ["mul", "div", "abs", "sqrt", "exp", "axpy", "conj", "sinh", "tanh", "reversed", "parts"]
        name = c.choice(exact)
        special = getattr(self, "do_" + name, None)
        if special:
            special(z, x, y)
        elif name in ["neg", "abs", "sign", "sqrt", "conj", "bitnot"] + WHOLE + NEAR_FUNCTIONS:
            loose = self.near if name in NEAR_FUNCTIONS or kind == "c" and name not in ("neg", "conj") else None
            self.operation("%s %d %d" % (name, z, x), z, lambda: unary(name, self.values[x]), loose)
        else:
            loose = self.near if name in ("pow", "atan2", "hypot", "logaddexp") and kind == "f" or kind == "c" and name in ("mul", "div") else None
            if kind in "iu" and name in ("div", "pow", "fmod", "floor_divide", "remainder"):
                self.nonzero(y)
            if name == "pow" and kind in "iu" and y == x:
                return
            self.operation("%s %d %d %d" % (name, z, x, y), z, lambda: binary(name, self.values[x], self.values[y]), loose)

    def near(self, got, wanted):
        return near(got, wanted, self.type)

    def nonzero(self, k):
        """Divisors, and with them bases, are never 0: that is an error by itself. They are made anew."""
        values = random_values(self.chance, self.dtype, self.shape, False)
        values[values == 0] = 1
        for other in range(3):
            self.lines.append("set %d %s" % (other, values.tobytes().hex()))
            self.judges.append(None)
            self.remember(other, values)

    def remember(self, k, values):
        """A value that is known when the lines are made: it holds from this place of the output on."""
        if self.stepwise:
            self.print(k, "set %d" % k, lambda: values)
        else:
            self.values[k] = values.copy()

    def number(self, exact_integer):
        return float(self.chance.randint(0 if self.type[0] == "u" else -9, 9)) if exact_integer else self.chance.choice([0.5, -1.25, 3.0, 0.1, 1e-3])

    def do_fill(self, z, x, y):
        a = self.number(is_integer(self.type))
        self.operation("fill %d %s" % (z, a.hex()), z, lambda: np.full(self.shape, a).astype(self.dtype))

    def do_iota(self, z, x, y):
        index = np.repeat(np.arange(self.shape[0], dtype="u8"), self.shape[1]).reshape(self.shape)
        self.operation("iota %d" % z, z, lambda: converted(index, self.dtype))

    def do_copy(self, z, x, y):
        self.operation("copy %d %d" % (z, x), z, lambda: self.values[x].copy())

    def do_scalar(self, z, x, y):
        names = ["add", "sub", "mul", "div"]
        if is_integer(self.type):
            names += ["min", "max", "fmod", "floor_divide", "remainder", "pow"] + BITS + list(SHIFTS)
        elif self.dtype.kind == "f":
            names += ["fmod", "floor_divide", "remainder"] + (["min", "max"] if self.stepwise else []) # which zero is the smaller one is open
        name = self.chance.choice(names)
        a = self.number(is_integer(self.type))
        if is_integer(self.type) and name in ["div", "fmod", "floor_divide", "remainder", "pow"] + list(SHIFTS):
            a = abs(a) or 1.0
        if name in SHIFTS:
            a = min(a, 7.0)

        def compute():
            if is_integer(self.type):
                return binary(name, self.values[x], np.full(self.shape, int(a)).astype(self.dtype))
            return FLOATING[name](self.values[x], self.dtype.type(a))

        self.operation("%ss %d %d %s" % (name, z, x, a.hex()), z, compute, self.near if self.dtype.kind == "c" else None)

    def do_reversed(self, z, x, y):
        """The scalar first: exact but for complex division."""
        name = self.chance.choice(["sub", "div"])
        a = self.number(is_integer(self.type))
        if name == "div" and is_integer(self.type):
            self.nonzero(x)

        def compute():
            if is_integer(self.type):
                return binary(name, np.full(self.shape, int(a)).astype(self.dtype), self.values[x])
            return FLOATING[name](self.dtype.type(a), self.values[x])

        self.operation("r%ss %d %d %s" % (name, z, x, a.hex()), z, compute, self.near if self.dtype.kind == "c" else None)

    def do_axpy(self, z, x, y):
        a = self.number(False)
        self.operation("axpy %d %s %d" % (z, a.hex(), x), z, lambda: self.values[z] + self.dtype.type(a) * self.values[x],
                       self.near if self.dtype.kind == "c" else None)

    def do_axpby(self, z, x, y):
        a, b = self.number(False), self.number(False)
        self.operation("axpby %d %s %d %s" % (z, a.hex(), x, b.hex()), z,
                       lambda: self.dtype.type(b) * self.values[z] + self.dtype.type(a) * self.values[x])

    def do_combination(self, z, x, y):
        a, b = self.number(False), self.number(False)
        self.operation("combination %d %s %d %s %d" % (z, a.hex(), x, b.hex(), y), z,
                       lambda: self.dtype.type(a) * self.values[x] + self.dtype.type(b) * self.values[y])

    def do_test(self, z, x, y):
        name = self.chance.choice(["isnan", "isinf", "isfinite"] + ([] if self.dtype.kind == "c" else ["signbit"]))
        wanted = np.less if name == "signbit" and self.dtype.kind in "iu" else None
        self.operation("%s 3 %d" % (name, x), 3, lambda: (wanted(self.values[x], 0) if wanted else FLOATING[name](self.values[x])).astype("u1"))

    def do_compare(self, z, x, y):
        name = self.chance.choice(COMPARISONS if self.dtype.kind != "c" else COMPARISONS[:2])
        self.operation("%s 3 %d %d" % (name, x, y), 3, lambda: FLOATING[name](self.values[x], self.values[y]).astype("u1"))

    def do_compare_scalar(self, z, x, y):
        name, a = self.chance.choice(COMPARISONS if self.dtype.kind != "c" else COMPARISONS[:2]), float(self.chance.randint(0, 5))
        self.operation("%ss 3 %d %s" % (name, x, a.hex()), 3, lambda: FLOATING[name](self.values[x], self.dtype.type(a)).astype("u1"))

    def do_repeated(self, z, x, y):
        """A column or a row beside (n, width): NumPy's broadcasting. x changes after it was recorded."""
        n, width = self.shape
        shape, distribution = self.chance.choice([((n, 1), self.distribution), ((n, 1), WHOLE_VECTOR), ((1, width), WHOLE_VECTOR), ((1, 1), WHOLE_VECTOR)])
        small = random_values(self.chance, self.dtype, shape, self.special)
        name = self.chance.choice(["add", "sub", "copy", "select", "lt"][:4 if self.dtype.kind == "c" else 5])
        self.lines += ["new 7 %s %d %d %d" % (self.type, *shape, distribution), "set 7 %s" % small.tobytes().hex()]
        wide = np.broadcast_to(small, self.shape)
        if name == "select":
            self.lines.append("select %d 3 7 %d" % (z, y))
            compute = lambda: np.where(self.values[3] != 0, wide, self.values[y])
        elif name == "copy":
            self.lines.append("copy %d 7" % z)
            compute = wide.copy
        elif self.chance.random() < 0.5:
            z = 3 if name == "lt" else z
            self.lines.append("%s %d %d 7" % (name, z, x))
            compute = lambda: binary(name, self.values[x], wide).astype(self.values[z].dtype)
        else:
            z = 3 if name == "lt" else z
            self.lines.append("%s %d 7 %d" % (name, z, x))
            compute = lambda: binary(name, wide, self.values[x]).astype(self.values[z].dtype)
        self.lines += ["fill 7 1", "free 7"]
        self.result(z, "%s, repeated from %s" % (self.lines[-3], shape), compute)

    def do_logic(self, z, x, y):
        name = self.chance.choice(["and", "or", "xor", "not"])
        if name == "not":
            self.operation("not 3 3", 3, lambda: np.logical_not(self.values[3]).astype("u1"))
        else:
            self.operation("%s 3 3 6" % name, 3, lambda: FLOATING[name](self.values[3], self.values[6]).astype("u1"))

    def do_select(self, z, x, y):
        self.operation("select %d 3 %d %d" % (z, x, y), z, lambda: np.where(self.values[3] != 0, self.values[x], self.values[y]))

    def do_convert(self, z, x, y):
        if self.other[0] == "c" and self.type[0] != "c":
            return
        self.operation("convert %d 4" % z, z, lambda: converted(self.values[4], self.dtype))

    def do_mixed(self, z, x, y):
        """An operand of another type is converted to the output's."""
        if self.other[0] == "c" and self.type[0] != "c":
            return
        name = self.chance.choice(["add", "sub", "mul"])
        first = self.chance.random() < 0.5
        loose = self.near if self.dtype.kind == "c" and name == "mul" else None

        def compute():
            other = converted(self.values[4], self.dtype)
            return binary(name, other, self.values[x]) if first else binary(name, self.values[x], other)

        self.operation("%s %d %d %d" % ((name, z, 4, x) if first else (name, z, x, 4)), z, compute, loose)

    def do_roll(self, z, x, y):
        k = self.chance.choice([0, 1, -1, self.chance.randint(-900, 900)])
        self.operation("roll %d %d %d" % (z, x, k), z, lambda: np.roll(self.values[x], k, axis=0) if self.shape[0] else self.values[x].copy())

    def do_shift(self, z, x, y):
        k, n = self.chance.choice([0, 1, -1, self.chance.randint(-900, 900)]), self.shape[0]

        def compute():
            result = np.zeros(self.shape, dtype=self.dtype)
            if k >= 0:
                result[min(k, n):] = self.values[x][: n - min(k, n)]
            else:
                result[: n - min(-k, n)] = self.values[x][min(-k, n):]
            return result

        self.operation("shift %d %d %d" % (z, x, k), z, compute)

    def indices(self):
        t = self.chance.choice(["i32", "u32", "i64", "u64", "u16"])
        index = random_values(self.chance, np.dtype("i8"), (self.shape[0], 1), False)
        index = (index.astype("i8") % max(self.shape[0], 1)).astype(TYPES[t])
        self.lines += ["new 5 %s %d 1 %d" % (t, self.shape[0], self.distribution), "set 5 %s" % index.tobytes().hex()]
        self.judges += [None, None]
        return index[:, 0].astype("i8")

    def do_gather(self, z, x, y):
        index = self.indices()
        self.operation("gather %d %d 5" % (z, x), z, lambda: self.values[x][index].reshape(self.shape))
        self.lines.append("free 5")
        self.judges.append(None)

    def do_scatter(self, z, x, y):
        index = self.indices()

        def compute():
            result = self.values[z].copy()
            source = self.values[x].copy()
            for i, at in enumerate(index):
                result[at] = source[i]
            return result

        self.operation("scatter %d %d 5" % (z, x), z, compute)
        self.lines.append("free 5")
        self.judges.append(None)

    def do_scatter_add(self, z, x, y):
        index = self.indices()

        def compute():
            result = self.values[z].copy()
            np.add.at(result, index, self.values[x].copy())
            return result

        self.operation("scatter_add %d %d 5" % (z, x), z, compute)
        self.lines.append("free 5")
        self.judges.append(None)

    def fresh(self, line, compute):
        """The line makes vector 7, whose length follows from values."""
        wanted = None if self.stepwise else compute()
        self.lines += [line, "print 7", "free 7"]
        self.description.append(line)

        def look(text):
            right = compute() if wanted is None else wanted
            got = np.frombuffer(bytes.fromhex(text), dtype=right.dtype)
            check(same(got, right.ravel()), "%s: %r instead of %r" % (line, got[:8], right.ravel()[:8]))

        self.judges += [None, look, None]

    def places(self, line, compute, t="i64"):
        """The line writes positions into vector 5, which is freed."""
        wanted = None if self.stepwise else compute()
        self.lines += ["new 5 %s %d 1 %d" % (t, self.shape[0], self.distribution), line, "print 5", "free 5"]

        def look(text):
            right = (compute() if wanted is None else wanted).astype("i8")
            got = np.frombuffer(bytes.fromhex(text), dtype="i8")
            check(same(got, right), "%s: %r instead of %r" % (line, got[:8], right[:8]))

        self.judges += [None, None, look, None]

    def do_sort(self, z, x, y):
        if self.shape[1] == 1:
            def compute():
                values = np.sort(self.values[x], axis=0, kind="stable")
                if self.dtype.kind == "f":  # NumPy leaves zeros of both signs as they come
                    zeros = values[values == 0]
                    values[values == 0] = np.concatenate([zeros[np.signbit(zeros)], zeros[~np.signbit(zeros)]])
                return values

            self.operation("sort %d %d" % (z, x), z, compute)

    def do_argsort(self, z, x, y):
        if self.shape[1] == 1:
            self.places("argsort 5 %d" % x, lambda: np.argsort(self.values[x][:, 0], kind="stable"))

    def do_searchsorted(self, z, x, y):
        if self.shape[1] == 1 and z != x:
            self.do_sort(z, y, y)
            right = self.chance.choice([0, 1])
            self.places("searchsorted 5 %d %d %d" % (z, x, right),
                        lambda: np.searchsorted(self.values[z][:, 0], self.values[x][:, 0], "right" if right else "left"), "u64")

    def do_unique(self, z, x, y):
        if self.shape[1] == 1:
            self.fresh("unique 7 %d" % x, lambda: np.unique(self.values[x]))

    def do_nonzero(self, z, x, y):
        if self.shape[1] == 1:
            self.fresh("nonzero 7 %d" % x, lambda: np.nonzero(self.values[x][:, 0])[0].astype("i8"))

    def do_compress(self, z, x, y):
        mask = random_values(self.chance, TYPES["u8"], (self.shape[0], 1), False) & self.chance.choice([1, 3])
        self.lines += ["new 5 u8 %d 1 %d" % (self.shape[0], self.distribution), "set 5 %s" % mask.tobytes().hex()]
        self.judges += [None, None]
        self.fresh("compress 7 %d 5" % x, lambda: self.values[x][mask[:, 0] != 0])
        self.lines.append("free 5")
        self.judges.append(None)

    def do_slice(self, z, x, y):
        if self.shape[0]:
            first, step = self.chance.randrange(self.shape[0]), self.chance.choice([1, 1, 2, 3, 7, -1, -2, -5])
            count = len(range(first, self.shape[0] if step > 0 else -1, step))
            count = self.chance.choice([count, self.chance.randint(0, count)])
            self.fresh("slice 7 %d %d %d %d" % (x, first, count, step), lambda: self.values[x][[first + j * step for j in range(count)]])

    def do_concatenate(self, z, x, y):
        self.fresh("concatenate 7 %d %d" % (x, y), lambda: np.concatenate([self.values[x], self.values[y]]))

    def any_shape(self, count):
        """Up to four extents whose product is count."""
        shape = []
        while count > 1 and len(shape) < 3 and self.chance.random() < 0.8:
            k = self.chance.choice([k for k in range(1, min(count, 40) + 1) if count % k == 0])
            shape.append(k)
            count //= k
        return shape + [count]

    def any_view(self, once=False):
        """A text for interpret.c, and the function that makes the same of a vector's values; once: no value stands twice."""
        shape = self.any_shape(self.shape[0] * self.shape[1])
        a, parts, steps = np.empty(shape, "i1"), ["s" + ",".join(map(str, shape))], [lambda v: v.reshape(shape)]

        def change(text, step):
            nonlocal a
            parts.append(text)
            steps.append(step)
            a = step(a)

        for _ in range(self.chance.randint(0, 5)):
            kind, axis = self.chance.choice("tlfieb"), self.chance.randrange(max(a.ndim, 1))
            if kind == "t":
                axes = self.chance.sample(range(a.ndim), a.ndim)
                change("t" + ",".join(map(str, axes)), lambda v, axes=axes: v.transpose(axes))
            elif kind == "l" and a.ndim and a.shape[axis]:
                first, step = self.chance.randrange(a.shape[axis]), self.chance.choice([1, 1, 2, 3, -1, -2])
                take = list(range(first, a.shape[axis] if step > 0 else -1, step))
                take = take[:self.chance.choice([len(take), self.chance.randint(0, len(take))])]
                change("l%d,%d,%d,%d" % (axis, first, len(take), step), lambda v, axis=axis, take=take: v.take(np.array(take, dtype="i8"), axis))
            elif kind == "f" and a.ndim:
                change("f%d" % axis, lambda v, axis=axis: np.flip(v, axis))
            elif kind == "i" and a.ndim > 1 and a.shape[axis]:
                index = self.chance.randrange(a.shape[axis])
                change("i%d,%d" % (axis, index), lambda v, axis=axis, index=index: v.take(index, axis))
            elif kind == "e" and a.ndim < 6:
                change("e%d" % axis, lambda v, axis=axis: np.expand_dims(v, axis))
            elif kind == "b" and not once and a.size < 3000:
                wide = [self.chance.randint(1, 4)] + [self.chance.randint(0, 4) if k == 1 else k for k in a.shape]
                change("b" + ",".join(map(str, wide)), lambda v, wide=wide: np.broadcast_to(v, wide))

        def make(values):
            for step in steps:
                values = step(values)
            return values

        return ";".join(parts), make, a.shape

    def do_view(self, z, x, y):
        text, make, shape = self.any_view()
        if shape and self.chance.random() < 0.5:
            axis, k = self.chance.randrange(len(shape)), self.chance.randint(-9, 9)
            if self.chance.random() < 0.5:
                self.fresh("roll_view 7 %d %s %d %d" % (x, text, axis, k), lambda: np.roll(make(self.values[x]), k, axis))
            else:
                self.fresh("join 7 %d %s %d" % (x, text, axis), lambda: np.concatenate([make(self.values[x])] * 2, axis))
        else:
            self.fresh("take 7 %d %s" % (x, text), lambda: make(self.values[x]))

    def do_put(self, z, x, y):
        """Values of x, as many as the view has, become those of a view of z."""
        text, make, shape = self.any_view(once=True)
        count = int(np.prod(shape))

        def compute():
            values = self.values[z].copy()
            values.ravel()[make(np.arange(values.size).reshape(values.shape)).ravel()] = self.values[x].ravel()[:count]
            return values

        self.lines.append("take 7 %d s%d;l0,0,%d,1" % (x, self.shape[0] * self.shape[1], count))
        self.lines.append("put %d %s 7" % (z, text))
        self.judges += [None, None]
        self.lines.append("free 7")
        self.judges.append(None)
        self.result(z, "put %d %s" % (z, text), compute)

    def do_along(self, z, x, y):
        """Reductions along axes; those of C without one in NumPy by rows."""
        text, make, shape = self.any_view()
        axes = [k for k in range(len(shape)) if self.chance.random() < 0.5]
        kept = [k for k in range(len(shape)) if k not in axes]
        n = int(np.prod([shape[k] for k in axes]))
        names = ["sum", "prod", "mean", "min", "max", "argmin", "argmax", "any", "all"]
        real = self.dtype.kind != "c"
        allowed = ["sum", "mean", "any", "all"] + (["min", "max", "argmin", "argmax"] if n and real else []) + (["prod"] if not self.dtype.kind in "fc" else [])
        name = self.chance.choice(allowed)

        def row(r):
            if name in ("sum", "mean") and self.dtype.kind in "fc":
                parts = [exact_sum(r.real), exact_sum(r.imag)] if self.dtype.kind == "c" else [exact_sum(r)]
                parts = [p / n if n else math.nan for p in parts] if name == "mean" else parts
                return complex(*parts) if self.dtype.kind == "c" else parts[0]
            if name in ("sum", "prod", "mean"):
                whole = (np.prod if name == "prod" else np.sum)(r, dtype="i8" if self.dtype.kind == "i" else "u8")
                return whole if name != "mean" else float(whole) / n if n else math.nan
            return getattr(np, name)(r)

        def compute():
            rows = make(self.values[x]).transpose(kept + axes).reshape([shape[k] for k in kept] + [n])
            flat = [row(r) for r in rows.reshape(-1, n)] if rows.size else [row(rows.ravel()) for _ in range(int(np.prod(rows.shape[:-1])))]
            if name in ("sum", "prod", "mean") and self.dtype.kind in "iu":
                kind = "f8" if name == "mean" else self.dtype.kind + "8"
            else:
                kind = {"argmin": "i8", "argmax": "i8", "any": "u1", "all": "u1"}.get(name, self.dtype)
            return np.array(flat, dtype=kind)

        self.fresh("reduce 7 %d %s %d %d" % (x, text, names.index(name), sum(1 << k for k in axes)), compute)

    def do_scan_along(self, z, x, y):
        """Whole numbers and extremes."""
        text, make, shape = self.any_view()
        if not shape:
            return
        axis = self.chance.randrange(len(shape))
        names = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
        if self.dtype.kind == "c":
            return
        name = self.chance.choice(list(names) if self.dtype.kind in "iu" else ["min", "max"])
        kind = self.dtype if name in ("min", "max") else self.dtype.kind + "8"
        number = {"sum": 0, "prod": 1, "min": 3, "max": 4}[name]
        self.fresh("scan_view 7 %d %s %d %d" % (x, text, number, axis), lambda: names[name].accumulate(make(self.values[x]), axis, dtype=kind))

    def do_cumprod(self, z, x, y):
        if is_integer(self.type):
            self.operation("cumprod %d %d" % (z, x), z, lambda: np.cumprod(self.values[x], axis=0, dtype=self.dtype))

    def printed(self, line, compute, judge):
        """The line prints numbers; judge(words, right)."""
        wanted = None if self.stepwise else compute()
        self.lines.append(line)
        self.judges.append(lambda text: check(judge(text.split(), compute() if wanted is None else wanted), "%s: %s" % (line, text)))

    def do_text(self, z, x, y):
        """Whole arrays and parts of long ones, in lines, as NumPy prints them."""
        rows = self.chance.choice([0, 0, 2, 5])
        rows = rows if rows and self.shape[0] and self.shape[0] % rows == 0 else 0
        shape = (self.shape[0] // rows, rows, self.shape[1]) if rows else self.shape if self.shape[1] > 1 else self.shape[:1]
        line = "text %d %d" % (x, rows)
        wanted = None if self.stepwise else str(self.values[x].reshape(shape))
        self.lines.append(line)

        def look(text):
            right = wanted or str(self.values[x].reshape(shape))
            head, values = text.split("|", 1)
            check(head.endswith(": %s, %s" % (self.type, " x ".join(map(str, shape)))), "%s: %s" % (line, head))
            check(values == right.replace("\n", "|"), "%s: %r instead of %r" % (line, values, right))

        self.judges.append(look)

    def comparable(self, x):
        """NumPy has all complex values with a NaN for one."""
        return self.dtype.kind != "c" or not self.special

    def do_topk(self, z, x, y):
        if self.shape[1] > 1 or not self.comparable(x):
            return
        k, largest = self.chance.randint(0, self.shape[0]), self.chance.choice([0, 1])

        def compute():
            values = self.values[x][:, 0].copy()
            rank = np.unique(values, return_inverse=True)[1]
            order = np.lexsort((np.arange(len(rank)), -rank if largest else rank))[:k]
            return " ".join(map(str, order)), values[order]

        def judge(words, right):
            positions, values = (words[:k], words[k] if k else "")
            return " ".join(positions) == right[0] and same(np.frombuffer(bytes.fromhex(values), dtype=self.dtype), right[1])

        self.printed("topk %d %d %d" % (x, k, largest), compute, judge)

    def do_factorize(self, z, x, y):
        """pandas.factorize numbers keys in the order in which they appear."""
        if not self.comparable(x) or self.dtype.kind in "fc" and self.shape[1] > 1:
            return
        sort, wide = self.chance.choice([0, 1]), self.shape[1] > 1

        def compute():
            keys = self.values[x] if wide else self.values[x][:, 0]
            if not len(keys):
                return keys, np.zeros(0, "i8")
            distinct, first, labels = np.unique(keys, return_index=True, return_inverse=True, axis=0 if wide else None)
            order = np.arange(len(distinct)) if sort else np.argsort(first)
            return distinct[order], np.argsort(order)[labels]

        line = "factorize 7 %d %d 5" % (x, sort)
        wanted = None if self.stepwise else compute()
        self.lines += ["new 5 i64 %d 1 %d" % (self.shape[0], self.distribution), line, "print 7", "print 5", "free 7", "free 5"]

        def look(part):
            def judge(text):
                right = (compute() if wanted is None else wanted)[part].ravel()
                got = np.frombuffer(bytes.fromhex(text), dtype="i8" if part else self.dtype)
                check(same(got, right.astype(got.dtype)), "%s, %d: %r instead of %r" % (line, part, got[:8], right[:8]))
            return judge

        self.judges += [look(0), look(1)]

    def do_random_normal(self, z, x, y):
        seed = self.chance.randrange(1 << 64)

        def compute():
            bits = philox(seed, int(np.prod(self.shape)))
            parts = [normal(b) for b in bits]
            return (parts[0] + 1j * parts[1] if self.dtype.kind == "c" else parts[0]).astype(self.dtype).reshape(self.shape)

        if self.stepwise:
            self.operation("random_normal %d %d" % (z, seed), z, compute, lambda got, wanted: near(got, wanted, self.type))

    def do_parts(self, z, x, y):
        name, real = self.chance.choice(["real", "imag", "arg"]), {"c64": "f32", "c128": "f64"}[self.type]
        line = "%s 5 %d" % (name, x)
        self.lines += ["new 5 %s %d %d %d" % (real, *self.shape, self.distribution), line, "print 5", "free 5"]
        self.description.append(line)

        def look(text):
            got, values = np.frombuffer(bytes.fromhex(text), dtype=TYPES[real]).reshape(self.shape), self.values[x]
            wanted = {"real": np.real, "imag": np.imag, "arg": np.angle}[name](values)
            check(near(got, wanted, real) if name == "arg" else same(got, wanted), "%s: %r instead of %r" % (line, got[:8], wanted[:8]))

        self.judges += [None, None, look, None]

    def do_get_many(self, z, x, y):
        n = self.shape[0]
        if not n:
            return
        first, step, count = self.chance.randrange(n), self.chance.choice([0, 1, n - 1, self.chance.randrange(n)]), self.chance.randint(0, 40)
        line, wanted = "get_many %d %d %d %d" % (x, first, step, count), None
        if not self.stepwise:
            wanted = self.values[x][[(first + j * step) % n for j in range(count)]]
        self.lines.append(line)
        self.description.append(line)

        def look(text):
            right = self.values[x][[(first + j * step) % n for j in range(count)]] if wanted is None else wanted
            check(same(np.frombuffer(bytes.fromhex(text), dtype=self.dtype), right.ravel()), "%s: %s" % (line, text[:80]))

        self.judges.append(look)

    def do_histogram_edges(self, z, x, y):
        bins, low, a = self.chance.randint(1, 30), self.chance.choice([-3.0, 0.0, -0.75, 1.5]), self.chance.choice([0.0, 0.25, 1.0])
        edges = [low + j * j * a for j in range(bins + 1)]
        counted = lambda: np.histogram(self.values[x].astype("f8"), edges)[0].tolist()
        self.printed("histogram_edges %d %d %s %s" % (x, bins, low.hex(), a.hex()), counted, lambda words, right: [int(word) for word in words] == right)

    def do_histogram(self, z, x, y):
        bins, low = self.chance.randint(1, 40), self.chance.choice([-3.0, 0.0, -0.7, 1.5])
        high = low + self.chance.choice([1.0, 0.3, 6.0, 100.0])
        with_doubles = lambda: np.histogram(self.values[x].astype("f8"), bins, (low, high))[0].tolist()
        self.printed("histogram %d %d %s %s" % (x, bins, low.hex(), high.hex()), with_doubles,
                     lambda words, right: [int(word) for word in words] == right)

    def do_by(self, z, x, y):
        k, t = self.chance.randint(1, 30), self.chance.choice(["i8", "i32", "u32", "i64", "u64", "u16"])
        label = np.array([self.chance.randrange(k) for _ in range(self.shape[0])], dtype="i8")
        self.lines += ["new 5 %s %d 1 %d" % (t, self.shape[0], self.distribution), "set 5 %s" % label.astype(TYPES[t]).tobytes().hex()]
        self.judges += [None, None]

        def compute():
            values, results = self.values[x], []
            columns = [[values[label == j, c].tolist() for c in range(self.shape[1])] for j in range(k)]
            for group in (group for groups in columns for group in groups):
                size = sum(abs(a) for a in group)
                total = float(sum(group)) if is_integer(self.type) else exact_sum(group)
                extremes = (math.nan, math.nan) if not group or any(a != a for a in group) else (float(min(group)), float(max(group)))
                results.append((total, size, extremes))
            return results, [int(np.sum(label == j)) for j in range(k)]

        def judge(words, right):
            results, counts = right
            n = len(results)
            numbers = [float.fromhex(word) for word in words[: 3 * n]]
            for (total, size, extremes), got, low, high in zip(results, numbers, numbers[n:], numbers[2 * n:]):
                if not close(got, total, 0 if is_integer(self.type) else size):
                    return False
                if not equal(low, extremes[0]) or not equal(high, extremes[1]):
                    return False
            return [int(word) for word in words[3 * n:]] == counts

        self.printed("by %d 5 %d" % (x, k), compute, judge)
        self.lines.append("free 5")
        self.judges.append(None)

    def do_scan(self, z, x, y):
        if is_integer(self.type):
            def compute():
                return wrapped(np.cumsum(self.values[x].astype(object), axis=0), self.dtype) if self.shape[0] else self.values[x].copy()

            self.operation("scan %d %d" % (z, x), z, compute)
            return
        before = [None]

        def compute():
            before[0] = self.values[x].astype("f8")
            return np.cumsum(before[0], axis=0).astype(self.dtype)

        def judge(got, wanted):
            return near(got, wanted, self.type, np.cumsum(np.abs(before[0]), axis=0))

        self.operation("scan %d %d" % (z, x), z, compute, judge)

    def do_exscan(self, z, x, y):
        def later(sums):
            return np.concatenate([np.zeros((1, self.shape[1]), dtype=sums.dtype), sums[:-1]]) if self.shape[0] else sums

        if is_integer(self.type):
            def compute():
                sums = np.cumsum(self.values[x].astype(object), axis=0) if self.shape[0] else self.values[x]
                return wrapped(later(sums), self.dtype)

            self.operation("exscan %d %d" % (z, x), z, compute)
            return
        before = [None]

        def compute():
            before[0] = self.values[x].astype("f8")
            return later(np.cumsum(before[0], axis=0)).astype(self.dtype)

        def judge(got, wanted):
            return near(got, wanted, self.type, later(np.cumsum(np.abs(before[0]), axis=0)))

        self.operation("exscan %d %d" % (z, x), z, compute, judge)

    def do_matmul(self, z, x, y):
        """The other matrix has the distribution that chance gives it."""
        columns = self.chance.choice([1, 1, 2, 5, 40])
        other = random_values(self.chance, self.dtype, (self.shape[1], columns), self.special)
        line = "matmul 7 %d 5" % x
        self.lines += ["new 5 %s %d %d %d" % (self.type, *other.shape, self.chance.randrange(3)), "set 5 %s" % other.tobytes().hex(),
                       "new 7 %s %d %d %d" % (self.type, self.shape[0], columns, self.distribution), line, "print 7", "free 5", "free 7"]
        self.description.append(line)

        def look(text):
            left = self.values[x]
            got, wanted = np.frombuffer(bytes.fromhex(text), dtype=self.dtype).reshape(self.shape[0], columns), left @ other
            scale = np.abs(left.astype("f8")) @ np.abs(other.astype("f8"))
            if self.type == "f32":  # whether numbers overflow that are added depends on their order
                finite = np.isfinite(got) & np.isfinite(wanted)
                got, wanted, scale = (np.where(finite, a, 0) for a in (got, wanted, scale))
            check(near(got, wanted, self.type, scale), "%s: %r instead of %r" % (line, got[:3], wanted[:3]))

        self.judges += [None, None, None, None, look, None, None]

    def do_transpose_matmul(self, z, x, y):
        def compute():
            left, right = self.values[x].astype("f8"), self.values[y].astype("f8")
            products = [(left[:, i] * right[:, j]).tolist() for i in range(self.shape[1]) for j in range(self.shape[1])]
            return [(exact_sum(each), sum(abs(a) for a in each)) for each in products]

        self.printed("transpose_matmul %d %d" % (x, y), compute,
                     lambda words, right: len(words) == len(right) and all(close(float.fromhex(word), *two) for word, two in zip(words, right)))

    # ---- reductions ----

    def reduced(self, line, judge):
        self.lines.append(line)
        self.description.append(line)
        self.judges.append(lambda text: check(judge(text), "%s: %s" % (line, text)))

    def reductions(self):
        x = lambda: self.values[0].ravel()
        if is_integer(self.type):
            low, high = -(1 << 63), (1 << 63) - 1
            self.reduced("sum 0", lambda text: float.fromhex(text) == float(sum(int(a) for a in x())))
            if self.type not in ("u64", "i64"):
                self.reduced("sum_i64 0", lambda text: low <= int(text) <= high and int(text) == sum(int(a) for a in x()))
                self.reduced("min_value_i64 0", lambda text: int(text) == int(x().min()))
            self.reduced("max_value 0", lambda text: float.fromhex(text) == float(int(x().max())))
            self.reduced("norm1 0", lambda text: float.fromhex(text) == float(sum(abs(int(a)) for a in x())))
            self.reduced("norm_inf 0", lambda text: float.fromhex(text) == float(max(abs(int(a)) for a in x())))

            def columns(text):
                rows = [[int(a) for a in row] for row in self.values[0].T]
                return [float.fromhex(word) for word in text.split()] == [float(f(row)) for f in (sum, min, max) for row in rows]

            self.reduced("columns 0", columns)
            if self.type in ("i8", "u8", "i16", "u16"):
                self.reduced("max_value_i64 0", lambda text: int(text) == int(x().max()))
                self.reduced("dot_i64 0 1", lambda text: int(text) == sum(int(a) * int(b) for a, b in zip(x(), self.values[1].ravel())))
        elif self.dtype.kind == "f":
            self.reduced("sum 0", lambda text: close(float.fromhex(text), exact_sum(x().astype("f8")), float(np.sum(np.abs(x().astype("f8"))))))
            self.reduced("dot 0 1", lambda text: close(float.fromhex(text), exact_sum(x().astype("f8") * self.values[1].ravel().astype("f8")),
                                                       float(np.sum(np.abs(x().astype("f8") * self.values[1].ravel().astype("f8"))))))
            def norm(text):
                """np.linalg.norm may leave the range of doubles in between."""
                largest = float(np.abs(x()).max())
                right = largest * float(np.linalg.norm(x().astype("f8") / largest)) if 0 < largest < math.inf else float(np.linalg.norm(x().astype("f8")))
                return close(float.fromhex(text), right, right)

            self.reduced("norm2 0", norm)
            def three(text):
                pairs = [(x(), self.values[1].ravel()), (x(), x()), (self.values[1].ravel(), x())]
                products = [a.astype("f8") * b.astype("f8") for a, b in pairs]
                return all(close(float.fromhex(word), exact_sum(p), float(np.sum(np.abs(p)))) for word, p in zip(text.split(), products, strict=True))

            def product(text):
                """Where no order of the factors leaves the range of doubles."""
                factors = [float(a) for a in x()]
                if not all(math.isfinite(a) for a in factors) or sum(abs(math.log2(abs(a))) for a in factors if a) > 900:
                    return True
                right = fractions.Fraction(1)
                for a in factors:
                    right *= fractions.Fraction(a)
                return abs(fractions.Fraction(float.fromhex(text)) - right) <= abs(right) * len(factors) / 10**15

            self.reduced("dots 0 1", three)
            self.reduced("prod 0", product)
            magnitudes = lambda: np.abs(x().astype("f8"))
            self.reduced("norm1 0", lambda text: close(float.fromhex(text), exact_sum(magnitudes()), float(np.sum(magnitudes()))))
            self.reduced("norm_inf 0", lambda text: close(float.fromhex(text), float(magnitudes().max()), 0))

            def columns(text):
                rows, got = self.values[0].astype("f8").T, text.split()
                wanted = [exact_sum(row) for row in rows] + [float(row.min()) for row in rows] + [float(row.max()) for row in rows]
                sizes = [float(np.sum(np.abs(row))) for row in rows] + [0.0] * (2 * len(rows))
                return len(got) == len(wanted) and all(close(float.fromhex(word), *two) for word, *two in zip(got, wanted, sizes))

            self.reduced("columns 0", columns)
            self.reduced("min_value 0", lambda text: close(float.fromhex(text), float(x().min()), 0))
        if self.dtype.kind == "c":
            def both(line, values):
                """Real and imaginary part, if all values are finite."""
                def judge(text):
                    terms, size = values()
                    parts = [float.fromhex(word) for word in text.split()]
                    return not np.all(np.isfinite(terms)) or len(parts) == 2 and \
                        close(parts[0], math.fsum(terms.real), size) and close(parts[1], math.fsum(terms.imag), size)

                self.reduced(line, judge)

            def products():
                a, b = x().astype("c16"), self.values[1].ravel().astype("c16")
                return np.conj(a) * b, float(np.sum(np.abs(a) * np.abs(b)))

            both("sum_c128 0", lambda: (x().astype("c16"), float(np.sum(np.abs(x().astype("c16"))))))
            both("dot_c128 0 1", products)
        if self.dtype.kind != "c":
            self.reduced("argmin 0", lambda text: int(text) == int(np.argmin(x())))
            self.reduced("argmax 0", lambda text: int(text) == int(np.argmax(x())))

    def judge(self, output):
        """Takes what was printed for this chain from the list of lines."""
        for look in self.judges:
            if look:
                check(output, "the output ends early")
                look(output.pop(0))


def case(chance, number):
    chains = [Chain(random.Random("%s:%d" % (chance.random(), k))) for k in range(CHAINS_PER_RUN)]
    tasks = chance.choice([1, 1, 2, 3, 5, 7])
    start = ["--dome-transport", "self"] if tasks == 1 else ["--dome-tasks", str(tasks), "--dome-balance", chance.choice(["none", "random"])]
    start += ["--dome-evaluator", chance.choice(["fused", "fused", "plain"])]
    with harness.temporary_directory() as base:
        path = os.path.join(base, "calls")
        with open(path, "w") as f:
            for chain in chains:
                f.write("\n".join(chain.lines) + "\n")
        with Run([INTERPRET, path] + start, {"DOME_CACHE_DIR": os.path.join(base, "cache")}) as run:
            status = run.wait()
            check(status == 0, "status %d: %s" % (status, " | ".join(run.lines())))
            run.check_clean()
            output = run.output().decode().split("\n")[:-1]
    for k, chain in enumerate(chains):
        try:
            chain.judge(output)
        except Failure as e:
            raise Failure("chain %d of %s, shape %s, distribution %d, %d tasks: %s; calls: %s" % (
                k, chain.type, chain.shape, chain.distribution, tasks, e, "; ".join(l for l in chain.lines if not l.startswith(("set", "print", "new", "free")))))
    check(not output, "more was printed than was asked for: %r" % output[:2])
    return "%d chains, %d tasks" % (CHAINS_PER_RUN, tasks)


if __name__ == "__main__":
    if not os.path.exists(INTERPRET):
        harness.skip("%s is not built" % INTERPRET)
    harness.need_pvm()
    if len(sys.argv) > 1:
        sys.argv[1] = str(-(-int(sys.argv[1]) // CHAINS_PER_RUN))
    campaign.campaign("calls beside NumPy, %d chains a run" % CHAINS_PER_RUN, case, 20, jobs=2)
