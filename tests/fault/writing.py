"""Programs that end in the middle of dvec_write: the file is the one before or the new one, and nothing is beside it.

    writing.py [ENDS [SEED]]

Three tasks write a vector again and again, until a task is killed, or the hub is, or SIGTERM comes, at any moment. The file has a
hidden name for some microseconds, when it takes the place of the one before: one end may hit that."""

import os
import random
import shutil
import signal
import sys
import tempfile
import time

import harness
from harness import PROGRAMS, Run, check, kill, wait_until

BYTES = 128 + 100000 * 8
hit = []


def can_do_without_names(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
    except OSError:
        return False
    return True


def case(who, moment):
    base = tempfile.mkdtemp(prefix="dome-left.", dir=harness.short_parent())
    try:
        os.mkdir(base + "/w")
        with Run([PROGRAMS + "/worker", "%MARKS%", "0", "write", base + "/w/x.npy", "--dome-tasks", "3"]) as r:
            folder = base + "/w"
            r.wait_marks("there", 3)
            wait_until(lambda: os.path.exists(folder + "/x.npy") or r.process.poll() is not None, "the first file")
            time.sleep(moment)
            hub = who in ("hub", "SIGTERM")
            kill(r.pid if hub else r.rank(int(who)), signal.SIGTERM if who == "SIGTERM" else signal.SIGKILL)
            r.wait()
            r.wait_gone()
            left = [name for name in os.listdir(folder) if name != "x.npy"]
            hit.extend(left)
            check(len(hit) <= 1, "left: " + ", ".join(hit))
            with open(folder + "/x.npy", "rb") as f:
                content = f.read()
            check(len(content) == BYTES and content[:6] == b"\x93NUMPY", "the file is not whole: %d bytes" % len(content))
    finally:
        shutil.rmtree(base, ignore_errors=True)


def main():
    ends = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    harness.need_pvm()
    if not can_do_without_names(harness.short_parent()):
        harness.skip("the file system for temporary files has none without a name")
    draw = random.Random(seed)
    print("seed %d" % seed)
    cases = []
    for k in range(ends):
        who = ("0", "1", "SIGTERM", "hub")[k % 4]
        cases.append(("%d: %s ends it" % (k, who), case, who, draw.uniform(0, 0.2)))
    return 1 if harness.run_all(cases, 3) else 0


sys.exit(main())
