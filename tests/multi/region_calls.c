/* What else touches a region's memory: buffers of messages, collectives and vectors to which this task has no right at the time;
 * other threads; handlers of signals; system calls that are interrupted. */
#include "checked.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 70000 }; /* elements of a task's part: longer than any message that goes another way than short ones */

static int rank, size;
static int64_t *from, *to;

static int64_t value(int salt, int part, uint64_t i)
{
    return (int64_t)salt * 1000000007 + part * 1000003 + (int64_t)i;
}

static int64_t *part(int64_t *x, int r)
{
    return x + (uint64_t)(r + size) % (uint64_t)size * MOST;
}

/* Another task has written this one's parts since. */
static void refill(int salt, uint64_t n)
{
    const int other = (rank + 1) % size;
    dome_barrier(env);
    for (uint64_t i = 0; i < n; i++) {
        part(from, other)[i] = value(salt, other, i);
        part(to, other)[i] = -1;
    }
    dome_barrier(env);
}

static void check_part(int salt, const int64_t *x, int r, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        CHECK(x[i] == value(salt, r, i));
}

static void check_messages(int salt, uint64_t n)
{
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    dome_received got;
    refill(salt, n);
    CHECK(dome_send(env, next, salt, DOME_I64, part(from, rank), n) == DOME_OK);
    CHECK(dome_recv(env, before, salt, DOME_I64, part(to, rank), n, &got) == DOME_OK && got.count == n);
    check_part(salt, part(to, rank), before, n);
    refill(salt + 1, n);
    dome_request *in = dome_irecv(env, before, salt, DOME_I64, part(to, rank), n);
    dome_request *out = dome_isend(env, next, salt, DOME_I64, part(from, rank), n);
    CHECK(dome_wait(out, NULL) == DOME_OK && dome_wait(in, &got) == DOME_OK && got.count == n);
    check_part(salt + 1, part(to, rank), before, n);
}

static void check_collectives(int salt, uint64_t n)
{
    const int root = salt % size;
    const uint64_t share = n / (uint64_t)size;
    refill(salt, n);
    if (rank == root)
        memcpy(part(to, rank), part(from, rank), n * sizeof *to);
    CHECK(dome_bcast(env, root, DOME_I64, part(to, rank), n) == DOME_OK);
    check_part(salt, part(to, rank), root, n);
    refill(salt + 1, n);
    CHECK(dome_allreduce(env, DOME_I64, part(from, rank), n, DOME_SUM) == DOME_OK);
    for (uint64_t i = 0; i < n; i++)
        CHECK(part(from, rank)[i] == size * value(salt + 1, 0, i) + (int64_t)size * (size - 1) / 2 * 1000003);
    refill(salt + 2, n);
    CHECK(dome_allgather(env, DOME_I64, part(from, rank), share, part(to, rank)) == DOME_OK);
    for (int r = 0; r < size; r++)
        check_part(salt + 2, part(to, rank) + (uint64_t)r * share, r, share);
    refill(salt + 3, n);
    CHECK(dome_scatter(env, root, DOME_I64, part(from, root), share, part(to, rank)) == DOME_OK);
    for (uint64_t i = 0; i < share; i++)
        CHECK(part(to, rank)[i] == value(salt + 3, root, (uint64_t)rank * share + i));
    refill(salt + 4, n);
    size_t counts[16];
    for (int r = 0; r < size; r++)
        counts[r] = share;
    CHECK(dome_alltoall(env, DOME_I64, part(from, rank), counts, part(to, rank), counts) == DOME_OK);
    for (int r = 0; r < size; r++)
        for (uint64_t i = 0; i < share; i++)
            CHECK(part(to, rank)[(uint64_t)r * share + i] == value(salt + 4, r, (uint64_t)rank * share + i));
}

static void check_vectors(int salt, uint64_t n)
{
    dvec *x = dvec_new(env, NULL, DOME_I64, n);
    static uint64_t places[MOST];
    refill(salt, n);
    CHECK(dvec_fill_value(x, &part(from, 0)[n - 1]) == DOME_OK);
    for (uint64_t i = 0; i < n; i++)
        places[i] = n - 1 - i;
    CHECK(dvec_get_many(x, n, places, part(to, rank)) == DOME_OK);
    for (uint64_t i = 0; i < n; i++)
        CHECK(part(to, rank)[i] == value(salt, 0, n - 1));
    refill(salt + 1, n);
    CHECK(dvec_set(x, n / 2, &part(from, 0)[3 % n]) == DOME_OK);
    CHECK(dvec_get(x, n / 2, &part(to, rank)[1]) == DOME_OK);
    CHECK(part(to, rank)[1] == value(salt + 1, 0, 3 % n));
    dvec_free(x);
}

