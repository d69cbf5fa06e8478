"""Names of objects, programs, directories and files that would make a terminal do something, in lines and tables for people.

    names.py [PART-OF-A-NAME]"""

import os
import re
import shutil
import signal
import subprocess
import sys


import harness
from harness import DOME, Run, check, wait_until

NAMES = os.path.join(os.path.abspath(harness.BUILD), "tests", "security", "names")
# ESC [, OSC, CSI as one character of UTF-8 and as a byte, text that is turned, and the end of a line.
EVIL = b"a\x1b[2Jb\x1b]0;t\x07c\xc2\x9b2Jd\x9b2Je\xe2\x80\xaef\ng"
PLAIN = "a?[2Jb?]0;t?c?2Jd?2Je?f g"
REPORTED = PLAIN.replace("d?", "d\N{REPLACEMENT CHARACTER}")  # a hub's report is UTF-8
GUARD = 60


def plain(what, text):
    """That a terminal only shows it. What the program itself writes is its own."""
    text = text if isinstance(text, bytes) else text.encode()
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        raise harness.Failure("%s is not UTF-8: %r" % (what, text))
    bad = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", decoded)
    check(not bad, "%s has %r: %r" % (what, bad and bad.group(0), text))
    return decoded


def place():
    """A directory and a program in it with such names."""
    base = os.path.join(os.fsencode(harness.short_parent()), b"dome-names." + str(os.getpid()).encode() + os.urandom(4).hex().encode())
    folder = os.path.join(base, EVIL)
    os.makedirs(folder)
    program = os.path.join(folder, EVIL)
    harness.copy_program(NAMES, program)
    return base, folder, program


class Place:
    def __enter__(self):
        self.base, self.folder, self.program = place()
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.base, ignore_errors=True)


def dome(*arguments, status=0):
    done = subprocess.run([DOME] + list(arguments), env=harness.clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=GUARD)
    check(done.returncode == status, "dome %r: status %d, %r" % (arguments, done.returncode, done.stderr))
    return plain("dome %r" % (arguments,), done.stdout), plain("errors of dome %r" % (arguments,), done.stderr)


def lines():
    """One task, without a hub, and two with one."""
    with Place() as at:
        for tasks in ["--dome-transport", "self"], ["--dome-tasks", "2"]:
            for mode, status, pattern in (
                ("fail", 1, r"dome: dvec_get of '%s': index 100 is outside .*"),
                ("abort", 1, r"dome: stopped by %s \(task [01] on host \S+\)"),
                ("differ", 2, r"dome: tasks disagree about .* of '%s'.*"),
            ):
                if mode == "differ" and tasks[1] == "self":
                    continue
                done = subprocess.run([at.program, mode, EVIL] + tasks, env=harness.clean_environment(), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, timeout=GUARD, cwd=at.folder)
                said = [l for l in plain(mode, done.stderr).split("\n") if l and not l.startswith(harness.ROOT_NOTICE)]
                check(done.returncode == status, "%s: status %d, %s" % (mode, done.returncode, said))
                check(len(said) == 1 and re.fullmatch(pattern % re.escape(PLAIN), said[0]), "%s: %s" % (mode, said))


def checkpoints():
    with Place() as at:
        where = os.path.join(at.folder, b"c" + EVIL)
        command = [at.program, "write", EVIL, "--dome-transport", "self", "--dome-checkpoint-dir", where, "--dome-checkpoint-every", "1"]
        done = subprocess.run(command, env=harness.clean_environment(), stderr=subprocess.PIPE, timeout=GUARD)
        check(done.returncode == 0, "status %d: %r" % (done.returncode, done.stderr))
        for arguments in (["ls"], ["show"], ["verify"]):
            out, _ = dome("ckpt", *arguments, where)
            check(PLAIN in out, "dome ckpt %s: %s" % (" ".join(arguments), out))
        for arguments in (["show"], ["diff", where]):
            _, said = dome("ckpt", *arguments, at.folder + b"/no" + EVIL, status=1 if arguments == ["show"] else 2)
            check(said.count("\n") == 1 and "no" + PLAIN in said, "dome ckpt %s: %s" % (arguments, said))
        out, _ = dome("ckpt", "show", "--json", where)
        check("\\u001b[2Jb" in out and "\\u009b2J" in out, out)
        newest = sorted(os.listdir(where))[0]
        with open(os.path.join(where, newest), "r+b") as f:
            f.seek(-8, 2)
            f.write(b"damaged!")
        _, said = dome("ckpt", "verify", where, status=1)
        check(PLAIN in said, said)


def running():
    """What is asked of a program while it runs, and the line when it is lost."""
    with Place() as at:
        with Run([os.fsdecode(at.program), "wait", os.fsdecode(EVIL), "--dome-tasks", "2"]) as run:
            wait_until(lambda: "waits" in run.errors() or run.process.poll() is not None, "task 1")
            out = wait_until(lambda: [o for o in [dome("ps")[0]] if "of '%s', waiting" % REPORTED in o], "dome ps to show the object")[0]
            check(REPORTED + " wait " + REPORTED in out, out)
            dome("ps", "--brief")
            dome("ps", "--json")
            victim = int(re.search(r"\n +1  \S+ +(\d+)", out[out.index("%d: " % run.pid):]).group(1))
            os.kill(victim, signal.SIGKILL)
            check(run.wait() == 1, "status %s" % run.process.returncode)
            with open(run.err_path, "rb") as f:
                said = plain("the line", f.read())
            check("the program was in dvec_sum of '%s'\n" % PLAIN in said, said)
            run.check_clean()


def commands():
    """What they are given, in their complaints."""
    evil, valid = os.fsdecode(EVIL), EVIL.replace(b"\x9b2Je", b"").decode(errors="ignore")
    for arguments, status in ((["grow", evil], 1), (["ps", evil], 1), (["view", evil], 1), (["run", "--hosts", evil, "true"], 2), ([evil], 2),
                              (["run", "--hosts-script", "echo '%s'" % valid, "true"], 1), (["ckpt", evil], 2), (["run", "--" + evil, "true"], 2)):
        out, said = dome(*arguments, status=status)
        check(not out and said.count("\n") == 1 and "?[2Jb?]0;t?c?2J" in said, "dome %r: %r" % (arguments, said))


if __name__ == "__main__":
    cases = [("lines of programs", lines), ("checkpoints", checkpoints), ("commands", commands)]
    if shutil.which("pvmd") or os.path.exists(os.environ.get("PVM_ROOT", "/usr/lib/pvm3") + "/lib/pvmd"):
        cases.append(("a running program", running))
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in cases if wanted in c[0]], 2) else 0)
