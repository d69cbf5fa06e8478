/* Sparse matrices compared with a sequential model, on random layouts: entries from triplets and by rows, products with vectors
 * of all distributions and widths. Every task holds the whole model. Arguments: a seed and a number of rounds. */
#include "draw.h"
#include "mixed_formats.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static dome_env *env;
static int round_number;

#define EXPECT(condition, ...)                                                                                                   \
    do {                                                                                                                         \
        if (!(condition)) {                                                                                                      \
            char *text_ = g_strdup_printf(__VA_ARGS__);                                                                          \
            dome_abort(env, "sparse, round %d: %s", round_number, text_);                                                        \
        }                                                                                                                        \
    } while (0)

/* ---- the model ---- */

typedef struct model {
    dsparse *a;
    uint64_t rows, columns;
    size_t given; /* triplets, in random order and with many of one place */
    dsparse_triplet *triplet;
    size_t entries; /* what they add up to, row by row */
    dsparse_triplet *entry;
} model;

static double random_value(void)
{
    static const double special[] = {0.0, -0.0, 1e300, -1e300, 0x1p-1074, 1};
    return draw(12) ? ((double)draw(2000001) - 1000000) * (draw(2) ? 1e-7 : 1e9) / 3 : special[draw(6)];
}

static int compare(const void *x, const void *y)
{
    const dsparse_triplet *a = x, *b = y;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return !!signbit(b->value) - !!signbit(a->value);
}

static uint64_t random_length(void)
{
    const uint64_t lengths[] = {0, 1, 2, 7, 255, 256, 257, 600, 1500};
    return draw(4) ? lengths[draw(sizeof lengths / sizeof lengths[0])] : draw(900);
}

static void draw_model(model *m)
{
    uint64_t most = draw(5) ? 4 * m->rows : m->rows * (1 + draw(40)), band = draw(3) ? 0 : 3;
    m->given = m->rows && m->columns ? draw(MIN(most, 20000) + 1) : 0;
    m->triplet = g_new0(dsparse_triplet, m->given + 1);
    for (size_t k = 0; k < m->given; k++) {
        uint64_t row = draw(m->rows), column = band ? row + draw(band) : draw(m->columns);
        column = MIN(column, m->columns - 1);
        m->triplet[k] = (dsparse_triplet){row, column, random_value()};
        if (k > 0 && draw(8) == 0) {
            m->triplet[k].row = m->triplet[k - 1].row;
            m->triplet[k].column = m->triplet[k - 1].column;
        }
    }
    m->entry = g_new0(dsparse_triplet, m->given + 1);
    memcpy(m->entry, m->triplet, m->given * sizeof *m->triplet);
    qsort(m->entry, m->given, sizeof *m->entry, compare);
    m->entries = 0;
    for (size_t k = 0; k < m->given; k++) {
        dsparse_triplet *last = &m->entry[m->entries - (m->entries > 0)];
        if (m->entries > 0 && last->row == m->entry[k].row && last->column == m->entry[k].column)
            last->value += m->entry[k].value;
        else
            m->entry[m->entries++] = m->entry[k];
    }
}

/* Every triplet is given by one task, which differs from call to call. */
static void assemble(const model *m)
{
    dsparse_triplet *mine = g_new0(dsparse_triplet, m->given + 1);
    size_t count = 0;
    for (size_t k = 0; k < m->given; k++)
        if ((int)draw((uint64_t)dome_size(env)) == dome_rank(env))
            mine[count++] = m->triplet[k];
    EXPECT(dsparse_assemble(m->a, count, mine) == DOME_OK, "dsparse_assemble fails");
    g_free(mine);
}

static void fill_row(void *ctx, uint64_t index, dsparse_row *row)
{
    const model *m = ctx;
    for (size_t k = 0; k < m->given; k++)
        if (m->triplet[k].row == index)
            dsparse_row_add(row, m->triplet[k].column, m->triplet[k].value);
}

