"""What campaigns of generated programs for dome-cc share: a program is built for x86-64 at -O0, -O2 and -O3, for s390x and for i386;
undisturbed and captured these builds do what the compiler's program does, poll as often and write the same images, byte for byte; and
from each stop the next build goes on to the next stop, and from some to the end. Stops are the first polls in turn, some of the others,
and the last one.

A campaign has a function generate(chance, directory), which writes directory/program.c, returns what the compiler's program does, the
build of -O0, and its number of polls, and counts by pass_over the programs whose places others take."""

import atexit
import collections
import os
import re
import shutil
import subprocess
import tempfile
import threading

import campaign
import harness
from harness import Failure, check

CC = os.path.join(os.path.abspath(harness.BUILD), "tools", "dome-cc")
LABS = os.path.join(os.path.abspath(harness.BUILD), "tests")
MACHINES = {"s390x": (["--cc=s390x-linux-gnu-gcc"], [os.path.join(LABS, "s390x", "run")]),
            "i386": (["--cc=i686-linux-gnu-gcc -msse2 -mfpmath=sse"], [os.path.join(LABS, "i386", "run")])}
MACHINES = {m: v for m, v in MACHINES.items() if os.path.exists(os.path.join(LABS, m, "run"))}
FIRST, OTHERS = 12, 7  # stops
FEWEST, MOST = 5, 100000  # polls of a program
passed_over, lock = collections.Counter(), threading.Lock()


def run(command, directory, seconds, stops=(), end=False, variables=None):
    """(status, output, errors, polls); None: it does not end in time"""
    environment = {**harness.clean_environment(), "STOPS": " ".join(map(str, stops)), **({"STOPS_END": str(stops[-1])} if end else {}), **(variables or {})}
    try:
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    errors = done.stderr.decode(errors="replace")
    polls = re.search(r"^polls (\d+)$", errors, re.M)
    return done.returncode, done.stdout, errors, int(polls.group(1)) if polls else None


class Build:
    """The program by dome-cc; self.why: it is refused. `polls`: options that say where it polls."""

    def __init__(self, directory, name, options, polls, machine=None):
        self.name, self.polls, self.wrapper, self.why = name, polls, [], None
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
        done = run([CC, *options, *polls, "-w", "-I", HEADERS, "program.c", stops, "-Wl,--wrap=dome_capture_main", "-o", self.program, "-lm"],
                   directory, 300)
        check(done is not None, "dome-cc %s does not end" % " ".join(options))
        if done[0] != 0:
            reason = re.search(r"error: dome-cc: (.*)", done[2])
            check(reason and "mistake" not in done[2], "dome-cc %s: %s" % (" ".join(options + polls), done[2][:600]))
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


def headers():
    """A directory for what the programs include, and for what they are linked with."""
    directory = tempfile.mkdtemp(prefix="dome-generated.", dir=harness.short_parent())
    atexit.register(shutil.rmtree, directory, True)
    return directory


def pass_over(why):
    with lock:
        passed_over[why] += 1


def compiled(directory, name, flags):
    """The compiler's program."""
    subprocess.run(["cc", "-w", *flags, "-ffp-contract=off", "-I", HEADERS, "program.c", "-o", name, "-lm"], check=True, cwd=directory)
    return ["./" + name]


def everywhere(generate, base, number, chance):
    plain, first, total = generate(chance, base)
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
        check(campaign.checkpoints(directory) == names, "captured, %s: %d checkpoints, not %d" % (build.name, len(campaign.checkpoints(directory)), len(names)))
        return directory

    saved = captured(first)
    builds, alone, dangling = [first], [], set()
    high = [2, 3][number % 2]  # the other one, and all levels in turn, on other machines
    others = [("O%d" % high, ["-O%d" % high], None)]
    others += [(m, ["-O%d" % [5 - high, number // 2 % 4][(k + number // 8) % 2]], m) for k, m in enumerate(MACHINES)]
    for name, flags, machine in chance.sample(others, len(others)):
        build = Build(base, name, flags, first.polls, machine)
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


def run_campaign(what, generate, count):
    def case(chance, number):
        with harness.temporary_directory() as base:
            try:
                return everywhere(generate, base, number, chance)
            except Failure:
                if os.environ.get("DOME_KEEP_FAILED"):
                    keep = os.path.join(os.environ["DOME_KEEP_FAILED"], str(number))
                    shutil.rmtree(keep, ignore_errors=True)
                    shutil.copytree(base, keep)
                raise

    campaign.campaign(what, case, count, jobs=2, others=passed_over)


if not os.path.exists(CC):
    harness.skip("there is no dome-cc")
HEADERS = headers()
