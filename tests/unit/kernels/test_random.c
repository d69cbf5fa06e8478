#include "kernels/normal.h"
#include "kernels/random.h"

#include <glib.h>

/* The known answers that Random123 1.14 ships for philox4x32 with 10 rounds (tests/kat_vectors). */
static const struct known_answer {
    uint32_t counter[4], key[2], out[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void test_known_answers(void)
{
    for (size_t k = 0; k < G_N_ELEMENTS(known); k++) {
        uint32_t out[4];
        dome__philox(known[k].counter, known[k].key, out);
        g_assert_cmpmem(out, sizeof out, known[k].out, sizeof known[k].out);
    }
}

/* Each type's values are the documented part of the words, and position p is the same wherever a range starts. */
static void test_fill(void)
{
    enum { COUNT = 1000 };
    const uint64_t seed = 0x0123456789abcdef, first = 0xfffffe00; /* the second word of the counter is used */
    static uint8_t u8[COUNT];
    static uint16_t u16[COUNT];
    static uint32_t u32[COUNT];
    static uint64_t u64[COUNT];
    static float f32[COUNT], c64[2 * COUNT];
    static double f64[COUNT], c128[2 * COUNT];
    dome__random_fill_u8(u8, COUNT, seed, first);
    dome__random_fill_u16(u16, COUNT, seed, first);
    dome__random_fill_u32(u32, COUNT, seed, first);
    dome__random_fill_u64(u64, COUNT, seed, first);
    dome__random_fill_f32(f32, COUNT, seed, first);
    dome__random_fill_f64(f64, COUNT, seed, first);
    dome__random_fill_c64(c64, COUNT, seed, first);
    dome__random_fill_c128(c128, COUNT, seed, first);
    for (int i = 0; i < COUNT; i++) {
        uint64_t p = first + (uint64_t)i;
        uint32_t counter[4] = {(uint32_t)p, (uint32_t)(p >> 32), 0, 0}, key[2] = {0x89abcdef, 0x01234567}, w[4];
        dome__philox(counter, key, w);
        uint64_t low = (uint64_t)w[1] << 32 | w[0], high = (uint64_t)w[3] << 32 | w[2];
        g_assert_cmpuint(u8[i], ==, w[0] & 0xff);
        g_assert_cmpuint(u16[i], ==, w[0] & 0xffff);
        g_assert_cmpuint(u32[i], ==, w[0]);
        g_assert_cmpuint(u64[i], ==, low);
        g_assert_true(f32[i] == (float)(w[0] >> 8) / 16777216.0f);
        g_assert_true(f64[i] == (double)(low >> 11) / 9007199254740992.0);
        g_assert_true(c64[2 * i] == f32[i] && c64[2 * i + 1] == (float)(w[1] >> 8) / 16777216.0f);
        g_assert_true(c128[2 * i] == f64[i] && c128[2 * i + 1] == (double)(high >> 11) / 9007199254740992.0);
        g_assert_true(f64[i] >= 0 && f64[i] < 1);
    }
    double again[COUNT / 2];
    dome__random_fill_f64(again, COUNT / 2, seed, first + COUNT / 2);
    g_assert_cmpmem(again, sizeof again, f64 + COUNT / 2, sizeof again);
    dome__random_fill_f64(again, COUNT / 2, seed + 1, first);
    for (int i = 0; i < COUNT / 2; i++)
        g_assert_true(again[i] != f64[i]);
}

static void test_moments(void)
{
    enum { COUNT = 100000 };
    double *value = g_new(double, COUNT), mean = 0, square = 0;
    dome__random_fill_f64(value, COUNT, 42, 0);
    for (int i = 0; i < COUNT; i++) {
        mean += value[i] / COUNT;
        square += value[i] * value[i] / COUNT;
    }
    g_assert_cmpfloat_with_epsilon(mean, 0.5, 0.005);
    g_assert_cmpfloat_with_epsilon(square, 1.0 / 3, 0.005);
    g_free(value);
}

/* ---- normal numbers ---- */

/* The normal distribution function, by the C library. */
static double distribution(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

/* The distribution function at a number gives back its probability, in the middle, at the limits of the approximations and as far
 * out as 64 bits go. A number's last bits are worth z^2 + 1 times as much there. */
static void test_normal_inverse(void)
{
    static const double limits[] = {0x1p-65, 0x3p-65, 1e-18, 1.388794386496402e-11 /* exp(-25) */, 1e-10, 0.0749, 0.075,
                                    0.0751,  0.25,    0.4999};
    GRand *rand = g_rand_new_with_seed(8);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
        if (i < 3 * (int)G_N_ELEMENTS(limits))
            bits = (uint64_t)(limits[i / 3] * 0x1p65) + (uint64_t)(2 * (i % 3));
        else
            bits >>= i % 3 ? 0 : g_rand_int_range(rand, 0, 64);
        bits &= ~(uint64_t)1;
        const double p = dome__normal_probability(bits), z = dome__normal_f64(bits);
        g_assert_true(p > 0 && p <= 0.5 && z <= 0 && z >= -9.16);
        g_assert_true(dome__normal_f64(bits | 1) == -z);
        g_assert_cmpfloat(fabs(distribution(z) - p), <=, 2e-15 * p * (z * z + 1));
        g_assert_cmpfloat(fabs(dome__normal_minus_log(p) + log(p)), <=, 4.5e-16 * fabs(log(p)));
    }
    g_rand_free(rand);
    /* These bits are the same on every machine. */
    g_assert_true(dome__normal_f64(0) == -0x1.24f82aa55eb15p+3 && dome__normal_f64(UINT64_C(1) << 63) == -0x1.5956b87528a49p-1);
}

/* Each type's numbers are those of the documented bits, wherever a range starts. */
static void test_normal_fill(void)
{
    enum { COUNT = 1000 };
    const uint64_t seed = 0x0123456789abcdef, first = 0xfffffe00;
    static float f32[COUNT], c64[2 * COUNT];
    static double f64[COUNT], c128[2 * COUNT], again[COUNT];
    dome__normal_fill_f32(f32, COUNT, seed, first);
    dome__normal_fill_f64(f64, COUNT, seed, first);
    dome__normal_fill_c64(c64, COUNT, seed, first);
    dome__normal_fill_c128(c128, COUNT, seed, first);
    for (int i = 0; i < COUNT; i++) {
        uint64_t p = first + (uint64_t)i;
        uint32_t counter[4] = {(uint32_t)p, (uint32_t)(p >> 32), 1, 0}, key[2] = {0x89abcdef, 0x01234567}, w[4];
        dome__philox(counter, key, w);
        const double re = dome__normal_f64((uint64_t)w[1] << 32 | w[0]), im = dome__normal_f64((uint64_t)w[3] << 32 | w[2]);
        g_assert_true(f64[i] == re && f32[i] == (float)re);
        g_assert_true(c64[2 * i] == (float)re && c64[2 * i + 1] == (float)im && c128[2 * i] == re && c128[2 * i + 1] == im);
    }
    dome__normal_fill_f64(again, COUNT - 37, seed, first + 37);
    g_assert_cmpmem(again, (COUNT - 37) * sizeof *again, f64 + 37, (COUNT - 37) * sizeof *f64);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Moments, the largest distance from the distribution function (Kolmogorov and Smirnov), tails, and no correlation with the
 * uniform numbers of the same seed or with the next numbers. Limits are five standard deviations, or a probability of 1e-6. */
static void test_normal_distribution(void)
{
    enum { COUNT = 400000 };
    double *z = g_new(double, COUNT + 1), *u = g_new(double, COUNT), power[4] = {0}, product[2] = {0}, distance = 0;
    dome__normal_fill_f64(z, COUNT + 1, 42, 0);
    dome__random_fill_f64(u, COUNT, 42, 0);
    int beyond[6] = {0};
    for (int i = 0; i < COUNT; i++) {
        double term = 1;
        for (int k = 0; k < 4; k++)
            power[k] += (term *= z[i]) / COUNT;
        product[0] += z[i] * (u[i] - 0.5) / COUNT;
        product[1] += z[i] * z[i + 1] / COUNT;
        for (int k = 0; k < 6; k++)
            beyond[k] += fabs(z[i]) > k;
    }
    const double root = sqrt(COUNT);
    const double expected[] = {0, 1, 0, 3}, deviation[] = {1, sqrt(2), sqrt(15), sqrt(96)};
    for (int k = 0; k < 4; k++)
        g_assert_cmpfloat(fabs(power[k] - expected[k]), <, 5 * deviation[k] / root);
    g_assert_cmpfloat(fabs(product[0]), <, 5 * sqrt(1.0 / 12) / root);
    g_assert_cmpfloat(fabs(product[1]), <, 5 / root);
    for (int k = 0; k < 6; k++) {
        const double p = 2 * distribution(-k), mean = COUNT * p;
        g_assert_cmpfloat(fabs(beyond[k] - mean), <=, 5 * sqrt(mean * (1 - p)) + 1);
    }
    qsort(z, COUNT, sizeof *z, by_value);
    for (int i = 0; i < COUNT; i++) {
        const double f = distribution(z[i]);
        distance = fmax(distance, fmax(f - (double)i / COUNT, (double)(i + 1) / COUNT - f));
    }
    g_assert_cmpfloat(distance * root, <, 2.69); /* the probability of more is 2 exp(-2 * 2.69^2) */
    g_free(z);
    g_free(u);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/random/known-answers", test_known_answers);
    g_test_add_func("/random/fill", test_fill);
    g_test_add_func("/random/moments", test_moments);
    g_test_add_func("/random/normal-inverse", test_normal_inverse);
    g_test_add_func("/random/normal-fill", test_normal_fill);
    g_test_add_func("/random/normal-distribution", test_normal_distribution);
    return g_test_run();
}
