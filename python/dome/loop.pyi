# Written by stubs.py: the types of the public interface.
import builtins
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Union, overload

from dome import Array, _ArrayLike, _Axis, _DTypeLike, _Shape

class loop:
    name: builtins.str
    steps: int
    def __init__(self, name: builtins.str, steps: int) -> None: ...
    def __iter__(self) -> Iterator[int]: ...
    def __len__(self) -> int: ...

