#!/bin/bash
# docs/report.md and its plots are what bench/results gives; and what the page makes of made-up results.
set -u
cd "${DOME_SOURCE_DIR:?}" || exit 1
command -v python3 >/dev/null || { echo "skipped: python3 is not installed" && exit 77; }
work=$(mktemp -d /tmp/dome-test.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
    echo "failed: $*"
    failures=$((failures + 1))
}

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
# made_up ROUND BUSY PROCESSOR SECONDS: a record for each number of hosts.
made_up() {
    local hosts
    for hosts in 2 4 8; do
        record "$1" "$2" "$3" $hosts "\"disk\": $4, \"pause\": 0.001, \"bytes\": 1, \"start\": $4, \"reading\": $4"
    done
}
results() { # results KEY: of standard input
    { echo "[" && paste -sd, && echo "]"; } >"$work/results/$1.json"
}
section() { # section [TITLE]
    sed -n "/^## ${1:-Stardust, Table 4}/,/^## /p" "$work/page.md"
}
expect() { # expect TEXT [TITLE]
    section "${2:-}" | tr '\n' ' ' | grep -qF -- "$1" || fail "no '$1' in: $(section "${2:-}")"
}

report --write >/dev/null || fail "no results: status $?"
expect "**Not yet run at full length.**"
[ -z "$(ls "$work/page")" ] || fail "plots of nothing"

here=$(python3 -c 'import sys; sys.path.insert(0, "bench"); sys.dont_write_bytecode = True
from reporting import results; print(results.processor())')
made_up 1 0.9 "$here" 5 | results restart
listed() { # listed COUNT OPTION...
    report --list "${@:2}" >"$work/list"
    grep -Eq "^stardust_4 +$1 of 5 " "$work/list" || fail "--list: not $1: $(cat "$work/list")"
}
listed 1
listed 0 --quiet
report --fresh --only stardust_4 --budget 0.001 >/dev/null 2>&1 || fail "--fresh: status $?"
listed 0

{ for round in 1 2 3; do made_up $round 0.0 Fast 0.0$round; done; made_up 4 0.9 Fast 5; made_up 1 0.0 Other 7; } | results restart
report --write >/dev/null || fail "status $?"
expect "3 of 5 rounds, 2000-01-01 to 2000-01-03, on Fast, $(nproc) processors, Linux 1.2, commit abc."
expect "3 records of rounds that were not quiet are left out."
expect "Other, $(nproc) processors"
expect "| 8 | 20.0 (1.00) | 20 | 20.00 |"
section | grep -q 'Loaded' && fail "loaded, in quiet rounds"
grep -q '</svg>' "$work/page/stardust_4.svg" || fail "no plot"
report --check || fail "--check of what was written"

made_up 1 0.9 Fast 5 | results restart
for round in 1 2 3; do
    record $round 0.0 Fast mmdome-early '"seconds": 10, "bound": 9'
    record $round 0.0 Fast mmdome-late "\"seconds\": 1$((round + 1)), \"bound\": 9"
done | results products-first-phase
report --check 2>/dev/null && fail "--check does not see other results"
report --write >/dev/null || fail "status $?"
expect "**Loaded machine**"
expect "| ratio (1995: 1.25 to 1.50) | 1.30 |" "Dome, section 5.1"
expect "those of single rounds differ from their median by at most 8 %." "Dome, section 5.1"
sed -i 's/5000.0/5000.1/' "$work/page.md"
report --check 2>/dev/null && fail "--check does not see a page that was edited"

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
