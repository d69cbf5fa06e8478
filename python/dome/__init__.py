"""Dome: NumPy's names for arrays that are distributed over the tasks of a program.

    import dome as dm
    x = dm.random.random(1_000_000, seed=1)
    print(dm.sqrt(x * x + 1.0).sum())

    dome run -n 4 python3 program.py        or        python3 -m dome -n 4 program.py

Every task runs the program and makes the same calls in the same order. Results have the same bits for any number of tasks.
docs/python.md begins with an example.
"""
__array_api_version__ = "2024.12"

from dome import arrays, creation, env, indexing, memory, moving

arrays._indexing, arrays._creation, arrays._moving = indexing, creation, moving
from dome import statistics  # noqa: E402

arrays._statistics = statistics
from dome import decompositions, elementwise, files, linalg, local, loop as _loop, random, scalar, searching, sparse, tasks  # noqa: E402
from dome import dtypes, errors  # noqa: E402
from dome.arrays import Array, astype  # noqa: E402
from dome.creation import (arange, array, asarray, e, empty, empty_like, eye, from_dlpack, full, full_like, identity, inf,  # noqa: E402
                           linspace, logspace, meshgrid, nan, newaxis, ones, ones_like, pi, tril, triu, zeros, zeros_like)
from dome.dtypes import (bool, can_cast, complex64, complex128, finfo, float32, float64, iinfo, int8, int16, int32,  # noqa: E402
                         int64, isdtype, result_type, uint8, uint16, uint32, uint64)
from dome.env import abort, barrier, catch, finalize, host, init, rank, size  # noqa: E402
from dome.env import print_ as print  # noqa: E402
from dome.errors import Error, OtherTaskError  # noqa: E402
from dome.files import load, loadtxt, save  # noqa: E402
from dome.linalg import cross, dot, matmul, norm, outer, tensordot, trace, vdot, vecdot  # noqa: E402
from dome.loop import checkpoint, epoch, is_restarting, loop, named, resize  # noqa: E402
from dome.moving import (broadcast_arrays, broadcast_to, concat, concatenate, expand_dims, flip,  # noqa: E402
                         matrix_transpose, moveaxis, permute_dims, repeat, reshape, roll, squeeze, stack, swapaxes, tile,
                         transpose, unstack)
from dome.searching import (argsort, isin, nonzero, searchsorted, sort, take, take_along_axis, topk, unique,  # noqa: E402
                            unique_all, unique_counts, unique_inverse, unique_values, where)
from dome.statistics import (all, amax, amin, any, argmax, argmin, count_by, count_nonzero, cumprod, cumsum,  # noqa: E402
                             cumulative_prod, cumulative_sum, diff, histogram, max, max_by, mean, min, min_by, nearest, prod, std, sum,
                             sum_by, var)
from dome.habits import *  # noqa: E402,F403
from dome.tasks import map  # noqa: E402

__version__ = env.version()
array_api_version = __array_api_version__


def _describe_methods():
    """A method that stands for a function says what the function says."""
    for name, value in vars(Array).items():
        if callable(value) and not name.startswith("_") and not value.__doc__:
            value.__doc__ = getattr(globals().get(name) or getattr(linalg, name, None), "__doc__", None)


def _names():
    """The functions of elements: every public one of elementwise."""
    for name, value in vars(elementwise).items():
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", "").startswith("dome.") and \
                name not in ("Operation", "operate", "complex_of", "fma_axpy"):
            globals()[name] = value


_names()
axpy = elementwise.fma_axpy
_describe_methods()
ndarray = Array


class Info:
    """What the package can do (Array API: inspection). Any task alone may ask."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ["cpu"]

    def default_dtypes(self, *, device=None):
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
        return {d.name: d for d in dtypes.ALL if kind is None or isdtype(d, kind)}


def __array_namespace_info__():
    return Info()


def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes have together.

    Shapes: any that broadcast; a tuple of numbers.
    Tasks: any task alone may call it.
    Raises: errors.ShapeError for shapes that do not fit together.
    """
    return arrays.broadcast_shapes(*shapes)


def __getattr__(name):
    """`dome.Client` on first use: programs that are no clients need nothing of it."""
    if name == "Client":
        from dome.interactive import Client
        return Client
    raise AttributeError(f"module 'dome' has no attribute {name!r}")
