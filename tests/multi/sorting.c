/* Sorting and searching compared with a sequential model (models.h). Arguments: a seed and a number of rounds. */
#include "mixed_formats.h"
#include "models.h"

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

/* x's elements in order. */
static char *in_order(const model *x, const uint64_t *order)
{
    char *sorted = malloc(x->n * x->size + 1);
    for (size_t i = 0; i < x->n; i++)
        memcpy(sorted + i * x->size, x->data + order[i] * x->size, x->size);
    return sorted;
}

/* Different real values may be equal: -0 comes first. */
static void check_sorted(const model *x, const uint64_t *order, const dvec *z)
{
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
    free(sorted.data);
}

static void test_sort(model *x)
{
    uint64_t *order = order_of(x);
    dvec *index = output(x, draw(2) ? DOME_I64 : DOME_U64);
    EXPECT(dvec_argsort(index, x->v) == DOME_OK, "argsort fails");
    check(index, x->n, sizeof *order, (char *)order, "argsort");
    dvec *z = draw(2) ? x->v : output(x, x->type);
    EXPECT(dvec_sort(z, x->v) == DOME_OK, "sort fails");
    check_sorted(x, order, z);
    if (is_complex(x->type)) { /* equal ones keep their order, and all keep their bits */
        char *sorted = in_order(x, order);
        check(z, x->n, x->size, sorted, "sort");
        free(sorted);
    }
    if (z != x->v)
        dvec_free(z);
    else
        put(x);
    dvec_free(index);
    free(order);
}

static int by_value_downwards(const void *a, const void *b)
{
    const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    const int order = compare(get(sorting, j), get(sorting, i));
    return order ? order : (i > j) - (i < j);
}

static void test_topk(model *x)
{
    uint64_t *order = order_of(x), *found = malloc((x->n + 1) * sizeof *found);
    char *values = malloc(x->n * x->size + 1);
    for (int largest = 0; largest < 2; largest++) {
        if (largest)
            qsort(order, x->n, sizeof *order, by_value_downwards);
        const size_t k = draw(3) ? draw(x->n + 1) : draw(MIN(x->n, 10) + 1);
        EXPECT(dvec_topk(x->v, k, largest, values, found) == DOME_OK, "topk fails");
        EXPECT(memcmp(found, order, k * sizeof *order) == 0, "topk: other positions, k %zu", k);
        for (size_t i = 0; i < k; i++)
            EXPECT(memcmp(values + i * x->size, x->data + order[i] * x->size, x->size) == 0, "topk: value %zu of %zu", i, k);
        EXPECT(dvec_topk(x->v, k, largest, NULL, NULL) == DOME_OK && dvec_topk(x->v, k, largest, values, NULL) == DOME_OK,
               "topk without places fails");
    }
    free(order);
    free(found);
    free(values);
}

/* Of many values, so that lists of candidates fill up: the smallest ones stand where dvec_argsort says; ascending, descending and
 * equal values are the extremes of how often a list is filled. */
static void test_topk_of_many(void)
{
    enum { MANY = 40000, MOST = 3000 };
    dvec *x = dvec_new(env, NULL, DOME_F32, MANY), *index = dvec_new(env, NULL, DOME_I64, MANY);
    uint64_t *found = malloc(MOST * sizeof *found);
    relayout(MANY, dome_block_size(MANY));
    for (int kind = 0; kind < 8; kind++) {
        dvec_iota(x);
        if (kind < 2)
            dvec_random(x, 7);
        else if (kind < 4)
            dvec_muls(x, x, -1);
        else if (kind < 6)
            dvec_fill(x, 3);
        const uint64_t k = kind % 2 ? 5 : MOST;
        dvec_argsort(index, x);
        const int64_t *order = dvec_allgather(index);
        dvec_topk(x, k, false, NULL, found);
        for (uint64_t i = 0; i < k; i++)
            EXPECT(found[i] == (uint64_t)order[i], "topk of many, kind %d: position %llu", kind, (unsigned long long)i);
        dvec_neg(x, x);
        dvec_topk(x, k, true, NULL, found);
        for (uint64_t i = 0; i < k; i++)
            EXPECT(found[i] == (uint64_t)order[i], "the largest of many, kind %d: position %llu", kind, (unsigned long long)i);
    }
    dvec_free(x);
    dvec_free(index);
    free(found);
}

/* Whether two values are one for dvec_unique. */
static bool is_one(value a, value b)
{
    const bool both = (isnan(a.d) || isnan(a.imaginary)) && (isnan(b.d) || isnan(b.imaginary));
    return compare(a, b) == 0 || both;
}

