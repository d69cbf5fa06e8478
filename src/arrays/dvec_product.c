/* Products of matrices whose rows are the elements of vectors.
 *
 * BLAS may round a row differently with other rows beside it, so it gets one block at a time: which rows these are follows from
 * the length of the vector, not from the layout. */
#include "arrays/dvec_exchange.h"
#include "core/storage.h"
#include "kernels/blas.h"
#include "kernels/exact_sum.h"
#include "system/unconst.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <dome/arrays.h>
#include <math.h>
#include <string.h>

/* Whether all tasks have a BLAS, and of the same kind: else none uses it, since which task computes a block must not matter. All
 * tasks fail unless each is ready: has the memory that it needs. */
static int agree_on_blas(const dvec *a, bool ready, bool *by_blas)
{
    dome_env *env = a->env;
    const char *name = dome__blas_name();
    const uint64_t mine = name ? dome__hash_bytes(0, name, strlen(name)) : 0;
    uint64_t words[3] = {mine, ~mine, !ready};
    int status = DOME_OK;
    if (env->size > 1)
        status = dome__allreduce(env->transport, DOME_U64, words, 3, dome__combine_max_u64, NULL);
    *by_blas = name && words[0] == ~words[1];
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    return words[2] ? dvec__agree_memory(a, ready, "a block of rows") : DOME_OK;
}

static int check_matrix(const dvec *a)
{
    if (a->type != DOME_F32 && a->type != DOME_F64)
        return dome__fail(a->env, DOME_ERR_TYPE, "'%s' has type %s, but matrices are of type f32 or f64", dvec_name(a),
                          dome_type_name(a->type));
    return DOME_OK;
}

/* ---- C = A B ---- */

static int check_factors(const dvec *c, const dvec *a, const dvec *b)
{
    dome_env *env = c->env;
    if (!a || !b)
        return dome__fail(env, DOME_ERR_ARGUMENT, "an operand is NULL");
    if (c == a || c == b)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s' is also an operand", dvec_name(c));
    int status = check_matrix(a);
    if (status == DOME_OK)
        status = dvec__conforms(c, a, true, false);
    if (status == DOME_OK && b->type != a->type)
        status = dome__fail(env, DOME_ERR_TYPE, "'%s' has type %s, but '%s' %s", dvec_name(b), dome_type_name(b->type),
                            dvec_name(a), dome_type_name(a->type));
    if (status == DOME_OK && b->length != a->width)
        status = dome__fail(env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT " elements",
                            dvec_name(a), a->width, dvec_name(b), b->length);
    if (status == DOME_OK && c->width != b->width)
        status = dome__fail(env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT,
                            dvec_name(c), c->width, dvec_name(b), b->width);
    return status == DOME_OK ? dvec__settle(a, b) : status;
}

/* The second factor, which every task holds.
 *
 * With a vector some BLAS kernels add in another order where rows do not begin at a multiple of 16 bytes. How a block lies in
 * memory depends on the layout, so such a block is copied. */
typedef struct factor {
    dome_type type;
    uint64_t inner, columns;
    const void *b;
    bool by_blas;
    void *room; /* of dome__storage: for a block; NULL: blocks are used where they lie */
} factor;

static void multiply_rows(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    enum { ALIGNED = 16 };
    const factor *f = ctx;
    const void *a = in[0];
    (void)first;
    if (f->by_blas && f->room && (uintptr_t)a % ALIGNED != 0)
        a = memcpy(f->room, a, (size_t)(count * f->inner) * dome_type_size(f->type));
    dome__multiply(f->type, f->by_blas, count, f->inner, f->columns, a, f->b, out);
}

/* Makes room for a block, if blocks may have to be copied. False without memory. */
static bool make_room(factor *f, const dvec *a, const dvec *b)
{
    const uint64_t rows = MIN(dome_layout_block_size(a->layout), a->length);
    if (b->width > 1 || rows == 0 || !dome__blas_name())
        return true;
    f->room = dome__storage_raw(rows * DVEC_ELEMENT(a), NULL);
    return f->room;
}

