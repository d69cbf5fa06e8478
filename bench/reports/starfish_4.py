"""Starfish, Figure 4."""

import starfish_3
from reporting.parts import Table

TITLE = "Starfish, Figure 4: time of a checkpoint, portable"
SOURCE = "section 5, Figure 4"
WHAT = """The same for checkpoints that another kind of machine can read: in Starfish the state of the OCaml virtual machine in the
writer's representation, converted at the restart."""
PUBLISHED_TEXT = "an empty program (260 kB) takes the seconds in the table; sizes go up to 96 MB; linear."
PUBLISHED = Table(["size for each node", "1 node", "2 nodes", "4 nodes"], [["260 kB", "0.0077 s", "0.0205 s", "0.052 s"]])
PARTS = starfish_3.PARTS
DIFFERS = starfish_3.DIFFERS + [
    "Dome converts when it writes (to big-endian values without padding), so that every machine reads the file alike; Starfish writes as it is and "
    "converts when it reads.",
    "An empty Dome program has a checkpoint of some hundred bytes: 260 kB here are 260 kB of values.",
]


def condense(r):
    return starfish_3.condense(r, 96.0, 0.26, "starfish_4")


def summary(r):
    return starfish_3.summary(r, "0.26", (0.0077, 0.0205, 0.052))
