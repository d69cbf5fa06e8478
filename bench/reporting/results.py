"""What was measured: a file of JSON for each part, a line for each record, and of which machine it is. Nothing replaces a record: a
round that is measured again is another attempt at it."""

import datetime
import hashlib
import json
import os
import platform
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import SOURCE  # noqa: E402

QUIET = 0.1  # of the processors' time may others use before and after an item; with more, its round is disturbed
STOLEN = 0.05  # of the processors' time may the machine's host take away meanwhile


class Mixed(Exception):
    """Records of one round would be of two states of the sources."""


def processor():
    """Its name, and its model where the name is the hypervisor's."""
    fields = {}
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    text = fields.get("model name", platform.machine()).replace("(R)", "").replace("(TM)", "")
    return " ".join(text.split()) + (" (model %s)" % fields["model"] if "model" in fields else "")


def machine():
    return {"processor": processor(), "processors": len(os.sched_getaffinity(0)), "kernel": platform.release()}


def commit():
    """The last one that changed what is measured; where the tree differs from it, with + and a hash of the difference."""
    paths = ["src", "include", "tools", "examples", "CMakeLists.txt", "cmake", "bench/*.c", "bench/mm", "bench/cape", "bench/introspection", "bench/figure6",
             "bench/figure10", "bench/lab.py", "bench/survival.py"]

    def git(*words):
        done = subprocess.run(["git", "-C", SOURCE] + list(words) + ["--"] + paths, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip()

    differs = git("diff", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    return git("log", "-1", "--format=%h") + ("+" + hashlib.sha256(differs.encode()).hexdigest()[:6] if differs else "")


def busy(seconds=1.0):
    """The part of the processors' time that all programs of the machine used in the next so many seconds."""
    def read():
        with open("/proc/stat") as stat:
            values = [int(word) for word in stat.readline().split()[1:9]]
        return sum(values), values[3] + values[4]

    total, idle = read()
    time.sleep(seconds)
    later, idle_later = read()
    return 1 - (idle_later - idle) / max(1, later - total)


def stolen():
    """Seconds of a processor that the machine's host has given to others so far."""
    with open("/proc/stat") as stat:
        words = stat.readline().split()
    return int(words[8]) / os.sysconf("SC_CLK_TCK") if len(words) > 8 else 0.0


def record(item, place, data, took, load, commit_built):
    """place: round and attempt. load: what others used before and after, and the part of the processors that was stolen meanwhile."""
    return {"round": place[0], "attempt": place[1], "item": item, "date": datetime.date.today().isoformat(), "commit": commit_built, **machine(),
            "busy": [round(load[0], 3), round(load[1], 3)], "stolen": round(load[2], 4), "load": round(os.getloadavg()[0], 2),
            "took": round(took, 1), "data": data}


class Store:
    """Records by part, in a directory."""

    def __init__(self, directory):
        self.directory, self.kept = directory, {}

    def path(self, key):
        return os.path.join(self.directory, key + ".json")

    def records(self, key):
        if key not in self.kept:
            try:
                with open(self.path(key)) as file:
                    self.kept[key] = json.load(file)
            except FileNotFoundError:
                self.kept[key] = []
        return self.kept[key]

    def write(self, key, records):
        """The file is whole at any time."""
        os.makedirs(self.directory, exist_ok=True)
        self.kept[key] = records
        with open(self.path(key) + ".new", "w") as file:
            file.write("[\n" + ",\n".join(json.dumps(r) for r in records) + "\n]\n")
        os.replace(self.path(key) + ".new", self.path(key))

    def add(self, key, record):
        """The programs of one attempt at a round are of one commit, and each is there once."""
        for r in self.of(key, identity(record)):
            if place(r) != place(record):
                continue
            if r["commit"] != record["commit"]:
                raise Mixed("round %d of %s was begun at %s, and this is %s" % (r["round"], key, r["commit"], record["commit"]))
            if r["item"] == record["item"]:
                raise Mixed("round %d of %s has %s already" % (r["round"], key, r["item"]))
        self.write(key, self.records(key) + [record])

    def drop(self, key, machine_id):
        kept = [r for r in self.records(key) if identity(r) != machine_id]
        if kept != self.records(key):
            self.write(key, kept)

    def of(self, key, machine_id):
        return [r for r in self.records(key) if identity(r) == machine_id]


def identity(record):
    return "%s, %d processors" % (record["processor"], record["processors"])


def place(record):
    """Round and attempt."""
    return record["round"], record.get("attempt", 1)


def others(record):
    """The largest part of the processors that other programs used just before or after."""
    return max(record["busy"])


def quiet(record):
    return others(record) <= QUIET and record.get("stolen", 0) <= STOLEN
