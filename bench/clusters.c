/* The seconds of broadcasts and all-reduces of 8 bytes and of 8 MB on several hosts, for bench/clusters-lab.
 *
 *     clusters links|nothing [ROUNDS] [BYTES]     1 round; 8388608 bytes
 *
 * links: with what the program knows of the links between its hosts; nothing: as if it knew nothing. Prints a line for each
 * collective: the median of the rounds, a tab, its name. */
#include "core/environment.h"
#include "system/time.h"
#include "transport/collective.h"

#include <dome/dome.h>

#include <glib.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_case {
    const char *name;
    bool reduces, is_long;
} bench_case;

static const bench_case cases[] = {
    {"broadcast of 8 bytes", false, false},
    {"broadcast, long", false, true},
    {"all-reduce of 8 bytes", true, false},
    {"all-reduce, long", true, true},
};

/* The seconds of one collective, until the last task has finished it. The same on all tasks. */
static double run(dome_transport *t, const bench_case *c, int64_t *words, uint64_t bytes, int repeat)
{
    const uint64_t count = c->is_long ? bytes / sizeof *words : 1;
    dome__barrier(t);
    const uint64_t start = dome__now_ns();
    for (int i = 0; i < repeat; i++) {
        const int status = c->reduces ? dome__allreduce(t, DOME_I64, words, count, dome__combine_sum_i64, NULL)
                                      : dome__bcast(t, 0, DOME_I64, words, count);
        if (status)
            exit(1); /* the hub says why */
        if (!c->reduces && !c->is_long)
            dome__barrier(t); /* or broadcasts overlap */
    }
    dome__barrier(t);
    int64_t took = (int64_t)((dome__now_ns() - start) / (uint64_t)repeat);
    dome__allreduce(t, DOME_I64, &took, 1, dome__combine_max_i64, NULL);
    return 1e-9 * (double)took;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

static void measure(dome_env *env, const bench_case *c, int rounds, uint64_t bytes)
{
    int64_t *words = g_malloc0(bytes);
    double *seconds = g_new(double, rounds);
    run(env->transport, c, words, bytes, 1); /* opens connections */
    for (int round = 0; round < rounds; round++)
        seconds[round] = run(env->transport, c, words, bytes, c->is_long ? 1 : 50);
    dome_print(env, "%.6f\t%s\n", median(seconds, rounds), c->name);
    g_free(words);
    g_free(seconds);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const bool links = argc > 1 && strcmp(argv[1], "links") == 0;
    const int rounds = argc > 2 ? atoi(argv[2]) : 1;
    const uint64_t bytes = argc > 3 ? (uint64_t)atoll(argv[3]) / 8 * 8 : 8 << 20;
    const dome_transport_links *known = &env->transport->group.links;
    if (argc < 2 || rounds < 1 || bytes < 8)
        dome_abort(env, "clusters links|nothing [ROUNDS] [BYTES]: ROUNDS from 1, BYTES from 8 on");
    for (int r = 0; r < dome_size(env) && links; r++)
        dome_print(env, "# rank %d on %s, cluster %d\n", r, env->hosts[r], known->cluster ? known->cluster[r] : 0);
    if (links)
        dome_print(env, "# in a cluster %.0f us, %.2f MB/s; between clusters %.0f us, %.2f MB/s, %.2f of each pair at once\n",
                   1e6 * known->latency[DOME_REACH_CLUSTER], 1e-6 * known->bandwidth[DOME_REACH_CLUSTER],
                   1e6 * known->latency[DOME_REACH_FAR], 1e-6 * known->bandwidth[DOME_REACH_FAR],
                   1e-6 * known->crowded[DOME_REACH_FAR]);
    else
        dome__group_free_links(&env->transport->group);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        measure(env, &cases[i], rounds, bytes);
    return dome_finalize(env);
}
