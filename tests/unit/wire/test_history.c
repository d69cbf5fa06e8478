/* What is kept of the views that a program has had. */
#include "wire/history.h"

#include <string.h>

static const dome_change_parts parts = {.members = 0.25, .blocks = 0.5, .joining = 1, .preamble = 2};

static void test_kinds(void)
{
    static const struct {
        int tasks;
        bool heals;
        const char *why, *kind;
    } changes[] = {{2, false, NULL, "start"},         {4, false, "dome grow", "grow"}, {3, false, "dome shrink", "shrink"},
                   {3, false, "dome move", "move"},   {3, true, "task 1", "heal"},     {2, true, "task 2", "heal"},
                   {5, false, "dome_resize", "grow"}, {5, false, "dome move", "move"}};
    dome_history h;
    dome__history_init(&h);
    for (guint k = 0; k < G_N_ELEMENTS(changes); k++) {
        if (changes[k].why)
            dome__history_begin(&h, changes[k].heals, changes[k].why, 0.125);
        const dome_view_note *note = dome__history_stands(&h, k, changes[k].tasks, 1, k, k);
        g_assert_cmpstr(note->kind, ==, changes[k].kind);
        g_assert_cmpstr(note->why, ==, changes[k].why ? changes[k].why : "");
        g_assert_cmpfloat(dome__view_note_still(note), <, 0);
        g_assert_true(dome__history_timed(&h, k, &parts) == note);
        g_assert_cmpfloat(note->parts.noticing, ==, k ? 0.125 : 0);
        /* What comes before a planned change is no pause; what comes before healing is. */
        g_assert_cmpfloat(dome__view_note_still(note), ==, changes[k].heals ? 3.875 : 3.75);
    }
    g_assert_null(dome__history_timed(&h, 99, &parts));
    dome__history_clear(&h);
}

/* A change that was begun and interrupted by a loss is that of the loss. */
static void test_interrupted(void)
{
    dome_history h;
    dome__history_init(&h);
    dome__history_stands(&h, 0, 2, 1, 0, 0);
    dome__history_begin(&h, false, "dome grow", 1);
    dome__history_begin(&h, true, "task 1 is lost", 2);
    const dome_view_note *note = dome__history_stands(&h, 3, 3, 1, 5, 5);
    g_assert_cmpstr(note->kind, ==, "heal");
    g_assert_cmpstr(note->why, ==, "task 1 is lost");
    g_assert_cmpfloat(note->parts.noticing, ==, 2);
    dome__history_clear(&h);
}

/* Of many views only the first and the newest are kept. */
static void test_bounded(void)
{
    dome_history h;
    dome__history_init(&h);
    for (uint32_t k = 0; k < 1000; k++) {
        dome__history_begin(&h, false, "dome_resize", 0);
        dome__history_stands(&h, k, 2 + (int)k % 2, 1, k, k);
    }
    g_assert_cmpuint(h.notes->len, ==, DOME_HISTORY_MOST);
    g_assert_cmpuint(h.left_out, ==, 1000 - DOME_HISTORY_MOST);
    g_assert_cmpuint(((dome_view_note *)h.notes->pdata[0])->number, ==, 0);
    g_assert_cmpuint(((dome_view_note *)h.notes->pdata[1])->number, ==, 1000 - DOME_HISTORY_MOST + 1);
    g_assert_cmpuint(((dome_view_note *)h.notes->pdata[h.notes->len - 1])->number, ==, 999);
    g_assert_null(dome__history_timed(&h, 5, &parts));
    dome__history_clear(&h);
}

static void test_lines(void)
{
    dome_history h;
    dome__history_init(&h);
    dome__history_begin(&h, true, "task 1 is lost", 0.5);
    dome_view_note *note = (dome_view_note *)dome__history_stands(&h, 7, 3, 2, 1.5, 1234);
    dome__history_timed(&h, 7, &parts);
    char *begins = dome__view_note_begins(note), *took = dome__view_note_took(note, 99);
    g_assert_cmpstr(begins, ==, "V 1234 7 3 2 500000000 start task%201%20is%20lost\n");
    g_assert_cmpstr(took, ==, "P 99 7 250000000 500000000 1000000000 2000000000\n");
    g_free(begins);
    g_free(took);
    dome__history_clear(&h);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/history/kinds", test_kinds);
    g_test_add_func("/history/interrupted", test_interrupted);
    g_test_add_func("/history/bounded", test_bounded);
    g_test_add_func("/history/lines", test_lines);
    return g_test_run();
}
