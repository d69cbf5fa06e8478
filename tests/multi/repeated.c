/* Operands that are repeated (dvec.h): one value for all values of an element, one element for all elements. Each result is
 * compared, to the bit, with that of operands that were written out by a loop. */
#include <dome/dome.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static dome_env *env;

#define CHECK(condition)                                                                                                         \
    do {                                                                                                                         \
        if (!(condition))                                                                                                        \
            dome_abort(env, "line %d: %s does not hold (%s)", __LINE__, #condition, dome_error_message(env));                    \
    } while (0)

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

/* Whether two vectors have the same bytes, and how many there are. */
static size_t bytes_of_value;
static void different(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const size_t width = *(const size_t *)ctx * bytes_of_value;
    (void)first;
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)out)[i] = memcmp((const char *)in[0] + i * width, (const char *)in[1] + i * width, width) != 0;
}

static bool equal(dvec *x, dvec *y)
{
    size_t width = dvec_width(x);
    bytes_of_value = dome_type_size(dvec_type(x));
    dvec *mask = dvec_new(env, NULL, DOME_U8, dvec_length(x));
    dvec_map(mask, different, &width, 2, (dvec *[]){x, y});
    int64_t number = dvec_sum_i64(mask);
    dvec_free(mask);
    return number == 0;
}

static dvec *random_vector(dome_type type, size_t n, size_t width, dome_distribution distribution, uint64_t seed)
{
    dvec *x = dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.width = width, .distribution = distribution));
    dvec_random(x, seed);
    return x;
}

/* ---- operands written out ---- */

struct shape {
    size_t bytes, width, from;
};

static void write_out(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct shape *s = ctx;
    (void)first;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < s->width; k++)
            memcpy((char *)out + (i * s->width + k) * s->bytes,
                   (const char *)in[0] + (i * s->from + (s->from == 1 ? 0 : k)) * s->bytes, s->bytes);
}

/* x as a vector of n elements of `width` values. */
static dvec *written_out(dvec *x, size_t n, size_t width)
{
    struct shape s = {dome_type_size(dvec_type(x)), width, dvec_width(x)};
    dvec *z = dvec_new_with(env, NULL, dvec_type(x), n, DVEC_OPTIONS(.width = width)), *all = x;
    if (dvec_length(x) != n) {
        const char *row = dvec_allgather(x);
        char *element = malloc(s.bytes * s.from);
        memcpy(element, row, s.bytes * s.from);
        all = dvec_new_with(env, NULL, dvec_type(x), n, DVEC_OPTIONS(.width = s.from, .distribution = DOME_WHOLE));
        for (size_t i = 0; i < n; i++)
            dvec_set(all, i, element);
        free(element);
    }
    dvec_map(z, write_out, &s, 1, &all);
    if (all != x)
        dvec_free(all);
    return z;
}

/* ---- element-wise functions ---- */

/* Both orders of the operands, and a chain whose parts are in no memory. */
static void arithmetic(dome_type type, dvec *x, dvec *y)
{
    const size_t n = dvec_length(x), width = dvec_width(x);
    dvec *full = written_out(y, n, width), *z = dvec_new_like(x, NULL), *t = dvec_new_like(x, NULL);
    dvec_add(z, x, y);
    dvec_add(t, x, full);
    CHECK(equal(z, t));
    dvec_sub(z, y, x);
    dvec_sub(t, full, x);
    CHECK(equal(z, t));
    dvec_mul(z, y, y);
    dvec_mul(t, full, full);
    CHECK(equal(z, t));
    dvec_copy(z, y);
    CHECK(equal(z, full));
    dvec_mul(z, x, y);
    dvec_axpy(z, 2, y);
    dvec_axpby(z, 3, y, 1);
    dvec_mul(t, x, full);
    dvec_axpy(t, 2, full);
    dvec_axpby(t, 3, full, 1);
    if (type == DOME_F64 || type == DOME_F32 || type == DOME_I32)
        CHECK(same(dvec_sum(z), dvec_sum(t)));
    CHECK(equal(z, t));
    const dvec *const terms[] = {y, x, y}, *const full_terms[] = {full, x, full};
    dvec_linear_combination(z, 3, (double[]){1, 2, 3}, terms);
    dvec_linear_combination(t, 3, (double[]){1, 2, 3}, full_terms);
    CHECK(equal(z, t));
    dvec_neg(z, y);
    dvec_neg(t, full);
    CHECK(equal(z, t));
    dvec_free(full);
    dvec_free(z);
    dvec_free(t);
}

