"""Generated programs (csmith) by dome-cc for x86-64 at -O0, -O2 and -O3, for s390x and for i386: undisturbed and captured they do what
the compiler's program does, poll as often and write the same images, byte for byte; and from each stop the next build goes on to the
next stop, and from some to the end. Stops are the first polls in turn, some of the others, and the last one.

Programs that dome-cc refuses, most without loops, and those that do not end soon or hardly poll, are counted, and others take their places."""

import atexit
import collections
import os
import re
import shutil
import subprocess
import tempfile
import threading

import common
import harness
from harness import Failure, check

CC = os.path.join(os.path.abspath(harness.BUILD), "tools", "dome-cc")
INCLUDE = next((d for d in ("/usr/include/csmith", "/usr/include/csmith-2.3.0") if os.path.exists(os.path.join(d, "csmith.h"))), None)
# What images cannot hold: raw unions, bit-fields.
ALWAYS = ["--no-unions", "--no-bitfields"]
OPTIONS = ["--float", "--no-packed-struct", "--no-volatiles", "--inline-function", "--no-jumps", "--max-pointer-depth 4",
           "--max-array-dim 4", "--max-block-depth 3", "--no-arrays", "--no-consts"]
LABS = os.path.join(os.path.abspath(harness.BUILD), "tests")
MACHINES = {"s390x": (["--cc=s390x-linux-gnu-gcc"], ["qemu-s390x-static", "-L", os.path.join(LABS, "s390x", "root")]),
            "i386": (["--cc=i686-linux-gnu-gcc -msse2 -mfpmath=sse"], [])}
MACHINES = {m: v for m, v in MACHINES.items() if os.path.exists(os.path.join(LABS, m, "dome.pc"))}
FIRST, OTHERS = 12, 7  # stops
FEWEST, MOST = 5, 100000  # polls of a program
LONGEST = 24000  # bytes of a program: compilers take most of the time
passed_over, lock = collections.Counter(), threading.Lock()


def run(command, directory, seconds, stops=(), end=False):
    """(status, output, errors, polls); None: it does not end in time"""
    environment = {**harness.clean_environment(), "STOPS": " ".join(map(str, stops)), **({"STOPS_END": str(stops[-1])} if end else {})}
    try:
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    errors = done.stderr.decode(errors="replace")
    polls = re.search(r"^polls (\d+)$", errors, re.M)
    return done.returncode, done.stdout, errors, int(polls.group(1)) if polls else None


class Build:
    """The program by dome-cc; self.why: it is refused."""

    def __init__(self, directory, name, options, polls, machine=None):
        self.name, self.wrapper, self.why = name, [], None
        cc = ["cc"]
        self.program = os.path.join(directory, name, "program")  # its name is in images
        os.makedirs(os.path.dirname(self.program), exist_ok=True)
        if machine:
            flags, self.wrapper = MACHINES[machine]
            cc = flags[0][len("--cc="):].split()
            options = options + flags + ["--dome=" + os.path.join(LABS, machine, "dome.pc")]
        self.cc = cc
        stops = os.path.join(HEADERS, "stops.%s.o" % machine)
        with lock:
            if not os.path.exists(stops):
                source = [os.path.join(harness.SOURCE, "tests/dome-cc/programs/stops.c"), "-I", os.path.join(harness.SOURCE, "include")]
                subprocess.run([*cc, "-O1", "-c", *source, "-o", stops], check=True)
        done = run([CC, *options, "--polls=" + polls, "-w", "-I", HEADERS, "program.c", stops, "-Wl,--wrap=dome_capture_main", "-o", self.program, "-lm"],
                   directory, 300)
        check(done is not None, "dome-cc %s does not end" % " ".join(options))
        if done[0] != 0:
            reason = re.search(r"error: dome-cc: (.*)", done[2])
            check(reason and "mistake" not in done[2], "dome-cc %s: %s" % (" ".join(options), done[2][:600]))
            self.why = re.sub(r"\b(g_|l_|p_|func_|S)\d+\b", r"\1N", reason.group(1))[:100]

    def run(self, directory, seconds, arguments=(), stops=(), end=False):
        return run([*self.wrapper, self.program, *arguments], directory, seconds, stops, end)

    def plain_is(self, directory, plain):
        """Whether the compiler's program for that machine does the same."""
        subprocess.run([*self.cc, "-static", "-w", "-O1", "-ffp-contract=off", "-I", HEADERS, "program.c", "-o", "there", "-lm"], check=True, cwd=directory)
        done = run([*self.wrapper, os.path.join(directory, "there")], directory, 60)
        return done is not None and done[:2] == plain[:2]


