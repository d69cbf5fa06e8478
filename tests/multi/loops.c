/* Loops of the program over elements (dome/loop.h), and the macros of dome/map.h with no input and with six: the index, several
 * outputs, values of different types, rows, sums with the bits of dvec_sum. */
#include <complex.h>
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

static bool equal(const dvec *x, const dvec *y, uint64_t block)
{
    dvec *mask = dvec_new_with(env, NULL, DOME_U8, dvec_length(x), DVEC_OPTIONS(.width = dvec_width(x), .block = block));
    dvec_ne(mask, x, y);
    int64_t different = dvec_sum_i64(mask);
    dvec_free(mask);
    return different == 0;
}

static dvec *new_vector(dome_type type, size_t n, size_t width)
{
    return dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.width = width));
}

static dvec *random_vector(dome_type type, size_t n, size_t width, uint64_t seed)
{
    dvec *x = new_vector(type, n, width);
    dvec_random(x, seed);
    return x;
}

static void free_all(size_t n, dvec *const x[])
{
    for (size_t k = 0; k < n; k++)
        dvec_free(x[k]);
}
#define FREE(...) free_all(sizeof((dvec *[]){__VA_ARGS__}) / sizeof(dvec *), (dvec *[]){__VA_ARGS__})

/* The index is that of dvec_iota, without an input and with one, for elements of any width. */
static void the_index(size_t n, size_t width)
{
    dvec *z = new_vector(DOME_F64, n, width), *i = new_vector(DOME_I64, n, width), *t = new_vector(DOME_F64, n, width),
         *before = new_vector(DOME_I64, n, width);
    dvec_iota(t);
    dvec_iota(before);
    dvec_subs(before, before, 1);
    DVEC_FOR (index, int64_t, i)
        i = index - 1; /* -1 in the first element */
    CHECK(equal(i, before, 0));
    dvec_muls(t, t, 0.25);
    dvec_adds(t, t, 3);
    const double h = 0.25, x0 = 3;
    DVEC_FOR (k, double, z)
        z = x0 + h * (double)k;
    CHECK(equal(z, t, 0));
    DVEC_FOR (k, double, z, const int64_t, i)
        z = (double)(i + 1 == k);
    CHECK(dvec_sum(z) == (double)(n * width));
    DVEC_FOR_ROWS (k, double, z, const double, t)
        for (size_t v = 0; v < width; v++)
            z[v] = t[v] == x0 + h * (double)k ? (double)k : -1;
    dvec_iota(t);
    CHECK(equal(z, t, 0));
    FREE(z, i, t, before);
}

struct body {
    double position[2];
    float mass;
};

struct small {
    char c;
};

static dome_type body_type(void)
{
    static dome_type type;
    const dome_field fields[] = {{"position", DOME_F64, offsetof(struct body, position), 2},
                                 {"mass", DOME_F32, offsetof(struct body, mass), 1}};
    if (!type)
        type = dome_type_struct(env, "body", sizeof(struct body), fields, 2, sizeof(dome_field));
    return type;
}

