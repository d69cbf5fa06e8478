#include "core/layout.h"

#include <glib.h>
#include <string.h>

static void test_block_size(void)
{
    g_assert_cmpuint(dome_block_size(0), ==, 1);
    g_assert_cmpuint(dome_block_size(1), ==, 1);
    g_assert_cmpuint(dome_block_size(511), ==, 1);
    g_assert_cmpuint(dome_block_size(512), ==, 2);
    g_assert_cmpuint(dome_block_size(1023), ==, 2);
    g_assert_cmpuint(dome_block_size(1024), ==, 4);
    g_assert_cmpuint(dome_block_size(262143), ==, 512);
    g_assert_cmpuint(dome_block_size(262144), ==, 1024);
    g_assert_cmpuint(dome_block_size(UINT64_C(1) << 30), ==, 1024);
    g_assert_cmpuint(dome_block_size((UINT64_C(1) << 30) + 1), ==, 2048);
    g_assert_cmpuint(dome_block_size(UINT64_C(1) << 31), ==, 2048);
    g_assert_cmpuint(dome_block_size(UINT64_MAX), ==, UINT64_C(1) << 44);
}

static void test_even(void)
{
    dome_layout *l = dome_layout_even(1000, 4, 3); /* 250 blocks: 84, 83, 83 */
    uint64_t start;
    dome_span s[2];
    g_assert_cmpuint(dome_layout_blocks(l), ==, 250);
    g_assert_cmpuint(dome_layout_run(l, 0, &start), ==, 84);
    g_assert_cmpuint(start, ==, 0);
    g_assert_cmpuint(dome_layout_run(l, 2, &start), ==, 83);
    g_assert_cmpuint(start, ==, 167);
    g_assert_cmpint(dome_layout_spans(l, 1, s), ==, 1);
    g_assert_cmpuint(s[0].first, ==, 336);
    g_assert_cmpuint(s[0].count, ==, 332);
    g_assert_cmpint(dome_layout_owner(l, 249), ==, 2);
    g_assert_cmpint(dome_layout_owner(l, 250), ==, -1);
    dome_layout_unref(l);

    l = dome_layout_even(5, 1, 7); /* fewer elements than tasks */
    for (int r = 0; r < 7; r++)
        g_assert_cmpuint(dome_layout_local(l, r), ==, r < 5);
    dome_layout_unref(l);

    l = dome_layout_even(0, 0, 4);
    g_assert_cmpuint(dome_layout_blocks(l), ==, 0);
    for (int r = 0; r < 4; r++)
        g_assert_cmpint(dome_layout_spans(l, r, s), ==, 0);
    g_assert_cmpuint(dome_layout_position(l, 0, 0), ==, UINT64_MAX);
    dome_layout_unref(l);
}

/* The ranges of all ranks are all blocks once, and say the same as positions and spans. */
static void check_ranges(const dome_layout *l, int ntasks)
{
    uint64_t blocks = dome_layout_blocks(l), seen = 0;
    for (int r = 0; r < ntasks; r++) {
        dome_span ranges[2], spans[2];
        uint64_t start, count = dome_layout_run(l, r, &start), position = 0;
        int n = dome__layout_block_ranges(l, r, ranges);
        g_assert_cmpint(n, ==, dome_layout_spans(l, r, spans));
        g_assert_cmpuint(ranges[0].count + ranges[1].count, ==, count);
        for (int s = 0; s < n; s++) {
            g_assert_cmpuint(ranges[s].count, >, 0);
            g_assert_cmpuint(spans[s].first, ==, dome_layout_block(l, ranges[s].first).first);
            for (uint64_t k = 0; k < ranges[s].count; k++, position++) {
                uint64_t block = ranges[s].first + k;
                g_assert_cmpint(dome_layout_owner(l, block), ==, r);
                g_assert_cmpuint(block, ==, (start + position) % blocks);
                g_assert_cmpuint(dome__layout_block_at(l, r, position), ==, block);
                g_assert_cmpuint(dome__layout_position_of(l, r, block), ==, position);
            }
        }
        g_assert_cmpuint(position, ==, count);
        for (uint64_t block = 0; block < blocks; block++)
            if (dome_layout_owner(l, block) != r)
                g_assert_cmpuint(dome__layout_position_of(l, r, block), >=, count);
        seen += count;
    }
    g_assert_cmpuint(seen, ==, blocks);
}

static void test_block_ranges(void)
{
    const uint64_t counts[] = {3, 0, 4, 2};
    for (uint64_t start = 0; start < 9; start++) {
        dome_layout *l = dome_layout_new(34, 4, 4, start, counts);
        check_ranges(l, 4);
        dome_layout_unref(l);
    }
    dome_layout *none = dome_layout_even(0, 0, 3);
    check_ranges(none, 3);
    dome_layout_unref(none);
}

