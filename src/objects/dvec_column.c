/* Reductions over parts of the elements: each column of values, a field of structs, absolute values. The values of every block's
 * part are copied piece by piece into contiguous memory and reduced there like any block (kernels_reduce.h). */
#include "core/type_private.h"
#include "eval/eval.h"
#include "kernels/kernels_reduce.h"
#include "objects/dvec_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <math.h>
#include <string.h>

typedef enum column_result { SUMS, SMALLEST, LARGEST } column_result;

typedef struct columns {
    const dvec *x;
    column_result what;
    dome_type type;          /* type of the reduced values */
    bool magnitudes;         /* reduce the absolute values of all of x, as one column */
    uint64_t count;          /* columns */
    uint64_t items;          /* columns in a value of x: more than 1 where a field is an array */
    size_t offset;           /* of the first item in a value of x */
    size_t stride;           /* bytes from one value of a column to the next */
    dome_exact_sum *sums;    /* by column */
    dome_extreme *best;      /* likewise */
    dome_kernel absolute;    /* magnitudes of real values */
    dome_parts_kernel parts; /* sums of floating-point values, */
    dome_sum_kernel exact;   /* and of integers */
    dome_extreme_kernel extreme;
} columns;

/* ---- this task's blocks ---- */

enum { PIECE = 1024 }; /* values per piece: a multiple of DOME_PARTS */

/* |x| of `count` values. The smallest signed integer wraps to itself, which is right when read as unsigned. */
static void take_magnitudes(const columns *c, const void *from, uint64_t count, void *to)
{
    double *magnitude = to;
    if (c->absolute) {
        const dome_kernel_args args = {.out = to, .in = {from}, .width = 1, .bytes = DVEC_VALUE(c->x)};
        c->absolute(&args, count);
    } else if (c->x->type == DOME_C64) {
        const float *part = from;
        for (uint64_t i = 0; i < count; i++)
            magnitude[i] = hypot((double)part[2 * i], (double)part[2 * i + 1]);
    } else {
        const double *part = from;
        for (uint64_t i = 0; i < count; i++)
            magnitude[i] = hypot(part[2 * i], part[2 * i + 1]);
    }
}

/* Some values of a column, contiguous: in place, or copied to `to`. */
static const void *take_column(const columns *c, const char *from, uint64_t count, char *to)
{
    const size_t size = dome_type_size(c->type), stride = c->stride;
    if (c->magnitudes) {
        take_magnitudes(c, from, count, to);
        return to;
    }
    if (size == stride)
        return from;
#define TAKE(bytes)                                                                                                              \
    for (uint64_t i = 0; i < count; i++)                                                                                         \
    memcpy(to + i * (bytes), from + i * stride, bytes)
    switch (size) {
    case 4:
        TAKE(4);
        break;
    case 8:
        TAKE(8);
        break;
    default:
        TAKE(size);
        break;
    }
#undef TAKE
    return to;
}

static void reduce_column(columns *c, uint64_t column, const char *from, uint64_t rows, uint64_t first)
{
    _Alignas(64) char piece[PIECE * sizeof(double)];
    double part[DOME_PARTS] = {0};
    for (uint64_t done = 0, count; done < rows; done += count) {
        count = MIN(PIECE, rows - done);
        const void *values = take_column(c, from + done * c->stride, count, piece);
        if (c->what != SUMS)
            c->extreme(&c->best[column], values, count, first + done, c->what == LARGEST);
        else if (c->parts)
            c->parts(values, NULL, count, part);
        else
            c->exact(values, NULL, count, count, NULL, &c->sums[column]);
    }
    if (c->what == SUMS && c->parts && rows)
        dome__exact_add(&c->sums[column], dome__fold_parts(part));
}

static void reduce_block(columns *c, const char *x, uint64_t values, uint64_t first)
{
    if (c->magnitudes) {
        reduce_column(c, 0, x, values, first);
        return;
    }
    const uint64_t width = c->x->width;
    const size_t item = dome_type_size(c->type);
    for (uint64_t column = 0; column < c->count; column++) {
        size_t at = column / c->items * DVEC_VALUE(c->x) + c->offset + column % c->items * item;
        reduce_column(c, column, x + at, values / width, first / width);
    }
}

static void visit(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first)
{
    columns *c = ctx;
    (void)y;
    for (uint64_t done = 0, count; done < values; done += count) {
        count = MIN(block, values - done);
        reduce_block(c, (const char *)x + done * DVEC_VALUE(c->x), count, first + done);
    }
}

/* ---- exchange with the other tasks ---- */

enum { EXTREME_WORDS = 3 };

