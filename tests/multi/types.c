/* Types that compute: arithmetic of struct types, and operands of different types, beside the same on one task, in layouts of all
 * kinds. */
#include "numbers.h"

#include <stddef.h>

typedef struct point {
    double x;
    int32_t n; /* padding behind it */
    double y;
} point;

#define POINT_BINARY(name, op)                                                                                                   \
    static void point_##name(void *z, const void *x, const void *y, size_t n)                                                    \
    {                                                                                                                            \
        point *to = z;                                                                                                           \
        const point *a = x, *b = y;                                                                                              \
        for (size_t k = 0; k < n; k++)                                                                                           \
            to[k] = (point){a[k].x op b[k].x, (int32_t)((uint32_t)a[k].n op(uint32_t) b[k].n), a[k].y op b[k].y};                \
    }
POINT_BINARY(add, +)
POINT_BINARY(sub, -)
POINT_BINARY(mul, *)

static void point_neg(void *z, const void *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        ((point *)z)[k] = (point){-((const point *)x)[k].x, -((const point *)x)[k].n, -((const point *)x)[k].y};
}

static void point_scale(void *z, const void *x, double a, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        point p = ((const point *)x)[k];
        ((point *)z)[k] = (point){p.x * a, p.n, p.y * a};
    }
}

static void point_less(uint8_t *z, const void *x, const void *y, size_t n)
{
    for (size_t k = 0; k < n; k++)
        z[k] = ((const point *)x)[k].n < ((const point *)y)[k].n;
}

static void point_from(void *z, const double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        ((point *)z)[k] = (point){x[k], (int32_t)x[k] % 100, -x[k]};
}

static void point_to(double *z, const void *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        z[k] = ((const point *)x)[k].x;
}

static void point_div(void *z, const void *x, const void *y, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const point a = ((const point *)x)[k], b = ((const point *)y)[k];
        ((point *)z)[k] = (point){a.x / b.x, a.n - b.n, a.y / b.y};
    }
}

static void point_equal(uint8_t *z, const void *x, const void *y, size_t n)
{
    for (size_t k = 0; k < n; k++)
        z[k] = ((const point *)x)[k].n == ((const point *)y)[k].n;
}

static const dome_type_ops point_ops = {.size = sizeof(dome_type_ops),
                                        .add = point_add,
                                        .sub = point_sub,
                                        .mul = point_mul,
                                        .div = point_div,
                                        .neg = point_neg,
                                        .scale = point_scale,
                                        .less = point_less,
                                        .equal = point_equal,
                                        .from_f64 = point_from,
                                        .to_f64 = point_to};

static dome_type point_type(const char *name)
{
    const dome_field fields[] = {
        {"x", DOME_F64, offsetof(point, x), 1}, {"n", DOME_I32, offsetof(point, n), 1}, {"y", DOME_F64, offsetof(point, y), 1}};
    return dome_type_struct(env, name, sizeof(point), fields, 3, sizeof(dome_field));
}

static point point_at(uint64_t k)
{
    return (point){number(k) / 7, (int32_t)(mixed(k) % 1000), number(k + 5) / 3};
}

static bool same_point(point a, point b)
{
    return memcmp(&a.x, &b.x, sizeof a.x) == 0 && a.n == b.n && memcmp(&a.y, &b.y, sizeof a.y) == 0;
}

static void set_points(dvec *p)
{
    dvec_span span[2];
    CHECK(dvec_local_spans(p, span) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < span[s].count * dvec_width(p); j++)
            ((point *)span[s].data)[j] = point_at(span[s].first * dvec_width(p) + j);
}

/* Checks that every value of p is f of its position. */
static void check_points(const dvec *p, point (*f)(uint64_t k), const char *what)
{
    dvec_span span[2];
    CHECK(dvec_local_spans_const(p, span) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < span[s].count * dvec_width(p); j++)
            if (!same_point(((const point *)span[s].data)[j], f(span[s].first * dvec_width(p) + j)))
                dome_abort(env, "%s: value %zu differs", what, (size_t)span[s].first * dvec_width(p) + j);
    checks++;
}

