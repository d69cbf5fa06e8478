/* Linear combinations compared with the chains of operations that they stand for, and complex scalars with vectors filled with
 * them: equal to the bit, for all types, also if the output is among the inputs. */
#include <dome/dome.h>
#include <dome/structure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dome_env *env;

enum { N = 700, TERMS = 5 };

#define CHECK(condition, ...)                                                                                                    \
    do {                                                                                                                         \
        if (!(condition)) {                                                                                                      \
            char text_[256];                                                                                                     \
            snprintf(text_, sizeof text_, __VA_ARGS__);                                                                          \
            dome_abort(env, "combinations: %s (%s)", text_, dome_error_message(env));                                            \
        }                                                                                                                        \
    } while (0)

static void expect_equal(const dvec *x, const dvec *y, const char *what)
{
    size_t bytes = N * dvec_width(x) * dome_type_size(dvec_type(x));
    char *copy = malloc(bytes);
    memcpy(copy, dvec_allgather(x), bytes);
    CHECK(memcmp(copy, dvec_allgather(y), bytes) == 0, "%s of %s: other values than the chain's", what,
          dome_type_name(dvec_type(x)));
    free(copy);
}

static void make(dvec *x[TERMS], dome_type type, dome_distribution distribution)
{
    for (int k = 0; k < TERMS; k++) {
        x[k] = dvec_new_with(env, NULL, type, N, DVEC_OPTIONS(.distribution = distribution, .width = 2));
        dvec_random(x[k], (uint64_t)k);
    }
}

static void drop(dvec *x[TERMS])
{
    for (int k = 0; k < TERMS; k++)
        dvec_free(x[k]);
}

/* z is none of the vectors, or number `alias` of those that are summed. */
static void test_combination(dome_type type, dome_distribution distribution, int terms, int alias)
{
    const double coefficients[TERMS] = {3, 1, 7, 2, 5};
    dvec *x[TERMS];
    make(x, type, distribution);
    dvec *z = alias < 0 ? dvec_new_like(x[0], NULL) : x[alias], *chain = dvec_new_like(x[0], NULL),
         *product = dvec_new_like(z, NULL);
    dvec_muls(chain, x[0], coefficients[0]);
    for (int k = 1; k < terms; k++) {
        dvec_muls(product, x[k], coefficients[k]);
        dvec_add(chain, chain, product);
    }
    CHECK(dvec_linear_combination(z, (size_t)terms, coefficients, (const dvec *const *)x) == DOME_OK,
          "a linear combination fails");
    expect_equal(z, chain, "a linear combination");
    if (alias < 0)
        dvec_free(z);
    dvec_free(chain);
    dvec_free(product);
    drop(x);
}

static void test_axpby(dome_type type, bool itself)
{
    dvec *x[TERMS];
    make(x, type, DOME_DYNAMIC);
    dvec *y = itself ? x[0] : x[1], *chain = dvec_new_like(y, NULL);
    dvec_muls(x[2], x[0], 3);
    dvec_muls(x[3], y, 2);
    dvec_add(chain, x[2], x[3]);
    CHECK(dvec_axpby(y, 3, x[0], 2) == DOME_OK, "axpby fails");
    expect_equal(y, chain, "axpby");
    dvec_free(chain);
    drop(x);
}

static void test_complex(dome_type type)
{
    static const struct {
        dome_status (*scalar)(dvec *, const dvec *, const double[2]);
        dome_status (*vectors)(dvec *, const dvec *, const dvec *);
    } operations[] = {
        {dvec_adds_c128, dvec_add}, {dvec_subs_c128, dvec_sub}, {dvec_muls_c128, dvec_mul}, {dvec_divs_c128, dvec_div}};
    const double a[2] = {0.1, -7. / 3};
    const float single[2] = {(float)a[0], (float)a[1]};
    dvec *x[TERMS];
    make(x, type, DOME_DYNAMIC);
    CHECK(dvec_fill_value(x[1], type == DOME_C64 ? (const void *)single : (const void *)a) == DOME_OK, "fill_value fails");
    CHECK(dvec_fill_c128(x[2], a) == DOME_OK, "fill fails");
    expect_equal(x[2], x[1], "fill");
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
        CHECK(operations[k].vectors(x[2], x[0], x[1]) == DOME_OK, "an operation fails");
        CHECK(operations[k].scalar(x[3], x[0], a) == DOME_OK, "an operation with a scalar fails");
        expect_equal(x[3], x[2], "an operation with a complex scalar");
    }
    dvec_mul(x[2], x[0], x[1]);
    dvec_add(x[2], x[4], x[2]);
    CHECK(dvec_axpy_c128(x[4], a, x[0]) == DOME_OK, "axpy fails");
    expect_equal(x[4], x[2], "axpy");
    dvec_mul(x[2], x[0], x[1]); /* in place */
    dvec_add(x[2], x[0], x[2]);
    CHECK(dvec_axpy_c128(x[0], a, x[0]) == DOME_OK, "axpy of itself fails");
    expect_equal(x[0], x[2], "axpy of itself");
    drop(x);
}

static void expect_failure(dome_status is, dome_status status, const char *word)
{
    dome_status kept = dome_error_status(env);
    CHECK(is == status && kept == status && strstr(dome_error_message(env), word), "no failure with '%s'", word);
    dome_error_clear(env);
}

static void test_failures(void)
{
    dvec *x[TERMS], *y = dvec_new_with(env, NULL, DOME_I32, N, DVEC_OPTIONS(.width = 3));
    const double a[2] = {1, 0.5};
    make(x, DOME_I32, DOME_DYNAMIC);
    const dvec *const mixed[] = {x[0], y}, *const good[] = {x[0], x[1]};
    expect_failure(dvec_linear_combination(x[0], 2, a, mixed), DOME_ERR_SHAPE, "width");
    expect_failure(dvec_linear_combination(x[0], 2, a, good), DOME_ERR_RANGE, "0.5 is not a value of type i32");
    expect_failure(dvec_axpby(x[0], 0.25, x[1], 1), DOME_ERR_RANGE, "0.25 is not a value of type i32");
    expect_failure(dvec_adds_c128(x[0], x[0], a), DOME_ERR_TYPE, "i32");
    expect_failure(dvec_fill_c128(y, a), DOME_ERR_TYPE, "i32");
    dvec_free(y);
    drop(x);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    const dome_type types[] = {DOME_I8, DOME_I64, DOME_U16, DOME_F32, DOME_F64, DOME_C64, DOME_C128};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (int alias = -1; alias < TERMS; alias++)
            test_combination(types[t], alias == 2 ? DOME_BLOCK : DOME_DYNAMIC, TERMS, alias);
        test_combination(types[t], DOME_WHOLE, 1, -1);
        test_axpby(types[t], false);
        test_axpby(types[t], true);
    }
    test_complex(DOME_C64);
    test_complex(DOME_C128);
    dome_set_errors_return(env);
    test_failures();
    size_t left = dome_object_count(env);
    CHECK(left == 0, "%zu objects are left", left);
    dome_print(env, "ok combinations: %d tasks\n", dome_size(env));
    return dome_finalize(env);
}
