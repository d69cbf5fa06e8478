"""What the figures of Ha's thesis on CAPE share: the product of matrices by CAPE's two ways, by MPI by hand, and by OpenMP over tasks."""

import os
import re
import shutil
import subprocess

from .parts import Failed, Part, Table, Unable, run_command
from .rounds import ranged

THESIS = "V. H. Ha, thesis 2012TELE0042, Telecom SudParis, 2012"
TARGETS = ("bench_cape",)
WAYS = {"cape1": "CAPE-1: whole images", "cape2": "CAPE-2: updates everywhere", "by_hand": "MPI by hand", "openmp": "OpenMP, this library"}
NODES = (3, 7, 11, 15, 31)
SIZES = (375, 750, 1125, 1500)
LARGEST = SIZES[-1]
PUBLISHED_SIZES = dict(zip(SIZES, ("3,000", "6,000", "9,000", "12,000")))
PHASES = ("init", "before", "compute", "update")
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def figures(line):
    """Names and numbers of a line of result."""
    words = line.split()
    return {"bits": words[1], **{name: float(value) for name, value in zip(words[2::2], words[3::2])}}


def openmp(context, tasks, arguments, threads=None):
    """On so many tasks; with the messages that its profile has."""
    dome = os.path.join(context.build, "tools", "dome")
    command = [dome, "run", "-n", str(tasks), os.path.join(context.build, "bench/cape/tasks")] + arguments + ["--dome-profile"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=1200,
                          env=dict(os.environ, OMP_NUM_THREADS=str(threads or tasks)))
    if done.returncode != 0:
        raise Failed("dome run ended with status %d: %s" % (done.returncode, (done.stderr.strip() or "no words").splitlines()[-1]))
    counts = re.findall(r"(\d+) messages, ([0-9.]+) MB in all", done.stderr)
    found = figures(next(line for line in done.stdout.splitlines() if line.startswith("result ")))
    return {**found, "messages": sum(int(c) for c, _ in counts), "bytes": 1e6 * sum(float(b) for _, b in counts)}


def program(context, way, nodes, arguments):
    if way == "openmp":
        return openmp(context, nodes, arguments)
    path = os.path.join(context.build, "bench/cape", way)
    if not os.path.exists(path) or not shutil.which("mpirun"):
        raise Unable("an MPI is needed (libopenmpi-dev)")
    os.environ.update(ENVIRONMENT)
    return figures(run_command(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(nodes), path] + arguments).strip())


def all_ways(context, nodes, size, ways=tuple(WAYS)):
    """In turns, another one first in each round; all results have the same bits."""
    turn = context.round % len(ways)
    found = {way: program(context, way, nodes, ["matrix", str(size)]) for way in ways[turn:] + ways[:turn]}
    if len({f["bits"] for f in found.values()}) != 1:
        raise Failed("the results differ: %s" % {way: f["bits"] for way, f in found.items()})
    return found


def by_nodes(context):
    return all_ways(context, int(context.item), 150 if context.quick else LARGEST)


