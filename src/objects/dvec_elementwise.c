/* The public element-wise operations: each checks its operands and records itself. */
#include "core/type_private.h"
#include "eval/eval.h"
#include "kernels/elementwise.h"
#include "kernels/kernels_struct.h"
#include "objects/dvec_operands.h"

#include <string.h>

/* Begins an operation: its operands, and the scalar if it has one, must be the same on all tasks. */
static inline void begin(dome_operation *op, dome_operation_code code, const dvec *z, const dvec *const in[3],
                         const double *scalar)
{
    uint64_t words[3];
    size_t count = 0;
    while (count < 3 && in[count]) {
        words[count] = dvec__id(in[count]);
        count++;
    }
    if (scalar)
        words[count++] = dome__double_word(*scalar);
    dome__begin_with(op, z->env, code, z->object, words, count);
}

static dome_status no_kernel(dome_operation_code code, const dvec *x)
{
    const bool is_struct = dome_type_kind_of(x->type) == DOME_KIND_STRUCT;
    const char *function = is_struct ? dome__struct_lacks(code, x->type) : NULL;
    if (function)
        return dome__fail(x->env, DOME_ERR_TYPE, "type %s has no function '%s' (dome_type_set_ops)", dome_type_name(x->type),
                          function);
    return dome__fail(x->env, DOME_ERR_TYPE, "not defined for elements of type %s", dome_type_name(x->type));
}

/* Records an operation whose operands conform, if it exists for their types. */
static dome_status record(const dome_eval_op *op)
{
    dome_env *env = op->out->env;
    if (!op->value && !dome__kernel(op->code, op->out->type, op->in[0] ? op->in[0]->type : NULL))
        return no_kernel(op->code, op->out);
    return dome__eval_record(env, op);
}

static dome_status check_scalar(dome_operation_code code, const dvec *x, double a)
{
    if (dome_type_kind_of(x->type) == DOME_KIND_STRUCT)
        return dome__kernel(code, x->type, NULL) ? DOME_OK : no_kernel(code, x);
    if (!dome__exact_in(x->type, a))
        return dome__fail(x->env, DOME_ERR_RANGE, "%.17g is not a value of type %s", a, dome_type_name(x->type));
    return DOME_OK;
}

/* Whether the operands are truth values, which conversion would change (0.5 is true). */
static bool is_logical(dome_operation_code code)
{
    return code == DOME_OP_DVEC_AND || code == DOME_OP_DVEC_OR || code == DOME_OP_DVEC_XOR || code == DOME_OP_DVEC_NOT;
}

static bool is_integer(dome_type type)
{
    return dome_type_kind_of(type) <= DOME_KIND_U64;
}

/* z = x op y, or z = op x if the operation is not binary (y is NULL). */
static dome_status vectors(dome_operation_code code, dvec *z, const dvec *x, const dvec *y, bool binary)
{
    if (!z || !x || (binary && !y))
        return dvec__null(code, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = code, .out = z, .in = {x, y}};
    begin(&op, code, z, work.in, NULL);
    dvec_operands converted;
    dome_status status = dvec__operands_begin(&converted, z, !is_logical(code), work.in);
    if (status == DOME_OK)
        status = record(&work);
    dvec__operands_end(&converted);
    return dome__end(&op, status);
}

/* z = x op a */
static dome_status scalar(dome_operation_code code, dvec *z, const dvec *x, double a)
{
    if (!z || !x)
        return dvec__null(code, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = code, .out = z, .in = {x}, .scalar.f64 = a};
    begin(&op, code, z, work.in, &a);
    dvec_operands converted;
    dome_status status = dvec__operands_begin(&converted, z, !is_logical(code), work.in);
    if (status == DOME_OK)
        status = check_scalar(code, z, a);
    if (status == DOME_OK && (dome__elementwise_of(code)->flags & DOME_DIVIDES) && a == 0 && is_integer(z->type))
        status = dome__fail(z->env, DOME_ERR_RANGE, "integers divided by zero");
    if (status == DOME_OK)
        status = record(&work);
    dvec__operands_end(&converted);
    return dome__end(&op, status);
}