/* Several outputs, each with a type of its own, and operands of others; what is not assigned stays. */
static void types(size_t n, size_t width)
{
    dvec *x = random_vector(DOME_F64, n, width, 1), *v = random_vector(DOME_F64, n, width, 2),
         *a = random_vector(DOME_F32, n, width, 3), *label = new_vector(DOME_U8, n, width), *c = new_vector(DOME_C128, n, width),
         *b = new_vector(body_type(), n, width), *k16 = random_vector(DOME_I16, n, width, 4), *t = new_vector(DOME_F64, n, width),
         *u = new_vector(DOME_F64, n, width), *w = new_vector(DOME_F64, n, width);
    const double dt = 0.125;
    dvec_convert(t, a);
    dvec_muls(t, t, dt);
    dvec_add(t, v, t); /* the new v */
    dvec_muls(u, t, dt);
    dvec_add(u, x, u); /* the new x; deferred when the loop overwrites x */
    DVEC_FOR (i, double, x, double, v, const float, a) {
        v += dt * (double)a;
        x += dt * v;
    }
    CHECK(equal(v, t, 0) && equal(x, u, 0));
    DVEC_FOR (i, uint8_t, label, double _Complex, c, struct body, b, const double, x, const double, v, const int16_t, k16,
              const float, a) {
        label = x < v;
        c = x + v * I;
        if (k16 > 0) {
            b.position[1] = v;
            b.mass = a;
        }
    }
    dvec_lt(label, x, v);
    dvec *mask = new_vector(DOME_U8, n, width), *half = new_vector(DOME_F64, n, width);
    dvec_lt(mask, x, v);
    CHECK(equal(mask, label, 0));
    dvec_imag(half, c);
    CHECK(equal(half, v, 0));
    dvec_gts(mask, k16, 0);
    DVEC_FOR (i, double, w, const struct body, b)
        w = b.position[1] + b.position[0];
    dvec_fill(u, 0);
    dvec_select(t, mask, v, u);
    CHECK(equal(w, t, 0));
    DVEC_FOR (i, double, w) { /* continue goes on with the next value */
        if (i % 2)
            continue;
        w = -1;
    }
    DVEC_FOR (i, double, t)
        t = i % 2 ? t : -1;
    CHECK(equal(w, t, 0));
    FREE(x, v, a, label, c, b, k16, t, u, w, mask, half);
}

/* One vector that all tasks have, alone and beside distributed ones, and vectors with a layout of their own. */
static void distributions(size_t n)
{
    dvec *all = dvec_new_with(env, NULL, DOME_F64, n, DVEC_OPTIONS(.distribution = DOME_WHOLE)), *z = new_vector(DOME_F64, n, 1),
         *t = new_vector(DOME_F64, n, 1);
    DVEC_FOR (i, double, all)
        all = (double)i * 3;
    DVEC_FOR (i, double, z, const double, all)
        z = all + (double)i;
    dvec_iota(t);
    dvec_muls(t, t, 4);
    CHECK(equal(z, t, 0));
    DVEC_FOR_ROWS (i, double, z, const double, all)
        *z = all[0] - (double)i;
    dvec_muls(t, t, 0.5);
    CHECK(equal(z, t, 0));
    double of_all, of_both, expected = dvec_sum(all);
    DVEC_FOR_SUM (of_all, i, const double, all)
        of_all = all;
    DVEC_FOR_SUM (of_both, i, const double, all, const double, z)
        of_both = all - z;
    CHECK(of_all == expected && of_both == expected - dvec_sum(z));
    dvec *block = dvec_new_with(env, NULL, DOME_F64, n, DVEC_OPTIONS(.distribution = DOME_BLOCK, .width = 2, .block = 16));
    DVEC_FOR (i, double, block)
        block = (double)i;
    DVEC_FOR_SUM (of_both, i, const double, block)
        of_both = block - (double)i + 1;
    CHECK(of_both == 2 * (double)n);
    FREE(all, z, t, block);
}

/* Sums have the bits of dvec_sum of the terms, whatever the width and the blocks are. */
static void sums(size_t n, size_t width, uint64_t block)
{
    const dvec_options options = {.size = sizeof options, .width = width, .block = block};
    dvec *x = dvec_new_with(env, NULL, DOME_F64, n, &options), *y = dvec_new_like(x, NULL), *t = dvec_new_like(x, NULL);
    dvec_random(x, 5);
    dvec_random(y, 6);
    double s = -1, two[2], before = dvec_sum(x);
    dvec_mul(t, x, y);
    DVEC_FOR_SUM (s, i, const double, x, const double, y)
        s = x * y;
    CHECK(same(s, dvec_sum(t)));
    DVEC_FOR_SUM (two, i, double, x, const double, y) { /* and an output in the same pass */
        two[0] = x;
        x *= y;
        two[1] += x;
    }
    CHECK(equal(x, t, block) && same(two[0], before) && same(two[1], s));
    double rows[3], columns[3];
    dvec *three = dvec_new_with(env, NULL, DOME_F64, n, DVEC_OPTIONS(.width = 3, .block = block));
    DVEC_FOR_ROWS (i, double, three, const double, x, const double, y) {
        three[0] = x[0] * y[width - 1];
        three[1] = 0.1 * (double)i;
        three[2] = x[width / 2];
    }
    DVEC_FOR_ROWS_SUM (rows, i, const double, x, const double, y) {
        rows[2] = x[width / 2];
        rows[1] = 0.1 * (double)i;
        rows[0] = x[0] * y[width - 1];
    }
    dvec_column_sums(three, NULL, columns);
    CHECK(same(rows[0], columns[0]) && same(rows[1], columns[1]) && same(rows[2], columns[2]));
    FREE(x, y, t, three);
}

