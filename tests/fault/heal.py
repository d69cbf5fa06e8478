"""Losses that are healed: the tasks that are left go back to the newest checkpoint, and new ones take the places of the lost.

    heal.py [--many] [PART-OF-A-NAME]

--many: a loss at every point of a program, hundreds at random, and many in one program."""

import errno
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import harness
from harness import DOME, PROGRAMS, Run, check, reach, reach_or_end, step_of, wait_until

ELASTIC, WORKER = PROGRAMS + "/elastic", PROGRAMS + "/worker"
POINTS = 30  # of ELASTIC in six steps (tests/programs/elastic.c), but for the last one, where it may have ended

HEALED = r"dome: .* is lost: .*; healed from (the beginning \([^)]*\)|checkpoint \d+ \(loop boundary \d+\)), %s of %d"
expectations = {}


def one_task(command):
    """What the program prints as one task that nobody disturbs."""
    key = " ".join(command)
    if key not in expectations:
        with Run(command + ["--dome-transport", "self"]) as run:
            check(run.wait() == 0, "one task: " + run.errors())
            expectations[key] = run.output()
    return expectations[key]


def start(steps, sleep_ms, tasks, restarts=5, sizes="-", variant="", every=2, directory="memory:", options=(), before=(), die=None, environment=None, marks=()):
    environment = {"ELASTIC_DIE": die} if die else environment
    command = [DOME, "run", "--restarts", str(restarts), "-n", str(tasks)] + list(before)
    command += [ELASTIC, str(steps), str(sleep_ms), sizes, "%MARKS%", variant]
    if directory:
        command += ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", str(every)]
    return Run(command + list(options), environment=environment, marks=marks)


def further(run, steps):
    """Some steps beyond where it is, or was before it went back."""
    wait_until(lambda: run.process.poll() is not None or len(run.lines()) > 0, "the loss")
    reach(run, step_of(run) + steps)


def pids(run, tasks):
    return [run.rank(r) for r in range(tasks)]


def all_there(run, tasks):
    wait_until(lambda: all(pids(run, tasks)) or run.process.poll() is not None, "the tasks")


def ended_well(run, expected, heals, most=5):
    status = run.wait()
    check(status == 0, "status %s: %s" % (status, run.errors()))
    check(run.output() == expected, "other output: %r instead of %r" % (run.output()[-300:], expected[-300:]))
    lines = run.lines()
    check(len(lines) == heals, "%d lines: %s" % (len(lines), run.errors()))
    for k, line in enumerate(lines):
        check(re.fullmatch(HEALED % (k + 1, most), line), "line %d: %s" % (k, line))
    run.check_clean()


def at_point(rank, point, tasks=3):
    """A task is killed in one call of the library."""
    expected = one_task([ELASTIC, "6", "0", "-"])
    with start(6, 0, tasks, die="%d:%d" % (rank, point)) as run:
        ended_well(run, expected, 1)
        return run.lines()[0].split("; ")[-1]


def at_points(points, rank):
    for point in points:
        at_point(rank, point)


def killed(victims, tasks=3, directory="memory:", sizes="-"):
    """The processes of the others stay."""
    expected = one_task([ELASTIC, "120", "0", "-"])
    with start(120, 10, tasks, directory=directory, every=5) as run:
        all_there(run, tasks)
        reach(run, 22)
        before = pids(run, tasks)
        hub = run.hub()
        harness.kill(hub, signal.SIGSTOP)  # so that it sees all losses at once
        for r in victims:
            harness.kill(before[r])
        harness.kill(hub, signal.SIGCONT)
        further(run, 3)
        after = pids(run, tasks)
        for r in range(tasks):
            check((before[r] == after[r]) == (r not in victims), "task %d: %s, then %s" % (r, before[r], after[r]))
        ended_well(run, expected, 1)
        if directory:
            check(re.search(r"healed from checkpoint \d+ \(loop boundary (15|20|25)\)", run.lines()[0]), run.errors())
        return run.lines()[0]


