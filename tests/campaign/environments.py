"""Limits and surroundings that are not the usual ones: limits of the shell, closed streams, odd variables, ignored signals, a clock that
jumps. A program ends well with the right output, or with lines that say why; it does not hang and leaves nothing.

    environments.py [NAME]      only the cases whose names contain NAME"""

import os
import shutil
import sys

import campaign
import harness
from campaign import INJECT, STATE
from harness import DOME, PROGRAMS, Run, check

STEPS = "8"
NOBODY = "65534"
PROGRAM = [STATE, STEPS, "--dome-tasks", "3", "--dome-checkpoint-dir", "saved", "--dome-checkpoint-every", "1", "--dome-trace", "trace"]
CHAINS = [os.path.join(PROGRAMS, "chains"), "12", "--dome-tasks", "2", "--dome-evaluator", "compiled"]
WELL, EITHER, CLOCK, LINES = "well", "well or with lines", "well, 40 steps", "with lines"


def shell(text, command):
    return ["bash", "-c", text + '; exec "$@"', "bash"] + command


def limits():
    for n in (6, 8, 12, 16, 20, 24, 32, 48, 256):
        yield "ulimit -n %d" % n, shell("ulimit -n %d" % n, PROGRAM), {}, WELL if n >= 256 else EITHER
    for n in (30000, 60000, 150000, 300000, 1000000):
        yield "ulimit -v %d" % n, shell("ulimit -v %d" % n, PROGRAM), {}, EITHER
    for n in (1, 8, 50, 200):
        yield "ulimit -f %d" % n, shell("ulimit -f %d" % n, PROGRAM), {}, EITHER
        yield "ulimit -f %d, SIGXFSZ ignored" % n, shell("trap '' XFSZ; ulimit -f %d" % n, PROGRAM), {}, EITHER
    for n in (64, 256, 1024):
        yield "ulimit -s %d" % n, shell("ulimit -s %d" % n, PROGRAM), {}, EITHER
    yield "ulimit -c 0, -l 0, -q 0", shell("ulimit -c 0; ulimit -l 0; ulimit -q 0", PROGRAM), {}, WELL
    yield "ulimit -i 0", shell("ulimit -i 0", PROGRAM), {}, EITHER
    if os.geteuid() == 0 and shutil.which("setpriv"):
        for n in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 40):
            command = ["setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"] + shell("ulimit -u %d" % n, PROGRAM)
            yield "ulimit -u %d" % n, command, {"HOME": "%TMP%"}, EITHER


def variables():
    chains = {"DOME_CACHE_DIR": "%TMP%/../cache"}
    yield "HOME unset", CHAINS, {"HOME": None, "XDG_CACHE_HOME": None, **chains}, WELL
    yield "HOME that is not there", CHAINS, {"HOME": "/proc/nonexistent", "XDG_CACHE_HOME": None}, EITHER
    yield "PATH without a compiler", CHAINS, {"PATH": "/nonexistent", **chains}, EITHER
    yield "PATH unset", PROGRAM, {"PATH": None}, WELL
    yield "an empty environment", ["env", "-i", "TMPDIR=%TMP%"] + PROGRAM, {}, EITHER
    yield "TMPDIR that is not there", PROGRAM, {"TMPDIR": "/nonexistent/x"}, EITHER
    yield "TMPDIR that is a file", PROGRAM, {"TMPDIR": "/etc/passwd"}, EITHER
    yield "PVM_TMP and PVM_VMID that are odd", PROGRAM, {"PVM_TMP": "/nonexistent", "PVM_VMID": "a/../b"}, EITHER
    for name, value in (("PVMSOCK", "7f000001:zzzz"), ("PVMSOCK", "7f000001:0001"), ("DOME_HUB", "zz"),
                        ("DOME_HUB", "0123456789abcdef0123456789abcdef;127.0.0.1:1;/tmp/x"), ("DOME_OPTIONS", "--dome-trace 'x"),
                        ("DOME_OPTIONS", "--dome-tasks -3"), ("LC_ALL", "xx_YY"), ("TZ", ":/dev/zero"), ("LANG", "C.UTF-8")):
        yield "%s=%s" % (name, value), PROGRAM, {name: value}, EITHER
    spawned = {"PVMEPID": "12345", "PVM_ALLOW_ROOT": "1"}
    yield "PVMEPID, as if spawned", PROGRAM, spawned, EITHER
    yield "PVMEPID and DOME_JOIN", PROGRAM, {"DOME_JOIN": "1", **spawned}, EITHER


