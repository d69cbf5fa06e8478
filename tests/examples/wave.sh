#!/bin/bash
# wave prints the same as its sequential twin, for any number of tasks, also for fewer planes than tasks.
. "$(dirname "$0")/common"
for size in "3 2" "20 0" "24 30"; do
    set -- $size
    "$examples/sequential/wave" "$1" "$2" >expected || fail "sequential: status $?"
    grep -Eq "^after $2 steps: sum of squares [0-9.e-]+, largest [0-9.e-]+\$" expected || fail "side $1: $(cat expected)"
    for tasks in $counts; do
        run "$tasks" wave "$1" "$2"
        well "side $1, $tasks tasks"
        same "side $1, $tasks tasks" expected out
    done
done

run self wave 2
refused "a side of 2" 1 "usage: wave"
finish
