/* What Slurm says of an allocation, and what a process in it may do. */
#include "machine/slurm.h"

#include "system/environment_variables.h"

#include <stdlib.h>

static void check_counts(const char *text, const char *expected)
{
    GArray *counts = dome__slurm_counts(text);
    GString *got = g_string_new(counts ? NULL : "-");
    for (guint i = 0; counts && i < counts->len; i++)
        g_string_append_printf(got, "%s%d", i ? " " : "", g_array_index(counts, int, i));
    g_assert_cmpstr(got->str, ==, expected);
    g_string_free(got, TRUE);
    if (counts)
        g_array_unref(counts);
}

static void test_counts(void)
{
    check_counts("4", "4");
    check_counts("2(x3),1", "2 2 2 1");
    check_counts("1,2(x2)", "1 2 2");
    static const char *const wrong[] = {
        "",   "0",        "x",     "2(x)",   "2(x0)",  "2(x3",        "2(3)",           "2,", ",2", "2(x3)1",
        "2 ", "2(x3),,1", "2(y3)", "-1(x2)", "2(x-1)", "1(x9999999)", "99999999999(x2)"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        check_counts(wrong[i], "-");
}

static void set(const char *name, const char *value)
{
    if (value)
        g_setenv(name, value, TRUE);
    else
        g_unsetenv(name);
}

static void check_objection(const char *here, const char *step, const char *tasks, const char *part)
{
    set(DOME_SLURM_HERE, here);
    set("SLURM_STEP_ID", step);
    set("SLURM_STEP_NUM_TASKS", tasks);
    char *objection = dome__slurm_objection();
    g_assert_true(part ? objection && g_strstr_len(objection, -1, part) : !objection);
    g_free(objection);
}

static void test_objection(void)
{
    set(DOME_SLURM_JOB, NULL);
    set(DOME_SLURM_NODES, "h[1-2]");
    g_assert_false(dome__slurm_there());
    set(DOME_SLURM_JOB, "17");
    g_assert_true(dome__slurm_there());
    check_objection(NULL, NULL, NULL, "job 17");
    check_objection("h1", NULL, NULL, NULL);
    check_objection("h1", "0", "1", NULL);
    check_objection("h1", NULL, "4", NULL); /* a batch script has it of an earlier shell */
    check_objection("h1", "0", "4", "4 times");
}

/* The user's own command stays. */
static void test_reach(void)
{
    set("PVM_RSH", NULL);
    set(DOME_VARIABLE_RSH, "mine");
    dome__slurm_reach();
    g_assert_cmpstr(g_getenv(DOME_VARIABLE_RSH), ==, "mine");
    set(DOME_VARIABLE_RSH, NULL);
    set("PVM_RSH", "theirs");
    dome__slurm_reach();
    g_assert_null(g_getenv(DOME_VARIABLE_RSH));
    set("PVM_RSH", NULL);
    dome__slurm_reach();
    g_assert_true(g_str_has_suffix(g_getenv(DOME_VARIABLE_RSH), "/exe slurm step"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slurm/counts", test_counts);
    g_test_add_func("/slurm/objection", test_objection);
    g_test_add_func("/slurm/reach", test_reach);
    return g_test_run();
}
