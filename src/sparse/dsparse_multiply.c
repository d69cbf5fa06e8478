/* Products of sparse matrices with vectors. */
#include "sparse/dsparse_product.h"

#include "core/layout.h"
#include "transport/agree.h"
#include "transport/ahead.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <string.h>

/* The memory in which the elements of other tasks arrive. */
static char *fetched_of(const dsparse_plan *plan, uint64_t size)
{
    return plan->joined ? plan->joined + plan->own * plan->width * size : plan->exchange.elements;
}

/* Computes a block by the joined array, where entry k needs element at[k]. */
static void multiply_joined(const dsparse_product *p, const dsparse_block *b, void *y, uint32_t *at)
{
    dsparse_block joined = *b;
    joined.column = at;
    joined.scattered = true;
    p->loops->near(&joined, y, p->plan->joined);
}

/* Computes the blocks that are far, or the others. */
static void multiply_blocks(const dsparse_product *p, bool far)
{
    char *y = p->y;
    const char *fetched = p->plan ? fetched_of(p->plan, p->size) : NULL;
    const uint64_t element = p->size * p->width;
    for (uint64_t k = 0; k < p->a->blocks; y += p->a->block[k++].rows * element) {
        const dsparse_block *b = &p->a->block[k];
        const dsparse_block_plan whole = {0}, *plan = p->plan ? &p->plan->block[k] : &whole;
        dome__ahead_poll(p->a->env->transport);
        if (plan->far != far)
            continue;
        if (!b->start)
            memset(y, 0, (size_t)(b->rows * element));
        else if (far && p->plan->whole && p->width != 1)
            p->loops->wide(b, y, p->plan->joined, NULL, &whole, UINT64_MAX, p->width);
        else if (far && p->plan->whole)
            p->loops->near(b, y, p->plan->joined);
        else if (p->width != 1)
            p->loops->wide(b, y, p->x, fetched, plan, p->own, p->width);
        else if (far && p->plan->joined)
            multiply_joined(p, b, y, plan->at);
        else if (far)
            p->loops->far(b, y, p->x, fetched, plan->at, p->own);
        else
            p->loops->near(b, y, dsparse__column_zero(p->x, plan->shift, p->size));
    }
}

/* An element of 8 bytes of any type. */
typedef uint64_t __attribute__((may_alias)) eight_bytes;

/* Sends the elements that others need: those collected, or this task's whole part. */
static int send_elements(const dsparse_product *p, const dsparse_plan *plan, dome_env *env)
{
    const dvec_exchange *m = &plan->exchange;
    const uint64_t element = p->size * p->width;
    const own_part *own = &plan->own_part;
    int status = DOME_OK;
    for (int k = 0; k < m->npartners && status == DOME_OK; k++) {
        const dvec_partner *to = &m->partners[k];
        const uint64_t *item = m->in_items + to->in_at;
        char *elements = m->in_elements + to->in_at * element;
        if (plan->sends_whole[to->rank]) {
            for (uint64_t s = 0, done = 0; s < 2 && status == DOME_OK; done += own->span[s++].count)
                if (own->span[s].count > 0)
                    status = dome__begin_send(env->transport, to->rank, DOME_CHANNEL_DATA, p->a->type, p->x + done * element,
                                              own->span[s].count * p->width);
            continue;
        }
        if (element == sizeof(eight_bytes))
            for (uint64_t i = 0; i < to->in_count; i++)
                ((eight_bytes *)(void *)elements)[i] = ((const eight_bytes *)(const void *)p->x)[item[i]];
        else
            for (uint64_t i = 0; i < to->in_count; i++)
                memcpy(elements + i * element, p->x + item[i] * element, (size_t)element);
        if (to->in_count > 0)
            status = dome__begin_send(env->transport, to->rank, DOME_CHANNEL_DATA, p->a->type, elements, to->in_count * p->width);
    }
    return status;
}

/* Receives elements into the joined array, or where they are fetched. */
static int receive_elements(const dsparse_product *p, const dsparse_plan *plan, dome_env *env, const dvec *x)
{
    const dvec_exchange *m = &plan->exchange;
    const uint64_t element = p->size * p->width;
    int status = DOME_OK;
    for (int k = m->npartners; k-- > 0 && status == DOME_OK;) {
        const dvec_partner *from = &m->partners[k];
        char *fetched = (plan->whole ? m->elements : fetched_of(plan, p->size)) + from->at * element;
        dome_span spans[2];
        if (plan->takes_whole[from->rank]) {
            const int nspans = dome_layout_spans(x->layout, from->rank, spans);
            for (int s = 0; s < nspans && status == DOME_OK; s++)
                status = dome__recv(env->transport, from->rank, DOME_CHANNEL_DATA, p->a->type,
                                    plan->joined + spans[s].first * element, spans[s].count * p->width);
            continue;
        }
        if (from->count > 0)
            status = dome__recv(env->transport, from->rank, DOME_CHANNEL_DATA, p->a->type, fetched, from->count * p->width);
        for (uint64_t i = 0; plan->whole && i < from->count; i++)
            memcpy(plan->joined + plan->arrived[from->at + i] * element, fetched + i * element, (size_t)element);
    }
    return status;
}