/* mask = x op y, or x op a if y is NULL. */
static dome_status compare(dome_operation_code code, dvec *mask, const dvec *x, const dvec *y, double a, bool with_scalar)
{
    if (!mask || !x || (!with_scalar && !y))
        return dvec__null(code, "a vector");
    dome_operation op;
    dome_env *env = mask->env;
    dome_eval_op work = {.code = code, .out = mask, .in = {x, y}, .scalar.f64 = a};
    begin(&op, code, mask, work.in, with_scalar ? &a : NULL);
    dvec_operands repeated;
    dome_status status = dvec__operands_repeat(&repeated, mask, work.in);
    if (status == DOME_OK && mask->type != DOME_U8)
        status = dome__fail(env, DOME_ERR_TYPE, "the mask must be of type u8, not %s", dome_type_name(mask->type));
    if (status == DOME_OK && y && !dome_type_equal(x->type, y->type))
        status = dome__fail(env, DOME_ERR_TYPE, "'%s' is of type %s and '%s' of type %s", dome_object_name(x->object),
                            dome_type_name(x->type), dome_object_name(y->object), dome_type_name(y->type));
    if (status == DOME_OK && !dome__kernel(code, x->type, NULL))
        status = no_kernel(code, x);
    if (status == DOME_OK && with_scalar)
        status = check_scalar(code, x, a);
    if (status == DOME_OK)
        status = dome__eval_record(env, &work);
    dvec__operands_end(&repeated);
    return dome__end(&op, status);
}

/* z = f(x), of the type of x's parts, or a mask. */
static dome_status part(dome_operation_code code, dvec *z, const dvec *x)
{
    if (!z || !x)
        return dvec__null(code, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = code, .out = z, .in = {x}};
    begin(&op, code, z, work.in, NULL);
    dome_type_kind kind = dome_type_kind_of(x->type);
    const bool test = dome__elementwise_of(code)->form == DOME_FORM_TEST;
    dome_type wanted = test ? DOME_U8 : kind == DOME_KIND_C64 ? DOME_F32 : DOME_F64;
    dvec_operands repeated;
    dome_status status = dvec__operands_repeat(&repeated, z, work.in);
    if (status == DOME_OK && !dome__kernel(code, x->type, NULL))
        status = no_kernel(code, x);
    if (status == DOME_OK && z->type != wanted)
        status = dome__fail(z->env, DOME_ERR_TYPE, "'%s' must be of type %s, not %s", dome_object_name(z->object),
                            dome_type_name(wanted), dome_type_name(z->type));
    if (status == DOME_OK)
        status = dome__eval_record(z->env, &work);
    dvec__operands_end(&repeated);
    return dome__end(&op, status);
}

/* ---- operations without input vectors ---- */

dome_status dvec_fill(dvec *z, double value)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = DOME_OP_DVEC_FILL, .out = z, .scalar.f64 = value};
    begin(&op, DOME_OP_DVEC_FILL, z, work.in, &value);
    dome_status status = check_scalar(work.code, z, value);
    if (status == DOME_OK)
        status = record(&work);
    return dome__end(&op, status);
}

dome_status dvec_fill_value(dvec *z, const void *value)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = DOME_OP_DVEC_FILL, .out = z};
    dome__begin(&op, z->env, DOME_OP_DVEC_FILL_VALUE, z->object, dome__value_word(z->type, value));
    if (!value)
        return dome__end(&op, dome__fail(z->env, DOME_ERR_ARGUMENT, "the value is NULL"));
    work.value = g_memdup2(value, DVEC_VALUE(z));
    return dome__end(&op, dome__eval_record(z->env, &work));
}

dome_status dvec_iota(dvec *z)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = DOME_OP_DVEC_IOTA, .out = z};
    dome__begin(&op, z->env, DOME_OP_DVEC_IOTA, z->object, 0);
    return dome__end(&op, record(&work));
}

static dome_status random_numbers(dome_operation_code code, dvec *z, uint64_t seed)
{
    if (!z)
        return dvec__null(code, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = code, .out = z, .scalar.u64 = seed};
    dome__begin(&op, z->env, code, z->object, seed);
    return dome__end(&op, record(&work));
}

dome_status dvec_random(dvec *z, uint64_t seed)
{
    return random_numbers(DOME_OP_DVEC_RANDOM, z, seed);
}

dome_status dvec_random_normal(dvec *z, uint64_t seed)
{
    return random_numbers(DOME_OP_DVEC_RANDOM_NORMAL, z, seed);
}

/* ---- copies ---- */

dome_status dvec_copy(dvec *z, const dvec *x)
{
    if (!z || !x)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = DOME_OP_DVEC_COPY, .out = z, .in = {x}};
    begin(&op, DOME_OP_DVEC_COPY, z, work.in, NULL);
    dome_status status = DOME_OK;
    bool aligned = dome_layout_block_size(z->layout) == dome_layout_block_size(x->layout) || z->length != x->length;
    if (aligned && (z->distribution == x->distribution || x->distribution == DOME_WHOLE)) {
        dvec_operands repeated;
        status = dvec__operands_repeat(&repeated, z, work.in);
        if (status == DOME_OK && z != x)
            status = dvec__conforms(z, work.in[0], true, true);
        if (status == DOME_OK && z != x)
            status = dome__eval_record(z->env, &work);
        dvec__operands_end(&repeated);
    } else {
        status = dvec__redistribute(z, x);
    }
    return dome__end(&op, status);
}

