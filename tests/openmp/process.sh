#!/bin/bash
# What threads of a region do beside computing, on whatever task: memory from malloc, files, the environment, output, signals, C++,
# Fortran, ends. Each program prints the same with 1, 2 and 3 tasks.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-omp
[ -x "$cc" ] || skip "there is no dome-omp"
own_directory
export WORK=$work

alike() { # SOURCE
    "$cc" -O1 "$1" -o "${1%.*}" 2>err || fail "$1 is not built: $(cat err)"
    for tasks in 1 2 3; do
        timeout -k 2 60 ./"${1%.*}" --dome-tasks $tasks >"out$tasks" 2>err || fail "$1, $tasks tasks: status $?: $(cat err)"
        [ ! -s err ] || fail "$1, $tasks tasks: $(cat err)"
        same "$1, $tasks tasks" out1 "out$tasks"
    done
    grep -q wrong out1 && fail "$1: $(grep wrong out1)"
    [ -s out1 ] || fail "$1 prints nothing"
}

cat >calls.c <<'END_C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { N = 200000, THREADS = 8 };
static double numbers[N];
static char *texts[THREADS], *lines[THREADS];
static double *blocks[THREADS];

static void check(int good, const char *what)
{
    if (!good)
        printf("wrong: %s\n", what);
}

static void by_thread(int t)
{
    const size_t part = sizeof numbers / THREADS;
    size_t room = 0;
    struct stat status;
    struct timespec now;
    int file = open("numbers", O_RDONLY);
    FILE *stream = fopen("lines", "r");
    check(pread(file, (char *)numbers + t * part, part, t * part) == (ssize_t)part, "pread");
    check(fstat(file, &status) == 0 && status.st_size == sizeof numbers, "fstat");
    check(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0, "clock_gettime");
    check(getline(&lines[t], &room, stream) > 1000, "getline");
    check(asprintf(&texts[t], "%s in %s, HOME is %s", getenv("ADDED"), strrchr(getcwd(NULL, 0), '/'),
                   getenv("HOME") ? "set" : "unset") > 0,
          "asprintf");
    close(file);
    fclose(stream);
    blocks[t] = malloc(N * sizeof(double));
    for (int k = 0; k < N; k++)
        blocks[t][k] = t;
    blocks[t] = realloc(blocks[t], 2 * N * sizeof(double));
#pragma omp critical
    printf("thread %d\n", t);
}

int main(void)
{
    mkdir("there", 0700);
    check(chdir("there") == 0, "chdir");
    setenv("ADDED", "set in main", 1);
    unsetenv("HOME");
    umask(027);
    for (int k = 0; k < N; k++)
        numbers[k] = k;
    int file = open("numbers", O_WRONLY | O_CREAT, 0600);
    check(write(file, numbers, sizeof numbers) == sizeof numbers, "write");
    close(file);
    FILE *stream = fopen("lines", "w");
    for (int k = 0; k < 5000; k++)
        fputc(k == 4999 ? '\n' : 'a' + k % 26, stream);
    fclose(stream);
    memset(numbers, 0, sizeof numbers);
#pragma omp parallel num_threads(THREADS)
    by_thread(omp_get_thread_num());
    for (int t = 0; t < THREADS; t++) {
        puts(texts[t]);
        check(strlen(lines[t]) == 5000, "a line");
        for (int k = 0; k < N; k++)
            if (blocks[t][k] != t)
                check(0, "a block");
        free(texts[t]);
        free(lines[t]);
    }
    for (int k = 0; k < N; k++)
        if (numbers[k] != k)
            check(0, "a number");
#pragma omp parallel num_threads(THREADS)
    {
        free(blocks[THREADS - 1 - omp_get_thread_num()]);
        fputs("freed ", stdout);
    }
    puts("all");
    return 0;
}
END_C
alike calls.c

# Used again and again: memory that threads get, and the first one frees, does not grow.
cat >again.c <<'END_C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char *blocks[16];

int main(void)
{
    uintptr_t highest = 0, first = 0;
    for (int round = 0; round < 200; round++) {
#pragma omp parallel for num_threads(16)
        for (int t = 0; t < 16; t++)
            blocks[t] = malloc(30000);
        for (int t = 0; t < 16; t++) {
            if ((uintptr_t)blocks[15] > highest)
                highest = (uintptr_t)blocks[15];
            free(blocks[t]);
        }
        if (round == 10)
            first = highest;
    }
    printf("%s\n", highest == first ? "the same" : "wrong: memory grows");
    return 0;
}
END_C
alike again.c

