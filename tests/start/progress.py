"""What dome_progress shows on a terminal, in files and in pipes.

    progress.py [PART-OF-A-NAME]"""

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
import threading


import harness
from harness import DOME, PROGRAMS, Run, check

PROGRAM = PROGRAMS + "/progress"
NOTICE = {"PVM_ALLOW_ROOT": "1", "TERM": "vt100"}
BAR = r"\[[#.]+\] *\d+%  \d+/\d+ steps(, .*)?"


def screen(data):
    """The lines of a terminal that got these bytes."""
    lines, line, column = [], [], 0
    for part in re.findall(r"\x1b\[K|[^\x1b]", data):
        if part == "\x1b[K":
            del line[column:]
        elif part == "\r":
            column = 0
        elif part == "\n":
            lines.append("".join(line).rstrip())
            line = [] if column == 0 else [" "] * column
        else:
            line[len(line):] = [" "] * (column - len(line))
            line[column : column + 1] = [part]
            column += 1
    check("\x1b" not in re.sub(r"\x1b\[K", "", data), "unknown sequences: %r" % data)
    return lines + ["".join(line).rstrip()]


def on_terminal(arguments, environment=None, columns=60, interrupt=False):
    """What the screen shows in the end, all that was written, and the status. interrupt: Ctrl-C when there is a bar."""
    both = dict(NOTICE, **(environment or {}))
    with Run(["/bin/sh", "-c", 'read go; exec "$0" "$@" >/dev/tty 2>&1'] + arguments, both, pty=True) as run:
        fcntl.ioctl(run.keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        attributes = termios.tcgetattr(run.keyboard)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(run.keyboard, termios.TCSANOW, attributes)
        os.write(run.keyboard, b"\n")
        pieces = []

        def read():
            while True:
                try:
                    data = os.read(run.keyboard, 65536)
                except OSError:
                    data = b""
                if not data:
                    return
                pieces.append(data)
                if interrupt and b"steps" in data:
                    os.write(run.keyboard, b"\x03")

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        status = run.wait()
        run.wait_gone()
        reader.join(harness.HANG)
        run.check_clean()
        data = b"".join(pieces).decode()
        return screen(data), data, status


def matches(lines, patterns):
    lines = [l for l in lines if l]
    good = len(lines) == len(patterns) and all(re.fullmatch(p, l) for p, l in zip(patterns, lines))
    check(good, "on the screen:\n" + "\n".join(lines))


def bar(tasks):
    lines, data, status = on_terminal([PROGRAM, "0", "60", "--dome-tasks", str(tasks)])
    check(status == 0, "status %d: %r" % (status, data))
    matches(lines, [r"%d tasks" % tasks, r"\[#+\] 100%  60/60 steps, .*/s, took 0:\d\d", "end"])
    drawn = data.count("/60 steps")
    check(drawn > 2, "it was drawn %d times" % drawn)
    check(max(map(len, re.findall(r"\r([^\r\n\x1b]*)\x1b", data))) < 60, "lines are too long: %r" % data)


def others_talk(tasks):
    """Lines that come in between stand whole, above the bar."""
    lines, data, status = on_terminal([PROGRAM, "0", "60", "talk", "--dome-tasks", str(tasks)])
    check(status == 0, "status %d: %r" % (status, data))
    if tasks > 1: # it comes by another way
        check("[1] half of task 1" in lines, "on the screen:\n" + "\n".join(lines))
        lines.remove("[1] half of task 1")
    matches(lines, [r"%d tasks" % tasks, "half", r"\[#+\] 100%  60/60 steps, .*", "end"])


def restart():
    lines, data, status = on_terminal([PROGRAM, "980", "1000", "--dome-tasks", "1"])
    check(status == 0, "status %d" % status)
    rates = [float(r) for r in re.findall(r"1000/1000 steps, ([0-9.]+)/s", data)]
    # a step takes 20 ms or more: never as fast as 1000 steps would be
    check(len(rates) == 1 and rates[0] <= 50, "rates %r: %r" % (rates, data))


def failure(tasks):
    """The line that ends the program is not mixed with the bar."""
    lines, data, status = on_terminal([PROGRAM, "0", "60", "fail", "--dome-tasks", str(tasks)])
    check(status == 1, "status %d" % status)
    matches(lines, [r"%d tasks" % tasks, r"dome: no more \(task %d on host .*\)" % (tasks - 1)])


def unfinished():
    lines, data, status = on_terminal([PROGRAM, "0", "60", "stop", "--dome-tasks", "1"])
    matches(lines, ["1 tasks", "end"])


def interrupted():
    lines, data, status = on_terminal([PROGRAM, "0", "100000", "--dome-tasks", "2"], interrupt=True)
    check(status != 0, "it was not interrupted")
    check("steps" in data and not [l for l in lines if "steps" in l], "left on the screen: %r" % lines)


def narrow():
    lines, data, status = on_terminal([PROGRAM, "0", "10", "--dome-tasks", "1"], columns=12)
    check(status == 0 and max(len(l) for l in lines) < 12, "on the screen:\n" + "\n".join(lines))


def dumb():
    lines, data, status = on_terminal([PROGRAM, "0", "10", "--dome-progress", "always", "--dome-tasks", "1"], {"TERM": "dumb"})
    check("\x1b" not in data, "%r" % data)
    matches(lines, ["1 tasks", r"100%  10/10 steps, .*", "end"])


def never_on_terminal():
    lines, data, status = on_terminal([PROGRAM, "0", "10", "--dome-progress", "never", "--dome-tasks", "1"])
    matches(lines, ["1 tasks", "end"])


def in_file(options, patterns):
    with Run([PROGRAM, "0", "20", "--dome-tasks", "2"] + options, NOTICE) as run:
        check(run.wait() == 0, "it failed")
        run.check_clean()
        check(run.output() == b"2 tasks\nend\n", "output %r" % run.output())
        matches(run.lines(), patterns)


def in_pipe(options, patterns):
    command = ["/bin/sh", "-c", '"$0" "$@" 2>&1 >/dev/null | cat >&2', PROGRAM, "0", "20", "--dome-tasks", "2"]
    with Run(command + options, NOTICE) as run:
        run.wait()
        run.check_clean()
        matches(run.lines(), patterns)


def all_cases():
    end = [r"100%  20/20 steps, .*/s, took 0:\d\d"]
    return [
        ("a bar, one task", bar, 1),
        ("a bar, 3 tasks", bar, 3),
        ("a bar, and others talk, 1 task", others_talk, 1),
        ("a bar, and others talk, 3 tasks", others_talk, 3),
        ("a bar after a restart", restart),
        ("a bar, and a failure, 1 task", failure, 1),
        ("a bar, and a failure, 3 tasks", failure, 3),
        ("a bar of a loop that is left", unfinished),
        ("a bar, interrupted", interrupted),
        ("a narrow terminal", narrow),
        ("a dumb terminal", dumb),
        ("never on a terminal", never_on_terminal),
        ("no line in a file for a moment", in_file, [], []),
        ("lines in a file", in_file, ["--dome-progress", "always"], end),
        ("never in a file", in_file, ["--dome-progress", "never"], []),
        ("nothing in a pipe", in_pipe, [], []),
        ("lines in a pipe", in_pipe, ["--dome-progress", "always"], end),
    ]


if __name__ == "__main__":
    harness.need_pvm()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in all_cases() if wanted in c[0]], 4) else 0)
