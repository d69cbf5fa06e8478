/* Selecting, slices, running sums and products, and reductions by label compared with a sequential model (models.h). Arguments: a
 * seed and a number of rounds. */
#include "mixed_formats.h"
#include "models.h"
#include "reference_sum.h"

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

/* dvec_scan's sums, one element later. */
static void test_exscan(model *x)
{
    dvec *sums = output(x, x->type), *z = draw(2) ? x->v : output(x, x->type);
    char *wanted = calloc(x->n + 1, x->size);
    EXPECT(dvec_scan(sums, x->v) == DOME_OK, "scan fails");
    memcpy(wanted + x->size, dvec_allgather(sums), x->n * x->size);
    EXPECT(dvec_exscan(z, x->v) == DOME_OK, "exscan fails");
    check(z, x->n, x->size, wanted, "exscan");
    if (z != x->v)
        dvec_free(z);
    else
        put(x);
    dvec_free(sums);
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

/* ---- labels of keys ---- */

static const model *keyed;

static int compare_keys(size_t i, size_t j)
{
    int order = 0;
    for (size_t v = 0; v < keyed->width && !order; v++)
        order = compare(get(keyed, i * keyed->width + v), get(keyed, j * keyed->width + v));
    return order;
}

static int by_key(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const int order = compare_keys(i, j);
    return order ? order : (i > j) - (i < j);
}

/* Keys of any type and width, of which many are equal or none; strings fill some words and a part of one. */
static void test_factorize(model *unused)
{
    const dome_type types[] = {DOME_U8,  DOME_U8,  DOME_U8,  DOME_I8,  DOME_U16, DOME_I32,
                               DOME_U64, DOME_F32, DOME_F64, DOME_C64, DOME_C128};
    const unsigned few[] = {0, 1, 2, 3, 40};
    const size_t n = draw(3) ? draw(900) : draw(3) * 1000, width = draw(2) ? 1 : 1 + draw(20);
    (void)unused;
    model x = make(types[draw(G_N_ELEMENTS(types))], n, width, draw(2) ? DOME_DYNAMIC : (dome_distribution)draw(3),
                   few[draw(G_N_ELEMENTS(few))], UINT64_C(1) << draw(9));
    for (size_t i = 0; width > 3 && i < n; i++) /* all but some elements are equal in most of their values */
        if (draw(3))
            memcpy(x.data + i * x.size, x.data, (width - 2) * dome_type_size(x.type));
    put(&x);
    if (draw(2))
        relayout(n, x.block);
    size_t *order = malloc((n + 1) * sizeof *order), *first = malloc((n + 1) * sizeof *first), groups = 0;
    int64_t *group = malloc((n + 1) * sizeof *group), *wanted = malloc((n + 1) * sizeof *wanted);
    char *distinct = malloc(n * x.size + 1);
    keyed = &x;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort(order, n, sizeof *order, by_key);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_keys(order[i - 1], order[i]))
            first[groups++] = order[i];
        group[order[i]] = (int64_t)groups - 1;
    }
    for (int sort = 0; sort < 2; sort++) {
        int64_t *number = malloc((groups + 1) * sizeof *number), next = 0;
        for (size_t g = 0; g < groups; g++)
            number[g] = sort ? (int64_t)g : -1;
        for (size_t i = 0; i < n; i++) {
            if (number[group[i]] < 0)
                number[group[i]] = next++;
            wanted[i] = number[group[i]];
        }
        for (size_t g = 0; g < groups; g++)
            memcpy(distinct + (size_t)number[g] * x.size, x.data + first[g] * x.size, x.size);
        dvec *labels =
            dvec_new_with(env, NULL, draw(2) ? DOME_I64 : DOME_U64, n,
                          DVEC_OPTIONS(.distribution = dvec_distribution(x.v) == DOME_WHOLE ? (dome_distribution)draw(3)
                                                                                            : dvec_distribution(x.v),
                                       .block = x.block));
        dvec *found = dvec_factorize(labels, x.v, sort, NULL);
        check(found, groups, x.size, distinct, "factorize");
        EXPECT(dvec_width(found) == width && dvec_type(found) == x.type, "factorize: another shape");
        check(labels, n, sizeof *wanted, (char *)wanted, "factorize: labels");
        dvec_free(found);
        dvec_free(labels);
        free(number);
    }
    free(order);
    free(first);
    free(group);
    free(wanted);
    free(distinct);
    drop(&x);
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

static void test_failures(void)
{
    const uint64_t block = dome_block_size(1000);
    model x = make(DOME_F64, 1000, 1, DOME_DYNAMIC, 0, block), rows = make(DOME_F64, 1000, 3, DOME_DYNAMIC, 0, block);
    model labels = make(DOME_I32, 1000, 1, DOME_DYNAMIC, 1, block);
    dvec *index = dvec_new(env, NULL, DOME_I64, 1000), *phases = dvec_new(env, NULL, DOME_C128, 1000);
    double sums[8], edges[] = {0, 2, 1};
    uint64_t counts[4];
    dome_set_errors_return(env);
    relayout(1000, block);
    dvec_exscan(phases, phases);
    expect_failure(DOME_ERR_TYPE, "dvec_exscan of");
    dvec_exscan(x.v, rows.v);
    expect_failure(DOME_ERR_SHAPE, "width");
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
    model bytes = make(DOME_I8, 1000, 1, DOME_DYNAMIC, 1, block); /* -1 is no label, however large k is */
    memset(bytes.data, 0, 1000);
    bytes.data[700] = -1;
    put(&bytes);
    uint64_t *many = g_new0(uint64_t, 1000);
    dvec_count_by(bytes.v, 1000, many);
    expect_failure(DOME_ERR_RANGE, "label -1 at position 700 of");
    g_free(many);
    drop(&bytes);
    dvec_max_by(x.v, x.v, 4, sums);
    expect_failure(DOME_ERR_TYPE, "labels must be of integer type");
    dvec_histogram(x.v, 3, 1, 1, counts);
    expect_failure(DOME_ERR_ARGUMENT, "must ascend");
    dvec_histogram(x.v, 3, -1e308, 1e308, counts);
    expect_failure(DOME_ERR_ARGUMENT, "their difference must be finite");
    dvec_histogram_edges(x.v, 2, edges, counts);
    expect_failure(DOME_ERR_ARGUMENT, "edge 2, 1, is not at least");
    dvec_free(index);
    dvec_free(phases);
    drop(&x);
    drop(&rows);
    drop(&labels);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 80;
    const dome_type types[] = {DOME_I8,  DOME_I16, DOME_I32, DOME_I64, DOME_U8, DOME_U16,
                               DOME_U32, DOME_U64, DOME_F32, DOME_F64, DOME_F64};
    static void (*const tests[])(model *) = {test_compress, test_slice,    test_concatenate, test_exscan,
                                             test_cumprod,  test_by_label, test_histogram,   test_factorize};
    for (round_number = 0; round_number < rounds; round_number++) {
        draw_state = seed * 1000003 + (uint64_t)round_number;
        if (round_number == rounds * 3 / 4)
            pretend_mixed_formats(env);
        model x = any_vector(types, sizeof types / sizeof *types, 1 + draw(3));
        tests[round_number % 8](&x);
        drop(&x);
    }
    test_narrow_histograms();
    test_failures();
    return dome_finalize(env);
}
