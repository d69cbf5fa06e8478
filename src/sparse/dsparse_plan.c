/* The plans of what to exchange for products of sparse matrices. */
#include "sparse/dsparse_product.h"

#include "core/layout.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <string.h>

void dsparse__plan_free(dsparse_plan *plan)
{
    g_free(plan->block);
    g_free(plan->arrived);
    g_free(plan->sends_whole);
    g_free(plan->takes_whole);
    dome__storage_free(plan->places);
    dome__storage_free(plan->joined);
    dvec__exchange_clear(&plan->exchange);
    dome_layout_unref(plan->rows);
    dome_layout_unref(plan->columns);
    g_free(plan);
}

bool dsparse__same_layout(const dome_layout *a, const dome_layout *b)
{
    return a == b || dome_layout_equal(a, b);
}

bool dsparse__plan_holds(const dsparse_plan *plan, const dsparse *a, const dvec *v)
{
    return plan && plan->width == v->width && plan->distribution == v->distribution &&
           dsparse__same_layout(plan->columns, v->layout) && dsparse__same_layout(plan->rows, a->layout);
}

/* ---- making a plan ---- */

static uint64_t needed_number(const dsparse_needed *n, uint64_t column)
{
    return n->before[column / 64] + (uint64_t)__builtin_popcountll(n->bits[column / 64] & ((UINT64_C(1) << column % 64) - 1));
}

/* Marks the columns of other tasks. Without memory bits or before is NULL. */
static void find_needed(dsparse_needed *n, const dsparse *a, const own_part *own)
{
    n->words = a->columns / 64 + 1;
    n->bits = g_try_malloc0_n((gsize)n->words, sizeof *n->bits);
    n->before = g_try_malloc_n((gsize)n->words, sizeof *n->before);
    if (!n->bits || !n->before)
        return;
    for (uint64_t b = 0; b < a->blocks; b++) {
        const dsparse_block *block = &a->block[b];
        for (uint64_t k = 0, entries = dsparse__block_entries(block); k < entries; k++)
            if (!dvec__is_own(own, block->column[k]))
                n->bits[block->column[k] / 64] |= UINT64_C(1) << block->column[k] % 64;
    }
    for (uint64_t w = 0; w < n->words; w++) {
        n->before[w] = (uint32_t)n->count;
        n->count += (uint64_t)__builtin_popcountll(n->bits[w]);
    }
}

static void list_needed(const dsparse_needed *n, uint64_t *indices)
{
    for (uint64_t w = 0, at = 0; w < n->words; w++)
        for (uint64_t bits = n->bits[w]; bits; bits &= bits - 1, at++)
            indices[at] = 64 * w + (uint64_t)__builtin_ctzll(bits);
}

dome_status dsparse__plan_ask(dsparse_plan *plan, const dvec *v, uint64_t count, const uint64_t *indices, uint64_t *which)
{
    dvec_exchange *m = &plan->exchange;
    for (uint64_t k = 0; k < count; k++)
        which[k] = k;
    dome_status status = dvec__exchange_open(m, v, indices, which, count, 1);
    for (uint64_t k = 0; status == DOME_OK && k < m->total; k++)
        m->items[k] = indices[m->order[k]];
    if (status == DOME_OK)
        status = dvec__exchange_send(m, v->env, DOME_U64, 1, m->items, m->in_items, false);
    for (uint64_t k = 0; status == DOME_OK && k < m->in_total; k++)
        m->in_items[k] = dome_layout_position(v->layout, v->layout_rank, m->in_items[k]);
    for (uint64_t k = 0; status == DOME_OK && k < m->total; k++)
        which[m->order[k]] = k;
    return status;
}

/* Whether all columns of a block lie in one span; sets the shift. */
static bool in_one_span(const dsparse_block *b, const own_part *own, uint64_t *shift)
{
    uint64_t least = UINT64_MAX, most = 0, before = 0;
    for (uint64_t k = 0, entries = dsparse__block_entries(b); k < entries; k++) {
        least = MIN(least, b->column[k]);
        most = MAX(most, b->column[k]);
    }
    for (int s = 0; s < 2; s++) {
        *shift = own->span[s].first - before;
        if (least > most || (least >= own->span[s].first && most - own->span[s].first < own->span[s].count))
            return true;
        before += own->span[s].count;
    }
    return false;
}

/* Finds the blocks that are far. Returns how many entries these have. */
static uint64_t find_far(dsparse_plan *plan, const dsparse *a, const own_part *own)
{
    uint64_t entries = 0;
    for (uint64_t b = 0; b < a->blocks; b++) {
        plan->block[b].far = !in_one_span(&a->block[b], own, &plan->block[b].shift);
        entries += plan->block[b].far ? dsparse__block_entries(&a->block[b]) : 0;
    }
    return entries;
}

bool dsparse__plan_places(dsparse_plan *plan, const dsparse *a, const dsparse_needed *n, const own_part *own,
                          const uint64_t *place)
{
    const uint64_t total = find_far(plan, a, own);
    if (total == 0)
        return true;
    uint32_t *at = total < PTRDIFF_MAX / 8 ? dome__storage_raw((total + DSPARSE_AHEAD) * sizeof *at, NULL) : NULL;
    plan->places = at;
    if (!at)
        return false;
    memset(at + total, 0, DSPARSE_AHEAD * sizeof *at);
    for (uint64_t b = 0; b < a->blocks; b++) {
        const dsparse_block *block = &a->block[b];
        const uint64_t entries = dsparse__block_entries(block);
        if (!plan->block[b].far)
            continue;
        plan->block[b].at = at;
        at += entries;
        for (uint64_t k = 0; k < entries; k++) {
            uint64_t column = block->column[k];
            if (dvec__is_own(own, column))
                plan->block[b].at[k] = (uint32_t)dvec__own_place(own, column);
            else
                plan->block[b].at[k] = (uint32_t)(plan->own + (n ? place[needed_number(n, column)] : *place++));
        }
    }
    return true;
}

