/* The program of bench/protocols.
 *
 *     protocols ring DIRECTORY STEPS SPINS        a ring of messages; DIRECTORY gets each task's process number, and a count of
 *                                                 the steps that all its processes have computed. Task 0 prints seconds and a sum
 *     protocols speed BYTES ROUNDS BEFORE         two tasks: seconds of one message to and fro, and of one in a stream, after so
 *                                                 many rounds that are not timed */
#include <dome/dome.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RING, LAST, TO, FRO };
enum { STREAM = 16, TASKS_MOST = 64 };

static void die(const char *what)
{
    perror(what);
    exit(3);
}

static void note_rank(const char *directory, int rank)
{
    char path[4096], then[4096];
    snprintf(path, sizeof path, "%s/rank.%d", directory, rank);
    snprintf(then, sizeof then, "%s/new.%d", directory, rank);
    FILE *file = fopen(then, "w");
    if (!file || fprintf(file, "%d", (int)getpid()) < 0 || fclose(file) != 0 || rename(then, path) != 0)
        die("rank");
}

/* Steps computed, by rank, whatever becomes of the process. */
static volatile long *counts(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/counts", directory);
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, TASKS_MOST * sizeof(long)) != 0)
        die("counts");
    void *at = mmap(NULL, TASKS_MOST * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        die("counts");
    close(fd);
    return at;
}

static uint64_t compute(uint64_t state, long spins)
{
    for (long i = 0; i < spins; i++) {
        state = (state ^ (uint64_t)i) * UINT64_C(0x9e3779b97f4a7c15);
        state ^= state >> 29;
    }
    return state;
}

static void finish(dome_env *env, uint64_t state, double seconds)
{
    if (dome_rank(env) > 0) {
        dome_send(env, 0, LAST, DOME_U64, &state, 1);
        return;
    }
    for (int r = 1; r < dome_size(env); r++) {
        uint64_t theirs;
        dome_recv(env, r, LAST, DOME_U64, &theirs, 1, NULL);
        state += theirs;
    }
    printf("%.6f %016llx\n", seconds, (unsigned long long)state);
}

static void ring(dome_env *env, const char *directory, int64_t steps, long spins)
{
    const int me = dome_rank(env), size = dome_size(env);
    dvec *states = dvec_new_with(env, "states", DOME_U64, (uint64_t)size, DVEC_OPTIONS(.distribution = DOME_BLOCK, .block = 1));
    dscalar *step = dscalar_new(env, "step", DOME_I64);
    dvec_span span[2];
    volatile long *count = counts(directory);
    note_rank(directory, me);
    const double began = dome_wtime();
    for (int64_t k = dscalar_get_i64(step); k < steps; k++) {
        dvec_local_spans(states, span);
        uint64_t *state = span[0].data, theirs, now = compute(*state + (uint64_t)me, spins);
        count[me]++;
        dome_send(env, (me + 1) % size, RING, DOME_U64, &now, 1);
        dome_recv(env, (me + size - 1) % size, RING, DOME_U64, &theirs, 1, NULL);
        *state = now ^ (theirs << 1);
        dscalar_set_i64(step, k + 1);
        dome_checkpoint(env);
    }
    dvec_local_spans(states, span);
    finish(env, *(uint64_t *)span[0].data, dome_wtime() - began);
}

static void to_and_fro(dome_env *env, char *data, size_t bytes)
{
    const int me = dome_rank(env);
    if (me == 0)
        dome_send(env, 1, TO, DOME_U8, data, bytes);
    dome_recv(env, 1 - me, me ? TO : FRO, DOME_U8, data, bytes, NULL);
    if (me == 1)
        dome_send(env, 0, FRO, DOME_U8, data, bytes);
}

static void stream(dome_env *env, char *data, size_t bytes)
{
    for (int k = 0; k < STREAM; k++) {
        if (dome_rank(env) == 0)
            dome_send(env, 1, TO, DOME_U8, data, bytes);
        else
            dome_recv(env, 0, TO, DOME_U8, data, bytes, NULL);
    }
    to_and_fro(env, data, 1);
}

typedef struct plan {
    void (*exchange)(dome_env *env, char *data, size_t bytes);
    size_t bytes;
    long rounds, before;
} plan;

/* The tasks come to a boundary now and then, where senders may forget. */
static double timed(dome_env *env, const plan *p, char *data)
{
    double began = dome_wtime();
    for (long k = -p->before; k < p->rounds; k++) {
        if (k == 0)
            began = dome_wtime();
        p->exchange(env, data, p->bytes);
        if ((k & 3) == 3)
            dome_checkpoint(env);
    }
    return (dome_wtime() - began) / (double)p->rounds;
}

static void speed(dome_env *env, size_t bytes, long rounds, long before)
{
    char *data = calloc(bytes + 1, 1);
    dscalar_new(env, "step", DOME_I64);
    const double there = timed(env, &(plan){to_and_fro, bytes, rounds, before}, data) / 2,
                 one = timed(env, &(plan){stream, bytes, rounds, before}, data) / STREAM;
    if (dome_rank(env) == 0)
        printf("%.9f %.9f\n", there, one);
    free(data);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc == 5 && strcmp(argv[1], "ring") == 0)
        ring(env, argv[2], atol(argv[3]), atol(argv[4]));
    else if (argc == 5 && strcmp(argv[1], "speed") == 0)
        speed(env, (size_t)atol(argv[2]), atol(argv[3]), atol(argv[4]));
    else
        return 2;
    return dome_finalize(env);
}
