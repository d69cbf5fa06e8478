/* What a profile knows of earlier views is read by a view that has registered more operations, or fewer. */
#include "program/profile_past.h"

#include <unistd.h>

enum { RANKS = 3, CELLS = 5 };

static int make(void)
{
    const dome_profile_view view = {.number = 7, .tasks = RANKS, .elapsed = 99};
    dome_profile_past past = {
        .views = g_array_new(FALSE, TRUE, sizeof view), .rows = g_new(uint64_t, RANKS * CELLS), .ranks = RANKS};
    g_array_append_val(past.views, view);
    for (uint64_t k = 0; k < RANKS * CELLS; k++)
        past.rows[k] = 100 + k;
    int fd = dome__profile_past_write(&past, -1, CELLS);
    g_assert_cmpint(fd, >=, 0);
    dome__profile_past_clear(&past);
    return fd;
}

static void check(int fd, uint64_t cells)
{
    dome_profile_past past;
    dome__profile_past_read(&past, fd, cells);
    g_assert_cmpuint(past.ranks, ==, RANKS);
    g_assert_cmpuint(past.views->len, ==, 1);
    g_assert_cmpuint(g_array_index(past.views, dome_profile_view, 0).elapsed, ==, 99);
    for (uint64_t r = 0; r < RANKS; r++)
        for (uint64_t k = 0; k < cells; k++)
            g_assert_cmpuint(past.rows[r * cells + k], ==, k < CELLS ? 100 + r * CELLS + k : 0);
    dome__profile_past_clear(&past);
}

static void test_cells(void)
{
    int fd = make();
    check(fd, CELLS);
    check(fd, CELLS + 4);
    check(fd, CELLS - 2);
    close(fd);
}

/* A file that ends too early is as none. */
static void test_short(void)
{
    int fd = make();
    dome_profile_past past;
    g_assert_cmpint(ftruncate(fd, lseek(fd, 0, SEEK_END) - 8), ==, 0);
    dome__profile_past_read(&past, fd, CELLS);
    g_assert_cmpuint(past.ranks, ==, 0);
    g_assert_cmpuint(past.views->len, ==, 0);
    dome__profile_past_clear(&past);
    close(fd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/profile-past/cells", test_cells);
    g_test_add_func("/profile-past/short", test_short);
    return g_test_run();
}
