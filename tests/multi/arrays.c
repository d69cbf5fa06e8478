/* Sorting, searching, selecting and reductions by label compared with a sequential model that shares no code with the library, on
 * random layouts. Every task holds the whole model. Arguments: a seed and a number of rounds. */
#include "draw.h"
#include "mixed_formats.h"
#include "reference_sum.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static dome_env *env;
static int round_number;

#define EXPECT(condition, ...)                                                                                                   \
    do {                                                                                                                         \
        if (!(condition)) {                                                                                                      \
            char *text_ = g_strdup_printf(__VA_ARGS__);                                                                          \
            dome_abort(env, "arrays, round %d: %s (%s)", round_number, text_, dome_error_message(env));                          \
        }                                                                                                                        \
    } while (0)

/* ---- vectors with their models ---- */

typedef struct model {
    dvec *v;
    dome_type type;
    size_t n, width, size; /* size: of an element */
    uint64_t block;
    char *data;
} model;

static bool is_real(dome_type type)
{
    return type == DOME_F32 || type == DOME_F64;
}

/* A value of the model as the widest number of its kind: integers by their sign. */
typedef struct value {
    bool real;
    double d;
    int64_t i;
    uint64_t u;
    bool wide; /* u counts */
} value;

static value get(const model *m, size_t at)
{
    const void *p = m->data + at * dome_type_size(m->type);
    switch (dome_type_kind_of(m->type)) {
#define GET(KIND, T)                                                                                                             \
    case DOME_KIND_##KIND: {                                                                                                     \
        T t;                                                                                                                     \
        memcpy(&t, p, sizeof t);                                                                                                 \
        return (value){.i = (int64_t)t, .d = (double)t};                                                                         \
    }
        GET(I8, int8_t)
        GET(I16, int16_t)
        GET(I32, int32_t)
        GET(I64, int64_t)
        GET(U8, uint8_t)
        GET(U16, uint16_t)
        GET(U32, uint32_t)
    case DOME_KIND_U64: {
        uint64_t t;
        memcpy(&t, p, sizeof t);
        return (value){.u = t, .wide = true, .d = (double)t};
    }
    case DOME_KIND_F32: {
        float t;
        memcpy(&t, p, sizeof t);
        return (value){.real = true, .d = (double)t};
    }
    default: {
        double t;
        memcpy(&t, p, sizeof t);
        return (value){.real = true, .d = t};
    }
    }
}

/* NaN last. */
static int compare(value a, value b)
{
    if (a.real) {
        if (isnan(a.d) || isnan(b.d))
            return !!isnan(a.d) - !!isnan(b.d);
        return (a.d > b.d) - (a.d < b.d);
    }
    if (a.wide)
        return (a.u > b.u) - (a.u < b.u);
    return (a.i > b.i) - (a.i < b.i);
}

static void random_value(dome_type type, unsigned few, char *to)
{
    const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 5e-324, -1e300};
    memset(to, 0, dome_type_size(type));
    if (is_real(type)) {
        double d = few ? (double)draw(few) - few / 2 : ((double)draw(2000001) - 1000000) * (draw(2) ? 1e-7 : 1e9) / 3;
        if (draw(12) == 0)
            d = special[draw(sizeof special / sizeof *special)];
        float f = (float)d;
        memcpy(to, type == DOME_F64 ? (void *)&d : (void *)&f, dome_type_size(type));
    } else if (few) {
        to[dome_type_size(type) > 2 ? draw(3) : 0] = (char)draw(few); /* in this or a higher byte */
    } else {
        for (size_t i = 0; i < dome_type_size(type); i++)
            to[i] = (char)draw(256);
    }
}

static void put(model *m)
{
    dvec_span spans[2];
    EXPECT(dvec_local(m->v, spans) == DOME_OK, "dvec_local fails");
    for (int s = 0; s < 2; s++)
        memcpy(spans[s].data, m->data + spans[s].first * m->size, spans[s].count * m->size);
}

