#!/bin/bash
# A structure that the library does not know is moved between tasks, and keeps its values; so it does while lists grow, and after a
# restart from a checkpoint.
. "$(dirname "$0")/../support/programs.bash"
for tasks in $counts; do
    run "$tasks" lists
    well "$tasks tasks"
    [ -f expected ] || cp out expected
    same "$tasks tasks" expected out
done
cat expected
[ "$(awk '{ print $NF }' expected | sort -u | wc -l)" -eq 1 ] || fail "the sum is another one after moving"

for tasks in self "$most"; do
    run "$tasks" lists --rounds 300 --dome-balance random --dome-balance-every 3
    well "$tasks tasks, rounds"
    [ -f rounds ] || cp out rounds
    same "$tasks tasks, rounds" rounds out
    run "$tasks" lists --rounds 250 --dome-checkpoint-dir "$work/saved.$tasks" --dome-checkpoint-every 250
    well "$tasks tasks, saved"
    run "$tasks" lists --rounds 300 --dome-checkpoint-dir "$work/saved.$tasks" --dome-restart
    tail -n 1 rounds | cmp -s - out || fail "$tasks tasks, restarted: $(cat out err)"
done
[ "$(wc -l <rounds)" -eq 5 ] || fail "rounds: $(cat rounds)"
run 2 lists --rounds -1
refused "--rounds -1" 2 "usage: lists"
run 2 lists --rounds 9223372036854775808
refused "--rounds 2^63" 2 "lists: --rounds takes at most 9223372036854775807, not 9223372036854775808"
finish