def by_size(context):
    return all_ways(context, 5 if context.quick else NODES[-1], int(context.item) // (10 if context.quick else 1))


def alone(context):
    """The sequential program, gcc's OpenMP with two threads, and two tasks."""
    size = str(int(context.item) // (10 if context.quick else 1))
    folder = os.path.join(context.build, "bench/cape")
    if not os.path.exists(os.path.join(folder, "threads")):
        raise Unable("a compiler with OpenMP is needed")
    os.environ["OMP_NUM_THREADS"] = "2"
    turns = [("sequential", lambda: figures(run_command([os.path.join(folder, "sequential"), "matrix", size]))),
             ("threads", lambda: figures(run_command([os.path.join(folder, "threads"), "matrix", size]))),
             ("tasks", lambda: openmp(context, 2, ["matrix", size]))]
    turn = context.round % len(turns)
    return {name: run() for name, run in turns[turn:] + turns[:turn]}


def by_threads(context):
    """gcc's OpenMP with so many threads, and so many tasks with a thread each."""
    count, size = int(context.item), "150" if context.quick else str(LARGEST)
    path = os.path.join(context.build, "bench/cape/threads")
    if not os.path.exists(path):
        raise Unable("a compiler with OpenMP is needed")
    os.environ["OMP_NUM_THREADS"] = str(count)
    found = {"threads": figures(run_command([path, "matrix", size]))}
    return {**found, "tasks": openmp(context, count, ["matrix", size])}


BY_NODES = Part("cape-nodes", 5, [str(n) for n in NODES], 30, by_nodes, targets=TARGETS)
BY_SIZE = Part("cape-sizes", 5, [str(n) for n in SIZES], 30, by_size, targets=TARGETS)
ALONE = Part("cape-one-node", 5, [str(n) for n in SIZES], 10, alone, targets=TARGETS)
BY_THREADS = Part("cape-threads", 5, ["1", "2", "4", "8"], 10, by_threads, targets=TARGETS)


def values(r, part, item, way, name):
    return [d[way][name] for d in r.data(part.key, str(item)).values() if way in d]


def over(r, part, item, way, other, name="seconds"):
    """Round by round: of one way over another's."""
    return [d[way][name] / d[other][name] for d in r.data(part.key, str(item)).values() if d.get(other, {}).get(name)]


def between_items(r, part, item, other, way, name="seconds"):
    """Round by round: of one item over another's of the same way."""
    mine, theirs = r.data(part.key, str(item)), r.data(part.key, str(other))
    return [mine[k][way][name] / theirs[k][way][name] for k in sorted(set(mine) & set(theirs)) if theirs[k][way][name]]


def table(r, part, head, items, cell):
    """A row for each way."""
    return Table([head] + [str(i) for i in items], [[text] + [cell(item, way) for item in items] for way, text in WAYS.items()])


def times_table(r, part, items, head):
    return table(r, part, head + ": time over MPI by hand", items, lambda item, way: ranged(over(r, part, item, way, "by_hand")))


def seconds_table(r, part, items, head):
    return table(r, part, head + ": seconds", items, lambda item, way: ranged(values(r, part, item, way, "seconds")))


def counts_tables(r, part, items, head):
    return [table(r, part, head + ": MB sent", items, lambda item, way: ranged(values(r, part, item, way, "bytes"), "%.2f", 1e-6)),
            table(r, part, head + ": messages", items, lambda item, way: ranged(values(r, part, item, way, "messages"), "%.0f"))]


def phases_tables(r, part, items, head):
    """Of the master and of the slaves; OpenMP over tasks has no such phases."""
    found = []
    for who, prefix in ("master", ""), ("slaves, mean", "slaves-"):
        rows = [["%s, %s" % (WAYS[way].split(":")[0], phase)] + [ranged(values(r, part, item, way, prefix + phase), "%.3f") for item in items]
                for way in ("cape1", "cape2", "by_hand") for phase in PHASES]
        found.append(Table(["%s: seconds of the %s" % (head, who)] + [str(i) for i in items], rows))
    return found


ONE_MACHINE = """All nodes are processes of one machine of two processors, in place of dual-core machines on an Ethernet: messages cost a copy in memory,
and more than two nodes share the processors. So seconds do not fall with more nodes, and only what is sent and the ratios of one round mean something."""
DIFFERS = [
    ONE_MACHINE,
    "The matrices are an eighth of the thesis's on each side (375 to 1500 for 3,000 to 12,000), of `float`.",
    "CAPE's own programs are not to be had. `bench/cape/cape1.c` and `cape2.c` do what its sections 2.4 and 4.4.1 say (the master computes nothing; "
    "each slave has a part): CAPE-1 sends each slave an image, which is the memory of the loops without libraries and stack, and gets what differs; "
    "CAPE-2 has the incremental checkpoints of `dome/delta.h` (pages closed to writes, a copy of each written page). Its monitor was another process; here "
    "it is the program's own.",
    "MPI by hand (`by_hand.c`) tells each slave its part and gets its rows, as the thesis says of its own: nothing else is exchanged. Nodes that wait look "
    "every 20 us. All three fill the matrices on each node; OpenMP over tasks fills them on task 0, so its tasks fetch them, and all tasks compute.",
    "The messages and bytes of OpenMP are those that `--dome-profile` counts, synchronization and headers included; the lengths that precede MPI's messages are not counted.",
]