/* Waits until what has been sent has been taken, after a failure as well: the receivers read x itself, which the program can
 * change when the call has returned. */
static void end_sends(const dvec_exchange *m, dome_env *env)
{
    for (int k = 0; k < m->npartners; k++)
        dome__end_send(env->transport, m->partners[k].rank);
}

/* Copies this task's elements into the joined array. */
static void join_own(const dsparse_product *p, const dsparse_plan *plan)
{
    const uint64_t element = p->size * p->width;
    const dome_span *span = plan->own_part.span;
    uint64_t done = 0;
    for (int s = 0; plan->joined && s < 2; done += span[s++].count)
        if (span[s].count > 0)
            memcpy(plan->joined + (plan->whole ? span[s].first : done) * element, p->x + done * element,
                   (size_t)(span[s].count * element));
}

/* Sends the elements that others need, and computes while those that this task needs arrive. */
static dome_status exchange_and_multiply(const dsparse_product *p, dsparse_plan *plan, dome_env *env, const dvec *x)
{
    dvec__exchange_find_partners(&plan->exchange, env);
    int status = send_elements(p, plan, env);
    if (status == DOME_OK) {
        multiply_blocks(p, false);
        join_own(p, plan);
        status = receive_elements(p, plan, env, x);
    }
    end_sends(&plan->exchange, env);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    multiply_blocks(p, true);
    return DOME_OK;
}

/* ---- checks ---- */

dome_status dsparse__check_vector(const dsparse *a, const dvec *v, uint64_t length, const char *what)
{
    dome_env *env = a->env;
    if (v->env != env)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(v));
    if (v->type != a->type)
        return dome__fail(env, DOME_ERR_TYPE, "'%s' has type %s, but the matrix has %s", dvec_name(v), dome_type_name(v->type),
                          dome_type_name(a->type));
    if (v->length != length)
        return dome__fail(env, DOME_ERR_SHAPE,
                          "'%s' has %" G_GUINT64_FORMAT " elements, but the matrix has %" G_GUINT64_FORMAT " %s", dvec_name(v),
                          v->length, length, what);
    return DOME_OK;
}

dome_status dsparse__check_by_row(const dsparse *a, const dvec *y)
{
    dome_status status = dsparse__check_vector(a, y, a->rows, "rows");
    if (status == DOME_OK && y->distribution != DOME_DYNAMIC)
        status = dome__fail(a->env, DOME_ERR_LAYOUT, "'%s' is %s, but the rows are DOME_DYNAMIC", dvec_name(y),
                            dome__distribution_name(y->distribution));
    uint64_t yblock = dome_layout_block_size(y->layout), block = dome_layout_block_size(a->layout);
    if (status == DOME_OK && yblock != block)
        status = dome__fail(a->env, DOME_ERR_SHAPE,
                            "'%s' has blocks of %" G_GUINT64_FORMAT " elements, but the rows have blocks of %" G_GUINT64_FORMAT,
                            dvec_name(y), yblock, block);
    return status;
}

dome_status dsparse__check_product(const dvec *y, const dsparse *a, const dvec *x, const dvec *by_rows, const dvec *by_columns)
{
    if (!y || !x)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "a vector is NULL");
    if (y == x)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "'%s' is both the vector to multiply and the result", dvec_name(x));
    dome_status status = dsparse__check_by_row(a, by_rows);
    if (status == DOME_OK)
        status = dsparse__check_vector(a, by_columns, a->columns, "columns");
    if (status == DOME_OK && x->width != y->width)
        status = dome__fail(a->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT,
                            dvec_name(x), x->width, dvec_name(y), y->width);
    return status;
}

bool dsparse__all_here(const dvec *v)
{
    uint64_t start = 0;
    if (v->distribution != DOME_WHOLE && v->env->size == 1)
        dome_layout_run(v->layout, 0, &start);
    return v->distribution == DOME_WHOLE || (v->env->size == 1 && start == 0);
}

dome_status dsparse__multiply(dvec *y, dsparse *a, const dvec *x)
{
    const bool near = dsparse__all_here(x);
    dome_status status = near || dsparse__plan_holds(a->plan, a, x) ? DOME_OK : dsparse__plan_make(a, x);
    if (status != DOME_OK)
        return status;
    dvec__renew(y);
    const dsparse_product p = dsparse__product(a, y, x, x, near ? NULL : a->plan);
    if (near)
        multiply_blocks(&p, false);
    else
        status = exchange_and_multiply(&p, a->plan, a->env, x);
    dvec__overwritten(y);
    return status;
}

dome_status dsparse_multiply(dvec *y, dsparse *a, const dvec *x)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_MULTIPLY, a->object, (uint64_t[]){dvec__id(y), dvec__id(x)}, 2);
    dome_status status = dsparse__check_product(y, a, x, y, x);
    if (status == DOME_OK)
        status = dvec__settle_read(x);
    if (status == DOME_OK)
        status = dsparse__multiply(y, a, x);
    return dome__end(&op, status);
}
