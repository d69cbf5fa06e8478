/* Which segments overlap, beside a model that keeps all writes. */
#include "races/writes.h"

#include <glib.h>
#include <string.h>

enum { BYTES = 64, THREADS = 4, STEPS = 40, ROUNDS = 300 };

typedef struct found {
    bool at[BYTES];
    uint32_t earlier[BYTES];
} found;

static void tell(void *context, size_t first, size_t count, uint32_t earlier)
{
    found *f = context;
    g_assert_cmpuint(count, >, 0);
    for (size_t k = first; k < first + count; k++) {
        g_assert_false(f->at[k]);
        f->at[k] = true;
        f->earlier[k] = earlier;
    }
}

static void test_order(void)
{
    const dome_omp_segment a = {.began = 0, .ended = 3, .thread = 0}, b = {.began = 3, .ended = DOME_OMP_NOT_ENDED, .thread = 1},
                           c = {.began = 2, .ended = 5, .thread = 2}, d = {.began = 7, .ended = 9, .thread = 0};
    g_assert_true(dome__omp_segments_ordered(&a, &b));
    g_assert_true(dome__omp_segments_ordered(&b, &a));
    g_assert_false(dome__omp_segments_ordered(&a, &c));
    g_assert_false(dome__omp_segments_ordered(&b, &c));
    g_assert_true(dome__omp_segments_ordered(&c, &d));
    g_assert_true(dome__omp_segments_ordered(&a, &d)); /* one thread */
    g_assert_false(dome__omp_segments_ordered(&b, &d));
}

/* Of each thread the segment that has not ended, which began with its last act. */
typedef struct history {
    dome_omp_writes *writes;
    dome_omp_shadow shadow;
    uint32_t last[BYTES], segments[THREADS];
    uint64_t began[THREADS], acts;
} history;

static void write_some(history *h, GRand *random)
{
    const uint32_t thread = (uint32_t)g_rand_int_range(random, 0, THREADS);
    const size_t first = (size_t)g_rand_int_range(random, 0, BYTES),
                 count = (size_t)g_rand_int_range(random, 1, (int)(BYTES - first) + 1);
    uint8_t values[BYTES];
    found f = {0};
    memset(values, (int)thread, sizeof values);
    if (!h->segments[thread])
        h->segments[thread] = dome__omp_writes_begin(h->writes, thread, h->began[thread], NULL);
    const dome_omp_segment *now = dome__omp_writes_segment(h->writes, h->segments[thread]);
    dome__omp_writes_note(h->writes, &h->shadow, h->segments[thread], first, count, values, tell, &f);
    for (size_t k = 0; k < BYTES; k++) {
        const bool written = k >= first && k < first + count;
        const dome_omp_segment *before = written && h->last[k] ? dome__omp_writes_segment(h->writes, h->last[k]) : NULL;
        g_assert_cmpint(f.at[k], ==, before && !dome__omp_segments_ordered(before, now));
        if (f.at[k])
            g_assert_cmpuint(f.earlier[k], ==, h->last[k]);
        if (written)
            h->last[k] = h->segments[thread];
        if (written)
            g_assert_cmpuint(h->shadow.values[k], ==, thread);
    }
}

static void act(history *h, uint32_t thread)
{
    h->acts++;
    if (h->segments[thread])
        dome__omp_writes_segment(h->writes, h->segments[thread])->ended = h->acts;
    h->segments[thread] = 0;
    h->began[thread] = h->acts;
}

static void visit(void *context, size_t first, size_t count, uint32_t segment, const uint8_t *values)
{
    history *h = context;
    for (size_t k = first; k < first + count; k++) {
        g_assert_cmpuint(h->last[k], ==, segment);
        g_assert_cmpuint(values[k - first], ==, dome__omp_writes_segment(h->writes, segment)->thread);
        h->last[k] = 0;
    }
}

static void test_histories(void)
{
    GRand *random = g_rand_new_with_seed(1);
    history h = {.writes = dome__omp_writes_new()};
    g_assert_null(dome__omp_shadow_make(&h.shadow, BYTES));
    for (int round = 0; round < ROUNDS; round++) {
        for (int step = 0; step < STEPS; step++) {
            if (g_rand_int_range(random, 0, 3))
                write_some(&h, random);
            else
                act(&h, (uint32_t)g_rand_int_range(random, 0, THREADS));
        }
        dome__omp_writes_owned(h.writes, &h.shadow, 0, BYTES, visit, &h);
        for (int k = 0; k < BYTES; k++) /* all have been visited */
            g_assert_cmpuint(h.last[k], ==, 0);
        if (!dome__omp_writes_next(h.writes))
            dome__omp_shadow_clear(&h.shadow);
        memset(h.segments, 0, sizeof h.segments);
        g_assert_null(dome__omp_writes_segment(h.writes, h.shadow.owners[0]));
    }
    dome__omp_shadow_free(&h.shadow);
    dome__omp_writes_free(h.writes);
    g_rand_free(random);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/writes/order", test_order);
    g_test_add_func("/writes/histories", test_histories);
    return g_test_run();
}