def asked():
    """Requests for checkpoints come while another process takes the place of task 0."""
    expected = one_task([ELASTIC, "120", "0", "-"])
    with start(120, 10, 3, every=5) as run:
        all_there(run, 3)
        reach(run, 22)
        hub, first = run.hub(), run.rank(0)
        harness.kill(first)

        def healed():
            harness.kill(hub, signal.SIGUSR1)
            return run.lines() or run.process.poll() is not None

        wait_until(healed, "the loss")
        ended_well(run, expected, 1)


def shown():
    """dome ps, the trace and the profile tell of a change and of a loss after it."""
    expected = one_task([ELASTIC, "1500", "0", "-"])
    options = ["--dome-profile", "--dome-trace", "%MARKS%/trace"]
    with start(1500, 20, 2, every=5, variant="hurries", marks=["slow"], options=options) as run:
        all_there(run, 2)
        reach(run, 10)

        def program():
            told = subprocess.run([DOME, "ps", "--json"], env=harness.clean_environment(), stdout=subprocess.PIPE, timeout=harness.HANG).stdout
            return [p for p in json.loads(told) if run.rank(0) in [t["pid"] for t in p["tasks"]]]

        hub = str(wait_until(program, "dome ps")[0]["pid"])
        subprocess.run([DOME, "grow", hub], env=harness.clean_environment(), stdout=subprocess.DEVNULL, timeout=harness.HANG, check=True)
        all_there(run, 3)
        reach(run, step_of(run) + 12)
        harness.kill(run.rank(1))
        views = wait_until(lambda: [v for v in [p.get("views", []) for p in program()] if len(v) == 3 and "still" in v[2]], "the views")[0]
        check([(v["number"], v["tasks"], v["kind"]) for v in views] == [(0, 2, "start"), (1, 3, "grow"), (3, 3, "heal")], "views: %s" % views)
        listed = subprocess.run([DOME, "ps"], env=harness.clean_environment(), stdout=subprocess.PIPE, timeout=harness.HANG, text=True).stdout
        check("  healing counts views by two: " in listed, "no word about the view that is left out: " + listed)
        healed = views[2]
        check(re.match(r"task 1 on host \S+ is lost: ", healed["why"]), "why: %s" % healed)
        parts = [healed[k] for k in ("noticing", "members", "blocks", "joining", "preamble")]
        check(min(parts) >= 0 and abs(sum(parts) - healed["still"]) < 0.005 and healed["members"] + healed["blocks"] > 0, "parts: %s" % healed)
        os.remove(run.marks + "/slow")
        status = run.wait()
        check(status == 0 and run.output() == expected, "status %s: %s" % (status, run.errors()))
        with open(run.marks + "/trace") as f:
            trace = f.read()
        check(re.findall(r"^V \d+ (\d) \d 1 \d+ (\w+) ", trace, re.M) == [("0", "start"), ("1", "grow"), ("3", "heal")], "views in the trace")
        rows = re.findall(r"^(\d+) +([23]) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +(\d+) ", run.errors(), re.M)
        check([r[:2] for r in rows] == [("0", "2"), ("3", "3")] and all(int(r[2]) > 0 for r in rows), "views in the profile: " + run.errors())
        run.check_clean()


def from_the_beginning():
    """Without checkpoints, before the first, and before the first loop boundary: the line says which it was, and what helps."""
    line = killed([1], directory=None)
    check("(it writes no checkpoints: --dome-checkpoint-dir memory: keeps them in memory)" in line, line)
    for steps, sleep_ms, at, why in ((60, 10, 5, "it had written no checkpoint yet: --dome-checkpoint-every says when"),
                                     (3, 1000, 0, "it had come to no loop boundary: dome_checkpoint in its main loop is one")):
        expected = one_task([ELASTIC, str(steps), "0", "-"])
        with start(steps, sleep_ms, 2, every=1000000) as run:
            all_there(run, 2)
            reach(run, at)
            harness.kill(run.rank(1))
            ended_well(run, expected, 1)
            check("healed from the beginning (%s), 1 of 5" % why in run.lines()[0], run.errors())


def expected_losses(run):
    """The mean time between failures that has led to the interval of the profile, and the number of checkpoints."""
    found = re.search(r"checkpoints: (\d+) written, .* one costs ([\d.]+) s, every ([\d.]+) s", run.errors())
    check(found, "no line of checkpoints: " + run.errors())
    written, cost, every = int(found[1]), float(found[2]), float(found[3])
    return (every + cost) ** 2 / (2 * max(cost, 1e-6)), written


