"""Programs that change their number of tasks while they run: dome_resize, dome grow and dome shrink.

    elastic.py [--many] [PART-OF-A-NAME]

--many: a thousand views, and many losses at random moments."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time


import harness
from harness import BUILD, DOME, PROGRAMS, Run, check, mark, reach, step_of, wait_until

ELASTIC = PROGRAMS + "/elastic"
EXAMPLES = os.path.join(os.path.abspath(BUILD), "examples")


def dome(*arguments, status=0, user=None):
    """What it prints: standard output and standard error."""
    done = subprocess.run([DOME] + list(arguments), env=harness.clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=harness.HANG, user=user)
    out, err = done.stdout.decode(), done.stderr.decode()
    check(status is None or done.returncode == status, "dome %s: status %d: %s %s" % (" ".join(arguments), done.returncode, out, err))
    return out, err


def one_task(command):
    """What the program prints as one task that nobody disturbs."""
    with Run(command + ["--dome-transport", "self"]) as run:
        check(run.wait() == 0, "one task: " + run.errors())
        return run.output()


def ended_well(run, output):
    status = run.wait()
    check(status == 0, "status %s: %s" % (status, run.errors()))
    check(run.output() == output, "other output: %r instead of %r" % (run.output()[-300:], output[-300:]))
    check(not run.lines(), "lines: %s" % run.errors())
    run.check_clean()


def sizes_of(seed, count, most=7):
    draw = random.Random(seed)
    return ",".join(str(draw.randint(1, most)) for _ in range(count))


def resizes(seed, tasks, steps=12, options=()):
    """dome_resize at every boundary: the output of one task."""
    sizes = sizes_of(seed, 8)
    expected = one_task([ELASTIC, str(steps), "0", "-"])
    with Run([ELASTIC, str(steps), "0", sizes, "--dome-tasks", str(tasks), "--dome-max", "7"] + list(options)) as run:
        ended_well(run, expected)
    return sizes


def by_dome_run():
    expected = one_task([ELASTIC, "8", "0", "-"])
    with Run([DOME, "run", "-n", "1", "--max", "4", ELASTIC, "8", "0", "1,4,2,3"]) as run:
        ended_well(run, expected)


def orders():
    """dome grow and dome shrink: pids stay, dome ps tells of the views."""
    expected = one_task([ELASTIC, "200", "0", "-"])
    # Orders and dome ps must be done before it ends, on a busy machine, too.
    with Run([ELASTIC, "200", "60", "-", "%MARKS%", "--dome-tasks", "2", "--dome-min", "2", "--dome-max", "4"]) as run:
        reach(run, 1)
        pids = [run.rank(0), run.rank(1)]
        pid = str(run.pid)
        out, _ = dome("grow", pid, "-n", "2", "--wait", "1e300")
        check(out == "%s: 4 tasks, view 1\n" % pid, "grow: %r" % out)
        program = [p for p in json.loads(dome("ps", "--json")[0]) if p["pid"] == run.pid][0]
        check(program["view"] == 1 and len(program["tasks"]) == 4, "dome ps: %r" % program)
        check("view 1, " in dome("ps")[0], "dome ps tells of no view")

        def views():
            found = [p for p in json.loads(dome("ps", "--json")[0]) if p["pid"] == run.pid][0]["views"]
            return "still" in found[-1] and found

        first, grown = wait_until(views, "how long the change took")
        check((first["tasks"], first["kind"], grown["tasks"], grown["kind"], grown["why"]) == (2, "start", 4, "grow", "dome grow"),
              "views: %s, %s" % (first, grown))
        check(grown["hosts"] == 1 and grown["seconds"] > first["seconds"] >= 0, "views: %s, %s" % (first, grown))
        parts = [grown[k] for k in ("members", "blocks", "joining", "preamble")]
        check(abs(grown["still"] - sum(parts)) < 0.004 and grown["members"] > 0 and grown["joining"] > 0 and
              0 < grown["still"] < 60 and 0 <= grown["noticing"] < 60, "parts: %s" % grown)
        check(re.search(r"^ +1 +4 +1 +\d:\d\d:\d\d +\d+\.\d{3} .* grow: dome grow$", dome("ps")[0], re.M), dome("ps")[0])
        wait_until(lambda: run.rank(3) is not None, "the new tasks")
        check([run.rank(0), run.rank(1)] == pids, "other processes: %s, %s" % (pids, [run.rank(0), run.rank(1)]))
        check([t["pid"] for t in program["tasks"]][:2] == pids, "dome ps: %r" % program)
        out, _ = dome("shrink", pid)
        check(out == "%s: 3 tasks, view 2\n" % pid, "shrink: %r" % out)
        for arguments, line in ((["grow", pid, "-n", "2"], "5 tasks would be more than its greatest number, 4"),
                                (["shrink", pid, "-n", "2"], "1 task would be fewer than its least number, 2")):
            _, err = dome(*arguments, status=1)
            check(err == "dome: %s: %s\n" % (arguments[0], line), err)
        check([run.rank(0), run.rank(1)] == pids, "other processes")
        check(run.process.poll() is None, "too short: it has ended")
        ended_well(run, expected)


def refused(variant, options, pattern, wait="20", sizes="-"):
    with Run([ELASTIC, "1000", "20", sizes, "%MARKS%", variant, "--dome-tasks", "2"] + list(options)) as run:
        wait_until(lambda: run.rank(1) is not None and run.rank(0) is not None, "the tasks")

        def answered():  # while it starts it says so
            _, err = dome("grow", str(run.pid), "--wait", wait, status=1)
            return "still starting" not in err and err

        err = wait_until(answered, "an answer")
        check(re.fullmatch("dome: grow: " + pattern + "\n", err), err)
        check(run.process.poll() is None, "it has ended: " + run.errors())
        harness.kill(run.pid, signal.SIGTERM)
        run.wait()
        run.check_clean()


def posts_often():
    """An order, and a resize, wait for a boundary without messages."""
    expected = one_task([ELASTIC, "60", "10"])
    with Run([ELASTIC, "60", "10", "-", "%MARKS%", "posts-often", "--dome-tasks", "2"]) as run:
        reach(run, 5)
        dome("grow", str(run.pid), "-n", "2")
        ended_well(run, expected)
    with Run([ELASTIC, "60", "0", "3", "%MARKS%", "posts-often", "--dome-tasks", "2"]) as run:
        ended_well(run, expected)
        check(run.rank(2) is not None, "it has not grown")


def posted_resize():
    """A resize for which there is no such boundary before the end is refused there."""
    expected = one_task([ELASTIC, "60", "0"])
    with Run([ELASTIC, "60", "0", "3", "%MARKS%", "posts", "--dome-tasks", "2"]) as run:
        check(run.wait() == 0 and run.output() == expected, run.errors())
        line = r"dome: dome_resize: the program keeps its 2 tasks: a message of task 0 to task 1 .* has not been received; at each .*"
        check(len(run.lines()) == 1 and re.fullmatch(line, run.lines()[0]), run.errors())
        run.check_clean()


def directory_gone():
    """The tasks could not begin where the program was started."""
    with harness.temporary_directory() as directory:
        os.mkdir(directory + "/work")
        with Run([ELASTIC, "1000", "20", "-", "%MARKS%", "--dome-tasks", "2"], cwd=directory + "/work") as run:
            reach(run, 1)
            os.rmdir(directory + "/work")
            _, err = dome("grow", str(run.pid), status=1)
            check(err == "dome: grow: the directory in which it was started has been removed or closed to it\n", err)
            before = step_of(run)
            reach(run, before + 3)
            harness.kill(run.pid, signal.SIGTERM)
            run.wait()


def by_a_link():
    """Every task begins by the path and in the directory in which task 0 was started, whatever the file behind a link is called."""
    expected = one_task([ELASTIC, "120", "0", "-"])
    with harness.temporary_directory() as directory:
        home, work = directory + "/a place: of its own", directory + "/work"
        for path in (home, work):
            os.mkdir(path)
        os.symlink(ELASTIC, home + "/by_quite_another_name")
        for path in (home + "/beside", work + "/here"):
            open(path, "w").close()
        with Run(["../a place: of its own/by_quite_another_name", "120", "40", "-", "%MARKS%", "looks", "--dome-tasks", "2", "--dome-restarts", "5",
                  "--dome-on-loss", "heal", "--dome-checkpoint-dir", "%MARKS%/saved", "--dome-checkpoint-every", "1"], cwd=work) as run:
            reach(run, 1)
            pid = str(run.hub())
            for view, (order, tasks) in enumerate((("grow", 3), ("shrink", 2), ("grow", 3)), 1):
                out, err = dome(order, pid)
                check(out == "%s: %d tasks, view %d\n" % (pid, tasks, view), "%s: %r %r" % (order, out, err))
            for k, victim in enumerate((lambda: run.rank(2), lambda: run.rank(0), run.hub)):
                reach(run, step_of(run) + 2)
                harness.kill(victim())
                wait_until(lambda: len(run.lines()) > k or run.process.poll() is not None, "the program to go on")
            check(run.wait() == 0, run.errors())
            for line, how in zip(run.lines(), ("healed", "healed", "started again")):
                check("; %s from checkpoint" % how in line, run.errors())
            check(len(run.lines()) == 3, run.errors())
            check(run.output().endswith(expected.split(b"\n")[-2] + b"\n"), "other output: %r" % run.output()[-200:])
            run.check_clean()


def link_leads_elsewhere():
    """Then it is the file that was started, not what the link leads to now."""
    with harness.temporary_directory() as directory:
        link = directory + "/current"
        os.symlink(ELASTIC, link)
        with Run([link, "1000", "20", "-", "%MARKS%", "--dome-tasks", "2"]) as run:
            reach(run, 1)
            os.unlink(link)
            os.symlink("/bin/false", link)
            out, err = dome("grow", str(run.pid))
            check(out == "%d: 3 tasks, view 1\n" % run.pid, "grow: %r %r" % (out, err))
            harness.kill(run.pid, signal.SIGTERM)
            run.wait()


def newcomer_ends():
    """A task that cannot join costs the program nothing but a line."""
    expected = one_task([ELASTIC, "150", "0", "-"])
    with Run([ELASTIC, "150", "60", "-", "%MARKS%", "shy", "--dome-tasks", "2"]) as run:
        reach(run, 1)
        pids = [run.rank(0), run.rank(1)]
        shy = run.marks + "/shy"
        open(shy, "w").close()
        _, err = dome("grow", str(run.pid), status=1)
        check(re.fullmatch(r"dome: grow: task 2 on host \S+ ended before it joined the program: .*\n", err), err)
        os.unlink(shy)
        before = step_of(run)
        reach(run, before + 3)
        out, _ = dome("grow", str(run.pid))
        check(out == "%d: 3 tasks, view 1\n" % run.pid, "grow: %r" % out)
        check([run.rank(0), run.rank(1)] == pids, "other processes")
        ended_well(run, expected)


def newcomer_lost(place, resize):
    """After the point of no return: the change is taken back, and costs the program nothing but a line and a moment."""
    expected = one_task([ELASTIC, "80", "0", "-"])
    line = r"task 2 on host \S+ .*; the program goes on as it was"
    sizes = "2,2,2,2,2,2,2,2,2,2,3" if resize else "-"
    with Run([ELASTIC, "80", "50", sizes, "%MARKS%", "frail", "--dome-tasks", "2", "--dome-timeout", "4"], marks=["slow"]) as run:
        reach(run, 1)
        open(run.marks + "/" + place, "w").close()
        if resize:
            wait_until(lambda: run.lines() or run.process.poll() is not None, "a line")
            check(re.fullmatch("dome: " + line, run.lines()[0]), run.errors())
        else:
            pids = [run.rank(0), run.rank(1)]
            _, err = dome("grow", str(run.pid), status=1)
            check(re.fullmatch("dome: grow: %s\n" % line, err), err)
            reach(run, step_of(run) + 3)
            check([run.rank(0), run.rank(1)] == pids, "other processes")
        os.unlink(run.marks + "/" + place)
        if not resize:
            out, _ = dome("grow", str(run.pid))
            check(re.fullmatch(r"%d: 3 tasks, view \d\n" % run.pid, out), "grow: %r" % out)
        wait_until(lambda: run.rank(2) is not None or run.process.poll() is not None, "the newcomer")
        check(run.wait() == 0 and run.output() == expected, "%r %s" % (run.output()[-200:], run.errors()))
        check(len(run.lines()) <= resize, run.errors())
        run.check_clean()


def not_executable():
    with harness.temporary_directory() as directory:
        program = directory + "/elastic"
        harness.copy_program(ELASTIC, program)
        with Run([program, "1000", "20", "-", "%MARKS%", "--dome-tasks", "2"]) as run:
            reach(run, 1)
            os.chmod(program, 0o644)
            _, err = dome("shrink", str(run.pid), status=1)
            check(err == "dome: shrink: its executable file can no longer be executed\n", err)
            reach(run, step_of(run) + 3)
            harness.kill(run.pid, signal.SIGTERM)
            run.wait()


def promised():
    """A system that counts what it has promised (vm.overcommit_memory 2) cannot promise the state once more."""
    expected = one_task([ELASTIC, "4", "0", "-"])
    with harness.temporary_directory() as directory:
        with open("/proc/meminfo") as f:
            memory = re.sub(r"(CommitLimit: *)\d+", r"\g<1>1000000", re.sub(r"(Committed_AS: *)\d+", r"\g<1>999000", f.read()))
        for name, text in ("overcommit_memory", "2\n"), ("meminfo", memory):
            with open(directory + "/" + name, "w") as f:
                f.write(text)
        inside = ["unshare", "-m", "/bin/sh", "-c", 'mount --bind "$0/overcommit_memory" /proc/sys/vm/overcommit_memory && '
                  'mount --bind "$0/meminfo" /proc/meminfo && exec "$@"', directory]
        if subprocess.run(inside + ["true"], stderr=subprocess.DEVNULL).returncode != 0:
            return "not tried"
        with Run(inside + [ELASTIC, "4", "0", "3", "--dome-tasks", "2"]) as run:
            check(run.wait() == 0, "it has ended: " + run.errors())
            check(run.output() == expected, "other output: %r" % run.output())
            line = r"dome: dome_resize: the program keeps its 2 tasks: host \S+ has no memory for another 33 MB, a part of .*"
            check(len(run.lines()) == 4 and all(re.fullmatch(line, text) for text in run.lines()), run.errors())
            run.check_clean()


def made_twice():
    """The memory that carries an object's values is given back when it has got them."""
    with Run([ELASTIC, "9", "0", "3", "-", "twice", "--dome-tasks", "2"]) as run:
        check(run.wait() != 0, "it goes on: " + run.output().decode())
        check(any("'x' is made a second time in view 1" in line for line in run.lines()), run.errors())
        run.check_clean()


