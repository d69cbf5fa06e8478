"""Programs that enter views in place (dome_on_view_in_place): tasks that stay keep their processes, and what these have in memory.

    in_place.py [PART-OF-A-NAME]"""

import os
import re
import signal
import subprocess
import sys

import harness
from harness import DOME, PROGRAMS, Run, check, reach, wait_until

PROGRAM = PROGRAMS + "/in_place"


def one_task(steps):
    with Run([PROGRAM, str(steps), "0", "-", "--dome-transport", "self"]) as run:
        check(run.wait() == 0, "one task: " + run.errors())
        return run.output()


def number(run, name, rank):
    with open("%s/%s.%d" % (run.marks, name, rank)) as f:
        return int(f.read())


def ended_well(run, output, told):
    status = run.wait()
    check(status == 0, "status %s: %s" % (status, run.errors()))
    check(run.output() == output, "other output: %r instead of %r" % (run.output(), output))
    check(run.lines() == told, "lines: %s instead of %s" % (run.lines(), told))
    run.check_clean()


def line(view, before, tasks, made):
    return "view %d: %d to %d, sum 20000, made %d, restarting 0" % (view, before, tasks, made)


def changes(sizes, first, options=(), steps=30):
    """dome_resize with every fourth step. Task 0 makes all steps in one process."""
    told, tasks, view = [], first, 0
    for k in range(1, steps, 4):
        wanted = sizes[k // 4 % len(sizes)]
        if wanted != tasks:
            view += 1
            told.append(line(view, tasks, wanted, k + 1))
        tasks = wanted
    with Run([PROGRAM, str(steps), "0", ",".join(map(str, sizes)), "%MARKS%", "--dome-tasks", str(first), "--dome-max", "7"] +
             list(options)) as run:
        ended_well(run, one_task(steps), told)
        check(number(run, "made", 0) == steps, "task 0 has made %d steps" % number(run, "made", 0))


def orders():
    """dome grow and shrink: the processes stay."""
    expected = one_task(150)
    with Run([PROGRAM, "150", "40", "-", "%MARKS%", "--dome-tasks", "2", "--dome-max", "4"]) as run:
        reach(run, 2)
        pids = [number(run, "rank", r) for r in range(2)]
        for arguments in (["grow", str(run.pid), "-n", "2"], ["shrink", str(run.pid), "-n", "1"]):
            done = subprocess.run([DOME] + arguments, env=harness.clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                          timeout=harness.HANG)
            check(done.returncode == 0, "%s: %s" % (arguments, done.stderr))
        check(run.wait() == 0, run.errors())
        check(run.output() == expected, "other output: %r" % run.output())
        told = [re.sub(r"made \d+", "made", l) for l in run.lines()]
        check(told == [re.sub(r"made \d+", "made", line(*view)) for view in ((1, 2, 4, 0), (2, 4, 3, 0))], "lines: %s" % run.lines())
        check([number(run, "made", r) for r in range(2)] == [150, 150], "steps of other processes")
        check([number(run, "rank", r) for r in range(2)] == pids, "other processes")
        run.check_clean()


def healed(by_memory):
    """A loss goes through main; the next change is in place again."""
    expected = one_task(200)
    options = ["--dome-on-loss", "heal"] + (["--dome-checkpoint-dir", "memory:"] if by_memory else [])
    with Run([PROGRAM, "200", "20", "-", "%MARKS%", "--dome-tasks", "2", "--dome-max", "4"] + options) as run:
        reach(run, 10)
        grown = subprocess.run([DOME, "grow", str(run.pid), "-n", "1"], env=harness.clean_environment(),
                                       stdout=subprocess.DEVNULL, timeout=harness.HANG)
        check(grown.returncode == 0, "grow: " + run.errors())
        wait_until(lambda: os.path.exists(run.marks + "/rank.2"), "the new task")
        reach(run, harness.step_of(run) + 5)
        harness.kill(number(run, "rank", 1), signal.SIGKILL)
        check(run.wait() == 0, run.errors())
        check(run.output() == expected, "other output: %r; %s" % (run.output(), run.errors()))
        check(any("healed" in l for l in run.lines()), "lines: %s" % run.lines())
        check(number(run, "made", 0) < 200, "task 0 has kept its process")
        run.check_clean()


def refused(variant, pattern):
    with Run([PROGRAM, "12", "0", "3", "%MARKS%", variant, "--dome-tasks", "2"]) as run:
        check(run.wait() == 2, "status: " + run.errors())
        check(len(run.lines()) == 1 and re.fullmatch("dome: " + pattern, run.lines()[0]), run.errors())
        run.check_clean()


def through_main():
    """An object that is new: main runs once more, and the change after that is in place."""
    with Run([PROGRAM, "12", "0", "3,2", "%MARKS%", "more", "--dome-tasks", "2"]) as run:
        status = run.wait()
        check(status == 0 and run.output() == one_task(12), "status %s: %s" % (status, run.errors()))
        check(run.lines() == ["view 1: 2 to 3, sum 20000, made 0, restarting 1", line(2, 3, 2, 4), line(3, 2, 3, 8)], run.errors())
        check(number(run, "made", 0) == 10, "task 0 has made %d steps" % number(run, "made", 0))
        run.check_clean()


def main():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [
        ("resizes 1", changes, [1, 3, 2], 2),
        ("resizes 2", changes, [7, 1, 4, 2, 3], 1),
        ("random moves", changes, [3, 2, 5], 3, ["--dome-balance", "random"]),
        ("through PVM", changes, [3, 2, 5], 3, ["--dome-road", "pvm"]),
        ("pointers checked", changes, [3, 2], 2, ["--dome-check-pointers"]),
        ("many views", changes, [2, 3], 2, [], 160),
        ("orders", orders),
        ("healed", healed, False),
        ("healed, in memory", healed, True),
        ("through main", through_main),
        ("other objects", refused, "other", r"dome_(?:checkpoint|on_view_in_place): this task, which is new, has made 9 objects before it, and the others have 8: "
         r"make the same ones in the same order \(task 2 on host \S+\)"),
        ("never called", refused, "never", r"tasks disagree about the .*operation: .*"),
    ]
    sys.exit(harness.run_all([c for c in cases if part in c[0]], 3) > 0)


main()
