"""bench/protocols at sizes at which times mean nothing: every protocol gives the same sum, with and without a loss, and with `log` the lost task
alone computes again."""

import os
import re
import subprocess
import sys

import harness
from harness import check

BUILD = os.environ["DOME_BUILD_DIR"]
BENCH = os.path.join(os.environ["DOME_SOURCE_DIR"], "bench", "protocols")


def quick():
    run = subprocess.run([BENCH, "--quick", "--tasks", "4"], env=harness.clean_environment(), capture_output=True, text=True, timeout=harness.HANG)
    check(run.returncode == 0, "status %d: %s%s" % (run.returncode, run.stdout, run.stderr))
    again = {}
    for protocol, total, lost in re.findall(r"^(stop|snapshot|log) +[\d.]+ +[\d.]+ +[\d.]+ +(\d+) +(\d+)$", run.stdout, re.MULTILINE):
        again[protocol] = int(total), int(lost)
    check(set(again) == {"stop", "snapshot", "log"}, run.stdout)
    for protocol, (total, lost) in again.items():
        check(lost > 0, "with %s task 1 has computed nothing again: %s" % (protocol, run.stdout))
        check((total == lost) == (protocol == "log"), "with %s: %s" % (protocol, run.stdout))
    check(len(re.findall(r"^log: .*[\d.]+", run.stdout, re.MULTILINE)) == 4, run.stdout)
    return ", ".join("%s: %d steps again" % (protocol, total) for protocol, (total, _) in sorted(again.items()))


if __name__ == "__main__":
    harness.need_pvm()
    if not os.access(os.path.join(BUILD, "bench", "protocols"), os.X_OK):
        print("skipped: bench/protocols was not built")
        sys.exit(77)
    sys.exit(harness.run_all([("bench/protocols --quick", quick)], 1) > 0)
