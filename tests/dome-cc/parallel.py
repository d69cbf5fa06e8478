"""Dome programs by dome-cc change their number of tasks while they run, and are healed: the output is that of an undisturbed run.

    parallel.py DIRECTORY EXAMPLES PART    programs by dome-cc; examples, with those by dome-cc in their folder nested

PART: views, of programs that change and lose tasks; orders, those that wait, are refused, or ask for checkpoints."""

import json
import os
import re
import signal
import subprocess
import sys


import harness
from harness import DOME, Run, check, wait_until

DIRECTORY, EXAMPLES, PART = sys.argv[1:4]
ROWS = 1500


def one_task(command):
    with Run(command + ["--dome-transport", "self"]) as run:
        check(run.wait() == 0, "one task: " + run.errors())
        return run.output()


def ps(run):
    """What dome ps tells of this program; None: it has ended, or has not begun."""
    told = subprocess.run([DOME, "ps", "--json"], env=harness.clean_environment(), stdout=subprocess.PIPE, timeout=harness.HANG).stdout
    for p in json.loads(told or b"[]"):
        if p["command"][1:2 + len(run.mine)] [:len(run.mine)] == run.mine and p["directory"] == run.place:
            return p
    return None


def lines_of(run):
    """What it has said, without the progress that md shows where it takes long, and without the line of `between` where an order meets
    the one operation at which its values differ between tasks."""
    beside = r"\s*\d+%|dome: values differ between tasks \(function 'between\.c:own': largest is "
    return [line for line in run.lines() if not re.match(beside, line)]


def disturbed(program, arguments, steps, every="3"):
    """Each step is ("grow"|"shrink", n) or ("kill", rank): done while the program runs, if it still does."""
    expected = one_task([program] + arguments)
    done = []
    with harness.temporary_directory() as place:
        command = [DOME, "run", "--restarts", "9", "-n", "2", "--max", "6", program] + arguments
        with Run(command + ["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", every], cwd=place) as run:
            run.mine, run.place = arguments, place
            for what, n in steps:
                def there():
                    p = ps(run)
                    return run.process.poll() is not None or (p and p["checkpoint"] and len([t for t in p["tasks"] if t["pid"]]) > (n if what == "kill" else 0) and p)
                p = wait_until(there, "checkpoints")
                if p is True:
                    break
                if what == "kill":
                    try:
                        harness.kill(p["tasks"][n]["pid"])
                    except ProcessLookupError:
                        continue
                    wait_until(lambda: run.process.poll() is not None or len(lines_of(run)) > done.count("kill"), "the loss")
                    done.append(what)
                else:
                    told = subprocess.run([DOME, what, str(p["pid"]), "-n", str(n)], env=harness.clean_environment(), stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, timeout=harness.HANG)
                    check(told.returncode == 0 or run.process.poll() is not None or b"has ended" in told.stderr or b"no program" in told.stderr or
                          b"ends" in told.stderr or b"is ending" in told.stderr, "dome %s: %s" % (what, told.stderr))
                    if told.returncode == 0:
                        done.append(what)
            status = run.wait()
            check(status == 0, "%s: status %s: %s" % (program, status, run.errors()))
            check(run.output() == expected, "%s: other output: %r instead of %r" % (program, run.output()[-400:], expected[-400:]))
            for line in lines_of(run):
                check(re.search(r"is lost: .*; healed from ", line), "%s: line: %s" % (program, line))
            run.check_clean()
    return done


def bound(name, arguments):
    """With values that differ, dome grow is refused, and the program goes on."""
    program = os.path.join(DIRECTORY, name)
    with harness.temporary_directory() as place:
        with Run([program] + arguments + ["--dome-tasks", "2"], cwd=place) as run:
            run.mine, run.place = arguments, place
            p = wait_until(lambda: ps(run), "the program")

            def answered():
                told = subprocess.run([DOME, "grow", str(p["pid"])], env=harness.clean_environment(), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, timeout=harness.HANG)
                return b"still starting" not in told.stderr and told

            told = wait_until(answered, "an answer")
            check(told.returncode == 1 and b"values differ between its tasks" in told.stderr and b"rank is 0 on task 0 and 1 on task 1" in told.stderr,
                  "dome grow: %s" % told)
            check(run.process.poll() is None, "it has ended: " + run.errors())
            harness.kill(run.pid)
            run.wait()


