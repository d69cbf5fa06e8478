#!/bin/bash
# Programs that do in regions what threads of one process may, and tasks of several must mend or name: streams of another task, mutexes
# and static variables of C++, pointers to local variables, threads, children, jumps, odd numbers of threads and iterations, system
# calls that a container refuses.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp dome=$DOME_BUILD_DIR/tools/dome
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory

build() { # SOURCE
    "$cc" -O1 "$1" -o "${1%.*}" 2>said || fail "$1 is not built: $(cat said)"
}

run() { # TASKS COMMAND...
    timeout -k 2 60 "$dome" run -n "$1" "${@:2}" >out 2>err
    status=$?
}

numbers="1 3"
[ -z "${DOME_TEST_ALL:-}" ] || numbers="1 2 3 4 5"

as_expected() { # SOURCE: prints on any number of tasks what is in `expected`
    build "$1"
    for tasks in $numbers; do
        run $tasks ./"${1%.*}"
        [ $status = 0 ] && [ ! -s err ] || fail "$1, $tasks tasks: status $status: $(cat err)"
        same "$1, $tasks tasks" expected out
    done
}

# ---- waiting by flush: nobody sees a flag before what was written first ----

cat >waits.c <<'END_C'
#include <omp.h>
#include <stdio.h>

enum { THREADS = 5, STEPS = 60, MANY = 3000 };
static volatile int flag[THREADS + 1]; /* 1: the thread before has written, and the next one has not read */
static double data[THREADS + 1][MANY], seen[THREADS];
static int wrong;

int main(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        const int me = omp_get_thread_num();
        for (int step = 1; step <= STEPS; step++) {
            while (me > 0 && flag[me - 1] == 0) {
#pragma omp flush
            }
            while (me < THREADS - 1 && flag[me] == 1) {
#pragma omp flush
            }
            for (int k = 0; k < MANY; k++) {
                if (me > 0 && data[me - 1][k] != step * 1000 + me - 1)
                    seen[me] = wrong = 1;
                data[me][k] = step * 1000 + me;
            }
            if (me > 0)
                flag[me - 1] = 0;
            if (me < THREADS - 1)
                flag[me] = 1;
#pragma omp flush
        }
    }
    printf("%d %g\n", wrong, data[THREADS - 1][MANY - 1]);
    return 0;
}
END_C
build waits.c
for tasks in $numbers; do
    run $tasks ./waits
    [ $status = 0 ] && [ "$(cat out)" = "0 60004" ] || fail "waiting by flush, $tasks tasks: status $status: $(cat out err)"
done

# ---- numbers of threads and iterations, threads, children ----

cat >odd.c <<'END_C'
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static double results[8];

static void *in_thread(void *at)
{
    double sum = 0;
    for (int k = 0; k < 1000; k++)
        sum += k;
    *(double *)at = sum;
    return NULL;
}

int main(void)
{
    int none = 0, sum = 0, inner[16] = {0};
    volatile int zero = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < none; i++)
        sum += i;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (int i = 5; i < zero; i++)
        sum += i;
    printf("no iteration: %d\n", sum);
#pragma omp parallel if (zero) reduction(+ : sum)
    sum += omp_get_num_threads();
    printf("if(0): %d\n", sum);
#pragma omp parallel num_threads(16)
    {
        int me = omp_get_thread_num();
#pragma omp parallel num_threads(3)
        {
#pragma omp atomic
            inner[me] += 1 + omp_get_level();
        }
    }
    for (int k = 0; k < 16; k++)
        sum += inner[k];
    printf("3 in 16: %d\n", sum);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    printf("two: %d\n", sum);
