"""Starfish, Figure 3."""

from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.rounds import ranged, spread
from reporting.saving import TARGETS, hosts, save
from reporting.verdict import Claim

TITLE = "Starfish, Figure 3: time of a checkpoint, native"
SOURCE = "section 5, Figure 3"
WHAT = """The time of one checkpoint by its size, on one, two and four nodes. In Starfish all processes stop and dump themselves to disk; the
checkpoint fits machines of the same kind. Here the time from the call of `dome_checkpoint` until the state is on disk, and the pause,
after which the program computes while a thread writes."""
PUBLISHED_TEXT = """an empty program (632 KB) takes the seconds in the table; the largest file has 135 MB. A plot, without more figures: "the checkpoint
time grows linearly with the size of the checkpointed data. The checkpointing time is on the order of seconds\"."""
PUBLISHED = Table(["size for each node", "1 node", "2 nodes", "4 nodes"], [["632 KB", "0.104061 s", "0.131898 s", "0.149219 s"]])
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
    "The nodes are hosts of a [lab](lab.md) and share one disk and two processors; in Starfish each is a Pentium II of 300 MHz with an "
    "IDE disk. So the time for four nodes is the time of four times the bytes.",
    "Mean of three checkpoints one after the other, with all of the state changed before each, with the end of the program (some "
    "milliseconds).",
]


def values(r, nodes, size, name):
    return [d[size][name] for d in r.data(SAVING.key, str(nodes)).values() if size in d]


def sizes_of(r, smallest, largest):
    found = sorted({size for nodes in NODES for d in r.data(SAVING.key, str(nodes)).values() for size in d}, key=float)
    return [size for size in found if smallest <= float(size) <= largest] or found


def condense(r, largest=135.0, smallest=0.632, name="starfish_3", title="Checkpoint of Dome on hosts of a lab"):
    sizes, rows, pauses, series = sizes_of(r, smallest, largest), [], [], []
    for size in sizes:
        files = [v / 1e6 for v in values(r, 1, size, "bytes")]
        rows.append(["%s MB" % size, ranged(files, "%.3f") + " MB"] + [ranged(values(r, nodes, size, "disk"), "%.3f") for nodes in NODES])
        pauses.append(["%s MB" % size] + [ranged(values(r, nodes, size, "pause"), "%.3f") for nodes in NODES])
    for what, kind in (("disk", "line"), ("pause", "dashed")):
        for nodes in NODES:
            points = [(float(size),) + spread(values(r, nodes, size, what)) for size in sizes if values(r, nodes, size, what)]
            if points:
                series.append(("%d: %s" % (nodes, "on disk" if what == "disk" else "pause"), points, kind))
    picture = svg.lines(title, "MB for each node", "seconds", series, xlog=True, ylog=True)
    return [Table(["seconds until all is on disk: values for each node", "file of one node", "1 node", "2 nodes", "4 nodes"], rows),
            Table(["seconds of the pause", "1 node", "2 nodes", "4 nodes"], pauses), Plot(name, "Seconds of a checkpoint by size and nodes", picture)]


NO_CLAIMS = ""
ONE_DISK = "Four nodes of a lab write four times the bytes to one disk, by two processors; those of Starfish are machines of their own."
SECONDS = "The seconds are those of Pentium II machines of 300 MHz with IDE disks."


def growth(r, size):
    """Round by round: the time on four nodes over that on one."""
    one, four = r.data(SAVING.key, "1"), r.data(SAVING.key, "4")
    return [four[k][size]["disk"] / one[k][size]["disk"] for k in sorted(set(one) & set(four)) if size in one[k] and size in four[k]]


def claims(r):
    return [Claim("632 KB: four nodes over one", 0.149219 / 0.104061, growth(r, "0.632"), False, why={"worse": ONE_DISK}),
            Claim("632 KB on 1, 2, 4 nodes, in seconds", None, [], incomparable=SECONDS)]
