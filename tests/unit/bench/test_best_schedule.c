/* The best schedule of a history, with which bench/balance_sim compares policies. */
#include "bench/balance_sim/history.h"

#include <glib.h>

/* All schedules, one by one: none is better than the one found, which takes as long as is said of it. */
static void test_by_force(void)
{
    enum { STEPS_HERE = 12 };
    int better_than_simple = 0;
    for (int kind = 0; kind < HISTORY_KINDS; kind++)
        for (guint32 seed = 0; seed < 5; seed++) {
            history *h = history_new((history_kind)kind, 4, STEPS_HERE, seed);
            if (seed % 2)
                h->per_block /= 100; /* so that several moves pay even in a history so short */
            uint64_t *layouts = history_layouts(h);
            bool moves[STEPS_HERE], never[STEPS_HERE] = {false}, once[STEPS_HERE] = {true};
            double best = history_best(h, layouts, moves), least = G_MAXDOUBLE;
            g_assert_cmpfloat_with_epsilon(history_time(h, layouts, moves), best, 1e-9);
            for (unsigned all = 0; all < 1u << STEPS_HERE; all++) {
                for (int i = 0; i < STEPS_HERE; i++)
                    moves[i] = all >> i & 1;
                double seconds = history_time(h, layouts, moves);
                least = MIN(least, seconds);
            }
            g_assert_cmpfloat_with_epsilon(best, least, 1e-9);
            better_than_simple += least < 0.999 * MIN(history_time(h, layouts, never), history_time(h, layouts, once));
            g_free(layouts);
            history_free(h);
        }
    g_assert_cmpint(better_than_simple, >=, 5); /* the histories put it to the test */
}

static void test_same_seed(void)
{
    for (int kind = 0; kind < HISTORY_KINDS; kind++) {
        history *a = history_new((history_kind)kind, 3, 50, 7), *b = history_new((history_kind)kind, 3, 50, 7);
        g_assert_cmpmem(a->seconds, 150 * sizeof *a->seconds, b->seconds, 150 * sizeof *b->seconds);
        history_free(a);
        history_free(b);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/best-schedule/by-force", test_by_force);
    g_test_add_func("/best-schedule/same-seed", test_same_seed);
    return g_test_run();
}
