"""Exceptions: one class for each kind of failure of the library, and the failures of this package."""
from dome._dome import ffi, lib


class Error(RuntimeError):
    """A call of the library has failed. `status` is the name of the status, such as "DOME_ERR_SHAPE"."""

    status = "DOME_ERR_STATE"


class ArgumentError(Error, ValueError):
    """An argument is out of its range."""


class TypesError(Error, TypeError):
    """Element types do not fit together."""


class ShapeError(Error, ValueError):
    """Shapes do not fit together."""


class MismatchError(Error):
    """The tasks of the program have made different calls."""


class MemoryExhausted(Error, MemoryError):
    """There is not enough memory."""


class FileError(Error, OSError):
    """A file cannot be read or written, or is not what it should be."""


class RangeError(Error, ArithmeticError, IndexError):
    """A value has no result, or does not fit."""


class OtherTaskError(Error):
    """Another task has raised an exception in a block of `dome.catch()`. `rank` says which one."""

    rank = None


class ThreadError(Error):
    """The call comes from another thread, or from a child process that fork has made."""


CLASSES = {
    "DOME_ERR_ARGUMENT": ArgumentError, "DOME_ERR_NAME": ArgumentError, "DOME_ERR_OPTION": ArgumentError,
    "DOME_ERR_TYPE": TypesError, "DOME_ERR_SHAPE": ShapeError, "DOME_ERR_LAYOUT": ShapeError,
    "DOME_ERR_MISMATCH": MismatchError, "DOME_ERR_MEMORY": MemoryExhausted, "DOME_ERR_IO": FileError,
    "DOME_ERR_FORMAT": FileError, "DOME_ERR_RANGE": RangeError,
}


def of_status(status, message):
    name = ffi.string(lib.dome_status_name(status)).decode()
    error = CLASSES.get(name, Error)(message)
    error.status = name
    return error