# What other threads print in one region, more than any buffer holds.
cat >lines.c <<'END_C'
#include <omp.h>
#include <stdio.h>

int main(void)
{
    for (int round = 0; round < 6; round++) {
#pragma omp parallel num_threads(4)
        if (omp_get_thread_num() == 3)
            for (int k = 0; k < 5000 + round; k++)
                printf("line %d %d\n", round, k);
    }
    return 0;
}
END_C
alike lines.c
[ "$(wc -l <out1)" = 30015 ] || fail "lines.c: $(wc -l <out1) lines"

# A handler, wherever the program's stacks are. Often enough: the alarm comes until it has come while threads compute.
cat >alarm.c <<'END_C'
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile long alarms;

static void count(int number)
{
    (void)number;
    alarms++;
}

static double deep(int k)
{
    volatile double frame[400];
    for (int i = 0; i < 400; i++)
        frame[i] = k + i;
    return (k ? deep(k - 1) : 0) + frame[k % 400];
}

int main(void)
{
    const struct itimerval often = {{0, 500}, {0, 500}};
    const struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    double total = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int step = 0; step < 200; step++) {
        double sum = 0;
        if (step == 100)
            signal(SIGALRM, count);
#pragma omp parallel for num_threads(4) reduction(+ : sum)
        for (int k = 0; k < 64; k++)
            sum += deep(50 + k % 7);
        total += sum + deep(10 * step);
    }
    printf("%.17g %s\n", total, alarms > 0 ? "with alarms" : "wrong: no alarm");
    return 0;
}
END_C
alike alarm.c

# A call that waits, while another task takes the page that it is to write.
cat >waits.c <<'END_C'
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Alignas(4096) char page[4096];

int main(void)
{
    page[2000] = 7;
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == 0) {
        FILE *slow = popen("sleep 1; echo hello", "r");
        const ssize_t bytes = read(fileno(slow), page, 100);
        printf("read %zd: %s\n", bytes, bytes < 0 ? strerror(errno) : "good");
        pclose(slow);
    } else {
        usleep(200000);
        if (((volatile char *)page)[2000] != 7)
            printf("wrong: the page\n");
    }
    return 0;
}
END_C
alike waits.c

# The same by streams, which read into the memory itself if it is large or they have no buffer; and a buffer that the program gives to
# a stream, in a page that another task changes.
cat >streams.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static _Alignas(4096) char page[3 * 4096];
static struct {
    _Alignas(4096) char in[3000], out[3000];
    int number;
} buffers;

static size_t from_pipe(const char *command, int mode, size_t bytes)
{
    FILE *slow = popen(command, "r");
    setvbuf(slow, NULL, mode, BUFSIZ);
    const size_t n = fread(page, 1, bytes, slow);
    pclose(slow);
    return n;
}

static void take_pages(void)
{
    usleep(200000);
    for (int k = 2000; k < 3 * 4096; k += 4096)
        (void)((volatile char *)page)[k];
}

int main(void)
{
    size_t small = 0, large = 0;
    ssize_t parts = 0;
    for (int step = 0; step < 3; step++) {
        memset(page, 7, sizeof page);
#pragma omp parallel num_threads(3)
        if (omp_get_thread_num() > 0) {
            take_pages();
        } else if (step == 0) {
            small = from_pipe("sleep 1; echo hello", _IONBF, 100);
        } else if (step == 1) {
            large = from_pipe("head -c 5000 /dev/zero; sleep 1; head -c 7000 /dev/zero", _IOFBF, sizeof page);
        } else {
            const struct iovec three[3] = {{page, 3}, {page + 4096, 4}, {page + 8192, 500}};
            FILE *slow = popen("sleep 1; echo in three parts", "r");
            parts = readv(fileno(slow), three, 3);
            pclose(slow);
        }
        page[0] = step < 2 ? 7 : page[0];
    }
    printf("%zu, %zu, %zd: %.3s%.4s%.7s\n", small, large, parts, page, page + 4096, page + 8192);

    FILE *numbers = fopen("numbers.txt", "w+");
    setvbuf(numbers, buffers.in, _IOFBF, sizeof buffers.in);
    setvbuf(stdout, buffers.out, _IOFBF, sizeof buffers.out);
    for (int k = 0; k < 2000; k++)
        fprintf(numbers, "%d\n", k);
    rewind(numbers);
    long sum = 0;
    for (int k; fscanf(numbers, "%d", &k) == 1;) {
        sum += k;
        if (k % 400 == 0) {
            printf("up to %d: %ld; ", k, sum);
#pragma omp parallel num_threads(3)
            if (omp_get_thread_num() == 2)
                buffers.number++;
        }
    }
    printf("%d\n", buffers.number);
    fflush(stdout);
    setvbuf(stdout, NULL, _IOFBF, 0);
    return 0;
}
END_C
alike streams.c

