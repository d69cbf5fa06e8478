"""A cluster of domed and Corosync on the hosts of a lab, programs that are submitted to it, and the load that others bring."""

import glob
import json
import os
import re
import shutil
import subprocess
import threading
import time

from lab import LAB, on

from .parts import LIMIT, Failed, Unable
from .saving import hosts

PATIENCE = 120  # seconds; what takes longer is taken for what never comes
COROSYNC = """totem {
 version: 2
 cluster_name: lab
 transport: knet
 crypto_cipher: none
 crypto_hash: none
 token: 3000
}
quorum {
 provider: corosync_votequorum
}
logging {
 to_stderr: no
 to_logfile: yes
 logfile: /tmp/corosync.log
 to_syslog: no
}
nodelist {
%s}
"""
NODE = " node {\n  ring0_addr: 10.99.0.%d\n  nodeid: %d\n  name: h%d\n }\n"
# The lab's files are in /run, too: its lock and its state get places of their own.
ALONE = """mount -t tmpfs none /run && mkdir -p /run/lock /var/lib/corosync && mount -t tmpfs none /var/lib/corosync && \
exec corosync -c /tmp/corosync.conf"""
CONSOLE, SOCKET = "/tmp/console", "/tmp/domed.sock"
TICKS = os.sysconf("SC_CLK_TCK")


def wait_until(condition, what, seconds=PATIENCE):
    """When it was so. what: words, or a function that returns them."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return time.monotonic()
        time.sleep(0.02)
    raise Failed("waited in vain for: " + (what() if callable(what) else what))


def process_of(pid):
    """Its name, its state, and its ticks of a processor; None if it is gone."""
    try:
        with open("/proc/%s/stat" % pid) as stat:
            name, _, rest = stat.read().partition("(")[2].rpartition(")")
    except OSError:
        return None
    words = rest.split()
    return name, words[0], int(words[11]) + int(words[12])


class OwnStat:
    """Gives each host a /proc/stat and a pressure of its own, as containers have them by LXCFS: the hosts of a lab share a kernel, whose own
    files tell of all of them together. Written five times a second, in place, so that a reader finds a whole text."""

    EVERY = 0.2

    def __init__(self, names):
        self.names, self.busy, self.seen = names, dict.fromkeys(names, 0), {name: {} for name in names}
        self.begin, self.end = time.monotonic(), threading.Event()
        for name in names:
            self.write(name, 0, 0, 0)
            for kind, path in (("stat", "/proc/stat"), ("pressure", "/proc/pressure/cpu")):
                if subprocess.call([LAB, "on", name, "mount", "--bind", self.path(name, kind), path]):
                    raise Unable("%s of a host cannot be replaced" % path)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    @staticmethod
    def path(name, kind):
        return os.path.join(os.environ["LAB"], name, kind)

    def put(self, name, kind, text):
        file = os.open(self.path(name, kind), os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(file, text.encode(), 0)
        os.close(file)

    def write(self, name, idle, running, others):
        """others: how many processes of theirs run; without any, no thread of theirs waits."""
        self.put(name, "stat", "cpu  %012d 0 0 %012d 0 0 0 0 0 0\nprocs_running %06d\n" % (self.busy[name], idle, running + 1))
        self.put(name, "pressure", "some avg10=%06.2f avg60=0.00 avg300=0.00 total=0\n" % (50 if others else 0))

    def look(self, name):
        """Running processes, and those of them that are others' load."""
        running = others = 0
        with open(os.path.join(os.environ["LAB"], name, "cgroup", "cgroup.procs")) as processes:
            there = processes.read().split()
        for pid in there:
            found = process_of(pid)
            if not found or found[0] in ("domed", "corosync"):
                continue
            self.busy[name] += max(0, found[2] - self.seen[name].get(pid, found[2]))
            self.seen[name][pid] = found[2]
            running += found[1] == "R"
            others += found[0] == Others.NAME and found[1] == "R"
        return running, others

    def run(self):
        while not self.end.wait(self.EVERY):
            for name in self.names:
                running, others = self.look(name)
                self.write(name, int((time.monotonic() - self.begin) * TICKS) - self.busy[name], running, others)


class Others:
    """Programs of others that keep a host's processor busy."""

    NAME = "others"

    def __init__(self, name, count):
        self.name, self.pids = name, []
        program = os.path.join(os.environ["LAB"], self.NAME)
        if not os.path.exists(program):
            shutil.copy(shutil.which("bash"), program)
        for _ in range(count):
            out = subprocess.check_output([LAB, "on", name, "bash", "-c", "%s -c 'while :; do :; done' </dev/null >/dev/null 2>&1 & echo $!" % program], text=True)
            self.pids.append(out.strip())

    def end(self):
        subprocess.call([LAB, "on", self.name, "kill", *self.pids])


