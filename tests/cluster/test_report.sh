#!/bin/bash
# bench/report at sizes at which times mean nothing: one figure, killed between its parts; the next call measures what is missing and
# nothing else, and the page has all of it.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
command -v python3 >/dev/null || skip "python3 is not installed"
[ -x /usr/lib/pvm3/lib/pvmd ] || command -v pvmd >/dev/null || skip "PVM is not installed"
[ -x "$DOME_BUILD_DIR/bench/checkpoint_state" ] || skip "bench/checkpoint_state was not built"
need_lab
work=$(mktemp -d /tmp/dome-test.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
records=$work/results/restart.json
command=("$DOME_SOURCE_DIR/bench/report" --quick --only stardust_4 --results "$work/results" --page "$work/page.md")
report() {
    "${command[@]}" "$@"
}
count() {
    grep -c '"item"' "$records" 2>/dev/null
}
some() {
    [ "$(count)" -ge 1 ] 2>/dev/null
}

say "killed after its first part"
"${command[@]}" >"$work/out" 2>"$work/err" </dev/null &
pid=$!
until_true some || fail "no part was measured: $(cat "$work/err")"
kill -KILL $pid
wait $pid 2>/dev/null
[ ! -e "$work/page.md" ] || fail "it had ended before it was killed"
left_behind() {
    pgrep -f "bench/report --part restart .* --results $work/results" >/dev/null
}
gone() {
    ! left_behind
}
until_true gone || fail "a part continues without bench/report"
before=$(count)
{ [ "$before" -ge 1 ] && [ "$before" -lt 3 ]; } || fail "$before records after the kill"
cp "$records" "$work/first.json"

say "resumed"
report >"$work/out" 2>"$work/err" </dev/null || fail "status $?: $(cat "$work/err")"
[ "$(grep -c '^round 1, restart, ' "$work/err")" -eq $((3 - before)) ] || fail "not what was missing: $(cat "$work/err")"
for item in 2 4 8; do
    [ "$(grep -c "\"item\": \"$item\"" "$records")" -eq 1 ] || fail "records of $item hosts: $(grep -c "\"item\": \"$item\"" "$records")"
    grep -Eq "^\| $item \| [0-9.]+ \| [0-9.]+ \| [0-9]+ \| [0-9.]+ \|$" "$work/page.md" ||
        fail "the page has no figures of $item hosts: $(grep "^| $item " "$work/page.md")"
done
grep -F '"item"' "$work/first.json" | sed 's/,$//' | while read -r line; do
    grep -qF "$line" "$records" || echo changed
done | grep -q changed && fail "what was measured before the kill has changed"
grep -q '</svg>' "$work/page/stardust_4.svg" || fail "no plot"

say "nothing is left to do; the budget"
report >"$work/out" 2>"$work/err" </dev/null || fail "status $?"
[ ! -s "$work/err" ] || fail "it measured again: $(cat "$work/err")"
report --fresh --budget 0.001 >"$work/out" 2>"$work/err" </dev/null || fail "status $?"
grep -q 'the budget is used up: 6 left' "$work/err" || fail "the budget: $(cat "$work/err")"
[ -z "$(ls "$DOME_BUILD_DIR/report-work")" ] || fail "left in report-work: $(ls "$DOME_BUILD_DIR/report-work")"

finish
