"""domed on one host: programs that are submitted, stopped, ended; the daemon killed and started again; a table that cannot be
written.

    daemon.py [PART-OF-A-NAME]"""

import fcntl
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time

import harness
from host_daemon import DOMED, Daemon
from harness import PROGRAMS, Process, Run, check, wait_until

ELASTIC = PROGRAMS + "/elastic"
STEPS = "120"


def undisturbed():
    with Run([ELASTIC, STEPS, "0", "-", "--dome-transport", "self"]) as run:
        check(run.wait() == 0, "one task: " + run.errors())
        return run.output().decode()


def priorities():
    """One that can change makes room for another of higher priority, and grows again."""
    with Daemon(slots=4) as d:
        low = d.submit("-n", "4", "--min", "1", "-o", "low", ELASTIC, "100000", "10")
        d.wait_for(low, lambda p: p["state"] == "runs" and p["tasks"] == 4, "four tasks")
        high = d.submit("-n", "3", "--priority", "5", "-o", "high", ELASTIC, "100000", "10")
        begin = time.monotonic()
        d.wait_for(high, lambda p: p["state"] == "runs" and p["tasks"] == 3, "the program of high priority")
        waited = time.monotonic() - begin
        d.wait_for(low, lambda p: p["tasks"] == 1, "it to shrink")
        lowest = d.submit("--priority", "-5", "-o", "lowest", "sleep", "600")
        time.sleep(1)
        check(d.program(lowest)["state"] == "waits", "%s" % d.program(lowest))  # the processors are the other's
        d.run("kill", high)
        d.wait_state(lowest, "runs")
        d.wait_for(low, lambda p: p["tasks"] == 3, "it to grow again")
        for number in low, lowest:
            d.run("kill", number)
            d.wait_state(number, "ended")
        wait_until(lambda: len(d.processes()) == 1, "all processes but the daemon to end")
        check(not [n for n in os.listdir(d.tmp) if n.startswith("dome-")], "files are left: %s" % os.listdir(d.tmp))
        return "the program of high priority ran after %.2f s" % waited


def hub_of(d):
    """The hub of the only program."""
    mine = [p.pid for p in d.processes()]
    return [p["pid"] for p in json.loads(d.run("ps", "--json")[1]) if p["pid"] in mine][0]


def refused_for_now():
    """An order that the hub refuses because of another one is given again."""
    with Daemon(slots=4) as d:
        low = d.submit("-n", "4", "--min", "1", "-o", "low", ELASTIC, "100000", "2000")
        d.wait_for(low, lambda p: p["state"] == "runs" and p["tasks"] == 4, "four tasks")
        wait_until(lambda: os.path.exists(d.work + "/low") and "begins" in open(d.work + "/low").read(), "its loop")
        hub = hub_of(d)
        shrinks = [harness.subprocess.Popen([harness.DOME, "shrink", str(hub)], env=d.environment(), stdout=harness.subprocess.DEVNULL, stderr=harness.subprocess.DEVNULL) for _ in range(2)]
        # When one is refused, the other one waits for the next boundary, two seconds apart.
        wait_until(lambda: any(order.poll() is not None for order in shrinks), "an order to be refused")
        high = d.submit("-n", "3", "--priority", "5", "-o", "high", ELASTIC, "100000", "10")
        d.wait_state(high, "runs")
        check(0 in [order.wait() for order in shrinks], "not shrunk")
        d.wait_for(low, lambda p: p["tasks"] == 1, "it to shrink for the other, too", 60)
        for number in low, high:
            d.run("kill", number)
            d.wait_state(number, "ended")


def topologies():
    """The first wish that fits; mistakes by line and column; a program whose wishes do not fit waits."""
    with Daemon(slots=4) as d:
        wish = d.work + "/wish"
        for text, words in ("[1]\ntasks=2\n[2]\ntask=1\n", "wish: line 4, column 1: the keys are"), ("tasks=1\n", "line 1, column 1: a key before"):
            with open(wish, "w") as f:
                f.write(text)
            _, _, err = d.run("submit", "--topology", wish, "true", status=2)
            check(words in err, err)
        with open(wish, "w") as f:
            f.write("# best\n[1]\ntasks=3\nhosts=nowhere[1-9]\n[2]\ntasks=2\n")
        number = d.submit("--topology", wish, "-o", "out", ELASTIC, "100000", "10")
        d.wait_for(number, lambda p: p["state"] == "runs" and p["tasks"] == 2, "the second wish")
        with open(wish, "w") as f:
            f.write("[1]\ntasks=3\n")
        waits = d.submit("--topology", wish, "-o", "waits", ELASTIC, "30", "10")
        time.sleep(1)
        check(d.program(waits)["state"] == "waits", "%s" % d.program(waits))
        d.run("kill", number)
        d.wait_state(waits, "ended")
        check(d.program(waits)["status"] == 0, "%s" % d.program(waits))
        _, _, err = d.run("submit", "-n", "2", "--topology", wish, "true", status=2)
        check("wish: no wish has 2 to 2 tasks" in err, err)


