#!/bin/bash
# tests/support/in_time: a test that ends keeps its status and its output; one that hangs is shown and ended, and so is what it leaves behind.
set -u
in_time=${DOME_SOURCE_DIR:?}/tests/support/in_time failures=0
work=$(mktemp -d "${TMPDIR:-/tmp}/dome-in-time.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
    echo "failed: $*: $(cat out)"
    failures=$((failures + 1))
}

# WHAT SECONDS STATUS COMMAND: through a pipe as ctest's, whose end is waited for, too. All that takes longer hangs.
ends() {
    local status
    status=$({ timeout 100 "$in_time" "$2" bash -c "$4"; echo $? >&3; } 3>&1 >out 2>&1 | cat) # until all have closed it
    [ "$status" = "$3" ] || fail "$1: status $status"
}

for status in 0 1 7 77; do
    ends "status $status" 100:100 $status "echo a word; echo another >&2; exit $status"
    [ "$(cat out)" = $'a word\nanother' ] || fail "output"
done
ends "a signal" 100:100 143 'kill -TERM $$'

ends "a test that hangs" 1:1 143 'echo begins; exec sleep 1000'
grep -q '^begins$' out && grep -q 'has not ended within 1 s' out && grep -q 'sleep 1000$' out || fail "a test that hangs"
ends "one that says it is well" 1:1 1 "trap 'exit 0' TERM; sleep 1000 & wait; exit 0"
ends "what it leaves" 100:1 1 'sleep 1000 & echo ends'
grep -q '^ends$' out && grep -q 'sleep 1000$' out || fail "what it leaves"
ends "what it leaves, of another environment" 100:1 1 'env -i setsid sleep 1000 &'
ends "what it leaves, with no output" 100:1 1 'sleep 1000 >/dev/null 2>&1 &'
ends "what it leaves for a moment" 100:100 0 'sleep 1 >/dev/null 2>&1 &'
[ ! -s out ] || fail "what it leaves for a moment"

# What it took.
for name in a.test ''; do
    : >times
    DOME_TEST_TIMES=$work/times DOME_TEST_NAME=$name "$in_time" 100:100 bash -c 'echo "<$DOME_TEST_TIMES>"; while ((SECONDS < 1)); do :; done' one >out
    grep -qx '<>' out || fail "a test within would be counted twice"
    grep -Eqx "[0-9]+\.[0-9]*[1-9][0-9]* (${name:-bash -c .* one})" times || fail "times: $(cat times)"
done

# in_time is ended itself: the test is too, after it has cleaned up, and what it has left.
for signal in TERM KILL; do
    rm -f begun tidied
    {
        "$in_time" 100:100 bash -c 'trap "touch tidied; exit" TERM; sleep 1000 & setsid sleep 1000 & touch begun; wait' &
        for _ in {1..600}; do
            [ ! -e begun ] || break
            sleep 0.1
        done
        kill -$signal $!
        wait $!
    } 2>&1 | timeout 60 cat >out || fail "SIG$signal: its processes go on"
    [ -e tidied ] || fail "SIG$signal: the test has not cleaned up"
    grep -q 'ended, and so is the test' out && grep -q 'sleep 1000$' out || fail "SIG$signal"
done

[ $failures -eq 0 ] && echo "ok"
exit $((failures > 0))
