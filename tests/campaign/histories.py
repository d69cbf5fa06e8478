"""What tasks see in regions: random programs on 2 to 6 tasks, of one member or of as many as there are tasks, with each way to notice
accesses. One order must explain each history (tests/multi/histories.c); of some, a mistake is made on purpose, and has to be found."""

import os

import campaign
import harness
from harness import Run, check

HISTORIES = os.path.join(os.path.abspath(harness.BUILD), "tests", "multi", "histories")
MISTAKES = ["keeps", "late", "byte", "unlocked", "exchanged"]


def case(chance, number):
    tasks = chance.choice([2, 2, 3, 3, 4, 5, 6])
    road = chance.choice(["pvm", "pvm", "pvm", "best"])
    tracker = chance.choice(["", "protect"])
    mistake = chance.choice(MISTAKES) if road == "pvm" and chance.random() < 0.2 else "none"
    rounds = 20000 if mistake != "none" else 300 if tasks <= 4 else 100
    command = [HISTORIES, str(rounds), str(chance.randrange(1 << 40)), mistake]
    options = ["--dome-transport", "pvm", "--dome-tasks", str(tasks), "--dome-road", road]
    with Run(command + options, {"DOME_TRACKER": tracker} if tracker else None) as run:
        status = run.wait()
        check(status == 0, "%s: status %s: %s" % (" ".join(command + options), status, run.errors()))
        run.check_clean()
    return "%s members%s" % ("one" if road == "best" else "several", "" if mistake == "none" else ", a mistake is found")


if __name__ == "__main__":
    harness.need_pvm()
    campaign.campaign("histories", case, 200, jobs=2)
