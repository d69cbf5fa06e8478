"""Vectors behind arrays: kinds, reuse, and frees on which all tasks agree.

`dvec_free` is collective, but Python frees objects in an order of its own in each task. So `__del__` only notes the vector.
In a program of one task a noted vector may be used again at once. In one of several tasks the tasks agree in a *round* on the
vectors that are dead in all of them, which are then used again or freed in the order in which they were made. Rounds come at
the same place in all tasks: after so many new vectors, or so many bytes of them.
"""
import functools
import math
import weakref

from dome import dtypes
from dome import env as _env
from dome._dome import ffi, lib

SMALL = 1 << 24  # bytes: a vector up to this size is kept for reuse
CHEAP = 1 << 16  # bytes: values up to this size are computed in less time than it takes to discard them
ROUND_BYTES = 64 << 20  # new vectors of so many bytes, and the tasks agree on those that are dead
ROUND_COUNT = 256

_state = _env.state


def width_of(shape):
    """Values per element of the vector for a shape: a row, in a matrix of many rows; else one.

    The number of tasks has no part in that: sums would have other bits.
    """
    if len(shape) < 2 or shape[0] < 256:
        return 1
    width = math.prod(shape[1:])
    return width if 0 < width <= 65536 else 1


class Kind:
    """What arrays of one shape and type have in common. `is` compares kinds."""

    __slots__ = ("dtype", "shape", "size", "width", "length", "whole", "bytes", "key", "pool", "dead", "number", "real", "exact",
                 "options", "single", "__weakref__")

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, shape
        self.size = math.prod(shape)
        self.whole = shape == ()
        self.width = width_of(shape)
        self.length = self.size // self.width
        self.bytes = self.size * dtype.itemsize
        self.number = dtype.kind != "b"
        self.real = dtype.kind == "f"
        self.exact = dtype is dtypes.float64
        self.options = None
        self.single = self if self.whole else kind_of(dtype, ())
        if self.whole or self.width != 1:
            self.options = ffi.new("dvec_options *", {
                "size": ffi.sizeof("dvec_options"), "width": self.width,
                "distribution": lib.DOME_WHOLE if self.whole else lib.DOME_DYNAMIC})
        self.key = dtype.ctype, self.length, self.width, self.whole
        self.pool = _pools.setdefault(self.key, [])
        keep = _dead.append if _state.size > 1 else self.pool.append
        if _state.size == 1 and self.bytes > SMALL:
            self.dead = _free_large
        else:
            self.dead = keep if self.bytes <= CHEAP else functools.partial(_discard, keep)


_kinds = weakref.WeakValueDictionary()
_recent = {}  # keeps the last kinds alive
_pools = {}  # (type, length, width, whole), a key -> vectors that no array uses
_dead = []  # vectors of dead arrays, which have not been looked at
_numbers = {}  # several tasks: each vector, in the order of creation -> its key
_counts, _most = {}, {}  # key -> how many vectors there are, and when there are so many, it is time for a round
_scalars, _dead_scalars, _all_scalars = [], [], {}  # Futures that no array uses; scalars of dead ones; all of them
_scalars_most = [ROUND_COUNT]  # scalars: when there are so many, it is time for a round
_made = [0, 0]  # vectors and bytes since the last round


class Future:
    """A scalar of the library for a value that is to come: of one array without dimensions, until its value is read.

    All tasks read a value at the same place, so that the next array can have the scalar at once (`_scalars`). One that
    nobody has read dies at another time in each task: they agree on it first.
    """

    __slots__ = ("s",)

    def __init__(self, s):
        self.s = s

    def __del__(self, dead=_dead_scalars):
        dead.append(self.s)


def kind_of(dtype, shape):
    key = (dtype, shape)
    kind = _kinds.get(key)
    if kind is None:
        _env.env()
        if shape and max(shape) >= 1 << 62 or len(shape) > 32:
            raise ValueError(f"an array cannot have the shape {shape}")
        kind = _kinds[key] = Kind(dtype, shape)
    if len(_recent) > 4096:
        _recent.clear()
    _recent[key] = kind
    return kind


def make(kind):
    """A vector for an array of this kind; its values are arbitrary."""
    _env.check_thread()
    if _dead and _state.size == 1:
        _free_now()
    _made[0] += 1
    _made[1] += kind.bytes
    if _made[0] >= ROUND_COUNT or _made[1] >= ROUND_BYTES or _counts.get(kind.key, 0) >= _most.get(kind.key, ROUND_COUNT):
        collect()
    if kind.pool:
        return kind.pool.pop()
    if kind.options is None:
        v = lib.dvec_new(_state.env, ffi.NULL, kind.dtype.ctype, kind.length)
    else:
        v = lib.dvec_new_with(_state.env, ffi.NULL, kind.dtype.ctype, kind.length, kind.options)
    if not v:
        _env.fail()
    _note(v, kind.key)
    return v


