"""chain.c in NumPy: numpy_chain.py N [SECONDS]"""
import sys
import time

import numpy

n = int(float(sys.argv[1]))
budget = float(sys.argv[2]) if len(sys.argv) > 2 else 3
random = numpy.random.default_rng(1)
a, b, c = (1 + random.random(n) for _ in range(3))


def chain():
    return (numpy.sqrt(a * a + b * b) * c - a / b + b / 2).sum()


repeats = max(1, 4000000 // max(n, 1))
chain()
times, begin = [], time.perf_counter()
while len(times) < 3 or (time.perf_counter() - begin < budget and len(times) < 64):
    start = time.perf_counter()
    for _ in range(repeats):
        chain()
    times.append((time.perf_counter() - start) / repeats)
print("numpy", *("%.9g" % t for t in times))