def as_it_pays(way):
    """The first checkpoint shows what one costs, and comes soon; losses that came before it count, too."""
    expected = one_task([ELASTIC, "125", "0", "-"])
    command = [DOME, "run", "--restarts", "5", "-n", "2", "--on-loss", way, ELASTIC, "125", "20", "-", "%MARKS%"]
    command += ["--dome-checkpoint-dir", "memory:", "--dome-profile"]
    for lost in False, True:
        with Run(command) as run:
            all_there(run, 2)
            began = time.monotonic()
            reach(run, 3)
            if lost:
                harness.kill(run.rank(1))
            check(run.wait() == 0 and run.output() == expected, run.errors())
            between, written = expected_losses(run)
            seconds = time.monotonic() - began
            check(written > 0, "none was written: " + run.errors())
            check(between > 1000 if not lost else between < 10 * seconds, "%g s between losses, in %g s: %s" % (between, seconds, run.errors()))


def after_change(way, directory):
    """A loss soon after a change of the number of tasks goes back to it, and so does the next one; with --on-loss restart, too."""
    expected = one_task([ELASTIC, "1500", "0", "-"])
    with start(1500, 20, 2, variant="hurries", marks=["slow"], every=1000000, directory=directory, before=["--on-loss", way]) as run:
        all_there(run, 2)
        reach(run, 10)

        def shown():
            told = subprocess.run([DOME, "ps", "--json"], env=harness.clean_environment(), stdout=subprocess.PIPE, timeout=harness.HANG).stdout
            return [p for p in json.loads(told) if run.rank(0) in [t["pid"] for t in p["tasks"]]]

        for number, order in enumerate(("grow", "shrink")[:1 if way == "restart" else 2]):
            before = step_of(run)
            subprocess.run([DOME, order, str(wait_until(shown, "dome ps")[0]["pid"])], env=harness.clean_environment(), stdout=subprocess.DEVNULL,
                           timeout=harness.HANG, check=True)
            last = step_of(run)
            for loss in range(1 if way == "restart" else 2):
                seen = len(run.lines())
                last = max(last, step_of(run))
                harness.kill(run.rank(1))
                wait_until(lambda: len(run.lines()) > seen, "the loss")
                line = run.lines()[-1]
                told = re.search(r"(healed|started again) from checkpoint (\d+) \(loop boundary (\d+)\)", line)
                check(told and int(told[2]) == number + 1 and before <= int(told[3]) <= last, "%s of %d to %d: %s" % (order, before, last, line))
                wait_until(lambda: step_of(run) > int(told[3]) or run.process.poll() is not None, "a step")
                if way == "heal":
                    saved = wait_until(shown, "dome ps")[0]
                    newest = saved["checkpoint"]
                    check(newest["number"] == number + 1 and newest["seconds_ago"] <= saved["seconds"], "dome ps: %s in %s s" % (newest, saved["seconds"]))
        os.remove(run.marks + "/slow")
        check(run.wait() == 0 and run.output() == expected, "status %s: %s" % (run.process.poll(), run.errors()))
        run.check_clean()


def by_itself():
    """--on-loss heal keeps copies in memory, unless it is told otherwise."""
    expected = one_task([ELASTIC, "120", "0", "-"])
    for options, end in (["--dome-checkpoint-every", "5"], r"healed from checkpoint \d+ \(loop boundary \d+\), 1"), \
                        (["--dome-checkpoint-dir", "none:"], r"healed from the beginning \(it writes no checkpoints: .*\), 1"):
        with Run([DOME, "run", "--on-loss", "heal", "-n", "2", ELASTIC, "120", "10", "-", "%MARKS%"] + options) as run:
            all_there(run, 2)
            reach(run, 12)
            harness.kill(run.rank(1))
            check(run.wait() == 0 and run.output() == expected, run.errors())
            check(len(run.lines()) == 1 and re.search(end + "$", run.lines()[0]), run.errors())
            run.check_clean()
    # Nobody heals one task: it keeps nothing.
    with Run([DOME, "run", "--on-loss", "heal", "-n", "1", ELASTIC, "120", "0", "-", "--dome-profile"]) as run:
        check(run.wait() == 0 and run.output() == expected and "checkpoints:" not in run.errors(), run.errors())


