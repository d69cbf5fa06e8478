"""Stardust, Table 5."""

import collections
import os
import statistics
import time

from lab import on, set_shares
from reporting import svg
from reporting.parts import Failed, Part, Plot, Run, Table, Text
from reporting.rounds import ranged, spread
from reporting.saving import directory, hosts
from reporting.verdict import Claim

TITLE = "Stardust, Table 5: what moving to other and to more machines gains"
SOURCE = "section 5.2.2, Table 5"
WHAT = """A program moves while it runs, started by hand: ten products of matrices, of which five are computed on four slower machines and five
on four faster ones (Hetero 4 4); or three on two machines, three on four and four on eight (Homo 2 4 8); and a ray tracer that moves from
2 to 8 to 64 machines."""
PUBLISHED_TEXT = """of the ray tracer, whose picture has 728 lines, "200 lines of the output image are computed between two successive migrations". The last
column is computed: the gain if machines of a kind are equally fast, lines cost alike, moving costs nothing, and 200 lines are computed on 2
machines, 200 on 8 and the other 328 on 64."""
SLOW, FAST, MANY = 12.5, 20, 10  # percent of a processor
PRODUCT = 1.6  # seconds of a processor that one of the ten takes
N, LINES = 256, 728
POVRAY = 200, 200, LINES - 400  # of the lines, on 2, 8 and 64 machines


def most(units, speeds):
    """Percent gained if moving cost nothing, where so many units are computed at one speed after the other."""
    return 100 * (1 - sum(count / speed for count, speed in zip(units, speeds)) * speeds[0] / sum(units))


PUBLISHED = Table(["", "no migration", "migration", "gain", "ideal"],
                  [["MatMult Hetero 4 4", "65.187 s", "61.410 s", "5.8 %", "-"],
                   ["MatMult Homo 2 4 8", "69.640 s", "46.910 s", "32.6 %", "%.1f %%" % most((3, 3, 4), (2, 4, 8))],
                   ["Povray Hetero 2 8 64", "3945 s", "1125 s", "71.5 %", "%.1f %%" % most(POVRAY, (2, 8, 64))]])
# shares: of the hosts; stages: how much is computed on which of them, in products (of the ten) or in lines. each: products of 256 x 256 that
# one of these is, of so many that one of the ten is; between: how many of these lie between two calls of dome_checkpoint. program: what runs.
Case = collections.namedtuple("Case", "title shares stages each between published program", defaults=("mmsave",))
TEN = (lambda repeats: repeats, 0.1)
LINE = (lambda repeats: max(1, round(10 * repeats / LINES)), 8)
HETERO = {**dict.fromkeys(hosts(4), SLOW), **dict.fromkeys(hosts(4, 5), FAST)}
HOMO = Case("Homo 2 4 8", dict.fromkeys(hosts(8), FAST), [(3, hosts(2)), (3, hosts(4)), (4, hosts(8))], *TEN, (69.640, 46.910))
RAYS = Case("2 8 16 for Povray's 2 8 64", dict.fromkeys(hosts(16), MANY), list(zip(POVRAY, (hosts(2), hosts(8), hosts(16)))), *LINE, (3945, 1125))
CASES = {"hetero": Case("Hetero 4 4", HETERO, [(5, hosts(4)), (5, hosts(4, 5))], *TEN, (65.187, 61.410)), "homo": HOMO, "lines": RAYS}
# The same while the program runs: hosts are added, and none is left.
GROWING_CASES = {**CASES, "hetero": CASES["hetero"]._replace(stages=[(5, hosts(4)), (5, hosts(8))])}
REGION_HETERO, REGION_HOMO = (case._replace(program="mmregion") for case in (CASES["hetero"], HOMO))
REGION_RAYS = RAYS._replace(title="Povray's 2 8 64 by `rays` on 2 8 16", program="timed_rays")
REGION_CASES = {"hetero": REGION_HETERO, "homo": REGION_HOMO, "rays": REGION_RAYS}
REGION_GROWING_CASES = {**REGION_CASES, "hetero": GROWING_CASES["hetero"]._replace(program="mmregion")}
PICTURE = ["--columns", "1024", "--rows", str(LINES), "--samples", "8"]
QUICK_PICTURE = ["--columns", "128", "--rows", str(LINES), "--samples", "8"]


