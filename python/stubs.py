"""Writes the types of the public interface (PEP 561), dome/*.pyi, from the functions' own parameters: stubs.py [--check]

Types follow from the names of parameters, which are the same everywhere, and from tables of what differs from that: parameters of
single functions, and results that are no array. Needs the built package (PYTHONPATH).
"""
import importlib
import inspect
import pathlib
import sys

sys.path.pop(0)  # this folder, which has the package without its module in C
import dome  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().with_name("dome")
# The modules that users name, and those whose classes they get.
MODULES = ("decompositions", "dtypes", "env", "errors", "interactive", "linalg", "local", "loop", "random", "remote", "searching", "sparse",
           "tasks")
SHOWN = ("dtypes", "linalg", "random", "sparse", "tasks")
HEAD = '''# Written by stubs.py: the types of the public interface.
import builtins
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Union, overload

'''
# Array libraries and buffers are known by what they have.
PACKAGE = '''from dome import dtypes as dtypes, errors as errors, linalg as linalg, local as local, random as random, sparse as sparse, tasks as tasks
from dome.dtypes import DType, finfo as finfo, iinfo as iinfo
from dome.env import catch as catch
from dome.errors import Error as Error, OtherTaskError as OtherTaskError
from dome.interactive import Client as Client
from dome.local import Local, pinned
from dome.loop import loop as loop
from dome.searching import UniqueAll, UniqueCounts, UniqueInverse

class _HasInterface(Protocol):
    @property
    def __array_interface__(self) -> Any: ...

class _HasDLPack(Protocol):
    def __dlpack__(self) -> Any: ...

class _HasName(Protocol):
    @property
    def name(self) -> builtins.str: ...

_ArrayLike = Union["Array", complex, Sequence[Any], _HasInterface, _HasDLPack, memoryview]
_DTypeLike = Union[DType, builtins.str, type, _HasName]
_Shape = Union[int, Sequence[int]]
_Axis = Union[int, Sequence[int], None]
'''
OTHERS = "from dome import Array, _ArrayLike, _Axis, _DTypeLike, _Shape\n"
BOOL, STR = "builtins.bool", "builtins.str"
ARRAYS = "Sequence[_ArrayLike]"
PARAMETERS = {
    **dict.fromkeys("x x1 x2 y xp fp values weights indices labels fill_value start stop a value prepend append low high loc scale "
                    "condition default".split(), "_ArrayLike"),
    **dict.fromkeys("k n num decimals tasks n_rows minlength offset dest source root tag seed skiprows".split(), "int"),
    **dict.fromkeys("keepdims stable descending endpoint largest density equal_nan include_initial return_index return_inverse "
                    "return_counts right full_matrices upper write replace".split(), BOOL),
    **dict.fromkeys("name side indexing mode op sep end delimiter comments".split(), STR),
    **dict.fromkeys("rtol atol base step dx nan correction".split(), "float"),
    **dict.fromkeys("shift destination repetitions axes".split(), "int | Sequence[int]"),
    **dict.fromkeys("columns choices conditions rows".split(), ARRAYS),
    "arrays": "Union[Array, Sequence[_ArrayLike]]", "axis": "_Axis", "dtype": "_DTypeLike", "shape": "_Shape", "device": STR + " | None",
    "copy": BOOL + " | None", "ddof": "int | None", "n_cols": "int | None", "text": "object", "rank": "int | None",
    "steps": "int", "posinf": "float | None", "neginf": "float | None", "size": "_Shape", "path": "builtins.str | os.PathLike[builtins.str]"}