def no_names(directory):
    """A program whose objects have no names begins again, and never goes on from a checkpoint without values."""
    expected = one_task([ELASTIC, "60", "0", "-", "-", "bare"])
    with start(60, 10, 2, directory=directory, every=3, variant="bare") as run:
        all_there(run, 2)
        reach(run, 12)
        harness.kill(run.rank(1))
        check(run.wait() == 0, run.errors())
        check(run.output() == expected, "other output: %r" % run.output()[-300:])
        healed = [line for line in run.lines() if "healed" in line]
        check(len(healed) == 1 and healed[0].endswith("healed from the beginning (it has no objects with names: name those that hold its state), 1 of 5"), run.errors())
        others = [line for line in run.lines() if line not in healed]
        check(len(others) == (2 if directory else 0) and all("no checkpoint is written" in line for line in others), run.errors())
        run.check_clean()


def replaced(victim):
    """With another program in the place of the first, tasks of both must not meet: all are started again."""
    with harness.temporary_directory() as directory:
        program = directory + "/elastic"
        harness.copy_program(ELASTIC, program)
        expected = one_task([ELASTIC, "60", "0", "-"])
        command = [DOME, "run", "--restarts", "3", "-n", "2", program, "60", "10", "-", "%MARKS%", "", "--dome-checkpoint-dir", "memory:",
                   "--dome-checkpoint-every", "5"]
        with Run(command) as run:
            all_there(run, 2)
            reach(run, 12)
            harness.copy_program(ELASTIC, program + ".new")
            os.rename(program + ".new", program)
            harness.kill(run.rank(victim))
            check(run.wait() == 0, run.errors())
            check(run.output() == expected, "other output: %r" % run.output()[-300:])
            check(len(run.lines()) == 1 and "; started again from checkpoint" in run.lines()[0], run.errors())
            run.check_clean()


def crash(number):
    """By a signal from outside, as a fault of the program would be."""
    expected = one_task([ELASTIC, "100", "0", "-"])
    with start(100, 10, 2, every=5) as run:
        reach(run, 12)
        harness.kill(run.rank(1), number)
        ended_well(run, expected, 1)
        check("by signal %d (" % number in run.lines()[0], run.errors())


def stopped():
    """A task that does not answer is lost: its process is killed, and replaced."""
    expected = one_task([ELASTIC, "150", "0", "-"])
    with start(150, 10, 2, every=5, options=["--dome-timeout", "2"]) as run:
        reach(run, 12)
        victim = run.rank(1)
        harness.kill(victim, signal.SIGSTOP)
        ended_well(run, expected, 1)
        check("nothing heard from it" in run.lines()[0], run.errors())


def damaged():
    """Values of a damaged checkpoint in memory are never used: all go back to the one before."""
    expected = one_task([ELASTIC, "120", "0", "-"])
    with start(120, 10, 2, every=5) as run:
        all_there(run, 2)
        reach(run, 22)
        before = pids(run, 2)
        for pid in before:
            harness.kill(pid, signal.SIGSTOP)
        with open("/proc/%d/environ" % before[0], "rb") as f:
            directory = re.search(rb"(?:^|\0)DOME_MEMORY=([^\0]*)", f.read())[1].decode()
        newest = max(name for name in os.listdir(directory) if re.fullmatch(r"ckpt-\d+\.dckpt", name))
        with open(directory + "/" + newest, "r+b") as f:
            f.seek(-1, os.SEEK_END)
            last = f.read(1)[0]
            f.seek(-1, os.SEEK_END)
            f.write(bytes([last ^ 1]))
        harness.kill(before[1])
        harness.kill(before[0], signal.SIGCONT)
        status = run.wait()
        check(status == 0, "status %s: %s" % (status, run.errors()))
        check(run.output() == expected, "other output: %r" % run.output()[-300:])
        number = int(re.search(r"\d+", newest)[0])
        healed = run.lines()[-1]
        check("%s': object " % newest in healed and "is damaged (checksum differs); the checkpoint is removed" in healed, run.errors())
        check(healed.endswith("; healed from checkpoint %d (loop boundary %d), 2 of 5" % (number - 1, 5 * (number - 1))), run.errors())
        check(len(run.lines()) == 2 and "is lost" in run.lines()[0], run.errors())
        run.check_clean()


