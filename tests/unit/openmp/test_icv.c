/* What the environment's variables mean, and which values are refused with a line. Each case is a process: they are read once. */
#include "openmp/icv.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 200 };

/* What the process has understood, and the beginning of what it has said. */
typedef struct understood {
    dome_omp_environment environment;
    char said[LINE];
} understood;

static understood *shared;

static void understand(const char *name, const char *value, int said)
{
    g_setenv(name, value, TRUE);
    if (dup2(said, STDERR_FILENO) < 0)
        _exit(1);
    shared->environment = *dome__omp_environment();
    _exit(0);
}

/* NULL, NULL: nothing is set. */
static const understood *read_as(const char *name, const char *value)
{
    int ends[2], status;
    g_assert_cmpint(pipe(ends), ==, 0);
    memset(shared, 0, sizeof *shared);
    const pid_t child = fork();
    if (child == 0)
        understand(name ? name : "UNUSED", value ? value : "", ends[1]);
    close(ends[1]);
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
    const ssize_t n = read(ends[0], shared->said, LINE - 1);
    g_assert_cmpint(n, >=, 0);
    close(ends[0]);
    return shared;
}

static void check_refused(const char *name, const char *value)
{
    char *wanted = g_strdup_printf("%s=%s is not understood", name, value);
    g_assert_nonnull(strstr(read_as(name, value)->said, wanted));
    g_free(wanted);
}

static void test_threads(void)
{
    static const struct {
        const char *value;
        unsigned threads;
    } good[] = {{"3", 3}, {" 12 ", 12}, {"4,2,1", 4}, {"5 , 6", 5}, {"2147483647", 2147483647}};
    static const char *const bad[] = {"",    "0", "-1", "4,", ",4", "4,x", "4 5", "0x4", "2147483648", "99999999999999999999",
                                      "four"};
    g_assert_cmpuint(read_as(NULL, NULL)->environment.variables.threads, ==, 64);
    g_assert_cmpstr(shared->said, ==, "");
    for (size_t k = 0; k < G_N_ELEMENTS(good); k++) {
        g_assert_cmpuint(read_as("OMP_NUM_THREADS", good[k].value)->environment.variables.threads, ==, good[k].threads);
        g_assert_cmpstr(shared->said, ==, "");
    }
    for (size_t k = 0; k < G_N_ELEMENTS(bad); k++) {
        check_refused("OMP_NUM_THREADS", bad[k]);
        g_assert_cmpuint(shared->environment.variables.threads, ==, 64);
    }
}

static void test_schedules(void)
{
    static const struct {
        const char *value;
        unsigned schedule;
        int chunk;
    } good[] = {{"static", DOME_OMP_STATIC, 0},
                {"STATIC, 7", DOME_OMP_STATIC, 7},
                {"dynamic", DOME_OMP_DYNAMIC, 1},
                {" guided ,5 ", DOME_OMP_GUIDED, 5},
                {"auto", DOME_OMP_AUTO, 0},
                {"monotonic:dynamic,2", DOME_OMP_DYNAMIC | 0x80000000, 2},
                {"nonmonotonic : guided", DOME_OMP_GUIDED, 1}};
    static const char *const bad[] = {"",          "static,",    "static,0",    "static 4",  "statics",
                                      "monotonic", "monotonic:", "dynamic,4,4", "dynamic,-1"};
    for (size_t k = 0; k < G_N_ELEMENTS(good); k++) {
        const dome_omp_variables *v = &read_as("OMP_SCHEDULE", good[k].value)->environment.variables;
        g_assert_cmpstr(shared->said, ==, "");
        g_assert_cmphex(v->schedule, ==, good[k].schedule);
        g_assert_cmpint(v->chunk, ==, good[k].chunk);
    }
    for (size_t k = 0; k < G_N_ELEMENTS(bad); k++) {
        check_refused("OMP_SCHEDULE", bad[k]);
        g_assert_cmphex(shared->environment.variables.schedule, ==, DOME_OMP_DYNAMIC);
        g_assert_cmpint(shared->environment.variables.chunk, ==, 1);
    }
}

static void test_stacks(void)
{
    const uint64_t guard = DOME_OMP_GUARD_BYTES;
    static const char *const bad[] = {"", "M", "4 Q", "4MB", "-4M", "1M2"};
    g_assert_cmpuint(read_as("OMP_STACKSIZE", "4096")->environment.stack_bytes, ==, (UINT64_C(4) << 20) + guard);
    g_assert_cmpuint(read_as("OMP_STACKSIZE", " 2 m ")->environment.stack_bytes, ==, (UINT64_C(2) << 20) + guard);
    g_assert_cmpuint(read_as("OMP_STACKSIZE", "1000000B")->environment.stack_bytes, ==, UINT64_C(1003520) + guard);
    g_assert_cmpuint(read_as("OMP_STACKSIZE", "1K")->environment.stack_bytes, ==, DOME_OMP_STACK_LEAST);
    g_assert_cmpuint(read_as("OMP_STACKSIZE", "536870912G")->environment.stack_bytes, ==, DOME_OMP_STACK_MOST);
    for (size_t k = 0; k < G_N_ELEMENTS(bad); k++) {
        check_refused("OMP_STACKSIZE", bad[k]);
        g_assert_cmpuint(shared->environment.stack_bytes, ==, DOME_OMP_STACK_BYTES);
    }
}

static void test_others(void)
{
    g_assert_true(read_as("OMP_CANCELLATION", " TRUE ")->environment.cancellation);
    g_assert_true(read_as("OMP_CANCELLATION", "1")->environment.cancellation);
    g_assert_false(read_as("OMP_CANCELLATION", "false")->environment.cancellation);
    check_refused("OMP_CANCELLATION", "yes");
    g_assert_false(shared->environment.cancellation);
    g_assert_cmpuint(read_as("OMP_THREAD_LIMIT", "9")->environment.variables.thread_limit, ==, 9);
    check_refused("OMP_THREAD_LIMIT", "0");
    g_assert_cmpuint(shared->environment.variables.thread_limit, ==, INT32_MAX);
    g_assert_cmpint(read_as("OMP_MAX_ACTIVE_LEVELS", "300")->environment.variables.active_levels, ==, 255);
    g_assert_cmpint(read_as("OMP_NESTED", "true")->environment.variables.active_levels, ==, 255);
    g_assert_cmpint(read_as("OMP_NUM_TEAMS", "3")->environment.league.teams, ==, 3);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {
        "NUM_THREADS", "SCHEDULE",    "STACKSIZE", "CANCELLATION",      "THREAD_LIMIT",      "NESTED",
        "NUM_TEAMS",   "DISPLAY_ENV", "DYNAMIC",   "MAX_ACTIVE_LEVELS", "TEAMS_THREAD_LIMIT"};
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        char *name = g_strconcat("OMP_", names[k], NULL);
        g_unsetenv(name);
        g_free(name);
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(shared != MAP_FAILED);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/icv/threads", test_threads);
    g_test_add_func("/icv/schedules", test_schedules);
    g_test_add_func("/icv/stacks", test_stacks);
    g_test_add_func("/icv/others", test_others);
    return g_test_run();
}
