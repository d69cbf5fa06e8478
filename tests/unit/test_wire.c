/* Messages between tasks and the hub, and the hub's address as text. */
#include "supervision/watch.h"
#include "supervision/wire.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static GByteArray *through_socket(const dome_wire_message *message)
{
    int ends[2];
    guint8 buffer[DOME_WIRE_MAX];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
    g_assert_true(dome__wire_send(ends[0], message));
    ssize_t n = read(ends[1], buffer, sizeof buffer);
    g_assert_cmpint(n, >, 0);
    close(ends[0]);
    close(ends[1]);
    GByteArray *in = g_byte_array_new();
    return g_byte_array_append(in, buffer, (guint)n);
}

static const dome_wire_message sample = {.kind = DOME_WIRE_BEAT,
                                         .beat = {.rank = 3,
                                                  .sequence = UINT64_C(0x0123456789abcdef),
                                                  .history = 2,
                                                  .operation = "dvec_sum",
                                                  .waiting = 0xfedcba98u,
                                                  .progress = 5,
                                                  .object = "pressure",
                                                  .queries = 6,
                                                  .busy = 7,
                                                  .load = UINT32_MAX,
                                                  .checkpoint = 9,
                                                  .loop = UINT64_MAX,
                                                  .bare = 1}};

static void test_round_trip(void)
{
    GByteArray *in = through_socket(&sample);
    dome_wire_message message;
    g_assert_cmpint(dome__wire_next(in, &message), ==, 1);
    g_assert_cmpint(message.kind, ==, DOME_WIRE_BEAT);
    g_assert_cmphex(message.beat.rank, ==, 3);
    g_assert_cmphex(message.beat.sequence, ==, UINT64_C(0x0123456789abcdef));
    g_assert_cmphex(message.beat.history, ==, 2);
    g_assert_cmpstr(message.beat.operation, ==, "dvec_sum");
    g_assert_cmphex(message.beat.waiting, ==, 0xfedcba98u);
    g_assert_cmphex(message.beat.progress, ==, 5);
    g_assert_cmpstr(message.beat.object, ==, "pressure");
    g_assert_cmphex(message.beat.queries, ==, 6);
    g_assert_cmphex(message.beat.busy, ==, 7);
    g_assert_cmphex(message.beat.load, ==, UINT32_MAX);
    g_assert_cmphex(message.beat.checkpoint, ==, 9);
    g_assert_cmphex(message.beat.loop, ==, UINT64_MAX);
    g_assert_cmphex(message.beat.bare, ==, 1);
    dome__wire_clear(&message);
    g_assert_cmpint(dome__wire_next(in, &message), ==, 0);
    g_byte_array_free(in, TRUE);
}

/* Every kind of message is encoded and decoded to the same message; a frame that is a byte shorter or longer is refused. */
static void test_all_kinds(void)
{
    for (int kind = DOME_WIRE_HELLO; kind < DOME_WIRE_KINDS; kind++) {
        const dome_wire_message message = {.kind = (dome_wire_kind)kind};
        GByteArray *frame = dome__wire_frame(&message), *in = g_byte_array_new();
        dome_wire_message read;
        g_byte_array_append(in, frame->data, frame->len);
        g_assert_cmpint(dome__wire_next(in, &read), ==, 1);
        g_assert_cmpint(read.kind, ==, kind);
        GByteArray *again = dome__wire_frame(&read);
        g_assert_cmpmem(again->data, again->len, frame->data, frame->len);
        dome__wire_clear(&read);
        frame->data[3]++;
        g_byte_array_set_size(in, 0);
        g_byte_array_append(in, frame->data, frame->len);
        g_byte_array_append(in, (const guint8 *)"", 1);
        g_assert_cmpint(dome__wire_next(in, &read), ==, -1);
        if (frame->len > 8) {
            frame->data[3] -= 2;
            g_byte_array_set_size(in, 0);
            g_byte_array_append(in, frame->data, frame->len - 1);
            g_assert_cmpint(dome__wire_next(in, &read), ==, -1);
        }
        g_byte_array_unref(again);
        g_byte_array_unref(frame);
        g_byte_array_unref(in);
    }
}

/* A signal handler makes the same frame as the message's own function. */
static void test_signal(void)
{
    uint8_t bytes[DOME_WIRE_SIGNAL_BYTES];
    dome__wire_signal_frame(bytes, 11);
    GByteArray *frame = dome__wire_frame(&(dome_wire_message){.kind = DOME_WIRE_SIGNAL, .signal = 11});
    g_assert_cmpmem(bytes, sizeof bytes, frame->data, frame->len);
    g_byte_array_unref(frame);
}

static void test_in_pieces(void)
{
    GByteArray *whole = through_socket(&sample), *in = g_byte_array_new();
    dome_wire_message message;
    for (guint i = 0; i < whole->len; i++) {
        g_assert_cmpint(dome__wire_next(in, &message), ==, 0);
        g_byte_array_append(in, whole->data + i, 1);
    }
    g_assert_cmpint(dome__wire_next(in, &message), ==, 1);
    dome__wire_clear(&message);
    g_byte_array_free(whole, TRUE);
    g_byte_array_free(in, TRUE);
}

static void refused(const guint8 *bytes, guint count)
{
    GByteArray *in = g_byte_array_new();
    dome_wire_message message;
    g_byte_array_append(in, bytes, count);
    g_assert_cmpint(dome__wire_next(in, &message), ==, -1);
    g_byte_array_free(in, TRUE);
}

static void test_nonsense(void)
{
    static const guint8 too_long[] = {0x7f, 0, 0, 0, 1}, too_short[] = {0, 0, 0, 3, 0, 0, 0};
    static const guint8 lying_text[] = {0, 0, 0, 12, 0, 0, 0, DOME_WIRE_END, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff};
    static const guint8 no_kind[] = {0, 0, 0, 4, 0, 0, 0, 0}, unknown[] = {0, 0, 0, 4, 0, 0, 0, DOME_WIRE_KINDS};
    refused(too_long, sizeof too_long);
    refused(too_short, sizeof too_short);
    refused(lying_text, sizeof lying_text);
    refused(no_kind, sizeof no_kind);
    refused(unknown, sizeof unknown);
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
    g_test_add_func("/wire/all-kinds", test_all_kinds);
    g_test_add_func("/wire/signal", test_signal);
    g_test_add_func("/wire/in-pieces", test_in_pieces);
    g_test_add_func("/wire/nonsense", test_nonsense);
    g_test_add_func("/wire/hub-address", test_hub_address);
    return g_test_run();
}
