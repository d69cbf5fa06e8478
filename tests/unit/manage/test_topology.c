/* Topologies: which hosts a pattern names, what a file says, and where a mistake is. */
#include "manage/topology.h"

#include <glib.h>

static void test_patterns(void)
{
    static const struct {
        const char *pattern, *is, *is_not;
    } cases[] = {
        {"h1", "h1", "h10"},          {"h[1-4]", "h4", "h5"},
        {"h[1-4]", "h1", "h"},        {"h[1-4]", "h2", "h02"},
        {"h[1-4,7]", "h7", "h6"},     {"h[1-12]", "h10", "h010"},
        {"h[01-12]", "h09", "h9"},    {"h[01-12]", "h12", "h13"},
        {"n[3].lab", "n3.lab", "n3"}, {"n[3-5].lab", "n4.lab", "n4.lan"},
        {"h[0-3]", "h0", "h00"},
    };
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_assert_true(dome__topology_is_host(cases[k].pattern, cases[k].is));
        if (dome__topology_is_host(cases[k].pattern, cases[k].is_not))
            g_error("%s is not %s", cases[k].is_not, cases[k].pattern);
    }
}

static void test_file(void)
{
    char *message = NULL;
    dome_topologies *t = dome__topologies_parse(
        "# wishes\n[1]\narch=x86-64\n tasks = 8 # most\nhosts=h[1-3,5], server\n\n[else]\ntasks=2\n", &message);
    g_assert_null(message);
    g_assert_cmpuint(t->count, ==, 2);
    g_assert_cmpint(t->wishes[0].tasks, ==, 8);
    g_assert_true(dome__topology_admits(&t->wishes[0], "h5", "x86-64"));
    g_assert_true(dome__topology_admits(&t->wishes[0], "server", "x86-64"));
    g_assert_false(dome__topology_admits(&t->wishes[0], "h4", "x86-64"));
    g_assert_false(dome__topology_admits(&t->wishes[0], "h5", "aarch64"));
    g_assert_false(dome__topology_admits(&t->wishes[0], "h5", NULL));
    g_assert_cmpint(t->wishes[1].tasks, ==, 2);
    g_assert_true(dome__topology_admits(&t->wishes[1], "any", NULL));
    dome__topologies_free(t);
    dome__topologies_free(NULL);
}

static void test_mistakes(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1, column 1: no [group]: a topology has at least tasks="},
        {"[1]\n", "line 2, column 1: the group before this line has no tasks="},
        {"[1]\narch=x\n[2]\ntasks=1", "line 3, column 1: the group before this line has no tasks="},
        {"tasks=3", "line 1, column 1: a key before the first [group]"},
        {"[1]\n  tasks=0", "line 2, column 9: tasks is a number from 1 to 100000"},
        {"[1]\ntasks=three", "line 2, column 7: tasks is a number from 1 to 100000"},
        {"[1]\ntasks=1\ntasks=2", "line 3, column 1: tasks stands twice in this group"},
        {"[1]\nslots=4", "line 2, column 1: the keys are tasks, arch and hosts"},
        {"[1]\ntasks 4", "line 2, column 1: not a [group], nor a key=value"},
        {"[1\ntasks=4", "line 1, column 1: a group is a name in brackets, such as [1]"},
        {"[1]\ntasks=1\nhosts=a, h[1-x]", "line 3, column 14: hosts are names such as h1 or h[1-4,7], with commas between them"},
        {"[1]\ntasks=1\nhosts=h[4-1]", "line 3, column 12: hosts are names such as h1 or h[1-4,7], with commas between them"},
        {"[1]\ntasks=1\nhosts=", "line 3, column 7: hosts are names such as h1 or h[1-4,7], with commas between them"},
        {"[1]\ntasks=1\narch=", "line 3, column 6: arch is a name such as x86-64"},
    };
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        char *message = NULL;
        g_assert_null(dome__topologies_parse(cases[k].text, &message));
        g_assert_cmpstr(message, ==, cases[k].message);
        g_free(message);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/topology/patterns", test_patterns);
    g_test_add_func("/topology/file", test_file);
    g_test_add_func("/topology/mistakes", test_mistakes);
    return g_test_run();
}
