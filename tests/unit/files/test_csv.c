/* Text files of columns: fields, records, and scans of parts. tests/multi/tables.c reads files. */
#include "files/csv.h"

#include <glib.h>
#include <string.h>

static dome_csv_format format(char separator, char comment)
{
    dome_csv_format f;
    g_assert_true(dome__csv_format(&f, separator, comment));
    return f;
}

static void test_formats(void)
{
    dome_csv_format f;
    const char *good = ",;\t |:_/", *bad = "\"\n\r.+-0123456789aeZ";
    for (size_t k = 0; good[k]; k++)
        g_assert_true(dome__csv_format(&f, good[k], '#'));
    for (size_t k = 0; bad[k]; k++) {
        g_assert_false(dome__csv_format(&f, bad[k], 0));
        g_assert_false(dome__csv_format(&f, ',', bad[k]));
    }
    g_assert_false(dome__csv_format(&f, 0, 0));
    g_assert_false(dome__csv_format(&f, ',', ','));
    g_assert_false(dome__csv_format(&f, ',', ' '));
    g_assert_false(dome__csv_format(&f, ',', '\t'));
}

/* ---- fields ---- */

/* The fields of a record, each in brackets: with ! behind a quoted field that does not end, and + behind one that goes on. */
static void expect_fields(const dome_csv_format *f, const char *record, const char *expected)
{
    enum { ROOM = 20 };
    dome_csv_field fields[ROOM];
    GString *text = g_string_new(NULL);
    const size_t count = dome__csv_split(f, record, strlen(record), fields, ROOM);
    g_assert_cmpuint(count, <=, ROOM);
    g_assert_cmpuint(dome__csv_split(f, record, strlen(record), NULL, 0), ==, count);
    for (size_t k = 0; k < count; k++) {
        char plain[100];
        g_string_append_c(text, '[');
        g_string_append_len(text, plain, (gssize)dome__csv_unquote(&fields[k], plain));
        g_string_append_printf(text, "]%s%s", fields[k].open ? "!" : "", fields[k].extra ? "+" : "");
    }
    g_assert_cmpstr(text->str, ==, expected);
    g_string_free(text, TRUE);
}

static void test_fields(void)
{
    const dome_csv_format comma = format(',', '#'), tab = format('\t', 0), blanks = format(' ', '#');
    expect_fields(&comma, "", "[]");
    expect_fields(&comma, "a,b , c\td ,\"e\"\r", "[a][b][c\td][e]");
    expect_fields(&comma, ",,", "[][][]");
    expect_fields(&comma, "\"\", \"\" ,1", "[][][1]");
    expect_fields(&comma, "\"a,\n#\"\"b\"\"\",\"\"\"\"", "[a,\n#\"b\"][\"]");
    expect_fields(&comma, "a\"b\",c", "[a\"b\"][c]");
    expect_fields(&comma, "\"a\"b,\"c\" \"d\"", "[a]+[c]+");
    expect_fields(&comma, "a,\"b,c", "[a][b,c]!");
    expect_fields(&comma, "\"", "[]!");
    expect_fields(&comma, "1,2 # 3,\"4", "[1][2]");
    expect_fields(&comma, "1,#2", "[1][]");
    expect_fields(&tab, "a b\t c\t\t", "[a b][c][][]");
    expect_fields(&tab, "#\t1", "[#][1]");
    expect_fields(&blanks, " a \t b\r", "[a][b]");
    expect_fields(&blanks, "\"a b\" \"\"#", "[a b][]");
    expect_fields(&blanks, "  # a", "");
    expect_fields(&blanks, "a,b", "[a,b]");
}

static void expect_record(const dome_csv_format *f, const char *text, size_t length, bool complete)
{
    bool found;
    g_assert_cmpuint(dome__csv_record(f, text, strlen(text), &found), ==, length);
    g_assert_true(found == complete);
}

