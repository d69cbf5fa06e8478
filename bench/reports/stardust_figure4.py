"""Stardust, Figure 4."""

import re

from lab import LAB, set_shares
from reporting import svg
from reporting.parts import Failed, Part, Plot, Run, Table, run_command
from reporting.rounds import ranged, spread
from reporting.saving import hosts
from reporting.verdict import Claim

TITLE = "Stardust, Figure 4: two programs on more and more nodes"
SOURCE = "section 5.2.1, Figure 4"
WHAT = """The time of two programs with shared memory by the number of nodes: Povray, a ray tracer (1024 x 728), and MGS, which makes 256 vectors of
1024 values orthonormal."""
PUBLISHED_TEXT = """a plot without figures: Povray on 1 to 56 nodes of a Paragon, MGS on 1 to 8 nodes of a Paragon, of Pentiums, and of both. In
words: "applications still exhibit a good speedup when the number of nodes increases", and "only a small percentage of the total execution time is
needed to deal with heterogeneity". (The caption names "the Matmult and MGS applications", the text Povray and MGS.)"""
PUBLISHED = None
SHARE = 20  # percent of a processor that each host has
RATE = 1000  # Mbit/s
NODES = (1, 2, 4, 8)
QUICK_NODES = (1, 2)
# What each runs; in a quick run.
PROGRAMS = {"rays": ("timed_rays", ["--columns", "1024", "--rows", "728", "--samples", "4"], ["--columns", "64", "--rows", "48"]),
            "gram_schmidt": ("timed_gram_schmidt", ["256", "1024"], ["16", "64"]),
            "gram_schmidt_large": ("timed_gram_schmidt", ["1024", "4096"], ["32", "128"])}
NAMES = {"rays": "`rays` (for Povray), 1024 x 728, 16 rays a pixel", "gram_schmidt": "`gram_schmidt`, 256 x 1024",
         "gram_schmidt_large": "`gram_schmidt`, 1024 x 4096"}


def clock(context, nodes):
    """Seconds of the program's loop on so many hosts, and what else it printed."""
    name, words, quick = PROGRAMS[context.item]
    words = quick if context.quick else words
    if name == "timed_rays":
        words = words + ["--output", context.work + "/picture"]
    run = Run(context.build, nodes, "bench/programs/" + name, words + ["--dome-balance", "none"], hosts=hosts(nodes))
    run.end()
    text = "\n".join(run.output())
    found = re.search(r"^result \S+ seconds (\S+) processor", text, re.M)
    if not found:
        raise Failed("%s printed no time" % name)
    return float(found.group(1)), re.sub(r"(?m)^(begin|at \d+|result.*)\n?", "", text)


def run(context):
    """On all numbers of hosts, in turns that begin elsewhere in each round."""
    set_shares(dict.fromkeys(hosts(max(NODES)), SHARE))
    run_command([LAB, "rate", "all", str(RATE)])
    nodes = QUICK_NODES if context.quick else NODES
    turn, found, results = context.round % len(nodes), {}, set()
    for count in nodes[turn:] + nodes[:turn]:
        found[str(count)], result = clock(context, count)
        results.add(result)
    if len(results) > 1:
        raise Failed("the results differ: " + ", ".join(sorted(results)))
    return found


SPEEDUPS = Part("speedups", 5, list(PROGRAMS), 60, run, hosts=max(NODES), targets=("dome_tool", "regions"))
PARTS = [SPEEDUPS]
DIFFERS = [
    "Hosts of a [lab](lab.md): %d %% of a processor each, links of 1 Gbit/s. A host gets its share in [turns](lab.md#turns) of 10 ms, and tasks that "
    "wait for each other more often than that lose parts of them." % SHARE,
    "`rays` is a small ray tracer, not Povray: 16 rays a pixel make it as long as some seconds of a processor. A pixel has 8 bits in place of 16, and "
    "a row goes to whichever task asks for one.",
    "256 vectors of 1024 values take a processor of today 0.07 s, in 256 steps at the end of which all wait; the paper's Pentiums took some hundred "
    "times as long for the same messages. So `gram_schmidt` also runs with 1024 vectors of 4096 values, whose steps are 16 times as long.",
    "The ideal is the time on one host over the number of hosts.",
    "One kind of machine; 8 hosts at most.",
]


def nodes_of(r):
    return sorted({int(count) for item in PROGRAMS for d in r.data(SPEEDUPS.key, item).values() for count in d})


def speedups(r, item, count):
    return [d["1"] / d[str(count)] for d in r.data(SPEEDUPS.key, item).values() if str(count) in d]


def condense(r):
    nodes, rows, series = nodes_of(r), [], []
    for item in PROGRAMS:
        if not r.data(SPEEDUPS.key, item):
            continue
        rows.append([NAMES[item] + ", s"] + [ranged([d[str(n)] for d in r.data(SPEEDUPS.key, item).values() if str(n) in d]) for n in nodes])
        rows.append(["speedup"] + [ranged(speedups(r, item, n)) for n in nodes])
        series.append((item, [(n,) + spread(speedups(r, item, n)) for n in nodes if speedups(r, item, n)], "line"))
    series.append(("ideal", [(n, n) for n in nodes], "dashed"))
    picture = svg.lines("Speedup of two programs on regions", "hosts", "times as fast as on one", series, low=0)
    return [Table(["hosts"] + [str(n) for n in nodes], rows), Plot("stardust_figure4", "Speedup by hosts, beside the ideal", picture)]


NO_CLAIMS = ""
SHORT = """With 256 vectors of 1024 values a step is 0.3 ms of a processor, so that waiting for the next vector and for the turns of the slowest host is
most of the time."""


def least_gain(r, item):
    """Round by round: of all doublings of the hosts, how many times as fast the one was that gained least."""
    return [min(d[str(n)] / d[str(2 * n)] for n in NODES if str(2 * n) in d and str(n) in d) for d in r.data(SPEEDUPS.key, item).values() if "2" in d]


def claims(r):
    """"A good speedup" has no figure: what is faster with each doubling of the hosts, twice at most, is as published."""
    return [Claim("%s: times as fast with twice the hosts, the least of all doublings" % NAMES[item], (1, 2), least_gain(r, item),
                  why={"worse": SHORT if item == "gram_schmidt" else ""}) for item in PROGRAMS] + [
        Claim("seconds", None, [], incomparable="The curves have no figures, and their seconds are those of a Paragon and of Pentiums of 1997.")]
