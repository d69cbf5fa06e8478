"""Process Introspection, Tables 7.2 to 7.5, 7.9 to 7.11, 7.15, 7.18 and 7.19."""

from reporting import introspection as I
from reporting.parts import Table, Text
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "Process Introspection, Tables 7.2 to 7.19: what being able to be saved costs"
SOURCE = "chapter 7, Tables 7.2 to 7.5, 7.9 to 7.11, 7.15, 7.18, 7.19"
WHAT = """Programs that a translator made saveable inside their calls, over the same programs without it: compiled normally and optimized, by
where polls are placed. A placement is a sum of 1 (loops with loops inside), 2 (large outermost loops), 4 (all outermost loops), 8 (large
innermost loops) and 16 (all innermost loops); 0 is functions alone, -1 only those that call themselves. `auto` is what `dome-cc` does if it
is told nothing: polls in strips of long loops. Efficiency is how much the optimizer gains of the translated program over how much it gains
of the plain one."""
PUBLISHED_TEXT = """averages over five machines (Alpha, Pentium, RS/6000, MIPS, SPARC) with their compilers; in each cell of the tables below the
first figure. (Its Table 7.5, which has an average for each machine, is not repeated.)"""
PUBLISHED = None
PARTS = [I.COSTS]
DIFFERS = [
    "Times are the processor's, of `cc -O0` and `cc -O3`; programs take a quarter of a second to a second. They are the thesis's kernels "
    "written anew at larger sizes. `land_use` (22 files, 246 functions) stands for its model of leaf areas (lai; 22 files), `word_search` and "
    "`smith_waterman` for programs of 9000 and 6500 lines, `sparse_eigenvalue` for NAS CG. `conjugate_gradients` has a matrix of its own "
    "(the thesis's works on a grid of 200 x 200 points and keeps none: its checkpoint has four vectors). `tree`, a search tree, is not in the thesis.",
    "`dome-cc` leaves functions alone that cannot reach a poll, over all files; the thesis's translator looks at one file.",
    "The start of a program (with Dome a few milliseconds) is subtracted from all times in overheads.",
    "i386 runs on the same processor, with SSE2.",
]


def grid(r, which):
    programs = I.measured(r, I.COSTS)
    value = [lambda n, p: I.costs(r, n, p, "0"), lambda n, p: I.efficiencies(r, n, p), lambda n, p: I.costs(r, n, p, "3")][which]
    return [[policy] + [I.pair(I.thesis_cost(p, policy, which), value(p.name, policy), "%.2f" if which == 1 else "%.1f") for p in programs]
            for policy in I.POLICIES]


def best(program):
    """The thesis's least overhead of a program, optimized; None where it has none."""
    return min([v for v in (I.thesis_cost(program, policy, 2) for policy in I.POLICIES) if v is not None], default=None)


def condense(r):
    programs = I.measured(r, I.COSTS)
    heads = ["`%s` (%s)" % (p.name, p.thesis) for p in programs]
    rows = [["`%s`" % p.name, I.cell(best(p))] + [ranged(I.costs(r, p.name, "auto", *which), "%.1f") for which in (("3",), ("0",), ("", "i386"))] for p in programs]
    return [Text("With the default placement, percent. The thesis's figure is that of its best placement for the program."),
            Table(["program", "thesis, optimized", "ours, -O3", "ours, -O0", "ours, i386, -O3"], rows),
            Text("Overhead as compiled normally (`-O0`), percent: the thesis, ours."), Table(["polls"] + heads, grid(r, 0)),
            Text("Efficiency: the thesis, ours."), Table(["polls"] + heads, grid(r, 1)),
            Text("Overhead optimized (`-O3`), percent: the thesis, ours."), Table(["polls"] + heads, grid(r, 2)),
            Text(wanted(r))]


def wanted(r):
    found = {p.name: I.median(I.costs(r, p.name, "auto", "3")) for p in I.measured(r, I.COSTS)}
    over = sorted((name for name, v in found.items() if v is not None and v > (10 if name == "land_use" else 5)), key=lambda n: -found[n])
    text = "Wanted: at most 5 % for each program with the default placement, 10 % for `land_use` (medians). "
    return text + ("Reached by all." if not over else "Missed by %s." % ", ".join("`%s` (%.1f %%)" % (n, found[n]) for n in over))


NO_CLAIMS = ""


def claims(r):
    """Times of the optimized program, translated over plain: the thesis's best placement, and ours where nothing is said."""
    return [Claim("%s: time of the translated program over the plain one" % p.thesis, 1 + best(p) / 100,
                  [1 + v / 100 for v in I.costs(r, p.name, "auto", "3")], False) for p in I.PROGRAMS if best(p) is not None]
