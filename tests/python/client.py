"""Clients: calls, cells and errors; workers that are killed, calls that are interrupted, clients that end; strangers.

    client.py [PART-OF-A-NAME]"""

import os
import signal
import subprocess
import sys

import harness
from harness import BUILD, check

PYTHON = os.environ.get("DOME_PYTHON", "/usr/bin/python3")
BEGIN = """
import os, signal, socket, subprocess, sys, threading, time
import dome
def same(found, wanted, what=""):
    if found != wanted:
        raise SystemExit("%s: %r instead of %r" % (what, found, wanted))
def raised(function, *kinds):
    try:
        function()
    except kinds as error:
        return error
    raise SystemExit("nothing was raised")
"""


def environment():
    env = harness.clean_environment()
    env["PYTHONPATH"] = os.path.join(os.path.abspath(BUILD), "python")
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return env


def client(code, *words, status=0, seconds=120, under=None):
    """A program that makes a client, by python3 or under a command of dome: what it prints, and writes on standard error."""
    command = [os.path.join(os.path.abspath(BUILD), "tools", "dome"), *under] if under else []
    with harness.temporary_directory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as f:
            f.write(BEGIN + code)
        done = subprocess.run([*command, PYTHON, path, *words], env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=seconds)
        out, err = done.stdout.decode(), done.stderr.decode()
        check(done.returncode == status, "status %d: %s %s" % (done.returncode, out, err))
        return out, err


CALLS = """
n = int(sys.argv[1])
with dome.Client(n=n) as c:
    same(c.n, n)
    x = c.arange(1000, dtype=dome.float64)
    y = x * 2 + 1
    same(float(y.sum()), 1000000.0)
    same((y.shape, y.dtype, y.ndim, len(y)), ((1000,), dome.float64, 1, 1000))
    same(y[3:6].tolist(), [7.0, 9.0, 11.0])
    y[4] = -1
    y[y > 1990] = 0.5
    same((float(y[4]), float(y[-1])), (-1.0, 0.5))
    z = c.arange(12.0).reshape(3, 4)
    same([v.tolist() for v in c.where(z > 9)], [[2, 2], [2, 3]])
    same((c.allclose(z, z), c.shape(z), float(c.median(z)), c.nearest(z, z[:2]).tolist()), (True, (3, 4), 5.5, [0, 1, 1]))
    same([v.tolist() for v in divmod(c.array([7, 8]), 3)] + [round(z[1, 1] / 3, 2)], [[2, 2], [1, 2], 1.67])
    one, other = c.random.default_rng(4), c.random.default_rng(4)
    same(one.choice(9, (5,), replace=False).tolist(), other.choice(9, (5,), replace=False).tolist())
    same(sorted(one.permutation(c.arange(4)).tolist()), [0, 1, 2, 3])
    y -= x
    same(float(y[10]), 11.0)
    m = c.reshape(c.arange(6), (2, 3))
    same((m.T @ m).tolist(), [[9, 12, 15], [12, 17, 22], [15, 22, 29]])
    values, counts = c.unique_counts(c.asarray([3, 1, 1, 2]))
    same((values.tolist(), counts.tolist()), ([1, 2, 3], [2, 1, 1]))
    same(c.result_type(c.float32, c.int8), dome.float32)
    same(c.asarray([1 + 2j, 0.5]).tolist(), [1 + 2j, 0.5])
    same([bool(v) for v in c.asarray([True, False])], [True, False])
    same(c.zeros((0, 3)).tolist(), [])
    z = x
    for k in range(500):            # more calls than a batch has, and no result is read
        z = z + x
    same(float(z[1]), 501.0)
    error = raised(lambda: (c.zeros(-3), c.wait()), ValueError)
    same((isinstance(error, dome.Error), error.kind, "creation.py" in error.traceback), (True, "ValueError", True))
    bad = c.reshape(x, (7, 7))      # a later call that needs it fails, too, and the others do not
    good = x + 1
    raised(lambda: float(good[0]), ValueError)
    same(float(good[0]), 1.0)
    raised(lambda: float(bad[0]), Exception)
    try:
        import numpy
    except ImportError:
        raise SystemExit(0)
    same(numpy.asarray(x + numpy.ones(1000)).sum(), 500500.0)
    same(c.asarray(numpy.arange(6.0).reshape(2, 3)).get().tolist(), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
same(raised(lambda: c.zeros(3).tolist(), dome.Error).args[0], "this client is closed")
same(os.path.exists(c._folder), False)
"""


