#include "wire/view_note.h"

#include <string.h>

static void expect_refused(const char *text, const char *message)
{
    char *why = NULL;
    g_assert_null(dome__note_read(text, "kind", 3, &why));
    g_assert_cmpstr(why, ==, message);
    g_free(why);
}

static void test_values_come_back(void)
{
    static const char *const values[] = {"", "a", "=", "\n", "\\", "\\n", "\\\\n", "two\nlines=and\\more\n", "\xff\x01 "};
    GString *text = g_string_new(NULL);
    char *why = NULL, key[16];
    dome__note_begin(text, "kind", 3);
    for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
        g_snprintf(key, sizeof key, "key_%zu", k);
        dome__note_put(text, key, values[k]);
    }
    dome_note *note = dome__note_read(text->str, "kind", 3, &why);
    g_assert_cmpstr(why, ==, NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
        g_snprintf(key, sizeof key, "key_%zu", k);
        g_assert_cmpstr(dome__note_get(note, key), ==, values[k]);
    }
    g_assert_null(dome__note_get(note, "other"));
    dome__note_free(note);
    g_string_free(text, TRUE);
}

static void test_refused(void)
{
    char *why = NULL;
    dome__note_free(dome__note_read("kind 3\n", "kind", 3, &why));
    g_assert_null(why);
    expect_refused("kind 2\nkey=1\n", "it is of version 2, and this library reads version 3");
    expect_refused("kind 4\n", "it is of version 4, and this library reads version 3");
    expect_refused("", "it is none of Dome's");
    expect_refused("other 3\n", "it is none of Dome's");
    expect_refused("kind3\n", "it is none of Dome's");
    expect_refused("kind -3\n", "it is none of Dome's");
    expect_refused("kind 3\nkey\n", "its line 2 is damaged");
    expect_refused("kind 3\nkey=1\nKEY=2\n", "its line 3 is damaged");
    expect_refused("kind 3\n=1\n", "its line 2 is damaged");
    expect_refused("kind 3\nkey=1\nkey=2\n", "its line 3 is damaged");
    expect_refused("kind 3\n\nkey=1\n", "its line 2 is damaged");
    expect_refused("kind 3\nkey=\\x\n", "its line 2 is damaged");
    expect_refused("kind 3\nkey=\\\n", "its line 2 is damaged");
}

/* ---- the note of a view ---- */

static const dome_view_facts facts = {.loops = G_MAXUINT64,
                                      .standby = "0 262147",
                                      .piece_fd = 7,
                                      .piece_number = 3,
                                      .requests = true,
                                      .outside = true,
                                      .first = 12,
                                      .provider = "pvm",
                                      .host = "h1",
                                      .slots = "h1=2 h2=4",
                                      .given = " 5 6 ",
                                      .hub = "cookie;127.0.0.1:5000;"};

static char *text_of_view(const char *rest)
{
    return dome__view_entry_text(&(dome_view_entry){.number = G_MAXUINT32,
                                                    .rank = 1,
                                                    .plan = "0 -@h2",
                                                    .stood = 2,
                                                    .kept = {-1, 9},
                                                    .profile = -1,
                                                    .losses = 4,
                                                    .program_ns = 1,
                                                    .begun_ns = 2,
                                                    .members_ns = 3,
                                                    .blocks_ns = 4,
                                                    .progress_ns = 5,
                                                    .progress_first = 6,
                                                    .progress_total = 7,
                                                    .avoid = "h3 h4",
                                                    .held = " 8 ",
                                                    .rest = rest});
}

static void test_view_comes_back(void)
{
    char *rest = dome__view_facts_text(&facts), *text = text_of_view(rest), *why = NULL;
    dome_entry_note note;
    g_assert_true(dome__view_note_read(text, &note, &why));
    g_assert_cmpuint(note.entry.number, ==, G_MAXUINT32);
    g_assert_cmpint(note.entry.rank, ==, 1);
    g_assert_cmpstr(note.entry.plan, ==, "0 -@h2");
    g_assert_cmpint(note.entry.kept[0], ==, -1);
    g_assert_cmpint(note.entry.kept[1], ==, 9);
    g_assert_cmpstr(note.entry.held, ==, " 8 ");
    g_assert_true(note.facts.loops == G_MAXUINT64);
    g_assert_cmpstr(note.facts.standby, ==, "0 262147");
    g_assert_true(note.facts.requests && note.facts.outside && !note.facts.supervised);
    g_assert_cmpstr(note.facts.hub, ==, "cookie;127.0.0.1:5000;");
    note.entry.rest = "";
    char *head = dome__view_entry_text(&note.entry), *tail = dome__view_facts_text(&note.facts),
         *again = g_strconcat(head, tail, NULL);
    g_assert_cmpstr(again, ==, text);
    dome__view_note_clear(&note);
    g_free(head);
    g_free(tail);
    g_free(again);
    g_free(text);
    g_free(rest);
}

static void expect_view_refused(const char *text, const char *message)
{
    dome_entry_note note;
    char *why = NULL;
    g_assert_false(dome__view_note_read(text, &note, &why));
    g_assert_cmpstr(why, ==, message);
    g_free(why);
}

static void test_view_refused(void)
{
    char *rest = dome__view_facts_text(&facts), *half = text_of_view(""), *text = text_of_view(rest);
    char *at = strstr(text, "\nrank=1\n");
    g_assert_nonnull(at);
    expect_view_refused(half, "it has no 'loops'");
    at[strlen("\nrank=")] = 'x';
    expect_view_refused(text, "the value of 'rank' in it is damaged");
    text[strlen("dome-view ")] = '2';
    expect_view_refused(text, "it is of version 2, and this library reads version 1");
    expect_view_refused("3\n1\n0 1\n", "it is none of Dome's"); /* lines without keys */
    g_free(rest);
    g_free(half);
    g_free(text);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/note/values-come-back", test_values_come_back);
    g_test_add_func("/note/refused", test_refused);
    g_test_add_func("/note/view-comes-back", test_view_comes_back);
    g_test_add_func("/note/view-refused", test_view_refused);
    return g_test_run();
}
