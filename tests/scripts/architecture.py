"""The folders of src call and include each other as the table in docs/architecture.md allows, and not otherwise.

    architecture.py BUILD SOURCE

The calls are read from the objects' symbols (nm), the includes from the sources. A folder may use the folders that its row names; the
rows name folders above them alone, so there are no circles of folders. In a folder no more than CIRCLE files may reach each other, and
there are no more than FILES. The name of a file occurs once in src. A struct has at most MEMBERS members of its own. Where a header says
that a source file "alone changes" the members of its structs, no other file of the folder assigns to one. A part of an object of parts
(PARTS) is used in its own files alone."""

import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict

if not shutil.which("nm"):
    print("skipped: nm is not installed")
    sys.exit(77)
build, source = sys.argv[1], sys.argv[2]
failures = []
CIRCLE, FILES, MEMBERS = 4, 45, 30
PARTS = [("capture/capture.h", r"dome__capture(?:->|_object\.)"), ("heap/heap.h", r"dome__capture_heap\.")]


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
    files = {path: file for file, path in found.items()}
    for line in subprocess.run(["nm", "-A", *files], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        path, symbol = line.split(".o:", 1)
        file, words = files[path + ".o"], symbol.split()
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


def sources():
    for parent, _, names in sorted(os.walk(os.path.join(source, "src"))):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(parent, name)


def without_inner(body):
    """The body of a struct without the bodies of structs and unions inside it."""
    while True:
        shorter = re.sub(r"\{[^{}]*\}", "", body)
        if shorter == body:
            return body
        body = shorter


def structs():
    """(file, name, members) of the structs of src: a declaration has a member for each of its names."""
    for path in sources():
        with open(path) as f:
            text = re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", "", f.read(), flags=re.S | re.M)
        for match in re.finditer(r"\bstruct( \w+)? \{", text):
            depth, end = 1, match.end()
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            body = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", without_inner(text[match.end() : end - 1])))
            name = (match[1] or text[end:].split(";")[0]).strip()
            yield os.path.relpath(path, source), name, sum(1 + d.count(",") for d in body.split(";") if d.strip())


def parts():
    """(folder, member, owners): the members of structs whose type a header gives to source files, which its first comment names."""
    texts = {}
    for path in sources():
        with open(path) as f:
            texts[path] = f.read()
    for path, text in texts.items():
        head = text[: text.find("*/")]
        if not path.endswith(".h") or not re.search(r"\w+\.c\s[\s*]*alone[\s*]+changes", head):
            continue
        folder, owners = os.path.dirname(path), set(re.findall(r"\w+\.c\b", head))
        for kind in re.findall(r"^typedef struct (\w+) \{", text, re.M):
            for other, inside in texts.items():
                if os.path.dirname(other) == folder:
                    for member in re.findall(r"^ {4}%s \*?(\w+);" % kind, inside, re.M):
                        yield folder, member, owners


def foreign_changes():
    """Assignments to a part's members in a file that does not own it. The first word of a chain that is a part itself is not the part's."""
    found = sorted({(folder, member, tuple(sorted(owners))) for folder, member, owners in parts()})
    names = {(folder, member) for folder, member, _ in found}
    for folder, member, owners in found:
        chain = re.compile(r"(?:->|\.)%s(?:->|\.)(\w+)[\w.\[\]>-]*?\s*(?:[-+|&*/]?=(?!=)|\+\+|--)" % member)
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".c") or name in owners:
                continue
            with open(os.path.join(folder, name)) as f:
                for match in chain.finditer(f.read()):
                    if (folder, match[1]) not in names:
                        yield "%s changes %s, which belongs to %s" % (name, match[0].strip(), " and ".join(owners))


def foreign_parts(header, object):
    """(file, part) where a file uses a part of an object that is not its own: the part of its name, or beside whose name it stands."""
    with open(os.path.join(source, "src", header)) as f:
        parts = re.findall(r"^    dome_capture_\w+ (\w+);(?: +/\* ([\w., ]+) \*/)?$", f.read(), re.M)
    if len(parts) < 5:
        failures.append("only %d parts were found in src/%s" % (len(parts), header))
    owners = {part: files.split(", ") if files else [part + ".c"] for part, files in parts}
    for path in sources():
        with open(path) as f:
            for part in set(re.findall(object + r"(\w+)", f.read())) & set(owners):
                if os.path.basename(path) not in owners[part]:
                    yield os.path.relpath(path, source), part


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
for header, object in PARTS:
    for file, part in foreign_parts(header, object):
        failures.append("%s uses %s of src/%s, which is no part of its own" % (file, part, header))
for folder in sorted(os.listdir(os.path.join(source, "src"))):
    if folder not in table:
        failures.append("src/%s is not in the table" % folder)
by_name, by_folder = defaultdict(list), defaultdict(int)
for path in sources():
    by_name[os.path.basename(path)].append(os.path.relpath(path, source))
    by_folder[os.path.dirname(path)] += 1
for stem in {os.path.splitext(name)[0] for name in by_name}:
    folders = {os.path.dirname(path) for ending in (".c", ".h") for path in by_name.get(stem + ending, ())}
    if len(folders) > 1:
        failures.append("files called %s are in %s" % (stem, " and ".join(sorted(folders))))
for folder, count in sorted(by_folder.items()):
    if count > FILES:
        failures.append("%s has %d files, more than %d" % (os.path.relpath(folder, source), count, FILES))
members = sorted(((count, name, file) for file, name, count in structs()), reverse=True)
for count, name, file in members:
    if count > MEMBERS:
        failures.append("struct %s in %s has %d members, more than %d" % (name, file, count, MEMBERS))
owned = {(folder, member) for folder, member, _ in parts()}
if len(owned) < 20:
    failures.append("only %d parts of structs were found" % len(owned))
failures += foreign_changes()
for failure in failures:
    print("failed:", failure)
verdict = "not as the table says" if failures else "as the table says"
print(
    "%d folders of at most %d files, %d objects, at most %d in a circle, at most %d members in a struct (%s): %s"
    % (len(table), max(by_folder.values()), len(found), largest, members[0][0], members[0][1], verdict)
)
sys.exit(1 if failures else 0)
