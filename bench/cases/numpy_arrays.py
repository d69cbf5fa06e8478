"""The operations of arrays.c in NumPy: numpy_arrays.py N [SECONDS]. Results go into an array that is there, as Dome's do."""
import resource
import sys
import time

import numpy

TURN = 0.3  # seconds: long enough for the system's clock of user time


def user():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def measure(name, run, budget):
    start = time.perf_counter()
    run()
    once = time.perf_counter() - start
    repeats = int(TURN / once) + 1 if once < TURN else 1
    times = []
    for _ in range(min(max(int(budget / (once * repeats)), 3), 64)):
        begin = user()
        for _ in range(repeats):
            run()
        times.append((user() - begin) / repeats)
    print(name, *("%.9g" % t for t in times))


if __name__ == "__main__":
    n = int(float(sys.argv[1]))
    budget = float(sys.argv[2]) if len(sys.argv) > 2 else 3
    random = numpy.random.default_rng(1)
    x, z, index = 1 + random.random(n), numpy.zeros(n), random.integers(0, n, n)
    with numpy.errstate(over="ignore"):
        measure("scan", lambda: numpy.cumsum(x, out=z), budget / 3)
        measure("cumprod", lambda: numpy.cumprod(x, out=z), budget / 3)
        measure("gather", lambda: numpy.take(x, index, out=z, mode="clip"), budget / 4)
        measure("gather-new", lambda: x[index], budget / 4)
