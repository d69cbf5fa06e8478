/* Reductions of vectors into scalars, and scalars as coefficients of vectors. */
#include "core/type_private.h"
#include "objects/dscalar_private.h"
#include "objects/dvec_operands.h"
#include "objects/dvec_reduce.h"

#include <string.h>

static bool is_complex(dome_type type)
{
    return dome_type_kind_of(type) == DOME_KIND_C64 || dome_type_kind_of(type) == DOME_KIND_C128;
}

static bool is_integer(dome_type type)
{
    return dome_type_kind_of(type) <= DOME_KIND_U64;
}

/* ---- reductions ---- */

/* Whether the result can be of the scalar's type. */
static dome_status check_result(const dscalar *s, const dvec *x, dome_operation_code code)
{
    const bool norm = code == DOME_OP_DVEC_NORM2_INTO;
    if (x->env != s->env)
        return dome__fail(s->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dscalar_name(s));
    if (dome_type_kind_of(s->type) == DOME_KIND_STRUCT || (is_integer(s->type) && (norm || !is_integer(x->type))) ||
        (is_complex(x->type) && !norm && !is_complex(s->type)))
        return dome__fail(s->env, DOME_ERR_TYPE, "'%s' is of type %s, which cannot hold the result for elements of type %s",
                          dscalar_name(s), dome_type_name(s->type), dome_type_name(x->type));
    return DOME_OK;
}

/* Adds this task's part to those that are to be exchanged. */
static dome_status join(dome_operation_code code, dscalar *s, const dvec *x, const dvec *y)
{
    dome_future_part part = {.kind = DOME_FUTURE_SUM, .type = s->type, .from = x->type};
    dome_exact_sum sums[2];
    dome_extreme best;
    dvec_part own;
    dome_status status;
    if (code == DOME_OP_DVEC_MIN_VALUE_INTO || code == DOME_OP_DVEC_MAX_VALUE_INTO) {
        status = dvec__extreme_part(x, code == DOME_OP_DVEC_MAX_VALUE_INTO, &best, &own);
        part.kind = DOME_FUTURE_EXTREME;
        part.words = (const int64_t *)(const void *)&best;
        part.count = sizeof best / sizeof *part.words;
    } else {
        const bool norm = code == DOME_OP_DVEC_NORM2_INTO;
        status = dvec__sum_part(x, y, norm ? DOME_TERMS_SQUARES : y ? DOME_TERMS_DOT : DOME_TERMS_SUM, sums, &own);
        part.kind = norm ? DOME_FUTURE_NORM : DOME_FUTURE_SUM;
        part.words = (const int64_t *)(const void *)sums;
        part.count = (is_complex(x->type) && !norm ? 2 : 1) * DOME_EXACT_WORDS;
    }
    if (status != DOME_OK)
        return status;
    part.alone = own.alone;
    part.failure = own.failure;
    dscalar__set_future(s, dome__future_reduce(s->env, &part));
    return DOME_OK;
}

static dome_status reduce(dome_operation_code code, dscalar *s, const dvec *x, const dvec *y, bool two)
{
    if (!s)
        return dvec__null(code, "the scalar");
    if (!x || (two && !y))
        return dvec__null(code, "a vector");
    dome_operation op;
    dome__begin_with(&op, s->env, code, s->object, (uint64_t[]){dvec__id(x), dvec__id(y)}, 1 + (size_t)two);
    dome_status status = check_result(s, x, code);
    if (status == DOME_OK)
        status = join(code, s, x, y);
    return dome__end(&op, status);
}

dome_status dvec_sum_into(dscalar *s, const dvec *x)
{
    return reduce(DOME_OP_DVEC_SUM_INTO, s, x, NULL, false);
}

dome_status dvec_dot_into(dscalar *s, const dvec *x, const dvec *y)
{
    return reduce(DOME_OP_DVEC_DOT_INTO, s, x, y, true);
}

dome_status dvec_norm2_into(dscalar *s, const dvec *x)
{
    return reduce(DOME_OP_DVEC_NORM2_INTO, s, x, NULL, false);
}

dome_status dvec_min_value_into(dscalar *s, const dvec *x)
{
    return reduce(DOME_OP_DVEC_MIN_VALUE_INTO, s, x, NULL, false);
}

dome_status dvec_max_value_into(dscalar *s, const dvec *x)
{
    return reduce(DOME_OP_DVEC_MAX_VALUE_INTO, s, x, NULL, false);
}

/* ---- coefficients ---- */

