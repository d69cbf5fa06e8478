"""k-means (Lloyd's algorithm): kmeans.c in Python, with the same bits. The program can be restarted.

    dome run -n 4 python3 kmeans.py [POINTS [STEPS]]
"""
import sys

import dome as dm

K, D = 16, 4
dm.init()  # takes options of Dome out of sys.argv
n, steps = ([int(word) for word in sys.argv[1:]] + [100000, 20][len(sys.argv) - 1:])[:2]
points = dm.random.random((n, D), seed=1)
centres = dm.named("centres", points[:K])
for step in dm.loop("steps", steps):
    label = dm.nearest(points, centres)
    number = dm.count_by(label, K)
    sums = dm.sum_by(label, points, K)
    centres[:] = dm.where((number > 0)[:, None], sums / dm.maximum(number, 1)[:, None], centres)
for k, c in enumerate(centres.tolist()):
    dm.print(f"centre {k}: " + " ".join(f"{x:.6f}" for x in c))
