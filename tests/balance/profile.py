"""What --dome-profile prints: the table can be read, and its numbers agree with what the program did."""

import os
import re
import subprocess
import sys

RUN_MULTI, BUILD = os.environ["RUN_MULTI"], os.environ["DOME_BUILD_DIR"]
STEPS = 40  # of balance/steps
failures = 0


def fail(what, text):
    global failures
    failures += 1
    print("failed: %s: %s" % (what, text))


class Profile:
    """operations: name -> calls, compute mean, largest, wait mean, largest, GB/s or None, largest over mean or None, share in percent."""

    def __init__(self, text):
        lines = text.split("\n")
        start = next(i for i, line in enumerate(lines) if re.match(r"dome: \d+ tasks?; seconds per task", line))
        self.tasks = int(lines[start].split()[1])
        self.heading = lines[start + 1].split()
        self.operations, self.rest, self.times = {}, {}, []
        self.processor = {int(task): float(seconds) for task, seconds in re.findall(r"processor of task (\d+): ([\d.]+) s", text)}
        for line in lines[start + 2 :]:
            row = re.match(r"(\S.*?) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+|-) +([\d.]+|-) +([\d.]+) %$", line)
            if row:
                name, calls, *numbers = row.groups()
                self.operations[name] = [int(calls)] + [None if n == "-" else float(n) for n in numbers]
            elif re.match(r"\d+ +[\d.]+ ", line):
                self.times.append(line.split())
            elif line.startswith("the program's own code"):
                self.own = [float(n) for n in line.split()[4:6]]
            elif re.match(r"of all this, [\d.]+ % without a processor: ", line):
                self.without = [float(n) for n in re.findall(r"\d+\.\d+", line)]
            elif ":" in line:
                name, text = line.split(": ", 1)
                self.rest[name] = text


