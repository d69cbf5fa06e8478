"""Programs of Python: how they are started, end, fail, are healed and become others.

    programs.py [PART-OF-A-NAME]"""

import os
import random
import re
import signal
import subprocess
import sys
import time

import harness
from harness import BUILD, DOME, SOURCE, check

PYTHON = os.environ.get("DOME_PYTHON", "/usr/bin/python3")
EXAMPLES = os.path.join(os.path.abspath(BUILD), "examples")


def run(words, folder=None, status=0, environment=None, seconds=60):
    """Standard output and standard error of a command."""
    env = harness.clean_environment()
    env["PYTHONPATH"] = os.path.join(os.path.abspath(BUILD), "python")
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env.update(environment or {})
    done = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=seconds)
    out, err = done.stdout.decode(), done.stderr.decode()
    check(done.returncode == status, "%s: status %d: %s %s" % (words, done.returncode, out, err))
    return out, err


def on(tasks, *words, python=PYTHON, options=(), **named):
    return run([DOME, "run", "-n", str(tasks), *options, python, *words], **named)


def text(tasks, code, *words, **named):
    """A program given by its text, as a script."""
    with harness.temporary_directory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as f:
            f.write("import sys, os\nimport dome as dm\n" + code)
        return on(tasks, path, *words, **named)


STARTED = """
s = float(dm.arange(1000.0).sum())
dm.print(dm.size(), sys.argv[1:], s, __name__)
"""


def starts():
    with harness.temporary_directory() as folder:
        with open(os.path.join(folder, "prog.py"), "w") as f:
            f.write("import sys\nimport dome as dm\n" + STARTED)
        for words in (["prog.py"], ["./prog.py"], [os.path.join(folder, "prog.py")], ["-m", "prog"],
                      ["-W", "ignore", "prog.py"], ["-uc", "import sys\nimport dome as dm\n" + STARTED], ["-c", "import sys\nimport dome as dm\n" + STARTED]):
            for command in ([DOME, "run", "-n", "2", PYTHON, *words, "a", "-b"],
                            [PYTHON, *words, "a", "--dome-tasks", "2", "-b"],
                            [PYTHON, "-m", "dome", "-n", "2", *words, "a", "-b"] if words[0] not in ("-W", "-uc") else None):
                if command:
                    out, _ = run(command, folder)
                    check(out == "2 ['a', '-b'] 499500.0 __main__\n", "%s: %r" % (command, out))


def sessions():
    """Standard input and sessions have one task, which can be asked for; several cannot be."""
    with harness.temporary_directory() as folder:
        path = os.path.join(folder, "lines")
        with open(path, "w") as f:
            f.write("import sys\nimport dome as dm\n" + STARTED)
        for words, wanted in (["-"], "['a']"), (["-i", "-"], "['a']"):
            out, _ = run(["sh", "-c", 'exec "$@" <lines', "sh", PYTHON, *words, "a"], folder)
            check(out.strip().endswith("1 %s 499500.0 __main__" % wanted), "%s: %r" % (words, out))
        _, err = run(["sh", "-c", 'exec "$@" <lines', "sh", DOME, "run", "-n", "2", PYTHON, "-"], folder, status=1)
        check("dome.Client" in err, err)


def venv():
    with harness.temporary_directory() as folder:
        done = subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", "--without-pip", "env"], cwd=folder, stderr=subprocess.PIPE)
        check(done.returncode == 0, done.stderr.decode())
        code = "import dome as dm, sys\nprint(dm.tasks.allgather(sys.prefix) if dm.rank() == 0 else dm.tasks.allgather(sys.prefix) and '')"
        with open(os.path.join(folder, "prog.py"), "w") as f:
            f.write(code)
        out, _ = run([DOME, "run", "-n", "2", "env/bin/python3", "prog.py"], folder)
        check(out.count(os.path.join(folder, "env")) == 2, out)


