"""A domed of a test's own, with its folder and its socket, and commands that reach it."""

import itertools
import json
import os
import shutil
import socket
import subprocess
import tempfile
import uuid

import harness
from harness import BUILD, DOME, check, kill, marked, wait_until

DOMED = os.path.join(os.path.abspath(BUILD), "tools", "domed")
VERSION = 5


TRIED = itertools.count()  # cases run side by side


def free_port():
    """Another one each time, below the ports that the system gives to a socket without one."""
    for k in itertools.islice(TRIED, 12000):
        port = 20000 + (os.getpid() * 13 + k) % 12000
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SystemExit("no port of 20000 to 31999 is free")


class Daemon:
    def __init__(self, slots=16, before=(), tools=None, options=("--dedicated",), environment=None):
        self.base = tempfile.mkdtemp(prefix="dome-daemon.", dir=harness.short_parent())
        os.chmod(self.base, 0o755)
        self.folder, self.socket = os.path.join(self.base, "state"), os.path.join(self.base, "socket")
        self.tmp, self.work = os.path.join(self.base, "t"), os.path.join(self.base, "w")
        os.mkdir(self.tmp, 0o777)
        os.mkdir(self.work, 0o777)
        for path in self.tmp, self.work:
            os.chmod(path, 0o1777)
        self.mark = uuid.uuid4().hex
        self.options, self.more = list(options), environment or {}
        self.slots, self.before, self.process, self.log = slots, list(before), None, ""
        self.domed, self.dome = DOMED, DOME
        if tools:  # copies that other users can run
            self.domed, self.dome = self.base + "/domed", self.base + "/dome"
            harness.copy_program(DOMED, self.domed)
            harness.copy_program(DOME, self.dome)
        try:
            self.start()
        except BaseException:  # nobody enters it then
            self.__exit__()
            raise

    def environment(self):
        env = harness.clean_environment()
        env.update(TMPDIR=self.tmp, PVM_TMP=self.tmp, PVM_ALLOW_ROOT="1", DOME_DAEMON=self.socket)
        env.update(self.more)
        env["DOME_TEST_MARK"] = os.environ.get("DOME_TEST_MARK", "") + "/" + self.mark
        return env

    def start(self):
        command = self.before + [self.domed, "--state", self.folder, "--socket", self.socket, "--slots", str(self.slots)] + self.options
        with open(self.base + "/log", "ab") as log:
            self.process = subprocess.Popen(command, env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(lambda: self.answers() or self.process.poll() is not None, "domed to answer")
        check(self.process.poll() is None, "domed has ended: " + self.lines())

    def answers(self):
        return self.run("ps", "--submitted", "--json", status=None)[0] == 0

    def lines(self):
        with open(self.base + "/log", errors="replace") as f:
            return f.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def run(self, *arguments, status=0, user=None, environment=None, cwd=None):
        """Of a command: its status, standard output and standard error."""
        env = self.environment()
        env.update(environment or {})
        done = subprocess.run([self.dome] + list(arguments), env=env, cwd=cwd or self.work, user=user, group=user, stdin=subprocess.DEVNULL,
                              extra_groups=[] if user is not None else None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.HANG)
        out, err = done.stdout.decode(), done.stderr.decode()
        check(status is None or done.returncode == status, "dome %s: status %d: %s%s" % (" ".join(arguments), done.returncode, out, err))
        return done.returncode, out, err

    def submit(self, *arguments, **how):
        return self.run("submit", *arguments, **how)[1].strip()

    def program(self, number):
        """What the table says of it; None: nothing."""
        found = [p for p in json.loads(self.run("ps", "--submitted", "--json")[1]) if p["program"] == number]
        return found[0] if found else None

    def wait_for(self, number, condition, what, seconds=harness.HANG):
        def is_so():
            p = self.program(number)
            return p and condition(p)

        try:
            wait_until(is_so, what, seconds)
        except harness.Failure as e:
            raise harness.Failure("%s; it is %s; %s" % (e, self.program(number), self.lines()))

    def wait_state(self, number, state):
        self.wait_for(number, lambda p: p["state"] == state, "%s to be: %s" % (number, state))

    def output(self, name):
        with open(os.path.join(self.work, name)) as f:
            return f.read()

    def processes(self):
        return marked(self.mark)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for _ in range(100):  # what a process that is killed has just started
            found = [p for p in self.processes()]
            if not found:
                break
            for p in found:
                kill(p.pid)
            harness.time.sleep(0.05)
        self.process.wait()
        shutil.rmtree(self.base, ignore_errors=True)
