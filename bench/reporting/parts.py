"""What a file of bench/reports declares, and what a part gets when it runs."""

import collections
import ctypes
import json
import os
import signal
import subprocess
import sys

from .results import SOURCE, place

from survival import Failed, Run  # noqa: E402, F401

LIMIT = 1200  # seconds; a command that takes longer is taken for one that hangs

# What is measured once in each round. key: the name of its file of results; rounds: how many are wanted; items: what is run one by one,
# and can be resumed between; seconds: what an item takes, roughly; run(context): measures one and returns what JSON can hold; hosts: of
# the lab in which it runs, 0 for none; targets: what cmake builds for it; needs: a part that has to have been measured in the same round and
# at the same commit.
Part = collections.namedtuple("Part", "key rounds items seconds run hosts targets needs", defaults=(0, ("dome_tool",), None))

Table = collections.namedtuple("Table", "head rows")
Plot = collections.namedtuple("Plot", "name alt svg")  # alt: what a reader without the picture reads
Text = collections.namedtuple("Text", "text")


class Unable(Failed):
    """This machine cannot do that."""


class Missing(Failed):
    """A part needs another one's result."""


class Context:
    """What a part's run gets. work: a directory of its own, on a disk, that all hosts of a lab see."""

    def __init__(self, part, item, round_number, quick, build, work, store, machine_id):
        self.part, self.item, self.round, self.quick, self.build, self.work = part, item, round_number, quick, build, work
        self.store, self.machine_id = store, machine_id

    def value(self, key, item, round_number=None):
        """What another part has measured on this machine in a round, by default this one; the last attempt at it."""
        found = [r for r in self.store.of(key, self.machine_id) if r["item"] == item and r["round"] == (round_number or self.round)]
        if not found:
            raise Missing("%s of %s has no round %d yet" % (item, key, round_number or self.round))
        return max(found, key=place)["data"]

    def command(self, words):
        """Standard output of a command that has to succeed."""
        return run_command(words)

    def bench(self, script, words, result):
        """Runs a script of bench that writes the file `result` into the work directory; its path."""
        path = os.path.join(self.work, result)
        run_command([sys.executable, os.path.join(SOURCE, "bench", script), "--build", self.build, "--built"] + words + ["--" + result.split(".")[-1], path])
        return path


def end_with_parent():
    """In a child process: SIGTERM when its parent ends, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def run_command(words):
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                              preexec_fn=end_with_parent)
    except subprocess.TimeoutExpired:
        raise Failed("%s takes more than %d s" % (os.path.basename(words[0]), LIMIT))
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no words").splitlines()
        raise (Unable if done.returncode == 77 else Failed)("%s ended with status %d: %s" % (os.path.basename(words[1] if words[0] == sys.executable else words[0]),
                                                      done.returncode, said[-1]))
    return done.stdout


def read_json(path):
    with open(path) as file:
        return json.load(file)
