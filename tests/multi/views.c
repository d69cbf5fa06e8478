/* Views of arrays compared with a model that has the number of each value written out: transposed, sliced, reversed, repeated,
 * rolled, joined, and written. Arguments: a seed and a number of rounds. */
#include "any_view.h"
#include "mixed_formats.h"

static char *values_at(const model *x, const numbers *a)
{
    const size_t size = dome_type_size(x->type);
    char *values = malloc(a->count * size + 1);
    for (uint64_t k = 0; k < a->count; k++)
        memcpy(values + k * size, x->data + a->number[k] * size, size);
    return values;
}

static void test_take(model *x)
{
    dvec_view v;
    numbers a;
    any_view(x, &v, &a);
    char *wanted = values_at(x, &a);
    dvec *z = dvec_take_view(x->v, &v, NULL);
    check(z, a.count, dome_type_size(x->type), wanted, "take");
    uint64_t shape[DOME_MAX_DIMENSIONS];
    EXPECT(v.ndim == 0 || (dvec_shape(z, shape) == v.ndim && memcmp(shape, v.extent, (size_t)v.ndim * sizeof *shape) == 0),
           "take: another shape");
    dvec_free(z);
    free(wanted);
    free(a.number);
}

static void test_roll(model *x)
{
    dvec_view v;
    numbers a, b;
    any_view(x, &v, &a);
    if (a.ndim > 0) {
        const int axis = (int)draw((uint64_t)a.ndim);
        const int64_t k = (int64_t)draw(101) - 50, extent = (int64_t)a.extent[axis];
        b = a;
        b.number = malloc((a.count + 1) * sizeof *b.number);
        for (uint64_t j = 0; j < a.count; j++) {
            uint64_t index[DVEC_MAX_AXES];
            indices(&a, j, index);
            index[axis] = (uint64_t)((((int64_t)index[axis] - k) % extent + extent) % extent);
            b.number[j] = at(&a, index);
        }
        char *wanted = values_at(x, &b);
        dvec *z = dvec_roll_view(x->v, &v, axis, k, NULL);
        check(z, a.count, dome_type_size(x->type), wanted, "roll");
        dvec_free(z);
        free(b.number);
        free(wanted);
    }
    free(a.number);
}

/* Whether a number stands twice. */
static bool repeats(const numbers *a, uint64_t values)
{
    char *seen = calloc(values + 1, 1);
    bool twice = false;
    for (uint64_t k = 0; k < a->count; k++) {
        twice = twice || seen[a->number[k]];
        seen[a->number[k]] = 1;
    }
    free(seen);
    return twice;
}

/* Writes values of a second vector, or of x itself, into a view of x. */
static void test_copy(model *x)
{
    dvec_view v, from;
    numbers a;
    any_view(x, &v, &a);
    model y = make(x->type, a.count, 1, (dome_distribution)draw(3), 0, draw(2) ? 2 : 64);
    const bool itself = a.count == x->n * x->width && draw(2);
    const size_t size = dome_type_size(x->type);
    if (!repeats(&a, x->n * x->width)) {
        char *old = malloc(x->n * x->size + 1);
        memcpy(old, x->data, x->n * x->size);
        for (uint64_t k = 0; k < a.count; k++)
            memcpy(x->data + a.number[k] * size, (itself ? old : y.data) + k * size, size);
        EXPECT(dvec_view_array(&from, a.ndim, a.extent), "no view");
        EXPECT(dvec_copy_view(x->v, &v, itself ? x->v : y.v, draw(2) ? NULL : &from) == DOME_OK, "copy fails");
        check(x->v, x->n, x->size, x->data, "copy");
        free(old);
    }
    drop(&y);
    free(a.number);
}

static void test_join(model *x)
{
    enum { PARTS = 4 };
    dvec_view views[PARTS];
    numbers parts[PARTS], all;
    const dvec *vectors[PARTS];
    const size_t n = 1 + draw(PARTS), size = dome_type_size(x->type);
    any_view(x, &views[0], &parts[0]);
    const int axis = parts[0].ndim ? (int)draw((uint64_t)parts[0].ndim) : 0;
    all = parts[0];
    for (size_t k = 1; k < n && all.ndim; k++) { /* parts of the first */
        const uint64_t along = parts[0].extent[axis], count = draw(along + 1);
        views[k] = views[0];
        parts[k] = parts[0];
        parts[k].number = malloc((parts[0].count + 1) * sizeof *all.number);
        memcpy(parts[k].number, parts[0].number, parts[0].count * sizeof *all.number);
        change c = {.kind = SLICE, .axis = axis, .step = 1};
        uint64_t extent[DVEC_MAX_AXES];
        memcpy(extent, parts[0].extent, sizeof extent);
        extent[axis] = count;
        EXPECT(dvec_view_slice(&views[k], axis, 0, count, 1), "no slice");
        apply(&c, &parts[k], all.ndim, extent);
        all.extent[axis] += count;
    }
    if (all.ndim) {
        all.count = count_of(all.ndim, all.extent);
        all.number = malloc((all.count + 1) * sizeof *all.number);
        for (uint64_t j = 0; j < all.count; j++) {
            uint64_t index[DVEC_MAX_AXES] = {0};
            size_t k = 0;
            indices(&all, j, index);
            for (; index[axis] >= parts[k].extent[axis]; k++)
                index[axis] -= parts[k].extent[axis];
            all.number[j] = at(&parts[k], index);
        }
        for (size_t k = 0; k < n; k++)
            vectors[k] = x->v;
        char *wanted = values_at(x, &all);
        dvec *z = dvec_join_views(n, vectors, views, axis, NULL);
        check(z, all.count, size, wanted, "join");
        dvec_free(z);
        free(wanted);
        free(all.number);
        for (size_t k = 1; k < n; k++)
            free(parts[k].number);
    }
    free(parts[0].number);
}

