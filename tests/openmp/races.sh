#!/bin/bash
# Races are found with --dome-omp-races, on one task and between tasks, and named; nothing is found where threads synchronise.
. "$(dirname "$0")/../support/checks.bash"
dome=$DOME_BUILD_DIR/tools/dome compile=$DOME_BUILD_DIR/tools/dome-omp
[ -x "$compile" ] || skip "dome-omp is not built"
own_directory
export OMP_NUM_THREADS=4
unset DOME_OPTIONS

run() { # TASKS PROGRAM OPTION...
    timeout -k 2 60 "$dome" run -n "$1" "./$2" "${@:3}" >out 2>err
    status=$?
}

says() { # WHAT TEXT...
    local text
    for text in "${@:2}"; do
        grep -qF -- "$text" err || fail "$1: '$text' is not in: $(cat err)"
    done
}

cat >racy.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int hist[100];

static void spoil(int *block, int *local)
{
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        hist[7] = me + 1;
        block[3] = me + 1;
        *local = me + 1;
        hist[20 + me] = me;
    }
}

int main(void)
{
    int local = 0, *block = malloc(1000);
    spoil(block, &local);
    return 0;
}
END_C
cat >far.c <<'END_C'
#include <omp.h>

int last, same;

int main(void)
{
#pragma omp parallel
    if (omp_get_thread_num() % 3 == 0)
        last = omp_get_thread_num() + 1, same = 5;
    return 0;
}
END_C
cat >good.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int counter, atomic, flag, row[1000], turns;
double sum;

int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    int local = 0, *all[8];
#pragma omp parallel reduction(+ : sum)
    {
        const int me = omp_get_thread_num(), n = omp_get_num_threads();
        sum += me;
        row[me] = me;
#pragma omp barrier
        row[(me + 1) % n] = -me;
#pragma omp critical
        counter = counter * 2 + me;
#pragma omp atomic
        atomic += me + 1;
        omp_set_lock(&lock);
        local = me;
        omp_unset_lock(&lock);
#pragma omp single
        flag = 7;
#pragma omp for ordered schedule(static, 1)
        for (int k = 0; k < 20; k++)
#pragma omp ordered
            turns = turns * 3 + k;
        all[me] = malloc(3000);
        all[me][5] = me;
#pragma omp barrier
        free(all[(me + 1) % n]);
#pragma omp for ordered(1)
        for (int k = 1; k < 40; k++) {
#pragma omp ordered depend(sink : k - 1)
            row[500] = k;
#pragma omp ordered depend(source)
        }
    }
#pragma omp parallel for lastprivate(local)
    for (int k = 0; k < 1000; k++)
        row[k] = local = k;
    printf("%g %d %d %d %d %d\n", sum, atomic, flag, local, turns, row[999]);
    return 0;
}
END_C
for name in racy far good; do
    "$compile" -O1 $name.c -o $name 2>err || fail "$name: $(cat err)"
done

for n in 1 2 4; do
    run $n racy --dome-omp-races warn
    [ $status -eq 0 ] || fail "racy on $n tasks: status $status: $(cat err)"
    says "racy on $n tasks" "threads 0 " " different values to hist+28 (" "in spoil._omp_fn.0" "bytes of the heap of thread 0, at " "+12 (" "the stack of thread 0, at "
    ! grep -E 'hist\+(8|9)' err || fail "racy on $n tasks: elements of different threads"
    run $n racy
    [ $status -eq 0 ] && [ ! -s err ] || fail "racy on $n tasks, not asked: status $status: $(cat err)"
    run $n racy --dome-omp-races error
    [ $status -eq 1 ] && grep -q 'a race' err || fail "racy on $n tasks, error: status $status: $(cat err)"
    run $n good --dome-omp-races error
    [ $status -eq 0 ] && [ ! -s err ] || fail "good on $n tasks: status $status: $(cat err)"
    cp out good.$n
    run $n good
    same "good on $n tasks, looked for races and not" out good.$n
done

# One line for a variable, of whichever task, and not for the same value.
run 1 far --dome-omp-races warn
[ "$(grep -c 'threads 0 and 3 have written different values to last (' err)" -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] || fail "far on one task: $(cat err)"
for n in 2 4; do
    run $n far --dome-omp-races warn
    says "far on $n tasks" "threads 0 (task 0) and 3 (task $((n - 1))) have written different values to last ("
    [ "$(wc -l <err)" -eq 1 ] || fail "far on $n tasks: $(cat err)"
done
finish
