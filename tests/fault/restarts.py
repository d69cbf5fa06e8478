"""dome run --restarts and --dome-restarts: what is lost and started again, what is not, and what is left behind.

    restarts.py [PART-OF-A-NAME]"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import campaign
import harness
from harness import DOME, Run, check

WORKER = harness.PROGRAMS + "/worker"
STEPS = 120  # of a hundredth of a second and more: a task is killed long before the last


def start(restarts, tasks, place, argument=None, rank=0, options=(), before=(), own=False, **more):
    """own: by the program's option."""
    command = [] if own else [DOME, "run", "--restarts", str(restarts), "--on-loss", "restart", "-n", str(tasks)]
    arguments = list(before) + command + [WORKER, "%MARKS%", str(rank), place]
    arguments += [str(argument)] if argument is not None else []
    arguments += ["--dome-restarts", str(restarts), "--dome-on-loss", "restart", "--dome-tasks", str(tasks)] if own else []
    return Run(arguments + list(options), **more)


def there(run, tasks):
    run.wait_marks("there", tasks)


def steps_done(run, tens):
    """Until this start of "steps" has done so many tens of steps: losses that are not at one place need this on any machine."""
    def done():
        try:
            with open("%s/ten.%d" % (run.marks, tens)) as f:
                return int(f.read()) == run.rank(0)
        except OSError:
            return False

    harness.wait_until(lambda: done() or run.process.poll() is not None, "%d0 steps; %s" % (tens, run.describe()))


def again(run, tasks, kill):
    """Does what is to be done to the program, and waits for the next start to be there."""
    before = {r: run.rank(r) for r in range(tasks)}
    kill(run)
    harness.wait_until(
        lambda: run.process.poll() is not None or all(run.rank(r) not in (None, before[r]) for r in range(tasks)),
        "the next start; " + run.describe(),
    )
    check(run.process.poll() is None, "it ended with status %s: %s" % (run.process.poll(), run.errors()))


def guard(run):
    found = [p.pid for p in run.processes() if p.parent == run.hub() and p.name == "dome-guard"]
    check(len(found) == 1, "the guard is not to be found")
    return found[0]


def kill_rank(r):
    return lambda run: os.kill(run.rank(r), signal.SIGKILL)


def kill_hub(run):
    os.kill(run.hub(), signal.SIGKILL)


def stop(run, rank):
    os.kill(run.rank(rank), signal.SIGSTOP)
    harness.wait_until(lambda: harness.Process.at(run.rank(rank)).state == "T", "task %d to stop" % rank)


def stop_hub(run):
    os.kill(run.hub(), signal.SIGSTOP)


def kill_daemon(run):
    os.kill(run.daemon(), signal.SIGKILL)


def kill_all(run):
    """All but the process that was started, at once."""
    for p in run.processes():
        if p.pid != run.pid:
            harness.kill(p.pid)


BEGINNING = r"from the beginning \(it writes no checkpoints: --dome-checkpoint-dir memory: keeps them in memory\)"
TASK = r"task %d on host \S+ is lost: its process (ended|was ended by signal 9 \(Killed\)); the program was in .*"
HUB = r"the process that watched over the program was ended by signal 9 \(Killed\)"
DAEMON = r"(the PVM daemon of this run \(pid \d+ on host \S+\) ended; the program was in .*|.*does not answer.*)"


def over(run, status, lines):
    got = run.wait()
    run.check_clean()
    check(got == status, "it ended with status %s instead of %s: %s" % (got, status, run.errors()))
    check(len(run.lines()) == len(lines), "%d lines instead of %d: %s" % (len(run.lines()), len(lines), run.errors()))
    for line, pattern in zip(run.lines(), lines):
        check(re.fullmatch("dome: " + pattern, line), "the line is not %r: %s" % (pattern, line))


def goes_on(kill, pattern, times=1, tasks=3, options=(), steps=STEPS, own=False):
    """The program comes to its end in spite of losses."""
    with start(times, tasks, "steps", steps, options=options, own=own) as run:
        there(run, tasks)
        for n in range(times):
            steps_done(run, n + 1)
            again(run, tasks, kill)
        lines = [pattern + "; started again " + BEGINNING + ", restart %d of %d" % (n + 1, times) for n in range(times)]
        over(run, 0, lines)
        check(run.output() == b"all steps done\n", "output %r" % run.output())