CHANGES = """
x = dm.named("x", dm.arange(5000.0))
what, before = sys.argv[1], dm.is_restarting()
for step in dm.loop("main", 30):
    x *= 1.0001
    x += 0.5
    if what == "kill" and step == 10 and not before and dm.rank() == dm.size() - 1:
        os.kill(os.getpid(), 9)
    if what == "change" and not before and step == 10:
        dm.resize(3)
    if what == "change" and dm.size() == 3 and step == 20:
        dm.resize(1)
    before = before and step == 9
s = float(x.sum())
dm.print(s.hex(), dm.size())
"""


def changes():
    wanted = text(1, CHANGES, "none")[0].split()[0]
    check(text(3, CHANGES, "none")[0].split() == [wanted, "3"], "other bits on 3 tasks")
    check(text(2, CHANGES, "change")[0].split() == [wanted, "1"], "other bits after changes")
    out, err = text(3, CHANGES, "kill", "--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "1",
                    options=("--restarts", "1", "--on-loss", "heal"))
    check(out.split() == [wanted, "3"] and "healed" in err, out + err)
    with harness.temporary_directory() as folder:
        out, err = text(3, CHANGES, "kill", "--dome-checkpoint-dir", folder, "--dome-checkpoint-every", "1",
                        options=("--restarts", "1", "--on-loss", "restart"))
        check(out.split() == [wanted, "3"] and "started again" in err, out + err)


RAISES = """
import random, time
draw = random.Random(int(sys.argv[1]))
who, when = draw.randrange(dm.size()), draw.randrange(12)
x = dm.ones(500)
for turn in range(12):
    if turn == when and dm.rank() == who:
        raise ValueError("in turn %d" % turn)
    x += x * 0.5
    if turn % 3 == 0:
        float(x.sum())
"""


def exceptions():
    """One task raises: all end, and its traceback and rank are seen."""
    for seed in range(int(os.environ.get("DOME_TEST_EXCEPTIONS", "12"))):
        tasks = 2 + seed % 2
        draw = random.Random(seed)
        who = draw.randrange(tasks)
        began = time.monotonic()
        _, err = text(tasks, RAISES, str(seed), status=1)
        check("ValueError: in turn" in err and "(task %d on host" % who in err and "Traceback" in err, err)
        check(time.monotonic() - began < 20, "it took %.1f s" % (time.monotonic() - began))


UNTELLABLE = """
class Bad(Exception):
    def __str__(self):
        raise ValueError("no text")
x = dm.ones(500)
if dm.rank() == 1:
    raise Bad() if sys.argv[1] == "bad" else OSError("x\\udc80")
float(x.sum())
"""


def untellable():
    """Exceptions whose text cannot be made, or has bytes of no encoding, end all tasks as others do."""
    for what, line in ("bad", "Bad: its text"), ("bytes", "OSError: x"):
        _, err = text(2, UNTELLABLE, what, status=1)
        check(line in err and "(task 1 on host" in err and "disagree" not in err, err)
    out, _ = text(2, CATCHES.replace('KeyError("of one")', 'KeyError("x\\udc80")'))
    check("OtherTaskError" in out, out)


EXITS = """
x = dm.ones(500)
float(x.sum())
print("before")                  # waits in Python's buffer
if dm.rank() >= int(sys.argv[1]):
    raise SystemExit(3 if sys.argv[2] == "3" else sys.argv[2])
for turn in range(5):
    float(x.sum())
"""