def limits():
    """More tasks than the program was submitted with, and fewer."""
    with Daemon(slots=8) as d:
        number = d.submit("-n", "3", "--min", "2", "-o", "out", ELASTIC, "100000", "10")
        d.wait_for(number, lambda p: p["state"] == "runs" and p["tasks"] == 3, "three tasks")
        d.run("limits", number, "-n", "6")
        d.wait_for(number, lambda p: p["tasks"] == 6, "six tasks")
        d.run("limits", number, "-n", "2", "--min", "1")
        d.wait_for(number, lambda p: p["tasks"] == 2, "two tasks")
        check(d.program(number)["min"] == 1, "%s" % d.program(number))
        _, _, err = d.run("limits", number, "-n", "1", status=1)
        check("2 tasks or more until it begins again" in err, err)
        d.run("kill", number)
        d.wait_state(number, "ended")


def topologies_within():
    """-n and --min leave wishes out, also while the program runs."""
    with Daemon(slots=8) as d:
        wish = d.work + "/wish"
        with open(wish, "w") as f:
            f.write("[1]\ntasks=6\n[2]\ntasks=3\n[3]\ntasks=1\n")
        number = d.submit("-n", "4", "--min", "2", "--priority", "5", "--topology", wish, "-o", "out", ELASTIC, "100000", "10")
        d.wait_for(number, lambda p: p["state"] == "runs" and p["tasks"] == 3, "the second wish")
        _, _, err = d.run("limits", number, "-n", "5", "--min", "4", status=1)
        check("no wish of 4 to 5 tasks" in err, err)
        d.run("limits", number, "-n", "8")
        d.wait_for(number, lambda p: p["tasks"] == 6, "the first wish")
        d.run("limits", number, "-n", "3", "--min", "1")
        d.wait_for(number, lambda p: p["tasks"] == 3, "the second wish again")
        _, _, err = d.run("limits", number, "-n", "1", status=1)
        check("2 tasks or more until it begins again" in err, err)
        d.run("kill", number)
        d.wait_state(number, "ended")


def owner():
    """Somebody touches the console: tasks are nice, then stopped, and go on when nobody does. One who comes and goes each second is
    there all the time."""
    with Daemon(slots=4, options=["--dedicated", "--console", "/tmp/%d.console" % os.getpid()]) as d:
        console = "/tmp/%d.console" % os.getpid()
        touch = lambda: open(console, "w").close()
        touch()
        try:
            number = d.submit("-n", "2", "-o", "out", ELASTIC, "100000", "10")
            d.wait_state(number, "runs")
            wait_until(lambda: len(states(d)) >= 2, "its tasks")
            tasks = [p.pid for p in d.processes() if p.name == "elastic"]
            nice = lambda: [os.getpriority(os.PRIO_PROCESS, pid) for pid in tasks]
            time.sleep(1.5)
            begin = time.monotonic()
            nice_after = stopped_after = None
            while stopped_after is None and time.monotonic() - begin < 30:
                touch()
                if nice_after is None and os.geteuid() == 0 and set(nice()) == {19}:
                    nice_after = time.monotonic() - begin
                if states(d).count("T") >= 2:
                    stopped_after = time.monotonic() - begin
                time.sleep(0.05 if stopped_after is None and time.monotonic() - begin < 3 else 1)  # then comes and goes
            check(stopped_after is not None, "not stopped: %s" % states(d))
            check(os.geteuid() != 0 or nice_after is not None, "not nice")
            check(d.program(number)["held"], "%s" % d.program(number))
            d.wait_for(number, lambda p: p["state"] == "runs", "it to go on")
            gone = time.monotonic() - begin - stopped_after
            check(gone > 10, "it went on after %.1f s" % gone)
            return "nice after %s, stopped after %.1f s, went on %.1f s after the owner" % ("%.1f s" % nice_after if nice_after else "-", stopped_after, gone)
        finally:
            os.unlink(console)


