"""The folders of src call and include each other as the table in docs/architecture.md allows, and not otherwise.

    architecture.py BUILD SOURCE

The calls are read from the objects' symbols (nm), the includes from the sources. A folder may use the folders that its row names; the
rows name folders above them alone, so there are no circles of folders. In a folder no more than CIRCLE files may reach each other."""

import os
import re
import subprocess
import sys
from collections import defaultdict

build, source = sys.argv[1], sys.argv[2]
failures = []
CIRCLE = 5


def allowed():
    """folder: folders that it may use, in the order of the table."""
    with open(os.path.join(source, "docs/architecture.md")) as f:
        text = f.read()
    table = text[text.index("<!-- arrows -->") : text.index("<!-- end of arrows -->")]
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|", table, re.M)
    return {folder: set(re.findall(r"`(\w+)`", uses)) for folder, uses in rows}


def objects():
    """source without ending: object file"""
    found = {}
    for parent, _, names in os.walk(os.path.join(build, "CMakeFiles")):
        for name in names:
            match = re.search(r"/src/(\w+/\w+)\.c\.o$", os.path.join(parent, name))
            if match and os.path.exists(os.path.join(source, "src", match[1] + ".c")):
                found.setdefault(match[1], os.path.join(parent, name))
    return found


def calls(found):
    """file: {file: names}"""
    defined, used = {}, defaultdict(set)
    for file, path in found.items():
        for line in subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "TDRBCGSVW":
                defined.setdefault(words[2], file)
            elif len(words) == 2 and words[0] == "U":
                used[file].add(words[1])
    reached = defaultdict(lambda: defaultdict(set))
    for file, names in used.items():
        for name in names:
            if name in defined and defined[name] != file:
                reached[file][defined[name]].add(name)
    return reached


def arrows_of(reached):
    """(folder, folder): names"""
    arrows = defaultdict(set)
    for file, others in reached.items():
        for other, names in others.items():
            arrows[file.split("/")[0], other.split("/")[0]].update("%s calls %s" % (file, name) for name in names)
    return arrows


def circles(reached):
    """Sets of files that reach each other by calls."""

    def all_from(file):
        seen, left = set(), [file]
        while left:
            for other in reached.get(left.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        return seen

    reach = {file: all_from(file) for file in reached}
    return {frozenset(other for other in reach[file] if file in reach.get(other, ())) for file in reached if file in reach[file]}


def includes():
    arrows = defaultdict(set)
    for parent, _, names in os.walk(os.path.join(source, "src")):
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(parent, name)) as f:
                    for path in re.findall(r'^#include "(\w+/[\w.]+)"', f.read(), re.M):
                        folder = os.path.basename(parent)
                        arrows[folder, path.split("/")[0]].add("%s/%s includes %s" % (folder, name, path))
    return arrows


table = allowed()
order = list(table)
for folder, uses in table.items():
    for other in uses - set(order[: order.index(folder)]):
        failures.append("the table lets %s use %s, which does not stand above it" % (folder, other))
found = objects()
if len(found) < 50:
    failures.append("only %d objects were found in %s" % (len(found), build))
reached = calls(found)
for kind in arrows_of(reached), includes():
    for (folder, other), examples in sorted(kind.items()):
        if folder not in table:
            failures.append("src/%s is not in the table" % folder)
        elif other != folder and other not in table[folder]:
            failures.append("src/%s may not use src/%s: %s" % (folder, other, "; ".join(sorted(examples)[:3])))
largest = 0
for circle in circles(reached):
    largest = max(largest, len(circle))
    if len(circle) > CIRCLE:
        inside = ["%s calls %s of %s" % (a, sorted(reached[a][b])[0], b) for a in sorted(circle) for b in sorted(circle) if b in reached[a]]
        failures.append("%d files call each other in a circle, more than %d: %s" % (len(circle), CIRCLE, "; ".join(inside)))
for folder in sorted(os.listdir(os.path.join(source, "src"))):
    if folder not in table:
        failures.append("src/%s is not in the table" % folder)
for failure in failures:
    print("failed:", failure)
verdict = "not as the table says" if failures else "as the table says"
print("%d folders, %d objects, at most %d in a circle: %s" % (len(table), len(found), largest, verdict))
sys.exit(1 if failures else 0)