def judge(what, done, plain, part=False):
    check(done is not None, "%s: does not end" % what)
    check(done[0] == plain[0], "%s: status %d, not %d: %s" % (what, done[0], plain[0], done[2][:300]))
    check(plain[1].endswith(done[1]) if part else done[1] == plain[1], "%s: other output: %r" % (what, done[1][-120:]))


# A pointer to a variable of a function that has returned leads to whatever has its place now, or to nothing, which differs between machines.
GONE = re.compile(r"image: .*: (#\d+\.\S+ and (#\d+\.\S+|dangling)|dangling and #\d+\.\S+)")


def same(what, one, other, names):
    """Whether they are the same bytes; False: but for pointers to what is gone."""
    equal = True
    for name in names:
        a, b = os.path.join(one, name), os.path.join(other, name)
        check(os.path.exists(b), "%s: there is no %s" % (what, name))
        with open(a, "rb") as f, open(b, "rb") as g:
            if f.read() == g.read():
                continue
        told = subprocess.run([harness.DOME, "ckpt", "diff", "--all", a, b], capture_output=True, text=True, timeout=60).stdout.splitlines()
        check(told and all(GONE.fullmatch(line) for line in told), "%s: %s differs: %s" % (what, name, "; ".join(told[:3])))
        equal = False
    return equal


def own_headers():
    """csmith's headers without polls in the functions for checksums: nearly all polls of a program would be there. The checksum of a
    float is taken of its bytes: in one order on all machines."""
    directory = tempfile.mkdtemp(prefix="dome-csmith.", dir=harness.short_parent())
    atexit.register(shutil.rmtree, directory, True)
    for name in filter(lambda n: n.endswith(".h"), os.listdir(INCLUDE)):
        with open(os.path.join(INCLUDE, name)) as f, open(os.path.join(directory, name), "w") as g:
            text = re.sub(r"^\s*(for|while) ?\(", r"#pragma dome nopoll\n\g<0>", f.read(), flags=re.M)
            g.write(text.replace("ptr[i]", "ptr[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? nbytes - 1 - i : i]"))
    return directory


def pass_over(why):
    with lock:
        passed_over[why] += 1


def is_defined(directory, options):
    """Conversions of floats to integers may be undefined; all else that csmith makes is not."""
    if "--float" not in options:
        return True
    subprocess.run(["cc", "-w", "-O0", "-fsanitize=float-cast-overflow", "-I", HEADERS, "program.c", "-o", "checked", "-lm"], check=True, cwd=directory)
    done = run(["./checked"], directory, 20)
    return done is not None and "runtime error" not in done[2]


def has_loops(directory):
    """Nearly all programs without hardly poll, which is told here before they are built."""
    with open(os.path.join(directory, "program.c")) as f:
        return re.search(r"\bfor \(|\bgoto\b", f.read().partition("int main")[0])


LONG = re.compile(r"\b((?:0x[0-9A-Fa-f]+|[0-9]+)U?L)\b")  # a long has 4 bytes on i386, and -9L > 1u is true there


def generate(chance, directory, polls):
    """A program that ends, polls, and is not refused: what the compiler's program does, the build, its number of polls."""
    while True:
        options = ALWAYS + " ".join(o for o in OPTIONS if chance.random() < 0.2).split()
        options += ["--max-funcs", str(chance.randint(2, 5)), "--max-block-size", str(chance.randint(2, 3)), "--max-expr-complexity", str(chance.randint(2, 8))]
        text = subprocess.run(["csmith", "--seed", str(chance.randrange(1 << 31)), *options], stdout=subprocess.PIPE, text=True, check=True, cwd=directory).stdout
        with open(os.path.join(directory, "program.c"), "w") as f:
            f.write(LONG.sub(r"\1L", text))
        if os.environ.get("DOME_KEEP"):
            shutil.copy(os.path.join(directory, "program.c"), os.environ["DOME_KEEP"])
        if os.path.getsize(os.path.join(directory, "program.c")) > LONGEST and chance.random() < 0.9:
            pass_over("longer than %d bytes" % LONGEST)
            continue
        if not has_loops(directory) and chance.random() < 0.8:
            pass_over("without loops")
            continue
        subprocess.run(["cc", "-w", "-O1", "-ffp-contract=off", "-I", HEADERS, "program.c", "-o", "plain", "-lm"], check=True, cwd=directory)
        plain = run(["./plain"], directory, 1)
        if plain is None:
            pass_over("does not end in 1 s")
            continue
        check(plain[0] >= 0, "the plain program dies")
        if not is_defined(directory, options):
            pass_over("undefined conversions of floats")
            continue
        build = Build(directory, "O0", ["-O0"], polls)
        if build.why:
            pass_over("refused: " + build.why)
            continue
        done = build.run(directory, 60)
        judge("undisturbed", done, plain)
        if FEWEST <= done[3] <= MOST:
            return plain, build, done[3]
        pass_over("fewer than %d polls" % FEWEST if done[3] < FEWEST else "more than %d polls" % MOST)