def during_recovery(seed, tasks=3):
    """Another one is lost while the first loss is healed: whoever, whenever."""
    draw = random.Random(seed)
    expected = one_task([ELASTIC, "100", "0", "-"])
    with start(100, 10, tasks, every=5) as run:
        all_there(run, tasks)
        reach(run, draw.randint(1, 30))
        first, second = draw.sample(range(tasks), 2)
        before = pids(run, tasks)
        harness.kill(before[first])
        time.sleep(draw.random() * 0.15)
        harness.kill(before[second])
        status = run.wait()
        check(status == 0, "status %s: %s" % (status, run.errors()))
        check(run.output() == expected, "other output: %r" % run.output()[-300:])
        check("healed" in run.lines()[-1], run.errors())
        run.check_clean()
        return " | ".join(run.lines())


def while_changing(seed, losses=1, steps=60):
    """The number of tasks changes at each boundary."""
    draw = random.Random(seed)
    sizes = ",".join(str(draw.randint(1, 4)) for _ in range(8))
    expected = one_task([ELASTIC, str(steps), "0", "-"])
    with start(steps, 1, 3, restarts=20, sizes=sizes, every=4) as run:
        for k in range(losses):
            reach_or_end(run, 3 + k * 10)
            time.sleep(draw.random() * 0.2)
            tasks = [p.pid for p in run.processes() if p.name == "elastic" and p.pid != run.pid]
            if tasks:
                harness.kill(draw.choice(tasks))
        status = run.wait()
        check(status == 0, "status %s: %s" % (status, run.errors()))
        check(run.output().endswith(expected.split(b"\n")[-2] + b"\n"), "other output: %r" % run.output()[-200:])
        run.check_clean()
        return " | ".join(run.lines())[:200]


def unwritten():
    """The state cannot be written when the number of tasks changes: what was computed since the checkpoint is computed again."""
    inject = os.path.join(os.path.abspath(harness.BUILD), "tests", "preload", "libinject.so")
    if not os.path.exists(inject):
        return "skipped: %s is not built" % inject
    expected = one_task([ELASTIC, "40", "0", "-"])
    # Only the task that has joined in the first view: it has become another process when the number changes again.
    environment = {"LD_PRELOAD": inject, "INJECT": "write:1:%d:dome-view" % errno.ENOSPC, "INJECT_TASKS": "others"}
    with start(40, 2, 2, sizes=",".join(9 * ["2"] + 40 * ["3"]), every=3, environment=environment) as run:
        check(run.wait() == 0, run.errors())
        check(run.output() == expected, "other output: %r" % run.output()[-300:])
        line = r"dome: dome_checkpoint: the program cannot enter its next view: .*No space left.*; healed from checkpoint \d+ .*, 1 of 5"
        check(len(run.lines()) == 1 and re.fullmatch(line, run.lines()[0]), run.errors())
        run.check_clean()


def random_kills(seed, losses, tasks=3):
    """Any task, at any time, again and again: the result is the same, and nothing hangs."""
    draw = random.Random(seed)
    steps = 60 + losses * 25
    expected = one_task([ELASTIC, str(steps), "0", "-"])
    with start(steps, 4, tasks, restarts=10 * losses, every=3) as run:
        at = 2
        for _ in range(losses):
            reach_or_end(run, at)
            time.sleep(draw.random() * 0.1)
            at = step_of(run) + 8
            victim = run.rank(draw.randrange(tasks))
            if victim:
                harness.kill(victim)
        status = run.wait()
        check(status == 0, "status %s: %s" % (status, run.errors()))
        check(run.output() == expected, "other output: %r" % run.output()[-300:])
        run.check_clean()
        return "%d lines" % len(run.lines())


