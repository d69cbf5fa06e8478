/* y = A^T x, where each product goes to the task that owns its element of y. */
#include "sparse/dsparse_transposed_product.h"

#include "core/layout.h"
#include "transport/agree.h"
#include "transport/ahead.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

/* Rows of which a transposed product takes the entries in one step: blocks of this task, or products that another one has sent.
 */
typedef struct turn {
    uint64_t row; /* the first one */
    bool own;
    uint64_t from, end;
} turn;

struct dsparse_by_entries {
    dsparse_plan *plan;
    turn *turns; /* by rows */
    uint64_t nturns;
};

void dsparse__by_entries_free(dsparse_by_entries *way)
{
    if (way->plan)
        dsparse__plan_free(way->plan);
    g_free(way->turns);
    g_free(way);
}

/* Entries of columns that other tasks own, up to each block and in all. */
static uint64_t count_far(const dsparse *a, const own_part *own, uint64_t blocks)
{
    uint64_t count = 0;
    for (uint64_t b = 0; b < blocks; b++)
        for (uint64_t k = 0, entries = dsparse__block_entries(&a->block[b]); k < entries; k++)
            count += !dvec__is_own(own, a->block[b].column[k]);
    return count;
}

static void list_far(const dsparse *a, const own_part *own, uint64_t *indices)
{
    for (uint64_t b = 0; b < a->blocks; b++)
        for (uint64_t k = 0, entries = dsparse__block_entries(&a->block[b]); k < entries; k++)
            if (!dvec__is_own(own, a->block[b].column[k]))
                *indices++ = a->block[b].column[k];
}

/* How many of a rank's blocks are in the first span of its rows. */
static uint64_t first_blocks(const dsparse *a, int rank)
{
    dome_span ranges[2];
    dome__layout_block_ranges(a->layout, rank, ranges);
    return ranges[0].count;
}

static int by_row(const void *x, const void *y)
{
    const turn *a = x, *b = y;
    return (a->row > b->row) - (a->row < b->row);
}

/* The order in which entries are taken is that of their rows, as in a row of the transpose. A task whose rows pass the end of the
 * matrix tells how many of the products that it sends belong to its first span. far: of this task's first span. */
static dome_status order_turns(dsparse_by_entries *way, const dsparse_plan *plan, const dsparse *a, uint64_t far)
{
    const int size = a->env->size, rank = a->env->rank;
    const dvec_exchange *m = &plan->exchange;
    uint64_t *firsts = g_new0(uint64_t, (gsize)size), *in_firsts = g_new0(uint64_t, (gsize)size), from = 0, in_from = 0;
    for (int r = 0; r < size; from += m->counts[r++])
        for (uint64_t k = from; k < from + m->counts[r]; k++)
            firsts[r] += m->order[k] < far;
    int failed = dome__alltoall(a->env->transport, DOME_U64, firsts, 1, in_firsts);
    way->turns = g_new0(turn, 2 * (gsize)size);
    for (int r = 0; r < size && !failed; in_from += m->in_counts[r++]) {
        dome_span spans[2];
        const int nspans = dome_layout_spans(a->layout, r, spans);
        const uint64_t middle = r == rank ? first_blocks(a, r) : in_from + in_firsts[r];
        const uint64_t ends[3] = {r == rank ? 0 : in_from, middle, r == rank ? a->blocks : in_from + m->in_counts[r]};
        for (int s = 0; s < nspans; s++)
            if (ends[s + 1] > ends[s])
                way->turns[way->nturns++] = (turn){spans[s].first, r == rank, ends[s], ends[s + 1]};
    }
    qsort(way->turns, (size_t)way->nturns, sizeof *way->turns, by_row);
    g_free(firsts);
    g_free(in_firsts);
    return failed ? dome__fail_transport(a->env, failed) : DOME_OK;
}

static dome_status check_far(const dsparse *a, const dsparse_plan *plan, uint64_t far)
{
    char *text = NULL;
    if (plan->own > UINT32_MAX - MIN(far, UINT32_MAX))
        text = g_strdup_printf("a task has %" G_GUINT64_FORMAT
                               " entries in columns of others, too many to send their products, and no other way is possible",
                               far);
    dome_status status = dvec__agree(a->env, text ? DOME_ERR_RANGE : DOME_OK, text);
    g_free(text);
    return status;
}

