#!/usr/bin/python3
"""Times of the package of Python beside NumPy's and those of the examples in C, in turns: table.py [BUILD]

Prints a table. A time of single operations is the smallest of 60 batches of 200; those of the chain are the smallest of 3 runs.
Times beside C are of the processor, for examples those of programs and of what they start; the ratio is the median of those of
ROUNDS pairs of runs.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
N, TURNS, ROUNDS = 20_000_000, 6, 9


def smallest(function, batches=60, calls=200):
    least = float("inf")
    for _ in range(batches):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        least = min(least, (time.perf_counter() - begin) / calls)
    return least * 1e6


def operations(np, n):
    x, y = np.ones(n), np.ones(n)

    def scale_and_sum():
        nonlocal x
        x *= 1.0000001
        return float(x.sum())

    return smallest(lambda: x + y), smallest(scale_and_sum)


def chain(np, n, turns, clock):
    """Seconds of each turn."""
    x, y = np.arange(float(n)), np.arange(float(n))
    if np.__name__ == "dome":
        for z in x, y:
            z.local_const  # else the values would be computed in each turn, not read
    times = []
    for _ in range(turns):
        begin = clock()
        float(((((x + y) * 0.5 - y) * x + 1.0) * 0.25 + y).sum())  # eight operations
        times.append(clock() - begin)
    return times


def worker(kind, what):
    if kind == "numpy":
        import numpy as np
    else:
        import dome as np
    if what == "operations":
        result = operations(np, 1000)
    elif what == "chain":
        result = [min(chain(np, N, 3, time.perf_counter))]
    else:
        result = chain(np, N, TURNS, time.thread_time)
    if kind == "numpy" or np.rank() == 0:
        print(*result)


def timed(words, environment):
    begin = time.perf_counter()
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True)
    return time.perf_counter() - begin, done.stdout.decode()


def processor_time(words, environment):
    """Of a program and its processes, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    timed(words, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median_ratio(run_c, run_python):
    """Medians of both, in seconds, and of the ratios of pairs of runs that follow each other."""
    pairs = []
    for k in range(ROUNDS):
        turns = (run_c, run_python) if k % 2 else (run_python, run_c)
        pair = [run() for run in turns]
        pairs.append(pair if k % 2 else pair[::-1])
    ratios = sorted(y / x for x, y in pairs)
    in_c, in_python = (statistics.median(times) for times in zip(*pairs))
    return in_c, in_python, statistics.median(ratios), ratios[0], ratios[-1]


def chain_beside_c(dome, build, env):
    """Of the best turn of each run, on one task; None without a compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "chain")
        done = subprocess.run([os.environ.get("CC", "cc"), "-O2", "-I" + os.path.join(SOURCE, "include"), "-o", program,
                               os.path.join(HERE, "chain.c"), "-L" + build, "-ldome", "-Wl,-rpath," + build])
        if done.returncode:
            return None

        def best(*words):
            return min(float(word) for word in timed([*dome, "1", *words], env)[1].split())
        return median_ratio(lambda: best(program, str(N), str(TURNS)),
                            lambda: best(sys.executable, os.path.abspath(__file__), "worker", "dome", "turns"))


def main(build):
    env = dict(os.environ, PYTHONPATH=os.path.join(build, "python"))
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # a module is compiled once
    python, me = sys.executable, os.path.abspath(__file__)
    dome = [os.path.join(build, "tools", "dome"), "run", "-n"]
    commands = {"NumPy": [python, me, "worker", "numpy"], "1 task": [*dome, "1", python, me, "worker", "dome"],
                "2 tasks": [*dome, "2", python, me, "worker", "dome"]}
    print("| | NumPy | 1 task | 2 tasks |\n|---|---:|---:|---:|")
    found = {}
    for what in "operations", "chain":
        for _ in range(3):
            for name, words in commands.items():
                numbers = [float(word) for word in timed([*words, what], env)[1].split()]
                found[name, what] = [min(pair) for pair in zip(numbers, found.get((name, what), numbers))]
    for row, what, at, unit, scale in (("`z = x + y`, n = 1000", "operations", 0, "us", 1),
                                       ("`x *= a; float(x.sum())`, n = 1000", "operations", 1, "us", 1),
                                       ("chain of 8 operations, n = 2e7", "chain", 0, "ms", 1e3)):
        cells = ["%.2f %s" % (found[name, what][at] * scale, unit) for name in commands]
        print("| %s | %s |" % (row, " | ".join(cells)))
    print("\n| beside C, 1 task | C | Python | ratio: median | least | most |\n|---|---:|---:|---:|---:|---:|")
    beside = chain_beside_c(dome, build, env)
    if beside:
        print("| the chain, its best turn of %d | %.3f s | %.3f s | %.2f | %.2f | %.2f |" % (TURNS, *beside))
    for name, words in (("kmeans", ["1000000", "20"]), ("pagerank", ["300000", "100"])):
        beside = median_ratio(*(lambda program=program: processor_time([*dome, "1", *program, *words], env) for program in (
            [os.path.join(build, "examples", name)], [python, os.path.join(SOURCE, "examples", "python", name + ".py")])))
        print("| `%s %s` | %.3f s | %.3f s | %.2f | %.2f | %.2f |" % (name, " ".join(words), *beside))
    print("\nload: %.1f" % os.getloadavg()[0])
    empty, with_dome = (min(timed([python, "-c", code], env)[0] for _ in range(10)) for code in ("pass", "import dome"))
    print("\nimport: %.0f ms" % ((with_dome - empty) * 1e3))


if sys.argv[1:2] == ["worker"]:
    worker(sys.argv[2], sys.argv[3])
else:
    main(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "build")))
