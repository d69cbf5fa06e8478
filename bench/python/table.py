#!/usr/bin/python3
"""Times of the package of Python beside NumPy's and those of the examples in C, in turns: table.py [BUILD]

Prints a table. A time of single operations is the smallest of 60 batches of 200; other times are the smallest of 3 runs.
Times of examples are of the processor: those of programs and of what they start.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))


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


def chain(np, n):
    x, y = np.ones(n), np.ones(n)
    least = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        float(((((x + y) * 0.5 - y) * x + 1.0) * 0.25 + y).sum())  # eight operations
        least = min(least, time.perf_counter() - begin)
    return least


def worker(kind, what):
    if kind == "numpy":
        import numpy as np
    else:
        import dome as np
    result = operations(np, 1000) if what == "operations" else (chain(np, 20_000_000),)
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


def chain_in_c(build, n, env):
    """Milliseconds of the same chain by the library alone; None without a compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "chain")
        done = subprocess.run([os.environ.get("CC", "cc"), "-O2", "-I" + os.path.join(SOURCE, "include"), "-o", program,
                               os.path.join(HERE, "chain.c"), "-L" + build, "-ldome", "-Wl,-rpath," + build])
        if done.returncode:
            return None
        dome = os.path.join(build, "tools", "dome")
        return min(float(timed([dome, "run", "-n", "1", program, str(n)], env)[1]) for _ in range(3)) * 1e3


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
    in_c = chain_in_c(build, 20_000_000, env)
    if in_c:
        print("\nthe same chain in C, 1 task: %.2f ms; Python takes %.2f times as long" % (in_c, found["1 task", "chain"][0] * 1e3 / in_c))
    print("\n| example | C, 1 task | Python, 1 task | |\n|---|---:|---:|---:|")
    for name, words in (("kmeans", ["1000000", "20"]), ("pagerank", ["300000", "100"])):
        times = {}
        for _ in range(3):
            for kind, program in (("C", [os.path.join(build, "examples", name)]),
                                  ("Python", [python, os.path.join(SOURCE, "examples", "python", name + ".py")])):
                seconds = processor_time([*dome, "1", *program, *words], env)
                times[kind] = min(seconds, times.get(kind, seconds))
        row = name, " ".join(words), times["C"], times["Python"], times["Python"] / times["C"]
        print("| `%s %s` | %.2f s | %.2f s | %.2f |" % row)
    print("\nload: %.1f" % os.getloadavg()[0])
    empty, with_dome = (min(timed([python, "-c", code], env)[0] for _ in range(10)) for code in ("pass", "import dome"))
    print("\nimport: %.0f ms" % ((with_dome - empty) * 1e3))


if sys.argv[1:2] == ["worker"]:
    worker(sys.argv[2], sys.argv[3])
else:
    main(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "build")))
