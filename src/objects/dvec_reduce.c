/* The public reductions. Each task computes the contributions of its blocks; they are combined in a way that does not depend on
 * which task computed them: exact sums, products along a fixed tree, smallest keys. */
#include "objects/dvec_reduce.h"
#include "core/layout.h"
#include "core/type_private.h"
#include "eval/eval.h"
#include "kernels/kernels.h"
#include "kernels/kernels_reduce.h"
#include "objects/dvec_fold.h"
#include "objects/dvec_mapped.h"
#include "objects/dvec_struct.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <math.h>
#include <string.h>

/* ---- what all of them do ---- */

/* State of a reduction: its operands, and a failure that this task has found and the others do not know of yet. */
typedef struct reduction {
    dome_operation op;
    dome_env *env;
    const dvec *x, *y; /* y: of dot */
    const dvec *lead;  /* the vector whose blocks are visited: x, but y if only y is distributed */
    bool alone;        /* every task has all the data: nothing to exchange */
    bool ready;        /* the recorded work of the operands has been run */
    dome_failure *failure;
} reduction;

static bool is_kind(const dvec *x, dome_type_kind first, dome_type_kind last)
{
    return x->type->kind >= first && x->type->kind <= last;
}

static bool is_integer(const dvec *x)
{
    return is_kind(x, DOME_KIND_I8, DOME_KIND_U64);
}

static bool is_complex(const dvec *x)
{
    return is_kind(x, DOME_KIND_C64, DOME_KIND_C128);
}

typedef enum accepts { INTEGERS, REALS, NUMBERS } accepts;

/* Checks the operands and sets all of r but its operation. */
static int take(reduction *r, const dvec *x, const dvec *y, accepts what)
{
    r->env = x->env;
    r->x = r->lead = x;
    r->y = y;
    r->alone = r->ready = false;
    r->failure = NULL;
    if (x->type->kind == DOME_KIND_STRUCT || (what != NUMBERS && is_complex(x)) || (what == INTEGERS && !is_integer(x)))
        return dome__fail(r->env, DOME_ERR_TYPE, "not defined for elements of type %s", dome_type_name(x->type));
    if (y) {
        if (x->distribution == DOME_WHOLE)
            r->lead = y;
        int status = dvec__conforms(r->lead, r->lead == x ? y : x, true, true);
        if (status != DOME_OK)
            return status;
    }
    r->alone = r->lead->distribution == DOME_WHOLE || r->env->size == 1;
    return DOME_OK;
}

/* Begins an operation: checks its operands. On failure the operation has ended and `end` need not be called. The recorded work of
 * the operands is run together with the first for_blocks, or by `prepare`; after that r->failure may be a failure of this task
 * alone. y is NULL except for products of two vectors. */
static dome_status begin(reduction *r, dome_operation_code code, const dvec *x, const dvec *y, bool two, accepts what)
{
    if (!x || (two && !y))
        return dvec__null(code, "a vector");
    dome__begin(&r->op, x->env, code, x->object, dvec__id(y));
    dome_status status = take(r, x, y, what);
    return status == DOME_OK ? status : dome__end(&r->op, status);
}

static void find_failure(reduction *r)
{
    r->failure = dome__failure_first(dome__eval_failure(r->x), r->y ? dome__eval_failure(r->y) : NULL);
    r->ready = true;
}

/* Runs the recorded work of the operands, if that has not been done. */
static void prepare(reduction *r)
{
    if (r->ready)
        return;
    dome__eval_read(r->env, r->x);
    if (r->y)
        dome__eval_read(r->env, r->y);
    find_failure(r);
}

static dome_status end(reduction *r, dome_status status)
{
    prepare(r);
    dome__count_bytes(&r->op, r->lead->local * (DVEC_ELEMENT(r->x) + (r->y ? DVEC_ELEMENT(r->y) : 0)));
    return dome__end(&r->op, status);
}

/* Reports this task's failure when no other task takes part. */
static int fail_alone(const reduction *r)
{
    return dome__failure_report(r->env, r->failure);
}

/* Reports the failure after an exchange in which some task has stated that it has one. */
static int fail_together(const reduction *r)
{
    return dome__failure_agree(r->env, r->failure);
}

