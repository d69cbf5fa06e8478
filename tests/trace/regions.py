"""What regions cost: page faults, units and waiting in the profile and in the trace, and tasks that share a unit falsely, by name."""

import json
import os
import re
import subprocess
import sys
import tempfile

import harness

RUN_MULTI, BUILD = os.environ["RUN_MULTI"], os.environ["DOME_BUILD_DIR"]
DOME, PROGRAM = BUILD + "/tools/dome", BUILD + "/tests/programs/units"
TURNS = 60
FALSELY = r"^region 'counts': 1 unit is shared falsely; in one task (\d) \(host \S+\) has written element (\d), and task (\d) \(host \S+\) element (\d), in (\d+) and (\d+) turns: (.*)$"
failures = 0
folder = None


def check(what, condition, text):
    global failures
    if not condition:
        failures += 1
        print("failed: %s: %s" % (what, text))


def run(tasks, *arguments, road="pvm"):
    """The standard error; the program prints the sum that it must have reached."""
    p = subprocess.run([RUN_MULTI, str(tasks), PROGRAM, *arguments, "--turns", str(TURNS), "--dome-road", road, "--dome-profile"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    wanted = TURNS * (tasks if "same" in arguments else 1)
    check(" ".join(arguments), p.returncode == 0 and p.stdout == "%d\n" % wanted, "status %d, %r: %s" % (p.returncode, p.stdout, p.stderr))
    return p.stderr


def line_of(what, errors):
    """Units, bytes, read and write faults, seconds waited."""
    m = re.search(r"^region 'counts': (\d+) units fetched, ([0-9.]+) MB.*; (\d+) page faults to read and (\d+) to write, ([0-9.]+) s waited", errors, re.M)
    check(what, m, "no line of the region: " + errors)
    return [float(x) for x in m.groups()] if m else [0] * 5


def neighbours():
    """Two tasks write elements side by side: a unit travels in each turn, and nobody needs what the other one has written."""
    for tasks, options, advice in (2, [], "dome_region_unit), or use DOME_RELEASE"), (3, [], "DOME_RELEASE"), (2, ["--release"], "(dome_region_unit)"):
        what = "neighbours, %d tasks %s" % (tasks, options)
        errors = run(tasks, "neighbours", *options)
        m = re.search(FALSELY, errors, re.M)
        check(what, m, "no line: " + errors)
        if not m:
            continue
        a, first, b, second, turns, others, advised = m.groups()
        check(what, a != b and (a, b) == (first, second), "tasks %s and %s, elements %s and %s" % (a, b, first, second))
        check(what, min(int(turns), int(others)) >= TURNS // 4, "turns: %s, %s" % (turns, others))
        check(what, advised.endswith(advice), advised)
        if not options:
            units, megabytes, _, writes, waited = line_of(what, errors)
            check(what, units >= TURNS / 2 and writes >= TURNS / 2 and waited > 0, errors)
            check(what, abs(megabytes - units * 4096e-6) < 1e-3 or os.sysconf("SC_PAGESIZE") != 4096, errors)
            sent = re.search(r"^service channel \(.*\): (\d+) messages, ([0-9.]+) MB in all", errors, re.M)
            check(what, sent and int(sent.group(1)) >= units and float(sent.group(2)) >= megabytes, errors)


def not_falsely():
    """No alarm where tasks write one element in turns, units of their own, or share one memory."""
    for arguments, road in (["same"], "pvm"), (["same", "--release"], "pvm"), (["apart"], "pvm"), (["apart", "--release"], "pvm"), (["neighbours"], "best"):
        errors = run(2, *arguments, road=road)
        check(" ".join(arguments), "shared falsely" not in errors, errors)


def waiting():
    """A task that waits for a unit outside operations waits, and does not compute: it is a row of operations of its own."""
    errors = run(2, "same")
    m = re.search(r"^page faults of regions +(\d+) +([0-9.]+) +[0-9.]+ +([0-9.]+)", errors, re.M)
    check("waiting", m and int(m.group(1)) >= TURNS / 2 - 1 and float(m.group(3)) > float(m.group(2)) > 0, errors)


def trace():
    what, path, out = "trace", folder + "/run.trace", folder + "/out.json"
    errors = run(2, "neighbours", "--dome-trace", path)
    units, megabytes, reads, writes, waited = line_of(what, errors)
    made = subprocess.run([DOME, "view", path, "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
    check(what, made.returncode == 0 and not made.stderr, made.stderr)
    with open(out) as f:
        events = [e for e in json.load(f)["traceEvents"] if e["name"] == "region 'counts' so far"]
    last = {e["pid"]: e["args"] for e in sorted(events, key=lambda e: e["ts"])}
    sums = [sum(e[key] for e in last.values()) for key in ("units", "kB", "faults to read", "faults to write", "waited_ms")]
    check(what, len(last) == 2, str(events))
    # The trace ends with the last operation but one; what the end of the program costs is in the profile alone.
    for name, got, most in zip(("units", "kB", "reads", "writes", "ms"), sums, (units, megabytes * 1e3, reads, writes, waited * 1e3)):
        check(what, 0.8 * most <= got <= 1.001 * most + 0.1, "%s: %s in the trace, %s in the profile" % (name, got, most))
    made = subprocess.run([DOME, "view", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
    with open(path + ".html") as f:
        page = f.read()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    check(what, data["strange"] == 0 and len(data["shared"]) == 1, str(data["shared"]))
    if data["shared"]:
        name, count, a, first, _, b, second, _ = data["shared"][0]
        check(what, (name, count, a, first, b, second) == ("counts", 1, 0, "element 0", 1, "element 1"), str(data["shared"]))
    for name in os.listdir(folder):
        os.unlink(folder + "/" + name)


def main():
    global folder
    harness.need_pvm()
    with tempfile.TemporaryDirectory(prefix="dome-regions-test.") as folder:
        neighbours()
        not_falsely()
        waiting()
        trace()


main()
print("ok" if not failures else "%d failed" % failures)
sys.exit(1 if failures else 0)
