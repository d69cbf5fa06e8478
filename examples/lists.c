/* Uses the distributed structure of structure_lists.c: fills 1000 lists of different lengths, sums each, moves nearly everything
 * to the last task, and sums again. Then it appends to some of the lists in each round and sums all. The library moves, saves and
 * restores the lists though it knows nothing of them but their operation table.
 *
 *     lists [--rounds N] [--dome-tasks N]
 */
#include "structure_lists.h"

#include <dome/structure.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, LENGTHS = 13, OFTEN = 100 };

static void push(dome_env *env, lists *l, size_t i, double value)
{
    if (lists_push(l, i, value) != DOME_OK)
        dome_abort(env, "lists: out of memory");
}

static void fill(dome_env *env, lists *l)
{
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    for (int s = 0; s < nspans; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            for (size_t k = 0; k < i % LENGTHS; k++)
                push(env, l, i, 1.0 / (double)(i + k));
}

/* A round: one list in LENGTHS gets another value. */
static void append(dome_env *env, lists *l, int64_t round)
{
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    for (int s = 0; s < nspans; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            if (i % LENGTHS == (size_t)round % LENGTHS)
                push(env, l, i, 1.0 / (double)(i + (size_t)round + 1));
}

/* The values this task holds. */
static size_t held(const lists *l)
{
    dome_span spans[2];
    size_t total = 0, count;
    int nspans = lists_local(l, spans);
    for (int s = 0; s < nspans; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++) {
            lists_values(l, i, &count);
            total += count;
        }
    return total;
}

/* The values pushed to lists from `first` on. */
static size_t pushed(size_t first)
{
    size_t total = 0;
    for (size_t i = first; i < N; i++)
        total += i % LENGTHS;
    return total;
}

/* All tasks but the last get one block. */
static void move(dome_env *env)
{
    int size = dome_size(env), last = size - 1;
    uint64_t block = dome_block_size(N), left = (N + block - 1) / block;
    uint64_t *counts = calloc((size_t)size, sizeof *counts);
    if (!counts)
        dome_abort(env, "lists: out of memory");
    for (int r = 0; r < last && left > 0; r++, left--)
        counts[r] = 1;
    counts[last] += left;
    dome_layout *layout = dome_layout_new(N, block, size, 0, counts);
    if (!layout)
        dome_abort(env, "lists: no layout");
    dome_env_relayout(env, layout);
    dome_layout_unref(layout);
    free(counts);
}

static void show_moving(dome_env *env, lists *l, dvec *sums)
{
    lists_sums(sums, l);
    double total = dvec_sum(sums);
    dome_print(env, "sum of all lists: %.15g  %a\n", total, total);

    move(env);
    size_t last = (size_t)dome_size(env) - 1;
    if ((size_t)dome_rank(env) == last && held(l) != pushed(last * dome_block_size(N)))
        dome_abort(env, "lists: the last task has not got its lists");
    lists_sums(sums, l);
    total = dvec_sum(sums);
    dome_print(env, "after moving:     %.15g  %a\n", total, total);
}

static int refuse(dome_env *env, const char *text, const char *about)
{
    if (dome_rank(env) == 0)
        fprintf(stderr, "%s%s\n", text, about);
    dome_finalize(env);
    return 2;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const bool given = argc == 3 && strcmp(argv[1], "--rounds") == 0;
    char *end = NULL;
    errno = 0;
    const int64_t rounds = given ? strtoll(argv[2], &end, 10) : 0;
    if (argc != (given ? 3 : 1) || rounds < 0 || (given && (*end || end == argv[2])))
        return refuse(env, "usage: lists [--rounds N]", "");
    if (errno == ERANGE)
        return refuse(env, "lists: --rounds takes at most 9223372036854775807, not ", argv[2]);
    lists *l = lists_new(env, "numbers", N);
    dvec *sums = dvec_new(env, "sums", DOME_F64, N);
    dscalar *done = dscalar_new(env, "done", DOME_I64);
    if (!l)
        dome_abort(env, "lists: out of memory");
    if (!dome_is_restarting(env)) {
        fill(env, l);
        show_moving(env, l, sums);
    }
    for (int64_t k = dscalar_get_i64(done); k < rounds; k++) {
        append(env, l, k);
        lists_sums(sums, l);
        const double total = dvec_sum(sums);
        if ((k + 1) % OFTEN == 0)
            dome_print(env, "round %" PRId64 ": %.15g  %a\n", k + 1, total, total);
        dscalar_set_i64(done, k + 1);
        dome_checkpoint(env);
    }
    return dome_finalize(env);
}
