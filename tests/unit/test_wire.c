/* Frames between tasks and the hub, and the hub's address as text. */
#include "supervision/watch.h"
#include "supervision/wire.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static GByteArray *through_socket(GByteArray *frame)
{
    int ends[2];
    guint8 buffer[DOME_WIRE_MAX];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
    g_assert_true(dome__wire_send(ends[0], frame));
    ssize_t n = read(ends[1], buffer, sizeof buffer);
    g_assert_cmpint(n, >, 0);
    close(ends[0]);
    close(ends[1]);
    GByteArray *in = g_byte_array_new();
    return g_byte_array_append(in, buffer, (guint)n);
}

static GByteArray *sample(void)
{
    GByteArray *frame = dome__wire_new(DOME_WIRE_BEAT);
    dome__wire_put_u64(frame, UINT64_C(0x0123456789abcdef));
    dome__wire_put_u32(frame, 0xfedcba98u);
    dome__wire_put_string(frame, "pressure");
    dome__wire_put_string(frame, "");
    return frame;
}

static void test_round_trip(void)
{
    GByteArray *in = through_socket(sample()), *frame = g_byte_array_new();
    dome_wire_reader reader;
    g_assert_cmpint(dome__wire_next(in, frame), ==, 1);
    g_assert_cmpint(dome__wire_open(&reader, frame), ==, DOME_WIRE_BEAT);
    g_assert_cmphex(dome__wire_get_u64(&reader), ==, UINT64_C(0x0123456789abcdef));
    g_assert_cmphex(dome__wire_get_u32(&reader), ==, 0xfedcba98u);
    char *text = dome__wire_get_string(&reader), *none = dome__wire_get_string(&reader);
    g_assert_cmpstr(text, ==, "pressure");
    g_assert_cmpstr(none, ==, "");
    g_assert_false(reader.bad);
    dome__wire_get_u32(&reader);
    g_assert_true(reader.bad);
    g_assert_cmpint(dome__wire_next(in, frame), ==, 0);
    g_free(text);
    g_free(none);
    g_byte_array_free(in, TRUE);
    g_byte_array_free(frame, TRUE);
}

static void test_in_pieces(void)
{
    GByteArray *whole = through_socket(sample()), *in = g_byte_array_new(), *frame = g_byte_array_new();
    for (guint i = 0; i < whole->len; i++) {
        g_assert_cmpint(dome__wire_next(in, frame), ==, 0);
        g_byte_array_append(in, whole->data + i, 1);
    }
    g_assert_cmpint(dome__wire_next(in, frame), ==, 1);
    g_byte_array_free(whole, TRUE);
    g_byte_array_free(in, TRUE);
    g_byte_array_free(frame, TRUE);
}

static void test_nonsense(void)
{
    static const guint8 too_long[] = {0x7f, 0, 0, 0, 1}, too_short[] = {0, 0, 0, 3, 0, 0, 0};
    static const guint8 lying_string[] = {0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff};
    GByteArray *in = g_byte_array_new(), *frame = g_byte_array_new();
    g_byte_array_append(in, too_long, sizeof too_long);
    g_assert_cmpint(dome__wire_next(in, frame), ==, -1);
    g_byte_array_set_size(in, 0);
    g_byte_array_append(in, too_short, sizeof too_short);
    g_assert_cmpint(dome__wire_next(in, frame), ==, -1);
    g_byte_array_set_size(in, 0);
    g_byte_array_append(in, lying_string, sizeof lying_string);
    g_assert_cmpint(dome__wire_next(in, frame), ==, 1);
    dome_wire_reader reader;
    dome__wire_open(&reader, frame);
    char *text = dome__wire_get_string(&reader);
    g_assert_true(reader.bad);
    g_assert_cmpstr(text, ==, "");
    g_free(text);
    g_byte_array_free(in, TRUE);
    g_byte_array_free(frame, TRUE);
}

static void test_hub_address(void)
{
    dome_hub_address a;
    g_assert_true(dome__hub_address_parse(&a, "0123456789abcdef0123456789abcdef;127.0.0.1:80,10.0.0.1:80;/tmp/x"));
    g_assert_cmpstr(a.endpoints[1], ==, "10.0.0.1:80");
    g_assert_cmpstr(a.directory, ==, "/tmp/x");
    dome__hub_address_clear(&a);
    g_assert_false(dome__hub_address_parse(&a, ""));
    g_assert_false(dome__hub_address_parse(&a, "short;127.0.0.1:80;"));
    g_assert_false(dome__hub_address_parse(&a, "0123456789abcdef0123456789abcdef;;"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/round-trip", test_round_trip);
    g_test_add_func("/wire/in-pieces", test_in_pieces);
    g_test_add_func("/wire/nonsense", test_nonsense);
    g_test_add_func("/wire/hub-address", test_hub_address);
    return g_test_run();
}