static dome_status make(dsparse_by_entries *way, dsparse *a, const dvec *y)
{
    const own_part own = dvec__own_part(y);
    dsparse_plan *plan = dsparse__plan_new(a, y);
    const uint64_t far = count_far(a, &own, a->blocks);
    uint64_t *indices = dvec__try_array(far, sizeof *indices), *which = dvec__try_array(far, sizeof *which);
    dome_status status = check_far(a, plan, far);
    if (status == DOME_OK)
        status = dsparse__plan_memory(a, plan->block && indices && which);
    if (status == DOME_OK) {
        list_far(a, &own, indices);
        status = dsparse__plan_ask(plan, y, far, indices, which);
    }
    if (status == DOME_OK)
        status = order_turns(way, plan, a, count_far(a, &own, first_blocks(a, a->env->rank)));
    if (status == DOME_OK)
        status = dsparse__plan_memory(a, dsparse__plan_places(plan, a, NULL, &own, which));
    g_free(indices);
    g_free(which);
    return dsparse__plan_keep(&way->plan, plan, status);
}

dome_status dsparse__by_entries_new(dsparse *a, const dvec *y, dsparse_by_entries **made)
{
    dsparse_by_entries *way = g_new0(dsparse_by_entries, 1);
    dome_status status = make(way, a, y);
    if (status == DOME_OK)
        *made = way;
    else
        dsparse__by_entries_free(way);
    return status;
}

/* ---- the transposed product ---- */

/* Takes blocks from ... end - 1 of this task: adds the products of entries that have an element of `at` to y, or puts the others
 * where they leave from. */
static void turn_blocks(const dsparse_product *p, uint64_t from, uint64_t end, bool far)
{
    const uint64_t element = p->size * p->width;
    const char *x = p->x;
    for (uint64_t k = 0; k < end; x += p->a->block[k++].rows * element) {
        const dsparse_block *b = &p->a->block[k];
        const dsparse_block_plan whole = {0}, *plan = p->plan ? &p->plan->block[k] : &whole;
        if (k < from || !b->start)
            continue;
        dome__ahead_poll(p->a->env->transport);
        if (!far)
            p->loops->scatter(b, p->y, x, plan, p->own, p->width);
        else if (plan->at)
            p->loops->products(b, p->plan->exchange.elements, x, plan, p->own, p->width);
    }
}

/* The partners are the same in every product: only finding them changes the plan. */
static dome_status exchange_and_turn(const dsparse_product *p, const dsparse_by_entries *way, dome_env *env)
{
    dvec_exchange *m = &way->plan->exchange;
    turn_blocks(p, 0, p->a->blocks, true);
    int status = dvec__exchange_begin(m, env, p->a->type, p->width, m->elements, false);
    uint64_t done = 0;
    while (status == DOME_OK && done < way->nturns && way->turns[done].own) { /* while the products of others arrive */
        turn_blocks(p, way->turns[done].from, way->turns[done].end, false);
        done++;
    }
    if (status == DOME_OK)
        status = dvec__exchange_finish(m, env, p->a->type, p->width, m->in_elements, false);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    for (; done < way->nturns; done++) {
        const turn *t = &way->turns[done];
        if (t->own)
            turn_blocks(p, t->from, t->end, false);
        else
            p->loops->add(p->y, m->in_elements + t->from * p->size * p->width, m->in_items + t->from, t->end - t->from, p->width);
    }
    return DOME_OK;
}

static void clear(dvec *y)
{
    if (y->local > 0)
        memset(y->data, 0, (size_t)(y->local * DVEC_ELEMENT(y)));
}

dome_status dsparse__by_entries(const dsparse_by_entries *way, dvec *y, const dsparse *a, const dvec *x)
{
    const dsparse_product p = dsparse__product(a, y, x, y, way->plan);
    clear(y);
    return exchange_and_turn(&p, way, a->env);
}

void dsparse__turn_alone(dvec *y, const dsparse *a, const dvec *x)
{
    const dsparse_product p = dsparse__product(a, y, x, y, NULL);
    clear(y);
    turn_blocks(&p, 0, a->blocks, false);
}
