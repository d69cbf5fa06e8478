/* region_accesses: what the first access to a unit of a region costs where another host has the unit, and what locks cost.
 *
 *     region_accesses ADDRESS [ROUNDS [UNITS]]     5 rounds, 250 units of each
 *
 * It needs 4 tasks on three hosts, the second of which has two; with 5 more, each on a host of its own, it measures a write of
 * what seven other hosts have, in place of locks.
 * ADDRESS: of the first host, for bytes that a plain TCP connection brings. Each line is a name and its microseconds: a median
 * over the accesses of a round, or a mean where many are one call. bench/regions runs it in a lab, and says what the names mean.
 */
#include "system/time.h"

#include <arpa/inet.h>
#include <dome/dome.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGE = 4096, VALUES = PAGE / sizeof(double), TURNS = 500 };

/* Tasks by what they do: the first host has A, the second B and its NEIGHBOUR, the third C; of MOST tasks the others read. */
enum { A, B, NEIGHBOUR, C, TASKS, COPIES = 7, MOST = COPIES + 2 };

typedef struct bench {
    dome_env *env;
    dome_region *region;
    double *data;
    uint64_t first[MOST], count; /* units of which that task is the home: first, and how many of them are used */
    double *us;
    dome_lock *locks[MOST]; /* the queue of locks[t] is with task t */
    double *counter;
} bench;