def on_one_processor():
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def run(tasks, *options, before=None, program=("balance/steps", str(STEPS))):
    what = "%s, %s tasks, %s%s" % (program[0], tasks, " ".join(options), ", on one processor" if before else "")
    p = subprocess.run(
        [RUN_MULTI, str(tasks), BUILD + "/tests/" + program[0], *program[1:], "--dome-profile", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        preexec_fn=before,
    )
    if p.returncode:
        fail(what, "status %d: %s" % (p.returncode, p.stderr))
        sys.exit(1)
    return what, Profile(p.stderr)


def check_operations(what, p, tasks):
    check_times(what, p, tasks)
    if p.tasks != tasks:
        fail(what, "it says %d tasks" % p.tasks)
    if p.heading != "operation calls compute largest wait largest GB/s ratio share".split():
        fail(what, "the heading is %s" % p.heading)
    calls = {"dvec_new": 2, "dvec_fill": 1, "dvec_adds": STEPS, "dvec_map": STEPS, "dvec_sum": STEPS, "dome_barrier": STEPS}
    for name, wanted in calls.items():
        got = p.operations.get(name)
        if not got or got[0] != wanted:
            fail(what, "%s: %s instead of %d calls" % (name, got and got[0], wanted))
    shares = p.own[1] + sum(o[7] for o in p.operations.values())
    if not 97 <= shares <= 100 + 0.05 * (len(p.operations) + 1):  # one digit after the point, and finalize goes on
        fail(what, "shares add up to %g %%" % shares)
    for name, (count, compute, most, wait, longest, rate, ratio, share) in p.operations.items():
        if ratio is not None and not (0.99 <= ratio <= tasks + 0.01 and abs(ratio - most / compute) < 0.02 + 1e-5 / compute):
            fail(what, "%s: largest over mean %g" % (name, ratio))
        if compute > most + 1e-6 or wait > longest + 1e-6:
            fail(what, "%s: the mean is above the largest" % name)
        if rate is not None and not 0 <= rate < 10000:
            fail(what, "%s: %g GB/s" % (name, rate))
    if tasks > 1:
        sent = re.match(r"(\d+) messages, ([\d.]+) MB in all, ([\d.]+) MB at most from a task; waiting ([\d.]+) %", p.rest["communication"])
        if not sent or float(sent.group(3)) > float(sent.group(2)) + 1e-3 or not 0 <= float(sent.group(4)) <= 100:
            fail(what, p.rest["communication"])
    elif "communication" in p.rest:
        fail(what, p.rest["communication"])
    # the kernel computes for at least a millisecond a step, whoever does it
    if not 0.9e-3 * STEPS / tasks <= p.operations["dvec_map"][1]:
        fail(what, "dvec_map: computed for %g s" % p.operations["dvec_map"][1])
    for name in "dvec_map", "dvec_sum", "dvec_adds":
        if p.operations[name][5] is None:
            fail(what, "%s: no bandwidth" % name)


def check_times(what, p, tasks):
    """The rows of the tasks: as much time as in the table of operations, of which the time without a processor has a column of its own,
    and nobody waits longest for itself."""
    rows = p.times
    if [int(row[0]) for row in rows] != (list(range(tasks)) if tasks > 1 else []):
        fail(what, "rows of tasks: %s" % rows)
    if not rows:
        return
    compute, own, halos, balancing, checkpoints, without, waiting = [sum(float(row[k]) for row in rows) / tasks for k in range(1, 8)]
    work, waits = sum(o[1] for o in p.operations.values()) + p.own[0], sum(o[3] for o in p.operations.values())
    left, close = compute + halos + balancing + checkpoints + own, 2e-6 * (len(p.operations) + 1)
    if abs(left + without + waiting - work - waits) > close:
        fail(what, "a task's mean is %g in the rows of tasks, %g in those of operations" % (left + without + waiting, work + waits))
    if left > work + close or waiting > waits + close or without < work - left - close:
        fail(what, "without a processor for %g: %g of %g are left of the work, %g of %g of the waiting" % (without, left, work, waiting, waits))
    if abs(without - p.without[1]) > close:
        fail(what, "without a processor for %g in the rows, %g in its line" % (without, p.without[1]))
    for row in rows:
        if len(row) != 12 or row[11] == row[0] or not 0 < float(row[8]) <= float(row[7]) + 0.05:
            fail(what, "a task's row: %s" % row)


def check_moves(what, p):
    """Blocks in all, by the ways they went, and phases, of which some moved."""
    phases, moving, took = re.match(r"\w+, (\d+) phases? \(\d+ from numbers sent ahead\), data moved in (\d+), ([\d.]+) s at most in a task$", p.rest["balance"]).groups()
    phases, moving = int(phases), int(moving)
    own, waiting = p.operations["load balancing"], p.operations["waiting for slow tasks"]
    if float(took) > own[2] + own[4] + 0.1:
        fail(what, "%s, but the table says %s" % (p.rest["balance"], own))
    if own[0] != waiting[0] or waiting[4] <= 0:
        fail(what, "waiting for slow tasks: %s" % waiting)
    if moving > phases:
        fail(what, p.rest["balance"])
    if "blocks moved" not in p.rest:
        return phases, moving, None
    numbers = re.match(r"(\d+) \(([\d.]+) MB\), to neighbours (\d+), around the ends (\d+), further (\d+)$", p.rest["blocks moved"])
    blocks, megabytes, near, around, further = [float(n) for n in numbers.groups()]
    if blocks <= 0 or blocks != near + around + further:
        fail(what, p.rest["blocks moved"])
    if abs(megabytes - blocks * 16 * 8 * 1e-6) > 1e-3:  # blocks of 16 doubles
        fail(what, "%g MB for %g blocks" % (megabytes, blocks))
    return phases, moving, (near, around, further)


def check_without(what, p, tasks):
    """All tasks and another program share one processor, and the others wait for task 1. They sleep meanwhile: however the scheduler deals
    the processor out, they use little of it. (Whether a task that is awake for a moment has to wait for the processor is the scheduler's
    choice, so the time without one has no bound for a single task.)"""
    rows = [[float(n) for n in row[1:9]] for row in p.times]
    used = [p.processor[k] for k in range(tasks)]
    work = sum(rows[1][:5])
    if not sum(row[5] for row in rows) > 0.3 * work:
        fail(what, "task 1 computes for %g s, and all tasks together have no processor for %g" % (work, sum(row[5] for row in rows)))
    for k in 0, 2:
        if not rows[k][5] + rows[k][6] > 0.5 * work or not used[k] < 0.5 * used[1]:
            fail(what, "a task that waits for task 1: %s beside %s; they used the processor for %s s" % (p.times[k], p.times[1], used))
    if "other programs use the processors" not in p.rest.get("advice", "other programs use the processors") and "have none for" not in p.rest["advice"]:
        fail(what, p.rest["advice"])


def check_transposed():
    """Products with the transpose of a tall matrix: which way was taken, and what it sends beside the others."""
    products = 7
    what, p = run(2, "--dome-balance", "none", program=("programs/transposed", str(products)))
    line = p.rest.get("A^T x, 'tall', 20000 x 50", "none")
    said = re.match(r"%d products by sums, ([\d.]+) MB sent in each; by entries ([\d.]+) MB; by transpose ([\d.]+) MB$" % products, line)
    if not said:
        fail(what, "the transposed products: %s" % line)
        return
    sums, entries, transpose = map(float, said.groups())
    sent = float(re.match(r"\d+ messages, ([\d.]+) MB in all", p.rest["communication"]).group(1))
    # half of the 200,000 entries, and half of the 20,000 values of x, are the other task's
    if not (0.7 < entries < 0.9 and 0.15 < transpose < 0.17 and 0 < sums < 0.01 and sent < 0.1 * products * transpose):
        fail(what, "%s, %g MB in all" % (line, sent))


def main():
    check_transposed()
    what, p = run("self")
    check_operations(what, p, 1)
    if p.rest["balance"] != "none" or "blocks moved" in p.rest:
        fail(what, str(p.rest))
    for tasks in 3, 5:
        what, p = run(tasks, "--dome-balance", "none")
        check_operations(what, p, tasks)
        if p.rest["balance"] != "none" or "blocks moved" in p.rest or "load balancing" in p.operations:
            fail(what, str(p.rest))
        what, p = run(tasks, "--dome-balance", "random")
        check_operations(what, p, tasks)
        phases, moving, blocks = check_moves(what, p)
        # every map, sum and barrier, and the end
        if not phases == moving == p.operations["load balancing"][0] == 3 * STEPS or not blocks:
            fail(what, str(p.rest))
        what, p = run(tasks, "--dome-balance", "global", "--dome-balance-every", "5")
        check_operations(what, p, tasks)
        phases, moving, blocks = check_moves(what, p)
        if not 4 * STEPS // 5 - 4 <= phases <= 4 * STEPS // 5 + 2:
            fail(what, str(p.rest))
        what, p = run(tasks, "--dome-balance", "global", "--dome-balance-every", "5", "--dome-balance-phases", "3")
        if check_moves(what, p)[0] != 3:
            fail(what, str(p.rest))
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=on_one_processor)
    try:
        what, p = run(3, "--dome-balance", "none", before=on_one_processor, program=("balance/steps", str(STEPS), "processor"))
    finally:
        other.kill()
        other.wait()
    check_operations(what, p, 3)
    check_without(what, p, 3)
    for topology in "ring", "linear":
        what, p = run(5, "--dome-balance", "ring", "--dome-balance-every", "2", "--dome-topology", topology)
        check_operations(what, p, 5)
        phases, moving, blocks = check_moves(what, p)
        if not blocks or blocks[2] or (topology == "linear" and blocks[1]):
            fail(what, str(p.rest))
        before, after = map(float, re.findall(r"([\d.]+) before", p.rest["imbalance (largest computing time over mean)"]))
        if not (1 <= before <= 5 and 1 <= after <= 5):
            fail(what, str(p.rest))


main()
print("ok" if not failures else "%d failed" % failures)
sys.exit(1 if failures else 0)
