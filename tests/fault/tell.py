"""Losses after which the other tasks go on without the lost ones: --on-loss tell.

    tell.py [PART-OF-A-NAME]

The program (tests/programs/tell.c) checks each element after a loss, and makes the lost ones again: so its result is that of one task
which nobody disturbs."""

import os
import random
import re
import signal
import sys
import time

import harness
from harness import DOME, PROGRAMS, Run, check, only_line, reach_or_end, wait_until

TELL = PROGRAMS + "/tell"
WENT_ON = r"dome: task %s on host \S+ is lost: .*; the program goes on with %d tasks? from loop boundary (\d+), %d"
expected = {}


def result(steps):
    """The last line of one task that nobody disturbs."""
    if steps not in expected:
        with harness.temporary_directory() as directory, Run([TELL, str(steps), "0", directory, "--dome-transport", "self"]) as run:
            check(run.wait() == 0, "one task: " + run.errors())
            expected[steps] = run.output()
    return expected[steps]


def start(steps, sleep_ms, tasks, variant="", every=5, run_options=(), options=(), marks=()):
    return Run([DOME, "run", "--on-loss", "tell", "-n", str(tasks)] + list(run_options) + [TELL, str(steps), str(sleep_ms), "%MARKS%", variant] +
               ["--dome-checkpoint-every", str(every), "--dome-balance", "none"] + list(options), marks=marks)


def at_step(run, step):
    reach_or_end(run, step)
    check(run.process.poll() is None, "it ended early: %s" % run.errors())


def ended_well(run, steps):
    status = run.wait()
    check(status == 0, "status %s: %s" % (status, run.errors()))
    check(run.output().endswith(result(steps)), "other output: %r instead of %r" % (run.output()[-300:], result(steps)))
    run.check_clean()


def own(run, rank):
    with open("%s/own.%d" % (run.marks, rank)) as f:
        return [tuple(map(int, span.split("-"))) for span in f.read().split()]


def elements(spans):
    return {i for first, end in spans for i in range(first, end)}


def lost(run, name):
    return [(int(a), int(b)) for a, b in re.findall(r"^lost %s (\d+)-(\d+)$" % name, run.output().decode(), re.M)]


def killed(victims, tasks, on=(), options=(), command=None):
    """The others keep their processes, and exactly the elements of the lost tasks are lost."""
    steps = 100
    with command(steps) if command else start(steps, 10, tasks, run_options=on, options=options) as run:
        at_step(run, 22)
        before = [run.rank(r) for r in range(tasks)]
        gone = elements(span for r in victims for span in own(run, r))
        hub = run.hub()
        harness.kill(hub, signal.SIGSTOP)  # else this process may be late with the second, which would be a loss of its own
        for r in victims:
            harness.kill(before[r])
        harness.kill(hub, signal.SIGCONT)
        wait_until(lambda: "view 2:" in run.output().decode() or run.process.poll() is not None, "the loss")
        at_step(run, 40)
        there = [r for r in range(tasks) if r == 0 or r not in victims]
        after = [run.rank(k) for k in range(len(there))]
        for k, r in enumerate(there):
            check((after[k] == before[r]) == (r not in victims), "task %d, then %d: process %s, then %s" % (r, k, before[r], after[k]))
        ended_well(run, steps)
        check(elements(lost(run, "x")) == gone, "%d elements were lost, not those of %s: %s" % (len(gone), victims, lost(run, "x")))
        check(len(lost(run, "m")) > 0, "no rows were lost")
        check("view 2: lost, %d tasks, now %d\n" % (tasks, len(there)) in run.output().decode(), run.output().decode())
        check(len(run.lines()) == 1, run.errors())
        line = re.fullmatch(WENT_ON % ("[%s]" % "".join(map(str, victims)), len(there), 1) + ".*", run.lines()[0])
        check(line and int(line[1]) in (20, 25), run.errors())


def by_its_own_option():
    def command(steps):
        return Run([TELL, str(steps), "10", "%MARKS%", "", "--dome-tasks", "3", "--dome-on-loss", "tell", "--dome-checkpoint-dir", "memory:",
                    "--dome-checkpoint-every", "5", "--dome-balance", "none"])

    killed([1], 3, command=command)


def before_the_first_boundary():
    with start(30, 10, 3, "slow") as run:
        run.wait_marks("rank", 3)
        harness.kill(run.rank(2))
        ended_well(run, 30)
        check(len(run.lines()) == 1 and run.lines()[0].endswith("; the program goes on with 2 tasks from the beginning (it had come to no loop boundary: dome_checkpoint in its main loop is one), 1"), run.errors())
        check(not lost(run, "x"), "elements are lost: %s" % lost(run, "x"))


