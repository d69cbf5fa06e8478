"""Output that is shown once: whatever is killed, the output is that of a run which nobody disturbs, byte for byte.

    output_once.py [COUNT [SEED]]"""

import os
import random
import re
import subprocess
import sys
import threading
import time

import harness
from harness import DOME, PROGRAMS, Run, check, wait_until

PRINTS = PROGRAMS + "/prints"
expectations = {}


def undisturbed(steps, variant=""):
    """Of a program whose output leads nowhere else."""
    if (steps, variant) not in expectations:
        with Run([DOME, "run", "-n", "3", PRINTS, "%MARKS%", str(steps), "0", variant] + all_of(variant)) as run:
            check(run.wait() == 0, run.errors())
            expectations[steps, variant] = run.output()
    return expectations[steps, variant]


def all_of(variant):
    return ["--dome-output", "all"] if variant == "all" else []


def command(steps, variant="", micro=3000, every=4, restarts=40, loss="heal", own=False, directory="memory:"):
    options = ["--dome-checkpoint-dir", directory, "--dome-checkpoint-every", str(every)] + all_of(variant)
    program = [PRINTS, "%MARKS%", str(steps), str(micro), variant]
    if own:
        return program + options + ["--dome-tasks", "3", "--dome-restarts", str(restarts), "--dome-on-loss", loss]
    return [DOME, "run", "--restarts", str(restarts), "--on-loss", loss, "-n", "3", "--max", "5"] + program + options


class Reader:
    """Reads a pipe or a terminal."""

    def __init__(self, kind):
        self.kind, self.data = kind, b""
        self.ours, self.theirs = os.openpty() if kind == "terminal" else os.pipe()
        self.thread = threading.Thread(target=self.read)

    def begin(self):
        os.close(self.theirs)
        self.thread.start()

    def read(self):
        try:
            while True:
                part = os.read(self.ours, 1 << 16)
                if not part:
                    break
                self.data += part
        except OSError:
            pass  # of a terminal that nobody has open any more

    def end(self):
        self.thread.join(harness.HANG)
        os.close(self.ours)
        if self.kind == "terminal":
            self.data = self.data.replace(b"\r\n", b"\n").replace(b"\033[K", b"")
        return self.data


def by_task(output):
    """The lines of each task, with --dome-output all."""
    found = {}
    for line in output.split(b"\n"):
        rank = re.match(rb"\[(\d+)\] ", line)
        found.setdefault(rank.group(1) if rank else b"", []).append(line)
    return found


def judge(run, output, expected, variant, differing=False):
    status = run.wait()
    check(status == 0, "status %s: %s" % (status, run.errors()))
    same = by_task(output) == by_task(expected) if variant == "all" else output == expected
    if variant == "all" and not same:
        lines, wanted = by_task(output), by_task(expected)
        rank = next(r for r in sorted(set(lines) | set(wanted)) if lines.get(r) != wanted.get(r))
        output, expected = b"\n".join(lines.get(rank, [])), b"\n".join(wanted.get(rank, []))
    at = next((k for k, (a, b) in enumerate(zip(output, expected)) if a != b), min(len(output), len(expected)))
    check(same, "other output from byte %d on: %r instead of %r; %s" % (at, output[max(at - 60, 0):at + 60], expected[max(at - 60, 0):at + 60], run.errors()))
    check(differing or "differ" not in run.errors(), run.errors())
    run.check_clean()


def hurt(run, draw, whom, before):
    """Kills somebody, but not the same one as before: three such losses at one place end the program. Returns whom; None: nobody."""
    rank = draw.choice([r for r in range(3) if r != before])
    victim = run.rank(rank)
    if whom == "hub":
        rank, first = "hub", run.rank(0)
        process = first and harness.Process.at(first)
        victim = process.parent if process else None
    return rank if victim and victim not in (1, run.pid) and harness.kill(victim) else None


