#!/bin/bash
# A small program for each construct prints the same with libgomp and on any number of tasks.
. "$(dirname "$0")/../support/checks.bash"
dome=$DOME_BUILD_DIR/tools/dome compile=$DOME_BUILD_DIR/tools/dome-omp
[ -x "$compile" ] || skip "dome-omp is not built"
own_directory
tasks=${OPENMP_TASKS:-1 2 3}
for source in "$DOME_SOURCE_DIR"/tests/openmp/constructs/${OPENMP_CONSTRUCT:-*}.c*; do
    name=$(basename "${source%.*}")
    compiler=gcc
    [[ $source = *.cpp ]] && compiler=g++
    "$compiler" -fopenmp -O2 "$source" -o "$name.expected" || fail "$name by $compiler"
    "$compile" -O2 "$source" -o "$name" || fail "$name by dome-omp"
    for cancellation in false true; do
        [ "$name" = cancel ] || [ $cancellation = false ] || continue
        export OMP_CANCELLATION=$cancellation
        OMP_NUM_THREADS=3 timeout 60 ./"$name.expected" >expected || fail "$name with libgomp"
        for n in $tasks; do
            for threads in 1 8; do
                [ "$n$threads" != 31 ] || continue # as with 2 tasks
                OMP_NUM_THREADS=$threads timeout -k 2 60 "$dome" run -n "$n" ./"$name" >out || fail "$name on $n tasks, $threads threads: status $?"
                same "$name on $n tasks, $threads threads" out expected
            done
        done
    done
done
finish
