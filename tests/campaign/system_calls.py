"""Calls that fail, stop short, or kill the process, while checkpoints are written: the program ends or goes on, no checkpoint that was
good is lost, and the next start comes to the bits of an undisturbed run."""

import errno
import os
import signal
import subprocess
import threading

import campaign
import harness
from campaign import INJECT, STATE
from harness import DOME, Run, check

STEPS = "16"
CALLS = ["open", "write", "write", "write", "fsync", "rename", "link", "unlink", "allocate", "truncate"]
ERRORS = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EMFILE, errno.EINTR, errno.EDQUOT, errno.EROFS, errno.ENOENT, errno.ENOLCK]


class Choice:
    def __init__(self, chance):
        self.tasks = chance.choice([1, 1, 2, 3])
        self.call = chance.choice(CALLS)
        self.number = "%d%s" % (chance.choice([1, 2, 3, 4, 5, 6, 8, 10, 13, 20, 30, 50]), chance.choice(["", "", "+"]))
        self.action = chance.choice(["kill", "kill", "short", "stop"] + [str(e) for e in chance.sample(ERRORS, 4)])
        if self.action == str(errno.EINTR):
            self.number = self.number.rstrip("+")  # no system interrupts every call
        self.only = chance.choice(["first", "others"]) if self.tasks > 1 else None
        self.every, self.keep = chance.choice(["1", "2", "3"]), chance.choice(["1", "2", "4"])

    def __str__(self):
        return "%d tasks, %s:%s:%s in %s, every %s, keep %s" % (self.tasks, self.call, self.number, self.action, self.only, self.every, self.keep)


def program(tasks, directory, every, keep, *more):
    start = ["--dome-transport", "self"] if tasks == 1 else ["--dome-tasks", str(tasks), "--dome-timeout", "4"]
    saving = ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", every, "--dome-checkpoint-keep", keep]
    return [STATE, STEPS] + start + saving + list(more)


class Waker:
    """Processes that an injected call has stopped go on when the others' patience is over."""

    def __init__(self, run, active):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.wake, args=(run,))
        self.active = active

    def wake(self, run):
        pause = 6
        while not self.over.wait(pause):
            pause = 0.05
            for p in run.processes():
                if p.state == "T":
                    harness.kill(p.pid, signal.SIGCONT)

    def __enter__(self):
        if self.active:
            self.thread.start()

    def __exit__(self, *unused):
        self.over.set()
        if self.active:
            self.thread.join()


def case(chance, number):
    choice = Choice(chance)
    environment = {"LD_PRELOAD": INJECT, "INJECT": "%s:%s:%s:/saved" % (choice.call, choice.number, choice.action), "INJECT_TASKS": choice.only}
    with harness.temporary_directory() as base:
        saved = os.path.join(base, "saved")
        with Run(program(choice.tasks, saved, choice.every, choice.keep), environment) as run:
            with Waker(run, choice.action == "stop"):
                status = run.wait()
                run.wait_gone()
            run.check_clean()
            check(status != 0 or run.output() == expected, "%s: wrong without an error: %r" % (choice, run.output()))
            check(status == 0 or status < 0 or run.lines(), "%s: status %d without a line" % (choice, status))
            hit = status != 0 or bool(run.lines())
        good = campaign.checkpoints(saved)
        with Run(program(1, saved, choice.every, choice.keep, "--dome-restart=auto")) as again:
            check(again.wait() == 0, "%s: the next start: %s" % (choice, " | ".join(again.lines())))
            check(again.output() == expected, "%s: the next start: %r" % (choice, again.output()))
            check("is not used" not in again.errors(), "%s: a file was not good: %s" % (choice, again.errors()))
            check(choice.action != "kill" or not good or "resum" in again.errors() or "going on" in again.errors(), "%s: %s were not used: %s" % (choice, good, again.errors()))
        verified = subprocess.run([DOME, "ckpt", "verify", saved], capture_output=True, text=True, timeout=harness.HANG)
        check(verified.returncode == 0, "%s: %s" % (choice, verified.stdout + verified.stderr))
        check(not campaign.left_in(saved), "%s: left in the directory: %s" % (choice, campaign.left_in(saved)))
    what = {"kill": "killed", "stop": "stopped", "short": "cut short"}.get(choice.action, "failed")
    return "%-8s %s" % (choice.call, what if hit or choice.action in ("stop", "short") else "not met")


if __name__ == "__main__":
    harness.need_pvm()
    campaign.need_inject()
    expected = campaign.undisturbed(STEPS)
    campaign.campaign("calls that fail while checkpoints are written", case, 300)
