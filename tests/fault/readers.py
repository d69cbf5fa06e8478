"""Output that nobody reads for a while: a pager, a terminal that was stopped, a slow log. It slows the tasks that write, and nothing else.

    readers.py [PART-OF-A-NAME]"""

import os
import re
import signal
import subprocess
import sys
import time

import harness
from harness import DOME, Run, check, wait_until

WORKER = harness.PROGRAMS + "/worker"
TIMEOUT = 2  # of --dome-timeout: a program that counts as silent is ended within that
PAUSE = 2 * TIMEOUT + 1
MUCH = 300000  # lines: more than pipes, sockets and the hub hold


class Talk:
    """Task 1 of three writes lines to a pipe that this process reads when it likes."""

    def __init__(self, stream, lines, before=(), tasks=3, then=()):
        options = ["--dome-tasks", str(tasks), "--dome-timeout", str(TIMEOUT)] + (["--dome-output", "all"] if stream == "out" else [])
        self.read_end, write_end = os.pipe()
        self.stream = stream
        redirect = "exec \"$@\" 2>&%d" % write_end if stream == "err" else "exec \"$@\" >&%d" % write_end
        self.run = Run(["/bin/bash", "-c", redirect, "bash"] + list(before) + [WORKER, "%MARKS%", "1", "talk-" + stream, str(lines)] + options,
                       environment={"PVM_ALLOW_ROOT": "1"}, pass_fds=(write_end,))
        os.close(write_end)
        self.run.wait_marks("there", tasks)
        first = harness.Process.at(self.run.rank(0))
        self.hub = first.parent if first else 0

    def read(self):
        with os.fdopen(self.read_end, "rb") as f:
            self.read_end = -1
            return f.read().decode()

    def hub_memory(self):
        """KiB in memory, of the process that watches over the program."""
        with open("/proc/%d/status" % self.hub) as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.read_end >= 0:
            os.close(self.read_end)
        self.run.close()


def in_order(text, lines):
    wanted = "".join("[1] line %d of many, all of which are about as long as this one is, which is eighty\n" % i for i in range(lines))
    got = "".join(l + "\n" for l in text.split("\n") if l.startswith("["))
    check(got == wanted, "of %d lines %d have arrived, or in another order" % (lines, got.count("\n")))


def paused(stream, lines, before=()):
    """The reader pauses for longer than the timeout: all arrives in the end."""
    with Talk(stream, lines, before) as talk:
        time.sleep(PAUSE)
        check(talk.run.process.poll() is None or lines < MUCH, "the program has ended: %s" % talk.run.lines())
        memory = talk.hub_memory() if lines >= MUCH else 0
        text = talk.read()
        status = talk.run.wait()
        check(status == 0, "status %d: %s" % (status, text[-300:] + "; ".join(talk.run.lines())))
        talk.run.check_clean()
        in_order(text, lines)
        check(memory < 30000, "the hub takes %d KiB" % memory)
        check("all is said\n" in text + talk.run.output().decode(), "the program did not come to its end")
        return "%d KiB in the hub" % memory


def lost(stream):
    """A task is lost while nobody reads: all ends at once, and the line is there when somebody does."""
    with Talk(stream, MUCH) as talk:
        time.sleep(1)
        since = time.monotonic()
        os.kill(talk.run.rank(2), signal.SIGKILL)
        tasks = [talk.run.rank(r) for r in range(3)]
        wait_until(lambda: not talk.run.daemon() and not any(harness.Process.at(pid) for pid in tasks), "the tasks and the daemon to end")
        took = time.monotonic() - since
        wait_until(lambda: not os.listdir(talk.run.tmp), "the files to go")
        text = talk.read()
        status = talk.run.wait()
        talk.run.check_clean()
        said = [l for l in text.split("\n") + talk.run.lines() if l.startswith("dome: ")]
        check(status == 1 and len(said) == 1 and re.match(r"dome: task 2 on host \S+ is lost: ", said[0]), "status %d: %s" % (status, said))
        return "%.2f s" % took


def ended(number):
    """A user ends it while nobody reads, and has not to read for that; what is dropped is said where that can be read."""
    with Talk("out", MUCH) as talk:
        wait_until(lambda: talk.hub_memory() > 0, "the hub")
        time.sleep(1)
        os.kill(talk.run.pid, number)
        status = talk.run.wait()
        talk.run.check_clean()
        check(status in (-number, 128 + number), "status %d" % status)
        lines = talk.run.lines()
        check(len([l for l in lines if re.fullmatch(r"dome: nobody read the program's output: its last \d+ bytes are dropped", l)]) == 1, "it said: %s" % lines)


def all_cases():
    return [
        ("standard output, reader pauses", paused, "out", MUCH),
        ("standard error, reader pauses", paused, "err", MUCH),
        ("standard error, as much as fits, reader pauses", paused, "err", 3000),
        ("standard output with --restarts, reader pauses", paused, "out", MUCH, [DOME, "run", "--restarts", "1", "-n", "3"]),
        ("task lost, standard output not read", lost, "out"),
        ("task lost, standard error not read", lost, "err"),
        ("ended by SIGTERM, not read", ended, signal.SIGTERM),
        ("ended by SIGINT, not read", ended, signal.SIGINT),
    ]


if __name__ == "__main__":
    harness.need_pvm()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in all_cases() if wanted in c[0]], 4) else 0)