static model make(dome_type type, size_t n, size_t width, dome_distribution distribution, unsigned few, uint64_t block)
{
    model m = {.type = type, .n = n, .width = width, .size = width * dome_type_size(type), .block = block};
    m.v = dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.distribution = distribution, .width = width, .block = block));
    m.data = malloc(n * m.size + 1);
    for (size_t i = 0; i < n * width; i++)
        random_value(type, few, m.data + i * dome_type_size(type));
    put(&m);
    return m;
}

static void drop(model *m)
{
    dvec_free(m->v);
    free(m->data);
}

static void relayout(uint64_t n, uint64_t block)
{
    uint64_t blocks = (n + block - 1) / block, left = blocks, counts[16];
    int tasks = dome_size(env);
    for (int r = 0; r < tasks; r++)
        left -= counts[r] = r + 1 < tasks ? draw(2) ? draw(left + 1) : MIN(left, blocks / (uint64_t)tasks) : left;
    dome_layout *layout = dome_layout_new(n, block, tasks, blocks ? draw(blocks) : 0, counts);
    EXPECT(layout && dome_env_relayout(env, layout) == DOME_OK, "no other layout");
    dome_layout_unref(layout);
}

/* A vector for results of x's length. */
static dvec *output(const model *x, dome_type type)
{
    dome_distribution distribution = dvec_distribution(x->v);
    if (distribution == DOME_WHOLE)
        distribution = (dome_distribution)draw(3);
    dvec *z =
        dvec_new_with(env, NULL, type, x->n, DVEC_OPTIONS(.distribution = distribution, .width = x->width, .block = x->block));
    if (draw(3) == 0)
        relayout(x->n, x->block);
    return z;
}

/* Whether a vector has n elements with these bytes. */
static void check(const dvec *v, size_t n, size_t size, const char *data, const char *what)
{
    dvec_span spans[2];
    EXPECT(v, "%s: no vector", what);
    EXPECT(dvec_length(v) == n, "%s: %zu elements instead of %zu", what, (size_t)dvec_length(v), n);
    EXPECT(dvec_local_const(v, spans) == DOME_OK, "%s: dvec_local_const fails", what);
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < spans[s].count; i++)
            EXPECT(memcmp((char *)spans[s].data + i * size, data + (spans[s].first + i) * size, size) == 0,
                   "%s: element %zu of %zu is wrong", what, (size_t)spans[s].first + i, n);
}

static const model *sorting;

static int by_value(const void *a, const void *b)
{
    const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    const int order = compare(get(sorting, i), get(sorting, j));
    return order ? order : (i > j) - (i < j);
}

static uint64_t *order_of(const model *m)
{
    uint64_t *order = malloc((m->n + 1) * sizeof *order);
    for (size_t i = 0; i < m->n; i++)
        order[i] = i;
    sorting = m;
    qsort(order, m->n, sizeof *order, by_value);
    return order;
}

/* ---- the operations ---- */

static void test_sort(model *x)
{
    uint64_t *order = order_of(x);
    dvec *index = output(x, draw(2) ? DOME_I64 : DOME_U64);
    EXPECT(dvec_argsort(index, x->v) == DOME_OK, "argsort fails");
    check(index, x->n, sizeof *order, (char *)order, "argsort");
    dvec *z = draw(2) ? x->v : output(x, x->type);
    EXPECT(dvec_sort(z, x->v) == DOME_OK, "sort fails");
    model sorted = *x;
    const void *all = dvec_allgather(z);
    sorted.data = malloc(x->n * x->size + 1);
    memcpy(sorted.data, all, x->n * x->size);
    for (size_t i = 0; i < x->n; i++) {
        EXPECT(compare(get(&sorted, i), get(x, order[i])) == 0, "sort: element %zu is wrong", i);
        EXPECT(i == 0 || !is_real(x->type) || get(&sorted, i).d != 0 || get(&sorted, i - 1).d != 0 ||
                   !signbit(get(&sorted, i).d) || signbit(get(&sorted, i - 1).d),
               "sort: -0 after +0");
    }
    if (z != x->v)
        dvec_free(z);
    else
        put(x);
    dvec_free(index);
    free(sorted.data);
    free(order);
}

