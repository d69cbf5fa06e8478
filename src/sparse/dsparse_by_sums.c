/* y = A^T x, where the sums of the columns pass through the tasks in the order of their rows.
 *
 * Each task keeps its entries by columns. It takes the sums of a chunk of columns from the task before it, adds the products of
 * its rows, and passes them on, while the task before it works on the next chunk. The last task sends the sums to the owners of
 * the elements of y. */
#include "sparse/dsparse_transposed_product.h"

#include "core/layout.h"
#include "transport/agree.h"
#include "transport/ahead.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

/* A stage of this task: a span of its rows. */
typedef struct own_stage {
    uint64_t number;
    dsparse_block columns; /* its entries: rows are columns, columns are positions of rows in this task's part of x */
    void *memory;          /* dome__storage of these */
    char *sums;            /* of all columns, which the product allocates; a stage right after this task's other one shares it */
} own_stage;

struct dsparse_by_sums {
    dsparse_stage *stages;
    uint64_t nstages;
    own_stage own[2];
    unsigned nown;
    uint64_t *bound, chunks;
    uint64_t width; /* for which there are sums */
};

/* ---- the stages ---- */

typedef struct rows_of {
    uint64_t row; /* the first one */
    dsparse_stage stage;
} rows_of;

static int by_row(const void *x, const void *y)
{
    const rows_of *a = x, *b = y;
    return (a->row > b->row) - (a->row < b->row);
}

dsparse_stage *dsparse__stages(const dsparse *a, uint64_t *count)
{
    const int size = a->env->size;
    rows_of *rows = g_new(rows_of, 2 * (gsize)size);
    dsparse_stage *stages = g_new(dsparse_stage, 2 * (gsize)size);
    *count = 0;
    for (int r = 0; r < size; r++) {
        dome_span spans[2];
        const int nspans = dome_layout_spans(a->layout, r, spans);
        for (int s = 0; s < nspans; s++)
            if (spans[s].count > 0)
                rows[(*count)++] = (rows_of){spans[s].first, {r, s}};
    }
    qsort(rows, (size_t)*count, sizeof *rows, by_row);
    for (uint64_t k = 0; k < *count; k++)
        stages[k] = rows[k].stage;
    g_free(rows);
    return stages;
}

/* ---- the entries by columns ---- */

static inline __attribute__((always_inline)) void sort_block(const dsparse_block *from, uint32_t first, dsparse_block *to,
                                                             size_t size)
{
    for (uint32_t i = 0; i < from->rows; i++)
        for (uint32_t k = from->start[i]; k < from->start[i + 1]; k++) {
            const uint32_t at = to->start[from->column[k]]++;
            to->column[at] = first + i;
            memcpy((char *)to->value + at * size, from->uniform ? from->same : (const char *)from->value + k * size, size);
        }
}

/* Puts the entries of blocks from ... end - 1 in the order of their columns, and within these of their rows. first: the position
 * of their first row. */
static void sort_entries(const dsparse *a, uint64_t from, uint64_t end, uint64_t first, dsparse_block *to)
{
    uint32_t *start = to->start;
    memset(start, 0, (to->rows + UINT64_C(1)) * sizeof *start);
    for (uint64_t b = from; b < end; b++)
        for (uint64_t k = 0, entries = dsparse__block_entries(&a->block[b]); k < entries; k++)
            start[a->block[b].column[k] + 1]++;
    for (uint32_t c = 0; c < to->rows; c++)
        start[c + 1] += start[c];
    for (uint64_t b = from; b < end; first += a->block[b++].rows) {
        const dsparse_block *block = &a->block[b];
        if (!block->start)
            continue;
        if (dome_type_size(a->type) == 4)
            sort_block(block, (uint32_t)first, to, 4);
        else if (dome_type_size(a->type) == 8)
            sort_block(block, (uint32_t)first, to, 8);
        else
            sort_block(block, (uint32_t)first, to, 16);
    }
    memmove(start + 1, start, to->rows * sizeof *start); /* each has become the beginning of the next column */
    start[0] = 0;
    dsparse__block_ready(a, to);
}

