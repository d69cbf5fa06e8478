/* When losses at one place show that starting the program again does not help. */
#include "manage/losses.h"

#include <glib.h>

enum { P = DOME_CAUSE_PROGRAM, D = DOME_CAUSE_DAEMON };

static uint64_t task(int rank)
{
    return dome__losses_add_task(DOME_CAUSE_PROGRAM, rank);
}

static dome_place at(uint64_t loop, uint64_t cause)
{
    return (dome_place){.known = true, .checkpoint = 2, .loop = loop, .sequence = 10 * loop, .cause = cause};
}

/* Notes losses at one place. Returns how many are noted before the program is given up; 0: it is not. */
static int given_up(const uint64_t *causes, int count)
{
    dome_losses losses = {0};
    for (int k = 0; k < count; k++) {
        const dome_place here = at(7, causes[k]);
        if (dome__losses_note(&losses, &here)) {
            g_assert_true(dome__losses_repeat(&losses));
            return k + 1;
        }
        g_assert_false(dome__losses_repeat(&losses));
    }
    return 0;
}

#define AFTER(n, ...)                                                                                                            \
    g_assert_cmpint(given_up((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), ==, n)

static void test_one_cause(void)
{
    AFTER(3, P, P, P, P);
    AFTER(3, D, D, D);
    for (int r = 0; r < 3; r++)
        AFTER(3, task(r), task(r), task(r));
    AFTER(0, P, P);
}

static void test_other_causes(void)
{
    AFTER(0, task(1), task(2), task(1), task(2), task(0), task(1), task(2));
    AFTER(0, task(1), D, task(2), D, task(1), task(2), D);
    AFTER(0, task(1), P, task(2), task(1), P, task(2));
    AFTER(6, task(1), task(1), task(0), task(1), task(1), task(1));
}

/* A failing program fails there again, whatever else happens. */
static void test_failures_between(void)
{
    AFTER(5, P, task(1), P, D, P);
    AFTER(5, P, task(1), task(2), P, P);
}

static void test_other_places(void)
{
    dome_losses losses = {0};
    for (uint64_t k = 1; k < 20; k++) {
        const dome_place here = at(k * 3, P);
        g_assert_false(dome__losses_note(&losses, &here));
    }
    losses = (dome_losses){0};
    dome_place unknown = at(7, P);
    unknown.known = false;
    for (int k = 0; k < 9; k++)
        g_assert_false(dome__losses_note(&losses, &unknown));

    /* Tasks are not in step when one is lost. */
    losses = (dome_losses){0};
    for (uint64_t k = 0; k < 3; k++) {
        const dome_place near = at(7 + k % 2, P);
        g_assert_true(dome__losses_note(&losses, &near) == (k == 2));
    }
}

/* Sets of tasks have words of their own, which are none of the other causes. */
static void test_words(void)
{
    GHashTable *seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (unsigned set = 1; set < 1u << 10; set++) {
        uint64_t *word = g_new0(uint64_t, 1);
        for (int r = 0; r < 10; r++)
            *word = set >> r & 1 ? dome__losses_add_task(*word, r) : *word;
        g_assert_cmpuint(*word, >=, DOME_CAUSE_TASKS);
        g_assert_true(g_hash_table_add(seen, word));
    }
    g_hash_table_unref(seen);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/losses/one_cause", test_one_cause);
    g_test_add_func("/losses/other_causes", test_other_causes);
    g_test_add_func("/losses/failures_between", test_failures_between);
    g_test_add_func("/losses/other_places", test_other_places);
    g_test_add_func("/losses/words", test_words);
    return g_test_run();
}
