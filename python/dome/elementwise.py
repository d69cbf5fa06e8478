"""Functions on elements, with NumPy's and the Array API's names. All are recorded; none waits."""
import math

from dome import arrays as array, dtypes, env, memory, moving
from dome._dome import ffi, lib

_size = abs
Operation, operate = array.Operation, array.operate


def _described(doc, shapes, types, raises):
    """The text of a function that a function of this module makes."""
    return f"{doc}\n\nShapes: {shapes}.\nTypes: {types}.\nTasks: all call it; nobody waits.\nRaises: {raises}."


_TAKEN = {"fc": "numbers, integers as float64", "f": "real, integers as float64", "c": "complex", "iufc": "numbers"}


def _of_one(doc, taken, result="that of x"):
    return _described(doc, "any; the result has that of x", f"{taken}; {result}", "TypeError for other values")


def _unary(name, types, doc, real_result=False, mask=False):
    """A function of one array. types: kinds of types that it takes; integers become float64 if it takes none."""
    function = getattr(lib, "dvec_" + name)

    def compute(x, /):
        if type(x) is array.Distributed and x._k.real and not mask and env._ident() == env.state.owner:
            k = x._k
            z = object.__new__(array.Distributed)
            z._k = k
            z._v = v = k.pool.pop() if k.pool else memory.make(k)
            if function(v, x._v):
                env.fail()
            return z
        x = array.as_operand(x)
        env.check_thread()
        dtype = x._k.dtype
        if dtype.kind not in types:
            if dtype.kind in "biu" and "f" in types and not mask:
                dtype = dtypes.float64
            elif not (mask and dtype.kind in "biu"):
                raise TypeError(f"{name} is not for values of {dtype}")
        out = dtypes.bool if mask else dtypes.real_of(dtype) if real_result else dtype
        x = array.astype(x, dtype, copy=False)
        z = array.of(out, x._k.shape)
        env.check(function(array.target(z), x._v))
        return z

    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = _of_one(doc, _TAKEN[types], "bool" if mask else "real" if real_result else "that of x")
    return compute


sqrt = _unary("sqrt", "fc", "The square root.")
exp = _unary("exp", "fc", "e to the power x.")
log = _unary("log", "fc", "The natural logarithm.")
sin = _unary("sin", "fc", "The sine.")
cos = _unary("cos", "fc", "The cosine.")
tan = _unary("tan", "fc", "The tangent.")
asin = arcsin = _unary("asin", "fc", "The inverse sine.")
acos = arccos = _unary("acos", "fc", "The inverse cosine.")
atan = arctan = _unary("atan", "fc", "The inverse tangent.")
sinh = _unary("sinh", "fc", "The hyperbolic sine.")
cosh = _unary("cosh", "fc", "The hyperbolic cosine.")
tanh = _unary("tanh", "fc", "The hyperbolic tangent.")
exp2 = _unary("exp2", "f", "2 to the power x.")
_of_real = {name: _unary(name, "f", "") for name in ("expm1", "log2", "log10", "log1p")}
cbrt = _unary("cbrt", "f", "The cube root.")
erf = _unary("erf", "f", "The error function.")
erfc = _unary("erfc", "f", "1 - erf(x), also right for large x.")
_negative = _unary("neg", "iufc", "")
conj = conjugate = _unary("conj", "c", "The conjugate complex value.")
_real, _imag = _unary("real", "c", "", True), _unary("imag", "c", "", True)
_arg, _modulus = _unary("arg", "c", "", True), _unary("abs", "iufc", "")
_round = {name: _unary(name, "f", "") for name in ("floor", "ceil", "trunc", "round")}
asinh = arcsinh = _unary("asinh", "fc", "The inverse hyperbolic sine.")
acosh = arccosh = _unary("acosh", "fc", "The inverse hyperbolic cosine.")
atanh = arctanh = _unary("atanh", "fc", "The inverse hyperbolic tangent.")
signbit = _unary("signbit", "f", "Whether the sign is set, also that of a zero.", mask=True)
_tests = {name: _unary(name, "fc", "", mask=True) for name in ("isnan", "isinf", "isfinite")}


