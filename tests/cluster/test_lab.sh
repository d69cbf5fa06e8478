#!/bin/bash
# The lab itself: several side by side, and nothing of it left however it ends.
. "$(dirname "${BASH_SOURCE[0]}")/common"
unset LAB
"$lab" 1 true || exit

marked() {
    grep -lsz "^DOME_TEST_LAB=$1\$" /proc/[0-9]*/environ | tr -dc '0-9\n'
}

gone() {
    [ -z "$(marked "$1")" ]
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
networks() {
    ip -o link show type bridge
    ip -o link show type veth
    ip netns list
}
networks >"$dir/before"

say "three at a time"
for i in 1 2 3; do
    DOME_TEST_LAB=$$.side.$i "$lab" 2 "$BASH" -c 'ssh -F $LAB/ssh_config h2 "hostname; touch /tmp/only-here"; '"$lab"' on h1 ls /tmp' \
        >"$dir/side.$i" 2>&1 &
done
wait
for i in 1 2 3; do
    grep -qx h2 "$dir/side.$i" && ! grep -q only-here "$dir/side.$i" || fail "lab $i of three: $(cat "$dir/side.$i")"
    gone $$.side.$i || fail "lab $i of three has left $(marked $$.side.$i)"
done

for signal in TERM INT HUP KILL; do
    say "ended by SIG$signal"
    mark=$$.$signal
    : >"$dir/$signal"
    set -m # else the signal would be ignored in it
    DOME_TEST_LAB=$mark "$lab" 2 "$BASH" -c 'echo up; exec sleep 1000' >"$dir/$signal" &
    job=$!
    set +m
    until_true grep -q up "$dir/$signal" || fail "no lab"
    [ "$(marked $mark | wc -l)" -gt 5 ] || fail "$signal: no processes"
    kill -$signal $job
    wait $job 2>/dev/null && fail "$signal: status 0"
    until_true gone $mark || fail "$signal: left: $(marked $mark)"
done

say "the status is the command's"
"$lab" 1 "$BASH" -c 'exit 3'
[ $? -eq 3 ] || fail "not the command's status"

networks >"$dir/after"
same "$dir/before" "$dir/after" "what the network of this machine has"
[ ! -e /run/lab ] || fail "/run/lab is there"
finish
