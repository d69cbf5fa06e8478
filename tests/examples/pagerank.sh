#!/bin/bash
# pagerank prints the same as its sequential twin, for any number of tasks, also for fewer pages than tasks.
. "$(dirname "$0")/common"
for size in "5 0" "6 3" "3000 12"; do
    set -- $size
    "$examples/sequential/pagerank" "$1" "$2" >expected || fail "sequential: status $?"
    [ "$(grep -c '^page' expected)" -eq 5 ] || fail "$1 pages: $(cat expected)"
    for tasks in $counts; do
        run "$tasks" pagerank "$1" "$2"
        well "$1 pages, $tasks tasks"
        same "$1 pages, $tasks tasks" expected out
    done
done

run self pagerank 4
refused "4 pages" 1 "usage: pagerank"
finish
