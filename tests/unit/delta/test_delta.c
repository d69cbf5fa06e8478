/* Deltas beside a model that compares memory byte by byte: for each unit, each kind of processor, densities from none to all. */
#include "delta/delta.h"

#include <glib.h>
#include <string.h>

enum { MOST = 70000 };

static const char *const codes[] = {"portable", "sse2", "avx2", "avx512", NULL};
static const double densities[] = {0, 0.0003, 0.01, 0.2, 0.5, 0.97, 1};

/* Memory, and what it was before. */
typedef struct pair {
    uint8_t now[MOST], then[MOST];
    size_t bytes;
} pair;

static pair *random_pair(GRand *r, unsigned unit, double density)
{
    pair *p = g_new0(pair, 1);
    p->bytes = (size_t)g_rand_int_range(r, 0, g_rand_boolean(r) ? 3000 : MOST) / unit * unit;
    for (size_t k = 0; k < p->bytes; k++)
        p->then[k] = (uint8_t)g_rand_int(r);
    memcpy(p->now, p->then, p->bytes);
    for (size_t k = 0; k < p->bytes; k += unit)
        if (g_rand_double(r) < density)
            p->now[k + (size_t)g_rand_int_range(r, 0, (int)unit)] ^= (uint8_t)g_rand_int_range(r, 1, 256);
    /* runs, which random units seldom make */
    for (int runs = g_rand_int_range(r, 0, 4); runs && p->bytes && density > 0; runs--) {
        size_t from = (size_t)g_rand_int_range(r, 0, (int)p->bytes), count = (size_t)g_rand_int_range(r, 0, 5000);
        for (size_t k = from; k < MIN(from + count, p->bytes); k++)
            p->now[k] = (uint8_t)~p->then[k];
    }
    return p;
}

static uint64_t count_units(const pair *p, unsigned unit)
{
    uint64_t n = 0;
    for (size_t k = 0; k < p->bytes; k += unit)
        n += memcmp(p->now + k, p->then + k, unit) != 0;
    return n;
}

typedef struct visited {
    const pair *p;
    unsigned unit;
    uint64_t units, next;
} visited;

static void visit_run(void *context, uint64_t first, uint64_t count, const void *values)
{
    visited *v = context;
    g_assert_cmpuint(first, >=, v->next);
    g_assert_cmpuint(count, >, 0);
    g_assert_cmpint(memcmp(values, v->p->now + first * v->unit, count * v->unit), ==, 0);
    v->units += count;
    v->next = first + count;
}

/* Of the groups between two spans, and of each group of a span: whether a unit differs. */
static void visit_span(void *context, uint64_t first, uint64_t count, const void *values)
{
    visited *v = context;
    g_assert_null(values);
    g_assert_cmpuint(first % 64 + count % 64, ==, 0);
    for (uint64_t at = v->next; at < first + count; at += 64) {
        const size_t from = at * v->unit, bytes = MIN(64 * v->unit, v->p->bytes - from);
        g_assert_true((memcmp(v->p->now + from, v->p->then + from, bytes) != 0) == (at >= first));
        v->units += at >= first;
    }
    v->next = first + count;
}

static void check_pair(const pair *p, unsigned unit)
{
    dome_delta *delta = dome__delta_new(unit);
    uint8_t *twin = g_memdup2(p->then, MOST), *memory = g_memdup2(p->then, MOST), *second = g_memdup2(p->then, MOST);
    uint64_t units = count_units(p, unit);
    dome__delta_find(delta, 0, p->now, twin, p->bytes, DOME_DELTA_TAKE);
    g_assert_cmpuint(dome__delta_units(delta), ==, units);
    g_assert_cmpint(memcmp(twin, p->now, p->bytes), ==, 0);
    g_assert_true(dome__delta_apply(delta, memory, p->bytes, second));
    g_assert_cmpint(memcmp(memory, p->now, p->bytes), ==, 0);
    g_assert_cmpint(memcmp(second, p->now, p->bytes), ==, 0);
    if (p->bytes < MOST) /* nothing behind the memory is touched */
        g_assert_true(twin[p->bytes] == p->then[p->bytes] && memory[p->bytes] == p->then[p->bytes]);
    visited v = {p, unit, 0, 0};
    dome__delta_runs(delta, visit_run, &v);
    g_assert_cmpuint(v.units, ==, units);
    v = (visited){p, unit, 0, 0};
    dome__delta_spans(delta, visit_span, &v);
    g_assert_cmpuint(v.units > 0, ==, units > 0);

    /* what find writes is short: never more than a map for each group that differs, and a count for the first of full ones */
    size_t bytes;
    dome__delta_records(delta, &bytes);
    g_assert_cmpuint(bytes, <=, units * unit + 10 * MIN(units, p->bytes / (64 * unit) + 1));
    dome__delta_clear(delta);
    dome__delta_find(delta, 0, p->now, twin, p->bytes, 0);
    g_assert_cmpuint(dome__delta_units(delta), ==, 0);
    g_free(twin);
    g_free(memory);
    g_free(second);
    dome__delta_free(delta);
}