# The C library blocks all signals while it begins a process, and other tasks fetch the stack on which it does.
cat >commands.c <<'END_C'
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int *shared;
static int done;

static void *in_thread(void *at)
{
    return at;
}

int main(void)
{
    volatile int own[64] = {0};
    long bad = 0, looks = 0;
    shared = own;
#pragma omp parallel num_threads(3) reduction(+ : bad, looks)
    if (omp_get_thread_num() == 0) {
        for (int k = 0; k < 100; k++) {
            pthread_t thread;
            own[0]++;
            bad += system("exit 3") >> 8 != 3;
            bad += pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL);
        }
#pragma omp atomic write
        done = 1;
    } else {
        for (int end = 0; !end; looks++) {
            bad += shared[0] < 0;
#pragma omp flush
#pragma omp atomic read
            end = done;
        }
    }
    printf("%ld %d %d\n", bad, own[0], looks > 0);
    return 0;
}
END_C
alike commands.c

# Calls that ask for more than there is: they cost no more than that.
cat >more.c <<'END_C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

enum { THREADS = 4, BYTES = 3 << 20 };
static char *blocks[THREADS];
static long results[THREADS][12];

static int same(const char *bytes, long from, long n)
{
    for (long k = 0; k < n; k++)
        if (bytes[k] != (char)((from + k) % 127))
            return 0;
    return 1;
}

static void by_thread(int t)
{
    char *to = blocks[t];
    long *r = results[t];
    struct iovec parts[3] = {{to, 2000000}, {to + 2000000, 0}, {to + 2000000, INT_MAX}};
    int file = open("more.data", O_RDONLY);
    r[0] = read(file, to, INT_MAX);
    r[1] = same(to, 0, BYTES) ? read(file, to, INT_MAX) : -100;
    r[2] = pread(file, to, INT_MAX, BYTES - 1500000);
    r[3] = same(to, BYTES - 1500000, 1500000);
    r[4] = preadv(file, parts, 3, BYTES - 2500000);
    r[5] = same(to, BYTES - 2500000, 2500000);
    r[6] = preadv(file, parts, 100000, 0) < 0 ? errno : 0;
    r[7] = readv(file, parts, -1) < 0 ? errno : 0;
    lseek(file, 1000, SEEK_SET);
    r[8] = readv(file, parts, 3);
    r[9] = same(to, 1000, BYTES - 1000);
    FILE *stream = fdopen(file, "r");
    rewind(stream);
    r[10] = (long)fread(to, 3, INT_MAX, stream);
    r[11] = same(to, 0, BYTES);
    fclose(stream);
}

int main(void)
{
    char *bytes = malloc(BYTES);
    for (int t = 0; t < THREADS; t++)
        blocks[t] = malloc(BYTES + 100);
    for (int k = 0; k < BYTES; k++)
        bytes[k] = (char)(k % 127);
    int file = open("more.data", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    printf("%zd\n", write(file, bytes, BYTES));
    close(file);
#pragma omp parallel num_threads(THREADS)
    by_thread(omp_get_thread_num());
    for (int t = 0; t < THREADS; t++, puts(""))
        for (int k = 0; k < 12; k++)
            printf("%ld ", results[t][k]);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    if (used.ru_maxrss > 200000)
        printf("wrong: %ld KiB of memory\n", used.ru_maxrss);
    return 0;
}
END_C
alike more.c
[ "$(sort -u out1 | tail -1)" = "3145728 0 1500000 1 2500000 1 22 22 3144728 1 1048576 1 " ] || fail "more.c: $(cat out1)"

# A child has the memory of its own as of the call, and goes on from there on a stack that its parent uses, too.
cat >child.c <<'END_C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Alignas(4096) int before[1024];
static _Alignas(4096) char untouched[1 << 16];
static _Alignas(4096) int of_threads[3][1024];

static int descend(int depth)
{
    volatile char frame[3000];
    memset((char *)frame, depth, sizeof frame);
    return depth == 0 ? frame[0] : descend(depth - 1) + frame[2999] - depth;
}

int main(void)
{
    int sum = 0, ends[2], status, deep = 0;
    char byte = 0, *block = malloc(100000);
    before[0] = 1;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int k = 0; k < 3; k++) {
        sum += before[0];
        of_threads[k][0] = k + 1;
    }
    before[0] = 2;
    strcpy(block, "as of the call");
    fflush(stdout);
    if (pipe(ends))
        return 1;
    pid_t child = fork();
    for (int k = 0; k < 300; k++)
        deep |= descend(20 + k % 50);
    if (child == 0) {
        if (read(ends[0], &byte, 1) != 1)
            return 1;
        printf("the child: %d %d %s, %d; %d %d %d\n", sum, before[0], block, untouched[5000], of_threads[0][0],
               of_threads[1][0], of_threads[2][0]);
        fflush(stdout);
        _exit(deep + 5);
    }
    before[0] = 3;
    strcpy(block, "later");
    untouched[5000] = 9;
    if (write(ends[1], &byte, 1) != 1)
        return 1;
    waitpid(child, &status, 0);
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += before[0];
    printf("%d, %s, status %d\n", sum, block, WEXITSTATUS(status));
    return deep;
}
END_C
alike child.c

