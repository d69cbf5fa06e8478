#!/bin/bash
# Tasks that thread 0 meets are dealt to all threads: the results are those of libgomp, on any number of tasks. Threads that wait for
# thread 0 do not hang.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp dome=$DOME_BUILD_DIR/tools/dome
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory
cat >dealt.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static double f(int n)
{
    double x = 0;
    for (int i = 0; i < n; i++)
        x += 1.0 / (i + 1);
    return x;
}
static int who[100];
omp_lock_t L;
int main(int argc, char **argv)
{
    double a[100] = {0};
    int dep[10] = {0};
    double sum = 0;
    int order[200], n = 0;
    omp_init_lock(&L);
#pragma omp parallel num_threads(8)
    {
#pragma omp single
        {
            double local[20] = {0};
            for (int i = 0; i < 20; i++) {
#pragma omp task shared(local) firstprivate(i)
                {
                    local[i] = f(1000 + i);
                    who[i] = omp_get_thread_num();
                }
            }
#pragma omp taskwait
            for (int i = 0; i < 20; i++)
                a[i] = local[i];
            for (int i = 0; i < 5; i++) {
#pragma omp task depend(out : dep[i])
                dep[i] = i + 1;
            }
            for (int i = 1; i < 5; i++) {
#pragma omp task depend(in : dep[i - 1]) depend(inout : dep[i])
                dep[i] += 10 * dep[i - 1];
            }
#pragma omp taskgroup
            {
                for (int i = 0; i < 30; i++) {
#pragma omp task
                    {
#pragma omp critical
                        {
                            sum += i + 1; /* exact in any order */
                            order[n++] = i;
                        }
                    }
                }
            }
#pragma omp taskloop grainsize(3)
            for (int i = 20; i < 60; i++)
                a[i] = f(i);
        }
#pragma omp barrier
#pragma omp master
        {
            omp_set_lock(&L);
            for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
                a[60 + i] = a[i] * 2;
            }
#pragma omp taskwait
            omp_unset_lock(&L);
        }
        if (omp_get_thread_num() == 5) {
            omp_set_lock(&L);
            a[99] += 1; /* before or after the tasks: which thread gets the lock first is not said */
            omp_unset_lock(&L);
        }
#pragma omp barrier
#pragma omp single nowait
        for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
            a[80 + i] = i;
        }
    }
    double t = 0;
    for (int i = 0; i < 100; i++)
        t = t * 1.1 + a[i];
    printf("%.17g %.17g %d %d %d\n", t, sum, dep[4], dep[3], n);
    int ok = 1;
    for (int i = 0; i < n; i++)
        ok &= order[i] >= 0;
    printf("%d %g\n", ok, a[99]);
    if (argc > 1) {
        (void)argv;
        int most = 0;
        for (int i = 0; i < 20; i++)
            most = who[i] > most ? who[i] : most;
        printf("to %d\n", most);
    }
    return 0;
}
END_C
gcc -fopenmp -O1 dealt.c -o theirs && ./theirs >expected || fail "dealt.c with libgomp"
for compiler in gcc clang-14; do
    command -v $compiler >/dev/null || continue
    "$cc" --cc=$compiler -O1 dealt.c -o dealt 2>said || fail "dealt.c by $compiler: $(cat said)"
    for tasks in 1 2 3; do
        for way in dealt at-once; do
            timeout -k 2 60 "$dome" run -n $tasks ./dealt --dome-omp-tasks $way >out 2>err || fail "$compiler, $tasks tasks, $way: $(cat err)"
            same "$compiler, $tasks tasks, $way" expected out
        done
        timeout -k 2 60 "$dome" run -n $tasks ./dealt threads >out 2>err
        grep -qx "to 7" out || fail "$compiler, $tasks tasks: thread 7 has no task: $(cat out err)"
    done
done

# Tasks of all threads, those of thread 0 dealt, that take a lock in turn: what tasks are told at one meeting may come behind it.
cat >locked.c <<'END_C'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int all = 0;
    for (int round = 0; round < 12; round++)
        for (int threads = 4; threads <= 64; threads *= 2) {
            omp_lock_t lock;
            int count = 0;
            omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
            {
#pragma omp task
                for (int k = 0; k < 2; k++) {
                    omp_set_lock(&lock);
                    count++;
                    omp_unset_lock(&lock);
                }
            }
            omp_destroy_lock(&lock);
            all += count == 2 * threads;
        }
    printf("%d\n", all);
    return all != 60;
}
END_C
"$cc" -O1 locked.c -o locked || fail "locked.c"
for tasks in 2 3 4; do
    timeout -k 2 60 "$dome" run -n $tasks ./locked >out 2>err || fail "locks in tasks, $tasks tasks: status $?: $(cat out err)"
done
finish
