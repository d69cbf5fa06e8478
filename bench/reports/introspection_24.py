"""Process Introspection, Table 7.24, and what else an image costs in memory."""

from reporting import introspection as I
from reporting.parts import Table, Text

TITLE = "Process Introspection, Table 7.24: functions for each type, deep calls, large data"
SOURCE = "section 7.6, Table 7.24"
WHAT = """What it gains that the translator writes functions that convert a type, where otherwise the description of the type is walked; and
what an image costs of flat arrays, of a graph of structs, and of many active functions (`bench/capture`: images in memory)."""
PUBLISHED_TEXT = "milliseconds on a Pentium of 200 MHz, without and with such functions. Elsewhere: 25 to 43 MB/s for arrays, 3.6 to 4.1 MB/s for structs."
PUBLISHED = Table(["program", "checkpoint without", "with", "ratio", "restart without", "with", "ratio"],
                  [["fasta", "777.18", "655.87", "1.18", "826.49", "715.05", "1.16"], ["sw", "283.02", "236.86", "1.19", "320.06", "272.31", "1.18"]])
PARTS = [I.MEMORY_PART]
CACHED = "particles in the cache"
DIFFERS = ["The data are 256 MB of doubles in four arrays, 10^6 structs with three pointers each to others drawn at random, 10^6 structs of numbers of "
           "four sizes in an array (and 20,000, which the processor's caches hold), and functions that call themselves. Images are taken and restored in memory, in the processor's time."]


def value(r, item, how, name):
    return I.median([d[how][name] for d in r.data(I.MEMORY_PART.key, item).values() if how in d])


def condense(r):
    rows = []
    for item in ("graph", "particles", CACHED):
        if r.data(I.MEMORY_PART.key, item):
            v = {(how, name): value(r, item, how, name) for how in ("table", "functions") for name in ("taken", "restored")}
            rows.append([item] + [I.cell(x, f) for name in ("taken", "restored") for x, f in
                                  ((v["table", name], "%.3g"), (v["functions", name], "%.3g"), (v["table", name] / v["functions", name], "%.2f"))])
    rates = [[item, I.cell(value(r, item, "functions", "memory")), I.cell(value(r, item, "functions", "taken_rate"), "%.0f"),
              I.cell(value(r, item, "functions", "restored_rate"), "%.0f"), I.cell(value(r, item, "functions", "restored"), "%.3g")]
             for item in ("flat", "graph", "particles", CACHED) if r.data(I.MEMORY_PART.key, item)]
    deep = [[item[5:], I.cell(I.median(r.values(I.MEMORY_PART.key, item, "capture"))), I.cell(I.median(r.values(I.MEMORY_PART.key, item, "resume")))]
            for item in I.MEMORY if item.startswith("deep") and r.data(I.MEMORY_PART.key, item)]
    return [Text("By the types' descriptions, and by functions; milliseconds."),
            Table(["data", "taken, table", "functions", "ratio", "restored, table", "functions", "ratio"], rows),
            Table(["data", "MB in memory", "taken, MB/s", "restored, MB/s", "restored, ms"], rates),
            Text("Nanoseconds for each active function."), Table(["active functions", "called and captured", "resumed and returned"], deep), Text(verdict(r))]


def verdict(r):
    targets = [("flat", "taken_rate", 2000, "flat arrays 2000 MB/s"), ("graph", "taken_rate", 150, "the graph 150 MB/s")]
    missed = [text for item, name, least, text in targets if (value(r, item, "functions", name) or least) < least]
    seconds = value(r, "graph", "functions", "restored")
    if seconds and seconds > 2000:
        missed.append("the graph's restart below 2 s")
    ratios = {item: value(r, item, "table", "taken") / value(r, item, "functions", "taken") for item in ("particles", CACHED) if r.data(I.MEMORY_PART.key, item)}
    if ratios.get(CACHED, ratios.get("particles", 3)) < 3:
        missed.append("functions 3 times as fast as the table (%.1f)" % ratios.get(CACHED, ratios.get("particles")))
    beyond = " Beyond the caches functions are %.1f times as fast as the table, and as fast as the memory." % ratios["particles"] if CACHED in ratios else ""
    return ("Wanted: flat arrays at 2000 MB/s, the graph at 150 MB/s and restored within 2 s, functions 3 times as fast as the table, time linear in the "
            "depth up to 10^5 functions. ") + ("Missed: %s." % "; ".join(missed) if missed else "Reached.") + beyond


def summary(r):
    rates = [value(r, item, "functions", "taken_rate") for item in ("flat", "graph")]
    return "arrays and structs, MB/s: 25 to 43 and 3.6 to 4.1, %s and %s" % tuple(I.cell(v, "%.0f") for v in rates)
