"""CAPE, Table 4.1."""

import glob
import os
import re
import shutil
import subprocess

from reporting import cape as C
from reporting.parts import Failed, Part, Table, Unable, run_command
from reporting.rounds import ranged

TITLE = "CAPE, Table 4.1: what the NAS benchmarks use of OpenMP"
SOURCE = "%s, section 4.4.1, Table 4.1" % C.THESIS
WHAT = """How often the eight NAS parallel benchmarks use each directive: the reason why CAPE has `parallel for` before all. CAPE ran none of them."""
PUBLISHED_TEXT = "counts, from another work."
CODES = ("BT", "CG", "EP", "FT", "IS", "LU", "MG", "SP")
COUNTS = {"parallel": (2, 2, 1, 2, 2, 3, 5, 2), "for": (54, 21, 1, 6, 1, 29, 11, 70), "parallel for": (0, 3, 0, 0, 0, 0, 1, 0),
          "master": (2, 2, 1, 10, 4, 2, 1, 2), "single": (0, 12, 0, 5, 0, 2, 10, 0), "critical": (0, 0, 1, 1, 1, 1, 1, 0),
          "barrier": (0, 0, 0, 1, 2, 3, 1, 3), "flush": (0, 0, 0, 0, 0, 6, 0, 0), "threadprivate": (0, 0, 1, 0, 0, 0, 0, 0)}
PUBLISHED = Table([""] + list(CODES), [["`%s`" % name] + [str(c or "") for c in row] for name, row in COUNTS.items()])


def count(folder):
    """Directives of the program's files: the construct's words up to the first clause."""
    found = dict.fromkeys(COUNTS, 0)
    for path in glob.glob(os.path.join(folder, "*.c")) + glob.glob(os.path.join(folder, "*.h")):
        with open(path, errors="replace") as file:
            for line in re.findall(r"^\s*#\s*pragma\s+omp\s+(.*)$", file.read(), re.M):
                name = next((n for n in sorted(COUNTS, key=len, reverse=True) if re.match(n.replace(" ", r"\s+") + r"\b", line)), None)
                if name:
                    found[name] += 1
    return found


def run(context):
    """Counts, and runs class S on two tasks; the folder has a clone of NPB3.0-omp-C, which is no part of Dome."""
    suite = os.path.join(os.environ.get("SUITES", ""), "NPB3.0-omp-C")
    compiler = os.path.join(context.build, "tools/dome-omp")
    if not os.path.isdir(suite) or not os.path.exists(compiler):
        raise Unable("SUITES is to name a folder with a clone of NPB3.0-omp-C")
    tree = os.path.join(context.work, "npb")
    shutil.copytree(suite, tree, ignore=shutil.ignore_patterns(".git"))
    os.makedirs(os.path.join(tree, "bin"), exist_ok=True)
    with open(os.path.join(tree, "config/make.def"), "w") as file:
        file.write("CC = %s\nCLINK = %s\nC_LIB = -lm\nC_INC = -I../common\nCFLAGS = -O3\nCLINKFLAGS = -O3\nUCC = cc -O\nBINDIR = ../bin\nRAND = randdp\nWTIME = wtime.c\n" %
                   (compiler, compiler))
    name = context.item.lower()
    run_command(["make", "-C", tree, name, "CLASS=S"])
    os.environ["OMP_NUM_THREADS"] = "4"
    try:
        out = run_command([os.path.join(context.build, "tools/dome"), "run", "-n", "2", os.path.join(tree, "bin", name + ".S")])
    except subprocess.SubprocessError as error:
        raise Failed(str(error))
    return {**count(os.path.join(tree, context.item)), "verified": int(bool(re.search("Verification +=? *SUCCESSFUL", out)))}


PART = Part("cape-directives", 1, list(CODES), 20, run, targets=("bench_cape",))
PARTS = [PART]
DIFFERS = ["Counted in NPB3.0-omp-C, a translation into C; the published counts are of other sources. It is fetched, and `SUITES` names its folder.",
           "*verified*: class S with four threads on two tasks of one machine checks its own result."]
NO_CLAIMS = "Counts say what programs use, not how well a system does. CAPE had no template for `critical`, `barrier` and `flush`."


def condense(r):
    rows = [["`%s`" % name] + [ranged(r.values(PART.key, code, name), "%.0f") for code in CODES] for name in COUNTS]
    verified = ["-" if not r.values(PART.key, code, "verified") else "yes" if all(r.values(PART.key, code, "verified")) else "**no**" for code in CODES]
    return [Table([""] + list(CODES), rows + [["verified on two tasks"] + verified])]


def claims(r):
    return []
