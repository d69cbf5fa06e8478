/* Where tasks are: the orders that bring them from any places to any others. */
#include "daemon/task_places.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

enum { HOSTS = 4 };

static const char *const names[HOSTS] = {"h1", "h2", "h3", "h4"};

static dome_places draw(int64_t least, int64_t most)
{
    dome_places p = dome__places_new();
    const int64_t tasks = g_test_rand_int_range((gint32)least, (gint32)most + 1);
    dome__places_set(&p, names[0], 1); /* task 0 */
    for (int64_t k = 1; k < tasks; k++) {
        const char *host = names[g_test_rand_int_range(0, HOSTS)];
        dome__places_set(&p, host, dome__places_get(&p, host) + 1);
    }
    return p;
}

/* As a hub does (wire/order.c). */
static void obey(dome_places *p, const char *line)
{
    char **words = g_strsplit(line, " ", 0);
    if (strcmp(words[0], "move") == 0) {
        const int64_t tasks = dome__places_get(p, words[1]);
        g_assert_cmpint(tasks, >, 0);
        g_assert_cmpstr(words[1], !=, names[0]);
        dome__places_set(p, words[1], 0);
        dome__places_set(p, words[2], dome__places_get(p, words[2]) + tasks);
    } else if (strcmp(words[0], "shrink") == 0) {
        const int64_t tasks = g_ascii_strtoll(words[1], NULL, 10), there = dome__places_get(p, words[2]);
        g_assert_true(tasks > 0 && tasks <= there && !words[3]);
        g_assert_true(tasks < there || strcmp(words[2], names[0]) != 0);
        dome__places_set(p, words[2], there - tasks);
    } else {
        const guint hosts = g_strv_length(words + 2);
        g_assert_cmpstr(words[0], ==, "grow");
        for (guint k = 0; k < (guint)g_ascii_strtoull(words[1], NULL, 10); k++)
            dome__places_set(p, words[2 + k % hosts], dome__places_get(p, words[2 + k % hosts]) + 1);
    }
    g_strfreev(words);
}

/* Few orders lead there; only where there is no other way are there fewer tasks in between than may be, or more. */
static void test_orders(void)
{
    for (int turn = 0; turn < 3000; turn++) {
        const int64_t least = g_test_rand_int_range(1, 6), most = least + g_test_rand_int_range(0, 12);
        dome_places from = draw(least, most), to = draw(least, most);
        int orders = 0;
        for (char *line; (line = dome__places_order(&from, &to, least, most)); orders++) {
            obey(&from, line);
            g_assert_cmpint(dome__places_sum(&from), >=, 1);
            g_assert_true(least == most || dome__places_sum(&from) >= least);
            g_assert_true(least == most || dome__places_sum(&from) <= most);
            g_free(line);
            g_assert_cmpint(orders, <, 40);
        }
        g_assert_true(dome__places_equal(&from, &to));
        dome__places_clear(&from);
        dome__places_clear(&to);
    }
}

static void test_text(void)
{
    static const char *const wrong[] = {"x on=h1", "x on=:3", "x on=h1:0", "x on=h1:-1", "x on=h1:3x", "x on=h1:9999999"};
    dome_record r;
    dome_places p, q;
    g_assert_true(dome__record_parse("x on=h2:3 on=a:b:1", strlen("x on=h2:3 on=a:b:1"), &r));
    g_assert_true(dome__places_from(&r, "on", &p));
    g_assert_cmpint(dome__places_get(&p, "h2"), ==, 3);
    g_assert_cmpint(dome__places_get(&p, "a:b"), ==, 1);
    dome__record_clear(&r);
    r = dome__record_new("x");
    dome__places_add_to(&p, &r, "is");
    g_assert_true(dome__places_from(&r, "is", &q));
    g_assert_true(dome__places_equal(&p, &q));
    dome__record_clear(&r);
    dome__places_clear(&p);
    dome__places_clear(&q);
    for (size_t k = 0; k < G_N_ELEMENTS(wrong); k++) {
        g_assert_true(dome__record_parse(wrong[k], strlen(wrong[k]), &r));
        g_assert_false(dome__places_from(&r, "on", &p));
        dome__record_clear(&r);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/places/orders", test_orders);
    g_test_add_func("/places/text", test_text);
    return g_test_run();
}
