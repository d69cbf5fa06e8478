"""The running program: its start on first use, its end, its tasks, and how failures end it."""
import atexit
import os
import sys
import threading

from dome import errors
from dome._dome import ffi, lib

_ident = threading.get_ident


class State:
    """What this process knows of the program. `owner` is the thread that may call the library; 0: none."""

    env = ffi.NULL
    owner = 0
    pid = 0
    size = 1
    rank = 0
    inside = False  # a kernel of the program's own runs: it must not call the library
    finished = False
    client = False  # a client has been made: tasks that started later would make it again
    kernels = False  # the library may yet call functions that end with the interpreter


state = State()
_creations = []  # where the program's last arrays were made: the tasks may turn out to disagree about their lengths

_WITH_WORD = "cmWX"  # options of the interpreter that take a word: the rest of theirs, or the next one


def _program(words):
    """The words by which other tasks start this program, and how many of them come before its own arguments."""
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        at += 1
        if word.startswith("--"):
            at += word == "--check-hash-based-pycs"
            continue
        letter = next((k for k, one in enumerate(word) if one in _WITH_WORD), 0)
        if not letter:
            continue
        value, rest = (word[letter + 1:], at) if word[letter + 1:] else (words[at], at + 1)
        if word[letter] in "cm":
            flags = words[1:at - 1] + ([word[:letter]] if letter > 1 else [])
            inside = [words[0], *flags, "-m", "dome", "--in", os.getcwd(), "-" + word[letter], value]
            return inside + words[rest:], len(inside)
        at = rest
    if at < len(words) and words[at] != "-" and not hasattr(sys, "ps1"):
        return words[:at] + [os.path.abspath(words[at])] + words[at + 1:], at + 1
    if "DOME_HUB" in os.environ:  # `dome run` with several tasks
        raise errors.Error("a program from standard input, or a session, has one task, because others cannot read it: give a "
                           "script, -m or -c; in a session dome.Client has several workers")
    return words[:at] + ["-", "--dome-tasks=1"] + words[at + 1:], at + 1


def _own_words():
    """The command line; before Python 3.10 the system's."""
    if hasattr(sys, "orig_argv"):
        return list(sys.orig_argv)
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]


def _orig_argv():
    words = _own_words()
    # `python3 -m dome --in DIR -m MODULE` is such a program already.
    return (words, _own_arguments) if _own_arguments else _program(words)


_own_arguments = 0


def started_in(arguments):
    """The number of words before the program's own arguments, from __main__."""
    global _own_arguments
    _own_arguments = len(_own_words()) - arguments


def init():
    """Starts the program: `dome_init`. Every function of this package that needs it calls it, so programs need not.

    Call it before the program opens files or starts threads. Removes the options of Dome from `sys.argv`.

    Tasks: all call it, and wait for each other.
    Raises: errors.ThreadError in another thread than the main one; errors.Error after dome.finalize().
    """
    if state.env:
        return
    if state.finished:
        raise errors.Error("the program has ended: no array can be used after dome.finalize()")
    if threading.current_thread() is not threading.main_thread():
        raise errors.ThreadError("the main thread makes the first call of dome: call dome.init() there")
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.__dict__.setdefault("_dome_started", here) is not here:
        raise errors.Error(f"dome has been imported twice, from {sys._dome_started} and from {here}: one of them can be used, "
                           "the first to have been called")
    words, before = _orig_argv()
    if state.client:
        words.append("--dome-tasks=1")
    kept = [ffi.new("char[]", os.fsencode(word)) for word in words]
    vector = ffi.new("char *[]", kept + [ffi.NULL])
    count, place = ffi.new("int *", len(kept)), ffi.new("char ***", vector)
    for stream in (sys.stdout, sys.stderr):
        if stream:
            stream.flush()
    state.env = lib.dome_init(count, place)
    lib.dome_set_errors_return(state.env)
    _drop_variables()
    left = [os.fsdecode(ffi.string(place[0][i])) for i in range(count[0])]
    sys.argv[1:] = left[before:]
    state.rank, state.size = lib.dome_rank(state.env), lib.dome_size(state.env)
    state.owner, state.pid = _ident(), os.getpid()
    sys.excepthook = _report
    os.register_at_fork(after_in_child=_forked)
    atexit.register(_at_exit)
    for then in _at_start:
        then()


def _drop_variables():
    """The library has read and removed its variables; `os.environ` still has them, and would pass them to other programs."""
    for name in [name for name in os.environ if name.startswith("DOME_") and not lib.getenv(os.fsencode(name))]:
        del os.environ[name]


def no_client():
    """Raises where a client cannot be made: the other tasks would make it again."""
    if (state.size if state.env else 1 + ("DOME_HUB" in os.environ or "DOME_JOIN" in os.environ)) > 1:
        raise errors.Error("a program of several tasks makes no client, because each of its tasks would: call the functions of "
                           "dome itself, or start the program with one task (--dome-tasks=1)")
    state.client = True


_at_start = []  # functions of other modules that depend on the number of tasks


def env():
    """The environment, started if need be."""
    if not state.env:
        init()
    check_thread()
    return state.env


def _forked():
    state.owner = 0


def check_thread():
    """Raises where the library would end the process."""
    if _ident() != state.owner or state.inside:
        _refuse()


def _refuse():
    if state.finished:
        raise errors.Error("the program has ended: no array can be used after dome.finalize()")
    if state.env and os.getpid() != state.pid:
        raise errors.ThreadError("a child process that fork has made is no task: start processes by "
                                 "multiprocessing.get_context('spawn')")
    if state.inside:
        raise errors.Error("a kernel must not call functions of dome")
    raise errors.ThreadError("only the thread that has made the first call of dome may make others")


