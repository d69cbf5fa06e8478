#!/bin/bash
# dome ckpt shows a captured program: active functions with their variables, globals, heap by type, pointers as a graph; diff names
# the variable and the block that differ.
. "$(dirname "$0")/../support/captures.bash"
dome=$DOME_BUILD_DIR/tools/dome

run "$programs/queens" 5 --dome-checkpoint-dir queens --dome-checkpoint-every 1 --dome-checkpoint-keep 1000
well "queens"
run "$dome" ckpt show queens:10
well "show"
for line in '#0 program at point 1' '    queens = heap [0-9]*' '#1 place at point 2' '    row = 0' '    column = [0-4]' \
    '    above = #[0-9]*.column' '    int: 1 blocks, 5 elements, 20 bytes in the image' '    queens.c:n = 5' \
    'heap: [0-9]* blocks'; do
    grep -qx -- "    $line" out || fail "show: no line '$line': $(cat out)"
done
[ "$(grep -c 'active functions' out)" = 1 ] || fail "show: not once: $(cat out)"
run "$dome" ckpt diff queens:10 queens:10
[ $status -eq 0 ] && [ ! -s out ] || fail "diff of one and itself: $status $(cat out)"
run "$dome" ckpt diff queens:10 queens:11
[ $status -eq 1 ] || fail "diff: status $status"
grep -q '^image: #[0-9] place: column: [0-9] and [0-9]$\|^image: #[0-9] place' out || fail "diff: $(cat out)"
run "$dome" ckpt show --sizes queens:10
well "sizes"
for line in 'image: [0-9]* bytes in 4 blocks, which have 160 in the file.s table' 'head: [0-9]* bytes: numbers [0-9]*, names .*' \
    'variables of active functions: [0-9]* bytes' '    #0 program: 16 bytes: queens 16' \
    '    #1 place: 48 bytes: queens 16, row 4, found 8, column 4, above 16' 'globals: 4 bytes' '    queens.c:n: 4 bytes' \
    'heap: [0-9]* bytes' '    int: 20 bytes, 1 blocks, 5 elements' 'what tells of functions and blocks: [0-9]* bytes' \
    'zeros of short blocks, which the image has not: [1-9][0-9]* bytes'; do
    grep -qx -- "    $line" out || fail "sizes: no line '$line': $(cat out)"
done
grep -q 'active functions, the outermost first' out && fail "sizes: with values: $(cat out)"
run "$dome" ckpt show --dot queens:10
well "dot"
grep -q '^digraph image {$' out && grep -q 'frame_0 -> heap_[0-9]* \[label="queens"\];' out || fail "dot: $(cat out)"
if command -v dot >/dev/null; then dot -Tsvg out >svg || fail "graphviz does not take the graph"; fi

# Names are printed without what a terminal would obey.
run "$programs/names" --dome-checkpoint-dir names --dome-checkpoint-every 1 --dome-checkpoint-keep 1000
well "names"
for command in 'show' 'show --all' 'show --sizes' 'show --dot' 'show --json --all' 'diff --all'; do
    second=
    [[ $command = diff* ]] && second=names:3
    run "$dome" ckpt $command names:2 $second
    [ $status -le 1 ] && grep -q 'bad?\[31m\|bad\\u001b\[31m' out || fail "names: ckpt $command: $(cat -v out err)"
    LC_ALL=C grep -q "[[:cntrl:]"$'\233'"]" out && fail "names: ckpt $command: $(cat -v out)"
done

run "$programs/everything" file.txt 7 --dome-checkpoint-dir dir --dome-checkpoint-every 1 --dome-checkpoint-keep 1000
well "everything"
python3 - "$dome" <<'END' || fail "what the shown images have"
import json
import os
import re
import subprocess
import sys

dome = sys.argv[1]


def ckpt(*arguments, status=0):
    done = subprocess.run([dome, "ckpt", *arguments], stdout=subprocess.PIPE, timeout=120)
    assert done.returncode == status, (arguments, done.returncode)
    return done.stdout.decode()


def image(k):
    shown = json.loads(ckpt("show", "--json", "--all", f"dir:{k}"))
    return next(o for o in shown["objects"] if o["kind"] == "image")["image"]


def sizes_of(k):
    """What an image is made of: all parts, and nothing twice."""
    shown = json.loads(ckpt("show", "--json", "--sizes", f"dir:{k}"))
    o = next(o for o in shown["objects"] if o["kind"] == "image")
    s, i = o["sizes"], image(k)
    assert "image" not in o and s["bytes"] == o["bytes"] and s["blocks"] == o["blocks"] and s["table"] == 40 * o["blocks"], s
    parts = [*s["head"].values(), *(x["bytes"] for of in (s["frames"], s["globals"], s["heap"]) for x in of), s["telling"]]
    assert sum(parts) == s["bytes"] + s["left out"] and s["left out"] > 100, (parts, s)
    assert s["heap"] == i["heap"] and len(s["frames"]) == len(i["frames"])
    for f, g in zip(s["frames"], i["frames"]):
        assert f["function"] == g["function"] and g["variables"].keys() <= f["variables"].keys(), (f, g)
        assert sum(f["variables"].values()) == f["bytes"], f
    of = {g["name"]: g["bytes"] for g in s["globals"]}
    assert of.keys() == {g["name"] for g in i["globals"]} and of["everything.c:matrix"] == 1200 * 8, of
    assert [g["bytes"] for g in s["globals"]] == sorted(of.values(), reverse=True)
    return s