static model make(void)
{
    model m = {.rows = random_length(), .columns = random_length()};
    if (draw(3) == 0)
        m.columns = m.rows;
    m.a = dsparse_new(env, draw(2) ? "A" : NULL, m.rows, m.columns);
    draw_model(&m);
    if (m.given < 1000 && draw(3) == 0)
        EXPECT(dsparse_fill_rows(m.a, fill_row, &m) == DOME_OK, "dsparse_fill_rows fails");
    else
        assemble(&m);
    return m;
}

static void drop(model *m)
{
    dsparse_free(m->a);
    g_free(m->triplet);
    g_free(m->entry);
}

static dome_layout *random_layout(uint64_t n)
{
    const dome_layout *now = dome_env_layout(env, n, 0);
    uint64_t blocks = dome_layout_blocks(now), left = blocks;
    uint64_t *counts = g_new0(uint64_t, (gsize)dome_size(env));
    for (int r = 0; r < dome_size(env); r++) {
        counts[r] = r == dome_size(env) - 1 ? left : draw(3) ? draw(2 * blocks / (uint64_t)dome_size(env) + 2) : 0;
        counts[r] = MIN(counts[r], left);
        left -= counts[r];
    }
    dome_layout *layout =
        dome_layout_new(n, dome_layout_block_size(now), dome_size(env), blocks && draw(2) ? draw(blocks) : 0, counts);
    g_free(counts);
    return layout;
}