/* The extremes of all columns; one word behind them says whether a task has failed. */
static void combine_extremes(void *inout, const void *in, uint64_t count, void *ctx)
{
    uint64_t *a = inout;
    const uint64_t *b = in;
    (void)ctx;
    for (; count > EXTREME_WORDS; count -= EXTREME_WORDS, a += EXTREME_WORDS, b += EXTREME_WORDS) {
        dome_extreme best = {a[0], a[1], a[2]}, other = {b[0], b[1], b[2]};
        dome__extreme_merge(&best, &other);
        a[0] = best.key;
        a[1] = best.position;
        a[2] = best.bits;
    }
    *a |= *b;
}

/* Replaces this task's sums or extremes with those of all tasks. words: room for all of them and one more. */
static int exchange(columns *c, uint64_t words[])
{
    dome_env *env = c->x->env;
    const uint64_t each = c->what == SUMS ? DOME_EXACT_WORDS : EXTREME_WORDS, total = c->count * each;
    dome_failure *failure = dome__eval_failure(c->x);
    for (uint64_t k = 0; k < c->count; k++) {
        if (c->what == SUMS) {
            dome__exact_shorten(&c->sums[k]);
            memcpy(words + k * each, &c->sums[k], sizeof c->sums[k]);
        } else {
            memcpy(words + k * each, (uint64_t[]){c->best[k].key, c->best[k].position, c->best[k].bits}, each * sizeof *words);
        }
    }
    words[total] = failure != NULL;
    int status = c->what == SUMS ? dome__allreduce(env->transport, DOME_I64, words, total + 1, dome__combine_sum_i64, NULL)
                                 : dome__allreduce(env->transport, DOME_U64, words, total + 1, combine_extremes, NULL);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    if (words[total])
        return dome__failure_agree(env, failure);
    for (uint64_t k = 0; k < c->count; k++) {
        const uint64_t *word = words + k * each;
        if (c->what == SUMS) {
            memcpy(&c->sums[k], word, sizeof c->sums[k]);
            dome__exact_normalize(&c->sums[k]);
        } else {
            c->best[k] = (dome_extreme){word[0], word[1], word[2]};
        }
    }
    return DOME_OK;
}

static double value_of(const dome_extreme *best, dome_type type)
{
    double value;
    dome_type_kind kind = dome_type_kind_of(type);
    if (kind >= DOME_KIND_U8 && kind <= DOME_KIND_U64)
        return (double)best->bits;
    if (kind < DOME_KIND_U8)
        return (double)(int64_t)best->bits;
    memcpy(&value, &best->bits, sizeof value);
    return isnan(value) ? NAN : value;
}

/* Performs the reduction, whose operands have been checked. */
static int reduce(columns *c, double result[])
{
    dome_env *env = c->x->env;
    const bool sums = c->what == SUMS, alone = c->x->distribution == DOME_WHOLE || env->size == 1;
    const size_t each = sums ? sizeof *c->sums : sizeof *c->best;
    c->parts = dome__parts_kernel(DOME_TERMS_SUM, c->type);
    c->exact = dome__sum_kernel(DOME_TERMS_SUM, c->type);
    c->extreme = dome__extreme_kernel(c->type);
    void *mine = g_try_malloc_n(c->count, each), *words = alone ? NULL : g_try_malloc_n(c->count + 1, each);
    c->sums = mine;
    c->best = mine;
    int status = dvec__agree_memory(c->x, mine && (alone || words), "the results by column");
    for (uint64_t k = 0; k < c->count && status == DOME_OK; k++) {
        if (sums)
            dome__exact_init(&c->sums[k]);
        else
            c->best[k] = DOME_EXTREME_NONE;
    }
    if (status == DOME_OK) {
        const dome_eval_reduction what = {.lead = c->x, .x = c->x, .visit = visit, .ctx = c, .terms = DOME_TERMS};
        dome__eval_reduce(env, &what);
        status = alone ? dome__failure_report(env, dome__eval_failure(c->x)) : exchange(c, words);
    }
    for (uint64_t k = 0; k < c->count && status == DOME_OK; k++)
        result[k] = sums ? dome__exact_round(&c->sums[k]) : value_of(&c->best[k], c->type);
    g_free(mine);
    g_free(words);
    return status;
}

/* ---- columns and fields ---- */

static int no_reduction(const columns *c)
{
    return dome__fail(c->x->env, DOME_ERR_TYPE, "not defined for values of type %s", dome_type_name(c->type));
}