def arguments_written_over():
    """A program may write over its arguments (strtok): the next view begins with those of the start."""
    expected = one_task([ELASTIC, "8", "0", "-"])
    with Run([ELASTIC, "8", "0", "3,2", "-", "splits", "--dome-tasks", "2"]) as run:
        ended_well(run, expected)


def bound():
    """A task that was bound to one processor may use all of them in the next view."""
    if len(os.sched_getaffinity(0)) < 2:
        return "needs two processors"
    expected = one_task([ELASTIC, "8", "0", "-"])
    with Run([ELASTIC, "8", "0", "2,1", "--dome-tasks", "1", "--dome-max", "2", "--dome-bind", "core"]) as run:
        ended_well(run, expected)


def asked_to_end():
    """SIGTERM between the last look at it and the change: the next view ends with a checkpoint."""
    with Run([ELASTIC, "3000", "0", "3", "-", "ends", "--dome-tasks", "2", "--dome-checkpoint-dir", "%MARKS%/saved",
              "--dome-checkpoint-every", "1000000"]) as run:
        status = run.wait()
        check(status in (-signal.SIGTERM, 128 + signal.SIGTERM), "status %s: %s" % (status, run.errors()))
        check([n for n in os.listdir(run.marks + "/saved") if n.startswith("ckpt-")], "no checkpoint: " + run.errors())
        run.check_clean()