def everywhere(base, number, chance):
    polls = chance.choice(["every", "every", "every", "auto"])
    plain, first, total = generate(chance, base, polls)
    later = range(FIRST + 1, total)
    stops = list(range(1, min(FIRST, total) + 1)) + sorted(chance.sample(later, min(OTHERS, len(later)))) + ([total] if total > FIRST else [])
    names = ["ckpt-%08d.dckpt" % (k + 1) for k in range(len(stops))]

    def options(directory, *more):
        return ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", "1000000000", "--dome-checkpoint-keep", "1000000", *more]

    def captured(build):
        directory = os.path.join(base, "saved." + build.name)
        done = build.run(base, 300, options(directory), stops)
        judge("captured, " + build.name, done, plain)
        check(done[3] == total, "captured, %s: %s polls, not %d" % (build.name, done[3], total))
        check(common.checkpoints(directory) == names, "captured, %s: %d checkpoints, not %d" % (build.name, len(common.checkpoints(directory)), len(names)))
        return directory

    saved = captured(first)
    builds, alone, dangling = [first], [], set()
    high = [2, 3][number % 2]  # the other one, and all levels in turn, on other machines
    others = [("O%d" % high, ["-O%d" % high], None)]
    others += [(m, ["-O%d" % [5 - high, number // 2 % 4][(k + number // 8) % 2]], m) for k, m in enumerate(MACHINES)]
    for name, flags, machine in chance.sample(others, len(others)):
        build = Build(base, name, flags, polls, machine)
        check(not build.why, "refused for %s alone: %s" % (name, build.why))
        try:
            directory = captured(build)
            if not same(name, saved, directory, names):
                dangling.add(name)
        except Failure:
            if not machine or build.plain_is(base, plain):
                raise
            alone.append(machine)  # the program depends on the machine by itself
            continue
        shutil.rmtree(directory)
        builds.append(build)

    wander = os.path.join(base, "wander")
    os.mkdir(wander)
    shutil.copy(os.path.join(saved, names[0]), wander)
    for k in range(len(stops)):
        build = builds[(k + 1) % len(builds)]
        what = "from stop %d (poll %d) by %s" % (k + 1, stops[k], build.name)
        restart = options(wander, "--dome-restart=%d" % (k + 1))
        if k + 1 < len(stops):
            done = build.run(base, 120, restart, stops[: k + 2], end=True)
            check(done is not None and done[0] == 0, "%s: %s" % (what, done and done[2][:300]))
            if not same(what, saved, wander, names[k + 1 : k + 2]):
                dangling.add(build.name + " after a restart")
        if k % 7 == number % 7 or k + 1 == len(stops):
            done = builds[(k + 2) % len(builds)].run(base, 120, options(wander, "--dome-restart=%d" % (k + 1)))
            judge(what + " to the end", done, plain, part=True)
            check(done[3] == total, "%s to the end: %d polls, not %d" % (what, done[3], total))
    if dangling:
        print("%d: pointers to variables that are gone differ: %s" % (number, ", ".join(sorted(dangling))), flush=True)
    return "on %d builds%s" % (len(builds), ", not %s" % " and ".join(sorted(alone)) if alone else "")


def case(chance, number):
    with harness.temporary_directory() as base:
        try:
            return everywhere(base, number, chance)
        except Failure:
            if os.environ.get("DOME_KEEP_FAILED"):
                keep = os.path.join(os.environ["DOME_KEEP_FAILED"], str(number))
                shutil.rmtree(keep, ignore_errors=True)
                shutil.copytree(base, keep)
            raise


if not os.path.exists(CC):
    harness.skip("there is no dome-cc")
if not shutil.which("csmith") or not INCLUDE:
    harness.skip("csmith is not installed")
HEADERS = own_headers()
if __name__ == "__main__":
    common.campaign("generated programs", case, 500, jobs=2, others=passed_over)
