"""Random faults: any process of a program, at any moment, by any of several signals.

    random_faults.py [COUNT [SEED [ONLY]]]

The seed is printed; the same seed, and a number printed with a run for ONLY, give the same choices again."""

import os
import random
import signal
import sys
import time

import harness
from faults import SLACK, TIMEOUT, WORKER, is_over, only_line
from harness import Failure, Run, awake, check

PLACES = ["own", "map", "barrier", "sum", "mixed", "mixed", "wait", "finalize", "anywhere", "anywhere"]
HURTS_TASK = [signal.SIGKILL] * 4 + [signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGINT, signal.SIGSTOP, signal.SIGSTOP]
HURTS_HUB = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT]
HURTS_DAEMON = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]
STOP_TIMEOUT = 4


class Choice:
    def __init__(self, seed, number):
        r = random.Random("%d:%d" % (seed, number))
        self.tasks = r.randint(2, 7)
        self.place = r.choice(PLACES)
        self.who = r.choice(["task"] * 6 + ["hub", "daemon"])
        self.rank = r.randrange(self.tasks)
        self.waits_for = r.randrange(self.tasks)
        self.signal = r.choice({"task": HURTS_TASK, "hub": HURTS_HUB, "daemon": HURTS_DAEMON}[self.who])
        self.delay = r.uniform(0, 0.08 if self.place == "anywhere" else 0.3)
        self.pick = r.random()
        self.timeout = STOP_TIMEOUT if self.signal == signal.SIGSTOP else TIMEOUT
        self.seed = r.randrange(1000)

    def name(self):
        who = "task %d" % self.rank if self.who == "task" else self.who
        return "%d tasks, %s, %s to %s after %.3f s" % (self.tasks, self.place, self.signal.name, who, self.delay)


def anybody(run, choice):
    """A process of the kind wanted, at a time when it may not exist yet: then any other. Not the guard, which nobody misses."""
    processes = run.processes()
    daemons = [p.pid for p in processes if p.parent == run.pid and p.name.startswith("pvmd")]
    if choice.who == "hub":
        return run.pid
    if choice.who == "daemon" and daemons:
        return daemons[0]
    if not daemons:
        return run.pid
    # Rank 0 is made after the daemon; the guard before it, and it leads a session.
    with open("/proc/sys/kernel/pid_max") as f:
        pids = int(f.read())
    tasks = sorted(
        p.pid
        for p in processes
        if p.parent in daemons
        or (p.parent == run.pid and p.session != p.pid and (p.pid - daemons[0]) % pids < pids // 2)
    )
    return tasks[int(choice.pick * len(tasks))] if tasks else run.pid


def one(choice):
    place = "mixed" if choice.place == "anywhere" else choice.place
    arguments = [WORKER, "%MARKS%", str(choice.waits_for), place, str(choice.seed), "--dome-tasks", str(choice.tasks)]
    with Run(arguments + ["--dome-timeout", str(choice.timeout)]) as run:
        if choice.place == "anywhere":
            time.sleep(choice.delay)
            victim = anybody(run, choice)
            limit = 1.5 * TIMEOUT  # of a start
        else:
            run.wait_marks("there", choice.tasks)
            time.sleep(choice.delay)
            victim = {"task": run.rank(choice.rank), "hub": run.pid, "daemon": run.daemon()}[choice.who]
            limit = choice.timeout
        since = awake()
        check(harness.kill(victim, choice.signal), "there is no process %d" % victim)
        if victim == run.pid and choice.signal == signal.SIGSTOP:
            os.kill(victim, signal.SIGCONT)  # it was not what should be stopped
            time.sleep(0.3)
            os.kill(victim, signal.SIGTERM)
        note = is_over(run, since, limit)
        if victim == run.pid and (choice.place == "anywhere" or choice.signal in (signal.SIGKILL, signal.SIGABRT)):
            check(len(run.lines()) <= 1, "%d lines: %s" % (len(run.lines()), " | ".join(run.lines())))
        else:
            only_line(run, r".*(task \d+ on host \S+|PVM daemon|signal \d+ \().*")
        return note


if __name__ == "__main__":
    harness.need_pvm()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 30)
    numbers = [int(sys.argv[3])] if len(sys.argv) > 3 else range(count)
    print("seed %d" % seed)
    cases = []
    for number in numbers:
        choice = Choice(seed, number)
        cases.append(("%d: %s" % (number, choice.name()), one, choice))
    failed = harness.run_all(cases, 4)
    if failed:
        print("again: %s %d %d NUMBER" % (sys.argv[0], count, seed))
    sys.exit(1 if failed else 0)