def used_up():
    with start(2, 3, "steps", 100000) as run:
        there(run, 3)
        for n in range(2):
            steps_done(run, n)
            again(run, 3, kill_rank(1))
        steps_done(run, 2)
        os.kill(run.rank(1), signal.SIGKILL)
        over(run, 1, [TASK % 1 + "; started again .*"] * 2 + [TASK % 1 + "; not started again: 2 restarts are used up"])


def no_answer():
    """Where the program was is not known if the tasks that are left do not answer: such places are not the same."""
    def kill(run):
        for rank in 0, 2:
            stop(run, rank)
        os.kill(run.rank(1), signal.SIGKILL)

    with start(3, 3, "steps", 100000) as run:
        there(run, 3)
        for _ in range(3):
            again(run, 3, kill)
        kill(run)
        over(run, 1, [TASK % 1 + "; started again .*"] * 3 + [TASK % 1 + "; not started again: 3 restarts are used up"])


def same_place(rank, number):
    """What goes wrong at one place again and again is the program's own mistake. The place is where the tasks are that are left: on a busy
    machine one of them may still be on its way to the others once or twice."""
    with start(50, 3, "raise", int(number), rank) as run:
        status = run.wait()
        run.check_clean()
        lines = run.lines()
        check(status == (-number if rank == 0 else 1), "status %d: %s" % (status, "; ".join(lines)))
        check(len(lines) >= 3, "%d lines instead of 3 or more: %s" % (len(lines), "; ".join(lines)))
        lost = r"(dome: )?task %d on host \S+ is lost: its process .*; " % rank
        for n, line in enumerate(lines[:-1]):
            check(re.fullmatch(lost + "started again " + BEGINNING + ", restart %d of 50" % (n + 1), line), line)
        check(re.fullmatch(lost + "that is the same place 3 times in a row: the program is not started again", lines[-1]), lines[-1])


def in_sum(run):
    """Until tasks 1 and 2 wait in a sum for task 0, which does not come."""
    def waiting():
        told = subprocess.run([DOME, "ps", "--json"], env=harness.clean_environment(), stdout=subprocess.PIPE, timeout=harness.HANG).stdout
        tasks = [t for p in json.loads(told or "[]") if p["pid"] == run.hub() for t in p["tasks"]]
        return [t["rank"] for t in tasks if t["operation"] == "dvec_sum"] == [1, 2]

    harness.wait_until(lambda: waiting() or run.process.poll() is not None, "tasks 1 and 2 in the sum; " + run.describe())


def other_tasks():
    """Losses from outside at one place are a sign against the program only if they hit the same tasks."""
    with start(9, 3, "wait") as run:
        there(run, 3)
        for rank in 1, 2, 1, 2:
            in_sum(run)
            again(run, 3, kill_rank(rank))
        for _ in range(2):
            in_sum(run)
            again(run, 3, kill_rank(1))
        in_sum(run)
        os.kill(run.rank(1), signal.SIGKILL)
        lines = [TASK % r + "; started again " + BEGINNING + ", restart %d of 9" % (n + 1) for n, r in enumerate((1, 2, 1, 2, 1, 1))]
        over(run, 1, lines + [TASK % 1 + "; that is the same place 3 times in a row: the program is not started again"])


def other_causes():
    """Nor are losses of several causes at one place, of which none repeats."""
    losses = [(kill_rank(1), TASK % 1), (lambda run: os.kill(run.rank(0), signal.SIGTERM), TASK.replace(r"9 \(Killed\)", r"15 \(Terminated\)") % 0),
              (kill_rank(2), TASK % 2), (kill_daemon, DAEMON), (kill_rank(1), TASK % 1)]
    with start(9, 3, "wait") as run:
        there(run, 3)
        for kill, _ in losses:
            in_sum(run)
            again(run, 3, kill)
        in_sum(run)
        run.process.terminate()
        lines = [line + "; started again " + BEGINNING + ", restart %d of 9" % (n + 1) for n, (_, line) in enumerate(losses)]
        over(run, -signal.SIGTERM, lines + [r"ended by signal 15 \(.*\); the program was in .*"])


def not_lost(status, pattern, *arguments, **more):
    """Its own end is no loss."""
    with start(5, 3, *arguments, **more) as run:
        over(run, status, [pattern])


