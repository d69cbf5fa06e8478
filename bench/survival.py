"""What bench/checkpoint and bench/figure10 share: a program that is killed and goes on."""

import os
import random
import re
import signal
import subprocess
import threading
import time

import lab
from lab import LIMIT


class Failed(Exception):
    """A run did not end as it should; str() is one line."""


class Run:
    """A program under `dome run`; notes when each line came. hosts: of a lab, of which the first starts it."""

    number = 0

    def __init__(self, build, tasks, program, arguments, restarts=0, hosts=None):
        Run.number += 1
        self.mark = "DOME_BENCH_RUN=%d.%d" % (os.getpid(), Run.number)
        name, value = self.mark.split("=")
        self.program, self.dome = os.path.join(build, program), os.path.join(build, "tools", "dome")
        # Lines are to come when they are printed: they are the clock.
        command = [self.dome, "run", "-n", str(tasks)]
        if restarts:
            command += ["--restarts", str(restarts), "--on-loss", "restart"]
        if hosts and hosts[1:]:
            hostfile = os.path.join(os.environ["LAB"], "hosts.%d.%d" % (os.getpid(), Run.number))
            with open(hostfile, "w") as file:
                file.writelines(host + "\n" for host in hosts[1:])
            command += ["--hosts", hostfile]
        command += [self.program] + arguments
        if hosts:
            command = lab.on_unbuffered(hosts[0], command)
        else:
            command = ["stdbuf", "-oL"] + command
        self.begin = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=dict(os.environ, **{name: value}))
        self.lines, self.words, self.changed = [], [], threading.Condition()
        # Threads of a run that is given up do not keep the script.
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.lines), (self.process.stderr, self.words))]
        for reader in self.readers:
            reader.start()
        self.timer = threading.Timer(LIMIT, self.give_up)
        self.timer.daemon = True
        self.timer.start()

    def read(self, stream, lines):
        for line in stream:
            with self.changed:
                lines.append((time.monotonic(), line.rstrip("\n")))
                self.changed.notify_all()

    def give_up(self):
        """Its hub ends everything else."""
        self.process.terminate()

    def wait_for(self, pattern, after=0.0, seconds=LIMIT):
        """When the first line came, later than `after`, in which the pattern is; None if the program ended or time is over."""
        def found():
            for when, line in self.lines + self.words:
                if when > after and re.search(pattern, line):
                    return when
            return None
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                when = found()
                if when or time.monotonic() > end:
                    return when
                if self.process.poll() is not None and not any(r.is_alive() for r in self.readers):
                    return found()
                self.changed.wait(0.05)

    def processes(self, program):
        """Of this run, that execute the program."""
        found, mark = [], self.mark.encode()
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                if os.path.realpath(os.readlink("/proc/%s/exe" % entry)) != os.path.realpath(program):
                    continue
                with open("/proc/%s/environ" % entry, "rb") as environ:
                    if mark in environ.read().split(b"\0"):
                        found.append(int(entry))
            except OSError:
                pass
        return sorted(found)

    def tasks(self):
        """Processes that run the program: not the hub, which runs dome."""
        return self.processes(self.program)

    def stop(self):
        """SIGTERM to the process that was started, here or on a host of a lab: a checkpoint, and the end."""
        def parent(pid):
            with open("/proc/%d/stat" % pid) as stat:
                return int(stat.read().rpartition(")")[2].split()[1])

        found = self.processes(self.dome)
        os.kill(next(pid for pid in found if parent(pid) not in found), signal.SIGTERM)

    def kill_one(self, draw):
        """kill -9 of a random task; when, or None if there was none."""
        tasks = self.tasks()
        if not tasks:
            return None
        try:
            os.kill(draw.choice(tasks), signal.SIGKILL)
        except ProcessLookupError:
            return None
        return time.monotonic()

    def end(self):
        """Waits for it; seconds from its beginning. Fails if it did not end well."""
        for reader in self.readers:
            reader.join()
        status = self.process.wait()
        seconds = time.monotonic() - self.begin
        self.timer.cancel()
        if status != 0:
            words = [line for _, line in self.words if not line.startswith("dome: running as root")]
            raise Failed("%s ended with status %d: %s" % (self.program, status, "; ".join(words[-3:]) or "no words"))
        return seconds

    def values(self, word):
        """Numbers in lines that begin with a word."""
        return [float(line.split()[1]) for _, line in self.lines if line.startswith(word + " ")]

    def checkpoints(self):
        """What --dome-profile says of them: written, seconds of pauses, of agreeing, the cost of one, seconds of the processor of the
        thread that writes; None if it says nothing."""
        for _, line in self.words:
            found = re.match(r"checkpoints: (\d+) written.*pauses (\S+) s,.*agreeing on them (\S+) s; one costs (\S+) s(?:.*; their thread (\S+) s)?", line)
            if found:
                return (int(found.group(1)), *(float(text or "nan") for text in found.groups()[1:]))
        return None

    def output(self):
        return [line for _, line in self.lines]


def failures(mean, seed):
    """Times between failures: exponential."""
    draw = random.Random(seed)
    while True:
        yield draw.expovariate(1 / mean)
