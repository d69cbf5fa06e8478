/* Operands of other shapes and types, linear combinations, and element-wise operations with a complex or struct scalar: each is
 * recorded as a chain of simpler operations, which the evaluator runs in one pass. */
#include "core/type_private.h"
#include "eval/eval.h"
#include "kernels/kernels_struct.h"
#include "kernels/repeat.h"
#include "objects/dvec_operands.h"

#include <string.h>

static int record(dvec *z, dome_operation_code code, const dvec *x, const dvec *y, double a)
{
    const dome_eval_op work = {.code = code, .out = z, .in = {x, y}, .scalar.f64 = a};
    return dome__eval_record(z->env, &work);
}

/* Makes a vector like z for intermediate values. It is freed before its values are read from memory, so it takes address space
 * only. */
static int between_new(const dvec *z, dvec **between)
{
    *between = dvec_new_like(z, NULL);
    return *between ? DOME_OK : dome_error_status(z->env);
}

/* ---- operands that are repeated ---- */

/* Records a vector of z's shape whose elements are all x's only one. Its values are taken now: x has another layout, and so it is
 * in none of z's passes. */
static int record_row(dvec *repeated, const dvec *x)
{
    int status = dvec__settle_read(x);
    if (status != DOME_OK)
        return status;
    const dome_repeat repeat = {.width = x->width, .bytes = DVEC_VALUE(x)};
    const dome_eval_op work = {.code = DOME_OP_DVEC_REPEAT, .out = repeated, .value = g_malloc(DVEC_ELEMENT(repeated))};
    dome__repeat_row(work.value, x->data, &repeat, repeated->width);
    return dome__eval_record(x->env, &work);
}

/* Replaces *x by a vector of z's shape, which it conforms to but for being repeated. */
static int repeat_operand(dvec_operands *o, const dvec *z, const dvec **x)
{
    dvec *value = dvec_new_with(
        z->env, NULL, (*x)->type, z->length,
        DVEC_OPTIONS(.distribution = z->distribution, .width = (size_t)z->width, .block = dome_layout_block_size(z->layout)));
    if (!value)
        return dome_error_status(z->env);
    o->made[o->count++] = value;
    int status = dvec__alone(z, *x) ? record_row(value, *x) : record(value, DOME_OP_DVEC_REPEAT, *x, NULL, 0);
    *x = value;
    return status;
}

int dvec__operands_repeat(dvec_operands *o, const dvec *z, const dvec *in[3])
{
    int status = DOME_OK;
    o->count = 0;
    for (int k = 0; k < 3 && in[k] && status == DOME_OK; k++) {
        status = dvec__conforms_repeated(z, in[k], false, true);
        if (status == DOME_OK && dvec__repeated(z, in[k]))
            status = repeat_operand(o, z, &in[k]);
    }
    return status;
}

/* ---- operands of other types ---- */

static bool is_basic(dome_type type)
{
    return dome_type_kind_of(type) != DOME_KIND_STRUCT;
}

/* Whether x can take part in an operation with z, and has to be repeated, or converted to z's type, before. */
static int check_operand(const dvec *z, bool convert, const dvec *x, bool *repeats, bool *converts)
{
    *repeats = x && dvec__repeated(z, x);
    *converts = convert && x && x->type != z->type && is_basic(z->type) && is_basic(x->type);
    int status = *repeats ? dvec__conforms_repeated(z, x, !*converts, true) : dvec__conforms(z, x, !*converts, true);
    if (status == DOME_OK && *converts && !dome__kernel(DOME_OP_DVEC_CONVERT, z->type, x->type))
        status =
            dome__fail(z->env, DOME_ERR_TYPE, "no conversion from %s to %s", dome_type_name(x->type), dome_type_name(z->type));
    return status;
}

int dvec__operands_begin(dvec_operands *o, dvec *z, bool convert, const dvec *in[3])
{
    int status = DOME_OK;
    o->count = 0;
    for (int k = 0; k < 3 && status == DOME_OK; k++) {
        bool repeats = false, converts = false;
        dvec *value = NULL;
        if (in[k])
            status = check_operand(z, convert, in[k], &repeats, &converts);
        if (status == DOME_OK && repeats)
            status = repeat_operand(o, z, &in[k]);
        if (status == DOME_OK && converts)
            status = between_new(z, &value);
        if (!value)
            continue;
        o->made[o->count++] = value;
        status = record(value, DOME_OP_DVEC_CONVERT, in[k], NULL, 0);
        in[k] = value;
    }
    return status;
}

void dvec__operands_end(dvec_operands *o)
{
    for (int k = 0; k < o->count; k++)
        dvec_free(o->made[k]);
}

/* ---- linear combinations ---- */

