"""CAPE, Table 3.3."""

from reporting import cape as C
from reporting.parts import Part, Table, Text, run_command
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "CAPE, Table 3.3: incremental checkpoints of a part of the run"
SOURCE = "%s, section 3.4, Table 3.3" % C.THESIS
WHAT = """A program computes 100 vectors of a Markov chain, with a checkpoint behind each: of all that changes, the filling of the matrix included (*location
1*), or only of what changes behind that (*location 2*); and it goes on behind vector 50."""
PUBLISHED_TEXT = """the overhead of the second kind is "very light (between 1.5% and 3.3% for 100 checkpoints [...])", that of the first multiplies the time
"by 8.5"; "avoiding location 1 checkpoints is always beneficial". Means of 30 runs on a Core2 Duo of 3 GHz with 3 GB; the ratios are computed."""
NS = (3320, 6640, 9960, 13280)
OURS = NS[:2]
ROWS = {"location1": (42.192, 168.741, 379.648, 674.912), "location2": (0.013, 0.026, 0.038, 0.051), "without": (11.34, 41.30, 108.27, 168.69),
        "all": (13.10, 58.14, 393.60, 1433.72), "vectors": (11.71, 42.16, 109.96, 171.70), "restart-all": (6.41, 23.14, 59.56, 93.91),
        "restart-vectors": (6.09, 21.84, 56.64, 88.71)}
TEXTS = {"location1": "checkpoint at location 1, MB", "location2": "first checkpoint at location 2, MB", "without": "without checkpoints, s",
         "all": "with all checkpoints, s", "vectors": "with those of location 2 alone, s", "restart-all": "from vector 50 on, both kinds, s",
         "restart-vectors": "from vector 50 on, location 2 alone, s"}
PUBLISHED = Table([""] + [str(n) for n in NS], [[TEXTS[name]] + ["%.3f" % v if "MB" in TEXTS[name] else "%.2f" % v for v in row] for name, row in ROWS.items()])


def run(context):
    n = int(context.item) // (10 if context.quick else 1)
    out = run_command([context.build + "/bench/cape/markov_table", str(n)])
    return {name: float(value) for name, value in (line.split() for line in out.splitlines())}


PART = Part("cape-markov", 5, [str(n) for n in OURS], 60, run, targets=C.TARGETS)
PARTS = [PART]
NO_CLAIMS = ""
DIFFERS = [
    "Times are the processor's, so that other programs disturb them less; files lie in memory (`/dev/shm`), as in the thesis.",
    "The two largest matrices are left out: a round of them takes many minutes.",
    "A file has a head and the places of the changes; a place costs less than in CAPE (Table 3.4). The thesis's MB are of 2^20 bytes, and so are these.",
    "Only the arrays are tracked; in CAPE all of data, heap and stack, and each file has the processor's registers.",
]


def values(r, n, name, scale=1.0):
    return [scale * d[name] for d in r.data(PART.key, str(n)).values()]


def ratio(r, n, name, other):
    return [d[name] / d[other] for d in r.data(PART.key, str(n)).values()]


def percent(r, n):
    return [100 * (q - 1) for q in ratio(r, n, "vectors", "without")]


def condense(r):
    rows = [[text] + [ranged(values(r, n, name, 2.0 ** -20 if "MB" in text else 1), "%.3f" if "MB" in text else "%.2f") for n in OURS] for name, text in TEXTS.items()]
    rows.append(["location 2 alone over without, percent more"] + [ranged(percent(r, n)) for n in OURS])
    wanted = [(n, sorted(percent(r, n))[len(percent(r, n)) // 2]) for n in OURS if percent(r, n)]
    reached = ["N = %d: %s (%.2f %%)" % (n, "reached" if p <= 1 else "**missed**", p) for n, p in wanted]
    return [Table([""] + [str(n) for n in OURS], rows), Text("Wanted (medians): 100 checkpoints for 1 %% of the time. %s." % "; ".join(reached))] if reached else [
        Table([""] + [str(n) for n in OURS], rows)]


def claims(r):
    found = []
    for k, n in enumerate(OURS):
        found += [Claim("N = %d: location 2 over without" % n, ROWS["vectors"][k] / ROWS["without"][k], ratio(r, n, "vectors", "without"), more=False, form="%.3f"),
                  Claim("N = %d: all over without" % n, ROWS["all"][k] / ROWS["without"][k], ratio(r, n, "all", "without"), more=False),
                  Claim("N = %d: going on with location 2 alone, over with both" % n, ROWS["restart-vectors"][k] / ROWS["restart-all"][k],
                        ratio(r, n, "restart-vectors", "restart-all"), more=False, why={"worse": FILLING})]
    found += [Claim("N = %d: MB at location 1" % n, ROWS["location1"][k], values(r, n, "location1", 2.0 ** -20), more=False, exact=True, form="%.1f") for k, n in enumerate(OURS)]
    return found


FILLING = "Reading a file takes less time here than filling the matrix again with `rand`, which going on without location 1 must do."
