"""Stardust, Table 1."""

from reporting.parts import Failed, Part, Run, Table
from reporting.saving import directory, save, size_of

TITLE = "Stardust, Table 1: the programs whose checkpoints are measured"
SOURCE = "section 3.2.1, Table 1"
WHAT = """Running time, size of the state and interval between checkpoints of two programs: Mp3d (a rarefied fluid, 40,000 particles) and
Matmult (512 x 512, iterated), 16 processes on a Paragon. Here: `md` with 40,000 atoms, and `bench/mm/mmsave` with the same matrices."""
PUBLISHED_TEXT = ""
PUBLISHED = Table(["program", "running time", "state", "interval", "checkpoints a run"],
                  [["Mp3d", "1487 s", "1640 kB", "370 s", "4"], ["Matmult", "1314 s", "6144 kB", "438 s", "3"]])
INTERVALS = {"md": 4, "matmult": 3}  # of a run
SECONDS = 30  # of a run
TASKS = 2
# Words of each program, for so many steps; what part of the state changes from one checkpoint to the next.
PROGRAMS = {"md": ("examples/md", lambda steps, quick: ["--cells", "4" if quick else "20x20x25", "--steps", str(steps), "--thermo", "0"], 100),
            "matmult": ("bench/mm/mmsave", lambda steps, quick: ["--rows", "512", "--k", "512", "--products", str(steps)], 34)}


def run_program(context, item, steps, options=()):
    """Seconds, what the library says of its checkpoints, and the result: its bits, or the last line if that has none."""
    path, words, _ = PROGRAMS[item]
    run = Run(context.build, TASKS, path, words(steps, context.quick) + list(options) + ["--dome-profile"])
    seconds = run.end()
    last = run.output()[-1]
    return seconds, run.checkpoints(), [word for word in last.split() if "0x" in word] or [last]


def find_steps(context):
    """Steps that take SECONDS: the same in all rounds."""
    steps = 4
    while True:
        seconds, _, _ = run_program(context, context.item, steps)
        if seconds > (0.3 if context.quick else 3):
            return {"steps": max(10, round(steps * (0.5 if context.quick else SECONDS) / seconds))}
        steps *= 3


def measure(context):
    """One run without checkpoints and one with them, in turns; then a state of the same size, with the program waiting for the disk."""
    item = context.item
    steps = context.value(LENGTH.key, item, 1)["steps"]
    found = {}
    for which in ("without", "with") if context.round % 2 else ("with", "without"):
        path = directory(context)
        options = [] if which == "without" else ["--dome-checkpoint-dir", path, "--dome-checkpoint-every",
                                                 "%.2fs" % max(0.1, ((0.5 if context.quick else SECONDS) / INTERVALS[item]))]
        found[which], checkpoints, bits = run_program(context, item, steps, options)
        if found.setdefault("bits", bits) != bits:
            raise Failed("%s: the results differ" % item)
        if which == "with":
            found.update(written=checkpoints[0], one=checkpoints[3], agreeing=checkpoints[2], pauses=checkpoints[1],
                         bytes=size_of(path) if checkpoints[0] else 0)
    megabytes = max(found["bytes"] / 1e6, 0.1)
    found["all"] = save(context, None, megabytes)["disk"]
    changed = PROGRAMS[item][2]
    found["changed"] = save(context, None, megabytes, 10, changed)["disk"] if changed < 100 else found["all"]
    return found


TARGETS = ("dome_tool", "example_md", "figure6", "bench_checkpoint_state")
LENGTH = Part("overhead-length", 1, list(PROGRAMS), 20, find_steps, targets=TARGETS)
OVERHEAD = Part("overhead", 5, list(PROGRAMS), 70, measure, targets=TARGETS)
PARTS = [LENGTH, OVERHEAD]
DIFFERS = [
    "A run takes half a minute in place of 22 to 25 minutes, with as many checkpoints in it, on one host with two tasks. So checkpoints come "
    "forty to fifty times as often, and their part of the time is that much larger.",
    "`md` is a dense fluid with neighbour lists, Mp3d a rarefied one; the number of particles is the same. Its state has positions and velocities of "
    "64 bits and what belongs to them.",
]
NAMES = {"md": "`md` (for Mp3d)", "matmult": "`mmsave` (for Matmult)"}


def condense(r):
    rows = []
    for item in PROGRAMS:
        if r.data(OVERHEAD.key, item):
            rows.append([NAMES[item], "%.1f s" % r.median(OVERHEAD.key, item, "without"), "%.0f kB" % (r.median(OVERHEAD.key, item, "bytes") / 1e3),
                         "%.1f s" % (SECONDS / INTERVALS[item]), "%g" % r.median(OVERHEAD.key, item, "written")])
    return [Table(["program", "running time", "state", "interval", "checkpoints a run"], rows)]


def summary(r):
    return "state: 1640 and 6144 kB, %s" % " and ".join(
        "%.0f kB" % (r.median(OVERHEAD.key, item, "bytes") / 1e3) for item in PROGRAMS if r.data(OVERHEAD.key, item))
