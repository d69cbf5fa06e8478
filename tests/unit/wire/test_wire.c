/* Messages between tasks and the hub, and the hub's address as text. */
#include "wire/hub_address.h"
#include "wire/wire.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint8_t KEY[DOME_MAC_KEY] = "not so secret ";

static GByteArray *through_socket(dome_mac *mac, const dome_wire_message *message)
{
    int ends[2];
    guint8 buffer[DOME_WIRE_MAX];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
    g_assert_true(dome__wire_send(ends[0], mac, message));
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
    GByteArray *in = through_socket(NULL, &sample);
    dome_wire_message message;
    g_assert_cmpint(dome__wire_next(in, NULL, &message), ==, 1);
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
    g_assert_cmpint(dome__wire_next(in, NULL, &message), ==, 0);
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
        g_assert_cmpint(dome__wire_next(in, NULL, &read), ==, 1);
        g_assert_cmpint(read.kind, ==, kind);
        GByteArray *again = dome__wire_frame(&read);
        g_assert_cmpmem(again->data, again->len, frame->data, frame->len);
        dome__wire_clear(&read);
        frame->data[3]++;
        g_byte_array_set_size(in, 0);
        g_byte_array_append(in, frame->data, frame->len);
        g_byte_array_append(in, (const guint8 *)"", 1);
        g_assert_cmpint(dome__wire_next(in, NULL, &read), ==, -1);
        if (frame->len > 8) {
            frame->data[3] -= 2;
            g_byte_array_set_size(in, 0);
            g_byte_array_append(in, frame->data, frame->len - 1);
            g_assert_cmpint(dome__wire_next(in, NULL, &read), ==, -1);
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
    dome_mac here = dome__mac_of(KEY), there = dome__mac_of(KEY);
    dome__wire_signal_frame(bytes, &here, 11);
    GByteArray *frame = through_socket(&there, &(dome_wire_message){.kind = DOME_WIRE_SIGNAL, .signal = 11});
    g_assert_cmpmem(bytes, sizeof bytes, frame->data, frame->len);
    g_byte_array_unref(frame);
}

static void test_in_pieces(void)
{
    GByteArray *whole = through_socket(NULL, &sample), *in = g_byte_array_new();
    dome_wire_message message;
    for (guint i = 0; i < whole->len; i++) {
        g_assert_cmpint(dome__wire_next(in, NULL, &message), ==, 0);
        g_byte_array_append(in, whole->data + i, 1);
    }
    g_assert_cmpint(dome__wire_next(in, NULL, &message), ==, 1);
    dome__wire_clear(&message);
    g_byte_array_free(whole, TRUE);
    g_byte_array_free(in, TRUE);
}

/* Reads all messages; returns how many are good, and *end of what follows them. */
static int count_good(const guint8 *bytes, gsize length, int *end)
{
    GByteArray *in = g_byte_array_new();
    dome_mac mac = dome__mac_of(KEY);
    dome_wire_message message;
    int good = 0;
    g_byte_array_append(in, bytes, (guint)length);
    for (; (*end = dome__wire_next(in, &mac, &message)) > 0; good++)
        dome__wire_clear(&message);
    g_byte_array_unref(in);
    return good;
}

static void check_read(const GByteArray *bytes, int good, int wanted)
{
    int end, count = count_good(bytes->data, bytes->len, &end);
    g_assert_cmpint(count, ==, good);
    g_assert_cmpint(end, ==, wanted);
}

/* Three messages; *at: where the second and the third begin. */
static GByteArray *three(guint at[3])
{
    dome_mac mac = dome__mac_of(KEY);
    GByteArray *all = g_byte_array_new();
    for (uint32_t k = 0; k < 3; k++) {
        GByteArray *one = through_socket(&mac, &(dome_wire_message){.kind = DOME_WIRE_EXITING, .status = k});
        at[k] = all->len;
        g_byte_array_append(all, one->data, one->len);
        g_byte_array_unref(one);
    }
    return all;
}

/* Whatever a stranger changes, the message is refused, and with it all that follow. */
static void test_altered(void)
{
    guint at[3];
    GByteArray *all = three(at);
    const guint length = at[1];
    check_read(all, 3, 0);
    for (guint bit = 0; bit < 8 * all->len; bit++) {
        all->data[bit / 8] ^= (guint8)(1 << bit % 8);
        int end, good = count_good(all->data, all->len, &end);
        /* A length that has grown waits for more, which never comes or has no code either. */
        g_assert_cmpint(good, ==, (int)(bit / 8 / length));
        g_assert_true(end == DOME_WIRE_ALTERED || (end == 0 && bit / 8 % length < 4));
        all->data[bit / 8] ^= (guint8)(1 << bit % 8);
    }
    g_byte_array_remove_range(all, at[1], length); /* left out */
    check_read(all, 1, DOME_WIRE_ALTERED);
    g_byte_array_unref(all);
    all = three(at);
    g_byte_array_append(all, all->data + at[2], length); /* repeated */
    check_read(all, 3, DOME_WIRE_ALTERED);
    g_byte_array_remove_range(all, 0, at[2]); /* put first */
    check_read(all, 0, DOME_WIRE_ALTERED);
    g_byte_array_unref(all);
}

/* Several frames at once, as a host's first task sends the beats of all, have a code each. */
static void test_many_frames(void)
{
    int ends[2];
    guint8 buffer[4096];
    dome_mac mac = dome__mac_of(KEY);
    GByteArray *frames = g_byte_array_new();
    for (int k = 0; k < 5; k++) {
        GByteArray *frame = dome__wire_frame(&sample);
        g_byte_array_append(frames, frame->data, frame->len);
        g_byte_array_unref(frame);
    }
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
    g_assert_true(dome__wire_send_frames(ends[0], &mac, frames));
    const ssize_t n = read(ends[1], buffer, sizeof buffer);
    g_assert_cmpint(n, ==, frames->len + 5 * DOME_MAC_BYTES);
    int end;
    g_assert_cmpint(count_good(buffer, (gsize)n, &end), ==, 5);
    g_assert_cmpint(end, ==, 0);
    g_byte_array_unref(frames);
    close(ends[0]);
    close(ends[1]);
}

/* A message that cannot be sent would be one that is missing: the connection ends. */
static void test_not_sent(void)
{
    int ends[2];
    guint8 byte;
    dome_mac mac = dome__mac_of(KEY);
    const struct timeval soon = {.tv_usec = 1000};
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ==, 0);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
    while (dome__wire_send(ends[0], &mac, &sample)) /* until there is no room */
        ;
    while (read(ends[1], &byte, 1) == 1)
        ;
    g_assert_false(dome__wire_send(ends[0], &mac, &sample));
    close(ends[0]);
    close(ends[1]);
}

static void refused(const guint8 *bytes, guint count)
{
    GByteArray *in = g_byte_array_new();
    dome_wire_message message;
    g_byte_array_append(in, bytes, count);
    g_assert_cmpint(dome__wire_next(in, NULL, &message), ==, -1);
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
    g_test_add_func("/wire/altered", test_altered);
    g_test_add_func("/wire/many-frames", test_many_frames);
    g_test_add_func("/wire/not-sent", test_not_sent);
    g_test_add_func("/wire/nonsense", test_nonsense);
    g_test_add_func("/wire/hub-address", test_hub_address);
    return g_test_run();
}