dvec *dvec_clone(const dvec *x, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_CLONE, NULL, (uint64_t[]){dome__text_word(x->env, name), dvec__id(x)}, 2);
    dvec *z = dvec_new_like(x, name);
    dome__end(&op, z ? dvec_copy(z, x) : dome_error_status(x->env));
    return z;
}

dome_status dvec_convert(dvec *z, const dvec *x)
{
    if (!z || !x)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = DOME_OP_DVEC_CONVERT, .out = z, .in = {x}};
    begin(&op, DOME_OP_DVEC_CONVERT, z, work.in, NULL);
    dvec_operands repeated;
    dome_status status = dvec__operands_repeat(&repeated, z, work.in);
    if (status == DOME_OK && !dome__kernel(work.code, z->type, x->type))
        status =
            dome__fail(z->env, DOME_ERR_TYPE, "no conversion from %s to %s", dome_type_name(x->type), dome_type_name(z->type));
    if (status == DOME_OK)
        status = dome__eval_record(z->env, &work);
    dvec__operands_end(&repeated);
    return dome__end(&op, status);
}

dome_status dvec_select(dvec *z, const dvec *mask, const dvec *x, const dvec *y)
{
    if (!z || !mask || !x || !y)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome_eval_op work = {.code = DOME_OP_DVEC_SELECT, .out = z, .in = {mask, x, y}};
    begin(&op, DOME_OP_DVEC_SELECT, z, work.in, NULL);
    dvec_operands repeated;
    dome_status status = dvec__operands_repeat(&repeated, z, work.in);
    if (status == DOME_OK && mask->type != DOME_U8)
        status = dome__fail(z->env, DOME_ERR_TYPE, "the mask must be of type u8, not %s", dome_type_name(mask->type));
    for (int k = 1; k < 3 && status == DOME_OK; k++)
        status = dvec__conforms(z, work.in[k], true, true);
    if (status == DOME_OK)
        status = dome__eval_record(z->env, &work);
    dvec__operands_end(&repeated);
    return dome__end(&op, status);
}

dome_status dvec_axpy(dvec *y, double a, const dvec *x)
{
    return scalar(DOME_OP_DVEC_AXPY, y, x, a);
}

/* ---- operations described by the table ---- */

#define PUBLIC_OWN(CODE, name)
#define PUBLIC_UNARY(CODE, name)                                                                                                 \
    dome_status name(dvec *z, const dvec *x)                                                                                     \
    {                                                                                                                            \
        return vectors(DOME_OP_DVEC_##CODE, z, x, NULL, false);                                                                  \
    }
#define PUBLIC_BINARY(CODE, name)                                                                                                \
    dome_status name(dvec *z, const dvec *x, const dvec *y)                                                                      \
    {                                                                                                                            \
        return vectors(DOME_OP_DVEC_##CODE, z, x, y, true);                                                                      \
    }
#define PUBLIC_SCALAR(CODE, name)                                                                                                \
    dome_status name(dvec *z, const dvec *x, double a)                                                                           \
    {                                                                                                                            \
        return scalar(DOME_OP_DVEC_##CODE, z, x, a);                                                                             \
    }
#define PUBLIC_PART(CODE, name)                                                                                                  \
    dome_status name(dvec *z, const dvec *x)                                                                                     \
    {                                                                                                                            \
        return part(DOME_OP_DVEC_##CODE, z, x);                                                                                  \
    }
#define PUBLIC_TEST(CODE, name) PUBLIC_PART(CODE, name)
#define PUBLIC_COMPARE(CODE, name)                                                                                               \
    dome_status name(dvec *mask, const dvec *x, const dvec *y)                                                                   \
    {                                                                                                                            \
        return compare(DOME_OP_DVEC_##CODE, mask, x, y, 0, false);                                                               \
    }
#define PUBLIC_COMPARE_SCALAR(CODE, name)                                                                                        \
    dome_status name(dvec *mask, const dvec *x, double a)                                                                        \
    {                                                                                                                            \
        return compare(DOME_OP_DVEC_##CODE, mask, x, NULL, a, true);                                                             \
    }
#define PUBLIC(CODE, name, arguments, form, flags, failure, expression) PUBLIC_##form(CODE, name)
DOME_ELEMENTWISE_LIST(PUBLIC)
