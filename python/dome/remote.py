"""Arrays of the workers as a client has them, and how notebooks show them."""
import struct
import subprocess
import sys

from dome import dtypes, protocol

# Functions and methods that return one array: they are recorded, and nobody waits. All others are waited for.
LAZY = frozenset("""
abs absolute acos acosh add all any arange argmax argmin argsort asarray array asin asinh astype atan atan2 atanh bitwise_and
bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_to cbrt ceil clip concat concatenate conj
copy copysign cos cosh count_nonzero cross cumprod cumsum cumulative_prod cumulative_sum diagonal diff divide dot empty
empty_like equal exp expand_dims expm1 eye exp2 flip floor floor_divide full full_like greater greater_equal hypot imag invert
isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor
matmul matrix_transpose max maximum mean median min minimum moveaxis multiply negative nextafter not_equal ones ones_like outer
permute_dims positive pow power prod ravel real reciprocal remainder repeat reshape roll round searchsorted sign signbit sin
sinh sort sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile transpose tril triu
trunc unique_values var vecdot vdot where zeros zeros_like random.random random.normal random.uniform random.standard_normal
random.integers random.permutation append around average bincount column_stack convolve cov diag digitize flatnonzero fliplr
flipud gradient hstack inner interp isclose kron nan_to_num nanmax nanmean nanmin nansum nearest percentile ptp quantile rint
select trapezoid trapz vstack count_by sum_by min_by max_by linalg.norm norm linalg.cholesky linalg.cross linalg.det linalg.diagonal linalg.eigvalsh linalg.inv linalg.matmul
linalg.matrix_norm linalg.matrix_power linalg.matrix_transpose linalg.outer linalg.pinv linalg.solve linalg.svdvals
linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm
""".split())

FORMATS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
           "uint64": "Q", "float32": "f", "float64": "d", "complex64": "f", "complex128": "d"}


class Waiting:
    """A result that the client waits for."""

    def __init__(self):
        self.at, self.done, self._value, self._blobs, self._error = 0, False, None, (), None

    def resolve(self, value, blobs, error):
        self._value, self._blobs, self._error, self.done = value, blobs, error, True

    def fail(self, told):
        self._error, self.done = told, True

    def value(self, array):
        if self._error and self._value is None:
            raise RuntimeError(f"there is no result: {self._error['text']}")
        return protocol.decode(self._value, self._blobs, lambda x: array(x) if isinstance(x, protocol.Ref) else x)


def python_values(values):
    """The values of an array that has come, as Python numbers."""
    code = FORMATS[values.dtype]
    numbers = list(memoryview(bytes(values.data)).cast("B").cast(code)) if values.data else []
    if values.dtype.startswith("complex"):
        numbers = [complex(a, b) for a, b in zip(numbers[::2], numbers[1::2])]
    return numbers


def values_of(value):
    """A NumPy array, or a scalar of NumPy's, as what goes to the workers."""
    if not hasattr(value, "tobytes") or not hasattr(value, "dtype"):
        return value
    dtype = value.dtype.newbyteorder("=") if hasattr(value.dtype, "newbyteorder") else value.dtype
    if dtype.name not in dtypes.BY_NAME:
        raise TypeError(f"values of the type {value.dtype} have no place in an array: it has numbers and bool")
    return protocol.Values(dtype.name, value.shape, value.astype(dtype).tobytes())


