"""Runs of bench/figure6 as parts: a program in a setting, once in each round."""

import csv
import statistics

from . import svg
from .parts import Part, Plot, Table

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
EQUAL = Part("products-equal", ROUNDS, ALL, 28, in_setting("equal"), targets=TARGETS)
SLOW = Part("products-slow", ROUNDS, ALL, 48, in_setting("slow"), targets=TARGETS)
CHANGING = Part("products-changing", ROUNDS, ALL, 60, in_setting("changing"), targets=TARGETS)
FIRST_PHASE = Part("products-first-phase", ROUNDS, ["mmdome-early", "mmdome-late"], 40, in_setting("slow"), targets=TARGETS)
NEEDED = [SIZE, ALONE]


def spread(values):
    """Median, least, most; None of nothing."""
    return (statistics.median(values), min(values), max(values)) if values else None


def seconds(value):
    return "-" if value is None else "%.1f" % value


def times(value):
    return "-" if value is None else "%.2f" % value


def beside_1995(r, part, published, plot, title, caption):
    """The table and the plot of all programs in one setting. published: the seconds of 1995, by program."""
    rows = [[NAMES[name], seconds(r.median(part.key, name, "seconds")), times(r.ratio(part.key, name, "bound")), times(r.ratio(part.key, name, "mmdome-3")),
             times(published[name] / published["mmdome-3"] if name in published else None)]
            for name in ALL]
    picture = svg.bars(title, "seconds", [""], [NAMES[name] for name in ALL], [[spread(r.values(part.key, name, "seconds")) for name in ALL]])
    return [Table(["program", "seconds", "over the oracle", "over lb3", "over lb3 in 1995"], rows), Plot(plot, caption, picture)]


SET_UP = ["[Hosts and products](#hosts-and-products) are as described above."]