def calls():
    for n in 1, 3:
        client(CALLS, str(n))


CELLS = """
c = dome.Client(n=3)
c.run("import math\\ndef twice(v):\\n    return v * 2\\na = dm.ones(5) * 3\\nk = 7\\nprint('sum', float(a.sum()))\\ntwice(k)")
same((c["a"].tolist(), c["k"]), ([3.0] * 5, 7))
c["b"] = c.arange(4)
c.run("print(twice(b))")
error = raised(lambda: c.run("w = 5\\n1 / 0"), ZeroDivisionError)
same((c["w"], c.healed, 'in <cell' in error.traceback or '"<cell' in error.traceback), (5, 0, True), "all raise")
error = raised(lambda: c.run("a = a + 1\\nif dm.rank() == 2:\\n    raise KeyError('x')"), KeyError)
same((error.rank, c.healed, float(c["a"].sum())), (2, 0, 20.0), "one raises, nobody waits for it")
error = raised(lambda: c.run("a = a * 0\\nif dm.rank() == 2:\\n    raise KeyError('x')\\nfloat(a.sum())"), KeyError)
same((error.rank, c.healed, float(c["a"].sum())), (2, 1, 20.0), "the others wait for it: all go back")
c.run("r = dm.named('r', dm.ones(4))\\nfor step in dm.loop('l', 3):\\n    r += 1")
os.kill(c.pids[1], 9)
c.run("assert dm.named('r', dm.zeros(4)) is r")
same((c["r"].tolist(), c.healed), ([4.0] * 4, 2))
raised(lambda: c.run("a ="), dome.Error)
raised(lambda: c.run("exit(3)"), dome.Error)
raised(lambda: c["nothing"], NameError)
c.run("print(twice(k), a)")
"""


def cells():
    out, err = client(CELLS)
    check(out == "sum 15.0\n14\n[0 2 4 6]\n14 [4. 4. 4. 4. 4.]\n", "output: %r %s" % (out, err))


HEALS = """
c = dome.Client(n=3)
x = c.random.random(20000, seed=3)
s, y = x.sum(), c.sqrt(x) + 0.25
wanted = float((y * y).sum()), float(s)
c.run("v = dm.arange(9.0)\\nk = 'text'\\ndef f():\\n    return k + '!'")
draw = __import__("random").Random(4)
for turn in range(6):
    if turn % 2:
        time.sleep(draw.random() * 0.2)
    victim = c.pids[turn % 3]
    z = y * 2
    os.kill(victim, 9)
    same((float((y * y).sum()), float(s)), wanted, "after loss %d" % turn)
    same(float((z - y - y).sum()), 0.0)
    y = y + 0.125
    wanted = float((y * y).sum()), wanted[1]
    c.run("v = v + 1\\nprint(f())")
same(c["v"].tolist(), [k + 6.0 for k in range(9)])
same(c.healed, 6)
print(wanted[0].hex())
"""

UNHARMED = """
import dome as dm
x = dm.random.random(20000, seed=3)
y = dm.sqrt(x) + 0.25
for turn in range(6):
    y = y + 0.125
dm.print(float((y * y).sum()).hex())
"""


def heals():
    """Workers are killed, one after the other: handles, variables and functions stay, and no bit is another."""
    out, err = client(HEALS)
    check(out.count("text!\n") == 6 and err.count("healed from") == 6, "%r %s" % (out, err))
    with harness.temporary_directory() as folder:
        with open(os.path.join(folder, "p.py"), "w") as f:
            f.write(UNHARMED)
        env = environment()
        env["DOME_OPTIONS"] = "--dome-tasks=1"
        wanted = subprocess.run([PYTHON, os.path.join(folder, "p.py")], env=env, stdout=subprocess.PIPE, timeout=60).stdout.decode()
    check(out.splitlines()[-1] + "\n" == wanted, "%r %r" % (out, wanted))


