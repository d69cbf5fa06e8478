/* A program of dome_send and dome_recv alone, for --dome-checkpoint-protocol log: a ring, in which each task also reports to task
 * 0, which receives from any and answers with a hash of the order. A task's state is a hash of the messages that it has received.
 *
 *     logged MARKS STEPS SPINS PAYLOAD [collective|request]
 *
 * Task 0 prints a line now and then, and in the end the sum of all states, which depends on no order, and whether all tasks have
 * seen the same order. Each task says how many steps it has computed. A task R waits to be killed, between two messages, at the
 * step that the file MARKS/hold.R names, and has left MARKS/held.R then. */
#include <dome/dome.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RING, REPORT, ANSWER, LAST };
enum { REPORT_EVERY = 4, LINE_EVERY = 50 };

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ (a >> 29);
}

static uint64_t compute(uint64_t state, long spins)
{
    for (long i = 0; i < spins; i++)
        state = mix(state, (uint64_t)i);
    return state;
}

/* Its data depends on the state; the rest of it is the same. */
static uint64_t pass_on(dome_env *env, uint64_t state, size_t payload, uint64_t *data)
{
    const int me = dome_rank(env), size = dome_size(env);
    data[0] = state;
    dome_send(env, (me + 1) % size, RING, DOME_U64, data, payload);
    dome_recv(env, (me + size - 1) % size, RING, DOME_U64, data, payload, NULL);
    return mix(state, data[0] + data[payload - 1]);
}

/* Returns the order as task 0 has seen it. */
static uint64_t report(dome_env *env, uint64_t order, uint64_t state)
{
    if (dome_rank(env) > 0) {
        dome_send(env, 0, REPORT, DOME_U64, &state, 1);
        dome_recv(env, 0, ANSWER, DOME_U64, &order, 1, NULL);
        return order;
    }
    for (int k = 1; k < dome_size(env); k++) {
        dome_received got;
        uint64_t theirs;
        dome_recv(env, DOME_ANY_RANK, REPORT, DOME_U64, &theirs, 1, &got);
        order = mix(order, (uint64_t)got.rank);
    }
    for (int r = 1; r < dome_size(env); r++)
        dome_send(env, r, ANSWER, DOME_U64, &order, 1);
    return order;
}

static void finish(dome_env *env, uint64_t state, uint64_t order)
{
    uint64_t mine[2] = {state, order}, theirs[2], sum = state;
    bool same = true;
    if (dome_rank(env) > 0) {
        dome_send(env, 0, LAST, DOME_U64, mine, 2);
        return;
    }
    for (int r = 1; r < dome_size(env); r++) {
        dome_recv(env, r, LAST, DOME_U64, theirs, 2, NULL);
        sum += theirs[0];
        same = same && theirs[1] == order;
    }
    printf("sum %016llx, %s\n", (unsigned long long)sum, same ? "one order" : "orders differ");
}

/* For the test, which kills a task by its rank. */
static void note(const char *marks, const char *what, int rank)
{
    char path[4096], then[4096];
    snprintf(path, sizeof path, "%s/%s.%d", marks, what, rank);
    snprintf(then, sizeof then, "%s/new.%d", marks, rank);
    FILE *file = fopen(then, "w");
    if (!file || fprintf(file, "%d", (int)getpid()) < 0 || fclose(file) != 0 || rename(then, path) != 0)
        exit(3);
}

static void may_hold(const char *marks, int rank, int64_t step)
{
    char path[4096];
    long long at = -1;
    snprintf(path, sizeof path, "%s/hold.%d", marks, rank);
    FILE *file = fopen(path, "r");
    const bool here = file && fscanf(file, "%lld", &at) == 1 && at == step;
    if (file)
        fclose(file);
    if (!here)
        return;
    note(marks, "held", rank);
    for (;;)
        pause();
}

static void call_more(dome_env *env, const char *what)
{
    if (strcmp(what, "collective") == 0)
        dome_barrier(env);
    if (strcmp(what, "request") == 0)
        dome_irecv(env, DOME_ANY_RANK, RING, DOME_U64, NULL, 0);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *const marks = argc > 1 ? argv[1] : ".";
    const int64_t steps = argc > 2 ? atol(argv[2]) : 400;
    const long spins = argc > 3 ? atol(argv[3]) : 200000;
    const size_t payload = argc > 4 ? (size_t)atol(argv[4]) : 1;
    dscalar *step = dscalar_new(env, "step", DOME_I64), *state = dscalar_new(env, "state", DOME_I64),
            *order = dscalar_new(env, "order", DOME_I64);
    uint64_t *data = calloc(payload, sizeof *data);
    long computed = 0;
    note(marks, "rank", dome_rank(env));
    if (!dome_is_restarting(env))
        dscalar_set_i64(state, dome_rank(env) + 1);
    for (int64_t k = dscalar_get_i64(step); k < steps; k++, computed++) {
        uint64_t now = compute((uint64_t)dscalar_get_i64(state), spins);
        now = pass_on(env, now, payload, data);
        may_hold(marks, dome_rank(env), k);
        if (k % REPORT_EVERY == 0)
            dscalar_set_i64(order, (int64_t)report(env, (uint64_t)dscalar_get_i64(order), now));
        if (k == 10 && argc > 5)
            call_more(env, argv[5]);
        if (dome_rank(env) == 0 && k % LINE_EVERY == 0)
            printf("step %lld: %016llx\n", (long long)k, (unsigned long long)now);
        dscalar_set_i64(state, (int64_t)now);
        dscalar_set_i64(step, k + 1);
        dome_checkpoint(env);
    }
    finish(env, (uint64_t)dscalar_get_i64(state), (uint64_t)dscalar_get_i64(order));
    fprintf(stderr, "computed %d %ld\n", dome_rank(env), computed);
    free(data);
    return dome_finalize(env);
}
