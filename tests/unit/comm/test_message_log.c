/* What a task remembers of messages, so that a lost task alone goes back. */
#include "comm/message_log.h"

static void send(dome_message_log *log, int dest, const char *text)
{
    const dome_message m = {.tag = 7, .kind = DOME_KIND_U8, .element = 1, .count = strlen(text), .bytes = strlen(text)};
    dome_logged *kept = dome__log_add(log, dest, &m);
    g_assert_nonnull(kept);
    memcpy(kept->data, text, m.bytes);
}

static void assert_first(dome_message_log *log, int dest, uint64_t behind, uint64_t number, const char *text)
{
    const dome_logged *kept = dome__log_behind(log, dest, behind);
    g_assert_nonnull(kept);
    g_assert_cmpuint(kept->number, ==, number);
    g_assert_cmpmem(kept->data, kept->message.bytes, text, strlen(text));
}

static void test_messages(void)
{
    dome_message_log *log = dome__log_new(0, 3);
    send(log, 1, "a");
    send(log, 2, "other");
    send(log, 1, "bb");
    send(log, 1, "ccc");
    g_assert_cmpuint(dome__log_sent(log)[1], ==, 3);
    g_assert_cmpuint(dome__log_bytes(log), ==, 11);
    assert_first(log, 1, 0, 1, "a");
    assert_first(log, 1, 1, 2, "bb");
    g_assert_null(dome__log_behind(log, 1, 3));
    dome__log_has(log, 1, 2);
    g_assert_false(dome__log_lacks(log, 1, 2));
    g_assert_true(dome__log_lacks(log, 1, 3));
    dome__log_cover(log, 1, 2);
    assert_first(log, 1, 0, 3, "ccc");
    g_assert_cmpuint(dome__log_bytes(log), ==, 8);
    dome__log_cover(log, 1, 9);
    g_assert_null(dome__log_behind(log, 1, 0));
    assert_first(log, 2, 0, 1, "other");
    dome__log_free(log);
}

static void pass(dome_message_log *from, dome_message_log *to, int rank)
{
    GByteArray *news = dome__log_news(from, rank);
    g_assert_nonnull(news);
    g_assert_true(dome__log_learn(to, news->data, news->len));
    g_byte_array_unref(news);
}

/* Task 1 chooses; task 2 learns of it by task 0; task 1 is lost, and chooses again. */
static void test_orders(void)
{
    dome_message_log *logs[3], *anew = dome__log_new(1, 3);
    int source = -1;
    for (int r = 0; r < 3; r++)
        logs[r] = dome__log_new(r, 3);
    g_assert_false(dome__log_replays(logs[1], &source));
    dome__log_chose(logs[1], 2);
    dome__log_chose(logs[1], 0);
    pass(logs[1], logs[0], 0);
    g_assert_null(dome__log_news(logs[1], 0)); /* it knows */
    dome__log_chose(logs[1], 2);               /* nobody learns of this one */
    pass(logs[0], logs[2], 2);
    pass(logs[2], anew, -1); /* all that it knows */
    g_assert_true(dome__log_replays(anew, &source));
    g_assert_cmpint(source, ==, 2);
    g_assert_true(dome__log_replays(anew, &source));
    g_assert_cmpint(source, ==, 0);
    g_assert_false(dome__log_replays(anew, &source));
    dome__log_chose(anew, 0);
    g_assert_cmpuint(dome__log_choices(anew), ==, 3);
    dome__log_forget(anew, 1, 3);
    GByteArray *all = dome__log_news(anew, -1);
    g_assert_cmpuint(all->len, ==, 0);
    g_byte_array_unref(all);
    dome__log_chose(anew, 2);
    pass(anew, logs[2], 2); /* behind a gap that a checkpoint covers */
    for (int r = 0; r < 3; r++)
        dome__log_free(logs[r]);
    dome__log_free(anew);
}

static GByteArray *example(void)
{
    dome_message_log *log = dome__log_new(1, 2);
    GByteArray *bytes = g_byte_array_new();
    send(log, 0, "kept");
    send(log, 0, "");
    dome__log_taken(log)[0] = 5;
    dome__log_chose(log, 0);
    dome__log_put(log, bytes);
    dome__log_free(log);
    return bytes;
}

static bool get(const void *data, size_t bytes, dome_message_log **log)
{
    dome_bytes from = dome__bytes_of(data, bytes);
    *log = dome__log_new(1, 2);
    return dome__log_get(*log, &from) && from.at == from.end;
}

static void test_checkpoint(void)
{
    GByteArray *bytes = example();
    dome_message_log *log;
    g_assert_true(get(bytes->data, bytes->len, &log));
    g_assert_cmpuint(dome__log_sent(log)[0], ==, 2);
    g_assert_cmpuint(dome__log_taken(log)[0], ==, 5);
    g_assert_cmpuint(dome__log_choices(log), ==, 1);
    assert_first(log, 0, 0, 1, "kept");
    assert_first(log, 0, 1, 2, "");
    dome__log_free(log);
    for (size_t n = 0; n < bytes->len; n++) { /* cut off anywhere */
        g_assert_false(get(bytes->data, n, &log));
        dome__log_free(log);
    }
    g_byte_array_unref(bytes);
}

/* Whatever another task may tell, nothing is read or written beside it. */
static void test_nonsense(void)
{
    GRand *draw = g_rand_new_with_seed(1);
    GByteArray *bytes = example();
    unsigned refused = 0;
    for (int k = 0; k < 20000; k++) {
        GByteArray *other = g_byte_array_new();
        dome_message_log *log;
        g_byte_array_append(other, bytes->data, bytes->len);
        for (int n = g_rand_int_range(draw, 1, 4); n > 0; n--)
            other->data[g_rand_int_range(draw, 0, (gint32)other->len)] = (guint8)g_rand_int_range(draw, 0, 256);
        refused += !get(other->data, other->len, &log);
        refused += !dome__log_learn(log, other->data, other->len);
        dome__log_free(log);
        g_byte_array_unref(other);
    }
    g_assert_cmpuint(refused, >, 1000);
    g_byte_array_unref(bytes);
    g_rand_free(draw);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/message-log/messages", test_messages);
    g_test_add_func("/message-log/orders", test_orders);
    g_test_add_func("/message-log/checkpoint", test_checkpoint);
    g_test_add_func("/message-log/nonsense", test_nonsense);
    return g_test_run();
}
