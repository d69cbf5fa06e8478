"""Two or three faults one after the other, in any processes of a program, the guard and the compiler included, at any time, the start
included: it ends within its limits, and no process and no file is left."""

import os
import signal
import subprocess
import time

import campaign
import harness
from campaign import STATE
from harness import DOME, PROGRAMS, Run, check

TIMEOUT = 4
LIMIT = 40
KINDS = {
    "state": [STATE, "100000", "none", "1"],
    "worker": [os.path.join(PROGRAMS, "worker"), "%MARKS%", "0", "mixed", "7"],
    "chains": [os.path.join(PROGRAMS, "chains"), "1000000"],
}


class Choice:
    def __init__(self, chance):
        self.kind = chance.choice(["state", "state", "worker", "chains"])
        self.tasks = chance.randint(2, 5)
        self.supervised = chance.random() < 0.3
        self.early = chance.random() < 0.5
        self.delay = chance.uniform(0, 0.25 if self.early else 0.8)
        self.hurts = []
        for _ in range(chance.choice([1, 2, 2, 2, 3])):
            number = chance.choice([signal.SIGKILL] * 5 + [signal.SIGSTOP, signal.SIGSEGV, signal.SIGTERM])
            self.hurts.append((chance.random(), number, chance.choice([0, 0, 0.01, 0.1, 0.5])))
        self.options = ["--dome-timeout", str(TIMEOUT), "--dome-road", chance.choice(["best", "best", "shm", "pvm"])]
        if chance.random() < 0.4:
            self.options += ["--dome-trace", "%MARKS%/trace"]
        if chance.random() < 0.4:
            self.options += ["--dome-balance", "random"]
        self.memory = chance.random() < 0.3

    def command(self, base):
        options = list(self.options)
        if self.kind == "state":
            options += ["--dome-checkpoint-dir", "memory:" if self.memory else os.path.join(base, "saved"), "--dome-checkpoint-every", "2"]
        if self.supervised:
            return [DOME, "run", "--restarts", "1", "-n", str(self.tasks)] + KINDS[self.kind] + options
        return KINDS[self.kind] + ["--dome-tasks", str(self.tasks)] + options


def hurt(run, choice):
    """Sends the signals; what was hit, and the processes that were stopped."""
    hit, stopped = [], []
    for pick, number, pause in choice.hurts:
        processes = sorted(run.processes(), key=lambda p: p.pid)
        if not processes:
            break
        victim = processes[int(pick * len(processes))]
        hit.append("%s to %s %d" % (number.name, victim.name, victim.pid))
        harness.kill(victim.pid, number)
        if number == signal.SIGSTOP:
            stopped.append(victim.pid)
        time.sleep(pause)
    return hit, stopped


def await_end(run, stopped):
    """None if it does not end. A process that was stopped goes on at last, and what the faults did not concern is told to end."""
    begin = time.monotonic()
    while run.process.poll() is None and time.monotonic() - begin < LIMIT:
        passed = time.monotonic() - begin
        if passed > 13:
            for pid in stopped:
                harness.kill(pid, signal.SIGCONT)
        if passed > 15 and int(passed) % 4 == 0:
            harness.kill(run.pid, signal.SIGTERM)
            time.sleep(1)
        time.sleep(0.02)
    for pid in stopped:
        harness.kill(pid, signal.SIGCONT)
    return run.process.poll()


def next_run(directory):
    """Removes the directory of a dead run, once that is some seconds old."""
    time.sleep(6)
    environment = {**harness.clean_environment(), "TMPDIR": directory, "PVM_TMP": directory}
    done = subprocess.run([STATE, "1", "--dome-tasks", "2"], env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.HANG)
    check(done.returncode == 0, "the next run: %s" % done.stderr.decode(errors="replace"))


def case(chance, number):
    choice = Choice(chance)
    with harness.temporary_directory() as base:
        with Run(choice.command(base), {"DOME_CACHE_DIR": os.path.join(base, "cache")}, cwd=base) as run:
            if not choice.early:
                harness.wait_until(lambda: len(run.processes()) >= choice.tasks or run.process.poll() is not None, "its tasks")
            time.sleep(choice.delay)
            hit, stopped = hurt(run, choice)
            what = "%s, %d tasks%s: %s" % (choice.kind, choice.tasks, ", supervised" if choice.supervised else "", ", ".join(hit))
            status = await_end(run, stopped)
            check(status is not None, "%s: hangs: %s" % (what, run.describe()))
            try:
                run.wait_gone()
                if os.listdir(run.tmp) and len(hit) > 1:
                    next_run(run.tmp)
                run.check_clean()
            except harness.Failure as e:
                raise harness.Failure("%s: status %d, %s; %s" % (what, status, e, " | ".join(run.lines()[-2:])))
    return "%d faults%s" % (len(hit), ", supervised" if choice.supervised else "")


if __name__ == "__main__":
    harness.need_pvm()
    campaign.need_state()
    campaign.campaign("several faults", case, 150)
