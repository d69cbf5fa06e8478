#include "program/progress.h"

#include <glib.h>
#include <string.h>

static const uint64_t SECOND = 1000000000u;

static void expect(const dome_meter *meter, int columns, const char *line)
{
    char *text = dome__meter_line(meter, columns);
    g_assert_cmpstr(text, ==, line);
    if (columns)
        g_assert_cmpint(g_utf8_strlen(text, -1), <, columns);
    g_free(text);
}

static void test_plain(void)
{
    dome_meter m = {0};
    g_assert_true(dome__meter_note(&m, 0, 1000, "steps", 7 * SECOND));
    expect(&m, 0, "  0%  0/1000 steps");
    g_assert_false(dome__meter_note(&m, 100, 1000, "steps", 9 * SECOND));
    expect(&m, 0, " 10%  100/1000 steps, 50.0/s, 0:18 left");
    dome__meter_note(&m, 1000, 1000, "steps", 27 * SECOND);
    expect(&m, 0, "100%  1000/1000 steps, 50.0/s, took 0:20");
}

/* In the next view of a program the time of the loop goes on. */
static void test_next_view(void)
{
    dome_meter m = {0};
    dome__meter_note(&m, 600, 1000, "steps", 61 * SECOND);
    dome__meter_continue(&m, &(dome_loop_begin){SECOND, 100, 1000});
    expect(&m, 0, " 60%  600/1000 steps");
    dome__meter_note(&m, 620, 1000, "steps", 71 * SECOND);
    expect(&m, 0, " 62%  620/1000 steps, 2.00/s, 3:10 left");
    dome__meter_note(&m, 1000, 1000, "steps", 91 * SECOND);
    expect(&m, 0, "100%  1000/1000 steps, 10.0/s, took 1:30");

    static const dome_loop_begin others[] = {{0, 0, 1000}, {SECOND, 0, 900}, {SECOND, 601, 1000}};
    for (size_t k = 0; k < G_N_ELEMENTS(others); k++) {
        dome_meter other = {0};
        dome__meter_note(&other, 600, 1000, "steps", 61 * SECOND);
        dome__meter_continue(&other, &others[k]);
        dome__meter_note(&other, 1000, 1000, "steps", 81 * SECOND);
        expect(&other, 0, "100%  1000/1000 steps, 20.0/s, took 0:20");
    }
}

/* After a restart, work done before does not count. */
static void test_restart(void)
{
    dome_meter m = {0};
    dome__meter_note(&m, 900, 1000, "steps", SECOND);
    expect(&m, 0, " 90%  900/1000 steps");
    dome__meter_note(&m, 910, 1000, "steps", 11 * SECOND);
    expect(&m, 0, " 91%  910/1000 steps, 1.00/s, 1:30 left");
    dome__meter_note(&m, 1000, 1000, "steps", 101 * SECOND);
    expect(&m, 0, "100%  1000/1000 steps, 1.00/s, took 1:40");
    g_assert_true(dome__meter_note(&m, 500, 1000, "steps", 102 * SECOND)); /* the program resumed from a checkpoint */
    expect(&m, 0, " 50%  500/1000 steps");
    g_assert_true(dome__meter_note(&m, 500, 1000, "rows", 103 * SECOND));
    g_assert_true(dome__meter_note(&m, 500, 2000, "rows", 104 * SECOND));
}

/* The remaining time is estimated from the present speed. */
static void test_speed_changes(void)
{
    dome_meter m = {0};
    uint64_t t = 0, done = 0;
    for (; t <= 100; t++)
        dome__meter_note(&m, done++, 100000, NULL, t * SECOND);
    expect(&m, 0, "  0%  100/100000, 1.00/s, 1 d 3 h left");
    for (; t <= 120; t++)
        dome__meter_note(&m, done += 100, 100000, NULL, t * SECOND);
    expect(&m, 0, "  2%  2101/100000, 100/s, 16:19 left");
}

static void test_forms(void)
{
    dome_meter m = {0};
    dome__meter_note(&m, 0, 0, "", 0);
    expect(&m, 80, "0");
    dome__meter_note(&m, 12345678, 0, "", SECOND);
    expect(&m, 80, "12345678, 12.3 M/s");
    dome__meter_note(&m, 0, 10, "frames\n\033[2J", 0);
    dome__meter_note(&m, 1, 10, "frames\n\033[2J", 4 * SECOND);
    expect(&m, 0, " 10%  1/10 frames  [2J, 4 s each, 0:36 left");
    dome__meter_note(&m, 11, 10, "frames\n\033[2J", 5 * SECOND);
    expect(&m, 0, "100%  11/10 frames  [2J, 2.20/s, took 0:05");
    dome__meter_note(&m, 0, UINT64_MAX, "", 0);
    dome__meter_note(&m, 1, UINT64_MAX, "", SECOND);
    expect(&m, 0, "  0%  1/18446744073709551615, 1.00/s, more than 100 days left");
    dome__meter_note(&m, UINT64_MAX, UINT64_MAX, "", 2 * SECOND);
    expect(&m, 0, "100%  18446744073709551615/18446744073709551615, 9.22 E/s, took 0:02");
    dome__meter_note(&m, 0, 10,
                     "\xc3\xa4\xff"
                     "and a name that is much too long for this",
                     0);
    g_assert_true(g_utf8_validate(m.unit, -1, NULL));
    g_assert_false(dome__meter_note(&m, 1, 10,
                                    "\xc3\xa4\xff"
                                    "and a name that is much too long for this",
                                    0));
}

static void test_bar(void)
{
    dome_meter m = {0};
    dome__meter_note(&m, 0, 4, "rows", 0);
    expect(&m, 30, "[............]   0%  0/4 rows");
    dome__meter_note(&m, 2, 4, "rows", 0);
    expect(&m, 80, "[####################....................]  50%  2/4 rows");
    expect(&m, 12, " 50%  2/4 r");
    for (int columns = 1; columns < 100; columns++) {
        char *text = dome__meter_line(&m, columns);
        g_assert_cmpint((int)strlen(text), <, columns);
        g_free(text);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/progress/plain", test_plain);
    g_test_add_func("/progress/restart", test_restart);
    g_test_add_func("/progress/next-view", test_next_view);
    g_test_add_func("/progress/speed", test_speed_changes);
    g_test_add_func("/progress/forms", test_forms);
    g_test_add_func("/progress/bar", test_bar);
    return g_test_run();
}
