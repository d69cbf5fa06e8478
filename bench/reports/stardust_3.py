"""Stardust, Table 3."""

import os
import statistics

from lab import on_unbuffered
from reporting.parts import Part, Table
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "Stardust, Table 3: what the first access to a page costs"
SOURCE = "section 5.2.1, Table 3"
WHAT = """The cost of a page fault: of the first one on a page (page creation), of a read where another node has a copy that may be written, and of
a write where one or seven copies have to be invalidated."""
PUBLISHED_TEXT = """milliseconds; a page has 8 KB. Between unlike machines "5.9 % of the total page handling cost is required for data conversion. 89.4 % is
required for communication"."""
PUBLISHED = Table(["", "Paragon", "Pentiums", "heterogeneous"],
                  [["page creation", "2.5", "2.5", "4.9"], ["read page fault", "4.9", "12.6", "16.9"],
                   ["protection violation (1 invalidation)", "3.7", "3.6", "7.9"], ["protection violation (7 invalidations)", "6.0", "8.8", "11.1"]])
# Of what bench/region_accesses prints: the paper's line, and what happens here.
LINES = {"create": ("page creation", "the first write of all; another host is the home"),
         "create-own-home": ("page creation", "the first write of all; the writer is the home"),
         "read-own-home": ("read page fault", "another host may write; the reader is the home"),
         "read-home-has": ("read page fault", "the home may write"),
         "read-third-home": ("read page fault", "another host may write; a third is the home"),
         "neighbour-read": ("read page fault", "a second task of a host that has the unit"),
         "neighbour-fetch": ("read page fault", "a second task of a host; another host may write"),
         "upgrade": ("protection violation (1 invalidation)", "another host reads; the writer is the home"),
         "upgrade-third-home": ("protection violation (1 invalidation)", "another host reads; a third is the home"),
         "upgrade-seven": ("protection violation (7 invalidations)", "seven other hosts read; one of them is the home"),
         "tcp": ("-", "4 KiB asked for by a plain TCP connection"),
         "page-fault": ("-", "a plain page fault of this machine")}
HOSTS = {"h1": 1, "h2": 2, **{"h%d" % k: 1 for k in range(3, 9)}}  # tasks
ADDRESS = "10.99.0.1"  # of h1


def run(context):
    """Microseconds by name: the median of the program's rounds, each of which is the median of all units."""
    path = os.path.join(context.work, "hosts")
    with open(path, "w") as file:
        file.writelines("%s slots=%d\n" % pair for pair in HOSTS.items())
    rounds, units = (1, 20) if context.quick else (5, 250)
    out = context.command(on_unbuffered("h1", [os.path.join(context.build, "tools", "dome"), "run", "--hosts", path, "-n", str(sum(HOSTS.values())),
                                               os.path.join(context.build, "bench", "region_accesses"), ADDRESS, str(rounds), str(units),
                                               "--dome-balance", "none"]))
    found = {}
    for name, us in (line.split() for line in out.splitlines()):
        found.setdefault(name, []).append(float(us))
    return {name: statistics.median(values) for name, values in found.items()}


FAULTS = Part("page-faults", 5, ["hosts"], 8, run, hosts=len(HOSTS), targets=("dome_tool", "bench_region_accesses"))
PARTS = [FAULTS]
DIFFERS = [
    "Hosts are those of a [lab](lab.md) on one machine, with links as fast as memory; a unit is a page of 4 KiB. What is measured is the road through "
    "the library and the kernel, with the waking of the threads on it; a network adds its own time.",
    "A column for unlike machines is missing: those of the lab are emulated (s390x under qemu), and so would be the times. The tests show that "
    "units are converted on the way (`cluster.test_byte_orders`).",
    "In Stardust each page has a manager among the nodes, whichever node accesses it. Here it is the owner of the block, which is the task that "
    "works on it where a program follows `dome_region_spans`; lines say where that makes a difference.",
    "Tasks of one host share one copy of a region.",
]


def values(r, name):
    return [d[name] for d in r.data(FAULTS.key, "hosts").values()]


def condense(r):
    return [Table(["line of the paper", "here", "microseconds"], [[paper, here, ranged(values(r, name), "%.1f")] for name, (paper, here) in LINES.items()])]


NO_CLAIMS = ""
TURNS = """The home asks its seven hosts at the same time. But all of them answer on the two processors of one machine, where the paper's nodes have one
each."""
AT_HAND = "A page of zeros needs no message with values, and none at all where the writer is the home."
WIRE = "The paper's Pentiums read 8 KB over an Ethernet of 10 Mb/s, which is most of their 12.6 ms."


def ratios(r, one, other):
    return [a / b for a, b in zip(values(r, one), values(r, other))]


def claims(r):
    return [Claim("7 invalidations over 1 (Paragon, Pentiums)", (6.0 / 3.7, 8.8 / 3.6), ratios(r, "upgrade-seven", "upgrade-third-home"), False,
                  why={"worse": TURNS}),
            Claim("page creation over read page fault (Pentiums, Paragon)", (2.5 / 12.6, 2.5 / 4.9), ratios(r, "create", "read-third-home"), False,
                  why={"better": AT_HAND, "worse": WIRE}),
            Claim("page creation over read page fault; the home is here", (2.5 / 12.6, 2.5 / 4.9), ratios(r, "create-own-home", "read-own-home"), False,
                  why={"better": AT_HAND}),
            Claim("milliseconds", None, [], incomparable="The milliseconds are those of a Paragon and of Pentiums of 1997.")]