enum { MANY = 300 };

static void many_sums(size_t n)
{
    double s[MANY], columns[MANY];
    dvec *x = random_vector(DOME_F64, n, MANY, 7);
    DVEC_FOR_ROWS_SUM (s, i, const double, x)
        memcpy(s, x, sizeof s);
    dvec_column_sums(x, NULL, columns);
    for (int k = 0; k < MANY; k++)
        CHECK(same(s[k], columns[k]));
    dvec_free(x);
}

/* The one-line forms with no input and with five and six. */
static void one_line(size_t n)
{
    dvec *a = random_vector(DOME_F64, n, 1, 1), *b = random_vector(DOME_F64, n, 1, 2), *c = random_vector(DOME_F64, n, 1, 3),
         *d = random_vector(DOME_F64, n, 1, 4), *e = random_vector(DOME_F64, n, 1, 5), *f = random_vector(DOME_F64, n, 1, 6),
         *z = new_vector(DOME_F64, n, 1), *t = new_vector(DOME_F64, n, 1);
    double s = -1;
    dvec_mul(t, a, b);
    dvec_sub(t, t, c);
    dvec_sub(t, t, d);
    dvec_add(t, t, e);
    DVEC_MAP5(double, z, a, b, c, d, e, a *b - c - d + e);
    CHECK(equal(z, t, 0));
    DVEC_SUM5(s, double, a, b, c, d, e, a *b - c - d + e);
    CHECK(same(s, dvec_sum(t)));
    dvec_mul(t, t, f);
    DVEC_MAP6(double, z, a, b, c, d, e, f, (a * b - c - d + e) * f);
    CHECK(equal(z, t, 0));
    DVEC_SUM6(s, double, a, b, c, d, e, f, (a * b - c - d + e) * f);
    CHECK(same(s, dvec_sum(t)));
    DVEC_MAP_SUM6(s, double, z, a, b, c, d, e, f, a + b + c + d + e + f);
    CHECK(same(s, dvec_sum(z)));
    DVEC_MAP_SUM5(s, double, z, a, b, c, d, e, a - b + c - d + e);
    CHECK(same(s, dvec_sum(z)));
    DVEC_MAP0(double, z, 0.1);
    dvec_fill(t, 0.1);
    CHECK(equal(z, t, 0));
    DVEC_MAP_SUM0(s, double, z, 0.3);
    CHECK(same(s, dvec_sum(z)));
    FREE(a, b, c, d, e, f, z, t);
}

/* A vector may be read under two names, also one that is written. */
static void names(size_t n)
{
    dvec *x = random_vector(DOME_I32, n, 1, 8), *t = dvec_clone(x, NULL), *y = x, *z = x;
    dvec_muls(t, t, 3);
    DVEC_FOR (i, int32_t, x, const int32_t, y, const int32_t, z)
        x = (int32_t)((uint32_t)x + (uint32_t)y + (uint32_t)z);
    CHECK(equal(x, t, 0));
    FREE(x, t);
}

#define FAILS(code, text)                                                                                                        \
    do {                                                                                                                         \
        CHECK(dome_error_status(env) == (code) && strstr(dome_error_message(env), text));                                        \
        dome_error_clear(env);                                                                                                   \
    } while (0)