def find_repeats(context):
    """How many products of 256 x 256 make one of PRODUCT seconds: a multiple of ten, the same in all rounds."""
    path = context.build + "/bench/mm/mmseq"
    out = context.command([path, "--rows", str(N), "--k", str(N), "--products", "100"])
    return {"repeats": max(10, round((0.2 if context.quick else PRODUCT) * 10 / float(out.split()[-1])) * 10)}


class Products:
    """mmsave, or mmregion: products of matrices, which end at a boundary soon after they are told to."""

    def __init__(self, context, case):
        repeats = context.value(REPEATS.key, "mmseq", 1)["repeats"]
        self.path, self.each, self.every = "bench/mm/" + case.program, case.each(repeats), 1000000
        total, between = sum(units for units, _ in case.stages) * self.each, max(1, round(case.between * self.each))
        self.words = ["--rows", str(N), "--k", str(N), "--products", str(total), "--between", str(between)]
        self.line, self.first = "^product %d$", "^product "

    def leave(self, run, path):
        run.stop()

    def result(self, run):
        return run.output()[-1].split()[2]


class Rays:
    """A ray tracer, whose batches are as long as the time on the first hosts: it writes a checkpoint after each, and is then ended."""

    def __init__(self, context, case):
        self.path, self.each, self.every = "bench/programs/" + case.program, 1, 1
        self.words = (QUICK_PICTURE if context.quick else PICTURE) + ["--batch", str(case.stages[0][0]), "--output", context.work + "/picture"]
        self.line, self.first = "^at %d$", "^begin$"

    def leave(self, run, path):
        """The checkpoint of the batch that has just ended is on disk; the second SIGTERM says not to wait for another one."""
        def saved():
            return {name for name in os.listdir(path) if name.endswith(".dckpt")}

        before, end = self.saved, time.monotonic() + 60
        while saved() <= before and time.monotonic() < end:
            time.sleep(0.005)
        self.saved = saved()
        try:
            for _ in range(2):
                run.stop()
                time.sleep(0.05)
        except StopIteration:
            run.end()
            raise Failed("rays ended before it was to move")

    saved = frozenset()

    def result(self, run):
        return next(line for line in run.output() if " rows of " in line)


def program_of(context, case):
    return (Rays if case.program == "timed_rays" else Products)(context, case)


def stage_seconds(run, program, stages):
    """Seconds that the lines or products of each stage took; None if it does not tell them all."""
    at, ends = 0, [run.wait_for("^begin")]
    for units, _ in stages[:-1]:
        at += units * program.each
        ends.append(run.wait_for(program.line % at))
    ends.append(run.lines[-1][0])
    return [b - a for a, b in zip(ends, ends[1:])] if all(ends) else None


def move(context, case, stages):
    """Seconds from the start on the first hosts to the end on the last; seconds that moving took each time; the result; seconds of the
    case's stages, if it did not move."""
    path, at, begin, moves = directory(context), 0, time.monotonic(), []
    os.makedirs(path, exist_ok=True)
    program = program_of(context, case)
    for k, (units, where) in enumerate(stages):
        at += units * program.each
        run = Run(context.build, len(where), program.path, program.words +
                  ["--dome-checkpoint-dir", path, "--dome-checkpoint-every", str(program.every)] + (["--dome-restart"] if k else []), hosts=where)
        if k:
            moves.append((run.wait_for(program.first) or time.monotonic()) - asked)
        if k == len(stages) - 1:
            run.end()
            return time.monotonic() - begin, moves, program.result(run), stage_seconds(run, program, case.stages) if k == 0 else None
        run.wait_for(program.line % at)
        asked = time.monotonic()
        program.leave(run, path)
        try:
            run.end()
        except Failed:
            pass  # it ended by the signal, with a checkpoint


def order(context, run, program, where, more):
    """Adds hosts by `dome grow`; when it was done."""
    added = [word for host in more[len(where):] for word in ("--host", host)]
    context.command(on(where[0], [run.dome, "grow", os.path.basename(program.path), *added], ["DOME_RSH=ssh -F %s/ssh_config" % os.environ["LAB"]]))
    return time.monotonic()