static int check_terms(const dvec *z, size_t n, const double coefficients[], const dvec *const x[])
{
    if (n == 0 || !coefficients || !x)
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "there are no terms");
    const bool is_struct = !is_basic(z->type);
    if (is_struct && !dome__kernel(DOME_OP_DVEC_AXPY, z->type, NULL))
        return dome__fail(z->env, DOME_ERR_TYPE, "type %s has no function '%s' (dome_type_set_ops)", dome_type_name(z->type),
                          dome__struct_lacks(DOME_OP_DVEC_AXPY, z->type));
    for (size_t k = 0; k < n; k++) {
        bool repeats, converts;
        dome_status status = check_operand(z, true, x[k], &repeats, &converts);
        if (status != DOME_OK)
            return status;
        if (!is_struct && !dome__exact_in(z->type, coefficients[k]))
            return dome__fail(z->env, DOME_ERR_RANGE, "%.17g is not a value of type %s", coefficients[k],
                              dome_type_name(z->type));
    }
    return DOME_OK;
}

static int record_term(dvec *sum, dome_operation_code code, double coefficient, const dvec *x)
{
    const dvec *in[3] = {x};
    dvec_operands converted;
    int status = dvec__operands_begin(&converted, sum, true, in);
    if (status == DOME_OK)
        status = record(sum, code, in[0], NULL, coefficient);
    dvec__operands_end(&converted);
    return status;
}

/* z = the sum of coefficients[k] * x[k], in this order. */
static int combine(dvec *z, size_t n, const double coefficients[], const dvec *const x[])
{
    int status = check_terms(z, n, coefficients, x);
    bool read_later = false; /* z is also the input of a later term, and must not be overwritten before */
    for (size_t k = 1; status == DOME_OK && k < n; k++)
        read_later |= x[k] == z;
    dvec *sum = z;
    if (read_later)
        status = between_new(z, &sum);
    if (status == DOME_OK)
        status = record_term(sum, DOME_OP_DVEC_MULS, coefficients[0], x[0]);
    for (size_t k = 1; status == DOME_OK && k < n; k++)
        status = record_term(sum, DOME_OP_DVEC_AXPY, coefficients[k], x[k]);
    if (read_later && status == DOME_OK)
        status = record(z, DOME_OP_DVEC_COPY, sum, NULL, 0);
    if (read_later)
        dvec_free(sum);
    return status;
}

dome_status dvec_axpby(dvec *y, double a, const dvec *x, double b)
{
    DOME_NEEDS(y && x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    uint64_t words[] = {dvec__id(x), dome__double_word(a), dome__double_word(b)};
    dome__begin_with(&op, y->env, DOME_OP_DVEC_AXPBY, y->object, words, G_N_ELEMENTS(words));
    return dome__end(&op, combine(y, 2, (const double[]){b, a}, (const dvec *const[]){y, x}));
}

dome_status dvec_linear_combination(dvec *z, size_t n, const double coefficients[], const dvec *const x[])
{
    DOME_NEEDS(z, "a vector", DOME_ERR_ARGUMENT);
    if (n > DVEC_LIST_MOST)
        return dvec__refuse_list(z->env, DOME_OP_DVEC_LINEAR_COMBINATION, z->object, n);
    dome_operation op;
    size_t terms = coefficients && x ? n : 0;
    uint64_t *words = g_new(uint64_t, 2 + terms);
    words[0] = n;
    words[1] = 0;
    for (size_t k = 0; k < terms; k++) {
        words[1] = dome__hash_double(words[1], coefficients[k]);
        words[2 + k] = dvec__id(x[k]);
    }
    dome__begin_with(&op, z->env, DOME_OP_DVEC_LINEAR_COMBINATION, z->object, words, 2 + terms);
    g_free(words);
    return dome__end(&op, combine(z, n, coefficients, x));
}

/* ---- complex scalars ---- */

static int check_complex(const dvec *z, const double a[2])
{
    if (!a)
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "there is no scalar");
    if (z->type != DOME_C64 && z->type != DOME_C128)
        return dome__fail(z->env, DOME_ERR_TYPE, "a complex scalar and elements of type %s", dome_type_name(z->type));
    return DOME_OK;
}

/* Sets all values of z to a. */
static int record_fill(dvec *z, const double a[2])
{
    const float single[2] = {(float)a[0], (float)a[1]};
    const dome_eval_op work = {.code = DOME_OP_DVEC_FILL,
                               .out = z,
                               .value = z->type == DOME_C64 ? g_memdup2(single, sizeof single) : g_memdup2(a, 2 * sizeof *a)};
    return dome__eval_record(z->env, &work);
}

