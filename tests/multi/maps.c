/* The program's own loops (dome/map.h) give the same results as the library's operations, to the bit: types, widths, layouts,
 * sums. */
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

/* Whether two vectors have the same values; their difference would not tell NaN. */
static bool equal(dvec *x, dvec *y)
{
    dvec_options o = {.size = sizeof o, .width = dvec_width(x)};
    dvec *mask = dvec_new_with(env, NULL, DOME_U8, dvec_length(x), &o);
    dvec_ne(mask, x, y);
    int64_t different = dvec_sum_i64(mask);
    dvec_free(mask);
    return different == 0;
}

static dvec *random_vector(dome_type type, size_t n, size_t width, uint64_t seed)
{
    dvec *x = dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.width = width));
    dvec_random(x, seed);
    if (type == DOME_F64 || type == DOME_F32)
        dvec_adds(x, x, 0.5);
    return x;
}

static void doubles(size_t n, size_t width)
{
    dvec *a = random_vector(DOME_F64, n, width, 1), *b = random_vector(DOME_F64, n, width, 2),
         *c = random_vector(DOME_F64, n, width, 3);
    dvec *d = random_vector(DOME_F64, n, width, 4), *t = random_vector(DOME_F64, n, width, 5),
         *u = random_vector(DOME_F64, n, width, 6);
    const double half = 0.5;
    dvec_mul(t, a, a);
    dvec_mul(u, b, b);
    dvec_add(t, t, u);
    dvec_sqrt(t, t);
    dvec_mul(t, t, c);
    dvec_div(u, a, b);
    dvec_sub(t, t, u);
    dvec_muls(u, b, half);
    dvec_add(t, t, u);
    double sum = dvec_sum(t), mine = NAN;

    DVEC_MAP3(double, d, a, b, c, sqrt(a * a + b * b) * c - a / b + b * half);
    CHECK(equal(d, t));
    dvec_fill(d, 0);
    DVEC_MAP_SUM3(mine, double, d, a, b, c, sqrt(a * a + b * b) * c - a / b + b * half);
    CHECK(equal(d, t) && same(mine, sum));
    DVEC_SUM3(mine, double, a, b, c, sqrt(a * a + b * b) * c - a / b + b * half);
    CHECK(same(mine, sum));
    DVEC_SUM2(mine, double, a, b, a *b);
    CHECK(same(mine, dvec_dot(a, b)));

    dvec_axpy(t, 3, a); /* in place */
    const double factor = 3;
    DVEC_MAP2(double, d, d, a, d + factor * a);
    CHECK(equal(d, t));
    DVEC_MAP1(double, d, a, a < 1 ? a : NAN);
    DVEC_SUM1(mine, double, d, d);
    CHECK(same(mine, dvec_sum(d)));
    dvec_add(u, a, b); /* deferred when the loop begins */
    dvec_add(u, u, c);
    dvec_mul(u, u, t);
    DVEC_MAP4(double, d, a, b, c, t, (a + b + c) * t);
    CHECK(equal(d, u));
    dvec *all[] = {a, b, c, d, t, u};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        dvec_free(all[k]);
}