dome_status dvec_matmul(dvec *c, const dvec *a, const dvec *b)
{
    DOME_NEEDS(c, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    factor f = {.type = c->type};
    dome__begin_with(&op, c->env, DOME_OP_DVEC_MATMUL, c->object, (uint64_t[]){dvec__id(a), dvec__id(b)}, 2);
    int status = check_factors(c, a, b);
    if (status == DOME_OK)
        status = agree_on_blas(a, make_room(&f, a, b), &f.by_blas);
    if (status == DOME_OK) {
        f.inner = a->width;
        f.columns = b->width;
        f.b = dvec_allgather(b);
        status = f.b ? DOME_OK : (int)dome_error_status(c->env);
    }
    if (status == DOME_OK) {
        const int threads = dome__blas_begin();
        dvec__renew(c);
        status = dvec_map(c, multiply_rows, &f, 1, (dvec *const[]){dome__unconst(a)}); /* which only reads it */
        dome__blas_end(threads);
    }
    dome__storage_free(f.room);
    return dome__end(&op, status);
}

/* ---- A^T B ----
 *
 * Each block's product is computed as a whole, and those of all blocks are added exactly. */

/* Exact sums are large, so some rows of the result are computed at a time: as many as have this many values. */
enum { VALUES_AT_A_TIME = 1 << 14 };

typedef struct transposed {
    const dvec *a, *b;
    const dvec *lead; /* the one whose layout says which rows are this task's */
    bool by_blas;
    uint64_t first, count;       /* rows of the result that are computed now: columns of A */
    dome_exact_sum *sums;        /* of their values */
    double *part;                /* of one block */
    double *a_values, *b_values; /* the values of a block in double precision; NULL where they have it already */
} transposed;

static const double *in_double(const dvec *x, uint64_t at, uint64_t rows, double *room)
{
    const void *from = x->data + at * DVEC_ELEMENT(x);
    if (!room)
        return from;
    for (uint64_t i = 0; i < rows * x->width; i++)
        room[i] = (double)((const float *)from)[i];
    return room;
}

/* Adds the products of this task's blocks to the sums. */
static void add_blocks(const transposed *t)
{
    const uint64_t block = dome_layout_block_size(t->lead->layout), columns = t->b->width;
    dvec_span spans[2];
    uint64_t place = 0;
    dvec__spans(t->lead, spans);
    for (int s = 0; s < 2; place += spans[s++].count)
        for (uint64_t done = 0, rows; done < spans[s].count; done += rows) {
            const uint64_t here = place + done, index = spans[s].first + done;
            rows = MIN(block, spans[s].count - done);
            const double *a = in_double(t->a, t->a->distribution == t->lead->distribution ? here : index, rows, t->a_values);
            const double *b = in_double(t->b, t->b->distribution == t->lead->distribution ? here : index, rows, t->b_values);
            dome__multiply_transposed(t->by_blas, rows, t->count, columns, a + t->first, t->a->width, b, t->part);
            for (uint64_t k = 0; k < t->count * columns; k++)
                dome__exact_add(&t->sums[k], t->part[k]);
        }
}

/* Computes `count` rows of the result. */
static int multiply_some(const transposed *t, bool alone, double *result)
{
    const uint64_t values = t->count * t->b->width;
    dome_env *env = t->lead->env;
    for (uint64_t k = 0; k < values; k++)
        dome__exact_init(&t->sums[k]);
    add_blocks(t);
    for (uint64_t k = 0; k < values; k++)
        dome__exact_shorten(&t->sums[k]);
    int status = DOME_OK;
    if (!alone)
        status = dome__allreduce(env->transport, DOME_I64, t->sums, values * DOME_EXACT_WORDS, dome__combine_sum_i64, NULL);
    for (uint64_t k = 0; k < values && status == DOME_OK; k++) {
        dome__exact_normalize(&t->sums[k]);
        result[k] = dome__exact_round(&t->sums[k]);
    }
    return status == DOME_OK ? DOME_OK : dome__fail_transport(env, status);
}

static int multiply_all(transposed *t, double *result)
{
    const dvec *a = t->a, *b = t->b, *lead = t->lead;
    const bool alone = lead->distribution == DOME_WHOLE || lead->env->size == 1, single = a->type == DOME_F32;
    const uint64_t most = CLAMP(VALUES_AT_A_TIME / b->width, 1, a->width), rows = dome_layout_block_size(lead->layout);
    t->sums = dvec__try_array(most * b->width, sizeof *t->sums);
    t->part = dvec__try_array(most * b->width, sizeof *t->part);
    t->a_values = single ? dvec__try_array(MIN(rows, lead->length) * a->width, sizeof(double)) : NULL;
    t->b_values = single ? dvec__try_array(MIN(rows, lead->length) * b->width, sizeof(double)) : NULL;
    int status = dvec__agree_memory(lead, t->sums && t->part && (!single || (t->a_values && t->b_values)), "the sums of blocks");
    const int threads = dome__blas_begin();
    for (; t->first < a->width && status == DOME_OK; t->first += t->count) {
        t->count = MIN(most, a->width - t->first);
        status = multiply_some(t, alone, result + t->first * b->width);
    }
    dome__blas_end(threads);
    g_free(t->sums);
    g_free(t->part);
    g_free(t->a_values);
    g_free(t->b_values);
    return status;
}

static int check_transposed(const transposed *t, const double *result)
{
    dome_env *env = t->a->env;
    if (!t->b)
        return dome__fail(env, DOME_ERR_ARGUMENT, "an operand is NULL");
    if (!result)
        return dome__fail(env, DOME_ERR_ARGUMENT, "there is no place for the result");
    int status = check_matrix(t->a);
    if (status == DOME_OK)
        status = dvec__conforms(t->lead, t->lead == t->a ? t->b : t->a, true, false);
    if (status == DOME_OK && t->a->width > PTRDIFF_MAX / sizeof(dome_exact_sum) / t->b->width)
        status = dome__fail(env, DOME_ERR_MEMORY, "%" G_GUINT64_FORMAT " times %" G_GUINT64_FORMAT " results are too many",
                            t->a->width, t->b->width);
    return status == DOME_OK ? dvec__settle(t->a, t->b) : status;
}

dome_status dvec_transpose_matmul(const dvec *a, const dvec *b, double result[])
{
    DOME_NEEDS(a, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    transposed t = {.a = a, .b = b, .lead = a->distribution == DOME_WHOLE && b ? b : a};
    dome__begin(&op, a->env, DOME_OP_DVEC_TRANSPOSE_MATMUL, a->object, dvec__id(b));
    int status = check_transposed(&t, result);
    for (uint64_t k = 0; status == DOME_OK && k < a->width * b->width; k++)
        result[k] = NAN;
    if (status == DOME_OK)
        status = agree_on_blas(a, true, &t.by_blas);
    if (status == DOME_OK) {
        status = multiply_all(&t, result);
        dome__count_bytes(&op, t.lead->local * (DVEC_ELEMENT(a) + DVEC_ELEMENT(b)));
    }
    for (uint64_t i = 0; a == b && status == DOME_OK && i < a->width; i++) /* BLAS may round the two halves differently */
        for (uint64_t j = 0; j < i; j++)
            result[i * a->width + j] = result[j * a->width + i];
    return dome__end(&op, status);
}
