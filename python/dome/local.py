"""This task's part of an array: NumPy views, buffers, DLPack; and values that come from them."""
from dome import arrays as array, dtypes, env, errors
from dome._dome import ffi, lib

_state = env.state
GATHER_BYTES = 80_000_000  # numpy.asarray(x) of a larger array raises


def numpy():
    try:
        import numpy as module
    except ImportError:
        raise ImportError("this needs NumPy (python3-numpy); arrays, their operators and functions do without it") from None
    return module


def spans_of(x, write):
    env.env()
    spans = ffi.new("dvec_span[2]")
    function = lib.dvec_local_spans if write else lib.dvec_local_spans_const
    env.check(function(x._v, spans))
    return spans


def take_part(z, data):
    """Copies this task's part of z from the values of the whole array, in order, at `data`."""
    v = array.target(z)
    step = z._k.width * z._k.dtype.itemsize
    spans = ffi.new("dvec_span[2]")
    env.check(lib.dvec_local_spans(v, spans))
    for span in spans:
        if span.count:
            ffi.memmove(span.data, data + span.first * step, span.count * step)


def from_memory(obj, dtype):
    """An array of an object with memory: a NumPy array, a buffer, an object with DLPack."""
    np = numpy()
    if isinstance(obj, np.generic) and obj.dtype.name in dtypes.BY_NAME:
        return array._creation.asarray(obj.item(), dtype=dtype or dtypes.as_dtype(obj.dtype))
    if hasattr(obj, "__array_interface__"):
        values = np.asarray(obj)
    elif hasattr(obj, "__dlpack__"):
        values = np.from_dlpack(obj)
    elif hasattr(obj, "__array__"):
        values = np.asarray(obj)
    else:
        try:
            values = np.asarray(memoryview(obj))
        except TypeError:
            raise TypeError(f"{type(obj).__name__} has no values for an array: give numbers, lists, or what has a buffer") from None
    if values.dtype.name not in dtypes.BY_NAME:
        raise TypeError(f"values of the type {values.dtype} have no place in an array: it has numbers and bool, no objects, "
                        "texts or times")
    wanted = dtype or dtypes.as_dtype(values.dtype)
    values = np.ascontiguousarray(values).reshape(values.shape)
    values = values.astype(wanted.name, copy=False)  # also from another order of bytes
    env.note_creation("asarray", values.shape)
    z = array.of(wanted, tuple(values.shape))
    if z._k.size:
        take_part(z, ffi.cast("char *", ffi.from_buffer(values.view(np.uint8).reshape(-1) if values.ndim else values)))
        if type(z) is array.Scalar:
            z.item()
    return z


class Local:
    """This task's part of an array, while data stays where it is.

    `numpy()` or `numpy.asarray(part)`: the elements in this task's memory, as an array of NumPy that shares it. `first` is
    the index of the first one along the array's first axis, or among all its values (`flat`) where a row may be on two tasks.
    The part is one run of elements as a rule; the rest of it, if it goes on at the beginning of the array, is `rest`.
    """

    __slots__ = ("_x", "_span", "_layout", "writable", "rest")

    def __init__(self, x, span, writable, rest):
        self._x, self._span, self.writable, self.rest = x, span, writable, rest
        self._layout = ffi.gc(lib.dome_layout_ref(layout_of(x)), lib.dome_layout_unref)

    def _check(self):
        if _state.env and not _state.inside and layout_of(self._x) != self._layout:
            raise BufferError("data has moved since x.local: ask for x.local again, or hold it by `with x.pinned():`")

    @property
    def first(self):
        """The index of the part's first row, or value (`flat`), in the array."""
        return self._span[0]

    @property
    def flat(self):
        """Whether the part is a run of values instead of rows."""
        return self._x._k.width == 1 and len(self._x._k.shape) != 1

    @property
    def shape(self):
        """The part's: rows as the array's, or a run of values (`flat`)."""
        return (self._span[1],) if self.flat else (self._span[1], *self._x._k.shape[1:])

    @property
    def __array_interface__(self):
        self._check()
        return {"version": 3, "shape": self.shape, "typestr": self._x._k.dtype.str,
                "data": (int(ffi.cast("uintptr_t", self._span[2])), not self.writable)}

    def numpy(self):
        """An array of NumPy that shares the part's memory.

        Shapes: the part's.
        Types: the array's.
        Tasks: any task alone may call it.
        Raises: BufferError if data has moved since; ImportError without NumPy.
        """
        return numpy().asarray(self)

    def buffer(self):
        """The part as a memoryview of bytes.

        Shapes: one run of bytes.
        Types: any.
        Tasks: any task alone may call it.
        Raises: BufferError if data has moved since.
        """
        self._check()
        bytes_ = self._span[1] * self._x._k.width * self._x._k.dtype.itemsize
        memory = ffi.gc(ffi.cast("char *", self._span[2]), lambda _, x=self._x: None)  # the array lives as long as the view
        view = memoryview(ffi.buffer(memory, bytes_))
        return view if self.writable else view.toreadonly()

    def __getitem__(self, key):
        return self.numpy()[key]

    def __setitem__(self, key, value):
        self.numpy()[key] = value

    def __len__(self):
        return self._span[1]

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.numpy().__dlpack__()