def fail():
    """Raises the library's last failure."""
    status = lib.dome_error_status(state.env)
    message = ffi.string(lib.dome_error_message(state.env)).decode(errors="replace")
    lib.dome_error_clear(state.env)
    if not status:
        raise errors.Error("a call of the library has failed")
    if status == lib.DOME_ERR_MISMATCH and _creations:
        message += "; the last arrays of this task: " + ", ".join(_creations[-3:])
    raise errors.of_status(status, message)


def check(status):
    if status:
        fail()


def pointer(result):
    """A new object of the library's, or the exception for what has failed."""
    if not result:
        fail()
    return result


def note_creation(what, shape):
    """Keeps the line of the program that has made an array; tasks that disagree about its length then name it."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("dome."):
        frame = frame.f_back
    _creations.append(f"{what}{tuple(shape)} at {frame.f_code.co_filename}:{frame.f_lineno}")
    del _creations[:-8]


def finalize():
    """Ends the program: waits for all tasks. Called at the end of the interpreter.

    Tasks: all call it, and wait for each other.
    Raises: nothing; every later call of dome raises errors.Error.
    """
    environment = _last()
    if not environment:
        return
    lib.finalize_at_exit(ffi.NULL)
    status = lib.dome_finalize(environment)
    if status:
        os._exit(status)


def _last():
    """The environment of a program that ends, for the last call; none if this is not its thread or process."""
    if not state.env or os.getpid() != state.pid or _ident() != state.owner:
        return ffi.NULL
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
    environment, state.env, state.finished, state.owner = state.env, ffi.NULL, True, 0
    return environment


def _at_exit():
    """The end of the interpreter: of several tasks one may exit alone, which its status tells (additions.c)."""
    if state.size == 1 or state.kernels:
        finalize()
    else:
        lib.finalize_at_exit(_last())


def abort(text):
    """Ends the whole program with one line, from any task. Does not return.

    Tasks: any task alone may call it.
    Raises: nothing: it does not return.
    """
    sys.stdout.flush()
    lib.dome_abort(env(), b"%s", ffi.new("char[]", str(text).encode()))


def _report(kind, value, trace):
    """An exception that nobody catches ends all tasks: the others would wait for this one."""
    import traceback  # takes a fifth of the time of `import dome`
    text = "".join(traceback.format_exception(kind, value, trace))
    if not state.env or os.getpid() != state.pid or state.size == 1:
        sys.__excepthook__(kind, value, trace)
        return
    try:
        sys.stdout.flush()
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
    lib.dome_abort(state.env, b"%s", ffi.new("char[]", _described(kind, value)[:2000]))


def _described(kind, value):
    """An exception in one line, whatever its text is: if this failed, the other tasks would wait."""
    try:
        text = str(value)
    except Exception:
        text = "its text cannot be made"
    return f"{kind.__name__}: {text}".encode(errors="backslashreplace")


def version():
    """That of the library."""
    return ffi.string(lib.dome_version()).decode()


def rank():
    """The number of this task, 0 ... size - 1.

    Tasks: any task alone may call it.
    Raises: errors.Error after dome.finalize().
    """
    env()
    return state.rank


def size():
    """The number of tasks.

    Tasks: any task alone may call it.
    Raises: errors.Error after dome.finalize().
    """
    env()
    return state.size


def host(rank=None):
    """The host of a task, by default of this one.

    Tasks: any task alone may call it.
    Raises: errors.ArgumentError for a task that does not exist.
    """
    name = lib.dome_host(env(), state.rank if rank is None else rank)
    if not name:
        raise errors.ArgumentError(f"there is no task {rank}")
    return ffi.string(name).decode()


def print_(*values, sep=" ", end="\n"):
    """Prints once for the whole program, on rank 0's standard output. Every task calls it.

    Tasks: all call it; nobody waits.
    Raises: errors.Error after dome.finalize().
    """
    text = sep.join(str(value) for value in values) + end
    sys.stdout.flush()
    lib.dome_print(env(), b"%s", ffi.new("char[]", text.encode()))


def barrier():
    """Waits until every task has called it.

    Tasks: all call it, and wait for each other.
    Raises: errors.Error if a task is lost and the program is told of it.
    """
    check(lib.dome_barrier(env()))


def bcast_bytes(data, root=0):
    """Bytes of task `root`, on every task; the others give None."""
    environment = env()
    length = ffi.new("uint64_t *", len(data) if state.rank == root else 0)
    check(lib.dome_bcast(environment, root, lib.dome_type_basic(lib.DOME_KIND_U64), length, 1))
    room = bytearray(data if state.rank == root else length[0])
    if length[0]:
        check(lib.dome_bcast(environment, root, lib.dome_type_basic(lib.DOME_KIND_U8), ffi.from_buffer(room), length[0]))
    return bytes(room)


class catch:
    """A block whose exceptions all tasks see: `with dome.catch(): text = open(path).read()`.

    A block of this task's own work, such as reading a file. At its end the tasks agree: if one of them has raised an
    exception, all raise one: that task its own, the others `OtherTaskError`. So a `try` around the block takes the same
    branch on all tasks. The block must not call functions in which tasks wait for each other.
    """

    def __enter__(self):
        env()
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None and not issubclass(kind, Exception):
            return False
        first = ffi.new("int64_t *", state.size if kind is None else state.rank)
        check(lib.dome_allreduce(env(), lib.dome_type_basic(lib.DOME_KIND_I64), first, 1, lib.DOME_MIN))
        if first[0] == state.size:
            return False
        text = bcast_bytes(_described(kind, value) if state.rank == first[0] else b"", first[0]).decode()
        if kind is None:
            error = errors.OtherTaskError(f"task {first[0]} on host {host(first[0])}: {text}")
            error.rank = first[0]
            raise error
        return False
