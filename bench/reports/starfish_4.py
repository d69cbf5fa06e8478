"""Starfish, Figure 4."""

import starfish_3
from reporting.parts import Table
from reporting.verdict import Claim

TITLE = "Starfish, Figure 4: time of a checkpoint, portable"
SOURCE = "section 5, Figure 4"
WHAT = """The same for checkpoints that another kind of machine can read: in Starfish the state of the OCaml virtual machine in the
writer's representation, converted at the restart."""
PUBLISHED_TEXT = "an empty program (260 KB) takes the seconds in the table; the largest file has 96 MB. A plot, without more figures."
PUBLISHED = Table(["size for each node", "1 node", "2 nodes", "4 nodes"], [["260 KB", "0.0077 s", "0.0205 s", "0.052 s"]])
PARTS = starfish_3.PARTS
DIFFERS = starfish_3.DIFFERS + [
    "Dome converts when it writes (to big-endian values without padding), so that every machine reads the file alike; Starfish writes as it is and "
    "converts when it reads.",
    "An empty Dome program has a checkpoint of some hundred bytes. The sizes here are those of the values of ten vectors; the file is larger by "
    "the table of their blocks, 40 bytes for each, of which small vectors have many.",
]


def condense(r):
    return starfish_3.condense(r, 96.0, 0.26, "starfish_4")


NO_CLAIMS = ""
WAIT = "The processes of Starfish synchronized over a network, the hosts of a lab do so in the memory of one machine."


def claims(r):
    return [Claim("260 KB: four nodes over one", 0.052 / 0.0077, starfish_3.growth(r, "0.26"), False, why={"better": WAIT}),
            Claim("260 KB on 1, 2, 4 nodes, in seconds", None, [], incomparable=starfish_3.SECONDS)]
