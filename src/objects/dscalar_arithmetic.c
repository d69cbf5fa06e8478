/* Arithmetic of scalars, by the kernels of vectors: recorded while an operand is not known, computed at once otherwise. */
#include "core/type_private.h"
#include "kernels/elementwise.h"
#include "kernels/kernels.h"
#include "objects/dscalar_private.h"

static dome_status check_operand(const dscalar *s, const dscalar *a)
{
    if (a->env != s->env)
        return dome__fail(s->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dscalar_name(a));
    if (!dome_type_equal(a->type, s->type))
        return dome__fail(s->env, DOME_ERR_TYPE, "'%s' is of type %s, not %s", dscalar_name(a), dome_type_name(a->type),
                          dome_type_name(s->type));
    return DOME_OK;
}

/* s = the element-wise operation `kernel` of a and b, or of a and the number `value` if there is one. */
static dome_status compute(dome_operation_code code, dome_operation_code kernel, dscalar *s, const dscalar *a, const dscalar *b,
                           const double *value)
{
    if (!s || !a)
        return dome__null(dome__operation_name_in(&dome__dscalar_operations, code), "a scalar");
    dome_operation op;
    uint64_t words[2] = {dscalar__id(a), value ? dome__double_word(*value) : dscalar__id(b)};
    dome__begin_with(&op, s->env, code, s->object, words, 1 + (b || value));
    dome_status status = check_operand(s, a);
    if (status == DOME_OK && b)
        status = check_operand(s, b);
    const bool is_struct = dome_type_kind_of(s->type) == DOME_KIND_STRUCT; /* its functions compute elements of vectors alone */
    if (status == DOME_OK && (is_struct || !dome__kernel(kernel, s->type, s->type)))
        status = dome__fail(s->env, DOME_ERR_TYPE, "not defined for type %s", dome_type_name(s->type));
    if (status == DOME_OK && value && !dome__exact_in(s->type, *value))
        status = dome__fail(s->env, DOME_ERR_RANGE, "%.17g is not a value of type %s", *value, dome_type_name(s->type));
    if (status != DOME_OK)
        return dome__end(&op, status);
    dome_future *first = dscalar__future(a), *second = b ? dscalar__future(b) : NULL;
    dome_future *result = dome__future_compute(s->env, kernel, s->type, first, second, value ? *value : 0);
    dome__future_unref(first);
    dome__future_unref(second);
    dscalar__set_future(s, result);
    return dome__end(&op, dome__future_is_due(result) ? dscalar__ask(s) : DOME_OK);
}

dome_status dscalar_copy(dscalar *s, const dscalar *a)
{
    if (!s || !a)
        return dome__null(__func__, "a scalar");
    dome_operation op;
    dome__begin(&op, s->env, DOME_OP_DSCALAR_COPY, s->object, dscalar__id(a));
    dome_status status = check_operand(s, a);
    if (status == DOME_OK && s != a) {
        memcpy(s->value, a->value, s->type->size);
        dscalar__set_future(s, a->future ? dome__future_ref(a->future) : NULL);
    }
    return dome__end(&op, status);
}

#define UNARY(CODE, name)                                                                                                        \
    dome_status dscalar_##name(dscalar *s, const dscalar *a)                                                                     \
    {                                                                                                                            \
        return compute(DOME_OP_DSCALAR_##CODE, DOME_OP_DVEC_##CODE, s, a, NULL, NULL);                                           \
    }
#define BINARY(CODE, name)                                                                                                       \
    dome_status dscalar_##name(dscalar *s, const dscalar *a, const dscalar *b)                                                   \
    {                                                                                                                            \
        return !b ? dome__null(__func__, "a scalar") : compute(DOME_OP_DSCALAR_##CODE, DOME_OP_DVEC_##CODE, s, a, b, NULL);      \
    }
#define NUMBER(CODE, name)                                                                                                       \
    dome_status dscalar_##name(dscalar *s, const dscalar *a, double value)                                                       \
    {                                                                                                                            \
        return compute(DOME_OP_DSCALAR_##CODE, DOME_OP_DVEC_##CODE, s, a, NULL, &value);                                         \
    }

BINARY(ADD, add)
BINARY(SUB, sub)
BINARY(MUL, mul)
BINARY(DIV, div)
BINARY(MIN, min)
BINARY(MAX, max)
UNARY(NEG, neg)
UNARY(ABS, abs)
UNARY(SQRT, sqrt)
NUMBER(ADDS, adds)
NUMBER(MULS, muls)
NUMBER(RDIVS, rdivs)
