"""How long it takes until a program that has lost a task computes again, with all values in place: healed, restarted, and without the
lost task (tell), in turns.

    losses.py BUILD MEGABYTES ROUNDS"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HANG = 120


def entries(log):
    try:
        with open(log) as f:
            return [line.split() for line in f if line.endswith("\n")]
    except OSError:
        return []


def wait_for(log, found):
    until = time.monotonic() + HANG
    while time.monotonic() < until:
        value = found(entries(log))
        if value is not None:
            return value
        time.sleep(0.002)
    sys.exit("losses.py: nothing happens: %s" % entries(log)[-3:])


def once(build, megabytes, word):
    """Seconds from the loss to the first step after it."""
    with tempfile.TemporaryDirectory() as directory:
        log = directory + "/log"
        program = subprocess.Popen(
            [build + "/tools/dome", "run", "--restarts", "1", "--on-loss", word, "-n", "2", build + "/bench/elastic", str(megabytes), log,
             "--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "8"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # The checkpoint of step 8 is being written beside the steps after it; that of step 16 waits for it.
            wait_for(log, lambda all: True if any(e[0] == "step" and int(e[1]) >= 20 for e in all) else None)
            victim = [int(e[1]) for e in entries(log) if e[0] == "task"][-1]
            lost = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            return wait_for(log, lambda all: next((float(e[2]) for e in all if e[0] == "begins" and float(e[2]) > lost), None)) - lost
        finally:
            program.send_signal(signal.SIGINT)
            program.wait()


def main():
    build, megabytes, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    times = {"heal": [], "restart": [], "tell": []}
    for _ in range(rounds):
        for word in times:
            times[word].append(once(build, megabytes, word))
    for word, t in times.items():
        print("a task of 2 lost, %d MB, %s: median %.3f s, %.3f to %.3f (%d times)" % (megabytes, word, statistics.median(t), min(t), max(t), len(t)))
    print("heal / restart: median of the rounds' ratios %.2f" % statistics.median(h / r for h, r in zip(times["heal"], times["restart"])))


main()