INTERRUPTS = """
c = dome.Client(n=int(sys.argv[1]))
x = c.ones(10)
c.run("q = dm.ones(7)")
for turn in range(4):
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    raised(lambda: c.run("q = q * 0\\nwhile True:\\n    pass"), KeyboardInterrupt)
    same(time.monotonic() - began < 20, True)
    same((float(c["q"].sum()), float(x.sum())), (7.0, 10.0), "turn %d" % turn)
"""


def interrupts():
    """Ctrl-C ends an endless call, and the state is that of before it."""
    for n in 1, 2:
        client(INTERRUPTS, str(n))


CHANGES = """
c = dome.Client(n=2)
x = c.random.random(5000, seed=1)
s = float(x.sum())
from dome.__main__ import find_command
for order, n in (["grow", "-n", "2"], 4), (["shrink", "-n", "3"], 1), (["grow", "-n", "1"], 2):
    done = subprocess.run([find_command(), order[0], str(c._hello["hub"]), *order[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    same(done.returncode, 0, done.stderr)
    same(float((x + 0).sum()), s)
    same((c.run("n = dm.size()"), c["n"], c.n), (None, n, n))
address = c.view()
import urllib.request
same(b"<html" in urllib.request.urlopen(address, timeout=60).read(), True)
"""


def changes():
    """The number of workers changes while the client is idle; the live page is there."""
    client(CHANGES)


ENDS = """
c = dome.Client(n=2)
x = c.ones(10)
print(c._folder, flush=True)
if sys.argv[1] == "idle":
    c.wait()
    os.kill(os.getpid(), 9)
if sys.argv[1] == "busy":
    threading.Timer(0.5, lambda: os.kill(os.getpid(), 9)).start()
    c.run("while True:\\n    pass")
if sys.argv[1] == "exit":
    sys.exit(3)
if sys.argv[1] == "hub":
    os.kill(c._hello["hub"], 9)
    error = raised(lambda: [c.run("a = 1") or time.sleep(0.1) for k in range(200)], dome.Error)
    same(type(error).__name__, "WorkersEnded")
    same("have ended" in str(error), True)
    sys.exit(4)
"""


def using(word):
    """Processes with a word on their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid) as f:
                if word in f.read() and int(pid) != os.getpid():
                    found.append(pid)
        except OSError:
            pass
    return found


def ends():
    """However the client ends, the workers end, and nothing is left; if the workers end, the client says so."""
    for what, status in ("idle", -signal.SIGKILL), ("busy", -signal.SIGKILL), ("exit", 3), ("hub", 4):
        out, err = client(ENDS, what, status=status)
        folder = out.split()[0]
        harness.wait_until(lambda: not using(folder), "%s: the workers end" % what, 60)
        harness.wait_until(lambda: not os.path.exists(folder), "%s: %s is removed" % (what, folder), 10)
        if what == "hub":
            check("the workers of this client have ended" in err, err)


STRANGERS = """
c, d = dome.Client(n=1), dome.Client(n=2)
x, y = c.ones(5), d.ones(5)
raised(lambda: x + y, ValueError)
same((float(x.sum()), float((y + y).sum())), (5.0, 10.0))
import pickle
raised(lambda: pickle.dumps(x), TypeError)
same(os.stat(c._folder).st_mode & 0o777, 0o700)
same(os.stat(c._folder + "/secret").st_mode & 0o777, 0o600)
for said in (b"", b"x" * 10, b"x" * 64 + pickle.dumps(print), os.urandom(100000)):
    stranger = socket.socket(socket.AF_UNIX)
    stranger.connect(c._folder + "/socket")
    stranger.settimeout(20)
    try:
        stranger.sendall(said)
        if len(said) >= 64:
            got = b"-"
            while got:              # a nonce and a proof that is of no use to it, then the end
                got = stranger.recv(100)
    except OSError:
        pass
    same(float((x + 1).sum()), 10.0)
    stranger.close()
same((float(x.sum()), repr(c)[:24]), (5.0, "<dome.Client: 1 workers "))
d.close()
same(float(x.sum()), 5.0)
"""


def strangers():
    """Two clients do not know each other's arrays; who has not the secret is sent away."""
    client(STRANGERS)