def by_time():
    """Without --dome-checkpoint-every: the state of the first boundary is kept at once."""
    with Run([DOME, "run", "--on-loss", "tell", "-n", "3", TELL, "60", "10", "%MARKS%"]) as run:
        at_step(run, 20)
        harness.kill(run.rank(1))
        ended_well(run, 60)
        check("; the program goes on with 2 tasks from loop boundary 1, 1" in run.lines()[0], run.errors())


def too_few():
    with start(200, 10, 3, run_options=["--min", "3"]) as run:
        at_step(run, 12)
        harness.kill(run.rank(1))
        check(run.wait() == 1, run.errors())
        only_line(run, "task 1 on host .* is lost: .*; 2 tasks would be fewer than its least number, 3")
        run.check_clean()


def nobody_left():
    with start(200, 10, 2) as run:
        at_step(run, 12)
        for r in (1, 0):
            harness.kill(run.rank(r))
        check(run.wait() != 0, run.errors())
        check("no task is left that could go on" in run.lines()[-1], run.errors())
        run.check_clean()


def restarted():
    """With --restarts and files, a loss of all is answered by starting again."""
    with start(100, 10, 2, run_options=["--restarts", "3"], options=["--dome-checkpoint-dir", "%MARKS%/saved"]) as run:
        at_step(run, 12)
        for r in (1, 0):
            harness.kill(run.rank(r))
        ended_well(run, 100)
        check("started again from checkpoint" in run.lines()[-1], run.errors())


def no_names():
    with start(60, 10, 3, "bare") as run:
        at_step(run, 12)
        harness.kill(run.rank(2))
        ended_well(run, 60)
        went_on = [line for line in run.lines() if "goes on with" in line]
        check(len(went_on) == 1 and went_on[0].endswith("from the beginning (it has no objects with names: name those that hold its state), 1"), run.errors())


def kept_files(pid):
    """What the task keeps, the newest first."""
    paths = ["/proc/%d/fd/%s" % (pid, name) for name in os.listdir("/proc/%d/fd" % pid)]
    kept = [path for path in paths if os.readlink(path).startswith("/memfd:dome-kept")]
    return sorted(kept, key=lambda path: os.stat(path).st_mtime_ns, reverse=True)


def damage(path):
    with open(path, "r+b") as f:
        f.seek(-1, os.SEEK_END)
        last = f.read(1)[0]
        f.seek(-1, os.SEEK_END)
        f.write(bytes([last ^ 1]))


def damaged(count):
    """Values that are damaged are never used: all go back to the state before, or that task's are lost, too."""
    with start(100, 10, 3) as run:
        at_step(run, 22)
        victims = [run.rank(r) for r in range(3)]
        for pid in victims:
            harness.kill(pid, signal.SIGSTOP)
        for path in kept_files(victims[1])[:count]:
            damage(path)
        gone = elements(span for r in ([2] if count == 1 else [1, 2]) for span in own(run, r))
        harness.kill(victims[2])
        for pid in victims[:2]:
            harness.kill(pid, signal.SIGCONT)
        ended_well(run, 100)
        check(len(run.lines()) == 1 + count, run.errors())
        line = r"dome: .* is damaged \(checksum differs\).*; the task forgets that state.*; the program goes on with 2 tasks from loop boundary (\d+), %d"
        went_on = re.fullmatch(line % (1 + count), run.lines()[-1])
        check(went_on and int(went_on[1]) in (10, 15, 20, 25), run.errors())
        last = run.output().decode().rpartition("view ")[2]
        check(elements((int(a), int(b)) for a, b in re.findall(r"^lost x (\d+)-(\d+)$", last, re.M)) == gone, "others are lost: " + last)
        return run.lines()[-1]


def one_after_the_other():
    with start(150, 10, 4, every=4) as run:
        for k, victim in enumerate((3, 1, 1)):
            at_step(run, 12 + 20 * k)
            harness.kill(run.rank(victim))
            wait_until(lambda: len(run.lines()) > k or run.process.poll() is not None, "loss %d" % k)
        ended_well(run, 150)
        check(re.search("goes on with 1 task from loop boundary .*, 3", run.lines()[2]), run.errors())


