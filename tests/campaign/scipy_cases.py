"""Operations on random sparse matrices beside the same in SciPy.

    scipy_cases.py [CASES [SEED [NUMBER]]]

A case is a Matrix Market file of any kind and vectors of one or several columns. tests/programs/matrices.c reads it, as one task or as
several, and writes products, the diagonal, the transpose, matrices of some rows and with scaled rows. All of these must have SciPy's bits; norms must be
near."""

import os
import sys

import campaign
import harness
import modules
from harness import PROGRAMS, Failure, Run, check

modules.need("numpy", "scipy")
import numpy as np  # noqa: E402
import scipy.io  # noqa: E402
import scipy.sparse  # noqa: E402

MATRICES = os.path.join(PROGRAMS, "matrices")
CASES_PER_RUN = 25
KINDS = ["real general", "real general", "real symmetric", "real skew-symmetric", "integer general", "pattern general", "pattern symmetric",
         "complex general", "complex general", "complex symmetric", "complex skew-symmetric", "complex hermitian"]


def number(chance):
    return chance.choice([chance.uniform(-3, 3), chance.gauss(0, 1e3), float(chance.randint(-5, 5)), chance.uniform(0, 1) * 2.0**-60])


def write_matrix(chance, path):
    """A random file without two entries for one place. Returns the matrix as SciPy reads it."""
    kind = chance.choice(KINDS)
    field, symmetry = kind.split()
    rows = chance.choice([1, 2, 7, 100, 256, 300, 700])
    columns = rows if symmetry != "general" else chance.choice([1, 3, rows, 256, 513])
    places = set()
    band = chance.choice([None, None, 3])
    for _ in range(chance.randrange(1, chance.choice([2, 6 * rows, 20 * rows]) + 1)):
        i = chance.randrange(rows)
        j = chance.randrange(columns) if band is None else min(columns - 1, i + chance.randrange(band))
        if symmetry != "general" and i < j:
            i, j = j, i
        if symmetry != "skew-symmetric" or i != j:
            places.add((i, j))
    places = sorted(places)
    chance.shuffle(places)
    with open(path, "w") as f:
        f.write("%%%%MatrixMarket matrix coordinate %s\n%% case\n%d %d %d\n" % (kind, rows, columns, len(places)))
        for i, j in places:
            values = {"real": 1, "integer": 1, "pattern": 0, "complex": 2}[field]
            parts = ["%d" % chance.randint(-9, 9) if field == "integer" else repr(number(chance)) for _ in range(values)]
            if symmetry == "hermitian" and i == j:
                parts[1] = "0"
            f.write(" ".join(["%d %d" % (i + 1, j + 1)] + parts) + "\n")
    a = scipy.io.mmread(path).tocsr().astype("c16" if field == "complex" else "f8")
    a.sort_indices()
    return a


def vector(chance, path, length, width, dtype):
    x = np.array([number(chance) for _ in range(length * width)]).astype(dtype)
    if dtype == np.dtype("c16"):
        x = x + 1j * np.array([number(chance) for _ in range(length * width)])
    x = x.reshape((length, width) if width > 1 else (length,))
    np.save(path, x)
    return x


def same_vector(path, wanted, what):
    got = np.load(path)
    check(got.dtype == wanted.dtype and got.size == wanted.size, "%s: %s %s" % (what, got.dtype, got.shape))
    check(got.tobytes() == np.ascontiguousarray(wanted).tobytes(), "%s differs: %r" % (
        what, [(k, g, w) for k, (g, w) in enumerate(zip(got.ravel(), wanted.ravel())) if g != w][:3]))


def same_matrix(path, wanted, what):
    got = scipy.io.mmread(path).tocsr().astype(wanted.dtype)
    wanted = wanted.tocsr().copy()
    got.sort_indices()
    wanted.sort_indices()
    check(got.shape == wanted.shape, "%s has the shape %s" % (what, got.shape))
    for part in "indptr", "indices":
        check(np.array_equal(getattr(got, part), getattr(wanted, part)), "%s: other %s" % (what, part))
    # mmread takes the sign of a zero away.
    check((got.data + 0).tobytes() == (wanted.data + 0).tobytes(), "%s: other values" % what)