if command -v g++ >/dev/null; then
    cat >objects.cc <<'END_C'
#include <iostream>
#include <map>
#include <omp.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() {}
    virtual int size() const { return 1; }
};
struct Square : Shape {
    int side;
    explicit Square(int n) : side(n) {}
    int size() const override { return side * side; }
};
static std::vector<int> sums(16);
static std::map<int, std::string> names;
static std::vector<Shape *> shapes;

int main()
{
    for (int k = 0; k < 16; k++) {
        names[k] = "name " + std::to_string(k);
        shapes.push_back(new Square(k));
    }
    std::runtime_error error("made by main");
    const std::exception *of_library = &error;
    std::vector<std::vector<std::string>> lines(16);
#pragma omp parallel for num_threads(4)
    for (int k = 0; k < 16; k++) {
        sums[k] = static_cast<int>(names[k].size()) * shapes[k]->size();
        std::ostringstream line;
        line << k << " " << names[k];
        for (int j = 0; j < 50; j++)
            lines[k].push_back(line.str());
        try {
            if (k % 3 == 0)
                throw std::out_of_range("thrown " + std::to_string(k));
        } catch (const std::exception &e) {
#pragma omp critical
            std::cout << e.what() << " by " << omp_get_thread_num() << ", " << of_library->what() << "\n";
        }
        delete shapes[k];
        shapes[k] = new Square(100 + k);
    }
    long total = 0;
    for (int k = 0; k < 16; k++) {
        total += sums[k] + shapes[k]->size();
        std::cout << lines[k].back() << "\n";
        delete shapes[k];
    }
    std::cout << total << std::endl;
}
END_C
    alike objects.cc
fi

if command -v gfortran >/dev/null; then
    cat >arrays.f90 <<'END_F'
program arrays
    use omp_lib
    implicit none
    real(8), allocatable :: a(:), b(:)
    integer :: i
    character(len=20) :: word
    allocate(a(100000))
    a = 1
    !$omp parallel do num_threads(6)
    do i = 1, size(a)
        a(i) = a(i) + i
    end do
    print *, sum(a)
    !$omp parallel num_threads(6) private(word, b)
    allocate(b(1000))
    b = omp_get_thread_num()
    write(word, '(i4)') omp_get_thread_num()
    !$omp critical
    print *, 'thread', trim(word), sum(b)
    !$omp end critical
    deallocate(b)
    !$omp end parallel
    open(10, file='unformatted', form='unformatted')
    write(10) a
    close(10)
    a = 0
    open(10, file='unformatted', form='unformatted')
    read(10) a
    close(10)
    print *, sum(a)
end program
END_F
    alike arrays.f90
fi

# ---- ends inside of a region ----

cat >ends.c <<'END_C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double seen[8];
static FILE *file;
static int flag;

static void at_end(void)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int k = 0; k < 8; k++)
        sum += seen[k];
    printf("at end: %g\n", sum);
    fputs("at end\n", file);
}

static void leave(const char *how)
{
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "fault"))
        *(volatile int *)8 = 1;
    if (!strcmp(how, "_exit"))
        _exit(9);
    if (!strcmp(how, "quick"))
        quick_exit(9);
    if (strcmp(how, "zero"))
        exit(9);
    exit(0);
}

static void wait_in_section(int t, int who, const char *how)
{
    for (int k = 0; k < 1000000; k++)
#pragma omp critical
    {
        if (t == who && k > 20)
            leave(how);
    }
}

