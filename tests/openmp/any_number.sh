#!/bin/bash
# The examples have the same bits on 1 to 7 tasks, also while threads move from task to task.
. "$(dirname "$0")/../support/checks.bash"
dome=$DOME_BUILD_DIR/tools/dome examples=$DOME_BUILD_DIR/examples/openmp
[ -x "$examples/stencil" ] || skip "the examples are not built by dome-omp"
own_directory
export OMP_NUM_THREADS=11
for example in "stencil 130 40" "reduction 40000" "tasks 5000"; do
    read -ra words <<<"$example"
    "$examples/${words[0]}" "${words[@]:1}" --dome-tasks 1 >expected || fail "$example on one task"
    for n in 2 3 4 5 6 7; do
        for balance in none random; do
            timeout 60 "$dome" run -n "$n" "$examples/${words[0]}" "${words[@]:1}" --dome-balance $balance >out ||
                fail "$example on $n tasks, balance $balance: status $?"
            same "$example on $n tasks, balance $balance" out expected
        done
    done
done
finish
