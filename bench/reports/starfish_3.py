"""Starfish, Figure 3."""

from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.products import spread
from reporting.saving import TARGETS, hosts, save

TITLE = "Starfish, Figure 3: time of a checkpoint, native"
SOURCE = "section 5, Figure 3"
WHAT = """The time of one checkpoint by its size, on one, two and four nodes. In Starfish all processes stop and dump themselves to disk; the
checkpoint fits machines of the same kind. Here the time from the call of `dome_checkpoint` until the state is on disk, and the pause,
after which the program computes while a thread writes."""
PUBLISHED_TEXT = """an empty program (632 kB) takes the seconds in the table; sizes go up to 135 MB, times grow linearly with size and are on the order of
seconds (a plot, without more figures)."""
PUBLISHED = Table(["size for each node", "1 node", "2 nodes", "4 nodes"], [["632 kB", "0.104 s", "0.132 s", "0.149 s"]])
SIZES = (0.26, 0.632, 8, 32, 96, 135)  # MB for each node: those of Figures 3 and 4
NODES = (1, 2, 4)


def run(context):
    nodes = int(context.item)
    sizes = (0.26, 1) if context.quick else SIZES
    return {"%g" % size: save(context, hosts(nodes), size * nodes) for size in sizes}


SAVING = Part("checkpoint-sizes", 5, [str(nodes) for nodes in NODES], 35, run, hosts=max(NODES), targets=TARGETS)
PARTS = [SAVING]
DIFFERS = [
    "Dome writes the values of a program's objects in a portable form, not an image of the process. There is no native form beside it, so "
    "Figures 3 and 4 rest on the same measurement.",
    "The nodes are hosts of a [lab](lab.md) and share one disk and two processors; in Starfish each is a Pentium II of 300 MHz with an IDE disk "
    "of its own. So the time for four nodes is the time of four times the bytes.",
    "Mean of three checkpoints one after the other, with all of the state changed before each, with the end of the program (some "
    "milliseconds).",
]


def values(r, nodes, size, name):
    return [d[size][name] for d in r.data(SAVING.key, str(nodes)).values() if size in d]


def condense(r, largest=135.0, smallest=0.632, name="starfish_3", title="Checkpoint of Dome on hosts of a lab"):
    sizes = sorted({size for nodes in NODES for d in r.data(SAVING.key, str(nodes)).values() for size in d}, key=float)
    sizes = [size for size in sizes if smallest <= float(size) <= largest] or sizes
    rows, series = [], []
    for size in sizes:
        cells = []
        for nodes in NODES:
            seen = spread(values(r, nodes, size, "disk"))
            pause = spread(values(r, nodes, size, "pause"))
            cells.append("%.3f s (%.4f s)" % (seen[0], pause[0]) if seen else "-")
        rows.append(["%s MB" % size] + cells)
    for what, kind in (("disk", "line"), ("pause", "dashed")):
        for nodes in NODES:
            points = [(float(size),) + spread(values(r, nodes, size, what)) for size in sizes if values(r, nodes, size, what)]
            if points:
                series.append(("%d: %s" % (nodes, "on disk" if what == "disk" else "pause"), points, kind))
    picture = svg.lines(title, "MB for each node", "seconds", series, xlog=True, ylog=True)
    return [Table(["size for each node: on disk (pause)", "1 node", "2 nodes", "4 nodes"], rows), Plot(name, "Seconds of a checkpoint by size and nodes", picture)]


def summary(r, size="0.632", published=(0.104, 0.132, 0.149)):
    cells = [spread(values(r, nodes, size, "disk")) for nodes in NODES]
    return "%s MB on 1, 2, 4 nodes: %s s, %s s" % (size, ", ".join("%.3f" % p for p in published), ", ".join("%.3f" % c[0] if c else "-" for c in cells))
