/* Products of sparse matrices with vectors, and the plans of what to exchange for them. */
#include "objects/dsparse_private.h"
#include "objects/dvec_mail.h"

#include "core/layout.h"
#include "kernels/kernels.h"
#include "transport/agree.h"
#include "transport/ahead.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <string.h>

/* How a block finds its elements of the vector by columns: x, or y of a transposed product. If its columns lie in one span of
 * this task's part, column c is at position c - shift of this part (modulo 2^64). Else the block is far: `at` has a number for
 * each entry, a position in this task's part, or the length of that plus a position among the elements that are exchanged; or, in
 * a plan for whole parts, there is an array in which column c is at position c. */
typedef struct block_plan {
    bool far;
    uint32_t *at;
    uint64_t shift;
} block_plan;

/* Rows of which a transposed product takes the entries in one step: blocks of this task, or products that another one has sent.
 */
typedef struct turn {
    uint64_t row; /* the first one */
    bool own;
    uint64_t from, end;
} turn;

/* What a product needs to know of the places of elements. It holds for the matrix's entries and these layouts. */
struct dsparse_plan {
    dome_layout *rows, *columns; /* own references */
    dome_distribution distribution;
    uint64_t width;
    uint64_t blocks, own; /* blocks of the matrix and elements of the vector by columns that this task has */
    own_part own_part;
    block_plan *block;
    dvec_mail mail; /* x: elements that are fetched, from whom; in_items: positions of those that others need.
                     * y: products that go to others; in_items: positions to which those of others are added */
    void *places;   /* dome__storage of the blocks' `at` */

    /* x, where most blocks need elements of others: storage for this task's elements and then those fetched, or, if it needs most
     * elements of the vector, for all of them in order of columns. Then the tasks of which most are needed send their parts as
     * they are, and the elements of other tasks are put to their places, which `arrived` has. */
    char *joined;
    bool whole;
    uint32_t *arrived;
    uint64_t *sends_whole, *takes_whole; /* by rank: whether this task sends its whole part, and takes the other one's */

    turn *turns; /* of a transposed product, by rows */
    uint64_t nturns;
};

static void plan_free(dsparse_plan *plan)
{
    g_free(plan->block);
    g_free(plan->turns);
    g_free(plan->arrived);
    g_free(plan->sends_whole);
    g_free(plan->takes_whole);
    dome__storage_free(plan->places);
    dome__storage_free(plan->joined);
    dvec__mail_clear(&plan->mail);
    dome_layout_unref(plan->rows);
    dome_layout_unref(plan->columns);
    g_free(plan);
}

void dsparse__plan_forget(dsparse *a)
{
    g_clear_pointer(&a->plan, plan_free);
    g_clear_pointer(&a->transposed, plan_free);
}

static bool same_layout(const dome_layout *a, const dome_layout *b)
{
    return a == b || dome_layout_equal(a, b);
}

/* Whether the plan holds for this product. All tasks find the same: layouts are the same on all tasks, and all tasks change and
 * move a matrix together. */
