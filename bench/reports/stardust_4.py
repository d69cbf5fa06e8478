"""Stardust, Table 4."""

from reporting import svg
from reporting.parts import Failed, Part, Plot, Run, Table, Text
from reporting.rounds import ranged, spread
from reporting.saving import TARGETS, directory, hosts, restart, save
from reporting.verdict import Claim

TITLE = "Stardust, Table 4: saving and restoring a state"
SOURCE = "section 5.2.2, Table 4"
WHAT = """The cost of saving (S) the state of a program of matrices (three of 256 x 256 values, 1.5 MB), of starting its processes again (R),
and of loading its pages (P), by the number of processes."""
PUBLISHED_TEXT = """milliseconds, on a Paragon and on Pentiums with an Ethernet of 10 Mb/s. "Large variations of the restart times have been observed"."""
PUBLISHED = Table(["processes", "Paragon S", "R", "P", "Pentiums S", "R", "P"],
                  [["2", "1843", "about 2000", "1224", "1780", "about 2000", "1520"], ["4", "1975", "about 2000", "1863", "1909", "about 3000", "3430"],
                   ["8", "2046", "about 2000", "1866", "1660", "about 4000", "4320"]])
N = 256
MEGABYTES = 3 * N * N * 8 / 1e6
NODES = (2, 4, 8)


def run(context):
    where = hosts(int(context.item))
    found = save(context, where, MEGABYTES)
    found.update(restart(context, where, MEGABYTES))
    return found


PROGRAM = "bench/mm/mmregion"
LOADS = ("lazy", "whole")  # of --dome-restart-load
SAVED = 3  # products, with a checkpoint after each


def run_region(context):
    """Matmult on regions: seconds of a checkpoint for which the program waits, and of starting and loading, each way."""
    where, path = hosts(int(context.item)), directory(context)
    words = ["--rows", str(N), "--k", str(N), "--dome-checkpoint-dir", path, "--products"]
    first = Run(context.build, len(where), PROGRAM, words + [str(SAVED), "--dome-checkpoint-every", "1", "--dome-checkpoint-mode", "basic",
                                                             "--dome-checkpoint-copy", "wait", "--dome-profile"], hosts=where)
    first.end()
    checkpoints, found = first.checkpoints(), {}
    if not checkpoints or checkpoints[0] != SAVED:
        raise Failed("mmregion did not write %d checkpoints" % SAVED)
    found["disk"] = checkpoints[1] / SAVED
    for load in LOADS[::1 if context.round % 2 else -1]:
        again = Run(context.build, len(where), PROGRAM, words + [str(SAVED + 1), "--dome-checkpoint-every", "1000000", "--dome-restart",
                                                                 "--dome-restart-load", load], hosts=where)
        ready = again.wait_for("^begin ")
        again.end()
        if not ready:
            raise Failed("mmregion did not begin again")
        pages = again.values("begin")[0]
        found[load] = {"start": ready - again.begin - pages, "pages": pages}
    return found


SAVING = Part("restart", 5, [str(nodes) for nodes in NODES], 5, run, hosts=max(NODES), targets=TARGETS)
REGIONS = Part("restart-region", 5, [str(nodes) for nodes in NODES], 8, run_region, hosts=max(NODES), targets=TARGETS + ("figure6",))
PARTS = [SAVING, REGIONS]
DIFFERS = [
    "First Matmult itself on regions (`bench/mm/mmregion`), in shared memory as in the paper. S is what a checkpoint takes for which the program waits "
    "(`--dome-checkpoint-mode basic --dome-checkpoint-copy wait`). P is the time from the program's first line until each task has touched all pages "
    "that its products need: its rows of two matrices, and all of the third. *Lazy* (`--dome-restart-load lazy`) reads a page when it is first "
    "touched, as Stardust does; *whole* reads everything first.",
    "Then the same with vectors: the state is ten vectors of the same 1.5 MB in all (`bench/checkpoint_state`), of which everything changes.",
    "There S is the time until all of it is on disk; the program itself pauses for a part of it. R runs from `dome run --dome-restart` until "
    "all tasks are in the program, with PVM's daemons started by ssh on all hosts. P: every task reads its part at once; Stardust loads pages when "
    "they are touched.",
    "Hosts of a [lab](lab.md) on one machine and one disk; one kind of machine. The tests restart checkpoints on big-endian hosts "
    "(`cluster.test_byte_orders`), untimed, because those are emulated.",
]