/* ---- threads and signals ---- */

enum { TURNS = 400 };

static _Atomic int64_t *counts; /* of two units: 0 and 512 */
static _Atomic int alarms;

static void *count_beside(void *unused)
{
    (void)unused;
    for (int k = 0; k < TURNS; k++) {
        atomic_fetch_add(&counts[512], 1);
        atomic_fetch_add(&counts[0], 1);
    }
    return NULL;
}

static void count_all(int threads)
{
    pthread_t thread[4];
    for (int k = 0; k < threads; k++)
        CHECK(pthread_create(&thread[k], NULL, count_beside, NULL) == 0);
    count_beside(NULL);
    for (int k = 0; k < threads; k++)
        CHECK(pthread_join(thread[k], NULL) == 0);
}

static void check_counts(int64_t expected)
{
    dome_barrier(env);
    CHECK(counts[0] == expected && counts[512] == expected);
    dome_barrier(env);
    if (rank == size - 1)
        counts[0] = counts[512] = 0;
    dome_barrier(env);
}

static void check_threads(void)
{
    count_all(3);
    check_counts((int64_t)4 * TURNS * size);
}

static void on_alarm(int number)
{
    (void)number;
    const int error = errno;
    if (write(-1, "", 0) < 0) /* changes errno */
        atomic_fetch_add(&alarms, 1);
    errno = error;
}

/* A handler that touches a region itself is allowed, too: the counter's faults are those of any thread. */
static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&counts[1024], 1);
    atomic_fetch_add(&alarms, 1);
}

static void check_signals(void)
{
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm}, before, before_user;
    CHECK(sigaction(SIGALRM, &action, &before) == 0);
    action = (struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGUSR1, &action, &before_user) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int round = 0; round < 20; round++) {
        for (int k = 0; k < 20; k++) {
            atomic_fetch_add(&counts[0], 1);
            CHECK(raise(SIGUSR1) == 0);
            atomic_fetch_add(&counts[512], 1);
        }
        errno = 4711;
        CHECK(counts[0] >= 20 && errno == 4711);
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(sigaction(SIGALRM, &before, NULL) == 0 && sigaction(SIGUSR1, &before_user, NULL) == 0);
    dome_barrier(env);
    CHECK(counts[1024] == 400 * size);
    check_counts((int64_t)400 * size);
}

/* A child that touches a region ends by a signal; its parent goes on, and so does the region. */
static void check_fork(void)
{
    const pid_t child = fork();
    int status = 0;
    CHECK(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        atomic_fetch_add(&counts[0], 1000);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS));
    atomic_fetch_add(&counts[0], 1);
    atomic_fetch_add(&counts[512], 1);
    check_counts(size);
}

/* All write the same values to the same places. */
static void check_same(void)
{
    dome_barrier(env);
    for (int64_t round = 1; round < 20; round++) {
        for (uint64_t i = 0; i < 5000; i++)
            to[i] = round;
        dome_barrier(env);
        for (uint64_t i = 0; i < 5000; i++)
            CHECK(to[i] == round);
        dome_barrier(env);
    }
}

int main(int argc, char **argv)
{
    static const uint64_t lengths[] = {14, 1000, MOST};
    init_unbalanced(argc, argv);
    rank = dome_rank(env);
    size = dome_size(env);
    CHECK(size <= 16);
    from = dome_region_data(dome_region_new(env, "from", DOME_I64, (uint64_t)size * MOST, NULL));
    to = dome_region_data(dome_region_new(env, "to", DOME_I64, (uint64_t)size * MOST, NULL));
    counts = dome_region_data(dome_region_new(env, "counts", DOME_I64, 1536, NULL));
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        check_messages(1, lengths[k]);
        check_collectives(10, lengths[k]);
        check_vectors(20, lengths[k]);
    }
    check_same();
    check_threads();
    check_signals();
    check_fork();
    dome_print(env, "ok region_calls on %d tasks: %u checks\n", size, checks);
    return dome_finalize(env) ? 1 : 0;
}
