"""What happens when something happens to a program: each kind of loss, at each place, and tasks that do the wrong thing.

    faults.py [PART-OF-A-NAME]"""

import os

import signal
import sys
import time

import harness
from harness import Failure, Run, awake, check, only_line

WORKER, COMPLETE = harness.PROGRAMS + "/worker", harness.PROGRAMS + "/complete"
TIMEOUT = 10  # the library's default
SLACK = 6  # for a machine that has more to do than this: what hangs, hangs for good

# Where a program is, as the line says.
WHERE = {
    "own": "the program's own code",
    "map": "(dvec_map of 'y'|dome_finalize)",
    "help": "(dvec_map_anywhere of 'z'|the program's own code)",
    "barrier": "(dome_barrier|the program's own code)",
    "sum": "(dvec_sum of 'x'|the program's own code)",
    "wait": "dvec_sum of 'x'",
    "pending": "dscalar_get_f64 of 't'",
    "finalize": "dome_finalize",
    "messages": "dome_recv",
    "move": "(load balancing|dome_barrier|the program's own code)",
    "neighbours": r"(load balancing|dvec_(halo_elements of 'x'|map of 'y')|the program's own code)",
    "mixed": r"(dome_\w+( of 'tasks on host \S+')?|dvec_\w+ of '\w+'|the program's own code)",
}


def start(tasks, place, argument=None, rank=0, timeout=None, options=(), **more):
    arguments = [WORKER, "%MARKS%", str(rank), place] + ([str(argument)] if argument is not None else []) + list(options)
    arguments += ["--dome-tasks", str(tasks)] + (["--dome-timeout", str(timeout)] if timeout else [])
    if place == "pending":
        arguments += ["--dome-balance", "none"]  # in a phase all would wait for the task that sleeps, before they make their marks
    return Run(arguments, **more)


def settle(place):
    """Marks are made just before a task is where it should be."""
    if place in ("map", "wait", "pending", "finalize", "messages"):
        time.sleep(0.1)
    elif place == "neighbours":
        time.sleep(0.5)


def is_over(run, since, timeout, status=None, signal_allowed=False):
    """The program has ended, with all its processes and files, and not with success."""
    got = run.wait()
    run.check_clean()
    took = awake() - since
    check(took <= timeout + SLACK, "it took %.1f s with a timeout of %g s: %s" % (took, timeout, "; ".join(run.lines())))
    check(got != 0, "it ended with status 0")
    check(status is None or got == status, "it ended with status %d instead of %s" % (got, status))
    return "%.2f s: %s" % (took, "; ".join(run.lines()))


def ended_by(number):
    """A task says which signal ends it, where there is a chance to; of SIGKILL only the kernel knows, if it tells."""
    named = r"its process was ended by signal %d \(.*\)" % number
    return "(its process ended|%s)" % named if number == signal.SIGKILL else named


def kill_rank(tasks, place, rank, number=signal.SIGKILL, argument=None, road="best"):
    waited_for = rank if place == "messages" else 0
    with start(tasks, place, argument, waited_for, options=["--dome-road", road]) as run:
        run.wait_marks("there", tasks)
        settle(place)
        since = awake()
        os.kill(run.rank(rank), number)
        note = is_over(run, since, TIMEOUT, -number if rank == 0 and number != signal.SIGKILL else None)
        only_line(run, r"task %d on host \S+ is lost: %s; the program was in %s" % (rank, ended_by(number), WHERE[place]))
        return note


def while_data_moves(tasks, who, number, after, road="best"):
    """Blocks are on their way nearly all the time. who: a rank, "hub" or "daemon"."""
    timeout = 4 if number == signal.SIGSTOP else TIMEOUT
    waits_for = (who + 1) % tasks if isinstance(who, int) else 1
    with start(tasks, "move", rank=waits_for, timeout=timeout, options=["--dome-balance", "random", "--dome-road", road]) as run:
        run.wait_marks("there", tasks)
        time.sleep(after)
        since = awake()
        os.kill({"hub": run.pid, "daemon": run.daemon()}[who] if isinstance(who, str) else run.rank(who), number)
        note = is_over(run, since, timeout)
        if who == "hub":
            only_line(run, r"the process that watched over the program is gone; ending task 0 on host \S+, in %s" % WHERE["move"])
        elif who == "daemon":
            only_line(run, r"(the PVM daemon of this run \(pid \d+ on host \S+\) ended; the program was in %s|.*does not answer.*)"
                      % WHERE["move"])
        else:
            only_line(run, r"task %d on host \S+ is lost: .*; the program was in %s" % (who, WHERE["move"]))
        return note


