"""Stardust, Table 1."""

from reporting.parts import Failed, Part, Run, Table
from reporting.rounds import ranged
from reporting.saving import directory, save, size_of
from reporting.verdict import Claim

TITLE = "Stardust, Table 1: the programs whose checkpoints are measured"
SOURCE = "section 3.2.1, Table 1"
WHAT = """Running time, size of the state and interval between checkpoints of two programs: Mp3d (a rarefied fluid, 40,000 particles) and
Matmult (512 x 512, iterated), 16 processes on a Paragon. Here: `md` with 40,000 atoms, and `bench/mm/mmsave` with the same matrices."""
PUBLISHED_TEXT = "KB are 1024 bytes. The last column is computed: the running time over the interval."
PUBLISHED = Table(["program", "running time", "shared memory", "interval", "checkpoints a run"],
                  [["Mp3d", "1487 s", "1640 KB", "370 s", "4"], ["Matmult", "1314 s", "6144 KB", "438 s", "3"]])
CHECKPOINTS = {"md": 4, "matmult": 3}  # of a run
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


def boundaries(steps, checkpoints):
    """Between two checkpoints: so many that a run has exactly as many checkpoints as the paper's."""
    fewest, most = steps // (checkpoints + 1) + 1, steps // checkpoints
    return max(1, (fewest + most) // 2)


def measure(context):
    """One run without checkpoints and one with them, in turns; then a state of the same size, with the program waiting for the disk."""
    item = context.item
    steps = context.value(LENGTH.key, item, 1)["steps"]
    every = boundaries(steps, CHECKPOINTS[item])
    found = {}
    for which in ("without", "with") if context.round % 2 else ("with", "without"):
        path = directory(context)
        options = [] if which == "without" else ["--dome-checkpoint-dir", path, "--dome-checkpoint-every", str(every)]
        found[which], checkpoints, bits = run_program(context, item, steps, options)
        if found.setdefault("bits", bits) != bits:
            raise Failed("%s: the results differ" % item)
        if which == "with":
            found.update(written=checkpoints[0], one=checkpoints[3], agreeing=checkpoints[2], pauses=checkpoints[1],
                         bytes=size_of(path) if checkpoints[0] else 0, interval=found["with"] * every / steps)
    megabytes = max(found["bytes"] / 1e6, 0.1)
    found["all"] = save(context, None, megabytes)["disk"]
    changed = PROGRAMS[item][2]
    found["changed"] = save(context, None, megabytes, 10, changed)["disk"] if changed < 100 else found["all"]
    return found


def interval(item, data):
    """Seconds between two checkpoints. Rounds from before they were given in boundaries have those that were asked for."""
    return data.get("interval", SECONDS / CHECKPOINTS[item])


TARGETS = ("dome_tool", "example_md", "figure6", "bench_checkpoint_state")
LENGTH = Part("overhead-length", 1, list(PROGRAMS), 20, find_steps, targets=TARGETS)
OVERHEAD = Part("overhead", 5, list(PROGRAMS), 70, measure, targets=TARGETS)
PARTS = [LENGTH, OVERHEAD]
NAMES = {"md": "`md` (for Mp3d)", "matmult": "`mmsave` (for Matmult)"}
PAPER = {"md": ("Mp3d", 370), "matmult": ("Matmult", 438)}  # seconds between two checkpoints


def DIFFERS(r):
    times, often = [], []
    for item in PROGRAMS:
        data = list(r.data(OVERHEAD.key, item).values())
        if data:
            times.append("%s s (%s)" % (ranged([d["with"] for d in data], "%.1f"), NAMES[item]))
            often.append("%s" % ranged([PAPER[item][1] / interval(item, d) for d in data], "%.0f"))
    first = "Runs on one host with two tasks take half a minute in place of 22 to 25 minutes."
    if times:
        first = "Runs on one host with two tasks take %s in place of 1487 and 1314 s, and checkpoints come %s times as often." % (
            " and ".join(times), " and ".join(often))
    return [first + " The number of checkpoints of a run is in the table.",
            "`md` is a dense fluid with neighbour lists, Mp3d a rarefied one; the number of particles is the same. Its state has positions and "
            "velocities of 64 bits and what belongs to them."]


def condense(r):
    rows = []
    for item in PROGRAMS:
        data = list(r.data(OVERHEAD.key, item).values())
        if data:
            rows.append([NAMES[item], "%s s" % ranged([d["without"] for d in data], "%.1f"), "%s KB" % ranged([d["bytes"] for d in data], "%.0f", 1 / 1024),
                         "%s s" % ranged([interval(item, d) for d in data], "%.1f"), ranged([d["written"] for d in data], "%g")])
    return [Table(["program", "running time", "state", "interval", "checkpoints a run"], rows)]


NO_CLAIMS = ""


def claims(r):
    sizes = {item: [d["bytes"] / 1024 for d in r.data(OVERHEAD.key, item).values()] for item in PROGRAMS}
    few = "A round in which the machine was faster than in the first one ended before its last checkpoint: its interval was in seconds."
    return [Claim("Matmult: KB of state", 6144, sizes["matmult"], False, True, "%.0f"),
            Claim("Mp3d: KB of state", 1640, sizes["md"], False, True, "%.0f",
                  "`md` is another program than Mp3d, with another state.")] + [
        Claim("%s: checkpoints a run" % PAPER[item][0], CHECKPOINTS[item], [d["written"] for d in r.data(OVERHEAD.key, item).values()], True, True, "%g",
              why={"worse": few, "undecided": few}) for item in PROGRAMS]
