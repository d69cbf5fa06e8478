"""Arrays, and the operators on them.

An operator on arrays of one kind is one call of the library, which records it. Everything else goes through `operate`.
"""
import builtins
import math
import operator
import threading

from dome import dtypes, env, memory
from dome._dome import ffi, lib

_new = object.__new__
_ident = threading.get_ident
_state = env.state
_make = memory.make
_Number = (bool, int, float, complex)


class Array:
    """An array of numbers, distributed over the tasks of the program. Functions such as `dome.zeros` make arrays.

    All tasks make the same calls in the same order. Slices are copies. `x.local` is this task's part.
    """

    __slots__ = ("_k", "__weakref__")
    __array_priority__ = 1000.0
    __array_ufunc__ = None  # NumPy leaves operators to this class

    # ---- what it is ----

    @property
    def shape(self):
        """The lengths of the axes: a tuple of numbers."""
        return self._k.shape

    @property
    def dtype(self):
        """The element type, such as `dome.float64`."""
        return self._k.dtype

    @property
    def ndim(self):
        """The number of axes."""
        return len(self._k.shape)

    @property
    def size(self):
        """The number of values, on all tasks."""
        return self._k.size

    @property
    def itemsize(self):
        """The bytes of a value."""
        return self._k.dtype.itemsize

    @property
    def nbytes(self):
        """The bytes of all values, on all tasks."""
        return self._k.bytes

    @property
    def device(self):
        """Always "cpu"."""
        return "cpu"

    def to_device(self, device, /, *, stream=None):
        """The array itself (Array API: to_device).

        Shapes: any; the same.
        Types: any; the same.
        Tasks: any task alone may call it.
        Raises: ValueError for another device than "cpu".
        """
        if device != "cpu":
            raise ValueError(f"there is no device {device!r}: arrays are in the memory of processors")
        return self

    def __array_namespace__(self, /, *, api_version=None):
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"the version {api_version} of the array API is not known")
        import dome
        return dome

    def __len__(self):
        if not self._k.shape:
            raise TypeError("a 0-d array has no length")
        return self._k.shape[0]

    def __iter__(self):
        if not self._k.shape:
            raise TypeError("a 0-d array has no elements to go through")
        return iter([self[i] for i in range(self._k.shape[0])])

    def __repr__(self):
        """What it is; `str` and `print` show the values, for which all tasks are needed."""
        if _state.size == 1 and _state.env and _ident() == _state.owner:
            return f"array({str(self)}, dtype={self._k.dtype.name})"
        return f"<dome array {self._k.dtype.name} {self._k.shape}, {_state.size} tasks>"

    def __str__(self):
        env.env()
        if not self._k.shape:
            return str(self.item())
        v = self._v
        shape = self._k.shape
        if len(shape) > 8 or self._k.size == 0:
            return f"<{shape} of {self._k.dtype.name}>"
        env.check(lib.dvec_set_shape(v, len(shape), list(shape)))
        text = ffi.string(env.pointer(lib.dvec_text(v))).decode().split("\n", 1)[-1]
        if self._k.dtype.kind == "b":
            text = text.replace("1", " True").replace("0", "False")
        return text

    def __reduce__(self):
        raise TypeError("a distributed array cannot be pickled: dome.save(path, x) writes it to a file, "
                        "x.numpy() gives all its values")

    def __copy__(self):
        return copy(self)

    def __deepcopy__(self, memo):
        return copy(self)

    def __hash__(self):
        return id(self)

    # ---- one value ----

    def item(self):
        """The value of an array that has one, as a Python number; all tasks get it.

        Shapes: of one value.
        Types: any; bool, int, float or complex.
        Tasks: all call it, and wait for each other.
        Raises: ValueError for another number of values.
        """
        if self._k.size != 1:
            raise ValueError(f"an array of the shape {self._k.shape} has not one value")
        env.check_thread()
        kind = self._k
        room = ffi.new("char[16]")
        env.check(lib.dvec_get(self._v, 0, room))
        return unpacked(kind.dtype, room)

    def __float__(self):
        value = self.item()
        if isinstance(value, complex):
            raise TypeError("a complex value is no float")
        return float(value)

    def __int__(self):
        value = self.item()
        if isinstance(value, complex):
            raise TypeError("a complex value is no int")
        return int(value)

    def __complex__(self):
        return complex(self.item())

    def __bool__(self):
        if self._k.size != 1:
            raise ValueError("an array of several values is neither true nor false: use dome.any or dome.all")
        return builtins.bool(self.item())

    def __index__(self):
        if self._k.dtype.kind not in "iu" or self._k.size != 1:
            raise TypeError("only an integer array of one value is an index")
        return self.item()

    def __round__(self, digits=None):
        return round(float(self), digits)

    def __trunc__(self):
        return math.trunc(self.item())

    def __floor__(self):
        return math.floor(self.item())

    def __ceil__(self):
        return math.ceil(self.item())

    # ---- methods with NumPy's names ----

    def astype(self, dtype, copy=True):
        return astype(self, dtype, copy=copy)

    def copy(self):
        return copy(self)

    def fill(self, value):
        """Gives all elements one value (NumPy: fill).

        Shapes: any.
        Types: any that has the value.
        Tasks: all call it; nobody waits.
        Raises: TypeError for what is no number, or no value of the type; OverflowError for one beyond its range.
        """
        fill(self, value)

    def tolist(self):
        """All values, as lists of Python numbers, on every task.

        Shapes: any; lists of lists, or a number.
        Types: any; bool, int, float or complex.
        Tasks: all call it, and wait for each other.
        Raises: errors.MemoryExhausted for more than there is memory for.
        """
        return nested(values_of(self), self._k.shape)

    def __getitem__(self, key):
        return _indexing.get(self, key)

    def __setitem__(self, key, value):
        _indexing.put(self, key, value)


