/* The Matrix Market reader of the examples: files that it reads, and every kind that it must refuse, with the line it names. */
#include "examples/matrix_market.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#define REAL      "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define INTEGER   "%%MatrixMarket matrix coordinate integer general\n"

static void parse(mm_matrix *m, const char *text)
{
    char error[MM_ERROR] = "";
    bool done = mm_parse(m, text, strlen(text), error);
    g_assert_cmpstr(error, ==, "");
    g_assert_true(done);
}

static void refuse(const char *text, const char *expected)
{
    mm_matrix m;
    char error[MM_ERROR] = "";
    /* A copy without the final NUL, so that valgrind and AddressSanitizer see a read past the end. */
    size_t bytes = strlen(text);
    char *copy = g_memdup2(text, bytes);
    bool done = mm_parse(&m, copy, bytes, error);
    g_free(copy);
    if (done || strcmp(error, expected) != 0)
        g_test_message("%s", text);
    g_assert_false(done);
    g_assert_cmpstr(error, ==, expected);
    g_assert_null(m.row);
    g_assert_null(m.column);
    g_assert_null(m.value);
}

static void check(const mm_matrix *m, uint64_t n, const uint64_t *row, const uint64_t *column, const double *value)
{
    g_assert_cmpuint(m->n, ==, n);
    g_assert_cmpuint(m->entries, ==, row[n]);
    g_assert_cmpmem(m->row, (n + 1) * sizeof *row, row, (n + 1) * sizeof *row);
    g_assert_cmpmem(m->column, row[n] * sizeof *column, column, row[n] * sizeof *column);
    g_assert_cmpmem(m->value, row[n] * sizeof *value, value, row[n] * sizeof *value);
}

static void test_general(void)
{
    mm_matrix m;
    parse(&m, "%%MatrixMarket matrix coordinate real general\n"
              "% a comment\n\n3 3 5\n% another\n3 3 -2.5e1\n1 3 +.5\n\n2 2 4\n1 1 1.\r\n3 1 1E-400\n\n%end\n");
    check(&m, 3, (uint64_t[]){0, 2, 3, 5}, (uint64_t[]){0, 2, 1, 0, 2}, (double[]){1, 0.5, 4, 0, -25});
    mm_clear(&m);
    g_assert_null(m.row);
}

static void test_symmetric(void)
{
    mm_matrix m;
    parse(&m, "%%matrixmarket MATRIX Coordinate Real Symmetric\n3 3 4\n3 1 7\n2 2 5\n1 1 1\n3 2 8");
    check(&m, 3, (uint64_t[]){0, 2, 4, 6}, (uint64_t[]){0, 2, 1, 2, 0, 1}, (double[]){1, 7, 5, 8, 7, 8});
    mm_clear(&m);
}

static void test_integer(void)
{
    mm_matrix m;
    parse(&m, INTEGER "1 1 1\n1 1 -9007199254740991\n");
    check(&m, 1, (uint64_t[]){0, 1}, (uint64_t[]){0}, (double[]){1 - 0x1p53});
    mm_clear(&m);
}

static void test_header(void)
{
    refuse("", "line 0: the file is empty");
    refuse("\n", "line 1: not a Matrix Market file: it does not start with %%MatrixMarket");
    refuse("hello", "line 1: not a Matrix Market file: it does not start with %%MatrixMarket");
    refuse("%MatrixMarket matrix coordinate real general\n",
           "line 1: not a Matrix Market file: it does not start with %%MatrixMarket");
    refuse("%%MatrixMarket matrix coordinate real\n",
           "line 1: a header has 5 words: %%MatrixMarket matrix coordinate FIELD SYMMETRY");
    refuse("%%MatrixMarket matrix coordinate real general too\n",
           "line 1: a header has 5 words: %%MatrixMarket matrix coordinate FIELD SYMMETRY");
    refuse("%%MatrixMarket vector coordinate real general\n", "line 1: holds a vector; this program reads matrices");
    refuse("%%MatrixMarket matrix array real general\n",
           "line 1: the format is array; this program reads coordinate (sparse) matrices");
    refuse("%%MatrixMarket matrix coordinate pattern general\n",
           "line 1: the values are pattern; this program reads real and integer ones");
    refuse("%%MatrixMarket matrix coordinate complex general\n",
           "line 1: the values are complex; this program reads real and integer ones");
    refuse("%%MatrixMarket matrix coordinate real hermitian\n",
           "line 1: the storage is hermitian; this program reads general and symmetric ones");
    refuse("%%MatrixMarket matrix coordinate real skew-symmetric\n",
           "line 1: the storage is skew-symmetric; this program reads general and symmetric ones");
}