static point computed(uint64_t k)
{
    point a = point_at(k), b = point_at(k), product;
    point_scale(&b, &b, 0.3, 1);
    point_mul(&product, &a, &b, 1);
    point_sub(&product, &product, &a, 1);
    point_neg(&product, &product, 1);
    point_scale(&b, &a, 2.5, 1);
    point_add(&product, &product, &b, 1);
    point_mul(&b, &a, &(point[]){point_at(3)}[0], 1);
    point_add(&product, &product, &b, 1);
    return product;
}

/* The sum of a block as the header describes it, and of the tree above. */
static point block_sum(uint64_t first, uint64_t count)
{
    point lane[64];
    uint64_t lanes = count < 64 ? count : 64;
    for (uint64_t k = 0; k < count; k++) {
        point p = point_at(first + k);
        if (k < 64)
            lane[k] = p;
        else
            point_add(&lane[k % 64], &lane[k % 64], &p, 1);
    }
    for (uint64_t half; lanes > 1; lanes = half) {
        half = (lanes + 1) / 2;
        for (uint64_t k = 0; k + half < lanes; k++)
            point_add(&lane[k], &lane[k], &lane[k + half], 1);
    }
    return lane[0];
}

static point tree_sum(uint64_t values, uint64_t block, int level, uint64_t i)
{
    uint64_t begin = (i << level) * block, middle = begin + (((uint64_t)1 << level) / 2) * block;
    if (level == 0)
        return block_sum(begin, values - begin < block ? values - begin : block);
    point left = tree_sum(values, block, level - 1, 2 * i);
    if (middle < values) {
        point right = tree_sum(values, block, level - 1, 2 * i + 1);
        point_add(&left, &left, &right, 1);
    }
    return left;
}

/* In order, within blocks; before them the nodes of each bit of the block's number. */
static point *scanned;

static void scan_reference(uint64_t n, uint64_t width, uint64_t block)
{
    const uint64_t blocks = (n + block - 1) / block;
    scanned = realloc(scanned, (n * width + 1) * sizeof *scanned);
    for (uint64_t c = 0; c < width; c++) {
        point *node = malloc(64 * sizeof *node);
        int depth = 0;
        for (uint64_t b = 0; b < blocks; b++) {
            point in_block, before;
            for (int d = 0; d < depth; d++)
                if (d == 0)
                    before = node[0];
                else
                    point_add(&before, &before, &node[d], 1);
            for (uint64_t i = b * block; i < n && i < (b + 1) * block; i++) {
                point p = point_at(i * width + c);
                if (i == b * block)
                    in_block = p;
                else
                    point_add(&in_block, &in_block, &p, 1);
                if (depth)
                    point_add(&scanned[i * width + c], &before, &in_block, 1);
                else
                    scanned[i * width + c] = in_block;
            }
            node[depth++] = in_block;
            for (uint64_t m = b + 1; m % 2 == 0; m /= 2, depth--)
                point_add(&node[depth - 2], &node[depth - 2], &node[depth - 1], 1);
        }
        free(node);
    }
}

static point scan_at(uint64_t k)
{
    return scanned[k];
}

static point from_number(uint64_t k)
{
    point p;
    point_from(&p, &(double[]){number(k)}[0], 1);
    return p;
}

