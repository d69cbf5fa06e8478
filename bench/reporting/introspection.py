"""Programs of bench/introspection, compiled by the machine's compiler and by dome-cc: what dome-cc costs, how often they poll, and what a
checkpoint and going on from it take, on this machine, on s390x under qemu, and on i386."""

import collections
import concurrent.futures
import os
import re
import resource
import statistics
import subprocess

from .parts import LIMIT, Failed, Part, Unable, end_with_parent, run_command
from .results import SOURCE
from .rounds import ranged

FOLDER = os.path.join(SOURCE, "bench", "introspection")

# thesis: what the thesis calls it. run: arguments for a run of a quarter to half a second; quick: tiny ones; saved: little work, but data as
# large as in the thesis; raw: bytes of its arrays of numbers then, where these are its data; rest: what its other data occupy in memory
# here, arrays of structs and globals (arguments and variables of functions are not counted).
Program = collections.namedtuple("Program", "name thesis run quick saved raw rest", defaults=(None, 0))


def cubes(side):
    return sum(8 * (s + 2) ** 3 * (4 if s == side else 2) for s in (side >> k for k in range(12)) if s >= 2)


PROGRAMS = [
    Program("matrix_product", "mm", "1024", "100", "512", 3 * 512 * 512 * 8),
    Program("gauss_seidel", "gs", "512 300", "60 20", "512 10", 2 * 512 * 512 * 8),
    Program("quicksort", "qs", "4194304", "50000", "2097152", 2097152 * 4),
    Program("gauss_elimination", "ge", "1100", "120", "512", 513 * 512 * 8),
    Program("conjugate_gradients", "cg", "400 250", "50 20", "400 10", 160001 * 4 + 800000 * 12 + 4 * 160000 * 8),
    Program("integer_sort", "is", "8", "1", "2", 2 * 4194304 * 4 + 32768 * 4),
    Program("random_pairs", "ep", "12000000", "300000", "200000"),
    Program("multigrid", "mg", "128 6", "16 3", "64 2", cubes(64), 12 * 32 + 4),  # 12 levels of two cubes each, and the state of draw
    Program("sparse_eigenvalue", "nas-cg", "7000 15", "300 2", "1400 2"),
    Program("land_use", "lai", "30", "3 30", "2"),
    Program("word_search", "fasta", "25000", "500", "1000"),
    Program("smith_waterman", "sw", "1000", "20", "300"),
    Program("tree", "-", "250000", "5000", "250000"),
]
BY_NAME = {p.name: p for p in PROGRAMS}

POLICIES = ["0", "1", "2", "3", "4", "5", "11", "13", "21", "-1", "auto"]
QUICK_POLICIES = ["4", "auto"]
LEVELS = ["0", "3"]  # of optimization
REQUESTS = 1000
PLAIN = ["-ffp-contract=off", "-w"]  # as dome-cc has it, so that results are the same


def sources(name):
    folder = os.path.join(FOLDER, "programs", name)
    if not os.path.isdir(folder):
        return [folder + ".c"]
    return [os.path.join(folder, file) for file in sorted(os.listdir(folder)) if file.endswith(".c")]


# ---- machines ----

# compiler, more: of dome-cc; plain: arguments of the compiler alone; start: what stands before a program.
Machine = collections.namedtuple("Machine", "name compiler more plain start")
MACHINES = ["x86-64", "i386", "s390x"]
HERE = Machine("x86-64", ["cc"], [], [], [])


def prepare(context):
    try:
        run_command(["cmake", "--build", context.build, "--target", "dome_cc"])
    except Failed:
        raise Unable("dome-cc cannot be built here: it needs libclang")


