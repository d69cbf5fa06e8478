"""State that outlives tasks: named arrays, and loops whose turns end at a loop boundary."""
import sys

from dome import arrays as array, creation, dtypes, env, errors, memory
from dome._dome import ffi, lib

_named = {}  # the arrays: they live until the program ends
_loops = {}


def named(name, value, *, dtype=None):
    """State of the program: an array called `name`, which checkpoints have, and which is healed and resized.

    The first time the array is new and has the values of `value` (an array, or what `asarray` takes). When the program goes on
    after a loss, a restart, or with another number of tasks, it has the values that it had at the last loop boundary.
    A second call with the same name returns the same array.

    Shapes: that of value; (1,) for a number.
    Types: dtype, or that of value.
    Tasks: all call it, and may wait for each other.
    Raises: TypeError and ValueError as asarray; errors.ArgumentError for a name that cannot be.
    """
    if name in _named:
        return _named[name]
    environment = env.env()
    value = creation.asarray(value, dtype=dtype)
    kind = value._k
    shape = kind.shape or (1,)
    kind = memory.kind_of(kind.dtype, shape)
    encoded = name.encode()
    v = lib.dvec_new(environment, encoded, kind.dtype.ctype, kind.length) if kind.options is None else \
        lib.dvec_new_with(environment, encoded, kind.dtype.ctype, kind.length, kind.options)
    env.pointer(v)
    x = object.__new__(array.Distributed)
    x._k, x._v = kind, v
    _named[name] = x
    if not lib.dome_is_restarting(environment):
        x[...] = value
    return x


def is_restarting():
    """Whether the program resumes, and named arrays get their saved values. True until the first loop boundary.

    Tasks: any task alone may call it.
    Raises: errors.Error after dome.finalize().
    """
    return bool(lib.dome_is_restarting(env.env()))


def checkpoint():
    """A loop boundary: data may move, a checkpoint may be written, the number of tasks may change. Collective.

    Tasks: all call it, and wait for each other.
    Raises: errors.FileError if no checkpoint can be written.
    """
    environment = env.env()
    memory.boundary()
    if sys.stdout:
        sys.stdout.flush()  # what is printed before a checkpoint is shown once
    env.check(lib.dome_checkpoint(environment))


class loop:
    """The turns of a loop, with a loop boundary at the end of each: `for step in dome.loop("name", 100):`.

    Gives 0, 1, ..., steps - 1. A program that goes on after a loss, a restart or a change of the number of tasks begins with
    the turn that was next. State that turns change belongs in named arrays. `break` ends the loop; what the last turn has done
    then counts as a turn at the next boundary.
    """

    def __init__(self, name, steps):
        if not isinstance(steps, int) or steps < 0:
            raise ValueError("a loop has 0, 1, ... turns")
        self.name, self.steps = name, steps
        if name in _loops:
            self._done = _loops[name]
            if lib.dscalar_get_i64(self._done) >= 0 and not is_restarting():
                env.check(lib.dscalar_set_i64(self._done, 0))
        else:
            self._done = env.pointer(lib.dscalar_new(env.env(), ("loop " + name).encode(), dtypes.int64.ctype))
            _loops[name] = self._done

    def __iter__(self):
        step = lib.dscalar_get_i64(self._done)
        while step < self.steps:
            yield step
            step += 1
            env.check(lib.dscalar_set_i64(self._done, step))
            checkpoint()

    def __len__(self):
        return self.steps


def resize(tasks):
    """Changes the number of tasks at the next loop boundary.

    Tasks: any task alone may call it.
    Raises: errors.ArgumentError for a number of tasks that cannot be.
    """
    env.check(lib.dome_resize(env.env(), tasks))


def epoch():
    """The number of the view: 0, and larger after each change of the number of tasks and each loss.

    Tasks: any task alone may call it.
    Raises: errors.Error after dome.finalize().
    """
    return lib.dome_epoch(env.env())