def history(seed):
    draw = random.Random(seed)
    variant = draw.choice(["", "", "child", "all"])
    kind = draw.choice(["file", "file", "pipe", "terminal"]) if variant != "all" else "file"
    loss, own = draw.choice(["heal", "heal", "restart"]), draw.random() < 0.3
    words = command(80, variant, draw.choice([1000, 3000, 6000]), draw.randint(1, 7), loss=loss, own=own)
    reader = Reader(kind) if kind != "file" else None
    done, before = [], None
    with Run(words, stdout=reader.theirs if reader else None) as run:
        if reader:
            reader.begin()
        for _ in range(draw.randint(1, 6)):
            time.sleep(draw.random() * 0.2)
            what = draw.choice(["task", "task", "task", "hub", "grow"])
            if run.process.poll() is not None:
                break
            if what == "grow" and not own:
                subprocess.run([DOME, "grow", str(run.pid)], env=harness.clean_environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=harness.HANG, check=False)
                done.append(what)
            elif what != "grow":
                before = hurt(run, draw, what, before)
                done += [what] if before is not None else []
        run.wait()
        output = reader.end() if reader else run.output()
        expected = undisturbed(80, variant)
        if variant == "all" and "grow" in done:  # there are tasks that the other run has not
            output, expected = by_task(output)[b""], by_task(expected)[b""]
            output, expected = b"\n".join(output), b"\n".join(expected)
        judge(run, output, expected, "" if "grow" in done else variant)
    return "%s %s %s%s: %s" % (variant or "plain", kind, loss, " own" if own else "", " ".join(done))


def differs():
    """The line that was shown first stands, and it is said once that there is another."""
    with Run(command(40, "differs", 20000)) as run:
        wait_until(lambda: b"step 20" in run.output() or run.process.poll() is not None, "steps")
        first = re.findall(rb"process \d+", run.output())
        check(len(first) == 1, run.output())
        pid = run.rank(0)
        with open(run.marks + "/rank.0") as f:
            check(int(f.read()) == pid, "rank 0")
        harness.kill(pid)
        check(run.wait() == 0, run.errors())
        output = run.output()
        check(re.findall(rb"process \d+", output) == first, "not the first: %r" % output)
        said = [line for line in run.lines() if "differ" in line]
        went_back = re.search(r"loop boundary (\d+)", run.errors())
        wanted = 1 if int(went_back.group(1)) <= 12 else 0
        check(len(said) == wanted and (not wanted or said[0].startswith("dome: 1 line that the program printed again")), run.errors())


def five_seconds():
    """A program that is killed five seconds in."""
    with Run(command(600, "", 10000, every=50), stdout=None) as run:
        time.sleep(5)
        check(harness.kill(run.rank(0)), "task 0")
        run.wait()
        judge(run, run.output(), undisturbed(600), "")


def by_hand():
    """Another run begins anew: it shows all that it prints from the checkpoint on."""
    with harness.temporary_directory() as saved:
        with Run(command(60, "", 10000, directory=saved, restarts=3)) as run:
            wait_until(lambda: b"step 30" in run.output() or run.process.poll() is not None, "steps")
            harness.kill(run.pid, harness.signal.SIGTERM)
            run.wait()
        again = command(60, "", 5000, directory=saved, restarts=3) + ["--dome-restart"]
        with Run(again) as run:
            wait_until(lambda: b"step 50" in run.output() or run.process.poll() is not None, "steps")
            harness.kill(run.rank(1))
            run.wait()
            output, expected = run.output(), undisturbed(60)
            begin = b"before\nfirst\n60 steps\n"
            check(output.startswith(begin), "begins otherwise: %r" % output[:100])
            rest = output[len(begin):]
            check(expected.endswith(rest) and 0 < len(rest) < len(expected), "other output: %r" % rest)
            check("healed" in run.lines()[-1], run.errors())