class Distributed(Array):
    """An array over a vector of the library, which it has until it dies."""

    __slots__ = ("_v",)

    def __del__(self):
        try:
            self._k.dead(self._v)
        except AttributeError:  # it was not made completely
            pass


class Scalar(Array):
    """An array without dimensions: one value, which every task has or will have. `float(s)` waits for it.

    The value is known (`_value`), to come (`_future`), or that of a vector of one element, which every task has whole (`_box`).
    """

    __slots__ = ("_value", "_future", "_box")

    def __init__(self):
        raise TypeError("dome.asarray(5.0) makes an array without dimensions")

    @property
    def _w(self):
        return self._box._v if self._box is not None else None

    @property
    def _v(self):
        """The value as a vector."""
        if self._box is None:
            value = self.item()
            self._box = _boxed(self._k)
            env.check(lib.dvec_fill_value(self._box._v, packed(self._k.dtype, value)))
        return self._box._v

    def item(self):
        value = self._value
        if value is None:
            if _ident() != _state.owner:
                env._refuse()
            if self._future is not None:
                value = lib.dscalar_get_f64(self._future.s)
                if value != value and lib.dome_error_status(_state.env):
                    env.fail()
                memory._scalars.append(self._future)
                self._future = None
                if not self._k.exact:
                    value = rounded(self._k.dtype, value)
            else:
                room = ffi.new("char[16]")
                env.check(lib.dvec_get(self._w, 0, room))
                value = unpacked(self._k.dtype, room)
            self._value = value
        return value

    def __float__(self):
        value = self._value
        if value is None:
            value = self.item()
        return value if type(value) is float else Array.__float__(self)

    def __repr__(self):
        if self._value is None and _state.size > 1:
            return f"<dome scalar {self._k.dtype.name}, not known yet>"
        return f"array({self.item()}, dtype={self._k.dtype.name})"

    def __str__(self):
        return str(self.item())

    def __format__(self, spec):
        return format(self.item(), spec)

    def __float__(self):
        value = self._value
        return float(value if value is not None and type(value) is not complex else Array.__float__(self))


def rounded(dtype, value):
    """A double as a value of a type."""
    if dtype is dtypes.float32:
        return ffi.new("float *", value)[0] if abs(value) <= 3.4028234663852886e38 else _to_float32(value)
    if dtype.kind in "iu":
        return int(value)
    return bool(value) if dtype.kind == "b" else value


def _to_float32(value):
    if value != value or value in (math.inf, -math.inf):
        return value
    return math.copysign(math.inf if abs(value) >= 3.4028235677973366e38 else 3.4028234663852886e38, value)


