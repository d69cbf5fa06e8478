"""Element types: the library's, with NumPy's names, and bool."""
import builtins

from dome._dome import lib


class DType:
    """An element type. `dome.float64` and NumPy's types of the same name are equal."""

    __slots__ = ("name", "itemsize", "kind", "ctype", "cname", "letter", "type")

    def __init__(self, name, itemsize, kind, ctype, cname, letter, type):
        self.name, self.itemsize, self.kind, self.ctype = name, itemsize, kind, ctype
        self.cname, self.letter, self.type = cname, letter, type

    def __call__(self, value=0):
        """An array without dimensions of this type (NumPy: numpy.float64(1))."""
        from dome import creation
        return creation.asarray(value, dtype=self)

    def __repr__(self):
        return f"dome.{self.name}"

    __str__ = __repr__

    def __eq__(self, other):
        if isinstance(other, DType):
            return self is other
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        return self.name

    @property
    def str(self):
        """The name in an array interface of NumPy."""
        return ("|" if self.itemsize == 1 else "<") + self.letter + builtins.str(self.itemsize)


def _basic(kind):
    return lib.dome_type_basic(kind)


bool = DType("bool", 1, "b", _basic(lib.DOME_KIND_U8), "uint8_t", "b", builtins.bool)
int8 = DType("int8", 1, "i", _basic(lib.DOME_KIND_I8), "int8_t", "i", int)
int16 = DType("int16", 2, "i", _basic(lib.DOME_KIND_I16), "int16_t", "i", int)
int32 = DType("int32", 4, "i", _basic(lib.DOME_KIND_I32), "int32_t", "i", int)
int64 = DType("int64", 8, "i", _basic(lib.DOME_KIND_I64), "int64_t", "i", int)
uint8 = DType("uint8", 1, "u", _basic(lib.DOME_KIND_U8), "uint8_t", "u", int)
uint16 = DType("uint16", 2, "u", _basic(lib.DOME_KIND_U16), "uint16_t", "u", int)
uint32 = DType("uint32", 4, "u", _basic(lib.DOME_KIND_U32), "uint32_t", "u", int)
uint64 = DType("uint64", 8, "u", _basic(lib.DOME_KIND_U64), "uint64_t", "u", int)
float32 = DType("float32", 4, "f", _basic(lib.DOME_KIND_F32), "float", "f", float)
float64 = DType("float64", 8, "f", _basic(lib.DOME_KIND_F64), "double", "f", float)
complex64 = DType("complex64", 8, "c", _basic(lib.DOME_KIND_C64), "float", "c", complex)
complex128 = DType("complex128", 16, "c", _basic(lib.DOME_KIND_C128), "double", "c", complex)

ALL = (bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128)
BY_NAME = {d.name: d for d in ALL}
BY_CODE = {d.letter + builtins.str(d.itemsize): d for d in ALL}
BY_PYTHON = {builtins.bool: bool, int: int64, float: float64, complex: complex128}
BY_KIND = {(d.ctype): d for d in ALL if d is not bool}


def as_dtype(given):
    """The type for a dtype of this package or of NumPy, a Python type, or a name."""
    if isinstance(given, DType):
        return given
    if given in BY_PYTHON:
        return BY_PYTHON[given]
    text = given if isinstance(given, str) else getattr(given, "__name__", None) or getattr(given, "str", None)
    if isinstance(text, str):
        found = BY_NAME.get(text) or BY_CODE.get(text.lstrip("<=|"))
        name = getattr(given, "name", None)
        found = found or (BY_NAME.get(name) if isinstance(name, str) else None)
        if found:
            return found
    raise TypeError(f"{given!r} is no element type here: arrays have numbers and bool, no objects, texts or times")