static void test_find(void)
{
    for (unsigned c = 0; codes[c]; c++) {
        if (!dome__delta_limit(codes[c]))
            continue;
        GRand *r = g_rand_new_with_seed(7);
        for (unsigned unit = 1; unit <= 8; unit *= 2)
            for (unsigned d = 0; d < G_N_ELEMENTS(densities); d++)
                for (int turn = 0; turn < 6; turn++) {
                    pair *p = random_pair(r, unit, densities[d]);
                    check_pair(p, unit);
                    g_free(p);
                }
        g_rand_free(r);
    }
    dome__delta_limit("auto");
}

/* All kinds of processors write the same records. */
static void test_same_records(void)
{
    GRand *r = g_rand_new_with_seed(8);
    for (int turn = 0; turn < 60; turn++) {
        unsigned unit = 1u << g_rand_int_range(r, 0, 4);
        pair *p = random_pair(r, unit, densities[turn % G_N_ELEMENTS(densities)]);
        GBytes *first = NULL;
        for (unsigned c = 0; codes[c]; c++) {
            if (!dome__delta_limit(codes[c]))
                continue;
            dome_delta *delta = dome__delta_new(unit);
            dome__delta_find(delta, 0, p->now, p->then, p->bytes, 0);
            size_t bytes;
            const void *records = dome__delta_records(delta, &bytes);
            GBytes *one = g_bytes_new(records, bytes);
            g_assert_true(!first || g_bytes_equal(first, one));
            if (first)
                g_bytes_unref(one);
            else
                first = one;
            dome__delta_free(delta);
        }
        g_bytes_unref(first);
        g_free(p);
    }
    g_rand_free(r);
    dome__delta_limit("auto");
}

/* Memory in pieces, at their offsets, and added without comparing. */
static void test_pieces(void)
{
    enum { GROUP = 64 * 4, N = 40 };
    static uint8_t now[GROUP * N], then[GROUP * N], memory[GROUP * N];
    memset(now, 7, sizeof now);
    dome_delta *delta = dome__delta_new(4);
    dome__delta_find(delta, GROUP, now + GROUP, then + GROUP, GROUP, 0);
    dome__delta_find(delta, GROUP * 2, now + GROUP * 2, then + GROUP * 2, GROUP, 0); /* the same record goes on */
    dome__delta_add(delta, GROUP * 5, now + GROUP * 5, GROUP + 12);
    dome__delta_find(delta, GROUP * 30, now + GROUP * 30, then + GROUP * 30, GROUP * 10, 0);
    g_assert_cmpuint(dome__delta_units(delta), ==, 64 * 13 + 3);
    g_assert_false(dome__delta_apply(delta, memory, sizeof memory - 4, NULL));
    g_assert_cmpint(memory[GROUP], ==, 0);
    g_assert_true(dome__delta_apply(delta, memory, sizeof memory, NULL));
    for (int k = 0; k < GROUP * N; k++) {
        int group = k / GROUP;
        bool written = group == 1 || group == 2 || group == 5 || (group == 6 && k % GROUP < 12) || group >= 30;
        g_assert_cmpint(memory[k], ==, written ? 7 : 0);
    }
    size_t bytes;
    dome__delta_records(delta, &bytes);
    g_assert_cmpuint(bytes, ==, (64 * 13 + 3) * 4 + 5 + 5 + 3 + 5);
    dome__delta_free(delta);
}

static void test_equal(void)
{
    uint8_t *a = g_malloc0(5000), *b = g_malloc0(5000);
    g_assert_cmpuint(dome__delta_equal(a, b, 5000), ==, 5000);
    g_assert_cmpuint(dome__delta_equal(a, b, 0), ==, 0);
    b[4999] = 1;
    g_assert_cmpuint(dome__delta_equal(a, b, 5000), ==, 9 * 512);
    b[700] = 1;
    g_assert_cmpuint(dome__delta_equal(a, b, 5000), ==, 512);
    g_free(a);
    g_free(b);
}

/* ---- merging ---- */

typedef struct conflicts {
    const uint8_t *first, *second;
    unsigned unit;
    uint64_t told;
} conflicts;

