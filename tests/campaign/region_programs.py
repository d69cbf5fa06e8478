"""The programs on regions while anything happens to them: they grow, shrink and move, tasks are killed, and they are started again on
another number of tasks. Their output and files must be those of one task that nothing disturbs."""

import os

import campaign
import harness
from harness import DOME, Run, check

EXAMPLES = os.path.join(os.path.abspath(harness.BUILD), "examples")
# Arguments, and the ending of the file that is written.
PROGRAMS = {
    "gram_schmidt": (["150", "3000"], None),
    "heat_region": (["--rows", "90", "--columns", "300", "--steps", "2000", "--output", "%MARKS%/own"], "npy"),
    "rays": (["--columns", "400", "--rows", "1000", "--output", "%MARKS%/own"], "pgm"),
}
MOST = 5
expected = {}


def result(run, name):
    """What it printed, and the file."""
    ending = PROGRAMS[name][1]
    if ending is None:
        return run.output(), b""
    with open("%s/own.%s" % (run.marks, ending), "rb") as f:
        return run.output(), f.read()


def undisturbed(name):
    if name not in expected:
        with Run([os.path.join(EXAMPLES, name)] + PROGRAMS[name][0] + ["--dome-transport", "self"]) as run:
            check(run.wait() == 0, run.errors())
            expected[name] = result(run, name)
    return expected[name]


class Choice:
    def __init__(self, chance, base):
        self.name = chance.choice(sorted(PROGRAMS))
        self.tasks = chance.randint(1, 4)
        memory = chance.random() < 0.4
        self.saved = "memory:" if memory else os.path.join(base, "saved")
        self.stop = not memory and chance.random() < 0.4  # by SIGTERM, and again on another number
        self.again = chance.randint(1, 4)
        self.options = ["--dome-timeout", "5", "--dome-road", chance.choice(["pvm", "pvm", "best"]), "--dome-balance",
                        chance.choice(["none", "global", "random"]), "--dome-checkpoint-dir", self.saved, "--dome-checkpoint-every",
                        str(chance.choice([1, 3, 10]))]
        self.loss = chance.choice(["heal", "heal", "restart"])
        self.environment = {"DOME_TRACKER": "protect"} if chance.random() < 0.3 else {}
        self.events = [(chance.uniform(0.02, 0.4), chance.choice(["grow", "shrink", "kill", "kill"]), chance.random())
                       for _ in range(chance.randint(1, 5))]

    def command(self, tasks, options=()):
        restarts = ["--restarts", "20", "--on-loss", self.loss, "-n", str(tasks), "--max", str(MOST)]
        return [DOME, "run"] + restarts + [os.path.join(EXAMPLES, self.name)] + PROGRAMS[self.name][0] + self.options + list(options)


def case(chance, number):
    with harness.temporary_directory() as base:
        choice = Choice(chance, base)
        wanted, what = undisturbed(choice.name), "%s, %d tasks" % (choice.name, choice.tasks)
        with Run(choice.command(choice.tasks), choice.environment) as run:
            done = campaign.disturb(run, (choice.name[:15],), choice.events)
            what += ", " + " ".join(done)
            if choice.stop and campaign.stopped(run, choice.saved):
                what += ", again on %d" % choice.again
                with Run(choice.command(choice.again, ["--dome-restart=auto"]), choice.environment) as other:
                    judge(other, choice, wanted, what)
            elif not choice.stop:
                judge(run, choice, wanted, what)
        return "%s%s" % (choice.name, ", " + " ".join(sorted(set(done))) if done else "")


def judge(run, choice, wanted, what):
    status = run.wait()
    what = "%s (%s)" % (what, " ".join(choice.options))
    check(status == 0, "%s: status %s: %s" % (what, status, run.errors()[-600:]))
    found = result(run, choice.name)
    check(found[0] == wanted[0], "%s: prints %r in place of %r; %s" % (what, found[0][-300:], wanted[0][-300:], run.errors()[-600:]))
    check(found[1] == wanted[1], "%s: another file" % what)
    run.check_clean()


if __name__ == "__main__":
    harness.need_pvm()
    if not os.path.exists(os.path.join(EXAMPLES, "rays")):
        harness.skip("built without examples")
    for name in PROGRAMS:
        undisturbed(name)
    campaign.campaign("programs on regions", case, 100)