def at_one_place():
    """Tasks that are killed before the program has gone on are no sign that it fails there itself."""
    with start(60, 300, 5, "hurries", every=2, marks=["slow"]) as run:
        at_step(run, 3)
        victims = [run.rank(r) for r in (3, 0, 1, 2)]
        for k, victim in enumerate(victims):
            harness.kill(victim)
            wait_until(lambda: len(run.lines()) > k or run.process.poll() is not None, "loss %d" % (k + 1))
        os.remove(run.marks + "/slow")
        ended_well(run, 60)
        check(all(re.fullmatch(WENT_ON % (r"\d", left, k + 1), line) for k, (left, line) in enumerate(zip((4, 4, 3, 2), run.lines()))), run.errors())
        return " | ".join(line.split("; ")[-1] for line in run.lines())


def during_recovery(seed, tasks=4):
    """Two are lost, the second while the others go back: whoever, whenever."""
    draw = random.Random(seed)
    with start(100, 10, tasks) as run:
        at_step(run, draw.randint(2, 30))
        victims = [run.rank(r) for r in draw.sample(range(tasks), 2)]
        harness.kill(victims[0])
        time.sleep(draw.random() * 0.2)
        harness.kill(victims[1])
        ended_well(run, 100)
        check("goes on with" in run.lines()[-1], run.errors())
        return " | ".join(line.split("; ")[-1] for line in run.lines())


def at_random(seed, losses, tasks, variant="", steps=200):
    """Any task, at any time, as long as there are some."""
    draw = random.Random(seed)
    with start(steps, 3, tasks, variant, every=3) as run:
        for k in range(losses):
            reach_or_end(run, 2 + k * steps // (losses + 2))
            time.sleep(draw.random() * 0.1)
            there = [p.pid for p in run.processes() if p.name == "tell"]
            if len(there) > 1:
                harness.kill(draw.choice(there))
        status = run.wait()
        check(status == 0 or "no task is left" in run.errors(), "status %s: %s" % (status, run.errors()))
        check(status != 0 or run.output().endswith(result(steps)), "other output: %r" % run.output()[-300:])
        run.check_clean()
        return " | ".join(line.split("; ")[-1] for line in run.lines())[:300]


def same_place():
    """A program that always fails at one place is given up."""
    with start(60, 10, 5, "crash") as run:
        check(run.wait() == 1, run.errors())
        check(len(run.lines()) == 3, run.errors())
        check("that is the same place 3 times in a row: the program is not started again" in run.lines()[2], run.errors())
        run.check_clean()


def mistake(variant, line):
    with start(5, 0, 2, variant) as run:
        check(run.wait() != 0, "it has not failed")
        only_line(run, line)


def main():
    part = (sys.argv[1:] + [""])[0]
    harness.need_pvm()
    cases = [
        ("killed: task 1", killed, [1], 3),
        ("killed: the last", killed, [2], 3),
        ("killed: task 0", killed, [0], 3),
        ("killed: 1 and 2", killed, [1, 2], 3),
        ("killed: 0 and 2", killed, [0, 2], 4),
        ("files, too", killed, [1], 3, (), ["--dome-checkpoint-dir", "%MARKS%/saved"]),
        ("at most two", killed, [1], 3, ["--restarts", "2"]),
        ("--dome-on-loss tell", by_its_own_option),
        ("before the first boundary", before_the_first_boundary),
        ("by time", by_time),
        ("--min", too_few),
        ("nobody left", nobody_left),
        ("restarted", restarted),
        ("no names", no_names),
        ("damaged: the newest", damaged, 1),
        ("damaged: both", damaged, 2),
        ("one after the other", one_after_the_other),
        ("at one place", at_one_place),
        ("during recovery 1", during_recovery, 1),
        ("during recovery 2", during_recovery, 2),
        ("during recovery 3", during_recovery, 3),
        ("at random", at_random, 1, 3, 5),
        ("while changing 1", at_random, 2, 3, 4, "sizes"),
        ("while changing 2", at_random, 3, 3, 4, "sizes"),
        ("same place", same_place),
        ("dome_on_view too late", mistake, "late", r".*dome_on_view: the program has passed a loop boundary \(dome_checkpoint\) in this view: "
         r"give the function right after dome_init.*"),
        ("dome_lost without a name", mistake, "nameless", r".*dome_lost of 'dvec-\d+': the program has not given it a name, so nothing of it is "
         r"kept: all of it is new.*"),
    ]
    sys.exit(harness.run_all([c for c in cases if part in c[0]], 3) > 0)


main()