static void test_sizes(void)
{
    refuse(REAL, "line 1: the file ends before the line of sizes");
    refuse(REAL "% only comments\n\n", "line 3: the file ends before the line of sizes");
    refuse(REAL "2 2\n", "line 2: the line of sizes has 3 numbers: rows, columns, entries");
    refuse(REAL "2 2 1 1\n", "line 2: the line of sizes has 3 numbers: rows, columns, entries");
    refuse(REAL "two 2 1\n", "line 2: the number of rows is not a whole number: two");
    refuse(REAL "2 -2 1\n", "line 2: the number of columns is not a whole number: -2");
    refuse(REAL "2 2 1.0\n", "line 2: the number of entries is not a whole number: 1.0");
    refuse(REAL "18446744073709551616 2 1\n", "line 2: the number of rows is too large: 18446744073709551616");
    refuse(REAL "%\n2 3 1\n", "line 3: the matrix is not square: 2 x 3");
    refuse(REAL "0 0 0\n", "line 2: the matrix has no rows");
    refuse(REAL "2 2 2\n1 1 1\n", "line 2: promises 2 entries, more than the rest of the file can hold");
    refuse(REAL "2 2 18446744073709551615\n1 1 1\n2 2 1\n",
           "line 2: promises 18446744073709551615 entries, more than the rest of the file can hold");
    refuse(REAL "3 3 2\n1 1 1\n2 2 1\n", "line 2: 2 entries leave some of the 3 rows empty: the matrix is singular");
    refuse(SYMMETRIC "18446744073709551615 18446744073709551615 1\n1 1 1\n",
           "line 2: 1 entries leave some of the 18446744073709551615 rows empty: the matrix is singular");
}

static void test_entries(void)
{
    refuse(REAL "2 2 3\n1 1 1.00000000\n2 2 1.000000000\n", "line 4: the file ends after 2 of 3 entries");
    refuse(REAL "2 2 2\n1 1 1\n2 2 1\n1 2 1\n", "line 5: the file goes on after the 2 entries promised");
    refuse(REAL "2 2 2\n0 1 1\n2 2 1\n", "line 3: row 0 is outside 1 ... 2");
    refuse(REAL "2 2 2\n1 1 1\n2 3 1\n", "line 4: column 3 is outside 1 ... 2");
    refuse(REAL "2 2 2\n1 1 1\n2 99999999999999999999 1\n", "line 4: column is too large: 99999999999999999999");
    refuse(REAL "2 2 2\n1 1 1\n2.0 2 1\n", "line 4: row is not a whole number: 2.0");
    refuse(REAL "2 2 2\n1 1 1\n2 2 \n", "line 4: an entry has 3 numbers: row, column, value");
    refuse(REAL "2 2 2\n1 1 1 0\n2 2 1\n", "line 3: an entry has 3 numbers: row, column, value");
    refuse(REAL "2 2 2\n1 1 1\n1 1 1\n", "line 4: row 1, column 1 was given before, in line 3");
    refuse(SYMMETRIC "2 2 2\n1 1 1\n1 2 1\n", "line 4: row 1, column 2 lies above the diagonal of a symmetric matrix");
}

static void test_values(void)
{
    refuse(REAL "1 1 1\n1 1 nan\n", "line 3: value is not finite: nan");
    refuse(REAL "1 1 1\n1 1 -Inf\n", "line 3: value is not finite: -Inf");
    refuse(REAL "1 1 1\n1 1 1e999\n", "line 3: value is too large: 1e999");
    refuse(REAL "1 1 1\n1 1 0x10\n", "line 3: value is not a number: 0x10");
    refuse(REAL "1 1 1\n1 1 1,5\n", "line 3: value is not a number: 1,5");
    refuse(REAL "1 1 1\n1 1 1e\n", "line 3: value is not a number: 1e");
    refuse(REAL "1 1 1\n1 1 .e1\n", "line 3: value is not a number: .e1");
    refuse(REAL "1 1 1\n1 1 1.5d3\n", "line 3: value is not a number: 1.5d3");
    refuse(INTEGER "1 1 1\n1 1 1.5\n", "line 3: value is not a whole number: 1.5");
    refuse(INTEGER "1 1 1\n1 1 9007199254740993\n", "line 3: value is too large: 9007199254740993");
    char *zeros = g_strnfill(600, '0');
    char *text = g_strdup_printf("%s1 1 1\n1 1 %s\n", REAL, zeros);
    refuse(text, "line 3: value has more than 511 characters");
    g_free(zeros);
    g_free(text);
    /* A NUL in the middle is a character like others, not the end. */
    mm_matrix m;
    char error[MM_ERROR];
    const char nul[] = REAL "1 1 1\n1 1 1\0002\n";
    g_assert_false(mm_parse(&m, nul, sizeof nul - 1, error));
}

