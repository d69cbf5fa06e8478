"""Messages that are under way at a loop boundary are part of a checkpoint: --dome-checkpoint-protocol snapshot."""

import random
import re
import sys
import time

import harness
from harness import DOME, PROGRAMS, Run, check, wait_until

RING = PROGRAMS + "/under_way"
expectations = {}


def undisturbed(tasks, elements, variant):
    key = (tasks, elements, variant)
    if key not in expectations:
        with Run([DOME, "run", "-n", str(tasks), RING, "%MARKS%", "200", "0", str(elements), variant]) as run:
            check(run.wait() == 0, run.errors())
            expectations[key] = run.output()
    return expectations[key]


def command(tasks, elements, variant, options=(), micro=2000, protocol="snapshot", every=3, directory="memory:", restarts=30):
    return [DOME, "run", "-n", str(tasks), "--restarts", str(restarts), "--max", "4", RING, "%MARKS%", "200", str(micro), str(elements), variant,
            "--dome-checkpoint-dir", directory, "--dome-checkpoint-every", str(every), "--dome-checkpoint-protocol", protocol] + list(options)


def history(seed):
    """Tasks are killed at random; the program goes back to checkpoints, and its result has the same bits."""
    draw = random.Random(seed)
    tasks, elements, variant = draw.randint(2, 4), draw.choice([1, 100, 20000]), draw.choice(["", "ahead"])
    options = draw.choice([[], ["--dome-checkpoint-copy", draw.choice(["wait", "on-write"])], ["--dome-checkpoint-mode", "basic"], ["--on-loss", "restart"]])
    before = [options[0], options[1]] if options[:1] == ["--on-loss"] else []
    words = command(tasks, elements, variant, [] if before else options)
    words[2:2] = before
    with Run(words) as run:
        last, kills = None, 0
        wait_until(lambda: run.process.poll() is not None or len(run.output().split(b"\n")) > 2, "steps")
        for _ in range(draw.randint(1, 4)):
            rank = draw.choice([r for r in range(tasks) if r != last])
            victim = run.rank(rank)
            kills += bool(victim) and harness.kill(victim)
            last = rank
            time.sleep(draw.random() * 0.4)
        check(run.wait() == 0, run.errors())
        check(run.output() == undisturbed(tasks, elements, variant), "other output: %r; %s" % (run.output()[-200:], run.errors()))
        went = re.findall(r"(?:healed|started again) from ((?:checkpoint|the beginning))", run.errors())
        check("left out" not in run.errors(), run.errors())
        run.check_clean()
    return "%d tasks, %d elements, %s: %d kills, %s" % (tasks, elements, variant or "one ahead", kills, ", ".join(went))


def stop_never():
    """Without it such a program never has a checkpoint."""
    with Run(command(2, 10, "", protocol="stop", micro=0)) as run:
        check(run.wait() == 0, run.errors())
        check("checkpoint 1 is left out" in run.errors(), run.errors())


def other_number():
    """Tasks that are not there could not receive them."""
    with harness.temporary_directory() as saved:
        with Run(command(3, 10, "", directory=saved, micro=5000)) as run:
            wait_until(lambda: run.process.poll() is not None or len(run.output().split(b"\n")) > 3, "steps")
            harness.kill(run.pid, harness.signal.SIGTERM)
            run.wait()
        with Run(command(2, 10, "", ["--dome-restart"], directory=saved, restarts=0)) as run:
            check(run.wait() == 2, run.errors())
            check("between 3 tasks: go on with as many, not with 2" in run.errors(), run.errors())
        with Run(command(3, 10, "", ["--dome-restart"], directory=saved, micro=0, restarts=0)) as run:
            check(run.wait() == 0, run.errors())
            check(undisturbed(3, 10, "").endswith(run.output()) and run.output(), run.output())


def request():
    """A request that is open cannot be saved: the checkpoint waits, as always."""
    with Run(command(2, 10, "request", micro=0)) as run:
        check(run.wait() == 0, run.errors())
        check("checkpoint 1 is left out" in run.errors(), run.errors())


if __name__ == "__main__":
    harness.need_pvm()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 20)
    print("seed %d" % first)
    cases = [("never by stop", stop_never), ("another number of tasks", other_number), ("a request is open", request)]
    cases += [("history %d" % (first + k), history, first + k) for k in range(count)]
    sys.exit(harness.run_all(cases, 3) > 0)