def ends():
    for tasks in 1, 3:  # all exit: nothing is said
        out, err = text(tasks, EXITS, "0", "3", status=3)
        check(out == "before\n" and not err, out + err)
    began = time.monotonic()
    _, err = text(3, EXITS, "2", "3", status=3)  # one exits: all end, with its status and one line
    check("task 2 on host" in err and "exit status 3" in err and len(err.splitlines()) == 1, err)
    _, err = text(2, EXITS, "1", "no such file", status=1)
    check("no such file" in err and "exit status 1" in err and len(err.splitlines()) == 2, err)
    check(time.monotonic() - began < 8, "it took %.1f s" % (time.monotonic() - began))
    text(2, "keep = dm.ones(5) + 1.0\nclass C: pass\nc = C(); c.c = c; c.x = keep\n")
    text(2, "class Bad:\n    def __del__(self): raise ValueError('in del')\nb = Bad()\ndel b\nfloat(dm.ones(5).sum())")
    _, err = text(1, "x = dm.ones(5)\ndm.finalize()\ntry:\n    x + x\nexcept dm.Error as e:\n    sys.stderr.write(str(e))")
    check("has ended" in err, err)


def lengths():
    """Tasks that disagree about a length: the line names the places."""
    _, err = text(2, "x = dm.zeros(5)\ny = dm.zeros(5 + dm.rank())\nfloat((y + 1.0).sum())", status=1)
    check("disagree" in err and ("zeros(5,) at" in err or "zeros(6,) at" in err) and "program.py:4" in err, err)


CATCHES = """
try:
    with dm.catch():
        if dm.rank() == 1:
            raise KeyError("of one")
    raise SystemExit(5)
except (KeyError, dm.OtherTaskError) as e:
    names = dm.tasks.allgather(type(e).__name__)
with dm.catch():
    pass
dm.print(names, float(dm.ones(7).sum()))
"""


def catch():
    out, _ = text(3, CATCHES)
    check(out.strip() == "['OtherTaskError', 'KeyError', 'OtherTaskError'] 7.0", out)


OTHERS = """
import threading, multiprocessing
x = dm.ones(5)
refused = []
def use():
    for call in (lambda: x + x, lambda: x * 2.0, lambda: dm.zeros(3), lambda: x.sum(), lambda: x.item()):
        try:
            call()
        except (dm.Error, ValueError) as e:
            refused.append(type(e).__name__)
if sys.argv[1] == "thread":
    t = threading.Thread(target=use)
    t.start()
    t.join()
    dm.print(len(refused), float(x.sum()))
if sys.argv[1] == "fork":
    def child():
        use()
        os._exit(len(refused))
    p = multiprocessing.get_context("fork").Process(target=child)
    p.start()
    p.join()
    dm.print(p.exitcode, float(x.sum()))
"""


def others():
    """Threads beside and processes that fork makes get exceptions; the program goes on."""
    for what in "thread", "fork":
        out, _ = text(2, OTHERS, what)
        check(out.split() == ["5", "5.0"], out)
    text(2, "import importlib\nx = dm.ones(5)\nimportlib.reload(dm)\nassert float((x + dm.ones(5)).sum()) == 10")


SPAWNS = """
import multiprocessing
def work(k):
    return k * k
if __name__ == "__main__":
    x = dm.arange(1000.0)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        squares = pool.map(work, range(5))
    dm.print(sum(squares), float(x.sum()))
"""


def spawns():
    """Processes that are started anew are no tasks, and leave those alone."""
    for tasks in 1, 2:
        out, _ = text(tasks, SPAWNS)
        check(out == "30 499500.0\n", out)


SIGNALS = """
import signal, threading, time
seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
x = dm.random.random((200_000,), seed=1)
first = float(x.sum())
def send():
    for _ in range(200):
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.002)
t = threading.Thread(target=send)
t.start()
for turn in range(40):
    assert float(dm.sort(x).sum()) == first
t.join()
assert len(dm.tasks.allgather(len(seen))) == dm.size() and seen
dm.print("ok")
"""


def signals():
    """Signals that a handler of Python gets while calls of the library run."""
    for tasks in 1, 2:
        out, _ = text(tasks, SIGNALS)
        check(out == "ok\n", out)