static void test_points(uint64_t n, uint64_t width, dome_distribution distribution)
{
    const dvec_options options = {.size = sizeof options, .distribution = distribution, .width = width};
    const dome_type type = point_type("point");
    dvec *p = dvec_new_with(env, "p", type, n, &options), *q = dvec_new_like(p, "q"), *z = dvec_new_like(p, "z");
    dvec *numbers = dvec_new_with(env, NULL, DOME_F64, n, &options), *mask = dvec_new_with(env, NULL, DOME_U8, n, &options);
    const uint64_t block = dome_block_size(n);
    int top = 0;
    while (n && (block << top) < n)
        top++;
    set_points(p);
    scan_reference(n, width, block);
    uint64_t first_smallest = 0, first_largest = 0;
    for (uint64_t k = 0; k < n * width; k++) {
        first_smallest = point_at(k).n < point_at(first_smallest).n ? k : first_smallest;
        first_largest = point_at(k).n > point_at(first_largest).n ? k : first_largest;
    }
    for (int layout = 0; layout < (distribution == DOME_DYNAMIC ? LAYOUTS : 1); layout++) {
        if (distribution == DOME_DYNAMIC)
            relayout(n, block, layout);
        const point three = point_at(3);
        CHECK(dvec_muls(q, p, 0.3) == DOME_OK && dvec_mul(z, p, q) == DOME_OK && dvec_sub(z, z, p) == DOME_OK);
        CHECK(dvec_neg(z, z) == DOME_OK && dvec_axpy(z, 2.5, p) == DOME_OK && dvec_axpy_struct(z, &three, p) == DOME_OK);
        check_points(z, computed, "arithmetic");
        CHECK(dvec_axpby(q, 2, p, -0.5) == DOME_OK);
        const point limit = {0, 500, 0};
        CHECK(dvec_fill_value(q, &limit) == DOME_OK && dvec_lt(mask, p, q) == DOME_OK);
        CHECK(dvec_muls(z, p, -1) == DOME_OK);
        CHECK(dvec_scan(q, p) == DOME_OK);
        check_points(q, scan_at, "scan");
        CHECK(dvec_copy(q, p) == DOME_OK && dvec_scan(q, q) == DOME_OK);
        check_points(q, scan_at, "scan in place");

        point sum = {0};
        CHECK(dvec_sum_struct(p, &sum) == DOME_OK);
        CHECK(same_point(sum, n ? tree_sum(n * width, block * width, top, 0) : (point){0}));
        /* of values that are recorded */
        CHECK(dvec_muls(q, p, 1) == DOME_OK && dvec_sum_struct(q, &sum) == DOME_OK);
        CHECK(same_point(sum, n ? tree_sum(n * width, block * width, top, 0) : (point){0}));
        if (n) {
            uint64_t position;
            point value;
            CHECK(dvec_argmin(p, &position) == DOME_OK && position == first_smallest);
            CHECK(dvec_argmax(p, &position) == DOME_OK && position == first_largest);
            CHECK(dvec_min_value_struct(p, &value) == DOME_OK && same_point(value, point_at(first_smallest)));
            CHECK(dvec_max_value_struct(p, &value) == DOME_OK && same_point(value, point_at(first_largest)));
        }
        CHECK(dvec_select(q, mask, p, z) == DOME_OK);
        CHECK(dvec_fill_value(z, &limit) == DOME_OK && dvec_mul(z, z, q) == DOME_OK);
        set_numbers(numbers);
        CHECK(dvec_convert(q, numbers) == DOME_OK);
        if (width == 1)
            check_points(q, from_number, "from doubles");
        CHECK(dvec_convert(numbers, q) == DOME_OK && dvec_fill(q, 3) == DOME_OK);
        CHECK(dvec_sum_struct(q, &sum) == DOME_OK && sum.x == 3.0 * (double)(n * width));
        CHECK(dvec_min(z, p, q) == DOME_OK && dvec_max(z, p, q) == DOME_OK && dvec_ge(mask, z, q) == DOME_OK);
        CHECK(dvec_sum_i64(mask) == (int64_t)(n * width));
    }
    dvec_free(p);
    dvec_free(q);
    dvec_free(z);
    dvec_free(numbers);
    dvec_free(mask);
}

/* What stands at k in the vectors of test_points_compared. */
static const point middle = {3, 2, 5};

static point fifth_at(uint64_t k)
{
    point p = point_at(k);
    p.n = (int32_t)(k % 5);
    return p;
}

static point quotient_at(uint64_t k)
{
    point p = fifth_at(k);
    point_div(&p, &p, &middle, 1);
    return p;
}

static point halved_at(uint64_t k)
{
    point p = fifth_at(k), twice;
    point_scale(&p, &p, -0.5, 1);
    point_scale(&twice, &middle, 2, 1);
    point_add(&p, &p, &twice, 1);
    return p;
}

static point chosen_at(uint64_t k)
{
    return fifth_at(k).n < middle.n ? fifth_at(k) : middle;
}

static point largest_at(uint64_t k)
{
    return fifth_at(k).n > middle.n ? fifth_at(k) : middle;
}

