"""What the campaigns share: choices by a seed, many cases at a time, a table of how they ended.

    CAMPAIGN.py [COUNT [SEED [NUMBER | FIRST-LAST]]]

A campaign makes COUNT random choices and judges each run by what must hold for all of them. The seed is printed; with it and the number
of a case, that case alone is run again, or with two numbers a part of the campaign."""

import collections
import concurrent.futures
import os
import random
import signal
import subprocess
import sys
import threading
import time

import harness
from harness import Failure

STATE = os.path.join(os.path.abspath(harness.BUILD), "tests", "checkpoint", "state")
INJECT = os.path.join(os.path.abspath(harness.BUILD), "tests", "preload", "libinject.so")
RESTARTS = ["run", "lock"]  # what a directory of checkpoints holds beside them


def campaign(what, case, default_count, jobs=3, others=None):
    """case(chance, number) returns a word for the table, or raises Failure. others: what cases have counted besides. Ends the process."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else default_count
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 30)
    first, _, last = (sys.argv[3] if len(sys.argv) > 3 else "0-%d" % (count - 1)).partition("-")
    numbers = range(int(first), int(last or first) + 1)
    table, failed, lock, begin = collections.Counter(), [], threading.Lock(), time.monotonic()

    def one(number):
        try:
            result = case(random.Random("%d:%d" % (seed, number)), number)
        except (Failure, OSError, ValueError, TypeError, KeyError) as e:
            result = "FAILED"
            text = str(e) if isinstance(e, Failure) else repr(e)
            with lock:
                failed.append(number)
                print("FAILED %d: %s" % (number, text), flush=True)
        with lock:
            table[result] += 1
            if sum(table.values()) % 20 == 0:
                print("%d of %d, %.0f s" % (sum(table.values()), len(numbers), time.monotonic() - begin), flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, numbers))
    print("%s, seed %d, %.0f s:" % (what, seed, time.monotonic() - begin))
    for result, n in sorted(table.items(), key=lambda item: -item[1]):
        print("%8d  %s" % (n, result))
    for result, n in sorted((others or {}).items(), key=lambda item: -item[1]):
        print("%8d  passed over: %s" % (n, result))
    if failed:
        print("again: %s %d %d NUMBER" % (sys.argv[0], count, seed))
    print("%d runs, %d failed" % (len(numbers), len(failed)))
    sys.exit(1 if failed else 0)


def left_in(directory):
    """What a run should have removed from a directory of checkpoints."""
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    return [n for n in names if not n.endswith(".dckpt") and n not in RESTARTS]


def checkpoints(directory):
    return sorted(n for n in os.listdir(directory) if n.endswith(".dckpt")) if os.path.isdir(directory) else []


def undisturbed(steps):
    """What the program of the campaigns prints when nothing happens to it."""
    with harness.Run([STATE, steps, "--dome-transport", "self"]) as run:
        harness.check(run.wait() == 0, run.errors())
        return run.output()


def need_state():
    if not os.path.exists(STATE):
        harness.skip("built without checkpoints")


def need_inject():
    need_state()
    if not os.path.exists(INJECT):
        harness.skip("%s is not built" % INJECT)


# ---- what programs are disturbed by ----


def order(run, what):
    """`dome grow` or `dome shrink`. A program that ends meanwhile, or has too many tasks, may refuse."""
    done = subprocess.run([harness.DOME, what, str(run.pid), "--wait", "20"], env=harness.clean_environment(), capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=harness.HANG)
    return done.returncode == 0


def tasks_of(run, names):
    """The tasks' processes, by what they are called: without the one that was started, and the hubs, which are parents of tasks."""
    found = [p for p in run.processes() if p.name in names]
    parents = {p.parent for p in found}
    return sorted(p.pid for p in found if p.pid not in parents and p.pid != run.pid)


def disturb(run, names, events):
    """events: (seconds to wait, "grow", "shrink" or "kill", which task as a part of 1). Returns those that were done."""
    done, kills = [], harness.Kills(run)
    harness.wait_until(lambda: tasks_of(run, names) or run.process.poll() is not None, "its tasks")
    for pause, what, pick in events:
        time.sleep(pause)
        if run.process.poll() is not None:
            break
        if what == "kill":
            succeeded = kills.one_of(tasks_of(run, names), pick)
        else:
            succeeded = order(run, what)
            if succeeded:
                kills.changed()
        if succeeded:
            done.append(what)
    return done


def stopped(run, saved):
    """Ends the program; whether it has left a checkpoint."""
    harness.kill(run.pid, signal.SIGTERM)
    run.wait()
    run.wait_gone()
    return os.path.isdir(saved) and checkpoints(saved)