/* Calls visit for the local blocks of the lead, in the order of its spans. terms, sums: what visit computes (eval.h). */
static void for_blocks(reduction *r, dome_eval_visit visit, void *ctx, dome_terms terms, dome_exact_sum *sums)
{
    dome_eval_reduction what = {r->lead, r->x, r->y, visit, ctx, terms, sums};
    dome__eval_reduce(r->env, &what);
    find_failure(r);
}

/* ---- sums ---- */

typedef struct sum_visit {
    dome_sum_kernel kernel;
    double scale[2];
    dome_exact_sum *sums;
} sum_visit;

static void visit_sum(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first)
{
    (void)first;
    sum_visit *v = ctx;
    v->kernel(x, y, values, block, v->scale, v->sums);
}

/* Stores the exact sum of this task's terms, or two of complex elements; returns the number. */
static size_t sum_own(reduction *r, dome_terms terms, const double scale[2], dome_exact_sum sums[2])
{
    const size_t parts = is_complex(r->x) ? 2 : 1;
    sum_visit v = {.kernel = dome__sum_kernel(terms, r->x->type), .sums = sums};
    if (scale)
        memcpy(v.scale, scale, sizeof v.scale);
    if (terms == DOME_TERMS_SUM && dvec__mapped_sums(r->x, sums)) {
        find_failure(r);
    } else {
        for (size_t k = 0; k < parts; k++)
            dome__exact_init(&sums[k]);
        for_blocks(r, visit_sum, &v, terms, sums);
    }
    for (size_t k = 0; k < parts; k++)
        dome__exact_shorten(&sums[k]);
    return parts;
}

int dvec__sum_part(const dvec *x, const dvec *y, dome_terms terms, dome_exact_sum sums[2], dvec_part *part)
{
    reduction r = {.env = x->env};
    int status = take(&r, x, y, NUMBERS);
    if (status != DOME_OK)
        return status;
    sum_own(&r, terms, NULL, sums);
    *part = (dvec_part){r.alone, r.failure};
    dome__count_bytes(x->env->operation, r.lead->local * (DVEC_ELEMENT(x) + (y ? DVEC_ELEMENT(y) : 0)));
    return status;
}

/* Stores the exact sum of all tasks' terms, or two of complex elements. */
static int sum_up(reduction *r, dome_terms terms, const double scale[2], dome_exact_sum sums[2])
{
    /* one additional word says whether a task has failed */
    struct {
        int64_t failed;
        dome_exact_sum sums[2];
    } all;
    const size_t parts = sum_own(r, terms, scale, all.sums);
    int status = DOME_OK;
    if (r->alone) {
        status = fail_alone(r);
    } else {
        all.failed = r->failure != NULL;
        status = dome__allreduce(r->env->transport, DOME_I64, &all, 1 + parts * DOME_EXACT_WORDS, dome__combine_sum_i64, NULL);
        if (status != DOME_OK)
            return dome__fail_transport(r->env, status);
        if (all.failed)
            return fail_together(r);
        for (size_t k = 0; k < parts; k++)
            dome__exact_shorten(&all.sums[k]);
    }
    memcpy(sums, all.sums, parts * sizeof *sums);
    return status;
}

/* ---- sums of few blocks: these travel as they are, each given by the task that has the block ---- */

enum { FEW_BLOCKS = 16 };

/* The sums of blocks, by the blocks' numbers. */
typedef struct few_sums {
    dome_parts_kernel parts;
    uint64_t element;
    double *sums;
} few_sums;

static void visit_few(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first)
{
    const few_sums *v = ctx;
    double *sum = v->sums + first / block;
    for (uint64_t done = 0; done < values; done += block) {
        double part[DOME_PARTS] = {0};
        const uint64_t offset = done * v->element;
        v->parts((const char *)x + offset, y ? (const char *)y + offset : NULL, MIN(block, values - done), part);
        *sum++ = dome__fold_parts(part);
    }
}

/* The same for blocks of one value, whose sums are their terms. */
static void visit_values(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first)
{
    const few_sums *v = ctx;
    double *restrict sum = v->sums + first;
    (void)block;
    if (v->element == sizeof(double))
        for (uint64_t k = 0; k < values; k++)
            sum[k] = y ? DOME_ROUNDED(((const double *)x)[k] * ((const double *)y)[k]) : ((const double *)x)[k];
    else
        for (uint64_t k = 0; k < values; k++)
            sum[k] = ((const float *)x)[k] * (y ? (double)((const float *)y)[k] : 1.0);
}

