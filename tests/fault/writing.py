"""Programs that end in the middle of dvec_write: the file is the one before or the new one. A Zarr array is whole, too. A hidden file or
folder may be beside it, which the next program that writes there removes.

    writing.py [ENDS [SEED]]

Three tasks write a vector again and again, until a task is killed, or the hub is, or SIGTERM comes, at any moment. The file has a
hidden name for some microseconds, when it takes the place of the one before, and some ends hit that."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import harness
from harness import PROGRAMS, Run, check, kill, wait_until

BYTES = 128 + 100000 * 8


def can_do_without_names(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
    except OSError:
        return False
    return True


def with_zarr():
    with open(os.path.join(harness.BUILD, "CMakeCache.txt")) as f:
        return "JANSSON_FOUND:INTERNAL=1" in f.read()


def check_file(folder):
    with open(folder + "/x.npy", "rb") as f:
        content = f.read()
    check(len(content) == BYTES and content[:6] == b"\x93NUMPY", "the file is not whole: %d bytes" % len(content))
    left = sorted(os.listdir(folder))
    left.remove("x.npy")
    check(all(re.fullmatch(r"\.dome-new-\d+-\d+", name) for name in left) and len(left) <= 1, "left: " + ", ".join(left))
    check_next_writer(folder, "npy")


def check_next_writer(folder, ending):
    """It can read what is there, and leaves nothing but what it writes."""
    x, y = "x." + ending, "y." + ending
    done = subprocess.run([PROGRAMS + "/convert", folder + "/" + x, folder + "/" + y, "0", "--dome-transport", "self"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(done.returncode == 0 and "failed" not in done.stdout, "%s cannot be read: %s" % (x, done.stdout))
    left = sorted(os.listdir(folder))
    check(left == [x, y], "left: " + ", ".join(left))


def check_array(folder):
    files = {name: os.path.getsize(folder + "/x.zarr/" + name) for name in os.listdir(folder + "/x.zarr")}
    files.pop(".zarray", None)
    check(files == {str(k): 40000 for k in range(20)}, "the array is not whole: %s" % files)
    check_next_writer(folder, "zarr")


def case(who, moment, name):
    base = tempfile.mkdtemp(prefix="dome-left.", dir=harness.short_parent())
    try:
        os.mkdir(base + "/w")
        with Run([PROGRAMS + "/worker", "%MARKS%", "0", "write" if name == "x.npy" else "chunks", base + "/w/" + name, "--dome-tasks", "3"]) as r:
            folder = base + "/w"
            r.wait_marks("there", 3)
            wait_until(lambda: os.path.exists(folder + "/" + name) or r.process.poll() is not None, "the first file")
            time.sleep(moment)
            hub = who in ("hub", "SIGTERM")
            kill(r.pid if hub else r.rank(int(who)), signal.SIGTERM if who == "SIGTERM" else signal.SIGKILL)
            r.wait()
            r.wait_gone()
            (check_file if name == "x.npy" else check_array)(folder)
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
        cases.append(("%d: %s ends it" % (k, who), case, who, draw.uniform(0, 0.2), "x.npy"))
        if with_zarr() and k % 2 == 0:
            cases.append(("%d: %s ends it while an array is written" % (k, who), case, who, draw.uniform(0, 0.2), "x.zarr"))
    return 1 if harness.run_all(cases, 3) else 0


sys.exit(main())
