"""Regions and locks in programs that are saved, changed and lose tasks.

    regions.py [PART-OF-A-NAME]

The tasks of the program (tests/programs/sharing.c) write each other's elements right before each loop boundary and right after it; it
checks that each state from which it goes on has what was written before the boundary, and nothing else."""

import os
import random
import re
import signal
import sys
import time

import harness
from harness import DOME, PROGRAMS, Run, check, kill, reach, step_of

SHARING = PROGRAMS + "/sharing"
STEPS = 24


def result(steps=STEPS):
    return b"step %d sum %d\n" % (steps, steps * (steps + 1) // 2)


def command(sleep_ms, sizes="-", variant="", steps=STEPS, options=()):
    return [SHARING, str(steps), str(sleep_ms), sizes, "%MARKS%", variant] + list(options)


def ended_well(run, lines=0, steps=STEPS):
    status = run.wait()
    check(status == 0, "status %s: %s" % (status, run.errors()))
    check(run.output() == result(steps), "other output: %r" % run.output())
    check(lines is None or len(run.lines()) == lines, "lines: %s" % run.errors())
    run.check_clean()


def undisturbed(road, tasks):
    with Run(command(0, options=road + ["--dome-tasks", str(tasks)])) as run:
        ended_well(run)


def balanced(road, tasks):
    """Owners change all the time."""
    with Run(command(0, options=road + ["--dome-tasks", str(tasks), "--dome-balance", "random"])) as run:
        ended_well(run)


def checkpoints(road, tasks):
    """The program goes on from each of its checkpoints, on another number of tasks."""
    with harness.temporary_directory() as directory:
        keep = ["--dome-checkpoint-dir", directory + "/c", "--dome-checkpoint-every", "1", "--dome-checkpoint-keep", "99"]
        with Run(command(0, options=road + ["--dome-tasks", str(tasks)] + keep)) as run:
            ended_well(run)
        with Run([DOME, "ckpt", "verify", directory + "/c"]) as run:
            check(run.wait() == 0, "the checkpoints are damaged: " + run.errors())
        files = [n for n in os.listdir(directory + "/c") if n.endswith(".dckpt")]
        check(len(files) == STEPS, "%d checkpoints" % len(files))
        for number in range(1, STEPS + 1, 4):
            with Run(command(0, options=road + ["--dome-tasks", str(1 + number // 4 % 4), "--dome-restart=%d" % number] + keep)) as run:
                ended_well(run, 1)


def changes(road, sizes):
    """The number of tasks changes at each boundary."""
    with Run([DOME, "run", "-n", "2", "--max", "4"] + command(0, sizes, options=road)) as run:
        ended_well(run)


def healed(road, tasks, every, seed):
    """kill -9 at any time, three times."""
    rng = random.Random(seed)
    options = ["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", str(every)]
    with Run([DOME, "run", "--restarts", "5", "-n", str(tasks)] + command(20, steps=60, options=road + options)) as run:
        for step in (5, 20, 40):
            reach(run, step + rng.randrange(3))
            victim = run.rank(rng.randrange(tasks))
            kill(victim)
            harness.wait_until(lambda: run.rank(tasks - 1) and len(run.lines()) >= 1 or run.process.poll() is not None, "the loss")
        ended_well(run, None, 60)
        check("healed from" in run.errors(), "it did not heal: " + run.errors())


def holder_is_lost(road):
    """A task is killed with the lock for which the others wait."""
    options = ["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "3"]
    with Run([DOME, "run", "--restarts", "5", "-n", "3"] + command(0, variant="killed-holder", options=road + options)) as run:
        ended_well(run, 1)
        check("healed from checkpoint" in run.errors(), run.errors())
    with Run(command(0, variant="killed-holder", options=road + ["--dome-tasks", "3"])) as run:
        check(run.wait() != 0, "it does not end")
        check("task 2 on host" in run.errors() and "lost" in run.errors(), run.errors())
        run.check_clean()


def told(road, seed):
    """The other tasks go on from the copies that they keep."""
    rng = random.Random(seed)
    options = ["--dome-checkpoint-every", "1", "--dome-balance", "none"]
    with Run([DOME, "run", "--on-loss", "tell", "-n", "4"] + command(20, options=road + options)) as run:
        reach(run, 6 + rng.randrange(4))
        kill(run.rank(3))
        ended_well(run, 1)
        check("the program goes on with 3 tasks" in run.errors(), run.errors())


def line(road, variant, pattern, tasks=2):
    with Run(command(0, variant=variant, options=road + ["--dome-tasks", str(tasks)])) as run:
        status = run.wait()
        check(status == 2, "status %s: %s" % (status, run.errors()))
        harness.only_line(run, pattern)
        run.check_clean()


def touching(road, tasks, variant, count=100, options=(), environment=None, before=()):
    words = [PROGRAMS + "/touching", variant, "%MARKS%", str(count)]
    tasks = [] if before else ["--dome-tasks", str(tasks)]
    return Run(list(before) + words + road + tasks + list(options), environment)


def crash(road, variant, how):
    """Faults that are no region's end the program as they do without one."""
    with touching(road, 3, variant) as run:
        check(run.wait() != 0, "it does not end: " + run.errors())
        harness.only_line(run, r"task 2 on host \S+ %s" % how)
        run.check_clean()


def stopped(road, rank, variant="count"):
    """A task that is the home of what the others want is stopped for a while: they wait, and go on."""
    with touching(road, 3, variant, 3000) as run:
        reach(run, 32)
        victim = run.rank(rank)
        kill(victim, signal.SIGSTOP)
        time.sleep(1)
        reached = step_of(run)
        time.sleep(0.5)
        check(run.process.poll() is None, "it has ended: " + run.errors())
        check(not road or step_of(run) == reached, "nobody waits for the home")
        kill(victim, signal.SIGCONT)
        status = run.wait()
        check(status == 0 and run.output() == b"ok\n" and not run.lines(), "status %s: %s" % (status, run.errors()))
        run.check_clean()


def stopped_for_good(road, rank, variant="count"):
    with touching(road, 3, variant, 1000000, ["--dome-timeout", "4"]) as run:
        reach(run, 32)
        victim = run.rank(rank)
        kill(victim, signal.SIGSTOP)
        status = run.wait()
        check(status != 0, "status %s" % status)
        harness.only_line(run, r"task %d on host \S+ is lost: nothing heard from it for .*" % rank)
        run.check_clean()


def hand_overs(road):
    """10,000 hand-overs of a lock, in which the holder is killed four times: each counts once."""
    before = [DOME, "run", "--restarts", "5", "-n", "4"]
    options = ["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "3"]
    with touching(road, 4, "hand-overs", 10000, options, None, before) as run:
        status = run.wait()
        check(status == 0 and run.output() == b"10000 hand-overs\nok\n", "status %s: %r %s" % (status, run.output(), run.errors()))
        check(run.errors().count("; healed from") == 4, "losses: " + run.errors())
        run.check_clean()


def tracked(tracker):
    """Each way to notice accesses; one that cannot keep rights is refused in a line."""
    with touching(["--dome-road", "pvm"], 3, "count", 200, (), {"DOME_TRACKER": tracker}) as run:
        status = run.wait()
        if tracker == "compare":
            check(status == 2, "status %s" % status)
            harness.only_line(run, r"dome_region_new: .* cannot be shared with other hosts: nothing here can keep pages from being read and written .*")
        else:
            check(status == 0 and run.output() == b"ok\n", "status %s: %s" % (status, run.errors()))
        run.check_clean()


def limited(road):
    """Nothing of a region is locked in memory."""
    with touching(road, 3, "count", 200, (), None, ["sh", "-c", 'ulimit -l 0; exec "$@" --dome-tasks 3', "sh"]) as run:
        status = run.wait()
        check(status == 0 and run.output() == b"ok\n", "status %s: %s" % (status, run.errors()))
        run.check_clean()


def full_memory_files(road):
    """Regions need no room in /dev/shm."""
    inside = 'mount -t tmpfs -o size=4k none /dev/shm && head -c 4096 /dev/zero >/dev/shm/full || exit 77; exec "$@" --dome-tasks 3'
    with touching(road, 3, "count", 200, (), None, ["unshare", "-rm", "sh", "-c", inside, "sh"]) as run:
        status = run.wait()
        if status == 77 or "unshare" in run.errors():
            return "not tried: no mounts of its own"
        check(status == 0 and run.output() == b"ok\n", "status %s: %s" % (status, run.errors()))
        run.check_clean()


def main(words):
    harness.need_pvm()
    one, many = [], ["--dome-road", "pvm"]  # the tasks of one host have one memory; each has its own, as on hosts of their own
    cases = [("undisturbed, %d tasks" % n, undisturbed, one, n) for n in (1, 2, 3, 5)]
    cases += [("balanced at random", balanced, one, 3)]
    cases += [("from each checkpoint of %d tasks" % n, checkpoints, one, n) for n in (1, 3)]
    cases += [("changes to " + sizes, changes, one, sizes) for sizes in ("2,3,1,4", "4,2")]
    cases += [("healed, %d tasks, every %d" % (n, every), healed, one, n, every, n) for n, every in ((2, 1), (3, 4))]
    cases += [("the holder of a lock is lost", holder_is_lost, one), ("told", told, one, 1)]
    lines = [
        ("a lock at a boundary", "holds", r"dome_checkpoint: task 1 holds the lock 'sum' where the state may be saved: release it before \(.*\)"),
        ("a circle of a lock and a message", "waits",
         r"tasks wait for each other: task 0 on host \S+ is in dome_recv and waits for a message from task 1 with tag 5; "
         r"task 1 on host \S+ is in dome_lock_acquire of 'sum' and waits for task 0, which has the lock"),
        ("a barrier with a lock", "barrier",
         r"tasks wait for each other: task 1 on host \S+ is in dome_lock_acquire of 'sum' and waits for task 0, which has the lock; "
         r"task 0 on host \S+ is in dome_barrier"),
    ]
    cases += [(name, line, one, variant, pattern) for name, variant, pattern in lines]
    cases += [("members, undisturbed, %d tasks" % n, undisturbed, many, n) for n in (2, 5)]
    cases += [("members, balanced at random", balanced, many, 3)]
    cases += [("members, from each checkpoint", checkpoints, many, 3), ("members, changes to 2,3,1,4", changes, many, "2,3,1,4")]
    cases += [("members, healed", healed, many, 3, 4, 7), ("members, told", told, many, 2)]
    cases += [("members, the holder of a lock is lost", holder_is_lost, many)]
    cases += [("members, " + name, line, many, variant, pattern) for name, variant, pattern in lines]
    weak = ["release"] + many  # the program's word for release consistency
    cases += [("release, undisturbed, %d tasks" % n, undisturbed, weak, n) for n in (2, 5)]
    cases += [("release, balanced at random", balanced, weak, 3), ("release, from each checkpoint", checkpoints, weak, 3)]
    cases += [("release, changes to 2,3,1,4", changes, weak, "2,3,1,4"), ("release, healed", healed, weak, 3, 4, 8)]
    cases += [("release, told", told, weak, 3), ("release, the holder of a lock is lost", holder_is_lost, weak)]
    by_fault = r"is lost: its process was ended by signal %d \(.*\); .*" % signal.SIGSEGV
    by_kernel = r"is lost: its process (ended|was ended by signal \d+ \(.*\)); .*"
    for prefix, road in (("", one), ("members, ", many)):
        cases += [(prefix + how, crash, road, how, by_fault) for how in ("null", "overflow")]
        cases += [(prefix + how, crash, road, how, r"(is lost: its process ended; .*|ended with exit status %d without dome_finalize.*)" % (20 + signal.SIGSEGV))
                  for how in ("handled", "chained")]
        cases += [(prefix + "10,000 hand-overs", hand_overs, road), (prefix + "no locked memory", limited, road),
                  (prefix + "/dev/shm is full", full_memory_files, road)]
    cases += [("members, the signals are blocked", crash, many, "blocked", by_kernel)]
    cases += [("members, task %d is stopped for a while" % rank, stopped, many, rank) for rank in (0, 2)]
    cases += [("members, task 1 is stopped for good", stopped_for_good, many, 1)]
    for variant in "additions", "release":
        cases += [("additions, %s, task 1 is stopped for a while" % variant, stopped, many, 1, variant),
                  ("additions, %s, task 1 is stopped for good" % variant, stopped_for_good, many, 1, variant)]
    cases += [("members, tracker " + name, tracked, name) for name in ("fault", "protect", "compare")]
    chosen = [c for c in cases if not words or words[0] in c[0]]
    return 1 if harness.run_all(chosen, 2) else 0


sys.exit(main(sys.argv[1:]))
