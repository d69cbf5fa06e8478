/* How busy others keep a host, by the texts of the kernel. */
#include "daemon/host_watch.h"

#include <glib.h>

static void test_ticks(void)
{
    static const char text[] =
        "cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nintr 1\nprocs_running 3\nprocs_blocked 0\n";
    dome_host_ticks t;
    g_assert_true(dome__host_ticks_parse(text, &t));
    g_assert_cmpuint(t.busy, ==, 73);
    g_assert_cmpuint(t.idle, ==, 458);
    g_assert_cmpint(t.running, ==, 3);
    g_assert_false(dome__host_ticks_parse("cpu  10 20 30\n", &t));
    g_assert_false(dome__host_ticks_parse("cpu  10 20 30 400 50 6 7 8 0 0\n", &t));
    g_assert_false(dome__host_ticks_parse("", &t));
}

static void test_pressure(void)
{
    g_assert_cmpfloat(dome__host_pressure_parse("some avg10=25.00 avg60=0.00 avg300=0.00 total=0\n"), ==, 0.25);
    g_assert_cmpfloat(dome__host_pressure_parse("some avg10=x"), ==, 0);
    g_assert_cmpfloat(dome__host_pressure_parse(""), ==, 0);
}

static void test_load(void)
{
    g_assert_cmpfloat(dome__host_load(2, 2, 4, 4, 0), ==, 0);
    g_assert_cmpfloat(dome__host_load(2, 1, 4, 1, 0), ==, 1); /* nobody waits: threads that run in turn are no load */
    g_assert_cmpfloat(dome__host_load(2, 1, 4, 1, 0.5), ==, 3);
    g_assert_cmpfloat(dome__host_load(1, 2, 0, 2, 0.5), ==, 0); /* averages of different moments */
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/host_watch/ticks", test_ticks);
    g_test_add_func("/host_watch/pressure", test_pressure);
    g_test_add_func("/host_watch/load", test_load);
    return g_test_run();
}
