"""Stardust, Table 1."""

from reporting.parts import Failed, Part, Run, Table
from reporting.rounds import ranged
from reporting.saving import directory, size_of
from reporting.verdict import Claim

TITLE = "Stardust, Table 1: the programs whose checkpoints are measured"
SOURCE = "section 3.2.1, Table 1"
WHAT = """Running time, size of the state and interval between checkpoints of two programs: Mp3d (a rarefied fluid, 40,000 particles) and
Matmult (512 x 512, iterated), 16 processes on a Paragon. Here each stands twice. In shared memory, as in the paper: `gas`, with as many particles,
and `bench/mm/mmregion`, with the same matrices. With vectors: `md`, a fluid of as many atoms, and `bench/mm/mmsave`."""
PUBLISHED_TEXT = "KB are 1024 bytes. The last column is computed: the running time over the interval."
PUBLISHED = Table(["program", "running time", "shared memory", "interval", "checkpoints a run"],
                  [["Mp3d", "1487 s", "1640 KB", "370 s", "4"], ["Matmult", "1314 s", "6144 KB", "438 s", "3"]])
SECONDS = 12  # of a run
TASKS = 2


def products(steps, quick):
    return ["--rows", "512", "--k", "512", "--products", str(steps)]


# Words of each program, for so many steps.
PROGRAMS = {"gas": ("examples/gas", lambda steps, quick: ["--particles", "2000" if quick else "40000", "--steps", str(steps)]),
            "mmregion": ("bench/mm/mmregion", products),
            "md": ("examples/md", lambda steps, quick: ["--cells", "4" if quick else "20x20x25", "--steps", str(steps), "--thermo", "0"]),
            "mmsave": ("bench/mm/mmsave", products)}
NAMES = {"gas": "`gas` (for Mp3d)", "mmregion": "`mmregion` (for Matmult)", "md": "`md` (for Mp3d)", "mmsave": "`mmsave` (for Matmult)"}
PAPER = {"gas": "Mp3d", "mmregion": "Matmult", "md": "Mp3d", "mmsave": "Matmult"}
INTERVAL = {"Mp3d": 370, "Matmult": 438}  # seconds between two checkpoints
CHECKPOINTS = {"Mp3d": 4, "Matmult": 3}  # of a run
STATE = {"Mp3d": 1640, "Matmult": 6144}  # KB
# The columns of Table 2. The paper's two last ones are "implemented within the estimate incremental scheme".
VARIANTS = {"basic": ("basic", "wait"), "estimate": ("estimate", "wait"), "accurate": ("accurate", "wait"), "pre-copying": ("estimate", "pre"),
            "copy-on-write": ("estimate", "on-write"), "as set": None}


def run_program(context, item, steps, options=()):
    """Seconds, what the library says of its checkpoints, and the result: its bits, or the last line if that has none."""
    path, words = PROGRAMS[item]
    run = Run(context.build, TASKS, path, words(steps, context.quick) + list(options) + ["--dome-profile"])
    seconds = run.end()
    last = run.output()[-1]
    return seconds, run.checkpoints(), [word for word in last.split() if "0x" in word] or [last]


def find_steps(context):
    """Steps that take SECONDS: the same in all rounds."""
    steps = 4
    while True:
        seconds, _, _ = run_program(context, context.item, steps)
        if seconds > (0.3 if context.quick else 2):
            return {"steps": max(10, round(steps * (0.5 if context.quick else SECONDS) / seconds))}
        steps *= 3


