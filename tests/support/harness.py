"""Starts Dome programs, does things to their processes, and looks at how they end and at what they leave.

Every run has a temporary directory of its own, which has to be empty in the end, and a mark in its environment by which all of its
processes are found, whoever started them."""

import concurrent.futures
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
import uuid

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DOME_BUILD_DIR", os.path.join(SOURCE, "build"))
PROGRAMS = os.path.join(os.path.abspath(BUILD), "tests", "programs")
DOME = os.path.join(os.path.abspath(BUILD), "tools", "dome")
ROOT_NOTICE = "dome: running as root"
# In the background of a shell and under nohup these are ignored, which programs inherit, but not what is caught.
for each in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
    if signal.getsignal(each) == signal.SIG_IGN:
        signal.signal(each, lambda *_: None)
ALL = bool(os.environ.get("DOME_TEST_ALL"))  # in the tier slow
HANG = 120  # far beyond any limit of the library: what says nothing new for longer hangs


class Failure(Exception):
    pass


class Awake(threading.Thread):
    """A clock of the time in which this process could run, as the library has one: while the machine stands still nothing can end."""

    STEP, MOST = 0.05, 0.5  # seconds between two looks, and what counts of them

    def __init__(self):
        super().__init__(daemon=True)
        self.seconds, self.looked = 0.0, time.monotonic()
        self.lock = threading.Lock()
        self.start()

    def look(self):
        with self.lock:
            now = time.monotonic()
            self.seconds += min(now - self.looked, self.MOST)
            self.looked = now
            return self.seconds

    def run(self):
        while True:
            self.look()
            time.sleep(self.STEP)


awake = Awake().look


def check(condition, text):
    if not condition:
        raise Failure(text)


def short_parent():
    parent = os.environ.get("TMPDIR", "/tmp")
    return parent if len(parent) <= 24 else "/tmp"


@contextlib.contextmanager
def temporary_directory():
    path = tempfile.mkdtemp(prefix="dome-test.", dir=short_parent())
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def clean_environment():
    return {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("PVM", "DOME_")) or k in ("PVM_ROOT", "PVM_ARCH", "PVM_ALLOW_ROOT")
    }


def copy_program(source, to):
    """By a process of its own: what another case starts meanwhile must not have it open for writing ("Text file busy")."""
    subprocess.run(["cp", source, to], check=True)


def wait_until(condition, what, seconds=HANG):
    until = time.monotonic() + seconds
    pause = 0.002
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise Failure("waited %g s for %s" % (seconds, what))
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


class Process:
    """A process as /proc shows it; None from at() if it is gone or a zombie."""

    @staticmethod
    def at(pid):
        try:
            with open("/proc/%d/stat" % pid) as f:
                text = f.read()
        except (OSError, ValueError):
            return None
        after = text[text.rindex(")") + 2 :].split()
        if after[0] in "ZX":
            return None
        p = Process()
        p.pid = pid
        p.name = text[text.index("(") + 1 : text.rindex(")")]
        p.state, p.parent, p.session = after[0], int(after[1]), int(after[3])
        return p


def marked(mark):
    """All live processes with this mark."""
    found = subprocess.run([os.path.join(SOURCE, "tests", "support", "marked"), mark], stdout=subprocess.PIPE).stdout
    return [p for p in map(Process.at, map(int, found.split())) if p]


