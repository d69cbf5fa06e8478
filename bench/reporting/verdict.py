"""How what was measured stands to what a paper has published: one rule for all figures.

A claim is a figure of a paper that another machine can be held against: a ratio or a part, not seconds. It is

- *as published* if the published figure lies in the range of all our rounds, or is at most 5 % beside it;
- *better* or *worse* if it lies further away;
- *undecided* if it lies in the range, and that is so wide (a factor of 1.5) that it says nothing, or if there is one round alone, and that
  is at most 25 % beside it;
- *not comparable* if the claim says so, with the reason."""

import collections

from .rounds import ranged

NEAR, NEAR_ONE, WIDE = 0.05, 0.25, 1.5

AS_PUBLISHED, BETTER, WORSE = "as published", "better", "worse"
UNDECIDED, INCOMPARABLE, NOT_MEASURED = "undecided", "not comparable", "not measured"

# text: what is compared. published: a number, or from where to where. values: ours, one for each round. more: larger is better. exact: does not
# differ from round to round, so that one is enough. form: how a value is printed. incomparable: why it is; "" if it is comparable. why:
# reasons by verdict.
Claim = collections.namedtuple("Claim", "text published values more exact form incomparable why",
                               defaults=(True, False, "%.2f", "", None))


def bounds(published):
    return published if isinstance(published, tuple) else (published, published)


def published_text(claim):
    if claim.published is None:
        return "-"
    low, high = bounds(claim.published)
    return claim.form % low if low == high else "%s to %s" % (claim.form % low, claim.form % high)


def judge(claim):
    if claim.incomparable:
        return INCOMPARABLE
    if not claim.values:
        return NOT_MEASURED
    low, high = bounds(claim.published)
    least, most, alone = min(claim.values), max(claim.values), len(claim.values) == 1 and not claim.exact
    near = NEAR_ONE if alone else NEAR
    if most * (1 + near) < low:
        return WORSE if claim.more else BETTER
    if least > high * (1 + near):
        return BETTER if claim.more else WORSE
    within = low <= least and most <= high
    return UNDECIDED if not within and (alone or most > WIDE * least) else AS_PUBLISHED


def together(verdicts):
    """Of a figure: the verdict of all claims that have one, else how many there are of each."""
    told = [v for v in verdicts if v not in (INCOMPARABLE, NOT_MEASURED)] or [v for v in verdicts if v != NOT_MEASURED] or [NOT_MEASURED]
    order = (WORSE, BETTER, AS_PUBLISHED, UNDECIDED, INCOMPARABLE, NOT_MEASURED)
    kinds = sorted(set(told), key=order.index)
    return kinds[0] if len(kinds) == 1 else ", ".join("%s in %d" % (kind, told.count(kind)) for kind in kinds)


def rows(claims):
    """A line of a table for each claim."""
    return [[c.text, published_text(c), ranged(c.values, c.form), "-" if c.incomparable or c.exact else str(len(c.values)), judge(c)] for c in claims]


def reasons(claims):
    """What the verdicts come from, each once."""
    found = []
    for c in claims:
        verdict = judge(c)
        text = c.incomparable or (c.why or {}).get(verdict, "")
        if text and text not in found:
            found.append(text)
    return found