static void tell(void *context, uint64_t unit, const void *first, const void *second)
{
    conflicts *c = context;
    g_assert_cmpint(memcmp(first, c->first + unit * c->unit, c->unit), ==, 0);
    g_assert_cmpint(memcmp(second, c->second + unit * c->unit, c->unit), ==, 0);
    c->told++;
}

static void check_merge(GRand *r, unsigned unit, double density)
{
    pair *p = random_pair(r, unit, density);
    uint8_t *second = g_memdup2(p->then, MOST), *expected = g_memdup2(p->now, MOST), *memory = g_memdup2(p->then, MOST);
    uint64_t wrong = 0;
    for (size_t k = 0; k < p->bytes; k += unit) {
        if (g_rand_double(r) < density)
            second[k] ^= (uint8_t)g_rand_int_range(r, 1, 3);
        else if (g_rand_int_range(r, 0, 5) == 0)
            memcpy(second + k, p->now + k, unit); /* the same value by both */
        if (memcmp(second + k, p->then + k, unit) == 0)
            continue;
        wrong += memcmp(p->now + k, p->then + k, unit) != 0 && memcmp(p->now + k, second + k, unit) != 0;
        memcpy(expected + k, second + k, unit);
    }
    dome_delta *a = dome__delta_new(unit), *b = dome__delta_new(unit), *both = dome__delta_new(unit);
    dome__delta_find(a, 0, p->now, p->then, p->bytes, 0);
    dome__delta_find(b, 0, second, p->then, p->bytes, 0);
    conflicts c = {p->now, second, unit, 0};
    dome__delta_merge(both, a, b, tell, &c);
    g_assert_cmpuint(c.told, ==, wrong);
    g_assert_true(dome__delta_apply(both, memory, p->bytes, NULL));
    g_assert_cmpint(memcmp(memory, expected, p->bytes), ==, 0);
    dome__delta_free(a);
    dome__delta_free(b);
    dome__delta_free(both);
    g_free(second);
    g_free(expected);
    g_free(memory);
    g_free(p);
}

static void test_merge(void)
{
    GRand *r = g_rand_new_with_seed(9);
    for (unsigned unit = 1; unit <= 8; unit *= 2)
        for (unsigned d = 0; d < G_N_ELEMENTS(densities); d++)
            for (int turn = 0; turn < 5; turn++)
                check_merge(r, unit, densities[d]);
    g_rand_free(r);
}

/* Two tasks change one byte each of one word. By bytes both changes stay; by words the second task's word stands, and the first's
 * change is a conflict: why memory whose type is not known needs units of one byte. */
static void test_neighbours(void)
{
    uint8_t before[8] = {0}, a[8] = {1}, b[8] = {0, 2}, memory[8] = {0};
    for (unsigned unit = 1; unit <= 8; unit += 7) {
        dome_delta *first = dome__delta_new(unit), *second = dome__delta_new(unit), *both = dome__delta_new(unit);
        dome__delta_find(first, 0, a, before, 8, 0);
        dome__delta_find(second, 0, b, before, 8, 0);
        conflicts c = {a, b, unit, 0};
        dome__delta_merge(both, first, second, tell, &c);
        memset(memory, 0, 8);
        dome__delta_apply(both, memory, 8, NULL);
        g_assert_cmpint(memory[0], ==, unit == 1);
        g_assert_cmpint(memory[1], ==, 2);
        g_assert_cmpuint(c.told, ==, unit == 8);
        dome__delta_free(first);
        dome__delta_free(second);
        dome__delta_free(both);
    }
}

/* ---- with a head ---- */

static GByteArray *whole(const dome_delta *delta)
{
    uint8_t head[DOME_DELTA_HEAD];
    size_t bytes;
    const void *records = dome__delta_records(delta, &bytes);
    dome__delta_head(delta, head);
    GByteArray *data = g_byte_array_new();
    g_byte_array_append(data, head, sizeof head);
    return g_byte_array_append(data, records, (guint)bytes);
}

