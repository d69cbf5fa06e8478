/* What tasks of one host pay for talking to each other.
 *
 *     road [SECONDS]
 *
 *     barrier        a barrier
 *     allreduce      an all-reduce of one double, as mpi_allreduce does it
 *     sum            dvec_sum of a vector of as many elements as there are tasks
 *     message        100 MB from rank 0 to the last rank
 *     blocks         moving 100 MB of a vector's blocks, half of it, from the first task to the last, dome_env_relayout
 *     copy           100 MB from memory to memory, memcpy
 *
 * The last three: GB/s. */
#include "case.h"

#include "core/environment.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <dome/dome.h>
#include <dome/structure.h>

#include <stdlib.h>
#include <string.h>

enum { BYTES = 100000000 };

static void add(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)ctx;
    for (uint64_t i = 0; i < count; i++)
        ((double *)inout)[i] += ((const double *)in)[i];
}

static void sum_once(dome_env *env, dvec *x)
{
    (void)env;
    dvec_sum(x);
}

static void barrier_once(dome_env *env, dvec *x)
{
    (void)x;
    dome__barrier(env->transport);
}

static void allreduce_once(dome_env *env, dvec *x)
{
    (void)x;
    double value = 1;
    if (dome__allreduce(env->transport, DOME_F64, &value, 1, add, NULL) || value != dome_size(env))
        abort();
}

static double repeat(dome_env *env, dvec *x, void (*once)(dome_env *, dvec *), int calls)
{
    dome_barrier(env);
    double begin = case_now();
    for (int i = 0; i < calls; i++)
        once(env, x);
    return (case_now() - begin) / calls;
}

/* For a turn of 30 ms, by the fastest of some tries. */
static int calls_for(dome_env *env, dvec *x)
{
    enum { TRIES = 20, CALLS = 100 };
    double least = 1;
    for (int i = 0; i < TRIES; i++) {
        double one = repeat(env, x, sum_once, CALLS);
        least = one < least ? one : least;
    }
    dome_bcast(env, 0, DOME_F64, &least, 1);
    return CALLS + (int)(0.03 / least);
}

static double message_rate(dome_env *env, char *data)
{
    dome_transport *t = env->transport;
    int last = t->group.size - 1, rounds = 2, status = DOME_OK;
    dome_barrier(env);
    double begin = case_now();
    for (int i = 0; i < rounds && !status; i++) {
        if (t->group.rank == 0)
            status = dome__send(t, last, DOME_CHANNEL_DATA, DOME_U8, data, BYTES);
        else if (t->group.rank == last)
            status = dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_U8, data, BYTES);
    }
    if (status)
        dome_abort(env, "%s", t->reason);
    dome_barrier(env);
    return (double)rounds * BYTES / (case_now() - begin) * 1e-9;
}

/* Half of the blocks go from the first task to the last, or back; each keeps a quarter. */
static double move_rate(dome_env *env, uint64_t n, uint64_t block_size)
{
    static int at = 0;
    int size = dome_size(env);
    uint64_t *counts = calloc((size_t)size, sizeof *counts);
    if (!counts)
        abort();
    at = !at;
    uint64_t blocks = (n + block_size - 1) / block_size, many = blocks / 4 + n / 2 / block_size;
    counts[0] = at ? blocks - many : many;
    counts[size - 1] = blocks - counts[0];
    dome_layout *layout = dome_layout_new(n, block_size, size, 0, counts);
    dome_barrier(env);
    double begin = case_now();
    dome_env_relayout(env, layout);
    dome_barrier(env);
    double took = case_now() - begin;
    dome_layout_unref(layout);
    free(counts);
    return BYTES / took * 1e-9;
}

static double copy_rate(const char *from, char *to)
{
    double begin = case_now();
    memcpy(to, from, BYTES);
    return BYTES / (case_now() - begin) * 1e-9;
}

int main(int argc, char **argv)
{
    static case_times times;
    dome_env *env = dome_init(&argc, &argv);
    double budget = argc > 1 ? atof(argv[1]) : 3;
    uint64_t n = 2 * BYTES / sizeof(double);
    dvec *small = dvec_new(env, "small", DOME_F64, (size_t)dome_size(env)), *large = dvec_new(env, "large", DOME_F64, n);
    dvec_fill(small, 1);
    dvec_fill(large, 1);
    uint64_t block_size = dome_block_size(n);
    char *data = (char *)case_array(n / 2 + 1), *other = (char *)case_array(n / 2 + 1);

    int calls = calls_for(env, small);
    move_rate(env, n, block_size);
    move_rate(env, n, block_size);
    double begin = case_now();
    int turns = 3;
    for (int turn = 0; turn < turns; turn++) {
        case_note(&times, "barrier", turn, repeat(env, small, barrier_once, calls));
        case_note(&times, "allreduce", turn, repeat(env, small, allreduce_once, calls));
        case_note(&times, "sum", turn, repeat(env, small, sum_once, calls));
        case_note(&times, "message", turn, message_rate(env, data));
        case_note(&times, "blocks", turn, move_rate(env, n, block_size));
        if (dome_rank(env) == 0)
            case_note(&times, "copy", turn, copy_rate(data, other));
        if (turn == 0) {
            turns = case_turns(case_now() - begin, budget);
            dome_bcast(env, 0, DOME_I32, &turns, 1);
        }
    }
    if (dome_rank(env) == 0)
        case_print(&times);
    free(data);
    free(other);
    return dome_finalize(env);
}