static void test_unique(model *x)
{
    uint64_t *order = order_of(x);
    char *values = malloc(x->n * x->size + 1);
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (i == 0 || !is_one(get(x, order[i]), get(x, order[i - 1])))
            memcpy(values + n++ * x->size, x->data + order[i] * x->size, x->size);
    dvec *z = dvec_unique(x->v, NULL);
    EXPECT(z && dvec_length(z) == n, "unique: %zu values instead of %zu", (size_t)dvec_length(z), n);
    model got = {.type = x->type, .n = n, .width = 1, .size = x->size}, wanted = got;
    const void *all = dvec_allgather(z);
    got.data = malloc(n * x->size + 1);
    memcpy(got.data, all, n * x->size);
    wanted.data = values;
    for (size_t i = 0; i < n; i++) {
        const value v = get(&got, i);
        EXPECT(compare(v, get(&wanted, i)) == 0, "unique: value %zu is wrong", i);
        EXPECT((v.d != 0 || !signbit(v.d)) && (v.imaginary != 0 || !signbit(v.imaginary)), "unique: value %zu is -0", i);
    }
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
    char *sorted = in_order(&t, order);
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

/* NumPy's order, by an example of each kind. */
static void test_order_of_complex(void)
{
    const double ordered[][2] = {{-INFINITY, 2}, {-1, 5}, {0, -3},   {-0.0, -2}, {0, 7},    {1, -INFINITY}, {1, 0},
                                 {1, 4},         {3, -9}, {-2, NAN}, {5, NAN},   {NAN, -1}, {NAN, 2},       {NAN, NAN}};
    enum { N = sizeof ordered / sizeof *ordered };
    for (int single = 0; single < 2; single++) {
        model x = make(single ? DOME_C64 : DOME_C128, N, 1, DOME_DYNAMIC, 0, 2);
        int64_t place[N];
        for (int i = 0; i < N; i++) {
            const int k = (5 * i + 3) % N; /* N is 14 */
            const float narrow[2] = {(float)ordered[k][0], (float)ordered[k][1]};
            memcpy(x.data + (size_t)i * x.size, single ? (const void *)narrow : (const void *)ordered[k], x.size);
            place[k] = i;
        }
        put(&x);
        dvec *index = dvec_new_with(env, NULL, DOME_I64, N, DVEC_OPTIONS(.block = 2));
        EXPECT(dvec_argsort(index, x.v) == DOME_OK, "argsort fails");
        check(index, N, sizeof *place, (char *)place, "argsort of complex values");
        dvec_free(index);
        drop(&x);
    }
}

/* The one element that is less than the one before it is the first of a task. */
static void test_descent(model *x)
{
    dvec_span spans[2];
    dvec_local_spans_const(x->v, spans);
    uint64_t first = spans[0].first;
    dome_bcast(env, dome_size(env) - 1, DOME_U64, &first, 1);
    first = first ? first : 500;
    for (size_t i = 0; i < x->n; i++)
        ((double *)(void *)x->data)[i] = (double)i - (i < first ? 0 : 5000);
    put(x);
    dvec *index = dvec_new(env, NULL, DOME_I64, x->n);
    dvec_searchsorted(index, x->v, x->v, false);
    char *word = g_strdup_printf("is not sorted: element %d is less", (int)first);
    expect_failure(DOME_ERR_ARGUMENT, word);
    g_free(word);
    dvec_free(index);
}

static void test_failures(void)
{
    const uint64_t block = dome_block_size(1000);
    const dome_field field = {"a", DOME_F64, 0, 1};
    const dome_type type = dome_type_struct(env, "without order", sizeof(double), &field, 1, sizeof field);
    model x = make(DOME_F64, 1000, 1, DOME_DYNAMIC, 0, block), rows = make(DOME_F64, 1000, 3, DOME_DYNAMIC, 0, block);
    model z = make(DOME_F64, 999, 1, DOME_DYNAMIC, 0, block);
    dvec *index = dvec_new(env, NULL, DOME_I64, 1000), *structs = dvec_new(env, NULL, type, 1000),
         *phases = dvec_new(env, NULL, DOME_C128, 1000);
    dome_set_errors_return(env);
    relayout(1000, block);
    dvec_sort(x.v, z.v);
    expect_failure(DOME_ERR_SHAPE, "999");
    dvec_sort(structs, structs);
    expect_failure(DOME_ERR_TYPE, "have no order");
    dvec_sort(rows.v, rows.v);
    expect_failure(DOME_ERR_SHAPE, "width");
    dvec_argsort(x.v, x.v);
    expect_failure(DOME_ERR_TYPE, "positions are i64 or u64");
    dvec_iota(x.v);
    dvec_iota(phases);
    const double low[2] = {-1, 0};
    dvec_set(x.v, 700, low);
    dvec_searchsorted(index, x.v, x.v, false);
    expect_failure(DOME_ERR_ARGUMENT, "is not sorted: element 700 is less");
    dvec_set(phases, 300, low);
    dvec_searchsorted(index, phases, phases, false);
    expect_failure(DOME_ERR_ARGUMENT, "is not sorted: element 300 is less");
    double untouched[1001] = {7};
    dvec_topk(x.v, 1001, true, untouched, NULL);
    expect_failure(DOME_ERR_ARGUMENT, "1001 values of");
    dvec_topk(structs, 1, true, untouched, NULL);
    expect_failure(DOME_ERR_TYPE, "have no order");
    dvec_topk(rows.v, 1, true, untouched, NULL);
    expect_failure(DOME_ERR_SHAPE, "width");
    EXPECT(untouched[0] == 7 && dvec_topk(x.v, 0, true, untouched, NULL) == DOME_OK && untouched[0] == 7, "values are changed");
    test_descent(&x);
    dvec_free(index);
    dvec_free(structs);
    dvec_free(phases);
    drop(&x);
    drop(&rows);
    drop(&z);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 120;
    const dome_type types[] = {DOME_I8,  DOME_I16, DOME_I32, DOME_I64, DOME_U8,  DOME_U16,  DOME_U32,
                               DOME_U64, DOME_F32, DOME_F64, DOME_F64, DOME_C64, DOME_C128, DOME_C128};
    static void (*const tests[])(model *) = {test_sort, test_unique, test_searchsorted, test_topk};
    for (round_number = 0; round_number < rounds; round_number++) {
        draw_state = seed * 1000003 + (uint64_t)round_number;
        if (round_number == rounds * 3 / 4)
            pretend_mixed_formats(env);
        model x = any_vector(types, sizeof types / sizeof *types, 1);
        tests[round_number % 4](&x);
        drop(&x);
    }
    test_order_of_complex();
    test_topk_of_many();
    test_failures();
    return dome_finalize(env);
}