def kill_hub(tasks, place):
    with start(tasks, place, rank=1) as run:
        run.wait_marks("there", tasks)
        settle(place)
        since = awake()
        os.kill(run.pid, signal.SIGKILL)
        note = is_over(run, since, TIMEOUT)
        only_line(run, r"the process that watched over the program is gone; ending task 0 on host \S+, in %s" % WHERE[place])
        return note


def kill_daemon(tasks, place, number=signal.SIGKILL):
    with start(tasks, place) as run:
        run.wait_marks("there", tasks)
        settle(place)
        since = awake()
        os.kill(run.daemon(), number)
        note = is_over(run, since, TIMEOUT)
        # Whoever notices first; a daemon that is asked to end takes its tasks along.
        lines = [r"the PVM daemon of this run \(pid \d+ on host \S+\) ended; the program was in %s",
                 r"%s: the PVM daemon of this host does not answer \(task \d+ on host \S+\)"]
        if number == signal.SIGTERM:
            lines.append(r"task \d+ on host \S+ is lost: its process .*; the program was in %s")
        only_line(run, "(" + "|".join(line % WHERE["mixed" if number == signal.SIGTERM else place] for line in lines) + ")")
        return note


def kill_everything(tasks, place):
    """All but the hub at once, the daemon included."""
    with start(tasks, place) as run:
        run.wait_marks("there", tasks)
        since = awake()
        for p in run.processes():
            if p.pid != run.pid:
                harness.kill(p.pid)
        note = is_over(run, since, TIMEOUT)
        only_line(run, r".*(task \d+ on host|the PVM daemon).*")
        return note


# Where it was may be a moment old: that it waits for a host is said before it does.
STARTING = r"( of 'tasks on host \S+')?"


def at_start(tasks, who):
    """The other tasks sleep before dome_init; rank 0 waits for them."""
    with start(tasks, "start") as run:
        run.wait_marks("born", tasks - 1)
        since = awake()
        if who == "task":
            born = [int(n.split(".")[1]) for n in os.listdir(run.marks)]
            os.kill(max(born), signal.SIGKILL)
            pattern = r"task \d+ on host \S+ ended before it joined the program.*"
        elif who == "rank 0":
            child = [p.pid for p in run.processes() if p.parent == run.pid and p.session != p.pid]
            check(len(child) == 1, "rank 0 is not to be found")
            os.kill(child[0], signal.SIGKILL)
            pattern = r"task 0 on host \S+ is lost: its process was ended by signal 9 \(Killed\); the program was in dome_init" + STARTING
        elif who == "hub":
            os.kill(run.pid, signal.SIGKILL)
            pattern = r"the process that watched over the program is gone; ending task 0 on host \S+, in dome_init" + STARTING
        elif who == "daemon":
            os.kill(run.daemon(), signal.SIGKILL)
            pattern = r"(the PVM daemon of this run \(pid \d+ on host \S+\) ended; the program was in dome_init%s|the PVM daemon does not answer.*)" % STARTING
        else:  # nobody: they just do not come
            pattern = r"task \d+ on host \S+(, task \d+ on host \S+)* did not join the program within 10 s.*"
        note = is_over(run, since, TIMEOUT)
        only_line(run, pattern)
        return note


def stop_rank(tasks, place, rank, timeout, road="best"):
    with start(tasks, place, timeout=timeout, rank=(rank + 1) % tasks, options=["--dome-road", road]) as run:
        run.wait_marks("there", tasks)
        settle(place)
        since = awake()
        os.kill(run.rank(rank), signal.SIGSTOP)
        note = is_over(run, since, timeout)
        only_line(run, r"task %d on host \S+ is lost: nothing heard from it for [\d.]+ s \(.*\); the program was in %s"
                  % (rank, WHERE[place]))
        return note


