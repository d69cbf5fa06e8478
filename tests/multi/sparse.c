/* Sparse matrices compared with a sequential model, on random layouts: entries from triplets and by rows, products with vectors
 * of all distributions and widths. Every task holds the whole model. Arguments: a seed and a number of rounds. */
#include "mixed_formats.h"
#include "rounds.h"
#include "sparse/dsparse_transposed_product.h"
#include "vector_files.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values of any type, as parts ---- */

typedef struct value {
    double re, im;
} value;

static bool is_single(dome_type type)
{
    return type == DOME_F32 || type == DOME_C64;
}

static bool is_complex(dome_type type)
{
    return type == DOME_C64 || type == DOME_C128;
}

static bool is_integer(dome_type type)
{
    return type == DOME_I32 || type == DOME_I64;
}

/* Integers modulo 2^32 or 2^64; those of 64 bits are small here, so that a double has them. */
static value whole(dome_type type, uint64_t number)
{
    return (value){type == DOME_I32 ? (double)(int32_t)(uint32_t)number : (double)(int64_t)number, 0};
}

static uint64_t number_of(value v)
{
    return (uint64_t)(int64_t)v.re;
}

/* gcc drops a conversion to float and back where it vectorizes, but not one through memory. */
static double rounded(dome_type type, double x)
{
    const volatile float narrow = (float)x;
    return is_single(type) ? narrow : x;
}

static value plus(dome_type type, value a, value b)
{
    if (is_integer(type))
        return whole(type, number_of(a) + number_of(b));
    return (value){rounded(type, a.re + b.re), rounded(type, a.im + b.im)};
}

static value times(dome_type type, value a, value b)
{
    if (is_integer(type))
        return whole(type, number_of(a) * number_of(b));
    if (!is_complex(type))
        return (value){rounded(type, a.re * b.re), 0};
    double ac = rounded(type, a.re * b.re), bd = rounded(type, a.im * b.im);
    double ad = rounded(type, a.re * b.im), bc = rounded(type, a.im * b.re);
    return (value){rounded(type, ac - bd), rounded(type, ad + bc)};
}

static void put_value(dome_type type, void *to, uint64_t k, value v)
{
    if (type == DOME_I32)
        ((int32_t *)to)[k] = (int32_t)v.re;
    else if (type == DOME_I64)
        ((int64_t *)to)[k] = (int64_t)v.re;
    else if (type == DOME_F64)
        ((double *)to)[k] = v.re;
    else if (type == DOME_F32)
        ((float *)to)[k] = (float)v.re;
    else if (type == DOME_C128)
        memcpy((double *)to + 2 * k, &v, sizeof v);
    else
        memcpy((float *)to + 2 * k, (float[]){(float)v.re, (float)v.im}, 2 * sizeof(float));
}