static void fail(dome_env *env, const char *what)
{
    dome_abort(env, "region_accesses: %s", what);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* On the task that has measured; the others pass by. */
static void print_median(bench *b, int task, const char *name, uint64_t count)
{
    double median = 0;
    if (dome_rank(b->env) == task) {
        qsort(b->us, count, sizeof *b->us, compare);
        median = b->us[count / 2];
    }
    dome_bcast(b->env, task, DOME_F64, &median, 1);
    dome_print(b->env, "%s %.2f\n", name, median);
}

static double since(uint64_t began)
{
    return (double)(dome__now_ns() - began) / 1000;
}

/* ---- units ---- */

/* One task accesses units first, first + step ... once each, all others wait. */
static void touch(bench *b, int task, const char *name, int home, bool write, uint64_t from, uint64_t step)
{
    uint64_t count = 0;
    dome_barrier(b->env);
    for (uint64_t k = from; dome_rank(b->env) == task && k < b->count; k += step) {
        volatile double *at = b->data + (b->first[home] + k) * VALUES;
        const uint64_t began = dome__now_ns();
        if (write)
            *at = (double)k;
        else
            (void)*at;
        b->us[count++] = since(began);
    }
    if (name)
        print_median(b, task, name, (b->count - from + step - 1) / step);
}

static void want(bench *b, int task, const char *name, int home)
{
    double each = 0;
    dome_barrier(b->env);
    if (dome_rank(b->env) == task) {
        const uint64_t began = dome__now_ns();
        dome_region_want(b->region, b->first[home], b->count, false);
        each = since(began) / (double)b->count;
    }
    dome_bcast(b->env, task, DOME_F64, &each, 1);
    dome_print(b->env, "%s %.2f\n", name, each);
}

/* All hosts but that of A have a copy, and the third is the home. */
static void invalidate_seven(bench *b)
{
    touch(b, A, NULL, C, true, 0, 1);
    for (int reader = B; reader < MOST; reader++)
        if (reader != NEIGHBOUR)
            touch(b, reader, NULL, C, false, 0, 1);
    touch(b, A, "upgrade-seven", C, true, 0, 1);
}

static dome_region *make_units(bench *b)
{
    return dome_region_new(b->env, NULL, DOME_F64, (uint64_t)dome_size(b->env) * b->count,
                           DOME_REGION_OPTIONS(.width = VALUES, .block = 1));
}

/* Units of a region that nobody has touched yet. */
static void measure_new_units(bench *b)
{
    dome_region *fresh = make_units(b);
    double *const data = b->data;
    b->data = dome_region_data(fresh);
    touch(b, A, "create-own-home", A, true, 0, 1);
    touch(b, A, "create", C, true, 0, 1);
    b->data = data;
    dome_region_free(fresh);
}

static void measure_units(bench *b)
{
    const int homes[] = {A, B, C};
    for (int k = 0; k < 3; k++)
        touch(b, A, NULL, homes[k], true, 0, 1); /* A has all of them */
    touch(b, B, "read-home-has", A, false, 0, 1);
    touch(b, B, "read-own-home", B, false, 0, 1);
    touch(b, B, "read-third-home", C, false, 0, 1);
    touch(b, NEIGHBOUR, "neighbour-read", A, false, 0, 2);
    touch(b, NEIGHBOUR, "neighbour-row", B, false, 0, 1);
    touch(b, A, "upgrade", A, true, 1, 2);
    touch(b, A, "upgrade-third-home", C, true, 0, 1);
    touch(b, A, "upgrade-two-tasks", A, true, 0, 2);
    touch(b, NEIGHBOUR, "neighbour-fetch", A, false, 0, 1);
    touch(b, B, "write", C, true, 0, 1);
    touch(b, A, NULL, B, true, 0, 1);
    touch(b, A, NULL, C, true, 0, 1);
    want(b, B, "want", B);
    want(b, B, "want-third-home", C);
}

/* ---- locks ---- */

static void acquire_alone(bench *b, const char *name, int queue)
{
    dome_barrier(b->env);
    for (int k = 0; dome_rank(b->env) == A && k < TURNS; k++) {
        const uint64_t began = dome__now_ns();
        dome_lock_acquire(b->locks[queue]);
        dome_lock_release(b->locks[queue]);
        b->us[k] = since(began);
    }
    print_median(b, A, name, TURNS);
}

/* A and B take turns, since both always wait. */
static void hand_over(bench *b, const char *name, int queue, bool counts)
{
    const int rank = dome_rank(b->env);
    dome_barrier(b->env); /* all have read the counter */
    if (rank == C)
        *b->counter = 0;
    dome_barrier(b->env);
    const uint64_t began = dome__now_ns();
    for (int k = 0; (rank == A || rank == B) && k < TURNS; k++) {
        dome_lock_acquire(b->locks[queue]);
        if (counts)
            ++*b->counter;
        dome_lock_release(b->locks[queue]);
    }
    dome_barrier(b->env);
    double each = since(began) / (2 * TURNS);
    dome_bcast(b->env, A, DOME_F64, &each, 1);
    if (counts && *b->counter != 2 * TURNS)
        fail(b->env, "the counter is wrong");
    dome_print(b->env, "%s %.2f\n", name, each);
}

static void measure_locks(bench *b)
{
    acquire_alone(b, "lock-here", A);
    acquire_alone(b, "lock-there", B);
    hand_over(b, "hand-over", A, false);
    hand_over(b, "hand-over-third", C, false);
    hand_over(b, "counter", A, true);
}

/* ---- what the machine takes for that ---- */

static int listener(dome_env *env, int64_t *port)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t bytes = sizeof name;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, bytes) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &bytes) < 0)
        fail(env, "no socket that listens");
    *port = ntohs(name.sin_port);
    return fd;
}

static void answer(dome_env *env, int listening, int count)
{
    char page[PAGE] = {0};
    const int on = 1, fd = accept(listening, NULL, NULL);
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        fail(env, "nobody connects");
    for (int k = 0; k < count; k++)
        if (recv(fd, page, 64, MSG_WAITALL) != 64 || send(fd, page, PAGE, MSG_NOSIGNAL) != PAGE)
            fail(env, "the plain connection ended");
    close(fd);
    close(listening);
}

