"""CAPE, Table 3.4."""

from reporting import cape as C
from reporting.parts import Part, Table, run_command
from reporting.rounds import ranged
from reporting.verdict import Claim

TITLE = "CAPE, Table 3.4: bytes of the records of changes"
SOURCE = "%s, section 3.5.2, Table 3.4" % C.THESIS
WHAT = """What a checkpoint stores for the changed words of a page of 4 kB: words of 4 bytes, c runs of s words, u words in all."""
PUBLISHED_TEXT = """bytes by representation; of *many data* and a mix of the first two "the shortest representation between both computed is stored"."""
PUBLISHED = Table(["method", "one chunk", "a page"], [["single data (SD)", "8", "8 u"], ["several successive data (SSD)", "8 + 4 s", "8 c + 4 u"],
                                                      ["many data (MD)", "132 + 4 u", "132 + 4 u"], ["entire page (EP)", "4100", "4100"]])
# name: runs, words of each. A page of which all words are new is EP in CAPE.
PATTERNS = {"one-word": (1, 1), "one-chunk-of-16": (1, 16), "one-chunk-of-512": (1, 512), "16-words-apart": (16, 1), "128-words-apart": (128, 1),
            "every-other-word": (512, 1), "the-whole-page": (1, 1024)}


def cape_bytes(runs, words):
    """The shortest of CAPE's."""
    changed = runs * words
    mixed = 8 * changed if words == 1 else 8 * runs + 4 * changed
    return min(mixed, 132 + 4 * changed, 4100 if changed == 1024 else mixed)


def run(context):
    lines = run_command([context.build + "/bench/cape/records"]).splitlines()
    return {name: int(size) for name, _, size in (line.split() for line in lines)}


PART = Part("cape-records", 1, ["records"], 1, run, targets=C.TARGETS)
PARTS = [PART]
NO_CLAIMS = ""
DIFFERS = ["Records of `dome/delta.h` are relative: a record names the distance to the one before in one byte, and places within 64 units in one byte, where CAPE "
           "has addresses of 4 bytes. A map is of 64 units. The file's head is not counted, nor are CAPE's registers."]


def ours(r, name):
    return r.values(PART.key, "records", name)


def condense(r):
    return [Table(["changed words of a page", "CAPE's shortest, bytes", "ours, bytes"],
                  [[name.replace("-", " "), str(cape_bytes(*pattern)), ranged(ours(r, name), "%.0f")] for name, pattern in PATTERNS.items()])]


def claims(r):
    return [Claim("bytes for %s" % name.replace("-", " "), float(cape_bytes(*pattern)), ours(r, name), more=False, exact=True, form="%.0f")
            for name, pattern in PATTERNS.items()]
