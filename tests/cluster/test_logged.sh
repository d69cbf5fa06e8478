#!/bin/bash
# --dome-checkpoint-protocol log with tasks on several hosts and a directory that all share: a lost task, and those of a host that
# is gone, go back alone, and the output is that of an undisturbed run.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
. "$(dirname "${BASH_SOURCE[0]}")/../support/logged.bash"
steps=200
payload=20000

# Task 0 waits in select (x86-64: 23, pselect6: 270), which is in PVM's library alone.
sends() {
    on h1 grep -Eq '^(23|270) ' "/proc/$(cat "$marks/rank.0")/syscall"
}

undisturbed
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

# Task 0 is in pvm_send: its message is longer than the 16 MiB that a connection takes at most, and task 1 does not read.
say "a host is cut off while a task sends to it"
steps=16
payload=3000000
undisturbed
rm -rf "$work/ckpt"
begin
hold 1 9
command cut 3 --dome-checkpoint-dir "$work/ckpt" --dome-checkpoint-every 5 &
program=$!
held cut 1
hold 1 none
until_true sends || fail "cut: task 0 does not send: $(errors cut)"
"$lab" cut h2
wait $program
status=$?
as_undisturbed cut
errors cut | grep 'healed' || fail "cut: $(errors cut)"
stayed cut 0
stayed cut 2
"$lab" mend h2
clean cut
steps=200
payload=20000

# The memory of these hosts is one, and so is a directory there; hosts with a memory each are in cluster.test_logged_copies.
for place in "$work/ckpt" memory:; do
    say "a host is gone, $place"
    rm -rf "$work/ckpt"
    begin
    hold 2 60
    command gone 3 --dome-checkpoint-dir "$place" --dome-checkpoint-every 5 &
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
    on h3 find /tmp -xdev -mindepth 1 -type f,s,p -delete
    "$lab" sshd h3
    until_true on h1 $DOME_RSH h3 true 2>/dev/null || fail "no sshd on h3"
done
finish
