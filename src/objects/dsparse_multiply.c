/* Products of sparse matrices with vectors, and the plan of what to fetch for them. */
#include "objects/dsparse_private.h"
#include "objects/dvec_mail.h"

#include "core/layout.h"
#include "transport/agree.h"
#include "transport/ahead.h"
#include "transport/transport.h"

#include <string.h>

/* How a block finds its elements of x. If its columns lie in one span of this task's part, column c is at position c - shift of
 * this part (modulo 2^64); else `at` has a number for each entry: a position in this task's part, or the length of that plus a
 * position among the elements fetched. */
typedef struct block_plan {
    uint32_t *at;
    uint64_t shift;
} block_plan;

/* What a product needs to know of the places of x's elements. It holds for the matrix's entries and these layouts. */
struct dsparse_plan {
    dome_layout *rows, *columns; /* own references */
    dome_distribution distribution;
    uint64_t width;
    uint64_t blocks, own; /* blocks of the matrix and elements of x that this task has */
    block_plan *block;
    dvec_mail mail; /* elements that are fetched, from whom; in_items: positions of those that others need */
};

static void plan_free(dsparse_plan *plan)
{
    for (uint64_t k = 0; plan->block && k < plan->blocks; k++)
        g_free(plan->block[k].at);
    g_free(plan->block);
    dvec__mail_clear(&plan->mail);
    dome_layout_unref(plan->rows);
    dome_layout_unref(plan->columns);
    g_free(plan);
}

void dsparse__plan_forget(dsparse *a)
{
    g_clear_pointer(&a->plan, plan_free);
}

static bool same_layout(const dome_layout *a, const dome_layout *b)
{
    return a == b || dome_layout_equal(a, b);
}

/* Whether the plan holds for this product. All tasks find the same: layouts are the same on all tasks, and all tasks change and
 * move a matrix together. */
static bool plan_holds(const dsparse_plan *plan, const dsparse *a, const dvec *x)
{
    return plan && plan->width == x->width && plan->distribution == x->distribution && same_layout(plan->columns, x->layout) &&
           same_layout(plan->rows, a->layout);
}

/* ---- making a plan ---- */

/* The columns whose elements this task must fetch: a bit for each column, and the number of bits before each word. */
typedef struct needed {
    uint64_t *bits;
    uint32_t *before;
    uint64_t words, count;
} needed;

static uint64_t needed_number(const needed *n, uint64_t column)
{
    return n->before[column / 64] + (uint64_t)__builtin_popcountll(n->bits[column / 64] & ((UINT64_C(1) << column % 64) - 1));
}

/* Marks the columns of other tasks. Without memory bits or before is NULL. */
static void find_needed(needed *n, const dsparse *a, const own_part *own)
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