static void test_records(void)
{
    const dome_csv_format f = format(',', '#');
    expect_record(&f, "1,2\n3", 3, true);
    expect_record(&f, "1,2\r\n3", 4, true);
    expect_record(&f, "1,2", 3, false);
    expect_record(&f, "\"1\n\"\"\n\",2\n", 9, true);
    expect_record(&f, "\"1\n", 3, false);
    expect_record(&f, "1#\"\n", 3, true);
    const char *text = "\n  \n# 1\n \t2,\n";
    dome_csv_state state = DOME_CSV_LINE;
    g_assert_cmpuint(dome__csv_first(&f, &state, text, strlen(text)), ==, 10);
    state = DOME_CSV_LINE;
    g_assert_cmpuint(dome__csv_first(&f, &state, text, 9), ==, 9);
    g_assert_cmpint(state, ==, DOME_CSV_LINE);
    state = DOME_CSV_QUOTED;
    g_assert_cmpuint(dome__csv_first(&f, &state, text, strlen(text)), ==, strlen(text));
    g_assert_cmpint(state, ==, DOME_CSV_QUOTED);
    state = DOME_CSV_PLAIN;
    g_assert_cmpuint(dome__csv_first(&f, &state, "x\n1", 3), ==, 2);
}

static void test_missing(void)
{
    static const char *const yes[] = {"", "NA", "na", "n/a", "NULL", "None", "nan"}, *const no[] = {"N", "NAN1", "0", "-", "nil"};
    for (size_t k = 0; k < G_N_ELEMENTS(yes); k++)
        g_assert_true(dome__csv_is_missing(yes[k], strlen(yes[k])));
    for (size_t k = 0; k < G_N_ELEMENTS(no); k++)
        g_assert_false(dome__csv_is_missing(no[k], strlen(no[k])));
}

/* ---- scans ---- */

/* Records and lines by the way a reader goes: from record to record. */
static void count(const dome_csv_format *f, const char *text, size_t bytes, uint64_t *records, uint64_t *lines)
{
    dome_csv_state state = DOME_CSV_LINE;
    *records = *lines = 0;
    for (size_t at = 0; at < bytes;) {
        bool complete;
        at += dome__csv_first(f, &state, text + at, bytes - at);
        if (at == bytes)
            break;
        at += dome__csv_record(f, text + at, bytes - at, &complete);
        at += complete;
        state = DOME_CSV_LINE;
        ++*records;
    }
    for (size_t k = 0; k < bytes; k++)
        *lines += text[k] == '\n';
}

/* Random texts in parts: the scans of the parts follow one after the other, from any state, as if the text were whole. */
static void test_parts(void)
{
    static const char letters[] = "\"\"\n\n\n, \t#\rab1";
    for (int round = 0; round < 3000; round++) {
        const dome_csv_format f = format(",\t "[g_test_rand_int_range(0, 3)], g_test_rand_int_range(0, 2) ? '#' : 0);
        const size_t bytes = (size_t)g_test_rand_int_range(0, round % 100 ? 80 : 20000);
        char *text = g_malloc(bytes + 1);
        for (size_t k = 0; k < bytes; k++)
            text[k] = letters[g_test_rand_int_range(0, sizeof letters - 1)];
        dome_csv_scan whole;
        dome__csv_scan_begin(&whole);
        dome__csv_scan(&f, &whole, text, bytes);
        uint64_t records, lines;
        count(&f, text, bytes, &records, &lines);
        g_assert_cmpuint(whole.records[DOME_CSV_LINE], ==, records);
        g_assert_cmpuint(whole.lines, ==, lines);
        for (int from = 0; from < DOME_CSV_STATES; from++) {
            dome_csv_state state = (dome_csv_state)from;
            uint64_t found = 0;
            for (size_t at = 0, n; at < bytes; at += n) {
                dome_csv_scan part;
                n = (size_t)g_test_rand_int_range(1, (gint32)(bytes - at) + 1);
                const size_t half = (size_t)g_test_rand_int_range(0, (gint32)n + 1);
                dome__csv_scan_begin(&part);
                dome__csv_scan(&f, &part, text + at, half);
                dome__csv_scan(&f, &part, text + at + half, n - half);
                found += part.records[state];
                state = part.state[state];
            }
            g_assert_cmpuint(found, ==, whole.records[from]);
            g_assert_cmpint(state, ==, whole.state[from]);
        }
        g_free(text);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/csv/formats", test_formats);
    g_test_add_func("/csv/fields", test_fields);
    g_test_add_func("/csv/records", test_records);
    g_test_add_func("/csv/missing", test_missing);
    g_test_add_func("/csv/parts", test_parts);
    return g_test_run();
}
