#!/bin/bash
# Threads are dealt to tasks by their speeds. A task whose threads take three times as long gets fewer, whatever main does between regions;
# threads keep their own variables when they move; and the result is the same.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp dome=$DOME_BUILD_DIR/tools/dome
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory
cat >slow.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 32 };
static int task[THREADS], first;
static double own, sums[THREADS];
#pragma omp threadprivate(own)

/* Processor time would depend on what else the machine does. */
static void work(int task_of_main)
{
    usleep(getpid() == task_of_main ? 5000 : 15000);
}

int main(int argc, char **argv)
{
    const int steps = atoi(argv[1]), main_too = argc > 2;
    double sum = 0;
    int others[THREADS + 1] = {0}, middle = 0;
    first = getpid();
    for (int step = 0; step < steps; step++) {
#pragma omp parallel num_threads(THREADS)
        {
            const int t = omp_get_thread_num();
            work(first);
            own += t * 0.1 + step;
            task[t] = getpid() != first;
            sums[t] = own;
        }
        int count = 0;
        for (int t = 0; t < THREADS; t++)
            count += task[t];
        others[count] += step >= steps / 2;
        if (main_too)
            usleep(30000);
    }
    int changes = 0;
    for (int t = 0; t < THREADS; t++) {
        sum += sums[t] / (t + 1);
        changes += t > 0 && task[t] != task[t - 1];
    }
    for (int regions = others[0]; regions <= (steps - steps / 2) / 2;)
        regions += others[++middle];
    printf("%.17g\n", sum);
    fprintf(stderr, "threads of task 1: %d, runs: %d\n", middle, changes + 1);
    return 0;
}
END_C
"$cc" -O1 slow.c -o slow || fail "slow.c is not built"
./slow 40 --dome-tasks 1 >expected 2>err || fail "one task: $(cat err)"

# Ideal: 24 and 8, evenly 16 and 16. The median of the second half of the regions: a busy machine may make some sleeps longer.
for main in "" too; do
    timeout 100 "$dome" run -n 2 ./slow 40 $main >out 2>err || fail "slow task, main $main: $(cat err)"
    same "slow task, main $main" out expected
    read -r others runs < <(sed -n 's/^threads of task 1: \(.*\), runs: \(.*\)$/\1 \2/p' err)
    [ "${others:-0}" -ge 3 ] && [ "$others" -le 15 ] && [ "$runs" = 2 ] || fail "slow task, main $main: $(cat err)"
done
timeout 100 "$dome" run -n 2 ./slow 20 --dome-balance none >out 2>err || fail "without balancing: $(cat err)"
grep -q "threads of task 1: 16, runs: 2" err || fail "without balancing: $(cat err)"

# Threads move at each region, also to tasks and from tasks that have none.
for tasks in 2 3 5; do
    timeout 100 "$dome" run -n $tasks ./slow 40 --dome-balance random >out 2>err || fail "at random, $tasks tasks: $(cat err)"
    same "at random, $tasks tasks" out expected
done
finish
