"""Stardust, Table 5."""

import time

from lab import set_shares
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
TITLES = {"hetero": "Hetero 4 4", "homo": "Homo 2 4 8"}
PUBLISHED_SECONDS = {"hetero": (65.187, 61.410), "homo": (69.640, 46.910)}


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
PARTS = [REPEATS, MOVING]
DIFFERS = [
    "Moving is a checkpoint and a restart (`SIGTERM`, then `dome run --dome-restart` on the other hosts), as in the paper, not `dome move` or "
    "`dome grow` ([elastic.md](elastic.md)), which keep the program running.",
    "A product is a matrix of 256 x 256 multiplied as often as takes 1.6 s of a processor, so that the state (1.5 MB) and the proportion of "
    "products to moves are the paper's. Hosts of a [lab](lab.md): 20 % of a processor each, the slower four 12.5 %, which is the ratio of the "
    "paper's Pentiums and Paragon nodes as its figures suggest (1.6).",
    "Both kinds of hosts have the same architecture here; a checkpoint is portable all the same.",
    "Povray is not repeated: there is no ray tracer here, and 64 hosts of one machine would have 2 % of a processor each.",
]


def gain(r, item):
    gains = [100 * (1 - d["with"] / d["without"]) for d in r.data(MOVING.key, item).values()]
    return spread(gains)[0] if gains else None


def ideal(item):
    """Percent gained if moving cost nothing."""
    shares, stages = CASES[item]
    speed = [sum(shares[host] for host in where) for _, where in stages]
    return 100 * (1 - sum(count / v for (count, _), v in zip(stages, speed)) * speed[0] / 10)


def condense(r):
    rows, values = [], []
    for item in CASES:
        if not r.data(MOVING.key, item):
            continue
        without, with_it = spread(r.values(MOVING.key, item, "without")), spread(r.values(MOVING.key, item, "with"))
        moves = [m for v in r.values(MOVING.key, item, "moves") for m in v]
        published = PUBLISHED_SECONDS[item]
        rows.append([TITLES[item], "%.1f" % without[0], "%.1f" % with_it[0], "%.1f %%" % gain(r, item), "%.1f %%" % (100 * (1 - published[1] / published[0])),
                     "%.1f %%" % ideal(item), "%.2f" % spread(moves)[0]])
        values.append((item, without, with_it))
    picture = svg.bars("Ten products, without and with moving", "seconds", [TITLES[item] for item, _, _ in values], ["stays", "moves"],
                       [[a, b] for _, a, b in values])
    return [Table(["", "stays, s", "moves, s", "gain", "gain in the paper", "gain if moving cost nothing", "a move, s"], rows),
            Plot("stardust_5", "Seconds without and with moving", picture)]


def summary(r):
    cells = [gain(r, item) for item in CASES]
    return "gain: 5.8 %%, 32.6 %%; %s" % ", ".join("-" if v is None else "%.1f %%" % v for v in cells)