/* y is read after it was recorded and before it changes. */
static void changed_later(dvec *x, dvec *y)
{
    dvec *full = written_out(y, dvec_length(x), dvec_width(x)), *z = dvec_new_like(x, NULL), *t = dvec_new_like(x, NULL);
    dvec_mul(z, x, y);
    dvec_mul(t, x, full);
    dvec_adds(y, y, 1);
    CHECK(equal(z, t));
    dvec_mul(z, x, y); /* y's new value has not been computed yet */
    dvec_adds(full, full, 1);
    dvec_mul(t, x, full);
    dvec_fill(y, 0);
    CHECK(equal(z, t));
    dvec_free(full);
    dvec_free(z);
    dvec_free(t);
}

/* Comparisons, masks, choices, and operands of other types. */
static void others(dvec *x, dvec *y)
{
    const size_t n = dvec_length(x), width = dvec_width(x);
    dvec *full = written_out(y, n, width), *z = dvec_new_like(x, NULL), *t = dvec_new_like(x, NULL);
    dvec *mask = dvec_new_with(env, NULL, DOME_U8, n, DVEC_OPTIONS(.width = width)), *other = dvec_new_like(mask, NULL),
         *narrow = dvec_new(env, NULL, DOME_U8, n), *first = dvec_new(env, NULL, DOME_F32, n);
    dvec_lt(mask, x, y);
    dvec_lt(other, x, full);
    CHECK(equal(mask, other));
    dvec_ge(mask, y, x);
    dvec_ge(other, full, x);
    CHECK(equal(mask, other));
    DVEC_FOR (i, uint8_t, narrow)
        narrow = i % 3 == 0;
    dvec *wide = written_out(narrow, n, width);
    dvec_and(mask, mask, narrow);
    dvec_and(other, other, wide);
    CHECK(equal(mask, other));
    dvec_select(z, narrow, x, y);
    dvec_select(t, wide, x, full);
    CHECK(equal(z, t));
    dvec_random(first, 9);
    dvec *wide_first = written_out(first, n, width);
    dvec_convert(z, first);
    dvec_convert(t, wide_first);
    CHECK(equal(z, t));
    dvec_mul(z, first, y); /* converted to z's type */
    dvec_mul(t, wide_first, full);
    CHECK(equal(z, t));
    dvec_atan2(z, y, x);
    dvec_atan2(t, full, x);
    CHECK(equal(z, t));
    dscalar *a = dscalar_new(env, NULL, DOME_F64);
    dscalar_set_f64(a, 0.3);
    dvec_axpy_by(z, a, y);
    dvec_axpy_by(t, a, full);
    CHECK(equal(z, t));
    dscalar_free(a);
    dvec *all[] = {full, z, t, mask, other, narrow, first, wide, wide_first};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        dvec_free(all[k]);
}

/* ---- loops ---- */

static void loops(dvec *x, dvec *y)
{
    const size_t n = dvec_length(x), width = dvec_width(x);
    dvec *full = written_out(y, n, width), *z = dvec_new_like(x, NULL), *t = dvec_new_like(x, NULL);
    double s = -1, sum, two[2];
    dvec_mul(t, x, full);
    sum = dvec_sum(t);
    DVEC_MAP2(double, z, x, y, x *y);
    CHECK(equal(z, t));
    DVEC_SUM2(s, double, y, x, x *y);
    CHECK(same(s, sum));
    dvec_fill(z, 0);
    DVEC_MAP_SUM2(s, double, z, y, x, x *y);
    CHECK(equal(z, t) && same(s, sum));
    dvec_fill(z, 0);
    DVEC_FOR (i, double, z, const double, y, const double, x)
        z = x * y;
    CHECK(equal(z, t));
    DVEC_FOR_SUM (two, i, const double, y, const double, x) {
        two[0] = x * y;
        two[1] = y;
    }
    CHECK(same(two[0], sum) && same(two[1], dvec_sum(full)));
    if (dvec_length(y) == 1) /* rows of a vector with one element */
        DVEC_FOR_ROWS_SUM (s, i, const double, x, const double, y)
            s = x[0] * y[0];
    else
        DVEC_FOR_ROWS_SUM (s, i, const double, x, const double, y)
            s = x[0] * *y;
    DVEC_FOR_ROWS_SUM (sum, i, const double, t)
        sum = t[0];
    CHECK(same(s, sum));
    dvec_free(full);
    dvec_free(z);
    dvec_free(t);
}