/* Whether the sum may be taken so; the same on all tasks. */
static bool has_few_blocks(const reduction *r)
{
    return dome_layout_blocks(r->lead->layout) <= FEW_BLOCKS && is_kind(r->x, DOME_KIND_F32, DOME_KIND_F64);
}

static int sum_few(reduction *r, dome_terms terms, double *sum)
{
    const uint64_t blocks = dome_layout_blocks(r->lead->layout);
    struct {
        int64_t failed; /* a task has */
        double sums[FEW_BLOCKS];
    } all;
    memset(&all, 0, sizeof(double) * (1 + blocks));
    few_sums v = {.element = r->x->type->size, .sums = all.sums};
    const bool values = r->lead->width == 1 && dome_layout_block_size(r->lead->layout) == 1;
    if (!values)
        v.parts = dome__parts_kernel(terms, r->x->type);
    for_blocks(r, values ? visit_values : visit_few, &v, DOME_TERMS, NULL);
    if (r->alone) {
        *sum = dome__exact_total(all.sums, blocks);
        return fail_alone(r);
    }
    all.failed = r->failure != NULL;
    dome__account_set_begun(&r->env->transport->account, r->op.start_ns);
    int status = dome__allreduce(r->env->transport, DOME_I64, &all, 1 + blocks, dome__combine_sum_i64, NULL);
    dome__account_set_begun(&r->env->transport->account, 0);
    if (status != DOME_OK)
        return dome__fail_transport(r->env, status);
    *sum = dome__exact_total(all.sums, blocks);
    return all.failed ? fail_together(r) : DOME_OK;
}

/* The clock has been read at the end of the exchange, and there was nothing to do since. */
static dome_status end_few(reduction *r, dome_status status)
{
    dome__count_bytes(&r->op, r->lead->local * (DVEC_ELEMENT(r->x) + (r->y ? DVEC_ELEMENT(r->y) : 0)));
    return dome__end_at(&r->op, status, r->alone ? 0 : r->env->transport->account.now);
}

static double sum_f64(dome_operation_code code, dome_terms terms, const dvec *x, const dvec *y, bool two)
{
    reduction r;
    dome_exact_sum sums[2];
    double sum = NAN;
    if (begin(&r, code, x, y, two, REALS) != DOME_OK)
        return NAN;
    if (has_few_blocks(&r))
        return end_few(&r, sum_few(&r, terms, &sum)) == DOME_OK ? sum : NAN;
    int status = end(&r, sum_up(&r, terms, NULL, sums));
    return status == DOME_OK ? dome__exact_round(&sums[0]) : NAN;
}

static int64_t sum_i64(dome_operation_code code, dome_terms terms, const dvec *x, const dvec *y, bool two)
{
    reduction r;
    dome_exact_sum sums[2];
    int64_t value = 0;
    if (begin(&r, code, x, y, two, INTEGERS) != DOME_OK)
        return 0;
    int status = sum_up(&r, terms, NULL, sums);
    if (status == DOME_OK && !dome__exact_i64(&sums[0], &value))
        status =
            dome__fail(r.env, DOME_ERR_RANGE, "the result, about %.17g, does not fit into 64 bits", dome__exact_round(&sums[0]));
    end(&r, status);
    return value;
}

static int sum_c128(dome_operation_code code, dome_terms terms, const dvec *x, const dvec *y, bool two, double result[2])
{
    reduction r;
    dome_exact_sum sums[2];
    if (result)
        result[0] = result[1] = NAN;
    int status = begin(&r, code, x, y, two, NUMBERS);
    if (status != DOME_OK)
        return status;
    if (!result)
        return end(&r, dome__fail(r.env, DOME_ERR_ARGUMENT, "there is no place for the result"));
    status = sum_up(&r, terms, NULL, sums);
    if (status == DOME_OK) {
        result[0] = dome__exact_round(&sums[0]);
        result[1] = is_complex(x) ? dome__exact_round(&sums[1]) : 0;
    }
    return end(&r, status);
}

