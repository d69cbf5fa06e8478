/* Slots shared out to programs. */
#include "manage/share_policy.h"

#include <glib.h>

/* What one program is, and what it shall get. */
typedef struct row {
    int least, most, has;
    bool fixed;
    int gets;
} row;

static void check(int slots, const row *rows, size_t count)
{
    dome_share shares[8];
    for (size_t i = 0; i < count; i++)
        shares[i] = (dome_share){rows[i].least, rows[i].most, rows[i].has, rows[i].fixed, -1};
    dome__share_out(shares, count, slots);
    for (size_t i = 0; i < count; i++)
        g_assert_cmpint(shares[i].gets, ==, rows[i].gets);
}

#define CHECK(slots, ...) check(slots, (const row[]){__VA_ARGS__}, sizeof((const row[]){__VA_ARGS__}) / sizeof(row))

static void test_table(void)
{
    CHECK(8, {2, 8, 0, false, 8});                                           /* alone: all that it can use */
    CHECK(8, {4, 4, 0, false, 4}, {2, 8, 0, false, 4});                      /* the first is served first */
    CHECK(8, {6, 6, 0, false, 6}, {2, 8, 8, false, 2});                      /* what runs shrinks for what is before it */
    CHECK(8, {2, 8, 8, false, 8}, {2, 4, 0, false, 0});                      /* but not for what is behind it */
    CHECK(8, {6, 6, 0, false, 0}, {8, 8, 8, true, 8});                       /* nor if it cannot */
    CHECK(8, {7, 7, 0, false, 0}, {2, 8, 8, false, 8}, {1, 1, 0, false, 0}); /* no room: what is behind waits, what runs stays */
    CHECK(8, {20, 20, 0, false, 20}, {1, 1, 0, false, 0});                   /* more than there is: alone */
    CHECK(8, {1, 1, 1, false, 1}, {20, 20, 0, false, 0}, {1, 1, 0, false, 0}); /* and so it waits for that */
    CHECK(2, {4, 8, 6, false, 4});                                             /* hosts have gone: it shrinks to its least */
    CHECK(0, {1, 4, 0, false, 1});
}

/* Whatever there is: nobody has fewer than it needs, nor more than it can use, and nothing is given away twice. */
static void test_random(void)
{
    for (int k = 0; k < 20000; k++) {
        dome_share shares[6];
        const int count = g_test_rand_int_range(1, 7), slots = g_test_rand_int_range(0, 30);
        int has = 0, gets = 0, needed = 0;
        for (int i = 0; i < count; i++) {
            const int least = g_test_rand_int_range(1, 8), most = least + g_test_rand_int_range(0, 8);
            const bool runs = g_test_rand_bit();
            shares[i] = (dome_share){least, most, runs ? g_test_rand_int_range(least, most + 1) : 0, g_test_rand_bit(), 0};
            has += shares[i].has;
            needed += !runs ? 0 : shares[i].fixed ? shares[i].has : least;
        }
        dome__share_out(shares, (size_t)count, slots);
        for (int i = 0; i < count; i++) {
            const dome_share *s = &shares[i];
            gets += s->gets;
            g_assert_true(s->gets == 0 || (s->gets >= s->least && s->gets <= s->most));
            g_assert_true(s->has == 0 || s->gets > 0);
            g_assert_true(!s->fixed || s->has == 0 || s->gets == s->has);
        }
        g_assert_true(gets <= MAX(slots, needed) || (has == 0 && gets == shares[0].least));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/share/table", test_table);
    g_test_add_func("/share/random", test_random);
    return g_test_run();
}