def grow(context, case, stages):
    """As move, of a program that takes the hosts as they come; seconds that the orders took. Products get an order when their time has come;
    rays in the batch before, since the next boundary is its end."""
    at, took, program = 0, [], program_of(context, case)
    run = Run(context.build, len(stages[0][1]), program.path, program.words, hosts=stages[0][1])
    for (units, where), (_, more) in zip(stages, stages[1:]):
        at += units * program.each
        if program.every == 1:
            run.wait_for(program.first)
            done = order(context, run, program, where, more)
            asked = run.wait_for(program.line % at)
        else:
            asked = run.wait_for(program.line % at)
            done = order(context, run, program, where, more)
        took.append(done - asked)
    run.end()
    return time.monotonic() - run.begin, took, program.result(run), stage_seconds(run, program, case.stages) if len(stages) == 1 else None


def measure(context, case, change, name):
    """The program that stays on its first hosts, and the one that changes, in turns; name: of what the changes took."""
    set_shares(case.shares)
    still = [(sum(units for units, _ in case.stages), case.stages[0][1])]
    order, found = [("without", still), ("with", case.stages)], {}
    for which, stages in order[::-1] if context.round % 2 else order:
        found[which], took, bits, seconds = change(context, case, stages)
        if found.setdefault("bits", bits) != bits:
            raise Failed("the results differ: %s, %s" % (found["bits"], bits))
        if took:
            found[name] = took
        if seconds:
            found["stages"] = seconds
    return found


REPEATS = Part("migration-size", 1, ["mmseq"], 3, find_repeats, targets=("figure6",))
MOVING = Part("migration", 3, list(CASES), 80, lambda context: measure(context, CASES[context.item], move, "moves"), hosts=16, targets=("figure6",))
GROWING = Part("growing", 3, list(GROWING_CASES), 80, lambda context: measure(context, GROWING_CASES[context.item], grow, "orders"), hosts=16,
               targets=("figure6",))
REGION_TARGETS = ("figure6", "regions")
REGION_MOVING = Part("migration-regions", 3, list(REGION_CASES), 90, lambda context: measure(context, REGION_CASES[context.item], move, "moves"), hosts=16,
                     targets=REGION_TARGETS)
REGION_GROWING = Part("growing-regions", 3, list(REGION_GROWING_CASES), 90,
                      lambda context: measure(context, REGION_GROWING_CASES[context.item], grow, "orders"), hosts=16, targets=REGION_TARGETS)
PARTS = [REPEATS, REGION_MOVING, REGION_GROWING, MOVING, GROWING]
DIFFERS = [
    "*Moving* is a checkpoint and a restart (`SIGTERM`, then `dome run --dome-restart` on the other hosts), as in the paper. *Growing* is `dome grow` "
    "while the program runs ([elastic.md](elastic.md)). It keeps the hosts that it has, so the first row ends on eight hosts. An order is over when "
    "the new tasks hold their data; until the change itself the program computes on.",
    "A product is a matrix of 256 x 256 multiplied as often as takes 1.6 s of a processor, so that the state (1.5 MB) and the proportion of "
    "products to moves are the paper's. Hosts of a [lab](lab.md): 20 % of a processor each, the slower four 12.5 %, which is the ratio of the "
    "paper's Pentiums and Paragon nodes as its figures suggest (1.6).",
    "Both kinds of hosts have the same architecture here; a checkpoint is portable all the same.",
    "Programs on regions: `bench/mm/mmregion`, and `examples/rays` with 728 lines of 1024 pixels (64 rays a pixel). As in the paper, `rays` computes "
    "200 lines on 2 hosts, 200 on 8, and the other 328 on 16 (10 % of a processor each) in place of 64; a checkpoint is written after each 200 lines. "
    "Its ideal goes by the seconds that the same lines took where the program did not move.",
    "With vectors there is no ray tracer: in place of Povray's 728 lines are 728 equal pieces of work (products of matrices), and 16 hosts of 10 % of a processor in place of 64.",
    "A gain can be more than that of the ideal, which goes by the shares alone: tasks that wait for each other lose parts of their "
    "[turns](lab.md#turns), and on the first hosts they lose more.",
]


def gains(r, part, item):
    return [100 * (1 - d["with"] / d["without"]) for d in r.data(part.key, item).values()]