/* Computes this task's exact sum of every reduction, then those of all tasks; the last word says whether a task has failed. */
static int sum_up_together(reduction r[], size_t n, double result[])
{
    dome_env *env = r[0].env;
    int64_t *word = g_new0(int64_t, n * DOME_EXACT_WORDS + 1);
    dome_failure *failure = NULL;
    int status = DOME_OK;
    for (size_t k = 0; k < n; k++) {
        const dome_terms terms = r[k].y ? DOME_TERMS_DOT : DOME_TERMS_SUM;
        dome_exact_sum sum;
        sum_visit v = {.kernel = dome__sum_kernel(terms, r[k].x->type), .sums = &sum};
        dome__exact_init(&sum);
        for_blocks(&r[k], visit_sum, &v, terms, &sum);
        dome__exact_shorten(&sum);
        if (!r[k].alone || env->rank == 0) /* data that every task has counts once */
            memcpy(word + k * DOME_EXACT_WORDS, &sum, sizeof sum);
        failure = dome__failure_first(failure, r[k].failure);
    }
    word[n * DOME_EXACT_WORDS] = failure != NULL;
    if (env->size > 1) {
        status = dome__allreduce(env->transport, DOME_I64, word, n * DOME_EXACT_WORDS + 1, dome__combine_sum_i64, NULL);
        if (status != DOME_OK)
            status = dome__fail_transport(env, status);
        else if (word[n * DOME_EXACT_WORDS])
            status = dome__failure_agree(env, failure);
    } else {
        status = dome__failure_report(env, failure);
    }
    for (size_t k = 0; k < n && status == DOME_OK; k++) {
        dome_exact_sum sum;
        memcpy(&sum, word + k * DOME_EXACT_WORDS, sizeof sum);
        dome__exact_shorten(&sum);
        result[k] = dome__exact_round(&sum);
    }
    g_free(word);
    return status;
}

dome_status dvec_dots(size_t n, const dvec *const x[], const dvec *const y[], double result[])
{
    DOME_NEEDS(n > 0 && x && x[0], "n is 0, or a vector", DOME_ERR_ARGUMENT);
    dome_env *env = x[0]->env;
    if (n > DVEC_LIST_MOST)
        return dvec__refuse_list(env, DOME_OP_DVEC_DOTS, x[0]->object, n);
    uint64_t *words = g_new(uint64_t, 1 + 2 * n);
    words[0] = n;
    for (size_t k = 0; k < n; k++) {
        words[1 + 2 * k] = dvec__id(x[k]);
        words[2 + 2 * k] = y ? dvec__id(y[k]) : 0;
    }
    dome_operation op;
    dome__begin_with(&op, env, DOME_OP_DVEC_DOTS, x[0]->object, words, 1 + 2 * n);
    g_free(words);
    int status = result ? DOME_OK : dome__fail(env, DOME_ERR_ARGUMENT, "there is no place for the results");
    for (size_t k = 0; k < n && status == DOME_OK; k++) {
        result[k] = NAN;
        if (!x[k] || x[k]->env != env)
            status = dome__fail(env, DOME_ERR_ARGUMENT, "vector number %zu is NULL or belongs to another environment", k);
    }
    reduction *r = g_new0(reduction, n);
    for (size_t k = 0; k < n && status == DOME_OK; k++)
        status = take(&r[k], x[k], y ? y[k] : NULL, REALS);
    if (status == DOME_OK)
        status = sum_up_together(r, n, result);
    for (size_t k = 0; k < n; k++)
        if (r[k].ready)
            dome__count_bytes(&op, r[k].lead->local * (DVEC_ELEMENT(r[k].x) + (r[k].y ? DVEC_ELEMENT(r[k].y) : 0)));
    g_free(r);
    return dome__end(&op, status);
}

double dvec_sum(const dvec *x)
{
    return sum_f64(DOME_OP_DVEC_SUM, DOME_TERMS_SUM, x, NULL, false);
}

double dvec_dot(const dvec *x, const dvec *y)
{
    return sum_f64(DOME_OP_DVEC_DOT, DOME_TERMS_DOT, x, y, true);
}

int64_t dvec_sum_i64(const dvec *x)
{
    return sum_i64(DOME_OP_DVEC_SUM_I64, DOME_TERMS_SUM, x, NULL, false);
}

int64_t dvec_dot_i64(const dvec *x, const dvec *y)
{
    return sum_i64(DOME_OP_DVEC_DOT_I64, DOME_TERMS_DOT, x, y, true);
}