def hangs():
    """A task that does not come back: a line, and its process is not left behind."""
    with Run([ELASTIC, "9", "0", "3", "-", "hangs", "--dome-tasks", "2"]) as run:
        check(run.wait() == 1, run.errors())
        harness.only_line(run, r"task 1 on host \S+ is lost: it did not come back within 15\.0 s when the program changed .*")
        run.check_clean()


def unknown():
    other = subprocess.Popen(["sleep", "1000"])
    try:
        for name in "there-is-none", str(other.pid), "999999", "1", "0", "-1", "99999999999999999999":
            _, err = dome("shrink", "--", name, status=1)
            check(re.fullmatch("dome: shrink: no program %s of yours with several tasks was started on this host; .*\n" % name, err), err)
        _, err = dome("ps", "there-is-none", status=1)
        check(err == "dome: ps: no Dome program of yours with several tasks is called there-is-none, or has this pid\n", err)
    finally:
        other.kill()
        other.wait()
    for arguments in (["grow"], ["grow", "x", "-n", "0"], ["grow", "x", "y"]):
        dome(*arguments, status=2)


def by_any_pid(before, restarts):
    """The pid that a shell has for the program is that of a supervisor or of another program that has started it."""
    # Orders must be done before it ends, on a busy machine, too.
    program = [ELASTIC, "400", "30", "-", "%MARKS%"]
    command = before + [DOME, "run", "-n", "2", "--max", "20"] + (["--restarts", "3"] if restarts else []) + program
    with Run(command) as run:
        # At once, as `dome run ... & dome grow $!` does: while it starts an order is refused.
        out = wait_until(lambda: dome("grow", str(run.pid), status=None)[0], "the first order to be carried out")
        wait_until(lambda: run.rank(2), "the pid of the new task")
        hub, tasks = run.hub(), 3
        check(out == "%d: 3 tasks, view 1\n" % hub, out)
        newcomer = wait_until(lambda: run.rank(2), "the newcomer to say which process it is")
        for name in str(hub), str(run.rank(0)), str(run.rank(1)), str(newcomer), str(run.pid):
            out, _ = dome("grow", name)
            tasks += 1
            check(out == "%d: %d tasks, view %d\n" % (hub, tasks, tasks - 2), "%s: %s" % (name, out))
            found = json.loads(dome("ps", "--json", name)[0])
            check([p["pid"] for p in found] == [hub], "dome ps %s: %s" % (name, found))
        check(dome("ps", "--brief", str(run.pid), str(hub))[0].count("\n") == 2, "it is listed twice")
        check((hub == run.pid) == (not restarts and not before), "the hub is %d, started was %d" % (hub, run.pid))
        harness.kill(hub, signal.SIGTERM)
        run.wait()
        run.check_clean()