def streams_and_signals():
    for what, text in (("stdin", "exec <&-"), ("stdout", "exec >&-"), ("stderr", "exec 2>&-"), ("all streams", "exec <&- >&- 2>&-")):
        yield what + " closed", shell(text, PROGRAM), {}, "started" if "out" in what or "all" in what else WELL
    yield "stdout is /dev/full", shell("exec >/dev/full", PROGRAM), {}, LINES
    yield "stdout is /dev/full, one task", shell("exec >/dev/full", [STATE, STEPS, "--dome-transport", "self"]), {}, LINES
    yield "stdout is /dev/full, dome run", shell("exec >/dev/full", [DOME, "run", "--restarts", "1", "-n", "3"] + PROGRAM[:2]), {}, LINES
    for signals in ("CHLD", "PIPE", "HUP INT QUIT", "HUP INT QUIT TERM USR1 USR2 TSTP CONT CHLD"):
        yield "ignored: " + signals, shell("trap '' " + signals, PROGRAM), {}, WELL
        yield "ignored, dome run: " + signals, shell("trap '' " + signals, [DOME, "run", "-n", "3", STATE, STEPS]), {}, WELL
        yield "ignored, restarts: " + signals, shell("trap '' " + signals, [DOME, "run", "--restarts", "1", "-n", "3"] + PROGRAM[:2]), {}, WELL
    yield "umask 777", shell("umask 777", PROGRAM), {}, EITHER
    yield "umask 0", shell("umask 0", PROGRAM), {}, WELL
    yield "a working directory that was removed", shell('mkdir gone; cd gone; rmdir ../gone', [STATE, STEPS, "--dome-tasks", "3"]), {}, EITHER
    yield "nice 19", ["nice", "-n", "19"] + PROGRAM, {}, WELL


def clocks():
    if not os.path.exists(INJECT):
        return
    for period in (0, 3, 40, 500):
        for seconds in (1, 3600, -3600, 400000000, -1000000000):
            environment = {"LD_PRELOAD": INJECT, "INJECT_CLOCK": "%d:%d" % (period, seconds)}
            name = "the clock jumps %d s each %s" % (seconds, "%d ms" % period if period else "time")
            yield name, [STATE, "40", "none", "15"] + PROGRAM[2:], environment, CLOCK


def case(name, command, environment, wanted):
    with harness.temporary_directory() as base:
        os.chmod(base, 0o1777)
        with Run([a.replace("%TMP%", base) for a in command], environment, cwd=base) as run:
            os.chmod(run.base, 0o755)
            os.chmod(run.tmp, 0o1777)
            status = run.wait()
            run.check_clean()
            lines = run.lines()
            check(status >= 0, "status %d: %s" % (status, " | ".join(lines[-3:])))
            if wanted in (WELL, CLOCK):
                check(status == 0, "status %d: %s" % (status, " | ".join(lines[-3:])))
            if (status != 0 and wanted == EITHER) or wanted == LINES:
                check(status != 0 and lines, "status %d: %s" % (status, " | ".join(lines)))
            if status == 0 and wanted != "started" and command is not CHAINS:
                check(run.output() == (longer if wanted == CLOCK else expected), "%r: %s" % (run.output(), " | ".join(lines[-3:])))
            return "status %d%s" % (status, ": " + lines[-1][:150] if lines else "")


if __name__ == "__main__":
    harness.need_pvm()
    campaign.need_state()
    expected, longer = campaign.undisturbed(STEPS), campaign.undisturbed("40")
    every = [*limits(), *variables(), *streams_and_signals(), *clocks()]
    cases = [(c[0], case, *c) for c in every if len(sys.argv) < 2 or sys.argv[1] in c[0]]
    sys.exit(1 if harness.run_all(cases, 3) else 0)
