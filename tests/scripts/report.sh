#!/bin/bash
# docs/report.md and its plots are what bench/results gives; and what the page makes of made-up results.
. "$(dirname "$0")/../support/checks.bash"
cd "${DOME_SOURCE_DIR:?}" || exit 1
command -v python3 >/dev/null || { echo "skipped: python3 is not installed" && exit 77; }
work=$(mktemp -d /tmp/dome-test.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
bench/report --check || fail "docs/report.md is not what the results give"

mkdir "$work/results"
report() {
    bench/report --results "$work/results" --page "$work/page.md" "$@"
}
# record ROUND BUSY PROCESSOR ITEM DATA: as bench/report writes it.
record() {
    printf '{"round": %d, "item": "%s", "date": "2000-01-0%d", "commit": "abc", "processor": "%s", "processors": %d, "kernel": "1.2-x", ' \
        "$1" "$4" "$1" "$3" "$(nproc)"
    printf '"busy": [0.0, %s], "load": 0, "took": 1, "data": {%s}}\n' "$2" "$5"
}
# made_up ROUND BUSY PROCESSOR SECONDS: a record for each number of hosts, of vectors and of regions.
made_up() {
    local hosts
    for hosts in 2 4 8; do
        record "$1" "$2" "$3" $hosts "\"disk\": $4, \"pause\": 0.001, \"bytes\": 1, \"start\": $4, \"reading\": $4,
            \"lazy\": {\"start\": $4, \"pages\": $4}, \"whole\": {\"start\": $4, \"pages\": $4}" | tr '\n' ' '
        echo
    done
}
results() { # results KEY: of standard input
    { echo "[" && paste -sd, && echo "]"; } >"$work/results/$1.json"
    [ "$1" != restart ] || cp "$work/results/restart.json" "$work/results/restart-region.json"
}
section() { # section [TITLE]
    sed -n "/^## ${1:-Stardust, Table 4}/,/^## /p" "$work/page.md"
}
expect() { # expect TEXT [TITLE]
    section "${2:-}" | tr '\n' ' ' | grep -qF -- "$1" || fail "no '$1' in: $(section "${2:-}")"
}

report --write >/dev/null || fail "no results: status $?"
expect "**Not yet run at full length**: there is nothing to compare."
expect "**Verdict: not measured.**"
[ -z "$(ls "$work/page")" ] || fail "plots of nothing"

here=$(python3 -c 'import sys; sys.path.insert(0, "bench"); sys.dont_write_bytecode = True
from reporting import results; print(results.processor())')
listed() { # listed COUNT OPTION...
    report --list "${@:2}" >"$work/list"
    grep -Eq "^stardust_4 +$1 of 5 " "$work/list" || fail "--list $*: not $1: $(cat "$work/list")"
}
made_up 1 0.0 "$here" 5 | results restart
listed 1
made_up 1 0.9 "$here" 5 | results restart
listed 0 # it is to be measured again
listed 1 --repeats 0
{ made_up 1 0.9 "$here" 5; made_up 1 0.9 "$here" 5 | sed 's/"item"/"attempt": 2, "item"/'; } | results restart
listed 1 # it was
made_up 1 0.0 "$here" 5 | grep -v '"item": "8"' | results restart
listed 0 # its commit is not this one: another attempt at all of it
python3 - "$work/results" <<'END' || fail "the attempts that are wanted"
import argparse, importlib.machinery, importlib.util, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "bench")
loader = importlib.machinery.SourceFileLoader("bench_report", "bench/report")
report = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_report", loader))
loader.exec_module(report)
figures = [f for f in report.load_figures() if f.__name__ in ("stardust_4", "dome_6_first_phase")]
o = argparse.Namespace(results=sys.argv[1], rounds=None, quick=False, repeats=1)
measuring = report.Measuring(o, figures)
restart = next(p for p in measuring.parts if p.key == "restart")
assert measuring.wanted(restart, 1) == (2, ["2", "4", "8"]), measuring.wanted(restart, 1)
assert measuring.wanted(restart, 2) == (1, ["4", "8", "2"])
measuring.commit = "abc"  # that of the round: it is resumed
assert measuring.wanted(restart, 1) == (1, ["8"]), measuring.wanted(restart, 1)
# what another part needs is measured again at the commit of that part
needs = next(p for p in measuring.parts if p.key == "products-first-phase")
found = [(p.key, item) for p, item, place in measuring.left() if place == (1, 1)]
assert found.index(("products-alone", "mmseq")) < found.index(("products-first-phase", "mmdome-early")), found

# The programs of a round are of one commit, and a record is never replaced.
from reporting import results
store = results.Store(sys.argv[1])
old = store.records("restart")[0]
for changes in ({"commit": "def", "item": "8"}, {}):
    try:
        store.add("restart", {**old, **changes})
    except results.Mixed:
        continue
    raise SystemExit("taken: %s" % changes)
store.add("restart", {**old, "attempt": 2, "commit": "def"})
assert len(store.records("restart")) == 3
END
report --fresh --only stardust_4 --budget 0.001 --build "$work/build" >/dev/null 2>&1 || fail "--fresh: status $?"
listed 0

# All rounds count: three quiet ones, and a worse one that was disturbed; another machine's does not.
{ for round in 1 2 3; do made_up $round 0.0 Fast 0.0$round; done; made_up 4 0.9 Fast 0.08; made_up 1 0.0 Other 7; } | results restart
report --write >/dev/null || fail "status $?"
expect "Measured 2000-01-01 to 2000-01-04 on Fast, $(nproc) processors, Linux 1.2, commit abc."
expect "3 rounds are complete and undisturbed, 5 wanted."
expect "**Disturbed**: round 4 of \`restart\` (other programs used 90 % of the processors beside 3 of its 3 programs)."
expect "Other, $(nproc) processors"
expect "| 8 | 25.0 (10.0 to 80.0) | 1.0 | 25 (10 to 80) | 25.00 (10.00 to 80.00) |"
expect "| vectors: restart on 8 hosts over 2 (Pentiums: about 4000 over about 2000 ms) | 2.00 | 1.00 | 4 | better |"
expect "| S, R, P in milliseconds | - | - | - | not comparable |"
expect "| 8 | 25.0 (10.0 to 80.0) | 25 (10 to 80) | 25.00 (10.00 to 80.00) | 25 (10 to 80) | 25.00 (10.00 to 80.00) |"
expect "| regions: loading of pages on 8 hosts over 2 (Paragon, Pentiums) | 1.52 to 2.84 | 1.00 | 4 | better |"
expect "**Verdict: worse in 2, better in 3.**"
expect "| \`restart\` | Fast, $(nproc) processors | 4 | 2000-01-04 | abc | 3 of 3 | 90 % | 0.0 | yes |" "Rounds"
expect "| \`restart\` | Other, $(nproc) processors | 1 | 2000-01-01 | abc | 3 of 3 | 0 % | 0.0 | no |" "Rounds"
grep -q '</svg>' "$work/page/stardust_4.svg" || fail "no plot"
report --check || fail "--check of what was written"

# Programs of two commits in one round: it is marked, as one is of which a part is missing.
{ made_up 1 0.0 Fast 5 | sed '/"item": "8"/s/abc/def/'; made_up 2 0.0 Fast 5 | grep -v '"item": "4"'; } | results restart
for round in 1 2 3; do
    record $round 0.0 Fast mmdome-early '"seconds": 10, "bound": 9'
    record $round 0.0 Fast mmdome-late "\"seconds\": 1$((round + 1)), \"bound\": 9"
done | results products-first-phase
report --check 2>/dev/null && fail "--check does not see other results"
report --write >/dev/null || fail "status $?"
expect "**Disturbed**: round 1 of \`restart\` (its programs are of 2 commits)."
expect "Incomplete: round 2 of \`restart\` (1 program is missing)."
expect "| time without the early phase over the time with it | 1.25 to 1.50 | 1.30 (1.20 to 1.40) | 3 | as published |" "Dome, section 5.1"
expect "**Verdict: as published.**" "Dome, section 5.1"
sed -i 's/5000.0/5000.1/' "$work/page.md"
report --check 2>/dev/null && fail "--check does not see a page that was edited"

# What no move can gain is no merit of moving; and growing does not leave the first hosts, as the paper's program does.
moving() { # moving HETERO HOMO: seconds without moving, where it takes 10 s with it
    local item
    for item in "hetero $1" "homo $2"; do
        record 1 0.0 Fast "${item% *}" "\"without\": ${item#* }, \"with\": 10, \"moves\": [1], \"orders\": [1], \"bits\": \"0x1p0\""
    done
}
for part in migration growing; do
    moving 12.0 30.0 | results $part
done
report --write >/dev/null || fail "status $?"
expect "| Hetero 4 4, moving: time without over time with it | 1.06 | 1.20 | 1 | undecided |" "Stardust, Table 5"
expect "| Homo 2 4 8, moving: time without over time with it | 1.48 | 3.00 | - | not comparable |" "Stardust, Table 5"
expect "| Hetero 4 4, growing: time without over time with it | 1.06 | 1.20 | - | not comparable |" "Stardust, Table 5"
expect "**Verdict: undecided.** Growing keeps the first hosts" "Stardust, Table 5"
expect "Where a gain is more than the ideal's" "Stardust, Table 5"

# Of rays the ideal goes by the seconds of its lines: of 4, 4 and 8 s on 2, 8 and 16 hosts 4, 1 and 1 s are left.
record 1 0.0 Fast rays '"without": 20, "with": 10, "moves": [1], "bits": "1", "stages": [4, 4, 8]' | results migration-regions
report --write >/dev/null || fail "status $?"
expect "| Povray's 2 8 64 by \`rays\` on 2 8 16 | 20.0 | 10.0 | 50.0 % | 71.5 % | 62.5 % | 1.00 |" "Stardust, Table 5"
# Three runs of 10 s: with estimates 1 s of pauses; copied before 0.05 s, and 0.15 s of a thread.
for item in gas mmregion md mmsave; do
    variants=
    for variant in basic estimate accurate pre-copying copy-on-write "as set"; do
        pauses=1
        [ "$variant" = pre-copying ] && pauses=0.05
        variants+=", \"$variant\": {\"seconds\": 10, \"written\": 4, \"pauses\": $pauses, \"agreeing\": 0, \"thread\": 0.15, \"bytes\": 1024}"
    done
    record 1 0.0 Fast $item "\"steps\": 100, \"every\": 20, \"without\": 9$variants"
done | results variants
report --write >/dev/null || fail "status $?"
expect "| \`gas\` (for Mp3d) | 10.00 | 10.00 | 10.00 | 2.00 | 11.50 | 11.50 |" "Stardust, Table 2"
expect "| \`gas\` (for Mp3d) | 10.00 | 10.00 | 10.00 | 0.50 | 10.00 | 10.00 |" "Stardust, Table 2"
expect "| \`gas\` (for Mp3d): pauses, estimate over pre-copying | 35.0 | 20.0 | 1 | worse |" "Stardust, Table 2"
expect "| \`gas\` (for Mp3d) | 9.0 s | 1 KB | 2.0 s | 4 |" "Stardust, Table 1"

# The rule for verdicts.
python3 - <<'END' || fail "the rule for verdicts"
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "bench")
from reporting.verdict import Claim, judge, together
for published, values, more, exact, verdict in (
        (1.44, [1.06, 0.84], True, False, "worse"), (1.44, [2.2, 2.4], True, False, "better"), (1.44, [2.2, 2.4], False, False, "worse"),
        (1.10, [1.0, 1.2], True, False, "as published"), (1.10, [1.06], True, False, "undecided"), (1.10, [1.06], True, True, "as published"),
        (1.10, [1.5], True, False, "better"), (1.10, [0.7, 1.2], True, False, "undecided"), (1.10, [1.12, 1.15], True, False, "as published"),
        ((1.25, 1.50), [1.3], True, False, "as published"), ((1.25, 1.50), [1.2, 2.0], True, False, "undecided"), (1.0, [], True, False, "not measured")):
    found = judge(Claim("", published, values, more, exact))
    assert found == verdict, (published, values, found)
