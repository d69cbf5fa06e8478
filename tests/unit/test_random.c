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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/random/known-answers", test_known_answers);
    g_test_add_func("/random/fill", test_fill);
    g_test_add_func("/random/moments", test_moments);
    return g_test_run();
}
