# Written by stubs.py: the types of the public interface.
import builtins
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Union, overload

from dome import Array, _ArrayLike, _Axis, _DTypeLike, _Shape

class Error(RuntimeError):
    status: builtins.str

class ArgumentError(Error, ValueError):
    ...

class TypesError(Error, TypeError):
    ...

class ShapeError(Error, ValueError):
    ...

class MismatchError(Error):
    ...

class MemoryExhausted(Error, MemoryError):
    ...

class FileError(Error, OSError):
    ...

class RangeError(Error, ArithmeticError, IndexError):
    ...

class OtherTaskError(Error):
    rank: int | None

class ThreadError(Error):
    ...