class Submitted:
    """A program of the cluster; notes when each line of its output came."""

    def __init__(self, cluster, number, path):
        self.cluster, self.number, self.path = cluster, number, path
        self.begin, self.lines, self.over = time.monotonic(), [], False
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        rest, at = "", 0
        while True:
            last = self.over
            if os.path.exists(self.path):
                with open(self.path, errors="replace") as file:
                    file.seek(at)
                    rest += file.read()
                    at = file.tell()
            *whole, rest = rest.split("\n")
            self.lines += [(time.monotonic(), line) for line in whole]
            if last:
                return
            time.sleep(0.02)

    def at(self, pattern, after=0.0):
        """When the first line came that has the pattern, later than that."""
        return next((when for when, line in list(self.lines) if when > after and re.search(pattern, line)), None)

    def wait_for(self, pattern, after=0.0):
        wait_until(lambda: self.at(pattern, after), lambda: "'%s' in the output of %s: %s" % (pattern, self.number, self.lines[-3:]))
        return self.at(pattern, after)

    def state(self):
        """What the table says of it."""
        return next(p for p in self.cluster.programs() if p["program"] == self.number)

    def until(self, condition, what, seconds=PATIENCE):
        """When its state fulfilled that."""
        def fulfilled():
            state = self.state()
            if not condition(state) and state["state"] == "ended":
                raise Failed("%s has ended before it came %s: %s" % (self.number, what, [line for _, line in self.lines[-3:]]))
            return condition(state)

        return wait_until(fulfilled, lambda: "%s to come %s: %s" % (self.number, what, self.state()), seconds)

    def end(self):
        """Waits for its end; seconds since it was submitted."""
        when = self.until(lambda p: p["state"] == "ended", "to its end", LIMIT)
        self.over = True
        self.thread.join()
        if self.state()["status"] != 0:
            raise Failed("%s ended with status %d: %s" % (self.number, self.state()["status"], [line for _, line in self.lines[-3:]]))
        return when - self.begin


class Cluster:
    """domed on so many hosts of the lab, a processor each. dedicated: loads are not looked at."""

    def __init__(self, context, count, dedicated):
        self.context, self.names, self.programs_made = context, hosts(count), 0
        self.dome, self.domed = (os.path.join(context.build, "tools", name) for name in ("dome", "domed"))
        self.environment = ["DOME_RSH=ssh -F %s/ssh_config" % os.environ["LAB"], "PVM_ALLOW_ROOT=1", "DOME_DAEMON=" + SOCKET]
        if not os.path.exists("/usr/sbin/corosync"):
            raise Unable("corosync is not installed")
        if "built without" in subprocess.run([self.domed, "--version"], stdout=subprocess.PIPE, text=True).stdout:
            raise Unable("domed was built without Corosync")
        if not glob.glob(os.path.join(os.environ["LAB"], "corosync.conf")):
            self.start_corosync()
        for name in self.names:
            words = [self.domed, "--engine", "corosync", "--name", name, "--state", "/tmp/domed", "--socket", SOCKET, "--slots", "1",
                     "--console", CONSOLE] + (["--dedicated"] if dedicated else [])
            self.on(name, ["bash", "-c", 'exec 3>&- >>"$0" 2>&1 </dev/null; "$@" & echo $! >/tmp/domed.pid',
                           os.path.join(context.work, "domed." + name), *words])
        for name in self.names:
            wait_until(lambda: self.present(name) == count, "all hosts, seen on " + name)

    def start_corosync(self):
        """Beside the hosts' shares, in which it would take a part of a fifth of a processor."""
        path = os.path.join(os.environ["LAB"], "corosync.conf")
        with open(path, "w") as file:
            file.write(COROSYNC % "".join(NODE % (k, k, k) for k in range(1, len(self.names) + 1)))
        for name in self.names:
            self.on(name, ["cp", path, "/tmp"])
            subprocess.check_call([LAB, "on", name, "unshare", "-m", "bash", "-c", ALONE], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
            cgroup = os.path.realpath(os.path.join(os.environ["LAB"], name, "cgroup"))
            with open(cgroup + "/cgroup.procs") as processes:
                found = [pid for pid in processes.read().split() if (process_of(pid) or " ")[0] == "corosync"]
            for pid in found:
                try:
                    with open(os.path.dirname(cgroup) + "/cgroup.procs", "w") as outside:
                        outside.write(pid)
                except OSError:
                    pass  # cgroups of version 2: then it counts as the host's

    def on(self, name, command):
        done = subprocess.run(on(name, command, self.environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failed("%s on %s: status %d: %s" % (" ".join(command[:3]), name, done.returncode, done.stderr.strip()[-300:]))
        return done.stdout

    def ask(self, *words, host="h1"):
        return self.on(host, [self.dome, *words])

    def present(self, name):
        try:
            return sum(h["state"] == "there" for h in json.loads(self.ask("hosts", "--daemons", "--json", host=name)))
        except Failed:
            return 0

    def programs(self):
        return json.loads(self.ask("ps", "--submitted", "--json"))

    def submit(self, options, words):
        self.programs_made += 1
        path = os.path.join(self.context.work, "out.%d.%d" % (id(self), self.programs_made))
        number = self.ask("submit", "-o", path, *options, *words).strip()
        return Submitted(self, number, path)

    def wishes(self, text):
        """--topology with a file of that text."""
        self.programs_made += 1
        path = os.path.join(self.context.work, "wish.%d" % self.programs_made)
        with open(path, "w") as file:
            file.write(text)
        return ["--topology", path]

    def touch(self, name):
        """The owner of that host does something."""
        self.on(name, ["touch", CONSOLE])

    def end(self):
        for name in self.names:
            self.on(name, ["bash", "-c", "pid=$(cat /tmp/domed.pid); kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.05; done; rm -rf /tmp/domed"])
