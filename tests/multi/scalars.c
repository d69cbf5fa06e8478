/* Scalars whose values are pending: compared with the reductions that wait, bit by bit, while other work goes on. Arguments: a
 * seed and a number of rounds. */
#include "core/environment.h"
#include "rounds.h"
#include "transport/transport.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT_STATUS(expected, call)                                                                                            \
    do {                                                                                                                         \
        int status_ = (call);                                                                                                    \
        EXPECT(status_ == (expected), "%s gives %s", #call, dome_status_name(status_));                                          \
    } while (0)

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* ---- against the functions that wait ---- */

enum { VECTORS = 4, SCALARS = 12 };

static dvec *x[VECTORS];
static dscalar *s[SCALARS];
static double expected[SCALARS];

static void make_vectors(void)
{
    static const uint64_t lengths[] = {1, 7, 1000, 20000};
    const uint64_t n = lengths[draw(4)];
    static const dome_distribution kinds[] = {DOME_DYNAMIC, DOME_DYNAMIC, DOME_BLOCK, DOME_WHOLE};
    const dome_distribution kind = kinds[draw(4)];
    for (int k = 0; k < VECTORS; k++) {
        x[k] = dvec_new_with(env, NULL, DOME_F64, n, DVEC_OPTIONS(.distribution = kind));
        dvec_random(x[k], draw(1000));
        dvec_subs(x[k], x[k], 0.4);
    }
}

/* A reduction into scalar k, and what it must be. */
static void reduce(int k)
{
    dvec *a = x[draw(VECTORS)], *b = x[draw(VECTORS)];
    const bool wait_first = draw(2);
    const int which = (int)draw(5);
    double (*const of_one[])(const dvec *) = {dvec_sum, dvec_norm2, dvec_min_value, dvec_max_value};
    dome_status (*const into[])(dscalar *, const dvec *) = {dvec_sum_into, dvec_norm2_into, dvec_min_value_into,
                                                            dvec_max_value_into};
    if (wait_first)
        expected[k] = which == 4 ? dvec_dot(a, b) : of_one[which](a);
    EXPECT_STATUS(DOME_OK, which == 4 ? dvec_dot_into(s[k], a, b) : into[which](s[k], a));
    if (!wait_first)
        expected[k] = which == 4 ? dvec_dot(a, b) : of_one[which](a);
}

static void compute(int k)
{
    const int a = (int)draw(SCALARS), b = (int)draw(SCALARS);
    const double p = expected[a], q = expected[b], c = (double)draw(9) / 4;
    switch (draw(9)) {
    case 0:
        dscalar_add(s[k], s[a], s[b]), expected[k] = p + q;
        break;
    case 1:
        dscalar_sub(s[k], s[a], s[b]), expected[k] = p - q;
        break;
    case 2:
        dscalar_mul(s[k], s[a], s[b]), expected[k] = p * q;
        break;
    case 3:
        dscalar_div(s[k], s[a], s[b]), expected[k] = p / q;
        break;
    case 4:
        dscalar_neg(s[k], s[a]), dscalar_abs(s[k], s[k]), dscalar_sqrt(s[k], s[k]), expected[k] = sqrt(fabs(-p));
        break;
    case 5:
        dscalar_muls(s[k], s[a], c), dscalar_adds(s[k], s[k], 1), expected[k] = p * c + 1;
        break;
    case 6:
        dscalar_rdivs(s[k], s[a], c), expected[k] = c / p;
        break;
    case 7:
        dscalar_copy(s[k], s[a]), expected[k] = p;
        break;
    case 8:
        dscalar_set_f64(s[k], c), expected[k] = c;
    }
}

/* Changes a vector by a coefficient, and a copy by the number that it must have. */
static void use(int k)
{
    if (!(fabs(expected[k]) < 100))
        return;
    dvec *y = x[draw(VECTORS)], *z = x[draw(VECTORS)], *copy = dvec_clone(y, NULL), *difference = dvec_new_like(y, NULL);
    switch (draw(4)) {
    case 0:
        dvec_axpy_by(y, s[k], z), dvec_axpy(copy, expected[k], z == y ? copy : z);
        break;
    case 1:
        dvec_aypx_by(y, s[k], z), dvec_axpby(copy, 1, z == y ? copy : z, expected[k]);
        break;
    case 2:
        dvec_axpby_by(y, s[k], z, s[k]), dvec_axpby(copy, expected[k], z == y ? copy : z, expected[k]);
        break;
    case 3:
        dvec_muls_by(y, z, s[k]), dvec_muls(copy, z == y ? copy : z, expected[k]);
    }
    dvec_sub(difference, y, copy);
    EXPECT(dvec_norm2(difference) == 0, "a coefficient has another value");
    dvec_maxs(y, y, -1), dvec_mins(y, y, 1);
    dvec_free(copy);
    dvec_free(difference);
}

static void check(int k)
{
    const double value = dscalar_get_f64(s[k]);
    EXPECT(same(value, expected[k]), "scalar %d is %a, not %a", k, value, expected[k]);
}

static void do_other_work(void)
{
    dvec_halo_span spans[2];
    switch (draw(4)) {
    case 0:
        dome_barrier(env);
        break;
    case 1:
        dvec_halo_elements(x[0], 1, 1, true, spans);
        break;
    case 2:
        dvec_roll(x[1], x[0], 1);
        break;
    case 3:
        dome_checkpoint(env);
    }
}

static void mixed_round(void)
{
    make_vectors();
    for (int k = 0; k < SCALARS; k++)
        reduce(k);
    for (int turn = 0; turn < 40; turn++) {
        const int k = (int)draw(SCALARS);
        switch (draw(6)) {
        case 0:
        case 1:
            reduce(k);
            break;
        case 2:
        case 3:
            compute(k);
            break;
        case 4:
            draw(2) ? use(k) : check(k);
            break;
        case 5:
            do_other_work();
        }
    }
    for (int k = 0; k < SCALARS; k++)
        check(k);
    for (int k = 0; k < VECTORS; k++)
        dvec_free(x[k]);
}

/* ---- types ---- */

static void add_pairs(void *z, const void *x, const void *y, size_t n)
{
    for (size_t k = 0; k < 4 * n; k++)
        ((double *)z)[k] = ((const double *)x)[k] + ((const double *)y)[k];
}

/* Errors are returned. */
static void check_refused(void)
{
    dome_type four = dome_type_struct(env, "four", 32, &(dome_field){"x", DOME_F64, 0, 4}, 1, sizeof(dome_field));
    dome_type_set_ops(env, four, &(dome_type_ops){.size = sizeof(dome_type_ops), .add = add_pairs});
    dscalar *struct_a = dscalar_new(env, NULL, four), *struct_b = dscalar_new(env, NULL, four);
    double values[4] = {1, 2, 3, 4}, copied[4];
    dscalar_set(struct_a, values);
    EXPECT_STATUS(DOME_OK, dscalar_copy(struct_b, struct_a));
    EXPECT_STATUS(DOME_ERR_TYPE, dscalar_add(struct_a, struct_a, struct_b));
    dscalar_get(struct_b, copied);
    EXPECT(memcmp(values, copied, sizeof values) == 0, "another struct");

    /* A vector keeps its values if a linear combination is refused. */
    dvec *complex = dvec_new(env, NULL, DOME_C128, 100), *real = dvec_new(env, NULL, DOME_F64, 100);
    dvec *longer = dvec_new(env, NULL, DOME_C128, 101);
    dscalar *i = dscalar_new(env, NULL, DOME_C128), *half = dscalar_new(env, NULL, DOME_F64);
    dscalar_set_c128(i, (const double[]){0, 1});
    dscalar_set_f64(half, 0.5);
    dvec_fill(real, 1);
    dvec_fill(complex, 1);
    EXPECT_STATUS(DOME_ERR_TYPE, dvec_axpby_by(real, i, complex, half));
    EXPECT_STATUS(DOME_ERR_SHAPE, dvec_aypx_by(complex, i, longer));
    EXPECT_STATUS(DOME_ERR_ARGUMENT, dvec_aypx_by(complex, i, complex));
    EXPECT(dvec_sum(real) == 100 && dvec_norm2(complex) == 10, "a refused combination has changed its vector");
    EXPECT_STATUS(DOME_OK, dvec_axpby_by(complex, i, real, half));
    double part[2];
    dvec_sum_c128(complex, part);
    EXPECT(part[0] == 50 && part[1] == 100, "another combination: %g + %g i", part[0], part[1]);
    dome_error_clear(env);
}

/* Sums at the ends of the 64-bit types. */
static void check_large_sums(void)
{
    dvec *u = dvec_new(env, NULL, DOME_U64, 1000);
    dscalar *u64 = dscalar_new(env, NULL, DOME_U64), *i64 = dscalar_new(env, NULL, DOME_I64);
    uint64_t each = UINT64_MAX / 1000, sum = 0;
    dvec_fill_value(u, &each);
    dvec_sum_into(u64, u);
    EXPECT_STATUS(DOME_OK, dscalar_get(u64, &sum));
    EXPECT(sum == 1000 * each, "another sum of large integers");
    dvec_sum_into(i64, u);
    EXPECT_STATUS(DOME_ERR_RANGE, dscalar_get(i64, &sum));
    each++;
    dvec_fill_value(u, &each);
    dvec_sum_into(u64, u);
    EXPECT_STATUS(DOME_ERR_RANGE, dscalar_get(u64, &sum));
    dome_error_clear(env);
}

/* It is reported when the quotient is asked for, whether an operand is pending or not. If none is, one task alone may ask. */
static void check_division_by_zero(bool pending)
{
    dscalar *a = dscalar_new(env, NULL, DOME_I32), *zero = dscalar_new(env, NULL, DOME_I32);
    dscalar *q = dscalar_new(env, NULL, DOME_I32), *next = dscalar_new(env, NULL, DOME_I32),
            *copy = dscalar_new(env, NULL, DOME_I32);
    dvec *zeros = dvec_new(env, NULL, DOME_I32, 10);
    const bool asks = pending || dome_rank(env) == dome_size(env) - 1;
    for (int reversed = 0; reversed < 2; reversed++) {
        dscalar_set_i64(a, 7);
        dscalar_set_i64(q, 42);
        dscalar_set_i64(zero, 0);
        if (pending)
            dvec_sum_into(zero, zeros);
        EXPECT_STATUS(DOME_OK, reversed ? dscalar_rdivs(q, zero, 7) : dscalar_div(q, a, zero));
        EXPECT_STATUS(DOME_OK, dscalar_adds(next, q, 1));
        EXPECT_STATUS(DOME_OK, dscalar_copy(copy, q));
        if (asks)
            EXPECT(dscalar_get_i64(q) == 0 && dome_error_status(env) == DOME_ERR_RANGE, "the quotient is asked for");
        EXPECT(!asks || !strncmp(dome_error_message(env), "dscalar_get_i64 of 'dscalar-", 28), "another line: %s",
               dome_error_message(env));
        dome_error_clear(env);
        EXPECT(!asks || (dscalar_get_i64(q) == 0 && dscalar_get_i64(copy) == 0 && dscalar_get_i64(next) == 1),
               "the quotient has a value");
        EXPECT(dome_error_status(env) == DOME_OK, "a failure is reported twice: %s", dome_error_message(env));
        EXPECT_STATUS(DOME_OK, dome_barrier(env));
    }
    dscalar_set_i64(zero, 0);
    EXPECT_STATUS(DOME_OK, dscalar_div(q, a, zero));
    for (int k = 0; k < 100 && dome_error_status(env) == DOME_OK; k++) /* a chain does not grow for ever */
        dscalar_adds(q, q, 1);
    EXPECT(dome_error_status(env) == DOME_ERR_RANGE, "a long chain is not asked for");
    dome_error_clear(env);
    dscalar_set_i64(q, 5);
    EXPECT(dscalar_get_i64(q) == 5 && dome_error_status(env) == DOME_OK, "a failure outlasts a new value");
}

static void check_types(void)
{
    dvec *whole = dvec_new(env, NULL, DOME_I32, 1000), *single = dvec_new(env, NULL, DOME_F32, 1000);
    dvec *complex = dvec_new(env, NULL, DOME_C128, 1000), *nothing = dvec_new(env, NULL, DOME_F64, 0);
    dscalar *i64 = dscalar_new(env, NULL, DOME_I64), *i8 = dscalar_new(env, NULL, DOME_I8),
            *f32 = dscalar_new(env, NULL, DOME_F32);
    dscalar *c128 = dscalar_new(env, NULL, DOME_C128);
    double part[2], same_part[2];
    dvec_iota(whole);
    dvec_convert(single, whole);
    dvec_muls(single, single, 1.0 / 3);
    dvec_fill_c128(complex, (const double[]){1.5, -0.25});
    dvec_sum_into(i64, whole);
    dvec_max_value_into(c128, whole);
    dvec_sum_into(f32, single);
    EXPECT(dscalar_get_i64(i64) == 499500, "another sum of integers");
    EXPECT(dscalar_get_f64(f32) == (float)dvec_sum(single), "another sum of single precision");
    EXPECT(dscalar_get_f64(c128) == 999, "another largest integer");
    dvec_dot_into(c128, complex, complex);
    dvec_dot_c128(complex, complex, same_part);
    dscalar_get_c128(c128, part);
    EXPECT(memcmp(part, same_part, sizeof part) == 0, "another complex dot product");
    dvec_sum_into(c128, complex);
    dvec *twice = dvec_clone(complex, NULL);
    dvec_axpy_by(complex, c128, twice);
    dvec_sum_c128(twice, part);
    dvec_axpy_c128(twice, part, twice);
    dvec_sub(twice, twice, complex);
    EXPECT(dvec_norm2(twice) == 0, "another complex coefficient");
    dscalar_free(c128); /* pending */

    dome_set_errors_return(env);
    EXPECT_STATUS(DOME_ERR_TYPE, dvec_sum_into(i64, single));
    EXPECT_STATUS(DOME_ERR_TYPE, dvec_sum_into(f32, complex));
    EXPECT_STATUS(DOME_ERR_TYPE, dvec_norm2_into(i64, whole));
    EXPECT_STATUS(DOME_ERR_TYPE, dscalar_add(f32, f32, i64));
    EXPECT_STATUS(DOME_ERR_TYPE, dscalar_sqrt(i64, i64));
    EXPECT_STATUS(DOME_ERR_TYPE, dvec_axpy_by(single, i64, single));
    EXPECT_STATUS(DOME_ERR_RANGE, dscalar_adds(i64, i64, 0.5));
    EXPECT_STATUS(DOME_ERR_ARGUMENT, dvec_min_value_into(f32, nothing));
    check_refused();
    check_large_sums();
    EXPECT_STATUS(DOME_OK, dvec_sum_into(i8, whole));
    EXPECT(dscalar_get_i64(i8) == 0 && dome_error_status(env) == DOME_ERR_RANGE, "a sum that does not fit is not reported");
    dome_error_clear(env);
    EXPECT(dscalar_get_i64(i8) == 0 && dome_error_status(env) == DOME_OK, "a failure is reported twice");

    /* Elements that cannot be computed: only the reduction that needs them fails, when it is asked for. */
    dvec *bad = dvec_clone(whole, NULL);
    dvec_div(bad, whole, whole);
    dvec_sum_into(i8, bad);
    dvec_sum_into(i64, whole);
    dscalar *later = dscalar_new(env, NULL, DOME_I8);
    dscalar_mul(later, i8, i8);
    dome_barrier(env);
    EXPECT(dscalar_get_i64(i64) == 499500, "a failure spreads");
    EXPECT(dome_error_status(env) == DOME_OK, "a failure is reported before its value is asked for");
    int8_t byte = 1;
    EXPECT_STATUS(DOME_ERR_RANGE, dscalar_get(later, &byte));
    EXPECT(strstr(dome_error_message(env), "element 0"), "the line does not name the element: %s", dome_error_message(env));
    dome_error_clear(env);
    dvec_fill(bad, 0);
    check_division_by_zero(false);
    check_division_by_zero(true);

    /* A chain that nobody asks for does not grow for ever. */
    dvec_max_value_into(i64, whole);
    for (int k = 0; k < 1000; k++)
        dscalar_adds(i64, i64, 1);
    EXPECT(dscalar_get_i64(i64) == 1999, "another chain");
}

/* ---- one exchange for several, several at once ---- */

static void check_sharing(void)
{
    const dome_transport *t = env->transport;
    dvec *y = dvec_new(env, NULL, DOME_F64, 5000);
    dvec_random(y, 5);
    static const int numbers[] = {1, 1, 10};
    uint64_t messages[3];
    for (int turn = 0; turn < 3; turn++) { /* the first completes earlier exchanges */
        const uint64_t before = t->account.messages;
        for (int k = 0; k < numbers[turn]; k++)
            dvec_sum_into(s[k], y);
        for (int k = 0; k < numbers[turn]; k++)
            dscalar_get_f64(s[k]);
        messages[turn] = t->account.messages - before;
    }
    EXPECT(dome_size(env) == 1 || messages[1] > 0, "nothing is sent");
    EXPECT(messages[1] == messages[2] || env->balance, /* data may have moved */ "10 reductions take %d messages, one takes %d",
           (int)messages[2], (int)messages[1]);

    enum { MANY = 50 };
    dscalar *many[MANY];
    double sum[MANY];
    for (int k = 0; k < MANY; k++) {
        many[k] = dscalar_new(env, NULL, DOME_F64);
        dvec_adds(y, y, 1);
        sum[k] = k % 5 ? 0 : dvec_sum(y);
        dvec_sum_into(many[k], y);
        dvec_local_spans(y, (dvec_span[2]){{0}}); /* begins the exchange */
    }
    for (int k = MANY; k-- > 0;)
        EXPECT(k % 5 || same(dscalar_get_f64(many[k]), sum[k]), "exchange %d of many has another result", k);
    dvec_sum_into(s[0], y); /* dome_finalize completes it, whether it has begun */
    dome_barrier(env);
    dvec_sum_into(s[1], y);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    draw_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const int rounds = argc > 2 ? atoi(argv[2]) : 30;
    for (int k = 0; k < SCALARS; k++)
        s[k] = dscalar_new(env, NULL, DOME_F64);
    for (round_number = 0; round_number < rounds; round_number++)
        mixed_round();
    check_types();
    check_sharing();
    dome_print(env, "ok %d rounds of pending scalars, %d tasks\n", rounds, dome_size(env));
    return dome_finalize(env);
}
