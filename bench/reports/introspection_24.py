"""Process Introspection, Table 7.24, and what else an image costs in memory."""

from reporting import introspection as I
from reporting.parts import Table, Text
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "Process Introspection, Table 7.24: functions for each type, deep calls, large data"
SOURCE = "section 7.6, Table 7.24"
WHAT = """What it gains that the translator writes functions that convert a type, where otherwise the description of the type is walked; and
what an image costs of flat arrays, of a graph of structs, and of many active functions (`bench/capture`: images in memory)."""
PUBLISHED_TEXT = """milliseconds on a Pentium of 200 MHz, without and with such functions: "a 12%%-15%% reduction in state capture and recovery costs".
The ratios are computed, and so is what its checkpoints take for their bytes: %s MB/s of arrays, %s MB/s of structs with pointers."""
PUBLISHED = Table(["program", "checkpoint without", "with", "computed: ratio", "restart without", "with", "computed: ratio"],
                  [["fasta", "777.18", "655.87", "1.18", "826.49", "715.05", "1.16"], ["sw", "283.02", "236.86", "1.19", "320.06", "272.31", "1.18"]])


def rates(*names):
    """From the slowest to the fastest, in MB/s, of the thesis's checkpoints."""
    found = [v[0] / v[1] / 1e3 for name, v in I.THESIS_CHECKPOINTS.items() if name in names]
    return "%.1f to %.1f" % (min(found), max(found))


PUBLISHED_TEXT %= (rates("mm", "gs", "qs", "ge", "cg", "is", "mg", "nas-cg"), rates("fasta", "sw"))
PARTS = [I.MEMORY_PART]
CACHED = "particles in the cache"
DIFFERS = ["The data are 256 MB of doubles in four arrays, 10^6 structs with three pointers each to others drawn at random, 10^6 structs of numbers of "
           "four sizes in an array (and 20,000, which the processor's caches hold), and functions that call themselves. Images are taken and restored in memory, in the processor's time."]


DATA = ("graph", "particles", CACHED)


def values(r, item, how, name):
    return [d[how][name] for d in r.data(I.MEMORY_PART.key, item).values() if how in d]


def gains(r, item, name):
    """Round by round: the table's time over that of functions."""
    return [d["table"][name] / d["functions"][name] for d in r.data(I.MEMORY_PART.key, item).values() if "table" in d]


def condense(r):
    rows = [[item] + [text for name in ("taken", "restored")
                      for text in (ranged(values(r, item, "table", name), "%.3g"), ranged(values(r, item, "functions", name), "%.3g"), ranged(gains(r, item, name)))]
            for item in DATA if r.data(I.MEMORY_PART.key, item)]
    rates_ = [[item] + [ranged(values(r, item, "functions", name), form) for name, form in
                        (("memory", "%.1f"), ("taken_rate", "%.0f"), ("restored_rate", "%.0f"), ("restored", "%.3g"))]
              for item in ("flat",) + DATA if r.data(I.MEMORY_PART.key, item)]
    deep = [[item[5:], ranged(r.values(I.MEMORY_PART.key, item, "capture"), "%.1f"), ranged(r.values(I.MEMORY_PART.key, item, "resume"), "%.1f")]
            for item in I.MEMORY if item.startswith("deep") and r.data(I.MEMORY_PART.key, item)]
    return [Text("By the types' descriptions, and by functions; milliseconds."),
            Table(["data", "taken, table", "functions", "ratio", "restored, table", "functions", "ratio"], rows),
            Table(["data", "MB in memory", "taken, MB/s", "restored, MB/s", "restored, ms"], rates_),
            Text("Nanoseconds for each active function."), Table(["active functions", "called and captured", "resumed and returned"], deep), Text(wanted(r))]


def target(text, found, least=None, most=None, form="%.0f"):
    """What was wanted, and whether the median has it; "" of nothing."""
    middle = I.median(found)
    if middle is None:
        return ""
    good = middle >= least if least is not None else middle <= most
    return "%s: %s (%s)" % (text, "reached" if good else "**missed**", form % middle)


def wanted(r):
    lines = [target("flat arrays at 2000 MB/s", values(r, "flat", "functions", "taken_rate"), 2000),
             target("the graph at 150 MB/s", values(r, "graph", "functions", "taken_rate"), 150),
             target("and restored within 2 s", [v / 1e3 for v in values(r, "graph", "functions", "restored")], most=2, form="%.2f s")]
    lines += [target("functions 3 times as fast as the table, %s" % item, gains(r, item, "taken"), 3, form="%.2f") for item in DATA]
    by_depth = [I.median(r.values(I.MEMORY_PART.key, item, "capture")) for item in ("deep 10^3", "deep 10^5")]
    if None not in by_depth:
        lines.append(target("time linear in the depth, one of 10^5 functions at most 1.5 times one of 10^3", [by_depth[1] / by_depth[0]], most=1.5, form="%.2f"))
    return "Wanted (medians): %s." % "; ".join(line for line in lines if line)


NO_CLAIMS = ""
POINTERS = "In a graph the time is that of finding the blocks which pointers lead to, with functions or without."
PLAIN = "Structs of numbers alone are copied by a loop that the compiler sees; the thesis's have pointers."


def claims(r):
    return [Claim("%s: time without functions over with them, checkpoint (fasta and sw)" % item, (777.18 / 655.87, 283.02 / 236.86), gains(r, item, "taken"),
                  why={"worse": POINTERS, "better": PLAIN}) for item in DATA] + [
        Claim("MB/s", None, [], incomparable="The milliseconds and MB/s are those of a Pentium of 200 MHz.")]
