"""Stardust, Table 5."""

import os
import time

from lab import on, set_shares
from reporting import svg
from reporting.parts import Failed, Part, Plot, Run, Table
from reporting.products import spread
from reporting.saving import directory, hosts

TITLE = "Stardust, Table 5: what moving to other and to more machines gains"
SOURCE = "section 5.2.2, Table 5"
WHAT = """A program moves while it runs, started by hand: ten products of matrices, of which five are computed on four slower machines and five
on four faster ones (Hetero 4 4); or three on two machines, three on four and four on eight (Homo 2 4 8); and a ray tracer that moves from
2 to 8 to 64 machines."""
PUBLISHED_TEXT = ""
PUBLISHED = Table(["", "no migration", "migration", "gain"], [["MatMult Hetero 4 4", "65.187 s", "61.410 s", "5.8 %"],
                                                            ["MatMult Homo 2 4 8", "69.640 s", "46.910 s", "32.6 %"],
                                                            ["Povray Hetero 2 8 64", "3945 s", "1125 s", "71.5 %"]])
SLOW, FAST = 12.5, 20  # percent of a processor
PRODUCT = 1.6  # seconds of a processor that one of the ten takes
N = 256
# By name: shares of the hosts, and how many of the ten products are computed on which of them.
CASES = {"hetero": ({**dict.fromkeys(hosts(4), SLOW), **dict.fromkeys(hosts(4, 5), FAST)}, [(5, hosts(4)), (5, hosts(4, 5))]),
         "homo": (dict.fromkeys(hosts(8), FAST), [(3, hosts(2)), (3, hosts(4)), (4, hosts(8))])}
# The same while the program runs: hosts are added, and none is left.
GROWING_CASES = {"hetero": (CASES["hetero"][0], [(5, hosts(4)), (5, hosts(8))]), "homo": CASES["homo"],
                 "wide": (dict.fromkeys(hosts(16), 10), [(1, hosts(2)), (2, hosts(8)), (7, hosts(16))])}
TITLES = {"hetero": "Hetero 4 4", "homo": "Homo 2 4 8", "wide": "2 8 16 for 2 8 64"}
PUBLISHED_SECONDS = {"hetero": (65.187, 61.410), "homo": (69.640, 46.910), "wide": (3945, 1125)}


def find_repeats(context):
    """How many products of 256 x 256 make one of PRODUCT seconds: a multiple of ten, the same in all rounds."""
    path = context.build + "/bench/mm/mmseq"
    out = context.command([path, "--rows", str(N), "--k", str(N), "--products", "100"])
    return {"repeats": max(10, round((0.2 if context.quick else PRODUCT) * 10 / float(out.split()[-1])) * 10)}


