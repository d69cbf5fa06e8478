#!/bin/bash
# kmeans prints the same as its sequential twin, for any number of tasks, also for fewer points than blocks of many tasks.
. "$(dirname "$0")/../support/programs.bash"
twins kmeans '^centre' "16 3" "1000 0" "5000 12"
[ "$(grep -c '^centre' expected)" -eq 16 ] || fail "centres: $(cat expected)"

run self kmeans 15
refused "15 points" 1 "usage: kmeans"
finish
