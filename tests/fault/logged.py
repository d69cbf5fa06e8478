"""With --dome-checkpoint-protocol log a lost task alone goes back, to a checkpoint of its own.

    logged.py [COUNT [SEED]]

COUNT: random histories of losses."""

import os
import random
import re
import sys
import time

import harness
from harness import DOME, PROGRAMS, Run, check, wait_until

PROGRAM = PROGRAMS + "/logged"
STEPS = 200
SAVED = ["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "5"]
expectations = {}


def command(tasks, payload, spins, options=(), more=(), restarts=40):
    return [DOME, "run", "-n", str(tasks), "--restarts", str(restarts), PROGRAM, "%MARKS%", str(STEPS), str(spins), str(payload)] + list(more) + [
        "--dome-checkpoint-protocol", "log"] + list(options or SAVED)


def undisturbed(tasks, payload, spins):
    key = (tasks, payload, spins)
    if key not in expectations:
        with Run(command(tasks, payload, spins)) as run:
            check(run.wait() == 0, run.errors())
            expectations[key] = run.output()
            check(computed(run) == {r: STEPS for r in range(tasks)}, run.errors())
    return expectations[key]


def computed(run):
    """The steps that each task's last process has computed."""
    return {int(r): int(n) for r, n in re.findall(r"computed (\d+) (\d+)", run.errors())}


def started(run):
    wait_until(lambda: run.process.poll() is not None or len(run.output()) > 0, "a line")


def held(run, rank):
    """Until this task waits to be killed."""
    run.wait_marks("held", 1)
    check(run.rank(rank), "no task %d" % rank)


def history(seed):
    """Tasks are killed at random: the output is that of an undisturbed run."""
    draw = random.Random(seed)
    tasks, payload, spins = draw.randint(2, 5), draw.choice([1, 100, 20000, 100000]), draw.choice([100000, 500000])
    with harness.temporary_directory() as directory:
        options = draw.choice([SAVED, ["--dome-checkpoint-dir", directory], ["--dome-checkpoint-dir", "memory:"], ["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "0.02s"],
                               ["--dome-checkpoint-dir", "none:"]])
        with Run(command(tasks, payload, spins, options)) as run:
            started(run)
            kills, last = 0, None
            for _ in range(draw.randint(1, 5)):
                rank = draw.choice([r for r in range(tasks) if r != last])
                victim = run.rank(rank)
                kills += bool(victim) and run.process.poll() is None and harness.kill(victim)
                last = rank
                time.sleep(draw.random() * draw.choice([0.05, 0.5]))
            check(run.wait() == 0, run.errors())
            want = undisturbed(tasks, payload, spins)
            check(run.output().split(b"\n")[-2].endswith(b"one order"), run.output())
            check(run.output() == want, "other output: %r instead of %r; %s" % (run.output()[-300:], want[-300:], run.errors()))
            run.check_clean()
    return "%d tasks, %d words, %s: %d kills" % (tasks, payload, " ".join(options[1:]), kills)


def others_stay(tasks):
    """Of all tasks the lost one alone computes something again: what it has not saved."""
    with Run(command(tasks, 1, 1000), marks={"hold.1": "61"}) as run:
        held(run, 1)
        os.remove(run.marks + "/hold.1")
        check(harness.kill(run.rank(1)), "no task 1")
        check(run.wait() == 0, run.errors())
        check("healed from checkpoints of the lost tasks alone, 1 of 40" in run.errors(), run.errors())
        steps = computed(run)
        check(all(steps[r] == STEPS for r in range(tasks) if r != 1), "a task that was not lost has begun anew: %r" % steps)
        check(steps[1] < STEPS, "task 1 has begun at its beginning: %r" % steps)
        run.check_clean()
    return "steps of the last processes: %r" % steps


def last_line(run):
    return run.output().strip().split(b"\n")[-1]


def all_lost(directory):
    """All tasks are killed at once: each goes back to its newest checkpoint."""
    tasks, payload, spins = 3, 20000, 300000
    saved = ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", "3"]
    with Run(command(tasks, payload, spins, saved), marks={"hold.1": "101"}) as run:
        held(run, 1)
        os.remove(run.marks + "/hold.1")
        for r in range(tasks):
            harness.kill(run.rank(r))
        check(run.wait() == 0, run.errors())
        check(run.output() == undisturbed(tasks, payload, spins), "other output: %r; %s" % (run.output()[-300:], run.errors()))
        steps = computed(run)
        check(all(steps[r] < STEPS for r in range(tasks)), "a task has begun at its beginning: %r; %s" % (steps, run.errors()))
        run.check_clean()
    return "steps of the last processes: %r" % steps


def kill_all(run, tasks, seconds):
    """With the launcher, when the tasks have been there for so long."""
    wait_until(lambda: run.process.poll() is not None or all(run.rank(r) for r in range(tasks)), "tasks")
    time.sleep(seconds)
    run.process.kill()
    for r in range(tasks):
        harness.kill(run.rank(r))
    run.process.wait()
    run.wait_gone()


def damaged(seed):
    """Some bytes of the messages that are kept for others change: the result is right, or a line says why there is none."""
    draw = random.Random(seed)
    tasks, payload, spins = 3, 20000, 300000
    want = undisturbed(tasks, payload, spins)
    ends = []
    for _ in range(2):
        with harness.temporary_directory() as directory:
            saved = ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", "7"]
            with Run(command(tasks, payload, spins, saved)) as run:
                kill_all(run, tasks, 0.4)
            for name in os.listdir(directory):
                if name.startswith("messages-"):
                    with open(directory + "/" + name, "r+b") as f:
                        for at in range(draw.randrange(1 << 16), os.fstat(f.fileno()).st_size, 1 << 16):
                            f.seek(at)
                            f.write(bytes([draw.randrange(256)]))
            with Run(command(tasks, payload, spins, saved, ["--dome-restart=auto"], restarts=0)) as run:
                good = run.wait() == 0
                check(not good or last_line(run) == want.strip().split(b"\n")[-1], "other output: %r; %s" % (run.output()[-300:], run.errors()))
                check(good or "kept by nobody" in run.errors(), run.errors())
                ends.append("right" if good else "a line")
    return ", ".join(ends)


def begun_again(seed):
    """The program is killed with its launcher, and begun again with --dome-restart, some times."""
    draw = random.Random(seed)
    tasks, payload, spins = draw.randint(2, 4), draw.choice([1, 20000, 100000]), 300000
    want = undisturbed(tasks, payload, spins)
    with harness.temporary_directory() as directory:
        saved = ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", str(draw.randint(1, 7))]
        for times in range(draw.randint(1, 4)):
            with Run(command(tasks, payload, spins, saved, ["--dome-restart=auto"])) as run:
                kill_all(run, tasks, 0.1 + draw.random() * 0.5)
        with Run(command(tasks, payload, spins, saved, ["--dome-restart=auto"])) as run:
            check(run.wait() == 0, run.errors())
            check(last_line(run) == want.strip().split(b"\n")[-1], "other output: %r instead of %r; %s" % (run.output()[-300:], want[-300:], run.errors()))
            run.check_clean()
        left = sorted(os.listdir(directory))
        check(len([n for n in left if n.startswith("messages-")]) <= 2 * tasks, "files are left: %r" % left)
        with Run(command(tasks + 1, payload, spins, saved, ["--dome-restart"])) as run:
            check(run.wait() != 0, "another number of tasks: %r" % run.output())
            lines = [line for line in run.errors().splitlines() if line.startswith("dome:")]
            check(len(lines) == 1 and "has no checkpoint of %d tasks by --dome-checkpoint-protocol log" % (tasks + 1) in lines[0], run.errors())
    return "%d tasks, %d words, begun %d times" % (tasks, payload, times + 2)


def refused(what, words):
    with Run(command(3, 1, 1000, more=[what])) as run:
        check(run.wait() == 2, run.errors())
        lines = [line for line in run.errors().splitlines() if line.startswith("dome:")]
        check(len(lines) == 1 and words in lines[0] and "protocol log" in lines[0] and re.search(r"task \d on host", lines[0]), run.errors())
        run.check_clean()


def no_room():
    """Files may not become as long as the messages that are kept."""
    with harness.temporary_directory() as directory:
        words = command(2, 100000, 1000, ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", "1000"])
        with Run(["prlimit", "--fsize=5000000"] + words) as run:
            check(run.wait() != 0, run.output())
            lines = [line for line in run.errors().splitlines() if line.startswith("dome:") and "no room for a message of 800000 bytes" in line]
            check(len(lines) == 1 and "/messages-" in lines[0] and "more frequent checkpoints need less" in lines[0], run.errors())
            run.check_clean()
    return lines[0]


if __name__ == "__main__":
    harness.need_pvm()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 20)
    print("seed %d" % first)
    cases = [("others stay", others_stay, 4), ("a collective", refused, "collective", "dome_barrier: all tasks take part in it"),
             ("a request", refused, "request", "dome_irecv: "), ("no room", no_room), ("all lost", all_lost, "memory:"), ("begun again", begun_again, first),
             ("damaged", damaged, first)]
    cases += [("history %d" % (first + k), history, first + k) for k in range(count)]
    sys.exit(harness.run_all(cases, 2) > 0)
