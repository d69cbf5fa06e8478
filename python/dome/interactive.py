"""Arrays of a program of several tasks in IPython, Jupyter or a plain script: `c = dome.Client(n=4)`.

The workers are a program of their own, because a task of Dome is a process that forks, and a kernel has threads. `c.zeros(n)`
is dome.zeros on all workers; calls are recorded and sent in batches, and a result comes when it is read.
"""
import atexit
import collections
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from dome import env as _env, errors, protocol, remote

BATCH = 64  # calls that are sent at the latest, read or not
AHEAD = 16  # batches that may be on their way
START_SECONDS = 120


class WorkerError(errors.Error):
    """A call has failed on the workers. `traceback` is theirs, `rank` the task's number, `kind` the name of the exception."""

    kind, traceback, rank = "Error", "", 0

    def __str__(self):
        return str(self.args[0]) if self.args else ""


class WorkersEnded(errors.Error):
    """The workers have ended; their arrays are gone."""


# Exceptions that want other arguments, or that Python itself takes for something else.
_NO_BASES = (UnicodeError, SyntaxError, AttributeError, StopIteration)
_kinds = {}


def _error_of(told):
    """An exception that is a WorkerError, and of the class that the workers have raised if Python has it."""
    import builtins
    name = told["type"]
    if name not in _kinds:
        base = getattr(builtins, name, None) or getattr(errors, name, None)
        usable = isinstance(base, type) and issubclass(base, Exception) and not issubclass(base, _NO_BASES)
        bases = (WorkerError,) if not usable or base is errors.Error else (WorkerError, base)
        _kinds[name] = type(name, bases, {"__module__": "dome.interactive"})
    error = _kinds[name](f"{told['text']}\n\nOn task {told['rank']} of the workers:\n{told['traceback']}".rstrip())
    error.kind, error.traceback, error.rank = name, told["traceback"], told["rank"]
    return error


class Entry:
    """A batch that has been sent: kept until a checkpoint has it."""

    __slots__ = ("number", "text", "blobs", "reply", "wanted", "failed")

    def __init__(self, number, text, blobs, wanted):
        self.number, self.text, self.blobs, self.wanted = number, text, blobs, wanted
        self.reply = self.failed = None


