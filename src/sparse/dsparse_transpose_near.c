/* Transposes where a task's entries lie near each other, as in the matrices of grids: entries of one block of rows go to few
 * places, which stay in the cache, so they are put there at once. */
#include "sparse/dsparse_transpose.h"

#include "core/layout.h"

bool dsparse__transpose_is_near(const dsparse *a)
{
    uint64_t near = 0, far = 0;
    for (uint64_t b = 0; b < a->blocks; b++)
        *(a->block[b].scattered ? &far : &near) += dsparse__block_entries(&a->block[b]);
    return near > far;
}

/* This task's new rows. */
static own_part own_rows(const transposition *p)
{
    own_part own = {{{0, 0}, {0, 0}}};
    dome_layout_spans(p->t->layout, p->a->env->rank, own.span);
    return own;
}

void dsparse__transpose_count_near(transposition *p)
{
    const unsigned shift = (unsigned)__builtin_ctzll(dome_layout_block_size(p->t->layout));
    const own_part own = own_rows(p);
    dome_span ranges[SPANS];
    dome__layout_block_ranges(p->a->layout, p->a->env->rank, ranges);
    for (uint64_t b = 0; b < p->a->blocks; b++) {
        const dsparse_block *from = &p->a->block[b];
        const uint64_t span = b >= ranges[0].count;
        for (uint64_t k = 0, end = dsparse__block_entries(from); k < end; k++) {
            const uint64_t column = from->column[k];
            if (dvec__is_own(&own, column))
                p->next[dvec__own_place(&own, column)]++;
            else
                p->counts[SPANS * p->slot[column >> shift] + span]++;
        }
    }
    uint64_t *counts = p->counts + SPANS * p->first_slot[p->a->env->rank], row = 0;
    for (uint64_t k = 0; k < p->t->blocks; k++)
        for (uint64_t end = row + p->t->block[k].rows; row < end; row++)
            counts[SPANS * k] += p->next[row];
}

/* The places of entries: arrays of all blocks, and, by local new row, the position of its next entry in them. */
typedef struct places {
    uint64_t *next;
    uint32_t *column;
    char *value;
    odd_entries *odd;
} places;

/* Puts the entries of a block of rows that stay with this task to their places. first: the number of its first row. */
FOR_EACH_SIZE void put_block(const transposition *p, const places *to, const own_part *own, const dsparse_block *from,
                             uint64_t first, size_t size)
{
    uint64_t *const next = to->next;
    const bool values = !p->uniform, plain = from->uniform && memcmp(from->same, p->same, size) == 0;
    for (uint32_t i = 0; i < from->rows; i++)
        for (uint32_t k = from->start[i]; k < from->start[i + 1]; k++) {
            const uint64_t column = from->column[k];
            if (!dvec__is_own(own, column))
                continue;
            const uint64_t at = next[dvec__own_place(own, column)]++;
            to->column[at] = (uint32_t)(first + i);
            if (!values && plain)
                continue;
            const char *here = from->uniform ? from->same : (const char *)from->value + k * size;
            if (values)
                memcpy(to->value + at * size, here, size);
            else if (memcmp(here, p->same, size) != 0)
                dsparse__transpose_note_odd(to->odd, p, at, here);
        }
}

static void put_own(const transposition *p, const places *to, int span)
{
    const own_part own = own_rows(p);
    const dome_layout *layout = p->a->layout;
    const int rank = p->a->env->rank;
    dome_span ranges[SPANS];
    dome__layout_block_ranges(layout, rank, ranges);
    const uint64_t from = span > 0 ? ranges[0].count : 0, end = span > 0 ? p->a->blocks : ranges[0].count;
    for (uint64_t b = from; b < end; b++) {
        const uint64_t first = dome_layout_block(layout, dome__layout_block_at(layout, rank, b)).first;
        if (p->a->block[b].start)
            BY_SIZE(put_block, p->size, p, to, &own, &p->a->block[b], first);
    }
}

