/* Copies on another host: what a task gives to its partner is what the partner's directory has; a task that goes on there finds
 * its messages. */
#include "copies/copies_private.h"

#include "comm/message_log.h"
#include "system/bytes.h"
#include "system/files.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 3, OWN = 1 };

static char *here, *there; /* two hosts' directories */

static void send_one(dome_message_log *log, int dest, char what, size_t bytes)
{
    const dome_message m = {.tag = 7, .kind = DOME_KIND_U8, .element = 1, .count = bytes, .bytes = bytes};
    char *why = NULL, *data = g_malloc(bytes);
    memset(data, what, bytes);
    dome_logged *kept = dome__log_add(log, dest, &m, &why);
    g_assert_nonnull(kept);
    dome__log_fill(kept, data);
    g_free(data);
}

static dome_message_log *log_in(const char *directory)
{
    dome_message_log *log = dome__log_new(OWN, SIZE);
    char *stem = dome__copies_stem(directory, "program", OWN, SIZE);
    dome__log_keep_in(log, stem, true);
    g_free(stem);
    return log;
}

static char *ask(dome_keeper *k, dome_keeper_kind kind, const uint64_t *words, size_t count, const void *data, size_t bytes)
{
    GByteArray *q = g_byte_array_new();
    dome__append_u64(q, kind);
    for (size_t i = 0; i < count; i++)
        dome__append_u64(q, words[i]);
    if (bytes)
        g_byte_array_append(q, data, (guint)bytes);
    char *why = dome__keeper_take(k, OWN, q->data, q->len);
    g_byte_array_unref(q);
    return why;
}

typedef struct giving {
    dome_keeper *to;
    uint64_t bytes;
    bool fails;
} giving;

static bool give(void *ctx, const dome_log_range *r)
{
    giving *g = ctx;
    g->bytes += r->length;
    if (g->fails)
        return false;
    g_assert_null(ask(g->to, DOME_KEEPER_RANGE, (const uint64_t[]){r->file, r->place, r->bytes, r->from}, 4, r->data, r->length));
    return true;
}

static void commit(dome_keeper *k, const dome_message_log *log, uint64_t number, const char *text)
{
    GArray *words = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const uint64_t bytes = strlen(text);
    g_array_append_val(words, number);
    g_array_append_val(words, bytes);
    dome__log_files(log, words);
    g_assert_null(ask(k, DOME_KEEPER_PART, (const uint64_t[]){number, 0}, 2, text, bytes));
    g_assert_null(ask(k, DOME_KEEPER_COMMIT, (const uint64_t *)(const void *)words->data, words->len, NULL, 0));
    g_array_unref(words);
}

static char *path_of(uint64_t number)
{
    return dome__ckpt_file_path(there, number, OWN + 1, SIZE);
}

static void assert_text(uint64_t number, const char *text)
{
    char *path = path_of(number), *found = NULL;
    gsize bytes = 0;
    if (text) {
        g_assert_true(g_file_get_contents(path, &found, &bytes, NULL));
        g_assert_cmpmem(found, bytes, text, strlen(text));
    } else {
        g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    }
    g_free(found);
    g_free(path);
}

/* What a log that reads the partner's directory has of the messages to a task. */
static void assert_found(const GByteArray *state, int dest, uint64_t first, uint64_t last, const char *what)
{
    dome_message_log *log = log_in(there);
    dome_bytes from = dome__bytes_of(state->data, state->len);
    g_assert_true(dome__log_get(log, &from));
    const dome_logged *kept = dome__log_behind(log, dest, first - 1);
    for (uint64_t n = first; n <= last; n++) {
        g_assert_nonnull(kept);
        g_assert_cmpuint(kept->number, ==, n);
        for (uint64_t k = 0; k < kept->message.bytes; k++)
            g_assert_cmpint(((const char *)kept->data)[k], ==, what[n - first]);
        kept = kept->link.next ? kept->link.next->data : NULL;
    }
    g_assert_null(kept);
    dome__log_free(log);
}

