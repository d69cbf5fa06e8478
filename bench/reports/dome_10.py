"""Dome 1995, Figure 10."""

import math
import statistics

from reporting import svg
from reporting.parts import Part, Plot, Table, Text, read_json
from reporting.rounds import ranged, spread
from reporting.verdict import Claim

TITLE = "Dome, Figure 10: expected run time under failures"
SOURCE = "section 6.2, Figure 10"
WHAT = """The run time of molecular dynamics with checkpoints, over the mean time between failures. The paper computes it by Duda's formula from
the cost of a checkpoint, for a run of 26 minutes; here tasks are killed at random (`kill -9`), and the formula stands beside."""
PUBLISHED_TEXT = """"if we put in so many checkpoints that a failure every 3 minutes will not even double our expected runtime, rather than incurring the
thousands-of-times expected cost without checkpointing, we only suffer a 3% cost to our runtime in the failure free case" (an "approximately 26
minute run"). Five machines with a failure "every 3.2 days", and the minutes read as days: "less than a 25% increase in expected runtime over
its ideal value"."""
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


def DIFFERS(r):
    found = ["A run takes about 10 s in place of 26 minutes, with a checkpoint every half second; two tasks on one host. The paper does not say "
             "what a restart takes%s." % (", here %.2f s" % figures(r, KILLED)[2] if r.data(KILLED.key, "tasks") else ""),
             "Five hosts: a day is 3 s, a run 26 days; each host fails as a whole every 16 days on average (`dome-lab kill`, and it returns at "
             "once), so 8.1 failures a run are expected. The library chooses the interval (`--dome-checkpoint-every auto`)."]
    if r.data(FAILING.key, "hosts"):
        restart = figures(r, FAILING)[2]
        found[1] += " Restarting takes %.2f s, %.2f of a \"day\", because daemons start by ssh." % (restart, restart / DAY)
    return found + ["Without checkpoints the program restarts at its beginning. Means of a half to two run times can be measured; beyond that the "
                    "formula stands alone: at eight failures a run it gives hundreds of run times."]


def duda(work, every, cost, restart, mean):
    return work / every * (mean + restart) * (math.exp((every + cost) / mean) - 1) / work


def runs(r, part, checkpoints):
    return [(d, run) for d in r.data(part.key, part.items[0]).values() for run in d["runs"] if run["checkpoints"] == checkpoints]


def costs_of_checkpoints(r, part):
    """Of each round: run times with checkpoints over those without, neither with failures, in turns."""
    return [statistics.median(b / a for a, b in zip(d["ideal"], d["with_checkpoints"])) for d in r.data(part.key, part.items[0]).values()]


def figures(r, part):
    """Work, cost of a checkpoint, restart."""
    data = list(r.data(part.key, part.items[0]).values())
    restarts = [v for d in data for v in d["restarts"]]
    return (statistics.median(v for d in data for v in d["ideal"]), statistics.median([v for d in data for v in d["costs"]] or [0]),
            statistics.mean(restarts) if restarts else 0.0)


def mean_of(values):
    """The mean, and from where to where the runs go; with three runs and more the error of the mean, too."""
    text = "%.2f" % statistics.mean(values)
    text += " (%.2f to %.2f)" % (min(values), max(values)) if len(values) > 1 else ""
    return text + (" +- %.2f" % (statistics.stdev(values) / math.sqrt(len(values))) if len(values) > 2 else "")


def failed(seen):
    """How often runs failed, in all."""
    count = sum(run["failures"] for _, run in seen)
    return "%d in %d run%s" % (count, len(seen), "" if len(seen) == 1 else "s") if count else "none in %d run%s" % (len(seen), "" if len(seen) == 1 else "s")


