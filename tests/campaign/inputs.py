"""Damaged files and odd options, given to the commands and programs of a build with sanitizers: a status and a line, never a crash, a
hang, or memory that is not theirs.

    inputs.py [COUNT [SEED [NUMBER]]]

DOME_SANITIZED names the build; it is build/sanitize of the tests unless set."""

import os
import re
import shutil
import struct
import subprocess

import campaign
import harness
from campaign import STATE
from harness import SOURCE, check

SANITIZED = os.environ.get("DOME_SANITIZED", os.path.join(os.path.abspath(harness.BUILD), "sanitize"))
DOME = os.path.join(SANITIZED, "tools", "dome")
PROGRAM = os.path.join(SANITIZED, "tests", "checkpoint", "state")
EXAMPLES = os.path.join(SANITIZED, "examples")
MEMORY = 4 << 30
NUMBERS = [b"0", b"-1", b"18446744073709551615", b"9223372036854775807", b"4294967296", b"1e308", b"nan", b"-inf", b"9" * 23, b"2147483648", b"1000000", b"0x10", b""]
BYTES = [b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7]
PIECES = [b"\n", b" ", b"%", b"\0", b"\xff\xfe", b"%00", b"T 0\n", b"T 999999\n", b"-"]
WORDS = ["", "0", "-1", "nan", "inf", "-inf", "1e400", "99999999999999999999", "2147483648", "4294967296", "0x10", " 1", "1 ", "+1", "1.5", "\u00fc", "%s%s%n",
         "a" * 100000, "auto", "../../..", "'", '"', "\\", "$(id)", "\n", "10s", "s", "1e-400s", "0.0000001", "86400"]
OPTIONS = ["tasks", "transport", "road", "bind", "timeout", "output", "balance", "balance-every", "balance-phases", "balance-group", "topology", "kernels",
           "checkpoint-dir", "checkpoint-every", "checkpoint-keep", "checkpoint-mtbf", "restart", "evaluator", "check-pointers", "check-reductions", "progress", "trace", "profile",
           "version", "help", "", "x", "tasks=", "-"]


def mutated(data, chance):
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 3, 8, 30])):
        if not data:
            break
        kind, at = chance.randrange(9), chance.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at] = chance.randrange(256)
        elif kind == 2:
            del data[at : at + chance.choice([1, 2, 8, 100])]
        elif kind == 3:
            data[at:at] = data[at : at + chance.choice([1, 10, 200])]
        elif kind == 4:
            data = data[:at]
        elif kind == 5:
            found = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(data)))
            if found:
                number = chance.choice(found)
                data[number.start() : number.end()] = chance.choice(NUMBERS)
        elif kind == 6:
            data[at : at + 8] = chance.choice(BYTES)
        elif kind == 7:
            lines = bytes(data).split(b"\n")
            a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            data = bytearray(b"\n".join(lines))
        else:
            data[at:at] = chance.choice(PIECES)
    return bytes(data)


def read(path, limit=-1):
    with open(path, "rb") as f:
        return f.read(limit)


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


# ---- kinds of input: each gives the commands to run ----


def traces(chance, base):
    path = write(base + "/trace", mutated(samples["trace"], chance))
    return [[DOME, "view", path, "-o", base + "/page.html"], [DOME, "view", path, "-o", base + "/page.json"]]


def checkpoints(chance, base):
    directory = os.path.join(base, "saved")
    shutil.copytree(samples["saved"], directory)
    names = campaign.checkpoints(directory)
    for name in names:
        if chance.random() < 0.6:
            data = read(os.path.join(directory, name))
            head = chance.random() < 0.7
            data = mutated(data[:3000], chance) + data[3000:] if head else mutated(data, chance)
            write(os.path.join(directory, name), with_right_size(data) if chance.random() < 0.5 else data)
    first, last = os.path.join(directory, names[0]), os.path.join(directory, names[-1])
    return [[DOME, "ckpt", "ls", directory], [DOME, "ckpt", "show", directory], [DOME, "ckpt", "verify", first, last], [DOME, "ckpt", "diff", first, last]]


def with_right_size(data):
    """So that more than the size is looked at."""
    data = bytearray(data)
    if len(data) >= 64:
        struct.pack_into(">Q", data, 32, len(data))
    return bytes(data)


def options(chance, base):
    words = []
    for _ in range(chance.choice([1, 1, 2, 4])):
        option, value = "--dome-" + chance.choice(OPTIONS), chance.choice(WORDS)
        if option.endswith(("checkpoint-dir", "trace")) and value:
            value = base + "/" + value[:50].replace("/", "_")
        words += [option + "=" + value] if chance.random() < 0.5 else [option, value]
    return [[PROGRAM, "2"] + words + ["--dome-transport", "self"]]