def move(context, repeats, stages):
    """Seconds from the start on the first hosts to the end on the last; seconds that moving took each time."""
    path, at, begin, moves = directory(context), 0, time.monotonic(), []
    for k, (products, where) in enumerate(stages):
        at += products * repeats
        run = Run(context.build, len(where), "bench/mm/mmsave",
                  ["--rows", str(N), "--k", str(N), "--products", str(10 * repeats), "--between", str(repeats // 10), "--dome-checkpoint-dir", path,
                   "--dome-checkpoint-every", "1000000"] + (["--dome-restart"] if k else []), hosts=where)
        if k:
            moves.append((run.wait_for(r"^product ") or time.monotonic()) - asked)
        if k == len(stages) - 1:
            run.end()
            return time.monotonic() - begin, moves, run.output()[-1].split()[2]
        run.wait_for(r"^product %d$" % at)
        asked = time.monotonic()
        run.stop()
        try:
            run.end()
        except Failed:
            pass  # it ended by the signal, with a checkpoint


def grow(context, repeats, stages):
    """As move, of a program that takes the hosts as they come; seconds that the orders took."""
    at, took = 0, []
    run = Run(context.build, len(stages[0][1]), "bench/mm/mmsave",
              ["--rows", str(N), "--k", str(N), "--products", str(10 * repeats), "--between", str(repeats // 10)], hosts=stages[0][1])
    for (products, where), (_, more) in zip(stages, stages[1:]):
        at += products * repeats
        run.wait_for(r"^product %d$" % at)
        asked, added = time.monotonic(), [word for host in more[len(where):] for word in ("--host", host)]
        context.command(on(where[0], [run.dome, "grow", "mmsave", *added], ["DOME_RSH=ssh -F %s/ssh_config" % os.environ["LAB"]]))
        took.append(time.monotonic() - asked)
    run.end()
    return time.monotonic() - run.begin, took, run.output()[-1].split()[2]


def run_growing(context):
    shares, stages = GROWING_CASES[context.item]
    repeats = context.value(REPEATS.key, "mmseq", 1)["repeats"]
    set_shares(shares)
    without, _, bits = grow(context, repeats, [(10, stages[0][1])])
    with_it, took, other = grow(context, repeats, stages)
    if bits != other:
        raise Failed("the results differ: %s, %s" % (bits, other))
    return {"without": without, "with": with_it, "orders": took, "bits": bits}


def run(context):
    shares, stages = CASES[context.item]
    repeats = context.value(REPEATS.key, "mmseq", 1)["repeats"]
    set_shares(shares)
    still = [(10, stages[0][1])]
    order = [("without", still), ("with", stages)]
    found = {}
    for name, chosen in order[::-1] if context.round % 2 else order:
        found[name], moves, bits = move(context, repeats, chosen)
        if found.setdefault("bits", bits) != bits:
            raise Failed("the results differ: %s, %s" % (found["bits"], bits))
        if moves:
            found["moves"] = moves
    return found


REPEATS = Part("migration-size", 1, ["mmseq"], 3, find_repeats, targets=("figure6",))
MOVING = Part("migration", 3, list(CASES), 70, run, hosts=8, targets=("figure6",))
GROWING = Part("growing", 3, list(GROWING_CASES), 70, run_growing, hosts=16, targets=("figure6",))
PARTS = [REPEATS, MOVING, GROWING]
DIFFERS = [
    "*Moving* is a checkpoint and a restart (`SIGTERM`, then `dome run --dome-restart` on the other hosts), as in the paper. *Growing* is `dome grow` "
    "while the program runs ([elastic.md](elastic.md)). It keeps the hosts that it has, so the first row ends on eight hosts. An order is over when "
    "the new tasks hold their data; until the change itself the program computes on.",
    "A product is a matrix of 256 x 256 multiplied as often as takes 1.6 s of a processor, so that the state (1.5 MB) and the proportion of "
    "products to moves are the paper's. Hosts of a [lab](lab.md): 20 % of a processor each, the slower four 12.5 %, which is the ratio of the "
    "paper's Pentiums and Paragon nodes as its figures suggest (1.6).",
    "Both kinds of hosts have the same architecture here; a checkpoint is portable all the same.",
    "In place of Povray are products of matrices, too, and 16 hosts of 10 % of a processor in place of 64: one of the ten on 2 hosts, two on 8, seven "
    "on 16, since the paper does not say when its program moved. This row is of growing alone.",
]


def gain(r, part, item):
    gains = [100 * (1 - d["with"] / d["without"]) for d in r.data(part.key, item).values()]
    return spread(gains)[0] if gains else None


def ideal(shares, stages):
    """Percent gained if moving cost nothing."""
    speed = [sum(shares[host] for host in where) for _, where in stages]
    return 100 * (1 - sum(count / v for (count, _), v in zip(stages, speed)) * speed[0] / 10)


def table(r, part, cases, done, name):
    """A row for each case that was measured. name: of the seconds that each move took, in the data."""
    rows = []
    for item, case in cases.items():
        if not r.data(part.key, item):
            continue
        without, with_it = PUBLISHED_SECONDS[item]
        seconds = [s for v in r.values(part.key, item, name) for s in v]
        rows.append([TITLES[item], "%.1f" % spread(r.values(part.key, item, "without"))[0], "%.1f" % spread(r.values(part.key, item, "with"))[0],
                     "%.1f %%" % gain(r, part, item), "%.1f %%" % (100 * (1 - with_it / without)), "%.1f %%" % ideal(*case),
                     "%.2f" % spread(seconds)[0]])
    return Table(["", "stays, s", "%ss, s" % done, "gain", "gain in the paper", "gain if that cost nothing", "each time, s"], rows)


def condense(r):
    values = [(item, spread(r.values(MOVING.key, item, "without")), spread(r.values(MOVING.key, item, "with")))
              for item in CASES if r.data(MOVING.key, item)]
    picture = svg.bars("Ten products, without and with moving", "seconds", [TITLES[item] for item, _, _ in values], ["stays", "moves"],
                       [[a, b] for _, a, b in values])
    shown = [table(r, MOVING, CASES, "move", "moves"), Plot("stardust_5", "Seconds without and with moving", picture)]
    if any(r.data(GROWING.key, item) for item in GROWING_CASES):
        shown.append(table(r, GROWING, GROWING_CASES, "grow", "orders"))
    return shown


def summary(r):
    moving, growing = (", ".join("-" if v is None else "%.1f %%" % v for v in [gain(r, part, item) for item in cases])
                       for part, cases in ((MOVING, CASES), (GROWING, GROWING_CASES)))
    return "gain: 5.8 %%, 32.6 %%, 71.5 %%; moving %s; growing %s" % (moving, growing)
