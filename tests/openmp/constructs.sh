#!/bin/bash
# A small program for each construct prints the same with libgomp and on any number of tasks.
# OPENMP_CC: the compiler under dome-omp.
. "$(dirname "$0")/../support/checks.bash"
dome=$DOME_BUILD_DIR/tools/dome compile=$DOME_BUILD_DIR/tools/dome-omp
[ -x "$compile" ] || skip "dome-omp is not built"
own_directory
tasks=${OPENMP_TASKS:-1 2 3}
for source in "$DOME_SOURCE_DIR"/tests/openmp/constructs/${OPENMP_CONSTRUCT:-*}.c*; do
    name=$(basename "${source%.*}")
    compiler=gcc
    [[ $source = *.cpp ]] && compiler=g++
    "$compiler" -fopenmp -O2 "$source" -o "$name.expected" -Wl,--as-needed -latomic || fail "$name by $compiler"
    "$compile" --cc="${OPENMP_CC:-gcc}" -O2 "$source" -o "$name" || fail "$name by dome-omp"
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

if [ -z "${OPENMP_CONSTRUCT:-}${OPENMP_CC:-}" ]; then
    # another library that has functions of the same names
    source=$DOME_SOURCE_DIR/tests/openmp/constructs/builtins.c
    gcc -fopenmp "$source" -o expects -Wl,--as-needed -latomic && OMP_NUM_THREADS=4 timeout 60 ./expects >expected || fail "builtins by gcc"
    "$compile" -Wl,--no-as-needed "$source" -o with_atomic -latomic || fail "builtins with libatomic"
    OMP_NUM_THREADS=4 timeout -k 2 60 "$dome" run -n 2 ./with_atomic >out || fail "builtins with libatomic: status $?"
    same "builtins with libatomic" out expected
    cat >many.c <<'END_C'
#include <stdio.h>
int main(void)
{
    int threads = 0;
#pragma omp parallel num_threads(2000) reduction(+ : threads)
    threads++;
    printf("%d\n", threads);
}
END_C
    "$compile" many.c -o many || fail "many by dome-omp"
    for n in $tasks; do
        most=$((1024 - (n > 1 ? n : 0)))
        timeout -k 2 60 "$dome" run -n "$n" ./many >out 2>err || fail "too many threads on $n tasks: status $?"
        grep -q "asks for 2000 threads and gets $most" err || fail "too many threads on $n tasks are not told: $(cat err)"
        [ "$(cat out)" = $most ] || fail "too many threads on $n tasks are $(cat out)"
    done
fi
finish