static void test_unique(model *x)
{
    uint64_t *order = order_of(x);
    char *values = malloc(x->n * x->size + 1);
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (i == 0 || compare(get(x, order[i]), get(x, order[i - 1])) != 0)
            memcpy(values + n++ * x->size, x->data + order[i] * x->size, x->size);
    dvec *z = dvec_unique(x->v, NULL);
    EXPECT(z && dvec_length(z) == n, "unique: %zu values", (size_t)dvec_length(z));
    model got = {.type = x->type, .n = n, .width = 1, .size = x->size}, wanted = got;
    const void *all = dvec_allgather(z);
    got.data = malloc(n * x->size + 1);
    memcpy(got.data, all, n * x->size);
    wanted.data = values;
    for (size_t i = 0; i < n; i++)
        EXPECT(compare(get(&got, i), get(&wanted, i)) == 0, "unique: value %zu is wrong", i);
    dvec_free(z);
    free(got.data);
    free(values);
    free(order);
}

static void test_searchsorted(model *x)
{
    dome_distribution distribution = (dome_distribution)draw(3);
    size_t n = draw(3) ? draw(700) : draw(4);
    model t = make(x->type, n, 1, distribution, (unsigned)draw(2) * 20, draw(3) ? dome_block_size(n) : 4);
    uint64_t *order = order_of(&t), *place = malloc((x->n + 1) * sizeof *place);
    bool right = draw(2);
    char *sorted = malloc(t.n * t.size + 1);
    for (size_t i = 0; i < t.n; i++)
        memcpy(sorted + i * t.size, t.data + order[i] * t.size, t.size);
    free(t.data);
    t.data = sorted;
    if (distribution == DOME_DYNAMIC)
        relayout(t.n, t.block);
    put(&t);
    for (size_t i = 0; i < x->n; i++) {
        place[i] = 0;
        for (size_t low = 0, high = t.n; low < high;) {
            size_t middle = (low + high) / 2;
            if (compare(get(&t, middle), get(x, i)) < (right ? 1 : 0))
                place[i] = low = middle + 1;
            else
                high = middle;
        }
    }
    dvec *index = output(x, DOME_I64);
    EXPECT(dvec_searchsorted(index, t.v, x->v, right) == DOME_OK, "searchsorted fails");
    check(index, x->n, sizeof *place, (char *)place, "searchsorted");
    dvec_free(index);
    drop(&t);
    free(order);
    free(place);
}

static void test_compress(model *x)
{
    model mask = make(DOME_U8, x->n, 1, draw(2) ? dvec_distribution(x->v) : DOME_WHOLE, draw(2) ? 2 : 5, x->block);
    char *wanted = malloc(x->n * x->size + 1);
    int64_t *positions = malloc((x->n + 1) * sizeof *positions);
    size_t n = 0, nonzero = 0;
    for (size_t i = 0; i < x->n; i++)
        if (mask.data[i])
            memcpy(wanted + n++ * x->size, x->data + i * x->size, x->size);
    dvec *z = dvec_compress(x->v, mask.v, NULL);
    check(z, n, x->size, wanted, "compress");
    dvec_free(z);
    for (size_t i = 0; i < x->n && x->width == 1; i++)
        if (get(x, i).real ? get(x, i).d != 0 : get(x, i).i || get(x, i).u)
            positions[nonzero++] = (int64_t)i;
    if (x->width == 1) {
        z = dvec_nonzero(x->v, NULL);
        check(z, nonzero, sizeof *positions, (char *)positions, "nonzero");
        dvec_free(z);
    }
    drop(&mask);
    free(wanted);
    free(positions);
}

