"""How large incremental checkpoints are beside the bytes that have changed: runs bench/deltas.c and measures its files.

    bench/deltas.py BUILD [--megabytes N] [--checkpoints N] [--tasks N] [--directory DIR]

For each way of writing it prints a line: how many bytes have changed between two checkpoints, how many the file of the second has
(head, windows and deltas; the median of all but the first), their ratio with the target, the same with --dome-checkpoint-deltas off,
and how long the tasks stopped. Then a chain is read again, and its data compared."""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

TARGETS = {"scatter": 1.5, "runs": 1.05}


def run(build, arguments):
    done = subprocess.run([os.path.join(build, "bench/deltas")] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        sys.exit("deltas.py: deltas %s ends with status %d: %s" % (" ".join(arguments), done.returncode, done.stderr))
    return done.stdout


def measure(options, how, elements, deltas):
    """Bytes changed, bytes of the files, pauses, of all but the first checkpoint; the last line of the program."""
    directory = os.path.join(options.directory, "c")
    shutil.rmtree(directory, ignore_errors=True)
    keep = ["--dome-tasks", str(options.tasks), "--dome-checkpoint-dir", directory, "--dome-checkpoint-every", "1", "--dome-checkpoint-keep", "99"]
    text = run(options.build, [how, str(elements), str(options.checkpoints)] + keep + ["--dome-checkpoint-deltas", deltas])
    rows = re.findall(r"changed (\d+) pause ([\d.]+)", text)[1:]
    files = sorted(name for name in os.listdir(directory) if name.endswith(".dckpt"))[1:]
    if len(files) != len(rows):
        sys.exit("deltas.py: %d files of %d checkpoints" % (len(files), len(rows)))
    sizes = [os.path.getsize(os.path.join(directory, name)) for name in files]
    again = run(options.build, [how, str(elements), str(options.checkpoints)] + keep + ["--dome-restart"])
    if again.splitlines()[-1] != text.splitlines()[-1]:
        sys.exit("deltas.py: after a restart %s, and not %s" % (again.splitlines()[-1], text.splitlines()[-1]))
    return statistics.median(int(r[0]) for r in rows), statistics.median(sizes), statistics.median(float(r[1]) for r in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--checkpoints", type=int, default=6)
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--directory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as options.directory:
        for how in ("scatter", "runs", "one", "all"):
            elements = options.megabytes * 125000
            changed, with_deltas, pause = measure(options, how, elements, "auto")
            _, without, pause_without = measure(options, how, elements, "off")
            target = " (target %.2f: %s)" % (TARGETS[how], "reached" if with_deltas <= TARGETS[how] * changed else "missed") if how in TARGETS else ""
            print("%s: %d bytes changed, %d written: ratio %.3f%s; without deltas %d: ratio %.1f; the tasks stopped for %.3f s, without deltas %.3f s"
                  % (how, changed, with_deltas, with_deltas / changed, target, without, without / changed, pause, pause_without), flush=True)


main()