dome_status dvec_sum_c128(const dvec *x, double result[2])
{
    return sum_c128(DOME_OP_DVEC_SUM_C128, DOME_TERMS_SUM, x, NULL, false, result);
}

dome_status dvec_dot_c128(const dvec *x, const dvec *y, double result[2])
{
    return sum_c128(DOME_OP_DVEC_DOT_C128, DOME_TERMS_DOT, x, y, true, result);
}

/* ---- the Euclidean norm ---- */

typedef struct largest_visit {
    dome_type type;
    double value;
} largest_visit;

static void visit_largest(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first)
{
    (void)y, (void)block, (void)first;
    largest_visit *v = ctx;
    v->value = MAX(v->value, dome__largest_part(v->type, x, values));
}

/* The norm of a vector whose sum of squares overflows or has lost digits to underflow: the values are scaled by the exponent of
 * the largest part. All tasks decide for this by the same sum. */
static int norm_scaled(reduction *r, double *norm)
{
    largest_visit v = {r->x->type, 0};
    for_blocks(r, visit_largest, &v, DOME_TERMS, NULL);
    if (!r->alone) {
        uint64_t bits; /* not negative, so the bits are in the order of the values */
        memcpy(&bits, &v.value, sizeof bits);
        int status = dome__allreduce(r->env->transport, DOME_U64, &bits, 1, dome__combine_max_u64, NULL);
        if (status != DOME_OK)
            return dome__fail_transport(r->env, status);
        memcpy(&v.value, &bits, sizeof bits);
    }
    *norm = v.value;
    if (v.value == 0 || isinf(v.value))
        return DOME_OK;

    int exponent;
    frexp(v.value, &exponent);
    /* in two steps, since 2^-exponent alone may not be representable as a double */
    const double scale[2] = {ldexp(1, -(exponent / 2)), ldexp(1, -(exponent - exponent / 2))};
    dome_exact_sum sums[2];
    int status = sum_up(r, DOME_TERMS_SCALED, scale, sums);
    if (status == DOME_OK)
        *norm = ldexp(sqrt(dome__exact_round(&sums[0])), exponent);
    return status;
}

/* Squares below 2^-1022 lose digits; even 2^64 of them do not reach the last digit of a sum above this limit. */
#define SQUARES_TOO_SMALL 0x1p-900

double dvec_norm2(const dvec *x)
{
    reduction r;
    dome_exact_sum sums[2];
    double norm = NAN;
    if (begin(&r, DOME_OP_DVEC_NORM2, x, NULL, false, NUMBERS) != DOME_OK)
        return NAN;
    int status = sum_up(&r, DOME_TERMS_SQUARES, NULL, sums);
    if (status == DOME_OK) {
        double sum = dome__exact_round(&sums[0]);
        if ((sum >= SQUARES_TOO_SMALL && sum < INFINITY) || isnan(sum) || is_integer(x))
            norm = sqrt(sum);
        else
            status = norm_scaled(&r, &norm);
    }
    return end(&r, status) == DOME_OK ? norm : NAN;
}

/* ---- products ---- */

typedef struct products {
    dome_product_kernel kernel;
    uint64_t width;
    bool is_complex;
} products;

static void block_product(void *ctx, uint64_t first, size_t count, void *product, const void *x)
{
    const products *p = ctx;
    double both[2] = {0};
    (void)first;
    p->kernel(x, count * p->width, both);
    memcpy(product, both, p->is_complex ? sizeof both : sizeof *both);
}

static void multiply(void *ctx, void *product, const void *factor)
{
    dome__multiply(((const products *)ctx)->is_complex, product, factor);
}

static int multiply_up(reduction *r, double product[2])
{
    const dvec *x = r->x;
    products p = {dome__product_kernel(x->type), x->width, is_complex(x)};
    const dvec_fold fold = {x, p.is_complex ? DOME_C128 : DOME_F64, block_product, multiply, &p, "the product", false};
    product[0] = 1;
    product[1] = 0;
    int status = dvec__fold(&fold, product);
    find_failure(r);
    return status;
}

double dvec_prod(const dvec *x)
{
    reduction r;
    double product[2];
    if (begin(&r, DOME_OP_DVEC_PROD, x, NULL, false, REALS) != DOME_OK)
        return NAN;
    return end(&r, multiply_up(&r, product)) == DOME_OK ? product[0] : NAN;
}