def stop_receiver():
    """A task is stopped in dome_recv, before the message comes, and the other then waits for its answer. Neither waits in vain."""
    with start(2, "messages", "answer", 1, timeout=8) as run:
        run.wait_marks("waits", 1)
        time.sleep(5)  # it counts as idle
        os.kill(run.rank(1), signal.SIGSTOP)
        status = run.wait()
        run.check_clean()
        check(status == 1, "it ended with status %d: %s" % (status, "; ".join(run.lines())))
        only_line(run, r"task 1 on host \S+ is lost: nothing heard from it for [\d.]+ s \(.*\); the program was in dome_recv")


def stop_hub(tasks, place, timeout):
    """The tasks end; the hub, which somebody has stopped, ends when it is let go on."""
    with start(tasks, place, timeout=timeout) as run:
        run.wait_marks("there", tasks)
        since = awake()
        os.kill(run.pid, signal.SIGSTOP)
        ranks = [run.rank(r) for r in range(tasks)]
        harness.wait_until(lambda: not any(harness.Process.at(p) for p in ranks), "the tasks to end")
        took = awake() - since
        check(took <= timeout + SLACK, "it took %.1f s" % took)
        os.kill(run.pid, signal.SIGCONT)
        note = is_over(run, awake(), timeout)
        only_line(run, r"the process that watched over the program does not answer; ending task 0 on host \S+, in %s" % WHERE[place])
        return note


def tell(run):
    """Lets "steps-until-told" come to its end."""
    open(os.path.join(run.marks, "go"), "w").close()


def stop_daemon(tasks, timeout):
    """Nobody needs the daemon any more but for saying goodbye, and that must not hang."""
    with start(tasks, "steps-until-told", timeout=timeout) as run:
        run.wait_marks("ten", 2)  # the direct routes between tasks stand
        os.kill(run.daemon(), signal.SIGSTOP)
        since = awake()
        tell(run)
        note = is_over(run, since, timeout + 3)
        only_line(run, r"dome_finalize: the PVM daemon of this host does not answer \(task \d+ on host \S+\)")
        return note


def interrupted(tasks, place, number, by):
    with start(tasks, place, pty=(by == "keyboard")) as run:
        run.wait_marks("there", tasks)
        since = awake()
        if by == "keyboard":
            os.write(run.keyboard, {signal.SIGINT: b"\x03", signal.SIGQUIT: b"\x1c"}[number])
        else:
            os.kill(run.pid, number)
        note = is_over(run, since, TIMEOUT, -number)
        only_line(run, r".*signal %d \(.*\).*" % number)
        return note


def terminal_gone(tasks, place):
    with start(tasks, place, pty=True) as run:
        run.wait_marks("there", tasks)
        since = awake()
        os.close(run.keyboard)
        run.keyboard = None
        return is_over(run, since, TIMEOUT, -signal.SIGHUP)


def stopped_from_keyboard(tasks, timeout):
    """Control-Z for longer than the timeout, then on: nothing is lost."""
    with start(tasks, "steps-until-told", timeout=timeout, pty=True) as run:
        run.wait_marks("there", tasks)
        os.write(run.keyboard, b"\x1a")

        def stopped():
            hub = harness.Process.at(run.pid)
            return hub and hub.state == "T"

        harness.wait_until(stopped, "the program to stop")
        time.sleep(timeout * 1.5)
        os.killpg(run.pid, signal.SIGCONT)
        tell(run)
        status = run.wait()
        run.check_clean()
        check(status == 0, "status %d: %s" % (status, "; ".join(run.lines())))
        check(run.output() == b"all steps done\n", "output %r" % run.output())
        check(not run.lines(), " | ".join(run.lines()))


def all_stand_still(tasks, hub_first, timeout):
    """All processes for longer than the timeout, as when the machine stands still: none has heard the others, and nothing is lost."""
    with start(tasks, "steps-until-told", timeout=timeout) as run:
        run.wait_marks("there", tasks)
        pids = [p.pid for p in run.processes() if p.pid != run.pid]
        for pid in [run.pid] + pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(timeout * 2)
        for group in ([run.pid], pids) if hub_first else (pids, [run.pid]):
            for pid in group:
                os.kill(pid, signal.SIGCONT)
            time.sleep(0.2)
        tell(run)
        status = run.wait()
        run.check_clean()
        check(status == 0, "status %d: %s" % (status, "; ".join(run.lines())))
        check(not run.lines(), " | ".join(run.lines()))