def packed(dtype, value):
    """A Python number as a value in memory."""
    if dtype.kind == "c":
        value = complex(value)
        return ffi.new(dtype.cname + "[2]", [value.real, value.imag])
    if dtype.kind == "f":
        value = float(value)
    elif dtype.kind == "b":
        value = 1 if value else 0
    else:
        value = integer(dtype, value)
    return ffi.new(dtype.cname + " *", value)


def integer(dtype, value):
    """A number as an integer of a type; an exception if it is none."""
    as_int = int(value)
    if as_int != value:
        raise TypeError(f"{value!r} is no value of {dtype}")
    limits = dtypes.iinfo(dtype)
    if not limits.min <= as_int <= limits.max:
        raise OverflowError(f"{value!r} is not in the range of {dtype}")
    return as_int


def unpacked(dtype, room):
    pointer = ffi.cast(dtype.cname + " *", room)
    if dtype.kind == "c":
        return complex(pointer[0], pointer[1])
    return bool(pointer[0]) if dtype.kind == "b" else pointer[0]


# ---- making arrays ----

def new(kind):
    """A new array of a kind with arbitrary values."""
    if kind.whole:
        z = _new(Scalar)
        z._k, z._value, z._future, z._box = kind, None, None, _boxed(kind)
        return z
    z = _new(Distributed)
    z._k = kind
    z._v = kind.pool.pop() if kind.pool else _make(kind)
    return z


def _boxed(kind):
    z = _new(Distributed)
    z._k = kind
    z._v = kind.pool.pop() if kind.pool else _make(kind)
    return z


def of(dtype, shape):
    return new(memory.kind_of(dtype, shape))


def wrap(v, dtype, shape):
    """An array of a vector that the library has made, of this type: a sum of bool, say, is one of uint64 at first."""
    made = lib.dvec_type(v)
    if made != dtype.ctype:
        return astype(wrap(v, dtypes.BY_KIND[made], shape), dtype)
    kind = memory.kind_of(dtype, shape)
    fits = lib.dvec_length(v) == kind.length and lib.dvec_width(v) == kind.width and not kind.whole
    if fits:
        memory.adopt(v, kind)
        z = _new(Distributed)
        z._k, z._v = kind, v
        return z
    z = new(kind)
    _moving.copy_values(z._v, v)
    lib.dvec_free(v)
    return z


def scalar(kind, value, future=None):
    z = _new(Scalar)
    z._k, z._value, z._future, z._box = kind, value, future, None
    return z


def set_scalar(x, value):
    """A 0-d array gets another value; what stood for the one before goes as if the array had."""
    x._value, x._future, x._box = value, None, None


def scalar_of(dtype, value):
    return scalar(memory.kind_of(dtype, ()), value)


def fill(x, value):
    """Sets all values."""
    env.check_thread()
    if isinstance(value, Array):
        x[...] = value
        return
    kind = x._k
    if isinstance(x, Scalar):
        raise TypeError("an array without dimensions is a value that does not change")
    env.check(lib.dvec_fill_value(x._v, packed(kind.dtype, value)))


def copy(x):
    env.check_thread()
    if isinstance(x, Scalar):
        return scalar(x._k, x.item())
    z = new(x._k)
    env.check(lib.dvec_copy(z._v, x._v))
    return z


def astype(x, dtype, /, *, copy=True, device=None):
    """The values of x as values of a type (NumPy: astype). Waits for nothing.

    Shapes: any; the result has that of x.
    Types: any; the result has dtype.
    Tasks: all call it; nobody waits.
    Raises: TypeError for complex values as real ones, or no element type; ValueError for another device.
    """
    dtype = dtypes.as_dtype(dtype)
    if x._k.dtype is dtype:
        return globals()["copy"](x) if copy else x
    env.check_thread()
    if x._k.dtype.kind == "c" and dtype.kind not in "cb":
        raise TypeError("complex values cannot become real ones: use dome.real or dome.abs")
    if dtype.kind in "iu" and x._k.dtype.kind in "iu" and dtypes.promote(x._k.dtype, dtype) is not dtype:
        x = _modulo(x, dtype)
    z = of(dtype, x._k.shape)
    if dtype.kind == "b":
        if x._k.dtype.kind == "c":
            env.check(lib.dvec_ne(target(z), x._v, of_value(x._k.dtype, 0)._v))
        else:
            env.check(lib.dvec_nes(target(z), x._v, 0.0))
    else:
        env.check(lib.dvec_convert(target(z), x._v))
    return z