/* Tells the owners which elements this task needs. indices, which: room for n->count numbers. */
static dome_status ask(dsparse_plan *plan, const needed *n, const dvec *x, uint64_t *indices, uint64_t *which)
{
    dvec_mail *m = &plan->mail;
    for (uint64_t w = 0, at = 0; w < n->words; w++)
        for (uint64_t bits = n->bits[w]; bits; bits &= bits - 1, at++) {
            indices[at] = 64 * w + (uint64_t)__builtin_ctzll(bits);
            which[at] = at;
        }
    dome_status status = dvec__mail_open(m, x, indices, which, n->count, 1);
    for (uint64_t k = 0; status == DOME_OK && k < m->total; k++)
        m->items[k] = indices[m->order[k]];
    if (status == DOME_OK)
        status = dvec__mail_send(m, x->env, DOME_U64, 1, m->items, m->in_items, false);
    for (uint64_t k = 0; status == DOME_OK && k < m->in_total; k++)
        m->in_items[k] = dome_layout_position(x->layout, x->layout_rank, m->in_items[k]);
    for (uint64_t k = 0; status == DOME_OK && k < m->total; k++)
        which[m->order[k]] = k; /* from now on the place of a needed column among those fetched */
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

/* Finds for all entries where their elements of x lie. False without memory. */
static bool place_entries(dsparse_plan *plan, const dsparse *a, const needed *n, const own_part *own, const uint64_t *place)
{
    for (uint64_t b = 0; b < a->blocks; b++) {
        const dsparse_block *block = &a->block[b];
        uint64_t entries = dsparse__block_entries(block);
        if (in_one_span(block, own, &plan->block[b].shift))
            continue;
        uint32_t *at = plan->block[b].at = g_try_new(uint32_t, (gsize)entries);
        if (!at)
            return false;
        for (uint64_t k = 0; k < entries; k++) {
            uint64_t column = block->column[k];
            at[k] = (uint32_t)(dvec__is_own(own, column) ? dvec__own_place(own, column)
                                                         : plan->own + place[needed_number(n, column)]);
        }
    }
    return true;
}

static dome_status agree_memory(const dsparse *a, bool have)
{
    char *text = have ? NULL : g_strdup_printf("no memory for the product of '%s' with a vector", dsparse_name(a));
    dome_status status = dvec__agree(a->env, have ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    return status;
}

static dome_status make_plan(dsparse *a, const dvec *x)
{
    const own_part own = dvec__own_part(x);
    needed n = {0};
    dsparse__plan_forget(a);
    dsparse_plan *plan = g_new0(dsparse_plan, 1);
    *plan = (dsparse_plan){.rows = dome_layout_ref(a->layout),
                           .columns = dome_layout_ref(x->layout),
                           .distribution = x->distribution,
                           .width = x->width,
                           .blocks = a->blocks,
                           .own = x->local,
                           .block = g_try_new0(block_plan, (gsize)a->blocks + 1)};
    find_needed(&n, a, &own);
    uint64_t *indices = g_try_new(uint64_t, (gsize)n.count + 1), *which = g_try_new(uint64_t, (gsize)n.count + 1);
    dome_status status = agree_memory(a, plan->block && n.bits && n.before && indices && which);
    if (status == DOME_OK)
        status = ask(plan, &n, x, indices, which);
    if (status == DOME_OK)
        status = agree_memory(a, place_entries(plan, a, &n, &own, which));
    g_free(n.bits);
    g_free(n.before);
    g_free(indices);
    g_free(which);
    g_clear_pointer(&plan->mail.items, g_free);
    g_clear_pointer(&plan->mail.order, g_free);
    if (status == DOME_OK)
        a->plan = plan;
    else
        plan_free(plan);
    return status;
}

/* ---- the product ---- */

/* y = rows of b times x, whose element for column 0 would lie at x. */
static void multiply_near(const dsparse_block *b, double *restrict y, const double *restrict x)
{
    const double *restrict value = b->value;
    const uint32_t *restrict column = b->column, *restrict start = b->start;
    size_t k = 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        double sum = 0;
        for (size_t end = start[i + 1]; k < end; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}

/* The address of x's element number -shift, which may lie outside of x, so it is computed as a number. Columns can then be used
 * as they are. */
static const double *column_zero(const double *x, uint64_t shift)
{
    return (const double *)((uintptr_t)x - (uintptr_t)(shift * sizeof *x));
}

/* The same where entry k is x[at[k]], or, from `own` on, among the elements fetched. */
static void multiply_far(const dsparse_block *b, double *restrict y, const double *x, const double *fetched, const uint32_t *at,
                         uint64_t own)
{
    const double *restrict value = b->value;
    const uint32_t *restrict start = b->start;
    const double *const base[2] = {x, column_zero(fetched, own)}; /* a table, as a branch could not be predicted */
    size_t k = 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        double sum = 0;
        for (size_t end = start[i + 1]; k < end; k++)
            sum += value[k] * base[at[k] >= own][at[k]];
        y[i] = sum;
    }
}

/* The same for several vectors at once; at: NULL, or as in multiply_far. */
static void multiply_wide(const dsparse_block *b, double *y, const double *x, const double *fetched, const block_plan *plan,
                          uint64_t own, uint64_t width)
{
    for (uint32_t i = 0; i < b->rows; i++, y += width) {
        memset(y, 0, (size_t)width * sizeof *y);
        for (uint32_t k = b->start[i]; k < b->start[i + 1]; k++) {
            uint64_t place = plan->at ? plan->at[k] : b->column[k] - plan->shift;
            const double *from = place < own ? x + place * width : fetched + (place - own) * width;
            for (uint64_t j = 0; j < width; j++)
                y[j] += b->value[k] * from[j];
        }
    }
}

typedef struct product {
    const dsparse *a;
    const double *x;
    double *y;
    uint64_t width, own;
    const dsparse_plan *plan; /* NULL: this task has all of x, in order */
} product;

/* Computes the blocks that need elements of `at`, or the others. */
static void multiply_blocks(const product *p, bool far)
{
    double *y = p->y;
    const double *fetched = p->plan ? (const double *)(const void *)p->plan->mail.elements : NULL;
    for (uint64_t k = 0; k < p->a->blocks; y += p->a->block[k++].rows * p->width) {
        const dsparse_block *b = &p->a->block[k];
        const block_plan whole = {0}, *plan = p->plan ? &p->plan->block[k] : &whole;
        dome__ahead_look(p->a->env->transport);
        if ((plan->at != NULL) != far)
            continue;
        if (!b->start)
            memset(y, 0, (size_t)(b->rows * p->width) * sizeof *y);
        else if (p->width != 1)
            multiply_wide(b, y, p->x, fetched, plan, p->own, p->width);
        else if (plan->at)
            multiply_far(b, y, p->x, fetched, plan->at, p->own);
        else
            multiply_near(b, y, column_zero(p->x, plan->shift));
    }
}

/* Collects the elements that others need, sends them, and computes while those that this task needs arrive. */
static dome_status exchange_and_multiply(const product *p, dsparse_plan *plan, dome_env *env)
{
    dvec_mail *m = &plan->mail;
    double *out = (double *)(void *)m->in_elements;
    uint64_t width = p->width;
    if (width == 1)
        for (uint64_t k = 0; k < m->in_total; k++)
            out[k] = p->x[m->in_items[k]];
    else
        for (uint64_t k = 0; k < m->in_total; k++)
            memcpy(out + k * width, p->x + m->in_items[k] * width, (size_t)width * sizeof *out);
    int status = dvec__mail_begin(m, env, DOME_F64, width, out, true);
    if (status == DOME_OK) {
        multiply_blocks(p, false);
        status = dvec__mail_finish(m, env, DOME_F64, width, m->elements, true);
    }
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    multiply_blocks(p, true);
    return DOME_OK;
}

static dome_status check_vector(const dsparse *a, const dvec *v, uint64_t length, const char *what)
{
    dome_env *env = a->env;
    if (v->env != env)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(v));
    if (v->type != DOME_F64)
        return dome__fail(env, DOME_ERR_TYPE, "'%s' has type %s, but the matrix has f64", dvec_name(v), dome_type_name(v->type));
    if (v->length != length)
        return dome__fail(env, DOME_ERR_SHAPE,
                          "'%s' has %" G_GUINT64_FORMAT " elements, but the matrix has %" G_GUINT64_FORMAT " %s", dvec_name(v),
                          v->length, length, what);
    return DOME_OK;
}

dome_status dsparse__check_by_row(const dsparse *a, const dvec *y)
{
    dome_status status = check_vector(a, y, a->rows, "rows");
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

static dome_status check(const dvec *y, const dsparse *a, const dvec *x)
{
    if (!y || !x)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "a vector is NULL");
    if (y == x)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "'%s' is both the vector to multiply and the result", dvec_name(x));
    dome_status status = dsparse__check_by_row(a, y);
    if (status == DOME_OK)
        status = check_vector(a, x, a->columns, "columns");
    if (status == DOME_OK && x->width != y->width)
        status = dome__fail(a->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT,
                            dvec_name(x), x->width, dvec_name(y), y->width);
    return status;
}

