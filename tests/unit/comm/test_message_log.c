/* What a task remembers of messages, so that a lost task alone goes back. */
#include "comm/message_log.h"
#include "system/files.h"

#include <sys/stat.h>
#include <unistd.h>

static char *directory;

static dome_message_log *log_in(int rank, int size)
{
    dome_message_log *log = dome__log_new(rank, size);
    char *stem = g_strdup_printf("%s/messages-%d", directory, rank);
    dome__log_keep_in(log, stem);
    g_free(stem);
    return log;
}

static void send(dome_message_log *log, int dest, const char *text)
{
    const dome_message m = {.tag = 7, .kind = DOME_KIND_U8, .element = 1, .count = strlen(text), .bytes = strlen(text)};
    char *why = NULL;
    dome_logged *kept = dome__log_add(log, dest, &m, &why);
    g_assert_nonnull(kept);
    g_assert_null(why);
    dome__log_fill(kept, text);
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
    dome_message_log *log = log_in(1, 2);
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
    *log = log_in(1, 2);
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

/* ---- the memory ---- */

static void *send_long(dome_message_log *log, int dest, char what, size_t bytes)
{
    const dome_message m = {.kind = DOME_KIND_U8, .element = 1, .count = bytes, .bytes = bytes};
    char *why = NULL, *data = g_malloc(bytes);
    memset(data, what, bytes);
    dome_logged *kept = dome__log_add(log, dest, &m, &why);
    g_assert_nonnull(kept);
    dome__log_fill(kept, data);
    g_assert_cmpmem(kept->data, bytes, data, bytes);
    g_free(data);
    return kept->data;
}

static void assert_long(dome_message_log *log, int dest, uint64_t number, char what, size_t bytes)
{
    const dome_logged *kept = dome__log_behind(log, dest, number - 1);
    g_assert_nonnull(kept);
    g_assert_cmpuint(kept->number, ==, number);
    g_assert_cmpuint(kept->message.bytes, ==, bytes);
    for (size_t k = 0; k < bytes; k++)
        g_assert_cmpint(((const char *)kept->data)[k], ==, what);
}

static unsigned files(void)
{
    unsigned n = 0;
    GDir *dir = g_dir_open(directory, 0, NULL);
    while (g_dir_read_name(dir))
        n++;
    g_dir_close(dir);
    return n;
}

/* A covered message's place is used again, whoever the next message goes to. */
static void test_reuse(void)
{
    enum { BYTES = 9 << 20 };
    for (int k = 0; k < 2; k++) {
        dome_message_log *log = k ? log_in(0, 3) : dome__log_new(0, 3);
        const void *first = send_long(log, 1, 'a', BYTES);
        g_assert_true(send_long(log, 1, 'b', BYTES) != first);
        dome__log_cover(log, 1, 1);
        g_assert_true(send_long(log, 2, 'c', BYTES - 100) == first);
        assert_long(log, 1, 2, 'b', BYTES);
        assert_long(log, 2, 1, 'c', BYTES - 100);
        dome__log_free(log);
    }
}

static GByteArray *state_of(const dome_message_log *log)
{
    GByteArray *bytes = g_byte_array_new();
    dome__log_put(log, bytes);
    return bytes;
}

/* A task goes back, and its predecessor goes on for a while. */
static void test_predecessor(void)
{
    enum { BYTES = 100000 };
    dome_message_log *log = log_in(0, 2);
    for (int k = 1; k <= 200; k++)
        send_long(log, 1, (char)('a' + k % 26), BYTES);
    dome__log_cover(log, 1, 50);
    GByteArray *state = state_of(log);
    dome_message_log *anew = log_in(0, 2);
    dome_bytes from = dome__bytes_of(state->data, state->len);
    g_assert_true(dome__log_get(anew, &from) && dome__read_all(&from));
    g_byte_array_unref(state);
    for (int k = 201; k <= 300; k++) {
        send_long(log, 1, 'X', BYTES);
        send_long(anew, 1, 'Y', BYTES);
    }
    for (int k = 51; k <= 300; k++)
        assert_long(anew, 1, (uint64_t)k, k <= 200 ? (char)('a' + k % 26) : 'Y', BYTES);
    g_assert_cmpuint(files(), ==, 2);
    dome__log_tidy(anew);
    g_assert_cmpuint(files(), ==, 2); /* what it keeps is in both */
    dome__log_cover(anew, 1, 200);
    dome__log_tidy(anew);
    g_assert_cmpuint(files(), ==, 1);
    assert_long(anew, 1, 201, 'Y', BYTES);
    dome__log_free(anew);
    dome__log_free(log);
}

/* The place of messages that were covered after the checkpoint has been used again: they are not taken for others. */
static void test_covered_since(void)
{
    enum { BYTES = 9 << 20 };
    dome_message_log *log = log_in(0, 2), *anew = log_in(0, 2);
    send_long(log, 1, 'a', BYTES);
    send_long(log, 1, 'b', BYTES);
    GByteArray *state = state_of(log);
    dome__log_cover(log, 1, 1);
    send_long(log, 1, 'c', BYTES); /* where 'a' was */
    dome_bytes from = dome__bytes_of(state->data, state->len);
    g_assert_true(dome__log_get(anew, &from));
    g_assert_cmpuint(dome__log_behind(anew, 1, 0)->number, ==, 2);
    assert_long(anew, 1, 2, 'b', BYTES);
    g_byte_array_unref(state);
    dome__log_free(anew);
    dome__log_free(log);
}

/* Damage in a piece: what is older was covered, what is newer is there; where the newest is gone, nothing is. */
static void test_damage(void)
{
    enum { BYTES = 1000 };
    for (int damaged = 1; damaged <= 3; damaged++) {
        dome_message_log *log = log_in(0, 2), *anew = log_in(0, 2);
        for (int k = 1; k <= 3; k++)
            send_long(log, 1, (char)('a' + k), BYTES);
        GByteArray *state = state_of(log);
        ((dome_logged *)dome__log_behind(log, 1, (uint64_t)damaged - 1)->link.data)->number = 77;
        dome_bytes from = dome__bytes_of(state->data, state->len);
        g_assert_true(dome__log_get(anew, &from));
        const dome_logged *first = dome__log_behind(anew, 1, 0);
        g_assert_true(damaged == 3 ? !first : first->number == (uint64_t)damaged + 1);
        g_byte_array_unref(state);
        dome__log_free(anew);
        dome__log_free(log);
    }
}

/* A directory that is gone is no reason to end. */
static void test_no_room(void)
{
    const dome_message m = {.kind = DOME_KIND_U8, .element = 1, .count = 1, .bytes = 1}, huge = {.bytes = UINT64_MAX - 1};
    dome_message_log *log = dome__log_new(0, 2);
    char *why = NULL;
    g_assert_null(dome__log_add(log, 1, &huge, &why));
    g_clear_pointer(&why, g_free);
    dome__log_keep_in(log, "/nowhere/messages");
    g_assert_null(dome__log_add(log, 1, &m, &why));
    g_assert_nonnull(strstr(why, "/nowhere/messages-1"));
    g_assert_cmpuint(dome__log_sent(log)[1], ==, 0);
    g_free(why);
    dome__log_free(log);
}

/* Whatever another task may tell, nothing is read or written beside it. */
static void test_nonsense(void)
{
    GRand *draw = g_rand_new_with_seed(1);
    GByteArray *bytes = example();
    unsigned refused = 0;
    for (int k = 0; k < 20000; k++) {
        GByteArray *other = g_byte_array_new();
        dome_message_log *log = NULL;
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

/* Each in a directory of its own. */
static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {{"/message-log/messages", test_messages},       {"/message-log/orders", test_orders},
             {"/message-log/checkpoint", test_checkpoint},   {"/message-log/reuse", test_reuse},
             {"/message-log/predecessor", test_predecessor}, {"/message-log/covered-since", test_covered_since},
             {"/message-log/damage", test_damage},           {"/message-log/no-room", test_no_room},
             {"/message-log/nonsense", test_nonsense}};

static void run(const void *number)
{
    directory = g_dir_make_tmp("dome-log.XXXXXX", NULL);
    g_assert_nonnull(directory);
    tests[GPOINTER_TO_SIZE(number)].run();
    dome__remove_directory(directory);
    g_clear_pointer(&directory, g_free);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(tests); k++)
        g_test_add_data_func(tests[k].name, GSIZE_TO_POINTER(k), run);
    return g_test_run();
}
