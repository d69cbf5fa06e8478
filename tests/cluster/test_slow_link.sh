#!/bin/bash
# A long message takes its time on a slow link: a task that has gone on waits for those that are still at it, and nobody disagrees.
# Tasks that do disagree are found over the same link.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
whole=$DOME_BUILD_DIR/tests/cluster/whole

say "2.4 MB to every task, one host with 2 Mbit/s"
run near on h1 "$whole" --dome-transport self 300000
ended_well near
"$lab" rate h2 2
run slow on h1 "$dome" run --hosts "$work/hosts" -n 3 --restarts 2 "$whole" --dome-timeout 4 300000
ended_well slow
same "a slow link" near.out slow.out
clean slow

say "one of the tasks calls something else"
run other on h1 "$dome" run --hosts "$work/hosts" -n 3 "$whole" --dome-timeout 4 300 disagree
failed_with other "tasks disagree about"
clean other
finish
