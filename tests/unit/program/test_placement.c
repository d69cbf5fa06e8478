/* Which host and which processor each task gets. */
#include "machine/bind.h"
#include "program/placement.h"

#include <glib.h>
#include <glib/gstdio.h>

enum { MOST_TASKS = 64, MOST_HOSTS = 8 };

static char *names[] = {(char[]){"h1"}, (char[]){"h2"}, (char[]){"h3"}, (char[]){"h4"}, NULL};

static int boundaries(const int *host, int tasks)
{
    char *name[MOST_TASKS];
    for (int r = 0; r < tasks; r++)
        name[r] = names[host[r]];
    return dome__placement_boundaries(tasks, name);
}

static void test_boundaries(void)
{
    const int slots[] = {1, 1, 1, 1};
    int host[MOST_TASKS];
    dome__placement_deal(DOME_PLACE_SPREAD, 4, slots, 8, host);
    g_assert_cmpint(boundaries(host, 8), ==, 8);
    dome__placement_deal(DOME_PLACE_FILL, 4, slots, 8, host);
    g_assert_cmpint(boundaries(host, 8), ==, 4);
    for (int r = 0; r < 8; r++)
        g_assert_cmpint(host[r], ==, r / 2);
    dome__placement_deal(DOME_PLACE_FILL, 1, slots, 8, host);
    g_assert_cmpint(boundaries(host, 8), ==, 0);
}

/* Both ways give each host the same number of tasks: by slots, again and again; no host has a task more than its turn. */
static void test_counts(void)
{
    GRand *random = g_rand_new_with_seed(1);
    for (int round = 0; round < 2000; round++) {
        int hosts = g_rand_int_range(random, 1, MOST_HOSTS + 1), tasks = g_rand_int_range(random, 1, MOST_TASKS + 1), all = 0;
        int slots[MOST_HOSTS], fill[MOST_TASKS], spread[MOST_TASKS], count[2][MOST_HOSTS] = {{0}};
        for (int h = 0; h < hosts; h++)
            all += slots[h] = round % 2 ? 1 : g_rand_int_range(random, 1, 6);
        dome__placement_deal(DOME_PLACE_FILL, hosts, slots, tasks, fill);
        dome__placement_deal(DOME_PLACE_SPREAD, hosts, slots, tasks, spread);
        for (int r = 0; r < tasks; r++) {
            count[0][fill[r]]++;
            count[1][spread[r]]++;
            g_assert_true(r == 0 || fill[r] >= fill[r - 1]);
        }
        for (int h = 0, before = 0; h < hosts; before += slots[h++]) {
            g_assert_cmpint(count[0][h], ==, tasks / all * slots[h] + CLAMP(tasks % all - before, 0, slots[h]));
            g_assert_cmpint(count[1][h], ==, count[0][h]);
        }
        g_assert_cmpint(fill[0], ==, 0);
        g_assert_cmpint(spread[0], ==, 0);
        g_assert_cmpint(dome__placement_default(hosts, slots), ==, all);
    }
    g_rand_free(random);
}

static void test_slots(void)
{
    const int expected[] = {1, 4, 1, 2};
    int *slots = dome__placement_slots(names, "h2=4 h22=9 h3=x h4=2");
    g_assert_cmpmem(slots, sizeof expected, expected, sizeof expected);
    g_free(slots);
    slots = dome__placement_slots(names, NULL);
    for (int h = 0; h < 4; h++)
        g_assert_cmpint(slots[h], ==, 1);
    g_free(slots);
}

/* One task after the other gives each host what dealing all of them at once gives it. */
static void test_next(void)
{
    const int slots[] = {1, 4, 1, 2};
    int count[4] = {0};
    for (int round = 1; round <= 3; round++) {
        for (int k = 0; k < 8; k++)
            count[dome__placement_next(4, slots, count)]++;
        for (int h = 0; h < 4; h++)
            g_assert_cmpint(count[h], ==, round * slots[h]);
    }
    const int equal[] = {1, 1, 1}, uneven[] = {2, 1, 1};
    g_assert_cmpint(dome__placement_next(3, equal, uneven), ==, 1);
    g_assert_cmpint(dome__placement_next(1, equal, uneven), ==, 0);
}

/* A host that is down gets none, however few it has; the first one is always there. */
static void test_avoid(void)
{
    int slots[] = {1, 1, 1, 1}, none[] = {0, 0, 0, 0};
    const int count[] = {3, 0, 2, 1}, full[] = {9, 0, 0, 0};
    dome__placement_avoid(names, NULL, slots);
    dome__placement_avoid(names, "h1 h22 h", slots);
    for (int h = 0; h < 4; h++)
        g_assert_cmpint(slots[h], ==, 1);
    dome__placement_avoid(names, "h4 h2", slots);
    g_assert_cmpint(slots[1] + slots[3], ==, 0);
    g_assert_cmpint(dome__placement_next(4, slots, count), ==, 2);
    dome__placement_avoid(names, "h3", slots);
    g_assert_cmpint(dome__placement_next(4, slots, full), ==, 0);
    g_assert_cmpint(dome__placement_next(4, slots, none), ==, 0);
}

