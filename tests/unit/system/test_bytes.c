/* Encoding numbers and texts as bytes. */
#include "system/bytes.h"

#include <math.h>

static void test_at_an_address(void)
{
    uint8_t bytes[16] = {0};
    dome__put_u32(bytes + 1, 0x01020304u);
    g_assert_cmpmem(bytes, 6, ((uint8_t[]){0, 1, 2, 3, 4, 0}), 6);
    g_assert_cmphex(dome__get_u32(bytes + 1), ==, 0x01020304u);
    dome__put_u64(bytes + 3, UINT64_C(0x8182838485868788));
    g_assert_cmpmem(bytes + 2, 10, ((uint8_t[]){2, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0}), 10);
    g_assert_cmphex(dome__get_u64(bytes + 3), ==, UINT64_C(0x8182838485868788));
    g_assert_cmphex(dome__get_le_u16(bytes + 3), ==, 0x8281);
    g_assert_cmphex(dome__get_le_u32(bytes + 3), ==, 0x84838281u);
}

static void test_in_order(void)
{
    GByteArray *m = g_byte_array_new();
    dome__append_u32(m, 7);
    dome__append_u64(m, UINT64_MAX - 1);
    dome__append_f64(m, -0.0);
    dome__append_f64(m, 0.1);
    dome__append_text(m, "pressure", 100);
    dome__append_text(m, "pressure", 3);
    dome__append_text(m, NULL, 100);
    dome__append_bytes(m, "xy", 2);
    g_assert_cmpuint(m->len, ==, 4 + 8 + 8 + 8 + 12 + 7 + 4 + 2);
    g_assert_cmpmem(m->data + 20, 8, ((uint8_t[]){0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a}), 8);

    dome_bytes r = dome__bytes_of(m->data, m->len);
    g_assert_cmpuint(dome__read_u32(&r), ==, 7);
    g_assert_cmpuint(dome__read_u64(&r), ==, UINT64_MAX - 1);
    double zero = dome__read_f64(&r);
    g_assert_true(zero == 0 && signbit(zero));
    g_assert_true(dome__read_f64(&r) == 0.1);
    char *whole = dome__read_text(&r), *part = dome__read_text(&r), *none = dome__read_text(&r);
    g_assert_cmpstr(whole, ==, "pressure");
    g_assert_cmpstr(part, ==, "pre");
    g_assert_cmpstr(none, ==, "");
    g_assert_false(dome__read_all(&r));
    g_assert_cmpmem(dome__read_bytes(&r, 2), 2, "xy", 2);
    g_assert_true(dome__read_all(&r));
    g_free(whole);
    g_free(part);
    g_free(none);
    g_byte_array_unref(m);
}

/* Wherever a message is cut, its reader detects it, reads no byte beyond the end, and returns zeros from there on. */
static void test_cut(void)
{
    GByteArray *m = g_byte_array_new();
    dome__append_u64(m, 1);
    dome__append_text(m, "ab", 100);
    dome__append_u32(m, 2);
    for (guint bytes = 0; bytes <= m->len; bytes++) {
        uint8_t *copy = g_memdup2(m->data, bytes);
        dome_bytes r = dome__bytes_of(copy, bytes);
        uint64_t first = dome__read_u64(&r);
        char *text = dome__read_text(&r);
        uint32_t last = dome__read_u32(&r);
        g_assert_cmpint(r.bad, ==, bytes < m->len);
        g_assert_cmpuint(first, ==, bytes >= 8 ? 1 : 0);
        g_assert_cmpstr(text, ==, bytes >= 14 ? "ab" : "");
        g_assert_cmpuint(last, ==, bytes == m->len ? 2 : 0);
        g_free(text);
        g_free(copy);
    }
    g_byte_array_unref(m);
}

static void test_too_long(void)
{
    static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 'a'};
    dome_bytes r = dome__bytes_of(bytes, sizeof bytes);
    g_assert_null(dome__read_bytes(&r, UINT64_MAX));
    g_assert_true(r.bad);
    r = dome__bytes_of(bytes, sizeof bytes);
    char *text = dome__read_text(&r);
    g_assert_cmpstr(text, ==, "");
    g_assert_true(r.bad);
    g_assert_null(dome__read_bytes(&r, 0)); /* bad stays bad */
    g_free(text);
}

static void test_leb128(void)
{
    static const struct {
        uint64_t value;
        size_t bytes;
        uint8_t as[DOME_LEB128_MOST];
    } all[] = {{0, 1, {0}},
               {127, 1, {127}},
               {128, 2, {0x80, 1}},
               {300, 2, {0xac, 2}},
               {UINT64_C(1) << 62, 9, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40}},
               {UINT64_MAX, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}}};
    for (size_t k = 0; k < G_N_ELEMENTS(all); k++) {
        GByteArray *m = g_byte_array_new();
        dome__append_leb128(m, all[k].value);
        g_assert_cmpmem(m->data, m->len, all[k].as, all[k].bytes);
        g_assert_cmpuint(dome__leb128_bytes(all[k].value), ==, all[k].bytes);
        for (guint cut = 0; cut <= m->len; cut++) {
            uint8_t *copy = g_memdup2(m->data, cut);
            dome_bytes r = dome__bytes_of(copy, cut);
            g_assert_cmpuint(dome__read_leb128(&r), ==, cut == m->len ? all[k].value : 0);
            g_assert_cmpint(r.bad, ==, cut < m->len);
            g_free(copy);
        }
        g_byte_array_unref(m);
    }
    static const struct {
        size_t bytes;
        uint8_t as[DOME_LEB128_MOST + 1];
    } bad[] = {{2, {0x80, 0}}, /* longer than it needs to be, and more than 64 bits */
               {3, {0xff, 0x80, 0}},
               {10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}},
               {11, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}}};
    for (size_t k = 0; k < G_N_ELEMENTS(bad); k++) {
        dome_bytes r = dome__bytes_of(bad[k].as, bad[k].bytes);
        g_assert_cmpuint(dome__read_leb128(&r), ==, 0);
        g_assert_true(r.bad);
        g_assert_cmpuint(dome__read_leb128(&r), ==, 0); /* bad stays bad */
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bytes/at-an-address", test_at_an_address);
    g_test_add_func("/bytes/in-order", test_in_order);
    g_test_add_func("/bytes/cut", test_cut);
    g_test_add_func("/bytes/too-long", test_too_long);
    g_test_add_func("/bytes/leb128", test_leb128);
    return g_test_run();
}