# FUNCTION: {parameter: type}, where the name alone does not tell.
OWN_PARAMETERS = {
    "array": {"obj": "_ArrayLike"}, "asarray": {"obj": "_ArrayLike"}, "array_split": {"parts": "int | Sequence[int]"},
    "split": {"parts": "int | Sequence[int]"}, "hstack": {"parts": ARRAYS}, "nearest": {"rows": "_ArrayLike"},
    "where": {"x1": "_ArrayLike | None", "x2": "_ArrayLike | None"}, "axpy": {"y": "Array", "a": "float", "x": "Array"},
    "swapaxes": {"a": "int", "b": "int"}, "moveaxis": {"source": "int | Sequence[int]"}, "transpose": {"axes": "Sequence[int] | None"},
    "tensordot": {"axes": "int | Sequence[Any]"}, "quantile": {"q": "float | Sequence[float]"}, "percentile": {"q": "float | Sequence[float]"},
    "repeat": {"repeats": "_ArrayLike"}, "meshgrid": {"rows": "_ArrayLike"}, "isdtype": {"kind": "Any"}, "result_type": {"given": "Any"}, "arange": {"step": "complex", "stop": "complex | None", "start": "complex"},
    "broadcast_arrays": {"arrays": "_ArrayLike"}, "broadcast_shapes": {"shapes": "Sequence[int]"},
    "clip": {"min": "_ArrayLike | None", "max": "_ArrayLike | None"}, "print": {"values": "object"},
"allreduce": {"value": "float | Sequence[float]"}, "map": {"inputs": "Array"},
    "trapezoid": {"x": "_ArrayLike | None"}, "trapz": {"x": "_ArrayLike | None"}, "Generator.choice": {"x": "int | Array"},
    "Generator.permutation": {"x": "int | Array"}, "Generator.integers": {"low": "int", "high": "int | None"},
    "integers": {"low": "int", "high": "int"}, "searchsorted": {"sorter": "_ArrayLike | None"},
    "histogram": {"bins": "int | _ArrayLike", "range": "tuple[float, float] | None"}, "digitize": {"bins": "_ArrayLike"},
    "Array.fill": {"value": "complex"}, "promote": {"a": "DType", "b": "DType"}, "real_of": {"dtype": "DType"},
    "with_scalar": {"dtype": "DType", "value": "complex"}, "Client.run": {"source": STR}}
PAIR = "tuple[Array, Array]"
RESULTS = {name: kind for kind, names in {
    BOOL: "allclose array_equal can_cast isdtype is_restarting",
    "int": "rank size ndim epoch tasks.Recv",
    STR: "host", "DType": "result_type as_dtype promote with_scalar real_of", "tuple[int, ...]": "shape broadcast_shapes",
    "None": "abort barrier checkpoint finalize init print resize save tasks.Allreduce tasks.Send "
            "tasks.send Array.fill Array.sort Matrix.save Client.close Client.flush Client.wait Client.run",
    "list[Array]": "array_split broadcast_arrays meshgrid split", "tuple[Array, ...]": "nonzero unstack",
    PAIR: "topk histogram", "UniqueAll": "unique_all", "UniqueCounts": "unique_counts", "UniqueInverse": "unique_inverse",
    "Info": "__array_namespace_info__", "str": "Info.default_device", "list[builtins.str]": "Info.devices",
    "dict[builtins.str, DType]": "Info.dtypes Info.default_dtypes", "dict[builtins.str, Any]": "Info.capabilities",
    "Any": "tasks.bcast tasks.recv tasks.allreduce Array.tolist Array.item Array.numpy "
           "Local.numpy Local.rest Client.call Client.fetch Client.result Client.view RemoteArray.get RemoteArray.tolist RemoteArray.item",
    "list[Any]": "tasks.allgather", "list[Any] | None": "tasks.gather", "pinned": "Array.pinned",
    "Matrix": "sparse.load sparse.coo_matrix sparse.csr_matrix", "Generator": "random.default_rng",
    "EighResult": "eigh", "QRResult": "qr", "SlogdetResult": "slogdet", "SVDResult": "svd", "tuple[Array, Array, Array, Array]": "lstsq",
    "memoryview": "Local.buffer"}.items() for name in names.split()}
