"""The program behind `dome.Client`: `python3 -m dome.worker FOLDER`, on all tasks.

Task 0 talks with the client; each message of the client is a batch of calls, which task 0 broadcasts and all tasks carry out.
What is to outlive the loss of a task is in named vectors: after each batch, each array that the client or a cell has a name
for is one. The client keeps the list of them, and the batches since the last checkpoint, which it sends again after a loss.
"""
import ast
import contextlib
import hashlib
import io
import json
import linecache
import operator
import os
import queue
import shutil
import signal
import socket
import sys
import threading
import time
import traceback

import dome
from dome import arrays as array, dtypes, env, errors, memory, protocol
from dome._dome import ffi, lib

TICK = 2.0  # seconds without a message after which the tasks pass a loop boundary: `dome grow` waits for one
SAVE_SHARE = 20  # while messages come, a checkpoint after so many times what the last one took
OTHERS_SECONDS = 2.0  # for so long a task that has failed waits for the others to come to the end of the cell
PLAIN_BYTES = 65536  # a longer value of a cell is not kept for after a loss


state = env.state


# ---- the connections: of task 0, for everything; of the others on its host, for cells that fail ----

class Link:
    """A connection to the client. Task 0 has a thread that receives, and ends the program if the client has gone."""

    def __init__(self, folder):
        with open(os.path.join(folder, "secret"), "rb") as file:
            secret = file.read()
        self.folder, self.socket, self.parent = folder, socket.socket(socket.AF_UNIX), os.getppid()
        self.socket.connect(os.path.join(folder, "socket"))
        if not protocol.same_user(self.socket):
            raise protocol.Closed("the socket belongs to another user")
        protocol.prove(self.socket, secret, b"worker", b"client")
        self.queue, self.lock, self.leaving = queue.Queue(), threading.Lock(), threading.Event()
        self.verdicts = queue.Queue()

    def start(self):
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        try:
            while True:
                frame = protocol.receive(self.socket)
                (self.verdicts if frame[0].startswith(b'{"go"') else self.queue).put(frame)
        except (OSError, protocol.Closed):
            self.queue.put(None)
        if state.rank == 0 and not self.leaving.wait(3.0):  # the call under way is of no use to anybody
            shutil.rmtree(self.folder, ignore_errors=True)
            for _ in range(2):
                if os.getppid() == self.parent > 1:  # once it has ended, the parent is a process of others
                    os.kill(self.parent, signal.SIGTERM)
                    time.sleep(0.2)

    def send(self, text, blobs=()):
        with self.lock:
            try:
                protocol.send(self.socket, text, blobs)
            except OSError:
                pass  # the other thread has seen it, too

    def next(self, seconds):
        """A message, None for the end of the client, "tick" if none has come."""
        try:
            return self.queue.get(timeout=seconds)
        except queue.Empty:
            return "tick"


class Stream(io.TextIOBase):
    """Standard output of a cell in task 0: the client shows it."""

    def __init__(self, link):
        self.link, self.kept, self.batch = link, [], 0

    def writable(self):
        return True

    def write(self, text):
        self.kept.append(text)
        if "\n" in text or len(self.kept) > 64:
            self.flush()
        return len(text)

    def flush(self):
        if self.kept:
            text, self.kept = "".join(self.kept), []
            self.link.send({"out": text, "n": self.batch})


# ---- state that outlives a loss ----

