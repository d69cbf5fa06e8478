"""Whole processes in turns: for the cases that compare programs which do not time themselves."""
import os
import subprocess
import sys
import time

EXAMPLES = os.path.join(os.environ["DOME_BENCH_BUILD"], "examples")
LEAST, MOST = 2, 9  # turns


def print_times(rivals, seconds, directory):
    """rivals: {name: command}. Runs all in turns, for about so many seconds each, and prints the times of each as bench/run reads them."""
    times = {name: [] for name in rivals}
    begin = time.perf_counter()
    for turn in range(MOST):
        if turn >= LEAST and time.perf_counter() - begin >= len(rivals) * seconds:
            break
        for name, command in rivals.items():
            start = time.perf_counter()
            done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            times[name].append(time.perf_counter() - start)
            if done.returncode:
                sys.exit("%s: status %d\n%s%s" % (name, done.returncode, done.stdout, done.stderr))
    for name, t in times.items():
        print(name, *("%.6g" % s for s in t))
