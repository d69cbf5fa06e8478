/* Collectives whose results can be verified, for sim_run. */
#ifndef DOME_TESTS_COLLECTIVE_COSTS_H
#define DOME_TESTS_COLLECTIVE_COSTS_H

#include "simulated_transport.h"
#include "transport/collective.h"
#include "transport/relay.h"

/* The words of an exact sum plus one, as dvec_sum reduces them. */
enum { COST_WORDS = 73 };

static int cost_barrier(dome_transport *t, void *ctx)
{
    (void)ctx;
    return dome__barrier(t);
}

static int cost_bcast(dome_transport *t, void *ctx)
{
    double value = t->rank == 0 ? 3 : 0;
    (void)ctx;
    return dome__bcast(t, 0, DOME_F64, &value, 1) || value != 3;
}

static int cost_allreduce(dome_transport *t, void *ctx)
{
    int64_t words[COST_WORDS];
    (void)ctx;
    for (int i = 0; i < COST_WORDS; i++)
        words[i] = t->rank + i;
    int failed = dome__allreduce(t, DOME_I64, words, COST_WORDS, dome__combine_sum_i64, NULL);
    for (int64_t i = 0; i < COST_WORDS && !failed; i++)
        failed = words[i] != (int64_t)t->size * (t->size - 1) / 2 + i * t->size;
    return failed;
}

static int cost_reduce(dome_transport *t, void *ctx)
{
    int64_t value = t->rank;
    (void)ctx;
    int failed = dome__reduce(t, 0, DOME_I64, &value, 1, dome__combine_sum_i64, NULL);
    return failed || (t->rank == 0 && value != (int64_t)t->size * (t->size - 1) / 2);
}

static int cost_allgather(dome_transport *t, void *ctx)
{
    double value = t->rank, *all = g_new0(double, t->size);
    (void)ctx;
    int failed = dome__allgather(t, DOME_F64, &value, 1, all);
    for (int r = 0; r < t->size && !failed; r++)
        failed = all[r] != r;
    g_free(all);
    return failed;
}

static int cost_relay(dome_transport *t, void *ctx)
{
    double value = t->rank;
    uint64_t *counts = g_new(uint64_t, t->size);
    dome_relay *relay = dome__relay_new(t);
    (void)ctx;
    for (int r = 0; r < t->size; r++)
        counts[r] = 1;
    int failed = dome__relay_begin(relay, &value, counts) || dome__relay_advance(relay, true);
    for (int r = 0; r < t->size && !failed; r++)
        failed = *dome__relay_numbers(relay, r) != r;
    dome__relay_free(relay);
    g_free(counts);
    return failed;
}

static int cost_gather(dome_transport *t, void *ctx)
{
    double value = t->rank, *all = g_new0(double, t->size);
    (void)ctx;
    int failed = dome__gather(t, 0, DOME_F64, &value, 1, all);
    for (int r = 0; t->rank == 0 && r < t->size && !failed; r++)
        failed = all[r] != r;
    g_free(all);
    return failed;
}

/* Broadcasts 1 MB. */
__attribute__((unused)) static int cost_long_bcast(dome_transport *t, void *ctx)
{
    enum { LONG = 1 << 20 };
    uint8_t *data = g_malloc0(LONG);
    (void)ctx;
    if (t->rank == 0)
        memset(data, 7, LONG);
    int failed = dome__bcast(t, 0, DOME_U8, data, LONG) || data[0] != 7 || data[LONG - 1] != 7;
    g_free(data);
    return failed;
}

/* Sums 1 MB. */
__attribute__((unused)) static int cost_long_allreduce(dome_transport *t, void *ctx)
{
    enum { LONG = 1 << 17 };
    int64_t *words = g_new(int64_t, LONG);
    (void)ctx;
    for (int64_t i = 0; i < LONG; i++)
        words[i] = t->rank + i;
    int failed = dome__allreduce(t, DOME_I64, words, LONG, dome__combine_sum_i64, NULL);
    for (int64_t i = 0; i < LONG && !failed; i++)
        failed = words[i] != (int64_t)t->size * (t->size - 1) / 2 + i * t->size;
    g_free(words);
    return failed;
}

typedef struct cost_case {
    const char *name;
    int (*work)(dome_transport *, void *);
    unsigned rounds_up; /* consecutive messages: at most this times the logarithm of the number of tasks, rounded up; 0: a
                            tree of another form */
} cost_case;

static const cost_case cost_cases[] = {
    {"barrier", cost_barrier, 1}, {"broadcast", cost_bcast, 1},      {"all-reduce", cost_allreduce, 1},
    {"reduce", cost_reduce, 1},   {"all-gather", cost_allgather, 1}, {"gather", cost_gather, 1},
    {"relay", cost_relay, 0},
};

__attribute__((unused)) static unsigned cost_log2(int n)
{
    unsigned rounds = 0;
    while (((int64_t)1 << rounds) < n)
        rounds++;
    return rounds;
}

#endif
