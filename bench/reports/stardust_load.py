"""Stardust, section 3.3: machines whose load varies."""

import os
import subprocess
import threading
import time

from lab import LAB, on, set_shares
from reporting import svg
from reporting.daemons import Cluster, Others, OwnStat
from reporting.parts import Failed, Part, Plot, Table, Text
from reporting.rounds import ranged, spread
from reporting.saving import directory, hosts
from reporting.verdict import Claim

TITLE = "Stardust, section 3.3: machines whose load varies"
SOURCE = "abstract, sections 1, 3.3, 5.2.2 and 7"
WHAT = """What becomes of programs when others' programs load their machines, when a program of higher priority comes, when the machines of the
first topology are overloaded, when an owner comes back, and when a machine is restarted. Nobody gives an order here: `domed` decides, by
Stardust's rules ([cluster.md](cluster.md)). A program multiplies matrices until it has done a fixed number of products."""
PUBLISHED_TEXT = """rules without measurements. "For the three applications [of Table 5], the migrations were triggered manually; they do not result
from load variations. Obviously, additional experiments are needed to show the behavior of Stardust in the event of dynamic load variations." The
rules: "performance gains may be achieved by transferring application processes from the currently heavily loaded hosts to the lightly loaded
ones"; "applications with lower priorities are suspended until the system load gets low enough"; a program of high priority "can cause applications
with a lower priority to be migrated, or in the worst case suspended"; "the ordered list of topologies is scanned until one topology can be mapped on
the available machines. If different machines make the mapping [...] possible, the less loaded ones are selected"; owners "do not want their machine to
be overloaded [...], or simply want exclusive access to their machine when they are working"; machine restarts are tolerated, "anticipated or not". One
figure: "the execution time of the applications taken in examples in this paper has been reduced by an average factor of 37%", by moves by hand."""
PUBLISHED = None
HOSTS, SHARE = 4, 20  # percent of a processor each
N = 256  # rows, columns: a product
STEP = 0.1  # seconds of a processor that the products between two loop boundaries take
LENGTH = 24  # seconds that a program on two hosts takes if nobody disturbs it
CALM = 6  # seconds of computing before anything happens
WANDER = 15  # seconds for which others stay on a host
BUSY = 2  # processes of others on a loaded host
OWNERS_WORK = 1.0  # seconds of a processor that the owner's own program takes
PROGRAM = "bench/mm/mmsave"
WAYS = {"stays": (True, "none"), "balances": (True, "global"), "moves": (False, "none")}


def find_size(context):
    """How many products take STEP of a processor."""
    said = context.command([os.path.join(context.build, "bench/mm/mmseq"), "--rows", str(N), "--k", str(N), "--products", "200"])
    return {"products": max(1, round(200 * STEP / float(said.split()[-1])))}


class Bench:
    """What the experiments have in common."""

    def __init__(self, context):
        self.context, self.each = context, context.value(SIZE.key, "product", 1)["products"]
        self.shorter = 4 if context.quick else 1
        set_shares(dict.fromkeys(hosts(HOSTS), SHARE))

    def words(self, tasks, seconds, *more, balance="none", whole=False):
        """Of a program that takes so long on so many hosts; whole: also where all is tiny, since policies take their time there, too."""
        steps = max(1, round(seconds / (1 if whole else self.shorter) * tasks * SHARE / 100 / STEP))
        return [os.path.join(self.context.build, PROGRAM), "--rows", str(N), "--k", str(N), "--products", str(steps * self.each), "--between", str(self.each),
                "--dome-balance", balance, *more]

    def calm(self):
        time.sleep(CALM / self.shorter)

    def result(self, program):
        return program.at("^norm ") and next(line for _, line in program.lines if line.startswith("norm ")).split()[2]

    def agree(self, *programs):
        """All that did the same products found the same."""
        found = {self.result(p) for p in programs}
        if len(found) != 1 or None in found:
            raise Failed("the results differ: %s" % found)


def computing(program):
    """Seconds from its first line to its last."""
    return program.lines[-1][0] - program.wait_for("^begin ")


# ---- others' programs on its hosts ----


def loads(bench, wanders, ended):
    """Others come to h2, and stay there or go on to another host, but not to the first."""
    bench.calm()
    names, k = hosts(HOSTS - 1, 2), 0
    while not ended.is_set():
        others = Others(names[k % len(names)], BUSY)
        ended.wait(WANDER / bench.shorter if wanders else None)
        others.end()
        k += 1