_PAIRS = {"same": "numbers; that of both together", "real": "numbers; floating point or complex, float64 for integers",
          "mask": "any; bool", "bits": "bool and integers; that of both together"}


def _of_two(doc, rule):
    return _described(doc, "any two that broadcast; the one that both have together", _PAIRS[rule],
                      "TypeError for other values; errors.ShapeError for shapes that do not fit together")


def _pair(op, doc):
    def compute(x, y, /):
        if not isinstance(x, array.Array) and not isinstance(y, array.Array):
            x = array.as_operand(x)
        z = operate(op, x, y)
        if z is NotImplemented:
            raise TypeError(f"{type(x).__name__} and {type(y).__name__} are no operands here")
        return z

    compute.__name__ = compute.__qualname__ = op.name
    compute.__doc__ = _of_two(doc, op.rule)
    return compute


add = _pair(array.ADD, "x + y.")
subtract = _pair(array.SUB, "x - y.")
multiply = _pair(array.MUL, "x * y.")
divide = true_divide = _pair(array.DIV, "x / y, in floating point.")
pow = power = _pair(array.POW, "x to the power y.")
minimum = _pair(array.MIN, "The smaller value; NaN if one is NaN.")
maximum = _pair(array.MAX, "The larger value; NaN if one is NaN.")
less, less_equal = _pair(array.LT, "x < y."), _pair(array.LE, "x <= y.")
greater, greater_equal = _pair(array.GT, "x > y."), _pair(array.GE, "x >= y.")
equal, not_equal = _pair(array.EQ, "x == y."), _pair(array.NE, "x != y.")
bitwise_and, bitwise_or = _pair(array.AND, "x & y."), _pair(array.OR, "x | y.")
bitwise_xor = _pair(array.XOR, "x ^ y.")
bitwise_left_shift = left_shift = _pair(array.LSHIFT, "x << y.")
bitwise_right_shift = right_shift = _pair(array.RSHIFT, "x >> y.")
atan2 = arctan2 = _pair(Operation("atan2", "real"), "The angle of the point (y, x).")
hypot = _pair(Operation("hypot", "real"), "sqrt(x^2 + y^2), without overflow on the way.")
fmod = _pair(Operation("fmod", "same"), "The remainder with the sign of x (C's fmod).")
FLOORDIV, MOD = Operation("floor_divide", "same"), Operation("remainder", "same")
floor_divide = _pair(FLOORDIV, "x / y, rounded down.")
remainder = mod = _pair(MOD, "The remainder with the sign of y.")
copysign = _pair(Operation("copysign", "real"), "x with the sign of y.")
nextafter = _pair(Operation("nextafter", "real"), "The next value from x on to y.")
logaddexp = _pair(Operation("logaddexp", "real"), "log(exp(x) + exp(y)), without overflow on the way.")


def logical_not(x, /):
    """Whether x is 0.

    Shapes: any; the result has that of x.
    Types: any; bool.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    x = array.astype(array.as_operand(x), dtypes.bool, copy=False)
    z = array.new(x._k)
    env.check(lib.dvec_not(array.target(z), x._v))
    return z


def _logical(op, doc):
    def compute(x, y, /):
        x, y = (array.astype(array.as_operand(v), dtypes.bool, copy=False) for v in (x, y))
        return operate(op, x, y)
    compute.__doc__ = _of_two(doc, "mask")
    return compute


logical_and = _logical(array.AND, "Whether both are not 0.")
logical_or = _logical(array.OR, "Whether one is not 0.")
logical_xor = _logical(array.XOR, "Whether exactly one is not 0.")


def bitwise_invert(x, /):
    """~x: of bool the opposite, of integers all bits.

    Shapes: any; the result has that of x.
    Types: bool and integers; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for other types.
    """
    if x._k.dtype.kind == "b":
        return logical_not(x)
    if x._k.dtype.kind not in "iu":
        raise TypeError(f"~ is not for values of {x._k.dtype}")
    env.check_thread()
    z = array.new(x._k)
    env.check(lib.dvec_bitnot(array.target(z), x._v))
    return z


bitwise_not = invert = bitwise_invert


def negative(x, /):
    """-x.

    Shapes: any; the result has that of x.
    Types: numbers; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for bool.
    """
    x = array.as_operand(x)
    if x._k.dtype.kind == "b":
        raise TypeError("truth values have no negative: use ~x, or dome.logical_not")
    return _negative(x)


def positive(x, /):
    """A copy.

    Shapes: any; the result has that of x.
    Types: any; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    return array.copy(x)


