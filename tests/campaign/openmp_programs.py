"""OpenMP programs while anything happens to them: they grow, shrink and move, tasks are killed, and they are started again on another
number of tasks. What they print must be what one task prints that nothing disturbs.

The programs are made here: a stencil, one of tasks and threads' own variables, one of locks. DOME_TEST_NAS names a folder with NAS's
programs (CG, MG, SP, ... of class S), built by dome-omp: then those are taken. Of what they print, times do not count."""

import os
import re
import subprocess

import campaign
import harness
from harness import DOME, Run, check

COMPILE = os.path.join(os.path.abspath(harness.BUILD), "tools", "dome-omp")
MOST = 5
VARIES = re.compile(rb"time|second|date|mop/s", re.I)
STENCIL = """
#include <stdio.h>
#include <stdlib.h>
enum { N = 200, STEPS = 800 };
int main(void)
{
    double *now = calloc(N * N, sizeof *now), *next = calloc(N * N, sizeof *next), total = 0;
    for (int k = 0; k < N; k++)
        now[k] = next[k] = k % 17;
    for (int step = 0; step < STEPS; step++) {
        double change = 0;
#pragma omp parallel for reduction(+ : change)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                next[i * N + j] = 0.25 * (now[(i - 1) * N + j] + now[(i + 1) * N + j] + now[i * N + j - 1] + now[i * N + j + 1]);
                change += next[i * N + j] - now[i * N + j];
            }
        double *other = now;
        now = next;
        next = other;
        total += change;
        if (step % 100 == 99)
            printf("step %d: %.17g\\n", step, total);
    }
    return 0;
}
"""
OWN = """
#include <omp.h>
#include <stdio.h>
static double own[50], all[4000];
#pragma omp threadprivate(own)
int main(void)
{
    for (int step = 0; step < 300; step++) {
        double sum = 0;
#pragma omp parallel reduction(+ : sum)
        {
            for (int k = 0; k < 50; k++)
                own[k] += omp_get_thread_num() / (k + 1.0) + step;
#pragma omp barrier
#pragma omp for schedule(dynamic, 7)
            for (int k = 0; k < 4000; k++) {
                for (int times = 0; times < 20; times++)
                    all[k] += 1 / (all[k] + k + 1.5);
#pragma omp task
                all[k] *= 0.75;
            }
#pragma omp single
            all[step] += own[3];
            sum += own[step % 50] + all[step];
        }
        if (step % 50 == 49)
            printf("step %d: %.17g\\n", step, sum);
    }
    return 0;
}
"""
LOCKS = """
#include <omp.h>
#include <stdio.h>
static double shared[8];
int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (int step = 0; step < 120; step++) {
        double last = 0;
#pragma omp parallel
        for (int k = 0; k < 4; k++) {
#pragma omp critical
            shared[0] = shared[0] * 0.99 + omp_get_thread_num() + k;
            omp_set_lock(&lock);
            shared[1 + k] = shared[1 + k] * 0.9 + shared[0];
            omp_unset_lock(&lock);
#pragma omp atomic
            shared[7] += shared[1 + k] * 1e-3;
        }
#pragma omp parallel for ordered reduction(+ : last)
        for (int k = 0; k < 8; k++) {
#pragma omp ordered
            last = last * 0.5 + shared[k];
        }
        if (step % 10 == 9)
            printf("step %d: %.17g %.17g\\n", step, last, shared[7]);
    }
    return 0;
}
"""
SOURCES = {"stencil": STENCIL, "own": OWN, "locks": LOCKS}
programs, expected = {}, {}


def build(folder):
    nas = os.environ.get("DOME_TEST_NAS")
    if nas:
        programs.update({name: os.path.join(nas, name) for name in sorted(os.listdir(nas)) if os.access(os.path.join(nas, name), os.X_OK)})
        return
    for name, text in SOURCES.items():
        source, program = os.path.join(folder, name + ".c"), os.path.join(folder, name)
        with open(source, "w") as f:
            f.write(text)
        subprocess.run([COMPILE, "-O2", source, "-o", program], check=True)
        programs[name] = program


def lines_of(run):
    return [line for line in run.output().splitlines() if not VARIES.search(line)]


def undisturbed(name):
    if name not in expected:
        with Run([programs[name], "--dome-tasks", "1"], {"OMP_NUM_THREADS": "8"}) as run:
            check(run.wait() == 0, run.errors())
            expected[name] = lines_of(run)
    return expected[name]


class Choice:
    def __init__(self, chance, base):
        self.name = chance.choice(sorted(programs))
        self.tasks = chance.randint(1, 4)
        memory = chance.random() < 0.4
        self.saved = "memory:" if memory else os.path.join(base, "saved")
        self.stop = not memory and chance.random() < 0.4  # by SIGTERM, and again on another number
        self.again = chance.randint(1, 4)
        self.options = ["--dome-timeout", "20", "--dome-balance", chance.choice(["none", "global", "random"]), "--dome-checkpoint-dir",
                        self.saved, "--dome-checkpoint-every", str(chance.choice([1, 5, 40]))]
        self.loss = chance.choice(["heal", "heal", "restart"])
        self.events = [(chance.uniform(0.02, 0.6), chance.choice(["grow", "shrink", "kill", "kill"]), chance.random())
                       for _ in range(chance.randint(1, 4))]

    def command(self, tasks, options=()):
        restarts = ["--restarts", "20", "--on-loss", self.loss, "-n", str(tasks), "--max", str(MOST)]
        return [DOME, "run"] + restarts + [programs[self.name]] + self.options + list(options)

    def run(self, tasks, options=()):
        return Run(self.command(tasks, options), {"OMP_NUM_THREADS": "8"})


def tasks_of(choice):
    """What their processes are called. Tasks run under dome-ld."""
    return choice.name[:15], "ld-linux-x86-64", "ld.so"


def case(chance, number):
    with harness.temporary_directory() as base:
        choice = Choice(chance, base)
        wanted, what = undisturbed(choice.name), "%s, %d tasks" % (choice.name, choice.tasks)
        with choice.run(choice.tasks) as run:
            done = campaign.disturb(run, tasks_of(choice), choice.events)
            what += ", " + " ".join(done)
            if choice.stop and campaign.stopped(run, choice.saved):
                what += ", again on %d" % choice.again
                before = lines_of(run)
                with choice.run(choice.again, ["--dome-restart=auto"]) as other:
                    judge(other, choice, wanted, what, before)
            elif not choice.stop:
                judge(run, choice, wanted, what, [])
        return "%s%s" % (choice.name, ", " + " ".join(sorted(set(done))) if done else "")


def judge(run, choice, wanted, what, before):
    status = run.wait()
    what = "%s (%s)" % (what, " ".join(choice.options))
    check(status == 0, "%s: status %s: %s" % (what, status, run.errors()[-600:]))
    found = lines_of(run)
    both = len(before) + len(found)  # more than all: a program that was stopped while it healed has printed beyond its checkpoint
    good = before == wanted[:len(before)] and found == wanted[len(wanted) - len(found):]
    check(good and (both >= len(wanted) if before else found == wanted),
          "%s: prints %r, then %r in place of %r; %s" % (what, before, found, wanted, run.errors()[-600:]))
    run.check_clean()


if __name__ == "__main__":
    harness.need_pvm()
    if not os.path.exists(COMPILE):
        harness.skip("there is no dome-omp")
    with harness.temporary_directory() as made:
        build(made)
        for program in programs:
            undisturbed(program)
        campaign.campaign("OpenMP programs", case, 60)