class State:
    """Objects that have names, by name (a number of the client's, or "ns:" and a variable), and the vectors behind them."""

    def __init__(self):
        self.objects, self.space = {}, {"__name__": "__main__", "dome": dome, "dm": dome}
        self.first_names = set(self.space) | {"__builtins__"}
        self.vectors = {}  # id of an array -> (array, name of its vector)
        self.told = {}  # holder -> what the client knows of it
        self.definitions, self.count, self.shared = [], 0, set()

    def holders(self):
        for name, value in self.objects.items():
            yield name, value
        for name, value in self.space.items():
            if name not in self.first_names and not name.startswith("_"):
                yield "ns:" + name, value

    def settle(self, after_cell):
        """Gives each array that has a holder a named vector, and takes it from others. Returns what has changed."""
        holders = list(self.holders())
        arrays = {id(x): x for _, x in holders if type(x) is array.Distributed}
        self.shared.update(id(x) for name, x in holders if isinstance(name, str) and name.startswith("ns:"))
        for key in [key for key in self.vectors if key not in arrays]:
            self.release(key)
        for key, x in arrays.items():
            if key not in self.vectors:
                self.count += 1
                self.vectors[key] = x, f"client-{self.count}"
                to_vector(x, named_vector(x._k, f"client-{self.count}"))
        now = {name: self.describe(x) for name, x in holders}
        if after_cell:
            equal_plain(now)
        changed = {name: what for name, what in now.items() if self.told.get(name) != what}
        gone = [name for name in self.told if name not in now]
        self.told = now
        return [[name, what] for name, what in changed.items()], gone

    def release(self, key):
        x, _ = self.vectors.pop(key)
        if key in self.shared:  # something else may still have it
            self.shared.discard(key)
            spare = array.new(x._k)
            to_vector(x, spare._v)
            del spare._v
            return
        v = x._v
        del x._v
        lib.dvec_free(v)

    def describe(self, x):
        if type(x) is array.Scalar:
            return ["scalar", x.dtype.name, protocol.encode(x.item(), [])]
        if isinstance(x, array.Array):
            return ["array", self.vectors[id(x)][1], x.dtype.name, list(x.shape)]
        if isinstance(x, Failed):
            return ["failed", x.args[0]]
        blobs = []
        try:
            text = json.dumps(protocol.encode(x, blobs, refuse_arrays))
        except (TypeError, ValueError, RecursionError):
            return ["lost", type(x).__name__]
        return ["plain", json.loads(text)] if not blobs and len(text) <= PLAIN_BYTES else ["lost", type(x).__name__]

    def restore(self, table, definitions, count):
        """After a loss: makes the vectors, which thereby get their values, and runs definitions of cells again."""
        made = {}
        self.count = count
        for name, what in sorted(table, key=lambda one: int(one[1][1][7:]) if one[1][0] == "array" else 0):
            if what[0] == "array":
                if what[1] not in made:
                    made[what[1]] = restored(what)
                    self.vectors[id(made[what[1]])] = made[what[1]], what[1]
                self.hold(name, made[what[1]])
            elif what[0] == "scalar":
                self.hold(name, array.scalar_of(dtypes.as_dtype(what[1]), protocol.decode(what[2], [])))
            elif what[0] == "plain":
                self.hold(name, protocol.decode(what[1], []))
            elif what[0] == "failed":
                self.hold(name, Failed(what[1]))
            elif isinstance(name, int) or not name.startswith("ns:"):
                self.hold(name, Failed(f"this {what[1]} was lost with the task that has died: only arrays, numbers, texts "
                                       "and definitions are kept"))
        self.told = dict((name if isinstance(name, (int, str)) else str(name), what) for name, what in table)
        for source in definitions:
            with contextlib.suppress(Exception):
                exec(compile(source, "<definitions>", "exec"), self.space)
        self.definitions = list(definitions)

    def hold(self, name, x):
        if isinstance(name, str) and name.startswith("ns:"):
            self.space[name[3:]] = x
        else:
            self.objects[name] = x


    def replace_loops(self):
        """Each batch ends at a loop boundary, and none is within one: a loss goes back to before the batch."""
        def named(name, value, *, dtype=None):
            key = "named:" + name
            if key not in self.objects:
                self.objects[key] = array.copy(dome.asarray(value, dtype=dtype))
            return self.objects[key]

        dome.named, dome.checkpoint = named, lambda: None
        dome.loop = lambda name, steps: iter(range(steps))


class Failed(Exception):
    """In place of the result of a call that has failed."""


def refuse_arrays(x):
    if isinstance(x, array.Array):
        raise TypeError("an array")
    return x


def named_vector(kind, name):
    options = kind.options or ffi.NULL
    return env.pointer(lib.dvec_new_with(state.env, name.encode(), kind.dtype.ctype, kind.length, options))


def to_vector(x, v):
    """The values of x are in another vector from now on."""
    env.check(lib.dvec_copy(v, x._v))
    memory.free(x._v)
    x._v = v