def loaded(context, wanders):
    """Seconds of computing, each way."""
    bench, found, programs = Bench(context), {}, []
    stat = OwnStat(hosts(HOSTS))
    for way in list(WAYS)[::-1] if context.round % 2 else WAYS:
        dedicated, balance = WAYS[way]
        cluster = Cluster(context, HOSTS, dedicated)
        program = cluster.submit(["-n", "2", "--min", "2"], bench.words(2, LENGTH, balance=balance))
        program.wait_for("^begin ")
        ended = threading.Event()
        player = threading.Thread(target=loads, args=(bench, wanders, ended), daemon=True)
        player.start()
        program.end()
        ended.set()
        player.join()
        found[way] = computing(program)
        programs.append(program)
        cluster.end()
    stat.end.set()
    bench.agree(*programs)
    found["ideal"] = LENGTH / bench.shorter
    return found


# ---- a program of high priority ----


def both(bench, cluster, low_wish, high_wish, priority):
    """A long program, and then a short one; seconds from submitting each to its end, until the short one computes; both programs; the least
    number of tasks of the long one."""
    low = cluster.submit(cluster.wishes(low_wish), bench.words(4, LENGTH))
    low.wait_for("^begin ")
    bench.calm()
    high = cluster.submit(cluster.wishes(high_wish) + ["--priority", str(priority)], bench.words(2, LENGTH / 3))
    high.wait_for("^begin ")
    state = low.state()
    seconds = {"starts": high.at("^begin ") - high.begin, "high": high.end(), "low": low.end()}
    return seconds, low, high, {"held": state["held"], "tasks": state["tasks"]}