def hostfiles(chance, base):
    hosts = b"# hosts\nnode1 ep=/usr/bin lo=me\nnode2 dx=/x\n* sp=1000\n&node3\nnode4 id=%s\n"
    path = write(base + "/hosts", mutated(hosts, chance) if chance.random() < 0.9 else chance.randbytes(2000))
    return [[DOME, "run", "-n", "2", "--address", "127.0.0.1", "--hosts", path, "/bin/true"]]


def matrices(chance, base):
    small = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2.0\n2 2 2.0\n3 3 2.0\n2 1 -1.0\n"
    source = small if chance.random() < 0.5 else read(SOURCE + "/examples/data/lund_a.mtx", 4000)
    return [[EXAMPLES + "/cg", write(base + "/a.mtx", mutated(source, chance)), "--max-iterations", "50", "--dome-transport", "self"]]


def arrays(chance, base):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 4), }"
    header += " " * (64 - (11 + len(header)) % 64) + "\n"
    good = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(128)
    a, b = write(base + "/a.npy", mutated(good, chance)), write(base + "/b.npy", good)
    return [[EXAMPLES + "/matmul", a, b, base + "/c.npy", "--dome-transport", "self"]]


def atoms(chance, base):
    small = (b"LAMMPS data\n\n4 atoms\n1 atom types\n\n0 5 xlo xhi\n0 5 ylo yhi\n0 5 zlo zhi\n\nMasses\n\n1 1.0\n\nAtoms # atomic\n\n"
             b"1 1 0 0 0\n2 1 1 1 1\n3 1 2 2 2\n4 1 3 3 3\n\nVelocities\n\n1 0 0 0\n2 0 0 0\n3 0 0 0\n4 0 0 0\n")
    source = small if chance.random() < 0.6 else read(SOURCE + "/examples/data/lj-melt-4000.data", 6000)
    return [[EXAMPLES + "/md", write(base + "/a.data", mutated(source, chance)), "--steps", "2", "--dome-transport", "self"]]


KINDS = [traces, checkpoints, options, hostfiles, matrices, arrays, atoms]


def environment(base):
    env = harness.clean_environment()
    env.update(ASAN_OPTIONS="detect_leaks=0:exitcode=77:allocator_may_return_null=1:max_allocation_size_mb=%d" % (MEMORY >> 20),
               UBSAN_OPTIONS="halt_on_error=1:exitcode=78:print_stacktrace=1", TMPDIR=base)
    return env


def case(chance, number):
    kind = kinds[number % len(kinds)]
    statuses = set()
    with harness.temporary_directory() as base:
        for command in kind(chance, base):
            command = [word.replace("\0", "") for word in command]
            shown = " ".join(command)[:200]
            try:
                done = subprocess.run(command, env=environment(base), capture_output=True, stdin=subprocess.DEVNULL, cwd=base, timeout=harness.HANG)
            except subprocess.TimeoutExpired:
                raise harness.Failure("hangs: %s" % shown)
            text = done.stderr.decode(errors="replace")
            check(done.returncode >= 0 and "Sanitizer" not in text and "runtime error" not in text, "status %d: %s: %s" % (done.returncode, shown, text[:3000]))
            differ = "diff" in command and done.returncode == 1
            check(done.returncode == 0 or differ or text.strip(), "status %d without a line: %s" % (done.returncode, shown))
            statuses.add(done.returncode)
    return "%-12s status %s" % (kind.__name__, ", ".join(map(str, sorted(statuses))))


def make_samples(base):
    env = environment(base)
    saved, trace = base + "/saved", base + "/trace"
    plain = [STATE, "9", "--dome-transport", "self", "--dome-checkpoint-dir", saved, "--dome-checkpoint-every", "3", "--dome-checkpoint-keep", "3"]
    subprocess.run(plain, env=env, check=True, capture_output=True, timeout=harness.HANG)
    with harness.Run([STATE, "30", "--dome-tasks", "2", "--dome-balance", "random", "--dome-trace", trace]) as run:
        check(run.wait() == 0, run.errors())
    return {"saved": saved, "trace": read(trace, 60000)}


if __name__ == "__main__":
    harness.need_pvm()
    campaign.need_state()
    if not os.path.exists(DOME) or not os.path.exists(PROGRAM):
        harness.skip("there is no build with sanitizers in %s" % SANITIZED)
    kinds = [k for k in KINDS if os.path.exists(EXAMPLES) or k not in (matrices, arrays, atoms)]
    with harness.temporary_directory() as base:
        samples = make_samples(base)
        campaign.campaign("damaged files and odd options under sanitizers", case, 700, jobs=2)