def speeds(case):
    return [sum(case.shares[host] for host in where) for _, where in case.stages]


def ideal(case):
    """Percent gained if moving cost nothing, and all lines or products alike."""
    return most([units for units, _ in case.stages], speeds(case))


def ideals(r, part, item, case):
    """Of each round: by what the stages took without moving, where it is known that they do not cost alike."""
    if case.program != "timed_rays":
        return [ideal(case)]
    return [most(d["stages"], speeds(case)) for d in r.data(part.key, item).values() if "stages" in d]


def table(r, part, cases, done, name):
    """name: of the seconds that each move took, in the data."""
    rows = []
    for item, case in cases.items():
        without, with_it = case.published
        seconds = [s for v in r.values(part.key, item, name) for s in v] if r.data(part.key, item) else []
        rows.append([case.title, ranged(r.values(part.key, item, "without"), "%.1f"), ranged(r.values(part.key, item, "with"), "%.1f"),
                     "%s %%" % ranged(gains(r, part, item), "%.1f") if seconds else "not measured", "%.1f %%" % (100 * (1 - with_it / without)),
                     "%s %%" % ranged(ideals(r, part, item, case), "%.1f"), ranged(seconds)])
    return Table(["", "stays, s", "%ss, s" % done, "gain", "gain in the paper", "ideal here", "each time, s"], rows)


def bars(r, part, cases, name, title):
    values = [(case.title.replace("`", ""), spread(r.values(part.key, item, "without")), spread(r.values(part.key, item, "with")))
              for item, case in cases.items() if r.data(part.key, item)]
    return [Plot(name, title, svg.bars(title, "seconds", [one[0] for one in values], ["stays", "moves"], [[a, b] for _, a, b in values]))] if values else []


def condense(r):
    return ([Text("Programs on regions:"), table(r, REGION_MOVING, REGION_CASES, "move", "moves")] +
            bars(r, REGION_MOVING, REGION_CASES, "stardust_5_regions", "On regions, without and with moving") +
            [table(r, REGION_GROWING, REGION_GROWING_CASES, "grow", "orders"), Text("Programs with vectors:"), table(r, MOVING, CASES, "move", "moves")] +
            bars(r, MOVING, CASES, "stardust_5", "Ten products, without and with moving") + [table(r, GROWING, GROWING_CASES, "grow", "orders")])


NO_CLAIMS = ""
FEWER = """16 hosts stand for 64, on which %.2f times is the most; of 64 equal ones it would be %.2f. (The published %.2f is more than that: the lines
of its picture do not cost alike.)""" % tuple(100 / (100 - gain) for gain in (ideal(RAYS), most(POVRAY, (2, 8, 64)), 100 * (1 - 1125 / 3945)))
CHEAP = """A checkpoint, a restart and the reading of 1.5 MB take a second or two, where the paper's take 5 to 10 s of a minute (S, R and P of its
Table 4)."""
KEPT = "Growing keeps the first hosts, so that Hetero 4 4 ends on eight hosts, where the paper's program moves from four to four others."
TURNS = """Where a gain is more than the ideal's, which moves at no cost, it is not the moves that gain: tasks that wait for each other lose parts of
their turns, and on the first hosts they lose more."""


def incomparable(case, ratios, best):
    """Why a gain of ours says nothing about the paper's; "" if it does. best: percent gained at no cost."""
    if case in (GROWING_CASES["hetero"], REGION_GROWING_CASES["hetero"]):
        return KEPT
    return TURNS if ratios and best and statistics.median(ratios) > 100 / (100 - statistics.median(best)) else ""


def claims(r):
    found = []
    for part, cases, how in ((REGION_MOVING, REGION_CASES, "on regions, moving"), (REGION_GROWING, REGION_GROWING_CASES, "on regions, growing"),
                             (MOVING, CASES, "moving"), (GROWING, GROWING_CASES, "growing")):
        for item, case in cases.items():
            ratios = [d["without"] / d["with"] for d in r.data(part.key, item).values()]
            found.append(Claim("%s, %s: time without over time with it" % (case.title, how), case.published[0] / case.published[1], ratios,
                               incomparable=incomparable(case, ratios, ideals(r, part, item, case)),
                               why={"better": CHEAP, "worse": FEWER if item in ("lines", "rays") else ""}))
    return found