def stands_still_then_stops(tasks, place, rank, timeout):
    with start(tasks, place, timeout=timeout, rank=(rank + 1) % tasks) as run:
        run.wait_marks("there", tasks)
        pids = [p.pid for p in run.processes()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(timeout * 2)
        since = awake()
        for pid in pids:
            if pid != run.rank(rank):
                os.kill(pid, signal.SIGCONT)
        note = is_over(run, since, timeout)
        only_line(run, r"task %d on host \S+ is lost: nothing heard from it for [\d.]+ s \(.*\); the program was in %s"
                  % (rank, WHERE[place]))
        return note


def leaves(tasks, rank, place, status):
    with start(tasks, place, status, rank) as run:
        note = is_over(run, run.began, TIMEOUT, status if status else 1)
        only_line(run, r"task %d on host \S+ ended with exit status %d without dome_finalize.*" % (rank, status))
        return note


def leaves_quickly(tasks, rank, status):
    """_exit says nothing on its way out."""
    with start(tasks, "quick-exit", status, rank) as run:
        note = is_over(run, run.began, TIMEOUT)
        only_line(run, r"task %d on host \S+ (is lost: its process ended; the program was in .*|ended with exit status %d without "
                  r"dome_finalize)" % (rank, status))
        return note


def raises(tasks, rank, number):
    with start(tasks, "raise", int(number), rank) as run:
        note = is_over(run, run.began, TIMEOUT, -number if rank == 0 and number != signal.SIGKILL else None)
        only_line(run, r"task %d on host \S+ is lost: %s; the program was in .*" % (rank, ended_by(number)))
        return note


def faults(tasks, rank, how):
    """Where the processor finds a mistake. A program that handles the signal itself is not kept from it."""
    with start(tasks, "fault", how, rank) as run:
        if how == "handled":
            note = is_over(run, run.began, TIMEOUT)
            only_line(run, r"task %d on host \S+ (is lost: its process ended; the program was in .*|ended with exit status %d without "
                      r"dome_finalize)" % (rank, 20 + signal.SIGSEGV))
        else:
            note = is_over(run, run.began, TIMEOUT, -signal.SIGSEGV if rank == 0 else None)
            only_line(run, r"task %d on host \S+ is lost: %s; the program was in .*" % (rank, ended_by(signal.SIGSEGV)))
        return note


def all_killed_after_init(tasks):
    """Nobody is left to say where the program was, and it was past dome_init."""
    with start(tasks, "after-init") as run:
        note = is_over(run, run.began, TIMEOUT)
        only_line(run, r"task \d+ on host \S+ is lost: %s; the program was in the program's own code" % ended_by(signal.SIGKILL))
        return note


def kernel_fails_elsewhere(what, status, line):
    """In a block that another task owns."""
    with start(4, "help", what) as run:
        note = is_over(run, run.began, TIMEOUT, status)
        only_line(run, line)
        return note


LEFT = r"DVEC_FOR(_ROWS|_SUM|) of 'x': the program has left the loop before its end: no break, return, goto or exception may lead out of it"
MISTAKES = {  # status and line, by tests/programs/mistakes.c
    "length": (2, r"dvec_new: x cannot have a length of 18446744073709551615 \(-1 as a signed number\)"),
    "freed-output": (2, r"dvec_fill of 'x': it has been freed"),
    "freed-input": (2, r"dvec_add of 'y': 'x' has been freed"),
    "freed-reduced": (2, r"dvec_sum of 'x': it has been freed"),
    "freed-dots": (2, r"dvec_dots of 'y': 'x' has been freed"),
    "freed-twice": (2, r"dvec_free of 'x': it has been freed"),
    "freed-scalar": (2, r"dscalar_get_f64 of 's': it has been freed"),
    "freed-lost": (2, r"dome_lost of 'x': it has been freed"),
    "kernel": (2, r"dvec_map of 'y': dvec_sum of 'x' is called inside of its kernel or loop, where no Dome function may be"),
    "left-break": (2, LEFT), "left-goto": (2, LEFT), "left-return": (2, LEFT), "left-rows": (2, LEFT), "left-sum": (2, LEFT),
    "shift": (2, r"dvec_shift of 'y': 'z' has 5 elements, but 'y' 100"),
    "second-init": (2, r"dome_init: it has been called already"),
    "finalize": (1, r"dome_finalize: dvec_div into 'i': element 0 is an integer divided by zero"),
    "late-vector": (2, r"dvec_sum: called after dome_finalize"),
    "late-freed": (2, r"dvec_fill: called after dome_finalize"),
    "late-new": (2, r"dvec_new: called after dome_finalize"),
    "late-print": (2, r"dome_print: called after dome_finalize"),
    "late-progress": (2, r"dome_progress: called after dome_finalize"),
    "late-finalize": (2, r"dome_finalize: called after dome_finalize"),
    "exit": (1, None),
    "exit-3": (3, None),
}


def mistake(name, *options):
    """The same line with one task and with several."""
    with Run([harness.PROGRAMS + "/mistakes", name] + list(options)) as run:
        status, line = MISTAKES[name]
        note = is_over(run, run.began, TIMEOUT, status)
        if line:
            only_line(run, line + r" \(task \d+ on host \S+\)")
        else:
            only_line(run, r"task \d+ on host \S+ ended with exit status %d without dome_finalize" % (status if status > 1 else 0))
        return note


# By tests/programs/worker.c: status and line.
MESSAGES = {
    "circle": (2, r"tasks wait for each other: task 0 on host \S+ is in dome_recv and waits for a message from task 1 with tag 5; "
               r"task 1 on host \S+ is in dome_recv and waits for a message from task 0 with tag 5"),
    "ahead": (2, r"tasks wait for each other: task 0 on host \S+ is in dome_recv and waits for a message from task 1 with tag 5; "
              r"task 1 on host \S+ is in dome_recv and waits for a message from task 0 with tag 5"),
    "barrier": (2, r"tasks wait for each other: task 2 on host \S+ is in dome_recv and waits for a message from task [0-9] with tag 7; "
                r"task [0-9] on host \S+ is in dome_barrier"),
    "meanwhile": (2, r"tasks wait for each other: task 0 on host \S+ is in dome_recv and waits for a message from task 1 with tag 8; .*"),
    "anyone": (2, r"tasks wait for each other: task 0 on host \S+ is in dome_recv and waits for a message from any task; .*"),
    "request": (2, r"tasks wait for each other: task 0 on host \S+ is in dome_wait and waits for a message from task 1 with tag 0; .*"),
    "forgotten": (0, r"dome_finalize: a message of task 2 to task 0 \(tag 4, 1 element of f64\) has not been received"),
}


def messages(tasks, how):
    status, line = MESSAGES[how]
    with start(tasks, "messages", how, 2) as run:
        got = run.wait()
        run.check_clean()
        check(got == status, "it ended with status %d: %s" % (got, "; ".join(run.lines())))
        only_line(run, line)
        return "; ".join(run.lines())


def aborts(tasks, rank):
    with start(tasks, "dome-abort", "no bread", rank) as run:
        note = is_over(run, run.began, TIMEOUT, 1)
        only_line(run, r"no way to go on: no bread \(task %d on host \S+\)" % rank)
        return note


# What the line says of each disagreement: the first calls that differ, of a task that does as most do and of the one that does
# not, or the call, its argument and the two values.
DISAGREEMENTS = {
    "operation": ("dome_barrier", "dvec_sum of 'x'"),
    "object": ("dvec_sum of 'y'", "dvec_sum of 'x'"),
    "order": ("dvec_sum of 'y'", "dvec_sum of 'x'"),
    "argument": ("dvec_fill of 'x'", "value", "2", "1"),
    "root": ("dome_bcast", "root", "1", "0"),
    "count": ("dome_bcast", "count", "2", "1"),
    "reduction": ("dome_allreduce", "reduction", "'DOME_SUM'", "'DOME_MAX'"),
    "type": ("dome_allgather", "type", "'f64'", "'i32'"),
    "gather": ("dome_allgather", "dome_gather"),
    "pending": ("dscalar_get_f64 of 's'", "dome_barrier"),
    "scalar": ("dscalar_set_f64 of 's'", "value", "2", "1"),
    "more": ("dvec_sum of 'x'", "dome_barrier"),
    "more-deferred": ("dvec_sum of 'x'", "dvec_adds of 'x'"),
    "create": ("dvec_new of 'b'", "dvec_new of 'a'"),
    "length": ("dvec_new of 'a'", "length", "11", "10"),
    "input": ("dvec_copy of 'x'", "x", "'y'", "'x'"),
    "neighbours": ("dvec_halo_elements of 'x'", "dvec_fill of 'x'"),
    "maps": ("(dvec_map of 'y'|load balancing)", "dvec_fill of 'x'"),
    "help": ("dvec_map_anywhere of 'z'", "dome_barrier"),
    "freed": ("dvec_free of 'y'", "dvec_free of 'x'"),
    "structure": ("ledger_add of 'x'", "amount", "2", "1.5"),
    "before": ("dvec_adds of 'x'", "a", "2", "1"),
    "finalize": ("dvec_sum of 'x'", "dome_finalize"),
}


def disagree(tasks, rank, how):
    with start(tasks, "disagree", how, rank) as run:
        note = is_over(run, run.began, TIMEOUT, 2)
        other = 1 if rank == 0 else 0  # the lowest one that does as most do
        if how == "long-before":
            only_line(run, r"tasks disagree about a call 1\d\d or more operations ago: .*")
            return note
        if how == "value":
            only_line(run, r"tasks disagree about operation \d+, dvec_fill_value of 'x': task %d on host \S+ "
                      r"gives another value than task %d on host \S+" % (max(rank, other), min(rank, other)))
            return note
        what = DISAGREEMENTS[how]
        if how in ("neighbours", "maps", "pending"):  # no task waits for all others: some may not have come to the call
            calls = r"task [^%d] on host \S+ (called )?%s" % (rank, what[0]), r"task %d on host \S+ (called )?%s" % (rank, what[1])
            only_line(run, r"tasks disagree about operation \d+: (%s, %s|%s, %s)" % (calls + calls[::-1]))
            return note
        both = sorted([(other, what[-2]), (rank, what[-1])])
        if len(what) == 2:
            only_line(run, r"tasks disagree about operation \d+: task %d on host \S+ called %s, task %d on host \S+ %s" % (both[0] + both[1]))
        else:
            only_line(run, r"tasks disagree about operation \d+, %s: %s is %s on task %d on host \S+, and %s on "
                      r"task %d on host \S+" % (what[:2] + both[0][::-1] + both[1][::-1]))
        return note


def after_finalize(tasks, rank, milliseconds):
    """Tasks may live on after dome_finalize, for a while."""
    with start(tasks, "after", milliseconds, rank) as run:
        status = run.wait()
        run.check_clean()
        check(status == 0, "status %d: %s" % (status, "; ".join(run.lines())))
        check(not run.lines(), " | ".join(run.lines()))


def killed_after_finalize(tasks, rank):
    with start(tasks, "after", 5000, rank) as run:
        run.wait_marks("over", tasks)
        time.sleep(0.05)
        os.kill(run.rank(rank), signal.SIGKILL)
        status = run.wait()
        run.check_clean()
        if rank == 0:  # what it had not written out is lost
            check(status == 137, "status %d" % status)
            return only_line(run, r"task 0 on host \S+ was ended by signal 9 \(Killed\) after dome_finalize")
        check(status == 0, "status %d" % status)
        check(not run.lines(), " | ".join(run.lines()))
        return None


def asked_after_finalize(tasks):
    """A request for a checkpoint that comes too late does nothing."""
    with start(tasks, "after", 2000, 0, options=["--dome-checkpoint-dir", "%MARKS%/saved"]) as run:
        run.wait_marks("over", tasks)
        os.kill(run.rank(0), signal.SIGUSR1)
        status = run.wait()
        run.check_clean()
        check(status == 0, "status %d: %s" % (status, "; ".join(run.lines())))
        check(not run.lines(), " | ".join(run.lines()))


def killed_at_the_end(tasks, rank, what):
    """A task that has written its output is needed no more, if the others come as far; before that it is lost."""
    timeout = 3
    with Run([COMPLETE, str(rank), what, "--dome-tasks", str(tasks), "--dome-output", "all", "--dome-timeout", str(timeout)]) as run:
        if what == "written":
            status = run.wait()
            run.check_clean()
            check(status == 0, "status %d: %s" % (status, "; ".join(run.lines())))
            check(not run.lines(), " | ".join(run.lines()))
            check(run.output().count(b"complete\n") == tasks, "output %r" % run.output())
            return None
        note = is_over(run, awake(), 10 + timeout)
        only_line(run, r"task %d on host \S+ is lost: %s; the program was in .*" % (rank, ended_by(signal.SIGKILL)))
        return note


def children_may_end(tasks):
    with start(tasks, "fork-exit") as run:
        status = run.wait()
        run.check_clean()
        check(status == 0, "status %d: %s" % (status, "; ".join(run.lines())))
        check(run.output() == b"children may end\n", "output %r" % run.output())


def all_cases():
    cases = []

    def case(name, function, *arguments):
        cases.append((name, function) + arguments)

    for place in "own", "map", "barrier", "sum", "wait", "finalize":
        for rank in range(4) if harness.ALL else (0, 2):
            case("kill -9 task %d in %s" % (rank, place), kill_rank, 4, place, rank)
        case("kill -9 hub in %s" % place, kill_hub, 4, place)
        case("kill -9 daemon in %s" % place, kill_daemon, 4, place)
    for rank in 0, 3:
        case("kill -9 task %d in pending" % rank, kill_rank, 4, "pending", rank)
    case("kill -9 task 1 in pending, road pvm", kill_rank, 4, "pending", 1, signal.SIGKILL, None, "pvm")
    case("stop task 2 in pending", stop_rank, 4, "pending", 2, 4)
    for rank in 0, 1, 3:
        case("kill -9 task %d in help" % rank, kill_rank, 4, "help", rank)
    case("kill -9 task 2 in help, road pvm", kill_rank, 4, "help", 2, signal.SIGKILL, None, "pvm")
    case("stop task 2 in help", stop_rank, 4, "help", 2, 4)
    case("a helper crashes", kernel_fails_elsewhere, "crash", 1,
         r"task [123] on host \S+ is lost: its process was ended by signal 11 \(Segmentation fault\); the program was in dvec_map_anywhere of 'z'")
    case("a helper's kernel calls Dome", kernel_fails_elsewhere, "call", 2,
         r"dvec_map_anywhere of 'z': dvec_sum of 'x' is called inside of its kernel or loop, where no Dome function may be "
         r"\(task [123] on host \S+\)")
    for tasks, rank in (2, 1), (3, 0), (4, 2), (7, 6):
        for after in 0.03, 0.2:
            case("kill -9 task %d of %d while data moves, after %g s" % (rank, tasks, after), while_data_moves, tasks, rank,
                 signal.SIGKILL, after)
    case("stop task 2 while data moves", while_data_moves, 4, 2, signal.SIGSTOP, 0.1)
    case("kill -9 hub while data moves", while_data_moves, 3, "hub", signal.SIGKILL, 0.1)
    case("kill -9 daemon while data moves", while_data_moves, 4, "daemon", signal.SIGKILL, 0.1)
    case("kill -9 task 1 in mixed", kill_rank, 4, "mixed", 1, signal.SIGKILL, 7)
    for rank in 0, 1, 3:
        case("kill -9 task %d in neighbours" % rank, kill_rank, 4, "neighbours", rank)
    case("kill -9 task 2 in neighbours, road pvm", kill_rank, 4, "neighbours", 2, signal.SIGKILL, None, "pvm")
    case("kill -9 task 0 in neighbours, road shm", kill_rank, 3, "neighbours", 0, signal.SIGKILL, None, "shm")
    for rank in 0, 2:
        case("stop task %d in neighbours" % rank, stop_rank, 4, "neighbours", rank, 4)
    for tasks in 2, 3, 7:
        case("kill -9 last of %d in sum" % tasks, kill_rank, tasks, "sum", tasks - 1)
    for rank in (0, 2) if harness.ALL else (2,):
        for number in signal.SIGTERM, signal.SIGSEGV, signal.SIGINT:
            case("kill -%s task %d in sum" % (number.name, rank), kill_rank, 4, "sum", rank, number)
    case("kill -TERM daemon in sum", kill_daemon, 4, "sum", signal.SIGTERM)
    case("kill all tasks after dome_init", all_killed_after_init, 3)
    case("kill all but the hub", kill_everything, 4, "sum")
    for who in "task", "rank 0", "hub", "daemon", "nobody":
        case("at start: %s" % who, at_start, 4, who)
    for place in "own", "barrier", "wait":
        for rank in 0, 2:
            case("stop task %d in %s" % (rank, place), stop_rank, 4, place, rank, 4)
    for road in "vm", "shm", "pvm":
        for place in ("barrier", "sum", "wait") if harness.ALL else ("sum",):
            case("kill -9 task 1 in %s, road %s" % (place, road), kill_rank, 4, place, 1, signal.SIGKILL, None, road)
        case("kill -9 task 2 in mixed, road %s" % road, kill_rank, 4, "mixed", 2, signal.SIGKILL, 5, road)
        case("kill -9 task 1 while data moves, road %s" % road, while_data_moves, 3, 1, signal.SIGKILL, 0.1, road)
        case("stop task 1 in barrier, road %s" % road, stop_rank, 4, "barrier", 1, 4, road)
    case("stop hub in sum", stop_hub, 4, "sum", 4)
    # On a host of many tasks the first one tells the hub of all.
    for rank in (0, 20) if harness.ALL else (20,):
        case("stop task %d of 40" % rank, stop_rank, 40, "own", rank, 10)
    case("stop hub of 40", stop_hub, 40, "sum", 10)
    case("stop daemon before the end", stop_daemon, 4, 4)
    for place in "own", "sum", "finalize":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if harness.ALL or place == "sum" else (signal.SIGINT,):
            case("%s by kill in %s" % (number.name, place), interrupted, 4, place, number, "kill")
        for number in signal.SIGINT, signal.SIGQUIT:
            case("%s by keyboard in %s" % (number.name, place), interrupted, 4, place, number, "keyboard")
    case("terminal gone", terminal_gone, 4, "sum")
    case("control-Z and on", stopped_from_keyboard, 4, 2)
    for hub_first in True, False:
        case("all stand still, the hub goes on %s" % ("first" if hub_first else "last"), all_stand_still, 4, hub_first, 3)
    case("all stand still, task 2 for good", stands_still_then_stops, 4, "sum", 2, 4)
    for rank in 0, 1, 3:
        for status in 0, 5:
            case("task %d exits with %d" % (rank, status), leaves, 4, rank, "exit", status)
            case("task %d exits with %d, others compute" % (rank, status), leaves, 4, rank, "exit-computing", status)
        case("task %d calls _exit" % rank, leaves_quickly, 4, rank, 5)
        for number in signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL:
            case("task %d raises %s" % (rank, number.name), raises, 4, rank, number)
        for how in "fault", "overflow", "handled":
            case("task %d, fault: %s" % (rank, how), faults, 4, rank, how)
        case("task %d calls dome_abort" % rank, aborts, 4, rank)
    for how in MESSAGES:
        case("messages: %s" % how, messages, 3, how)
    case("messages: a receiver is stopped", stop_receiver)
    for road in "vm", "pvm":
        case("kill -9 task 1 that others receive from, road %s" % road, kill_rank, 3, "messages", 1, signal.SIGKILL, "receive", road)
    for how in list(DISAGREEMENTS) + ["value", "long-before"]:
        case("disagree: %s, 2 tasks" % how, disagree, 2, 1, how)
        case("disagree: %s, 4 tasks" % how, disagree, 4, 2, how)
    case("disagree: operation, rank 0", disagree, 4, 0, "operation")
    case("disagree: argument, rank 6 of 7", disagree, 7, 6, "argument")
    case("disagree: finalize, rank 0", disagree, 4, 0, "finalize")
    for name in MISTAKES:
        case("mistake: %s, one task" % name, mistake, name, "--dome-transport", "self")
        case("mistake: %s, 3 tasks" % name, mistake, name, "--dome-tasks", "3")
    for rank in 0, 2:
        case("task %d works on after dome_finalize" % rank, after_finalize, 4, rank, 500)
        case("task %d killed after dome_finalize" % rank, killed_after_finalize, 4, rank)
    case("a request after dome_finalize", asked_after_finalize, 3)
    for what in "written", "writing", "waited":
        case("killed at the end: %s" % what, killed_at_the_end, 4, 2, what)
    case("a forked child of a task ends", children_may_end, 4)
    return cases


if __name__ == "__main__":
    harness.need_pvm()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    sys.exit(1 if harness.run_all([c for c in all_cases() if wanted in c[0]], 4) else 0)