static void test_find(void)
{
    char *const hosts[] = {(char[]){"h10.lab"}, (char[]){"h1.lab"}, (char[]){"h2"}, (char[]){"h2.lab"}, NULL};
    g_assert_cmpint(dome__placement_find(hosts, "h1"), ==, 1);
    g_assert_cmpint(dome__placement_find(hosts, "h1.lab"), ==, 1);
    g_assert_cmpint(dome__placement_find(hosts, "h2"), ==, 2);
    g_assert_cmpint(dome__placement_find(hosts, "h2.lab"), ==, 3);
    g_assert_cmpint(dome__placement_find(hosts, "h"), ==, -1);
    g_assert_cmpint(dome__placement_find(hosts, "h2.lab.org"), ==, -1);
}

/* Tasks that the PVM console has dealt to hosts in turn. */
static void test_sort(void)
{
    dome_members *m = g_new0(dome_members, 1);
    m->size = 7;
    m->ids = g_new0(int, 7);
    m->formats = g_new0(int, 7);
    m->hosts = g_new0(char *, 8);
    for (int r = 0; r < 7; r++) {
        m->ids[r] = 100 + r;
        m->formats[r] = r % 3;
        m->hosts[r] = g_strdup(names[r % 3]);
    }
    char **hosts = dome__placement_hosts(m->size, m->hosts);
    const int expected[] = {100, 103, 106, 101, 104, 102, 105};
    g_assert_cmpuint(g_strv_length(hosts), ==, 3);
    dome__placement_sort(m, hosts);
    g_assert_cmpmem(m->ids, 7 * sizeof(int), expected, sizeof expected);
    for (int r = 0; r < 7; r++) {
        g_assert_cmpint(m->formats[r], ==, (expected[r] - 100) % 3);
        g_assert_cmpstr(m->hosts[r], ==, names[(expected[r] - 100) % 3]);
    }
    g_strfreev(hosts);
    dome__members_free(m);
}

/* ---- processors ---- */

static void write_file(const char *directory, int cpu, const char *name, const char *text)
{
    char *path = g_strdup_printf("%s/cpu%d/%s", directory, cpu, name), *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_free(path);
    g_free(parent);
}

static void remove_tree(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        char *below = g_build_filename(path, name, NULL);
        remove_tree(below);
        g_free(below);
    }
    if (dir)
        g_dir_close(dir);
    g_remove(path);
}

/* 16 processors: two caches of level 3 shared by four cores each, two threads a core; threads of a core are 8 apart, and cores
 * with even numbers share one cache of level 3, as some machines number them. */
static char *make_machine(void)
{
    char *directory = g_dir_make_tmp("dome-test-XXXXXX", NULL);
    for (int cpu = 0; cpu < 16; cpu++) {
        const int core = cpu % 8;
        char text[64];
        write_file(directory, cpu, "topology/package_cpus_list", "0-15\n");
        g_snprintf(text, sizeof text, "%d,%d\n", core, core + 8);
        write_file(directory, cpu, "topology/thread_siblings_list", text);
        write_file(directory, cpu, "cache/index0/level", "1\n");
        write_file(directory, cpu, "cache/index0/shared_cpu_list", text);
        write_file(directory, cpu, "cache/index2/level", "2\n");
        write_file(directory, cpu, "cache/index2/shared_cpu_list", text);
        write_file(directory, cpu, "cache/index3/level", "3\n");
        write_file(directory, cpu, "cache/index3/shared_cpu_list", core % 2 ? "1,3,5,7,9,11,13,15\n" : "0,2,4,6,8,10,12,14\n");
    }
    return directory;
}

static void test_processors(void)
{
    char *directory = make_machine();
    cpu_set_t all, some;
    CPU_ZERO(&all);
    for (int cpu = 0; cpu < 16; cpu++)
        CPU_SET(cpu, &all);
    const int eight[] = {0, 2, 4, 6, 1, 3, 5, 7}, two[] = {0, 1}, four[] = {0, 4, 1, 5};
    for (int i = 0; i < 8; i++)
        g_assert_cmpint(dome__bind_choose(&all, directory, i, 8), ==, eight[i]);
    for (int i = 0; i < 2; i++)
        g_assert_cmpint(dome__bind_choose(&all, directory, i, 2), ==, two[i]);
    for (int i = 0; i < 4; i++)
        g_assert_cmpint(dome__bind_choose(&all, directory, i, 4), ==, four[i]);
    CPU_ZERO(&some);
    for (int i = 0; i < 16; i++) { /* the threads of a core one after the other */
        const int chosen = dome__bind_choose(&all, directory, i, 16);
        g_assert_cmpint(chosen, ==, eight[i / 2] + i % 2 * 8);
        CPU_SET(chosen, &some);
    }
    g_assert_cmpint(CPU_COUNT(&some), ==, 16);
    remove_tree(directory);
    for (int i = 0; i < 16; i++) /* nothing is known: by number */
        g_assert_cmpint(dome__bind_choose(&all, directory, i, 16), ==, i);
    g_free(directory);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/placement/boundaries", test_boundaries);
    g_test_add_func("/placement/counts", test_counts);
    g_test_add_func("/placement/slots", test_slots);
    g_test_add_func("/placement/next", test_next);
    g_test_add_func("/placement/avoid", test_avoid);
    g_test_add_func("/placement/find", test_find);
    g_test_add_func("/placement/sort", test_sort);
    g_test_add_func("/placement/processors", test_processors);
    return g_test_run();
}
