"""The subcommands of dome that look at what runs.

    commands.py [PART-OF-A-NAME]"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile


import harness
from harness import DOME, PROGRAMS, Run, check, wait_until

WORKER = PROGRAMS + "/worker"
STARTER = PROGRAMS + "/starter"


def dome(*arguments, environment=None, status=0):
    """What it prints: standard output and standard error."""
    env = harness.clean_environment()
    env.update(environment or {})
    done = subprocess.run([DOME] + list(arguments), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=harness.HANG)
    out, err = done.stdout.decode(), done.stderr.decode()
    check(done.returncode == status, "dome %s: status %d: %s %s" % (" ".join(arguments), done.returncode, out, err))
    return out, err


def program_of(run):
    """What dome ps says about the program that `run` started; None if nothing."""
    found = [p for p in json.loads(dome("ps", "--json")[0]) if p["pid"] == run.pid]
    check(len(found) < 2, "it is listed %d times" % len(found))
    return found[0] if found else None


# ---- dome ps ----


def ps(tasks):
    arguments = [WORKER, "%MARKS%", "0", "barrier", "--dome-tasks", str(tasks)]
    with Run(arguments) as run:
        run.wait_marks("there", tasks)
        # beats come once a second
        def known():
            p = program_of(run)
            return p and len(p["tasks"]) == tasks and all(t["operations"] > 0 for t in p["tasks"]) and p

        p = wait_until(known, "dome ps to know the tasks")
        check([t["rank"] for t in p["tasks"]] == list(range(tasks)), "ranks: %r" % p)
        check([t["pid"] for t in p["tasks"]] == [run.rank(r) for r in range(tasks)], "pids: %r" % p)
        check(p["command"][0] == WORKER and "barrier" in p["command"], "command: %r" % p)
        check(p["directory"] == os.getcwd(), "directory: %r" % p)
        check(p["machine"] == "private" and p["seconds"] > 0 and p["checkpoint"] is None, "%r" % p)
        check(all(t["load"] is not None and t["busy"] >= 0 and t["host"] for t in p["tasks"]), "%r" % p)
        text = dome("ps")[0]
        part = re.search(r"^%d: .*\n  %d tasks on 1 host of a private .*, last checkpoint: none\n.*\n((   .*\n)*)" % (run.pid, tasks),
                         text, re.MULTILINE)
        check(part and len(part.group(1).splitlines()) == tasks, text)
        check(re.search(r"^ *%d +%d +1 " % (run.pid, tasks), dome("ps", "--brief")[0], re.MULTILINE), dome("ps", "-b")[0])
        harness.kill(run.pid, signal.SIGTERM)
        run.wait()
        run.check_clean()
        check(program_of(run) is None, "it has ended and is listed")


def ps_after_kill():
    with Run([WORKER, "%MARKS%", "0", "barrier", "--dome-tasks", "2"]) as run:
        run.wait_marks("there", 2)
        wait_until(lambda: program_of(run), "dome ps to know it")
        harness.kill(run.pid)
        run.wait()
        run.check_clean()
        check(program_of(run) is None, "its hub was killed and it is listed")


def ps_checkpoint():
    heat = os.path.join(os.path.abspath(harness.BUILD), "examples", "heat")
    if not os.path.exists(heat):
        return "not tried: there are no examples"
    options = ["--dome-checkpoint-dir", "%MARKS%/c", "--dome-checkpoint-every", "2"]
    with Run([heat, "--steps", "1000000000", "--dome-tasks", "2"] + options) as run:
        def written():
            p = program_of(run)
            return p and p["checkpoint"] and p["checkpoint"]["number"] > 1 and p

        p = wait_until(written, "dome ps to know of a checkpoint")
        check(p["checkpoint"]["seconds_ago"] >= 0, "%r" % p)
        check(re.search(r"^%d: .*\n.*, last checkpoint: \d+, \d+:\d+:\d+ ago$" % run.pid, dome("ps")[0], re.MULTILINE), dome("ps")[0])
        harness.kill(run.pid, signal.SIGKILL)
        run.wait()
        run.check_clean()


def usage():
    for command in "run", "ps", "hosts", "net", "doctor":
        out, err = dome(command, "--help")
        check(out.startswith("Usage:\n  dome %s " % command) and not err, out + err)
        check(re.fullmatch("dome: %s: .*; see dome %s --help\n" % (command, command), dome(command, "--nonsense", status=2)[1]), command)
    out = dome("--help")[0]
    check(re.search("^  ps  ", out, re.MULTILINE), out)
    dome(status=2)


def lost_output():
    """A command that cannot print ends with a line and a status."""
    for command in (["ps"], ["ps", "--json"], ["--version"], ["--help"], ["run", "--help"], ["run", "--show", STARTER]):
        name = command[0] if command[0][0] != "-" else "dome"
        with open("/dev/full", "w") as full:
            done = subprocess.run([DOME, *command], env=harness.clean_environment(), stdout=full, stderr=subprocess.PIPE, timeout=harness.HANG)
        check((done.returncode, done.stderr) == (2, b"dome: %s: the output cannot be written\n" % name.encode()), "%s: %r" % (command, done))


def show():
    """dome run --show prints a configuration that DOME_OPTIONS takes, and says where it is from."""
    words = ["-n", "3", "--on-loss", "heal", STARTER, "--dome-trace", "a 'b' #c", "--dome-profile"]
    out, err = dome("run", "--show", *words, environment={"DOME_OPTIONS": "--dome-timeout 2.5"})
    lines = dict(line.split("  # ") for line in out.splitlines())
    origins = {words.strip(): origin for words, origin in lines.items()}
    for option, origin in {"--dome-tasks=3": "command line: -n", "--dome-on-loss=heal": "command line: --on-loss",
                           "--dome-profile": "command line: the program's arguments", "--dome-road=best": "default",
                           "--dome-timeout=2.5": "environment: DOME_OPTIONS", "# --dome-restarts: none": "default"}.items():
        check(origins.get(option) == origin, "%s: %s: %s" % (option, origin, out))
    again = dome("run", "--show", environment={"DOME_OPTIONS": out})[0]

    def values(text):
        return [line.rsplit("  # ", 1)[0].strip() for line in text.splitlines()]

    check(values(again) == values(out) and not err, "%s, then %s" % (out, again))
    _, err = dome("run", "--show", "-n", "0x", status=2)
    check(err == "dome: run: -n takes a whole number from 1 to 1000000, not '0x'\n", err)
    _, err = dome("run", "--show", "--min", "3", "--max", "2", status=2)
    check(err == "dome: run: --min 3 is more than --max 2\n", err)
    _, err = dome("run", "--show", "-n", status=2)
    check(err == "dome: run: Missing argument for -n; see dome run --help\n", err)


def suggestions(program):
    """One line that names what was meant."""
    for arguments, status, line in [
            (["rnu"], 2, "there is no command rnu; did you mean dome run?"),
            (["pss"], 2, "there is no command pss; did you mean dome ps?"),
            (["xyzzy"], 2, "there is no command xyzzy; dome --help lists them"),
            (["run", "-np", "4", program], 2, "run: Unknown option -np; did you mean -n?"),
            (["run", "--task", "4", program], 2, "run: Unknown option --task; did you mean --tasks?"),
            (["doctor", "--hots", "file"], 2, "doctor: Unknown option --hots; did you mean --hosts?"),
            (["run", program + ".txt"], 126, "run: the file %s.txt is not executable (chmod +x %s.txt makes a program so)" % (program, program)),
            (["run", os.path.dirname(program)], 126, "run: %s is a directory, not a program" % os.path.dirname(program)),
            (["run", program + ".none"], 127, "run: there is no program %s.none" % program),
            (["run", "no-such-program"], 127, "run: there is no program no-such-program on the PATH")]:
        out, err = dome(*arguments, status=status)
        check(err == "dome: %s\n" % line and not out, "%s: %s%s" % (arguments, out, err))


def suggest():
    with tempfile.TemporaryDirectory() as directory:
        for name in "program", "program.txt":
            with open(os.path.join(directory, name), "w") as file:
                file.write("#!/bin/sh\n")
        os.chmod(os.path.join(directory, "program"), 0o755)
        suggestions(os.path.join(directory, "program"))


def pvm_root(settings):
    """The doctor says that programs run where they run, and that they do not where they do not."""
    with Run([STARTER, "sum", "--dome-tasks", "2"], settings) as run:
        runs = run.wait() == 0
    findings = json.loads(dome("doctor", "--json", environment=settings, status=0 if runs else 1)[0])
    pvm = [f for f in findings if f["id"] in ("pvm-root", "pvm-missing")]
    check(len(pvm) == 1 and pvm[0]["mend"], "%r" % findings)
    check((pvm[0]["state"] == "wrong") == (not runs), "programs %s: %r" % ("run" if runs else "do not run", pvm))


def all_cases():
    return [
        ("dome ps, 2 tasks", ps, 2),
        ("dome ps, 5 tasks", ps, 5),
        ("dome ps, killed", ps_after_kill),
        ("dome ps, checkpoints", ps_checkpoint),
        ("usage", usage),
        ("lost output", lost_output),
        ("dome run --show", show),
        ("suggestions", suggest),
        ("PVM_ROOT, pvmd on the PATH", pvm_root, {"PVM_ROOT": "/nowhere"}),
        ("PVM_ROOT, no pvmd", pvm_root, {"PVM_ROOT": "/nowhere", "PATH": "/nowhere"}),
    ]


if __name__ == "__main__":
    harness.need_pvm()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in all_cases() if wanted in c[0]], 4) else 0)