/* Resolves a name, "a" or "a.b" for field b of the struct in field a, starting from the type that c has. */
static int find_field(columns *c, const char *name)
{
    dome_env *env = c->x->env;
    char **names = g_strsplit(name, ".", -1);
    int status = DOME_OK;
    if (!names[0])
        status = dome__fail(env, DOME_ERR_ARGUMENT, "the name of the field is empty");
    for (int k = 0; names[k] && status == DOME_OK; k++) {
        const dome_field *found = NULL;
        for (size_t f = 0; f < c->type->nfields && !found; f++)
            if (strcmp(c->type->fields[f].name, names[k]) == 0)
                found = &c->type->fields[f];
        if (!found) {
            status = dome__fail(env, DOME_ERR_ARGUMENT, "type %s has no field '%s'", dome_type_name(c->type), names[k]);
        } else if (c->items > 1) {
            status = dome__fail(env, DOME_ERR_ARGUMENT, "field '%s' is in an array of structs", names[k]);
        } else {
            c->type = found->type;
            c->offset += found->offset;
            c->items = found->count;
        }
    }
    g_strfreev(names);
    return status;
}

static int by_column(dome_operation_code code, column_result what, const dvec *x, const char *field, double result[])
{
    if (!x)
        return dvec__null(code, "a vector");
    dome_operation op;
    columns c = {.x = x, .what = what, .type = x->type, .items = 1};
    dome__begin(&op, x->env, code, x->object, dome__text_word(x->env, field));
    int status = result ? DOME_OK : dome__fail(x->env, DOME_ERR_ARGUMENT, "there is no place for the results");
    if (status == DOME_OK && field)
        status = find_field(&c, field);
    c.count = x->width * c.items;
    c.stride = DVEC_ELEMENT(x);
    if (status == DOME_OK && dome_type_kind_of(c.type) > DOME_KIND_F64)
        status = no_reduction(&c);
    for (uint64_t k = 0; k < c.count && status == DOME_OK; k++)
        result[k] = NAN;
    if (status == DOME_OK && what != SUMS && x->length == 0)
        status = dome__fail(x->env, DOME_ERR_ARGUMENT, "the vector is empty");
    if (status == DOME_OK) {
        status = reduce(&c, result);
        dome__count_bytes(&op, x->local * DVEC_ELEMENT(x));
    }
    return dome__end(&op, status);
}

dome_status dvec_column_sums(const dvec *x, const char *field, double result[])
{
    return by_column(DOME_OP_DVEC_COLUMN_SUMS, SUMS, x, field, result);
}

dome_status dvec_column_min_values(const dvec *x, const char *field, double result[])
{
    return by_column(DOME_OP_DVEC_COLUMN_MIN_VALUES, SMALLEST, x, field, result);
}

dome_status dvec_column_max_values(const dvec *x, const char *field, double result[])
{
    return by_column(DOME_OP_DVEC_COLUMN_MAX_VALUES, LARGEST, x, field, result);
}

/* ---- norms of absolute values ---- */

/* The type for absolute values of `type`. */
static dome_type magnitude_type(dome_type type)
{
    switch (dome_type_kind_of(type)) {
    case DOME_KIND_I8:
        return DOME_U8;
    case DOME_KIND_I16:
        return DOME_U16;
    case DOME_KIND_I32:
        return DOME_U32;
    case DOME_KIND_I64:
        return DOME_U64;
    case DOME_KIND_C64:
    case DOME_KIND_C128:
        return DOME_F64;
    default:
        return type;
    }
}

static double norm(dome_operation_code code, column_result what, const dvec *x)
{
    if (!x)
        return dvec__null(code, "a vector"), NAN;
    dome_operation op;
    double value = 0;
    columns c = {.x = x, .what = what, .type = magnitude_type(x->type), .magnitudes = true, .count = 1, .stride = DVEC_VALUE(x)};
    dome__begin_with(&op, x->env, code, x->object, NULL, 0);
    int status = dome_type_kind_of(c.type) == DOME_KIND_STRUCT ? no_reduction(&c) : DOME_OK;
    if (dome_type_kind_of(x->type) <= DOME_KIND_F64)
        c.absolute = dome__kernel(DOME_OP_DVEC_ABS, x->type, NULL);
    if (status == DOME_OK && (what == SUMS || x->length > 0)) {
        status = reduce(&c, &value);
        dome__count_bytes(&op, x->local * DVEC_ELEMENT(x));
    }
    return dome__end(&op, status) == DOME_OK ? value : NAN;
}

double dvec_norm1(const dvec *x)
{
    return norm(DOME_OP_DVEC_NORM1, SUMS, x);
}

double dvec_norm_inf(const dvec *x)
{
    return norm(DOME_OP_DVEC_NORM_INF, LARGEST, x);
}
