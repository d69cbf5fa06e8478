"""Dome 1995, section 5.1: what the early first phase is worth."""

from reporting import svg
from reporting.parts import Plot, Table
from reporting.products import FIRST_PHASE, NEEDED, SET_UP, seconds, spread, times
from reporting.verdict import AS_PUBLISHED, UNDECIDED, Claim

TITLE = "Dome, section 5.1: what the early first phase is worth"
SOURCE = "section 5.1"
WHAT = """Dome balances for the first time after the first few operations, then at fixed intervals. The same program with one slow machine,
with that early phase and without it."""
PUBLISHED_TEXT = """"the absence of this initial phase can increase total running time by a factor from 1.25 to 1.50 on imbalanced systems". The interval is
not given."""
PUBLISHED = None
PARTS = NEEDED + [FIRST_PHASE]
DIFFERS = SET_UP + ["The interval is a quarter of the run. The longer it is, the more the early phase is worth."]
NO_CLAIMS = ""
WHY = """Without the early phase all hosts have equal parts until the first interval is over, here a quarter of the products, and wait for the
slow one."""


def claims(r):
    ratios = r.ratios(FIRST_PHASE.key, "mmdome-late", "mmdome-early")
    return [Claim("time without the early phase over the time with it", (1.25, 1.50), ratios, why={AS_PUBLISHED: WHY, UNDECIDED: WHY})]


def condense(r):
    rows = [[text, seconds(r, FIRST_PHASE, item), times(r, FIRST_PHASE, item, "bound")]
            for item, text in (("mmdome-early", "early first phase"), ("mmdome-late", "first phase after a quarter of the run"))]
    picture = svg.bars("One of six hosts slow, a phase every quarter of the run", "seconds", [""], ["early first phase", "without it"],
                       [[spread(r.values(FIRST_PHASE.key, item, "seconds")) for item in FIRST_PHASE.items]])
    return [Table(["", "seconds", "over the oracle"], rows), Plot("dome_6_first_phase", "Seconds with and without an early first phase", picture)]