def nested(numbers, shape):
    if not shape:
        return numbers[0]
    if len(shape) == 1:
        return numbers
    step = len(numbers) // shape[0] if shape[0] else 0
    return [nested(numbers[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


class RemoteArray:
    """An array of the workers. Operators, functions and methods are those of arrays; values come when they are read."""

    __slots__ = ("_client", "_number", "_dtype", "_shape", "__weakref__")
    __array_priority__ = 1001.0
    __array_ufunc__ = None

    def __init__(self, client, number, dtype=None, shape=None):
        self._client, self._number, self._shape = client, number, shape
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype)

    def __del__(self):
        try:
            self._client._dropped.append(self._number)
        except AttributeError:  # it was not made completely, or the interpreter ends
            pass

    # ---- what it is ----

    def _info(self):
        found = self._client.fetch("info", {"h": self._number})
        if found is None:
            raise TypeError("the result of the call is no array")
        self._dtype, self._shape = dtypes.as_dtype(found[0]), found[1]

    @property
    def dtype(self):
        if self._dtype is None:
            self._info()
        return self._dtype

    @property
    def shape(self):
        if self._shape is None:
            self._info()
        return self._shape

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    @property
    def device(self):
        return "cpu"

    def to_device(self, device, /, *, stream=None):
        if device != "cpu":
            raise ValueError(f"there is no device {device!r}")
        return self

    def __array_namespace__(self, /, *, api_version=None):
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"the version {api_version} of the array API is not known")
        return self._client

    @property
    def T(self):
        return self._client.call("attr:T", [self], {}, True)

    @property
    def mT(self):
        return self._client.call("attr:mT", [self], {}, True)

    # ---- values ----

    def _values(self):
        values = self._client.fetch("get", {"h": self._number})
        self._dtype, self._shape = dtypes.as_dtype(values.dtype), values.shape
        return values

    def get(self):
        """All values: an array of NumPy, or nested lists where NumPy is not installed."""
        values = self._values()
        try:
            import numpy
        except ImportError:
            return nested(python_values(values), values.shape)
        return numpy.frombuffer(bytearray(values.data), dtype=values.dtype).reshape(values.shape)

    numpy = get

    def __array__(self, dtype=None, copy=None):
        values = self.get()
        return values if dtype is None else values.astype(dtype)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """The values, which come here, as a capsule (DLPack). Needs NumPy."""
        return self.get().__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)

    def tolist(self):
        values = self._values()
        return nested(python_values(values), values.shape)

    def item(self):
        if self._shape is not None and self.size != 1:
            raise ValueError(f"an array of the shape {self._shape} has not one value")
        values = self._values()
        if len(python_values(values)) != 1:
            raise ValueError(f"an array of the shape {self._shape} has not one value")
        return python_values(values)[0]

    def _one(self):
        if self.size != 1:
            raise ValueError("an array of several values is neither true nor false, nor a number")
        return self.item()

    def __float__(self):
        value = self._one()
        if isinstance(value, complex):
            raise TypeError("a complex value is no float")
        return float(value)

    def __int__(self):
        value = self._one()
        if isinstance(value, complex):
            raise TypeError("a complex value is no int")
        return int(value)

    def __complex__(self):
        return complex(self._one())

    def __bool__(self):
        return bool(self._one())

    def __index__(self):
        if self.dtype.kind not in "iu" or self.size != 1:
            raise TypeError("only an integer array of one value is an index")
        return self.item()

    def __len__(self):
        if not self.shape:
            raise TypeError("a 0-d array has no length")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            raise TypeError("a 0-d array has no elements to go through")
        return iter([self[i] for i in range(self.shape[0])])

    def __repr__(self):
        """The values, as far as they fit; so it waits."""
        if self.size > 1000:
            return f"<array of {self.dtype.name} {self.shape} on {self._client.n} workers>"
        text = repr(self.tolist()) if "numpy" not in sys.modules else str(self.get())
        return f"array({text}, dtype={self.dtype.name})"

    def __format__(self, spec):
        return format(self.item(), spec) if spec else str(self)

    def __hash__(self):
        return id(self)

    def __reduce__(self):
        raise TypeError("an array of workers cannot be pickled: x.get() has its values")

    # ---- parts ----

    def __getitem__(self, key):
        return self._client.call("op:getitem", [self, key], {}, True)

    def __setitem__(self, key, value):
        client = self._client
        with client._lock:
            words = client._encoded([self, key, value])
            client._record("put", None, *words)
        client._recorded()

    def __getattr__(self, name):
        if name.startswith("_") or name in RemoteArray.__dict__:
            raise AttributeError(name)
        return Function(self._client, "method:" + name, self)