def abs(x, /):
    """The magnitude; of complex values a real one.

    Shapes: any; the result has that of x.
    Types: any; that of x, real for complex.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    x = array.as_operand(x)
    if x._k.dtype.kind in "bu":
        return array.copy(x)
    z = _modulus(x)
    return _real(z) if z._k.dtype.kind == "c" else z


absolute = abs


def real(x, /):
    """The real part.

    Shapes: any; the result has that of x.
    Types: any; that of x, real for complex.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    return _real(x) if x._k.dtype.kind == "c" else array.copy(x)


def imag(x, /):
    """The imaginary part.

    Shapes: any; the result has that of x.
    Types: any; that of x, real for complex.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    if x._k.dtype.kind == "c":
        return _imag(x)
    from dome import creation
    return creation.zeros_like(x)


def angle(x, /):
    """The angle of complex values, in -pi ... pi.

    Shapes: any; the result has that of x.
    Types: complex; real.
    Tasks: all call it; nobody waits.
    Raises: TypeError for other types.
    """
    return _arg(x)


def _rounding(name, doc):
    function = _round[name]

    def compute(x, /):
        x = array.as_operand(x)
        if x._k.dtype.kind in "biu":
            return array.copy(x)
        if x._k.dtype.kind == "c" and name == "round":
            return complex_of(function(_real(x)), function(_imag(x)))
        return function(x)

    compute.__name__, compute.__doc__ = name, _of_one(doc, "real, for round also complex")
    return compute


floor, ceil = _rounding("floor", "Rounded down."), _rounding("ceil", "Rounded up.")
trunc = _rounding("trunc", "Rounded towards 0.")
rint = _rounding("round", "Rounded to the nearest whole number, halves to even.")


def round(x, /, decimals=0):
    """Rounded to so many decimals; halves to even (NumPy: round).

    Shapes: any; the result has that of x.
    Types: numbers; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    if not decimals:
        return rint(x)
    x = array.as_operand(x)
    if x._k.dtype.kind in "biu" and decimals > 0:
        return array.copy(x)
    factor = 10.0 ** _size(decimals)
    z = rint(x * factor) / factor if decimals > 0 else rint(x / factor) * factor
    return array.astype(z, x._k.dtype, copy=False)


def complex_of(re, im):
    """Complex values of their parts."""
    dtype = dtypes.complex64 if re._k.dtype is dtypes.float32 else dtypes.complex128
    return array.astype(re, dtype) + array.astype(im, dtype) * 1j


def _of_complex(name, doc, compute):
    function = _of_real[name]

    def either(x, /):
        if isinstance(x, array.Array) and x._k.dtype.kind == "c" or isinstance(x, complex):
            return compute(array.as_operand(x))
        return function(x)

    either.__name__ = either.__qualname__ = name
    either.__doc__ = _of_one(doc, _TAKEN["fc"])
    return either


def _expm1(x):
    re, im = _real(x), _imag(x)
    half = sin(im * 0.5)
    return complex_of(_of_real["expm1"](re) * cos(im) - 2.0 * half * half, exp(re) * sin(im))


def _log1p(x):
    re, im = _real(x), _imag(x)
    near = re * (2.0 + re) + im * im  # |1 + x|^2 - 1; far from 0 it overflows sooner than |1 + x|
    far = log(hypot(1.0 + re, im))
    from dome import searching
    return complex_of(searching.where(near < 1.0, 0.5 * _of_real["log1p"](near), far), atan2(im, 1.0 + re))


expm1 = _of_complex("expm1", "exp(x) - 1, also right for small x.", _expm1)
log1p = _of_complex("log1p", "log(1 + x), also right for small x.", _log1p)
log2 = _of_complex("log2", "The logarithm to base 2.", lambda x: log(x) / math.log(2))
log10 = _of_complex("log10", "The logarithm to base 10.", lambda x: log(x) / math.log(10))


