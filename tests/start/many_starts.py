"""Starts and ends of a small program of four tasks, many and side by side.

    many_starts.py [COUNT [AT-ONCE [TASKS]]]"""

import os
import sys
import time


import concurrent.futures
import harness
from harness import PROGRAMS, Run


def one(number, tasks):
    with Run([PROGRAMS + "/starter", "sum", "--dome-tasks", str(tasks)]) as run:
        try:
            status = run.wait()
            run.check_clean()
            harness.check(status == 0, "status %d: %s" % (status, "; ".join(run.lines())))
            harness.check(run.output() == b"%d tasks, sum 500\n" % tasks, "output %r" % run.output())
            harness.check(not run.lines(), " | ".join(run.lines()))
        except harness.Failure as e:
            print("FAILED start %d: %s" % (number, e), flush=True)
            return 1
    return 0


if __name__ == "__main__":
    harness.need_pvm()
    count, at_once, tasks = ([int(a) for a in sys.argv[1:]] + [100, 8, 4][len(sys.argv) - 1 :])[:3]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        failed = sum(pool.map(one, range(count), [tasks] * count))
    print("%d of %d starts failed; %d at a time, %d tasks each, %.1f s" % (failed, count, at_once, tasks, time.monotonic() - begin))
    sys.exit(1 if failed else 0)
