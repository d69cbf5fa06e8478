"""What --dome-trace records: JSON that is valid and nests, one clock, and what is left of a program that crashes."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

RUN_MULTI, BUILD = os.environ["RUN_MULTI"], os.environ["DOME_BUILD_DIR"]
DOME, STEPS_PROGRAM = BUILD + "/tools/dome", BUILD + "/tests/balance/steps"
STEPS = 40
failures = 0
folder = None


def fail(what, text):
    global failures
    failures += 1
    print("failed: %s: %s" % (what, text))


def run(arguments, environment=None, status=0):
    p = subprocess.run(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        env=dict(os.environ, **(environment or {})),
    )
    if p.returncode != status:
        fail(" ".join(arguments), "status %d instead of %d: %s" % (p.returncode, status, p.stderr))
    return p.stderr


def steps(tasks, trace, *options, environment=None):
    run([RUN_MULTI, str(tasks), STEPS_PROGRAM, str(STEPS), "--dome-trace", trace, *options], environment)


def check_schema(what, trace):
    """The trace event format: what each phase of event must have."""
    if set(trace) != {"displayTimeUnit", "otherData", "traceEvents"}:
        fail(what, "keys %s" % sorted(trace))
    for e in trace["traceEvents"]:
        good = e["ph"] in ("X", "C", "M", "i") and isinstance(e["name"], str)
        good = good and isinstance(e["pid"], int) and isinstance(e["tid"], int) and isinstance(e["args"], dict)
        if e["ph"] != "M":
            good = good and isinstance(e["ts"], (int, float)) and e["ts"] >= 0
        if e["ph"] == "X":
            good = good and e["dur"] >= 0 and isinstance(e["cat"], str)
        if e["ph"] == "C":
            good = good and all(isinstance(v, (int, float)) for v in e["args"].values())
        if e["ph"] == "i":
            good = good and e["s"] == "g"
        if not good:
            fail(what, "event %s" % e)


def spans(trace, process):
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == process]


def check_nesting(what, trace):
    """On each task, two spans are one inside of the other or apart."""
    for process in {e["pid"] for e in trace["traceEvents"]}:
        around = []
        for e in sorted(spans(trace, process), key=lambda e: (e["ts"], -e["dur"])):
            begin, end = e["ts"], e["ts"] + e["dur"]
            while around and around[-1][1] <= begin + 0.002:  # times have three digits
                around.pop()
            if around and end > around[-1][1] + 0.002:
                fail(what, "%s from %f to %f passes the end of %s, %f" % (e["name"], begin, end, around[-1][2], around[-1][1]))
            around.append((begin, end, e["name"]))


def calls(trace, process):
    """Calls of each operation, merged or not."""
    count = {}
    for e in spans(trace, process):
        if e["cat"] == "operation":
            count[e["name"]] = count.get(e["name"], 0) + 1
        elif e["cat"] == "merged":
            for name, n in e["args"].items():
                if not name.endswith("_us"):
                    count[name] = count.get(name, 0) + n
    return count


def check_calls(what, trace, tasks):
    wanted = {"dvec_map": STEPS, "dvec_sum": STEPS, "dome_barrier": STEPS, "dvec_new": 2, "dome_init": 1, "dome_finalize": 1}
    for process in range(1, tasks + 1):
        count = calls(trace, process)
        for name, n in wanted.items():
            if count.get(name) != n:
                fail(what, "task %d: %s calls of %s instead of %d" % (process - 1, count.get(name), name, n))


def check_moves(what, trace, tasks):
    """Where data is, and what phases did about it."""
    phases = [e for e in spans(trace, 1) if e["name"] == "phase of load balancing"]
    layouts = [e for e in trace["traceEvents"] if e["ph"] == "C" and e["name"].startswith("blocks, ")]
    if not phases or not any(e["args"]["moved"] for e in phases) or len(layouts) < 2:
        fail(what, "%d phases, %d layouts" % (len(phases), len(layouts)))
    for e in layouts:
        if len(e["args"]) != tasks or sum(e["args"].values()) != sum(layouts[0]["args"].values()):
            fail(what, "a layout has lost blocks: %s" % e)
    sent = sum(e["args"]["bytes"] for p in range(1, tasks + 1) for e in spans(trace, p) if e["name"] == "data moves")
    if sent <= 0:
        fail(what, "no bytes have moved")


def json_runs():
    for tasks in "self", "3":
        what, path = "JSON, %s tasks" % tasks, folder + "/out.json"
        steps(tasks, path, *(["--dome-balance", "random"] if tasks == "3" else []))
        with open(path) as f:
            trace = json.load(f)
        check_schema(what, trace)
        check_nesting(what, trace)
        n = 1 if tasks == "self" else int(tasks)
        check_calls(what, trace, n)
        if n > 1:
            check_moves(what, trace, n)
        if trace["otherData"]["ended"] != "yes" or trace["otherData"]["left_out"] != "0":
            fail(what, str(trace["otherData"]))
        if os.listdir(folder) != ["out.json"]:
            fail(what, "left behind: %s" % os.listdir(folder))
        os.unlink(path)


def structure():
    """The operation of a structure of one's own, which lets data move, and nothing else does."""
    what, path, out, tasks = "structure", folder + "/structure.trace", folder + "/structure.json", 4
    run([RUN_MULTI, str(tasks), BUILD + "/tests/balance/cases", "ledger", "alone", "--dome-trace", path])
    run([DOME, "view", path, "-o", out])
    with open(out) as f:
        trace = json.load(f)
    for process in range(1, tasks + 1):
        count = calls(trace, process)
        if count.get("ledger_add") != 80 or count.get("dome_operation_register") != 1:
            fail(what, "task %d: calls %s" % (process - 1, count))
    check_moves(what, trace, tasks)
    os.unlink(path)
    os.unlink(out)


