# Written by stubs.py: the types of the public interface.
from typing import Any

ffi: Any
lib: Any