/* Of 0 ... 4, one is equal to the number compared with, two are less and two are greater. */
static void test_points_compared(void)
{
    typedef dome_status (*comparison)(dvec *, const dvec *, const dvec *);
    static const comparison compare[] = {dvec_lt, dvec_le, dvec_gt, dvec_ge, dvec_eq, dvec_ne};
    static const char holds[][6] = {"11000", "11100", "00011", "00111", "00100", "11011"};
    const uint64_t n = 5003;
    dvec *p = dvec_new(env, NULL, point_type("point"), n), *q = dvec_new_like(p, NULL), *z = dvec_new_like(p, NULL);
    dvec *mask = dvec_new(env, NULL, DOME_U8, n);
    dvec_span span[2];
    CHECK(dvec_local_spans(p, span) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < span[s].count; j++)
            ((point *)span[s].data)[j] = fifth_at(span[s].first + j);
    CHECK(dvec_fill_value(q, &middle) == DOME_OK);
    for (size_t c = 0; c < sizeof compare / sizeof *compare; c++) {
        CHECK(compare[c](mask, p, q) == DOME_OK && dvec_local_spans_const(mask, span) == DOME_OK);
        for (int s = 0; s < 2; s++)
            for (size_t j = 0; j < span[s].count; j++)
                CHECK(((const uint8_t *)span[s].data)[j] == holds[c][(span[s].first + j) % 5] - '0');
    }
    CHECK(dvec_div(z, p, q) == DOME_OK);
    check_points(z, quotient_at, "division");
    CHECK(dvec_copy(z, p) == DOME_OK && dvec_axpby(z, 2, q, -0.5) == DOME_OK);
    check_points(z, halved_at, "axpby");
    CHECK(dvec_lt(mask, p, q) == DOME_OK && dvec_select(z, mask, p, q) == DOME_OK);
    check_points(z, chosen_at, "select");
    CHECK(dvec_min(z, p, q) == DOME_OK);
    check_points(z, chosen_at, "the smaller one");
    CHECK(dvec_copy(z, p) == DOME_OK && dvec_max(z, z, q) == DOME_OK);
    check_points(z, largest_at, "the larger one");
    dvec_free(p);
    dvec_free(q);
    dvec_free(z);
    dvec_free(mask);
}

static void test_type_errors(void)
{
    dome_type bare = point_type("bare"), some = point_type("some");
    dvec *x = dvec_new(env, "x", bare, 10), *y = dvec_new(env, "y", some, 10), *f = dvec_new(env, "f", DOME_F32, 10);
    dvec *mask = dvec_new(env, "mask", DOME_U8, 10);
    point value = {1, 2, 3};
    CHECK(dome_type_set_ops(env, some, &(dome_type_ops){.size = sizeof(dome_type_ops), .add = point_add}) == DOME_OK);
    CHECK(dome_type_set_ops(env, some, &(dome_type_ops){.size = sizeof(dome_type_ops), .add = point_add}) == DOME_OK);
    CHECK(dome_type_set_ops(env, some, &(dome_type_ops){.size = sizeof(dome_type_ops), .add = point_sub}) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "struct type 'some' has been given other functions before");
    CHECK(dome_type_set_ops(env, DOME_F64, &point_ops) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "f64 is not a struct type of this environment");
    CHECK(dome_type_set_ops(env, bare, &(dome_type_ops){.add = point_add}) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "set size to sizeof(dome_type_ops)");
    CHECK(dvec_add(x, x, x) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "dvec_add of 'x': type bare has no function 'add' (dome_type_set_ops)");
    CHECK(dvec_axpy(y, 2, y) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "type some has no function 'scale'");
    CHECK(dvec_axpy_struct(y, &value, y) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "type some has no function 'mul'");
    CHECK(dvec_lt(mask, y, y) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "type some has no function 'less'");
    CHECK(dvec_sqrt(y, y) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "not defined for elements of type some");
    CHECK(dvec_fill(y, 1) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "type some has no function 'from_f64'");
    CHECK(dvec_convert(y, f) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "no conversion from f32 to some");
    CHECK(dvec_scan(x, x) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "type bare has no function 'add'");
    CHECK(dvec_sum_struct(x, &value) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "type bare has no function 'add'");
    CHECK(dvec_sum_struct(f, &value) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "not defined for elements of type f32, which is no struct");
    CHECK(dvec_min_value_struct(y, &value) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "type some has no function 'less'");
    uint64_t position;
    CHECK(dvec_argmin(x, &position) != DOME_OK && position == UINT64_MAX);
    FAILED(DOME_ERR_TYPE, "type bare has no function 'less'");
    CHECK(dvec_add(y, y, f) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "'f' has type f32, but 'y' some");
    CHECK(value.x == 1 && value.n == 2 && value.y == 3);
    dvec_free(x);
    dvec_free(y);
    dvec_free(f);
    dvec_free(mask);
}

/* ---- operands of different types ---- */