def layout_of(x):
    """Which task has what of x now: the library's layout. Not collective."""
    info = ffi.new("dome_object_info *", {"size": ffi.sizeof("dome_object_info")})
    env.check(lib.dome_object_describe(lib.dvec_object(x._v), info))
    return info.layout


def local_of(x, write=True):
    spans = spans_of(x, write)
    parts = [(s.first, s.count, s.data) for s in spans]
    rest = Local(x, parts[1], write, None) if parts[1][1] else None
    return Local(x, parts[0], write, rest)


class pinned:
    """`with x.pinned() as part:` the part stays where it is; no function of dome may be called in the block."""

    def __init__(self, x, write=True):
        self._x, self._write = x, write

    def __enter__(self):
        part = local_of(self._x, self._write)
        _state.inside, _state.owner = True, 0
        return part

    def __exit__(self, *unused):
        _state.inside, _state.owner = False, env._ident()
        return False


def gathered(x):
    """All values, as an array of NumPy, on every task.

    Shapes: any; the same.
    Types: any; the same.
    Tasks: all call it, and wait for each other.
    Raises: ImportError without NumPy.
    """
    np = numpy()
    env.env()
    if not x._k.size:
        return np.empty(x._k.shape, dtype=x._k.dtype.name)
    if type(x) is array.Scalar:
        return np.array(x.item(), dtype=x._k.dtype.name)
    data = env.pointer(lib.dvec_allgather(x._v))
    return np.frombuffer(ffi.buffer(ffi.cast("char *", data), x._k.bytes), dtype=x._k.dtype.name).reshape(x._k.shape).copy()


def as_numpy(self, dtype=None, copy=None):
    """For numpy.asarray(x): all values, on every task, unless they are many."""
    if self._k.bytes > GATHER_BYTES:
        raise errors.MemoryExhausted(
            f"numpy.asarray of {self._k.bytes >> 20} MB would bring all values to every task: x.local is this task's part, "
            "x.numpy() brings them nevertheless")
    values = gathered(self)
    return values if dtype is None else values.astype(dtype)


def _dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if env.size() > 1:
        raise BufferError("an array of several tasks is in no single memory: x.local.__dlpack__() is this task's part")
    return gathered(self).__dlpack__()


def _install():
    array.Array.local = property(local_of, doc=Local.__doc__)
    array.Array.local_const = property(lambda x: local_of(x, False), doc="The same to read only.")
    array.Array.pinned = pinned_of
    array.Array.numpy = gathered
    array.Array.__array__ = as_numpy
    array.Array.__dlpack__ = _dlpack
    array.Array.__dlpack_device__ = lambda x: (1, 0)


def pinned_of(x, write=True):
    """Holds this task's part where it is, for a block of the program's own work: `with x.pinned() as part:`.

    Shapes: any; `part` has this task's rows or values.
    Types: any; the same.
    Tasks: all call it, and may wait for each other.
    Raises: errors.Error for calls of dome in the block.
    """
    return pinned(x, write)


_install()