def at_start(kill):
    """While tasks sleep before dome_init."""
    with start(1, 3, "start") as run:
        run.wait_marks("born", 2)
        born = [int(n.split(".")[1]) for n in os.listdir(run.marks)]
        if kill == "task":
            os.kill(max(born), signal.SIGKILL)
        elif kill == "daemon":
            os.kill(run.daemon(), signal.SIGKILL)
        harness.wait_until(lambda: run.have("born", 4) or run.process.poll() is not None, "the next start")
        run.process.terminate()
        got = run.wait()
        run.check_clean()
        check(got == -signal.SIGTERM, "it ended with status %s: %s" % (got, run.errors()))
        check(any(re.search("started again " + BEGINNING + ", restart 1 of 1", l) for l in run.lines()), run.errors())


def daemon_gone_while(call, tasks, own_machine):
    """The daemon is killed at a call that a task makes while it starts. tasks: "first" or "others"."""
    if not os.path.exists(campaign.INJECT):
        return "not tried: %s is not built" % campaign.INJECT
    with contextlib.ExitStack() as stack:
        once = os.path.join(stack.enter_context(harness.temporary_directory()), "once")
        open(once, "w").close()
        environment = {"LD_PRELOAD": campaign.INJECT, "INJECT": call, "INJECT_TASKS": tasks, "INJECT_ONCE": once}
        if own_machine:
            machine = stack.enter_context(harness.Machine())
            environment.update(machine.for_run(), INJECT_DAEMON=str(machine.daemon.pid))
        run = stack.enter_context(start(1, 3, "steps", 60, environment=environment))
        status = run.wait()
        run.wait_gone()
        check(not os.path.exists(once), "the daemon was not killed")
        lines = [l for l in run.lines() if "was left behind by a PVM daemon" not in l]
        check(status == 0, "it ended with status %s: %s" % (status, " | ".join(lines)))
        check(len(lines) == 1 and re.search("; started again " + BEGINNING + ", restart 1 of 1$", lines[0]), " | ".join(lines))
        return lines[0]


# A daemon that ends before it says where it listens: by a signal the first time, or by itself each time.
PVMD = """#!/bin/sh
if mkdir "%s" 2>/dev/null || [ %s = always ]; then %s; fi
exec "%s" "$@"
"""


def daemon_does_not_start(often, how, status, lines):
    root = os.environ.get("PVM_ROOT", "/usr/lib/pvm3")
    with harness.temporary_directory() as base:
        os.mkdir(base + "/lib")
        with open(base + "/lib/pvmd", "w") as f:
            f.write(PVMD % (base + "/once", often, how, root + "/lib/pvmd"))
        os.chmod(base + "/lib/pvmd", 0o755)
        with start(5, 3, "steps", 3, environment={"PVM_ROOT": base}) as run:
            over(run, status, lines)


def hangup_ignored():
    """nohup, or a job in the background: who ignores these signals from the start is not ended by them, and no loss after them is the
    user's doing."""
    def kill(run):
        for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
            for pid in run.pid, run.hub(), run.rank(0):
                os.kill(pid, number)
        time.sleep(0.1)  # until the hub has seen them
        os.kill(run.rank(1), signal.SIGKILL)

    with start(1, 3, "steps", STEPS, before=["/bin/sh", "-c", "trap '' HUP INT QUIT; exec \"$@\"", "sh"]) as run:
        there(run, 3)
        again(run, 3, kill)
        over(run, 0, [TASK % 1 + "; started again " + BEGINNING + ", restart 1 of 1"])


def ended_by_user(number, by, stopped=False, own=False):
    with start(5, 3, "sum", pty=(by == "keyboard"), own=own) as run:
        there(run, 3)
        if stopped:
            stop(run, 0)
        if by == "keyboard":
            os.write(run.keyboard, {signal.SIGINT: b"\x03", signal.SIGQUIT: b"\x1c"}[number])
        else:
            os.kill(run.pid, number)
        over(run, -number, [r"ended by signal %d \(.*\); the program was in .*" % number])


def supervisor_killed():
    with start(5, 3, "sum") as run:
        there(run, 3)
        os.kill(run.pid, signal.SIGKILL)
        over(run, -signal.SIGKILL, [])


