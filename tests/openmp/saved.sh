#!/bin/bash
# An OpenMP program that is saved where parallel regions begin, and goes on: on other numbers of tasks, after losses, when it grows and
# shrinks. Each time it prints what it prints when nobody disturbs it.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp
dome=$DOME_BUILD_DIR/tools/dome
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory
export DOME_TEST_MARKS=$work/marks
mkdir marks

# Each step is a region. Until the file `hurry` is there a step takes some time; `step` and `task.T` tell how far it is, and which
# process runs thread T.
cat >saved.c <<'END_C'
#define _GNU_SOURCE
#include <locale.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 300, THREADS = 6, N = 6000 };
static double global[N];
static long own;
#pragma omp threadprivate(own)

static void tell(const char *name, int number, long value)
{
    char path[4096], new[4096];
    snprintf(path, sizeof path, "%s/%s.%d", getenv("DOME_TEST_MARKS"), name, number);
    snprintf(new, sizeof new, "%s.new", path);
    FILE *f = fopen(new, "w");
    if (!f || fprintf(f, "%ld\n", value) < 0 || fclose(f) || rename(new, path))
        printf("wrong: cannot tell %s\n", path);
}

static void pace(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/hurry", getenv("DOME_TEST_MARKS"));
    if (access(path, F_OK))
        usleep(20000);
}

int main(void)
{
    double on_stack[N] = {0}, total = 0;
    double *heap = NULL;
    size_t length = 0;
    mkdir("there", 0700);
    if (chdir("there"))
        return 2;
    setenv("ADDED", "set in main", 1);
    setlocale(LC_ALL, "C.UTF-8");
    umask(027);
    srand(5);
    for (int step = 0; step < STEPS; step++) {
        double sum = 0;
        if (step % 10 == 0) {
            heap = realloc(heap, (length + 1000) * sizeof *heap);
            for (size_t k = length; k < length + 1000; k++)
                heap[k] = step;
            length += 1000;
        }
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
        {
            const int t = omp_get_thread_num();
            own += t + step;
            tell("task", t, getpid());
#pragma omp for
            for (int k = 0; k < N; k++) {
                global[k] += 1.0 / (k + step + 1);
                on_stack[k] += global[k];
                heap[k % length] += k < (int)length ? 0.5 : 0;
                sum += on_stack[k];
            }
            sum += own;
            if (step % 20 == 7 && t % 2)
                printf("step %d, thread %d: %ld, %s, %s\n", step, t, own, getenv("ADDED"), strrchr(getcwd(NULL, 0), '/'));
        }
        total += sum;
        if (step % 20 == 7)
            printf("step %d: %.17g\n", step, total);
        tell("step", 0, step);
        pace();
    }
    for (size_t k = 0; k < length; k++)
        total += heap[k];
    const mode_t mask = umask(0);
    printf("%.17g, %s, %o, %d, %s\n", total, setlocale(LC_ALL, NULL), mask, rand(), getenv("ADDED"));
#ifdef OTHER
    puts("another build");
#endif
    return 0;
}
END_C
"$cc" -O1 saved.c -o saved 2>err || fail "saved.c is not built: $(cat err)"
mkdir other
"$cc" -O1 -DOTHER saved.c -o other/saved 2>err || fail "saved.c is not built otherwise: $(cat err)"

told() { # NAME.NUMBER
    cat "marks/$1" 2>/dev/null || echo -1
}

# Until a condition holds or the program has ended; the test as a whole has a limit.
await() { # COMMAND...
    until "$@" || ! kill -0 "$program" 2>/dev/null; do
        sleep 0.02
    done
}

has_reached() { # STEP
    [ "$(told step.0)" -ge "$1" ]
}

further() { # STEPS
    await has_reached $(($(told step.0) + $1))
}

is_other() { # THREAD PID
    local now
    now=$(told task.$1)
    [ "$now" -ge 0 ] && [ "$now" != "$2" ]
}

start() { # COMMAND...
    rm -rf marks
    mkdir marks
    "$@" >out 2>err &
    program=$!
}

# Without what was printed once more, after the program went back.
once() {
    tac | awk '!seen[$0]++' | tac
}

# It prints what the undisturbed run did.
ends() { # WHAT [FILE: what was printed before]
    touch marks/hurry
    wait "$program"
    status=$?
    [ "$status" = 0 ] || fail "$1: status $status: $(cat err)"
    cat "${@:2}" out | once >out.once
    same "$1" undisturbed out.once
}

touch marks/hurry
./saved --dome-tasks 1 >undisturbed 2>err || fail "undisturbed: status $?: $(cat err)"
grep -q wrong undisturbed && fail "$(grep wrong undisturbed)"
[ "$(wc -l <undisturbed)" = 61 ] || fail "undisturbed: $(cat undisturbed)"
grep -q ', C.UTF-8, 27, .*, set in main$' undisturbed || fail "undisturbed: $(tail -1 undisturbed)"

# ---- another number of tasks, and another build ----

start "$dome" run -n 2 ./saved --dome-checkpoint-dir saved.ck --dome-checkpoint-every 5
await has_reached 70
kill -9 "$(told task.5)"
wait "$program" && fail "it goes on without a task: $(cat err)"
cp out printed
for tasks in 1 3; do
    cp -r saved.ck "ck.$tasks"
    start "$dome" run -n $tasks ./saved --dome-checkpoint-dir "ck.$tasks" --dome-restart
    further 5
    grep -q "step 7:" out && fail "restart on $tasks tasks: it began anew"
    ends "restart on $tasks tasks" printed
done
"$dome" run -n 2 other/saved --dome-checkpoint-dir saved.ck --dome-restart >out 2>all
status=$?
grep -v "going on from checkpoint" all >err
refused "another build" 1 "another build"

# ---- losses ----

for thread in 5 0; do
    start "$dome" run -n 2 --on-loss heal ./saved --dome-checkpoint-every 5
    await has_reached 40
    victim=$(told task.$thread)
    kill -9 "$victim"
    await is_other $thread "$victim"
    further 20
    ends "the task of thread $thread is lost"
    grep -q "healed from checkpoint" err || fail "the task of thread $thread is lost: $(cat err)"
done

# ---- another daemon: the program's environment is that of the processes before, but for words about the daemon ----

start "$dome" run -n 2 --max 3 --restarts 1 --on-loss restart ./saved --dome-checkpoint-dir restarted.ck --dome-checkpoint-every 5
await has_reached 30
victim=$(told task.5)
kill -9 "$victim"
await is_other 5 "$victim"
further 5
"$dome" grow "$program" -n 1 --wait 1e300 >told 2>&1 || fail "grow after a restart: $(cat told)"
further 5
ends "growing after a restart"

# ---- growing and shrinking ----

processes() { # that run threads
    cat marks/task.? | sort -u | wc -l
}

# Balancing would deal the threads by what else the machine does.
start "$dome" run -n 1 --max 3 ./saved --dome-balance none
await has_reached 20
"$dome" grow "$program" -n 2 --wait 1e300 >told 2>&1 || fail "grow: $(cat told)"
further 10
[ "$(processes)" = 3 ] || fail "it has not grown: $(processes) processes"
"$dome" shrink "$program" -n 1 --wait 1e300 >told 2>&1 || fail "shrink: $(cat told)"
further 10
[ "$(processes)" = 2 ] || fail "it has not shrunk: $(processes) processes"
ends "growing and shrinking"
same "nothing is printed twice" undisturbed out
finish