static void failures(void)
{
    dvec *x = dvec_new(env, "x", DOME_F64, 100), *y = dvec_new(env, "y", DOME_F64, 101), *f = dvec_new(env, "f", DOME_F32, 100),
         *w = dvec_new_with(env, "w", DOME_F64, 100, DVEC_OPTIONS(.width = 3)), *i = dvec_new(env, "i", DOME_I32, 100),
         *b = dvec_new(env, "b", body_type(), 100), *none = NULL, *again = x;
    double s = 1, two[2] = {1, 1};
    bool ran = false;
    dome_set_errors_return(env);
    DVEC_FOR (k, float, x)
        x = ran = true;
    FAILS(DOME_ERR_TYPE, "DVEC_FOR of 'x': the loop takes the values of 'x' for f32, but they are of type f64");
    DVEC_FOR (k, double, x, const double, y)
        x = y + (ran = true);
    FAILS(DOME_ERR_SHAPE, "'y' has 101 elements, but 'x' 100");
    DVEC_FOR (k, double, x, const double, w)
        x = w + (ran = true);
    FAILS(DOME_ERR_SHAPE, "'w' has width 3, but 'x' 1");
    DVEC_FOR (k, const double, w, double, x)
        x = w + (ran = true);
    FAILS(DOME_ERR_SHAPE, "'w' has width 3, but 'x' 1");
    DVEC_FOR (k, double, x, const struct body, f)
        x = f.mass + (ran = true);
    FAILS(DOME_ERR_TYPE, "the loop takes the values of 'f' for structs, but they are of type f32");
    DVEC_FOR (k, double, x, const struct small, b)
        x = b.c + (ran = true);
    FAILS(DOME_ERR_TYPE, "the loop takes the values of 'b' for 1 bytes each, but type body has");
    DVEC_FOR (k, double, x, double, again)
        x = again += ran = true;
    FAILS(DOME_ERR_ARGUMENT, "the loop writes 'x' under two names");
    DVEC_FOR (k, double, none)
        none = ran = true;
    FAILS(DOME_ERR_ARGUMENT, "DVEC_FOR: a vector is NULL");
    DVEC_FOR (k, double, x, const double, none)
        x = none + (ran = true);
    FAILS(DOME_ERR_ARGUMENT, "an operand is NULL");
    DVEC_FOR_SUM (s, k, const float, x)
        s = x + (ran = true);
    FAILS(DOME_ERR_TYPE, "DVEC_FOR_SUM of 'x'");
    DVEC_FOR_ROWS_SUM (two, k, const double, w, const double, y)
        two[0] = *w + *y + (ran = true);
    FAILS(DOME_ERR_SHAPE, "DVEC_FOR_ROWS_SUM of 'w': 'y' has 101 elements, but 'w' 100");
    CHECK(isnan(s) && isnan(two[0]) && isnan(two[1]));
    dvec_div(i, i, i); /* no value: 0 divided by 0 */
    DVEC_FOR (k, int32_t, i)
        i = ran = true;
    FAILS(DOME_ERR_RANGE, "dvec_div into 'i': element 0 is an integer divided by zero");
    CHECK(!ran);
    CHECK(dvec_sum(x) == 0); /* all tasks continue together */
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    static const size_t lengths[] = {0, 1, 5, 1000, 4099, 100000}, widths[] = {1, 3, 17};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            const size_t n = widths[w] == 17 ? lengths[k] / 10 : lengths[k];
            the_index(n, widths[w]);
            types(n, widths[w]);
            sums(n, widths[w], 0);
        }
        distributions(lengths[k]);
        one_line(lengths[k]);
        names(lengths[k]);
    }
    sums(5000, 3, 1);
    sums(5000, 3, 4);
    sums(5000, 1, 4096);
    sums(5000, 5, 1 << 20);
    sums(3, 40001, 0);
    many_sums(1000);
    failures();
    return dome_finalize(env);
}
