#!/bin/bash
# The examples print the same with libgomp and on any number of tasks.
. "$(dirname "$0")/../support/checks.bash"
dome=$DOME_BUILD_DIR/tools/dome examples=$DOME_BUILD_DIR/examples/openmp
[ -x "$examples/stencil" ] || skip "the examples are not built by dome-omp"
own_directory
tasks=${OPENMP_TASKS:-1 2 3}
for example in "stencil 130 20" "reduction 40000" "tasks 5000"; do
    read -ra words <<<"$example"
    gcc -fopenmp -O2 "$DOME_SOURCE_DIR/examples/openmp/${words[0]}.c" -o "${words[0]}" || fail "${words[0]} by gcc"
    OMP_NUM_THREADS=3 ./"${words[0]}" "${words[@]:1}" >expected || fail "$example with libgomp"
    for n in $tasks; do
        OMP_NUM_THREADS=5 timeout 60 "$dome" run -n "$n" "$examples/${words[0]}" "${words[@]:1}" >out || fail "$example on $n tasks: status $?"
        same "$example on $n tasks" out expected
    done
done
finish
