"""Arithmetic of 0-d arrays: at once if their values are known, else recorded, so that `float(s)` alone waits."""
import operator

from dome import arrays as array, dtypes, env, memory
from dome._dome import ffi, lib

_state = env.state
Scalar, scalar = array.Scalar, array.scalar


def pending():
    """A scalar of the library's for a value that is still to come."""
    if memory._scalars:
        return memory._scalars.pop()
    if _state.size == 1 and memory._dead_scalars:
        return memory.Future(memory._dead_scalars.pop())
    if len(memory._all_scalars) >= memory._scalars_most[0]:
        memory.collect_scalars()
        if memory._scalars:
            return memory._scalars.pop()
    s = lib.dscalar_new(_state.env, ffi.NULL, dtypes.float64.ctype)
    if not s:
        env.fail()
    if _state.size > 1:
        memory._all_scalars[s] = True
    return memory.Future(s)


def _future_of(value):
    """The library's scalar for an operand of arithmetic with a pending one; None: it has none."""
    if type(value) is Scalar and value._k.dtype is dtypes.float64:
        if value._future is not None:
            return value._future
        value = value._value
    if type(value) in (float, int):
        future = pending()
        env.check(lib.dscalar_set_f64(future.s, float(value)))
        return future
    return None


def _recorded(function, x, y):
    """x op y with an operand that is pending; None if it cannot be recorded."""
    a, b = _future_of(x), _future_of(y)
    if a is None or b is None:
        return None
    z = scalar(memory.kind_of(dtypes.float64, ()), None, pending())
    env.check(function(z._future.s, a.s, b.s))
    return z


def _is_pending(x):
    return type(x) is Scalar and x._value is None and x._future is not None


def _arithmetic(op, at_once, function):
    def compute(x, y):
        if type(x) is array.Distributed or type(y) is array.Distributed:
            return array.operate(op, x, y)
        a = x._value if type(x) is Scalar else x
        b = y._value if type(y) is Scalar else y
        kind = x._k if type(x) is Scalar else y._k
        if type(a) is float and type(b) in (float, int) or type(b) is float and type(a) is int:
            if kind.exact and (type(x) is not Scalar or x._k is kind) and (type(y) is not Scalar or y._k is kind):
                try:
                    return scalar(kind, at_once(float(a), float(b)))
                except ArithmeticError:  # the library has the value of 1.0 / 0.0
                    pass
        elif _is_pending(x) or _is_pending(y):
            env.check_thread()
            z = _recorded(function, x, y)
            if z is not None:
                return z
        return array.operate(op, x, y)

    return (lambda x, y: compute(x, y)), (lambda x, y: compute(y, x))


def _refuse_inplace(op):
    def inplace(x, y):  # a new value: Python binds the name to it
        return op(x, y)
    return inplace


def _install():
    for name, op, at_once in (("add", array.ADD, operator.add), ("sub", array.SUB, operator.sub),
                              ("mul", array.MUL, operator.mul), ("truediv", array.DIV, operator.truediv)):
        function = getattr(lib, "dscalar_" + op.name)
        forward, backward = _arithmetic(op, at_once, function)
        setattr(Scalar, f"__{name}__", forward)
        setattr(Scalar, f"__r{name}__", backward)
        setattr(Scalar, f"__i{name}__", _refuse_inplace(forward))
    for name in ("pow", "and", "or", "xor", "lshift", "rshift", "floordiv", "mod", "matmul"):
        forward = getattr(array.Array, f"__{name}__", None)
        if forward:
            setattr(Scalar, f"__i{name}__", _refuse_inplace(forward))
    for name, op, at_once in (("lt", array.LT, operator.lt), ("le", array.LE, operator.le), ("gt", array.GT, operator.gt),
                              ("ge", array.GE, operator.ge), ("eq", array.EQ, operator.eq), ("ne", array.NE, operator.ne)):
        setattr(Scalar, f"__{name}__", _comparison(op, at_once))
    Scalar.__hash__ = array.Array.__hash__


def _comparison(op, at_once):
    def compare(x, y):
        if y is None or isinstance(y, str):
            return NotImplemented
        if x._k.exact and (type(y) in (float, int) or type(y) is Scalar and y._k is x._k):
            a, b = x.item(), y.item() if type(y) is Scalar else y
            return scalar(memory.kind_of(dtypes.bool, ()), at_once(a, b))
        return array.operate(op, x, y)
    return compare


_install()
