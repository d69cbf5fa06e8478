"""Messages and collectives between tasks, with mpi4py's habits: small letters take any object that can be pickled."""
from dome import arrays as array, dtypes, env
from dome._dome import ffi, lib

_REDUCTIONS = {"sum": "SUM", "prod": "PROD", "min": "MIN", "max": "MAX", "and": "AND", "or": "OR"}
_U8 = lib.dome_type_basic(lib.DOME_KIND_U8)
_U64 = lib.dome_type_basic(lib.DOME_KIND_U64)
ANY_RANK, ANY_TAG = -1, -1


def _pickle():
    import pickle
    return pickle


_LETTERS = {"d": "f", "f": "f", "?": "b", "Zd": "c", "Zf": "c", "c": "u", **dict.fromkeys("bhilqn", "i"),
            **dict.fromkeys("BHILQN", "u")}


def _buffer(values, write=False):
    """A NumPy array or another buffer of numbers: the library's type, the memory, the number of values."""
    view = memoryview(values)
    code = view.format.lstrip("@=<")
    size = view.itemsize
    letter = _LETTERS.get(code)
    dtype = dtypes.BY_CODE.get(f"{letter}{size}")
    if dtype is None or not view.c_contiguous:
        raise TypeError(f"no buffer of numbers that lie one behind the other: format {view.format!r}")
    return dtype, ffi.from_buffer(values, require_writable=write), view.nbytes // size


def bcast(obj, root=0):
    """An object of task `root`, on every task.

    Tasks: all call it, and wait for each other.
    Raises: errors.ArgumentError for a root that does not exist; what pickle raises.
    """
    data = env.bcast_bytes(_pickle().dumps(obj) if env.rank() == root else b"", root)
    return _pickle().loads(data)


def allgather(obj):
    """A list of the objects of all tasks, on every task.

    Tasks: all call it, and wait for each other.
    Raises: what pickle raises: TypeError, AttributeError.

    >>> dm.tasks.allgather(dm.rank()) == list(range(dm.size()))
    True
    """
    environment, data = env.env(), _pickle().dumps(obj)
    size = env.state.size
    mine, counts = ffi.new("uint64_t *", len(data)), ffi.new("uint64_t[]", size)
    env.check(lib.dome_allgather(environment, _U64, mine, 1, counts))
    lengths = ffi.new("size_t[]", [counts[r] for r in range(size)])
    room = bytearray(sum(lengths))
    env.check(lib.dome_allgatherv(environment, _U8, ffi.from_buffer(data), lengths, ffi.from_buffer(room)))
    result, at = [], 0
    for r in range(size):
        result.append(_pickle().loads(memoryview(room)[at:at + lengths[r]]))
        at += lengths[r]
    return result


def gather(obj, root=0):
    """A list of the objects of all tasks on task `root`; None elsewhere.

    Tasks: all call it, and wait for each other.
    Raises: what pickle raises: TypeError, AttributeError.
    """
    result = allgather(obj)
    return result if env.rank() == root else None


def allreduce(value, op="sum"):
    """A number, or a list of numbers, of all tasks combined by op: sum (exact), prod, min, max, and, or.

    Types: int, float or lists of them; the same.
    Tasks: all call it, and wait for each other.
    Raises: KeyError for another op; TypeError and ValueError for no numbers.

    >>> dm.tasks.allreduce(1) == dm.size()
    True
    """
    environment = env.env()
    numbers = value if isinstance(value, (list, tuple)) else [value]
    whole = all(isinstance(n, int) for n in numbers)
    dtype = dtypes.int64 if whole else dtypes.float64
    room = ffi.new(dtype.cname + "[]", [int(n) if whole else float(n) for n in numbers])
    env.check(lib.dome_allreduce(environment, dtype.ctype, room, len(numbers), getattr(lib, "DOME_" + _REDUCTIONS[op])))
    return list(room) if isinstance(value, (list, tuple)) else room[0]


def Allreduce(buffer, op="sum"):
    """The values of a buffer of all tasks combined, in place.

    Shapes: any buffer that lies in one run; the same.
    Types: numbers.
    Tasks: all call it, and wait for each other.
    Raises: KeyError for another op; TypeError for a buffer of no numbers.
    """
    dtype, memory, count = _buffer(buffer, True)
    env.check(lib.dome_allreduce(env.env(), dtype.ctype, memory, count, getattr(lib, "DOME_" + _REDUCTIONS[op])))


def send(obj, dest, tag=0):
    """Sends an object to a task. Does not wait until that receives it.

    Tasks: the sender alone.
    Raises: errors.ArgumentError for a task that does not exist; what pickle raises.
    """
    data = _pickle().dumps(obj)
    env.check(lib.dome_send(env.env(), dest, tag, _U64, ffi.new("uint64_t *", len(data)), 1))
    env.check(lib.dome_send(env.env(), dest, tag, _U8, ffi.from_buffer(data), len(data)))


def recv(source=ANY_RANK, tag=ANY_TAG):
    """Waits for an object of a task.

    Tasks: the receiver alone, who waits.
    Raises: errors.ArgumentError for a task that does not exist.
    """
    length, got = ffi.new("uint64_t *"), ffi.new("dome_received *")
    env.check(lib.dome_recv(env.env(), source, tag, _U64, length, 1, got))
    room = bytearray(length[0])
    env.check(lib.dome_recv(env.env(), got.rank, got.tag, _U8, ffi.from_buffer(room), length[0], ffi.NULL))
    return _pickle().loads(room)


def Send(buffer, dest, tag=0):
    """Sends the values of a buffer to a task.

    Shapes: any buffer that lies in one run.
    Types: numbers.
    Tasks: the sender alone.
    Raises: errors.ArgumentError for a task that does not exist; TypeError for a buffer of no numbers.
    """
    dtype, memory, count = _buffer(buffer)
    env.check(lib.dome_send(env.env(), dest, tag, dtype.ctype, memory, count))


def Recv(buffer, source=ANY_RANK, tag=ANY_TAG):
    """Waits for values of a task, into a buffer; returns how many.

    Shapes: any buffer that lies in one run, large enough.
    Types: numbers, as they were sent.
    Tasks: the receiver alone, who waits.
    Raises: errors.ArgumentError for a task that does not exist; errors.Error for values that do not fit; TypeError for a
        buffer of no numbers.
    """
    dtype, memory, count = _buffer(buffer, True)
    got = ffi.new("dome_received *")
    env.check(lib.dome_recv(env.env(), source, tag, dtype.ctype, memory, count, got))
    return got.count


def map(function, *inputs, dtype=None):
    """Elements computed by a function in C: a Numba cfunc, or the address of one.

    It has the form void f(void *ctx, uint64_t first, size_t count, void *out, const void *const in[]), as `dvec_kernel` in
    dome/dvec.h, and fills `count` elements of `out` from those of `in[0]`, `in[1]`, ... The result has the shape of the inputs.

    Shapes: equal ones; that of the inputs.
    Types: any; dtype, or that of the first input.
    Tasks: all call it; nobody waits.
    Raises: errors.ShapeError for unlike shapes; TypeError for no element type.
    """
    address = getattr(function, "address", function)
    kernel = ffi.cast("dvec_kernel", address)
    x = inputs[0]
    z = array.of(x._k.dtype if dtype is None else dtypes.as_dtype(dtype), x._k.shape)
    env.check_thread()
    env.state.kernels = True
    env.check(lib.dvec_map(z._v, kernel, ffi.NULL, len(inputs), [i._v for i in inputs]))
    return z