def states(d):
    return [p.state for p in d.processes() if p.name == "elastic"]


def submit_slow(d, *words):
    """A program that goes on in long steps until a file is removed, whatever else the machine does: the number, and the file."""
    os.mkdir(d.work + "/marks")
    slow = d.work + "/marks/slow"
    open(slow, "w").close()
    return d.submit(*words, ELASTIC, STEPS, "300", "-", d.work + "/marks", "hurries"), slow


def stopped_and_resumed():
    """All processes of the tasks stop, and the result is that of an undisturbed program."""
    expected = undisturbed()
    with Daemon() as d:
        number, slow = submit_slow(d, "-n", "3", "-o", "out")
        d.wait_state(number, "runs")
        wait_until(lambda: len(states(d)) >= 3, "its tasks")
        worst = 0
        for _ in range(5):
            begin = time.monotonic()
            d.run("suspend", number)
            worst = max(worst, time.monotonic() - begin)
            check(states(d).count("T") == 3, "states: %s" % states(d))
            check(d.program(number)["state"] == "stopped", "%s" % d.program(number))
            time.sleep(0.3)
            check(states(d).count("T") == 3, "states a while later: %s" % states(d))
            d.run("resume", number)
            check("T" not in states(d), "states: %s" % states(d))
        os.unlink(slow)
        status, out, err = d.run("attach", number)
        check(out == expected, "other output: %r instead of %r; %s" % (out, expected, err))
        return "stopped after %.3f s at most" % worst


def one_process():
    """A program without a hub."""
    with Daemon() as d:
        number = d.submit("-o", "out", "sh", "-c", "while :; do echo x; sleep 0.01; done")
        d.wait_state(number, "runs")
        wait_until(lambda: os.path.exists(d.work + "/out"), "its output")
        d.run("suspend", number)
        before = len(d.output("out"))
        time.sleep(0.2)
        check(len(d.output("out")) == before, "it goes on writing")
        d.run("resume", number)
        wait_until(lambda: len(d.output("out")) > before, "it to write")
        d.run("suspend", number)
        d.run("kill", number)
        d.wait_state(number, "ended")
        check(d.program(number)["status"] == 143, "%s" % d.program(number))


def daemon_killed():
    """Programs go on without the daemon; the next one knows what has become of them, and gives orders to them."""
    expected = undisturbed()
    with Daemon() as d:
        ends = d.submit("-o", "ends", "sh", "-c", "until [ -e %s/end ]; do sleep 0.1; done; exit 7" % d.work)
        goes, slow = submit_slow(d, "-n", "3", "--min", "2", "-o", "goes")
        for number in ends, goes:
            d.wait_state(number, "runs")
        d.kill()
        open(d.work + "/end", "w").close()
        wait_until(lambda: not [p for p in d.processes() if p.name == "sh"], "the first to end")
        time.sleep(0.2)
        d.start()
        d.wait_state(ends, "ended")
        check(d.program(ends)["status"] == 7, "%s" % d.program(ends))
        check(d.program(goes)["state"] == "runs" and d.program(goes)["attempts"] == 1, "%s" % d.program(goes))
        d.run("suspend", goes)
        d.kill()
        d.start()
        check(d.program(goes)["state"] == "stopped", "%s" % d.program(goes))
        d.run("resume", goes)
        os.unlink(slow)
        check(d.run("attach", goes)[1] == expected, "other output: %r" % d.output("goes"))
        for _ in range(20):
            d.kill()
            d.start()
        check(d.program(goes)["status"] == 0 and d.program(ends)["status"] == 7, "the table has changed")


def attached_over_an_end():
    """dome attach looks for the daemon again."""
    with Daemon() as d:
        number = d.submit("-o", "out", "sh", "-c", "echo one; sleep 2; echo two; exit 3")
        env = d.environment()
        attach = harness.subprocess.Popen([d.dome, "attach", number], env=env, stdout=harness.subprocess.PIPE, stderr=harness.subprocess.DEVNULL)
        time.sleep(0.3)
        d.kill()
        d.start()
        out, _ = attach.communicate(timeout=harness.HANG)
        check(attach.returncode == 3 and out == b"one\ntwo\n", "status %d: %r" % (attach.returncode, out))