# Functions whose result depends on what they are given.
OVERLOADS = {
    "where": ["(__condition: _ArrayLike, __x1: None = ..., __x2: None = ...) -> tuple[Array, ...]",
              "(__condition: _ArrayLike, __x1: _ArrayLike, __x2: _ArrayLike) -> Array"],
    "unique": ["(__x: _ArrayLike) -> Array",
               "(__x: _ArrayLike, *, return_index: builtins.bool = ..., return_inverse: builtins.bool = ..., "
               "return_counts: builtins.bool = ...) -> Any"]}
# Attributes and properties of classes.
ATTRIBUTES = {
    "Array": {"shape": "tuple[int, ...]", "dtype": "DType", "ndim": "int", "size": "int", "itemsize": "int", "nbytes": "int", "device": STR,
              "T": "Array", "mT": "Array", "real": "Array", "imag": "Array", "local": "Local", "local_const": "Local"},
    "DType": {"name": STR, "itemsize": "int", "kind": STR, "ctype": "Any", "cname": STR, "letter": STR, "type": "Any", "str": STR},
    "finfo": {"bits": "int", "dtype": "DType", "eps": "float", "max": "float", "min": "float", "smallest_normal": "float"},
    "iinfo": {"bits": "int", "dtype": "DType", "max": "int", "min": "int"},
    "Error": {"status": STR}, "OtherTaskError": {"rank": "int | None"},
    "WorkerError": {"kind": STR, "traceback": STR, "rank": "int"},
    "loop": {"name": STR, "steps": "int"}, "Matrix": {"shape": "tuple[int, int]", "dtype": "DType", "nnz": "int", "T": "Matrix", "transpose": "Matrix"},
    "Local": {"first": "int", "flat": BOOL, "shape": "tuple[int, ...]", "writable": BOOL, "rest": "Local | None", "__array_interface__": "Any"},
    "Client": {"latest": "Client | None", "n": "int", "hosts": "list[builtins.str]", "pids": "list[int]", "healed": "int"},
    "RemoteArray": {"shape": "tuple[int, ...]", "dtype": "DType", "ndim": "int", "size": "int", "itemsize": "int", "nbytes": "int",
                    "device": STR, "T": "RemoteArray", "mT": "RemoteArray"}}
# Methods that Python calls by itself, and attributes that __getattr__ finds.
SPECIAL = {
    "loop": ["__iter__(self) -> Iterator[int]", "__len__(self) -> int"],
    "catch": ["__enter__(self) -> catch", "__exit__(self, kind: Any, value: Any, trace: Any) -> builtins.bool"],
    "pinned": ["__enter__(self) -> Local", "__exit__(self, *unused: Any) -> builtins.bool"],
    "DType": ["__call__(self, value: _ArrayLike = ...) -> Array", "__eq__(self, other: object) -> builtins.bool",
              "__ne__(self, other: object) -> builtins.bool", "__hash__(self) -> int"],
    "Matrix": ["__matmul__(self, x: _ArrayLike) -> Array", "__rmatmul__(self, x: _ArrayLike) -> Array", "__imul__(self, factor: float) -> Matrix"],
    "Local": ["__getitem__(self, key: Any) -> Any", "__setitem__(self, key: Any, value: Any) -> None", "__len__(self) -> int",
              "__dlpack__(self, *, stream: Any = ..., max_version: Any = ..., dl_device: Any = ..., copy: Any = ...) -> Any",
              "__dlpack_device__(self) -> tuple[int, int]"],
    "Client": ["__getattr__(self, name: builtins.str) -> Any", "__getitem__(self, name: builtins.str) -> Any",
               "__setitem__(self, name: builtins.str, value: Any) -> None", "__enter__(self) -> Client",
               "__exit__(self, *unused: Any) -> None"],
    "RemoteArray": ["__getattr__(self, name: builtins.str) -> Any", "__getitem__(self, key: Any) -> RemoteArray",
                    "__setitem__(self, key: Any, value: Any) -> None", "__len__(self) -> int", "__iter__(self) -> Iterator[RemoteArray]",
                    "__float__(self) -> float", "__int__(self) -> int", "__complex__(self) -> complex", "__bool__(self) -> builtins.bool",
                    "__index__(self) -> int"]}