static void test_file(void)
{
    mm_matrix m;
    char error[MM_ERROR];
    char *dir = g_dir_make_tmp("dome-test-XXXXXX", NULL);
    char *path = g_build_filename(dir, "a.mtx", NULL);

    g_assert_false(mm_read(&m, path, error));
    char *expected = g_strdup_printf("%s: No such file or directory", path);
    g_assert_cmpstr(error, ==, expected);
    g_free(expected);
    g_assert_false(mm_read(&m, dir, error));
    g_assert_true(g_str_has_suffix(error, ": Is a directory"));

    g_assert_true(g_file_set_contents(path, REAL "1 1 1\n2 1 1\n", -1, NULL));
    g_assert_false(mm_read(&m, path, error));
    expected = g_strdup_printf("%s: line 3: row 2 is outside 1 ... 1", path);
    g_assert_cmpstr(error, ==, expected);
    g_free(expected);

    /* Longer than one read. */
    GString *text = g_string_new(REAL "20000 20000 20000\n");
    for (int i = 20000; i >= 1; i--)
        g_string_append_printf(text, "%d %d %d\n", i, i, i);
    g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
    g_string_free(text, TRUE);
    g_assert_true(mm_read(&m, path, error));
    for (uint64_t i = 0; i < 20000; i++)
        g_assert_true(m.row[i] == i && m.column[i] == i && m.value[i] == (double)(i + 1));
    g_assert_cmpuint(m.entries, ==, 20000);
    mm_clear(&m);

    g_unlink(path);
    g_rmdir(dir);
    g_free(path);
    g_free(dir);
}

static void test_check_cg(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {SYMMETRIC "3 3 4\n1 1 1\n2 2 2\n3 3 3\n3 1 -5\n", NULL},
        {REAL "3 3 5\n1 1 1\n2 2 2\n3 3 3\n3 1 -5\n1 3 -5\n", NULL},
        {REAL "3 3 4\n1 1 1\n2 2 2\n3 3 3\n3 1 0\n", NULL},
        {REAL "3 3 4\n1 1 1\n2 2 2\n3 3 3\n3 1 5\n", "not symmetric: entry (3, 1) is 5, entry (1, 3) is 0"},
        {REAL "2 2 4\n1 1 1\n2 2 2\n1 2 1\n2 1 -1\n", "not symmetric: entry (1, 2) is 1, entry (2, 1) is -1"},
        {REAL "2 2 2\n1 1 1\n1 2 1\n", "entry (1, 2) is 1, entry (2, 1) is 0"},
        {REAL "1 1 1\n1 1 -2\n", "not positive definite: entry (1, 1) is -2"},
        {REAL "1 1 1\n1 1 1e-310\n", "entry (1, 1) is 1e-310, too small"},
    };
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        mm_matrix m;
        char error[MM_ERROR] = "";
        g_assert_true(mm_parse(&m, cases[k].text, strlen(cases[k].text), error));
        bool good = mm_check_cg(&m, error);
        g_assert_true(good == !cases[k].says);
        if (cases[k].says && !strstr(error, cases[k].says))
            g_error("'%s' is not in '%s'", cases[k].says, error);
        mm_clear(&m);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/matrix_market/general", test_general);
    g_test_add_func("/matrix_market/symmetric", test_symmetric);
    g_test_add_func("/matrix_market/integer", test_integer);
    g_test_add_func("/matrix_market/header", test_header);
    g_test_add_func("/matrix_market/sizes", test_sizes);
    g_test_add_func("/matrix_market/entries", test_entries);
    g_test_add_func("/matrix_market/values", test_values);
    g_test_add_func("/matrix_market/file", test_file);
    g_test_add_func("/matrix_market/check_cg", test_check_cg);
    return g_test_run();
}
