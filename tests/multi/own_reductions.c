/* Reductions with functions of the program (dvec_reduce): beside the same on one task, in layouts of all kinds.
 *
 *     own_reductions [mistakes]     mistakes: also those that --dome-check-reductions finds, which must be given */
#include "numbers.h"

#include <stddef.h>

/* The map t -> a t + b modulo 2^64; maps one after the other are associative and do not commute. */
typedef struct affine {
    uint64_t a;
    uint8_t pad; /* padding behind it in memory */
    uint64_t b;
} affine;

static dome_type affine_type(void)
{
    const dome_field fields[] = {{"a", DOME_U64, offsetof(affine, a), 1},
                                 {"pad", DOME_U8, offsetof(affine, pad), 1},
                                 {"b", DOME_U64, offsetof(affine, b), 1}};
    return dome_type_struct(env, "affine", sizeof(affine), fields, 3, sizeof(dome_field));
}

static affine affine_at(uint64_t k)
{
    return (affine){.a = mixed(k) | 1, .b = mixed(k + 77)};
}

static void after(void *ctx, void *left, const void *right)
{
    affine *l = left;
    const affine *r = right;
    (void)ctx;
    l->b = r->a * l->b + r->b;
    l->a *= r->a;
}

/* The mean and the variance of numbers, joined by the formulas of Chan, Golub and LeVeque (1979). */
typedef struct moments {
    double count, mean, squares;
} moments;

static dome_type moments_type(void)
{
    const dome_field fields[] = {{"count", DOME_F64, offsetof(moments, count), 1},
                                 {"mean", DOME_F64, offsetof(moments, mean), 1},
                                 {"squares", DOME_F64, offsetof(moments, squares), 1}};
    return dome_type_struct(env, "moments", sizeof(moments), fields, 3, sizeof(dome_field));
}

static void join(void *ctx, void *left, const void *right)
{
    moments *l = left;
    const moments *r = right;
    double n = l->count + r->count, delta = r->mean - l->mean;
    (void)ctx;
    l->squares += r->squares + delta * delta * l->count * r->count / n;
    l->mean += delta * r->count / n;
    l->count = n;
}

static void moments_of(void *ctx, uint64_t first, size_t count, void *result, const void *x)
{
    moments m = {1, *(const double *)x, 0};
    (void)ctx, (void)first;
    for (size_t k = 1; k < count; k++)
        join(NULL, &m, &(moments){1, ((const double *)x)[k], 0});
    *(moments *)result = m;
}

/* The reference: node (level, i) of the tree over the blocks. */
static moments node(uint64_t n, uint64_t block, int level, uint64_t i)
{
    uint64_t begin = (i << level) * block, middle = begin + (((uint64_t)1 << level) / 2) * block;
    moments m;
    if (level == 0) {
        uint64_t count = n - begin < block ? n - begin : block;
        double *x = calloc(count, sizeof *x);
        for (uint64_t k = 0; k < count; k++)
            x[k] = number(begin + k);
        moments_of(NULL, begin, count, &m, x);
        free(x);
        return m;
    }
    m = node(n, block, level - 1, 2 * i);
    if (middle < n) {
        moments right = node(n, block, level - 1, 2 * i + 1);
        join(NULL, &m, &right);
    }
    return m;
}