assert judge(Claim("", None, [], incomparable="why")) == "not comparable"
assert together(["not comparable", "better", "better"]) == "better"
assert together(["better", "worse", "better", "not measured"]) == "worse in 1, better in 2"
assert together([]) == together(["not measured"]) == "not measured"
END

# Each figure is sound with no round, and with the claims that it has.
python3 - "$work/nothing" <<'END' || fail "a figure without rounds"
import sys
sys.dont_write_bytecode = True
sys.path[:0] = ["bench", "bench/reports"]
from reporting import page, results
import glob, importlib, os
store = results.Store(sys.argv[1])
for path in sorted(glob.glob("bench/reports/*.py")):
    figure = importlib.import_module(os.path.basename(path)[:-3])
    text = page.section(figure, store, {})
    assert "**Verdict: not measured.**" in text, figure.TITLE
END

# A program whose translation takes 0.44 s without its start, where the plain one takes 0.4; restarts of 4, 5 and 8 ms without it.
record 1 0.0 Fast gauss_seidel '"times": {"plain0": 1.001, "plain3": 0.401, "auto.0": 1.105, "auto.3": 0.445}, "starts": [0.001, 0.005],
    "polls": {"auto": 890}, "waits": {"count": 1000, "mean": 12.5, "p99": 1200.0, "longest": 1300.0}' | tr '\n' ' ' | results introspection-costs
{
    printf '"other images": [], "bytes": 4194904, "machines": ["x86-64", "i386"], "start x86-64": [1, 1], "start i386": [2, 2], '
    printf '"capture x86-64": [3, 9, 4], "capture i386": [3, 9, 4], "restart x86-64 from x86-64": [5, 5], "restart x86-64 from i386": [6, 6], '
    printf '"restart i386 from i386": [10, 9], "restart i386 from x86-64": [10, 9]'
} >"$work/checkpoints"
record 1 0.0 Fast gauss_seidel "$(cat "$work/checkpoints")" | results introspection-checkpoints
report --write >/dev/null || fail "status $?"
expect "| \`gauss_seidel\` | 1.5 | 10.0 | 10.0 | - |" "Process Introspection, Tables 7.2 to 7.19"
expect "Missed by \`gauss_seidel\` (10.0 %)." "Process Introspection, Tables 7.2 to 7.19"
expect "| auto | -, 500 |" "Process Introspection, Tables 7.6 to 7.21"
expect "Missed by \`gauss_seidel\`." "Process Introspection, Tables 7.6 to 7.21"
expect "| \`gauss_seidel\` (gs) | 4194304 | 4194304 | 4194904 | 600 | 600 | 3.0 | 9.0 |" "Process Introspection, Tables 7.8 to 7.23"
expect "Missed by \`gauss_seidel\` (1.25). The images of all machines are equal, byte for byte." "Process Introspection, Tables 7.8 to 7.23"

refused() {
    local text=$1
    shift
    report "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -qF -- "$text" "$work/err" || fail "$*: $(cat "$work/err")"
}
refused "'dome_2' is not one of" --only dome_4,dome_2
refused "'0' is not a number above 0" --budget 0

[ $failures -eq 0 ] && echo ok
exit $((failures > 0))