static void test_slice(model *x)
{
    if (x->n == 0)
        return;
    int64_t step = (int64_t)draw(9) - 4;
    uint64_t first = draw(x->n), most;
    step = step ? step : 1;
    most = 1 + (step > 0 ? x->n - 1 - first : first) / (uint64_t)(step > 0 ? step : -step);
    uint64_t count = draw(3) ? most : draw(most + 1);
    char *wanted = malloc(count * x->size + 1);
    for (uint64_t j = 0; j < count; j++)
        memcpy(wanted + j * x->size, x->data + (size_t)((int64_t)first + (int64_t)j * step) * x->size, x->size);
    dvec *z = dvec_slice(x->v, first, count, step, NULL);
    check(z, count, x->size, wanted, "slice");
    dvec_free(z);
    free(wanted);
}

static void test_concatenate(model *x)
{
    model y = make(x->type, draw(500), x->width, (dome_distribution)draw(3), 0, draw(2) ? 2 : 64);
    if (dvec_distribution(y.v) == DOME_DYNAMIC)
        relayout(y.n, y.block);
    const model *parts[] = {x, &y, x, &y, &y};
    const dvec *vectors[5];
    size_t n = 1 + draw(5), bytes = 0, elements = 0;
    char *wanted = malloc(5 * (x->n * x->size + y.n * y.size) + 1);
    for (size_t k = 0; k < n; k++) {
        vectors[k] = parts[k]->v;
        memcpy(wanted + bytes, parts[k]->data, parts[k]->n * parts[k]->size);
        bytes += parts[k]->n * parts[k]->size;
        elements += parts[k]->n;
    }
    dvec *z = dvec_concatenate(n, vectors, NULL);
    check(z, elements, x->size, wanted, "concatenate");
    dvec_free(z);
    drop(&y);
    free(wanted);
}

/* The running product as the header defines it. */
static void test_cumprod(model *x)
{
    uint64_t *wrapped = calloc(x->width, 2 * sizeof *wrapped), bits = 0;
    double *real = calloc(x->width, 2 * sizeof *real);
    char *wanted = malloc(x->n * x->size + 1);
    for (size_t c = 0; c < x->width; c++)
        wrapped[2 * c] = (uint64_t)(real[2 * c] = 1);
    for (size_t i = 0; i < x->n; i++)
        for (size_t c = 0; c < x->width; c++) {
            value v = get(x, i * x->width + c);
            if (i % x->block == 0) {
                if (i > 0) {
                    wrapped[2 * c] *= wrapped[2 * c + 1];
                    real[2 * c] *= real[2 * c + 1];
                }
                wrapped[2 * c + 1] = (uint64_t)(real[2 * c + 1] = 1);
            }
            wrapped[2 * c + 1] *= v.wide ? v.u : (uint64_t)v.i;
            real[2 * c + 1] *= v.d;
            double d = real[2 * c] * real[2 * c + 1];
            float f = (float)d;
            bits = wrapped[2 * c] * wrapped[2 * c + 1];
            for (size_t k = 0; k < dome_type_size(x->type) && !is_real(x->type); k++) /* the low bytes on any machine */
                wanted[i * x->size + c * dome_type_size(x->type) + k] =
                    (char)(bits >> 8 * (G_BYTE_ORDER == G_LITTLE_ENDIAN ? k : dome_type_size(x->type) - 1 - k));
            if (is_real(x->type))
                memcpy(wanted + (i * x->width + c) * dome_type_size(x->type), x->type == DOME_F64 ? (void *)&d : (void *)&f,
                       dome_type_size(x->type));
        }
    dvec *z = draw(2) ? x->v : output(x, x->type);
    EXPECT(dvec_cumprod(z, x->v) == DOME_OK, "cumprod fails");
    model got = *x, model = *x;
    got.data = malloc(x->n * x->size + 1);
    memcpy(got.data, dvec_allgather(z), x->n * x->size);
    model.data = wanted;
    for (size_t i = 0; i < x->n * x->width; i++)
        EXPECT(compare(get(&got, i), get(&model, i)) == 0, "cumprod: value %zu is %g instead of %g", i, get(&got, i).d,
               get(&model, i).d);
    if (z != x->v)
        dvec_free(z);
    else
        put(x);
    free(got.data);
    free(wanted);
    free(wrapped);
    free(real);
}