/* Keeps the entries of a span of this task's rows by columns. False without memory. */
static bool take_span(const dsparse *a, int span, own_stage *o)
{
    dome_span ranges[2];
    dome__layout_block_ranges(a->layout, a->env->rank, ranges);
    const uint64_t from = span > 0 ? ranges[0].count : 0, end = span > 0 ? a->blocks : ranges[0].count;
    uint64_t entries = 0, first = 0;
    for (uint64_t b = 0; b < from; b++)
        first += a->block[b].rows;
    for (uint64_t b = from; b < end; b++)
        entries += dsparse__block_entries(&a->block[b]);
    const uint64_t bytes = dsparse__block_bytes(a, a->columns, entries);
    o->memory = bytes < PTRDIFF_MAX / 2 ? dome__storage_raw(bytes, NULL) : NULL;
    if (!o->memory)
        return false;
    dsparse__block_place(a, &o->columns, (uint32_t)a->columns, (uint32_t)entries, o->memory);
    sort_entries(a, from, end, first, &o->columns);
    return true;
}

/* ---- making and freeing ---- */

void dsparse__by_sums_free(dsparse_by_sums *way)
{
    for (unsigned k = 0; k < way->nown; k++) {
        dome__storage_free(way->own[k].memory);
        if (k == 0 || way->own[k].sums != way->own[0].sums)
            dome__storage_free(way->own[k].sums);
    }
    g_free(way->stages);
    g_free(way->bound);
    g_free(way);
}

dome_status dsparse__by_sums_new(const dsparse *a, const uint64_t *bound, uint64_t chunks, dsparse_by_sums **made)
{
    dsparse_by_sums *way = g_new0(dsparse_by_sums, 1);
    bool have = true;
    way->stages = dsparse__stages(a, &way->nstages);
    way->chunks = chunks;
    way->bound = g_memdup2(bound, (gsize)(chunks + 1) * sizeof *bound);
    for (uint64_t k = 0; k < way->nstages; k++)
        if (way->stages[k].rank == a->env->rank) {
            own_stage *o = &way->own[way->nown++];
            o->number = k;
            have = have && take_span(a, way->stages[k].span, o);
        }
    dome_status status = dsparse__worst(a, have ? DOME_OK : DOME_ERR_MEMORY);
    if (status == DOME_OK)
        *made = way;
    else
        dsparse__by_sums_free(way);
    return status;
}

static bool follow_each_other(const dsparse_by_sums *way)
{
    return way->nown > 1 && way->own[1].number == way->own[0].number + 1;
}

/* Makes room for the sums of so many vectors. */
static dome_status make_sums(dsparse_by_sums *way, const dsparse *a, uint64_t width)
{
    const uint64_t element = dome_type_size(a->type) * width;
    bool have = a->columns < PTRDIFF_MAX / MAX(element, 1);
    if (way->width == width)
        return DOME_OK;
    for (unsigned k = 0; k < way->nown; k++) {
        own_stage *o = &way->own[k];
        if (k > 0 && follow_each_other(way)) {
            o->sums = way->own[0].sums;
            continue;
        }
        dome__storage_free(o->sums);
        o->sums = have ? dome__storage_raw(MAX(a->columns * element, 1), NULL) : NULL;
        have = have && o->sums;
    }
    way->width = have ? width : 0;
    return dsparse__plan_memory(a, have);
}

/* ---- the product ---- */

typedef struct passing {
    const dsparse_by_sums *way;
    dsparse_product p;
    dome_transport *t;
    uint64_t element;
} passing;

static void add_columns(const passing *p, const own_stage *o, uint64_t from, uint64_t count, char *sums)
{
    dsparse_block some = o->columns;
    some.start += from;
    some.rows = (uint32_t)count;
    dome__ahead_poll(p->t);
    p->p.loops->more(&some, sums, p->p.x, p->p.width);
}

