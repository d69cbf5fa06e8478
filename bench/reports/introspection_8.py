"""Process Introspection, Tables 7.8, 7.14, 7.17, 7.22 and 7.23."""

from reporting import introspection as I
from reporting.parts import Table, Text

TITLE = "Process Introspection, Tables 7.8 to 7.23: checkpoints and restarts between machines"
SOURCE = "chapter 7, Tables 7.8, 7.14, 7.17, 7.22, 7.23"
WHAT = """Size and time of a checkpoint, and time of going on from one of the same machine, of one with another byte order, and of one with
another word size."""
PUBLISHED_TEXT = "milliseconds on a Pentium of 200 MHz, which reads its own, an Alpha's (64 bits) and an RS/6000's (big-endian)."
PUBLISHED = Table(["program", "bytes", "checkpoint", "restart", "from Alpha", "from RS/6000", "over its own"],
                  [[name, "%d" % v[0]] + ["%.2f" % x for x in v[1:]] + ["%.2f" % (v[4] / v[2])] for name, v in I.THESIS_CHECKPOINTS.items()])
PARTS = [I.CHECKPOINTS]
DIFFERS = [
    "Programs of x86-64, of i386 on the same processor, and of s390x (big-endian) under qemu, whose times are those of the emulator: only the "
    "ratios of s390x mean something. All write the same image, big-endian, so that reading another machine's is reading one's own; the thesis "
    "writes the machine's own form and converts when it reads.",
    "The program is saved at the poll in the middle of a short run, with data as large as in the thesis or larger.",
    "*stopped* is how long the program does not run, *on disk* the time until the file is complete, with its fsync. A restart is measured in "
    "the processor's time, from the beginning of main until globals, heap and streams are there, less the same without a restart.",
]


BLOCK_BYTES = 40  # a block's entry in the table of a checkpoint


def middle(r, name, key, k):
    return I.median([d[key][k] for d in r.data(I.CHECKPOINTS.key, name).values() if key in d])


def restart(r, name, machine, origin):
    return I.median([d[key][0] - d["start " + machine][0] for d in r.data(I.CHECKPOINTS.key, name).values()
                     for key in ["restart %s from %s" % (machine, origin)] if key in d and origin not in d["other images"]])


def worst(r, name, machine):
    """Another machine's over its own; None if that is too short to tell."""
    own = restart(r, name, machine, machine)
    others = [v for v in (restart(r, name, machine, o) for o in I.MACHINES if o != machine) if v is not None]
    return max(others) / own if others and own and own > 1 else None


def size(r, name):
    return I.median([d["bytes"] for d in r.data(I.CHECKPOINTS.key, name).values()])


def allowed(r, name):
    """Bytes over those of the arrays: a KiB and the table of checksums, whose entries rounds from before they were counted lack."""
    blocks = I.median([d.get("blocks") for d in r.data(I.CHECKPOINTS.key, name).values()])
    return 1024 + BLOCK_BYTES * (blocks or size(r, name) // 2**20 + 1)


def condense(r):
    programs = I.measured(r, I.CHECKPOINTS)
    sizes, times = [], []
    for p in programs:
        name, bytes_ = p.name, size(r, p.name)
        of_data = [p.raw, p.raw + p.rest, bytes_, bytes_ - p.raw, bytes_ - p.raw - p.rest] if p.raw else [None, None, bytes_, None, None]
        sizes.append(["`%s` (%s)" % (name, p.thesis)] + ["-" if v is None else "%d" % v for v in of_data] +
                     [I.cell(middle(r, name, "capture " + m, k)) for m in I.MACHINES for k in (0, 1)])
        times.append(["`%s`" % name] + [I.cell(restart(r, name, m, o)) for m in I.MACHINES for o in [m] + [x for x in I.MACHINES if x != m]] +
                     [I.cell(max((v for v in (worst(r, name, m) for m in I.MACHINES) if v), default=None), "%.2f")])
    heads = ["%s, %s" % (m, what) for m in I.MACHINES for what in ("stopped", "on disk")]
    reads = ["%s %s" % (m, "its own" if o == m else "from " + o) for m in I.MACHINES for o in [m] + [x for x in I.MACHINES if x != m]]
    return [Text("Bytes, of the file and over the raw data where these are arrays of numbers: over the arrays alone, and over all that the "
                 "program's heap and globals have (`multigrid` has an array of structs with pointers, too); milliseconds of a checkpoint. The "
                 "table of checksums, %d bytes for a block, is in both." % BLOCK_BYTES),
            Table(["program", "raw arrays", "all raw data", "checkpoint", "over arrays", "over all"] + heads, sizes),
            Text("Restart: milliseconds of the processor's time, and the largest ratio of another machine's checkpoint to its own (if a restart "
                 "takes more than a millisecond)."),
            Table(["program"] + reads + ["ratio"], times), Text(verdict(r))]


def verdict(r):
    ratios = {p.name: max([v for v in (worst(r, p.name, m) for m in I.MACHINES) if v], default=None) for p in I.measured(r, I.CHECKPOINTS)}
    over = ["`%s` (%.2f)" % (n, v) for n, v in ratios.items() if v and v > (1.2 if I.BY_NAME[n].raw else 1.5)]
    other = sorted({"`%s` on %s" % (p.name, m) for p in I.measured(r, I.CHECKPOINTS) for d in r.data(I.CHECKPOINTS.key, p.name).values()
                    for m in d["other images"]})
    more = [size(r, p.name) - p.raw for p in I.measured(r, I.CHECKPOINTS) if p.raw]
    large = ["`%s` (%d)" % (p.name, size(r, p.name) - p.raw) for p in I.measured(r, I.CHECKPOINTS) if p.raw and size(r, p.name) - p.raw > allowed(r, p.name)]
    size_text = "Of arrays a checkpoint has %d to %d bytes more than they; wanted: 1024, and %d for each block in the table of checksums; the thesis: 108 to 353. %s " % (
        min(more), max(more), BLOCK_BYTES, "Missed by %s." % ", ".join(large) if large else "Reached by all.") if more else ""
    text = size_text + "Ratios wanted: at most 1.2 for arrays, 1.5 for graphs. " + ("Missed by %s." % ", ".join(over) if over else "Reached by all.")
    return text + (" The image is not that of x86-64, byte for byte, and is left out: %s." % ", ".join(other) if other else
                   " The images of all machines are equal, byte for byte.")


def summary(r):
    found = [v for p in I.PROGRAMS for v in [worst(r, p.name, m) for m in I.MACHINES] if v]
    return "restart from the other byte order over its own: 1.4 (up to 3 with word size), %s" % ("at most %.2f" % max(found) if found else "-")