def clocks():
    """The same machine has one clock, so tasks whose clocks are shifted must be found to be off by that, within a millisecond."""
    what, path, out = "clocks", folder + "/clocks.trace", folder + "/clocks.json"
    shifts = {0: 0, 1: 5_000_000_000, 2: -3_000_000_000}
    steps(3, path, "--dome-balance", "random", environment={"DOME_TRACE_TEST_SHIFT": ",".join("%d:%d" % s for s in shifts.items())})
    best, rank = {}, None
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[0] == "T":
                rank = words[1]
            elif words[0] == "C":
                error, offset = int(words[4]), int(words[3])
                best[int(rank)] = min(best.get(int(rank), (error, offset)), (error, offset))
    for rank, shift in shifts.items():
        error, offset = best[rank]
        if abs(offset + shift) > max(1e6, error):
            fail(what, "task %d: offset %d, shift %d, error %d" % (rank, offset, shift, error))
        if error > 1e6:
            print("note: the machine answers slowly: the best measurement of task %d is good to %d ns only" % (rank, error))
    run([DOME, "view", path, "-o", out])
    with open(out) as f:
        trace = json.load(f)
    check_nesting(what, trace)
    # All tasks are in a phase of balancing before one of them can be out of it.
    rounds = [[e for e in spans(trace, p) if e["name"] == "load balancing"] for p in (1, 2, 3)]
    slack = 1000 + 1e-3 * sum(error for error, _ in best.values())
    if len({len(r) for r in rounds}) == 1:
        for together in zip(*rounds):
            if max(e["ts"] for e in together) > min(e["ts"] + e["dur"] for e in together) + slack:
                fail(what, "a phase does not overlap on all tasks: %s" % (together,))
    os.unlink(path)
    os.unlink(out)


def wait_for(text, path, program):
    """What is in the trace when a line of it has that text. The program may end early."""
    for _ in range(6000):
        over = program.poll() is not None
        if os.path.exists(path):
            with open(path) as f:
                content = f.read()
            if re.search(text, content, re.M):
                return content
        if over:
            raise RuntimeError("status %d: %s" % (program.returncode, program.communicate()[1]))
        time.sleep(0.02)
    raise RuntimeError("waited for " + text)


def crash():
    """A task is killed: what it had recorded until shortly before is there, and what all others recorded."""
    what, path, marks = "crash", folder + "/crash.trace", folder + "/marks"
    os.mkdir(marks)
    program = [RUN_MULTI, "3", BUILD + "/tests/programs/worker", marks, "1", "mixed", "--dome-trace", path]
    p = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
    content = wait_for(r"^T 1\n(?:[^T].*\n)*?g ", path, p)  # operations of task 1 are in the file
    with open(marks + "/rank.1") as f:
        os.kill(int(f.read()), signal.SIGKILL)
    message = p.communicate()[1]
    if p.returncode != 1 or "task 1 on host" not in message:
        fail(what, "status %d: %s" % (p.returncode, message))
    with open(path) as f:
        after = f.read()
    if not after.startswith(content) or not re.search(r"^F \d+ .*task%201%20on%20host", after, re.M):
        fail(what, "the file has not kept what was in it, or says nothing of the failure")
    out = folder + "/crash.json"
    run([DOME, "view", path, "-o", out])
    with open(out) as f:
        trace = json.load(f)
    check_schema(what, trace)
    check_nesting(what, trace)
    lines = [e for e in trace["traceEvents"] if e["ph"] == "i" and e["name"] == "failure"]
    if len(lines) != 1 or "task 1" not in lines[0]["args"]["text"]:
        fail(what, "failures: %s" % lines)
    if any(not calls(trace, process) for process in (1, 2, 3)):
        fail(what, "a task has no operations")
    truncated(after)
    for name in "crash.trace", "crash.json":
        os.unlink(folder + "/" + name)
    for name in os.listdir(marks):
        os.unlink(marks + "/" + name)
    os.rmdir(marks)