dome_status dsparse__plan_memory(const dsparse *a, bool have)
{
    char *text = have ? NULL : g_strdup_printf("no memory for the product of '%s' with a vector", dsparse__label(a));
    dome_status status = dvec__agree(a->env, have ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    return status;
}

dsparse_plan *dsparse__plan_new(const dsparse *a, const dvec *v)
{
    dsparse_plan *plan = g_new0(dsparse_plan, 1);
    *plan = (dsparse_plan){.rows = dome_layout_ref(a->layout),
                           .columns = dome_layout_ref(v->layout),
                           .distribution = v->distribution,
                           .width = v->width,
                           .blocks = a->blocks,
                           .own = v->local,
                           .own_part = dvec__own_part(v),
                           .block = g_try_new0(dsparse_block_plan, (gsize)a->blocks + 1)};
    return plan;
}

dome_status dsparse__plan_keep(dsparse_plan **kept, dsparse_plan *plan, dome_status status)
{
    g_clear_pointer(&plan->exchange.items, g_free);
    g_clear_pointer(&plan->exchange.order, g_free);
    if (status == DOME_OK)
        *kept = plan;
    else
        dsparse__plan_free(plan);
    return status;
}

/* Whether most blocks need elements of others: then one array of all is faster, although this task's are copied for each product.
 */
static bool most_are_far(const dsparse_plan *plan)
{
    uint64_t far = 0;
    for (uint64_t k = 0; k < plan->blocks; k++)
        far += plan->block[k].far;
    return far > plan->blocks / 2;
}

static void join(dsparse_plan *plan, const dvec *x)
{
    const uint64_t elements = plan->own + plan->exchange.total, size = DVEC_ELEMENT(x);
    if (most_are_far(plan) && elements < PTRDIFF_MAX / MAX(size, 1))
        plan->joined = dome__storage_raw(elements * size, NULL);
}

/* Makes room for all of x, if this task needs most of what it does not own. */
static void join_whole(dsparse_plan *plan, const dsparse *a, const dvec *x, const dsparse_needed *n, const own_part *own)
{
    const uint64_t size = DVEC_ELEMENT(x), others = a->columns - plan->own;
    find_far(plan, a, own);
    if (n->count <= others / 2 || !most_are_far(plan) || a->columns > PTRDIFF_MAX / MAX(size, 1))
        return;
    plan->joined = dome__storage_raw(a->columns * size, NULL);
    plan->arrived = dvec__try_array(n->count, sizeof *plan->arrived);
    plan->whole = plan->joined && plan->arrived;
    if (!plan->whole) {
        dome__storage_free(plan->joined);
        plan->joined = NULL;
    }
}

/* Tells the tasks whose whole parts are to come, and hears the same. */
static dome_status ask_whole(dsparse_plan *plan, const dvec *x, const uint64_t *indices)
{
    dvec_exchange *m = &plan->exchange;
    const gsize size = (gsize)m->size;
    plan->sends_whole = g_new0(uint64_t, size);
    plan->takes_whole = g_new0(uint64_t, size);
    for (gsize r = 0; r < size && plan->whole; r++)
        plan->takes_whole[r] = m->counts[r] > dome_layout_local(x->layout, (int)r) / 2;
    for (uint64_t k = 0; k < m->total && plan->whole; k++)
        plan->arrived[k] = (uint32_t)indices[m->order[k]];
    int failed = dome__alltoall(x->env->transport, DOME_U64, plan->takes_whole, 1, plan->sends_whole);
    return failed ? dome__fail_transport(x->env, failed) : DOME_OK;
}

static void forget(dsparse *a)
{
    g_clear_pointer(&a->plan, dsparse__plan_free);
}

dome_status dsparse__plan_make(dsparse *a, const dvec *x)
{
    const own_part own = dvec__own_part(x);
    dsparse_needed n = {0};
    forget(a);
    a->forget_plan = forget;
    dsparse_plan *plan = dsparse__plan_new(a, x);
    find_needed(&n, a, &own);
    uint64_t *indices = g_try_new(uint64_t, (gsize)n.count + 1), *which = g_try_new(uint64_t, (gsize)n.count + 1);
    dome_status status = dsparse__plan_memory(a, plan->block && n.bits && n.before && indices && which);
    if (status == DOME_OK) {
        list_needed(&n, indices);
        status = dsparse__plan_ask(plan, x, n.count, indices, which);
    }
    if (status == DOME_OK) {
        join_whole(plan, a, x, &n, &own);
        status = ask_whole(plan, x, indices);
    }
    if (status == DOME_OK)
        status = dsparse__plan_memory(a, plan->whole || dsparse__plan_places(plan, a, &n, &own, which));
    if (status == DOME_OK && !plan->whole)
        join(plan, x);
    g_free(n.bits);
    g_free(n.before);
    g_free(indices);
    g_free(which);
    return dsparse__plan_keep(&a->plan, plan, status);
}
