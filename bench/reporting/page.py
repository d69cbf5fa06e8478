"""docs/report.md out of what was measured: the same results give the same page."""

import os
import textwrap

from .parts import Plot, Table
from .results import Rounds

INTRODUCTION = """# The figures of the papers, measured again

    bench/report                            # measures what is missing, in parts, and writes this page
    bench/report --only dome_6 --rounds 3   # one figure, three rounds
    bench/report --budget 30                # for half an hour; the next call resumes there
    bench/report --list                     # what there is, what is done, how long the rest takes
    bench/report --write                    # only writes this page, from bench/results

Dome (Árabe et al., CMU-CS-95-137, 1995), Process Introspection (Ferrari, University of Virginia, 1998), Stardust (Cabillic and Puaut, \
1997) and Starfish (Agbaria and Friedman, 2003) each report measurements. `bench/report` repeats them with this library and writes this page; nothing on it is edited by hand. All rounds are in \
`bench/results`, with the processor, the kernel, the date and the commit of each. The figures are medians over rounds. [The README of \
the benchmarks](../bench/README.md) describes the programs, [lab.md](lab.md) the hosts.

A round is *quiet* if, in the second before and the second after it, other programs used at most a tenth of the processors. Where \
quiet rounds exist, only they count.
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


def state(rounds):
    """What was measured when and where, in a sentence or two."""
    if not rounds.all:
        return "**Not yet run at full length.**"
    least, wanted = rounds.least_done()
    text = "Measured: "
    if least >= wanted:
        text += "all rounds"
    else:
        text = "Measured so far: %d of %d rounds" % (least, wanted) if least else "**Not yet run as a whole.** Measured so far: parts of a round"
    dates = sorted(r["date"] for r in rounds.all)
    kernels = sorted({r["kernel"].split("-")[0] for r in rounds.all})
    commits = sorted({r["commit"] for r in rounds.all})
    text += ", %s, on %s, Linux %s, commit%s %s." % (dates[0] if dates[0] == dates[-1] else dates[0] + " to " + dates[-1], rounds.machine,
                                                   ", ".join(kernels), "s" if len(commits) > 1 else "", ", ".join(commits))
    if rounds.loaded:
        text += (" **Loaded machine**: other programs used %.0f %% of the processors before and after a round (median); times are worth "
                 "little, ratios within a round are worth more." %
                 (100 * sorted(max(r["busy"]) for r in rounds.all)[len(rounds.all) // 2]))
    if rounds.left_out:
        text += " %d records of rounds that were not quiet are left out." % rounds.left_out
    if rounds.elsewhere:
        text += " There are rounds of other machines in `bench/results`: %s." % "; ".join(rounds.elsewhere)
    return text


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
    if rounds.farthest is not None:
        blocks.append(wrapped("Of the ratios in the tables, those of single rounds differ from their median by at most %.0f %%." % (100 * rounds.farthest)))
    blocks.append("    bench/report --only " + figure.__name__)
    blocks.append("What differs in set-up:\n\n" + listed(figure.DIFFERS))
    return "\n\n".join(blocks)


def contents(figures, store):
    rows = []
    for figure in figures:
        rounds = Rounds(store, figure.PARTS)
        anchor = "".join(c for c in figure.TITLE.lower() if c.isalnum() or c in " _-").replace(" ", "-")
        summary = figure.summary(rounds) if rounds.all else ""
        rows.append(["[%s](#%s)" % (figure.TITLE, anchor), summary or "-",
                     "none" if not rounds.all else "%d of %d" % rounds.least_done(),
                     "-" if not rounds.all else "no" if rounds.loaded else "yes"])
    return table(Table(["figure", "in short: published, ours", "rounds", "quiet"], rows)).replace("|---|---:|", "|---|---|", 1)


def make(figures, store):
    """The page, and its pictures by name."""
    pictures = {}
    blocks = [wrapped(INTRODUCTION), contents(figures, store), wrapped(SET_UP)]
    blocks += [section(figure, store, pictures) for figure in figures]
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
