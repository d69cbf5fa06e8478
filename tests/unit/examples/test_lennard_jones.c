/* Forces and energies of the example md: they agree with a plain sum over all pairs, and depend on the positions alone, to the
 * last bit. */
#include "examples/lennard_jones.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { ATOMS = 500, BLOCK = 64 };

static const double side[3] = {8.5, 5.25, 13.0};

/* Random positions, without those near others; returns how many there are. */
static size_t place(double *x, GRand *random)
{
    size_t n = 0;
    for (int tries = 0; tries < 20000 && n < ATOMS; tries++) {
        bool free = true;
        for (int d = 0; d < 3; d++)
            x[3 * n + (size_t)d] = g_rand_double_range(random, 0, side[d]);
        for (size_t j = 0; j < n && free; j++) {
            double r2 = 0;
            for (size_t d = 0; d < 3; d++)
                r2 += pow(remainder(x[3 * n + d] - x[3 * j + d], side[d]), 2);
            free = r2 > 0.7;
        }
        n += free;
    }
    return n;
}

static void all_forces(lj_fluid *fluid, double *force, double *energies)
{
    for (size_t first = 0; first < fluid->atoms; first += fluid->block) {
        size_t count = MIN(fluid->block, fluid->atoms - first);
        lj_forces(fluid, first, count, force + 3 * first);
        lj_energies(fluid, first, count, energies + 2 * first);
    }
    g_assert_null(fluid->problem);
}

static void test_sums(void)
{
    double x[3 * ATOMS], force[3 * ATOMS], energies[2 * ATOMS];
    GRand *random = g_rand_new_with_seed(1);
    lj_fluid fluid;
    size_t n = place(x, random);
    g_assert_cmpuint(n, >, 200);
    g_assert_null(lj_init(&fluid, n, side, BLOCK));
    lj_positions(&fluid, x);
    all_forces(&fluid, force, energies);
    for (size_t i = 0; i < n; i++) {
        double f[3] = {0}, energy = 0, virial = 0, size = 1;
        for (size_t j = 0; j < n; j++) {
            double d[3], r2 = 0;
            for (size_t k = 0; k < 3; k++) {
                d[k] = remainder(x[3 * i + k] - x[3 * j + k], side[k]);
                r2 += d[k] * d[k];
            }
            if (j == i || r2 >= 6.25)
                continue;
            double both = 24 * (2 * pow(r2, -6) - pow(r2, -3));
            energy += 2 * (pow(r2, -6) - pow(r2, -3));
            virial += both / 2;
            size += fabs(both);
            for (int k = 0; k < 3; k++)
                f[k] += both / r2 * d[k];
        }
        for (size_t k = 0; k < 3; k++)
            g_assert_cmpfloat_with_epsilon(force[3 * i + k], f[k], 1e-7 + 1e-12 * size);
        g_assert_cmpfloat_with_epsilon(energies[2 * i], energy, 1e-9 + 1e-12 * size);
        g_assert_cmpfloat_with_epsilon(energies[2 * i + 1], virial, 1e-7 + 1e-12 * size);
    }
    lj_clear(&fluid);
    g_rand_free(random);
}

/* One fluid has followed the atoms from the start, another starts with their present positions, in blocks of another size. */
static void test_lists(void)
{
    double x[3 * ATOMS], force[2][3 * ATOMS], energies[2][2 * ATOMS];
    GRand *random = g_rand_new_with_seed(2);
    lj_fluid fluid, fresh;
    size_t n = place(x, random);
    uint64_t kept = 0;
    g_assert_null(lj_init(&fluid, n, side, BLOCK));
    for (int step = 0; step < 30; step++) {
        uint64_t before = fluid.sortings;
        lj_positions(&fluid, x);
        kept += fluid.sortings == before;
        all_forces(&fluid, force[0], energies[0]);
        g_assert_null(lj_init(&fresh, n, side, n));
        lj_positions(&fresh, x);
        all_forces(&fresh, force[1], energies[1]);
        lj_clear(&fresh);
        g_assert_cmpmem(force[0], 3 * n * sizeof(double), force[1], 3 * n * sizeof(double));
        g_assert_cmpmem(energies[0], 2 * n * sizeof(double), energies[1], 2 * n * sizeof(double));
        for (size_t k = 0; k < 3 * n; k++)
            x[k] = lj_into_box(x[k] + g_rand_double_range(random, -0.02, 0.02), side[k % 3]);
    }
    g_assert_cmpuint(kept, >, 10);
    g_assert_cmpuint(fluid.sortings, >, 1);
    lj_clear(&fluid);
    g_rand_free(random);
}

static void test_box(void)
{
    const double numbers[] = {-1e-300, -1e-17, -0.0, 0, 7, -7, 6.999999999999999, 1e300, -1e300, 13.999999999999999};
    for (size_t k = 0; k < G_N_ELEMENTS(numbers); k++) {
        double x = lj_into_box(numbers[k], 7);
        g_assert_true(x >= 0 && x < 7);
    }
}

static void test_refused(void)
{
    lj_fluid fluid;
    g_assert_cmpstr(lj_init(&fluid, 1, (double[]){4.9, 9, 9}, 1), !=, NULL);
    lj_clear(&fluid);
    g_assert_cmpstr(lj_init(&fluid, (size_t)LJ_ATOMS + 1, side, 1024), !=, NULL);
    lj_clear(&fluid);

    double x[6] = {1, 1, 1, 1, 1, 1}, force[6];
    g_assert_null(lj_init(&fluid, 2, side, 2));
    lj_positions(&fluid, x);
    lj_forces(&fluid, 0, 2, force);
    g_assert_cmpstr(fluid.problem, ==, "two atoms are too close to each other for this length of step");
    lj_clear(&fluid);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lennard_jones/sums", test_sums);
    g_test_add_func("/lennard_jones/lists", test_lists);
    g_test_add_func("/lennard_jones/box", test_box);
    g_test_add_func("/lennard_jones/refused", test_refused);
    return g_test_run();
}
