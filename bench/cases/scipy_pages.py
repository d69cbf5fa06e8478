"""A step of pagerank as in sparse.c, by SciPy: scipy_pages.py [SECONDS]"""
import sys
import time

import numpy
import scipy.sparse

budget = float(sys.argv[1]) if len(sys.argv) > 1 else 3
pages, links, repeats = 1000000, 10, 4
random = numpy.random.default_rng(1).random(pages * links)
to = (random * random * pages).astype(numpy.int64)
a = scipy.sparse.coo_matrix((numpy.full(pages * links, 1 / links), (to, numpy.repeat(numpy.arange(pages), links))),
                            shape=(pages, pages)).tocsr()
rank = numpy.full(pages, 1 / pages)
for _ in range(repeats):
    rank = 0.85 * (a @ rank) + 0.15 / pages
times, begin = [], time.perf_counter()
while len(times) < 3 or (time.perf_counter() - begin < budget and len(times) < 64):
    start = time.perf_counter()
    for _ in range(repeats):
        rank = 0.85 * (a @ rank) + 0.15 / pages
    times.append((time.perf_counter() - start) / repeats)
print("scipy", *("%.9g" % t for t in times))
