#!/bin/bash
# kmeans prints the same as its sequential twin, for any number of tasks, also for fewer points than blocks of many tasks.
. "$(dirname "$0")/common"
for size in "16 3" "1000 0" "5000 12"; do
    set -- $size
    "$examples/sequential/kmeans" "$1" "$2" >expected || fail "sequential: status $?"
    [ "$(grep -c '^centre' expected)" -eq 16 ] || fail "$1 points: $(cat expected)"
    for tasks in $counts; do
        run "$tasks" kmeans "$1" "$2"
        well "$1 points, $tasks tasks"
        same "$1 points, $tasks tasks" expected out
    done
done

run self kmeans 15
refused "15 points" 1 "usage: kmeans"
finish
