/* The loops of dome.hpp, and the macros of loop.h in C++: the same values as the library's operations, and sums with the same
 * bits. */
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dome/dome.hpp>

static dome_env *env;

#define CHECK(condition)                                                                                                         \
    do {                                                                                                                         \
        if (!(condition))                                                                                                        \
            dome_abort(env, "line %d: %s does not hold (%s)", __LINE__, #condition, dome_error_message(env));                    \
    } while (0)

static bool same(double a, double b)
{
    return std::isnan(a) ? std::isnan(b) : std::memcmp(&a, &b, sizeof a) == 0;
}

static dvec *new_vector(dome_type type, std::size_t n, std::size_t width)
{
    return dvec_new_with(env, nullptr, type, n, DVEC_OPTIONS(.width = width));
}

static dvec *random_vector(dome_type type, std::size_t n, std::size_t width, std::uint64_t seed)
{
    dvec *x = new_vector(type, n, width);
    dvec_random(x, seed);
    return x;
}

static bool equal(const dvec *x, const dvec *y)
{
    dvec *mask = new_vector(DOME_U8, dvec_length(x), dvec_width(x));
    dvec_ne(mask, x, y);
    const bool none = dvec_sum_i64(mask) == 0;
    dvec_free(mask);
    return none;
}

template <class... V> static void free_all(V... x)
{
    const int order[] = {(dvec_free(x), 0)...};
    (void)order;
}

struct body {
    double position[2];
    float mass;
};

static double twice(double x)
{
    return 2 * x;
}

/* All that a function may be: a lambda, one with a state, a pointer, with const and without. */
static void functions(std::size_t n, std::size_t width)
{
    dvec *x = random_vector(DOME_F64, n, width, 1), *z = new_vector(DOME_F64, n, width), *t = new_vector(DOME_F64, n, width);
    const dvec *constant = x;
    const double a = 3;
    dvec_muls(t, x, 2);
    dome::map(z, twice, x);
    CHECK(equal(z, t));
    dome::map(z, &twice, constant);
    CHECK(equal(z, t));
    dvec_muls(t, x, a);
    dome::map(
        z, [=](const double &value) { return a * value; }, constant);
    CHECK(equal(z, t));
    int calls = 0;
    dome::for_each([&calls](double) { calls++; }, x);
    dvec_fill(z, 0);
    dome::for_each([calls](double &value) mutable { value = calls++ >= 0 ? 1 : 0; }, z);
    CHECK(dvec_sum(z) == double(n * width));
    dome::map(
        z, [](double value) noexcept { return value + 1; }, z); /* in place */
    CHECK(dvec_sum(z) == 2 * double(n * width));
    free_all(x, z, t);
}

static void values(std::size_t n, std::size_t width)
{
    dvec *x = random_vector(DOME_F64, n, width, 1), *v = random_vector(DOME_F64, n, width, 2),
         *a = random_vector(DOME_F32, n, width, 3), *t = new_vector(DOME_F64, n, width), *u = new_vector(DOME_F64, n, width),
         *mask = new_vector(DOME_U8, n, width), *other = new_vector(DOME_U8, n, width), *c = new_vector(DOME_C128, n, width),
         *narrow = random_vector(DOME_F64, n, 1, 4);
    const double dt = 0.125;
    dvec_convert(t, a);
    dvec_axpy(v, dt, t);
    dvec_copy(t, v);
    dvec_random(v, 2);
    dvec_muls(u, t, dt);
    dvec_add(u, x, u); /* deferred when the loop overwrites x */
    dome::for_each(
        [=](double &position, double &velocity, float force) {
            velocity += dt * double(force);
            position += dt * velocity;
        },
        x, v, a);
    CHECK(equal(v, t) && equal(x, u));
    dome::map(
        mask, [](double p, double q) { return p < q; }, x, v); /* bool into DOME_U8 */
    dvec_lt(other, x, v);
    CHECK(equal(mask, other));
    dome::map(
        c, [](double p, double q) { return std::complex<double>(p, q); }, x, v);
    dvec_imag(t, c);
    CHECK(equal(t, v));
    dome::map(t, [](std::int64_t i) { return 0.5 * double(i); });
    dvec_iota(u);
    dvec_muls(u, u, 0.5);
    CHECK(equal(t, u));
    dome::map(
        t, [](std::int64_t i, double w) { return w + double(i); }, narrow); /* repeated */
    dvec_iota(u);
    dvec_add(u, u, narrow);
    CHECK(equal(t, u));

    double sum = dome::sum([](double p, double q) { return p * q; }, x, v);
    CHECK(same(sum, dvec_dot(x, v)));
    auto two = dome::sum([](double p, double q) { return std::array<double, 2>{{p, q}}; }, x, v);
    CHECK(same(two[0], dvec_sum(x)) && same(two[1], dvec_sum(v)));
    CHECK(dome::sum([](std::uint8_t truth) { return truth; }, mask) == dvec_sum(mask));
    sum = dome::map_sum(
        t, [](double p, double q) { return p - q; }, x, v);
    dvec_sub(u, x, v);
    CHECK(equal(t, u) && same(sum, dvec_sum(u)));
    free_all(x, v, a, t, u, mask, other, c, narrow);
}

static dome_type body_type()
{
    static dome_type type;
    const dome_field fields[] = {{"position", DOME_F64, offsetof(body, position), 2},
                                 {"mass", DOME_F32, offsetof(body, mass), 1}};
    if (!type)
        type = dome_type_struct(env, "body", sizeof(body), fields, 2, sizeof(dome_field));
    struct parsed {
        double position[2];
        float mass;
    };
    const size_t counts[] = {1, 2};
    CHECK(dome_type_portable_size(dome_type_parse(env, "parsed", "{{D}F}", counts, 2, sizeof(parsed))) ==
          dome_type_portable_size(type));
    return type;
}

static void rows(std::size_t n, std::size_t width)
{
    dvec *x = random_vector(DOME_F64, n, width, 1), *z = new_vector(DOME_F64, n, 2), *t = new_vector(DOME_F64, n, 2),
         *b = new_vector(body_type(), n, 1),
         *one = dvec_new_with(env, nullptr, DOME_I32, 1, DVEC_OPTIONS(.width = 4, .distribution = DOME_WHOLE));
    const dvec *constant = x;
    dvec_fill(one, 5);
    dome::for_rows(
        [width](std::int64_t i, dome::row<double> to, dome::row<const double> from,
                const dome::row<const std::int32_t> &same_for_all) {
            double sum = 0;
            for (double value : from)
                sum += value;
            to[0] = from.size() == width && same_for_all.size() == 4 ? sum + same_for_all[3] : -1;
            to[1] = double(i);
        },
        z, constant, one);
    DVEC_FOR_ROWS (i, double, t, const double, x, const int32_t, one) {
        t[0] = 0;
        for (std::size_t k = 0; k < width; k++)
            t[0] += x[k];
        t[0] += one[0];
        t[1] = double(i);
    }
    CHECK(equal(z, t));

    double columns[2], macro[2];
    dvec_column_sums(z, nullptr, columns);
    auto sums = dome::sum_rows([](dome::row<const double> row) { return std::array<double, 2>{{row[0], row[1]}}; }, z);
    DVEC_FOR_ROWS_SUM (macro, i, const double, z) {
        macro[0] = z[0];
        macro[1] = z[1];
    }
    CHECK(same(sums[0], columns[0]) && same(sums[1], columns[1]) && same(macro[0], columns[0]) && same(macro[1], columns[1]));

    dvec *first = new_vector(DOME_F64, n, 1);
    dome::for_rows([](dome::row<double> to, dome::row<const double> from) { to[0] = from[0]; }, first, z);
    dome::for_each(
        [](body &to, double value) {
            to.position[1] = value;
            to.mass = 2;
        },
        b, first);
    double mass = dome::sum([](const body &one_body) { return one_body.mass; }, b), again;
    DVEC_FOR_SUM (again, i, const body, b)
        again = double(b.mass);
    CHECK(mass == 2 * double(n) && again == mass);
    CHECK(same(dome::sum([](const body &one_body) { return one_body.position[1]; }, b), columns[0]));
    free_all(x, z, t, b, one, first);
}

/* The macros of loop.h in C++ do the same as in C (loops.c has the cases). */
static void macros(std::size_t n, std::size_t width)
{
    dvec *x = random_vector(DOME_F64, n, width, 1), *y = random_vector(DOME_F32, n, width, 2),
         *z = new_vector(DOME_F64, n, width), *t = new_vector(DOME_F64, n, width), *v = new_vector(DOME_F64, n, width);
    const dvec *constant = y;
    DVEC_FOR (i, double, z, double, v, const double, x, const float, constant) {
        v = double(i);
        if (i % 2)
            continue;
        z = x * double(constant);
    }
    dome::map(
        t, [](std::int64_t i, double a, float b) { return i % 2 ? 0 : a * double(b); }, x, y);
    CHECK(equal(z, t));
    dvec_iota(t);
    CHECK(equal(v, t));
    double two[2], one;
    DVEC_FOR_SUM (two, i, const double, x, const double, v) {
        two[0] = x;
        two[1] = x * v;
    }
    DVEC_FOR_SUM (one, i, const double, x)
        one = x;
    CHECK(same(two[0], dvec_sum(x)) && same(two[1], dvec_dot(x, v)) && same(one, two[0]));
    free_all(x, y, z, t, v);
}

#define FAILS(code, text)                                                                                                        \
    do {                                                                                                                         \
        CHECK(dome_error_status(env) == (code) && std::strstr(dome_error_message(env), text));                                   \
        dome_error_clear(env);                                                                                                   \
    } while (0)

static void failures()
{
    dvec *x = dvec_new(env, "x", DOME_F64, 100), *y = dvec_new(env, "y", DOME_F64, 101), *i = dvec_new(env, "i", DOME_I32, 100),
         *none = nullptr;
    bool ran = false;
    dome_set_errors_return(env);
    dome::map(
        x, [&ran](double) { return ran = true, 1; }, x);
    FAILS(DOME_ERR_TYPE, "dome::map of 'x': the loop takes the values of 'x' for i32, but they are of type f64");
    dome::for_each([&ran](float &) { ran = true; }, x);
    FAILS(DOME_ERR_TYPE, "dome::for_each of 'x': the loop takes the values of 'x' for f32, but they are of type f64");
    dome::for_each([&ran](double &, double) { ran = true; }, x, y);
    FAILS(DOME_ERR_SHAPE, "'y' has 101 elements, but 'x' 100");
    double s = dome::sum([&ran](double, double) { return ran = true, 1.0; }, x, none);
    FAILS(DOME_ERR_ARGUMENT, "dome::sum of 'x': an operand is NULL");
    auto two = dome::sum_rows([&ran](dome::row<const double>) { return ran = true, std::array<double, 2>(); }, none);
    FAILS(DOME_ERR_ARGUMENT, "dome::sum_rows: a vector is NULL");
    CHECK(std::isnan(s) && std::isnan(two[0]) && std::isnan(two[1]));
    dvec_div(i, i, i); /* no value: 0 divided by 0 */
    dome::for_each([&ran](std::int32_t &) { ran = true; }, i);
    FAILS(DOME_ERR_RANGE, "dvec_div into 'i': element 0 is an integer divided by zero");
    CHECK(!ran);
    dome::map(
        i, [](double a) { return std::int32_t(a) + 1; }, x); /* overwrites what had no value */
    CHECK(dvec_sum_i64(i) == 100);
}

/* A function that throws on one task. */
static void thrown(dvec *x)
{
    try {
        dome::for_each(
            [](std::int64_t i, double &) {
                if (i == 0)
                    throw 1;
            },
            x);
    } catch (int) {
    }
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    if (argc > 1 && std::strcmp(argv[1], "throw") == 0)
        thrown(dvec_new(env, "x", DOME_F64, 100));
    static const std::size_t lengths[] = {0, 1, 5, 1000, 4099}, widths[] = {1, 3, 17};
    for (std::size_t n : lengths)
        for (std::size_t width : widths) {
            functions(n, width);
            values(n, width);
            rows(n, width);
            macros(n, width);
        }
    const dome::row<const double> none = dome::allgather<double>(dvec_new(env, nullptr, DOME_F64, 0));
    CHECK(none.size() == 0 && none.begin() == none.end());
    failures();
    return dome_finalize(env);
}
