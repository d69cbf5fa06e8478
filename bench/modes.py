"""What checkpoints cost by --dome-checkpoint-mode and --dome-checkpoint-copy, by the library's own account (--dome-profile).

    bench/modes.py BUILD [--rounds N] [--tasks N] [--directory DIR] [--only NAME,NAME]

Programs: md with 40,000 atoms, mmsave (both as in bench/reports/stardust_1.py), a vector and a region of 100 MB of which one element
in 1,000 changes, a vector of 100 MB of which all change. For each it prints a table in Markdown: the time for which the program
stopped for one checkpoint, what the thread took of a processor, bytes in the file, and how long the run was; medians of the
rounds, in which the ways take turns, of all checkpoints but the first. Percent: of the interval of the paper of Stardust."""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

SMALL = ["--cells", "20x20x25", "--thermo", "0", "--steps"]
# The program, its words for so many steps, boundaries between two checkpoints, the paper's interval in seconds (0: none).
PROGRAMS = {
    "md": ("examples/md", lambda steps: SMALL + [str(steps)], 10, 370),
    "mmsave": ("bench/mm/mmsave", lambda steps: ["--rows", "512", "--k", "512", "--products", str(steps)], 2, 438),
    "vector": ("bench/checkpoint_state", lambda steps: ["100", str(steps), "4", "100"], 4, 0),
    "part of a vector": ("bench/checkpoint_state", lambda steps: ["100", str(steps), "4", "10"], 4, 0),
    "region": ("bench/deltas", lambda steps: ["scatter", "12500000", str(steps)], 4, 0),
}
CHECKPOINTS = 6
MODES, COPIES = ("basic", "estimate", "accurate"), ("wait", "pre", "on-write")


def run(options, name, mode, copy, checkpoints):
    """Pauses, the thread's time, bytes, all in seconds or bytes of the whole run; and its time."""
    program, words, every, _ = PROGRAMS[name]
    directory = os.path.join(options.directory, "c")
    shutil.rmtree(directory, ignore_errors=True)
    command = [os.path.join(options.build, program)] + words(every * checkpoints)
    command += ["--dome-tasks", str(options.tasks), "--dome-profile", "--dome-checkpoint-dir", directory, "--dome-checkpoint-every", str(every)]
    command += ["--dome-checkpoint-mode", mode, "--dome-checkpoint-copy", copy]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    found = re.search(r"checkpoints: (\d+) written, 0 failed, ([\d.]+) MB; pauses ([\d.]+) s, .*their thread ([\d.]+) s", done.stderr)
    if done.returncode or not found or int(found.group(1)) != checkpoints:
        sys.exit("modes.py: %s ends with status %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return [float(found.group(k)) for k in (3, 4, 2)]


def measure(options, name, mode, copy):
    """Of one checkpoint but the first: the first is in the shorter run alone."""
    longer, shorter = run(options, name, mode, copy, CHECKPOINTS), run(options, name, mode, copy, 1)
    return [max(a - b, 0) / (CHECKPOINTS - 1) for a, b in zip(longer, shorter)]


def table(options, name):
    found = {}
    for _ in range(options.rounds):
        for mode in MODES:
            for copy in COPIES:
                found.setdefault((mode, copy), []).append(measure(options, name, mode, copy))
    paper = PROGRAMS[name][3]
    print("| %s | the program stops, ms | thread, ms | MB |%s" % (name, " %% of %d s |" % paper if paper else ""))
    print("|---|---:|---:|---:|%s" % ("---:|" if paper else ""))
    for (mode, copy), rounds in found.items():
        pause, thread, megabytes = [statistics.median(r[k] for r in rounds) for k in range(3)]
        cost = pause if copy == "wait" else pause + thread
        share = " %.5f |" % (100 * cost / paper) if paper else ""
        print("| `%s`, `%s` | %.2f | %.2f | %.3f |%s" % (mode, copy, 1e3 * pause, 1e3 * thread, megabytes, share))
    print(flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--directory")
    parser.add_argument("--only", default=",".join(PROGRAMS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as options.directory:
        for name in options.only.split(","):
            table(options, name)


main()