dome_status dvec_prod_c128(const dvec *x, double result[2])
{
    reduction r;
    double product[2];
    if (result)
        result[0] = result[1] = NAN;
    int status = begin(&r, DOME_OP_DVEC_PROD_C128, x, NULL, false, NUMBERS);
    if (status != DOME_OK)
        return status;
    if (!result)
        return end(&r, dome__fail(r.env, DOME_ERR_ARGUMENT, "there is no place for the result"));
    status = multiply_up(&r, product);
    if (status == DOME_OK)
        memcpy(result, product, sizeof product);
    return end(&r, status);
}

/* ---- the program's own reductions ---- */

/* A reduction without a function for blocks: the values are combined one after the other. */
typedef struct by_value {
    dvec_combine combine;
    void *ctx;
    uint64_t width, size;
} by_value;

static void reduce_values(void *ctx, uint64_t first, size_t count, void *result, const void *x)
{
    const by_value *v = ctx;
    (void)first;
    memcpy(result, x, v->size);
    for (uint64_t k = 1; k < count * v->width; k++)
        v->combine(v->ctx, result, (const char *)x + k * v->size);
}

static void combine_values(void *ctx, void *left, const void *right)
{
    const by_value *v = ctx;
    v->combine(v->ctx, left, right);
}

dome_status dvec_reduce(const dvec *x, dome_type type, dvec_reduce_kernel block, dvec_combine combine, void *ctx, void *result)
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    dome_env *env = x->env;
    dome_operation op;
    dome__begin_with(&op, env, DOME_OP_DVEC_REDUCE, x->object, (uint64_t[]){dome__type_word(env, type), block != NULL}, 2);
    op.program = true;
    by_value values = {combine, ctx, x->width, DVEC_VALUE(x)};
    dvec_fold fold = {x, type ? type : x->type, block, combine, ctx, "combine", env->options.check_reductions};
    int status = DOME_OK;
    if (!combine || !result)
        status =
            dome__fail(env, DOME_ERR_ARGUMENT, "there is no %s", combine ? "place for the result" : "function that combines");
    else if (x->length == 0)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "the vector is empty");
    else if (!block && !dome_type_equal(fold.type, x->type))
        status = dome__fail(env, DOME_ERR_TYPE, "elements of type %s need a function for blocks to give a result of type %s",
                            dome_type_name(x->type), dome_type_name(fold.type));
    if (!block) {
        fold.block = reduce_values;
        fold.combine = combine_values;
        fold.ctx = &values;
    }
    if (status == DOME_OK)
        status = dvec__fold(&fold, result);
    dome__count_bytes(&op, x->local * DVEC_ELEMENT(x));
    return dome__end(&op, status);
}

/* ---- smallest and largest ---- */

typedef struct extreme_visit {
    dome_extreme_kernel kernel;
    uint64_t bytes; /* of a value */
    bool largest;
    dome_extreme best;
} extreme_visit;

/* A kernel that finds a better value looks for its position while the values are in the cache. */
enum { LOOKED_AT = 1024 };

static void visit_extreme(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first)
{
    (void)y, (void)block;
    extreme_visit *v = ctx;
    for (uint64_t done = 0; done < values; done += LOOKED_AT)
        v->kernel(&v->best, (const char *)x + done * v->bytes, MIN(values - done, LOOKED_AT), first + done, v->largest);
}

/* The words of a dome_extreme, and whether a task has failed. */
enum { EXTREME_WORDS = 4 };

static void combine_extremes(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)count, (void)ctx;
    uint64_t *a = inout;
    const uint64_t *b = in;
    dome_extreme best = {a[0], a[1], a[2]}, other = {b[0], b[1], b[2]};
    dome__extreme_merge(&best, &other);
    a[0] = best.key;
    a[1] = best.position;
    a[2] = best.bits;
    a[3] |= b[3];
}

/* Of this task's values. */
static int find_own_extreme(reduction *r, bool largest, dome_extreme *best)
{
    if (r->x->length == 0)
        return dome__fail(r->env, DOME_ERR_ARGUMENT, "the vector is empty");
    extreme_visit v = {dome__extreme_kernel(r->x->type), dome_type_size(r->x->type), largest, DOME_EXTREME_NONE};
    for_blocks(r, visit_extreme, &v, DOME_TERMS, NULL);
    *best = v.best;
    return DOME_OK;
}