def host_lost(variant, directory):
    """All processes of a run are killed at once, as if their host were lost, some times. Runs that go on append to the same output:
    it is that of one run, and no file is left beside it."""
    draw = random.Random(variant)
    with harness.temporary_directory() as base:
        output, saved, state = base + "/out", base + "/saved", base + "/state"
        words = command(80, variant, 5000, 5, directory=saved) if directory else [DOME, "run", "-n", "3", PRINTS, "%MARKS%", "80", "5000", variant] + all_of(variant)
        words[2:2] = ["--output-state", state]
        status = None
        for k in range(6):
            with open(output, "ab") as out, Run(words + (["--dome-restart=auto"] if k and directory else []), stdout=out) as run:
                if k < 5:
                    was, until = os.path.getsize(output), time.monotonic() + 0.1 + draw.random() * 0.4
                    wait_until(lambda: run.process.poll() is not None or time.monotonic() > until and (k or os.path.getsize(output) > was), "output")
                    for process in run.processes():
                        harness.kill(process.pid)
                status = run.wait()
                check(status in (0, -9), "status %s: %s" % (status, run.errors()))
                if status == 0:
                    with open(output, "rb") as f:
                        judge(run, f.read(), undisturbed(80, variant), variant)
                    break
        check(status == 0, "it never ended")
        left = sorted(os.listdir(base))
        check(left == ["out"] + (["saved"] if directory else []), "files: %s" % left)


def wrong_state():
    """A file that is something else is not overwritten."""
    with harness.temporary_directory() as base:
        path = base + "/state"
        with open(path, "w") as f:
            f.write("a letter\n")
        with Run([DOME, "run", "-n", "2", "--output-state", path, PRINTS, "%MARKS%", "5", "0"]) as run:
            check(run.wait() == 2, run.errors())
            harness.only_line(run, "what has been shown cannot be noted in %s: it is another file, and is not overwritten" % path)
            check(run.output() == b"", run.output())
        with open(path) as f:
            check(f.read() == "a letter\n", "it was overwritten")


def hub_killed_behind_the_end():
    """The program has ended; its hub, which waits for a slow reader, is killed: the reader gets all of it, once."""
    reader = Reader("pipe")
    words = command(5000, "", 0, 10 ** 6)
    with Run(words, stdout=reader.theirs) as run:
        wait_until(lambda: run.rank(0) or run.process.poll() is not None, "task 0")
        hub, first = run.hub(), run.rank(0)
        wait_until(lambda: harness.Process.at(first) is None or run.process.poll() is not None, "the end of task 0")
        check(hub != run.pid and harness.kill(hub), "the hub: %s" % run.describe())
        reader.begin()
        check(run.wait() == 0, run.errors())
        output = reader.end()
        judge(run, output, undisturbed(5000), "")
        check("started again" in run.errors(), run.errors())


def killed_behind_finalize():
    """Task 0 is killed between dome_finalize and its end: what it had not written out is printed by the next attempt."""
    with Run(command(20, "late", 0)) as run:
        wait_until(lambda: os.path.exists(run.marks + "/late") or run.process.poll() is not None, "dome_finalize")
        harness.kill(run.rank(0))
        check(run.wait() == 0, run.errors())
        judge(run, run.output(), undisturbed(20) + b"late\n", "")
        check("was ended by signal 9 (Killed) after dome_finalize; started again" in run.errors(), run.errors())


def reader_ends():
    """A reader that has enough ends the program, as always."""
    ours, theirs = os.pipe()
    with Run(command(4000, "", 1000), stdout=theirs) as run:
        os.close(theirs)
        os.read(ours, 100)
        os.close(ours)
        status = run.wait()
        check(status in (-13, 141), "status %s: %s" % (status, run.errors()))
        check(run.errors() == "", run.errors())
        run.check_clean()


if __name__ == "__main__":
    harness.need_pvm()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    first = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 20)
    print("seed %d" % first)
    for variant in ("", "child", "all"):
        undisturbed(80, variant)
    cases = [("a line differs", differs), ("killed after five seconds", five_seconds), ("by hand", by_hand), ("the reader ends", reader_ends),
             ("another file as state", wrong_state), ("hub killed behind the end", hub_killed_behind_the_end),
             ("killed behind dome_finalize", killed_behind_finalize)]
    cases += [("host lost, %s%s" % (variant or "plain", "" if saves else ", no checkpoints"), host_lost, variant, saves)
              for variant in ("", "child", "all") for saves in (True, False)]
    cases += [("history %d" % (first + k), history, first + k) for k in range(count)]
    sys.exit(harness.run_all(cases, 3) > 0)