/* Begins an operation on z, x and a, which must be the same on all tasks. */
static int begin(dome_operation *op, dome_operation_code code, const dvec *z, const dvec *x, const double a[2])
{
    uint64_t words[] = {dvec__id(x), a ? dome__double_word(a[0]) : 0, a ? dome__double_word(a[1]) : 0};
    dome__begin_with(op, z->env, code, z->object, words, G_N_ELEMENTS(words));
    int status = check_complex(z, a);
    return status == DOME_OK ? dvec__conforms(z, x, true, true) : status;
}

/* z = x op a, computed as between x and a vector filled with a. */
static int scalar(dome_operation_code code, dome_operation_code vectors, dvec *z, const dvec *x, const double a[2])
{
    if (!z || !x)
        return dvec__null(code, "a vector");
    dome_operation op;
    dvec *filled = NULL;
    int status = begin(&op, code, z, x, a);
    if (status == DOME_OK)
        status = between_new(z, &filled);
    if (status == DOME_OK)
        status = record_fill(filled, a);
    if (status == DOME_OK)
        status = record(z, vectors, x, filled, 0);
    dvec_free(filled);
    return dome__end(&op, status);
}

dome_status dvec_fill_c128(dvec *z, const double value[2])
{
    DOME_NEEDS(z, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    uint64_t words[] = {value ? dome__double_word(value[0]) : 0, value ? dome__double_word(value[1]) : 0};
    dome__begin_with(&op, z->env, DOME_OP_DVEC_FILL_C128, z->object, words, G_N_ELEMENTS(words));
    int status = check_complex(z, value);
    return dome__end(&op, status == DOME_OK ? record_fill(z, value) : status);
}

dome_status dvec_adds_c128(dvec *z, const dvec *x, const double a[2])
{
    return scalar(DOME_OP_DVEC_ADDS_C128, DOME_OP_DVEC_ADD, z, x, a);
}

dome_status dvec_subs_c128(dvec *z, const dvec *x, const double a[2])
{
    return scalar(DOME_OP_DVEC_SUBS_C128, DOME_OP_DVEC_SUB, z, x, a);
}

dome_status dvec_muls_c128(dvec *z, const dvec *x, const double a[2])
{
    return scalar(DOME_OP_DVEC_MULS_C128, DOME_OP_DVEC_MUL, z, x, a);
}

dome_status dvec_divs_c128(dvec *z, const dvec *x, const double a[2])
{
    return scalar(DOME_OP_DVEC_DIVS_C128, DOME_OP_DVEC_DIV, z, x, a);
}

dome_status dvec_axpy_c128(dvec *y, const double a[2], const dvec *x)
{
    DOME_NEEDS(y && x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dvec *product = NULL;
    int status = begin(&op, DOME_OP_DVEC_AXPY_C128, y, x, a);
    if (status == DOME_OK)
        status = between_new(y, &product);
    if (status == DOME_OK)
        status = record_fill(product, a);
    if (status == DOME_OK)
        status = record(product, DOME_OP_DVEC_MUL, x, product, 0);
    if (status == DOME_OK)
        status = record(y, DOME_OP_DVEC_ADD, y, product, 0);
    dvec_free(product);
    return dome__end(&op, status);
}

/* ---- struct scalars ---- */

dome_status dvec_axpy_struct(dvec *y, const void *a, const dvec *x)
{
    DOME_NEEDS(y && x, "a vector", DOME_ERR_ARGUMENT);
    DOME_NEEDS(a, "the scalar", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, y->env, DOME_OP_DVEC_AXPY_STRUCT, y->object, (uint64_t[]){dvec__id(x), dome__value_word(y->type, a)},
                     2);
    dvec *product = NULL;
    int status = dvec__conforms(y, x, true, true);
    for (int k = 0; k < 2 && status == DOME_OK; k++) {
        const dome_operation_code code = k ? DOME_OP_DVEC_ADD : DOME_OP_DVEC_MUL;
        if (is_basic(y->type))
            status = dome__fail(y->env, DOME_ERR_TYPE, "not defined for elements of type %s", dome_type_name(y->type));
        else if (!dome__kernel(code, y->type, NULL))
            status = dome__fail(y->env, DOME_ERR_TYPE, "type %s has no function '%s' (dome_type_set_ops)",
                                dome_type_name(y->type), dome__struct_lacks(code, y->type));
    }
    if (status == DOME_OK)
        status = between_new(y, &product);
    if (status == DOME_OK) {
        const dome_eval_op fill = {.code = DOME_OP_DVEC_FILL, .out = product, .value = g_memdup2(a, DVEC_VALUE(y))};
        status = dome__eval_record(y->env, &fill);
    }
    if (status == DOME_OK)
        status = record(product, DOME_OP_DVEC_MUL, product, x, 0);
    if (status == DOME_OK)
        status = record(y, DOME_OP_DVEC_ADD, y, product, 0);
    dvec_free(product);
    return dome__end(&op, status);
}