def restored(what):
    kind = memory.kind_of(dtypes.as_dtype(what[2]), tuple(what[3]))
    x = object.__new__(array.Distributed)
    x._k, x._v = kind, named_vector(kind, what[1])
    return x


def equal_plain(now):
    """Plain values of variables count only if all tasks have the same."""
    names = sorted(name for name, what in now.items() if what[0] == "plain" and isinstance(name, str))
    hashes = [int.from_bytes(hashlib.sha256(f"{name}{now[name][1]!r}".encode()).digest()[:6], "big") for name in names]
    total = len(names), int.from_bytes(hashlib.sha256("\0".join(names).encode()).digest()[:6], "big")
    if not same_everywhere(total)[0]:
        hashes, names = [], []
        for name in [name for name, what in now.items() if what[0] == "plain" and isinstance(name, str)]:
            now[name] = ["lost", "value"]
    if names:
        for name, same in zip(names, same_everywhere(hashes)):
            if not same:
                now[name] = ["lost", "value of each task"]


def same_everywhere(numbers):
    room = ffi.new("int64_t[]", [*numbers, *(-n for n in numbers)])
    env.check(lib.dome_allreduce(state.env, lib.dome_type_basic(lib.DOME_KIND_I64), room, 2 * len(numbers), lib.DOME_MAX))
    result = [room[i] == -room[len(numbers) + i] for i in range(len(numbers))]
    return [all(result)] if isinstance(numbers, tuple) else result


# ---- calls ----

def find(path):
    """What a call names: a function of dome, of operator, or a method of its first argument."""
    where, _, name = path.partition(":")
    if where == "op":
        return getattr(operator, name)
    if where == "method":
        return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)
    if where == "attr":
        return lambda x: getattr(x, name)
    found = dome
    for part in path.split("."):
        if part.startswith("_"):
            raise AttributeError(f"dome has no public name {path}")
        found = getattr(found, part)
    return found