static GByteArray *state_of(dome_message_log *log)
{
    GByteArray *state = g_byte_array_new();
    g_assert_cmpint(dome__log_sync(log), ==, 0);
    dome__log_put(log, state);
    return state;
}

/* Each message is given once; what is covered before need not be. */
static void test_messages(void)
{
    enum { LONG = 3000000 };
    dome_message_log *log = log_in(here);
    dome_keeper *k = dome__keeper_new(there, "program", SIZE, false);
    giving g = {.to = k};
    send_one(log, 0, 'a', LONG);
    send_one(log, 2, 'x', 100);
    GByteArray *state = state_of(log);
    g_assert_true(dome__log_copy(log, give, &g));
    commit(k, log, 4, "first");
    assert_text(4, "first");
    assert_found(state, 0, 1, 1, "a");
    assert_found(state, 2, 1, 1, "x");
    g_byte_array_unref(state);
    g_assert_cmpuint(g.bytes, >=, LONG + 100);
    g_assert_cmpuint(g.bytes, <, LONG + 100 + 1000);

    g.bytes = 0;
    g_assert_true(dome__log_copy(log, give, &g));
    g_assert_cmpuint(g.bytes, ==, 0);
    send_one(log, 2, 'y', 200);
    send_one(log, 0, 'b', LONG);
    send_one(log, 0, 'c', LONG);
    dome__log_cover(log, 0, 2); /* of a and b nothing is needed */
    state = state_of(log);
    g_assert_true(dome__log_copy(log, give, &g));
    commit(k, log, 7, "second");
    assert_text(4, NULL);
    assert_text(7, "second");
    assert_found(state, 0, 3, 3, "c");
    assert_found(state, 2, 1, 2, "xy");
    g_assert_cmpuint(g.bytes, <, 2 * LONG + 2000);
    g_byte_array_unref(state);
    dome__keeper_free(k);
    dome__log_free(log);
}

/* What was not taken is given again, from the beginning. */
static void test_anew(void)
{
    dome_message_log *log = log_in(here);
    dome_keeper *k = dome__keeper_new(there, "program", SIZE, true);
    giving g = {.to = k, .fails = true};
    send_one(log, 0, 'a', 1000);
    send_one(log, 2, 'b', 1000);
    g_assert_false(dome__log_copy(log, give, &g));
    g.fails = false;
    g.bytes = 0;
    g_assert_true(dome__log_copy(log, give, &g));
    g_assert_cmpuint(g.bytes, >=, 2000);
    const uint64_t all = g.bytes;
    dome__log_copy_anew(log);
    g_assert_true(dome__log_copy(log, give, &g));
    g_assert_cmpuint(g.bytes, ==, 2 * all);
    GByteArray *state = state_of(log);
    assert_found(state, 0, 1, 1, "a");
    assert_found(state, 2, 1, 1, "b");
    g_byte_array_unref(state);
    dome__keeper_free(k);
    dome__log_free(log);
}

/* A task goes on with its predecessor's messages: the copy has both files, and then one. */
static void test_successor(void)
{
    dome_message_log *log = log_in(here), *anew = log_in(here);
    dome_keeper *k = dome__keeper_new(there, "program", SIZE, true);
    giving g = {.to = k};
    send_one(log, 0, 'a', 1000);
    GByteArray *state = state_of(log);
    dome_bytes from = dome__bytes_of(state->data, state->len);
    g_assert_true(dome__log_get(anew, &from));
    g_byte_array_unref(state);
    send_one(anew, 0, 'b', 1000);
    state = state_of(anew);
    g_assert_true(dome__log_copy(anew, give, &g));
    commit(k, anew, 4, "two files");
    assert_found(state, 0, 1, 2, "ab");
    g_byte_array_unref(state);
    char *stem = dome__copies_stem(there, "program", OWN, SIZE), *first = g_strconcat(stem, "-1", NULL);
    g_assert_true(g_file_test(first, G_FILE_TEST_EXISTS));
    dome__log_cover(anew, 0, 1);
    commit(k, anew, 7, "one file");
    g_assert_false(g_file_test(first, G_FILE_TEST_EXISTS));
    state = state_of(anew);
    assert_found(state, 0, 2, 2, "b");
    g_byte_array_unref(state);
    g_free(first);
    g_free(stem);
    dome__keeper_free(k);
    dome__log_free(anew);
    dome__log_free(log);
}

