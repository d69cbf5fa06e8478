"""domed on one host: programs of high priority, and what those of low priority do that cannot leave the host. They are suspended as
a whole, and go on afterwards; their results are those of undisturbed programs.

    daemon_priority.py [PART-OF-A-NAME]"""

import os
import sys

import harness
from host_daemon import Daemon
from harness import PROGRAMS, check, wait_until

ELASTIC = PROGRAMS + "/elastic"
SLOTS = 4


def undisturbed(steps):
    with harness.Run([ELASTIC, steps, "0", "-", "--dome-transport", "self"]) as run:
        check(run.wait() == 0, "one task: " + run.errors())
        return run.output().decode()


def begins(d, name):
    wait_until(lambda: os.path.exists(d.work + "/" + name) and d.output(name), "%s to begin" % name)


def suspended_beside(d, lows, high):
    """The program of high priority runs while the others stand still; they go on when it has ended."""
    d.wait_state(high, "runs")
    for low in lows:
        d.wait_for(low, lambda p: p["state"] == "stopped" and p["held"], "%s to be suspended" % low)
    check(d.program(high)["state"] == "runs", "%s" % d.program(high))
    d.run("kill", high)
    d.wait_state(high, "ended")
    for low in lows:
        d.wait_for(low, lambda p: p["state"] != "stopped" and not p["held"], "%s to go on" % low)


def ends_well(d, low, name, steps):
    d.wait_state(low, "ended")
    p = d.program(low)
    check(p["status"] == 0 and p["attempts"] == 1, "%s" % p)
    check(d.output(name) == undisturbed(steps), "other output: %r" % d.output(name))


def beside(*options):
    """One of 4 tasks with these options, and one of priority that wants all 4 processors."""
    with Daemon(slots=SLOTS) as d:
        os.mkdir(d.work + "/marks", 0o777)
        open(d.work + "/marks/slow", "w").close()
        low = d.submit("-n", "4", *options, "-o", "low", ELASTIC, "2000", "20", "-", d.work + "/marks", "hurries")
        begins(d, "low")
        for k in range(3):
            high = d.submit("-n", "4", "--priority", "5", "-o", "high%d" % k, ELASTIC, "100000", "10")
            begins(d, "high%d" % k)
            suspended_beside(d, [low], high)
        os.unlink(d.work + "/marks/slow")
        ends_well(d, low, "low", "2000")


def rigid():
    """Its number of tasks is fixed."""
    beside()


def kept_by_min():
    """It can shrink, but not by enough."""
    beside("--min", "3")


def of_one_process():
    """Programs without a hub."""
    with Daemon(slots=SLOTS) as d:
        lows = [d.submit("-o", "low", "sleep", "600") for _ in range(3)]
        for low in lows:
            d.wait_state(low, "runs")
        high = d.submit("-n", "4", "--priority", "5", "-o", "high", ELASTIC, "100000", "10")
        suspended_beside(d, lows, high)
        for low in lows:
            d.wait_state(low, "runs")


def far_boundary():
    """It computes for a long time between two boundaries: it is suspended before it comes to the one at which it was to shrink."""
    with Daemon(slots=SLOTS) as d:
        os.mkdir(d.work + "/marks", 0o777)
        open(d.work + "/marks/slow", "w").close()
        low = d.submit("-n", "4", "--min", "1", "-o", "low", ELASTIC, "100", "10", "-", d.work + "/marks", "lingers")
        wait_until(lambda: len([n for n in os.listdir(d.work + "/marks") if n.startswith("rank.")]) == 4, "its tasks")
        high = d.submit("-n", "3", "--priority", "5", "-o", "high", ELASTIC, "100000", "10")
        begins(d, "high")
        suspended_beside(d, [low], high)
        check(d.program(low)["tasks"] == 4, "%s" % d.program(low))
        d.run("suspend", low)  # while the order to shrink waits for the boundary, still
        check(d.program(low)["state"] == "stopped", "%s" % d.program(low))
        d.run("resume", low)
        os.unlink(d.work + "/marks/slow")
        ends_well(d, low, "low", "100")


def no_boundary():
    """It never comes to a boundary."""
    with Daemon(slots=SLOTS) as d:
        low = d.submit("-n", "4", "--min", "1", "-o", "low", ELASTIC, "100", "10", "-", "-", "endless")
        d.wait_state(low, "runs")
        wait_until(lambda: len([p for p in d.processes() if p.name == "elastic"]) == 4, "its tasks")
        high = d.submit("-n", "3", "--priority", "5", "-o", "high", ELASTIC, "100000", "10")
        suspended_beside(d, [low], high)
        d.run("kill", low)
        d.wait_state(low, "ended")


def ends_while_suspended():
    """dome kill reaches a program that the policies have suspended; one that its user has suspended stays so."""
    with Daemon(slots=SLOTS) as d:
        ended = d.submit("-n", "4", "-o", "ended", ELASTIC, "100000", "10")
        begins(d, "ended")
        high = d.submit("-n", "4", "--priority", "5", "-o", "high", ELASTIC, "100000", "10")
        d.wait_state(ended, "stopped")
        d.run("kill", ended)
        d.wait_state(ended, "ended")
        kept = d.submit("-n", "4", "--priority", "9", "-o", "kept", ELASTIC, "100000", "10")
        begins(d, "kept")
        d.wait_state(high, "stopped")
        d.run("suspend", high)
        d.run("kill", kept)
        d.wait_state(kept, "ended")
        check(d.program(high)["state"] == "stopped", "%s" % d.program(high))
        d.run("resume", high)
        check(d.program(high)["state"] == "runs", "%s" % d.program(high))


def main():
    harness.need_pvm()
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [("a fixed number of tasks", rigid), ("kept by --min", kept_by_min), ("programs of one process", of_one_process),
             ("a boundary far away", far_boundary), ("no boundary", no_boundary), ("ended, and suspended twice", ends_while_suspended)]
    sys.exit(1 if harness.run_all([c for c in cases if part in c[0]], 4) else 0)


main()