static void test_head(void)
{
    GRand *r = g_rand_new_with_seed(10);
    for (int turn = 0; turn < 40; turn++) {
        unsigned unit = 1u << turn % 4;
        pair *p = random_pair(r, unit, densities[1 + turn % 5]);
        dome_delta *delta = dome__delta_new(unit);
        dome__delta_find(delta, 0, p->now, p->then, p->bytes, 0);
        GByteArray *data = whole(delta);
        const char *why;
        dome_delta *back = dome__delta_read(data->data, data->len, p->bytes, &why);
        g_assert_nonnull(back);
        g_assert_true(dome__delta_apply(back, p->then, p->bytes, NULL));
        g_assert_cmpint(memcmp(p->then, p->now, p->bytes), ==, 0);
        dome__delta_free(back);
        for (int k = 0; k < 50; k++) { /* no damage passes */
            guint at = (guint)g_rand_int_range(r, 0, (int)data->len);
            uint8_t old = data->data[at];
            data->data[at] ^= (uint8_t)g_rand_int_range(r, 1, 256);
            g_assert_null(dome__delta_read(data->data, data->len, p->bytes, &why));
            g_assert_nonnull(why);
            data->data[at] = old;
        }
        g_assert_null(dome__delta_read(data->data, (size_t)g_rand_int_range(r, 0, (int)data->len), p->bytes, &why));
        if (dome__delta_units(delta))
            g_assert_null(dome__delta_read(data->data, data->len, 0, &why));
        g_byte_array_unref(data);
        dome__delta_free(delta);
        g_free(p);
    }
    g_rand_free(r);
}

/* The byte that each head and record has, fixed by what is written here: 3 words, of which a machine of the other byte order
 * reads the same numbers. */
static void test_bytes(void)
{
    static const uint8_t little[] = {'D',        'L', 'T', 'A', 1, 4, 0, 0, 15, 0, 0, 0,  0,  0,  0, 0,
                                     3,          0,   0,   0,   0, 0, 0, 0, 0,  0, 0, 0,  0,  0,  0, 0, /* the checksum, below */
                                     1 << 2 | 1, 2,   2,   4,   3, 2, 1, 8, 7,  6, 5, 12, 11, 10, 9};
    uint32_t now[128] = {0}, then[128] = {0}, memory[128] = {0};
    now[66] = 0x01020304;
    now[67] = 0x05060708;
    now[68] = 0x090a0b0c;
    dome_delta *delta = dome__delta_new(4);
    dome__delta_find(delta, 0, now, then, sizeof now, 0);
    GByteArray *data = whole(delta);
    const char *why;
    g_assert_cmpuint(data->len, ==, sizeof little);
    if (G_BYTE_ORDER == G_LITTLE_ENDIAN) {
        g_assert_cmpint(memcmp(data->data, little, 24), ==, 0);
        g_assert_cmpint(memcmp(data->data + DOME_DELTA_HEAD, little + DOME_DELTA_HEAD, sizeof little - DOME_DELTA_HEAD), ==, 0);
    }
    dome_delta *back = dome__delta_read(data->data, data->len, sizeof memory, &why);
    dome__delta_apply(back, memory, sizeof memory, NULL);
    g_assert_cmpint(memcmp(memory, now, sizeof memory), ==, 0);
    dome__delta_free(back);
    g_byte_array_unref(data);
    dome__delta_free(delta);
}

/* Records that nobody wrote. */
static void test_damaged_records(void)
{
    static const struct {
        uint8_t bytes[24];
        size_t length;
    } damaged[] = {
        {{0, 0}, 2},                                                        /* no value */
        {{0, 64, 1, 1, 1, 1, 1, 1, 1, 1}, 10},                              /* no such unit */
        {{1, 60, 4, 1, 1, 1, 1, 1}, 8},                                     /* a range beyond the group */
        {{2, 0, 0, 0, 0, 0, 0, 0, 0}, 9},                                   /* an empty map */
        {{3, 0, 0, 0, 0}, 5},                                               /* no groups */
        {{3, 255, 255, 255, 255, 1, 2, 3}, 8},                              /* too many */
        {{0xfc, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 9}, 13}, /* far beyond all memory */
        {{0xfc, 0x80, 0x80, 0, 0, 9}, 6},                                   /* a number in more bytes than it needs */
    };
    dome_delta *delta = dome__delta_new(1);
    for (unsigned k = 0; k < G_N_ELEMENTS(damaged); k++)
        g_assert_false(dome__delta_set_records(delta, damaged[k].bytes, damaged[k].length, UINT64_MAX));
    g_assert_true(dome__delta_set_records(delta, (uint8_t[]){0, 63, 5}, 3, 64));
    g_assert_false(dome__delta_set_records(delta, (uint8_t[]){0, 63, 5}, 3, 63));
    g_assert_true(dome__delta_set_records(delta, NULL, 0, 0));
    dome__delta_free(delta);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/delta/find", test_find);
    g_test_add_func("/delta/same-records", test_same_records);
    g_test_add_func("/delta/pieces", test_pieces);
    g_test_add_func("/delta/equal", test_equal);
    g_test_add_func("/delta/merge", test_merge);
    g_test_add_func("/delta/neighbours", test_neighbours);
    g_test_add_func("/delta/head", test_head);
    g_test_add_func("/delta/bytes", test_bytes);
    g_test_add_func("/delta/damaged-records", test_damaged_records);
    return g_test_run();
}