def pid_of(rank, text):
    """What a task says of itself when it begins; None: nothing yet."""
    task = None
    for line in text.split("\n"):
        words = line.split()
        if words and words[0] == "T":
            task = words[1]
        elif words and words[0] == "I" and task == str(rank):
            return int(words[2])


def restart():
    """A program that is started again after a loss has one trace: both runs, checkpoints, why the first one ended."""
    what, path, out, marks = "restart", folder + "/restart.trace", folder + "/restart.json", folder + "/checkpoints"
    if not os.path.exists(BUILD + "/examples/heat"):
        print("note: without the examples nothing is restarted")
        return
    os.mkdir(marks)
    environment = {k: v for k, v in os.environ.items() if k not in ("PVM_VMID", "PVMSOCK", "DOME_OPTIONS", "DOME_HUB")}
    environment.update(TMPDIR=folder, PVM_TMP=folder)
    program = [DOME, "run", "-n", "3", "--restarts", "1", "--on-loss", "restart", BUILD + "/examples/heat", "--steps", "6000", "--output", marks + "/heat"]
    program += ["--dome-checkpoint-dir", marks, "--dome-checkpoint-every", "100", "--dome-trace", path]
    p = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True, env=environment)
    wait_for(r"^k \d+ \d+ [2-9] ", path, p)
    os.kill(pid_of(1, wait_for(r"^T 1\n(?:[^T].*\n)*?I ", path, p)), signal.SIGKILL)
    message = p.communicate()[1]
    if p.returncode != 0:
        fail(what, "status %d: %s" % (p.returncode, message))
    run([DOME, "view", path, "-o", out])
    with open(out) as f:
        trace = json.load(f)
    check_schema(what, trace)
    check_nesting(what, trace)
    names = [e["name"] for e in trace["traceEvents"] if e["ph"] == "i"]
    if trace["otherData"]["starts"] != "2" or sorted(names) != ["failure", "restart"]:
        fail(what, "%s starts, marks %s" % (trace["otherData"]["starts"], names))
    numbers = {process: [e["args"]["number"] for e in spans(trace, process) if e["name"] == "checkpoint"] for process in range(1, 7)}
    # the task that is killed (process 2) may take the last tenth of a second with it
    if any((not n and process != 2) or n != sorted(n) for process, n in numbers.items()):
        fail(what, "checkpoints of the tasks: %s" % numbers)
    if sum(e["args"]["bytes"] for e in spans(trace, 4) if e["name"] == "checkpoint") <= 0:
        fail(what, "checkpoints without bytes")
    for name in os.listdir(marks):
        os.unlink(marks + "/" + name)
    os.rmdir(marks)
    os.unlink(path)
    os.unlink(out)


def truncated(text):
    what, path, out = "truncated", folder + "/cut.trace", folder + "/cut.json"
    for part in 0.2, 0.5, 0.9, 0.999:
        with open(path, "w") as f:
            f.write(text[: int(len(text) * part)])
        words = run([DOME, "view", path, "-o", out])
        if "stops before the end" not in words:
            fail(what, "%g: %s" % (part, words))
        with open(out) as f:
            trace = json.load(f)
        check_schema("%s %g" % (what, part), trace)
        check_nesting("%s %g" % (what, part), trace)
    os.unlink(path)
    os.unlink(out)


def other_files():
    path, out = folder + "/other", folder + "/other.json"
    cases = (
        (b"", "not a trace"),
        (b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}", "not a trace"),
        (b"dome-trace 2\n", "another version"),
        (b"dome-trace 1\n", "ends before the program begins"),
    )
    for content, words in cases:
        with open(path, "wb") as f:
            f.write(content)
        message = run([DOME, "view", path, "-o", out], status=1)
        if words not in message or message.count("\n") != 1:
            fail("other files", "%s: %s" % (content, message))
    os.unlink(path)
    if "No such file" not in run([DOME, "view", path, "-o", out], status=1):
        fail("other files", "a missing file")
    for trace in folder, folder + "/not/there":
        message = run([RUN_MULTI, "2", STEPS_PROGRAM, str(STEPS), "--dome-trace", trace], status=1)
        if "--dome-trace: %s cannot be written" % trace not in message:
            fail("a trace that cannot be written", message)
    message = run([RUN_MULTI, "2", STEPS_PROGRAM, str(STEPS), "--dome-trace", "/dev/full"])
    if "dome: the trace /dev/full is not whole: No space left" not in message:
        fail("a full disk", message)


def main():
    global folder
    with tempfile.TemporaryDirectory(prefix="dome-trace-test.") as folder:
        json_runs()
        structure()
        clocks()
        crash()
        restart()
        other_files()
        if os.listdir(folder):
            fail("files", "left behind: %s" % os.listdir(folder))


main()
print("ok" if not failures else "%d failed" % failures)
sys.exit(1 if failures else 0)
