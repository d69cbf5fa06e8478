#!/bin/bash
# heat writes the same files as its sequential twin, byte by byte, for any number of tasks, also for fewer rows than tasks.
. "$(dirname "$0")/../support/programs.bash"
for size in "3 5" "100 70"; do
    set -- $size
    "$examples/sequential/heat" --rows "$1" --columns "$2" --steps 60 --output twin >twin.out || fail "sequential: status $?"
    head -c 15 twin.pgm | head -n 2 | tail -n 1 | grep -qx "$2 $1" || fail "not a picture of $2 x $1"
    rm -f expected
    for tasks in $counts; do
        rm -f heat.npy heat.pgm
        run "$tasks" heat --rows "$1" --columns "$2" --steps 60
        well "$tasks tasks"
        [ -f expected ] || cp out expected
        same "$tasks tasks, $1 rows" expected out
        same "$tasks tasks, $1 rows" twin.npy heat.npy
        same "$tasks tasks, $1 rows" twin.pgm heat.pgm
    done
done
for arguments in "--rows" "--rows 2" "--columns x" "--steps -1" "10"; do
    run "$most" heat $arguments
    refused "arguments '$arguments'" 2 "heat: usage: heat"
done
run "$most" heat --output missing/heat --steps 1
refused "no directory" 1 "missing/heat"
finish