/* Begins an operation whose coefficients are a and, if it has two, b, and asks for their values. */
static dome_status begin(dome_operation *op, dome_operation_code code, const dvec *z, const dvec *x, const dscalar *a,
                         const dscalar *b)
{
    const bool two = code == DOME_OP_DVEC_AXPBY_BY;
    if (!z || !x)
        return dvec__null(code, "a vector");
    if (!a || (two && !b))
        return dvec__null(code, "a scalar");
    dome__begin_with(op, z->env, code, z->object, (uint64_t[]){dvec__id(x), dscalar__id(a), dscalar__id(b)}, 2 + (size_t)two);
    const dscalar *scalars[2] = {a, b};
    dome_status status = DOME_OK;
    for (int k = 0; k < 1 + two && status == DOME_OK; k++) {
        if (scalars[k]->env != z->env)
            status = dome__fail(z->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dscalar_name(scalars[k]));
        else
            status = dscalar__ask(scalars[k]);
    }
    return status == DOME_OK ? status : dome__end(op, status);
}

/* The value of a coefficient, which has been asked for. */
typedef struct coefficient {
    bool is_complex;
    double value[2];
} coefficient;

static dome_status value_of(const dscalar *a, coefficient *c)
{
    *c = (coefficient){.is_complex = is_complex(a->type)};
    if (c->is_complex)
        return dscalar_get_c128(a, c->value);
    if (is_integer(a->type) || dome_type_kind_of(a->type) == DOME_KIND_STRUCT)
        return dome__fail(a->env, DOME_ERR_TYPE, "'%s' is of type %s, but coefficients are floating point", dscalar_name(a),
                          dome_type_name(a->type));
    c->value[0] = dscalar_get_f64(a);
    return DOME_OK;
}

static dome_status scale(dvec *z, const dvec *x, const coefficient *a)
{
    return a->is_complex ? dvec_muls_c128(z, x, a->value) : dvec_muls(z, x, a->value[0]);
}

static dome_status add(dvec *y, const coefficient *a, const dvec *x)
{
    return a->is_complex ? dvec_axpy_c128(y, a->value, x) : dvec_axpy(y, a->value[0], x);
}

/* y = a x + b y */
static dome_status combine(dvec *y, const coefficient *a, const dvec *x, const coefficient *b)
{
    if (!a->is_complex && !b->is_complex)
        return dvec_axpby(y, a->value[0], x, b->value[0]);
    if (x == y)
        return dome__fail(y->env, DOME_ERR_ARGUMENT, "'%s' is both vectors, and a coefficient is complex", dvec_name(y));
    if (!is_complex(y->type))
        return dome__fail(y->env, DOME_ERR_TYPE, "a complex scalar and elements of type %s", dome_type_name(y->type));
    dvec_operands operands; /* checked before y changes */
    const dvec *in[3] = {x};
    dome_status status = dvec__operands_begin(&operands, y, true, in);
    if (status == DOME_OK)
        status = scale(y, y, b);
    if (status == DOME_OK)
        status = add(y, a, in[0]);
    dvec__operands_end(&operands);
    return status;
}

dome_status dvec_axpy_by(dvec *y, const dscalar *a, const dvec *x)
{
    dome_operation op;
    coefficient value;
    dome_status status = begin(&op, DOME_OP_DVEC_AXPY_BY, y, x, a, NULL);
    if (status != DOME_OK)
        return status;
    status = value_of(a, &value);
    return dome__end(&op, status == DOME_OK ? add(y, &value, x) : status);
}

dome_status dvec_aypx_by(dvec *y, const dscalar *a, const dvec *x)
{
    dome_operation op;
    coefficient value;
    dome_status status = begin(&op, DOME_OP_DVEC_AYPX_BY, y, x, a, NULL);
    if (status != DOME_OK)
        return status;
    status = value_of(a, &value);
    return dome__end(&op, status == DOME_OK ? combine(y, &(coefficient){.value = {1}}, x, &value) : status);
}

dome_status dvec_axpby_by(dvec *y, const dscalar *a, const dvec *x, const dscalar *b)
{
    dome_operation op;
    coefficient value[2];
    dome_status status = begin(&op, DOME_OP_DVEC_AXPBY_BY, y, x, a, b);
    if (status != DOME_OK)
        return status;
    status = value_of(a, &value[0]);
    if (status == DOME_OK)
        status = value_of(b, &value[1]);
    return dome__end(&op, status == DOME_OK ? combine(y, &value[0], x, &value[1]) : status);
}

dome_status dvec_muls_by(dvec *z, const dvec *x, const dscalar *a)
{
    dome_operation op;
    coefficient value;
    dome_status status = begin(&op, DOME_OP_DVEC_MULS_BY, z, x, a, NULL);
    if (status != DOME_OK)
        return status;
    status = value_of(a, &value);
    return dome__end(&op, status == DOME_OK ? scale(z, x, &value) : status);
}