static void test_mixed(void)
{
    const uint64_t n = 1000;
    dvec *d = dvec_new(env, "d", DOME_F64, n), *f = dvec_new(env, "f", DOME_F32, n), *i = dvec_new(env, "i", DOME_I64, n);
    dvec *c = dvec_new(env, "c", DOME_C128, n),
         *whole = dvec_new_with(env, "whole", DOME_U8, n, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    dvec_iota(f);
    CHECK(dvec_muls(f, f, 0.1) == DOME_OK);
    dvec_iota(i);
    dvec_iota(whole);
    CHECK(dvec_add(d, f, i) == DOME_OK); /* in double */
    CHECK(dvec_axpy(d, 0.1, f) == DOME_OK);
    CHECK(dvec_add(d, d, whole) == DOME_OK);
    CHECK(dvec_muls(i, d, 2) == DOME_OK); /* d is rounded towards zero first */
    CHECK(dvec_mul(f, d, d) == DOME_OK);  /* each d is rounded first */
    CHECK(dvec_sub(c, i, d) == DOME_OK);
    dvec_span at[5][2];
    CHECK(dvec_local_spans_const(d, at[0]) == DOME_OK && dvec_local_spans_const(f, at[1]) == DOME_OK);
    CHECK(dvec_local_spans_const(i, at[2]) == DOME_OK && dvec_local_spans_const(c, at[3]) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < at[0][s].count; j++) {
            uint64_t k = at[0][s].first + j;
            float single = (float)k * 0.1f;
            volatile double product = 0.1 * (double)single;
            double value = (double)single + (double)k + product + (double)(k > 255 ? 255 : k);
            CHECK(((const double *)at[0][s].data)[j] == value);
            CHECK(((const float *)at[1][s].data)[j] == (float)value * (float)value);
            CHECK(((const int64_t *)at[2][s].data)[j] == (int64_t)value * 2);
            CHECK(((const double *)at[3][s].data)[2 * j] == (double)((int64_t)value * 2) - value);
            CHECK(((const double *)at[3][s].data)[2 * j + 1] == 0);
        }
    CHECK(dvec_linear_combination(d, 2, (const double[]){2, 3}, (const dvec *const[]){i, f}) == DOME_OK);
    CHECK(dvec_axpby(d, 2, whole, 1) == DOME_OK);
    CHECK(dvec_local_spans_const(d, at[0]) == DOME_OK && dvec_local_spans_const(f, at[1]) == DOME_OK &&
          dvec_local_spans_const(i, at[2]) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < at[0][s].count; j++) {
            uint64_t k = at[0][s].first + j;
            volatile double second = 3 * (double)((const float *)at[1][s].data)[j];
            double terms = 2 * (double)((const int64_t *)at[2][s].data)[j] + second;
            CHECK(((const double *)at[0][s].data)[j] == terms + 2 * (double)(k > 255 ? 255 : k));
        }
    CHECK(dvec_axpby(d, 2, c, 1) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "dvec_axpby of 'd': no conversion from c128 to f64");
    CHECK(dvec_linear_combination(d, 1, (const double[]){2}, (const dvec *const[]){NULL}) != DOME_OK);
    FAILED(DOME_ERR_ARGUMENT, "an operand is NULL");
    CHECK(dvec_add(d, c, d) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "dvec_add of 'd': no conversion from c128 to f64");
    CHECK(dvec_copy(d, f) != DOME_OK);
    FAILED(DOME_ERR_TYPE, "'f' has type f32, but 'd' f64");
    dvec_free(d);
    dvec_free(f);
    dvec_free(i);
    dvec_free(c);
    dvec_free(whole);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    CHECK(dome_type_set_ops(env, point_type("point"), &point_ops) == DOME_OK);
    const uint64_t points[] = {0, 3, 1000, 4099};
    for (size_t k = 0; k < sizeof points / sizeof *points; k++)
        for (int d = DOME_DYNAMIC; d <= DOME_WHOLE; d++)
            test_points(points[k], 1 + k % 2, (dome_distribution)d);
    test_points(50000, 1, DOME_DYNAMIC);
    test_points_compared();
    test_type_errors();
    test_mixed();
    free(scanned);
    dome_print(env, "ok: %u checks on %d task%s\n", checks, dome_size(env), dome_size(env) == 1 ? "" : "s");
    return dome_finalize(env);
}