/* Takes the sums of a chunk, adds to them and passes them on. */
static int run_stage(const passing *p, const own_stage *o, uint64_t chunk)
{
    const dsparse_by_sums *way = p->way;
    const dsparse_stage *before = o->number > 0 ? &way->stages[o->number - 1] : NULL;
    const dsparse_stage *after = o->number + 1 < way->nstages ? &way->stages[o->number + 1] : NULL;
    const uint64_t from = way->bound[chunk], count = way->bound[chunk + 1] - from;
    char *sums = o->sums + from * p->element;
    int status = DOME_OK;
    if (!before)
        memset(sums, 0, (size_t)(count * p->element));
    else if (before->rank != p->t->group.rank)
        status = dome__recv(p->t, before->rank, DOME_CHANNEL_DATA, p->p.a->type, sums, count * p->p.width);
    if (status != DOME_OK)
        return status;
    add_columns(p, o, from, count, sums);
    if (after && after->rank != p->t->group.rank)
        status = dome__begin_send(p->t, after->rank, DOME_CHANNEL_DATA, p->p.a->type, sums, count * p->p.width);
    return status;
}

/* A task that is first and last would wait for itself if it sent all chunks first: a task takes a chunk only when it has passed
 * the one before on. So it runs its last stage on a chunk as soon as the others may have passed it on. */
static int run_stages(const passing *p)
{
    const dsparse_by_sums *way = p->way;
    const uint64_t lag = way->nown > 1 && !follow_each_other(way) ? way->nstages - 1 : 0;
    int status = DOME_OK;
    for (uint64_t k = 0; k < way->chunks + lag && status == DOME_OK && way->nown > 0; k++) {
        if (k < way->chunks)
            status = run_stage(p, &way->own[0], k);
        if (status == DOME_OK && way->nown > 1 && k >= lag)
            status = run_stage(p, &way->own[1], k - lag);
    }
    return status;
}

/* Sends a rank its elements of y, or puts this task's in their place. */
static int hand_out(const passing *p, const dvec *y, int rank, const char *sums)
{
    dome_span spans[2];
    const int nspans = dome_layout_spans(y->layout, rank, spans);
    char *to = p->p.y;
    int status = DOME_OK;
    for (int s = 0; s < nspans && status == DOME_OK; s++) {
        const char *from = sums + spans[s].first * p->element;
        if (rank == p->t->group.rank)
            memcpy(to, from, (size_t)(spans[s].count * p->element));
        else
            status = dome__begin_send(p->t, rank, DOME_CHANNEL_DATA, p->p.a->type, from, spans[s].count * p->p.width);
        to += spans[s].count * p->element;
    }
    return status;
}

static int take_own(const passing *p, const dvec *y, int last)
{
    dome_span spans[2];
    const int nspans = dome_layout_spans(y->layout, p->t->group.rank, spans);
    char *to = p->p.y;
    int status = DOME_OK;
    for (int s = 0; s < nspans && status == DOME_OK; s++) {
        status = dome__recv(p->t, last, DOME_CHANNEL_DATA, p->p.a->type, to, spans[s].count * p->p.width);
        to += spans[s].count * p->element;
    }
    return status;
}

/* Waits until what has been sent has been taken, after a failure as well: the receivers may read the sums themselves. */
static void end_sends(const passing *p, bool last)
{
    const dsparse_by_sums *way = p->way;
    for (unsigned k = 0; k < way->nown; k++)
        if (way->own[k].number + 1 < way->nstages && way->stages[way->own[k].number + 1].rank != p->t->group.rank)
            dome__end_send(p->t, way->stages[way->own[k].number + 1].rank);
    for (int r = 0; last && r < p->t->group.size; r++)
        if (r != p->t->group.rank)
            dome__end_send(p->t, r);
}

dome_status dsparse__by_sums(dsparse_by_sums *way, dvec *y, const dsparse *a, const dvec *x)
{
    const passing p = {.way = way, .p = dsparse__product(a, y, x, y, NULL), .t = a->env->transport, .element = DVEC_ELEMENT(y)};
    const int last = way->stages[way->nstages - 1].rank;
    dome_status made = make_sums(way, a, x->width);
    if (made != DOME_OK)
        return made;
    int status = run_stages(&p);
    for (int r = 0; r < p.t->group.size && last == p.t->group.rank && status == DOME_OK; r++)
        status = hand_out(&p, y, r, way->own[way->nown - 1].sums);
    if (status == DOME_OK && last != p.t->group.rank)
        status = take_own(&p, y, last);
    end_sends(&p, last == p.t->group.rank);
    return status == DOME_OK ? DOME_OK : (dome_status)dome__fail_transport(a->env, status);
}
