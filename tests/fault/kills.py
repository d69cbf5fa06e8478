"""Random kills in programs that heal or go on: tasks, two of them within moments, all of them, the hub, PVM's daemon.

    kills.py [COUNT [SEED [ONLY]]]

Several kills in each program, each one when the program has computed on after the one before. A program ends with the output of one task
that nobody disturbs, or with a line that says why it cannot. The seed is printed; the same seed, and a number printed with a program for
ONLY, give the same choices again."""

import random
import re
import sys
import time

import harness
from harness import DOME, PROGRAMS, Process, Run, check, reach_or_end, step_of

EACH = 5  # kills of a program
STEPS = 400
WHAT = ["task"] * 9 + ["two"] * 4 + ["task and hub", "task and daemon", "all", "hub", "hub", "daemon", "daemon"]
GIVEN_UP = r"(no task is left that could go on|not started again|same place \d times in a row)"
expected = {}


class Choice:
    def __init__(self, seed, number):
        r = random.Random("%d:%d" % (seed, number))
        self.tells = r.random() < 0.25
        self.tasks = r.randint(4, 6) if self.tells else r.randint(2, 5)
        self.every = r.randint(2, 8)
        self.disk = self.tells or r.random() < 0.3
        self.kills = [(r.choice(WHAT), r.random(), r.random(), r.choice([0, 0.01, 0.05, 0.2]) * r.random(), r.randint(1, 12)) for _ in range(EACH)]

    def name(self):
        return "%s, %d tasks: %s" % ("tell" if self.tells else "heal", self.tasks, ", ".join(k[0] for k in self.kills))

    def start(self):
        directory = "%MARKS%/saved" if self.disk else "memory:"
        program = [PROGRAMS + "/tell", str(STEPS), "5", "%MARKS%"] if self.tells else [PROGRAMS + "/elastic", str(STEPS), "5", "-", "%MARKS%"]
        return Run([DOME, "run", "--restarts", "60", "--on-loss", "tell" if self.tells else "heal", "-n", str(self.tasks)] + program +
                   ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", str(self.every)])


def one_task(choice):
    if choice.tells not in expected:
        name = "tell" if choice.tells else "elastic"
        arguments = [str(STEPS), "0", "%MARKS%"] if choice.tells else [str(STEPS), "0", "-", "%MARKS%"]
        with Run([PROGRAMS + "/" + name] + arguments + ["--dome-transport", "self"]) as run:
            check(run.wait() == 0, "one task: " + run.errors())
            expected[choice.tells] = run.output()
    return expected[choice.tells]


def tasks_of(run):
    """Processes of the program; the daemon's and the hub's are not among them, whatever their names."""
    rank0 = run.rank(0)
    first = rank0 and Process.at(rank0)
    daemon = run.daemon()
    return [p.pid for p in run.processes() if p.pid == rank0 or (daemon and p.parent == daemon)] if first else []


def kill(run, what, where, other, pause):
    """Whoever is there; returns whether the hub's output may be lost."""
    tasks = sorted(tasks_of(run))
    first = Process.at(run.rank(0) or 0)
    hub = first.parent if first and first.parent != run.pid else None
    victims = {"task": [tasks[int(where * len(tasks))]] if tasks else [],
               "two": [tasks[int(where * len(tasks))], tasks[int(other * len(tasks))]] if tasks else [],
               "all": tasks,
               "hub": [hub],
               "daemon": [run.daemon()],
               "task and hub": [tasks[int(where * len(tasks))], hub] if tasks else [],
               "task and daemon": [tasks[int(where * len(tasks))], run.daemon()] if tasks else []}[what]
    done = 0
    for pid in victims:
        done += bool(pid) and harness.kill(pid)
        time.sleep(pause)
    return done > 0


def one(choice):
    want = one_task(choice)
    with choice.start() as run:
        harness.wait_until(lambda: run.rank(choice.tasks - 1) or run.process.poll() is not None, "the tasks; " + run.describe())
        hits = 0
        for what, where, other, pause, steps in choice.kills:
            reach_or_end(run, min(step_of(run) + steps, STEPS))
            if run.process.poll() is not None:
                break
            hits += kill(run, what, where, other, pause)
        status = run.wait()
        lines = run.lines()
        if status != 0:
            check(lines and re.search(GIVEN_UP, lines[-1]), "status %s: %s" % (status, run.errors()))
        else:
            last = want.split(b"\n")[-2] + b"\n"
            check(run.output().endswith(last), "other output: %r instead of %r; %s" % (run.output()[-300:], last, run.errors()))
        run.check_clean()
        healed = len([line for line in lines if "; healed " in line or "; the program goes on " in line])
        again = len([line for line in lines if "; started again " in line])
        total.append((hits, healed, again, status != 0))
        return "%d kills, healed %d, started again %d%s" % (hits, healed, again, "" if status == 0 else ", given up: " + lines[-1])


total = []

if __name__ == "__main__":
    harness.need_pvm()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 30)
    numbers = [int(sys.argv[3])] if len(sys.argv) > 3 else range((count + EACH - 1) // EACH)
    print("seed %d" % seed)
    cases = []
    for number in numbers:
        choice = Choice(seed, number)
        cases.append(("%d: %s" % (number, choice.name()), one, choice))
    failed = harness.run_all(cases, 3)
    print("%d kills in %d programs: healed %d, started again %d, given up with a line %d" % (
        sum(t[0] for t in total), len(total), sum(t[1] for t in total), sum(t[2] for t in total), sum(t[3] for t in total)))
    if failed:
        print("again: %s %d %d NUMBER" % (sys.argv[0], count, seed))
    sys.exit(1 if failed else 0)
