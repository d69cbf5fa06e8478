"""Counts the instructions of the hot paths (hot_paths.c) with callgrind and compares them with hot_paths.figures. Time is noisy; these
counts are not. They depend on the compiler, so the figures are those of one.

    hot_paths.py             fails where a path has become longer than its figure and the tolerance
    hot_paths.py --update    writes the figures anew: after a change that is worth it, with a word in the commit"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = os.environ["DOME_BUILD_DIR"], os.environ["DOME_SOURCE_DIR"]
FIGURES = os.path.join(SOURCE, "tests", "counts", "hot_paths.figures")
PROGRAM = os.path.join(BUILD, "tests", "counts", "hot_paths")
TOLERANCE = 0.03  # of paths over many values; calls on a few values may be a little longer
SMALL_TOLERANCE = 0.10


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def cached(name):
    with open(os.path.join(BUILD, "CMakeCache.txt")) as f:
        for line in f:
            if line.startswith(name + ":"):
                return line.split("=", 1)[1].strip()
    return ""


def compiler():
    """What the counts depend on, in one line."""
    command = cached("CMAKE_C_COMPILER")
    version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    macros = subprocess.run([command, "-dM", "-E", "-xc", os.devnull], capture_output=True, text=True).stdout
    kind = "clang" if "__clang__" in macros else "gcc"
    machine = "x86_64" if "__x86_64__" in macros else os.uname().machine
    number = re.search(r"__clang_major__ (\d+)" if kind == "clang" else r"__GNUC__ (\d+)", macros)
    build = cached("CMAKE_BUILD_TYPE") or "RelWithDebInfo"
    if not number:
        skip("the version of the compiler is not known: %s" % version)
    return "%s %s %s %s" % (kind, number.group(1), machine, build)


def count(valgrind):
    """{path: instructions}."""
    directory = tempfile.mkdtemp(prefix="dome-counts.")
    try:
        done = subprocess.run([valgrind, "--tool=callgrind", "--callgrind-out-file=%s/out" % directory, PROGRAM, "--dome-transport",
                               "self", "--dome-kernels", "baseline", "--dome-evaluator", "fused"], capture_output=True, text=True)
        if done.returncode:
            sys.exit("hot_paths: status %d\n%s%s" % (done.returncode, done.stdout, done.stderr))
        if done.stdout.split()[0] != "1":
            skip("valgrind's header callgrind.h was not there when this was built")
        counts, number = {}, 1
        while os.path.exists("%s/out.%d" % (directory, number)):
            with open("%s/out.%d" % (directory, number)) as f:
                text = f.read()
            name = re.search(r"^desc: Trigger: Client Request: (\S+)", text, re.M)
            total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
            if name and total:
                counts[name.group(1)] = int(total.group(1))  # a later pass, which is warm, replaces an earlier one
            number += 1
        return counts
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main():
    if cached("DOME_SANITIZE"):
        skip("sanitizers change what is counted")
    valgrind = shutil.which("valgrind")
    if not valgrind:
        skip("valgrind is not installed")
    now = compiler()
    with open(FIGURES) as f:
        lines = [line.split("#")[0].strip() for line in f]
    made_by = next(line for line in lines if line)
    if now != made_by and "--update" not in sys.argv:
        skip("the figures are those of %s, and this was built by %s" % (made_by, now))
    counts = count(valgrind)
    if not counts:
        sys.exit("hot_paths: callgrind has written nothing")
    if "--update" in sys.argv:
        with open(FIGURES, "w") as f:
            f.write("# Instructions of the paths in hot_paths.c, by what built them; hot_paths.py --update writes this.\n%s\n" % now)
            f.writelines("%s %d\n" % item for item in counts.items())
        return
    figures = {line.split()[0]: int(line.split()[1]) for line in lines if line and line != made_by}
    if set(figures) != set(counts):
        sys.exit("hot_paths: there are figures for %s, and counts for %s" % (sorted(figures), sorted(counts)))
    longer = []
    print("%-18s %12s %12s %8s" % ("path", "figure", "now", "change"))
    for name, figure in figures.items():
        change = counts[name] / figure - 1
        print("%-18s %12d %12d %+7.2f%%" % (name, figure, counts[name], 100 * change))
        if change > (SMALL_TOLERANCE if name.startswith("small.") else TOLERANCE):
            longer.append(name)
        elif change < -TOLERANCE:
            print("  shorter: hot_paths.py --update keeps it so")
    if longer:
        sys.exit("longer than before by more than %g %% (small: %g %%): %s" % (100 * TOLERANCE, 100 * SMALL_TOLERANCE, ", ".join(longer)))


main()