static void test_refusals(void)
{
    dvec_view v, w;
    dvec *x = dvec_new(env, NULL, DOME_F64, 12);
    const uint64_t extent[] = {3, 4}, huge[] = {UINT64_C(1) << 40, UINT64_C(1) << 40};
    dome_set_errors_return(env);
    EXPECT(!dvec_view_array(&v, 2, huge) && !dvec_view_array(&v, DVEC_MAX_AXES + 1, extent) && !dvec_view_array(&v, -1, extent),
           "an array that is too large");
    EXPECT(dvec_view_array(&v, 2, extent), "no array");
    EXPECT(!dvec_view_transpose(&v, (const int[]){0, 0}) && !dvec_view_transpose(&v, (const int[]){0, 2}), "no permutation");
    EXPECT(!dvec_view_slice(&v, 2, 0, 1, 1) && !dvec_view_slice(&v, 0, 0, 1, 0) && !dvec_view_slice(&v, 0, 3, 1, 1),
           "a slice outside");
    EXPECT(!dvec_view_index(&v, 0, 3) && !dvec_view_flip(&v, -1) && !dvec_view_insert(&v, 3), "an axis or index outside");
    EXPECT(!dvec_view_broadcast(&v, 1, extent) && !dvec_view_broadcast(&v, 2, (const uint64_t[]){3, 5}), "a broadcast");
    w = v;
    w.offset = 1;
    EXPECT(!dvec_take_view(x, &w, NULL), "a view beyond the vector");
    expect_failure(DOME_ERR_RANGE, "beyond its 12");
    w = v;
    w.stride[0] = INT64_MAX;
    EXPECT(!dvec_take_view(x, &w, NULL), "a view beyond the vector");
    expect_failure(DOME_ERR_RANGE, "beyond its 12");
    w.ndim = 33;
    EXPECT(!dvec_take_view(x, &w, NULL), "too many dimensions");
    expect_failure(DOME_ERR_ARGUMENT, "33 dimensions");
    EXPECT(!dvec_roll_view(x, &v, 2, 1, NULL), "an axis outside");
    expect_failure(DOME_ERR_ARGUMENT, "axis 2 of 2");
    w = v;
    EXPECT(dvec_view_index(&w, 0, 0) && dvec_copy_view(x, &w, x, NULL) == DOME_ERR_SHAPE, "too many values");
    expect_failure(DOME_ERR_SHAPE, "12 values, but the view");
    EXPECT(dvec_view_insert(&w, 0) && dvec_view_broadcast(&w, 2, extent), "no broadcast");
    EXPECT(dvec_copy_view(x, &w, x, NULL) == DOME_ERR_ARGUMENT, "a value twice");
    expect_failure(DOME_ERR_ARGUMENT, "twice");
    w = v;
    EXPECT(dvec_view_transpose(&w, NULL), "no transpose");
    EXPECT(dvec_copy_view(x, &v, x, &w) == DOME_ERR_SHAPE, "other extents");
    expect_failure(DOME_ERR_SHAPE, "different extents");
    dvec_free(x);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 200;
    const dome_type types[] = {DOME_I8, DOME_I16, DOME_I32, DOME_F32, DOME_F64, DOME_C128, DOME_F64};
    static void (*const tests[])(model *) = {test_take, test_copy, test_take, test_roll, test_join};
    for (round_number = 0; round_number < rounds; round_number++) {
        draw_state = seed * 1000003 + (uint64_t)round_number;
        if (round_number == rounds * 3 / 4)
            pretend_mixed_formats(env);
        model x = any_vector(types, sizeof types / sizeof *types, 1 + draw(3));
        tests[round_number % 5](&x);
        drop(&x);
    }
    test_refusals();
    return dome_finalize(env);
}