static void assert_refused(dome_keeper *k, dome_keeper_kind kind, const uint64_t *words, size_t count)
{
    char *why = ask(k, kind, words, count, NULL, 0);
    g_assert_nonnull(why);
    g_free(why);
}

/* A checkpoint that is not complete gets no name, and the one before stays. */
static void test_refused(void)
{
    dome_message_log *log = log_in(here);
    dome_keeper *k = dome__keeper_new(there, "program", SIZE, true);
    commit(k, log, 4, "good");
    assert_refused(k, DOME_KEEPER_COMMIT, (const uint64_t[]){7, 4}, 2);
    g_assert_null(ask(k, DOME_KEEPER_PART, (const uint64_t[]){7, 0}, 2, "half", 4));
    assert_refused(k, DOME_KEEPER_COMMIT, (const uint64_t[]){7, 8}, 2);
    assert_refused(k, DOME_KEEPER_COMMIT, (const uint64_t[]){4, 4}, 2);
    assert_refused(k, DOME_KEEPER_RANGE, (const uint64_t[]){0, 0, 65536, 0}, 4);
    assert_refused(k, DOME_KEEPER_RANGE, (const uint64_t[]){1, 0, 65536, 65537}, 4);
    assert_refused(k, DOME_KEEPER_RANGE, (const uint64_t[]){1, UINT64_MAX, 65536, 0}, 4);
    assert_refused(k, DOME_KEEPER_KINDS, NULL, 0);
    assert_text(4, "good");
    assert_text(7, NULL);
    char *stem = dome__copies_stem(there, "program", OWN, SIZE), *other = g_strconcat(stem, "-2", NULL);
    g_assert_cmpint(symlink("/nowhere/else", other), ==, 0);
    assert_refused(k, DOME_KEEPER_RANGE, (const uint64_t[]){2, 0, 65536, 0}, 4);
    g_free(other);
    g_free(stem);
    dome__keeper_free(k);
    dome__log_free(log);
}

/* Whichever group is lost, a copy is left; the tasks of a group do not all give theirs to one. */
static void test_partners(void)
{
    const int group[] = {0, 0, 1, 2, 1, 0, 2}, size = (int)G_N_ELEMENTS(group);
    int times[G_N_ELEMENTS(group)] = {0};
    for (int r = 0; r < size; r++) {
        const int p = dome__copies_partner(r, size, 3, group);
        g_assert_cmpint(group[p], ==, (group[r] + 1) % 3);
        times[p]++;
    }
    for (int r = 0; r < size; r++)
        g_assert_cmpint(times[r], <=, 2);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {{"/copies/messages", test_messages},
             {"/copies/anew", test_anew},
             {"/copies/successor", test_successor},
             {"/copies/refused", test_refused},
             {"/copies/partners", test_partners}};

static void run(const void *number)
{
    here = g_dir_make_tmp("dome-here.XXXXXX", NULL);
    there = g_dir_make_tmp("dome-there.XXXXXX", NULL);
    tests[GPOINTER_TO_SIZE(number)].run();
    dome__remove_directory(here);
    dome__remove_directory(there);
    g_free(here);
    g_free(there);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(tests); k++)
        g_test_add_data_func(tests[k].name, GSIZE_TO_POINTER(k), run);
    return g_test_run();
}
