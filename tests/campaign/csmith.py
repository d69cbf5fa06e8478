"""Generated programs (csmith) by dome-cc: undisturbed, captured at polls and restarted they do what the compiler's program does; their
images are the same bytes at -O0, -O2 and -O3, and in one of ten programs on s390x and i386."""

import os
import re
import shutil
import subprocess

import common
import harness
from harness import Failure, check

CC = os.path.join(os.path.abspath(harness.BUILD), "tools", "dome-cc")
INCLUDE = next((d for d in ("/usr/include/csmith", "/usr/include/csmith-2.3.0") if os.path.exists(os.path.join(d, "csmith.h"))), None)
# What images cannot hold: raw unions, bit-fields.
ALWAYS = ["--no-unions", "--no-bitfields"]
OPTIONS = ["--float", "--no-packed-struct", "--no-volatiles", "--inline-function", "--no-jumps", "--max-funcs 20",
           "--max-pointer-depth 4", "--max-array-dim 4", "--max-block-depth 3", "--no-arrays", "--no-consts"]
LABS = os.path.join(os.path.abspath(harness.BUILD), "tests")
MACHINES = {"s390x": (["--cc=s390x-linux-gnu-gcc"], ["qemu-s390x-static", "-L", os.path.join(LABS, "s390x", "root")]),
            "i386": (["--cc=i686-linux-gnu-gcc -msse2 -mfpmath=sse"], [])}
MACHINES = {m: v for m, v in MACHINES.items() if os.path.exists(os.path.join(LABS, m, "dome.pc"))}


def run(command, directory, seconds):
    """(status, output, errors); None: it does not end in time"""
    try:
        done = subprocess.run(command, cwd=directory, env=harness.clean_environment(), capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def translate(directory, name, options):
    """The program in a folder of its own, or why it is refused."""
    os.mkdir(os.path.join(directory, name))
    program = os.path.join(directory, name, "program")
    done = run([CC, *options, "-w", "-I", INCLUDE, "program.c", "-o", program], directory, 300)
    check(done is not None, "dome-cc %s does not end" % " ".join(options))
    if done[0] != 0:
        reason = re.search(r"error: dome-cc: (.*)", done[2])
        check(reason and "mistake" not in done[2], "dome-cc %s: %s" % (" ".join(options), done[2][:600]))
        return None, re.sub(r"\b(g_|l_|p_|func_|S)\d+\b", r"\1N", reason.group(1))[:90]
    return program, None


def judge(what, done, plain, part=False):
    check(done is not None, "%s: does not end" % what)
    check(done[0] == plain[0], "%s: status %d, not %d: %s" % (what, done[0], plain[0], done[2][:300]))
    check(plain[1].endswith(done[1]) if part else done[1] == plain[1], "%s: other output: %r" % (what, done[1][-120:]))


def same_images(what, one, other):
    names = common.checkpoints(one)
    check(names == common.checkpoints(other), "%s: %d checkpoints, not %d" % (what, len(common.checkpoints(other)), len(names)))
    for name in names:
        with open(os.path.join(one, name), "rb") as a, open(os.path.join(other, name), "rb") as b:
            check(a.read() == b.read(), "%s: %s differs" % (what, name))


def case(chance, number):
    with harness.temporary_directory() as base:
        options = ALWAYS + " ".join(o for o in OPTIONS if chance.random() < 0.2).split()
        with open(os.path.join(base, "program.c"), "w") as f:
            subprocess.run(["csmith", "--seed", str(chance.randrange(1 << 31)), *options], stdout=f, check=True, cwd=base)
        keep = os.environ.get("DOME_KEEP")
        if keep:
            shutil.copy(os.path.join(base, "program.c"), keep)
        subprocess.run(["cc", "-w", "-O1", "-ffp-contract=off", "-I", INCLUDE, "program.c", "-o", "plain", "-lm"], check=True, cwd=base)
        plain = run(["./plain"], base, 3)
        if plain is None:
            return "does not end in 3 s"
        check(plain[0] >= 0, "the plain program dies")
        polls = "--polls=" + chance.choice(["every", "every", "auto"])
        first, why = translate(base, "O2", ["-O2", polls])
        if not first:
            return "refused: " + why
        judge("undisturbed", run([first], base, 60), plain)

        def captured(program, directory, every, wrapper=()):
            return run([*wrapper, program, "--dome-checkpoint-dir", directory, "--dome-checkpoint-every", str(every), "--dome-checkpoint-keep", "1000000"], base, 300)

        saved = os.path.join(base, "saved")
        for every in (100000, 10000, 1000, 100, 10, 1):
            shutil.rmtree(saved, ignore_errors=True)
            judge("captured", captured(first, saved, every), plain)
            if len(common.checkpoints(saved)) >= 10:
                break
        names = common.checkpoints(saved)
        if not names:
            return "no polls"
        builds = [(first, ())]
        others = [("O0", ["-O0"], ()), ("O3", ["-O3"], ())]
        if number % 10 == 0:
            others += [(m, ["-O1", "--dome=" + os.path.join(LABS, m, "dome.pc"), *cc], wrapper) for m, (cc, wrapper) in MACHINES.items()]
        for name, flags, wrapper in others:
            if name in MACHINES:  # a program may depend on the machine by itself
                compiler = flags[-1][len("--cc="):].split()
                subprocess.run([*compiler, "-static", "-w", "-O1", "-ffp-contract=off", "-I", INCLUDE, "program.c", "-o", name + ".plain", "-lm"], check=True, cwd=base)
                there = run([*wrapper, os.path.join(base, name + ".plain")], base, 60)
                if there is None or there[:2] != plain[:2]:
                    continue
            program, why = translate(base, name, [*flags, polls])
            check(program, "refused for %s alone: %s" % (name, why))
            directory = os.path.join(base, name, "saved")
            judge("captured, " + name, captured(program, directory, every, wrapper), plain)
            same_images(name, saved, directory)
            builds.append((program, wrapper))
        for turn in range(4):
            program, wrapper = builds[turn % len(builds)]
            k = int(re.search(r"\d+", chance.choice(names)).group())
            done = run([*wrapper, program, "--dome-checkpoint-dir", saved, "--dome-restart=%d" % k], base, 120)
            judge("restarted from %d by %s" % (k, os.path.basename(os.path.dirname(program))), done, plain, part=True)
        return "captured and restarted" + (", on other machines too" if len(builds) > 3 else "")


if not os.path.exists(CC):
    harness.skip("there is no dome-cc")
if not shutil.which("csmith") or not INCLUDE:
    harness.skip("csmith is not installed")
common.campaign("generated programs", case, 500, jobs=2)
