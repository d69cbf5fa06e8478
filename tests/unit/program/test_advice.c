/* The profile's advice: given if the figures call for it, and otherwise not. */
#include "program/advice.h"

#include <glib.h>
#include <string.h>

/* The figures of a program without problems. */
static dome_figures good(void)
{
    return (dome_figures){.tasks = 4,
                          .crowd = 1,
                          .processors = 2,
                          .host = "node1",
                          .seconds = 10,
                          .waiting = 0.05,
                          .imbalance = 1.05,
                          .slowest = 2,
                          .balances = true,
                          .phases = 9,
                          .between = 0.01};
}

static void expect(dome_figures f, const char *words)
{
    char *advice = dome__advice(&f);
    if (!words)
        g_assert_null(advice);
    else {
        g_assert_nonnull(advice);
        if (!strstr(advice, words) || strchr(advice, '\n'))
            g_error("'%s' in '%s'", words, advice);
    }
    g_free(advice);
}

static void test_none(void)
{
    dome_figures f = good();
    expect(f, NULL);
    f.waiting = 0.6; /* for a network, with enough computing in between */
    expect(f, NULL);
    f = good();
    f.imbalance = 3; /* nobody waits */
    expect(f, NULL);
    f = (dome_figures){.tasks = 4, .crowd = 4, .processors = 1, .seconds = 0.1, .waiting = 0.9, .imbalance = 4};
    expect(f, NULL); /* too short to tell */
    f = good();
    f.tasks = 1;
    f.imbalance = 1;
    expect(f, NULL);
}

static void test_each(void)
{
    dome_figures f = good();
    f.crowd = 4;
    expect(f, NULL);
    f.waiting = 0.5;
    f.without = 0.2;
    expect(f,
           "4 tasks share the 2 processors of host node1; they have none for 20 % of the time, and wait for each other for 50 %: "
           "--dome-tasks 2");
    f.waiting = 0.1;
    expect(f, "4 tasks share the 2 processors");
    f = good();
    f.without = 0.4;
    expect(f, "no processor for 40 % of the time: other programs use the processors");
    f = good();
    f.checkpoints = 0.2;
    expect(f, "20 % of the time: --dome-checkpoint-every auto");
    f = good();
    f.balancing = 0.3;
    f.every = 7;
    expect(f, "balancing takes 30 % of the time, with a phase every 7 operations: a larger --dome-balance-every");
    f.every = 0;
    expect(f, "balancing takes 30 % of the time: --dome-balance none");
    f.random = true;
    expect(f, "--dome-balance random moves data all the time");
    f = good();
    f.waiting = 0.4;
    f.imbalance = 2;
    expect(f, "task 2 computes 2.0 times as long as the mean, in spite of balancing");
    f.phases = 0;
    expect(f, "call dome_checkpoint in the main loop");
    f.balances = false;
    expect(f, "--dome-balance global");
    f = good();
    f.waiting = 0.8;
    f.between = 20e-6;
    expect(f, "with 20 us of computing between two communications");
}

/* No option is blamed that was not given, and none is recommended that is already set. */
static void test_options(void)
{
    dome_figures f = good();
    f.checkpoints = 0.2;
    f.automatic = true;
    expect(f, NULL);
    f = good();
    f.balancing = 0.3;
    char *advice = dome__advice(&f);
    g_assert_null(strstr(advice, "every"));
    g_free(advice);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/advice/none", test_none);
    g_test_add_func("/advice/each", test_each);
    g_test_add_func("/advice/options", test_options);
    return g_test_run();
}
