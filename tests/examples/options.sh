#!/bin/bash
# options prints the same as its sequential twin, for any number of tasks, also for fewer paths than tasks.
. "$(dirname "$0")/common"
for size in "3 2" "1000 3"; do
    set -- $size
    "$examples/sequential/options" "$1" "$2" >expected || fail "sequential: status $?"
    grep -Eq '^price [0-9.]+, standard error [0-9.]+$' expected || fail "$1 paths: $(cat expected)"
    for tasks in $counts; do
        run "$tasks" options "$1" "$2"
        well "$1 paths, $tasks tasks"
        same "$1 paths, $tasks tasks" expected out
    done
done

run self options 0
refused "no paths" 1 "usage: options"
finish
