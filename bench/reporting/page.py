"""docs/report.md out of what was measured: the same results give the same page."""

import os
import textwrap

from . import verdict
from .parts import Plot, Table
from .results import identity, others
from .rounds import Rounds, rounds_of

INTRODUCTION = """# The figures of the papers, measured again

    bench/report                            # measures what is missing, in parts, and writes this page
    bench/report --only dome_6 --rounds 3   # one figure, three rounds
    bench/report --budget 30                # for half an hour; the next call resumes there
    bench/report --list                     # what there is, what is done, how long the rest takes
    bench/report --write                    # only writes this page, from bench/results

Dome (Árabe et al., CMU-CS-95-137, 1995), Process Introspection (Ferrari, University of Virginia, 1998), Stardust (Cabillic and Puaut, \
1997), Starfish (Agbaria and Friedman, 2003) and CAPE (Ha, Telecom SudParis, 2012) each report measurements. `bench/report` repeats them with this library and writes this \
page; nothing on it is edited by hand. [The README of the benchmarks](../bench/README.md) describes the programs, [lab.md](lab.md) the hosts.

**All rounds count.** A figure is the median of all rounds on one machine; in brackets stand the least and the largest, if there is more \
than one round. A ratio is taken within a round, and the programs of a round are of one commit. A round is *disturbed* if other programs used \
more than a tenth of the processors in the second before or after one of its programs, if the machine's host took more than a twentieth of \
them away meanwhile, or if its programs are of several commits. `bench/report` repeats a disturbed round; the disturbed one counts as well. \
[Rounds](#rounds) lists each with its load.

**One rule for the verdicts.** A published figure that does not depend on the machines (a ratio, a part, a size) is held against ours. Ours \
is *as published* if the published figure lies in the range of all our rounds or at most 5 % beside it, *better* or *worse* if it lies \
further away. It is *undecided* if it lies in the range, but that is wider than a factor of 1.5, or if there is one round alone, and that is at most \
25 % beside it. Seconds of machines that are decades apart are *not comparable*. Where a paper has \
seconds and no ratio, the published ratio is computed from them.
"""

SET_UP = """## Hosts and products

The hosts of the experiments with Dome's products of matrices (Figures 3 to 6) are those of a [lab](lab.md) on one machine: each has 25 % \
of a processor and a link as fast as memory, in place of six Alpha workstations on an Ethernet or a switch. A host gets its share in \
turns of 10 ms. The oracle knows all shares in advance and never waits: its time is the work over the sum of the shares at each moment.

A matrix X (rows of 256 values, spread over the tasks) is multiplied 240 times by a matrix of 256 x 256 that every task holds; after \
every tenth product all tasks compute the norm of X. X has so many rows that the sequential program takes 30 s of a processor. (The \
matrices of 1995 have 786,432 elements each; their shapes are not given.) `mmpvm` and `mmpvmopt` are written for PVM by hand, plainly and \
as fast as equal parts allow. One BLAS multiplies in every program, so the gap that the paper saw between the two (registers and cache \
misses) is not here.
"""


def wrapped(text):
    """Paragraphs at 100 columns; lines of code as they are."""
    out = []
    for paragraph in text.strip("\n").split("\n\n"):
        if paragraph.startswith(("    ", "#", "|", "![")):
            out.append(paragraph)
        else:
            out.append("\n".join(textwrap.wrap(paragraph.replace("\n", " "), 100, break_long_words=False, break_on_hyphens=False,
                                               subsequent_indent="  " if paragraph.startswith("- ") else "")))
    return "\n\n".join(out)


def listed(points):
    return "\n".join(wrapped("- " + point) for point in points)