static bool plan_holds(const dsparse_plan *plan, const dsparse *a, const dvec *v)
{
    return plan && plan->width == v->width && plan->distribution == v->distribution && same_layout(plan->columns, v->layout) &&
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

static void list_needed(const needed *n, uint64_t *indices)
{
    for (uint64_t w = 0, at = 0; w < n->words; w++)
        for (uint64_t bits = n->bits[w]; bits; bits &= bits - 1, at++)
            indices[at] = 64 * w + (uint64_t)__builtin_ctzll(bits);
}

/* Tells the owners of these elements of v which ones are exchanged. Sets which[i] to the place of element i among those
 * exchanged. */
static dome_status ask(dsparse_plan *plan, const dvec *v, uint64_t count, const uint64_t *indices, uint64_t *which)
{
    dvec_mail *m = &plan->mail;
    for (uint64_t k = 0; k < count; k++)
        which[k] = k;
    dome_status status = dvec__mail_open(m, v, indices, which, count, 1);
    for (uint64_t k = 0; status == DOME_OK && k < m->total; k++)
        m->items[k] = indices[m->order[k]];
    if (status == DOME_OK)
        status = dvec__mail_send(m, v->env, DOME_U64, 1, m->items, m->in_items, false);
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

/* Finds for the entries of far blocks where their elements lie: by column, or, with n NULL, entry by entry. False without memory.
 */
static bool place_entries(dsparse_plan *plan, const dsparse *a, const needed *n, const own_part *own, const uint64_t *place)
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

static dome_status agree_memory(const dsparse *a, bool have)
{
    char *text = have ? NULL : g_strdup_printf("no memory for the product of '%s' with a vector", dsparse_name(a));
    dome_status status = dvec__agree(a->env, have ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    return status;
}

static dsparse_plan *new_plan(const dsparse *a, const dvec *v)
{
    dsparse_plan *plan = g_new0(dsparse_plan, 1);
    *plan = (dsparse_plan){.rows = dome_layout_ref(a->layout),
                           .columns = dome_layout_ref(v->layout),
                           .distribution = v->distribution,
                           .width = v->width,
                           .blocks = a->blocks,
                           .own = v->local,
                           .own_part = dvec__own_part(v),
                           .block = g_try_new0(block_plan, (gsize)a->blocks + 1)};
    return plan;
}

/* Keeps a plan that is complete. */
static dome_status keep_plan(dsparse_plan **kept, dsparse_plan *plan, dome_status status)
{
    g_clear_pointer(&plan->mail.items, g_free);
    g_clear_pointer(&plan->mail.order, g_free);
    if (status == DOME_OK)
        *kept = plan;
    else
        plan_free(plan);
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
    const uint64_t elements = plan->own + plan->mail.total, size = DVEC_ELEMENT(x);
    if (most_are_far(plan) && elements < PTRDIFF_MAX / MAX(size, 1))
        plan->joined = dome__storage_raw(elements * size, NULL);
}

/* Makes room for all of x, if this task needs most of what it does not own. */
static void join_whole(dsparse_plan *plan, const dsparse *a, const dvec *x, const needed *n, const own_part *own)
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
    dvec_mail *m = &plan->mail;
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

static dome_status make_plan(dsparse *a, const dvec *x)
{
    const own_part own = dvec__own_part(x);
    needed n = {0};
    g_clear_pointer(&a->plan, plan_free);
    dsparse_plan *plan = new_plan(a, x);
    find_needed(&n, a, &own);
    uint64_t *indices = g_try_new(uint64_t, (gsize)n.count + 1), *which = g_try_new(uint64_t, (gsize)n.count + 1);
    dome_status status = agree_memory(a, plan->block && n.bits && n.before && indices && which);
    if (status == DOME_OK) {
        list_needed(&n, indices);
        status = ask(plan, x, n.count, indices, which);
    }
    if (status == DOME_OK) {
        join_whole(plan, a, x, &n, &own);
        status = ask_whole(plan, x, indices);
    }
    if (status == DOME_OK)
        status = agree_memory(a, plan->whole || place_entries(plan, a, &n, &own, which));
    if (status == DOME_OK && !plan->whole)
        join(plan, x);
    g_free(n.bits);
    g_free(n.before);
    g_free(indices);
    g_free(which);
    return keep_plan(&a->plan, plan, status);
}

/* ---- the plan of a transposed product ---- */

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
 * matrix tells how many of the products it sends are those of its first span. far: of this task's first span. */
static dome_status order_turns(dsparse_plan *plan, const dsparse *a, uint64_t far)
{
    const int size = a->env->size, rank = a->env->rank;
    const dvec_mail *m = &plan->mail;
    uint64_t *firsts = g_new0(uint64_t, (gsize)size), *in_firsts = g_new0(uint64_t, (gsize)size), from = 0, in_from = 0;
    for (int r = 0; r < size; from += m->counts[r++])
        for (uint64_t k = from; k < from + m->counts[r]; k++)
            firsts[r] += m->order[k] < far;
    int failed = dome__alltoall(a->env->transport, DOME_U64, firsts, 1, in_firsts);
    plan->turns = g_new0(turn, 2 * (gsize)size);
    for (int r = 0; r < size && !failed; in_from += m->in_counts[r++]) {
        dome_span spans[2];
        const int nspans = dome_layout_spans(a->layout, r, spans);
        const uint64_t middle = r == rank ? first_blocks(a, r) : in_from + in_firsts[r];
        const uint64_t ends[3] = {r == rank ? 0 : in_from, middle, r == rank ? a->blocks : in_from + m->in_counts[r]};
        for (int s = 0; s < nspans; s++)
            if (ends[s + 1] > ends[s])
                plan->turns[plan->nturns++] = (turn){spans[s].first, r == rank, ends[s], ends[s + 1]};
    }
    qsort(plan->turns, (size_t)plan->nturns, sizeof *plan->turns, by_row);
    g_free(firsts);
    g_free(in_firsts);
    return failed ? dome__fail_transport(a->env, failed) : DOME_OK;
}

static dome_status check_far(const dsparse *a, const dsparse_plan *plan, uint64_t far)
{
    char *text = NULL;
    if (plan->own > UINT32_MAX - MIN(far, UINT32_MAX))
        text = g_strdup_printf("a task has %" G_GUINT64_FORMAT
                               " entries in columns of others, too many to send their products; dsparse_transpose helps",
                               far);
    dome_status status = dvec__agree(a->env, text ? DOME_ERR_RANGE : DOME_OK, text);
    g_free(text);
    return status;
}

static dome_status make_transposed_plan(dsparse *a, const dvec *y)
{
    const own_part own = dvec__own_part(y);
    g_clear_pointer(&a->transposed, plan_free);
    dsparse_plan *plan = new_plan(a, y);
    const uint64_t far = count_far(a, &own, a->blocks);
    uint64_t *indices = dvec__try_array(far, sizeof *indices), *which = dvec__try_array(far, sizeof *which);
    dome_status status = check_far(a, plan, far);
    if (status == DOME_OK)
        status = agree_memory(a, plan->block && indices && which);
    if (status == DOME_OK) {
        list_far(a, &own, indices);
        status = ask(plan, y, far, indices, which);
    }
    if (status == DOME_OK)
        status = order_turns(plan, a, count_far(a, &own, first_blocks(a, a->env->rank)));
    if (status == DOME_OK)
        status = agree_memory(a, place_entries(plan, a, NULL, &own, which));
    g_free(indices);
    g_free(which);
    return keep_plan(&a->transposed, plan, status);
}

/* ---- loops ---- */

/* The address of element number -shift, which may lie outside of the array, so it is computed as a number. Columns can then be
 * used as they are. */
static const void *column_zero(const void *x, uint64_t shift, size_t size)
{
    return (const void *)((uintptr_t)x - (uintptr_t)(shift * size));
}

#define SET_REAL_PRODUCT(z, v, x) ((z) = (v) * (x))
#define ADD_REAL(z, v)            ((z) += (v))
#define SET_COMPLEX_PRODUCT(z, v, x)                                                                                             \
    ((z).re = DOME_ROUNDED((v).re * (x).re) - DOME_ROUNDED((v).im * (x).im),                                                     \
     (z).im = DOME_ROUNDED((v).re * (x).im) + DOME_ROUNDED((v).im * (x).re))
#define ADD_COMPLEX(z, v) ((z).re += (v).re, (z).im += (v).im)

/* Integers are added and multiplied modulo 2^32 or 2^64, with or without a sign. */
#define VALUE       uint32_t
#define NAME(f)     f##_i32
#define SET_PRODUCT SET_REAL_PRODUCT
#define ADD         ADD_REAL
#include "objects/dsparse_loops.h"

#define VALUE       uint64_t
#define NAME(f)     f##_i64
#define SET_PRODUCT SET_REAL_PRODUCT
#define ADD         ADD_REAL
#include "objects/dsparse_loops.h"

#define VALUE       float
#define NAME(f)     f##_f32
#define SET_PRODUCT SET_REAL_PRODUCT
#define ADD         ADD_REAL
#include "objects/dsparse_loops.h"

#define VALUE       double
#define NAME(f)     f##_f64
#define SET_PRODUCT SET_REAL_PRODUCT
#define ADD         ADD_REAL
#include "objects/dsparse_loops.h"

#define VALUE       dsparse_c64
#define NAME(f)     f##_c64
#define SET_PRODUCT SET_COMPLEX_PRODUCT
#define ADD         ADD_COMPLEX
#include "objects/dsparse_loops.h"

#define VALUE       dsparse_c128
#define NAME(f)     f##_c128
#define SET_PRODUCT SET_COMPLEX_PRODUCT
#define ADD         ADD_COMPLEX
#include "objects/dsparse_loops.h"

/* By type; dsparse_loops.h describes them. */
typedef struct loops {
    void (*near)(const dsparse_block *b, void *y, const void *x);
    void (*far)(const dsparse_block *b, void *y, const void *x, const void *fetched, const uint32_t *at, uint64_t own);
    void (*wide)(const dsparse_block *b, void *y, const void *x, const void *fetched, const block_plan *plan, uint64_t own,
                 uint64_t width);
    void (*scatter)(const dsparse_block *b, void *y, const void *x, const block_plan *plan, uint64_t own, uint64_t width);
    void (*products)(const dsparse_block *b, void *to, const void *x, const block_plan *plan, uint64_t own, uint64_t width);
    void (*add)(void *y, const void *products, const uint64_t *place, uint64_t count, uint64_t width);
} loops;

static const loops *loops_of(const dsparse *a)
{
#define LOOPS(s)                                                                                                                 \
    {                                                                                                                            \
        near_##s, far_##s, wide_##s, scatter_##s, products_##s, add_##s                                                          \
    }
    static const loops i32 = LOOPS(i32), i64 = LOOPS(i64), f32 = LOOPS(f32), f64 = LOOPS(f64), c64 = LOOPS(c64),
                       c128 = LOOPS(c128);
#undef LOOPS
    switch ((int)a->kind) {
    case DOME_KIND_I32:
        return &i32;
    case DOME_KIND_I64:
        return &i64;
    case DOME_KIND_F32:
        return &f32;
    case DOME_KIND_C64:
        return &c64;
    case DOME_KIND_C128:
        return &c128;
    default:
        return &f64;
    }
}

/* ---- the product ---- */

typedef struct product {
    const dsparse *a;
    const loops *loops;
    const char *x;
    char *y;
    uint64_t size, width; /* size: of a value */
    uint64_t own;
    const dsparse_plan *plan; /* NULL: this task has all of the vector by columns, in order */
} product;

static product product_of(const dsparse *a, dvec *y, const dvec *x, const dvec *by_columns, const dsparse_plan *plan)
{
    return (product){.a = a,
                     .loops = loops_of(a),
                     .x = x->data,
                     .y = y->data,
                     .size = dome_type_size(a->type),
                     .width = x->width,
                     .own = plan ? plan->own : by_columns->length,
                     .plan = plan};
}

/* Where the elements of other tasks arrive. */
static char *fetched_of(const dsparse_plan *plan, uint64_t size)
{
    return plan->joined ? plan->joined + plan->own * plan->width * size : plan->mail.elements;
}

/* Computes a block by the joined array, where entry k needs element at[k]. */
static void multiply_joined(const product *p, const dsparse_block *b, void *y, uint32_t *at)
{
    dsparse_block joined = *b;
    joined.column = at;
    joined.scattered = true;
    p->loops->near(&joined, y, p->plan->joined);
}

/* Computes the blocks that are far, or the others. */
static void multiply_blocks(const product *p, bool far)
{
    char *y = p->y;
    const char *fetched = p->plan ? fetched_of(p->plan, p->size) : NULL;
    const uint64_t element = p->size * p->width;
    for (uint64_t k = 0; k < p->a->blocks; y += p->a->block[k++].rows * element) {
        const dsparse_block *b = &p->a->block[k];
        const block_plan whole = {0}, *plan = p->plan ? &p->plan->block[k] : &whole;
        dome__ahead_look(p->a->env->transport);
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
            p->loops->near(b, y, column_zero(p->x, plan->shift, p->size));
    }
}

/* An element of 8 bytes of any type. */
typedef uint64_t __attribute__((may_alias)) eight_bytes;

/* Sends the elements that others need: those collected, or this task's whole part. */
static int send_elements(const product *p, const dsparse_plan *plan, dome_env *env)
{
    const dvec_mail *m = &plan->mail;
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
static int receive_elements(const product *p, const dsparse_plan *plan, dome_env *env, const dvec *x)
{
    const dvec_mail *m = &plan->mail;
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
static void end_sends(const dvec_mail *m, dome_env *env)
{
    for (int k = 0; k < m->npartners; k++)
        dome__end_send(env->transport, m->partners[k].rank);
}

/* Copies this task's elements into the joined array. */
static void join_own(const product *p, const dsparse_plan *plan)
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
static dome_status exchange_and_multiply(const product *p, dsparse_plan *plan, dome_env *env, const dvec *x)
{
    dvec__mail_find_partners(&plan->mail, env);
    int status = send_elements(p, plan, env);
    if (status == DOME_OK) {
        multiply_blocks(p, false);
        join_own(p, plan);
        status = receive_elements(p, plan, env, x);
    }
    end_sends(&plan->mail, env);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    multiply_blocks(p, true);
    return DOME_OK;
}

/* ---- the transposed product ---- */

/* Takes blocks from ... end - 1 of this task: adds the products of entries that have an element of `at` to y, or puts the others
 * where they leave from. */
static void turn_blocks(const product *p, uint64_t from, uint64_t end, bool far)
{
    const uint64_t element = p->size * p->width;
    const char *x = p->x;
    for (uint64_t k = 0; k < end; x += p->a->block[k++].rows * element) {
        const dsparse_block *b = &p->a->block[k];
        const block_plan whole = {0}, *plan = p->plan ? &p->plan->block[k] : &whole;
        if (k < from || !b->start)
            continue;
        dome__ahead_look(p->a->env->transport);
        if (!far)
            p->loops->scatter(b, p->y, x, plan, p->own, p->width);
        else if (plan->at)
            p->loops->products(b, p->plan->mail.elements, x, plan, p->own, p->width);
    }
}

static dome_status exchange_and_turn(const product *p, dsparse_plan *plan, dome_env *env)
{
    dvec_mail *m = &plan->mail;
    turn_blocks(p, 0, p->a->blocks, true);
    int status = dvec__mail_begin(m, env, p->a->type, p->width, m->elements, false);
    uint64_t done = 0;
    while (status == DOME_OK && done < plan->nturns && plan->turns[done].own) { /* while the products of others arrive */
        turn_blocks(p, plan->turns[done].from, plan->turns[done].end, false);
        done++;
    }
    if (status == DOME_OK)
        status = dvec__mail_finish(m, env, p->a->type, p->width, m->in_elements, false);
    if (status != DOME_OK)
        return dome__fail_transport(env, status);
    for (; done < plan->nturns; done++) {
        const turn *t = &plan->turns[done];
        if (t->own)
            turn_blocks(p, t->from, t->end, false);
        else
            p->loops->add(p->y, m->in_elements + t->from * p->size * p->width, m->in_items + t->from, t->end - t->from, p->width);
    }
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

/* by_rows, by_columns: y and x in the order of the product. */
static dome_status check(const dvec *y, const dsparse *a, const dvec *x, const dvec *by_rows, const dvec *by_columns)
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

/* Whether this task alone can do the product: it has all of v, in order. The same on all tasks. */
static bool all_here(const dvec *v)
{
    uint64_t start = 0;
    if (v->distribution != DOME_WHOLE && v->env->size == 1)
        dome_layout_run(v->layout, 0, &start);
    return v->distribution == DOME_WHOLE || (v->env->size == 1 && start == 0);
}

dome_status dsparse_multiply(dvec *y, dsparse *a, const dvec *x)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_MULTIPLY, a->object, (uint64_t[]){dvec__id(y), dvec__id(x)}, 2);
    dome_status status = check(y, a, x, y, x);
    if (status == DOME_OK)
        status = dvec__settle_read(x);
    bool near = status == DOME_OK && all_here(x);
    if (status == DOME_OK && !near && !plan_holds(a->plan, a, x))
        status = make_plan(a, x);
    if (status == DOME_OK) {
        dvec__complete(y);
        const product p = product_of(a, y, x, x, near ? NULL : a->plan);
        if (near)
            multiply_blocks(&p, false);
        else
            status = exchange_and_multiply(&p, a->plan, a->env, x);
        dvec__overwritten(y);
    }
    return dome__end(&op, status);
}

dome_status dsparse_multiply_transposed(dvec *y, dsparse *a, const dvec *x)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_MULTIPLY_TRANSPOSED, a->object, (uint64_t[]){dvec__id(y), dvec__id(x)}, 2);
    dome_status status = check(y, a, x, x, y);
    if (status == DOME_OK && y->distribution == DOME_WHOLE)
        status =
            dome__fail(a->env, DOME_ERR_LAYOUT, "'%s' is DOME_WHOLE, but each task computes a part of the result", dvec_name(y));
    if (status == DOME_OK)
        status = dvec__settle_read(x);
    bool near = status == DOME_OK && a->env->size == 1 && all_here(x) && all_here(y);
    if (status == DOME_OK && !near && !plan_holds(a->transposed, a, y))
        status = make_transposed_plan(a, y);
    if (status == DOME_OK) {
        dvec__complete(y);
        const product p = product_of(a, y, x, y, near ? NULL : a->transposed);
        if (y->local > 0)
            memset(y->data, 0, (size_t)(y->local * DVEC_ELEMENT(y)));
        if (near)
            turn_blocks(&p, 0, a->blocks, false);
        else
            status = exchange_and_turn(&p, a->transposed, a->env);
        dvec__overwritten(y);
    }
    return dome__end(&op, status);
}
