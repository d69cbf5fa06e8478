#!/bin/bash
# --dome-checkpoint-protocol log with tasks on several hosts and a directory that all share: a lost task, and those of a host that
# is gone, go back alone, and the output is that of an undisturbed run.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
logged=$DOME_BUILD_DIR/tests/programs/logged
steps=200
marks=$work/marks

begin() {
    rm -rf "$marks"
    mkdir -p "$marks"
}

# NAME TASKS OPTION...: on all hosts
command() {
    run "$1" on h1 "$dome" run --restarts 9 --hosts "$work/hosts" -n "$2" "$logged" "$marks" "$steps" 1000000 20000 \
        --dome-checkpoint-protocol log --dome-timeout 4 "${@:3}"
}

# RANK STEP: there that task waits to be killed
hold() {
    echo "$2" >"$marks/hold.$1"
}

# NAME RANK: until it waits
held() {
    until_true [ -s "$marks/held.$2" ] || fail "$1: task $2 does not come so far: $(errors "$1")"
    rm "$marks/held.$2"
}

# NAME RANK: it has computed all steps in one process
stayed() {
    grep -q "computed $2 $steps\$" "$work/$1.err" || fail "$1: task $2 has begun anew: $(grep computed "$work/$1.err" | tr '\n' ' ')"
}

as_undisturbed() {
    [ "$status" -eq 0 ] || fail "$1: status $status: $(errors "$1")"
    cmp -s "$work/calm.out" "$work/$1.out" || fail "$1: other output: $(cat "$work/$1.out"); $(errors "$1")"
}

say "undisturbed"
begin
command calm 3 --dome-checkpoint-dir none:
[ "$status" -eq 0 ] || fail "calm: status $status: $(errors calm)"
grep -q 'one order' "$work/calm.out" || fail "calm: $(cat "$work/calm.out")"
clean calm

say "a task of another host is killed, twice"
begin
hold 1 60
command killed 3 --dome-checkpoint-dir "$work/ckpt" --dome-checkpoint-every 5 &
program=$!
for next in 140 none; do
    held killed 1
    hold 1 $next
    on h2 kill -9 "$(cat "$marks/rank.1")" || fail "killed: no task 1"
done
wait $program
status=$?
as_undisturbed killed
[ "$(errors killed | grep -c '; healed from checkpoints of the lost tasks alone, [12] of 9$')" -eq 2 ] || fail "killed: $(errors killed)"
errors killed | grep 'healed'
stayed killed 0
stayed killed 2
clean killed

say "a host is gone"
rm -rf "$work/ckpt"
begin
hold 2 60
command gone 3 --dome-checkpoint-dir "$work/ckpt" --dome-checkpoint-every 5 &
program=$!
held gone 2
hold 2 none
"$lab" kill h3
wait $program
status=$?
as_undisturbed gone
errors gone | grep 'healed' || fail "gone: $(errors gone)"
stayed gone 0
stayed gone 1
clean gone h1 h2

say "memory that hosts share, as in this lab"
echo h2 >"$work/hosts"
begin
command memory 2 --dome-checkpoint-dir memory: --dome-checkpoint-every 5
failed_with memory 'would keep their checkpoints in the same memory'
clean memory h1 h2
finish