int main(int argc, char **argv)
{
    const int who = atoi(argv[2]);
    const char *how = argv[1], *where = argv[3];
    if (argc < 4 || atexit(at_end) || !(file = fopen("ends.out", "w")))
        return 3;
    printf("begins ");
#pragma omp parallel num_threads(8)
    {
        const int t = omp_get_thread_num();
        seen[t] = t + 1;
        fprintf(file, "thread %d\n", t);
#pragma omp barrier
        if (!strcmp(where, "section"))
            wait_in_section(t, who, how);
        if (t == who) {
            printf("thread %d leaves\n", t);
            leave(how);
        }
        for (int seen_flag = 0; !strcmp(where, "waiting") && !seen_flag;)
#pragma omp atomic read
            seen_flag = flag;
        for (volatile int k = 0; !strcmp(where, "computing") && k < 2; k = 0)
            ;
#pragma omp barrier
    }
    puts("not here");
    return 0;
}
END_C
"$cc" -O1 ends.c -o ends || fail "ends.c is not built"
cat >quickly.c <<'END_C'
#include <stdio.h>
#include <stdlib.h>
static int threads;
static void at_quick(void)
{
    printf("%d quickly\n", threads);
    fflush(stdout);
}
static void never(void)
{
    puts("atexit");
}
int main(void)
{
    if (at_quick_exit(at_quick) || atexit(never))
        return 1;
#pragma omp parallel num_threads(4) reduction(+ : threads)
    threads++;
    quick_exit(5);
}
END_C
"$cc" -O1 quickly.c -o quickly || fail "quickly.c is not built"
run() {
    timeout -k 2 60 "$@" >out 2>err
    status=$?
}
# By any thread, with what threads have printed and written before, and once what is registered for the end.
for tasks in 1 2 3; do
    for who in 0 3 7; do
        for where in barrier waiting section; do
            for how in "exit 9" "zero 0"; do
                name="${how% *} by thread $who, others at $where, $tasks tasks"
                run ./ends --dome-tasks $tasks ${how% *} $who $where
                [ $status = "${how#* }" ] && [ ! -s err ] || fail "$name: status $status: $(cat err)"
                printf 'begins ' >expected
                [ $where = section ] || echo "thread $who leaves" >>expected
                echo "at end: 36" >>expected
                same "$name" expected out
                [ "$(sort ends.out | tr '\n' ' ')" = "at end $(printf 'thread %d ' 0 1 2 3 4 5 6 7)" ] ||
                    fail "$name: the file has: $(cat ends.out)"
            done
        done
        for how in _exit quick; do
            run ./ends --dome-tasks $tasks $how $who barrier
            [ $status = 9 ] && [ ! -s err ] && ! grep -q "end" out ||
                fail "$how by thread $who, $tasks tasks: status $status: $(cat out err)"
        done
    done
    run ./quickly --dome-tasks $tasks
    [ $status = 5 ] && [ ! -s err ] && [ "$(cat out)" = "4 quickly" ] || fail "quick_exit, $tasks tasks: status $status: $(cat out err)"
done
if [ -n "${DOME_TEST_ALL:-}" ]; then # it waits for ten seconds
    run ./ends --dome-tasks 2 exit 4 computing
    [ $status = 9 ] && grep -q "has called exit (status 9) in a parallel region, and other tasks have come to no barrier" err &&
        grep -q "thread 4 leaves" err || fail "exit by thread 4, others compute for ever: status $status: $(cat out err)"
fi
run ./ends --dome-tasks 2 abort 7 barrier
refused "abort by thread 7" 1 "signal 6"
run ./ends --dome-tasks 2 fault 7 barrier
refused "a wrong pointer in thread 7" 1 "signal 11"

# Tasks of one host have copies of their own, and the profile counts what they fetch from each other.
cat >fetches.c <<'END_C'
#include <stdio.h>
double x[100000];
int main(void)
{
    double sum = 0;
    for (int k = 0; k < 100000; k++)
        x[k] = k;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
    for (int k = 0; k < 100000; k++)
        sum += x[k];
    printf("%.0f\n", sum);
    return 0;
}
END_C
"$cc" -O1 fetches.c -o fetches || fail "fetches.c is not built"
run ./fetches --dome-tasks 2 --dome-profile
[ "$status" = 0 ] && [ "$(cat out)" = 4999950000 ] || fail "fetches: status $status: $(cat out err)"
grep -q "^region 'variables': [1-9][0-9]* units fetched" err || fail "the profile: $(grep '^region' err)"
finish
