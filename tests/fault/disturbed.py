"""Examples that grow, shrink and lose tasks at random: their output is that of one task which nobody disturbs, byte for byte.

    disturbed.py [COUNT [SEED [PART-OF-A-NAME]]]

COUNT: programs of each kind."""

import os
import random
import subprocess
import sys
import time

import harness
from harness import BUILD, DOME, Run, check

EXAMPLES = os.path.join(os.path.abspath(BUILD), "examples")
expected = {}
total = {}  # by name: kills times changes


def laplacian(path, n):
    """The matrix of a grid of n by n points."""
    entries = ["%d %d 4" % (k, k) for k in range(1, n * n + 1)]
    entries += ["%d %d -1" % (k + 1, k) for k in range(1, n * n) if k % n]
    entries += ["%d %d -1" % (k + n, k) for k in range(1, n * n - n + 1)]
    with open(path, "w") as f:
        f.write("%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n" % (n * n, n * n, len(entries)))
        f.write("\n".join(entries) + "\n")


def arguments_of(name, base):
    return {
        "md": ["--cells", "5", "--steps", "1500"],
        "cg": ["--tolerance", "1e-12", "--max-iterations", "5000", base + "/grid.mtx"],
        "heat": ["--rows", "200", "--columns", "200", "--steps", "5000", "--output", "%MARKS%/result"],
        "lists": ["--rounds", "6000"],
        "particles": ["--particles", "3000", "--steps", "300"],
    }[name]


def result(run):
    """Its output and its files."""
    files = []
    for name in sorted(os.listdir(run.marks)):
        with open(os.path.join(run.marks, name), "rb") as f:
            files.append((name, f.read()))
    return run.output(), files


def one_task(name, base):
    if name not in expected:
        with Run([EXAMPLES + "/" + name] + arguments_of(name, base) + ["--dome-transport", "self"]) as run:
            check(run.wait() == 0, "one task: " + run.errors())
            expected[name] = result(run)
    return expected[name]


def tasks_of(run):
    daemon = run.daemon()
    return [p.pid for p in run.processes() if daemon and p.parent == daemon]


def one(name, base, seed):
    draw = random.Random("%s:%d" % (name, seed))
    want = one_task(name, base)
    command = [DOME, "run", "--restarts", "60", "-n", str(draw.randint(2, 4)), "--min", "1", "--max", "6", EXAMPLES + "/" + name]
    with Run(command + arguments_of(name, base) + ["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "7"]) as run:
        kills = changes = 0
        killing = harness.Kills(run)
        while run.process.poll() is None and kills + changes < 14:
            if changes > 0 and draw.random() < 0.5:
                kills += killing.one_of(tasks_of(run), draw.random())
                time.sleep(draw.random() * 0.3)
            else:
                program = harness.shown(run)
                order = [DOME, draw.choice(("grow", "shrink")), str(program["pid"] if program else 0), "-n", str(draw.randint(1, 3))]
                done = subprocess.run(order, env=harness.clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, timeout=harness.HANG)
                if done.returncode == 0:
                    changes += 1
                    killing.changed()
        status = run.wait()
        check(status == 0, "status %s: %s" % (status, run.errors()))
        check(result(run) == want, "other output: %r" % run.output()[-300:])
        total[name] = total.get(name, 0) + kills * changes
        run.check_clean()
        return "%d changes, %d kills" % (changes, kills)


if __name__ == "__main__":
    harness.need_pvm()
    if not os.path.exists(EXAMPLES + "/md"):
        harness.skip("the examples are not built")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 20)
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    print("seed %d" % first)
    with harness.temporary_directory() as shared:
        laplacian(shared + "/grid.mtx", 150)
        names = [n for n in ("md", "cg", "heat", "particles", "lists") if part in n]
        failed = harness.run_all([("%s %d" % (n, first + k), one, n, shared, first + k) for k in range(count) for n in names], 2)
    short = [n for n in names if not total.get(n)]
    if short:
        print("never changed and lost a task in one run: " + ", ".join(short))
    sys.exit(failed > 0 or bool(short))
