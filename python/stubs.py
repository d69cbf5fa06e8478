"""Writes dome/__init__.pyi, the types of the public interface (PEP 561), from the functions' own parameters: stubs.py [--check]

Types follow from the names of parameters, which are the same everywhere, and from lists of those functions that return something
else than an array. Needs the built package (PYTHONPATH).
"""
import inspect
import pathlib
import sys

sys.path.pop(0)  # this folder, which has the package without its module in C
import dome  # noqa: E402

FILE = pathlib.Path(__file__).resolve().with_name("dome") / "__init__.pyi"
HEAD = '''# Written by stubs.py: the types of the public interface.
import builtins
from typing import Any, Iterator, Sequence, Union

from dome import linalg as linalg, random as random, sparse as sparse, tasks as tasks
from dome.dtypes import DType as DType, finfo as finfo, iinfo as iinfo
from dome.env import catch as catch
from dome.errors import Error as Error, OtherTaskError as OtherTaskError
from dome.interactive import Client as Client
from dome.loop import loop as loop

ArrayLike = Union["Array", complex, Sequence[Any], Any]
DTypeLike = Union[DType, str, type, Any]
Shape = Union[int, Sequence[int]]
Axis = Union[int, Sequence[int], None]
'''
PARAMETERS = {
    "axis": "Axis", "axes": "Any", "dtype": "DTypeLike", "shape": "Shape", "keepdims": "builtins.bool", "device": "str | None",
    "copy": "builtins.bool | None", "descending": "builtins.bool", "stable": "builtins.bool", "correction": "float", "ddof": "int | None", "seed": "int",
    "name": "str", "path": "Any", "k": "int", "n": "int", "num": "int", "decimals": "int", "side": "str", "indexing": "str",
    "endpoint": "builtins.bool", "largest": "builtins.bool", "density": "builtins.bool", "rtol": "float", "atol": "float", "equal_nan": "builtins.bool", "mode": "str",
    "tasks": "int", "n_rows": "int", "n_cols": "int | None", "include_initial": "builtins.bool", "return_index": "builtins.bool",
    "return_inverse": "builtins.bool", "return_counts": "builtins.bool", "minlength": "int", "base": "float", "right": "builtins.bool", "offset": "int",
    "function": "Any", "arrays": "Any", "rows": "Any", "x": "ArrayLike", "x1": "ArrayLike", "x2": "ArrayLike", "y": "ArrayLike"}
RESULTS = {
    "builtins.bool": ["allclose", "array_equal", "can_cast", "isdtype", "is_restarting"],
    "int": ["rank", "size", "ndim", "epoch"], "str": ["host"], "DType": ["result_type"], "tuple[int, ...]": ["shape", "broadcast_shapes"],
    "None": ["abort", "barrier", "checkpoint", "finalize", "init", "print", "resize", "save"],
    "list[Array]": ["array_split", "broadcast_arrays", "meshgrid", "split"],
    "tuple[Array, ...]": ["nonzero", "unstack", "unique_all", "unique_counts", "unique_inverse", "topk", "histogram"],
    "Any": ["__array_namespace_info__", "unique", "where"]}
METHODS = ["astype", "copy", "fill", "tolist", "item", "sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax",
           "cumsum", "cumprod", "clip", "round", "conj", "reshape", "transpose", "flatten", "ravel", "squeeze", "repeat", "swapaxes", "take",
           "nonzero", "argsort", "sort", "dot", "trace", "diagonal", "numpy", "pinned", "to_device"]
METHOD_RESULTS = {"fill": "None", "sort": "None", "tolist": "Any", "item": "complex", "nonzero": "tuple[Array, ...]", "numpy": "Any",
                  "pinned": "Any"}
BINARY = ("add sub mul truediv floordiv mod pow and or xor lshift rshift matmul").split()


def parameters(function):
    """The parameters of a function with types, as a stub has them."""
    words, slash, star = [], False, False
    for parameter in inspect.signature(function).parameters.values():
        if slash and parameter.kind is not parameter.POSITIONAL_ONLY:
            words.append("/")
            slash = False
        slash = slash or parameter.kind is parameter.POSITIONAL_ONLY
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        if parameter.kind is parameter.VAR_POSITIONAL:
            words.append(f"*{parameter.name}: Any")
            star = True
            continue
        kind = PARAMETERS.get(parameter.name, "Any")
        if parameter.default is parameter.empty:
            words.append(f"{parameter.name}: {kind}")
        else:
            optional = kind if parameter.default is not None or kind in ("Any", "Axis", "ArrayLike", "DTypeLike") or "None" in kind \
                else kind + " | None"
            words.append(f"{parameter.name}: {optional} = ...")
    return ", ".join(words + ["/"] * slash)


def class_of_arrays():
    lines = ["class Array:"]
    for name, kind in (("shape", "tuple[int, ...]"), ("dtype", "DType"), ("ndim", "int"), ("size", "int"), ("itemsize", "int"),
                       ("nbytes", "int"), ("device", "str"), ("T", "Array"), ("mT", "Array"), ("real", "Array"), ("imag", "Array"),
                       ("local", "Any"), ("local_const", "Any")):
        assert hasattr(dome.Array, name), name
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    for name in METHODS:
        words = parameters(getattr(dome.Array, name)).split(", ", 1)
        rest = ", ".join(["self", *(words[1:] if words[0] != "self" or len(words) > 1 else [])])
        lines.append(f"    def {name}({rest}) -> {METHOD_RESULTS.get(name, 'Array')}: ...")
    for name in BINARY:
        lines += [f"    def __{side}{name}__(self, other: ArrayLike) -> Array: ..." for side in ("", "r", "i")]
    for name in ("lt", "le", "gt", "ge"):
        lines.append(f"    def __{name}__(self, other: ArrayLike) -> Array: ...")
    for name in ("eq", "ne"):
        lines.append(f"    def __{name}__(self, other: object) -> Any: ...")
    for name, kind in (("neg", "Array"), ("pos", "Array"), ("abs", "Array"), ("invert", "Array"), ("float", "float"), ("int", "int"),
                       ("complex", "complex"), ("bool", "builtins.bool"), ("index", "int"), ("len", "int"), ("iter", "Iterator[Array]")):
        lines.append(f"    def __{name}__(self) -> {kind}: ...")
    lines += ["    def __getitem__(self, key: Any) -> Array: ...", "    def __setitem__(self, key: Any, value: ArrayLike) -> None: ..."]
    return lines


def functions():
    result = {name: kind for kind, names in RESULTS.items() for name in names}
    lines = []
    for name, value in sorted(vars(dome).items()):
        if name.startswith("_") and name != "__array_namespace_info__" or inspect.ismodule(value) or inspect.isclass(value):
            continue
        if callable(value) and not isinstance(value, dome.dtypes.DType):
            lines.append(f"def {name}({parameters(value)}) -> {result.pop(name, 'Array')}: ...")
        else:
            kind = "DType" if isinstance(value, dome.dtypes.DType) else "None" if value is None else type(value).__name__
            lines.append(f"{name}: {kind}")
    assert not result, result
    return lines


def main():
    text = "\n".join([HEAD, *class_of_arrays(), "", "ndarray = Array", "__version__: str", "__array_api_version__: str", *functions(), ""])
    if sys.argv[1:] == ["--check"]:
        if FILE.read_text() != text:
            sys.exit(f"{FILE} is not what stubs.py writes now: run it")
        return
    FILE.write_text(text)


main()