#pragma omp parallel num_threads(4)
    {
        pthread_t thread;
        if (pthread_create(&thread, NULL, in_thread, &results[omp_get_thread_num()]) == 0)
            pthread_join(thread, NULL);
    }
    printf("threads: %g %g\n", results[0], results[3]);
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num(), *both = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        both[0] = me;
        pid_t child = fork();
        if (child == 0) {
            both[0] += 100;
            _exit(0);
        }
        waitpid(child, NULL, 0);
        results[me] = both[0];
        munmap(both, 4096);
    }
    printf("shared with a child: %g %g\n", results[0], results[3]);
    return 0;
}
END_C
printf '%s\n' "no iteration: 0" "if(0): 1" "3 in 16: 49" "two: 52" "threads: 499500 499500" "shared with a child: 100 103" >expected
as_expected odd.c

cat >deep.c <<'END_C'
#include <stdio.h>
#include <string.h>

static long deep(int k)
{
    volatile char frame[1 << 20];
    memset((char *)frame, k % 100, sizeof frame);
    return k ? deep(k - 1) + frame[5] : frame[7];
}

int main(void)
{
    long sum = deep(1000);
    char large[100 << 20];
    for (int k = 0; k < 100; k++)
        large[k << 20] = 1;
#pragma omp parallel for reduction(+ : sum) num_threads(4)
    for (int k = 0; k < 100; k++)
        sum += large[k << 20];
    printf("%ld\n", sum);
    return 0;
}
END_C
echo 49600 >expected
(ulimit -s unlimited && as_expected deep.c) || exit 1

# ---- a container ----

cat >refuse.c <<'END_C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sock_filter code[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short n = 1;
    for (char *at = argv[1]; argc > 2 && *at && n < 60; at += *at == ',') {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)strtoul(at, &at, 10), 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    execvp(argv[2], argv + 2);
    return 126;
}
END_C
gcc -O1 refuse.c -o refuse || fail "refuse.c is not built"
./refuse 500 true
if [ $? = 0 ]; then
    printf '%s\n' "no iteration: 0" "if(0): 1" "3 in 16: 49" "two: 52" "threads: 499500 499500" "shared with a child: 100 103" >expected
    refusals="135 135,323 101,298,310,311" # personality, userfaultfd; ptrace, perf_event_open, process_vm_readv, _writev
    [ -z "${DOME_TEST_ALL:-}" ] || refusals+=" 323"
    for refused in $refusals; do
        timeout -k 2 60 ./refuse $refused "$dome" run -n 2 ./odd >out 2>err || fail "system calls $refused refused: status $?: $(cat err)"
        same "system calls $refused refused" expected out
    done
    timeout -k 2 60 ./refuse 319 "$dome" run -n 2 ./odd >out 2>err # memfd_create
    status=$?
    [ $status != 0 ] && grep -q "cannot be shared by tasks: Operation not permitted" err ||
        fail "memfd_create refused: status $status: $(cat err)"
fi

# ---- what is another task's ----

cat >local.c <<'END_C'
#include <omp.h>
#include <stdio.h>

static int *pointer;

int main(void)
{
#pragma omp parallel num_threads(4)
    {
        int own = omp_get_thread_num() + 10;
        if (omp_get_thread_num() == 3)
            pointer = &own;
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            printf("%d\n", *pointer);
#pragma omp barrier
    }
    return 0;
}
END_C
build local.c
run 1 ./local
[ "$(cat out)" = 13 ] || fail "a local variable of thread 3, 1 task: $(cat out err)"
for tasks in 2 3; do
    run $tasks ./local
    [ $status != 0 ] && grep -q "thread 0, on task 0, accesses .* in main.* on the stack of thread 3, which another task runs" err ||
        fail "a local variable of thread 3, $tasks tasks: status $status: $(cat out err)"
done

cat >reads.c <<'END_C'
#include <omp.h>
#include <stdio.h>

int main(void)
{
    FILE *numbers = fopen("numbers", "r");
    int number = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1 && fscanf(numbers, "%d", &number) != 1)
        number = -1;
    printf("%d\n", number);
    return 0;
}
END_C
build reads.c
seq 10 20 >numbers
run 1 ./reads
[ "$(cat out)" = 10 ] || fail "a stream is read by thread 1, 1 task: $(cat out err)"
run 2 ./reads
[ $status != 0 ] && grep -q "a thread of task 1 reads from a stream that task 0 has opened" err ||
    fail "a stream is read by thread 1, 2 tasks: status $status: $(cat out err)"

