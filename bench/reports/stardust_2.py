"""Stardust, Table 2."""

import stardust_1
from reporting import svg
from reporting.parts import Plot, Table, Text
from reporting.rounds import ranged, spread
from reporting.verdict import Claim
from stardust_1 import NAMES, OVERHEAD, PAPER, PROGRAMS, interval

TITLE = "Stardust, Table 2: what checkpoints cost, by variant"
SOURCE = "section 3.2.1, Table 2"
WHAT = """The part of the running time that checkpoints take, for five variants: everything is written while the program waits (basic); only what may
have changed (estimate) or has changed (accurate); the same in the background, copied before (pre-copying) or when the program writes to it
(copy-on-write)."""
PUBLISHED_TEXT = """percent of the running time. Its point is what the background gains: the cost "is divided by an average factor of 35 for Mp3d and 55 for
Matmult compared to the blocking incremental checkpointing protocol"."""
PUBLISHED = Table(["program", "basic", "estimate", "accurate", "pre-copying", "copy-on-write"],
                  [["Mp3d", "8.14", "7.33", "8.71", "0.21", "0.18"], ["Matmult", "11.04", "6.42", "6.52", "0.11", "0.04"]])
PARTS = stardust_1.PARTS
FACTOR = {"md": 35, "matmult": 55}
PERCENT = {"md": (8.14, 8.71, 0.21), "matmult": (11.04, 6.52, 0.11)}  # basic, accurate, pre-copying


def DIFFERS(r):
    return stardust_1.DIFFERS(r) + [
        "Dome has one variant: accurate (operations mark the blocks that they write) with pre-copying. There is no copy-on-write, and no estimate, which "
        "is the incremental variant that the paper's 35 and 55 compare with (7.33/0.21 and 6.42/0.11 of its table are 34.9 and 58.4).",
        "Basic and accurate, in which the program waits, are what a state of the same size takes until it is on disk (`bench/checkpoint_state`): all "
        "of it, or the part that changes. Dome's own way is the library's account: the pause, and the processor time of the thread that writes; and "
        "beside it what the tasks spent on agreeing when to write, in which each waits for the slowest. (The tasks agree where the interval is in "
        "seconds; where it is in boundaries, as in newer rounds, they need not.)",
        "The last three columns have the same costs at the paper's interval (370 and 438 s).",
    ]


def shares(item, d):
    """Percent of the running time in a round: basic, accurate, Dome's own checkpoints, agreeing on them."""
    every = interval(item, d)
    return (100 * d["all"] / every, 100 * d["changed"] / every, 100 * d["written"] * d["one"] / d["with"], 100 * d["agreeing"] / d["with"])


def clock(d):
    return 100 * (d["with"] / d["without"] - 1)


def condense(r):
    rows, groups, values, noise = [], [], [], []
    for item in PROGRAMS:
        data = list(r.data(OVERHEAD.key, item).values())
        if not data:
            continue
        columns = list(zip(*(shares(item, d) for d in data)))
        at_paper = list(zip(*([v * interval(item, d) / PAPER[item][1] for v in shares(item, d)[:3]] for d in data)))
        rows.append([NAMES[item]] + [ranged(column) for column in columns] +
                    ["%s; %.2f" % (ranged(column, "%.4f"), p) for column, p in zip(at_paper, PERCENT[item])])
        groups.append(NAMES[item].replace("`", ""))
        values.append([spread(column) for column in columns])
        noise.append("%s (%s)" % (ranged([clock(d) for d in data], "%.1f"), NAMES[item]))
    picture = svg.bars("Part of the running time that checkpoints take", "percent", groups,
                       ["basic", "accurate", "accurate, pre-copied (Dome)", "agreeing"], values)
    head = ["percent", "basic", "accurate", "Dome's", "agreeing", "at the paper's interval: basic; paper", "accurate; paper", "Dome's; pre-copying"]
    return [Table(head, rows), Text("""By the clock, runs with checkpoints took so many percent more than runs without: %s. That is the noise of the
machine, and no cost.""" % " and ".join(noise)), Plot("stardust_2", "Percent of the running time by variant", picture)]


NO_CLAIMS = ""
SHORT = """The paper's point is not shown here: a blocking write of these 2 and 6 MB takes milliseconds, where that of the paper took half a minute
(8.14 % of 370 s), so there is little that the background could save."""
INVERTED = """With the time in which tasks agree on a checkpoint the paper's point is inverted for `mmsave`: that time, in which a task waits for the slower
one, is longer than the blocking write itself."""


def claims(r):
    found = []
    for item in PROGRAMS:
        data = [shares(item, d) for d in r.data(OVERHEAD.key, item).values()]
        name = PAPER[item][0]
        found.append(Claim("%s: incremental and blocking over pre-copying" % name, FACTOR[item], [s[1] / s[2] for s in data if s[2] > 0], why={"worse": SHORT},
                           form="%.1f"))
        found.append(Claim("%s: the same, agreeing included" % name, FACTOR[item], [s[1] / (s[2] + s[3]) for s in data if s[2] > 0],
                           why={"worse": INVERTED if item == "matmult" and any(s[1] < s[2] + s[3] for s in data) else ""}, form="%.2f"))
    return found + [Claim("percent at the paper's interval", None, [], incomparable="The percentages are those of a disk and a network of 1997.")]
