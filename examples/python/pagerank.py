"""Ranks of pages on a random graph: pagerank.c in Python, with the same bits. The program can be restarted.

    dome run -n 4 python3 pagerank.py [PAGES [STEPS]]
"""
import sys

import dome as dm

LINKS, SHOWN = 8, 5
dm.init()  # takes options of Dome out of sys.argv
n, steps = ([int(word) for word in sys.argv[1:]] + [100000, 30][len(sys.argv) - 1:])[:2]
random = dm.square(dm.random.random((n * LINKS,), seed=1))  # pages of low numbers have more links to them
page = dm.astype(random * float(n), dm.int64)
links = dm.sparse.coo_matrix((dm.full((n * LINKS,), 1 / LINKS), (dm.repeat(dm.arange(n), LINKS), page)), shape=(n, n)).T
rank = dm.named("rank", dm.full((n,), 1 / n))
for step in dm.loop("steps", steps):
    rank[:] = links @ rank * 0.85 + 0.15 / n
order = dm.argsort(-rank)
for k in range(SHOWN):
    first = int(order[k])
    dm.print(f"page {first}: {float(rank[first]):.9f}")