static value get_value(dome_type type, const void *from, uint64_t k)
{
    if (type == DOME_I32)
        return (value){((const int32_t *)from)[k], 0};
    if (type == DOME_I64)
        return (value){(double)((const int64_t *)from)[k], 0};
    if (type == DOME_F64)
        return (value){((const double *)from)[k], 0};
    if (type == DOME_F32)
        return (value){((const float *)from)[k], 0};
    if (type == DOME_C128)
        return (value){((const double *)from)[2 * k], ((const double *)from)[2 * k + 1]};
    return (value){((const float *)from)[2 * k], ((const float *)from)[2 * k + 1]};
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool same_value(value a, value b)
{
    return same(a.re, b.re) && same(a.im, b.im);
}

static double random_number(void)
{
    static const double special[] = {0.0, -0.0, 1e300, -1e300, 0x1p-1074, 1};
    return draw(12) ? ((double)draw(2000001) - 1000000) * (draw(2) ? 1e-7 : 1e9) / 3 : special[draw(6)];
}

static value random_value(dome_type type)
{
    static const double special[] = {0, INT32_MAX, INT32_MIN, 65537, -65536, 1};
    if (is_integer(type))
        return (value){type == DOME_I64 || draw(4) ? (double)draw(2001) - 1000 : special[draw(6)], 0};
    double re = random_number(), im = is_complex(type) ? random_number() : 0;
    return (value){rounded(type, re), rounded(type, im)};
}

/* ---- the model ---- */

typedef struct entry {
    uint64_t row, column;
    value value;
} entry;

typedef struct model {
    dsparse *a;
    dome_type type;
    uint64_t rows, columns;
    size_t given; /* entries, in random order and with many of one place */
    entry *triplet;
    size_t entries; /* what they add up to, row by row */
    entry *entry;
} model;

static int compare_part(double a, double b)
{
    return a != b ? (a < b ? -1 : 1) : !!signbit(b) - !!signbit(a);
}

static int compare(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    int by_real = compare_part(a->value.re, b->value.re);
    return by_real ? by_real : compare_part(a->value.im, b->value.im);
}

static uint64_t random_length(void)
{
    const uint64_t lengths[] = {0, 1, 2, 7, 255, 256, 257, 600, 1500};
    return draw(4) ? lengths[draw(sizeof lengths / sizeof lengths[0])] : draw(900);
}

static void draw_model(model *m)
{
    uint64_t most = draw(5) ? 4 * m->rows : m->rows * (1 + draw(40)), band = draw(3) ? 0 : 3;
    const bool alike = draw(4) == 0; /* but for few */
    const value same = random_value(m->type);
    m->given = m->rows && m->columns ? draw(MIN(most, 20000) + 1) : 0;
    m->triplet = g_new0(entry, m->given + 1);
    for (size_t k = 0; k < m->given; k++) {
        uint64_t row = draw(m->rows), column = band ? row + draw(band) : draw(m->columns);
        column = MIN(column, m->columns - 1);
        m->triplet[k] = (entry){row, column, alike && draw(200) ? same : random_value(m->type)};
        if (k > 0 && draw(alike ? 300 : 8) == 0) {
            m->triplet[k].row = m->triplet[k - 1].row;
            m->triplet[k].column = m->triplet[k - 1].column;
            if (draw(2))
                m->triplet[k].value.re = m->triplet[k - 1].value.re;
        }
    }
    m->entry = g_new0(entry, m->given + 1);
    memcpy(m->entry, m->triplet, m->given * sizeof *m->triplet);
    qsort(m->entry, m->given, sizeof *m->entry, compare);
    m->entries = 0;
    for (size_t k = 0; k < m->given; k++) {
        entry *last = &m->entry[m->entries - (m->entries > 0)];
        if (m->entries > 0 && last->row == m->entry[k].row && last->column == m->entry[k].column)
            last->value = plus(m->type, last->value, m->entry[k].value);
        else
            m->entry[m->entries++] = m->entry[k];
    }
}

static void give_element(void *element, dome_type type, value value)
{
    if (type == DOME_I64)
        *(int64_t *)element = (int64_t)value.re;
    else
        memcpy(element, &value, dome_type_size(type));
}

/* The same triplets in vectors, whose parts the tasks give; or those of the model, which are in the order of rows. */
static void assemble_vectors(const model *given)
{
    model ordered = *given;
    const model *m = &ordered;
    if (draw(2)) {
        ordered.triplet = given->entry;
        ordered.given = given->entries;
    }
    const dome_type type = is_integer(m->type) ? DOME_I64 : is_complex(m->type) ? DOME_C128 : DOME_F64;
    dvec *part[] = {dvec_new(env, NULL, draw(2) ? DOME_I64 : DOME_U64, m->given), dvec_new(env, NULL, DOME_I64, m->given),
                    dvec_new(env, NULL, type, m->given)};
    for (int v = 0; v < 3; v++) {
        dvec_span spans[2];
        dvec_local_spans(part[v], spans);
        for (int s = 0; s < 2; s++)
            for (size_t k = 0; k < spans[s].count; k++) {
                const entry *e = &m->triplet[spans[s].first + k];
                if (v < 2)
                    ((uint64_t *)spans[s].data)[k] = v ? e->column : e->row;
                else
                    give_element((char *)spans[s].data + k * dome_type_size(type), type, e->value);
            }
    }
    EXPECT(dsparse_assemble_vectors(m->a, part[0], part[1], part[2]) == DOME_OK, "dsparse_assemble_vectors fails");
    for (int v = 0; v < 3; v++)
        dvec_free(part[v]);
}

/* Every triplet is given by one task, which differs from call to call. */
static void assemble(const model *m)
{
    if (draw(3) == 0) {
        assemble_vectors(m);
        return;
    }
    dsparse_triplet *real = g_new0(dsparse_triplet, m->given + 1);
    dsparse_triplet_c128 *parts = g_new0(dsparse_triplet_c128, m->given + 1);
    dsparse_triplet_i64 *integers = g_new0(dsparse_triplet_i64, m->given + 1);
    size_t count = 0;
    for (size_t k = 0; k < m->given; k++)
        if ((int)draw((uint64_t)dome_size(env)) == dome_rank(env)) {
            const entry *e = &m->triplet[k];
            real[count] = (dsparse_triplet){e->row, e->column, e->value.re};
            integers[count] = (dsparse_triplet_i64){e->row, e->column, is_integer(m->type) ? (int64_t)e->value.re : 0};
            parts[count++] = (dsparse_triplet_c128){e->row, e->column, {e->value.re, e->value.im}};
        }
    EXPECT((is_integer(m->type)   ? dsparse_assemble_i64(m->a, count, integers)
            : is_complex(m->type) ? dsparse_assemble_c128(m->a, count, parts)
                                  : dsparse_assemble(m->a, count, real)) == DOME_OK,
           "dsparse_assemble fails");
    g_free(real);
    g_free(parts);
    g_free(integers);
}

static void fill_row(void *ctx, uint64_t index, dsparse_row *row)
{
    const model *m = ctx;
    for (size_t k = 0; k < m->given; k++) {
        const entry *e = &m->triplet[k];
        if (e->row == index && is_complex(m->type) && (e->value.im != 0 || signbit(e->value.im)))
            dsparse_row_add_c128(row, e->column, (double[]){e->value.re, e->value.im});
        else if (e->row == index && is_integer(m->type))
            dsparse_row_add_i64(row, e->column, (int64_t)e->value.re);
        else if (e->row == index)
            dsparse_row_add(row, e->column, e->value.re);
    }
}

static dome_type random_type(void)
{
    return draw(2) ? DOME_F64 : (dome_type[]){DOME_F32, DOME_C64, DOME_C128, DOME_I32, DOME_I64}[draw(5)];
}

static model make(void)
{
    model m = {.type = random_type(), .rows = random_length(), .columns = random_length()};
    if (draw(3) == 0)
        m.columns = m.rows;
    const char *name = draw(2) ? "A" : NULL;
    m.a = m.type == DOME_F64 ? dsparse_new(env, name, m.rows, m.columns) : dsparse_new_of(env, name, m.type, m.rows, m.columns);
    EXPECT(dsparse_type(m.a) == m.type, "the type is %s", dome_type_name(dsparse_type(m.a)));
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
    double *real = g_new(double, m->columns + 1), (*parts)[2] = g_malloc((m->columns + 1) * sizeof *parts);
    int64_t *integers = g_new(int64_t, m->columns + 1);
    int nspans = spans_of(m, spans);
    for (int s = 0; s < nspans; s++) {
        size_t k = 0, count;
        while (k < m->entries && m->entry[k].row < spans[s].first)
            k++;
        for (uint64_t i = spans[s].first; i < spans[s].first + spans[s].count; i++) {
            bool by_parts = is_complex(m->type) || (i % 2 && !is_integer(m->type));
            EXPECT((is_integer(m->type) ? dsparse_get_row_i64(m->a, i, m->columns, column, integers, &count)
                    : by_parts          ? dsparse_get_row_c128(m->a, i, m->columns, column, parts, &count)
                                        : dsparse_get_row(m->a, i, m->columns, column, real, &count)) == DOME_OK,
                   "dsparse_get_row fails");
            for (size_t j = 0; j < count; j++, k++) {
                value v = is_integer(m->type) ? (value){(double)integers[j], 0}
                          : by_parts          ? (value){parts[j][0], parts[j][1]}
                                              : (value){real[j], 0};
                EXPECT(k < m->entries && m->entry[k].row == i && m->entry[k].column == column[j] &&
                           same_value(m->entry[k].value, v),
                       "%s: entry %zu of row %d of %d x %d %s is %a %a", when, j, (int)i, (int)m->rows, (int)m->columns,
                       dome_type_name(m->type), v.re, v.im);
            }
            EXPECT(k == m->entries || m->entry[k].row > i, "%s: row %d lacks entries", when, (int)i);
        }
    }
    g_free(column);
    g_free(real);
    g_free(parts);
    g_free(integers);
    EXPECT(dsparse_entries(m->a) == m->entries, "%s: there are %d entries instead of %zu", when, (int)dsparse_entries(m->a),
           m->entries);
}

/* ---- vectors ---- */

static dvec *random_vector(dome_type type, uint64_t n, size_t width, dome_distribution distribution, uint64_t block,
                           value **values)
{
    dvec *x = dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.distribution = distribution, .width = width, .block = block));
    dvec_span spans[2];
    *values = g_new(value, n * width + 1);
    for (uint64_t i = 0; i < n * width; i++)
        (*values)[i] = random_value(type);
    dvec_local_spans(x, spans);
    for (int s = 0; s < 2; s++)
        for (uint64_t k = 0; k < spans[s].count * width; k++)
            put_value(type, spans[s].data, k, (*values)[spans[s].first * width + k]);
    return x;
}

