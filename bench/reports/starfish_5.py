"""Starfish, Figure 5."""

import os
import statistics

from lab import on_unbuffered
from reporting import svg
from reporting.parts import Part, Plot, Table
from reporting.rounds import ranged, spread
from reporting.verdict import Claim

TITLE = "Starfish, Figure 5: round trips by size"
SOURCE = "section 5, Figure 5"
WHAT = """The time of a message from one node to another and back, at the level of the application, by the size of the data. Here by
`dome_send` and `dome_recv`, between two hosts and between two tasks of one host, beside PVM's own calls and a plain TCP connection between
the same two processes."""
PUBLISHED_TEXT = """"The round-trip time for an empty message is 86 microseconds using BIP/Myrinet and 552 microseconds using TCP/IP"; "the round-trip delay
grows linearly with the size of the data". A plot, without more figures."""
PUBLISHED = Table(["size", "BIP/Myrinet", "TCP/IP"], [["1 byte", "86 us", "552 us"]])
LAYERS = ("tcp", "pvm", "transport", "program")
NAMES = {"tcp": "TCP", "pvm": "PVM", "transport": "typed messages", "program": "dome_send"}
SIZES = (1, 64, 1024, 8192, 65536, 262144, 1048576)
ADDRESS = "10.99.0.1"  # of h1
HOSTS = {"two hosts": ("h1", "h2"), "one host": ("h1", "h1")}


def run(context):
    """Microseconds by layer and size: the median of the program's turns, and the least, which other programs disturb least."""
    hosts = HOSTS[context.item]
    path = os.path.join(context.work, "hosts")
    with open(path, "w") as file:
        file.writelines("%s slots=%d\n" % (host, hosts.count(host)) for host in sorted(set(hosts)))
    out = context.command(on_unbuffered("h1", [os.path.join(context.build, "tools", "dome"), "run", "--hosts", path, "-n", "2",
                                               os.path.join(context.build, "bench", "message_layers"), ADDRESS, "1" if context.quick else "9",
                                               "0.002" if context.quick else "0.02"]))
    found = {}
    for layer, size, us in (line.split() for line in out.splitlines()):
        found.setdefault("%s %s" % (layer, size), []).append(float(us))
    return {**{name: statistics.median(values) for name, values in found.items()}, **{"least " + name: min(values) for name, values in found.items()}}


ROUND_TRIPS = Part("round-trips", 5, list(HOSTS), 10, run, hosts=2, targets=("dome_tool", "bench_message_layers"))
PARTS = [ROUND_TRIPS]
DIFFERS = [
    "The two hosts are those of a [lab](lab.md) on one machine of two processors, with a link as fast as memory; those of Starfish are two Pentium II "
    "of 300 MHz on Myrinet and Ethernet. There is no Myrinet here: the road that leaves the kernel out is the memory that tasks of one host share.",
    "Starfish's figures are of byte code, \"obtained on a non optimized prototype, running as bytecode\". Dome is machine code.",
    "Each figure of a round is the median of nine turns, in which all layers are measured one after the other.",
]


def values(r, item, layer, size):
    return [d["%s %d" % (layer, size)] for d in r.data(ROUND_TRIPS.key, item).values() if "%s %d" % (layer, size) in d]


def text_of(size):
    return "%d KiB" % (size // 1024) if size >= 1024 else "%d B" % size


def condense(r):
    tables, series = [], []
    for item in HOSTS:
        rows = [[text_of(size)] + [ranged(values(r, item, layer, size), "%.1f") for layer in LAYERS] for size in SIZES]
        tables.append(Table(["round trip in microseconds, %s" % item] + [NAMES[layer] for layer in LAYERS], rows))
        for layer in ("program", "tcp"):
            points = [(float(size),) + spread(values(r, item, layer, size)) for size in SIZES if values(r, item, layer, size)]
            if points:
                series.append(("%s, %s" % (NAMES[layer], item), points, "line" if layer == "program" else "dashed"))
    picture = svg.lines("A message there and back", "bytes", "microseconds", series, xlog=True, ylog=True)
    return tables + [Plot("starfish_5", "Microseconds of a round trip by size", picture)]


NO_CLAIMS = ""
MACHINES = "The microseconds are those of Pentium II machines of 300 MHz and of networks of 1999."
SHARED = "Here the other road is memory that two tasks of a host share, not a network."


def ratios(r, one, other):
    """Round by round: of 1 byte."""
    first, second = r.data(ROUND_TRIPS.key, one[0]), r.data(ROUND_TRIPS.key, other[0])
    return [first[k]["%s 1" % one[1]] / second[k]["%s 1" % other[1]] for k in sorted(set(first) & set(second))]


def claims(r):
    return [Claim("1 byte: through the kernel over around it", 552 / 86, ratios(r, ("two hosts", "program"), ("one host", "program")),
                  why={"better": SHARED, "worse": SHARED}),
            Claim("1 byte by TCP/IP, in microseconds", None, [], incomparable=MACHINES)]