/* The sum by the header's rule. */
static double sum_of(const model *x, const model *labels, uint64_t label, size_t c)
{
    const uint64_t block = x->block;
    reference_sum sum;
    double part = 0;
    memset(&sum, 0, sizeof sum);
    for (size_t i = 0; i < x->n; i++) {
        const value own = get(labels, i), v = get(x, i * x->width + c);
        const bool counts = (own.wide ? own.u : (uint64_t)own.i) == label;
        if (i % block == 0)
            part = 0;
        if (counts && is_real(x->type))
            part += v.d;
        else if (counts)
            reference_add_product(&sum, !v.wide && v.i < 0, v.wide ? v.u : v.i < 0 ? -(uint64_t)v.i : (uint64_t)v.i, false, 1);
        if (is_real(x->type) && ((i + 1) % block == 0 || i + 1 == x->n))
            reference_add(&sum, part);
    }
    return reference_round(&sum);
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static void test_by_label(model *x)
{
    const dome_type types[] = {DOME_I8, DOME_U16, DOME_I32, DOME_I64, DOME_U64};
    const uint64_t k = 1 + draw(draw(2) ? 4 : 40);
    model labels = make(types[draw(5)], x->n, 1, draw(2) ? dvec_distribution(x->v) : DOME_WHOLE, 1, x->block);
    for (size_t i = 0; i < x->n; i++) { /* a small number in any integer type */
        uint64_t label = draw(k);
        for (size_t b = 0; b < labels.size; b++)
            labels.data[i * labels.size + (G_BYTE_ORDER == G_LITTLE_ENDIAN ? b : labels.size - 1 - b)] = (char)(b ? 0 : label);
    }
    put(&labels);
    double *result = calloc(3 * k * x->width, sizeof *result), *low = result + k * x->width, *high = low + k * x->width;
    uint64_t *counts = calloc(k, sizeof *counts);
    EXPECT(dvec_sum_by(x->v, labels.v, k, result) == DOME_OK, "sum_by fails");
    EXPECT(dvec_min_by(x->v, labels.v, k, low) == DOME_OK, "min_by fails");
    EXPECT(dvec_max_by(x->v, labels.v, k, high) == DOME_OK, "max_by fails");
    EXPECT(dvec_count_by(labels.v, k, counts) == DOME_OK, "count_by fails");
    for (uint64_t j = 0; j < k; j++)
        for (size_t c = 0; c < x->width; c++) {
            uint64_t count = 0, at = j * x->width + c;
            double least = NAN, most = NAN, sum = sum_of(x, &labels, j, c);
            value best = {0}, worst = {0};
            bool nan = false, plus = false, minus = false; /* plus, minus: a zero with this sign */
            for (size_t i = 0; i < x->n; i++) {
                value label = get(&labels, i), v = get(x, i * x->width + c);
                if ((label.wide ? label.u : (uint64_t)label.i) != j)
                    continue;
                nan = nan || isnan(v.d);
                plus = plus || (v.d == 0 && !signbit(v.d));
                minus = minus || (v.d == 0 && signbit(v.d));
                best = count == 0 || compare(v, best) < 0 ? v : best;
                worst = count == 0 || compare(v, worst) > 0 ? v : worst;
                count++;
            }
            if (count > 0 && !nan) {
                least = best.d;
                most = worst.d;
            }
            EXPECT(same(result[at], sum), "sum_by %zu: %a instead of %a", (size_t)at, result[at], sum);
            EXPECT(same(low[at], least) && same(high[at], most), "min_by or max_by %zu: %a, %a", (size_t)at, low[at], high[at]);
            EXPECT(least != 0 || !!signbit(low[at]) == minus, "min_by %zu: zero has the wrong sign", (size_t)at);
            EXPECT(most != 0 || !!signbit(high[at]) == !plus, "max_by %zu: zero has the wrong sign", (size_t)at);
            EXPECT(counts[j] == count, "count_by %zu: %zu instead of %zu", (size_t)j, (size_t)counts[j], (size_t)count);
        }
    drop(&labels);
    free(result);
    free(counts);
}

/* Counts x's values between low and high, or, if high is not above low, between edges at random distances. */
static void check_histogram(const model *x, uint64_t bins, double low, double high)
{
    double edges[32];
    uint64_t counts[31], wanted[31] = {0};
    bool even = high > low;
    for (uint64_t j = 0; j <= bins; j++)
        edges[j] = even ? j < bins ? low + (double)j * ((high - low) / (double)bins) : high
                   : j  ? edges[j - 1] + (double)draw(9)
                        : low;
    for (size_t i = 0; i < x->n * x->width; i++) {
        double v = get(x, i).d;
        for (uint64_t j = bins; j-- > 0;)
            if (v >= edges[j]) {
                if (v < edges[j + 1] || (j + 1 == bins && v == edges[bins]))
                    wanted[j]++;
                break;
            }
    }
    EXPECT((even ? dvec_histogram(x->v, bins, low, high, counts) : dvec_histogram_edges(x->v, bins, edges, counts)) == DOME_OK,
           "histogram fails");
    for (uint64_t j = 0; j < bins; j++)
        EXPECT(counts[j] == wanted[j], "histogram: bin %zu has %zu instead of %zu", (size_t)j, (size_t)counts[j],
               (size_t)wanted[j]);
}

static void test_histogram(model *x)
{
    const double low = -(double)draw(100) / 7;
    check_histogram(x, 1 + draw(30), low, draw(2) ? low + 0.5 + (double)draw(1000) / 3 : low);
}

/* Between limits so close that several edges are the same number, and so small that steps have few digits. */
static void test_narrow_histograms(void)
{
    model x = make(DOME_F64, 400, 1, DOME_DYNAMIC, 0, 2);
    double value;
    for (uint64_t i = 0; i < x.n; i++) {
        value = 1 + (double)(i % 8) * 0x1p-52;
        memcpy(x.data + i * x.size, &value, sizeof value);
    }
    put(&x);
    check_histogram(&x, 30, 1, 1 + 7 * 0x1p-52);
    for (uint64_t i = 0; i < x.n; i++) {
        value = (double)i * 0x1p-1074;
        memcpy(x.data + i * x.size, &value, sizeof value);
    }
    put(&x);
    check_histogram(&x, 30, 0, 300 * 0x1p-1074);
    check_histogram(&x, 7, 0x1p-1074, 1e-310);
    drop(&x);
}

/* ---- failures: on every task, with the same message ---- */

static void expect_failure(dome_status expected, const char *word)
{
    EXPECT(dome_error_status(env) == expected && strstr(dome_error_message(env), word), "no failure with '%s'", word);
    dome_error_clear(env);
}

static void test_failures(void)
{
    const uint64_t block = dome_block_size(1000);
    model x = make(DOME_F64, 1000, 1, DOME_DYNAMIC, 0, block), rows = make(DOME_F64, 1000, 3, DOME_DYNAMIC, 0, block);
    model labels = make(DOME_I32, 1000, 1, DOME_DYNAMIC, 1, block), z = make(DOME_F64, 999, 1, DOME_DYNAMIC, 0, block);
    dvec *index = dvec_new(env, NULL, DOME_I64, 1000), *phase = dvec_new(env, NULL, DOME_C128, 1000);
    double sums[8], edges[] = {0, 2, 1};
    uint64_t counts[4];
    dome_set_errors_return(env);
    relayout(1000, block);
    dvec_sort(x.v, z.v);
    expect_failure(DOME_ERR_SHAPE, "999");
    dvec_sort(phase, phase);
    expect_failure(DOME_ERR_TYPE, "have no order");
    dvec_sort(rows.v, rows.v);
    expect_failure(DOME_ERR_SHAPE, "width");
    dvec_argsort(x.v, x.v);
    expect_failure(DOME_ERR_TYPE, "positions are i64 or u64");
    dvec_iota(x.v);
    double low = -1;
    dvec_set(x.v, 700, &low);
    dvec_searchsorted(index, x.v, x.v, false);
    expect_failure(DOME_ERR_ARGUMENT, "is not sorted: element 700 is less");
    dvec_compress(x.v, index, NULL);
    expect_failure(DOME_ERR_TYPE, "must be u8");
    dvec_nonzero(rows.v, NULL);
    expect_failure(DOME_ERR_SHAPE, "width");
    dvec_slice(x.v, 990, 4, 4, NULL);
    expect_failure(DOME_ERR_RANGE, "4 elements from 990 on, 4 apart");
    dvec_slice(x.v, 5, 3, -3, NULL);
    expect_failure(DOME_ERR_RANGE, "-3 apart");
    dvec_slice(x.v, 5, 3, 0, NULL);
    expect_failure(DOME_ERR_ARGUMENT, "step of 0");
    dvec_concatenate(2, (const dvec *const[]){x.v, rows.v}, NULL);
    expect_failure(DOME_ERR_SHAPE, "width");
    ((int32_t *)(void *)labels.data)[600] = 4;
    ((int32_t *)(void *)labels.data)[900] = -7;
    put(&labels);
    dvec_sum_by(x.v, labels.v, 4, sums);
    expect_failure(DOME_ERR_RANGE, "label 4 at position 600 of");
    EXPECT(isnan(sums[0]), "a refused sum has a value");
    dvec_count_by(labels.v, 5, counts);
    expect_failure(DOME_ERR_RANGE, "label -7 at position 900 of");
    dvec_max_by(x.v, x.v, 4, sums);
    expect_failure(DOME_ERR_TYPE, "labels must be of integer type");
    dvec_histogram(x.v, 3, 1, 1, counts);
    expect_failure(DOME_ERR_ARGUMENT, "must ascend");
    dvec_histogram(x.v, 3, -1e308, 1e308, counts);
    expect_failure(DOME_ERR_ARGUMENT, "their difference must be finite");
    dvec_histogram_edges(x.v, 2, edges, counts);
    expect_failure(DOME_ERR_ARGUMENT, "edge 2, 1, is not at least");
    dvec_free(index);
    dvec_free(phase);
    drop(&x);
    drop(&rows);
    drop(&labels);
    drop(&z);
}

static model any_vector(size_t width)
{
    const dome_type types[] = {DOME_I8,  DOME_I16, DOME_I32, DOME_I64, DOME_U8, DOME_U16,
                               DOME_U32, DOME_U64, DOME_F32, DOME_F64, DOME_F64};
    const size_t lengths[] = {0, 1, 2, 7, 255, 256, 257, 511, 512, 1024, 2500};
    size_t n = draw(3) ? lengths[draw(sizeof lengths / sizeof *lengths)] : draw(900);
    uint64_t block = draw(3) ? dome_block_size(n) : UINT64_C(1) << draw(9);
    model x = make(types[draw(sizeof types / sizeof *types)], n, width, draw(2) ? DOME_DYNAMIC : (dome_distribution)draw(3),
                   draw(2) ? (unsigned)(1 + draw(40)) : 0, block);
    if (draw(3))
        relayout(n, block);
    return x;
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 60;
    static void (*const of_values[])(model *) = {test_sort, test_unique, test_searchsorted};
    static void (*const of_rows[])(model *) = {test_compress, test_slice,    test_concatenate,
                                               test_cumprod,  test_by_label, test_histogram};
    for (round_number = 0; round_number < rounds; round_number++) {
        draw_state = seed * 1000003 + (uint64_t)round_number;
        if (round_number == rounds * 3 / 4)
            pretend_mixed_formats(env);
        model x = any_vector(1), rows = any_vector(1 + draw(3));
        of_values[round_number % 3](&x);
        of_rows[round_number % 6](&rows);
        drop(&x);
        drop(&rows);
    }
    test_narrow_histograms();
    test_failures();
    return dome_finalize(env);
}