static void test_reduce(uint64_t n, dome_distribution distribution)
{
    dvec *maps = dvec_new_with(env, "maps", affine_type(), n, DVEC_OPTIONS(.distribution = distribution, .width = 2));
    dvec *x = dvec_new_with(env, "x", DOME_F64, n, DVEC_OPTIONS(.distribution = distribution));
    dvec_span span[2];
    dvec_local_spans(maps, span);
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < span[s].count * 2; j++)
            ((affine *)span[s].data)[j] = affine_at(span[s].first * 2 + j);
    set_numbers(x);

    affine expected = affine_at(0);
    for (uint64_t k = 1; k < 2 * n; k++)
        after(NULL, &expected, &(affine[]){affine_at(k)}[0]);
    uint64_t block = dome_block_size(n);
    int top = 0;
    while ((block << top) < n)
        top++;
    const moments tree = node(n, block, top, 0);
    for (int layout = 0; layout < (distribution == DOME_DYNAMIC ? LAYOUTS : 1); layout++) {
        if (distribution == DOME_DYNAMIC)
            relayout(n, block, layout);
        affine all = {0};
        CHECK(dvec_reduce(maps, NULL, NULL, after, NULL, &all) == DOME_OK);
        CHECK(all.a == expected.a && all.b == expected.b);
        moments m = {0};
        CHECK(dvec_reduce(x, moments_type(), moments_of, join, NULL, &m) == DOME_OK);
        CHECK(memcmp(&m, &tree, sizeof m) == 0);
        /* of values that are recorded and computed by the reduction */
        dvec *y = dvec_clone(x, NULL);
        dvec_subs(y, y, 3);
        dvec_adds(y, y, 3);
        CHECK(dvec_reduce(y, moments_type(), moments_of, join, NULL, &m) == DOME_OK);
        CHECK(memcmp(&m, &tree, sizeof m) == 0);
        dvec_free(y);
    }
    dvec_free(maps);
    dvec_free(x);
}

static void test_reduce_errors(void)
{
    dvec *empty = dvec_new(env, NULL, DOME_F64, 0), *x = dvec_new(env, "x", DOME_F64, 10),
         *i = dvec_new(env, "i", DOME_I64, 5000);
    moments m = {5, 6, 7};
    double value;
    CHECK(dvec_reduce(empty, moments_type(), moments_of, join, NULL, &m) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "the vector is empty");
    CHECK(dvec_reduce(x, moments_type(), NULL, join, NULL, &m) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "elements of type f64 need a function for blocks to give a result of type moments");
    CHECK(dvec_reduce(x, NULL, NULL, NULL, NULL, &value) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "there is no function that combines");
    CHECK(dvec_reduce(x, NULL, NULL, join, NULL, NULL) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "there is no place for the result");
    dvec_iota(i);
    dvec_rdivs(i, i, 7);
    CHECK(dvec_reduce(i, moments_type(), moments_of, join, NULL, &m) != DOME_OK);
    FAILED(DOME_ERR_RANGE, "element 0 is an integer divided by zero");
    CHECK(m.count == 5 && m.mean == 6 && m.squares == 7);
    dvec_free(empty);
    dvec_free(x);
    dvec_free(i);
}

/* ---- mistakes that --dome-check-reductions finds ---- */

static void difference(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(double *)left -= *(const double *)right;
}

static void sum(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(double *)left += *(const double *)right;
}

static void mean_of(void *ctx, uint64_t first, size_t count, void *result, const void *x)
{
    double total = 0;
    (void)ctx, (void)first;
    for (size_t k = 0; k < count; k++)
        total += ((const double *)x)[k];
    *(double *)result = total / (double)count;
}

static void test_mistakes(void)
{
    double value = 5;
    for (int few = 0; few < 2; few++) {
        dvec *x = dvec_new(env, "x", DOME_F64, few ? 5 : 3000);
        dvec_iota(x);
        CHECK(dvec_reduce(x, NULL, NULL, sum, NULL, &value) == DOME_OK);
        CHECK(value == (few ? 10 : 2999 * 1500));
        CHECK(dvec_reduce(x, NULL, NULL, difference, NULL, &value) != DOME_OK);
        FAILED(DOME_ERR_RANGE,
               few ? "combine is not associative: as (a b) c or a (b c), the results of three blocks from block 0 "
                     "give -3 or 1"
                   : "combine is not associative: as (a b) c or a (b c), three parts of block 0 give ");
        if (!few) {
            CHECK(dvec_reduce(x, NULL, mean_of, sum, NULL, &value) != DOME_OK);
            FAILED(DOME_ERR_RANGE,
                   "combine of parts does not give what block gives of all: three parts, and all, of block 0 give ");
        }
        dvec_free(x);
    }
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    if (argc > 1)
        test_mistakes();
    const uint64_t lengths[] = {1, 3, 255, 1000, 70001};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int d = DOME_DYNAMIC; d <= DOME_WHOLE; d++)
            test_reduce(lengths[k], (dome_distribution)d);
    test_reduce_errors();
    dome_print(env, "ok: %u checks on %d task%s\n", checks, dome_size(env), dome_size(env) == 1 ? "" : "s");
    return dome_finalize(env);
}