THREADS = """
import gc
c = dome.Client(n=2)
errors, large = [], list(range(100000))
def work(k):
    try:
        for turn in range(5):
            z = c.asarray(large) if k % 2 else c.zeros(4)
            for _ in range(70):     # a batch is sent at any time, while others record and read
                z = z + 1
            same(float(z[3]), 73.0 if k % 2 else 70.0)
    except BaseException as error:
        errors.append(error)
threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
same((errors, [thread.is_alive() for thread in threads]), ([], [False] * 6))
gc.set_threshold(3)                 # arrays die while calls are recorded
class Node:
    pass
for k in range(200):
    node = Node()
    node.self, node.x = node, c.zeros(3)
    same(float(c.asarray([float(k), 2.0])[0]), float(k))
x = c.ones(1000) + 1                # Ctrl-C in the middle of a message
c.wait()
try:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        float(c.asarray(large).sum())
except KeyboardInterrupt:
    pass
same(float(x.sum()), 2000.0)
c.close()
folders = set(os.listdir(os.path.dirname(c._folder)))
raised(lambda: dome.Client(n=0), ValueError)
same([name for name in set(os.listdir(os.path.dirname(c._folder))) - folders if name.startswith("dome-client-")], [])
"""


def threads():
    """Several threads of a client, garbage and Ctrl-C at any time."""
    client(THREADS)


MIXED = """
import gc, random
n, seed, first = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
draw, c, own, theirs = random.Random(seed), None, [], []
def client():
    global c
    c = c or dome.Client(n=n)
    return c
if first == "own":
    own.append((dome.ones(300), 300.0))
for step in range(80):
    what = draw.choice("oooocccmxrg")
    of, pairs = (dome, own) if what == "o" else (client(), theirs) if what == "c" else (None, None)
    kind, length, factor = draw.randrange(5), draw.choice([3, 1000, 5000]), draw.randrange(5)
    if of and (kind == 0 or not pairs):
        pairs.append((of.ones(length) * factor, float(length * factor)))
    elif of and kind == 1:
        k = draw.randrange(len(pairs))
        x, total = pairs[k]
        x *= 2.0
        pairs[k] = x, total * 2
    elif of and kind == 2:
        x, total = draw.choice(pairs)
        same(float(x.sum()), total, "a sum")
    elif of and kind == 3:
        x, total = draw.choice(pairs)
        pairs.append((of.sort(x), total))
    elif of:
        pairs.pop(draw.randrange(len(pairs)))
    elif what == "m" and own:
        x, total = draw.choice(own)
        theirs.append((client().asarray(x.numpy()), total))
    elif what == "x" and theirs:
        x, total = draw.choice(theirs)
        own.append((dome.asarray(x.get()), total))
    elif what == "r":
        client().run("q = dm.ones(10) * %d" % factor)
        same(float(c["q"].sum()), factor * 10.0)
    else:
        gc.collect()
for x, total in own + theirs:
    same(float(x.sum()), total, "a sum at the end")
same(dome.size(), 1)
"""
SEVERAL = """
if sys.argv[1] == "own":
    dome.init()
try:
    dome.Client(n=1)
except dome.Error as error:
    same("several tasks makes no client" in str(error), True, str(error))
    same(dome.size(), 2)
    dome.print("refused")
"""


def mixed():
    """A program that calls a client and dome itself in any order; one of several tasks cannot have a client."""
    for seed, (workers, first, words) in enumerate([(1, "own", ["--dome-tasks=1"]), (2, "client", ["--dome-tasks=3"]),
                                                    (2, "any", ["--dome-tasks=1"]), (3, "client", [])]):
        client(MIXED if first != "client" else MIXED.replace("for step", "client()\nfor step", 1), str(workers), str(seed), first, *words)
    for first in "own", "client":
        out, _ = client(SEVERAL, first, under=["run", "-n", "2"])
        check(out == "refused\n", "a program of two tasks that makes a client says %r" % out)
    out, _ = client(SEVERAL, "own", "--dome-tasks=2")
    check(out == "refused\n", "a program of two tasks that makes a client says %r" % out)


def main():
    for part in mixed, calls, cells, heals, interrupts, changes, ends, strangers, threads:
        if len(sys.argv) < 2 or sys.argv[1] in part.__name__:
            part()


try:
    main()
except harness.Failure as failure:
    sys.exit("client: %s" % failure)