def _note(v, key):
    if _state.size > 1:
        _numbers[v] = key
        _counts[key] = _counts.get(key, 0) + 1


def adopt(v, kind):
    """A vector that the library has made belongs to an array from now on."""
    _made[0] += 1
    _made[1] += kind.bytes
    _note(v, kind.key)


def free(v):
    """Frees a vector that all tasks free at the same place."""
    key = _numbers.pop(v, None)
    if key is not None:
        _counts[key] -= 1
    lib.dvec_free(v)


def _discard(keep, v):
    """Keeps a vector for reuse, and lets the library drop what has been recorded for it alone."""
    if _env._ident() == _state.owner and not _state.inside:
        lib.dvec_discard(v)
    keep(v)


def _free_large(v):
    """At once, if this is the thread that may, and it is between two calls."""
    if _env._ident() == _state.owner and not _state.inside:
        lib.dvec_free(v)
    elif not _state.finished:
        _dead.append(v)


def _free_now():
    while _dead:
        lib.dvec_free(_dead.pop())


def collect():
    """A round. Collective, but for programs of one task. Called by the package itself; programs may call it."""
    _env.check_thread()
    _made[:] = [0, 0]
    if _state.size == 1:
        _free_now()
        if _unused_bytes() > ROUND_BYTES:
            for pool in _pools.values():
                while pool:
                    lib.dvec_free(pool.pop())
        return
    _round(_numbers, _dead, _reuse)
    _free_unused()
    _most.clear()
    for key, count in list(_counts.items()):
        if not count:
            del _counts[key]
        elif count >= ROUND_COUNT // 2:  # the next round for them comes when there are twice as many as are in use
            _most[key] = max(ROUND_COUNT, 2 * (count - len(_pools[key])))
    if len(_all_scalars) > len(_scalars):
        collect_scalars()
    if _matrices:
        _round(_matrices, _dead_matrices, _free_matrix)


def collect_scalars():
    """A round for scalars; the next one comes when there are twice as many as are in use now."""
    _round(_all_scalars, _dead_scalars, lambda s, key: _scalars.append(Future(s)))
    _scalars_most[0] = max(ROUND_COUNT, 2 * (len(_all_scalars) - len(_scalars)))


def _unused_bytes():
    return sum((key_bytes(key) + 1024) * len(pool) for key, pool in _pools.items())  # what the library has for each counts, too


def _free_unused():
    """Vectors of lengths that do not come again are not kept. All tasks have the same ones, and free them in one order."""
    if _unused_bytes() <= ROUND_BYTES:
        return
    unused = {v for pool in _pools.values() for v in pool}
    for pool in _pools.values():
        pool.clear()
    for v in [v for v in _numbers if v in unused]:
        free(v)


def boundary():
    """At a loop boundary: a round, if there may be something for it."""
    _made[0] += 8
    if _state.size > 1 and _made[0] >= ROUND_COUNT:
        collect()


_matrices, _dead_matrices = {}, []


def note_matrix(a):
    if _state.size > 1:
        _matrices[a] = True
        _made[0] += 16


def drop_matrix(a):
    if _state.size > 1:
        _dead_matrices.append(a)
    elif _env._ident() == _state.owner and not _state.inside:
        lib.dsparse_free(a)


def _free_matrix(a, key):
    del _matrices[a]
    lib.dsparse_free(a)


def key_bytes(key):
    return key[1] * key[2] * lib.dome_type_size(key[0])


def _round(everything, dead, then):
    """Lets `then` have what is dead in all tasks, in the order of creation."""
    noted = set(dead)
    bits = bytearray((len(everything) + 7) // 8)
    for at, v in enumerate(everything):
        if v in noted:
            bits[at >> 3] |= 1 << (at & 7)
    if not bits:
        return
    _env.check(lib.dome_allreduce(_state.env, lib.dome_type_basic(lib.DOME_KIND_U8), ffi.from_buffer(bits), len(bits),
                                  lib.DOME_BITAND))
    gone = [(v, key) for at, (v, key) in enumerate(everything.items()) if bits[at >> 3] >> (at & 7) & 1]
    for v, key in gone:
        noted.discard(v)
        then(v, key)
    dead[:] = [v for v in dead if v in noted]


def _reuse(v, key):
    pool = _pools[key]
    size = key_bytes(key)
    if size * len(pool) <= ROUND_BYTES // 4 and size <= SMALL:
        pool.append(v)
    else:
        free(v)
