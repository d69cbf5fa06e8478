# Written by stubs.py: the types of the public interface.
import builtins
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Union, overload

from dome import Array, _ArrayLike, _Axis, _DTypeLike, _Shape

class State:
    ...

class catch:
    def __enter__(self) -> catch: ...
    def __exit__(self, kind: Any, value: Any, trace: Any) -> builtins.bool: ...

