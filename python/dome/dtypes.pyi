# Written by stubs.py: the types of the public interface.
import builtins
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Union, overload

from dome import Array, _ArrayLike, _Axis, _DTypeLike, _Shape

class DType:
    name: builtins.str
    itemsize: int
    kind: builtins.str
    ctype: Any
    cname: builtins.str
    letter: builtins.str
    type: Any
    @property
    def str(self) -> builtins.str: ...
    def __init__(self, name: builtins.str, itemsize: Any, kind: Any, ctype: Any, cname: Any, letter: Any, type: Any) -> None: ...
    def __call__(self, value: _ArrayLike = ...) -> Array: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __ne__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...

class finfo:
    bits: int
    dtype: DType
    eps: float
    max: float
    min: float
    smallest_normal: float
    def __init__(self, given: Any) -> None: ...

class iinfo:
    bits: int
    dtype: DType
    max: int
    min: int
    def __init__(self, given: Any) -> None: ...

ALL: Any
BY_CODE: Any
BY_KIND: Any
BY_NAME: Any
BY_PYTHON: Any
def as_dtype(given: Any) -> DType: ...
bool: DType
def can_cast(given: Any, to: Any) -> builtins.bool: ...
complex128: DType
complex64: DType
float32: DType
float64: DType
int16: DType
int32: DType
int64: DType
int8: DType
def isdtype(dtype: _DTypeLike, kind: Any) -> builtins.bool: ...
def promote(a: DType, b: DType) -> DType: ...
def real_of(dtype: DType) -> DType: ...
def result_type(*given: Any) -> DType: ...
uint16: DType
uint32: DType
uint64: DType
uint8: DType
def with_scalar(dtype: DType, value: complex) -> DType: ...
