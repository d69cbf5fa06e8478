"""What stays behind when several processes are lost at once, when one cannot be ended by a plain signal, and when one leaves the
program: nothing.

    leftovers.py [PART-OF-A-NAME]"""

import os
import re
import signal
import sys
import time

import harness
from harness import Process, Run, check, only_line

WORKER = harness.PROGRAMS + "/worker"
DEAF = "trap '' TERM HUP INT; while :; do sleep 1; done"


def start(tasks, place, argument=None, rank=0, options=(), **more):
    arguments = [WORKER, "%MARKS%", str(rank), place] + ([argument] if argument is not None else [])
    return Run(arguments + ["--dome-tasks", str(tasks)] + list(options), **more)


def guard(run):
    found = [p.pid for p in run.processes() if p.parent == run.pid and p.session == p.pid and not p.name.startswith("pvmd")]
    check(len(found) == 1, "the guard is not to be found")
    return found[0]


def directory(run):
    """Of the private machine."""
    found = [os.path.join(run.tmp, n) for n in os.listdir(run.tmp) if n.startswith("dome-")]
    check(len(found) == 1, "there are %d directories" % len(found))
    return found[0]


def make_old(path):
    """As if it were made a while ago: a later run takes away nothing that is being made."""
    os.utime(path, (time.time() - 60,) * 2)


def later_run(run):
    """Another program, with the same temporary directory."""
    with start(2, "steps", "1", environment={"TMPDIR": run.tmp, "PVM_TMP": run.tmp}) as later:
        status = later.wait()
        check(status == 0 and not later.lines(), "a later run: status %s, %s" % (status, "; ".join(later.lines())))


def all_of_a_name(tasks):
    """killall -9 worker"""
    with start(tasks, "sum") as run:
        run.wait_marks("there", tasks)
        for p in run.processes():
            if p.name == "worker":
                harness.kill(p.pid)
        run.wait()
        run.check_clean()


def all_of_a_program(tasks, at_start):
    """All processes that run the program's file, the guard among them: the daemon ends by itself."""
    with start(tasks, "start" if at_start else "sum") as run:
        if at_start:
            run.wait_marks("born", tasks - 1)
            victims = [run.pid, guard(run)]
        else:
            run.wait_marks("there", tasks)
            victims = [p.pid for p in run.processes() if os.path.basename(os.readlink("/proc/%d/exe" % p.pid)) == "worker"]
        left = directory(run)
        for pid in victims:
            harness.kill(pid)
        run.wait()
        run.wait_gone()
        make_old(left)
        later_run(run)
        run.check_clean()


def stopped_daemon():
    """A daemon that cannot end by itself ends with its directory, in a later run; and so does a stopped task."""
    with start(3, "sum") as run:
        run.wait_marks("there", 3)
        for pid in run.daemon(), run.rank(2):
            os.kill(pid, signal.SIGSTOP)
        left = directory(run)
        for pid in guard(run), run.pid:
            os.kill(pid, signal.SIGKILL)
        run.wait()
        make_old(left)
        later_run(run)
        run.check_clean()


def during_another_start():
    """The directory of a hub that was killed is another run's to take away at the same moment as the guard's."""
    with start(3, "sum") as run:
        run.wait_marks("there", 3)
        make_old(directory(run))
        for pid in run.pid, run.rank(1), run.rank(2):
            os.kill(pid, signal.SIGKILL)
        later_run(run)
        run.wait()
        run.check_clean()


def not_ended_by_a_signal(victims):
    """Stopped tasks, or a stopped daemon, when the hub is killed."""
    with start(3, "sum", options=["--dome-timeout", "4"]) as run:
        run.wait_marks("there", 3)
        for who in victims:
            os.kill(run.daemon() if who == "daemon" else run.rank(who), signal.SIGSTOP)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        run.check_clean()


def becomes_another(rank, command, hub_killed=False):
    with start(3, "exec", command, rank, options=["--dome-timeout", "4"]) as run:
        run.wait_marks("there", 3)
        pid = run.rank(rank)
        if hub_killed:
            os.kill(run.pid, signal.SIGSTOP)  # it does not see what happens
        open(run.marks + "/go", "w").close()
        if hub_killed:
            harness.wait_until(lambda: os.path.basename(os.readlink("/proc/%d/exe" % pid)) != "worker", "exec")
            os.kill(run.pid, signal.SIGKILL)
        status = run.wait()
        run.check_clean()
        check(status != 0, "status 0")
        if not hub_killed:
            only_line(run, r"task %d on host \S+ is lost: its process left the program and has not ended \(it became another one by "
                      r"exec, or closed its files\); the program was in dvec_sum of 'x'" % rank)


def background(rank):
    """A child that a task has started for itself holds the task's output: the program does not wait for it, and leaves it alone."""
    with start(3, "background", "exec sleep 600", rank, options=["--dome-timeout", "600"]) as run:
        status = run.wait()
        check(status == 0 and not run.lines(), "status %s: %s" % (status, "; ".join(run.lines())))
        check(run.output() == b"background done\n", "output %r" % run.output())
        name = [n for n in os.listdir(run.marks) if re.fullmatch(r"background\.\d+", n)]
        pid = int(name[0].split(".")[1])
        check(Process.at(pid), "the child was ended")
        os.kill(pid, signal.SIGKILL)
        run.check_clean()


def all_cases():
    cases = []

    def case(name, function, *arguments):
        cases.append((name, function) + arguments)

    case("kill -9 all of the program's name", all_of_a_name, 3)
    case("kill -9 all of the program's file", all_of_a_program, 3, False)
    case("kill -9 hub and guard at the start", all_of_a_program, 3, True)
    case("daemon and task stopped, kill -9 hub and guard", stopped_daemon)
    case("kill -9 hub and tasks while another starts", during_another_start)
    for victims in ([1], [0], [1, "daemon"], ["daemon"], [0, 1, 2, "daemon"]):
        case("stop %s, kill -9 hub" % ", ".join(str(v) for v in victims), not_ended_by_a_signal, victims)
    for rank in 0, 1:
        case("task %d becomes another program" % rank, becomes_another, rank, "exec sleep 600")
        case("task %d becomes a deaf program" % rank, becomes_another, rank, DEAF)
    case("task 1 becomes a deaf program, kill -9 hub", becomes_another, 1, DEAF, True)
    for rank in 0, 1:
        case("task %d starts something for itself" % rank, background, rank)
    return cases


if __name__ == "__main__":
    harness.need_pvm()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in all_cases() if wanted in c[0]], 4) else 0)