def requests():
    """A program without dome_checkpoint is saved when it is asked: by SIGUSR1, by time, and by SIGTERM before it ends."""
    program, arguments = os.path.join(DIRECTORY, "between"), ["15000"]
    expected = one_task([program] + arguments)
    with harness.temporary_directory() as place:
        saved = os.path.join(place, "saved")

        def files():
            return sorted(f for f in os.listdir(saved) if f.endswith(".dckpt")) if os.path.isdir(saved) else []

        def go(tasks, every, *more):
            return Run([program] + arguments + ["--dome-tasks", str(tasks), "--dome-checkpoint-dir", saved, "--dome-checkpoint-every", every,
                                                "--dome-checkpoint-keep", "1000"] + list(more), cwd=place)

        with go(3, "1000s") as run:
            wait_until(lambda: len(run.output()) > 0, "its first line")
            for k in range(1, 4):
                os.kill(run.pid, signal.SIGUSR1)
                wait_until(lambda: run.process.poll() is not None or len(files()) >= k, "checkpoint %d" % k)
                check(run.process.poll() is None, "it ended before checkpoint %d: %s" % (k, run.errors()))
            os.kill(run.pid, signal.SIGTERM)
            check(run.wait() == -signal.SIGTERM, "SIGTERM: " + run.errors())
            check(len(files()) == 4, "not four checkpoints: %s" % files())
            check(expected.startswith(run.output()) and run.output() != expected, "other output: %r" % run.output()[-200:])
        with go(2, "0.05s", "--dome-restart") as run:
            check(run.wait() == 0, "it does not go on: " + run.errors())
            check(run.output() and expected.endswith(run.output()), "other output: %r" % run.output()[-200:])
            check(len(files()) > 4, "none by time: %s" % files())
        print("requests: %d checkpoints" % len(files()))


def ordered(command, follow):
    """follow(order) while dome grow waits for its answer: its status, and what it says."""
    with subprocess.Popen(command, env=harness.clean_environment(), stderr=subprocess.PIPE) as order:
        try:
            follow(order)
            said = order.communicate(timeout=harness.HANG)[1]
        finally:
            order.kill()  # the program, which would answer, has not ended yet
    return order.returncode, said


def late():
    """An order that waits for values that are equal keeps no checkpoint waiting, and is refused at last."""
    arguments = ["wait", "2000000000"]
    with harness.temporary_directory() as place:
        saved = os.path.join(place, "saved")

        def written():
            return [f for f in os.listdir(saved) if f.endswith(".dckpt")] if os.path.isdir(saved) else []

        with Run([os.path.join(DIRECTORY, "late")] + arguments + ["--dome-tasks", "2", "--dome-checkpoint-dir", saved, "--dome-checkpoint-every", "1000s",
                                                                  "--dome-checkpoint-keep", "1000"], cwd=place) as run:
            run.mine, run.place = arguments, place
            p = wait_until(lambda: run.output() and ps(run), "the program")

            def ask(order):
                while order.poll() is None:
                    before = len(written())
                    os.kill(run.pid, signal.SIGUSR1)
                    wait_until(lambda: order.poll() is not None or len(written()) > before, "a checkpoint")

            status, said = ordered([DOME, "grow", str(p["pid"])], ask)
            check(status == 1 and b"values differ between its tasks" in said, "dome grow: %s" % said)
            # Those of the tries alone, of which there are eleven, would be fewer.
            check(len(written()) > 15, "only these while the order waited: %s" % written())
            harness.kill(run.pid)
            run.wait()


def resizes():
    """An order that waits keeps its tries while the program itself wants something else, again and again."""
    with harness.temporary_directory() as place:
        with Run([os.path.join(DIRECTORY, "late"), "resizes", "600", "--dome-tasks", "2"], cwd=place) as run:
            run.mine, run.place = ["resizes", "600"], place
            p = wait_until(lambda: run.output() and ps(run), "the program")

            def go(_):
                wait_until(lambda: "values differ between tasks" in run.errors(), "the first try")
                open(os.path.join(place, "go"), "w").close()

            status, said = ordered([DOME, "grow", str(p["pid"])], go)
            check(status == 0, "dome grow: %s" % said)
            check(run.wait() == 0, "resizes: " + run.errors())
            check(run.output() == b"begins\n1: from 2 to 3 tasks, 2600000\n", "resizes: %s" % run.output())
            run.check_clean()


def matrix():
    """Second differences: conjugate gradients take about as many iterations as there are rows."""
    path = os.path.join(DIRECTORY, "differences.mtx")
    with open(path, "w") as f:
        f.write("%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n" % (ROWS, ROWS, 2 * ROWS - 1))
        for k in range(1, ROWS + 1):
            f.write("%d %d 2.001\n" % (k, k))
            if k > 1:
                f.write("%d %d -1\n" % (k, k - 1))
    return path


def views():
    md = [os.path.join(EXAMPLES, "nested", "md"), ["--cells", "5", "--steps", "3000", "--thermo", "300"]]
    cg = [os.path.join(EXAMPLES, "nested", "cg"), ["--tolerance", "1e-12", matrix()]]
    nested = [os.path.join(DIRECTORY, "nested"), ["150"]]
    own = [os.path.join(DIRECTORY, "own"), ["1500"]]
    between = [os.path.join(DIRECTORY, "between"), ["6000", "some"]]
    all_done = []
    for program, arguments in (md, nested, cg, own, between):
        steps = [("grow", 1), ("kill", 1), ("grow", 2), ("shrink", 3), ("kill", 0)]
        done = disturbed(program, arguments, steps, "500" if program is between[0] else "3")
        print("%s: %s" % (os.path.basename(program), ", ".join(done)))
        all_done += done
    check({"grow", "kill"} <= set(all_done), "the programs were too short: %s" % all_done)


def orders():
    bound("differ", ["2000000000", "variable"])
    bound("between", ["2000000000", "rank"])
    requests()
    late()
    resizes()


{"views": views, "orders": orders}[PART]()
