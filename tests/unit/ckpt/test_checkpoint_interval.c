/* The interval between checkpoints, compared with the expected run time that it should minimize. */
#include "ckpt/interval.h"

#include <glib.h>
#include <math.h>

/* The run time of `work` seconds, in pieces of `piece` seconds with a checkpoint of `cost` seconds after each, if failures are a
 * Poisson process and each one costs only the lost work (A. Duda 1983; Daly's equation 13 without the time to restart). */
static double expected(double work, double piece, double cost, double mtbf)
{
    return mtbf * expm1((piece + cost) / mtbf) * work / piece;
}

static void test_known(void)
{
    /* Young's own example: a minute per checkpoint, a failure in 15 hours. */
    g_assert_cmpfloat_with_epsilon(dome__interval_young(60, 54000), 2545.584, 1e-3);
    /* sqrt(2 * 2 * 100) * (1 + 0.1 / 3 + 0.01 / 9) - 2 */
    g_assert_cmpfloat_with_epsilon(dome__interval_daly(2, 100), 20 * (1 + 0.1 / 3 + 0.01 / 9) - 2, 1e-12);
    g_assert_cmpfloat(dome__interval_daly(200, 100), ==, 100);
    g_assert_cmpfloat(dome__interval_daly(1e9, 100), ==, 100);
    g_assert_cmpfloat(dome__interval_daly(0, 100), ==, 0);
}

/* No interval from a third of it to three times it is better by more than a ten-thousandth, for costs up to a quarter of the mean
 * time between failures. */
static void test_least(void)
{
    for (double cost = 1e-3; cost < 1000; cost *= 3)
        for (double mtbf = 4 * cost; mtbf < 1e6; mtbf *= 3) {
            double best = dome__interval_daly(cost, mtbf), least = expected(1, best, cost, mtbf);
            for (double factor = 0.3; factor < 3; factor *= 1.1)
                g_assert_cmpfloat(least, <, expected(1, best * factor, cost, mtbf) * 1.0001);
        }
}

/* More expensive checkpoints are less frequent, and so are those of machines that fail less often. */
static void test_monotonic(void)
{
    for (double cost = 1e-3; cost < 10; cost *= 2) {
        g_assert_cmpfloat(dome__interval_daly(cost, 3600), <, dome__interval_daly(2 * cost, 3600));
        g_assert_cmpfloat(dome__interval_daly(cost, 3600), <, dome__interval_daly(cost, 7200));
    }
}

/* A program that is lost in its first minute has a checkpoint, unless to copy its state would take much of that time. */
static void test_first(void)
{
    g_assert_cmpfloat(dome__interval_first(dome__interval_daly(0.05, 3600), 0.01), ==, 1);
    g_assert_cmpfloat(dome__interval_first(dome__interval_daly(0.05, 1), 0.01), <, 0.5); /* losses are frequent */
    g_assert_cmpfloat_with_epsilon(dome__interval_first(dome__interval_daly(60, 3600), 12), 120, 1e-9);
    for (double copying = 1e-4; copying < 1e3; copying *= 3)
        for (double every = 1e-3; every < 1e5; every *= 3)
            g_assert_cmpfloat(copying, <=, 0.1000001 * dome__interval_first(every, copying));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/interval/known", test_known);
    g_test_add_func("/interval/least", test_least);
    g_test_add_func("/interval/monotonic", test_monotonic);
    g_test_add_func("/interval/first", test_first);
    return g_test_run();
}