static void test_wrapped(void)
{
    /* 10 elements in blocks of 4: 0..3, 4..7, 8..9. Rank 1 goes around the end. */
    const uint64_t counts[] = {1, 2, 0};
    dome_layout *l = dome_layout_new(10, 4, 3, 1, counts);
    dome_span s[2];
    g_assert_cmpint(dome_layout_spans(l, 0, s), ==, 1);
    g_assert_cmpuint(s[0].first, ==, 4);
    g_assert_cmpuint(s[0].count, ==, 4);
    g_assert_cmpint(dome_layout_spans(l, 1, s), ==, 2);
    g_assert_cmpuint(s[0].first, ==, 8);
    g_assert_cmpuint(s[0].count, ==, 2);
    g_assert_cmpuint(s[1].first, ==, 0);
    g_assert_cmpuint(s[1].count, ==, 4);
    g_assert_cmpint(dome_layout_spans(l, 2, s), ==, 0);
    g_assert_cmpuint(dome_layout_position(l, 1, 9), ==, 1);
    g_assert_cmpuint(dome_layout_position(l, 1, 3), ==, 5);
    g_assert_cmpuint(dome_layout_position(l, 1, 4), ==, UINT64_MAX);
    g_assert_cmpint(dome_layout_owner(l, 0), ==, 1);
    g_assert_cmpint(dome_layout_owner(l, 1), ==, 0);
    g_assert_cmpint(dome_layout_owner(l, 2), ==, 1);
    dome_span last = dome_layout_block(l, 2);
    g_assert_cmpuint(last.first, ==, 8);
    g_assert_cmpuint(last.count, ==, 2);
    dome_layout_unref(l);
}

static void test_refused(void)
{
    const uint64_t few[] = {1, 1}, many[] = {2, 2}, huge[] = {UINT64_MAX, 4}, right[] = {1, 2}, none[] = {0, 0};
    g_assert_null(dome_layout_new(10, 4, 2, 0, few));
    g_assert_null(dome_layout_new(10, 4, 2, 0, many));
    g_assert_null(dome_layout_new(10, 4, 2, 0, huge));
    g_assert_null(dome_layout_new(10, 4, 2, 3, right));
    g_assert_null(dome_layout_new(10, 4, 0, 0, right));
    g_assert_null(dome_layout_new(10, 3, 2, 0, right));
    g_assert_null(dome_layout_new(0, 4, 2, 1, none));
    dome_layout *l = dome_layout_new(0, 4, 2, 0, none);
    g_assert_nonnull(l);
    dome_layout_unref(l);
}

static void test_equal(void)
{
    const uint64_t counts[] = {84, 83, 83}, other[] = {83, 84, 83};
    dome_layout *a = dome_layout_even(1000, 4, 3), *b = dome_layout_new(1000, 4, 3, 0, counts);
    dome_layout *c = dome_layout_new(1000, 4, 3, 0, other), *d = dome_layout_new(1000, 4, 3, 1, counts);
    g_assert_true(dome_layout_equal(a, b));
    g_assert_false(dome_layout_equal(a, c));
    g_assert_false(dome_layout_equal(b, d));
    dome_layout *again = dome_layout_ref(a);
    dome_layout_unref(a);
    g_assert_true(dome_layout_equal(again, b));
    dome_layout_unref(again);
    dome_layout_unref(b);
    dome_layout_unref(c);
    dome_layout_unref(d);
}

/* Random layouts: every element has one owner and one position, and all functions agree on it. */
static void test_random(void)
{
    for (int round = 0; round < 500; round++) {
        uint64_t n = g_test_rand_int_range(0, 300), block = UINT64_C(1) << g_test_rand_int_range(0, 6);
        int tasks = g_test_rand_int_range(1, 9);
        uint64_t blocks = n / block + (n % block != 0), counts[8] = {0};
        for (uint64_t b = 0; b < blocks; b++)
            counts[g_test_rand_int_range(0, tasks)]++;
        uint64_t start = blocks ? (uint64_t)g_test_rand_int_range(0, (gint)blocks) : 0;
        dome_layout *l = dome_layout_new(n, block, tasks, start, counts);
        g_assert_nonnull(l);
        int owner[300];
        memset(owner, -1, sizeof owner);
        for (int r = 0; r < tasks; r++) {
            dome_span s[2];
            uint64_t place = 0, first;
            g_assert_cmpuint(dome_layout_run(l, r, &first), ==, counts[r]);
            for (int i = 0, m = dome_layout_spans(l, r, s); i < m; i++) {
                g_assert_cmpuint(s[i].count, >, 0);
                for (uint64_t k = s[i].first; k < s[i].first + s[i].count; k++, place++) {
                    g_assert_cmpint(owner[k], ==, -1);
                    owner[k] = r;
                    g_assert_cmpuint(dome_layout_position(l, r, k), ==, place);
                    g_assert_cmpint(dome_layout_owner(l, k / block), ==, r);
                }
            }
            g_assert_cmpuint(dome_layout_local(l, r), ==, place);
        }
        for (uint64_t k = 0; k < n; k++)
            g_assert_cmpint(owner[k], >=, 0);
        dome_layout_unref(l);
    }
}

static void test_huge(void)
{
    uint64_t n = UINT64_MAX;
    dome_layout *l = dome_layout_even(n, 0, 3);
    dome_span s[2];
    uint64_t sum = 0;
    for (int r = 0; r < 3; r++) {
        g_assert_cmpint(dome_layout_spans(l, r, s), ==, 1);
        g_assert_cmpuint(s[0].first, ==, sum);
        sum += s[0].count;
    }
    g_assert_cmpuint(sum, ==, n);
    g_assert_cmpuint(dome_layout_position(l, 2, n - 1), ==, s[0].count - 1);
    dome_layout_unref(l);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/layout/block_size", test_block_size);
    g_test_add_func("/layout/even", test_even);
    g_test_add_func("/layout/wrapped", test_wrapped);
    g_test_add_func("/layout/block-ranges", test_block_ranges);
    g_test_add_func("/layout/refused", test_refused);
    g_test_add_func("/layout/equal", test_equal);
    g_test_add_func("/layout/random", test_random);
    g_test_add_func("/layout/huge", test_huge);
    return g_test_run();
}
