"""Process Introspection, Tables 7.8, 7.14, 7.17, 7.22 and 7.23."""

from reporting import introspection as I
from reporting.parts import Table, Text
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "Process Introspection, Tables 7.8 to 7.23: checkpoints and restarts between machines"
SOURCE = "chapter 7, Tables 7.8, 7.14, 7.17, 7.22, 7.23"
WHAT = """Size and time of a checkpoint, and time of going on from one of the same machine, of one with another byte order, and of one with
another word size."""
PUBLISHED_TEXT = """milliseconds on a Pentium of 200 MHz, which reads its own, an Alpha's (64 bits) and an RS/6000's (big-endian). "The overhead is
significant, roughly 40% in some cases". The last column is computed: a restart from the RS/6000's over one from its own."""
PUBLISHED = Table(["program", "bytes", "checkpoint", "restart", "from Alpha", "from RS/6000", "computed: over its own"],
                  [[name, "%d" % v[0]] + ["%.2f" % x for x in v[1:]] + ["%.2f" % (v[4] / v[2])] for name, v in I.THESIS_CHECKPOINTS.items()])
PARTS = [I.CHECKPOINTS]
DIFFERS = [
    "Programs of x86-64, of i386 on the same processor, and of s390x (big-endian) under qemu, whose times are those of the emulator: only the "
    "ratios of s390x mean something. All write the same image, big-endian, so that reading another machine's is reading one's own; the thesis "
    "writes the machine's own form and converts when it reads.",
    "The program is saved at the poll in the middle of a short run. Data of the kernels are as large as in the thesis or larger; those of "
    "the two searches of sequences (fasta, sw) are smaller, as the tables show.",
    "*stopped* is how long the program does not run, *on disk* the time until the file is complete, with its fsync. A restart is measured in "
    "the processor's time, from the beginning of main until globals, heap and streams are there, less the same without a restart.",
]


BLOCK_BYTES = 40  # a block's entry in the table of a checkpoint


def times(r, name, key, k):
    return [d[key][k] for d in r.data(I.CHECKPOINTS.key, name).values() if key in d]


def restarts(d, machine, origin):
    """Of a round; None where there is none, or the images differ."""
    key = "restart %s from %s" % (machine, origin)
    return d[key][0] - d["start " + machine][0] if key in d and origin not in d["other images"] else None


def all_restarts(r, name, machine, origin):
    return [v for v in (restarts(d, machine, origin) for d in r.data(I.CHECKPOINTS.key, name).values()) if v is not None]


def worst(r, name):
    """Round by round: the largest of another machine's over its own, of those that take more than a millisecond."""
    found = []
    for d in r.data(I.CHECKPOINTS.key, name).values():
        ratios = [restarts(d, m, o) / restarts(d, m, m) for m in I.MACHINES for o in I.MACHINES
                  if o != m and restarts(d, m, o) is not None and (restarts(d, m, m) or 0) > 1]
        found += [max(ratios)] if ratios else []
    return found


def size(r, name):
    return I.median([d["bytes"] for d in r.data(I.CHECKPOINTS.key, name).values()])