LAST_WORDS = """
class Bad:
    def __del__(self):
        x.sum()
        raise ValueError("in del")
x = dm.ones(500)
bad = Bad()
bad.bad = bad              # freed at the end of the interpreter
kept = [x + 1.0, {"y": x * 2.0}]
dm.array_of_all = x
float(x.sum())
"""


def last_words():
    """Arrays of the whole program and exceptions while it ends."""
    for tasks in 1, 2:
        text(tasks, LAST_WORDS)


def limited():
    """The module needs nothing of the interpreter but what the limited interface of Python 3.9 declares."""
    module = os.path.join(os.path.abspath(BUILD), "python", "dome", "_dome.abi3.so")
    include, _ = run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('include'))"])
    wanted, _ = run(["nm", "-D", "--undefined-only", module])
    names = {line.split()[-1].split("@")[0] for line in wanted.splitlines()}
    names = {name for name in names if name.startswith(("Py", "_Py"))}
    done = subprocess.run(["cc", "-E", "-DPy_LIMITED_API=0x03090000", "-I" + include.strip(), "-"], input=b"#include <Python.h>\n",
                          stdout=subprocess.PIPE, check=True)
    declared = set(re.findall(r"\b_?Py\w+", done.stdout.decode()))
    check(len(names) > 10 and names <= declared, "not in the limited interface: %s" % sorted(names - declared))


def stripped():
    """An interpreter without symbols, at another place."""
    with harness.temporary_directory() as folder:
        copy = os.path.join(folder, "python")
        run(["objcopy", "--strip-all", os.path.realpath(PYTHON), copy])
        prefix, _ = run([PYTHON, "-c", "import sys; print(sys.prefix)"])
        for path in copy, "./python":
            with open(os.path.join(folder, "prog.py"), "w") as f:
                f.write("import dome as dm\ndm.print(dm.size(), float(dm.ones(9).sum()))\n")
            out, _ = run([DOME, "run", "-n", "2", path, "prog.py"], folder, environment={"PYTHONHOME": prefix.strip()})
            check(out == "2 9.0\n", out)


GARBAGE = """
import gc, random, resource
draw = random.Random(dm.rank())
gc.disable()
x = dm.ones(2000)
kept = []
def turn(k):
    y = x + 1.0
    z = y * 2.0
    cell = [z]
    cell.append(cell)           # a cycle: only gc frees it
    if draw.random() < 0.3:
        kept.append(y)          # each task keeps others for a while
    if draw.random() < 0.05:
        gc.collect()
    if len(kept) > 20:
        kept.pop(draw.randrange(len(kept)))
for k in range(int(sys.argv[1]) // 4):
    turn(k)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for k in range(int(sys.argv[1])):
    turn(k)
    if k % 500 == 0:
        assert float(x.sum()) == 2000
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
dm.print(after - before)
"""


def garbage():
    """Tasks free arrays in orders of their own: no error, and memory stays."""
    for tasks in 1, 3:
        out, _ = text(tasks, GARBAGE, os.environ.get("DOME_TEST_GARBAGE", "8000"), seconds=300)
        check(int(out) < 64 << 10, "%s kB more on %d tasks" % (out.strip(), tasks))


LENGTHS = """
import resource
for k in range(1500):
    y = dm.ones(50_000 + k) + 1.0
    if k == 500:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if k % 100 == 0:
        assert float(y.sum()) == 2 * (50_000 + k)
dm.print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def changing_lengths():
    """Vectors of lengths that do not come again are freed: 1000 arrays of 400 kB, and memory stays."""
    for tasks in 1, 2:
        out, _ = text(tasks, LENGTHS)
        check(int(out) < 64 << 10, "%s kB more on %d tasks" % (out.strip(), tasks))


def interrupt():
    with harness.temporary_directory() as folder:
        path = os.path.join(folder, "prog.py")
        with open(path, "w") as f:
            f.write("import dome as dm, time\nx = dm.ones(5)\nprint('there', flush=True) if dm.rank() == 0 else 0\n"
                    "for k in range(4000):\n    float(x.sum()); time.sleep(0.01)\n")
        env = harness.clean_environment()
        env["PYTHONPATH"] = os.path.join(os.path.abspath(BUILD), "python")
        for tasks in 1, 2:
            p = subprocess.Popen([DOME, "run", "-n", str(tasks), PYTHON, path], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
            check(b"there" in p.stdout.readline(), "it has not begun")
            os.killpg(p.pid, signal.SIGINT)
            began = time.monotonic()
            _, err = p.communicate(timeout=60)
            check(p.returncode != 0 and time.monotonic() - began < 20, "status %d: %s" % (p.returncode, err.decode()))


def no_numpy():
    """Without NumPy arrays work, and a local part says what is missing."""
    code = """