static void expect_vector(const dvec *y, const value *values, const char *what)
{
    dvec_span spans[2];
    dvec_local_spans_const(y, spans);
    for (int s = 0; s < 2; s++)
        for (uint64_t i = 0; i < spans[s].count * dvec_width(y); i++) {
            value v = get_value(dvec_type(y), spans[s].data, i), expected = values[spans[s].first * dvec_width(y) + i];
            EXPECT(same_value(v, expected), "%s: element %d is %a %a instead of %a %a", what,
                   (int)(spans[s].first + i / dvec_width(y)), v.re, v.im, expected.re, expected.im);
        }
}

/* y += A x or A^T x; the entries are in the order in which both add. */
static void model_product(const model *m, bool transposed, size_t width, const value *x, value *y)
{
    for (size_t k = 0; k < m->entries; k++) {
        const entry *e = &m->entry[k];
        uint64_t from = transposed ? e->row : e->column, to = transposed ? e->column : e->row;
        for (size_t j = 0; j < width; j++)
            y[to * width + j] = plus(m->type, y[to * width + j], times(m->type, e->value, x[from * width + j]));
    }
}

static void test_product(model *m, bool transposed)
{
    size_t width = draw(3) ? 1 : 1 + draw(4);
    uint64_t rows = transposed ? m->columns : m->rows, columns = transposed ? m->rows : m->columns;
    dome_distribution other = draw(2) ? DOME_DYNAMIC : draw(3);
    uint64_t block = draw(4) ? 0 : 1u << draw(4);
    value *x_values, *y_values = g_new0(value, rows * width + 1);
    dvec *x = random_vector(m->type, columns, width, transposed ? DOME_DYNAMIC : other, transposed ? 0 : block, &x_values);
    dvec *y = transposed
                  ? dvec_new_with(env, NULL, m->type, rows, DVEC_OPTIONS(.distribution = other, .width = width, .block = block))
                  : dvec_new_with(env, NULL, m->type, rows, DVEC_OPTIONS(.width = width));
    dome_status (*multiply)(dvec *, dsparse *, const dvec *) = transposed ? dsparse_multiply_transposed : dsparse_multiply;
    model_product(m, transposed, width, x_values, y_values);
    m->a->wanted = (int)draw(DSPARSE_WAYS);
    dvec_fill(y, 7);
    EXPECT(multiply(y, m->a, x) == DOME_OK, "a product fails: %s", dome_error_message(env));
    expect_vector(y, y_values, transposed ? "the transposed product" : "the product");
    for (int k = 0; k < 3; k++) { /* again with the same plan, and with others */
        if (draw(2))
            relayout(m->rows);
        if (draw(2))
            relayout(m->columns);
        EXPECT(multiply(y, m->a, x) == DOME_OK, "a product fails: %s", dome_error_message(env));
        expect_vector(y, y_values, transposed ? "another transposed product" : "another product");
    }
    expect_vector(x, x_values, "what was multiplied");
    dvec_free(x);
    dvec_free(y);
    g_free(x_values);
    g_free(y_values);
}