def other_machine(context, name):
    """None if it cannot be had here."""
    folder = os.path.join(context.build, "introspection", name)
    os.makedirs(folder, exist_ok=True)
    environment = dict(os.environ, DOME_LAB_CFLAGS="-O2", **{"DOME_LAB_" + name.upper(): folder})
    done = subprocess.run([os.path.join(SOURCE, "tools", "dome-lab-" + name)], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
    if done.returncode == 77:
        return None
    if done.returncode:
        raise Failed("dome-lab-%s: %s" % (name, (done.stderr.strip() or "no words").splitlines()[-1]))
    pc, run = os.path.join(folder, "dome.pc"), [os.path.join(folder, "run")]
    if name == "s390x":
        return Machine(name, ["s390x-linux-gnu-gcc"], ["--cc=s390x-linux-gnu-gcc", "--dome=" + pc], [], run)
    with open(pc) as file:
        linked = re.search(r"^Libs: (.*)$", file.read(), re.M).group(1).split()
    found = [word for word in linked if word.startswith(("-Wl,--dynamic-linker", "-Wl,-rpath,", "-Wl,--disable-new-dtags"))]
    return Machine(name, ["i686-linux-gnu-gcc", "-msse2", "-mfpmath=sse"], ["--cc=i686-linux-gnu-gcc -msse2 -mfpmath=sse", "--dome=" + pc],
                   found, run)


# ---- compiling and running ----


def compile_all(commands):
    """Two at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for _ in pool.map(run_command, commands):
            pass


def plain_command(machine, name, level, output):
    return machine.compiler + ["-O" + level] + PLAIN + sources(name) + ["-o", output] + machine.plain + ["-lm"]


def measure_object(context, machine):
    return os.path.join(context.work, "measure.%s.o" % machine.name)


def compile_measure(context, machines):
    for m in machines:
        run_command(m.compiler + ["-O2", "-I" + os.path.join(SOURCE, "include"), "-c", os.path.join(FOLDER, "measure.c"), "-o", measure_object(context, m)])


def dome_command(context, machine, name, level, policy, output):
    return [os.path.join(context.build, "tools", "dome-cc")] + machine.more + ["--polls=" + policy, "-O" + level, "-w"] + sources(name) + [
        measure_object(context, machine), "-Wl,--wrap=dome_capture_main", "-o", output, "-lm"]


def run(words, measure=None, **variables):
    """Seconds of the processor's time, standard output, standard error."""
    environment = dict(os.environ, **variables)
    if measure:
        environment["DOME_MEASURE"] = measure
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                          env=environment, preexec_fn=end_with_parent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Failed("%s ended with status %d: %s" % (os.path.basename(words[-1]), done.returncode, (done.stderr.strip() or "no words").splitlines()[-1]))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout, done.stderr


def said(pattern, text):
    found = re.search("^" + pattern, text, re.M)
    if not found:
        raise Failed("a program did not say '%s': %s" % (pattern, text.strip()[-200:] or "no words"))
    return [float(group) for group in found.groups()]


# ---- the parts ----


def measure_costs(context):
    """Each policy at each level of optimization, in turns with the compiler's own program; polls; how long requests wait."""
    prepare(context)
    name, program = context.item, BY_NAME[context.item]
    words = (program.quick if context.quick else program.run).split()
    policies, turns = (QUICK_POLICIES, 1) if context.quick else (POLICIES, 5)
    here = lambda file: os.path.join(context.work, file)  # noqa: E731
    commands = [plain_command(HERE, name, level, here("plain" + level)) for level in LEVELS]
    commands += [dome_command(context, HERE, name, level, policy, here(policy + "." + level)) for policy in policies for level in LEVELS]
    kinds = ["plain" + level for level in LEVELS] + [policy + "." + level for policy in policies for level in LEVELS]
    i386 = None if context.quick else other_machine(context, "i386")
    if i386:
        commands += [plain_command(i386, name, "3", here("plain.i386")), dome_command(context, i386, name, "3", "auto", here("auto.i386"))]
        kinds += ["plain.i386", "auto.i386"]
    compile_measure(context, [HERE] + ([i386] if i386 else []))
    compile_all(commands)
    times, expected = {kind: [] for kind in kinds}, None
    for turn in range(turns):  # the default placement in each, all others in the first
        for kind in kinds if turn == 0 else [kind for kind in kinds if kind.startswith(("plain", "auto"))]:
            seconds, out, _ = run([here(kind)] + words)
            times[kind].append(seconds)
            expected = expected or out
            if out != expected and "i386" not in kind:
                raise Failed("%s, %s: other output" % (name, kind))
    middle = {kind: round(statistics.median(values), 4) for kind, values in times.items()}
    with open(here("start.c"), "w") as file:
        file.write("int main(void) { return 0; }\n")
    run_command(HERE.compiler + [here("start.c"), "-o", here("start")])
    starts = [round(statistics.median(run(words, measure)[0] for _ in range(9)), 4)
              for words, measure in (([here("start")], None), ([here("auto.3")] + words, "restart"))]
    polls = {}
    for policy in policies:
        counts = [said(r"polls (\d+)", run([here(policy + "." + level)] + words, "polls")[2])[0]
                  for level in (LEVELS if policy == "auto" else ["3"])]
        if counts[0] != counts[-1]:
            raise Failed("%s: %d polls at -O0, %d at -O3" % (name, counts[0], counts[-1]))
        polls[policy] = int(counts[0])
    waits, path = [], here("waits")
    for seed in range(1 if context.quick else 8):
        run([here("auto.3")] + words, "intervals", DOME_MEASURE_SEED=str(seed), DOME_MEASURE_WAITS=path)
        with open(path) as file:
            waits = sorted(float(line) for line in file)
        if len(waits) >= REQUESTS:
            break
    return {"times": middle, "starts": starts, "polls": polls,
            "waits": {"count": len(waits), "mean": round(statistics.mean(waits), 2), "p99": waits[len(waits) * 99 // 100], "longest": waits[-1]} if waits else None}


def measure_checkpoints(context):
    """One checkpoint in the middle on each machine, and going on from each machine's on each machine."""
    prepare(context)
    name, program = context.item, BY_NAME[context.item]
    words = (program.quick if context.quick else program.saved).split()
    machines = [HERE] + [m for m in (other_machine(context, other) for other in MACHINES[1:]) if m]
    here = lambda file: os.path.join(context.work, file)  # noqa: E731
    binary = {m.name: here(os.path.join(m.name, name)) for m in machines}  # the image has the program's name
    for path in binary.values():
        os.makedirs(os.path.dirname(path), exist_ok=True)
    compile_measure(context, machines)
    compile_all([dome_command(context, m, name, "3", "auto", binary[m.name]) for m in machines])
    times = 1 if context.quick else 3
    polls = int(said(r"polls (\d+)", run([binary[HERE.name]] + words, "polls")[2])[0])
    every, data, images = polls // 2 + 1, {"polls": polls, "machines": [m.name for m in machines]}, {}
    for m in machines:
        captures = []
        for k in range(times):
            directory = here("%s.saved%d" % (m.name, k))
            end = run(m.start + [binary[m.name]] + words + ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", str(every)], "capture")[2]
            captures.append(said(r"capture ([\d.]+) ([\d.]+) ([\d.]+)", end))
        images[m.name] = os.path.join(directory, "ckpt-00000001.dckpt")
        data["capture " + m.name] = [statistics.median(c[k] for c in captures) for k in range(3)]
    def content(m):
        with open(images[m.name], "rb") as file:
            return file.read()

    wanted = content(HERE)
    data["blocks"] = int.from_bytes(wanted[40:48], "big")  # entries of its table: docs/checkpoint-format.md
    data["bytes"], data["other images"] = len(wanted), [m.name for m in machines if content(m) != wanted]
    for m in machines:
        begin = [said(r"restart ([\d.]+) ([\d.]+)", run(m.start + [binary[m.name]] + words, "restart")[2]) for _ in range(times)]
        data["start " + m.name] = [statistics.median(b[k] for b in begin) for k in range(2)]
    found = {}
    for _ in range(times + 2):
        for m in machines:
            for origin in machines:
                end = run(m.start + [binary[m.name]] + words + ["--dome-checkpoint-dir", os.path.dirname(images[origin.name]), "--dome-restart"], "restart")[2]
                found.setdefault("restart %s from %s" % (m.name, origin.name), []).append(said(r"restart ([\d.]+) ([\d.]+)", end))
    for key, values in found.items():
        data[key] = [statistics.median(v[k] for v in values) for k in range(2)]
    return data


# bench/capture's arguments; tiny ones
MEMORY = {"flat": ("flat 256", "flat 8"), "graph": ("graph 1000000", "graph 10000"), "particles": ("particles 1000000", "particles 10000"),
          "particles in the cache": ("particles 20000 51", "particles 1000"),
          "deep 10^3": ("deep 1000 51", "deep 100"), "deep 10^4": ("deep 10000 21", "deep 1000"), "deep 10^5": ("deep 100000", "deep 10000")}


def measure_memory(context):
    """What bench/capture says."""
    out = run_command([os.path.join(context.build, "bench", "capture")] + MEMORY[context.item][context.quick].split())
    if context.item.startswith("deep"):
        found = re.search(r"captured in ([\d.]+) ns a function, resumed and returned in ([\d.]+) ns", out)
        if not found:
            raise Failed("capture says: " + out)
        return {"capture": float(found.group(1)), "resume": float(found.group(2))}
    data = {}
    for line in out.splitlines():
        found = re.search(r": ([\d.]+) MB in memory, ([\d.]+) MB in the image; taken in ([\d.]+) ms, (\d+) MB/s; restored in ([\d.]+) ms, (\d+) MB/s", line)
        if not found:
            raise Failed("capture says: " + line)
        how = "table" if "by the table" in line else "functions"
        data[how] = dict(zip(("memory", "image", "taken", "taken_rate", "restored", "restored_rate"), map(float, found.groups())))
    return data


NAMES = [p.name for p in PROGRAMS]
COSTS = Part("introspection-costs", 3, NAMES, 40, measure_costs)
CHECKPOINTS = Part("introspection-checkpoints", 3, NAMES, 25, measure_checkpoints)
MEMORY_PART = Part("introspection-memory", 3, list(MEMORY), 8, measure_memory, targets=("bench_capture",))


# ---- the thesis's figures ----

THESIS_POLICIES = POLICIES[:9]
# By policy: overhead as compiled normally, efficiency of the optimizer, overhead optimized; averages over its five machines.
THESIS_COSTS = {
    "mm": "2.3/1.01/1.7 2.4/1.00/2.2 3.0/1.00/2.8 4.1/.98/6.5 2.2/.97/5.5 4.1/.98/7.0 6.4/1.00/6.5 7.0/1.03/3.7 12.6/.83/54.8",
    "gs": "0.7/.99/1.5 2.1/1.00/2.5 1.7/.99/3.3 2.4/.99/3.2 10.6/.96/15.0 10.3/.95/16.2 1.8/.99/2.9 10.4/.95/16.1 15.9/.80/47.8",
    "qs": "3.2/.95/8.4 9.4/.89/24.1 9.0/.88/25.7 9.6/.89/24.2 9.6/.89/25.0 10.3/.88/27.2 11.0/.89/25.6 11.8/.90/25.7 29.1/.84/57.1",
    "ge": "4.0/1.03/1.1 4.3/1.03/1.0 3.6/1.02/1.1 4.1/1.01/3.5 3.2/1.01/2.2 3.3/.99/5.3 4.4/1.03/1.2 3.9/1.02/2.2 14.1/.86/40.3",
    "cg": "4.2/1.00/4.1 3.0/.98/5.3 4.6/.99/5.8 3.0/.99/4.3 19.6/.97/23.5 19.9/.97/22.9 3.4/.99/4.3 19.5/.96/23.7 22.2/.97/26.0",
    "is": "7.5/1.06/1.5 7.4/1.06/1.6 8.8/1.02/7.1 8.9/1.02/7.0 15.1/.98/18.7 15.2/.98/18.4 8.8/.99/10.3 14.9/.97/18.9 14.7/.98/18.4",
    "ep": "6.2/.95/12.7 6.4/.99/8.4 4.2/.95/9.6 4.9/.95/10.4 8.8/1.00/9.1 7.0/1.00/8.0 5.3/.96/10.5 8.3/1.01/7.9 7.9/1.01/7.6",
    "mg": "3.1/.96/6.9 2.7/.99/4.0 1.2/.97/4.7 2.7/.98/5.1 1.9/.98/4.6 3.6/.98/6.1 1.8/.93/9.6 2.4/.97/5.3 3.2/.92/12.3",
    "nas-cg": "0.6/.99/2.0 2.4/1.00/2.0 0.3/.98/2.8 1.3/.97/4.1 2.9/1.00/2.8 3.0/.98/5.4 10.0/.87/28.5 11.6/.87/30.5 12.9/.86/34.2",
    "lai": "13.4/1.00/13.0 12.9/.98/15.0 13.2/.99/14.3 12.9/.99/14.6 12.9/.98/15.4 12.6/.97/15.8 12.8/.97/16.6 13.3/.96/18.3 13.1/.96/18.2",
    "fasta": "3.1/.94/9.5 4.1/.96/9.0 13.1/.90/26.9 17.1/.93/26.3 16.0/.89/31.7 14.7/.86/34.4 14.4/.88/30.9 17.9/.88/34.9 19.1/.89/34.7",
    "sw": "1.2/.96/5.1 1.6/.95/7.4 1.2/.94/7.5 1.3/.94/7.8 1.8/.94/8.5 2.5/.95/7.9 9.2/.87/27.3 9.8/.86/30.9 10.2/.88/28.8",
}
# By policy: microseconds between two polls on its Pentium.
THESIS_INTERVALS = {
    "mm": "3.7e6 55.48 56.06 28.03 55.80 27.69 27.63 27.86 .22",
    "gs": "429.66 10.90 10.63 10.57 .15 .15 10.58 .15 .08",
    "qs": ".26 .16 .16 .17 .16 .16 .16 .15 .06",
    "ge": "1.2e6 62.19 4028.85 62.34 2688.78 61.75 62.15 61.73 .18",
    "cg": "5164.33 210.60 208.98 208.63 .23 .22 207.83 .23 .19",
    "is": "2.77 2.77 2.30 2.30 .34 .34 2.32 .34 .34",
    "ep": "1.72 5.07 5.07 5.07 5.14 5.14 5.05 5.10 5.10",
    "mg": "1.27 35.80 1650.59 35.34 417.95 35.42 4.43 4.43 .68",
    "nas-cg": "107.82 9.45 20.15 6.94 1.24 1.24 .19 .17 .17",
    "lai": ".364 .381 .374 .374 .374 .374 .367 .385 .385",
    "fasta": "6.671 1.327 .181 .178 .171 .168 .156 .148 .143",
    "sw": "108.863 63.050 34.477 34.127 13.545 13.487 .241 .237 .238",
}
# Bytes; milliseconds on its Pentium: of a checkpoint, of a restart from its own, from an Alpha's, from an RS/6000's.
THESIS_CHECKPOINTS = {
    "mm": (1573018, 47.31, 99.84, 97.82, 131.70), "gs": (102613, 4.05, 6.13, 6.11, 7.51), "qs": (8388716, 303.72, 570.50, 560.69, 748.07),
    "ge": (2118390, 115.54, 167.34, 167.69, 191.12), "cg": (1280353, 46.57, 84.60, 84.60, 117.61),
    "is": (16785727, 535.34, 1054.31, 1055.67, 1529.84), "ep": (314, 0.76, 0.60, 0.63, 0.61), "mg": (7025076, 550.67, 516.67, 523.03, 602.51),
    "nas-cg": (960511, 22.57, 63.97, 63.87, 84.98), "lai": (6782, 2.07, 3.66, 3.64, 3.73), "fasta": (2761417, 777.18, 826.49, 847.75, 859.25),
    "sw": (1157003, 283.02, 320.06, 331.16, 331.24),
}


def thesis_cost(program, policy, which):
    """which: 0 normal, 1 efficiency, 2 optimized. None where it has none."""
    if program.thesis not in THESIS_COSTS or policy not in THESIS_POLICIES:
        return None
    return float(THESIS_COSTS[program.thesis].split()[THESIS_POLICIES.index(policy)].split("/")[which])


def thesis_interval(program, policy):
    if program.thesis not in THESIS_INTERVALS or policy not in THESIS_POLICIES:
        return None
    return float(THESIS_INTERVALS[program.thesis].split()[THESIS_POLICIES.index(policy)])


# ---- out of the rounds ----


def measured(r, part):
    return [p for p in PROGRAMS if r.data(part.key, p.name)]


def costs(r, name, policy, level, machine=None):
    """Round by round: of dome-cc over the compiler, in percent, without the starts of the programs."""
    mine, theirs = (policy + "." + (machine or level)), "plain" + ("." + machine if machine else level)
    found = [(d["times"], d["starts"]) for d in r.data(COSTS.key, name).values()]
    return [100 * ((t[mine] - start[1]) / max(1e-4, t[theirs] - start[0]) - 1) for t, start in found if mine in t and theirs in t]


def efficiencies(r, name, policy):
    """How much the optimizer gains of dome-cc's program over how much it gains of the plain one."""
    found = [d["times"] for d in r.data(COSTS.key, name).values()]
    return [t[policy + ".0"] / t[policy + ".3"] / (t["plain0"] / t["plain3"]) for t in found if policy + ".0" in t]


def intervals(r, name, policy):
    """Microseconds between two polls."""
    return [1e6 * d["times"][policy + ".3"] / max(1, d["polls"][policy]) for d in r.data(COSTS.key, name).values() if policy in d["polls"]]


def waits(r, name, key):
    """key: mean, p99, longest; in microseconds"""
    return [d["waits"][key] for d in r.data(COSTS.key, name).values() if d["waits"]]


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def cell(value, form="%.1f"):
    return "-" if value is None else form % value


def pair(published, ours, form="%.1f"):
    return "%s, %s" % (cell(published, form), ranged(ours, form))
