"""Dome 1995, section 5.1: what the early first phase is worth."""

from reporting import svg
from reporting.parts import Plot, Table
from reporting.products import FIRST_PHASE, NEEDED, SET_UP, seconds, spread, times

TITLE = "Dome, section 5.1: what the early first phase is worth"
SOURCE = "section 5.1"
WHAT = """Dome balances for the first time after the first few operations, then at fixed intervals. The same program with one slow machine,
with that early phase and without it."""
PUBLISHED_TEXT = "without the early phase a run on an imbalanced system takes 1.25 to 1.50 times as long. The interval is not given."
PUBLISHED = None
PARTS = NEEDED + [FIRST_PHASE]
DIFFERS = SET_UP + ["The interval is a quarter of the run. The longer it is, the more the early phase is worth."]


def condense(r):
    key = FIRST_PHASE.key
    rows = [[text, seconds(r.median(key, item, "seconds")), times(r.ratio(key, item, "bound"))]
            for item, text in (("mmdome-early", "early first phase"), ("mmdome-late", "first phase after a quarter of the run"))]
    rows.append(["ratio (1995: 1.25 to 1.50)", times(r.ratio(key, "mmdome-late", "mmdome-early")), ""])
    picture = svg.bars("One of six hosts slow, a phase every quarter of the run", "seconds", [""], ["early first phase", "without it"],
                       [[spread(r.values(key, item, "seconds")) for item in FIRST_PHASE.items]])
    return [Table(["", "seconds", "over the oracle"], rows), Plot("dome_6_first_phase", "Seconds with and without an early first phase", picture)]


def summary(r):
    return "without it over with it: 1.25 to 1.50, %s" % times(r.ratio(FIRST_PHASE.key, "mmdome-late", "mmdome-early"))