cat >input.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int number[8] = {0};
    char line[100];
#pragma omp parallel for ordered num_threads(4) schedule(static) private(line)
    for (int k = 0; k < 8; k++) {
#pragma omp ordered
        if (argc == 1)
            number[k] = fgets(line, sizeof line, stdin) ? sscanf(line, "%d", &number[k]), number[k] : -1;
        else if (!strcmp(argv[1], "scanf") ? scanf("%d", &number[k]) != 1 : (number[k] = getchar()) == EOF)
            number[k] = -1;
    }
    for (int k = 0; k < 8; k++)
        printf("%d ", number[k]);
    puts("");
    return 0;
}
END_C
build input.c
for how in "" scanf getchar; do
    timeout -k 2 60 "$dome" run -n 1 ./input $how <numbers >out 2>err
    [ "$(cat out)" = "$([ "$how" = getchar ] && echo "49 48 10 49 49 10 49 50 " || echo "10 11 12 13 14 15 16 17 ")" ] ||
        fail "the standard input, $how, 1 task: $(cat out err)"
    timeout -k 2 60 "$dome" run -n 2 ./input $how <numbers >out 2>err
    status=$?
    [ $status != 0 ] && grep -q "a thread of task 1 reads from the standard input; only threads of task 0 can" err ||
        fail "the standard input, $how, 2 tasks: status $status: $(cat out err)"
done

cat >jump.c <<'END_C'
#include <omp.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf out;

int main(void)
{
    int sum = 0;
    if (!setjmp(out)) {
#pragma omp parallel num_threads(4)
        if (omp_get_thread_num() == 0)
            longjmp(out, 1);
    }
#pragma omp parallel num_threads(4) reduction(+ : sum)
    sum++;
    printf("%d\n", sum);
    return 0;
}
END_C
build jump.c
for tasks in 1 2; do
    run $tasks ./jump
    [ $status != 0 ] && grep -q "thread 0 has left a parallel region without its end (longjmp)" err ||
        fail "longjmp, $tasks tasks: status $status: $(cat out err)"
done

cat >spin.c <<'END_C'
#include <omp.h>
#include <stdio.h>

static volatile int raised;

static void wait_for_flag(void)
{
    while (!raised)
        ;
}

int main(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        wait_for_flag();
    else
        raised = 1;
    printf("%d\n", raised);
    return 0;
}
END_C
if [ -n "${DOME_TEST_ALL:-}" ]; then # it computes for ten seconds
    "$cc" -O1 -fno-inline spin.c -o spin || fail "spin.c is not built"
    run 2 ./spin
    [ $status != 0 ] && grep -q "thread 0 has waited for 10 seconds in wait_for_flag.* for the variable raised, and nothing lets it see" err ||
        fail "a plain variable, 2 tasks: status $status: $(cat out err)"
fi

# ---- streams, also after a restart ----

cat >streams.c <<'END_C'
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static FILE *lines, *numbers;

static void at_end(void)
{
    puts("at end");
}

int main(void)
{
    char line[100];
    if (atexit(at_end) || !(lines = fopen("lines", "w")) || !(numbers = fopen("numbers", "r")))
        return 3;
    for (int step = 0; step < 6; step++) {
        if (!fgets(line, sizeof line, numbers))
            return 4;
        fprintf(lines, "step %d, %s", step, line);
#pragma omp parallel for ordered num_threads(4)
        for (int k = 0; k < 8; k++) {
#pragma omp ordered
            fprintf(lines, "step %d, iteration %d\n", step, k);
        }
        if (step == 3 && access("died", F_OK)) {
            close(creat("died", 0600));
            kill(getpid(), SIGKILL);
        }
    }
    fclose(lines);
    puts("done");
    return 0;
}
END_C
printf '%s\n' done "at end" >expected
touch died
build streams.c
gcc -fopenmp -O1 streams.c -o streams.gcc && ./streams.gcc >out && mv lines lines.expected || fail "streams.c with libgomp"
same "streams.c with libgomp" expected out
for tasks in 1 2 3; do
    run $tasks ./streams
    same "streams.c, $tasks tasks: $(cat err)" expected out
    same "a stream of task 0, $tasks tasks" lines.expected lines