class Function:
    """A function of dome, or a method of an array, on the workers."""

    def __init__(self, client, path, first=None):
        self._client, self._path, self._first = client, path, first
        self.__name__ = path.rpartition(":")[2].rpartition(".")[2]

    def __call__(self, *args, **kwargs):
        args = list(args) if self._first is None else [self._first, *args]
        return self._client.call(self._path, args, kwargs, self._path.rpartition(":")[2] in LAZY)

    def __repr__(self):
        return f"<{self._path} on the workers>"


class Space:
    """A part of dome, such as linalg, on the workers."""

    def __init__(self, client, path):
        self._client, self._path = client, path

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return namespace(self._client, f"{self._path}.{name}")


def namespace(client, path):
    """What a public name of dome is for a client: a type or a number as it is, functions and modules of the workers."""
    import types

    import dome
    found = dome
    try:
        for part in path.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise AttributeError(f"dome has no name {path!r}") from None
    if isinstance(found, types.ModuleType):
        return Space(client, path)
    if path == "random.default_rng":
        return lambda seed: found(seed, Space(client, "random"))
    if path in LOCAL or not callable(found) or isinstance(found, dtypes.DType):
        return found
    return wrapped(client, path, found)


# Functions of types alone: they need no workers.
LOCAL = frozenset(("finfo", "iinfo", "isdtype"))


def wrapped(client, path, function):
    """The function, with the original's documentation and signature."""
    import functools
    lazy = path in LAZY

    @functools.wraps(function, updated=())
    def on_workers(*args, **kwargs):
        return client.call(path, args, kwargs, lazy and (path != "where" or len(args) > 1))
    return on_workers


def _operators():
    plain = "add sub mul truediv floordiv mod pow matmul lshift rshift"
    for name in plain.split() + ["and", "or", "xor"]:
        path = f"op:{name}_" if name in ("and", "or") else f"op:{name}"
        setattr(RemoteArray, f"__{name}__", _operator(path, False))
        setattr(RemoteArray, f"__r{name}__", _operator(path, True))
        setattr(RemoteArray, f"__i{name}__", _inplace(f"op:i{name}"))
    RemoteArray.__divmod__ = lambda x, y: (x // y, x % y)
    RemoteArray.__rdivmod__ = lambda x, y: (y // x, y % x)
    RemoteArray.__round__ = lambda x, digits=None: round(float(x), digits)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(RemoteArray, f"__{name}__", _operator(f"op:{name}", False))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(RemoteArray, f"__{name}__", _unary(f"op:{name}"))


def _operator(path, swap):
    def operate(x, y):
        if y is None or isinstance(y, (str, bytes, list, dict)):
            return NotImplemented
        return x._client.call(path, [y, x] if swap else [x, y], {}, True)
    return operate


def _inplace(path):
    def operate(x, y):
        client = x._client
        with client._lock:
            words = client._encoded([x, y])
            client._record("call", x._number, path, words, {})
        client._recorded()
        return x
    return operate


def _unary(path):
    return lambda x: x._client.call(path, [x], {}, True)


_operators()


# ---- notebooks ----

def shell():
    """The running IPython, or None."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module else None


def into_notebook(client):
    """`%%dome` in IPython and Jupyter; and errors are raised in the cell whose calls have failed."""
    running = shell()
    if running is None or getattr(running, "_dome_magic", False):
        return
    running._dome_magic = True
    running.register_magic_function(_cell, "cell", "dome")


def _cell(line, cell):
    """%%dome: runs the cell on all workers of the client of that name, or of the latest client."""
    from dome.interactive import Client
    client = shell().user_ns.get(line.strip()) if line.strip() else Client.latest
    if client is None:
        raise NameError(f"there is no client {line.strip()}: make one by c = dome.Client(n=4)")
    client.run(cell)


def live_page(client, height):
    page = client.__dict__.get("_page")
    if page is None or page.poll() is not None:
        from dome.__main__ import find_command
        page = subprocess.Popen([find_command(), "view", "--live", str(client._hello["hub"])], stdout=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL)
        client._page, client._address = page, ""
        for line in page.stdout:
            at = line.find("http://")
            if at >= 0:
                client._address = line[at:].split()[0]
                break
    if shell() is None:
        return client._address
    from IPython.display import IFrame
    return IFrame(client._address, width="100%", height=height)
