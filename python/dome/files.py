"""Files: .npy, Zarr, HDF5, tables of numbers. Each task reads and writes its own part."""
import math
import os

from dome import arrays as array, dtypes, env, memory, moving
from dome._dome import ffi, lib


def _path(path):
    return os.fsencode(os.fspath(path))


def save(path, x):
    """Writes an array: "x.npy", "x.zarr", or "x.h5:/dataset" (NumPy: save). Collective.

    Shapes: eight axes at most.
    Types: any.
    Tasks: all call it, and wait for each other.
    Raises: errors.FileError if it cannot be written; ValueError for more axes.
    """
    if not isinstance(x, array.Array):
        path, x = x, path  # as in Zarr and MATLAB; NumPy has the path first
    env.env()
    shape = x._k.shape or (1,)
    if len(shape) > lib.DOME_MAX_DIMENSIONS:
        raise ValueError("files have 8 dimensions at most")
    keep = x if x._k.shape else moving.broadcast_to(x, (1,))
    env.check(lib.dvec_set_shape(keep._v, len(shape), list(shape)))
    env.check(lib.dvec_write(keep._v, _path(path)))


def load(path, *, dtype=None):
    """Reads an array of a .npy file, a Zarr array or a data set of HDF5, of any byte order (NumPy: load). Collective.

    Shapes: that of the file: eight axes at most.
    Types: dtype, or that of the file.
    Tasks: all call it, and wait for each other.
    Raises: errors.FileError if it cannot be read; TypeError for structures.
    """
    v = env.pointer(lib.dvec_read(env.env(), ffi.NULL, _path(path)))
    room = ffi.new("uint64_t[8]")
    ndim = lib.dvec_shape(v, room)
    basic = lib.dvec_type(v)
    if basic not in dtypes.BY_KIND:
        lib.dvec_free(v)
        raise TypeError("the file has structures: an array has numbers")
    x = array.wrap(v, dtypes.BY_KIND[basic], tuple(room[k] for k in range(ndim)))
    return x if dtype is None else array.astype(x, dtype, copy=False)


def loadtxt(path, *, delimiter=",", skiprows=0, comments=None):
    """Reads a table of numbers: a row is a line (NumPy: loadtxt). Collective.

    Shapes: (lines, columns).
    Types: float64.
    Tasks: all call it, and wait for each other.
    Raises: errors.FileError if it cannot be read, or a line is no row of numbers.
    """
    options = ffi.new("dvec_text_options *", {"size": ffi.sizeof("dvec_text_options"), "separator": (delimiter or " ").encode(),
                                              "skip": skiprows, "comment": (comments or "\0").encode()})
    v = env.pointer(lib.dvec_read_text(env.env(), ffi.NULL, _path(path), options))
    n, width = lib.dvec_length(v), lib.dvec_width(v)
    return array.wrap(v, dtypes.float64, (n, width) if width > 1 else (n,))
