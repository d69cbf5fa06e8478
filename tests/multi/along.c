/* Reductions and running results along axes of views compared with a sequential model. Arguments: a seed and a number of rounds.
 */
#include "any_view.h"
#include "mixed_formats.h"
#include "reference_sum.h"

/* The values that are reduced to one result, in C order. */
typedef struct group {
    uint64_t count, *number;
} group;

/* Splits an array's values by the indices of the axes that are not reduced; *groups: their number. kept: the extents of the
 * result. */
static group *split(const numbers *a, uint32_t axes, uint64_t *groups, int *nkept, uint64_t kept[])
{
    *nkept = 0;
    for (int d = 0; d < a->ndim; d++)
        if (!(axes >> d & 1))
            kept[(*nkept)++] = a->extent[d];
    *groups = count_of(*nkept, kept);
    group *g = calloc(*groups + 1, sizeof *g);
    for (uint64_t k = 0; k < *groups; k++)
        g[k].number = malloc((a->count + 1) * sizeof *g->number);
    for (uint64_t k = 0; k < a->count; k++) {
        uint64_t index[DVEC_MAX_AXES], at = 0;
        indices(a, k, index);
        for (int d = 0; d < a->ndim; d++)
            if (!(axes >> d & 1))
                at = at * a->extent[d] + index[d];
        g[at].number[g[at].count++] = a->number[k];
    }
    return g;
}

static void split_free(group *g, uint64_t groups)
{
    for (uint64_t k = 0; k < groups; k++)
        free(g[k].number);
    free(g);
}

/* What a call should give for one group. */
typedef struct wanted {
    double part[2];
    uint64_t whole;
} wanted;

static void multiply(double product[2], value v)
{
    const double re = product[0] * v.d - product[1] * v.imaginary, im = product[0] * v.imaginary + product[1] * v.d;
    product[0] = v.complex ? re : product[0] * v.d;
    product[1] = v.complex ? im : 0;
}

static bool nonzero(value v)
{
    return v.complex || v.real ? v.d != 0 || v.imaginary != 0 : v.wide ? v.u != 0 : v.i != 0;
}

static wanted sums(const model *x, const group *g, dvec_axis_operation operation)
{
    wanted w = {.whole = operation == DVEC_PROD_ALONG, .part = {operation == DVEC_PROD_ALONG, 0}};
    reference_sum sum[2];
    memset(sum, 0, sizeof sum);
    for (uint64_t k = 0; k < g->count; k++) {
        const value v = get(x, g->number[k]);
        const uint64_t whole = v.wide ? v.u : (uint64_t)v.i;
        w.whole = operation == DVEC_PROD_ALONG ? w.whole * whole : w.whole + whole;
        multiply(w.part, v);
        reference_add(&sum[0], v.d);
        reference_add(&sum[1], v.imaginary);
    }
    const double n = operation == DVEC_MEAN_ALONG ? (double)g->count : 1;
    for (int k = 0; k < 2 && operation != DVEC_PROD_ALONG; k++)
        w.part[k] = reference_round(&sum[k]) / n;
    if (operation == DVEC_MEAN_ALONG && !is_real(x->type) && !is_complex(x->type))
        w.part[0] = (dome_type_kind_of(x->type) >= DOME_KIND_U8 ? (double)w.whole : (double)(int64_t)w.whole) / n;
    return w;
}