class Client:
    """Workers of this process: `n` tasks of a program of their own on this host, or on `hosts` (a hostfile).

    Every public function of dome is a method: `c.arange(10)`, `c.linalg.solve(a, b)`. They return `remote.RemoteArray`, which
    has the operators and methods of arrays. `x.get()` brings the values here; `c.run(source)` runs statements on all workers.
    With `eager` every call is waited for, so that an exception comes from the call that has failed, and not from a later one
    that needs its result; each then takes a fraction of a millisecond. `options` are further options of the program, such as
    "--dome-timeout=5".
    """

    latest = None

    def __init__(self, n=None, *, hosts=None, eager=False, options=()):
        self._closed = True  # there is nothing to end yet
        if n is not None and int(n) < 1:
            raise errors.ArgumentError("a client needs a worker")
        _env.no_client()
        self._eager, command = eager, _command()
        self._closed, self._pid = False, os.getpid()
        self._lock, self._sending = threading.RLock(), threading.Lock()
        self._told = threading.Condition(self._lock)
        self._calls, self._blobs, self._wanted = [], [], []
        self._dropped = collections.deque()  # numbers of arrays that have died, at any time and in any thread
        self._log, self._number, self._handle = [], 0, 0
        self._base, self._table, self._definitions, self._count = 0, {}, [], 0
        self._connection = self._hello = self._ended = self._raised = None
        self._meeting = {}  # number of a cell -> the tasks that have come to its end
        self._unhealed, self._last_lines = {}, []
        self._restarts = -1
        self._folder = tempfile.mkdtemp(prefix="dome-client-")  # mode 0700
        self._secret = secrets.token_bytes(32)
        self._listener = self._listen()
        self._process = self._start(command, n, hosts, options)
        for target in (self._serve, self._show_output, self._show_errors):
            threading.Thread(target=target, daemon=True).start()
        atexit.register(self.close)
        try:
            self._await(lambda: self._hello, START_SECONDS)
        except BaseException:
            self.close()
            raise
        Client.latest = self
        remote.into_notebook(self)

    # ---- the workers' program ----

    def _listen(self):
        with open(os.open(os.path.join(self._folder, "secret"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(self._secret)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(self._folder, "socket"))
        listener.listen(4)
        return listener

    def _start(self, command, n, hosts, options):
        words = [command, "run", "--on-loss", "heal"]
        if n is not None:
            words += ["-n", str(int(n))]
        if n == 1:
            words += ["--max", "2"]  # one task has a hub then, which heals it
        if hosts is not None:
            words += ["--hosts", os.fspath(hosts)]
        words += [sys.executable, "-m", "dome.worker", self._folder, "--dome-checkpoint-every=1", "--dome-checkpoint-copy=wait",
                  *options]
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        paths = [here] + [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        # In a session of its own: Ctrl-C is for this process alone, which gives the call up.
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                errors="replace", start_new_session=True,
                                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"})

    def _show_output(self):
        for line in self._process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()

    def _show_errors(self):
        for line in self._process.stderr:
            at = line.find(protocol.MARK)
            if at >= 0:
                told = json.loads(line[at + len(protocol.MARK):])
                with self._lock:
                    self._unhealed.setdefault(told["n"], told)
                continue
            self._last_lines = [*self._last_lines[-4:], line.rstrip()]
            if not self._closed:
                sys.stderr.write(line)
                sys.stderr.flush()

    def _serve(self):
        """The thread that listens to the workers, through all of their views."""
        self._listener.settimeout(0.1)
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except socket.timeout:  # TimeoutError, from Python 3.10 on
                if self._process.poll() is not None:
                    break
                continue
            except OSError:
                break
            threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()
        with self._told:
            time.sleep(0.1)
            reason = self._last_lines[-1] if self._last_lines else f"status {self._process.poll()}"
            self._ended = f"the workers have ended: {reason}"
            self._told.notify_all()
            if not self._closed:
                sys.stderr.write(f"dome: the workers of this client have ended; their arrays are gone ({reason})\n")

    def _serve_one(self, connection):
        with connection:
            try:
                connection.settimeout(10.0)
                if not protocol.same_user(connection):
                    return
                protocol.prove(connection, self._secret, b"client", b"worker")
                connection.settimeout(None)
                first = json.loads(protocol.receive(connection)[0])
                if "hello" in first:
                    self._welcome(connection, first)
                while True:
                    text, blobs = protocol.receive(connection)
                    message = json.loads(text)
                    if "cell" in message:
                        self._meet(connection, message)
                    else:
                        self._hear(message, blobs)
            except (OSError, protocol.Closed, ValueError):
                pass
            finally:
                with self._told:
                    if self._connection is connection:
                        self._connection = None
                        self._told.notify_all()

    def _welcome(self, connection, hello):
        """The workers are there, for the first time or after a loss: they get the state's names and what is to be done anew."""
        with self._sending:
            with self._told:
                self._forget_failed()
                if hello["done"] < self._base:
                    sys.stderr.write("dome: the workers have no checkpoint left; their arrays are gone\n")
                    self._table, self._definitions, self._count, self._base = {}, [], 0, hello["done"]
                    self._log = [entry for entry in self._log if not entry.reply]
                self._advance(hello["done"])
                again = list(self._log)
                self._hello, self._restarts = hello, self._restarts + 1
                self._meeting.clear()
                welcome = {"table": [[name, what] for name, what in self._table.items()],
                           "definitions": self._definitions, "count": self._count}
            protocol.send(connection, welcome)
            for entry in again:
                protocol.send(connection, entry.text, entry.blobs)
            with self._told:
                self._connection = connection
                self._told.notify_all()

    def _forget_failed(self):
        """Batches after which the tasks could not go on together, or that were interrupted, are not sent again."""
        for number, told in self._unhealed.items():
            for entry in self._log:
                if entry.number == number and not entry.reply:
                    entry.failed = told
        for entry in self._log:
            if entry.failed:
                self._raised = self._raised or entry.failed
                for waiting in entry.wanted:
                    waiting.fail(entry.failed)
        self._log = [entry for entry in self._log if not entry.failed]
        self._unhealed.clear()

    def _advance(self, done):
        """The state of the workers has all batches up to this one."""
        while self._log and self._log[0].number <= done and self._log[0].reply:
            reply = self._log.pop(0).reply
            for name in reply["gone"]:
                self._table.pop(name, None)
            self._table.update((name, what) for name, what in reply["changed"])
            self._count = reply["count"]
            if reply["definitions"] is not None:
                self._definitions = reply["definitions"]
        self._base = max(self._base, done)

    def _meet(self, connection, message):
        """A task has come to the end of a cell. When all have, those that have failed may go on: nobody waits in vain."""
        with self._lock:
            number = message["cell"]
            if message["view"] != self._hello["view"]:
                return  # the task has become the program anew since
            there = self._meeting.setdefault(number, {})
            there[message["rank"]] = connection if message["failed"] else None
            free = []
            if len(there) == self._hello["hello"]:
                free = [one for one in self._meeting.pop(number).values() if one]
        for one in free:
            with self._sending:
                try:
                    protocol.send(one, {"go": number})
                except OSError:
                    pass  # the task is lost, which the hub sees

    def _hear(self, message, blobs):
        if "out" in message:
            with self._lock:
                again = not any(entry.number == message["n"] and not entry.reply for entry in self._log)
            if again:
                return  # it has been shown
            sys.stdout.write(message["out"])
            sys.stdout.flush()
            return
        with self._told:
            if "saved" in message:
                self._advance(message["saved"])
                return
            entry = next((entry for entry in self._log if entry.number == message["n"]), None)
            if entry is None:
                return
            first, entry.reply = not entry.reply, message
            if first:
                self._raised = self._raised or message["error"]
                results = dict((at, value) for at, value in message["results"])
                for waiting in entry.wanted:
                    waiting.resolve(results.get(waiting.at), blobs, message["error"])
                entry.wanted = []
            self._told.notify_all()

    # ---- calls ----

    def _new_handle(self):
        self._handle += 1
        return self._handle

    def _record(self, *call, waiting=None):
        """A call goes into the batch that is being written. Sends nothing: the caller may have the lock."""
        with self._lock:
            if waiting is not None:
                waiting.at = len(self._calls)
                self._wanted.append(waiting)
            self._calls.append(list(call))

    def flush(self):
        """Sends the recorded calls, without waiting for them."""
        self._alive()
        try:
            self._send_batch()
        except KeyboardInterrupt:  # perhaps in the middle of a frame
            self._interrupt()
            raise
        if sum(not entry.reply for entry in list(self._log)) > AHEAD:
            self._finish(lambda: sum(not entry.reply for entry in self._log) <= AHEAD // 2)

    def _send_batch(self):
        with self._sending:
            with self._lock:
                while self._dropped:
                    self._calls.append(["drop", None, self._dropped.popleft()])
                if not self._calls:
                    return
                calls, blobs, wanted = self._calls, self._blobs, self._wanted
                self._calls, self._blobs, self._wanted = [], [], []
                self._number += 1
                entry = Entry(self._number, json.dumps({"n": self._number, "calls": calls}).encode(), blobs, wanted)
                self._log.append(entry)
                connection = self._connection
            if connection:
                try:
                    protocol.send(connection, entry.text, entry.blobs)
                except OSError:
                    pass  # it is sent again to the next view

    def wait(self):
        """Waits until all recorded calls are done; raises the exception of one that has failed."""
        self.flush()
        self._finish(lambda: all(entry.reply for entry in self._log))
        self._raise()

    def _raise(self):
        with self._lock:
            told, self._raised = self._raised, None
        if told:
            raise _error_of(told)

    def _finish(self, done):
        try:
            self._await(done)
        except KeyboardInterrupt:
            self._interrupt()
            raise

    def _await(self, done, seconds=None):
        end = None if seconds is None else time.monotonic() + seconds
        with self._told:
            while not done():
                self._alive()
                if end is not None and time.monotonic() > end:
                    raise WorkersEnded(f"the workers did not start within {seconds} s")
                self._told.wait(0.5)

    def _alive(self):
        if self._closed:
            raise WorkersEnded("this client is closed")
        if self._ended:
            raise WorkersEnded(self._ended)

    def _interrupt(self):
        """Ctrl-C: the batches under way are given up. Task 0 is ended, and all tasks go back to the state before them."""
        with self._told:
            given_up = {"type": "KeyboardInterrupt", "text": "the call was interrupted", "traceback": "", "rank": 0}
            for entry in self._log:
                if not entry.reply:
                    entry.failed = given_up
            pid, restarts = self._hello["pids"][0], self._restarts
            connected = self._connection is not None
        if connected:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._await(lambda: self._connection and (self._restarts > restarts or not connected), START_SECONDS)
        with self._lock:
            self._raised = None

    def call(self, path, args, kwargs, lazy):
        """A call of a function of dome ("linalg.solve"), of an operator ("op:add") or of a method ("method:sum")."""
        with self._lock:
            encoded = self._encoded(args)
            named = dict(zip(kwargs, self._encoded(kwargs.values())))
            if lazy:
                x = remote.RemoteArray(self, self._new_handle())
                self._record("call", x._number, path, encoded, named)
            else:
                waiting = remote.Waiting()
                self._record("call", None, path, encoded, named, waiting=waiting)
        if lazy:
            self._recorded()
            return x
        return self.result(waiting)

    def _encoded(self, values):
        """Values as parts of the batch that is being written, in a block that has the lock."""
        return [protocol.encode(value, self._blobs, self._operand) for value in values]

    def _recorded(self):
        """After a call has been recorded, and without the lock: sending takes the other lock first."""
        if self._eager:
            self.wait()
        elif len(self._calls) >= BATCH:
            self.flush()

    def _operand(self, value):
        if type(value) is remote.RemoteArray:
            if value._client is not self:
                raise errors.ArgumentError("this array belongs to the workers of another client")
            return protocol.Ref(value._number)
        if hasattr(value, "__array_interface__") or type(value).__module__ == "numpy":
            return remote.values_of(value)
        return value

    def result(self, waiting):
        """Waits for one result."""
        self.flush()
        self._finish(lambda: waiting.done)
        self._raise()
        return waiting.value(lambda ref: remote.RemoteArray(self, ref.number, ref.dtype, ref.shape))

    def fetch(self, kind, *arguments):
        """Waits for a value of the workers, sent at once."""
        waiting = remote.Waiting()
        self._record(kind, None, *arguments, waiting=waiting)
        return self.result(waiting)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return remote.namespace(self, name)

    # ---- statements ----

    def run(self, source):
        """Runs statements on all workers, with the variables of earlier ones. Output of task 0 is shown here, once.

        `dome` and `dm` are there. An exception on one task is raised here. If other tasks then wait for that one in vain, all
        go back to the state before.
        """
        self._record("cell", None, str(source))
        self.wait()

    def __setitem__(self, name, value):
        """`c["x"] = value`: a variable of the workers."""
        with self._lock:
            self._record("push", None, str(name), *self._encoded([value]))
        self._recorded()

    def __getitem__(self, name):
        """`c["x"]`: the value of a variable of the workers; an array stays there."""
        return self.fetch("pull", str(name))

    # ---- the program ----

    @property
    def n(self):
        """The number of workers."""
        self._await(lambda: self._connection)
        return self._hello["hello"]

    @property
    def hosts(self):
        """The names of the workers' hosts, by rank."""
        return list(self._hello["hosts"])

    @property
    def pids(self):
        """The process numbers of the workers, on their hosts."""
        self._alive()
        return list(self._hello["pids"])

    @property
    def healed(self):
        """How often the workers have become the program anew: after losses, interrupts, `dome grow`."""
        return self._restarts

    def view(self, height=600):
        """The live page of the workers: in a notebook inside it, otherwise its address."""
        return remote.live_page(self, height)

    def __repr__(self):
        if self._closed or self._ended:
            return "<dome.Client: ended>"
        return f"<dome.Client: {self._hello['hello']} workers on {', '.join(sorted(set(self._hello['hosts'])))}>"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
        return False

    def __del__(self):
        try:
            self.close()
        except Exception:
            pass

    def close(self):
        """Ends the workers."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        atexit.unregister(self.close)
        if Client.latest is self:
            Client.latest = None
        with self._lock:
            connection = self._connection
        if connection:
            try:
                connection.shutdown(socket.SHUT_RDWR)  # the workers take it for the end of the client, which it is
            except OSError:
                pass
        _end(self._process, 10 if connection else 0)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        page = self.__dict__.get("_page")
        if page:
            _end(page, 0)


def _command():
    from dome.__main__ import find_command
    try:
        return find_command()
    except SystemExit as error:  # which would end a notebook's cell without a word
        raise errors.Error(str(error)) from None


def _end(process, seconds):
    for sign, wait in ((None, seconds), (signal.SIGTERM, 3), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        if sign is not None and process.poll() is None:
            process.send_signal(sign)
        try:
            process.wait(wait)
            return
        except subprocess.TimeoutExpired:
            pass
