"""examples/laplace.c in NumPy, with its bits: laplace.py M N. Sums are those of docs/numerics.md: 16 partial sums in a block, added in
pairs; block sums added exactly and rounded once."""
import math
import sys

import numpy as np

m, n = int(sys.argv[1]), int(sys.argv[2])
points = m * n
block = 1
while 2 * block <= min(points // 256, 1024):
    block *= 2


def dot(x, y):
    products = x.ravel() * y.ravel()
    blocks = -(-points // block)
    lanes = 16 * -(-block // 16)
    padded = np.zeros((blocks, lanes))
    full = np.zeros(blocks * block)
    full[:points] = products
    padded[:, :block] = full.reshape(blocks, block)
    sums = np.zeros((blocks, 16))
    for k in range(0, lanes, 16):
        sums += padded[:, k:k + 16]
    for half in 8, 4, 2, 1:
        sums[:, :half] += sums[:, half:2 * half]
    return math.fsum(sums[:, 0])


def multiply(x):
    """Row by row in ascending order of columns, beginning with 0."""
    y = np.zeros((m, n))
    y[1:, :] += -1 * x[:-1, :]
    y[:, 1:] += -1 * x[:, :-1]
    y += 4 * x
    y[:, :-1] += -1 * x[:, 1:]
    y[:-1, :] += -1 * x[1:, :]
    return y


def bits(x):
    """As C's %a prints a number."""
    digits, exponent = x.hex().split("p")
    return digits.rstrip("0").rstrip(".") + "p" + exponent if "." in digits else x.hex()


solution = np.ones((m, n))
inverse = 1 / np.full((m, n), 4.0)
x, r, done = np.zeros((m, n)), multiply(solution), 0
limit = 1e-2 / ((m + 1) * (n + 1)) * math.sqrt(dot(r, r))
p = r * inverse
rz = dot(r, p)
while math.sqrt(dot(r, r)) > limit:
    old = rz
    q = multiply(p)
    alpha = old / dot(p, q)
    x = x + alpha * p
    r = r + -alpha * q
    z = r * inverse
    rz = dot(r, z)
    p = 1.0 * z + rz / old * p
    done += 1
error = x - solution
norm = math.sqrt(dot(error, error))
print("iterations:        %d" % done)
print("norm of the error: %.6e  %s" % (norm, bits(norm)))