def allowed(r, name):
    """Bytes over those of the arrays: a KiB and the table of checksums, whose entries rounds from before they were counted lack."""
    blocks = I.median([d.get("blocks") for d in r.data(I.CHECKPOINTS.key, name).values()])
    return 1024 + BLOCK_BYTES * (blocks or size(r, name) // 2**20 + 1)


def condense(r):
    programs = I.measured(r, I.CHECKPOINTS)
    sizes, table = [], []
    for p in programs:
        name, bytes_ = p.name, size(r, p.name)
        of_data = [p.raw, p.raw + p.rest, bytes_, bytes_ - p.raw, bytes_ - p.raw - p.rest] if p.raw else [None, None, bytes_, None, None]
        sizes.append(["`%s` (%s)" % (name, p.thesis)] + ["-" if v is None else "%d" % v for v in of_data] +
                     [ranged(times(r, name, "capture " + m, k), "%.1f") for m in I.MACHINES for k in (0, 1)])
        table.append(["`%s`" % name] + [ranged(all_restarts(r, name, m, o), "%.1f") for m in I.MACHINES for o in [m] + [x for x in I.MACHINES if x != m]] +
                     [ranged(worst(r, name))])
    heads = ["%s, %s" % (m, what) for m in I.MACHINES for what in ("stopped", "on disk")]
    reads = ["%s %s" % (m, "its own" if o == m else "from " + o) for m in I.MACHINES for o in [m] + [x for x in I.MACHINES if x != m]]
    return [Text("Bytes, of the file and over the raw data where these are arrays of numbers: over the arrays alone, and over all that the "
                 "program's heap and globals have (`multigrid` has an array of structs with pointers, too); milliseconds of a checkpoint. The "
                 "table of checksums, %d bytes for a block, is in both." % BLOCK_BYTES),
            Table(["program", "raw arrays", "all raw data", "checkpoint", "over arrays", "over all"] + heads, sizes),
            Text("Restart: milliseconds of the processor's time, and the largest ratio of another machine's checkpoint to its own (if a restart "
                 "takes more than a millisecond)."),
            Table(["program"] + reads + ["ratio"], table), Text(wanted(r))]


def extra(r):
    """Bytes of a checkpoint over those of the arrays, by program."""
    return {p.name: size(r, p.name) - p.raw for p in I.measured(r, I.CHECKPOINTS) if p.raw}


def wanted(r):
    ratios = {p.name: I.median(worst(r, p.name)) for p in I.measured(r, I.CHECKPOINTS)}
    over = ["`%s` (%.2f)" % (n, v) for n, v in ratios.items() if v and v > (1.2 if I.BY_NAME[n].raw else 1.5)]
    other = sorted({"`%s` on %s" % (p.name, m) for p in I.measured(r, I.CHECKPOINTS) for d in r.data(I.CHECKPOINTS.key, p.name).values()
                    for m in d["other images"]})
    more = extra(r)
    large = ["`%s` (%d)" % (name, bytes_) for name, bytes_ in more.items() if bytes_ > allowed(r, name)]
    text = "Of arrays a checkpoint has %d to %d bytes more than they; wanted: 1024, and %d for each block in the table of checksums. %s " % (
        min(more.values()), max(more.values()), BLOCK_BYTES, "Missed by %s." % ", ".join(large) if large else "Reached by all.") if more else ""
    text += "Ratios wanted: at most 1.2 for arrays, 1.5 for graphs (medians). " + ("Missed by %s." % ", ".join(over) if over else "Reached by all.")
    return text + (" The image is not that of x86-64, byte for byte, and is left out: %s." % ", ".join(other) if other else
                   " The images of all machines are equal, byte for byte.")


NO_CLAIMS = ""
TABLES = """A checkpoint of Dome begins with a head of some hundred bytes and has a checksum for each block of 2^20 bytes; the thesis's has neither. Of
a megabyte and more that is less than a thousandth."""
ALIKE = "All machines write the same image, so that reading another machine's is reading one's own."


def other_order(name):
    own, other = I.THESIS_CHECKPOINTS[name][2], I.THESIS_CHECKPOINTS[name][4]
    return other / own


def claims(r):
    """Bytes that the thesis's checkpoints have beyond three matrices of 256 x 256 (mm), 2^21 integers (qs), four vectors of 40,000 (cg)."""
    thesis = {"mm": 3 * 256 * 256 * 8, "qs": 2**21 * 4, "cg": 4 * 40000 * 8}
    more = [I.THESIS_CHECKPOINTS[name][0] - raw for name, raw in thesis.items()]
    ours = extra(r)
    return [Claim("bytes beyond the raw arrays (the thesis's computed, of mm, qs and cg)", (min(more), max(more)),
                  [ours[name] for name in ("matrix_product", "quicksort", "conjugate_gradients") if name in ours], False, True, "%.0f",
                  why={"worse": TABLES})] + [
        Claim("%s: restart from another machine's over its own (thesis: from the RS/6000's)" % p.thesis, other_order(p.thesis), worst(r, p.name), False,
              why={"better": ALIKE}) for p in I.PROGRAMS if p.thesis in I.THESIS_CHECKPOINTS] + [
        Claim("milliseconds", None, [], incomparable="The milliseconds are those of a Pentium of 200 MHz.")]
