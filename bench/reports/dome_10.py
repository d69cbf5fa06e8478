"""Dome 1995, Figure 10."""

import math
import statistics

from reporting import svg
from reporting.parts import Part, Plot, Table, read_json

TITLE = "Dome, Figure 10: expected run time under failures"
SOURCE = "section 6.2, Figure 10"
WHAT = """The run time of molecular dynamics with checkpoints, over the mean time between failures. The paper computes it by Duda's formula from
the cost of a checkpoint, for a run of 26 minutes; here tasks are killed at random (`kill -9`), and the formula stands beside."""
PUBLISHED_TEXT = """with checkpoints so frequent that a failure every 3 minutes does not double the run time, they cost 3 % without failures; without
checkpoints such a run takes thousands of times as long. Five machines that each fail every 16 days (one failure in 3.2 days), with the
minutes read as days: below 1.25."""
PUBLISHED = None
MEANS = (1.5, 2.5, 5.0, 10.0, 20.0)  # seconds between failures: 3 to 40 intervals
EVERY = 0.5
WITHOUT = (2.0, 1.0, 0.5)  # mean times between failures, in run times
DAY = 3.0  # seconds that stand for a day with five hosts
RUN_DAYS, HOST_DAYS, HOSTS = 26, 16, 5


def steps(context):
    """So that all rounds run the same: as the first one found it."""
    if context.round == 1 or context.quick:
        return []
    return ["--steps", str(context.value(context.part.key, context.item, 1)["steps"])]


def run(context, words, seconds, cells=10):
    quick = context.quick
    words = words + ["--rounds", "1", "--seed", str(1000 * context.round), "--seconds", "%g" % (1 if quick else seconds), "--cells",
                     str(4 if quick else cells)] + steps(context)
    return read_json(context.bench("figure10", words, "figure.json"))


def measure(context):
    means = (0.5,) if context.quick else MEANS
    words = ["--means", ",".join("%gs" % mean for mean in means), "--every", "0.1" if context.quick else str(EVERY)]
    words += ["--without", "1" if context.quick else ",".join(str(mean) for mean in WITHOUT)]
    return run(context, words, 10)


def measure_hosts(context):
    day = 0.1 if context.quick else DAY
    return run(context, ["--hosts", str(HOSTS), "--once", "--every", "auto", "--means", "%gs" % (day * HOST_DAYS / HOSTS)], day * RUN_DAYS)


KILLED = Part("failures", 8, ["tasks"], 130, measure, targets=("dome_tool", "example_md"))
FAILING = Part("failures-hosts", 3, ["hosts"], 270, measure_hosts, targets=("dome_tool", "example_md"))
PARTS = [KILLED, FAILING]
DIFFERS = [
    "A run takes 10 s in place of 26 minutes, with a checkpoint every half second; two tasks on one host. The paper does not say what a "
    "restart takes; here it is a tenth of a second.",
    "Five hosts: a day is 3 s, a run 26 days; each host fails as a whole every 16 days (`dome-lab kill`, and it returns at once), so a run "
    "sees some eight failures. The library chooses the interval (`--dome-checkpoint-every auto`). Restarting takes a second and more, "
    "because daemons start by ssh: half a \"day\".",
    "Without checkpoints the program restarts at its beginning. Means of a half to two run times can be measured; beyond that the formula "
    "stands alone: at eight failures a run it gives hundreds of run times.",
]


def duda(work, every, cost, restart, mean):
    return work / every * (mean + restart) * (math.exp((every + cost) / mean) - 1) / work


def runs(r, key, checkpoints):
    return [(d, run) for d in r.data(key, r_item(key)).values() for run in d["runs"] if run["checkpoints"] == checkpoints]


def r_item(key):
    return KILLED.items[0] if key == KILLED.key else FAILING.items[0]


def figures(r, key):
    """Work, cost of a checkpoint, restart, run time with checkpoints over without."""
    data = list(r.data(key, r_item(key)).values())
    restarts = [v for d in data for v in d["restarts"]]
    return (statistics.median(v for d in data for v in d["ideal"]), statistics.median([v for d in data for v in d["costs"]] or [0]),
            statistics.mean(restarts) if restarts else 0.0,
            statistics.median(b / a for d in data for a, b in zip(d["ideal"], d["with_checkpoints"])))


