"""Stardust, Table 2."""

import stardust_1
from reporting import svg
from reporting.parts import Plot, Table
from reporting.products import spread
from stardust_1 import INTERVALS, NAMES, OVERHEAD, PROGRAMS, SECONDS

TITLE = "Stardust, Table 2: what checkpoints cost, by variant"
SOURCE = "section 3.2.1, Table 2"
WHAT = """The part of the running time that checkpoints take, for five variants: everything is written while the program waits (basic); only what may
have changed (estimate) or has changed (accurate); the same in the background, copied before (pre-copying) or when the program writes to it
(copy-on-write)."""
PUBLISHED_TEXT = "percent of the running time."
PUBLISHED = Table(["program", "basic", "estimate", "accurate", "pre-copying", "copy-on-write"],
                  [["Mp3d", "8.14", "7.33", "8.71", "0.21", "0.18"], ["Matmult", "11.04", "6.42", "6.52", "0.11", "0.04"]])
PARTS = stardust_1.PARTS
PAPER = {"md": ("Mp3d", 370, (8.14, 8.71, 0.21)), "matmult": ("Matmult", 438, (11.04, 6.52, 0.11))}
DIFFERS = stardust_1.DIFFERS + [
    "Dome has one variant: accurate (operations mark the blocks that they write) with pre-copying. There is no estimate, and no copy-on-write.",
    "Basic and accurate, in which the program waits, are what a state of the same size takes until it is on disk (`bench/checkpoint_state`): all of "
    "it, or the part that changes. Dome's own way is the program with checkpoints over the program without, and by the library's account (the pause, "
    "and the processor time of the thread that writes), which other programs on the machine disturb less.",
    "The right half of the table has the same costs at the paper's interval (370 and 438 s in place of 7.5 and 10 s).",
]


def percent(r, item):
    """Of the running time: basic, accurate, own by the library, own by the clock; at this interval."""
    interval = SECONDS / INTERVALS[item]
    data = r.data(OVERHEAD.key, item).values()
    waits = [100 * spread([d[name] for d in data])[0] / interval for name in ("all", "changed")]
    account = spread([100 * (d["written"] * d["one"] + d["agreeing"]) / d["with"] for d in data])[0]
    clock = spread([100 * (d["with"] / d["without"] - 1) for d in data])[0]
    return waits + [account, clock]


def condense(r):
    rows, groups, values = [], [], []
    for item in PROGRAMS:
        if not r.data(OVERHEAD.key, item):
            continue
        paper, interval, published = PAPER[item]
        basic, accurate, account, clock = percent(r, item)
        scale = SECONDS / INTERVALS[item] / interval
        rows.append([NAMES[item]] + ["%.2f" % v for v in (basic, accurate, account, clock)] +
                    ["%.4f (%.2f)" % (v * scale, p) for v, p in zip((basic, accurate, account), published)])
        groups.append(NAMES[item].replace("`", ""))
        values.append([(v, v, v) for v in (basic, accurate, account)])
    picture = svg.bars("Part of the running time that checkpoints take, every 7.5 and 10 s", "percent", groups, ["basic", "accurate", "accurate, pre-copied (Dome)"], values)
    head = ["percent", "basic", "accurate", "Dome's, by its account", "Dome's, by the clock", "at the paper's interval: basic (paper)", "accurate (paper)", "Dome's (pre-copying)"]
    return [Table(head, rows), Plot("stardust_2", "Percent of the running time by variant", picture)]


def summary(r):
    return "pre-copying, percent at the paper's interval: 0.21, 0.11; %s" % ", ".join(
        "%.4f" % (percent(r, item)[2] * SECONDS / INTERVALS[item] / PAPER[item][1]) for item in PROGRAMS if r.data(OVERHEAD.key, item))
