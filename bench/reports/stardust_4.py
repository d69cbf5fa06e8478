"""Stardust, Table 4."""

from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.rounds import ranged, spread
from reporting.saving import TARGETS, hosts, restart, save
from reporting.verdict import Claim

TITLE = "Stardust, Table 4: saving and restoring a state"
SOURCE = "section 5.2.2, Table 4"
WHAT = """The cost of saving (S) the state of a program of matrices (three of 256 x 256 values, 1.5 MB), of starting its processes again (R),
and of loading its pages (P), by the number of processes."""
PUBLISHED_TEXT = """milliseconds, on a Paragon and on Pentiums with an Ethernet of 10 Mb/s. "Large variations of the restart times have been observed"."""
PUBLISHED = Table(["processes", "Paragon S", "R", "P", "Pentiums S", "R", "P"],
                  [["2", "1843", "about 2000", "1224", "1780", "about 2000", "1520"], ["4", "1975", "about 2000", "1863", "1909", "about 3000", "3430"],
                   ["8", "2046", "about 2000", "1866", "1660", "about 4000", "4320"]])
MEGABYTES = 3 * 256 * 256 * 8 / 1e6
NODES = (2, 4, 8)


def run(context):
    where = hosts(int(context.item))
    found = save(context, where, MEGABYTES)
    found.update(restart(context, where, MEGABYTES))
    return found


SAVING = Part("restart", 5, [str(nodes) for nodes in NODES], 5, run, hosts=max(NODES), targets=TARGETS)
PARTS = [SAVING]
DIFFERS = [
    "The state is ten vectors of the same 1.5 MB in all (`bench/checkpoint_state`), of which everything changes.",
    "S is the time until all of it is on disk; the program itself pauses for a part of it. R runs from `dome run --dome-restart` until "
    "all tasks are in the program, with PVM's daemons started by ssh on all hosts. P: every task reads its part at once; Stardust loads pages when "
    "they are touched.",
    "Hosts of a [lab](lab.md) on one machine and one disk; one kind of machine. The tests restart checkpoints on big-endian hosts "
    "(`cluster.test_byte_orders`), untimed, because those are emulated.",
]


def milliseconds(r, nodes, name, form="%.1f"):
    return ranged(r.values(SAVING.key, str(nodes), name), form, 1e3)


def condense(r):
    rows = [[str(nodes)] + [milliseconds(r, nodes, name, form) for name, form in (("disk", "%.1f"), ("pause", "%.1f"), ("start", "%.0f"), ("reading", "%.2f"))]
            for nodes in NODES]
    picture = svg.bars("Saving, starting and reading 1.5 MB", "milliseconds", ["%d hosts" % nodes for nodes in NODES], ["save", "start", "read"],
                       [[spread([1e3 * v for v in r.values(SAVING.key, str(nodes), name)]) for name in ("disk", "start", "reading")] for nodes in NODES])
    return [Table(["hosts", "S, ms", "of it the program pauses", "R, ms", "P, ms"], rows), Plot("stardust_4", "Milliseconds by hosts", picture)]


NO_CLAIMS = ""
SSH = "PVM's daemons are started by ssh, each of which is a handshake on the processors that all hosts of the lab share."


def growth(r, name, most, least):
    """Round by round: on so many hosts over so many."""
    mine, theirs = r.data(SAVING.key, str(most)), r.data(SAVING.key, str(least))
    return [mine[k][name] / theirs[k][name] for k in sorted(set(mine) & set(theirs))]


def claims(r):
    return [Claim("restart on 8 hosts over 2 (Pentiums: about 4000 over about 2000 ms)", 2.0, growth(r, "start", 8, 2), False, why={"worse": SSH}),
            Claim("saving on 8 hosts over 2 (Pentiums: 1660 over 1780 ms)", 1660 / 1780, growth(r, "disk", 8, 2), False,
                  why={"worse": "All hosts of the lab write to one disk, with a message to each that all is there."}),
            Claim("S, R, P in milliseconds", None, [], incomparable="The milliseconds are those of a Paragon and of Pentiums of 1997.")]