static void test_multiply(model *m)
{
    test_product(m, false);
}

static void test_multiply_transposed(model *m)
{
    test_product(m, true);
    if (draw(2))
        test_product(m, draw(2));
}

/* Whether the entries may be multiplied: a double has the integers of 64 bits that come of it. */
static bool may_grow(const model *m)
{
    double most = 0;
    for (size_t k = 0; k < m->entries && m->type == DOME_I64; k++)
        most = fmax(most, fabs(m->entry[k].value.re));
    return most < 1e4;
}

static void test_diagonal(model *m)
{
    if (!may_grow(m))
        return;
    value *values = g_new0(value, m->rows + 1), *factors, factor = random_value(m->type);
    bool complex = is_complex(m->type) && draw(2);
    dvec *d = dvec_new(env, NULL, m->type, m->rows);
    EXPECT((is_integer(m->type) ? dsparse_scale_i64(m->a, (int64_t)factor.re)
            : complex           ? dsparse_scale_c128(m->a, (double[]){factor.re, factor.im})
                                : dsparse_scale(m->a, factor.re)) == DOME_OK,
           "dsparse_scale fails");
    dvec *f = random_vector(m->type, m->rows, 1, DOME_DYNAMIC, 0, &factors);
    EXPECT(dsparse_scale_rows(m->a, f) == DOME_OK, "dsparse_scale_rows fails");
    for (size_t k = 0; k < m->entries; k++) {
        value *v = &m->entry[k].value;
        if (complex || is_integer(m->type))
            *v = times(m->type, *v, factor);
        else
            *v = (value){rounded(m->type, v->re * factor.re), is_complex(m->type) ? rounded(m->type, v->im * factor.re) : 0};
        *v = times(m->type, *v, factors[m->entry[k].row]);
        if (m->entry[k].row == m->entry[k].column)
            values[m->entry[k].row] = *v;
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
        value e = m->entry[k].value;
        squares[m->entry[k].row] += is_complex(m->type) ? e.re * e.re + e.im * e.im : e.re * e.re;
        magnitudes[m->entry[k].row] += is_complex(m->type) ? hypot(e.re, e.im) : fabs(e.re);
    }
    for (uint64_t i = 0; i < m->rows; i++)
        most = isnan(most) || most >= magnitudes[i] ? most : magnitudes[i];
    dvec_local_spans(v, spans);
    for (int s = 0; s < 2; s++)
        memcpy(spans[s].data, squares + spans[s].first, spans[s].count * sizeof *squares);
    double sum = dvec_sum(v), frobenius = dsparse_norm_frobenius(m->a), inf = dsparse_norm_inf(m->a);
    EXPECT(same(frobenius, sqrt(sum)), "the Frobenius norm is %a instead of %a", frobenius, sqrt(sum));
    EXPECT(same(inf, most), "the infinity norm is %a instead of %a", inf, most);
    dvec_free(v);
    g_free(squares);
    g_free(magnitudes);
}

/* Whether a block counts as scattered changes the way, never the result; the matrices here are too narrow to have such blocks. */
static void scatter_blocks(dsparse *a)
{
    const uint64_t bits = draw(3) ? draw(UINT64_C(1) << 20) : 0;
    for (uint64_t k = 0; k < a->blocks; k++)
        a->block[k].scattered = bits >> (k + (uint64_t)dome_rank(env)) % 20 & 1;
}

static void test_transpose(model *m)
{
    model t = {
        .type = m->type, .rows = m->columns, .columns = m->rows, .entries = m->entries, .entry = g_new(entry, m->entries + 1)};
    t.a = dsparse_new_of(env, NULL, t.type, t.rows, t.columns);
    for (size_t k = 0; k < m->entries; k++)
        t.entry[k] = (entry){m->entry[k].column, m->entry[k].row, m->entry[k].value};
    qsort(t.entry, t.entries, sizeof *t.entry, compare);
    scatter_blocks(m->a);
    EXPECT(dsparse_transpose(t.a, m->a) == DOME_OK, "dsparse_transpose fails");
    check(&t, "the transpose");
    test_multiply(&t);
    check(m, "what was transposed");
    if (m->rows == m->columns) {
        scatter_blocks(t.a);
        EXPECT(dsparse_transpose(t.a, t.a) == DOME_OK, "dsparse_transpose in place fails");
        model back = *m;
        back.a = t.a;
        check(&back, "the transpose of the transpose");
    }
    drop(&t);
}

/* ---- some of the rows ---- */

/* Row i of z is row rows[i] of m. */
static void check_rows(const model *m, dsparse *z, uint64_t count, const uint64_t *rows, const char *what)
{
    EXPECT(z && dsparse_rows(z) == count && dsparse_columns(z) == m->columns && dsparse_type(z) == m->type, "%s: %s", what,
           dome_error_message(env));
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(entry));
    for (uint64_t i = 0; i < count; i++)
        for (size_t k = 0; k < m->entries; k++)
            if (m->entry[k].row == rows[i]) {
                entry e = {i, m->entry[k].column, m->entry[k].value};
                g_array_append_val(entries, e);
            }
    model expected = {.a = z, .type = m->type, .rows = count, .columns = m->columns, .entries = entries->len};
    expected.entry = (entry *)(void *)entries->data;
    check(&expected, what);
    g_array_free(entries, TRUE);
    dsparse_free(z);
}

