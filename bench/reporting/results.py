"""Rounds that were measured: a file of JSON for each part, a line for each record, and of which machine it is."""

import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lab import SOURCE  # noqa: E402

QUIET = 0.1  # of the processors' time may others use before and after a round that counts as quiet


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
    """The last one that changed what is measured; with + where the tree differs from it."""
    paths = ["src", "include", "tools", "examples", "bench/mm", "bench/introspection", "CMakeLists.txt", "cmake"]

    def git(*words):
        done = subprocess.run(["git", "-C", SOURCE] + list(words) + ["--"] + paths, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip()

    return git("log", "-1", "--format=%h") + ("+" if git("status", "--porcelain") else "")


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


def record(item, round_number, data, took, before, after):
    return {"round": round_number, "item": item, "date": datetime.date.today().isoformat(), "commit": commit(), **machine(),
            "busy": [round(before, 3), round(after, 3)], "load": round(os.getloadavg()[0], 2), "took": round(took, 1), "data": data}


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
        """In place of an earlier one of the same item in the same round."""
        def same(r):
            return (identity(r), r["round"], r["item"]) == (identity(record), record["round"], record["item"])

        self.write(key, [r for r in self.records(key) if not same(r)] + [record])

    def drop(self, key, machine_id):
        kept = [r for r in self.records(key) if identity(r) != machine_id]
        if kept != self.records(key):
            self.write(key, kept)

    def of(self, key, machine_id):
        return [r for r in self.records(key) if identity(r) == machine_id]


def identity(record):
    return "%s, %d processors" % (record["processor"], record["processors"])


def quiet(record):
    return max(record["busy"]) <= QUIET


def quiet_rounds(part, records):
    """The records of complete rounds of which all were quiet; if there is none, all records."""
    def complete_and_quiet(number):
        mine = [r for r in records if r["round"] == number]
        return {r["item"] for r in mine} >= set(part.items) and all(quiet(r) for r in mine)

    return [r for r in records if complete_and_quiet(r["round"])] or records


class Rounds:
    """What the page takes of the records of some parts: complete or not, those of one machine, and of these the quiet ones if there
    are any."""

    def __init__(self, store, parts):
        self.parts, self.farthest = parts, None
        everything = [r for part in parts for r in store.records(part.key)]
        count = {}
        for r in everything:
            count[identity(r)] = count.get(identity(r), 0) + 1
        self.machine = max(sorted(count), key=lambda m: count[m]) if count else None
        mine = {part.key: store.of(part.key, self.machine) for part in parts} if self.machine else {}
        self.records = {part.key: quiet_rounds(part, mine[part.key]) for part in parts if part.key in mine}
        self.all = [r for part in self.measured() for r in self.records.get(part.key, [])]
        self.loaded = not all(quiet(r) for r in self.all)
        self.left_out = sum(len(mine[part.key]) for part in self.measured() if part.key in mine) - len(self.all)
        self.elsewhere = sorted(set(count) - {self.machine})

    def measured(self):
        """Parts that do not only prepare others."""
        return [part for part in self.parts if part.rounds > 1] or self.parts[-1:]

    def done(self):
        """By part: how many rounds are complete, and how many are wanted."""
        pairs = []
        for part in self.measured():
            rounds = {}
            for r in self.records.get(part.key, []):
                rounds.setdefault(r["round"], set()).add(r["item"])
            pairs.append((sum(set(part.items) <= items for items in rounds.values()), part.rounds))
        return pairs

    def least_done(self):
        """Of the part that lacks most: rounds that are complete, rounds that are wanted."""
        return min(self.done(), key=lambda pair: pair[0] / pair[1])

    def data(self, key, item):
        """By round."""
        return {r["round"]: r["data"] for r in self.records.get(key, []) if r["item"] == item}

    def values(self, key, item, name):
        return [d[name] for d in self.data(key, item).values()]

    def median(self, key, item, name):
        values = self.values(key, item, name)
        return statistics.median(values) if values else None

    def ratios(self, key, item, other, name="seconds"):
        """Round by round: of one item over another; over another of the same item's values if `other` names none of the items."""
        mine, theirs = self.data(key, item), self.data(key, other)
        if not theirs:
            return [d[name] / d[other] for d in mine.values() if other in d]
        return [mine[k][name] / theirs[k][name] for k in sorted(set(mine) & set(theirs))]

    def ratio(self, *arguments):
        """The median; how far the rounds are from it is noted in `farthest`."""
        ratios = self.ratios(*arguments)
        if not ratios:
            return None
        middle = statistics.median(ratios)
        if len(ratios) > 1:
            self.farthest = max(self.farthest or 0.0, max(abs(ratio / middle - 1) for ratio in ratios))
        return middle