def boundaries(steps, checkpoints):
    """Between two checkpoints: so many that a run has exactly as many checkpoints as the paper's."""
    fewest, most = steps // (checkpoints + 1) + 1, steps // checkpoints
    return max(1, (fewest + most) // 2)


def checkpointed(context, steps, every, variant):
    """A run with checkpoints of a variant: its figures, and the bits of its result."""
    path, chosen = directory(context), VARIANTS[variant]
    options = ["--dome-checkpoint-dir", path, "--dome-checkpoint-every", str(every)]
    options += ["--dome-checkpoint-mode", chosen[0], "--dome-checkpoint-copy", chosen[1]] if chosen else []
    seconds, checkpoints, bits = run_program(context, context.item, steps, options)
    if not checkpoints or not checkpoints[0]:
        raise Failed("%s wrote no checkpoint" % context.item)
    written, pauses, agreeing, _, thread = checkpoints
    return {"seconds": seconds, "written": written, "pauses": pauses, "agreeing": agreeing, "thread": thread, "bytes": size_of(path)}, bits


def measure(context):
    """A run without checkpoints and one of each variant, in turns that begin elsewhere in each round."""
    steps = context.value(LENGTH.key, context.item, 1)["steps"]
    every = boundaries(steps, CHECKPOINTS[PAPER[context.item]])
    which = ["without"] + list(VARIANTS)
    turn, found, results = context.round % len(which), {"steps": steps, "every": every}, []
    for variant in which[turn:] + which[:turn]:
        if variant == "without":
            found[variant], _, bits = run_program(context, context.item, steps)
        else:
            found[variant], bits = checkpointed(context, steps, every, variant)
        results.append(bits)
    if any(bits != results[0] for bits in results):
        raise Failed("%s: the results differ" % context.item)
    return found


def interval(d, variant):
    """Seconds between two checkpoints."""
    return d[variant]["seconds"] * d["every"] / d["steps"]


TARGETS = ("dome_tool", "example_md", "example_gas", "figure6")
LENGTH = Part("variants-length", 1, list(PROGRAMS), 12, find_steps, targets=TARGETS)
VARIANT_RUNS = Part("variants", 5, list(PROGRAMS), 90, measure, targets=TARGETS)
PARTS = [LENGTH, VARIANT_RUNS]


def data(r, item):
    return list(r.data(VARIANT_RUNS.key, item).values())


def DIFFERS(r):
    often = ["%s for `%s`" % (ranged([INTERVAL[PAPER[item]] / interval(d, "basic") for d in data(r, item)], "%.0f"), item)
             for item in PROGRAMS if data(r, item)]
    first = "Runs on one host with two tasks take %d s in place of 22 to 25 minutes." % SECONDS
    if often:
        first += " So checkpoints come more often, by these factors: %s." % ", ".join(often)
    return [first + " The number of checkpoints of a run is the paper's.",
            "`gas` is written after the description of Mp3d, and is not Mp3d: particles of 32 bytes, 2,352 cells, collisions drawn by random numbers that "
            "depend on the step and the particle alone. `md` is a dense fluid with neighbour lists. The number of particles is the same.",
            "The state of a program with vectors is that of its vectors, of one with regions that of its regions; both have a step number besides."]


def condense(r):
    rows = []
    for item in PROGRAMS:
        if data(r, item):
            rows.append([NAMES[item], "%s s" % ranged([d["without"] for d in data(r, item)], "%.1f"),
                         "%s KB" % ranged([d["basic"]["bytes"] for d in data(r, item)], "%.0f", 1 / 1024),
                         "%s s" % ranged([interval(d, "basic") for d in data(r, item)], "%.1f"),
                         ranged([d["basic"]["written"] for d in data(r, item)], "%g")])
    return [Table(["program", "running time", "state", "interval", "checkpoints a run"], rows)]


NO_CLAIMS = ""


def claims(r):
    other = "`gas` and `md` are other programs than Mp3d, with another state."
    return [Claim("%s: KB of state" % NAMES[item], STATE[PAPER[item]], [d["basic"]["bytes"] / 1024 for d in data(r, item)], False, True, "%.0f",
                  other if PAPER[item] == "Mp3d" else "") for item in PROGRAMS] + [
        Claim("%s: checkpoints a run" % NAMES[item], CHECKPOINTS[PAPER[item]], [d["basic"]["written"] for d in data(r, item)], True, True, "%g")
        for item in PROGRAMS]