def keeper_killed():
    """Without its keeper a program is ended, and begins again."""
    with Daemon() as d:
        number = d.submit("-o", "out", "sh", "-c", "echo begins; exec sleep 600")
        d.wait_state(number, "runs")
        wait_until(lambda: os.path.exists(d.work + "/out") and d.output("out"), "its output")
        for p in d.processes():
            if p.name == "dome-keeper":
                harness.kill(p.pid)
        d.wait_for(number, lambda p: p["attempts"] == 2 and p["state"] == "runs", "it to begin again")
        wait_until(lambda: d.output("out").count("begins") == 2, "its second output")
        check(len([p for p in d.processes() if p.name == "sleep"]) == 1, "it runs twice")


def cannot_begin():
    with Daemon() as d:
        for arguments, words in (["-o", "/nowhere/out", "true"], "/nowhere/out: No such file"), (["-o", d.work, "true"], "Is a directory"):
            number = d.submit(*arguments)
            d.wait_state(number, "ended")
            p = d.program(number)
            check(p["status"] == 126 and words in p["why"], "%s" % p)
        status, _, err = d.run("submit", "no-such-program", status=127)
        status, _, err = d.run("kill", "j99", status=1)
        check(err == "dome: kill: there is no program j99; dome ps lists them\n", err)


def ignores_its_end():
    """SIGKILL comes after ten seconds."""
    with Daemon() as d:
        number = d.submit("-o", "out", "sh", "-c", "trap '' TERM; echo x; while :; do sleep 1; done")
        wait_until(lambda: os.path.exists(d.work + "/out") and d.output("out"), "its output")
        d.run("kill", number)
        d.wait_state(number, "ended")
        check(d.program(number)["status"] == 137, "%s" % d.program(number))


def full():
    """The table may have so many bytes: a program for which there is no room is not taken, and what runs goes on."""
    with Daemon(before=["prlimit", "--fsize=20000"]) as d:
        first = d.submit("-o", "out", "sleep", "600", environment={"ROOM": "x" * 1000})
        d.wait_state(first, "runs")
        _, _, err = d.run("submit", "-o", "big", "sleep", "600", environment={"ROOM": "x" * 30000}, status=1)
        check("the table of programs cannot be written" in err, err)
        check("cannot be written" in d.lines(), d.lines())
        wait_until(lambda: d.program("j2") is None, "the program to be taken back")
        check(not os.path.exists(d.work + "/big"), "it has begun")
        wait_until(lambda: "is written again" in d.lines(), "the table to be written")
        third = d.submit("-o", "out", "sleep", "600")
        d.wait_state(third, "runs")
        d.run("kill", first)
        d.wait_state(first, "ended")