def same_place():
    """A program that always fails at one place is given up."""
    with Run([DOME, "run", "--restarts", "10", "-n", "2", WORKER, "%MARKS%", "0", "wait", "--dome-timeout", "3"]) as run:
        last = None
        for _ in range(3):
            wait_until(lambda: run.rank(1) not in (None, last) or run.process.poll() is not None, "task 1")
            time.sleep(1)  # until it waits, and has told so
            last = run.rank(1)
            harness.kill(last)
        check(run.wait() == 1, run.errors())
        check(len(run.lines()) == 3, run.errors())
        check("that is the same place 3 times in a row: the program is not started again" in run.lines()[-1], run.errors())
        run.check_clean()


def used_up():
    with start(200, 10, 2, restarts=1, every=5) as run:
        reach(run, 12)
        harness.kill(run.rank(1))
        further(run, 12)
        harness.kill(run.rank(1))
        check(run.wait() == 1, run.errors())
        check(re.search("healed from checkpoint .*, 1 of 1", run.lines()[0]), run.errors())
        check("not started again: 1 restart is used up" in run.lines()[1], run.errors())
        run.check_clean()


def policy(word):
    """--on-loss restart and end."""
    expected = one_task([ELASTIC, "60", "0", "-"])
    restarts = [] if word == "end" else ["--restarts", "2"]
    command = [DOME, "run", "--on-loss", word, "-n", "2"] + restarts + [ELASTIC, "60", "10", "-", "%MARKS%"]
    with Run(command) as run:
        reach(run, 6)
        harness.kill(run.rank(1))
        status = run.wait()
        check(len(run.lines()) == 1 and "healed" not in run.errors(), run.errors())
        check((status == 0) == (word == "restart"), "status %d: %s" % (status, run.errors()))
        if word == "restart":
            check("started again from the beginning (it writes no checkpoints: " in run.lines()[0], run.errors())
            check(run.output().endswith(expected.split(b"\n")[-2] + b"\n"), "other output")
        run.check_clean()


def own_option(arguments, most):
    """The program's own options, without dome run."""
    expected = one_task([ELASTIC, "100", "0", "-"])
    with Run([ELASTIC, "100", "10", "-", "%MARKS%", "", "--dome-tasks", "3"] + arguments) as run:
        all_there(run, 3)
        reach(run, 12)
        before = pids(run, 3)
        harness.kill(before[0])
        further(run, 2)
        check(pids(run, 3)[1:] == before[1:], "other processes")
        check(run.wait() == 0, run.errors())
        check(run.output() == expected, "other output: %r" % run.output()[-200:])
        check(len(run.lines()) == 1 and run.lines()[0].endswith(", 1" + most), run.errors())
        run.check_clean()