class Batch:
    """One message of the client, carried out."""

    def __init__(self, keep, message, blobs, stream, link):
        self.keep, self.link = keep, link
        self.number, self.calls, self.blobs, self.stream = message["n"], message["calls"], blobs, stream
        self.results, self.out, self.error, self.made, self.cell = {}, [], None, 0, False

    def value(self, ref):
        if isinstance(ref, protocol.Values):
            dtype = dtypes.as_dtype(ref.dtype)
            if ref.shape == ():
                return array.scalar_of(dtype, array.unpacked(dtype, ffi.from_buffer(ref.data)))
            z = array.of(dtype, ref.shape)
            if z._k.size:
                dome.local.take_part(z, ffi.cast("char *", ffi.from_buffer(ref.data)))
            return z
        if ref.number not in self.keep.objects:
            raise errors.Error("the workers do not have this array: the call that was to make it was given up")
        x = self.keep.objects[ref.number]
        if isinstance(x, Failed):
            raise x
        return x

    def reference(self, x):
        """An array in a result: it gets a number of the workers'."""
        if not isinstance(x, array.Array):
            return x
        self.made += 1
        number = f"{self.number}.{self.made}"
        self.keep.objects[number] = x
        return protocol.Ref(number, x.dtype.name, x.shape)

    def run(self):
        for at, call in enumerate(self.calls):
            kind, into = call[0], call[1]
            try:
                result = getattr(self, "do_" + kind)(*call[2:])
                if into is not None:
                    self.keep.objects[into] = result
                elif kind in ("call", "get", "info", "pull"):
                    encode = self.reference if kind in ("call", "pull") else None
                    self.results[at] = protocol.encode(result, self.out, encode)
            except (Exception, SystemExit) as error:  # exit() in a cell ends the cell
                lib.dome_error_clear(state.env)
                if self.error is None and not isinstance(error, Failed):
                    self.error = (at, error)
                if into is not None:
                    self.keep.objects[into] = Failed(f"the call that was to make it has failed: {type(error).__name__}: {error}")

    def arguments(self, args, kwargs):
        return (protocol.decode(args, self.blobs, self.value),
                {name: protocol.decode(one, self.blobs, self.value) for name, one in kwargs.items()})

    def do_call(self, path, args, kwargs):
        args, kwargs = self.arguments(args, kwargs)
        return find(path)(*args, **kwargs)

    def do_put(self, target, key, value):
        (target, key, value), _ = self.arguments([target, key, value], {})
        target[key] = value

    def do_drop(self, number):
        self.keep.objects.pop(number, None)

    def do_get(self, ref):
        x = protocol.decode(ref, self.blobs, self.value)
        if not isinstance(x, array.Array):
            return x
        if type(x) is array.Scalar:
            return protocol.Values(x.dtype.name, (), bytes(ffi.buffer(array.packed(x.dtype, x.item()))))
        if not x.size:
            return protocol.Values(x.dtype.name, x.shape, b"")
        data = env.pointer(lib.dvec_allgather(x._v))
        return protocol.Values(x.dtype.name, x.shape, bytes(ffi.buffer(ffi.cast("char *", data), x.nbytes)))

    def do_info(self, ref):
        x = protocol.decode(ref, self.blobs, self.value)
        return (x.dtype.name, x.shape) if isinstance(x, array.Array) else None

    def do_push(self, name, value):
        self.keep.space[name] = protocol.decode(value, self.blobs, self.value)

    def do_pull(self, name):
        if name not in self.keep.space:
            raise NameError(f"the workers have no variable {name!r}")
        return self.keep.space[name]

    def do_cell(self, source):
        self.cell = True
        name = f"<cell {self.number}>"
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        tree = ast.parse(source, name)
        self.keep.definitions += definitions_of(tree)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        out = self.stream or io.StringIO()
        if self.stream:
            out.batch = self.number
        with contextlib.redirect_stdout(out):
            exec(compile(tree, name, "exec"), self.keep.space)
            if last is not None:
                result = eval(compile(ast.Expression(last.value), name, "eval"), self.keep.space)
                if result is not None:
                    print(str(result) if isinstance(result, array.Array) else repr(result))
            out.flush()

    def finish(self):
        """Agrees on failures, and says what the client is to know."""
        if self.cell and state.size > 1:
            self.meet()
        ranks = dome_max((-1 if self.error is None else state.rank, -1 if self.error is None else state.size - state.rank))
        told = None
        if max(ranks) >= 0:
            first = state.size - ranks[1]
            text = json.dumps(describe_error(self.error, first)).encode() if state.rank == first else b""
            told = json.loads(env.bcast_bytes(text, first))
        changed, gone = self.keep.settle(self.cell)
        text = {"n": self.number, "results": list(self.results.items()), "error": told, "changed": changed, "gone": gone,
                "count": self.keep.count, "definitions": self.keep.definitions if self.cell else None}
        return text, [part.data if isinstance(part, protocol.Values) else part for part in self.out]


    def meet(self):
        """After a cell. A task that has failed must know that the others come to the end of the cell, before it makes the next
        collective call: they may wait for it in another one. The client knows when all tasks are there.
        """
        if self.link:
            self.link.send({"cell": self.number, "rank": state.rank, "failed": self.error is not None,
                            "view": int(lib.dome_epoch(state.env))})
        if self.error is None:
            return
        try:
            if not self.link or json.loads(self.link.verdicts.get(timeout=OTHERS_SECONDS)[0])["go"] != self.number:
                give_up(self.number, self.error[1])
        except queue.Empty:
            give_up(self.number, self.error[1])


def describe_error(failure, rank):
    at, error = failure
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    kept = [line for line in lines if "/dome/worker.py" not in line.split("\n")[0]]
    return {"at": at, "type": type(error).__name__, "text": str(error), "traceback": "".join(kept), "rank": rank}


def dome_max(numbers):
    room = ffi.new("int64_t[]", list(numbers))
    env.check(lib.dome_allreduce(state.env, lib.dome_type_basic(lib.DOME_KIND_I64), room, len(numbers), lib.DOME_MAX))
    return list(room)