def _modulo(x, dtype):
    """Integers as ones that have the same lowest bits and are values of a type: the library's conversion gives the nearest."""
    bits = 8 * dtype.itemsize
    if bits < 64:
        if x._k.dtype is not dtypes.uint64:
            x = _converted(x, dtypes.int64)
        x = x & ((1 << bits) - 1)
        if dtype.kind == "u":
            return x
        half = 1 << (bits - 1)
        return ((_converted(x, dtypes.int64) + half) & ((1 << bits) - 1)) - half
    if dtype.kind == "u":
        x = _converted(x, dtypes.int64)
    low, high = x & 0xffffffff, (x >> 32) & 0xffffffff
    return (_converted(high, dtype) << 32) | _converted(low, dtype)


def _converted(x, dtype):
    """Values that are values of a type, as such."""
    if x._k.dtype is dtype:
        return x
    z = of(dtype, x._k.shape)
    env.check(lib.dvec_convert(target(z), x._v))
    return z


def target(z):
    """The vector of a new array, to be written."""
    return z._w if type(z) is Scalar else z._v


_constants = {}


def of_value(dtype, value):
    """A 0-d array of a Python number: the same object for the same number, for a while."""
    key = (dtype, type(value), value, math.copysign(1, value) if type(value) is float else 0)
    found = _constants.get(key)
    if found is None:
        if len(_constants) >= 256:
            _constants.clear()
        number = complex(value) if dtype.kind == "c" else value
        found = _constants[key] = scalar_of(dtype, rounded(dtype, float(number)) if dtype is dtypes.float32 else number)
    return found