int dvec__extreme_part(const dvec *x, bool largest, dome_extreme *best, dvec_part *part)
{
    reduction r = {.env = x->env};
    int status = take(&r, x, NULL, REALS);
    if (status == DOME_OK)
        status = find_own_extreme(&r, largest, best);
    *part = (dvec_part){r.alone, r.failure};
    dome__count_bytes(x->env->operation, x->local * DVEC_ELEMENT(x));
    return status;
}

static int find_extreme(reduction *r, bool largest, dome_extreme *best)
{
    int status = find_own_extreme(r, largest, best);
    if (status != DOME_OK)
        return status;
    if (r->alone)
        return fail_alone(r);

    uint64_t word[EXTREME_WORDS] = {best->key, best->position, best->bits, r->failure != NULL};
    status = dome__allreduce(r->env->transport, DOME_U64, word, EXTREME_WORDS, combine_extremes, NULL);
    if (status != DOME_OK)
        return dome__fail_transport(r->env, status);
    if (word[3])
        return fail_together(r);
    *best = (dome_extreme){word[0], word[1], word[2]};
    return DOME_OK;
}

static bool is_unsigned(const dvec *x)
{
    return is_kind(x, DOME_KIND_U8, DOME_KIND_U64);
}

static double extreme_f64(dome_operation_code code, const dvec *x, bool largest)
{
    reduction r;
    dome_extreme best;
    if (begin(&r, code, x, NULL, false, REALS) != DOME_OK)
        return NAN;
    if (end(&r, find_extreme(&r, largest, &best)) != DOME_OK)
        return NAN;
    if (is_unsigned(x))
        return (double)best.bits;
    if (is_integer(x))
        return (double)(int64_t)best.bits;
    double value;
    memcpy(&value, &best.bits, sizeof value);
    return isnan(value) ? NAN : value;
}

static int64_t extreme_i64(dome_operation_code code, const dvec *x, bool largest)
{
    reduction r;
    dome_extreme best;
    if (begin(&r, code, x, NULL, false, INTEGERS) != DOME_OK)
        return 0;
    int status = find_extreme(&r, largest, &best);
    if (status == DOME_OK && is_unsigned(x) && best.bits > INT64_MAX)
        status = dome__fail(r.env, DOME_ERR_RANGE, "the result, %" G_GUINT64_FORMAT ", does not fit into an int64_t", best.bits);
    return end(&r, status) == DOME_OK ? (int64_t)best.bits : 0;
}

static dome_status extreme_position(dome_operation_code code, const dvec *x, bool largest, uint64_t *position)
{
    reduction r;
    dome_extreme best;
    if (!position)
        return dvec__null(code, "the place for the position");
    if (x && dome_type_kind_of(x->type) == DOME_KIND_STRUCT) {
        *position = UINT64_MAX;
        return dvec__struct_extreme(code, x, largest, position, NULL);
    }
    int status = begin(&r, code, x, NULL, false, REALS);
    if (status == DOME_OK)
        status = end(&r, find_extreme(&r, largest, &best));
    *position = status == DOME_OK ? best.position : UINT64_MAX;
    return status;
}

double dvec_min_value(const dvec *x)
{
    return extreme_f64(DOME_OP_DVEC_MIN_VALUE, x, false);
}

double dvec_max_value(const dvec *x)
{
    return extreme_f64(DOME_OP_DVEC_MAX_VALUE, x, true);
}

int64_t dvec_min_value_i64(const dvec *x)
{
    return extreme_i64(DOME_OP_DVEC_MIN_VALUE_I64, x, false);
}

int64_t dvec_max_value_i64(const dvec *x)
{
    return extreme_i64(DOME_OP_DVEC_MAX_VALUE_I64, x, true);
}

dome_status dvec_argmin(const dvec *x, uint64_t *position)
{
    return extreme_position(DOME_OP_DVEC_ARGMIN, x, false, position);
}

dome_status dvec_argmax(const dvec *x, uint64_t *position)
{
    return extreme_position(DOME_OP_DVEC_ARGMAX, x, true, position);
}
