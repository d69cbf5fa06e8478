"""What the page takes of the records of some parts: all rounds of one machine, complete or not, quiet or disturbed."""

import statistics

from .results import QUIET, STOLEN, identity, others, place


class Round:
    """An attempt at a round of a part."""

    def __init__(self, part, where, records):
        self.part, self.number, self.attempt, self.records = part, where[0], where[1], records
        self.commits = sorted({r["commit"] for r in records})
        self.missing = [item for item in part.items if item not in {r["item"] for r in records}]

    def complete(self):
        return not self.missing

    def above(self, text, value, limit):
        """A sentence's part about the records whose value is above a limit; nothing if there is none."""
        found = [(value(r), r["item"]) for r in self.records if value(r) > limit]
        if not found:
            return []
        low, high = ("%.0f" % (100 * f([v for v, _ in found])) for f in (min, max))
        return [text % ("%s %%" % high if low == high else "%s to %s %%" % (low, high)) +
                (found[0][1] if len(found) == 1 else "%d of its %d programs" % (len(found), len(self.records)))]

    def disturbances(self):
        """Why its figures are worth less than others', in words."""
        return (self.above("other programs used %s of the processors beside ", others, QUIET) +
                self.above("the machine's host took %s of the processors from ", lambda r: r.get("stolen", 0), STOLEN) +
                (["its programs are of %d commits" % len(self.commits)] if len(self.commits) > 1 else []))

    def sound(self):
        return self.complete() and not self.disturbances()

    def name(self):
        return "%d" % self.number + (", attempt %d" % self.attempt if self.attempt > 1 else "")


def rounds_of(part, records):
    """All attempts at all rounds, in order."""
    found = {}
    for r in records:
        found.setdefault(place(r), []).append(r)
    return [Round(part, where, found[where]) for where in sorted(found)]


def spread(values):
    """Median, least, most; None of nothing."""
    return (statistics.median(values), min(values), max(values)) if values else None


def ranged(values, form="%.2f", scale=1.0):
    """The median, and from where to where the rounds go; "-" of nothing."""
    if not values:
        return "-"
    middle, least, most = (form % (scale * v) for v in spread(values))
    return middle if least == most else "%s (%s to %s)" % (middle, least, most)


class Rounds:
    """Of the machine that has measured most while other programs left it alone, and of several the last one."""

    def __init__(self, store, parts):
        self.parts = parts
        everything = [r for part in parts for r in store.records(part.key)]
        count, last = {}, {}
        for r in everything:
            quiet = others(r) <= QUIET and r.get("stolen", 0) <= STOLEN
            count[identity(r)] = count.get(identity(r), 0) + quiet
            last[identity(r)] = max(last.get(identity(r), ""), r["date"])
        self.machine = max(sorted(count), key=lambda m: (count[m], last[m])) if count else None
        self.records = {part.key: store.of(part.key, self.machine) for part in parts} if self.machine else {}
        self.all = [r for part in self.measured() for r in self.records.get(part.key, [])]
        self.elsewhere = sorted(set(count) - {self.machine})

    def measured(self):
        """Parts that do not only prepare others."""
        return [part for part in self.parts if part.rounds > 1] or self.parts[-1:]

    def rounds(self):
        """Of all measured parts."""
        return [one for part in self.measured() for one in rounds_of(part, self.records.get(part.key, []))]

    def done(self):
        """By part: how many rounds are complete and undisturbed, and how many are wanted."""
        rounds = self.rounds()
        return [(len({one.number for one in rounds if one.part is part and one.sound()}), part.rounds) for part in self.measured()]

    def least_done(self):
        """Of the part that lacks most: rounds that are complete and undisturbed, rounds that are wanted."""
        return min(self.done(), key=lambda pair: pair[0] / pair[1])

    def data(self, key, item):
        """By round and attempt."""
        return {place(r): r["data"] for r in self.records.get(key, []) if r["item"] == item}

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

    def beside(self, key, item, other_key, other_item):
        """Pairs of what two parts measured in the same round: of the other part the last attempt that is not later."""
        mine, theirs, pairs = self.data(key, item), self.data(other_key, other_item), []
        for number, attempt in sorted(mine):
            found = [k for k in sorted(theirs) if k[0] == number and k[1] <= attempt]
            if found:
                pairs.append((mine[number, attempt], theirs[found[-1]]))
        return pairs