def nested(values, shape):
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    step = math.prod(shape[1:])
    return [nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def values_of(x):
    """All values, as a list of Python numbers, on every task."""
    env.env()
    if isinstance(x, Scalar):
        return [x.item()]
    dtype, size = x._k.dtype, x._k.size
    data = env.pointer(lib.dvec_allgather(x._v)) if size else ffi.NULL
    if not size:
        return []
    numbers = ffi.unpack(ffi.cast(dtype.cname + " *", data), size * (2 if dtype.kind == "c" else 1))
    if dtype.kind == "c":
        return [complex(numbers[i], numbers[i + 1]) for i in range(0, len(numbers), 2)]
    return [bool(n) for n in numbers] if dtype.kind == "b" else list(numbers)


# ---- the general way of an operation on elements ----

def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes have together."""
    result = list(max(shapes, key=len, default=()))
    for shape in shapes:
        for k in range(1, len(shape) + 1):
            if shape[-k] != result[-k]:
                if result[-k] == 1:
                    result[-k] = shape[-k]
                elif shape[-k] != 1:
                    raise ShapeMismatch(shapes)
    return tuple(result)


def ShapeMismatch(shapes):
    from dome.errors import ShapeError
    return ShapeError("arrays of the shapes " + " and ".join(str(shape) for shape in shapes) + " do not fit together")


def operand(x, kind):
    """The vector of x, as an operand for a result of a kind."""
    shape = x._k.shape
    if shape == kind.shape or not shape:
        return x._v
    if x._k.size == 1 and kind.size != 1:
        return _keep(_moving.to_scalar(x))._v
    if kind.width != 1 and math.prod(shape[1:]) == 1 and len(shape) == len(kind.shape) and shape[0] == kind.shape[0]:
        return x._v  # one value for each row
    return _keep(_moving.broadcast_to(x, kind.shape))._v


_kept = []  # operands made for the operation under way


def _keep(x):
    _kept.append(x)
    if len(_kept) > 4:
        del _kept[0]
    return x


def as_operand(value, dtype=None):
    """An array for an operand: an array, a Python number, or what asarray takes."""
    if isinstance(value, Array):
        return value
    value = plain(value)
    if type(value) in _Number:
        return of_value(dtype or dtypes.BY_PYTHON[type(value)], value)
    return _creation.asarray(value)


class Operation:
    """A function of the library for pairs of values. `rule` says the type of its result: same, real, mask, logic or bits."""

    __slots__ = ("name", "rule", "pair", "right", "left", "logic")

    def __init__(self, name, rule, logic=None):
        self.name, self.rule = name, rule
        self.pair = getattr(lib, "dvec_" + name)
        self.right = getattr(lib, f"dvec_{name}s", None)  # with a number on the right
        self.left = getattr(lib, f"dvec_r{name}s", None)
        self.logic = getattr(lib, "dvec_" + logic) if logic else None  # for bool

    def type(self, x, y):
        """The common type of the operands."""
        if isinstance(x, Array):
            common = dtypes.promote(x._k.dtype, y._k.dtype) if isinstance(y, Array) else dtypes.with_scalar(x._k.dtype, y)
        else:
            common = dtypes.with_scalar(y._k.dtype, x)
        kind = common.kind
        if self.rule == "real":
            return dtypes.float64 if kind in "biu" else common
        if kind == "b" and not self.logic and self.rule not in ("mask",):
            return dtypes.int8
        if self.rule == "bits" and kind in "fc" or self.rule == "logic" and kind != "b":
            raise TypeError(f"{self.name} is not for values of {common}")
        return common


def plain_number(value, dtype):
    """A number that a double holds exactly, for the functions that take one; else None."""
    if isinstance(value, Array):
        value = value._value if type(value) is Scalar else None
    if value is None or type(value) is complex:
        return None
    if dtype.kind in "iub":
        integer(dtypes.int64 if dtype.kind == "b" else dtype, value)
    as_float = float(value)
    return as_float if as_float == value or value != value else None


def operate(op, x, y, out=None):
    """z = x op y, with whatever operands the operator has been given. Returns NotImplemented for foreign ones."""
    if _ident() != _state.owner:
        env.env()
    if not isinstance(x, Array) and type(x) not in _Number:
        x = foreign(x)
    if not isinstance(y, Array) and type(y) not in _Number:
        y = foreign(y)
    if x is NotImplemented or y is NotImplemented:
        return NotImplemented
    common = op.type(x, y)
    if common.kind in "biu":
        refuse_integers(op, x, y, common)
    shape = broadcast_shapes(x._k.shape if isinstance(x, Array) else (), y._k.shape if isinstance(y, Array) else ())
    mask = op.rule in ("mask", "logic")
    kind = memory.kind_of(dtypes.bool if mask else common, shape)
    if out is not None:
        kind = out_kind(out, kind)
    z = new(kind) if out is None else out
    if not shape or not run_with_number(op, z, x, y, common):
        run_pair(op, z, x, y, common)
    return z


def refuse_integers(op, x, y, common):
    """What NumPy refuses, too: differences of truth values, and integers to the power of a negative number."""
    if op is SUB and isinstance(x, Array) and isinstance(y, Array) and x._k.dtype.kind == y._k.dtype.kind == "b":
        raise TypeError("truth values have no difference: use ^, or dome.logical_xor")
    if op is POW and type(y) in (int, bool) and y < 0:
        raise ValueError("integers to the power of a negative number are no integers: use x ** -1.0")


def out_kind(out, kind):
    if out._k.shape != kind.shape:
        raise ShapeMismatch((out._k.shape, kind.shape))
    if dtypes.promote(out._k.dtype, kind.dtype) is not out._k.dtype and out._k.dtype.kind != kind.dtype.kind:
        raise TypeError(f"a result of {kind.dtype} does not fit into an array of {out._k.dtype}")
    return out._k


def run_with_number(op, z, x, y, common):
    """By the functions that take a number, if one operand is one."""
    if op.logic and common.kind == "b" or common.kind == "c":
        return False
    for array, other, function in ((x, y, op.right), (y, x, op.left or (op.right if op.name in _COMMUTE else None))):
        if function and isinstance(array, Array) and array._k.shape == z._k.shape:
            number = plain_number(other, common)
            if number is not None:
                if op.rule == "mask" and array._k.dtype is not common:
                    array = _keep(astype(array, common))
                env.check(function(target(z), array._v, number))
                return True
    return False


_COMMUTE = ("add", "mul", "min", "max", "eq", "ne", "bitand", "bitor", "bitxor")


def run_pair(op, z, x, y, common):
    function = op.logic if op.logic and common.kind == "b" else op.pair
    x, y = as_operand(x, common), as_operand(y, common)
    if op.rule == "mask":  # comparisons want one type
        x, y = astype(x, common, copy=False), astype(y, common, copy=False)
    kind = z._k
    left, right = operand(x, kind), operand(y, kind)
    env.check(function(target(z), left, right))
    del x, y


def plain(value):
    """A number of a class derived from Python's, such as numpy.float64, as Python's; other things stay."""
    for kind in _Number:
        if isinstance(value, kind):
            return kind(value)
    return value


def foreign(value):
    """A number, or a NumPy array with the same values on all tasks as an array; NotImplemented for other things."""
    value = plain(value)
    if type(value) in _Number:
        return value
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        return _creation.asarray(value)
    return NotImplemented


# ---- operators ----

ADD, SUB, MUL = Operation("add", "same", "or"), Operation("sub", "same"), Operation("mul", "same", "and")
DIV, POW = Operation("div", "real"), Operation("pow", "same")
MIN, MAX = Operation("min", "same", "and"), Operation("max", "same", "or")
LT, LE, GT, GE = (Operation(name, "mask") for name in ("lt", "le", "gt", "ge"))
EQ, NE = Operation("eq", "mask"), Operation("ne", "mask")
AND, OR, XOR = (Operation("bit" + name, "bits", name) for name in ("and", "or", "xor"))
LSHIFT, RSHIFT = Operation("lshift", "bits"), Operation("rshift", "bits")


def _arithmetic(op, wanted):
    """x op y, y op x and x op= y. `wanted` is the property of kinds whose operands need no thought."""
    pair, right, left = op.pair, op.right, op.left or (op.right if op.name in _COMMUTE else None)
    number_ok = op.rule in ("same", "real")
    get = operator.attrgetter(wanted)

    def forward(x, y):
        k = x._k
        if type(y) is Distributed:
            if y._k is k and get(k) and _ident() == _state.owner:
                z = _new(Distributed)
                z._k = k
                pool = k.pool
                z._v = v = pool.pop() if pool else _make(k)
                if pair(v, x._v, y._v):
                    env.fail()
                return z
        elif type(y) is float and k.real and number_ok and _ident() == _state.owner:
            z = _new(Distributed)
            z._k = k
            pool = k.pool
            z._v = v = pool.pop() if pool else _make(k)
            if right(v, x._v, y):
                env.fail()
            return z
        return operate(op, x, y)

    def backward(x, y):
        k = x._k
        if type(y) is float and k.real and left and _ident() == _state.owner:
            z = _new(Distributed)
            z._k = k
            pool = k.pool
            z._v = v = pool.pop() if pool else _make(k)
            if left(v, x._v, y):
                env.fail()
            return z
        return operate(op, y, x)

    def inplace(x, y):
        k = x._k
        if type(y) is Distributed:
            if y._k is k and get(k) and _ident() == _state.owner:
                v = x._v
                if pair(v, v, y._v):
                    env.fail()
                return x
        elif type(y) is float and k.real and number_ok and _ident() == _state.owner:
            v = x._v
            if right(v, v, y):
                env.fail()
            return x
        return operate(op, x, y, x)

    return forward, backward, inplace


def _comparison(op):
    def compare(x, y):
        if y is None or isinstance(y, str):
            return NotImplemented
        return operate(op, x, y)
    return compare


def _plain(op, swap=False):
    def plain(x, y):
        return operate(op, y, x) if swap else operate(op, x, y)
    return plain


def _inplace(op):
    def inplace(x, y):
        return operate(op, x, y, x)
    return inplace


def _install():
    for name, op, wanted in (("add", ADD, "number"), ("sub", SUB, "number"), ("mul", MUL, "number"), ("truediv", DIV, "real"),
                             ("pow", POW, "number")):
        forward, backward, inplace = _arithmetic(op, wanted)
        for prefix, function in (("", forward), ("r", backward), ("i", inplace)):
            function.__name__ = f"__{prefix}{name}__"
            setattr(Array, function.__name__, function)
    for name, op in (("and", AND), ("or", OR), ("xor", XOR), ("lshift", LSHIFT), ("rshift", RSHIFT)):
        setattr(Array, f"__{name}__", _plain(op))
        setattr(Array, f"__r{name}__", _plain(op, True))
        setattr(Array, f"__i{name}__", _inplace(op))
    for name, op in (("lt", LT), ("le", LE), ("gt", GT), ("ge", GE), ("eq", EQ), ("ne", NE)):
        setattr(Array, f"__{name}__", _comparison(op))


_install()