def checkpoints_in_memory():
    """The directory of a supervisor that was killed is removed by a later run, that of one that runs is not."""
    options = ["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "1"]
    with start(5, 3, "steps", 100000, options=options) as run:
        there(run, 3)
        with open("/proc/%d/environ" % run.rank(0)) as f:
            place = re.search(r"(?:^|\0)DOME_MEMORY=([^\0]*)", f.read()).group(1)
        check(re.fullmatch(r"/dev/shm/dome-%d-\w+" % os.geteuid(), place), "checkpoints are kept in '%s'" % place)
        try:
            for killed in False, True:
                if killed:
                    os.kill(run.pid, signal.SIGKILL)
                    over(run, -signal.SIGKILL, [])
                os.utime(place, (time.time() - 60,) * 2)  # what is being made is not removed
                with start(1, 2, "steps", 1, options=options) as later:
                    over(later, 0, [])
                check(os.path.exists(place) != killed, "a later run %s %s" % ("leaves" if killed else "removes", place))
        finally:
            shutil.rmtree(place, ignore_errors=True)


def stopped_from_keyboard():
    """Control-Z for longer than the timeout, then on."""
    with start(1, 3, "steps", 100, options=["--dome-timeout", "2"], pty=True) as run:
        there(run, 3)
        os.write(run.keyboard, b"\x1a")

        def stopped():
            p = harness.Process.at(run.pid)
            return p and p.state == "T"

        harness.wait_until(stopped, "the program to stop")
        time.sleep(3)
        os.killpg(run.pid, signal.SIGCONT)
        over(run, 0, [])


def from_checkpoint():
    """The steps before a checkpoint are not done again, and no checkpoints stay in memory."""
    with start(1, 3, "saved-steps", STEPS, own=True,
               options=["--dome-checkpoint-dir", "memory:", "--dome-checkpoint-every", "5"]) as run:
        there(run, 3)
        steps_done(run, 2)
        with open("/proc/%d/environ" % run.rank(0)) as f:
            place = re.search(r"(?:^|\0)DOME_MEMORY=([^\0]*)", f.read()).group(1)
        again(run, 3, kill_rank(1))
        over(run, 0, [TASK % 1 + r"; started again from checkpoint \d+ \(loop boundary \d+\), restart 1 of 1"])
        check(run.output() == b"all steps done\n", "output %r" % run.output())
        check(not os.path.exists(place), "%s is left" % place)


def one_trace():
    """The trace of both runs is one file, also if it is converted at the end of each."""
    with start(1, 3, "steps", STEPS, own=True, options=["--dome-trace", "%MARKS%/both.json"]) as run:
        there(run, 3)
        again(run, 3, kill_rank(1))
        over(run, 0, [TASK % 1 + "; started again " + BEGINNING + ", restart 1 of 1"])
        with open(run.marks + "/both.json") as f:
            starts = json.load(f)["otherData"]["starts"]
        check(starts == "2", "the trace has %s starts" % starts)
        check(not os.path.exists(run.marks + "/both.json.partial"), "a part is left")


def option_of_dome_run():
    """dome run heeds the option, too, and there is one supervisor."""
    with Run([DOME, "run", "-n", "3", WORKER, "%MARKS%", "0", "steps", str(STEPS), "--dome-restarts", "1", "--dome-on-loss", "restart"]) as run:
        there(run, 3)
        check(harness.Process.at(run.hub()).parent == run.pid, "the hub is no child of dome run")
        again(run, 3, kill_rank(1))
        over(run, 0, [TASK % 1 + "; started again " + BEGINNING + ", restart 1 of 1"])


def one_task(own=False):
    """There is no hub; the program itself is watched."""
    with start(1, 1, "steps", STEPS, own=own) as run:
        there(run, 1)
        again(run, 1, kill_rank(0))
        over(run, 0, [r"the program was ended by signal 9 \(Killed\); started again " + BEGINNING + ", restart 1 of 1"])


def guard_killed():
    """It is an insurance; the program does not need it."""
    with start(1, 3, "steps", 100) as run:
        there(run, 3)
        os.kill(guard(run), signal.SIGKILL)
        over(run, 0, [])


def all_cases():
    cases = []

    def case(name, function, *arguments, **more):
        cases.append((name, (lambda: function(*arguments, **more))))

    for rank in 0, 1, 2:
        case("kill -9 task %d" % rank, goes_on, kill_rank(rank), TASK % rank)
    case("kill -9 task 2, three times", goes_on, kill_rank(2), TASK % 2, 3)
    case("kill -9 hub", goes_on, kill_hub, HUB)
    case("kill -9 hub, twice", goes_on, kill_hub, HUB, 2)
    case("kill -9 daemon", goes_on, kill_daemon, DAEMON)
    case("kill -9 guard", guard_killed)
    case("kill -9 all but the first process", goes_on, kill_all, "(%s|%s|%s)" % (HUB, DAEMON, TASK % 0))
    case("stop hub", goes_on, stop_hub, HUB,
         options=["--dome-timeout", "2"], steps=500)  # more than the tasks wait for the hub
    case("kill -9 supervisor", supervisor_killed)
    case("kill -9 supervisor, checkpoints in memory", checkpoints_in_memory)
    case("restarts are used up", used_up)
    case("tasks that do not answer", no_answer)
    for rank in 0, 2:
        case("task %d crashes again and again" % rank, same_place, rank, signal.SIGSEGV)
    case("kill -9 other tasks at one place", other_tasks)
    case("several causes at one place", other_causes)
    case("task 0 exits with 5", not_lost, 5, r"task 0 on host \S+ ended with exit status 5 without dome_finalize", "exit", 5, 0)
    case("task 2 exits with 5", not_lost, 5, r"task 2 on host \S+ ended with exit status 5 without dome_finalize", "exit", 5, 2)
    case("task 1 calls dome_abort", not_lost, 1, r"no way to go on: no bread \(task 1 on host \S+\)", "dome-abort", "no bread", 1)
    case("tasks disagree", not_lost, 2, r".*tasks disagree about operation .*", "disagree", "operation", 2)
    for who in "task", "daemon":
        case("at start: " + who, at_start, who)
    for own_machine in False, True:
        of = ", the user's machine" if own_machine else ""
        for what, call, tasks in ("enrols", "open:1:daemon:pvmtmp", "first"), ("joins", "open:1:daemon:pvmtmp", "others"), \
                ("makes memory", "memfd:1:daemon:dome", "first"), ("opens memory", "open:1:daemon:/fd/", "others"):
            case("at start: daemon, when a task %s%s" % (what, of), daemon_gone_while, call, tasks, own_machine)
    for sent in signal.SIGKILL, signal.SIGTERM:
        case("at start: daemon, %s before it listens" % sent.name, daemon_does_not_start, "once", "kill -%d $$" % sent, 0,
             [r"the PVM daemon \S+ did not start: it was ended by signal %d \(.*\); started again .*, restart 1 of 5" % sent])
    case("at start: daemon, cannot run", daemon_does_not_start, "always", "echo no such luck >&2; exit 1", 1,
         [r"the PVM daemon \S+ did not start: no such luck"])
    for number in signal.SIGINT, signal.SIGTERM:
        case("%s by kill" % number.name, ended_by_user, number, "kill")
    case("SIGTERM by kill, task 0 is stopped", ended_by_user, signal.SIGTERM, "kill", stopped=True)
    case("hangup and interrupts ignored", hangup_ignored)
    case("SIGINT by keyboard", ended_by_user, signal.SIGINT, "keyboard")
    case("control-Z and on", stopped_from_keyboard)
    case("one task", one_task)
    case("own option, kill -9 task 1, twice", goes_on, kill_rank(1), TASK % 1, 2, own=True)
    case("own option, kill -9 task 0", goes_on, kill_rank(0), TASK % 0, own=True)
    case("own option, kill -9 hub", goes_on, kill_hub, HUB, own=True)
    case("own option, from a checkpoint", from_checkpoint)
    case("own option, task 2 exits with 5", not_lost, 5, r"task 2 on host \S+ ended with exit status 5 without dome_finalize", "exit", 5, 2,
         own=True)
    case("own option, SIGTERM by kill", ended_by_user, signal.SIGTERM, "kill", own=True)
    case("own option, one task", one_task, own=True)
    case("own option with dome run", option_of_dome_run)
    case("own option, one trace", one_trace)
    return cases


if __name__ == "__main__":
    harness.need_pvm()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in all_cases() if wanted in c[0]], 4) else 0)