/* Entries for one new block that have come from another task in a turn. */
typedef struct segment {
    const uint32_t *place;
    const char *value;   /* NULL: `same`, but for the odd ones */
    uint64_t count, row; /* row: the first local new row of the block */
    uint64_t number;     /* of the first one among the task's entries */
    const odd_entries *odd;
} segment;

typedef void (*visitor)(const transposition *p, const places *to, const segment *s);

static void visit_come(const transposition *p, const places *to, const turn *t, visitor visit)
{
    const source *from = t->from;
    uint64_t row = 0, number = 0;
    for (uint64_t k = 0; k < p->t->blocks; row += p->t->block[k++].rows) {
        const uint64_t *counts = from->counts + SPANS * k, first = number + (t->span > 0 ? counts[0] : 0);
        visit(p, to,
              &(segment){from->place + 2 * first, from->value ? from->value + first * p->size : NULL, counts[t->span], row, first,
                         &from->odd});
        number += counts[0] + counts[1];
    }
}

static void count_come(const transposition *p, const places *to, const segment *s)
{
    (void)p;
    for (uint64_t k = 0; k < s->count; k++)
        to->next[s->row + s->place[2 * k]]++;
}

/* The first odd entry whose number is not below this one. */
static uint64_t find_odd(const odd_entries *odd, uint64_t number)
{
    uint64_t low = 0, high = odd->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (odd->entry[middle].at < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put_come(const transposition *p, const places *to, const segment *s)
{
    uint64_t odd = find_odd(s->odd, s->number);
    for (uint64_t k = 0; k < s->count; k++) {
        const uint64_t at = to->next[s->row + s->place[2 * k]]++;
        to->column[at] = s->place[2 * k + 1];
        if (s->value)
            memcpy(to->value + at * p->size, s->value + k * p->size, p->size);
        else if (odd < s->odd->count && s->odd->entry[odd].at == s->number + k)
            dsparse__transpose_note_odd(to->odd, p, at, s->odd->entry[odd++].value);
    }
}

/* Makes counts by row the places of the rows' first entries. */
static void add_up(uint64_t *next, uint64_t rows)
{
    uint64_t before = 0;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t count = next[i];
        next[i] = before;
        before += count;
    }
}

/* Sets the blocks' starts by the places behind their rows' last entries. */
static void set_starts(const transposition *p, dsparse_block *block)
{
    uint64_t row = 0, before = 0;
    for (uint64_t k = 0; k < p->t->blocks; row += block[k++].rows) {
        dsparse_block *b = &block[k];
        if (!b->start)
            continue;
        b->start[0] = 0;
        for (uint32_t i = 0; i < b->rows; i++)
            b->start[i + 1] = (uint32_t)(p->next[row + i] - before);
        before = p->next[row + b->rows - 1];
        b->uniform = p->uniform;
        memcpy(b->same, p->same, sizeof b->same);
    }
}

void dsparse__transpose_fill_near(const transposition *p, const new_blocks *made, const turn *turns, int nturns)
{
    const int rank = p->a->env->rank;
    uint32_t *column = (uint32_t *)(void *)((char *)made->store + made->entries * p->size);
    const places to = {p->next, column, made->store, made->odd};
    for (const turn *t = turns; t < turns + nturns; t++)
        if (t->rank != rank)
            visit_come(p, &to, t, count_come);
    add_up(p->next, dome_layout_local(p->t->layout, rank));
    for (const turn *t = turns; t < turns + nturns; t++)
        if (t->rank == rank)
            put_own(p, &to, t->span);
        else
            visit_come(p, &to, t, put_come);
    set_starts(p, made->block);
    dsparse__transpose_put_odd(p, made->odd, made->block);
    for (uint64_t k = 0; k < p->t->blocks; k++)
        dsparse__block_ready(p->t, &made->block[k]);
}