_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def promote(a, b):
    """The type of a result of two types, by NumPy's rules."""
    if a is b:
        return a
    if _RANK[a.kind] > _RANK[b.kind]:
        a, b = b, a
    if a.kind == "b":
        return b
    if a.kind == b.kind:
        return a if a.itemsize >= b.itemsize else b
    if b.kind in "iu":  # one has a sign, the other has none
        signed, other = (a, b) if a.kind == "i" else (b, a)
        size = max(signed.itemsize, 2 * other.itemsize)
        return float64 if size > 8 else BY_CODE[f"i{size}"]
    part = b.itemsize // (2 if b.kind == "c" else 1)  # floating point and complex values hold what they can exactly
    need = a.itemsize if a.kind == "f" else (4 if a.itemsize <= 2 else 8)
    size = max(part, need)
    return BY_CODE[f"c{2 * size}" if b.kind == "c" else f"f{size}"]


def with_scalar(dtype, value):
    """The type of an array's result with a Python number: the array's, if that can be."""
    kind = type(value)
    if kind is builtins.bool:
        return dtype
    if kind is int:
        return int64 if dtype.kind == "b" else dtype
    if kind is float:
        return dtype if dtype.kind in "fc" else float64
    if dtype.kind == "c":
        return dtype
    return complex64 if dtype is float32 else complex128


def real_of(dtype):
    """The type of the parts of complex values; other types stay."""
    return {"complex64": float32, "complex128": float64}.get(dtype.name, dtype)


class finfo:
    """Limits of a floating-point type (Array API: finfo)."""

    def __init__(self, given):
        dtype = real_of(as_dtype(getattr(given, "dtype", given)))
        if dtype.kind != "f":
            raise TypeError(f"{dtype} is no floating-point type")
        digits, emax = (24, 128) if dtype is float32 else (53, 1024)
        self.bits, self.dtype = 8 * dtype.itemsize, dtype
        self.eps = 2.0 ** (1 - digits)
        self.max = (2.0 - self.eps) * 2.0 ** (emax - 1)
        self.min = -self.max
        self.smallest_normal = 2.0 ** (2 - emax)


class iinfo:
    """Limits of an integer type (Array API: iinfo)."""

    def __init__(self, given):
        dtype = as_dtype(getattr(given, "dtype", given))
        if dtype.kind not in "iu":
            raise TypeError(f"{dtype} is no integer type")
        self.bits, self.dtype = 8 * dtype.itemsize, dtype
        signed = dtype.kind == "i"
        self.min = -(1 << (self.bits - 1)) if signed else 0
        self.max = (1 << (self.bits - signed)) - 1


_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
          "complex floating": "c", "numeric": "iufc"}


def isdtype(dtype, kind):
    """Whether a type is of a kind, or of one of several (Array API: isdtype).

    Types: a type, and a kind's name, a type or a tuple of them.
    Tasks: any task alone may call it.
    Raises: TypeError for no element type; ValueError for an unknown kind.
    """
    dtype = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"{kind!r} is no kind of types")
        return dtype.kind in _KINDS[kind]
    return dtype is as_dtype(kind)


def can_cast(given, to):
    """Whether every value of a type is one of another, as far as kinds go (Array API: can_cast).

    Types: types, arrays or numbers.
    Tasks: any task alone may call it.
    Raises: TypeError for no element type.
    """
    from_, to = as_dtype(getattr(given, "dtype", given)), as_dtype(to)
    return promote(from_, to) is to


def result_type(*given):
    """The type that arrays, types and Python numbers have together (Array API: result_type).

    Types: arrays, types and Python numbers.
    Tasks: any task alone may call it.
    Raises: TypeError for no element type; ValueError for no array and no type.
    """
    found, numbers = None, []
    for one in given:
        if isinstance(one, (float, complex)) and type(one) not in BY_PYTHON:
            one = float(one) if isinstance(one, float) else complex(one)
        if type(one) in BY_PYTHON:
            numbers.append(one)
            continue
        dtype = as_dtype(getattr(one, "dtype", one))
        found = dtype if found is None else promote(found, dtype)
    for number in numbers:
        found = BY_PYTHON[type(number)] if found is None else with_scalar(found, number)
    if found is None:
        raise ValueError("result_type needs an array, a type or a number")
    return found