def table(t):
    lines = ["| " + " | ".join(t.head) + " |", "|" + "---|" + "---:|" * (len(t.head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in t.rows])


def when(records):
    dates = sorted(r["date"] for r in records)
    return dates[0] if dates[0] == dates[-1] else dates[0] + " to " + dates[-1]


def counted(number, text):
    return "%d %s%s" % (number, text, "" if number == 1 else "s")


def state(rounds):
    """What was measured when and where, what disturbed it and what is missing, in some sentences."""
    if not rounds.all:
        return "**Not yet run at full length**: there is nothing to compare."
    sound, wanted = rounds.least_done()
    kernels = sorted({r["kernel"].split("-")[0] for r in rounds.all})
    commits = sorted({r["commit"] for r in rounds.all})
    text = "Measured %s on %s, Linux %s, commit%s %s. " % (when(rounds.all), rounds.machine, ", ".join(kernels), "s" if len(commits) > 1 else "",
                                                         ", ".join(commits))
    text += "%s complete and undisturbed, %d wanted." % (counted(sound, "round") + (" is" if sound == 1 else " are"), wanted)
    for one in rounds.rounds():
        where = "round %s of `%s`" % (one.name(), one.part.key)
        if one.disturbances():
            text += " **Disturbed**: %s (%s)." % (where, "; ".join(one.disturbances()))
        if one.missing:
            text += " Incomplete: %s (%s missing)." % (where, counted(len(one.missing), "program") + (" is" if len(one.missing) == 1 else " are"))
    if rounds.elsewhere:
        text += " There are rounds of other machines, which are not in these figures: %s." % "; ".join(rounds.elsewhere)
    return text


def judged(figure, rounds):
    """How the figure stands to the published one: a table of its claims, the verdict, and why."""
    if not rounds.all:
        return [wrapped("**Verdict: %s.** No round at full length is recorded in bench/results." % verdict.NOT_MEASURED)]
    claims = figure.claims(rounds)
    blocks = [table(Table(["held against the paper", "published", "ours", "rounds", "verdict"], verdict.rows(claims)))] if claims else []
    blocks.append(wrapped("**Verdict: %s.**%s" % (verdict.together([verdict.judge(c) for c in claims]) if claims else verdict.INCOMPARABLE,
                                                  "".join(" " + text for text in verdict.reasons(claims) or [figure.NO_CLAIMS] if text))))
    return blocks


def section(figure, store, pictures):
    rounds = Rounds(store, figure.PARTS)
    blocks = ["## " + figure.TITLE, wrapped(figure.WHAT)]
    blocks.append(wrapped("**Published** (%s)%s" % (figure.SOURCE, ": " + figure.PUBLISHED_TEXT if figure.PUBLISHED_TEXT else ":")))
    if figure.PUBLISHED:
        blocks.append(table(figure.PUBLISHED))
    blocks.append(wrapped("**Ours.** " + state(rounds)))
    if rounds.all:
        for element in figure.condense(rounds):
            if isinstance(element, Plot):
                pictures[element.name + ".svg"] = element.svg
                blocks.append("![%s](report/%s.svg)" % (element.alt, element.name))
            else:
                blocks.append(table(element) if isinstance(element, Table) else wrapped(element.text))
    blocks += judged(figure, rounds)
    blocks.append("    bench/report --only " + figure.__name__)
    differs = figure.DIFFERS(rounds) if callable(figure.DIFFERS) else figure.DIFFERS
    blocks.append("What differs in set-up:\n\n" + listed(differs))
    return "\n\n".join(blocks)


def anchor(title):
    return "".join(c for c in title.lower() if c.isalnum() or c in " _-").replace(" ", "-")


def contents(figures, store):
    rows = []
    for figure in figures:
        rounds = Rounds(store, figure.PARTS)
        claims = figure.claims(rounds)
        kinds = [verdict.judge(c) for c in claims] or [verdict.INCOMPARABLE]
        rows.append(["[%s](#%s)" % (figure.TITLE, anchor(figure.TITLE)), verdict.together(kinds) if rounds.all else verdict.NOT_MEASURED,
                     "%d of %d" % rounds.least_done() if rounds.all else "none",
                     str(sum(bool(one.disturbances()) for one in rounds.rounds()))])
    return table(Table(["figure", "verdict", "undisturbed rounds", "disturbed"], rows)).replace("|---|---:|", "|---|---|", 1)


def all_rounds(figures, store):
    """Every round of every machine, with its load."""
    rows, parts = [], {}
    for figure in figures:
        for part in figure.PARTS:
            parts.setdefault(part.key, part)
    for key, part in parts.items():
        records = store.records(key)
        for machine in sorted({identity(r) for r in records}):
            for one in rounds_of(part, [r for r in records if identity(r) == machine]):
                rows.append(["`%s`" % key, machine, one.name(), when(one.records), ", ".join(one.commits), "%d of %d" % (len(one.records), len(part.items)),
                             "%.0f %%" % (100 * max(map(others, one.records))), "%.1f" % max(r["load"] for r in one.records), "yes" if one.disturbances() else "no"])
    text = """## Rounds

All that was measured. *Others*: the largest part of the processors that other programs used in the second before or after one of the \
round's programs. *Load*: the largest mean number of running programs, the round's own among them, in the minute up to the end of one \
of them."""
    return [wrapped(text), table(Table(["part", "machine", "round", "date", "commit", "programs", "others", "load", "disturbed"], rows))] if rows else []


def make(figures, store):
    """The page, and its pictures by name."""
    pictures = {}
    blocks = [wrapped(INTRODUCTION), contents(figures, store), wrapped(SET_UP)]
    blocks += [section(figure, store, pictures) for figure in figures] + all_rounds(figures, store)
    return "\n\n".join(blocks) + "\n", pictures


def write(text, pictures, path):
    folder = os.path.splitext(path)[0]
    os.makedirs(folder, exist_ok=True)
    for name in set(os.listdir(folder)) - set(pictures):
        if name.endswith(".svg"):
            os.unlink(os.path.join(folder, name))
    for name, svg in pictures.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(svg)
    with open(path, "w") as file:
        file.write(text)


def differences(text, pictures, path):
    """Names of the files that are not what the results give."""
    folder = os.path.splitext(path)[0]

    def holds(name, wanted):
        try:
            with open(name) as file:
                return file.read() == wanted
        except FileNotFoundError:
            return False

    wrong = [] if holds(path, text) else [path]
    wrong += [os.path.join(folder, name) for name, svg in sorted(pictures.items()) if not holds(os.path.join(folder, name), svg)]
    there = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    return wrong + [os.path.join(folder, name) for name in sorted(there - set(pictures)) if name.endswith(".svg")]
