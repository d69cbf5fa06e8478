/* Fibres: stacks, registers, floating-point modes and thread-local variables of their own. */
#include "openmp/fibre.h"

#include <errno.h>
#include <fenv.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "openmp/places.h"

enum { FIBRES = 5, ROUNDS = 100, BYTES = 1 << 19 };

static dome_omp_fibre task, fibres[FIBRES];
static int running, sums[FIBRES];
static __thread int own;

/* A function that may not be inlined into two fibres' loops: the address of `own` is that of the thread that asks. */
static __attribute__((noinline)) int *address_of_own(void)
{
    return &own;
}

static void give_way(void)
{
    dome__omp_fibre_switch(&fibres[running], &task);
}

static void run(void)
{
    const int me = running;
    double kept = me + 0.5;
    for (int k = 0;; k++) {
        *address_of_own() += me + 1;
        errno = 100 + me;
        give_way();
        sums[me] += errno == 100 + me && running == me && *address_of_own() == (k + 1) * (me + 1) && kept == me + 0.5;
    }
}

static void go(int which)
{
    running = which;
    dome__omp_fibre_switch(&task, &fibres[which]);
}

static void test_own(void)
{
    task.thread_pointer = dome__omp_thread_pointer();
    for (int k = 0; k < FIBRES; k++)
        g_assert_cmpint(dome__omp_fibre_make(&fibres[k], dome__omp_stack_end(k), BYTES, run), ==, 0);
    own = -7;
    errno = EXDEV;
    for (int round = 0; round <= ROUNDS; round++)
        for (int k = 0; k < FIBRES; k++)
            go((k * 3 + round) % FIBRES);
    g_assert_cmpint(*address_of_own(), ==, -7);
    g_assert_cmpint(errno, ==, EXDEV);
    for (int k = 0; k < FIBRES; k++)
        g_assert_cmpint(sums[k], ==, ROUNDS);
}

static void test_place(void)
{
    for (int k = 0; k < FIBRES; k++) {
        const char *end = dome__omp_stack_end(k), *stack = fibres[k].stack, *pointer = fibres[k].thread_pointer;
        g_assert_true(stack > end - BYTES + DOME_OMP_GUARD_BYTES && stack < pointer && pointer < end);
    }
}

static uint64_t modes[2];

static void round_down(void)
{
    modes[0] = dome__omp_float_modes();
    fesetround(FE_DOWNWARD);
    give_way();
    modes[1] = (uint64_t)fegetround();
    for (;;)
        give_way();
}

static void test_modes(void)
{
    static char stack[BYTES];
    const uint64_t before = dome__omp_float_modes();
    dome__omp_fibre_beside(&fibres[0], stack, sizeof stack, round_down);
    g_assert_true(fibres[0].thread_pointer == dome__omp_thread_pointer());
    go(0);
    g_assert_cmpint(fegetround(), ==, FE_TONEAREST);
    g_assert_cmphex(modes[0], ==, before);
    go(0);
    g_assert_cmpint((int)modes[1], ==, FE_DOWNWARD);
    fesetround(FE_UPWARD);
    const uint64_t up = dome__omp_float_modes();
    fesetround(FE_TONEAREST);
    g_assert_true(up != before);
    dome__omp_float_modes_set(up);
    g_assert_cmpint(fegetround(), ==, FE_UPWARD);
    dome__omp_float_modes_set(before);
    g_assert_cmpint(fegetround(), ==, FE_TONEAREST);
}

/* What lies below a stack may not be touched: the system cannot write there. */
static void test_guard(void)
{
    char *guard = dome__omp_stack_end(1) - BYTES;
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    g_assert_cmpint(write(ends[1], "ab", 2), ==, 2);
    g_assert_cmpint(read(ends[0], guard + DOME_OMP_GUARD_BYTES - 1, 1), ==, -1);
    g_assert_cmpint(errno, ==, EFAULT);
    g_assert_cmpint(read(ends[0], guard + DOME_OMP_GUARD_BYTES, 1), ==, 1);
    close(ends[0]);
    close(ends[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fibre/own", test_own);
    g_test_add_func("/fibre/place", test_place);
    g_test_add_func("/fibre/modes", test_modes);
    g_test_add_func("/fibre/guard", test_guard);
    return g_test_run();
}
