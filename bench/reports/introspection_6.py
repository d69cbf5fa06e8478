"""Process Introspection, Tables 7.6, 7.7, 7.12, 7.13, 7.16, 7.20 and 7.21."""

from reporting import introspection as I
from reporting.parts import Table, Text
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "Process Introspection, Tables 7.6 to 7.21: how often programs poll"
SOURCE = "chapter 7, Tables 7.6, 7.7, 7.12, 7.13, 7.16, 7.20, 7.21"
WHAT = """How many polls programs make, and how long a request for a checkpoint waits for the next one."""
PUBLISHED_TEXT = """microseconds between two polls on a Pentium of 200 MHz, as the time of the run over the number of polls; in each cell of the
table below the first figure."""
PUBLISHED = None
PARTS = [I.COSTS]
DIFFERS = [
    "The thesis counts polls and divides. Here requests are also made at random times (1,000 of each program, if it runs long enough), and it "
    "is measured how long each waits until all functions have returned, in the processor's time.",
    "Sizes and programs are as in the tables above.",
]


def condense(r):
    programs = I.measured(r, I.COSTS)
    heads = ["`%s` (%s)" % (p.name, p.thesis) for p in programs]
    rows = [[policy] + [I.pair(I.thesis_interval(p, policy), I.intervals(r, p.name, policy), "%.3g") for p in programs] for policy in I.POLICIES]
    auto = []
    for p in programs:
        every = I.intervals(r, p.name, "auto")
        auto.append(["`%s`" % p.name, ranged([1e6 / v for v in every], "%.0f"), ranged(every, "%.1f")] +
                    [ranged(I.waits(r, p.name, key), "%.1f") for key in ("mean", "p99", "longest")])
    return [Text("Microseconds between two polls, optimized: the thesis, ours."), Table(["polls"] + heads, rows),
            Text("With the default placement: polls in a second, and microseconds."),
            Table(["program", "polls a second", "between two", "requests wait: mean", "99 of 100 at most", "longest"], auto), Text(wanted(r))]


def wanted(r):
    late = ["`%s`" % p.name for p in I.measured(r, I.COSTS) if max([I.median(I.waits(r, p.name, key)) or 0 for key in ("mean", "p99")]) > 1000]
    return "Wanted: mean and the 99th of 100 below 1000 microseconds (medians). " + ("Missed by %s." % ", ".join(late) if late else "Reached by all.")


NO_CLAIMS = ""


def claims(r):
    return [Claim("microseconds between two polls", None, [], incomparable="""The microseconds are those of a Pentium of 200 MHz, and the placements of polls
trade them for overhead, as the tables above show.""")]