def other_user():
    if os.geteuid() != 0:
        return "needs root"
    with Run([ELASTIC, "1000", "20", "-", "%MARKS%", "--dome-tasks", "2"]) as run:
        reach(run, 1)
        if subprocess.run([DOME, "--version"], user=65534, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            return "the command cannot be run by another user here"
        _, err = dome("grow", str(run.pid), status=1, user=65534)
        check(err == "dome: grow: process %d belongs to another user\n" % run.pid, err)
        harness.kill(run.pid, signal.SIGTERM)
        run.wait()


def ranges():
    for options, line in ((["--dome-tasks", "3", "--dome-max", "2"], "--dome-tasks 3 is more than --dome-max 2"),
                          (["--dome-tasks", "1", "--dome-min", "2"], "--dome-min 2 is more than --dome-tasks 1"),
                          (["--dome-min", "3", "--dome-max", "2"], "--dome-min 3 is more than --dome-max 2")):
        with Run([ELASTIC, "3", "0"] + options) as run:
            check(run.wait() == 2 and run.lines() == ["dome: " + line], run.errors())
    with Run([ELASTIC, "3", "0", "5", "--dome-tasks", "2", "--dome-max", "4"]) as run:
        check(run.wait() == 2, run.errors())
        check("dome_resize: 5 would be more than the greatest number of tasks, 4" in run.errors(), run.errors())
        run.check_clean()
    with Run([ELASTIC, "3", "0", "2", "--dome-transport", "self"]) as run:
        check(run.wait() == 2 or run.wait() == 1, run.errors())
        check("a program of one task has no process that watches over it" in run.errors(), run.errors())


def bare_resize():
    """A resize that cannot be met: a line, and the program goes on."""
    with Run([ELASTIC, "1", "0", "3", "", "bare", "--dome-tasks", "2"]) as run:
        check(run.wait() == 0, run.errors())
        check(len(run.lines()) == 1 and "the program keeps its 2 tasks: it has no objects with names" in run.lines()[0], run.errors())
        run.check_clean()


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def resident(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s*(\d+)", f.read())[1])


def sampled(pid):
    """Of a process that becomes its program again and again: the fewest descriptors and the most KiB within some views."""
    found = []
    for _ in range(40):
        try:
            found.append((descriptors(pid), resident(pid)))
        except (OSError, TypeError):  # the program has ended
            break
        time.sleep(0.01)
    check(found, "the program has ended too early")
    return [min(f[0] for f in found), max(f[1] for f in found)]


def many_views(count):
    """Descriptors and memory stay as they are, of the task and of the hub."""
    expected = one_task([ELASTIC, str(count), "0", "-"])
    with Run([ELASTIC, str(count), "0", "3,2", "%MARKS%", "--dome-tasks", "2", "--dome-balance", "none"]) as run:
        seen, task = [], []
        for at in count // 5, count * 3 // 5:
            reach(run, at)
            hub = [descriptors(run.pid), resident(run.pid)]
            seen.append(hub)
            task.append(sampled(run.rank(0)))
        check(abs(seen[1][0] - seen[0][0]) <= 12, "descriptors of the hub: %s" % seen)  # connections come and go meanwhile
        check(seen[1][1] < seen[0][1] + 3000, "memory of the hub: %s" % seen)
        check(task[1][0] <= task[0][0] + 4, "descriptors of task 0: %s" % task)  # they come and go as it starts
        check(task[1][1] < task[0][1] + 3000, "memory of task 0: %s" % task)
        ended_well(run, expected)
        return "descriptors and KiB of the hub: %s, of task 0: %s" % (seen, task)


def own_descriptors(count):
    """What a task has open does not grow: counted by the task that is asked in its loop."""
    with Run([ELASTIC, str(count), "60", "3,2", "%MARKS%", "--dome-tasks", "2"]) as run:
        least = {}
        while run.process.poll() is None and step_of(run) < count - 1:
            step = step_of(run)
            try:
                n = descriptors(run.rank(0))
            except (OSError, TypeError):
                continue
            part = step * 2 // count
            least[part] = min(n, least.get(part, n)) if step > 2 else n
            time.sleep(0.005)
        check(run.wait() == 0, run.errors())
        check(least.get(1, 0) <= least.get(0, 0), "descriptors of task 0: %s" % least)
        return str(least)


LOST = r"dome: (task \d+ on host \S+ (is lost: .*|ended with exit status \d+ without dome_finalize|.*)|.*)"


def loss(seed, restarts):
    """A task is killed while the program changes all the time: the program ends with a line, or is started again."""
    draw = random.Random(seed)
    steps = 60
    expected = one_task([ELASTIC, str(steps), "0", "-"])
    command = [ELASTIC, str(steps), "0", sizes_of(seed, 8, 4), "%MARKS%", "--dome-tasks", "3"]
    if restarts:
        command = [DOME, "run", "--restarts", "5", "--on-loss", "restart", "-n", "3"] + command[:-2]
    with Run(command) as run:
        wait_until(lambda: step_of(run) >= 3 or run.process.poll() is not None, "the program to run")
        time.sleep(draw.random() * 0.3)
        tasks = [p.pid for p in run.processes() if p.name == "elastic" and p.pid != run.pid]
        ranks = [run.rank(r) for r in range(4)]
        tasks = [p for p in tasks if p in ranks] or tasks
        victim = draw.choice(tasks) if tasks else None
        if victim:
            harness.kill(victim)
        status = run.wait()
        run.check_clean()
        if restarts:
            check(status == 0, "status %s: %s" % (status, run.errors()))
            check(run.output().endswith(expected.split(b"\n")[-2] + b"\n"), "other output: %r" % run.output()[-200:])
        elif status != 0:
            check(len(run.lines()) == 1 and re.fullmatch(LOST, run.lines()[0]), "lines: " + run.errors())
        return "%s %s" % (status, " | ".join(run.lines())[:150])


def losses(seeds, restarts):
    for seed in seeds:
        loss(seed, restarts)


def with_checkpoints():
    """Checkpoints go on across views; after a loss the program goes on from the one before the last change."""
    expected = one_task([ELASTIC, "60", "0", "-"])
    with Run([DOME, "run", "--restarts", "2", "--on-loss", "restart", "-n", "2", ELASTIC, "60", "10", "3,2,4", "%MARKS%", "--dome-checkpoint-dir", "%MARKS%/saved",
              "--dome-checkpoint-every", "5"]) as run:
        run.arguments = run.arguments
        reach(run, 23)
        victim = run.rank(1)
        before = step_of(run)
        while not harness.kill(victim):
            victim = run.rank(1)
        status = run.wait()
        check(status == 0, "status %s: %s" % (status, run.errors()))
        line = re.search(r"started again from checkpoint \d+ \(loop boundary (\d+)\), restart 1 of 2", run.errors())
        check(len(run.lines()) == 1 and line and int(line[1]) >= before - 2, "%d: %s" % (before, run.errors()))
        check(run.output().endswith(expected.split(b"\n")[-2] + b"\n"), "other output: %r" % run.output()[-200:])
        dome("ckpt", "verify", run.marks + "/saved")


def in_memory():
    expected = one_task([ELASTIC, "30", "0", "-"])
    with Run([DOME, "run", "--restarts", "1", "-n", "2", ELASTIC, "30", "0", "3,2,4", "--dome-checkpoint-dir", "memory:",
              "--dome-checkpoint-every", "3"]) as run:
        ended_well(run, expected)


def traced():
    expected = one_task([ELASTIC, "10", "0", "-"])
    with Run([ELASTIC, "10", "0", "3,2", "--dome-tasks", "2", "--dome-trace", "%MARKS%/trace", "--dome-profile"]) as run:
        check(run.wait() == 0, run.errors())
        check(run.output() == expected, "other output")
        with open(run.marks + "/trace") as f:
            trace = f.read()
        check(len(re.findall("^H ", trace, re.M)) == 11, "%d starts in the trace" % len(re.findall("^H ", trace, re.M)))
        check("dvec_allgather" in run.errors(), "no profile: " + run.errors())
        check(len(re.findall(r"^V \d+ \d+ [23] 1 \d+ (grow|shrink) dome_resize$", trace, re.M)) == 10, "views in the trace")
        took = [int(n) for n in re.findall(r"^P \d+ (\d+) \d+ \d+ \d+ [1-9]\d*$", trace, re.M)]
        check(took == list(range(1, 11)), "times in the trace: %s" % took)
        rows = re.findall(r"^(\d+) +([23]) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +(\d+) ", run.errors(), re.M)
        check([int(r[0]) for r in rows] == list(range(11)), "views in the profile: " + run.errors())
        check([int(r[2]) for r in rows] == [1] * 10 + [0], "boundaries in the profile: " + run.errors())
        calls = re.search(r"^dvec_muls +(\d+) ", run.errors(), re.M)
        check(calls and int(calls[1]) == 10, "the profile is not of all views: " + run.errors())
    with Run([ELASTIC, "10", "0", "3,2", "--dome-tasks", "2", "--dome-trace", "%MARKS%/trace.json"]) as run:
        ended_well(run, expected)
        with open(run.marks + "/trace.json") as f:
            json.load(f)


def size_auto():
    """Tasks that share one processor: fewer would do."""
    if not shutil.which("taskset"):
        return "skipped: taskset is not installed"
    expected = one_task([ELASTIC, "5000", "0", "-"])
    with Run(["taskset", "-c", str(min(os.sched_getaffinity(0))), DOME, "run", "--size", "auto", "-n", "3", ELASTIC, "5000", "4", "-", "%MARKS%", "hurries"]) as run:
        open(run.marks + "/slow", "w").close()
        reach(run, 1)

        def views():
            found = [p for p in json.loads(dome("ps", "--json")[0]) if p["pid"] == run.pid]
            check(found, "it has ended early: " + run.errors())
            return len(found[0]["views"]) > 1 and found[0]["views"]

        seen = wait_until(views, "fewer tasks")
        check([v["tasks"] for v in seen][:2] == [3, 2] and all(v["why"] == "--size auto" for v in seen[1:]), "views: %s" % seen)
        os.unlink(run.marks + "/slow")
        ended_well(run, expected)
        return "%d views" % len(seen)


def size_and_script_refused():
    for options, status, line in (
            (["--dome-hosts-script", "echo; exit 3"], 1, "--dome-hosts-script: 'echo; exit 3' has failed"),
            (["--dome-hosts-script", "echo a b"], 1, "--dome-hosts-script: 'echo a b' 'a b' is not host:slots"),
            (["--dome-hosts-script", "echo h1", "--dome-size", "auto"], 2,
             "--dome-hosts-script and --dome-size auto exclude each other: both say how many tasks there are"),
            (["--dome-size", "auto", "--dome-transport", "self"], 2, "--dome-transport self runs one task: leave out --dome-size auto")):
        with Run([ELASTIC, "3", "0"] + options) as run:
            check(run.wait() == status and run.lines() == ["dome: " + line], "%s: %s" % (options, run.errors()))
            run.check_clean()
    _, err = dome("run", "--size", "much", ELASTIC, status=2)
    check(err == "dome: run: --size takes 'keep' or 'auto', not 'much'\n", err)
    _, err = dome("run", "--size", "auto", "--hosts-script", "echo h1", ELASTIC, status=2)
    check("exclude each other" in err, err)


def timers():
    """A timer of the program ends with the view that has set it."""
    expected = one_task([ELASTIC, "20", "0", "-"])
    with Run([ELASTIC, "20", "0", "3,2,1", "-", "ticks", "--dome-tasks", "2", "--dome-max", "3"]) as run:
        ended_well(run, expected)


def standard_input():
    """What a shell has given the process stays open; what the program opens does not."""
    read, write = os.pipe()
    with Run([ELASTIC, "6", "0", "3,1,2", "--dome-tasks", "2"], pass_fds=(read,)) as run:
        check(run.wait() == 0, run.errors())
    os.close(read)
    os.close(write)


def example(name, of_size, seed):
    """An example under orders at random: the output of one task. One that ends before it has changed is made larger."""
    program = os.path.join(EXAMPLES, name)
    if not os.path.exists(program):
        return "not built"
    changes, size = 0, 1
    while changes == 0 and size <= 16:
        changes, size = changed([program] + of_size(size), seed), 2 * size
    check(changes > 0, "it has not changed at all")
    return "%d changes" % changes


def changed(command, seed):
    """Runs it under orders; returns how many were followed."""
    draw = random.Random(seed)
    expected = one_task(command)
    with Run(command + ["--dome-tasks", "2", "--dome-min", "1", "--dome-max", "7"]) as run:
        changes = 0
        while run.process.poll() is None and changes < 12:
            out, _ = dome(draw.choice(("grow", "shrink")), str(run.pid), "-n", str(draw.randint(1, 4)), status=None)
            changes += out != ""
        ended_well(run, expected)
        return changes


def laplacian(path, n):
    """The matrix of a grid of n by n points."""
    entries = ["%d %d 4" % (k, k) for k in range(1, n * n + 1)]
    entries += ["%d %d -1" % (k + 1, k) for k in range(1, n * n) if k % n]
    entries += ["%d %d -1" % (k + n, k) for k in range(1, n * n - n + 1)]
    with open(path, "w") as f:
        f.write("%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n" % (n * n, n * n, len(entries)))
        f.write("\n".join(entries) + "\n")


def cg(seed):
    with harness.temporary_directory() as directory:

        def of_size(size):
            laplacian(directory + "/grid.mtx", 100 + 50 * size)
            return ["--tolerance", "1e-12", directory + "/grid.mtx"]

        return example("cg", of_size, seed)


def md(seed):
    return example("md", lambda size: ["--cells", "4", "--steps", str(1500 * size)], seed)


def main():
    arguments = sys.argv[1:]
    many = "--many" in arguments
    part = ([a for a in arguments if a != "--many"] + [""])[0]
    harness.need_pvm()
    cases = [
        ("orders", orders),
        ("dome run", by_dome_run),
        ("ranges", ranges),
        ("unknown", unknown),
        ("by any pid", by_any_pid, [], False),
        ("by any pid: restarts", by_any_pid, [], True),
        ("by any pid: started by others", by_any_pid, ["timeout", "600", "/bin/sh", "-c", '"$@"; exit', "sh"], True),
        ("other user", other_user),
        ("no names: order", refused, "bare", [], r"it has no objects with names, so nothing .*"),
        ("no names: resize", bare_resize),
        ("no names: order and resize", refused, "bare", [], r"it has no objects with names, so nothing .*", "20", "3"),
        ("a message under way", refused, "posts", [],
         r"a message of task 0 to task 1 \(tag 1, 1 element of i32\) has not been received; at each of \d+ loop boundaries in \S+ s a message "
         r"or a request was open; no other view can have it: receive messages, and wait for requests, before dome_checkpoint"),
        ("a message under way: resize", posted_resize),
        ("messages under way often", posts_often),
        ("tasks that contradict each other", refused, "other", [],
         r"task 1 on host \S+ has another 'pair' than task 0: do all hosts have the same version of the program\?"),
        ("by a link", by_a_link),
        ("a link that leads elsewhere", link_leads_elsewhere),
        ("directory gone", directory_gone),
        ("not executable", not_executable),
        ("a newcomer ends", newcomer_ends),
        ("a newcomer is lost as it joins: order", newcomer_lost, "joins", False),
        ("a newcomer is lost as it joins: resize", newcomer_lost, "joins", True),
        ("a newcomer that is connected is lost: order", newcomer_lost, "joined", False),
        ("a newcomer that is connected is lost: resize", newcomer_lost, "joined", True),
        ("nothing promised", promised),
        ("made twice", made_twice),
        ("arguments written over", arguments_written_over),
        ("bound", bound),
        ("asked to end", asked_to_end),
        ("a task hangs", hangs),
        ("no boundary", refused, "endless", [], r"the program has come to no loop boundary .* within 1 s; it changes at the next one", "1"),
        ("resizes 1", resizes, 1, 2),
        ("resizes 2", resizes, 2, 1),
        ("resizes 3, random moves", resizes, 3, 3, 10, ["--dome-balance", "random"]),
        ("resizes 4, through PVM", resizes, 4, 3, 8, ["--dome-road", "pvm"]),
        ("checkpoints", with_checkpoints),
        ("checkpoints in memory", in_memory),
        ("trace and profile", traced),
        ("descriptors given", standard_input),
        ("size auto", size_auto),
        ("size and script refused", size_and_script_refused),
        ("timers", timers),
        ("losses", losses, range(3), False),
        ("losses and restarts", losses, range(10, 13), True),
        ("many views", many_views, 100),
        ("descriptors", own_descriptors, 30),
        ("md", md, 1),
        ("cg", cg, 2),
    ]
    if many:
        cases = [("a thousand views", many_views, 1000)]
        cases += [("losses %d" % k, loss, 100 + k, False) for k in range(40)]
        cases += [("losses and restarts %d" % k, loss, 200 + k, True) for k in range(40)]
        cases += [("resizes %d" % k, resizes, 300 + k, k % 5 + 1, 30) for k in range(20)]
    sys.exit(harness.run_all([c for c in cases if part in c[0]], 3) > 0)


main()