/* The position of the first smallest or largest value, or of the first NaN. */
static uint64_t extreme(const model *x, const group *g, bool largest)
{
    uint64_t best = 0;
    for (uint64_t k = 1; k < g->count; k++) {
        const value v = get(x, g->number[k]), m = get(x, g->number[best]);
        if (v.real && (isnan(v.d) || isnan(m.d))) {
            best = isnan(m.d) ? best : k;
            continue;
        }
        const int order = compare(v, m);
        best = (largest ? order > 0 : order < 0) ? k : best;
    }
    return best;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void check_group(const model *x, const group *g, dvec_axis_operation operation, value got, uint64_t at)
{
    const bool floating = is_real(x->type) || is_complex(x->type), narrow = x->type == DOME_F32 || x->type == DOME_C64;
    if (operation <= DVEC_MEAN_ALONG) {
        const wanted w = sums(x, g, operation);
        if (!floating && operation != DVEC_MEAN_ALONG) {
            EXPECT((got.wide ? got.u : (uint64_t)got.i) == w.whole, "operation %d: integer %" G_GUINT64_FORMAT, operation, at);
            return;
        }
        for (int k = 0; k < (is_complex(x->type) ? 2 : 1); k++) {
            const double wants = narrow ? (double)(float)w.part[k] : w.part[k], is = k ? got.imaginary : got.d;
            EXPECT(same(is, wants), "operation %d: part %d of %" G_GUINT64_FORMAT " is %a instead of %a", operation, k, at, is,
                   wants);
        }
    } else if (operation >= DVEC_ANY_ALONG) {
        bool any = false, all = true;
        for (uint64_t k = 0; k < g->count; k++) {
            any = any || nonzero(get(x, g->number[k]));
            all = all && nonzero(get(x, g->number[k]));
        }
        EXPECT(got.i == (operation == DVEC_ANY_ALONG ? any : all), "operation %d: result %" G_GUINT64_FORMAT, operation, at);
    } else {
        const uint64_t place = extreme(x, g, operation == DVEC_MAX_ALONG || operation == DVEC_ARGMAX_ALONG);
        const value v = get(x, g->number[place]);
        if (operation >= DVEC_ARGMIN_ALONG)
            EXPECT(got.i == (int64_t)place, "operation %d: position %d instead of %d", operation, (int)got.i, (int)place);
        else
            EXPECT(floating ? same(got.d, v.d) : compare(got, v) == 0, "operation %d: extreme %" G_GUINT64_FORMAT, operation, at);
    }
}

static bool is_defined(const model *x, dvec_axis_operation operation)
{
    return !is_complex(x->type) || operation <= DVEC_MEAN_ALONG || operation >= DVEC_ANY_ALONG;
}

/* z's values, of which the program has a copy then. */
static model copy_of(const dvec *z)
{
    model m = {.type = dvec_type(z), .n = dvec_length(z), .width = 1, .size = dome_type_size(dvec_type(z))};
    m.data = malloc(m.n * m.size + 1);
    memcpy(m.data, dvec_allgather(z), m.n * m.size);
    return m;
}

static void test_reduce(model *x)
{
    dvec_view v;
    numbers a;
    draw(2) ? any_view(x, &v, &a) : begin(x, &v, &a);
    const uint32_t axes = draw(4) ? (uint32_t)draw(UINT64_C(1) << a.ndim) : DVEC_ALL_AXES;
    const dvec_axis_operation operation = (dvec_axis_operation)draw(DVEC_ALL_ALONG + 1);
    uint64_t groups, kept[DVEC_MAX_AXES];
    int nkept;
    group *g = split(&a, axes, &groups, &nkept, kept);
    const bool extremes = operation >= DVEC_MIN_ALONG && operation <= DVEC_ARGMAX_ALONG;
    const bool own_rule = operation == DVEC_PROD_ALONG && groups == 1 && (is_real(x->type) || is_complex(x->type));
    if (is_defined(x, operation) && !own_rule && !(extremes && groups > 0 && g[0].count == 0)) {
        dvec *z = dvec_reduce_view(x->v, &v, operation, axes, NULL);
        EXPECT(z && dvec_length(z) == groups, "reduce: another length");
        model got = copy_of(z);
        for (uint64_t k = 0; k < groups; k++)
            check_group(x, &g[k], operation, get(&got, k), k);
        free(got.data);
        dvec_free(z);
    }
    split_free(g, groups);
    free(a.number);
}

static void test_scan(model *x)
{
    static const dvec_axis_operation operations[] = {DVEC_SUM_ALONG, DVEC_PROD_ALONG, DVEC_MIN_ALONG, DVEC_MAX_ALONG};
    const dvec_axis_operation operation = operations[draw(4)];
    dvec_view v;
    numbers a;
    draw(2) ? any_view(x, &v, &a) : begin(x, &v, &a);
    const int axis = a.ndim ? (int)draw((uint64_t)a.ndim) : 0;
    uint64_t groups, kept[DVEC_MAX_AXES];
    int nkept;
    group *g = split(&a, DVEC_AXIS(axis), &groups, &nkept, kept);
    const bool own_rule = groups == 1 && operation <= DVEC_PROD_ALONG && is_real(x->type);
    if (a.ndim > 0 && is_defined(x, operation) && !own_rule) {
        dvec *z = dvec_scan_view(x->v, &v, operation, axis, NULL);
        EXPECT(z && dvec_length(z) == a.count, "scan: another length");
        model got = copy_of(z);
        uint64_t inner = 1;
        for (int d = axis + 1; d < a.ndim; d++)
            inner *= a.extent[d];
        for (uint64_t k = 0; k < groups; k++) {
            double sum[2] = {0, 0};
            group part = g[k];
            for (uint64_t j = 0; j < g[k].count; j++) {
                const uint64_t at = (k / inner * g[k].count + j) * inner + k % inner;
                value is = get(&got, at), next = get(x, g[k].number[j]);
                part.count = j + 1;
                sum[0] += next.d;
                sum[1] += next.imaginary;
                if (operation == DVEC_SUM_ALONG && (is.real || is.complex)) {
                    const bool narrow = x->type == DOME_F32 || x->type == DOME_C64;
                    EXPECT(same(is.d, narrow ? (double)(float)sum[0] : sum[0]) &&
                               (!is.complex || same(is.imaginary, narrow ? (double)(float)sum[1] : sum[1])),
                           "scan: value %" G_GUINT64_FORMAT " is %a instead of %a", at, is.d, sum[0]);
                } else {
                    check_group(x, &part, operation, is, at);
                }
            }
        }
        free(got.data);
        dvec_free(z);
    }
    split_free(g, groups);
    free(a.number);
}

/* Sums of all values by the library's own rules, and of a matrix of which each task has some rows. */
static void test_wholes(void)
{
    dvec *x = dvec_new(env, NULL, DOME_F64, 5000);
    EXPECT(dvec_random(x, 7) == DOME_OK && dvec_adds(x, x, 0.5) == DOME_OK, "no values");
    dvec *z = dvec_reduce_view(x, NULL, DVEC_PROD_ALONG, DVEC_ALL_AXES, NULL);
    double got;
    EXPECT(z && dvec_length(z) == 1 && dvec_get(z, 0, &got) == DOME_OK && same(got, dvec_prod(x)), "product of all values");
    dvec_free(z);
    dvec *scan = dvec_new_like(x, NULL);
    EXPECT(dvec_scan(scan, x) == DOME_OK, "no scan");
    z = dvec_scan_view(x, NULL, DVEC_SUM_ALONG, 0, NULL);
    EXPECT(z && dvec_sub(scan, scan, z) == DOME_OK && same(dvec_norm_inf(scan), 0), "running sum of all values");
    dvec_free(z);
    dvec_free(scan);
    dvec_free(x);
}

static void test_failures(void)
{
    dvec_view v;
    dvec *x = dvec_new(env, NULL, DOME_C128, 0), *y = dvec_new(env, NULL, DOME_F64, 6);
    dome_set_errors_return(env);
    EXPECT(!dvec_reduce_view(x, NULL, DVEC_MIN_ALONG, 0, NULL), "the smallest of complex values");
    expect_failure(DOME_ERR_TYPE, "not defined for elements of type c128");
    EXPECT(!dvec_reduce_view(x, NULL, DVEC_ARGMAX_ALONG, DVEC_ALL_AXES, NULL), "the largest of no values");
    expect_failure(DOME_ERR_ARGUMENT, "no values");
    EXPECT(!dvec_reduce_view(y, NULL, DVEC_SUM_ALONG, 2, NULL), "an axis that is not there");
    expect_failure(DOME_ERR_ARGUMENT, "axes 0x2 of 1");
    EXPECT(!dvec_reduce_view(y, NULL, (dvec_axis_operation)99, 1, NULL), "an operation that is not there");
    expect_failure(DOME_ERR_ARGUMENT, "operation has number 99");
    EXPECT(!dvec_scan_view(y, NULL, DVEC_MEAN_ALONG, 0, NULL), "running means");
    expect_failure(DOME_ERR_ARGUMENT, "running results");
    EXPECT(!dvec_scan_view(y, NULL, DVEC_SUM_ALONG, -1, NULL), "an axis that is not there");
    expect_failure(DOME_ERR_ARGUMENT, "axis -1 of 1");
    EXPECT(!dvec_scan_view(x, NULL, DVEC_MAX_ALONG, 0, NULL), "running largest complex values");
    expect_failure(DOME_ERR_TYPE, "not defined");
    EXPECT(dvec_view_array(&v, 2, (const uint64_t[]){2, 4}) && !dvec_reduce_view(y, &v, DVEC_SUM_ALONG, 1, NULL),
           "8 of 6 values");
    expect_failure(DOME_ERR_RANGE, "beyond its 6");
    dvec_free(x);
    dvec_free(y);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 200;
    const dome_type types[] = {DOME_I8,  DOME_I16, DOME_I32, DOME_I64, DOME_U8,   DOME_U16,
                               DOME_U32, DOME_U64, DOME_F32, DOME_F64, DOME_C128, DOME_C64};
    for (round_number = 0; round_number < rounds; round_number++) {
        draw_state = seed * 1000003 + (uint64_t)round_number;
        if (round_number == rounds * 3 / 4)
            pretend_mixed_formats(env);
        model x = any_vector(types, sizeof types / sizeof *types, 1 + draw(3));
        round_number % 4 == 3 ? test_scan(&x) : test_reduce(&x);
        drop(&x);
    }
    test_wholes();
    test_failures();
    return dome_finalize(env);
}