def milliseconds(r, nodes, name, form="%.1f"):
    return ranged(r.values(SAVING.key, str(nodes), name), form, 1e3)


def region_values(r, nodes, load, name):
    return [1e3 * d[load][name] for d in r.data(REGIONS.key, str(nodes)).values()]


def region_row(r, nodes):
    saved = [1e3 * d["disk"] for d in r.data(REGIONS.key, str(nodes)).values()]
    return [str(nodes), ranged(saved, "%.1f")] + [ranged(region_values(r, nodes, load, name), form) for load in LOADS
                                                   for name, form in (("start", "%.0f"), ("pages", "%.2f"))]


def condense(r):
    rows = [[str(nodes)] + [milliseconds(r, nodes, name, form) for name, form in (("disk", "%.1f"), ("pause", "%.1f"), ("start", "%.0f"), ("reading", "%.2f"))]
            for nodes in NODES]
    picture = svg.bars("Saving, starting and reading 1.5 MB", "milliseconds", ["%d hosts" % nodes for nodes in NODES], ["save", "start", "read"],
                       [[spread([1e3 * v for v in r.values(SAVING.key, str(nodes), name)]) for name in ("disk", "start", "reading")] for nodes in NODES])
    return [Text("On regions, in milliseconds:"), Table(["hosts", "S"] + ["%s, %s" % (name, load) for load in LOADS for name in "RP"],
                                                          [region_row(r, nodes) for nodes in NODES]),
            Text("With vectors:"), Table(["hosts", "S, ms", "of it the program pauses", "R, ms", "P, ms"], rows),
            Plot("stardust_4", "Milliseconds by hosts", picture)]


NO_CLAIMS = ""
SSH = "PVM's daemons are started by ssh, each of which is a handshake on the processors that all hosts of the lab share."


def growth(r, part, value, most, least):
    """Round by round: on so many hosts over so many."""
    mine, theirs = r.data(part.key, str(most)), r.data(part.key, str(least))
    return [value(mine[k]) / value(theirs[k]) for k in sorted(set(mine) & set(theirs))]


DISK = "All hosts of the lab write to one disk, with a message to each that all is there."
ALL_READ = "Each task loads all of one matrix, so that the pages grow with the tasks; eight hosts of the lab share two processors and one disk."


def claims(r):
    found = []
    for part, what, start in ((REGIONS, "regions", lambda d: d["lazy"]["start"]), (SAVING, "vectors", lambda d: d["start"])):
        found += [Claim("%s: restart on 8 hosts over 2 (Pentiums: about 4000 over about 2000 ms)" % what, 2.0, growth(r, part, start, 8, 2), False,
                        why={"worse": SSH}),
                  Claim("%s: saving on 8 hosts over 2 (Pentiums: 1660 over 1780 ms)" % what, 1660 / 1780, growth(r, part, lambda d: d["disk"], 8, 2), False,
                        why={"worse": DISK})]
    return found + [
        Claim("regions: loading of pages on 8 hosts over 2 (Paragon, Pentiums)", (1866 / 1224, 4320 / 1520),
              growth(r, REGIONS, lambda d: d["lazy"]["pages"], 8, 2), False, why={"worse": ALL_READ}),
        Claim("S, R, P in milliseconds", None, [], incomparable="The milliseconds are those of a Paragon and of Pentiums of 1997.")]