def middle(ratios):
    error = statistics.stdev(ratios) / math.sqrt(len(ratios)) if len(ratios) > 1 else 0.0
    return statistics.mean(ratios), error


def with_error(ratio, error):
    return "%.2f +- %.2f" % (ratio, error) if error else "%.2f" % ratio


def killed(r):
    work, cost, restart, slower = figures(r, KILLED.key)
    every = next(iter(r.data(KILLED.key, "tasks").values()))["every"]
    rows, with_them, without = [["none", "%.2f" % slower, "-", "%.2f" % (1 + cost / every), "1"]], [], []
    by_mean = {}
    for d, one in runs(r, KILLED.key, True):
        by_mean.setdefault(one["mean"], []).append(one["ratio"])
    bare = {}
    for d, one in runs(r, KILLED.key, False):
        bare.setdefault(round(one["mean"] / d["ideal"][0], 2), []).append(one["ratio"])
    for mean in sorted(by_mean):
        ratio, error = middle(by_mean[mean])
        rows.append(["%.1f s (%.1f a run)" % (mean, work / mean), with_error(ratio, error), "-", "%.2f" % duda(work, every, cost, restart, mean),
                     "%.3g" % duda(work, work, 0, restart, mean)])
        with_them.append((mean, ratio, ratio - error, ratio + error))
    for part in sorted(bare):
        ratio, error = middle(bare[part])
        mean = part * work
        rows.append(["%.1f s (%.1f a run)" % (mean, 1 / part), "-", with_error(ratio, error), "%.2f" % duda(work, every, cost, restart, mean),
                     "%.3g" % duda(work, work, 0, restart, mean)])
        without.append((mean, ratio, ratio - error, ratio + error))
    span = [x[0] for x in with_them + without]
    xs = [min(span) * (max(span) / min(span)) ** (k / 40) for k in range(41)]
    series = [("with checkpoints", with_them, "points"), ("without", without, "points"),
              ("Duda, with", [(x, duda(work, every, cost, restart, x)) for x in xs], "dashed"),
              ("Duda, without", [(x, v) for x in xs for v in [duda(work, work, 0, restart, x)] if v < 12], "dashed")]
    picture = svg.lines("md, checkpoints every %g s, run of %.1f s" % (every, work), "mean time between failures, seconds", "run time over the ideal",
                        [s for s in series if s[1]], xlog=True, low=0.0)
    head = ["failures every", "run time over the ideal", "without checkpoints", "Duda", "Duda, without"]
    return [Table(head, rows), Plot("dome_10", "Run time over the ideal, over the mean time between failures", picture)]


def hosts(r):
    if not r.data(FAILING.key, "hosts"):
        return []
    work, cost, restart, slower = figures(r, FAILING.key)
    seen = runs(r, FAILING.key, True)
    ratio, error = middle([one["ratio"] for _, one in seen])
    mean = seen[0][1]["mean"]
    real = 3.2 * 86400
    interval = math.sqrt(2 * max(cost, 1e-6) * mean)
    rows = [["run without failures", "%.1f s" % work], ["failures in a run", "%.1f" % statistics.mean(one["failures"] for _, one in seen)],
            ["from a failure until the program computes again", "%.2f s" % restart], ["run time over the ideal (1995: below 1.25)", with_error(ratio, error)],
            ["Duda's formula, in scaled time", "%.2f" % duda(work, interval, cost, restart, mean)],
            ["Duda's formula, the same checkpoints and restarts with a failure every 3.2 days",
             "%.4f" % duda(work, math.sqrt(2 * max(cost, 1e-6) * real), cost, restart, real)]]
    return [Table(["five hosts, each fails every 16 \"days\"", ""], rows)]


def condense(r):
    return (killed(r) if r.data(KILLED.key, "tasks") else []) + hosts(r)


def summary(r):
    text = []
    if r.data(KILLED.key, "tasks"):
        text.append("checkpoints without failures: 1.03, %.2f" % figures(r, KILLED.key)[3])
    if r.data(FAILING.key, "hosts"):
        text.append("five hosts over the ideal: below 1.25, %.2f" % middle([one["ratio"] for _, one in runs(r, FAILING.key, True)])[0])
    return "; ".join(text)