def near(text, wanted, what):
    check(abs(float(text) - wanted) <= 1e-12 * abs(wanted), "%s is %s instead of %r" % (what, text, wanted))


def make(chance, base, k):
    """Writes the files of case k. Returns the function that judges what came of it and the line printed."""
    def path(name):
        return os.path.join(base, "%d.%s" % (k, name))

    a = write_matrix(chance, path("mtx"))
    m, n = a.shape
    x = vector(chance, path("x.npy"), n, chance.choice([1, 1, 3]), a.dtype)
    z = vector(chance, path("z.npy"), m, chance.choice([1, 1, 2]), a.dtype)
    s = vector(chance, path("s.npy"), m, 1, a.dtype)
    rows = np.array([chance.randrange(m) for _ in range(chance.choice([1, 5, 300]))], dtype=chance.choice(["i8", "i4"]))
    np.save(path("rows.npy"), rows)

    def judge(line):
        same_vector(path("y.npy"), a @ x, "A x")
        same_vector(path("t.npy"), a.T @ z, "A^T z")
        diagonal = np.zeros(m, a.dtype)
        diagonal[:min(m, n)] = a.diagonal()
        same_vector(path("d.npy"), diagonal, "the diagonal")
        same_matrix(path("slice.mtx"), a[np.arange(m)[::-2 if k % 2 else 2]], "the slice")
        same_matrix(path("rows.mtx"), a[rows.astype("i8")], "the submatrix")
        same_matrix(path("T.mtx"), a.T, "the transpose")
        scaled = a.copy()  # diags(s) @ a drops entries that become 0
        v, f = a.data, np.repeat(s, np.diff(a.indptr))
        if a.dtype.kind == "c":  # NumPy fuses some products, such as those of short arrays that lie side by side
            scaled.data.real, scaled.data.imag = v.real * f.real - v.imag * f.imag, v.real * f.imag + v.imag * f.real
        else:
            scaled.data = v * f
        scaled.data *= -0.375
        same_matrix(path("S.mtx"), scaled, "the matrix with scaled rows")
        entries, frobenius, inf, symmetric = line.split()
        check(int(entries) == a.nnz, "%s entries instead of %d" % (entries, a.nnz))
        near(frobenius, float(np.sqrt((abs(a.data)**2).sum())), "the Frobenius norm")
        near(inf, float(abs(a).sum(axis=1).max()), "the infinity norm")
        check((symmetric == "1") == (m == n and (a != a.T).nnz == 0), "symmetric: %s" % symmetric)

    return judge, "%d x %d, %d entries of %s" % (m, n, a.nnz, a.dtype)


def case(chance, number):
    tasks = chance.choice([1, 2, 3, 5, 7])
    start = ["--dome-transport", "self"] if tasks == 1 else ["--dome-tasks", str(tasks), "--dome-balance", chance.choice(["none", "random"])]
    if start[-1] == "random":
        start += ["--dome-balance-every", "7"]
    with harness.temporary_directory() as base:
        cases = [make(chance, base, k) for k in range(CASES_PER_RUN)]
        with Run([MATRICES, base, str(CASES_PER_RUN)] + start, {"DOME_CACHE_DIR": os.path.join(base, "cache")}) as run:
            status = run.wait()
            check(status == 0, "status %d: %s" % (status, " | ".join(run.lines())))
            run.check_clean()
            output = run.output().decode().split("\n")[:-1]
        check(len(output) == CASES_PER_RUN, "%d lines" % len(output))
        for (judge, what), line in zip(cases, output):
            try:
                judge(line)
            except Failure as e:
                raise Failure("%s, %d tasks: %s" % (what, tasks, e))
    return "%d matrices, %d tasks" % (CASES_PER_RUN, tasks)


if __name__ == "__main__":
    if not os.path.exists(MATRICES):
        harness.skip("%s is not built" % MATRICES)
    harness.need_pvm()
    if len(sys.argv) > 1:
        sys.argv[1] = str(-(-int(sys.argv[1]) // CASES_PER_RUN))
    campaign.campaign("matrices beside SciPy, %d a run" % CASES_PER_RUN, case, 20, jobs=2)