/* ---- failures ---- */

#define FAILS(call, code, text)                                                                                                  \
    do {                                                                                                                         \
        call;                                                                                                                    \
        CHECK(dome_error_status(env) == (code) && strstr(dome_error_message(env), text));                                        \
        dome_error_clear(env);                                                                                                   \
    } while (0)

static void failures(void)
{
    dvec *x = dvec_new_with(env, "x", DOME_F64, 100, DVEC_OPTIONS(.width = 3)), *y = dvec_new(env, "y", DOME_F64, 100),
         *two = dvec_new_with(env, "two", DOME_F64, 100, DVEC_OPTIONS(.width = 2)), *one = dvec_new(env, "one", DOME_F64, 1),
         *row = dvec_new_with(env, "row", DOME_F64, 1, DVEC_OPTIONS(.width = 2, .distribution = DOME_WHOLE)),
         *value = dvec_new_with(env, "value", DOME_I32, 1, DVEC_OPTIONS(.distribution = DOME_WHOLE)),
         *i = dvec_new_with(env, "i", DOME_I32, 100, DVEC_OPTIONS(.width = 3)), *j = dvec_new(env, "j", DOME_I32, 100);
    double s;
    dome_set_errors_return(env);
    FAILS(dvec_add(y, y, x), DOME_ERR_SHAPE, "'x' has width 3, but 'y' 1"); /* outputs are not repeated */
    FAILS(dvec_add(x, x, two), DOME_ERR_SHAPE, "'two' has width 2, but 'x' 3");
    FAILS(dvec_add(x, x, one), DOME_ERR_SHAPE, "'one' has 1 element, but 'x' 100 (one element is repeated if it is DOME_WHOLE)");
    FAILS(dvec_add(x, x, row), DOME_ERR_SHAPE, "'row' has width 2, but 'x' 3");
    FAILS(dvec_add(value, value, i), DOME_ERR_SHAPE, "'i' has 100 elements, but 'value' 1");
    FAILS(dvec_dot(x, y), DOME_ERR_SHAPE, "width"); /* nor operands of reductions */
    FAILS(DVEC_MAP2(double, y, x, y, x + y), DOME_ERR_SHAPE, "'x' has width 3, but 'y' 1");
    FAILS(DVEC_SUM2(s, double, x, row, x + row), DOME_ERR_SHAPE, "'row' has width 2, but 'x' 3");
    CHECK(isnan(s));
    dvec_div(j, j, j); /* values that cannot be computed: the failure goes with them */
    dvec_add(i, i, j);
    FAILS(dvec_sum(i), DOME_ERR_RANGE, "dvec_div into 'j': element 0 is an integer divided by zero");
    dvec_fill(i, 1);
    dvec_div(value, value, value);
    FAILS(dvec_add(i, i, value), DOME_ERR_RANGE, "dvec_div into 'value': element 0 is an integer divided by zero");
    CHECK(dvec_sum(i) == 300);
    dome_error_clear(env);
}

static void all_of(size_t n, size_t width)
{
    static const dome_type_kind kinds[] = {DOME_KIND_I8,  DOME_KIND_U16, DOME_KIND_I32, DOME_KIND_U64,
                                           DOME_KIND_F32, DOME_KIND_F64, DOME_KIND_C128};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        dome_type type = dome_type_basic(kinds[k]);
        dvec *x = random_vector(type, n, width, DOME_DYNAMIC, 1);
        dvec *small[] = {random_vector(type, n, 1, DOME_DYNAMIC, 2), random_vector(type, n, 1, DOME_WHOLE, 3),
                         random_vector(type, 1, width, DOME_WHOLE, 4), random_vector(type, 1, 1, DOME_WHOLE, 5)};
        for (size_t y = 0; y < sizeof small / sizeof *small; y++) {
            arithmetic(type, x, small[y]);
            if (type == DOME_F64) {
                others(x, small[y]);
                loops(x, small[y]);
            }
            changed_later(x, small[y]);
            dvec_free(small[y]);
        }
        dvec_free(x);
    }
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    all_of(0, 3);
    all_of(1, 5);
    all_of(1000, 2);
    all_of(600, 3);
    all_of(300, 4);
    all_of(100, 37);
    all_of(3, 5000);
    failures();
    return dome_finalize(env);
}
