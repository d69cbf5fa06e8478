#!/bin/bash
# pagerank prints the same as its sequential twin, for any number of tasks, also for fewer pages than tasks.
. "$(dirname "$0")/../support/programs.bash"
twins pagerank '^page' "5 0" "6 3" "3000 12"
[ "$(grep -c '^page' expected)" -eq 5 ] || fail "pages: $(cat expected)"

run self pagerank 4
refused "4 pages" 1 "usage: pagerank"
finish