def priority(context, low_wish, high_wish):
    """With priorities, and as by dome run: all begin at once, and share the hosts."""
    bench = Bench(context)
    cluster = Cluster(context, HOSTS, True)
    found, low, high, meanwhile = both(bench, cluster, low_wish, high_wish, 5)
    found["meanwhile"] = meanwhile
    file = os.path.join(context.work, "hosts")
    with open(file, "w") as text:
        text.writelines(name + "\n" for name in hosts(HOSTS - 1, 2))

    def run(tasks, seconds):
        return subprocess.Popen(on("h1", ["stdbuf", "-oL", cluster.dome, "run", "--hosts", file, "-n", str(tasks), *bench.words(tasks, seconds)],
                                   cluster.environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    begin = time.monotonic()
    first = run(4, LENGTH)
    if not first.stdout.readline().startswith("begin "):
        raise Failed("the long program did not begin by dome run")
    bench.calm()
    later = time.monotonic()
    second = run(2, LENGTH / 3)
    said = [second.stdout.read()]
    found["high shared"] = time.monotonic() - later
    said.append(first.stdout.read())
    found["low shared"] = time.monotonic() - begin
    if first.wait() or second.wait():
        raise Failed("a program did not end well by dome run")
    if [text.rstrip().split("\n")[-1].split()[1] for text in said] != [p.lines[-1][1].split()[1] for p in (high, low)]:
        raise Failed("the results differ")
    cluster.end()
    return found


# ---- topologies ----


def where(program):
    return program.state()["hosts"]


def topologies(context):
    """What becomes of a program whose first topology names two hosts, and how soon."""
    bench = Bench(context)
    stat, cluster = OwnStat(hosts(HOSTS)), Cluster(context, HOSTS, False)
    wish = cluster.wishes("[1]\ntasks=2\nhosts=h[1-2]\n[2]\ntasks=2\n")
    program = cluster.submit(wish, bench.words(2, 5 * LENGTH, whole=True))
    program.wait_for("^begin ")
    found = {"first": where(program)}
    third = Others("h3", 1)
    bench.calm()
    begin, second = time.monotonic(), Others("h2", BUSY)
    found["overloaded"] = program.until(lambda p: "h2" not in p["hosts"] and not p["held"], "to its second topology") - begin
    found["second"] = where(program)
    begin, fourth = time.monotonic(), Others("h4", BUSY)
    found["suspended"] = program.until(lambda p: p["held"], "to be suspended") - begin
    bench.calm()
    third.end()
    begin = time.monotonic()
    found["continued"] = program.until(lambda p: p["state"] == "runs" and not p["held"] and "h3" in p["hosts"], "to go on") - begin
    found["third"] = where(program)
    for others in second, fourth:
        others.end()
    program.end()
    other = cluster.submit(["-n", "4"], bench.words(2, 5 * LENGTH, whole=True))
    other.end()
    bench.agree(program, other)
    cluster.end()
    stat.end.set()
    return found


# ---- owners ----


def owners_work(bench):
    """Seconds that the owner's own program takes on h2."""
    products = max(1, round(OWNERS_WORK / bench.shorter / STEP * bench.each))
    begin = time.monotonic()
    bench.context.command(on("h2", [os.path.join(bench.context.build, "bench/mm/mmseq"), "--rows", str(N), "--k", str(N), "--products", str(products)]))
    return time.monotonic() - begin


def owner(context):
    """The owner of h2 works while a program computes on all hosts: with `domed` that looks for owners, and with one that nobody touches."""
    bench = Bench(context)
    found = {"alone": owners_work(bench)}
    cluster = Cluster(context, HOSTS, True)
    program = cluster.submit(["-n", str(HOSTS), "--min", "2"], bench.words(4, 3 * LENGTH, whole=True))
    program.wait_for("^begin ")
    program.until(lambda p: p["tasks"] == HOSTS, "to all hosts")
    bench.calm()
    found["beside"] = owners_work(bench)
    begin, ended = time.monotonic(), threading.Event()

    def sit():
        while not ended.wait(0.5):
            cluster.touch("h2")

    cluster.touch("h2")
    player = threading.Thread(target=sit, daemon=True)
    player.start()
    found["respected"] = owners_work(bench)
    found["left"] = program.until(lambda p: "h2" not in p["hosts"], "to leave h2") - begin
    found["tasks"] = program.state()["tasks"]
    ended.set()
    player.join()
    begin = time.monotonic()
    found["back"] = program.until(lambda p: "h2" in p["hosts"], "to take h2 again") - begin
    program.end()
    other = cluster.submit(["-n", "4"], bench.words(4, 3 * LENGTH, whole=True))
    other.end()
    bench.agree(program, other)
    cluster.end()
    return found


# ---- machines that are restarted ----


def restarts(context):
    """A host is drained, as before a restart, and comes back; another is lost without a word."""
    bench = Bench(context)
    cluster = Cluster(context, HOSTS, True)
    program = cluster.submit(["-n", "4", "--min", "2", "--run-option=--on-loss=heal", "--run-option=--restarts=3"],
                             bench.words(4, 2 * LENGTH, "--dome-checkpoint-dir", directory(context), "--dome-checkpoint-every", "2s", "--dome-timeout", "4"))
    program.wait_for("^begin ")
    bench.calm()
    begin = time.monotonic()
    cluster.ask("hosts", "drain", "h4")
    found = {"drained": program.until(lambda p: "h4" not in p["hosts"], "to leave h4") - begin}
    cluster.ask("hosts", "enable", "h4")
    program.until(lambda p: "h4" in p["hosts"], "to take h4 again")
    bench.calm()
    begin = time.monotonic()
    context.command([LAB, "kill", "h3"])
    program.wait_for("^product ", after=begin + 1)
    last = next(when for when, line in reversed(program.lines) if when <= begin + 1)
    found["lost"] = program.at("^product ", after=begin + 1) - last
    program.end()
    found["attempts"] = program.state()["attempts"]
    other = cluster.submit(["-n", "4"], bench.words(4, 2 * LENGTH))
    other.end()
    bench.agree(program, other)
    return found


# ---- whole days, simulated ----


def days(context):
    said = context.command([os.path.join(context.build, "bench/manage_sim")] + (["--days", "5"] if context.quick else []))
    last = next(line for line in said.splitlines() if line.startswith("mean ")).split()
    return {"mean": float(last[1]), "worst": float(last[7])}


WISHES = {"migrated": ("[1]\ntasks=4\n[2]\ntasks=2\n", "[1]\ntasks=2\n"), "suspended": ("[1]\ntasks=4\n", "[1]\ntasks=2\n")}
EXPERIMENTS = {"loaded": lambda c: loaded(c, False), "wandering": lambda c: loaded(c, True), "topologies": topologies, "owner": owner, "restarts": restarts,
               **{name: lambda c, pair=pair: priority(c, *pair) for name, pair in WISHES.items()}}
TARGETS = ("figure6", "domed")
SIZE = Part("load-size", 1, ["product"], 3, find_size, targets=("figure6",))
LOADS = Part("load", 3, list(EXPERIMENTS), 150, lambda context: EXPERIMENTS[context.item](context), hosts=HOSTS, targets=TARGETS)
DAYS = Part("days", 2, ["200"], 60, days, targets=("manage_sim",))
PARTS = [SIZE, LOADS, DAYS]
DIFFERS = [
    "Four hosts of a [lab](lab.md) with %d %% of a processor each, a slot each, and Corosync between them, beside the hosts' shares. Each has a `/proc/stat` "
    "of its own, written by the experiment, since the hosts of a lab share a kernel; without that, `domed` would take tasks on other hosts for load." % SHARE,
    "A *loaded* host has %d processes of others that never wait. A program takes %d s on two hosts, or on four, if nobody disturbs it; what happens "
    "begins %d s after its loop." % (BUSY, LENGTH, CALM),
    "*Stays*: `domed --dedicated` and equal parts. *Balances*: the same, with Dome's own balancing, which leaves a slow task less. *Moves*: `domed`, equal "
    "parts. Stardust's programs have equal parts.",
    "*By `dome run`*: both programs begin at once, and share the hosts: what a cluster does without a manager.",
    "Stardust ends a machine's overload by a static threshold on a load of 0 to 99. `domed` counts how many processors others keep busy, as a mean of 5 s.",
    "In Stardust all processes of a program are restarted when it moves. Here tasks that stay keep their hosts.",
    "The days are simulated (`bench/manage_sim`, [results](../bench/results/manage.md)): the policies of `domed` over starting every program at once.",
]
RULES = """For the three applications of its Table 5 "the migrations were triggered manually; they do not result from load variations", and there is no other
measurement of what load does: the paper has nothing that these could be held against."""


def spread_of(r, item, name, form="%.1f"):
    return ranged(r.values(LOADS.key, item, name), form) if r.data(LOADS.key, item) else "-"


def gained(r, item, one, other):
    return [100 * (1 - d[other] / d[one]) for d in r.data(LOADS.key, item).values()]


def percent(values):
    return ranged(values, "%.0f %%") if values else "-"


SLOW = """A program follows a load some seconds after it has come (a mean of 5 s) and moves at most once in 10 s: where the load goes on every
%d s, a program that stays meets it less often than one that comes to the next host shortly before it.""" % WANDER
FIRST = """Where the long program goes on on two hosts, the program of priority avoids the host that the long one's task 0 cannot leave. Round 1
was measured under an earlier rule, by which both shared that host, and beside other programs; so its figures are the worse ends of the spreads."""
OWNER = """While the host's share is a part of two processors, a nice task takes as much of it as one that is not nice. The task is stopped with its
program, or gone, after 5 s if it is at a loop boundary; here it was behind the others, which wait for nothing from it, and had to come to theirs first."""
NAMES = {"loaded": "one host of two is loaded, to the end", "wandering": "load wanders over three hosts, %d s on each" % WANDER}


def load_table(r):
    rows = [[NAMES[item]] + [spread_of(r, item, way) for way in WAYS] + [percent(gained(r, item, "stays", "moves")), spread_of(r, item, "ideal")]
            for item in NAMES]
    return Table(["others' programs on its hosts; seconds", "stays", "balances", "moves", "gain of moving", "undisturbed"], rows)


def priority_table(r):
    names = {"migrated": "the long one also takes two hosts", "suspended": "the long one needs four hosts"}
    rows = [[names[item], spread_of(r, item, "starts"), spread_of(r, item, "high"), spread_of(r, item, "high shared"), spread_of(r, item, "low"),
             spread_of(r, item, "low shared")] for item in names]
    return Table(["a program of priority comes; seconds", "until it computes", "until its end", "the same by `dome run`", "the long one", "the same by `dome run`"],
                 rows)


def times_table(r):
    rows = [["the first topology's host is overloaded: on the least loaded other host", spread_of(r, "topologies", "overloaded")],
            ["no topology fits: suspended", spread_of(r, "topologies", "suspended")],
            ["one fits again: goes on, on that host", spread_of(r, "topologies", "continued")],
            ["an owner comes: the host is empty", spread_of(r, "owner", "left")],
            ["the owner has gone: the host is taken again", spread_of(r, "owner", "back")],
            ["a host is drained before its restart: empty", spread_of(r, "restarts", "drained")],
            ["a host is lost: from the last line before it to the next one", spread_of(r, "restarts", "lost")]]
    return Table(["what happens", "seconds"], rows)


def owner_table(r):
    return Table(["the owner's own work of %g s of a processor; seconds" % OWNERS_WORK, "alone on the host", "beside the program", "as an owner"],
                 [["`mmseq`"] + [spread_of(r, "owner", name) for name in ("alone", "beside", "respected")]])


def bars(r):
    items = [item for item in NAMES if r.data(LOADS.key, item)]
    values = [[spread(r.values(LOADS.key, item, way)) for way in WAYS] for item in items]
    return [Plot("stardust_load", "Seconds by what is done about others' load", svg.bars("Others' programs on a program's hosts", "seconds", items, list(WAYS), values))] if items else []


def condense(r):
    simulated = [d["mean"] for d in r.data(DAYS.key, "200").values()]
    text = "Two hundred simulated days: from submitting a program to its end, %s of what it takes by `dome run`." % (ranged(simulated) if simulated else "not measured:")
    return [load_table(r), Text(SLOW)] + bars(r) + [priority_table(r), Text(FIRST), times_table(r), owner_table(r), Text(OWNER), Text(text)]


NO_CLAIMS = ""


def claims(r):
    found = [Claim("%s: percent gained by moving" % NAMES[item], 37, gained(r, item, "stays", "moves"), form="%.0f", incomparable=RULES) for item in NAMES]
    return found + [Claim("a program of priority: its time by `dome run` over that with priorities", None,
                          [d["high shared"] / d["high"] for item in WISHES for d in r.data(LOADS.key, item).values()], incomparable=RULES)]