def kill(pid, number=signal.SIGKILL):
    """False if it has gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def shown(run):
    """The program as dome ps shows it; None: it is between two views, or has ended."""
    told = subprocess.run([DOME, "ps", "--json"], env=clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=HANG).stdout
    own = {p.pid for p in run.processes()}
    return next((p for p in json.loads(told or "[]") if p["pid"] in own), None)


class Kills:
    """Random kills of a program that has to go on. It ends if it loses the same task three times in a row at the same place
    (src/manage/losses.h), so nobody is killed who might be that task."""

    def __init__(self, run):
        self.run, self.ranks = run, []  # ranks: of those killed since the last change; None: not known

    def one_of(self, tasks, pick):
        """Kills one of these processes, chosen by a part of 1. False: nobody was there, or might be killed."""
        program = shown(self.run) or {"tasks": []}
        ranks = {t["pid"]: t["rank"] for t in program["tasks"]}
        allowed = [pid for pid in tasks if not self.may_end(ranks.get(pid))]
        if not allowed:
            return False
        pid = allowed[int(pick * len(allowed))]
        done = kill(pid)
        self.ranks += [ranks.get(pid)] if done else []
        return done

    def may_end(self, rank):
        known = {r for r in self.ranks[-2:] + [rank] if r is not None}
        return len(self.ranks) >= 2 and len(known) <= 1

    def changed(self):
        """The number of tasks has changed: another place."""
        self.ranks = []


class Run:
    def __init__(self, arguments, environment=None, stdin=subprocess.DEVNULL, stdout=None, pty=False, cwd=None, pass_fds=(), marks=()):
        self.base = tempfile.mkdtemp(prefix="dome-run.", dir=short_parent())
        self.tmp = os.path.join(self.base, "t")
        self.marks = os.path.join(self.base, "m")
        os.mkdir(self.tmp)
        os.mkdir(self.marks)
        for name in marks:  # a list of names, or what is in the files by their names
            with open(os.path.join(self.marks, name), "w") as f:
                f.write(marks[name] if isinstance(marks, dict) else "")
        self.mark = uuid.uuid4().hex
        env = clean_environment()
        env.update(TMPDIR=self.tmp, PVM_TMP=self.tmp)
        env["DOME_TEST_MARK"] = os.environ.get("DOME_TEST_MARK", "") + "/" + self.mark
        for name, value in (environment or {}).items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value.replace("%TMP%", self.tmp)
        self.arguments = [a.replace("%MARKS%", self.marks) for a in arguments]
        self.keyboard = None
        self.out_path, self.err_path = self.base + "/out", self.base + "/err"
        err = open(self.err_path, "wb")
        out = stdout if stdout is not None else open(self.out_path, "wb")
        start = dict(env=env, stdout=out, stderr=err, stdin=stdin, cwd=cwd, pass_fds=pass_fds)
        if pty:
            self.keyboard, slave = os.openpty()
            start.update(stdin=slave, start_new_session=True)

            def take_terminal():
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

            start["preexec_fn"] = take_terminal
        self.process = subprocess.Popen(self.arguments, **start)
        if pty:
            os.close(slave)
        for f in (err, out):
            if f is not stdout:
                f.close()
        self.pid = self.process.pid
        self.began = awake()

    # ---- who is who ----

    def processes(self):
        return marked(self.mark)

    def daemon(self):
        for p in self.processes():
            if p.name.startswith("pvmd"):
                return p.pid
        return None

    def rank(self, r):
        try:
            with open("%s/rank.%d" % (self.marks, r)) as f:
                return int(f.read())
        except OSError:
            return None

    def hub(self):
        """The process that watches the tasks, between the one that was started and rank 0."""
        return Process.at(self.rank(0)).parent

    def have(self, name, count):
        return len([n for n in os.listdir(self.marks) if re.fullmatch(name + r"\.\d+", n)]) >= count

    def wait_marks(self, name, count):
        wait_until(lambda: self.have(name, count) or self.process.poll() is not None, "tasks to be there")
        check(self.have(name, count), "the program ended early with status %s: %s" % (self.process.poll(), self.errors()))

    # ---- the end ----

    def wait(self):
        """Until the process that was started has ended: its status, negative for a signal. A busy machine may need long for it; the
        program's lines of progress tell that it goes on."""
        said = None
        while True:
            try:
                return self.process.wait(HANG)
            except subprocess.TimeoutExpired:
                if said == self.errors():
                    raise Failure("the program hangs: " + self.describe())
                said = self.errors()

    def wait_gone(self):
        def gone():
            return not self.processes()

        try:
            wait_until(gone, "its processes to end", 60)
        except Failure:
            raise Failure("processes are left: " + self.describe())

    def describe(self):
        """Its processes, with their parents and states."""
        all_of_them = ["%d %s, child of %d (%s)" % (p.pid, p.name, p.parent, p.state) for p in self.processes()]
        return "started %d; there are %s; %s" % (self.pid, ", ".join(all_of_them), " | ".join(self.lines()))

    def output(self):
        with open(self.out_path, "rb") as f:
            return f.read()

    def errors(self):
        with open(self.err_path, "rb") as f:
            return f.read().decode(errors="replace")

    def lines(self):
        """Lines of standard error but for the word about root."""
        return [l for l in self.errors().split("\n") if l and not l.startswith(ROOT_NOTICE)]

    def check_clean(self):
        self.wait_gone()
        left = sorted(os.listdir(self.tmp))
        check(not left, "files are left: " + ", ".join(left))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for p in self.processes():
            kill(p.pid)
        if self.keyboard is not None:
            os.close(self.keyboard)
        shutil.rmtree(self.base, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Machine:
    """A user's own virtual machine of this host, and its console."""

    def __init__(self, files=None):
        self.tmp = tempfile.mkdtemp(prefix="dome-vm.", dir=short_parent())
        self.environment = clean_environment()
        self.environment.setdefault("PVM_ROOT", "/usr/lib/pvm3")
        self.environment.update(PVM_TMP=self.tmp, PVM_ALLOW_ROOT="1", HOME=self.tmp)
        limit = ["prlimit", "--nofile=%d" % files] if files else []
        self.daemon = subprocess.Popen(limit + [self.environment["PVM_ROOT"] + "/lib/pvmd"], env=self.environment, start_new_session=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.address = self.daemon.stdout.readline()

    def for_run(self):
        return {"PVM_TMP": self.tmp, "PVM_ALLOW_ROOT": "1", "PVM_ROOT": self.environment["PVM_ROOT"]}

    def alive(self):
        return self.daemon.poll() is None

    def children(self):
        found = []
        for name in os.listdir("/proc"):
            p = Process.at(int(name)) if name.isdigit() else None
            if p and p.parent == self.daemon.pid:
                found.append(p)
        return found

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.alive():
            self.daemon.terminate()
        try:
            self.daemon.wait(60)
        finally:
            self.daemon.kill()
            self.daemon.wait()
        self.daemon.stdout.close()
        shutil.rmtree(self.tmp, ignore_errors=True)


def mark(run, name):
    """The number that task 0 of tests/programs/elastic or tell has left under a name; None: it has not yet."""
    try:
        with open("%s/%s.0" % (run.marks, name)) as f:
            return int(f.read())
    except (OSError, ValueError):
        return None


def step_of(run):
    return mark(run, "step") or 0


def reach_or_end(run, step):
    wait_until(lambda: step_of(run) >= step or run.process.poll() is not None, "step %d; %s" % (step, run.describe()))


def reach(run, step):
    reach_or_end(run, step)
    check(run.process.poll() is None, "it ended early: %s" % run.errors())


def only_line(run, pattern):
    """Exactly one line on standard error, and it says so."""
    lines = run.lines()
    check(len(lines) == 1, "%d lines instead of one: %s" % (len(lines), " | ".join(lines)))
    check(re.fullmatch("dome: " + pattern, lines[0]), "the line is not %r: %s" % (pattern, lines[0]))


def run_all(cases, jobs):
    """cases: (name, function, arguments...). Runs them several at a time; the number of failures."""
    failed = 0
    lock = threading.Lock()
    begin = time.monotonic()

    def one(case):
        name, function, *arguments = case
        start = time.monotonic()
        try:
            note = function(*arguments)
            result = "ok    "
        except (Failure, OSError, ValueError, TypeError) as e:
            note, result = str(e) if isinstance(e, Failure) else repr(e), "FAILED"
        with lock:
            print("%s %-58s %5.1f s%s" % (result, name, time.monotonic() - start, "  " + note if note else ""), flush=True)
        return result != "ok    "

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        failed = sum(pool.map(one, cases))
    print("%d of %d failed, %.0f s" % (failed, len(cases), time.monotonic() - begin))
    return failed


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def need_pvm():
    if not os.access("/proc/self/environ", os.R_OK):
        skip("there is no /proc to find processes in")
    if not shutil.which("pvmd") and not os.path.exists(os.environ.get("PVM_ROOT", "/usr/lib/pvm3") + "/lib/pvmd"):
        skip("PVM is not installed")
    if not os.path.exists(PROGRAMS + "/worker"):
        print("%s/worker is not built: set DOME_BUILD_DIR" % PROGRAMS)
        sys.exit(1)