done
for tasks in "1 1" "2 2" "2 3" "3 1"; do
    rm -rf died saved lines
    run "${tasks% *}" ./streams --dome-checkpoint-dir saved --dome-checkpoint-every 1
    [ $status != 0 ] || fail "streams, $tasks tasks: it was not killed"
    run "${tasks#* }" ./streams --dome-checkpoint-dir saved --dome-restart
    [ $status = 0 ] || fail "streams, $tasks tasks: status $status: $(cat err)"
    same "streams.c, $tasks tasks" expected out
    same "a stream after a restart, $tasks tasks" lines.expected lines
done

# ---- a task that is lost inside a critical section ----

cat >critical.c <<'END_C'
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void die_once(void)
{
    if (access("died", F_OK) == 0)
        return;
    close(creat("died", 0600));
    kill(getpid(), SIGKILL);
}

int main(void)
{
    long sum = 0;
    for (int step = 0; step < 5; step++) {
#pragma omp parallel num_threads(4)
        for (int k = 0; k < 10; k++) {
#pragma omp critical
            {
                sum += k * omp_get_thread_num();
                if (step == 3 && k == 5 && omp_get_thread_num() == 3)
                    die_once();
            }
        }
    }
    printf("%ld\n", sum);
    return 0;
}
END_C
build critical.c
echo 1350 >expected
for tasks in 2 3; do
    rm -rf died saved
    run $tasks --on-loss heal ./critical --dome-checkpoint-dir saved --dome-checkpoint-every 1
    [ $status = 0 ] || fail "a task lost in a critical section, $tasks tasks: status $status: $(cat err)"
    grep -q "healed from" err || fail "a task lost in a critical section, $tasks tasks: it is not healed: $(cat err)"
    same "a task lost in a critical section, $tasks tasks" expected out
done

# ---- C++, Fortran ----

if command -v g++ >/dev/null; then
    cat >objects.cc <<'END_C'
#include <cstdio>
#include <mutex>
#include <omp.h>
#include <vector>

static std::mutex mutex;
static std::recursive_mutex twice;
static int made, sum;

static std::vector<int> table()
{
    made++;
    return std::vector<int>(1000, 7);
}

static int look_up(int k)
{
    static const std::vector<int> values = table();
    return values[k];
}

static void add(int n)
{
    std::lock_guard<std::recursive_mutex> outer(twice), inner(twice);
    sum += n;
}

int main()
{
    std::vector<double> order;
    double product = 1;
#pragma omp parallel for num_threads(6)
    for (int k = 0; k < 60; k++) {
        add(look_up(k));
        std::lock_guard<std::mutex> guard(mutex);
        order.push_back(k);
        product = product * 1.0001 + k;
    }
    std::printf("%d %d %zu %d %.17g\n", made, sum, order.size(), look_up(5), product);
}
END_C
    build objects.cc
    run 1 ./objects
    mv out expected
    [ "$(cut -d' ' -f1-4 expected)" = "1 420 60 7" ] || fail "objects.cc: $(cat expected err)"
    as_expected objects.cc
fi
if command -v gfortran >/dev/null; then
    cat >detached.f90 <<'END_F'
program detached
    use omp_lib
    implicit none
    integer :: x = 0, y = 0, seen = -1
    integer(kind=omp_event_handle_kind) :: event
    !$omp parallel num_threads(4)
    !$omp single
    !$omp task depend(out: y) detach(event)
    y = y + 1
    !$omp end task
    !$omp task
    x = 1
    call omp_fulfill_event(event)
    !$omp end task
    !$omp task depend(inout: y)
    seen = 10 * x + y
    !$omp end task
    !$omp end single
    !$omp end parallel
    print '(i0)', seen
end program
END_F
    echo 11 >expected
    as_expected detached.f90
fi
finish
