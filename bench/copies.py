"""What checkpoints in memory cost a program that may lose a task: md with 100,000 particles, with and without, in turns.

    copies.py BUILD ROUNDS [STEPS]

The share is that of the profile: the pauses of task 0, its part in agreeing, and the processor time of the thread that writes, over
the time of the run. The ratio of times shows the same only where nothing else runs."""

import os
import re
import statistics
import subprocess
import sys
import time

PARTICLES = ["--cells", "25x25x40"]


def once(build, steps, options):
    """Seconds, and what the profile says of checkpoints: their number, pauses, agreeing, cost of one and interval."""
    begin = time.monotonic()
    done = subprocess.run([build + "/tools/dome", "run", "--restarts", "1", "-n", "2", build + "/examples/md", "--steps", steps, "--thermo", steps] + PARTICLES +
                          ["--dome-profile"] + options, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
    seconds = time.monotonic() - begin
    if done.returncode:
        sys.exit("copies.py: md ends with status %d: %s" % (done.returncode, done.stderr[-500:]))
    found = re.search(r"checkpoints: (\d+) written, 0 failed, .*pauses ([\d.]+) s, .*agreeing on them ([\d.]+) s; one costs ([\d.]+) s, every ([\d.]+) s", done.stderr)
    if options and not found:
        sys.exit("copies.py: the profile says nothing of checkpoints: %s" % done.stderr[-500:])
    return seconds, [float(x) for x in found.groups()] if found else None


def main():
    build, rounds, steps = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "300"
    times, ratios, shares, costs, intervals, written = [], [], [], [], [], []
    for k in range(rounds):
        pair = {}
        for options in ([], ["--dome-checkpoint-dir", "memory:"])[:: 1 if k % 2 else -1]:
            pair[len(options)] = once(build, steps, options)
        seconds, (count, _, agreeing, cost, interval) = pair[2]
        times.append(seconds)
        ratios.append(seconds / pair[0][0])
        shares.append((count * cost + agreeing) / seconds)
        costs.append(cost)
        intervals.append(interval)
        written.append(count)
    middle = statistics.median
    print("checkpoints in memory, md, 100,000 particles, interval auto, runs of %.0f s: %.2f %% of the time (%.2f to %.2f, %d times); one costs %.1f ms, "
          "%d in a run, every %.1f s; times with and without: median of the ratios %.3f, %.3f to %.3f"
          % (middle(times), 100 * middle(shares), 100 * min(shares), 100 * max(shares), rounds, 1000 * middle(costs), middle(written), middle(intervals),
             middle(ratios), min(ratios), max(ratios)))


main()