static void ask(bench *b, const char *address, int64_t port, int count)
{
    char page[PAGE] = {0};
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || inet_pton(AF_INET, address, &name.sin_addr) != 1 || connect(fd, (struct sockaddr *)&name, sizeof name) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        fail(b->env, "the first host cannot be reached at that address");
    for (int k = 0; k < count; k++) {
        const uint64_t began = dome__now_ns();
        if (send(fd, page, 64, MSG_NOSIGNAL) != 64 || recv(fd, page, PAGE, MSG_WAITALL) != PAGE)
            fail(b->env, "the plain connection ended");
        b->us[k] = since(began);
    }
    close(fd);
}

/* 4 KiB by a plain connection: two processes, each of which wakes once. */
static void measure_plain(bench *b, const char *address)
{
    int64_t port = 0;
    const int rank = dome_rank(b->env), fd = rank == A ? listener(b->env, &port) : -1;
    dome_bcast(b->env, A, DOME_I64, &port, 1);
    if (rank == A)
        answer(b->env, fd, TURNS);
    if (rank == B)
        ask(b, address, port, TURNS);
    print_median(b, B, "tcp", TURNS);
}

static void measure_page_fault(bench *b)
{
    char *pages = mmap(NULL, (size_t)TURNS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        fail(b->env, "no memory");
    madvise(pages, (size_t)TURNS * PAGE, MADV_NOHUGEPAGE); /* a kernel without huge pages refuses */
    dome_barrier(b->env);
    for (int k = 0; dome_rank(b->env) == B && k < TURNS; k++) {
        const uint64_t began = dome__now_ns();
        *(volatile char *)(pages + (size_t)k * PAGE) = 1;
        b->us[k] = since(began);
    }
    munmap(pages, (size_t)TURNS * PAGE);
    print_median(b, B, "page-fault", TURNS);
}

/* ---- beginning ---- */

static void check_hosts(dome_env *env)
{
    if ((dome_size(env) != TASKS && dome_size(env) != MOST) || strcmp(dome_host(env, B), dome_host(env, NEIGHBOUR)) != 0 ||
        strcmp(dome_host(env, A), dome_host(env, B)) == 0 || strcmp(dome_host(env, C), dome_host(env, B)) == 0 ||
        strcmp(dome_host(env, A), dome_host(env, C)) == 0)
        fail(env, "it needs four tasks on three hosts, the second and third of them on one; or five more");
}

/* Units are elements; each task is the home of as many of them. */
static void make(bench *b, uint64_t units)
{
    dome_span spans[2] = {{0, 0}, {0, 0}};
    b->count = units;
    b->us = calloc(units > TURNS ? units : TURNS, sizeof *b->us);
    b->region = make_units(b);
    b->counter = dome_region_data(dome_region_new(b->env, "counter", DOME_F64, 1, NULL));
    b->data = dome_region_data(b->region);
    dome_region_spans(b->region, spans);
    if (!b->us || dome_region_unit(b->region) != 1 || spans[0].count != units)
        fail(b->env, "units are not pages of 4096 bytes, as many of them for each task");
    const int tasks = dome_size(b->env);
    for (int t = 0; t < tasks; t++) {
        double first = (double)spans[0].first;
        dome_bcast(b->env, t, DOME_F64, &first, 1);
        b->first[t] = (uint64_t)first;
        b->locks[(t + 1) % tasks] = dome_lock_new(b->env, NULL); /* queues go round the tasks, from task 1 on */
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const int rounds = argc > 2 ? atoi(argv[2]) : 5, units = argc > 3 ? atoi(argv[3]) : 250;
    bench b = {.env = env};
    if (argc < 2 || rounds < 1 || units < 1)
        fail(env, "usage: region_accesses ADDRESS [ROUNDS [UNITS]]");
    check_hosts(env);
    make(&b, (uint64_t)units);
    for (int k = 0; k < rounds; k++) {
        measure_page_fault(&b);
        measure_plain(&b, argv[1]);
        measure_units(&b);
        measure_new_units(&b);
        if (dome_size(env) == MOST)
            invalidate_seven(&b);
        else
            measure_locks(&b);
    }
    free(b.us);
    return dome_finalize(env);
}