def definitions_of(tree):
    """Imports, functions and classes of a cell: what can be run once more without harm."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [ast.unparse(node) for node in tree.body if isinstance(node, kinds)]


def give_up(number, error):
    """This task has failed, and others wait for it in vain: all go back to the state before the batch.

    The task tells the client why, and is lost; the hub heals the program.
    """
    told = describe_error((0, error), state.rank)
    told["n"] = number
    sys.stderr.write(protocol.MARK + json.dumps(told) + "\n")
    sys.stderr.flush()
    time.sleep(0.2)  # the line takes its way through PVM
    os.kill(os.getpid(), signal.SIGKILL)


# ---- the loop ----

def broadcast(frame):
    """A message of the client, to all tasks: its text, and its blobs."""
    if state.size == 1:
        return frame
    text, blobs = frame if frame else (b"", [])
    head = json.dumps([len(blob) for blob in blobs]).encode()
    whole = env.bcast_bytes(len(head).to_bytes(4, "little") + head + text if state.rank == 0 else b"")
    length = int.from_bytes(whole[:4], "little")
    sizes, text = json.loads(whole[4:4 + length]), whole[4 + length:]
    return text, [env.bcast_bytes(bytes(blobs[i]) if state.rank == 0 else b"") for i in range(len(sizes))]


class Loop:
    def __init__(self, folder):
        dome.init()
        beside = state.rank == 0 or env.host(state.rank) == env.host(0)
        self.link = Link(folder) if beside else None
        self.keep = State()
        self.keep.replace_loops()
        self.done = env.pointer(lib.dscalar_new(state.env, b"client-batch", lib.dome_type_basic(lib.DOME_KIND_I64)))
        self.number = int(lib.dscalar_get_i64(self.done)) if lib.dome_is_restarting(state.env) else 0
        self.stream = Stream(self.link) if state.rank == 0 else None
        self.dirty, self.cost, self.saved_at = False, 0.0, time.monotonic()

    def begin(self):
        """Tells the client who is there, and takes over what it knows of the state."""
        frame = None
        if state.rank and self.link:
            self.link.send({"side": state.rank})
            self.link.start()
        pids = dome.tasks.allgather(os.getpid())
        if state.rank == 0:
            hosts = [env.host(rank) for rank in range(state.size)]
            self.link.send({"hello": state.size, "pids": pids, "hub": os.getppid(), "hosts": hosts, "done": self.number,
                            "view": int(lib.dome_epoch(state.env))})
            frame = protocol.receive(self.link.socket)
            self.link.start()
        text, _ = broadcast(frame)
        message = json.loads(text)
        self.keep.restore([(name, what) for name, what in message["table"]], message["definitions"], message["count"])
        for _ in range(3):  # the next loss is at another point of the program than the one before
            self.save()

    def save(self):
        """A loop boundary with a checkpoint. The number of tasks may change here."""
        begin = time.monotonic()
        memory.boundary()
        env.check(lib.dscalar_set_i64(self.done, self.number))
        env.check(lib.dome_checkpoint(state.env))
        self.saved_at = time.monotonic()
        self.cost, self.dirty = self.saved_at - begin, False
        if state.rank == 0:
            self.link.send({"saved": self.number})

    def wait(self):
        """Task 0: the next message, or what is to be done without one."""
        if self.dirty:
            due = self.saved_at + SAVE_SHARE * self.cost <= time.monotonic()
            message = self.link.next(0.0 if due else 0.02)
            return b'{"save": 1}' if message == "tick" else message
        message = self.link.next(TICK)
        return b'{"save": 1}' if message == "tick" else message

    def run(self):
        while True:
            frame = None
            if state.rank == 0:
                frame = self.wait()
                frame = (b'{"end": 1}', []) if frame is None else (frame, []) if isinstance(frame, bytes) else frame
            text, blobs = broadcast(frame)
            message = json.loads(text)
            if "end" in message:
                return
            if "save" in message:
                self.save()
                continue
            batch = Batch(self.keep, message, blobs, self.stream, self.link)
            batch.run()
            reply, out = batch.finish()
            self.number, self.dirty = batch.number, True
            if state.rank == 0:
                self.link.send(reply, out)


def main(folder):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client says when a call is to be given up
    loop = Loop(folder)
    loop.begin()
    loop.run()
    if loop.link:
        loop.link.leaving.set()
        if state.rank == 0:
            shutil.rmtree(folder, ignore_errors=True)  # a client that was killed has left it
    dome.finalize()


if __name__ == "__main__":
    main(sys.argv[1])
