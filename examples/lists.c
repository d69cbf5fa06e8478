/* Uses the distributed structure of structure_lists.c: fills 1000 lists of different lengths, sums each, moves nearly everything
 * to the last task, and sums again. The library moves the lists though it knows nothing of them but their operation table.
 *
 *     lists [--dome-tasks N]
 */
#include "structure_lists.h"

#include <dome/structure.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static void fill(dome_env *env, lists *l)
{
    dome_span spans[2];
    int nspans = lists_local(l, spans);
    for (int s = 0; s < nspans; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            for (size_t k = 0; k < i % 13; k++)
                if (lists_push(l, i, 1.0 / (double)(i + k)) != DOME_OK)
                    dome_abort(env, "lists: out of memory");
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
        total += i % 13;
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

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    lists *l = lists_new(env, "numbers", N);
    dvec *sums = dvec_new(env, "sums", DOME_F64, N);
    if (!l)
        dome_abort(env, "lists: out of memory");
    fill(env, l);

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
    return dome_finalize(env);
}