names = ["north", "east", "south", "west"]
numbers = sorted(int(f[5:-6]) for f in os.listdir("dir") if re.fullmatch(r"ckpt-\d+\.dckpt", f))
seen = set()
for k in numbers[::9]:
    i = image(k)
    sizes_of(k)
    functions = [f["function"] for f in i["frames"]]
    assert functions[0] == "program" and set(functions[1:]) <= {"build", "descend"}, functions
    seen |= set(functions)
    g = {x["name"]: x for x in i["globals"]}
    blocks = {b["serial"]: b for b in i["blocks"]}
    step = i["frames"][0]["variables"]["step"]
    calls = g["everything.c:program:calls"]["values"][0]
    assert calls in (step, step + 1), (calls, step)
    assert g["everything.c:matrix"]["elements"] == 1200
    assert [g["everything.c:matrix"]["values"][s * 31] for s in range(calls)] == [s * 1.5 for s in range(calls)]
    nodes = [b["values"][0] for b in blocks.values() if b["type"] == "struct node"]
    listed = next(b for b in blocks.values() if b["type"] == "struct list")
    assert listed["values"][0]["count"] == len(listed.get("tail", [])) and len(nodes) - listed["values"][0]["count"] in (0, 1)
    done = [blocks[int(p["to"].split()[1])]["values"][0] for p in listed.get("tail", [])]
    for n in done:
        assert n["wide"] == -(n["id"] << 33) and n["apply"]["to"] == "function everything.c:" + ("add" if n["id"] % 2 else "mix")
        assert n["name"]["to"] == f"global everything.c:literal {n['id'] % 4}" + f"[{n['id'] % 3}]" * (n["id"] % 3 > 0), n["name"]
        held = n["value"]["is"]
        assert held in ({"number": -n["id"]}, {"real": n["id"] / 8}) or list(held) == ["node"], held
        assert n["log"]["to"] == f"stream {3 if n['id'] % 3 == 0 else 1}"
        assert n["text"] == chr(97 + n["id"] % 26) * (1 + n["id"] % 5)
    kinds = {h["type"]: h for h in i["heap"]}
    assert kinds["struct node"]["blocks"] == len(nodes)
    for depth, f in enumerate(i["frames"]):
        if f["function"] == "descend":
            v = f["variables"]
            assert v["levels"] == v["depth"] and len(v["ring"]) == 7 and v["k"] <= 7
            if depth > 1:
                assert v["at"]["to"] == f"#{depth - 1}.here" and v["above"]["to"].startswith(f"#{depth - 1}.ring[")
    written = [s for s in i["streams"] if s["path"] == "file.txt"]
    assert len(written) == 1 and written[0]["mode"] == "w" and written[0]["position"] == written[0]["length"]
    dot = ckpt("show", "--dot", f"dir:{k}")
    drawn = re.findall(r"^    (\w+) \[label=", dot, re.M)
    assert len(drawn) == len(set(drawn)) and sum(n.startswith("heap_") for n in drawn) == len(blocks)
    assert sum(n.startswith("frame_") for n in drawn) == len(functions)
    for a, b in re.findall(r"^    (\w+) -> (\w+) ", dot, re.M):
        assert a in drawn and (b in drawn or re.search(rf"^    {b} \[", dot, re.M)), (a, b)
assert seen == {"program", "build", "descend"}, seen

# Two of them that follow each other: what differs is named, and nothing that does not.
for k in numbers[5::30]:
    a, b = image(k), image(k + 1)
    told = {d["description"] for d in json.loads(ckpt("diff", "--json", "--objects", "--all", f"dir:{k}", f"dir:{k + 1}", status=1))["differences"]}
    for depth, (f, g) in enumerate(zip(a["frames"], b["frames"])):
        if f["function"] != g["function"]:
            break
        for name in f["variables"]:
            said = [t for t in told if re.match(rf"#{depth} {f['function']}: {name}\b", t)]
            assert (len(said) == 1) == (f["variables"][name] != g["variables"][name]), (k, depth, name, told)
    of_a, of_b = ({x["serial"]: x for x in i["blocks"]} for i in (a, b))
    for serial in of_a.keys() | of_b.keys():
        said = [t for t in told if re.match(rf"heap {serial} ", t)]
        assert (len(said) == 1) == (of_a.get(serial) != of_b.get(serial)), (k, serial, told)
END

# A damaged image is one line; a checkpoint without one has no graph.
cp dir/ckpt-00000040.dckpt broken.dckpt
printf 'x' | dd of=broken.dckpt bs=1 seek=$(($(stat -c %s broken.dckpt) - 9)) conv=notrunc 2>/dev/null
run "$dome" ckpt show broken.dckpt
refused "a damaged image" 1 "broken.dckpt"
run "$dome" ckpt show --sizes broken.dckpt
refused "the sizes of a damaged image" 1 "broken.dckpt"
run "$dome" ckpt show --dot "$DOME_SOURCE_DIR/tests/data/checkpoints/ckpt-00000001.dckpt"
refused "no image" 1 "has no captured program"
finish
