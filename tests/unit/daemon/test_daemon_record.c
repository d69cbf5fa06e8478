/* Lines of records: what is written is read again, and nothing else is taken. */
#include "daemon/daemon_record.h"

#include <glib.h>
#include <string.h>

static bool parse(const char *text, dome_record *record)
{
    return dome__record_parse(text, strlen(text), record);
}

static void test_again(void)
{
    char every[256];
    for (int c = 1; c < 256; c++)
        every[c - 1] = (char)c;
    every[255] = '\0';
    dome_record record = dome__record_new("submit"), again;
    dome__record_add(&record, "word", every);
    dome__record_add(&record, "word", "");
    dome__record_add_number(&record, "tasks", -7);
    char *line = dome__record_line(&record);
    g_assert_null(strpbrk(line, "\n\t\033"));
    g_assert_true(parse(line, &again));
    g_assert_cmpstr(again.verb, ==, "submit");
    char **words = dome__record_all(&again, "word");
    g_assert_cmpuint(g_strv_length(words), ==, 2);
    g_assert_cmpstr(words[0], ==, every);
    g_assert_cmpstr(words[1], ==, "");
    g_assert_cmpstr(dome__record_get(&again, "tasks"), ==, "-7");
    g_strfreev(words);
    g_free(line);
    dome__record_clear(&record);
    dome__record_clear(&again);
}

static void test_refused(void)
{
    static const char *const lines[] = {"",        " ",      "A",      "a b",  "a b=%",   "a b=%4",   "a b=%00",
                                        "a b=%g0", "a  b=c", "a b=c ", "a =c", "a b=c\t", "a b=\001", "a b=c d"};
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        dome_record record;
        g_assert_false(parse(lines[i], &record));
        g_assert_null(record.verb);
    }
}

static void test_bounds(void)
{
    dome_record record;
    GString *line = g_string_new("a");
    for (int i = 0; i <= DOME_RECORD_PAIRS; i++)
        g_string_append(line, " b=");
    g_assert_false(parse(line->str, &record));
    g_string_assign(line, "a b=");
    for (int i = 0; i < DOME_RECORD_MOST; i++)
        g_string_append_c(line, 'c');
    g_assert_false(parse(line->str, &record));
    g_string_free(line, TRUE);
}

static void test_numbers(void)
{
    dome_record record;
    int64_t value;
    g_assert_true(parse("a b=12 c=x d=99999999999999999999", &record));
    g_assert_true(dome__record_number(&record, "b", 1, 12, 0, &value));
    g_assert_cmpint(value, ==, 12);
    g_assert_false(dome__record_number(&record, "b", 1, 11, 5, &value));
    g_assert_cmpint(value, ==, 5);
    g_assert_false(dome__record_number(&record, "c", 0, 1, 0, &value));
    g_assert_false(dome__record_number(&record, "d", 0, G_MAXINT64, 0, &value));
    g_assert_true(dome__record_number(&record, "e", 3, 4, 9, &value));
    g_assert_cmpint(value, ==, 9);
    dome__record_clear(&record);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record/again", test_again);
    g_test_add_func("/record/refused", test_refused);
    g_test_add_func("/record/bounds", test_bounds);
    g_test_add_func("/record/numbers", test_numbers);
    return g_test_run();
}