def square(x, /):
    """x * x.

    Shapes: any; the result has that of x.
    Types: numbers; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no number.
    """
    return x * x


def reciprocal(x, /):
    """1 / x.

    Shapes: any; the result has that of x.
    Types: numbers; floating point or complex.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no number.
    """
    return 1.0 / x


def _number_test(name, doc, of_integer):
    def compute(x, /):
        x = array.as_operand(x)
        if x._k.dtype.kind in "biu":
            from dome import creation
            return creation.full(x._k.shape, of_integer, dtype=dtypes.bool)
        return _tests[name](x)

    compute.__name__, compute.__doc__ = name, _of_one(doc, "any", "bool")
    return compute


isnan = _number_test("isnan", "Whether it is no number.", False)
isinf = _number_test("isinf", "Whether it is infinite.", False)
isfinite = _number_test("isfinite", "Whether it is neither infinite nor NaN.", True)


def sign(x, /):
    """-1, 0 or 1; NaN stays; of complex values x / |x|.

    Shapes: any; the result has that of x.
    Types: numbers; that of x.
    Tasks: all call it; nobody waits.
    Raises: TypeError for what is no array or number.
    """
    x = array.as_operand(x)
    kind = x._k.dtype.kind
    if kind == "c":
        from dome import searching
        size = abs(x)
        zero = size == 0.0
        return searching.where(zero, array.of_value(x._k.dtype, 0), x / searching.where(zero, array.of_value(size._k.dtype, 1.0), size))
    if kind == "u":
        return array.astype(x != 0, x._k.dtype)
    up, down = array.astype(x > 0, dtypes.int8), array.astype(x < 0, dtypes.int8)
    result = array.astype(up - down, x._k.dtype)
    return _nan_stays(x, result)


def _nan_stays(x, result):
    if x._k.dtype.kind != "f":
        return result
    from dome import searching
    return searching.where(x != x, x, result)


def clip(x, /, min=None, max=None):
    """Values below min become min, those above max become max (NumPy: clip).

    Shapes: any; limits broadcast to x.
    Types: real; that of x.
    Tasks: all call it; nobody waits.
    Raises: errors.ShapeError for shapes that do not fit together; TypeError for complex values.
    """
    kept = x._k.dtype
    if min is not None:
        x = maximum(x, min)
    if max is not None:
        x = minimum(x, max)
    return array.astype(x, kept, copy=False) if min is not None or max is not None else array.copy(x)


def fma_axpy(y, a, x):
    """y += a * x, with the product rounded before the sum; returns y (BLAS: axpy).

    Shapes: equal ones; y itself.
    Types: equal floating-point types.
    Tasks: all call it; nobody waits.
    Raises: errors.ShapeError for unlike shapes or types.
    """
    if x._k is not y._k or not y._k.real:
        raise array.ShapeMismatch((y._k.shape, x._k.shape))
    env.check_thread()
    env.check(lib.dvec_axpy(y._v, float(a), x._v))
    return y


def _install():
    A = array.Array
    A.__neg__, A.__pos__, A.__abs__, A.__invert__ = (lambda x: negative(x)), (lambda x: positive(x)), (lambda x: abs(x)), (
        lambda x: bitwise_invert(x))
    A.real, A.imag = property(real), property(imag)
    A.__divmod__ = lambda x, y: (x // y, x % y)
    A.__rdivmod__ = lambda x, y: (y // x, y % x)
    A.conj = A.conjugate = lambda x: conj(x)
    A.clip, A.round = (lambda x, min=None, max=None: clip(x, min, max)), (lambda x, decimals=0: round(x, decimals))
    for name, op in (("floordiv", FLOORDIV), ("mod", MOD)):
        setattr(A, f"__{name}__", array._plain(op))
        setattr(A, f"__r{name}__", array._plain(op, True))
        setattr(A, f"__i{name}__", array._inplace(op))
        setattr(array.Scalar, f"__i{name}__", array._plain(op))  # a new value, which Python binds to the name


_install()
