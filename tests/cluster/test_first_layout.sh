#!/bin/bash
# A host that is much slower than the others from the start gets less of a vector from the start; nobody does with --dome-balance none.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
parts=$DOME_BUILD_DIR/tests/cluster/parts

part_of() {
    awk -v host="$2" '$1 == host { print $2 }' "$1.out"
}

"$lab" cpu h2 5
say "one of three hosts at 5 %"
run slow on h1 "$dome" run --hosts "$work/hosts" -n 3 "$parts"
ended_well slow
[ "$(part_of slow h2)" -lt 20000 ] || fail "h2 has $(part_of slow h2) elements of 100000: $(cat slow.out)"
[ $(($(part_of slow h1) + $(part_of slow h2) + $(part_of slow h3))) -eq 100000 ] || fail "not all elements are there: $(cat slow.out)"

say "the same without balancing"
run none on h1 "$dome" run --hosts "$work/hosts" -n 3 "$parts" --dome-balance none
ended_well none
[ "$(part_of none h2)" -gt 30000 ] || fail "h2 has $(part_of none h2) elements of 100000: $(cat none.out)"
clean "the first layout"
finish
