#include "kernels/exact_sum.h"
#include "reference_sum.h"

#include <glib.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 1 : bits;
}

#define assert_same(a, b) g_assert_cmphex(bits_of(a), ==, bits_of(b))

static double sum_of(const double *term, size_t count)
{
    dome_exact_sum sum;
    dome__exact_init(&sum);
    for (size_t i = 0; i < count; i++)
        dome__exact_add(&sum, term[i]);
    assert_same(dome__exact_total(term, count), dome__exact_round(&sum));
    return dome__exact_round(&sum);
}

#define SUM(...) sum_of((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void test_known(void)
{
    assert_same(sum_of(NULL, 0), 0.0);
    assert_same(SUM(-0.0), 0.0);
    assert_same(SUM(1, 0x1p-53), 1.0);                        /* a tie goes to the even value */
    assert_same(SUM(1, 0x1p-53, 0x1p-1074), 1 + 0x1p-52);     /* and is broken by the smallest number */
    assert_same(SUM(1, 0x1p-52, 0x1p-53), 1 + 0x1p-51);       /* odd: up */
    assert_same(SUM(-1, -0x1p-53, -0x1p-1074), -1 - 0x1p-52); /* signs alike */
    assert_same(SUM(0x1p1023, 1, -0x1p1023), 1);
    assert_same(SUM(0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023), 0x1.fffffffffffffp1023);
    assert_same(SUM(0x1.fffffffffffffp1023, 0x1p970), INFINITY);
    assert_same(SUM(0x1.fffffffffffffp1023, 0x1.fffffffffffffp969), 0x1.fffffffffffffp1023);
    assert_same(SUM(-0x1.fffffffffffffp1023, -0x1p1023), -INFINITY);
    assert_same(SUM(0x1p-1074, 0x1p-1074), 0x1p-1073);
    assert_same(SUM(0x1p-1022, -0x1p-1074), 0x1.ffffffffffffep-1023);
    assert_same(SUM(INFINITY, 1), INFINITY);
    assert_same(SUM(INFINITY, -INFINITY), NAN);
    assert_same(SUM(-INFINITY, 0x1p1023), -INFINITY);
    assert_same(SUM(NAN, INFINITY), NAN);
}

static void test_random(void)
{
    GRand *rand = g_rand_new_with_seed(1);
    for (int round = 0; round < 4000; round++) {
        int count = g_rand_int_range(rand, 0, 60), spread = g_rand_int_range(rand, 0, 6) ? g_rand_int_range(rand, 0, 140) : 2046;
        dome_exact_sum sum, part[3];
        reference_sum reference = {0};
        dome__exact_init(&sum);
        for (int k = 0; k < 3; k++)
            dome__exact_init(&part[k]);
        int base = g_rand_int_range(rand, 0, 2047 - MIN(spread, 2046));
        for (int i = 0; i < count; i++) {
            uint64_t bits = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
            if (spread < 2046)
                bits = (bits & ~((uint64_t)0x7ff << 52)) | (uint64_t)(base + g_rand_int_range(rand, 0, spread + 1)) << 52;
            double value;
            memcpy(&value, &bits, sizeof value);
            if (i % 7 == 3 && round % 2) /* let sums cancel */
                value = -dome__exact_round(&sum);
            dome__exact_add(&sum, value);
            reference_add(&reference, value);
            dome__exact_add(&part[g_rand_int_range(rand, 0, 3)], value);
        }
        assert_same(dome__exact_round(&sum), reference_round(&reference));

        /* any grouping gives the same words */
        dome_exact_sum left = part[0], right = part[2];
        dome__exact_merge(&left, &part[1]);
        dome__exact_merge(&left, &part[2]);
        dome__exact_merge(&right, &part[1]);
        dome__exact_merge(&right, &part[0]);
        dome__exact_normalize(&sum);
        g_assert_cmpmem(&left, sizeof left, &right, sizeof right);
        g_assert_cmpmem(&left, sizeof left, &sum, sizeof sum);

        dome__exact_shorten(&left);
        dome__exact_normalize(&left);
        g_assert_cmpmem(&left, sizeof left, &sum, sizeof sum);
    }
    g_rand_free(rand);
}

/* Few values that are added up at once: near each other, far apart, of any size, cancelling. */
static void test_few(void)
{
    GRand *rand = g_rand_new_with_seed(4);
    for (int round = 0; round < 20000; round++) {
        const int count = g_rand_int_range(rand, 0, 17), spread = (const int[]){0, 1, 10, 60, 120, 2046}[round % 6];
        const int base = spread == 2046 ? 0 : (const int[]){1, 900, 1023, 1900}[g_rand_int_range(rand, 0, 4)];
        double value[16];
        for (int i = 0; i < count; i++) {
            uint64_t bits = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
            bits &= g_rand_boolean(rand) ? UINT64_MAX : UINT64_MAX << 40;
            bits = (bits & ~((uint64_t)0x7ff << 52)) | (uint64_t)(base + g_rand_int_range(rand, 0, spread + 1)) << 52;
            memcpy(&value[i], &bits, sizeof bits);
            if (i % 5 == 4)
                value[i] = -value[i - 1];
        }
        sum_of(value, (size_t)count);
    }
    g_rand_free(rand);
}

/* The number of words from the first to the last that is not 0. */
static int words_in_use(const dome_exact_sum *sum)
{
    const int64_t *word = (const int64_t *)sum;
    int first = 0, end = (int)DOME_EXACT_WORDS;
    while (end && !word[end - 1])
        end--;
    while (first < end && !word[first])
        first++;
    return end - first;
}

