#!/bin/bash
# Hosts whose clocks are seconds apart and run at different speeds: in a trace their tasks are on one clock, to within a millisecond.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
command -v python3 >/dev/null || skip "python3 is not installed"
clocks=$DOME_BUILD_DIR/tests/cluster/clocks

say "barriers of three hosts"
run clocks on h1 sh -c "cd $work && exec $dome run --hosts $work/hosts -n 3 $clocks 600 --dome-trace $work/clocks.trace"
ended_well clocks
run view on h1 "$dome" view "$work/clocks.trace" -o "$work/clocks.json"
ended_well view

# Nobody leaves a barrier before everybody has come, and with a clock that is wrong somebody would; with hundreds of them some are left
# at once, so what is found is not far from how wrong the clocks are. On a busy machine they are measured less exactly, as the trace says.
python3 - "$work/clocks.trace" "$work/clocks.json" <<'END' || fail "clocks"
import json, sys
offsets, errors = {}, [{}, {}, {}]
for line in open(sys.argv[1]):
    words = line.split()
    if words[0] == "T":
        rank = words[1]
    elif words[0] == "C":
        offsets.setdefault(int(rank), []).append(int(words[3]) / 1e9)
        errors[int(rank)][words[1]] = int(words[4]) / 1e6  # the last of a window is its best
events = json.load(open(sys.argv[2]))["traceEvents"]
barriers = [[], [], []]
for e in events:
    if e.get("ph") == "X" and "dome_barrier" in json.dumps(e):
        barriers[e["pid"] - 1].append((e["ts"], e["ts"] + e["dur"]))
bad = [len(b) for b in barriers] != [600] * 3
print("   barriers: %s; offsets, s: %s" % ([len(b) for b in barriers], {r: (o[0], o[-1]) for r, o in offsets.items()}))
if not bad and (abs(offsets[1][0] + 5) > 0.1 or abs(offsets[2][0] - 3) > 0.1):
    bad = print("the clocks were not shifted") or True
for i in range(3):
    for j in range(3):
        if i != j and not bad:
            least = min(a[1] - b[0] for a, b in zip(barriers[i], barriers[j])) / 1e3
            inexact = sum(max(errors[k].values(), default=0) for k in (i, j))
            print("   task %d leaves at least %.3f ms after task %d has come; clocks are known to within %.3f ms" % (i, least, j, inexact))
            bad = least < -max(1, inexact)
sys.exit(bad)
END
clean clocks
finish