static void test_slice(model *m)
{
    int64_t step = draw(2) ? 1 : (int64_t)draw(5) + 1;
    uint64_t count = m->rows ? draw(m->rows / (uint64_t)step + 1) : 0, most = count ? (count - 1) * (uint64_t)step : 0;
    uint64_t first = m->rows ? draw(m->rows - most) : 0, *rows = g_new(uint64_t, count + 1);
    if (draw(2)) {
        first += most;
        step = -step;
    }
    for (uint64_t i = 0; i < count; i++)
        rows[i] = first + i * (uint64_t)step;
    check_rows(m, dsparse_slice(m->a, first, count, step, draw(2) ? "slice" : NULL), count, rows, "a slice");
    g_free(rows);
}

static void test_submatrix(model *m)
{
    uint64_t count = m->rows ? MIN(random_length(), 600) : 0, *rows = g_new(uint64_t, count + 1);
    dome_distribution distribution = draw(3) ? DOME_DYNAMIC : DOME_WHOLE;
    dvec *numbers = dvec_new_with(env, NULL, draw(2) ? DOME_I64 : DOME_U32, count, DVEC_OPTIONS(.distribution = distribution));
    dvec_span spans[2];
    for (uint64_t i = 0; i < count; i++)
        rows[i] = draw(m->rows);
    dvec_local_spans(numbers, spans);
    for (int s = 0; s < 2; s++)
        for (uint64_t i = 0; i < spans[s].count; i++)
            if (dvec_type(numbers) == DOME_I64)
                ((int64_t *)spans[s].data)[i] = (int64_t)rows[spans[s].first + i];
            else
                ((uint32_t *)spans[s].data)[i] = (uint32_t)rows[spans[s].first + i];
    check_rows(m, dsparse_submatrix(m->a, numbers, draw(2) ? "rows" : NULL), count, rows, "a submatrix");
    dvec_free(numbers);
    g_free(rows);
}

static bool is_symmetric(const model *m)
{
    if (m->rows != m->columns)
        return false;
    for (size_t k = 0; k < m->entries; k++) {
        const entry *e = &m->entry[k];
        size_t j = 0;
        while (j < m->entries && (m->entry[j].row != e->column || m->entry[j].column != e->row))
            j++;
        value other = j < m->entries ? m->entry[j].value : (value){0, 0};
        if (e->value.re != other.re || e->value.im != other.im)
            return false;
    }
    return true;
}

/* ---- files ---- */