sys.modules["numpy"] = None
x = dm.reshape(dm.asarray([[1.0, 2.0], [3.0, 4.0]]), (4,)) + 1.0
assert x.tolist() == [2.0, 3.0, 4.0, 5.0] and float(x.sum()) == 14
try:
    x.local.numpy()
except ImportError as e:
    assert "python3-numpy" in str(e)
else:
    raise SystemExit(9)
assert "numpy" not in [name.split(".")[0] for name, module in sys.modules.items() if module]
"""
    text(2, code)


def examples():
    """The examples print what those in C print."""
    for name, words in (("pagerank", ("3000", "9")), ("kmeans", ("4000", "5"))):
        wanted, _ = run([DOME, "run", "-n", "2", os.path.join(EXAMPLES, name), *words])
        for tasks in 1, 3:
            out, _ = on(tasks, os.path.join(SOURCE, "examples", "python", name + ".py"), *words)
            check(out == wanted, "%s on %d tasks: %s" % (name, tasks, out))


TWICE = """
import shutil, tempfile
x = dm.ones(3)
with tempfile.TemporaryDirectory() as folder:
    for name in [name for name in sys.modules if name.split(".")[0] == "dome"]:
        del sys.modules[name]
    if sys.argv[1] == "copy":
        shutil.copytree(os.path.dirname(dm.__file__), folder + "/dome")
        sys.path.insert(0, folder)
    import dome
    try:
        dome.ones(3)
    except dome.Error as error:
        dm.print("imported twice" in str(error), float(x.sum()))
"""


def imported_twice():
    """From two places, or from one after somebody has removed the modules."""
    for tasks, how in (1, "copy"), (2, "copy"), (1, "same"):
        out, _ = text(tasks, TWICE, how)
        check(out.startswith("True ") and out.endswith(" 3.0\n"), "dome imported twice: %r" % out)


def documents():
    """The example at the beginning of docs/python.md, on a graph of its own."""
    with open(os.path.join(SOURCE, "docs", "python.md")) as f:
        code = f.read().split("```python\n")[1].split("```")[0]
    with harness.temporary_directory() as folder:
        n = 300
        with open(os.path.join(folder, "web.mtx"), "w") as f:
            f.write("%%MatrixMarket matrix coordinate real general\n" + "%d %d %d\n" % (n, n, 2 * n))
            f.writelines("%d %d 0.5\n%d %d 0.5\n" % (1 + k * k % 7, k + 1, 1 + k * 31 % n, k + 1) for k in range(n))
        with open(os.path.join(folder, "rank.py"), "w") as f:
            f.write(code)
        found = {on(tasks, "rank.py", folder=folder)[0] for tasks in (1, 3)}
        check(len(found) == 1 and "largest: 0." in found.pop(), str(found))


def main():
    for part in starts, sessions, venv, changes, exceptions, untellable, ends, lengths, catch, others, spawns, signals, last_words, limited, stripped, garbage, changing_lengths, interrupt, no_numpy, examples, imported_twice, documents:
        if len(sys.argv) < 2 or sys.argv[1] in part.__name__:
            part()


try:
    main()
except harness.Failure as failure:
    sys.exit("programs: %s" % failure)
