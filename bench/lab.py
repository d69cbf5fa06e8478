"""What the experiments on hosts of dome-lab share: shares of the processor, the bound that follows from them, running in the lab."""

import os
import subprocess
import sys
import threading
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAB = os.path.join(SOURCE, "tools", "dome-lab")
LIMIT = 900  # seconds; a run that takes longer is taken for one that hangs
NAME = os.path.basename(sys.argv[0])


def die(text, status=1):
    sys.stderr.write("%s: %s\n" % (NAME, text))
    sys.exit(status)


def build(directory, targets, needed, why):
    """Builds targets, and checks that the programs that are needed are there."""
    steps = [["cmake", "-S", SOURCE, "-B", directory, "-DDOME_BENCH=ON"], ["cmake", "--build", directory, "--target", *targets]]
    for step in steps:
        done = subprocess.run(step, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            die("%s failed:\n%s" % (" ".join(step), done.stdout))
    for name in needed:
        if not os.path.exists(os.path.join(directory, name)):
            die("%s was not built: it needs %s" % (name, why))


def enter(hosts, directory):
    """Starts this script again as the command of a lab."""
    os.environ.update(DOME_SOURCE_DIR=SOURCE, DOME_BUILD_DIR=directory, OPENBLAS_NUM_THREADS="1")
    sys.stdout.flush()
    os.execv(LAB, [LAB, str(hosts), sys.executable] + sys.argv)


class Shares:
    """Percent of a processor that each host has, from when a loop begins: constant, or changed by events (seconds, host, percent)."""

    def __init__(self, begin, events=()):
        self.begin, self.events = begin, list(events)

    def bound(self, work):
        """Seconds in which all hosts together can do so many seconds of a processor's work."""
        share, now = dict(self.begin), 0.0
        for when, host, percent in self.events:
            rate = sum(share.values()) / 100
            if work <= rate * (when - now):
                break
            work -= rate * (when - now)
            share[host], now = percent, when
        return now + work / (sum(share.values()) / 100)


# ---- inside the lab ----


def on(host, command, environment=()):
    return [LAB, "on", host, "env"] + list(environment) + command


def on_unbuffered(host, command):
    """Lines are passed on as they come."""
    return on(host, ["stdbuf", "-oL"] + command, ["DOME_RSH=ssh -F %s/ssh_config" % os.environ["LAB"]])


def set_shares(percents):
    for host, percent in percents.items():
        status = subprocess.call([LAB, "cpu", host, percent if percent == "max" else "%.2f" % percent])
        if status != 0:
            sys.exit(status)


class Run:
    """Runs a command under shares that hold from before the start; events begin with its first line of
    output, which a program prints when its loop begins. Ends the script if the
    command fails. lines: what it printed; when: the time of each; errors: its standard error; used: of os.wait4."""

    def __init__(self, what, command, given, work):
        set_shares(given.begin)
        events = os.path.join(work, "events")
        with open(events, "w") as file:
            file.writelines("%.3f cpu %s %.2f\n" % event for event in given.events)
        with open(os.path.join(work, "errors"), "w+") as errors:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
            timer = threading.Timer(LIMIT, process.kill)
            timer.start()
            player, self.lines, self.when = None, [], []
            for line in process.stdout:
                self.lines.append(line)
                self.when.append(time.monotonic())
                if len(self.lines) == 1 and given.events:
                    player = subprocess.Popen([LAB, "play", events], stdin=subprocess.DEVNULL)
            _, status, self.used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            timer.cancel()
            if player:
                player.terminate()
                player.wait()
            errors.seek(0)
            self.errors = errors.read()
        if process.returncode != 0:
            die("%s ended with status %d: %s" % (what, process.returncode, self.errors.strip()))

    def said(self):
        return "".join(self.lines)
