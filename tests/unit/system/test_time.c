/* The clock of the time in which its reader could run. */
#include "system/time.h"

#include <glib.h>

static void test_runs(void)
{
    dome_awake clock = dome__awake_from(100);
    g_assert_cmpfloat(clock.now, ==, 100);
    for (int k = 1; k <= 40; k++)
        g_assert_cmpfloat(dome__awake_read(&clock, 100 + 0.25 * k, 1), ==, 100 + 0.25 * k);
}

/* A reader that did not run for longer than a limit has not heard others for a moment only, and does judge them in the end. */
static void test_gap(void)
{
    dome_awake clock = dome__awake_from(100);
    double heard = dome__awake_read(&clock, 100.25, 1), limit = 8.5;
    g_assert_cmpfloat(dome__awake_read(&clock, 170.25, 1) - heard, ==, 1);
    g_assert_cmpfloat(dome__awake_read(&clock, 170.5, 1) - heard, ==, 1.25);
    double real = 170.5;
    while (clock.now - heard <= limit)
        dome__awake_read(&clock, real += 0.25, 1);
    g_assert_cmpfloat(real, ==, 178);
}

/* It is stopped again and again: every gap counts, so the end comes after at most limit / most of them. */
static void test_again(void)
{
    dome_awake clock = dome__awake_from(0);
    int readings = 0;
    while (clock.now <= 8.5)
        dome__awake_read(&clock, ++readings * 5.0, 1);
    g_assert_cmpint(readings, ==, 9);
}

static void test_back(void)
{
    dome_awake clock = dome__awake_from(100);
    g_assert_cmpfloat(dome__awake_read(&clock, 90, 1), ==, 100);
    g_assert_cmpfloat(dome__awake_read(&clock, 90.5, 1), ==, 100.5);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/time/awake/runs", test_runs);
    g_test_add_func("/time/awake/gap", test_gap);
    g_test_add_func("/time/awake/again", test_again);
    g_test_add_func("/time/awake/back", test_back);
    return g_test_run();
}
