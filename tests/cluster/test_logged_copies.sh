#!/bin/bash
# --dome-checkpoint-protocol log with tasks on several hosts that share no directory: a lost task, and those of a host that is gone,
# go back alone, to the copies that another host has, and the output is that of an undisturbed run.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
logged=$DOME_BUILD_DIR/tests/programs/logged
steps=200
marks=$work/marks

# NAME TASKS OPTION...: on all hosts
command() {
    rm -rf "$marks"
    mkdir -p "$marks"
    run "$1" on h1 "$dome" run --restarts 9 --hosts "$work/hosts" -n "$2" "$logged" "$marks" "$steps" 1000000 20000 \
        --dome-checkpoint-protocol log --dome-timeout 4 "${@:3}"
}

printed() {
    [ -s "$work/$1.out" ] && [ "$(grep -c '' "$work/$1.out")" -ge "$2" ]
}

# Task 1 is another process than the one that was killed.
is_new() {
    [ -s "$marks/rank.1" ] && [ "$(cat "$marks/rank.1")" != "$last" ]
}

# NAME RANK: it has computed all steps in one process
stayed() {
    grep -q "computed $2 $steps\$" "$work/$1.err" || fail "$1: task $2 has begun anew: $(grep computed "$work/$1.err" | tr '\n' ' ')"
}

# It has computed some steps before.
went_back() {
    local n
    n=$(sed -n "s/^.*computed $2 //p" "$work/$1.err" | tail -1)
    [ -n "$n" ] && [ "$n" -lt $steps ] || fail "$1: task $2 has begun at its beginning: $(grep computed "$work/$1.err" | tr '\n' ' ')"
}

as_undisturbed() {
    [ "$status" -eq 0 ] || fail "$1: status $status: $(errors "$1")"
    cmp -s "$work/calm.out" "$work/$1.out" || fail "$1: other output: $(cat "$work/$1.out"); $(errors "$1")"
}

for host in "${hosts[@]}"; do
    on "$host" mount -t tmpfs none /dev/shm # as hosts have, each its own
done

say "undisturbed"
command calm 3 --dome-checkpoint-dir none:
[ "$status" -eq 0 ] || fail "calm: status $status: $(errors calm)"
grep -q 'one order' "$work/calm.out" || fail "calm: $(cat "$work/calm.out")"
clean calm

say "a task of another host is killed, twice"
command killed 3 --dome-checkpoint-dir memory: --dome-checkpoint-every 5 &
program=$!
last=
for n in 1 2; do
    until_true printed killed $n || fail "killed: no line $n: $(errors killed)"
    until_true is_new || fail "killed: task 1 has not begun again: $(errors killed)"
    last=$(cat "$marks/rank.1")
    on h2 kill -9 "$last" || fail "killed: no task 1"
done
wait $program
status=$?
as_undisturbed killed
[ "$(errors killed | grep -c '; healed from checkpoints of the lost tasks alone, [12] of 9$')" -eq 2 ] || fail "killed: $(errors killed)"
errors killed | grep 'healed'
went_back killed 1
stayed killed 0
stayed killed 2
clean killed

# Task 2 goes on from the copy that h1 has, then task 1 and task 2 from those that were made since.
for place in memory: /tmp/ckpt; do
    gone=gone-${place##*/}
    gone=${gone%:}
    say "a host is gone, and another one later, $place"
    command $gone 3 --dome-checkpoint-dir "$place" --dome-checkpoint-every 5 &
    program=$!
    until_true printed $gone 2 || fail "$gone: no line: $(errors $gone)"
    "$lab" kill h3
    until_true grep -q 'healed (without h3)' "$work/$gone.err" || fail "$gone: not healed: $(errors $gone)"
    until_true printed $gone 3 || fail "$gone: no third line: $(errors $gone)"
    "$lab" kill h2
    wait $program
    status=$?
    as_undisturbed $gone
    errors $gone | grep 'healed' || fail "$gone: $(errors $gone)"
    went_back $gone 1
    went_back $gone 2
    stayed $gone 0
    on h1 rm -rf /tmp/ckpt
    clean $gone h1
    for host in h2 h3; do
        "$lab" sshd $host
        until_true on h1 $DOME_RSH $host true 2>/dev/null || fail "no sshd on $host"
    done
done

say "the hosts of a task and of its copy are gone at once"
command both 3 --dome-checkpoint-dir memory: --dome-checkpoint-every 5 &
program=$!
until_true printed both 2 || fail "both: no line: $(errors both)"
"$lab" kill h2
"$lab" kill h3
wait $program
status=$?
[ "$status" -ne 0 ] || fail "both: status 0"
errors both
errors both | grep -q 'has gone back behind its newest checkpoint, .* kept by nobody' || fail "both: $(errors both)"
clean both h1
finish
