"""Stardust, Table 4."""

from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.products import spread
from reporting.saving import TARGETS, hosts, restart, save

TITLE = "Stardust, Table 4: saving and restoring a state"
SOURCE = "section 5.2.2, Table 4"
WHAT = """The cost of saving (S) the state of a program of matrices (three of 256 x 256 values, 1.5 MB), of starting its processes again (R),
and of loading its pages (P), by the number of processes."""
PUBLISHED_TEXT = "milliseconds, on a Paragon and on Pentiums with an Ethernet of 10 Mb/s."
PUBLISHED = Table(["processes", "Paragon S", "R", "P", "Pentiums S", "R", "P"],
                  [["2", "1843", "2000", "1224", "1780", "2000", "1520"], ["4", "1975", "2000", "1863", "1909", "3000", "3430"],
                   ["8", "2046", "2000", "1866", "1660", "4000", "4320"]])
MEGABYTES = 3 * 256 * 256 * 8 / 1e6
NODES = (2, 4, 8)
PENTIUMS = {2: (1780, 2000, 1520), 4: (1909, 3000, 3430), 8: (1660, 4000, 4320)}


def run(context):
    where = hosts(int(context.item))
    found = save(context, where, MEGABYTES)
    found.update(restart(context, where, MEGABYTES))
    return found


SAVING = Part("restart", 5, [str(nodes) for nodes in NODES], 5, run, hosts=max(NODES), targets=TARGETS)
PARTS = [SAVING]
DIFFERS = [
    "The state is ten vectors of the same 1.5 MB in all (`bench/checkpoint_state`), of which everything changes.",
    "S is the time until all of it is on disk; the program itself pauses for the time in brackets. R runs from `dome run --dome-restart` until "
    "all tasks are in the program, with PVM's daemons started by ssh on all hosts. P: every task reads its part at once; Stardust loads pages when "
    "they are touched.",
    "Hosts of a [lab](lab.md) on one machine and one disk; one kind of machine. The tests restart checkpoints on big-endian hosts "
    "(`cluster.test_byte_orders`), untimed, because those are emulated.",
]


def middle(r, nodes, name):
    values = r.values(SAVING.key, str(nodes), name)
    return 1e3 * spread(values)[0] if values else None


def cell(value, form="%.1f"):
    return "-" if value is None else form % value


def condense(r):
    rows = []
    for nodes in NODES:
        ours = [middle(r, nodes, name) for name in ("disk", "start", "reading")]
        over = [p / v if v else None for p, v in zip(PENTIUMS[nodes], ours)]
        rows.append([str(nodes), "%s (%s)" % (cell(ours[0]), cell(middle(r, nodes, "pause"), "%.2f")), cell(ours[1], "%.0f"), cell(ours[2], "%.2f")] +
                    [cell(v, "%.0f") for v in over])
    picture = svg.bars("Saving, starting and reading 1.5 MB", "milliseconds", ["%d hosts" % nodes for nodes in NODES], ["save", "start", "read"],
                       [[spread([1e3 * v for v in r.values(SAVING.key, str(nodes), name)]) for name in ("disk", "start", "reading")] for nodes in NODES])
    return [Table(["hosts", "S, ms (pause)", "R, ms", "P, ms", "Pentiums over ours: S", "R", "P"], rows), Plot("stardust_4", "Milliseconds by hosts", picture)]


def summary(r):
    return "8 processes, S, R, P: 1660, 4000, 4320 ms; %s ms" % ", ".join(cell(middle(r, 8, name), "%.0f") for name in ("disk", "start", "reading"))
