#!/bin/bash
# --dome-checkpoint-protocol log with tasks on several hosts that share no directory: a lost task, and those of a host that is gone,
# go back alone, to the copies that another host has, and the output is that of an undisturbed run.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
. "$(dirname "${BASH_SOURCE[0]}")/../support/logged.bash"
steps=600
payload=20000

printed() {
    [ -s "$work/$1.out" ] && [ "$(grep -c '' "$work/$1.out")" -ge "$2" ]
}

# Task 1 is another process than the one that was killed.
is_new() {
    [ -s "$marks/rank.1" ] && [ "$(cat "$marks/rank.1")" != "$last" ]
}

# It has computed some steps before.
went_back() {
    local n
    n=$(sed -n "s/^.*computed $2 //p" "$work/$1.err" | tail -1)
    [ -n "$n" ] && [ "$n" -lt $steps ] || fail "$1: task $2 has begun at its beginning: $(grep computed "$work/$1.err" | tr '\n' ' ')"
}

# HOST RANK: the checkpoints of a task that a host has.
copies() {
    on "$1" find /tmp/ckpt -name "ckpt-*.$(($2 + 1))of3.dckpt"
}

renewed() {
    [ -n "$(copies h1 1)" ]
}

# HOST NAME: the program goes on without it.
without() {
    grep -q "(without $1) from checkpoint" "$work/$2.err"
}

# The hosts that were without power, as if they never had been.
come_back() {
    local host
    for host in h2 h3; do
        on $host find /tmp -xdev -mindepth 1 -type f,s,p -delete
        "$lab" sshd $host
        until_true on h1 $DOME_RSH $host true 2>/dev/null || fail "no sshd on $host"
    done
}

for host in "${hosts[@]}"; do
    on "$host" mount -t tmpfs none /dev/shm # as hosts have, each its own
done

for payload in 100 20000; do
    undisturbed
done

say "a task of another host is killed, twice"
begin
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
for host in "${hosts[@]}"; do
    [ -z "$(on "$host" ls /dev/shm)" ] || fail "killed: left on $host: $(on "$host" ls /dev/shm)"
done
clean killed

# Task 2 goes on from the copy that h1 has, then task 1, or both, from those that were made since.
payload=100
for place in memory: /tmp/ckpt; do
    gone=gone-${place##*/}
    gone=${gone%:}
    say "a host is gone, and another one later, $place"
    begin
    hold 1 300
    command $gone 3 --dome-checkpoint-dir "$place" --dome-checkpoint-every 5 &
    program=$!
    until_true printed $gone 2 || fail "$gone: no line: $(errors $gone)"
    "$lab" kill h3
    until_true without h3 $gone || fail "$gone: nothing is said of h3: $(errors $gone)"
    held $gone 1 # the program does not end before that
    hold 1 none
    "$lab" kill h2
    wait $program
    status=$?
    as_undisturbed $gone
    for host in h2 h3; do
        errors $gone | grep "(without $host) from checkpoint" || fail "$gone: $(errors $gone)"
    done
    went_back $gone 1
    went_back $gone 2
    stayed $gone 0
    on h1 rm -rf /tmp/ckpt
    clean $gone h1
    come_back
done

# Task 1's copy goes with h3, and task 1 with h2 before it writes another checkpoint.
say "a copy is renewed"
begin
command renewed 3 --dome-checkpoint-dir /tmp/ckpt --dome-checkpoint-every 60 &
program=$!
until_true printed renewed 3 || fail "renewed: no third line: $(errors renewed)"
[ -z "$(copies h1 1)" ] || fail "renewed: h1 has a copy of task 1's already"
"$lab" kill h3
until_true renewed || fail "renewed: h1 has no copy of task 1's: $(errors renewed)"
"$lab" kill h2
wait $program
status=$?
as_undisturbed renewed
errors renewed | grep "(without h2) from checkpoint" || fail "renewed: $(errors renewed)"
went_back renewed 1
on h1 rm -rf /tmp/ckpt
clean renewed h1
come_back

# Task 1 is giving its copy to h3, or about to.
say "a host is cut off"
payload=100
begin
command cut 3 --dome-checkpoint-dir memory: --dome-checkpoint-every 1 &
program=$!
until_true printed cut 2 || fail "cut: no line: $(errors cut)"
"$lab" cut h3
wait $program
status=$?
as_undisturbed cut
errors cut | grep "(without h3) from checkpoint" || fail "cut: $(errors cut)"
went_back cut 2
stayed cut 0
stayed cut 1
"$lab" mend h3
clean cut

# Both stand still first: between the two, the other tasks could go on, and the copy be renewed.
say "the hosts of a task and of its copy are gone at once"
begin
command both 3 --dome-checkpoint-dir memory: --dome-checkpoint-every 5 &
program=$!
until_true printed both 2 || fail "both: no line: $(errors both)"
"$lab" stop h2
"$lab" stop h3
"$lab" kill h2
"$lab" kill h3
wait $program
status=$?
[ "$status" -ne 0 ] || fail "both: status 0"
errors both
errors both | grep -q 'has gone back behind its newest checkpoint, .* kept by nobody' || fail "both: $(errors both)"
clean both h1
finish