/* Whether this task alone can do the product: it has all of x, in order. The same on all tasks. */
static bool all_here(const dvec *x)
{
    uint64_t start = 0;
    if (x->distribution != DOME_WHOLE && x->env->size == 1)
        dome_layout_run(x->layout, 0, &start);
    return x->distribution == DOME_WHOLE || (x->env->size == 1 && start == 0);
}

dome_status dsparse_multiply(dvec *y, dsparse *a, const dvec *x)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_MULTIPLY, a->object, (uint64_t[]){dvec__id(y), dvec__id(x)}, 2);
    dome_status status = check(y, a, x);
    if (status == DOME_OK)
        status = dvec__settle_read(x);
    bool near = status == DOME_OK && all_here(x);
    if (status == DOME_OK && !near && !plan_holds(a->plan, a, x))
        status = make_plan(a, x);
    if (status == DOME_OK) {
        dvec__complete(y);
        product p = {.a = a, .x = (const double *)(const void *)x->data, .y = (double *)(void *)y->data, .width = x->width};
        p.own = near ? x->length : a->plan->own;
        p.plan = near ? NULL : a->plan;
        if (near)
            multiply_blocks(&p, false);
        else
            status = exchange_and_multiply(&p, a->plan, a->env);
        dvec__overwritten(y);
    }
    return dome__end(&op, status);
}
