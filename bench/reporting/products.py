"""Runs of bench/figure6 as parts: a program in a setting, once in each round."""

import csv

from . import svg
from .parts import Part, Plot, Table
from .rounds import ranged, spread
from .verdict import Claim

NAMES = {"mmpvmopt": "PVM, fast", "mmpvm": "PVM, plain", "mmdome-none": "no balancing", "mmdome-1": "lb1", "mmdome-2": "lb2", "mmdome-3": "lb3",
         "mmdome": "Dome's default"}
ALL = list(NAMES)
PRODUCTS, K = 240, 256
WORK = 30.0  # seconds of a processor that the 240 products shall take
ROUNDS = 5
TARGETS = ("figure6",)


def size(context):
    """Rows of X, products."""
    if context.quick:
        return 480, 20
    return context.value("products-size", "rows", 1)["rows"], PRODUCTS


def measure(context, setting, words, program=None):
    """One line of figure6's table."""
    rows, products = size(context)
    k = 32 if context.quick else K
    words = ["--settings", setting, "--rounds", "1", "--first", str(context.round), "--k", str(k)] + words
    words += [] if "--rows" in words else ["--rows", str(rows)]
    words += [] if "--products" in words else ["--products", str(products)]
    words += ["--programs", program] if program else ["--alone"]
    with open(context.bench("figure6", words, "times.csv")) as file:
        row = next(r for r in csv.DictReader(file) if r["program"] == (program or "mmseq"))
    return {name: float(row[name]) for name in ("seconds", "half", "processor", "bound") if row[name]}


def find_rows(context):
    """How many rows make 240 products as long as WORK says: the same in all rounds on one machine."""
    if context.quick:
        return {"rows": 480}
    row = None
    for rows in (960, 4800, 48000):
        with open(context.bench("figure6", ["--settings", "equal", "--alone", "--share", "25", "--rounds", "1", "--rows", str(rows), "--k", str(K),
                                            "--products", "24"], "times.csv")) as file:
            row = next(csv.DictReader(file))
        if float(row["processor"]) > 0.5:
            break
    return {"rows": max(480, round(rows * WORK / (10 * float(row["processor"])) / 96) * 96), "processor": float(row["processor"])}


def alone(context):
    return measure(context, "equal", [])


def in_setting(setting, words=(), part_of_work=1.0, rows=1.0):
    """A run of one program; the work of the sequential program is known from this round."""
    def run(context):
        work = context.value("products-alone", "mmseq")["processor"] * part_of_work * rows
        all_rows, products = size(context)
        more = list(words) + ["--work", "%.6f" % max(work, 1e-6)]
        if rows != 1.0:
            more += ["--rows", str(int(all_rows * rows) // 8 * 8)]
        if part_of_work != 1.0:
            more += ["--products", str(max(20, int(products * part_of_work)))]
        return measure(context, setting, more, context.item)

    return run


SIZE = Part("products-size", 1, ["rows"], 20, find_rows, targets=TARGETS)
ALONE = Part("products-alone", ROUNDS, ["mmseq"], 130, alone, targets=TARGETS)
EQUAL = Part("products-equal", ROUNDS, ALL, 28, in_setting("equal"), targets=TARGETS, needs=ALONE)
SLOW = Part("products-slow", ROUNDS, ALL, 48, in_setting("slow"), targets=TARGETS, needs=ALONE)
CHANGING = Part("products-changing", ROUNDS, ALL, 60, in_setting("changing"), targets=TARGETS, needs=ALONE)
FIRST_PHASE = Part("products-first-phase", ROUNDS, ["mmdome-early", "mmdome-late"], 40, in_setting("slow"), targets=TARGETS, needs=ALONE)
NEEDED = [SIZE, ALONE]

# The mean seconds of Figure 6, by experiment and program.
SECONDS_1995 = {EQUAL.key: {"mmseq": 655, "mmpvmopt": 109, "mmpvm": 171, "mmdome-none": 174, "mmdome-3": 184},
                SLOW.key: {"mmseq": 1964, "mmpvmopt": 380, "mmpvm": 451, "mmdome-none": 671, "mmdome-3": 335},
                CHANGING.key: {"mmseq": 498, "mmpvmopt": 179, "mmpvm": 287, "mmdome-none": 276, "mmdome-3": 199}}
EXPERIMENTS = {EQUAL.key: "equal", SLOW.key: "one slow", CHANGING.key: "changing"}


def published(part, *programs):
    """A row of the paper's table of seconds."""
    return ["%d" % SECONDS_1995[part.key][p] for p in programs]


def over_1995(part, program, other="mmdome-3"):
    seconds = SECONDS_1995[part.key]
    return seconds[program] / seconds[other] if program in seconds and other in seconds else None


def seconds(r, part, program, name="seconds"):
    return ranged(r.values(part.key, program, name), "%.1f")


def times(r, part, program, other):
    return ranged(r.ratios(part.key, program, other))


KERNEL = """`mmpvmopt` was fast in 1995 by "better register usage by the compiler and fewer cache misses" in its product; here one BLAS multiplies in
all programs, so that what is left of its lead is not what the paper measured."""


def held(r, part, program, other, more=True, why=None, text=None):
    """A claim about the time of one program over another's."""
    return Claim("%s: %s" % (EXPERIMENTS[part.key], text or "%s over %s" % (NAMES[program], NAMES[other])), over_1995(part, program, other),
                 r.ratios(part.key, program, other), more, incomparable=KERNEL if "mmpvmopt" in (program, other) else "", why=why)


def beside_1995(r, part, plot, title, caption):
    """The table and the plot of all programs in one setting, with the ratios of 1995."""
    rows = [[NAMES[name], seconds(r, part, name), times(r, part, name, "bound"), times(r, part, name, "mmdome-3"),
             "%.2f" % over_1995(part, name) if over_1995(part, name) else "-"] for name in ALL]
    picture = svg.bars(title, "seconds", [""], [NAMES[name] for name in ALL], [[spread(r.values(part.key, name, "seconds")) for name in ALL]])
    return [Table(["program", "seconds", "over the oracle", "over lb3", "over lb3 in 1995"], rows), Plot(plot, caption, picture)]


SET_UP = ["[Hosts and products](#hosts-and-products) are as described above."]
