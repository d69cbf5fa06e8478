#!/bin/bash
# An OpenMP program on three hosts, one of them slow: it prints what it prints on one, gives the slow host fewer threads, and goes on
# when a task is killed and when a host ends.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
cc=$DOME_BUILD_DIR/tools/dome-omp
[ -x "$cc" ] || skip "there is no dome-omp"
cat >threads.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 3000, MOST = 64 };
static double x[N], own;
static char hosts[MOST][16];
#pragma omp threadprivate(own)

int main(int argc, char **argv)
{
    const int steps = atoi(argv[1]), each = atoi(argv[2]);
    double total = 0;
    for (int step = 0; step < steps; step++) {
        double sum = 0;
        while (step == 100 && argc > 4 && access(argv[4], F_OK) != 0) /* until something has been lost */
            usleep(10000);
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp for
            for (int k = 0; k < N; k++) {
                for (int times = 0; times < each; times++)
                    x[k] = x[k] * 0.999 + k * 1e-3;
                sum += x[k];
            }
            own += omp_get_thread_num() + step;
#pragma omp critical
            total = total * 0.999 + own;
            gethostname(hosts[omp_get_thread_num()], sizeof hosts[0]);
            hosts[omp_get_thread_num()][15] = 0;
        }
        total += sum;
        FILE *f = fopen(argv[3], "w");
        if (f) {
            fprintf(f, "%d\n", step);
            fclose(f);
        }
    }
    printf("%.17g\n", total);
    for (int t = 0; t < omp_get_max_threads(); t++)
        fprintf(stderr, "thread on %s\n", hosts[t]);
    return 0;
}
END_C
"$cc" -O2 threads.c -o threads || fail "threads.c is not built"
export OMP_NUM_THREADS=24

# -1 while it is not there, or is being written.
step() {
    local reached=-1
    read -r reached 2>/dev/null <"$work/step"
    echo "${reached:--1}"
}

# Until it has reached the step, or has ended.
reaches() { # STEP
    local k
    for ((k = 0; k < 3000; k++)); do
        [ "$(step)" -ge "$1" ] && return
        kill -0 "$program" 2>/dev/null || return
        sleep 0.02
    done
}

threads_on() { # NAME HOST
    grep -c "thread on $2" "$work/$1.err"
}

say "three hosts, as one"
run alone on h1 ./threads 30 40 "$work/step" --dome-tasks 1
[ "$status" -eq 0 ] || fail "alone: status $status: $(errors alone)"
run hosts on h1 "$dome" run --hosts "$work/hosts" -n 3 "$work/threads" 30 40 "$work/step" --dome-balance none # a busy machine might leave a host without threads
[ "$status" -eq 0 ] || fail "hosts: status $status: $(errors hosts)"
same "on three hosts" alone.out hosts.out
for host in h1 h2 h3; do
    [ "$(threads_on hosts $host)" -gt 0 ] || fail "$host has no thread: $(errors hosts)"
done

say "a slow host"
"$lab" cpu all 20
"$lab" cpu h3 5
run slow on h1 "$dome" run --hosts "$work/hosts" -n 3 "$work/threads" 150 800 "$work/step"
[ "$status" -eq 0 ] || fail "slow: status $status: $(errors slow)"
[ "$(threads_on slow h3)" -lt "$(threads_on slow h2)" ] || fail "the slow host has as many threads as another: $(errors slow)"
"$lab" cpu all max

say "a task is killed, and a host ends"
run long on h1 ./threads 400 200 "$work/step" --dome-tasks 1
for loss in task host; do
    rm -f step lost
    run lost on h1 "$dome" run --hosts "$work/hosts" -n 3 --on-loss heal --restarts 2 "$work/threads" 400 200 "$work/step" \
        "$work/lost" --dome-checkpoint-every 10 &
    program=$!
    reaches 99
    if [ $loss = task ]; then
        victim=$("$lab" ps h2 | awk '/threads/ && !/pvmd/ { print $2; exit }')
        kill -9 "$victim" || fail "no task on h2: $("$lab" ps h2)"
    else
        "$lab" kill h3
    fi
    touch lost
    wait "$program"
    status=$?
    [ "$status" -eq 0 ] || fail "$loss: status $status: $(errors lost)"
    grep -q "healed .*from checkpoint" lost.err || fail "$loss: it was not healed: $(errors lost)"
    same "a lost $loss" long.out lost.out
done
finish