static void others(size_t n)
{
    dvec *x = random_vector(DOME_F32, n, 1, 7), *y = random_vector(DOME_F32, n, 1, 8), *z = random_vector(DOME_F32, n, 1, 9);
    double mine;
    DVEC_MAP_SUM2(mine, float, z, x, y, x *y);
    dvec_mul(x, x, y);
    CHECK(equal(x, z) && same(mine, dvec_sum(x)));
    dvec *i = random_vector(DOME_I32, n, 3, 10), *j = random_vector(DOME_I32, n, 3, 11), *k = random_vector(DOME_I32, n, 3, 12);
    DVEC_MAP2(int32_t, k, i, j, i > j ? i : j);
    dvec_max(i, i, j);
    CHECK(equal(i, k));

    /* a vector that all tasks have, with a distributed one, and by itself */
    dvec *whole = dvec_new_with(env, NULL, DOME_F32, n, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    dvec_random(whole, 13);
    DVEC_MAP_SUM2(mine, float, z, whole, x, whole - x);
    dvec_sub(y, whole, x);
    CHECK(equal(z, y) && same(mine, dvec_sum(y)));
    DVEC_SUM2(mine, float, whole, x, whole - x);
    CHECK(same(mine, dvec_sum(y)));
    DVEC_SUM1(mine, float, whole, whole);
    CHECK(same(mine, dvec_sum(whole)));
    dvec *all[] = {x, y, z, i, j, k, whole};
    for (size_t v = 0; v < sizeof all / sizeof *all; v++)
        dvec_free(all[v]);
}

/* Sums of integers are exact, even if doubles would have been rounded on the way. */
#define INTEGERS(TYPE, T)                                                                                                        \
    do {                                                                                                                         \
        dvec *x = dvec_new_with(env, NULL, TYPE, n, DVEC_OPTIONS(.width = 3)),                                                   \
             *z = dvec_new_with(env, NULL, TYPE, n, DVEC_OPTIONS(.width = 3));                                                   \
        double s = -1, t = -1;                                                                                                   \
        dvec_random(x, n);                                                                                                       \
        DVEC_SUM1(s, T, x, x);                                                                                                   \
        CHECK(same(s, dvec_sum(x)));                                                                                             \
        DVEC_MAP_SUM1(t, T, z, x, x / 3);                                                                                        \
        CHECK(same(t, dvec_sum(z)));                                                                                             \
        DVEC_MAP1(T, z, x, x | 1);                                                                                               \
        DVEC_SUM2(s, T, x, z, x ^ z);                                                                                            \
        dvec_sub(z, z, x);                                                                                                       \
        CHECK(same(s, dvec_sum(z)));                                                                                             \
        dvec_free(x);                                                                                                            \
        dvec_free(z);                                                                                                            \
    } while (0)

static void integers(size_t n)
{
    INTEGERS(DOME_I8, int8_t);
    INTEGERS(DOME_I16, int16_t);
    INTEGERS(DOME_I32, int32_t);
    INTEGERS(DOME_I64, int64_t);
    INTEGERS(DOME_U8, uint8_t);
    INTEGERS(DOME_U16, uint16_t);
    INTEGERS(DOME_U32, uint32_t);
    INTEGERS(DOME_U64, uint64_t);
}

static void failures(void)
{
    dvec *x = dvec_new(env, "x", DOME_F64, 100), *y = dvec_new(env, "y", DOME_F64, 101), *f = dvec_new(env, "f", DOME_F32, 100);
    double s = 1;
    dome_set_errors_return(env);
    DVEC_MAP1(float, x, x, x + 1);
    CHECK(dome_error_status(env) == DOME_ERR_TYPE && strstr(dome_error_message(env), "'x'"));
    dome_error_clear(env);
    DVEC_SUM2(s, double, x, y, x + y);
    CHECK(dome_error_status(env) == DOME_ERR_SHAPE && isnan(s));
    dome_error_clear(env);
    DVEC_SUM2(s, double, x, f, x + f);
    CHECK(dome_error_status(env) == DOME_ERR_TYPE && isnan(s));
    dome_error_clear(env);
    dvec *none = NULL;
    DVEC_SUM1(s, double, none, none);
    CHECK(dome_error_status(env) == DOME_ERR_ARGUMENT && isnan(s));
    dome_error_clear(env);
    CHECK(dvec_sum(x) == 0); /* all tasks continue together */
}

/* ---- sums of what dvec_map has filled, which it takes on the way once they are asked for ---- */

static unsigned shift;

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const size_t width = *(size_t *)ctx;
    (void)first;
    for (size_t i = 0; i < count * width; i++)
        ((double *)out)[i] = ((const double *)in[0])[i] * 1.25 + shift;
}

/* The sum is that of other memory with the same values. */
static void check_sum(dvec *z)
{
    dvec *other = dvec_new_like(z, NULL);
    dvec_span from[2], to[2];
    CHECK(dvec_local_spans_const(z, from) == DOME_OK && dvec_local_spans(other, to) == DOME_OK);
    for (int s = 0; s < 2; s++)
        memcpy(to[s].data, from[s].data, from[s].count * dvec_width(z) * sizeof(double));
    const double expected = dvec_sum(other);
    CHECK(same(dvec_sum(z), expected));
    CHECK(same(dvec_sum(z), expected));
    dvec_free(other);
}

static void mapped_sums(size_t n, size_t width)
{
    dvec *x = random_vector(DOME_F64, n, width, 1), *z = dvec_new_like(x, NULL), *y = random_vector(DOME_F64, n, width, 2);
    dvec *inputs[] = {x};
    dvec_span span[2];
    for (shift = 0; shift < 24; shift++) {
        CHECK(dvec_map(z, kernel, &width, 1, inputs) == DOME_OK);
        if (shift % 8 == 1)
            CHECK(dvec_adds(z, z, 1) == DOME_OK); /* recorded */
        else if (shift % 8 == 2)
            CHECK(dvec_mul(z, z, y) == DOME_OK && dvec_local_spans_const(z, span) == DOME_OK);
        else if (shift % 8 == 3 && n > 0 && width == 1)
            CHECK(dvec_set(z, n - 1, &(double){1e10}) == DOME_OK);
        else if (shift % 8 == 4)
            CHECK(dvec_roll(z, x, 1) == DOME_OK);
        else if (shift % 8 == 5)
            CHECK(dvec_map_runs(z, kernel, &width, 1, (dvec *[]){y}) == DOME_OK);
        else if (shift % 8 == 6)
            dome_barrier(env);
        if (shift == 20 && n > 0) { /* from here on the program has had a pointer */
            CHECK(dvec_local_spans(z, span) == DOME_OK);
            for (int s = 0; s < 2; s++)
                for (size_t i = 0; i < span[s].count * width; i++)
                    ((double *)span[s].data)[i] -= 7;
        }
        if (shift != 7) /* nobody asks */
            check_sum(z);
    }
    dvec_free(y);
    dvec_free(z);
    dvec_free(x);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    static const size_t lengths[] = {0, 1, 5, 1000, 4099, 300000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        doubles(lengths[k], 1);
        doubles(lengths[k], 3);
        others(lengths[k]);
        integers(lengths[k]);
        mapped_sums(lengths[k], 1);
        mapped_sums(lengths[k], 2);
    }
    failures();
    return dome_finalize(env);
}
