"""Starfish, Figure 6."""

import starfish_5
from reporting import svg
from reporting.parts import Plot, Table
from reporting.rounds import ranged, spread
from reporting.verdict import Claim

TITLE = "Starfish, Figure 6: what each layer takes of a message"
SOURCE = "section 5, Figure 6"
WHAT = """The time that a message spends in each layer of the code, on its way there and back. Here a layer is what a round trip takes longer by it
than by the layer below: the plain TCP connection (kernel and wire), PVM's library, typed messages with stamps, `dome_send` and `dome_recv`."""
PUBLISHED_TEXT = """"the time spent in each layer is independent of the message size, since messages are never copied in our code". A plot, without
figures."""
PUBLISHED = None
PARTS = starfish_5.PARTS
ITEM = "two hosts"
ABOVE = {"pvm": "tcp", "transport": "pvm", "program": "transport"}
WHOSE = {"pvm": "PVM's library", "transport": "typed messages", "program": "dome_send, dome_recv"}
DIFFERS = [
    "Starfish's layers are modules that hand a message on by an event; each can look at its clock. Here layers are calls within calls, and a layer's "
    "time is a difference of two round trips, each the least of nine turns. It may be less than 0.",
    "Dome's transport may take another road than PVM's calls do: then the difference is what that road gains.",
] + starfish_5.DIFFERS[:1]


def difference(data, layer, below, size):
    return data["least %s %d" % (layer, size)] - data["least %s %d" % (below, size)]


def layer_times(r, layer, size):
    """Round by round."""
    return [difference(d, layer, ABOVE[layer], size) for d in r.data(starfish_5.ROUND_TRIPS.key, ITEM).values()
            if "least %s %d" % (layer, size) in d]


def condense(r):
    rows, series = [], []
    for size in starfish_5.SIZES:
        rows.append([starfish_5.text_of(size), ranged(starfish_5.values(r, ITEM, "least tcp", size), "%.1f")] +
                    [ranged(layer_times(r, layer, size), "%.1f") for layer in ABOVE])
    for layer in ABOVE:
        points = [(float(size),) + spread(layer_times(r, layer, size)) for size in starfish_5.SIZES if layer_times(r, layer, size)]
        if points:
            series.append((WHOSE[layer], points, "line"))
    picture = svg.lines("What each layer adds to a round trip", "bytes", "microseconds", series, xlog=True)
    return [Table(["microseconds of a round trip, two hosts", "kernel and wire"] + [WHOSE[layer] for layer in ABOVE], rows),
            Plot("starfish_6", "Microseconds that each layer adds, by size", picture)]


NO_CLAIMS = ""
LONG = "PVM's library copies what is long into and out of its buffers, or takes it from its place piece by piece."


def growth(r):
    """Round by round: what Dome's two layers take of 64 KiB over what they take of 1 byte."""
    pairs = [[difference(d, "program", "pvm", size) for size in (1, 65536)] for d in r.data(starfish_5.ROUND_TRIPS.key, ITEM).values()]
    return [long / small for small, long in pairs if small > 0]


def claims(r):
    return [Claim("Dome's own layers, two hosts: 64 KiB over 1 byte", 1, growth(r), False, why={"worse": LONG})]