BINARY = ("add sub mul truediv floordiv mod pow and or xor lshift rshift matmul").split()


def named_as(scope, name, table):
    """What a table has for a name: with its scope, a module or class, or else for all that are called so."""
    return table.get(f"{scope}.{name}", table.get(name))


def typed(scope, function, parameter):
    """One parameter, of a function's name, with its type."""
    own = named_as(scope, function, OWN_PARAMETERS) or {}
    kind = own.get(parameter.name) or PARAMETERS.get(parameter.name, "Any")
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"*{parameter.name}: {own.get(parameter.name, 'Any')}"
    if parameter.kind is parameter.VAR_KEYWORD:
        return f"**{parameter.name}: Any"
    if parameter.default is parameter.empty:
        return f"{parameter.name}: {kind}"
    if parameter.default is None and kind not in ("Any", "_Axis", "object") and "None" not in kind:
        kind += " | None"
    return f"{parameter.name}: {kind} = ..."


def parameters(function, name, scope, method=False):
    """The parameters of a function with types, as a stub has them; the first one of a method is the object."""
    words, slash, star = [], False, False
    for position, parameter in enumerate(inspect.signature(function).parameters.values()):
        if slash and parameter.kind is not parameter.POSITIONAL_ONLY:
            words.append("/")
            slash = False
        slash = slash or parameter.kind is parameter.POSITIONAL_ONLY
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            words.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        words.append(parameter.name if method and not position else typed(scope, name, parameter))
    return ", ".join(words + ["/"] * slash)


def class_of_arrays():
    lines = ["class Array:", *attributes(dome.Array)]
    for name, value in vars(dome.Array).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            kind = RESULTS.get("Array." + name) or ("tuple[Array, ...]" if name == "nonzero" else "Array")
            lines.append(f"    def {name}({parameters(value, name, 'Array', True)}) -> {kind}: ...")
    for name in BINARY:
        lines += [f"    def __{side}{name}__(self, other: _ArrayLike) -> Array: ..." for side in ("", "r", "i")
                  if hasattr(dome.Array, f"__{side}{name}__")]
    for name in ("lt", "le", "gt", "ge"):
        lines.append(f"    def __{name}__(self, other: _ArrayLike) -> Array: ...")
    for name in ("eq", "ne"):
        lines.append(f"    def __{name}__(self, other: object) -> Array: ...  # type: ignore[override]")
    for name, kind in (("neg", "Array"), ("pos", "Array"), ("abs", "Array"), ("invert", "Array"), ("float", "float"), ("int", "int"),
                       ("complex", "complex"), ("bool", BOOL), ("index", "int"), ("len", "int"), ("iter", "Iterator[Array]"), ("hash", "int")):
        lines.append(f"    def __{name}__(self) -> {kind}: ...")
    for name in ("divmod", "rdivmod"):
        lines.append(f"    def __{name}__(self, other: _ArrayLike) -> {PAIR}: ...")
    return lines + ["    def __getitem__(self, key: Any) -> Array: ...", "    def __setitem__(self, key: Any, value: _ArrayLike) -> None: ...",
                    "    def __dlpack__(self, *, stream: Any = ..., max_version: Any = ..., dl_device: Any = ..., copy: Any = ...) -> Any: ...",
                    "    def __dlpack_device__(self) -> tuple[int, int]: ..."]


def attributes(cls):
    lines = []
    for name, kind in ATTRIBUTES.get(cls.__name__, {}).items():
        if isinstance(vars(cls).get(name), property):
            lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
        else:
            lines.append(f"    {name}: {kind}")
    return lines