static void test_short(void)
{
    static const double value[] = {0, 1, -1, -0x1p-1074, 0x1.8p1000, -0x1.8p1000, -3.5, -4294967296.0};
    for (size_t k = 0; k < G_N_ELEMENTS(value); k++) {
        dome_exact_sum sum, twice;
        dome__exact_init(&sum);
        dome__exact_add(&sum, value[k]);
        dome__exact_shorten(&sum);
        g_assert_cmpint(words_in_use(&sum), <=, 2);
        twice = sum;
        for (size_t w = 0; w < DOME_EXACT_LIMBS; w++)
            twice.limb[w] += sum.limb[w];
        dome__exact_normalize(&twice);
        assert_same(dome__exact_round(&twice), 2 * value[k]);
    }
}

static void test_integers(void)
{
    GRand *rand = g_rand_new_with_seed(2);
    for (int round = 0; round < 2000; round++) {
        dome_exact_sum sum;
        reference_sum reference = {0};
        dome__exact_init(&sum);
        int count = g_rand_int_range(rand, 0, 20), most = g_rand_int_range(rand, 0, 4);
        for (int i = 0; i < count; i++) {
            int words = g_rand_int_range(rand, 0, most + 1), shift = g_rand_int_range(rand, 0, 64);
            uint64_t value = ((uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand)) >> shift;
            if (g_rand_boolean(rand)) {
                dome__exact_add_u64(&sum, value, words);
                reference_add_scaled(&reference, false, value, 32 * words);
            } else {
                int64_t with_sign = (int64_t)(g_rand_boolean(rand) ? value : 0 - value);
                dome__exact_add_i64(&sum, with_sign, words);
                reference_add_scaled(&reference, with_sign < 0, with_sign < 0 ? 0 - (uint64_t)with_sign : (uint64_t)with_sign,
                                     32 * words);
            }
        }
        int64_t a = 1, b = 1;
        g_assert_cmpint(dome__exact_i64(&sum, &a), ==, reference_i64(&reference, &b));
        g_assert_cmpint(a, ==, b);
        assert_same(dome__exact_round(&sum), reference_round(&reference));
    }
    g_rand_free(rand);

    const int64_t edge[] = {INT64_MIN, INT64_MAX, 0, -1};
    for (size_t k = 0; k < G_N_ELEMENTS(edge); k++) {
        dome_exact_sum sum;
        int64_t value;
        dome__exact_init(&sum);
        dome__exact_add_i64(&sum, edge[k], 0);
        g_assert_true(dome__exact_i64(&sum, &value));
        g_assert_cmpint(value, ==, edge[k]);
    }
    dome_exact_sum sum;
    int64_t value;
    dome__exact_init(&sum);
    dome__exact_add_i64(&sum, INT64_MAX, 0);
    dome__exact_add_i64(&sum, 1, 0);
    g_assert_false(dome__exact_i64(&sum, &value));
    g_assert_cmpfloat(dome__exact_round(&sum), ==, 0x1p63);
    dome__exact_add(&sum, 0.5);
    dome__exact_add_i64(&sum, -1, 0);
    g_assert_false(dome__exact_i64(&sum, &value));
}

/* Long sums of the largest numbers, and repeated doubling of a number through all limbs. */
static void test_many(void)
{
    dome_exact_sum sum;
    dome__exact_init(&sum);
    for (int i = 0; i < (1 << 20); i++)
        dome__exact_add(&sum, 0x1.fffffffffffffp1023);
    for (int i = 0; i < (1 << 20) - 1; i++)
        dome__exact_add(&sum, -0x1.fffffffffffffp1023);
    assert_same(dome__exact_round(&sum), 0x1.fffffffffffffp1023);

    dome__exact_init(&sum);
    dome__exact_add(&sum, 0x1.23456789abcdep-700);
    for (int k = 0; k < 60; k++) {
        dome_exact_sum same = sum;
        dome__exact_merge(&sum, &same);
    }
    assert_same(dome__exact_round(&sum), 0x1.23456789abcdep-640);
}

/* What an all-reduce does: words of normalized and of shortened sums added without carries, then shortened or normalized. */
static void test_words(void)
{
    dome_exact_sum total, part;
    reference_sum reference = {0};
    GRand *rand = g_rand_new_with_seed(3);
    dome__exact_init(&total);
    for (int task = 0; task < 300; task++) {
        dome__exact_init(&part);
        for (int i = 0; i < 10; i++) {
            double value = ldexp(g_rand_double_range(rand, -1, 1), g_rand_int_range(rand, -1100, 1000));
            dome__exact_add(&part, value);
            reference_add(&reference, value);
        }
        if (task % 2)
            dome__exact_normalize(&part);
        else
            dome__exact_shorten(&part);
        const int64_t *from = (const int64_t *)&part;
        int64_t *to = (int64_t *)&total;
        for (size_t k = 0; k < DOME_EXACT_WORDS; k++)
            to[k] += from[k];
        dome_exact_sum shortened = total, normalized = total;
        dome__exact_shorten(&shortened);
        dome__exact_normalize(&normalized);
        assert_same(dome__exact_round(&shortened), reference_round(&reference));
        assert_same(dome__exact_round(&normalized), reference_round(&reference));
        dome__exact_normalize(&shortened);
        g_assert_cmpmem(&shortened, sizeof shortened, &normalized, sizeof normalized);
    }
    g_rand_free(rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exact_sum/known", test_known);
    g_test_add_func("/exact_sum/random", test_random);
    g_test_add_func("/exact_sum/few", test_few);
    g_test_add_func("/exact_sum/integers", test_integers);
    g_test_add_func("/exact_sum/short", test_short);
    g_test_add_func("/exact_sum/many", test_many);
    g_test_add_func("/exact_sum/words", test_words);
    return g_test_run();
}
