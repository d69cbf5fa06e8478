/* How busy others keep a host, by the texts of the kernel. */
#include "daemon/host_watch.h"

#include "daemon/table.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

/* The file's time of use is so many seconds from now. Returns what its owner's presence asks for at `now`. */
static int64_t touch_and_look(dome_host_watch *w, const dome_table *t, const char *path, int64_t seconds, double now)
{
    struct timespec time;
    int64_t owner = -1;
    dome_record order;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += seconds;
    g_assert_cmpint(utimensat(AT_FDCWD, path, (struct timespec[]){time, time}, 0), ==, 0);
    if (dome__host_watch_look(w, t, now, &order)) {
        g_assert_true(dome__record_number(&order, "owner", 0, 9, -1, &owner));
        dome__record_clear(&order);
    }
    return owner;
}

/* An owner is seen also after the clock has jumped back for an hour. */
static void test_clock(void)
{
    char *path;
    const int file = g_file_open_tmp("dome-console-XXXXXX", &path, NULL);
    const char *const consoles[] = {path, NULL};
    const dome_host_watch_setup setup = {.name = "h", .dedicated = true, .consoles = consoles};
    dome_table *t = dome__table_new();
    g_assert_cmpint(file, >=, 0);
    dome_host_watch *w = dome__host_watch_new(&setup, 0);
    g_assert_cmpint(touch_and_look(w, t, path, 3600, 10), ==, DOME_OWNER_NICE);
    for (double now = 11; now < 100; now++) { /* away */
        dome_record order;
        if (dome__host_watch_look(w, t, now, &order))
            dome__record_clear(&order);
    }
    g_assert_cmpint(touch_and_look(w, t, path, 0, 110), ==, DOME_OWNER_NICE);
    dome__host_watch_free(w);
    dome__table_free(t);
    close(file);
    g_unlink(path);
    g_free(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/host_watch/ticks", test_ticks);
    g_test_add_func("/host_watch/pressure", test_pressure);
    g_test_add_func("/host_watch/load", test_load);
    g_test_add_func("/host_watch/clock", test_clock);
    return g_test_run();
}