def other_versions():
    with Daemon() as d:
        d.submit("true")
        d.kill()
        path = d.folder + "/table"
        with open(path) as f:
            text = f.read()
        for change, words in (text.replace("version=5", "version=1", 1), "it is of version 1, this is version 5"), (text[:-3], "is damaged"), ("", "line 1"):
            with open(path, "w") as f:
                f.write(change)
            done = harness.subprocess.run([DOMED, "--state", d.folder, "--socket", d.socket], env=d.environment(), stderr=harness.subprocess.PIPE, timeout=harness.HANG)
            check(done.returncode == 1 and words in done.stderr.decode(), "status %d: %s" % (done.returncode, done.stderr.decode()))
            with open(path) as f:
                check(f.read() == change, "the table was changed")
        with open(path, "w") as f:
            f.write(text)
        d.start()
        other = harness.subprocess.run([DOMED, "--state", d.folder, "--socket", d.base + "/s2"], env=d.environment(), stderr=harness.subprocess.PIPE, timeout=harness.HANG)
        check(other.returncode == 1 and b"another domed uses it" in other.stderr, "%s" % other.stderr)
        d.kill()
        folder = os.open(d.folder, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        threading.Timer(1, os.close, [folder]).start()
        d.start()  # one that was killed a moment ago may still have its folder


def clock_that_jumps():
    """An hour ahead and back, for daemon, hub, tasks and commands: nobody is lost, and nothing waits for that hour."""
    library = os.path.abspath(harness.BUILD) + "/tests/preload/libinject.so"
    if not os.path.exists(library):
        return "skipped: no library to preload"
    for period in "0", "300":  # ms; 0: at each reading
        begin = time.monotonic()
        with Daemon(slots=4, environment={"LD_PRELOAD": library, "INJECT_CLOCK": period + ":3600"}) as d:
            low = d.submit("-n", "4", "--min", "1", "--run-option=--on-loss=heal", "--run-option=--restarts=3", "-o", "low", ELASTIC,
                           "500", "10", "-", "--dome-checkpoint-every", "1s")
            d.wait_for(low, lambda p: p["state"] == "runs" and p["tasks"] == 4, "four tasks")
            d.run("suspend", low)
            d.wait_state(low, "stopped")
            d.run("resume", low)
            d.wait_state(low, "runs")
            harness.kill([p for p in d.processes() if p.name == "elastic"][-1].pid)
            high = d.submit("-n", "3", "--priority", "5", "-o", "high", ELASTIC, "100", "10")
            d.wait_for(low, lambda p: p["tasks"] == 1, "it to shrink")
            d.wait_state(high, "ended")
            d.wait_state(low, "ended")
            for number, name, steps in (low, "low", "500"), (high, "high", "100"):
                p = d.program(number)
                check(p["status"] == 0 and p["attempts"] == 1, "%s: %s" % (p, open(d.work + "/" + name).read()))
                with Run([ELASTIC, steps, "0", "-", "--dome-transport", "self"]) as run:
                    check(run.wait() == 0, run.errors())
                    expected = run.output().splitlines()[-1]
                with open(d.work + "/" + name, "rb") as f:
                    check(f.read().splitlines()[-1] == expected, "other output")
        check(time.monotonic() - begin < 120, "%.1f s" % (time.monotonic() - begin))


def without_daemon():
    """A line says so; suspend and resume work on programs that were not submitted, also over a loss."""
    env = harness.clean_environment()
    env["DOME_DAEMON"] = "/nowhere"
    done = harness.subprocess.run([harness.DOME, "submit", "true"], env=env, stderr=harness.subprocess.PIPE)
    check(done.returncode == 1 and b"no domed runs on this host" in done.stderr, "%s" % done.stderr)
    with Run([ELASTIC, STEPS, "0", "-", "--dome-transport", "self"]) as run:
        check(run.wait() == 0, run.errors())
        expected = run.output()
    with Run([harness.DOME, "run", "-n", "3", "--restarts", "3", "--on-loss", "heal", ELASTIC, STEPS, "300", "-", "%MARKS%", "hurries", "--dome-timeout", "4"],
             {"PVM_ALLOW_ROOT": "1"}, marks=["slow"]) as run:
        harness.reach(run, 5)
        order = lambda *words: harness.subprocess.run([harness.DOME, *words], env=env, stdout=harness.subprocess.PIPE, stderr=harness.subprocess.PIPE, timeout=60)
        pid = str(run.pid)
        done = order("suspend", pid)
        check(done.returncode == 0, "%s" % done)
        check([Process.at(run.rank(r)).state for r in range(3)] == ["T"] * 3, run.describe())
        done = order("grow", pid)
        check(done.returncode == 1 and b"suspended" in done.stderr, "%s" % done)
        time.sleep(6)  # longer than the limit of silence
        check([Process.at(run.rank(r)).state for r in range(3)] == ["T"] * 3, run.describe())
        step = harness.step_of(run)
        lost = run.rank(1)
        os.kill(lost, signal.SIGKILL)
        # A newcomer may stop before it has come out of dome_init.
        is_stopped = lambda: not Process.at(lost) and [p.state for p in run.processes() if p.name == "elastic"].count("T") == 3
        wait_until(lambda: is_stopped() or run.process.poll() is not None, "it to heal and to stop again")
        check(run.process.poll() is None, "it has ended: %s" % run.errors())
        check(harness.step_of(run) <= step + 3, "it went on from step %d to %d" % (step, harness.step_of(run)))
        done = order("resume", pid)
        check(done.returncode == 0, "%s" % done)
        os.unlink(run.marks + "/slow")
        check(run.wait() == 0, run.errors())
        check(run.output().splitlines()[-1] == expected.splitlines()[-1], "other output: %r" % run.output())


def losses_while_suspended():
    """Each time the program heals and stops again, wherever its tasks are when they are told to."""
    rounds = 12
    order = lambda *words: harness.subprocess.run([harness.DOME, *words], env=harness.clean_environment(), stdout=harness.subprocess.PIPE, stderr=harness.subprocess.STDOUT, timeout=60)
    with Run([harness.DOME, "run", "-n", "3", "--restarts", str(rounds), "--on-loss", "heal", ELASTIC, "100000", "5", "-", "%MARKS%", "--dome-timeout", "4"],
             {"PVM_ALLOW_ROOT": "1"}) as run:
        for k in range(rounds):
            step = harness.step_of(run)
            wait_until(lambda: harness.step_of(run) != step or run.process.poll() is not None, "a step")
            done = order("suspend", str(run.pid))
            check(done.returncode == 0, "loss %d: %s; %s" % (k, done, run.errors()))
            lost = run.rank(k % 3)
            os.kill(lost, signal.SIGKILL)
            is_stopped = lambda: not Process.at(lost) and [p.state for p in run.processes() if p.name == "elastic"].count("T") == 3
            wait_until(lambda: is_stopped() or run.process.poll() is not None, "it to heal and to stop again after loss %d" % k)
            check(run.process.poll() is None, "loss %d: it has ended: %s" % (k, run.errors()))
            done = order("resume", str(run.pid))
            check(done.returncode == 0, "loss %d: %s; %s" % (k, done, run.errors()))
        run.process.terminate()
        run.wait()
        run.check_clean()


def signal_while_suspended():
    """SIGTERM to the process that was started ends it."""
    with Run([ELASTIC, "100000", "10", "-", "%MARKS%", "--dome-tasks", "3"], {"PVM_ALLOW_ROOT": "1"}) as run:
        harness.reach(run, 3)
        done = harness.subprocess.run([harness.DOME, "suspend", str(run.pid)], env=dict(harness.clean_environment(), DOME_DAEMON="/nowhere"), timeout=60)
        check(done.returncode == 0, "%s" % done)
        os.kill(run.pid, signal.SIGTERM)
        check(run.wait() in (143, -signal.SIGTERM), "status %s: %s" % (run.wait(), run.errors()))
        run.check_clean()


def hub_is_busy():
    """A hub that does not answer for some seconds is asked again."""
    with Run([ELASTIC, "100000", "10", "-", "%MARKS%", "--dome-tasks", "2"], {"PVM_ALLOW_ROOT": "1"}) as run:
        harness.reach(run, 3)
        hub = run.hub()
        os.kill(hub, signal.SIGSTOP)
        with harness.subprocess.Popen([harness.DOME, "suspend", str(run.pid)], env=dict(harness.clean_environment(), DOME_DAEMON="/nowhere"), stderr=harness.subprocess.PIPE) as order:
            time.sleep(5)  # longer than it waits for an answer
            os.kill(hub, signal.SIGCONT)
            errors = order.stderr.read()
        check(order.returncode == 0, "%s" % errors)
        run.process.terminate()
        run.wait()
        run.check_clean()


def soon():
    """A daemon that takes no order only now, as before daemons compare their tables, is asked again."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(folder + "/s")
        listener.listen()
        asked = []

        def serve():
            for reply in b"no text=later soon=1\n", b"no text=later soon=1\n", b"done text=j1\n":
                with listener.accept()[0] as client:
                    asked.append(client.makefile("rb").readline())
                    client.sendall(reply)

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        done = harness.subprocess.run([harness.DOME, "submit", "true"], env=dict(harness.clean_environment(), DOME_DAEMON=folder + "/s"), timeout=60,
                                      capture_output=True)
        server.join(60)
        check(done.returncode == 0 and done.stdout == b"j1\n", "%s" % done)
        check(len(set(asked)) == 1 and len(asked) == 3, "%s" % asked)


def main():
    harness.need_pvm()
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    cases = [("a program of higher priority takes tasks", priorities), ("an order refused only now", refused_for_now), ("topologies", topologies), ("limits", limits), ("numbers of tasks beside topologies", topologies_within), ("an owner comes and goes", owner), ("suspend and resume", stopped_and_resumed),
             ("suspend and resume a program of one process", one_process), ("the daemon killed and started again", daemon_killed),
             ("attach over the daemon's end", attached_over_an_end), ("the keeper killed", keeper_killed),
             ("programs that cannot begin", cannot_begin), ("a program that ignores SIGTERM", ignores_its_end),
             ("a table that cannot be written", full), ("tables of other versions, two daemons", other_versions),
             ("a clock that jumps", clock_that_jumps), ("without a daemon", without_daemon), ("losses while suspended", losses_while_suspended), ("a signal to a suspended program", signal_while_suspended), ("a hub that is busy", hub_is_busy), ("a daemon that takes no order now", soon)]
    sys.exit(1 if harness.run_all([c for c in cases if part in c[0]], 4) else 0)


main()
