"""Stardust, Table 2."""

import stardust_1
from reporting import svg
from reporting.parts import Plot, Table, Text
from reporting.rounds import ranged, spread
from reporting.verdict import Claim
from stardust_1 import INTERVAL, NAMES, PAPER, PROGRAMS, VARIANT_RUNS, VARIANTS, data, interval

TITLE = "Stardust, Table 2: what checkpoints cost, by variant"
SOURCE = "section 3.2.1, Table 2"
WHAT = """The part of the running time that checkpoints take, for five variants: everything is written while the program waits (basic); only what may
have changed (estimate) or has changed (accurate); the same in the background, copied before (pre-copying) or when the program writes to it
(copy-on-write)."""
PUBLISHED_TEXT = """percent of the running time. Its point is what the background gains: "The checkpointing overhead is divided by an average factor of 35 for
Mp3d and 55 for Matmult compared to the blocking incremental checkpointing protocol\"."""
PUBLISHED = Table(["program", "basic", "estimate", "accurate", "pre-copying", "copy-on-write"],
                  [["Mp3d", "8.14", "7.33", "8.71", "0.21", "0.18"], ["Matmult", "11.04", "6.42", "6.52", "0.11", "0.04"]])
PARTS = stardust_1.PARTS
FACTOR = {"Mp3d": 35, "Matmult": 55}
PERCENT = {"Mp3d": (8.14, 7.33, 8.71, 0.21, 0.18), "Matmult": (11.04, 6.42, 6.52, 0.11, 0.04)}
WAITING = ("basic", "estimate", "accurate")
SHOWN = [variant for variant in VARIANTS if variant != "as set"]


def DIFFERS(r):
    return stardust_1.DIFFERS(r) + [
        "The variants are options: `--dome-checkpoint-mode basic`, `estimate` or `accurate`, with `--dome-checkpoint-copy wait`; and `estimate` with "
        "`pre` or `on-write`. *As set* is what the library does without them: accurate, copied before.",
        "The cost is the library's own account. Where the program waits: the pauses. In the background: the pauses, and the processor time of the "
        "thread that writes. The paper's figures leave the latter out (\"the cost of network transmission and disk access are not included\"), and so "
        "does the table of pauses.",
        "The time in which the tasks agree when to write is not in it: the interval is in boundaries, at which nothing need be agreed on.",
        "The paper's nodes send their pages to a capture server. Here each task writes its own to a file on a disk of the same machine.",
    ]


def cost(d, variant):
    """Percent of the running time in a round: the pauses, and what the thread computes beside the program."""
    one = d[variant]
    return 100 * (one["pauses"] + (0 if variant in WAITING else one["thread"])) / one["seconds"]


def pause(d, variant):
    """Percent of the running time in which the program waited."""
    return 100 * d[variant]["pauses"] / d[variant]["seconds"]


def clock(d, variant):
    return 100 * (d[variant]["seconds"] / d["without"] - 1)


def at_paper(d, item, variant):
    """Percent if checkpoints came as seldom as in the paper."""
    return cost(d, variant) * interval(d, variant) / INTERVAL[PAPER[item]]


def rows_of(r, items, value, form="%.2f"):
    return [[NAMES[item]] + [ranged([value(d, variant) for d in data(r, item)], form) for variant in VARIANTS] for item in items]


def condense(r):
    items = [item for item in PROGRAMS if data(r, item)]
    picture = svg.bars("Part of the running time that checkpoints take", "percent", items, SHOWN,
                       [[spread([cost(d, variant) for d in data(r, item)]) for variant in SHOWN] for item in items])
    head = list(VARIANTS)
    paper = [[NAMES[item]] + ["%s; %.2f" % (ranged([at_paper(d, item, variant) for d in data(r, item)], "%.4f"), published)
                              for variant, published in zip(SHOWN, PERCENT[PAPER[item]])] for item in items]
    noise = ["%s for `%s`" % (ranged([clock(d, variant) for d in data(r, item) for variant in SHOWN], "%.1f"), item) for item in items]
    return [Text("Percent of the running time:"), Table(["program"] + head, rows_of(r, items, cost)),
            Text("Of it the program waits:"), Table(["program"] + head, rows_of(r, items, pause)),
            Text("The cost if checkpoints came at the paper's interval (%d and %d s), with the paper's percent:" %
                 (INTERVAL["Mp3d"], INTERVAL["Matmult"])),
            Table(["program"] + SHOWN, paper),
            Text("""By the clock, runs with checkpoints took so many percent more than runs without: %s. That is the noise of the machine more than a
cost.""" %
                 " and ".join(noise)), Plot("stardust_2", "Percent of the running time by variant", picture)]


NO_CLAIMS = ""
SHORT = """A blocking write of these 1 to 6 MB takes milliseconds, where that of the paper took half a minute (8.14 % of 370 s), so there is little that
the background could save; the thread's own processor time, which the paper does not count, is of the same order."""


FORK = """For copy-on-write each task forks a child at each checkpoint, which for 1 to 6 MB takes longer than copying them does."""


def factors(r, item, of, variant):
    """Round by round: what waiting for the incremental checkpoint costs, over what this variant costs."""
    return [of(d, "estimate") / of(d, variant) for d in data(r, item) if of(d, variant) > 0]


def claims(r):
    found = []
    for item in PROGRAMS:
        for of, what in ((cost, "cost"), (pause, "pauses")):
            for variant in ("pre-copying", "copy-on-write"):
                found.append(Claim("%s: %s, estimate over %s" % (NAMES[item], what, variant), FACTOR[PAPER[item]], factors(r, item, of, variant),
                                   why={"worse": SHORT if of is cost else FORK if variant == "copy-on-write" else ""}, form="%.1f"))
        found.append(Claim("%s: estimate over basic" % NAMES[item], PERCENT[PAPER[item]][1] / PERCENT[PAPER[item]][0],
                           [cost(d, "estimate") / cost(d, "basic") for d in data(r, item) if cost(d, "basic") > 0], False))
    return found + [Claim("percent at the paper's interval", None, [], incomparable="The percentages are those of a disk and a network of 1997.")]