def class_of(cls):
    """A class with its public methods; a named tuple of arrays with its fields."""
    name = cls.__name__
    if hasattr(cls, "_fields"):
        return [f"class {name}(NamedTuple):", *(f"    {field}: Array" for field in cls._fields)]
    bases = ", ".join(base.__name__ for base in cls.__bases__ if base is not object)
    lines = attributes(cls)
    for method, value in vars(cls).items():
        if inspect.isfunction(value) and (method == "__init__" or not method.startswith("_")):
            words = parameters(value, method, name, True)
            other = "Array" if cls.__module__ != "dome.remote" else "RemoteArray"
            kind = "None" if method == "__init__" else RESULTS.get(f"{name}.{method}", other)
            lines.append(f"    def {method}({words}) -> {kind}: ...")
    lines += [f"    def {word}: ..." for word in SPECIAL.get(name, ())]
    return [f"class {name}({bases}):" if bases else f"class {name}:", *(lines or ["    ..."])]


def variable(name, value):
    if isinstance(value, dome.dtypes.DType):
        kind = "DType"
    elif value is None or type(value) in (int, float, complex, str):
        kind = "None" if value is None else "builtins.str" if type(value) is str else type(value).__name__
    else:
        kind = "Any"
    return f"{name}: {kind}"


def functions(scope, names):
    for name, value in sorted(names.items()):
        if not callable(value) or isinstance(value, dome.dtypes.DType):
            yield variable(name, value)
        elif name in OVERLOADS:
            yield from (f"@overload\ndef {name}{words}: ..." for words in OVERLOADS[name])
        elif inspect.isfunction(value):
            result = named_as(scope, name, RESULTS) or named_as(scope, value.__name__, RESULTS) or "Array"
            yield f"def {name}({parameters(value, name, scope)}) -> {result}: ..."


def public(module):
    return {name: value for name, value in vars(module).items() if not name.startswith("_") and not inspect.ismodule(value)}


def package():
    names = {name: value for name, value in public(dome).items() if not inspect.isclass(value)}
    names.update({name: getattr(dome, name) for name in ("__version__", "__array_api_version__", "__array_namespace_info__")})
    own = [*class_of_arrays(), "", "ndarray = Array", "", *class_of(dome.Info)]
    return "\n".join([HEAD + PACKAGE, *own, *functions("dome", names), ""])


def module(name):
    """The stub of a module: its classes, and in those that users name also its functions and values."""
    it = importlib.import_module("dome." + name)
    names, lines = {}, []
    for key, value in public(it).items():
        home = getattr(value, "__module__", it.__name__)
        if inspect.isclass(value):
            lines += [*class_of(value), ""] if home == it.__name__ and value.__name__ == key else []
        elif name in SHOWN and home.startswith("dome.") and type(value).__module__ != "_cffi_backend":
            names[key] = value
    text = "\n".join([*lines, *functions(name, names), ""])
    wanted = [f"from dome.decompositions import {kind}\n" for kind in ("EighResult", "QRResult", "SVDResult", "SlogdetResult")
              if name == "linalg" and kind in text]
    wanted += ["from dome.dtypes import DType\n"] * (name != "dtypes" and "DType" in text)
    wanted += ["from dome.errors import Error\n"] * (name != "errors" and "(Error)" in text)
    return HEAD + OTHERS + "".join(wanted) + "\n" + text


def main():
    texts = {"__init__": package(), **{name: module(name) for name in MODULES}, "_dome": HEAD.splitlines()[0] + "\nfrom typing import Any\n\n"
             "ffi: Any\nlib: Any\n"}
    for name, text in texts.items():
        file = FOLDER / (name + ".pyi")
        if sys.argv[1:] != ["--check"]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            sys.exit(f"{file} is not what stubs.py writes now: run it")


main()