def words():
    for arguments, line in ((["--on-loss", "never"], "run: --on-loss takes 'auto', 'heal', 'restart', 'tell' or 'end', not 'never'"),
                            (["--on-loss", "restart"], "run: --on-loss restart needs --restarts K, the most times")):
        done = subprocess.run([DOME, "run"] + arguments + ["-n", "2", ELASTIC], env=harness.clean_environment(), stderr=subprocess.PIPE)
        check(done.returncode == 2 and done.stderr.decode() == "dome: %s\n" % line, done.stderr.decode())


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def resident(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s*(\d+)", f.read())[1])


def many(count):
    """Descriptors and memory of the hub and of a task that stays are the same after many losses."""
    steps = 20 * count + 300
    expected = one_task([ELASTIC, str(steps), "0", "-"])
    with start(steps, 10, 2, restarts=count + 5, every=3) as run:
        seen = []
        all_there(run, 2)
        for k in range(count):
            reach_or_end(run, 4 + 16 * k)
            check(run.process.poll() is None, "the program ended before loss %d of %d" % (k, count))
            hub = harness.Process.at(run.rank(0)).parent
            if k in (count // 3, count - 1):
                time.sleep(0.3)
                seen.append([descriptors(hub), resident(hub), descriptors(run.rank(0))])
            harness.kill(run.rank(1))
            wait_until(lambda: len(run.lines()) > k or run.process.poll() is not None, "loss %d" % k)
        check(run.wait() == 0, run.errors()[-500:])
        check(run.output().endswith(expected.split(b"\n")[-2] + b"\n"), "other output: %r" % run.output()[-200:])
        check(len(seen) == 2 and abs(seen[1][0] - seen[0][0]) <= 12, "descriptors of the hub: %s" % seen)
        check(seen[1][1] < seen[0][1] + 3000, "memory of the hub: %s" % seen)
        check(abs(seen[1][2] - seen[0][2]) <= 4, "descriptors of task 0: %s" % seen)
        run.check_clean()
        return "%s" % seen


def traced():
    """A trace goes on, and a profile shows the last view."""
    expected = one_task([ELASTIC, "60", "0", "-"])
    with start(60, 10, 2, every=5, options=["--dome-trace", "%MARKS%/trace", "--dome-profile"]) as run:
        reach(run, 12)
        harness.kill(run.rank(1))
        check(run.wait() == 0, run.errors())
        check(run.output() == expected, "other output")
        with open(run.marks + "/trace") as f:
            trace = f.read()
        check(len(re.findall("^H ", trace, re.M)) == 2, "%d starts in the trace" % len(re.findall("^H ", trace, re.M)))
        check("dvec_allgather" in run.errors(), "no profile: " + run.errors())


def main():
    arguments = sys.argv[1:]
    is_many = "--many" in arguments
    part = ([a for a in arguments if a != "--many"] + [""])[0]
    harness.need_pvm()
    cases = [
        ("killed: task 1", killed, [1]),
        ("killed: task 0", killed, [0]),
        ("killed: two at once", killed, [1, 2]),
        ("killed: 0 and 2", killed, [0, 2]),
        ("killed: all but one", killed, [0, 1, 2], 4),
        ("requests", asked),
        ("shown", shown),
        ("no checkpoint", from_the_beginning),
        ("as often as it pays: heal", as_it_pays, "heal"),
        ("as often as it pays: restart", as_it_pays, "restart"),
        ("after a change, memory", after_change, "heal", "memory:"),
        ("after a change, disk", after_change, "heal", "%MARKS%/saved"),
        ("after a change, restart", after_change, "restart", "memory:"),
        ("--on-loss heal alone", by_itself),
        ("program replaced: task 1", replaced, 1),
        ("program replaced: task 0", replaced, 0),
        ("no names", no_names, None),
        ("no names, checkpoints", no_names, "memory:"),
        ("checkpoints on disk", killed, [2], 3, "%MARKS%/saved"),
        ("damaged in memory", damaged),
        ("crash", crash, int(signal.SIGSEGV)),
        ("stopped", stopped),
        ("points of task 0", at_points, range(1, POINTS, 9), 0),
        ("points of task 1", at_points, range(3, POINTS, 7), 1),
        ("during recovery 1", during_recovery, 1),
        ("during recovery 2", during_recovery, 2),
        ("during recovery 3", during_recovery, 3),
        ("while changing 1", while_changing, 1),
        ("while changing 2", while_changing, 2),
        ("unwritten", unwritten),
        ("at random", random_kills, 1, 5),
        ("same place", same_place),
        ("used up", used_up),
        ("--on-loss restart", policy, "restart"),
        ("--on-loss end", policy, "end"),
        ("--dome-on-loss heal", own_option, ["--dome-on-loss", "heal"], ""),
        ("--dome-restarts", own_option, ["--dome-restarts", "3", "--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "5"], " of 3"),
        ("words", words),
        ("many", many, 12),
        ("trace and profile", traced),
    ]
    if is_many:
        cases = [("point %d of task %d" % (p, r), at_point, r, p) for p in range(1, POINTS) for r in range(3)]
        cases += [("during recovery %d" % k, during_recovery, 100 + k, 2 + k % 3) for k in range(40)]
        cases += [("while changing %d" % k, while_changing, 200 + k, 1 + k % 3) for k in range(40)]
        cases += [("at random %d" % k, random_kills, 300 + k, 10, 2 + k % 4) for k in range(30)]
        cases += [("many", many, 200)]
    sys.exit(harness.run_all([c for c in cases if part in c[0]], 3) > 0)


main()
