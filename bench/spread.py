"""What bench/run and bench/figure6 say of few rounds: from where to where they go, which differences mean nothing, which targets are
decided."""

import statistics

MOST_OF = 0.9  # of the rounds' figures lie so near to their medians that what is nearer means nothing


def noise(figures):
    """figures: of each line what its rounds found. The part of their median by which MOST_OF of them differ from it at most; None if no
    line has two rounds."""
    apart = sorted(abs(value / statistics.median(rounds) - 1) for rounds in figures if len(rounds) > 1 and statistics.median(rounds) for value in rounds)
    return apart[min(len(apart) - 1, int(MOST_OF * len(apart)))] if apart else None


def noise_text(figures):
    """A line for a quick run."""
    apart = noise(figures)
    if apart is None:
        return "quick: one round shows no difference that means anything"
    return "quick: differences below %.0f %% mean nothing (%.0f of 100 figures of single rounds are nearer to their medians)" % (100 * apart, 100 * MOST_OF)


def judge(value, least, most, limit, at_most, quick):
    """Whether a target is reached: by the median; of a quick run by all rounds, or it is not decided."""
    found = [v <= limit if at_most else v >= limit for v in ((least, most) if quick else (value,))]
    return "reached" if all(found) else "not decided" if any(found) else "MISSED"


def between(rounds, form="%.3f"):
    """"(1.01 to 1.87)"; "" of one round."""
    return "(%s to %s)" % (form % min(rounds), form % max(rounds)) if len(rounds) > 1 else ""
