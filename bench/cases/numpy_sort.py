"""sort.c in NumPy: numpy_sort.py N [SECONDS]"""
import sys
import time

import numpy

n = int(float(sys.argv[1]))
budget = float(sys.argv[2]) if len(sys.argv) > 2 else 3
x = 1 + numpy.random.default_rng(1).random(n)
numpy.sort(x[: n // 8])
times, begin = [], time.perf_counter()
while len(times) < 3 or (time.perf_counter() - begin < budget and len(times) < 64):
    start = time.perf_counter()
    numpy.sort(x)
    times.append(time.perf_counter() - start)
print("numpy", *("%.9g" % t for t in times))