def killed(r):
    work, cost, restart = figures(r, KILLED)
    every = next(iter(r.data(KILLED.key, "tasks").values()))["every"]
    rows, points = [["none", "-", ranged(costs_of_checkpoints(r, KILLED)), "-", "%.2f" % (1 + cost / every), "1"]], {True: [], False: []}
    groups = {}
    for checkpoints in (True, False):
        for d, run in runs(r, KILLED, checkpoints):
            # Without checkpoints means are parts of a run time, which each round has its own of.
            mean = run["mean"] if checkpoints else round(run["mean"] / d["ideal"][0], 2) * work
            groups.setdefault((not checkpoints, mean), []).append((d, run))
    for (bare, mean), seen in sorted(groups.items(), key=lambda pair: pair[0]):
        ratios, text = [run["ratio"] for _, run in seen], mean_of([run["ratio"] for _, run in seen])
        rows.append(["%.1f s (%.1f a run)" % (mean, work / mean), failed(seen), "-" if bare else text, text if bare else "-",
                     "%.2f" % duda(work, every, cost, restart, mean), "%.3g" % duda(work, work, 0, restart, mean)])
        if any(run["failures"] for _, run in seen):
            points[not bare].append((mean, statistics.mean(ratios), min(ratios), max(ratios)))
    span = [x[0] for x in points[True] + points[False]] or [1.0]
    xs = [min(span) * (max(span) / min(span)) ** (k / 40) for k in range(41)]
    series = [("with checkpoints", points[True], "points"), ("without", points[False], "points"),
              ("Duda, with", [(x, duda(work, every, cost, restart, x)) for x in xs], "dashed"),
              ("Duda, without", [(x, v) for x in xs for v in [duda(work, work, 0, restart, x)] if v < 12], "dashed")]
    picture = svg.lines("md, checkpoints every %g s, run of %.1f s" % (every, work), "mean time between failures, seconds", "run time over the ideal",
                        [s for s in series if s[1]], xlog=True, low=0.0)
    head = ["failures every, on average", "failures", "run time over the ideal", "without checkpoints", "Duda", "Duda, without"]
    ideal = [v for d in r.data(KILLED.key, "tasks").values() for v in d["ideal"]]
    noise = """Means, with the least and the largest run. A run is compared with the undisturbed runs before and after it, which took %.1f s (%.1f to
%.1f) themselves: ratios below 1, and those of rows without one failure, show this noise and nothing else.""" % spread(ideal)
    return [Text(noise), Table(head, rows), Plot("dome_10", "Run time over the ideal, over the mean time between failures", picture)]


def hosts(r):
    if not r.data(FAILING.key, "hosts"):
        return []
    work, cost, restart = figures(r, FAILING)
    seen = runs(r, FAILING, True)
    mean = seen[0][1]["mean"]
    real = 3.2 * 86400
    interval = math.sqrt(2 * max(cost, 1e-6) * mean)
    rows = [["run without failures", "%.1f s" % work], ["failures", failed(seen)],
            ["from a failure until the program computes again", "%.2f s" % restart],
            ["run time over the ideal", mean_of([one["ratio"] for _, one in seen])],
            ["Duda's formula, in scaled time", "%.2f" % duda(work, interval, cost, restart, mean)],
            ["Duda's formula, the same checkpoints and restarts with a failure every 3.2 days",
             "%.4f" % duda(work, math.sqrt(2 * max(cost, 1e-6) * real), cost, restart, real)]]
    return [Table(["five hosts, each fails every 16 \"days\"", ""], rows)]


def claims(r):
    """A failure every 3 of 26 minutes is 8.7 failures a run; ours with the most has about as many."""
    often = [run["ratio"] for _, run in runs(r, KILLED, True) if run["mean"] == MEANS[0]]
    return [Claim("checkpoints without failures: run time over that without checkpoints", 1.03, costs_of_checkpoints(r, KILLED), False),
            Claim("8 failures a run (paper: one in 3 of 26 minutes; \"will not even double\")", (1.0, 2.0), often, False),
            Claim("five hosts, one failure in 3.2 \"days\" (paper: \"less than a 25% increase\")", (1.0, 1.25),
                  [run["ratio"] for _, run in runs(r, FAILING, True)], False),
            Claim("without checkpoints: thousands of times", None, [], False,
                  incomparable="That a run takes thousands of times as long without checkpoints follows from the formula alone, in the paper and here.")]


NO_CLAIMS = ""


def condense(r):
    return (killed(r) if r.data(KILLED.key, "tasks") else []) + hosts(r)