static void relayout(uint64_t n)
{
    dome_layout *layout = random_layout(n);
    EXPECT(layout && dome_env_relayout(env, layout) == DOME_OK, "relayout fails");
    dome_layout_unref(layout);
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static int spans_of(const model *m, dome_span spans[2])
{
    dome_object_info info = {.size = sizeof info};
    dome_object_describe(dsparse_object(m->a), &info);
    return dome_layout_spans(info.layout, dome_rank(env), spans);
}

/* This task's rows are those of the model. */
static void check(const model *m, const char *when)
{
    dome_span spans[2];
    uint64_t *column = g_new(uint64_t, m->columns + 1);
    double *value = g_new(double, m->columns + 1);
    int nspans = spans_of(m, spans);
    for (int s = 0; s < nspans; s++) {
        size_t k = 0, count;
        while (k < m->entries && m->entry[k].row < spans[s].first)
            k++;
        for (uint64_t i = spans[s].first; i < spans[s].first + spans[s].count; i++) {
            EXPECT(dsparse_get_row(m->a, i, m->columns, column, value, &count) == DOME_OK, "dsparse_get_row fails");
            for (size_t j = 0; j < count; j++, k++)
                EXPECT(k < m->entries && m->entry[k].row == i && m->entry[k].column == column[j] &&
                           same(m->entry[k].value, value[j]),
                       "%s: entry %zu of row %d of %d x %d is wrong", when, j, (int)i, (int)m->rows, (int)m->columns);
            EXPECT(k == m->entries || m->entry[k].row > i, "%s: row %d lacks entries", when, (int)i);
        }
    }
    g_free(column);
    g_free(value);
    EXPECT(dsparse_entries(m->a) == m->entries, "%s: there are %d entries instead of %zu", when, (int)dsparse_entries(m->a),
           m->entries);
}

/* ---- vectors ---- */

static dvec *random_vector(uint64_t n, size_t width, dome_distribution distribution, uint64_t block, double **values)
{
    dvec *x = dvec_new_with(env, NULL, DOME_F64, n, DVEC_OPTIONS(.distribution = distribution, .width = width, .block = block));
    dvec_span spans[2];
    *values = g_new(double, n *width + 1);
    for (uint64_t i = 0; i < n * width; i++)
        (*values)[i] = random_value();
    dvec_local(x, spans);
    for (int s = 0; s < 2; s++)
        memcpy(spans[s].data, *values + spans[s].first * width, spans[s].count * width * sizeof **values);
    return x;
}

static void expect_vector(const dvec *y, const double *values, const char *what)
{
    dvec_span spans[2];
    dvec_local_const(y, spans);
    for (int s = 0; s < 2; s++)
        for (uint64_t i = 0; i < spans[s].count * dvec_width(y); i++)
            EXPECT(same(((double *)spans[s].data)[i], values[spans[s].first * dvec_width(y) + i]),
                   "%s: element %d is %a instead of %a", what, (int)(spans[s].first + i / dvec_width(y)),
                   ((double *)spans[s].data)[i], values[spans[s].first * dvec_width(y) + i]);
}

static void test_multiply(model *m)
{
    size_t width = draw(3) ? 1 : 1 + draw(4);
    double *x_values, *y_values = g_new0(double, m->rows *width + 1);
    dvec *x = random_vector(m->columns, width, draw(2) ? DOME_DYNAMIC : draw(3), draw(4) ? 0 : 1u << draw(4), &x_values);
    dvec *y = dvec_new_with(env, NULL, DOME_F64, m->rows, DVEC_OPTIONS(.width = width));
    for (size_t k = 0; k < m->entries; k++)
        for (size_t j = 0; j < width; j++)
            y_values[m->entry[k].row * width + j] += m->entry[k].value * x_values[m->entry[k].column * width + j];
    dvec_fill(y, 7);
    EXPECT(dsparse_multiply(y, m->a, x) == DOME_OK, "dsparse_multiply fails");
    expect_vector(y, y_values, "the product");
    for (int k = 0; k < 3; k++) { /* again with the same plan, and with others */
        if (draw(2))
            relayout(m->rows);
        if (draw(2))
            relayout(m->columns);
        EXPECT(dsparse_multiply(y, m->a, x) == DOME_OK, "dsparse_multiply fails");
        expect_vector(y, y_values, "another product");
    }
    expect_vector(x, x_values, "what was multiplied");
    dvec_free(x);
    dvec_free(y);
    g_free(x_values);
    g_free(y_values);
}

static void test_diagonal(model *m)
{
    double *values = g_new0(double, m->rows + 1), *factors, factor = random_value();
    dvec *d = dvec_new(env, NULL, DOME_F64, m->rows);
    EXPECT(dsparse_scale(m->a, factor) == DOME_OK, "dsparse_scale fails");
    dvec *f = random_vector(m->rows, 1, DOME_DYNAMIC, 0, &factors);
    EXPECT(dsparse_scale_rows(m->a, f) == DOME_OK, "dsparse_scale_rows fails");
    for (size_t k = 0; k < m->entries; k++) {
        m->entry[k].value *= factor;
        m->entry[k].value *= factors[m->entry[k].row];
        if (m->entry[k].row == m->entry[k].column)
            values[m->entry[k].row] = m->entry[k].value;
    }
    dvec_fill(d, 7);
    EXPECT(dsparse_diagonal(d, m->a) == DOME_OK, "dsparse_diagonal fails");
    expect_vector(d, values, "the diagonal");
    check(m, "a scaled matrix");
    dvec_free(d);
    dvec_free(f);
    g_free(values);
    g_free(factors);
}

static void test_norms(model *m)
{
    double *squares = g_new0(double, m->rows + 1), *magnitudes = g_new0(double, m->rows + 1), most = 0;
    dvec *v = dvec_new(env, NULL, DOME_F64, m->rows);
    dvec_span spans[2];
    for (size_t k = 0; k < m->entries; k++) {
        squares[m->entry[k].row] += m->entry[k].value * m->entry[k].value;
        magnitudes[m->entry[k].row] += fabs(m->entry[k].value);
    }
    for (uint64_t i = 0; i < m->rows; i++)
        most = isnan(most) || most >= magnitudes[i] ? most : magnitudes[i];
    dvec_local(v, spans);
    for (int s = 0; s < 2; s++)
        memcpy(spans[s].data, squares + spans[s].first, spans[s].count * sizeof *squares);
    double sum = dvec_sum(v), frobenius = dsparse_norm_frobenius(m->a), inf = dsparse_norm_inf(m->a);
    EXPECT(same(frobenius, sqrt(sum)), "the Frobenius norm is %a instead of %a", frobenius, sqrt(sum));
    EXPECT(same(inf, most), "the infinity norm is %a instead of %a", inf, most);
    dvec_free(v);
    g_free(squares);
    g_free(magnitudes);
}

static void test_transpose(model *m)
{
    model t = {.rows = m->columns, .columns = m->rows, .entries = m->entries, .entry = g_new(dsparse_triplet, m->entries + 1)};
    t.a = dsparse_new(env, NULL, t.rows, t.columns);
    for (size_t k = 0; k < m->entries; k++)
        t.entry[k] = (dsparse_triplet){m->entry[k].column, m->entry[k].row, m->entry[k].value};
    qsort(t.entry, t.entries, sizeof *t.entry, compare);
    EXPECT(dsparse_transpose(t.a, m->a) == DOME_OK, "dsparse_transpose fails");
    check(&t, "the transpose");
    test_multiply(&t);
    check(m, "what was transposed");
    if (m->rows == m->columns) {
        EXPECT(dsparse_transpose(t.a, t.a) == DOME_OK, "dsparse_transpose in place fails");
        model back = *m;
        back.a = t.a;
        check(&back, "the transpose of the transpose");
    }
    drop(&t);
}

static bool is_symmetric(const model *m)
{
    if (m->rows != m->columns)
        return false;
    for (size_t k = 0; k < m->entries; k++) {
        const dsparse_triplet *e = &m->entry[k];
        size_t j = 0;
        while (j < m->entries && (m->entry[j].row != e->column || m->entry[j].column != e->row))
            j++;
        if (e->value != (j < m->entries ? m->entry[j].value : 0))
            return false;
    }
    return true;
}

/* ---- files ---- */

static char folder[200];

/* Odd ranks may work in another directory, where they do not see the files. */
static void stand(bool all)
{
    EXPECT(chdir(all || dome_rank(env) % 2 == 0 ? folder : "/") == 0, "chdir");
}

static void begin_files(void)
{
    if (dome_rank(env) == 0) {
        char *path = g_build_filename(g_get_tmp_dir(), "dome-sparse-XXXXXX", NULL);
        EXPECT(g_mkdtemp(path) && strlen(path) < sizeof folder, "%s", path);
        strcpy(folder, path);
        g_free(path);
    }
    dome_bcast(env, 0, DOME_U8, folder, sizeof folder);
}

static void end_files(void)
{
    stand(true);
    dome_barrier(env);
    if (dome_rank(env) == 0)
        EXPECT(g_remove("A.mtx") == 0 && chdir("/") == 0 && g_rmdir(folder) == 0, "'%s' is not as it should be", folder);
}

static void make_file(const char *text)
{
    dome_barrier(env); /* all have read the file before */
    if (dome_rank(env) == 0)
        EXPECT(g_file_set_contents("A.mtx", text, -1, NULL), "A.mtx");
    dome_barrier(env);
}

/* On rank 0: the file has the model's entries in order. */
static void check_text(const model *m)
{
    char *text, *line;
    GString *expected = g_string_new("%%MatrixMarket matrix coordinate real general\n");
    g_string_append_printf(expected, "%d %d %d\n", (int)m->rows, (int)m->columns, (int)m->entries);
    for (size_t k = 0; k < m->entries; k++) {
        const dsparse_triplet *e = &m->entry[k];
        line = g_strdup_printf(isnan(e->value) ? "%d %d nan\n" : "%d %d %.17g\n", (int)e->row + 1, (int)e->column + 1, e->value);
        g_string_append(expected, line);
        g_free(line);
    }
    EXPECT(g_file_get_contents("A.mtx", &text, NULL, NULL), "A.mtx");
    EXPECT(strcmp(text, expected->str) == 0, "the text of a matrix is wrong");
    g_free(text);
    g_string_free(expected, TRUE);
}

static void test_file(model *m)
{
    stand(draw(2));
    EXPECT(dsparse_write(m->a, "A.mtx") == DOME_OK, "dsparse_write fails: %s", dome_error_message(env));
    if (dome_rank(env) == 0)
        check_text(m);
    dsparse_free(m->a);
    m->a = dsparse_read(env, draw(2) ? "A" : NULL, "A.mtx");
    EXPECT(m->a && dsparse_rows(m->a) == m->rows && dsparse_columns(m->a) == m->columns, "dsparse_read fails: %s",
           dome_error_message(env));
    check(m, "a matrix from a file");
    EXPECT(m->entries > 1000 || dsparse_is_symmetric(m->a) == is_symmetric(m), "dsparse_is_symmetric is wrong");
}

#define BANNER "%%MatrixMarket matrix coordinate "

/* A 3 x 3 matrix from this text has the values given, row by row. */
static void expect_file(const char *text, const double values[9], bool symmetric)
{
    make_file(text);
    dsparse *a = dsparse_read(env, NULL, "A.mtx");
    EXPECT(a, "%s is not read: %s", text, dome_error_message(env));
    dome_span spans[2];
    int nspans = spans_of(&(model){.a = a}, spans);
    for (int s = 0; s < nspans; s++)
        for (uint64_t i = spans[s].first; i < spans[s].first + spans[s].count; i++) {
            uint64_t column[3];
            double value[3], row[3] = {0};
            size_t count;
            EXPECT(dsparse_get_row(a, i, 3, column, value, &count) == DOME_OK, "dsparse_get_row fails");
            for (size_t k = 0; k < count; k++)
                row[column[k]] = value[k];
            for (int j = 0; j < 3; j++)
                EXPECT(same(row[j], values[3 * i + (uint64_t)j]), "%s: row %d, column %d is %g", text, (int)i, j, row[j]);
        }
    EXPECT(dsparse_is_symmetric(a) == symmetric, "%s: symmetry is not seen", text);
    dsparse_free(a);
}

static void expect_bad_file(const char *text, const char *message)
{
    make_file(text);
    EXPECT(!dsparse_read(env, NULL, "A.mtx"), "%s is read", text);
    EXPECT(dome_error_status(env) == DOME_ERR_FORMAT && strstr(dome_error_message(env), message), "%s: the error is \"%s\"", text,
           dome_error_message(env));
    dome_error_clear(env);
}

/* all: every task sees the files. */
static void test_formats(bool all)
{
    stand(all);
    expect_file(BANNER "real general\n%c\n\n3 3 4\n3 3 -2.5e1\n\n1 3 +.5\r\n2 2 4\n% c\n1 1 1.",
                (double[]){1, 0, .5, 0, 4, 0, 0, 0, -25}, false);
    expect_file("%%matrixmarket MATRIX Coordinate Real Symmetric\n3 3 3\n3 1 7\n2 2 5\n1 1 1\n",
                (double[]){1, 0, 7, 0, 5, 0, 7, 0, 0}, true);
    expect_file(BANNER "integer skew-symmetric\n3 3 2\n3 1 7\n2 1 -5\n", (double[]){0, 5, -7, -5, 0, 0, 7, 0, 0}, false);
    expect_file(BANNER "pattern symmetric\n3 3 2\n3 1\n2 2\n", (double[]){0, 0, 1, 0, 1, 0, 1, 0, 0}, true);
    expect_file(BANNER "real general\n3 3 4\n1 2 0.5\n1 1 inf\n1 2 .25\n3 3 -nan\n",
                (double[]){INFINITY, .75, 0, 0, 0, 0, 0, 0, NAN}, false);
    expect_file(BANNER "real general\n3 3 0", (double[9]){0}, true);
    expect_file(BANNER "integer general\r\n3 3 2\r\n1 1 -9007199254740991\r\n2 2 +9007199254740991\r\n",
                (double[]){1 - 0x1p53, 0, 0, 0, 0x1p53 - 1, 0, 0, 0, 0}, true);
    expect_bad_file("", "'A.mtx' is empty");
    expect_bad_file("3 3 0\n", "does not begin with %%MatrixMarket");
    expect_bad_file(BANNER "complex general\n3 3 0\n", "has complex values; a dsparse has real ones");
    expect_bad_file(BANNER "real hermitian\n3 3 0\n", "is stored as hermitian");
    expect_bad_file("%%MatrixMarket matrix array real general\n3 3\n", "holds a matrix in array format");
    expect_bad_file(BANNER "real general\n% only a comment\n", "ends before the line of sizes");
    expect_bad_file(BANNER "real symmetric\n3 4 0\n", "is stored as symmetric, but has 3 rows and 4 columns");
    expect_bad_file(BANNER "real general\n3 3 18446744073709551615\n1 1 1\n", "more than the rest of the file can hold");
    expect_bad_file(BANNER "real general\n3 3 2\n1 1 1\n4 1 1\n", "'A.mtx', line 4: row 4 is outside 1 ... 3");
    expect_bad_file(BANNER "real general\n3 3 3\n1 1 1\n% c\n3 1 1\n1 1 0x1\n",
                    "'A.mtx', line 6: the value is not a number: 0x1");
    expect_bad_file(BANNER "real general\n3 3 3\n1 x 1\n4 1 1\n0 1 1\n", "'A.mtx', line 3: column is not a whole number: x");
    expect_bad_file(BANNER "integer general\n3 3 1\n1 1 1.5\n", "line 3: the value is not a whole number: 1.5");
    expect_bad_file(BANNER "integer general\n3 3 1\n1 1 -9007199254740993\n", "line 3: the value is too large for a double");
    expect_bad_file(BANNER "real symmetric\n3 3 1\n1 2 1\n", "line 3: row 1, column 2 lies above the diagonal");
    expect_bad_file(BANNER "real skew-symmetric\n3 3 1\n2 2 1\n", "line 3: row 2, column 2 lies on the diagonal");
    expect_bad_file(BANNER "real general\n3 3 2\n1 1 1\n         \n", "'A.mtx' has 1 entries, but promises 2");
    expect_bad_file(BANNER "real general\n3 3 1\n1 1 1\n1 1 1\n", "'A.mtx' has 2 entries, but promises 1");
    char *line = g_strnfill(300000, ' '), *text = g_strconcat(BANNER "real general\n3 3 1\n1 1", line, "1\n", NULL);
    expect_bad_file(text, "'A.mtx', line 3: the line has more than 262144 bytes");
    text[strlen(BANNER "real general\n3 3 1\n")] = '%'; /* a comment of that length is as bad */
    expect_bad_file(text, "'A.mtx', line 3: the line has more than 262144 bytes");
    expect_bad_file(line, "'A.mtx' has a line of more than 262144 bytes before its entries");
    g_free(line);
    g_free(text);
    EXPECT(!dsparse_read(env, NULL, "none.mtx") && dome_error_status(env) == DOME_ERR_IO, "a file that is not there");
    dome_error_clear(env);
}

static void test_refill(model *m)
{
    g_free(m->triplet);
    g_free(m->entry);
    draw_model(m);
    assemble(m);
    check(m, "a matrix filled again");
}

static void test_move(model *m)
{
    relayout(m->rows);
    check(m, "a matrix on another layout");
}

/* ---- failures ---- */

static void expect_failure(dome_status status, dome_status expected, const char *text)
{
    EXPECT(status == expected && strstr(dome_error_message(env), text), "%s instead of %s with '%s': %s",
           dome_status_name(status), dome_status_name(expected), text, dome_error_message(env));
}

static void bad_row(void *ctx, uint64_t index, dsparse_row *row)
{
    (void)ctx;
    dsparse_row_add(row, index == 3 ? 5 : 0, 1);
    dsparse_row_add(row, 6, 1);
}

static void good_row(void *ctx, uint64_t index, dsparse_row *row)
{
    (void)ctx;
    dsparse_row_add(row, index % 5, 2);
}

static void test_failures(void)
{
    dome_set_errors_return(env);
    dsparse *a = dsparse_new(env, "A", 300, 5);
    dvec *x = dvec_new(env, "x", DOME_F64, 5), *y = dvec_new(env, "y", DOME_F64, 300), *f = dvec_new(env, "f", DOME_F32, 5);
    dvec *b = dvec_new_with(env, "b", DOME_F64, 300, DVEC_OPTIONS(.distribution = DOME_BLOCK));
    dvec *w = dvec_new_with(env, "w", DOME_F64, 300, DVEC_OPTIONS(.width = 2));
    EXPECT(dsparse_fill_rows(a, good_row, NULL) == DOME_OK, "dsparse_fill_rows fails");
    dsparse_triplet good = {0, 0, 1}, row = {300, 0, 1}, column = {7, 5, 1};
    bool last = dome_rank(env) == dome_size(env) - 1; /* one task alone finds it */
    expect_failure(dsparse_assemble(a, 1, last ? &row : &good), DOME_ERR_RANGE,
                   "dsparse_assemble of 'A': triplet 0 is in row 300, but 'A' has 300 rows");
    expect_failure(dsparse_assemble(a, 1, last ? &column : &good), DOME_ERR_RANGE,
                   "dsparse_assemble of 'A': triplet 0 is in column 5, but 'A' has 5 columns");
    expect_failure(dsparse_assemble(a, 1, NULL), DOME_ERR_ARGUMENT, "there are no triplets, but 1 are to be taken");
    expect_failure(dsparse_fill_rows(a, bad_row, NULL), DOME_ERR_RANGE, "has an entry in column ");
    expect_failure(dsparse_multiply(y, a, y), DOME_ERR_ARGUMENT, "'y' is both the vector to multiply and the result");
    expect_failure(dsparse_multiply(x, a, y), DOME_ERR_SHAPE, "'x' has 5 elements, but the matrix has 300 rows");
    expect_failure(dsparse_multiply(y, a, b), DOME_ERR_SHAPE, "'b' has 300 elements, but the matrix has 5 columns");
    expect_failure(dsparse_multiply(b, a, x), DOME_ERR_LAYOUT, "'b' is DOME_BLOCK, but the rows are DOME_DYNAMIC");
    expect_failure(dsparse_multiply(y, a, f), DOME_ERR_TYPE, "'f' has type f32, but the matrix has f64");
    expect_failure(dsparse_multiply(w, a, x), DOME_ERR_SHAPE, "'x' has width 1, but 'w' 2");
    expect_failure(dsparse_diagonal(w, a), DOME_ERR_SHAPE, "'w' has width 2 instead of 1");
    expect_failure(dsparse_scale_rows(a, x), DOME_ERR_SHAPE, "'x' has 5 elements, but the matrix has 300 rows");
    expect_failure(dsparse_transpose(a, a), DOME_ERR_SHAPE, "it has 300 rows and 5 columns, but 'A' 300 and 5");
    size_t count;
    expect_failure(dsparse_get_row(a, 300, 0, NULL, NULL, &count), DOME_ERR_RANGE, "row 300 does not exist");
    EXPECT(!dsparse_new(env, "B", 1, (UINT64_C(1) << 32) + 1), "too many columns are taken");
    expect_failure(dome_error_status(env), DOME_ERR_ARGUMENT, "more than 2^32");
    dvec_fill(x, 1); /* the matrix is as it was */
    EXPECT(dsparse_entries(a) == 300 && dsparse_multiply(y, a, x) == DOME_OK && dvec_sum(y) == 600, "a failure has changed A");
    dsparse_free(a);
    for (int k = 0; k < 5; k++)
        dvec_free((dvec *[]){x, y, f, b, w}[k]);
    dome_error_clear(env);
}

enum { SHIFTED = 300 };

/* One entry, so many columns to the right of the diagonal. */
static void shifted_row(void *ctx, uint64_t index, dsparse_row *row)
{
    dsparse_row_add(row, (index + *(const uint64_t *)ctx) % SHIFTED, 1);
}

/* A product after the matrix was filled anew, with a vector of the same layout. */
static void test_filled_anew(void)
{
    dsparse *a = dsparse_new(env, NULL, SHIFTED, SHIFTED);
    dvec *x = dvec_new(env, NULL, DOME_F64, SHIFTED), *y = dvec_new(env, NULL, DOME_F64, SHIFTED);
    dvec_iota(x);
    for (uint64_t shift = 0; shift < SHIFTED; shift += 100) {
        dvec_span spans[2];
        EXPECT(dsparse_fill_rows(a, shifted_row, &shift) == DOME_OK && dsparse_multiply(y, a, x) == DOME_OK, "a product fails");
        dvec_local(y, spans);
        for (int s = 0; s < 2; s++)
            for (uint64_t i = 0; i < spans[s].count; i++)
                EXPECT(((double *)spans[s].data)[i] == (double)((spans[s].first + i + shift) % SHIFTED),
                       "the product with entries at %d is that of earlier ones", (int)shift);
    }
    dvec_free(x);
    dvec_free(y);
    dsparse_free(a);
}

/* What balancing and checkpoints are told of this task's blocks: the entries as costs, and that all have changed. */
static void expect_blocks(const dsparse *a, uint64_t entries, const char *after)
{
    dome_object *object = dsparse_object(a);
    const dome_object_ops *ops = dome_object_operations(object);
    dome_object_info info = {.size = sizeof info};
    dome_object_describe(object, &info);
    for (uint64_t b = 0; b < dome_layout_blocks(info.layout); b++) {
        double cost;
        bool changed;
        if (dome_layout_owner(info.layout, b) != dome_rank(env))
            continue;
        const double rows = (double)dome_layout_block(info.layout, b).count;
        EXPECT(ops->cost(object, b, 1, &cost) == DOME_OK && cost == rows * (double)(1 + entries), "a block costs %g", cost);
        EXPECT(ops->changed(object, b, 1, &changed) == DOME_OK && changed, "a block is unchanged after %s", after);
    }
    ops->mark_saved(object);
}

static void full_row(void *ctx, uint64_t index, dsparse_row *row)
{
    (void)index;
    for (uint64_t k = 0; k < *(const uint64_t *)ctx; k++)
        dsparse_row_add(row, k, 2);
}

static void test_blocks(void)
{
    uint64_t entries = 7;
    dsparse *a = dsparse_new(env, NULL, SHIFTED, entries);
    dvec *d = dvec_new(env, NULL, DOME_F64, SHIFTED);
    dvec_fill(d, 3);
    dsparse_fill_rows(a, full_row, &entries);
    expect_blocks(a, entries, "they were filled");
    dsparse_scale(a, 2);
    expect_blocks(a, entries, "they were scaled");
    dsparse_scale_rows(a, d);
    expect_blocks(a, entries, "their rows were scaled");
    dvec_free(d);
    dsparse_free(a);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 120;
    static void (*const tests[])(model *) = {test_multiply, test_multiply, test_refill,    test_move,
                                             test_diagonal, test_norms,    test_transpose, test_file};
    enum { TESTS = sizeof tests / sizeof tests[0] };

    begin_files();
    for (round_number = 0; round_number < rounds; round_number++) {
        draw_state = seed * 1000003 + (uint64_t)round_number;
        if (round_number == rounds * 3 / 4)
            pretend_mixed_formats(env);
        model m = make();
        check(&m, "a new matrix");
        for (int k = 0; k < 4; k++)
            tests[draw(TESTS)](&m);
        check(&m, "a matrix at the end");
        drop(&m);
        EXPECT(dome_object_count(env) == 0, "%zu objects are left", dome_object_count(env));
    }
    test_filled_anew();
    test_blocks();
    test_failures();
    test_formats(false);
    test_formats(true);
    end_files();
    dome_print(env, "ok sparse: seed %llu, %d rounds, %d tasks\n", (unsigned long long)seed, rounds, dome_size(env));
    return dome_finalize(env);
}