static void end_files(void)
{
    stand(true);
    dome_barrier(env);
    if (dome_rank(env) == 0)
        EXPECT(g_remove("A.mtx") == 0, "A.mtx");
    remove_folder();
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
    GString *expected = g_string_new("%%MatrixMarket matrix coordinate ");
    g_string_append(expected, is_complex(m->type)   ? "complex general\n"
                              : is_integer(m->type) ? "integer general\n"
                                                    : "real general\n");
    g_string_append_printf(expected, "%d %d %d\n", (int)m->rows, (int)m->columns, (int)m->entries);
    for (size_t k = 0; k < m->entries; k++) {
        const entry *e = &m->entry[k];
        const double parts[] = {e->value.re, e->value.im};
        g_string_append_printf(expected, "%d %d", (int)e->row + 1, (int)e->column + 1);
        for (int part = 0; part < (is_complex(m->type) ? 2 : 1); part++) {
            line = isnan(parts[part]) ? g_strdup(" nan") : g_strdup_printf(" %.17g", parts[part]);
            g_string_append(expected, line);
            g_free(line);
        }
        g_string_append_c(expected, '\n');
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
    m->type = is_complex(m->type) ? DOME_C128 : DOME_F64;
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

/* The same with complex values. */
static void expect_complex_file(const char *text, const double values[9][2], bool symmetric)
{
    make_file(text);
    dsparse *a = dsparse_read(env, NULL, "A.mtx");
    EXPECT(a && dsparse_type(a) == DOME_C128, "%s is not read: %s", text, dome_error_message(env));
    dome_span spans[2];
    int nspans = spans_of(&(model){.a = a}, spans);
    for (int s = 0; s < nspans; s++)
        for (uint64_t i = spans[s].first; i < spans[s].first + spans[s].count; i++) {
            uint64_t column[3];
            double value[3][2], row[3][2] = {{0}};
            size_t count;
            EXPECT(dsparse_get_row_c128(a, i, 3, column, value, &count) == DOME_OK, "dsparse_get_row_c128 fails");
            for (size_t k = 0; k < count; k++)
                memcpy(row[column[k]], value[k], sizeof value[k]);
            for (size_t j = 0; j < 3; j++)
                EXPECT(row[j][0] == values[3 * i + j][0] && row[j][1] == values[3 * i + j][1], "%s: row %d, column %d is %g %g",
                       text, (int)i, (int)j, row[j][0], row[j][1]);
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
    expect_complex_file(BANNER "complex general\n3 3 3\n1 1 1 -2\n3 2 .5 0\n1 1 1 3\n",
                        (double[9][2]){{2, 1}, {0}, {0}, {0}, {0}, {0}, {0}, {.5, 0}, {0}}, false);
    expect_complex_file(BANNER "complex symmetric\n3 3 2\n2 2 1 4\n3 1 5 6\n",
                        (double[9][2]){{0}, {0}, {5, 6}, {0}, {1, 4}, {0}, {5, 6}, {0}, {0}}, true);
    expect_complex_file(BANNER "complex skew-symmetric\n3 3 1\n3 1 5 6\n",
                        (double[9][2]){{0}, {0}, {-5, -6}, {0}, {0}, {0}, {5, 6}, {0}, {0}}, false);
    expect_complex_file(BANNER "complex hermitian\n3 3 2\n2 2 1 0\n3 1 5 6\n",
                        (double[9][2]){{0}, {0}, {5, -6}, {0}, {1, 0}, {0}, {5, 6}, {0}, {0}}, false);
    expect_bad_file(BANNER "quaternion general\n3 3 0\n", "has quaternion values; a dsparse has real or complex ones");
    expect_bad_file(BANNER "complex general\n3 3 1\n1 1 1.000\n",
                    "line 3: an entry has 4 numbers: row, column, real part, imaginary part");
    expect_bad_file(BANNER "complex general\n3 3 1\n1 1 1 x\n", "line 3: the value is not a number: x");
    expect_bad_file(BANNER "complex hermitian\n3 3 1\n2 2 1 1\n", "line 3: row 2, column 2 of a hermitian matrix is not real");
    expect_bad_file(BANNER "complex triangular\n3 3 0\n", "is stored as triangular; complex matrices are general");
    expect_bad_file(BANNER "complex general\n3 3 4\n1 1 1 1\n1 1 1 1\n1 1 1 1\n", "more than the rest of the file can hold");
    expect_bad_file(BANNER "real hermitian\n3 3 0\n", "is stored as hermitian; real matrices are general, symmetric or skew");
    expect_bad_file(BANNER "pattern skew-symmetric\n3 3 2\n2 1\n3 1\n",
                    "is stored as skew-symmetric; pattern matrices are general or symmetric, because");
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

static void complex_row(void *ctx, uint64_t index, dsparse_row *row)
{
    (void)ctx;
    dsparse_row_add(row, 0, 1);
    if (index == 3)
        dsparse_row_add_c128(row, 1, (double[]){1, 1});
}

/* What is refused because of the values' type, and rows that do not exist. */
static void test_refusals(void)
{
    dsparse *a = dsparse_new(env, "A", 300, 5), *c = dsparse_new_of(env, "C", DOME_C64, 5, 300);
    dvec *x = dvec_new(env, "x", DOME_F64, 300), *y = dvec_new(env, "y", DOME_F64, 5), *i = dvec_new(env, "i", DOME_I32, 5);
    dvec *whole = dvec_new_with(env, "whole", DOME_F64, 5, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    dvec *wide = dvec_new_with(env, "wide", DOME_I64, 5, DVEC_OPTIONS(.width = 2));
    dvec *block = dvec_new_with(env, "block", DOME_I64, 5, DVEC_OPTIONS(.distribution = DOME_BLOCK));
    dvec *small = dvec_new_with(env, "small", DOME_I64, 600, DVEC_OPTIONS(.block = 1));
    const dsparse_triplet_c128 triplet = {0, 0, {1, 1}};
    size_t count;
    EXPECT(!dsparse_new_of(env, "I", DOME_U8, 5, 5), "a matrix of bytes");
    expect_failure(dome_error_status(env), DOME_ERR_TYPE,
                   "I cannot have values of type u8; a matrix has i32, i64, f32, f64, c64 or c128");
    expect_failure(dsparse_assemble_c128(a, 1, &triplet), DOME_ERR_TYPE,
                   "dsparse_assemble_c128 of 'A': the matrix has values of type f64, which are not complex");
    expect_failure(dsparse_scale_c128(a, (double[]){1, 1}), DOME_ERR_TYPE, "has values of type f64, which are not complex");
    expect_failure(dsparse_fill_rows(a, complex_row, NULL), DOME_ERR_TYPE,
                   "row 3 has a complex entry, but 'A' has values of type f64");
    EXPECT(dsparse_get_row(c, 0, 0, NULL, NULL, &count) == DOME_ERR_TYPE, "a complex row is read as a real one");
    expect_failure(dome_error_status(env), DOME_ERR_TYPE, "has complex values, for which there is dsparse_get_row_c128");
    expect_failure(dsparse_multiply(y, c, x), DOME_ERR_TYPE, "'y' has type f64, but the matrix has c64");
    expect_failure(dsparse_transpose(c, a), DOME_ERR_TYPE, "it has values of type c64, but 'A' f64");
    expect_failure(dsparse_multiply_transposed(x, a, y), DOME_ERR_SHAPE, "'y' has 5 elements, but the matrix has 300 rows");
    expect_failure(dsparse_multiply_transposed(x, a, whole), DOME_ERR_SHAPE,
                   "'whole' has 5 elements, but the matrix has 300 rows");
    EXPECT(!dsparse_slice(a, 10, 30, 10, NULL), "a slice beyond the end");
    expect_failure(dome_error_status(env), DOME_ERR_RANGE, "30 rows from 10 on, 10 apart, do not lie in its 300 rows");
    EXPECT(!dsparse_slice(a, 10, 2, 0, NULL), "a step of 0");
    expect_failure(dome_error_status(env), DOME_ERR_ARGUMENT, "a step of 0");
    dvec_iota(i);
    dvec_rsubs(i, i, 2); /* 2 ... -2 */
    EXPECT(!dsparse_submatrix(a, i, NULL), "a row before the first one");
    expect_failure(dome_error_status(env), DOME_ERR_RANGE, "of 'i' is outside the 300 rows of 'A'");
    EXPECT(!dsparse_submatrix(a, y, NULL), "rows by doubles");
    expect_failure(dome_error_status(env), DOME_ERR_TYPE, "'y' has type f64, but numbers of rows must be of integer type");
    EXPECT(!dsparse_submatrix(a, wide, NULL), "rows by pairs");
    expect_failure(dome_error_status(env), DOME_ERR_SHAPE, "'wide' has width 2 instead of 1");
    EXPECT(!dsparse_submatrix(a, block, NULL), "rows that stay");
    expect_failure(dome_error_status(env), DOME_ERR_LAYOUT, "'block' is DOME_BLOCK");
    EXPECT(!dsparse_submatrix(a, small, NULL), "rows in other blocks");
    expect_failure(dome_error_status(env), DOME_ERR_SHAPE, "'small' has blocks of 1 elements, but so many rows have blocks of 2");
    dsparse_free(a);
    dsparse_free(c);
    for (int k = 0; k < 7; k++)
        dvec_free((dvec *[]){x, y, i, whole, wide, block, small}[k]);
    dome_error_clear(env);
}

static void integer_row(void *ctx, uint64_t index, dsparse_row *row)
{
    dsparse_row_add_i64(row, 0, index == 3 ? *(const int64_t *)ctx : 1);
}

/* Integers that no double has, and what is refused. */
static void test_integers(void)
{
    const int64_t large = (INT64_C(1) << 62) + 1, too_large = (INT64_C(1) << 31);
    dsparse *a = dsparse_new(env, "A", 300, 5), *i = dsparse_new_of(env, "I", DOME_I32, 300, 5);
    dsparse *l = dsparse_new_of(env, "L", DOME_I64, 300, 5), *t = dsparse_new_of(env, NULL, DOME_I64, 5, 300);
    dvec *x = dvec_new(env, "x", DOME_I64, 300), *y = dvec_new(env, "y", DOME_I64, 5);
    const dsparse_triplet real = {0, 0, 1};
    const dsparse_triplet_i64 given = {0, 0, 1}, high = {2, 1, too_large};
    size_t count;
    expect_failure(dsparse_assemble(i, 1, &real), DOME_ERR_TYPE, "values of type i32, for which there is dsparse_assemble_i64");
    expect_failure(dsparse_assemble_i64(a, 1, &given), DOME_ERR_TYPE, "has values of type f64, which are not integers");
    expect_failure(dsparse_assemble_i64(i, 1, &high), DOME_ERR_RANGE,
                   "row 2 has the value 2147483648, but 'I' has values of type i32");
    expect_failure(dsparse_fill_rows(i, integer_row, (void *)(uintptr_t)&too_large), DOME_ERR_RANGE,
                   "row 3 has the value 2147483648");
    expect_failure(dsparse_fill_rows(a, integer_row, (void *)(uintptr_t)&too_large), DOME_ERR_TYPE,
                   " has an integer entry, but 'A' has values of type f64");
    expect_failure(dsparse_fill_rows(i, good_row, NULL), DOME_ERR_TYPE,
                   " has an entry that is not an integer, but 'I' has values of type i32");
    expect_failure(dsparse_scale(i, 2), DOME_ERR_TYPE, "has values of type i32, for which there is dsparse_scale_i64");
    expect_failure(dsparse_scale_i64(a, 2), DOME_ERR_TYPE, "has values of type f64, which are not integers");
    EXPECT(dsparse_get_row(i, 0, 0, NULL, NULL, &count) == DOME_ERR_TYPE, "integers are read as doubles");
    expect_failure(dome_error_status(env), DOME_ERR_TYPE, "has integer values, for which there is dsparse_get_row_i64");
    EXPECT(dsparse_get_row_i64(a, 0, 0, NULL, NULL, &count) == DOME_ERR_TYPE, "doubles are read as integers");
    expect_failure(dome_error_status(env), DOME_ERR_TYPE, "has values that are not integers");
    EXPECT(dsparse_fill_rows(l, integer_row, (void *)(uintptr_t)&large) == DOME_OK && dsparse_transpose(t, l) == DOME_OK,
           "large integers: %s", dome_error_message(env));
    dvec_fill(x, 1);
    EXPECT(dsparse_scale_i64(t, 3) == DOME_OK && dsparse_multiply(y, t, x) == DOME_OK, "their product: %s",
           dome_error_message(env));
    int64_t first = 0;
    dvec_get(y, 0, &first);
    EXPECT((uint64_t)first == 3 * ((uint64_t)large + 299), "the sum is %lld", (long long)first);
    for (int k = 0; k < 4; k++)
        dsparse_free((dsparse *[]){a, i, l, t}[k]);
    dvec_free(x);
    dvec_free(y);
    dome_error_clear(env);
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
    dvec *places = dvec_new(env, "places", DOME_I64, 5);
    dvec *each = dvec_new_with(env, "each", DOME_I64, 5, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    expect_failure(dsparse_assemble_vectors(a, x, places, x), DOME_ERR_TYPE, "'x' has values of type f64 instead of i64 or u64");
    expect_failure(dsparse_assemble_vectors(a, places, places, f), DOME_ERR_TYPE, "'f' has values of type f32 instead of f64");
    expect_failure(dsparse_assemble_vectors(a, places, places, y), DOME_ERR_SHAPE, "'y' has the length 300");
    expect_failure(dsparse_assemble_vectors(a, places, each, x), DOME_ERR_LAYOUT, "'each' is whole on each task");
    dvec_iota(places);
    expect_failure(dsparse_assemble_vectors(a, places, NULL, x), DOME_ERR_ARGUMENT, "a vector is NULL");
    dvec_adds(places, places, 1);
    expect_failure(dsparse_assemble_vectors(a, places, places, x), DOME_ERR_RANGE, "is in column 5, but 'A' has 5 columns");
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
        dvec_local_spans(y, spans);
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
        EXPECT(dome_object_changed(object, b, 1, &changed) == DOME_OK && changed, "a block is unchanged after %s", after);
    }
    dome_object_mark_saved(object);
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

/* A matrix whose values are all equal, and no longer so after its rows were scaled. */
static void test_uniform(void)
{
    uint64_t entries = 7;
    dsparse *a = dsparse_new(env, NULL, SHIFTED, entries);
    dvec *d = dvec_new(env, NULL, DOME_F64, SHIFTED), *y = dvec_new(env, NULL, DOME_F64, SHIFTED);
    dvec *x = dvec_new(env, NULL, DOME_F64, entries);
    dvec_fill(x, 1);
    dvec_iota(d);
    dsparse_fill_rows(a, full_row, &entries);
    for (int scaled = 0; scaled < 3; scaled++) {
        EXPECT(dsparse_multiply(y, a, x) == DOME_OK, "a product fails");
        dvec_span spans[2];
        dvec_local_spans_const(y, spans);
        for (int s = 0; s < 2; s++)
            for (uint64_t i = 0; i < spans[s].count; i++) {
                const double row = (double)(spans[s].first + i), all = 2 * (double)entries;
                const double expected = scaled == 0 ? all : scaled == 1 ? 3 * all : 3 * all * row;
                EXPECT(((const double *)spans[s].data)[i] == expected, "row %g, scaled %d times, is %g", row, scaled,
                       ((const double *)spans[s].data)[i]);
            }
        if (scaled == 0)
            dsparse_scale(a, 3);
        else if (scaled == 1)
            dsparse_scale_rows(a, d);
    }
    dvec_free(d);
    dvec_free(x);
    dvec_free(y);
    dsparse_free(a);
}

/* ---- rows of different lengths in blocks of many rows ---- */

enum { MANY = 20000, LONGEST = 12 };

/* The entries of a row in ascending order of columns. */
static int uneven_entries(uint64_t index, uint64_t column[], double value[])
{
    uint64_t state = index * 0x9e3779b97f4a7c15u;
    state ^= state >> 31;
    const int count = (int)(state % 16) < LONGEST ? (int)(state % 16) : 0;
    const uint64_t first = state / 16 % 64 == 0 ? MANY - LONGEST
                           : index < MANY / 2   ? state / 1024 % (MANY - LONGEST)
                                                : index - LONGEST;
    for (int k = 0; k < count; k++) {
        column[k] = first + (uint64_t)k;
        value[k] = (double)(state % 1000003 + (uint64_t)k * 71) / 7 - 70000;
    }
    return count;
}

static void uneven_row(void *ctx, uint64_t index, dsparse_row *row)
{
    uint64_t column[LONGEST];
    double value[LONGEST];
    (void)ctx;
    for (int k = uneven_entries(index, column, value); k-- > 0;)
        dsparse_row_add(row, column[k], value[k]);
}

static void test_uneven(void)
{
    dsparse *a = dsparse_new(env, NULL, MANY, MANY);
    dvec *x = dvec_new(env, NULL, DOME_F64, MANY), *y = dvec_new(env, NULL, DOME_F64, MANY);
    EXPECT(dsparse_fill_rows(a, uneven_row, NULL) == DOME_OK, "dsparse_fill_rows fails");
    dvec_iota(x);
    dvec_divs(x, x, 3);
    for (int k = 0; k < 5; k++) {
        dvec_span spans[2];
        EXPECT(dsparse_multiply(y, a, x) == DOME_OK, "a product fails");
        dvec_local_spans(y, spans);
        for (int s = 0; s < 2; s++)
            for (uint64_t i = 0; i < spans[s].count; i++) {
                uint64_t column[LONGEST];
                double value[LONGEST], sum = 0, got = ((double *)spans[s].data)[i];
                int count = uneven_entries(spans[s].first + i, column, value);
                for (int e = 0; e < count; e++)
                    sum += value[e] * ((double)column[e] / 3);
                EXPECT(same(got, sum), "row %d of many is %a instead of %a", (int)(spans[s].first + i), got, sum);
            }
        relayout(MANY);
    }
    dvec_free(x);
    dvec_free(y);
    dsparse_free(a);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 120;
    static void (*const tests[])(model *) = {test_multiply, test_multiply, test_multiply_transposed, test_refill, test_move,
                                             test_diagonal, test_norms,    test_transpose,           test_file,   test_slice,
                                             test_submatrix};
    enum { TESTS = sizeof tests / sizeof tests[0] };

    make_folder();
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
    test_uniform();
    test_uneven();
    test_failures();
    test_refusals();
    test_integers();
    test_formats(false);
    test_formats(true);
    end_files();
    dome_print(env, "ok sparse: seed %llu, %d rounds, %d tasks\n", (unsigned long long)seed, rounds, dome_size(env));
    return dome_finalize(env);
}
