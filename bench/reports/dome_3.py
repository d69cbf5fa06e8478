"""Dome 1995, Figure 3."""

import os
import subprocess

from lab import LAB, set_shares
from reporting import svg
from reporting.parts import Part, Plot, Run, Table, Text
from reporting.products import K, SET_UP, SIZE, size

TITLE = "Dome, Figure 3: mappings and loads over time"
SOURCE = "section 5.1, Figure 3"
WHAT = """The display of the tool that shows a run: above, which machine holds which part of a vector; below, how loaded the machines are. A
vector can move "off its ends": what lies at the one end goes to the task at the other."""
PUBLISHED_TEXT = """a picture without figures. "The loads are indicated by the amount of time spent computing on dVectors"."""
PUBLISHED = None
HOSTS = ["h%d" % i for i in range(1, 7)]
SHARE = 25
# Seconds, host, percent: a host becomes slow, then another one, then both are as before.
EVENTS = [(10, "h2", 8), (25, "h5", 12), (40, "h2", 25), (50, "h5", 25)]
END = 60.0


def read_trace(path, rows):
    """Layouts of the vectors of so many elements, and samples by task, in seconds of the file's first time."""
    begin, task, layouts, samples = None, None, [], {}
    with open(path) as lines:
        for line in lines:
            words = line.split()
            if words[0] == "H":
                begin = int(words[1])
            elif words[0] == "T":
                task = words[1]
            elif words[0] == "y" and int(words[3]) == rows:
                start, counts = int(words[5]), [int(w) for w in words[6:]]
                layouts.append(((int(words[1]) - begin) * 1e-9, start, counts))
            elif words[0] == "s":
                samples.setdefault(int(task), []).append(((int(words[1]) - begin) * 1e-9, int(words[3]) * 1e-9))
    return layouts, samples


def loads(samples, begin, every):
    """The part of each window of time in which a task did not wait for others."""
    points, window = [], None
    for when, waited in samples:
        if window and when - window[0] >= every:
            points.append([round((when + window[0]) / 2 - begin, 2), round(1 - min(1, max(0, (waited - window[1]) / (when - window[0]))), 3)])
        if not window or when - window[0] >= every:
            window = (when, waited)
    return [p for p in points if p[0] >= 0]


def run(context):
    rows, _ = size(context)
    scale, k, products = (0.1, 32, 2000) if context.quick else (1.0, K, 650)
    set_shares(dict.fromkeys(HOSTS, SHARE))
    events, trace = os.path.join(context.work, "events"), os.path.join(context.work, "trace")
    with open(events, "w") as file:
        file.writelines("%g cpu %s %d\n" % (when * scale, host, percent) for when, host, percent in EVENTS)
    program = Run(context.build, len(HOSTS), "bench/mm/mmdome",
                  ["--rows", str(rows), "--k", str(k), "--products", str(products), "--dome-trace", trace], hosts=HOSTS)
    begun = program.wait_for(r"^begin$")
    player = subprocess.Popen([LAB, "play", events], stdin=subprocess.DEVNULL)
    program.end()
    player.terminate()
    player.wait()
    layouts, samples = read_trace(trace, rows)
    begin = layouts[0][0] + (begun - program.begin if not layouts[1:] else 0)
    first = min(s[0][0] for s in samples.values())
    begin = max(layouts[0][0], first)
    step = max(1, len(layouts) // 200)
    kept = layouts[::step]
    end = max(points[-1][0] for points in samples.values())
    return {"end": round(end - begin, 2), "moves": len(layouts) - 1, "scale": scale,
            "layouts": [[round(max(0.0, when - begin), 2), start, counts] for when, start, counts in kept],
            "loads": [loads(samples[task], begin, 1.0 * scale) for task in sorted(samples)]}


TRACE = Part("trace", 1, ["mmdome"], 70, run, hosts=len(HOSTS), targets=("figure6",))
PARTS = [SIZE, TRACE]
DIFFERS = SET_UP + [
    "h2 has a third of its share from second 10 to 40, h5 half of it from second 25 to 50. The load is the part of its time in which a task "
    "computes and does not wait for others; in 1995 it was the time spent computing on vectors.",
    "The page of `dome view` shows the same for any program ([tracing.md](tracing.md)).",
]


def segments(start, counts):
    """Parts of the vector by task; one that passes the end is two."""
    total, at, found = sum(counts), start, []
    for task, count in enumerate(counts):
        low, high = at / total, (at + count) / total
        found += [(low, min(high, 1.0), task)] + ([(0.0, high - 1.0, task)] if high > 1.0 else []) if low < 1.0 else [(low - 1, high - 1, task)]
        at += count
    return found


def condense(r):
    data = next(iter(r.data(TRACE.key, "mmdome").values()))
    times = [layout[0] for layout in data["layouts"]] + [data["end"]]
    names = ["h%d" % (k + 1) for k in range(len(data["loads"]))]
    picture = svg.bands("Who holds which part of the vector, and what part of its time a host computes", "seconds", times,
                        [segments(start, counts) for _, start, counts in data["layouts"]], data["loads"], names, ["part of the vector", "computing"])
    rows = []
    for when, text in ((9, "before"), (24, "h2 slow"), (39, "h2 and h5 slow"), (49, "h5 slow"), (59, "as before")):
        counts = [layout[2] for layout in data["layouts"] if layout[0] <= when * data["scale"]][-1]
        rows.append(["%d s, %s" % (when, text)] + ["%.1f %%" % (100 * count / sum(counts)) for count in counts])
    return [Text("Data moved %d times in %.0f s." % (data["moves"], data["end"])), Table(["part of the vector"] + names, rows),
            Plot("dome_3", "Mapping of a vector and load of six hosts over time", picture)]


NO_CLAIMS = "The paper has a picture and no figures; the table says what ours shows."


def claims(r):
    return []
