"""Kills that come at any moment, and a result that does not change by a bit.

    kill_test.py [KILLS [SEED [PROGRAM...]]]

md, cg and heat run under `dome run --restarts` and write checkpoints all the time, half of the runs in memory. Processes of theirs are
killed at random moments, at the start, while writing, while restarting; each run goes on until it ends. Then its final output has to
be that of a run that nobody disturbed. Most of the kills hit a task; some the hub, the daemon or the guard. With a seed, who is chosen
and when is the same again, as far as the machine's pace is."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import harness
from harness import DOME, Run, awake, check

EXAMPLES = os.path.join(os.path.abspath(harness.BUILD), "examples")
MEAN = 0.4  # seconds from one kill to the next
TASKS = 3


def laplacian(path, side):
    """A symmetric matrix of the five-point stencil, in Matrix Market format."""
    n = side * side
    lines = []
    for k in range(n):
        lines.append("%d %d 4.0005" % (k + 1, k + 1))
        if k % side:
            lines.append("%d %d -1" % (k + 1, k))
        if k >= side:
            lines.append("%d %d -1" % (k + 1, k + 1 - side))
    with open(path, "w") as f:
        f.write("%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n%s\n" % (n, n, len(lines), "\n".join(lines)))


def programs(base):
    """name: (arguments, file that it writes or None, boundaries from one checkpoint to the next, lines at the end that count)"""
    matrix = os.path.join(base, "laplacian.mtx")
    laplacian(matrix, 150)
    result = os.path.join(base, "heat")
    return {
        "md": (["--cells", "6", "--steps", "250"], None, 3, 1),
        "cg": (["--tolerance", "1e-12", "--max-iterations", "5000", matrix], None, 4, 3),
        "heat": (["--rows", "200", "--columns", "200", "--steps", "1200", "--output", result], result + ".npy", 10, 1),
    }


def final(output, path, count):
    """What counts in the end: the last lines, and the file. Lines before them may have come twice."""
    data = b""
    if path:
        with open(path, "rb") as f:
            data = f.read()
        os.unlink(path)
    return output.rstrip(b"\n").split(b"\n")[-count:], data


def targets(run, name):
    tasks, others = [], []
    for p in run.processes():
        if p.name == name:
            tasks.append(p.pid)
        elif p.pid != run.pid:
            others.append(p.pid)
    return tasks, others


def memory_of(pid):
    """Where checkpoints in memory are."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as f:
            found = [v for v in f.read().split(b"\0") if v.startswith(b"DOME_MEMORY=")]
    except OSError:
        return None
    return found[0].split(b"=")[1].decode() if found else None


def one_run(name, base, chance, kills_left, number):
    """Disturbs one run until it ends; the number of kills, and of restarts by hand."""
    arguments, path, every, count = programs_of[name]
    saved = "memory:" if number % 4 >= 2 else os.path.join(base, "saved")
    memory = None
    restart, kills, by_hand = [], 0, 0
    output = b""
    while True:
        command = [DOME, "run", "--restarts", "1000", "-n", str(TASKS), os.path.join(EXAMPLES, name)] + arguments
        command += ["--dome-checkpoint-dir", saved, "--dome-checkpoint-every", str(every)] + restart
        with Run(command, cwd=base) as run:
            while run.process.poll() is None:
                until = time.monotonic() + chance.expovariate(1 / MEAN)
                pick, role = chance.random(), chance.random()
                while run.process.poll() is None and time.monotonic() < until:
                    time.sleep(0.005)
                check(awake() - run.began < 600, "%s hangs: %s" % (name, run.describe()))
                if run.process.poll() is not None or kills >= kills_left:
                    continue
                tasks, others = targets(run, name)
                memory = memory or (tasks and memory_of(tasks[0]))
                among = sorted(others) if role < 0.1 and others else sorted(tasks)
                if among and harness.kill(among[int(pick * len(among))]):
                    kills += 1
            status = run.wait()
            run.check_clean()
            check(not memory or not os.path.exists(memory), "%s: %s is left" % (name, memory))
            output += run.output()
            lines = run.lines()
            if status == 0:
                break
            # Kills at the same place three times: by chance here, and for dome run a program that cannot go on.
            check("same place 3 times" in run.errors(), "%s: status %d: %s" % (name, status, " | ".join(lines[-4:])))
            by_hand += 1
            restart = ["--dome-restart=auto"]
    # Rank 0 says that itself when the hub is killed while it starts.
    # If another loss or failure ends the healing, a later line says what was done.
    done = [k for k, l in enumerate(lines)
            if "; started again" in l or "; healed from " in l or "cannot reach the process that watches" in l]
    bad = [l for k, l in enumerate(lines)
           if k not in done and not ((" is lost: " in l or "ended before it joined" in l) and done and k < done[-1])]
    check(not bad, "%s: unexpected: %s" % (name, " | ".join(bad[:4])))
    left = sorted(n for n in (os.listdir(saved) if os.path.isdir(saved) else ()) if not n.endswith(".dckpt") and n not in ("lock", "run"))
    check(not left, "%s: in the directory of checkpoints: %s" % (name, ", ".join(left)))
    got = final(output, path, count)
    if got != expected[name]:
        raise harness.Failure("%s, run %d: %r instead of %r%s" % (name, number, got[0], expected[name][0], "" if got[1] == expected[name][1] else ", and the files differ"))
    missing = [l for l in lines_of[name] if l not in output.split(b"\n")]
    check(not missing, "%s, run %d: lines are missing: %r" % (name, number, missing[:3]))
    shutil.rmtree(saved, ignore_errors=True)
    return kills, by_hand


def undisturbed(name, base):
    arguments, path, _, count = programs_of[name]
    with Run([os.path.join(EXAMPLES, name)] + arguments + ["--dome-transport", "self"], cwd=base) as run:
        check(run.wait() == 0, "%s: %s" % (name, run.errors()))
        output = run.output()
        lines_of[name] = [l for l in output.split(b"\n") if l]
        expected[name] = final(output, path, count)


expected, lines_of, programs_of = {}, {}, {}


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1000000)
    names = sys.argv[3:] or ["md", "cg", "heat"]
    print("%d kills, seed %d" % (kills, seed), flush=True)
    base = tempfile.mkdtemp(prefix="dome-kill.", dir=harness.short_parent())
    began = time.monotonic()
    try:
        programs_of.update(programs(base))
        for name in names:
            undisturbed(name, base)
        chance = random.Random(seed)
        done = runs = by_hand = 0
        while done < kills:
            name = names[runs % len(names)]
            most = max(-(-kills // len(names)), 1) if kills <= 30 else 40
            more, hand = one_run(name, base, chance, min(most, kills - done), runs)
            done, runs, by_hand = done + more, runs + 1, by_hand + hand
            print("%-5s %3d kills, %d in all, %.0f s" % (name, more, done, time.monotonic() - began), flush=True)
            if more == 0 and runs > 50 * (done + 1):
                raise harness.Failure("runs end before they can be killed")
    except harness.Failure as e:
        print("FAILED: %s (seed %d)" % (e, seed))
        return 1
    finally:
        shutil.rmtree(base, ignore_errors=True)
    print("%d kills in %d runs, %d times started again by hand: each ended with the same bits; %.0f s" % (done, runs, by_hand, time.monotonic() - began))
    return 0


if __name__ == "__main__":
    harness.need_pvm()
    if not os.path.exists(os.path.join(EXAMPLES, "md")):
        harness.skip("the examples are not built")
    sys.exit(main())
