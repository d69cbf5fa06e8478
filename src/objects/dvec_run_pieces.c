/* Runs in pieces.
 *
 * Operands that are repeated (dvec.h) are written out for a piece at a time, into a buffer that stays in the cache: so loops over
 * values are the same with and without them. In the same way the loop writes the terms of sums to a buffer, and they are added as
 * those of any vector, in 16 partial sums of each block. Loops by rows are timed by block.
 *
 * Pieces are counted in positions: values, or elements in loops by rows. */
#include "core/clock.h"
#include "kernels/repeat.h"
#include "objects/dvec_run_private.h"
#include "transport/ahead.h"

#include <string.h>

/* Positions in a piece, roughly: few enough that its buffers stay in the cache and that the memory does not wait for long while
 * terms are added, many enough that what is done for each piece does not count. Rows may be much work, and between pieces the
 * task looks after its messages. */
enum { PIECE_VALUES = 512, PIECE_ROWS = 128 };

enum { ALIGNED = 64 };

struct run_pieces {
    bool rows;
    bool blocks;                /* a piece is whole blocks, or lies in one */
    uint64_t each;              /* positions of an element */
    uint64_t block;             /* positions of a block */
    uint64_t most;              /* positions in a piece: whole blocks, or less than one and a multiple of DOME_PARTS */
    dvec_span now;              /* the current piece: global number of the first position, and how many there are */
    char *buffer[DVEC_MAP_MAX]; /* of operands that are repeated; NULL: of others */
    double *terms;              /* of the piece: those of all positions for the first sum, for the second, ... */
    double *part;               /* of a block in parts: DOME_PARTS for each sum */
    dome_exact_sum *sums;
    dome_block_clock clock;
    char *memory;
};

/* ---- life ---- */

static bool is_buffered(const run_state *s, const run_pieces *p, int k)
{
    return !p->rows && dvec__repeated(s->lead, s->in[k]);
}

/* The bytes of an operand's buffer; 0: it has none, UINT64_MAX: more than there can be. */
static uint64_t buffer_bytes(const run_state *s, const run_pieces *p, int k, uint64_t most)
{
    uint64_t bytes;
    if (!is_buffered(s, p, k))
        return 0;
    if (__builtin_mul_overflow(most, DVEC_VALUE(s->in[k]), &bytes) || bytes > SIZE_MAX / (2 * DVEC_MAP_MAX) - ALIGNED)
        return UINT64_MAX;
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Room for buffers, terms and sums; false if there is none. */
static bool find_room(const run_state *s, run_pieces *p, uint64_t most)
{
    uint64_t bytes = ALIGNED, piece[DVEC_MAP_MAX] = {0};
    for (int k = 0; k < s->nin; k++) {
        piece[k] = buffer_bytes(s, p, k, most);
        if (piece[k] == UINT64_MAX)
            return false;
        bytes += piece[k];
    }
    const uint64_t terms = s->sums * most * sizeof(double), parts = s->sums * DOME_PARTS * sizeof(double);
    p->memory = g_try_malloc(bytes + terms + parts);
    p->sums = g_try_new(dome_exact_sum, s->sums);
    if (!p->memory || (s->sums && !p->sums))
        return false;
    char *at = p->memory + (ALIGNED - (uintptr_t)p->memory % ALIGNED) % ALIGNED;
    for (int k = 0; k < s->nin; at += piece[k++])
        p->buffer[k] = piece[k] ? at : NULL;
    p->terms = (double *)(void *)at;
    p->part = p->terms + s->sums * most;
    memset(p->part, 0, parts);
    for (size_t k = 0; k < s->sums; k++)
        dome__exact_init(&p->sums[k]);
    return true;
}

/* Positions in a piece of about so many. */
static uint64_t piece_of(const run_pieces *p, uint64_t about)
{
    const uint64_t parts = MAX(about / DOME_PARTS, 1) * DOME_PARTS;
    return p->blocks && parts >= p->block ? MAX(about, p->block) / p->block * p->block : parts;
}

static uint64_t find_most(const run_state *s, const run_pieces *p, unsigned flags)
{
    if (flags & DVEC_RUN_BLOCKS)
        return p->block;
    if (!p->rows)
        return piece_of(p, PIECE_VALUES / MAX(s->sums, 1));
    const uint64_t most = piece_of(p, PIECE_ROWS / MAX(s->sums / 8, 1)), whole = MAX(most, s->sums ? 0 : p->block);
    return p->clock.times ? MIN(whole, p->clock.stride) : whole; /* the clock takes the time of so many */
}

int dvec__pieces_new(run_state *s, unsigned flags)
{
    run_pieces *p = s->pieces = g_new0(run_pieces, 1);
    const dvec *lead = s->lead;
    p->rows = flags & DVEC_RUN_ROWS;
    p->blocks = p->rows || s->sums > 0 || flags & DVEC_RUN_BLOCKS;
    p->each = p->rows ? 1 : lead->width;
    p->block = dome_layout_block_size(lead->layout) * p->each;
    dome__block_clock_start(&p->clock, lead->env, p->rows && lead->distribution == DOME_DYNAMIC ? lead->layout : NULL);
    p->most = find_most(s, p, flags);
    const bool have = (p->rows && s->sums == 0) || find_room(s, p, MIN(p->most, MAX(lead->local, 1) * p->each));
    return dvec__agree_memory(lead, have, "a loop over the elements");
}

void dvec__pieces_free(run_state *s)
{
    if (!s->pieces)
        return;
    g_free(s->pieces->sums);
    g_free(s->pieces->memory);
    g_clear_pointer(&s->pieces, g_free);
}

dome_exact_sum *dvec__pieces_sums(run_state *s)
{
    return s->pieces->sums;
}

/* ---- from piece to piece ---- */

/* Adds the terms of the piece to the sums: terms of whole blocks at once; terms of a part of a block to its partial sums, which
 * are added where the block ends. */
static void add_terms(const run_state *s, run_pieces *p, bool ends)
{
    for (size_t k = 0; k < s->sums; k++) {
        const double *terms = p->terms + k * p->now.count;
        double *part = p->part + k * DOME_PARTS;
        if (p->most >= p->block) {
            dome__sum_kernel(DOME_TERMS_SUM, DOME_F64)(terms, NULL, p->now.count, p->block, NULL, &p->sums[k]);
            continue;
        }
        dome__parts_kernel(DOME_TERMS_SUM, DOME_F64)(terms, NULL, p->now.count, part);
        if (!ends)
            continue;
        dome__exact_add(&p->sums[k], dome__fold_parts(part));
        memset(part, 0, DOME_PARTS * sizeof *part);
    }
}

static void end_piece(run_state *s, run_pieces *p)
{
    if (p->now.count == 0)
        return;
    const uint64_t end = p->now.first + p->now.count;
    const bool ends = end % p->block == 0 || end == s->lead->length * p->each;
    add_terms(s, p, ends);
    if (p->rows && ends) {
        const uint64_t first = MIN(p->now.first, (end - 1) / p->block * p->block);
        dome__block_clock_tick(&p->clock, first, end - first);
    }
    dome__ahead_poll(s->lead->env->transport);
    s->done += p->now.count;
    p->now.count = 0;
}

/* The values of an operand at the piece. */
static void *operand_at(const run_state *s, const run_pieces *p, int k, uint64_t place, const dvec_run *run)
{
    const dvec *x = s->in[k];
    const bool one = dvec__alone(s->lead, x);
    const uint64_t at = one ? 0 : x->distribution == s->lead->distribution ? place : run->first;
    char *data = x->data + at * DVEC_ELEMENT(x);
    if (!p->buffer[k])
        return data + run->skipped * DVEC_VALUE(x);
    dome_repeat repeat = {.width = s->lead->width, .skipped = run->skipped, .bytes = DVEC_VALUE(x)};
    if (!one)
        dome__repeat_values(p->buffer[k], data, &repeat, p->now.count);
    else if (x->width > 1)
        dome__repeat_row(p->buffer[k], data, &repeat, p->now.count);
    else
        dome__repeat_row(p->buffer[k], data, &(dome_repeat){.width = 1, .bytes = repeat.bytes}, p->now.count);
    return p->buffer[k];
}

bool dvec__pieces_next(dvec_run *run)
{
    run_state *s = dvec__run_state(run);
    run_pieces *p = s->pieces;
    end_piece(s, p);
    while (s->span < s->spans && s->done == s->at[s->span].count * p->each) {
        s->place += s->at[s->span].count;
        s->done = 0;
        s->span++;
    }
    if (s->span >= s->spans) {
        dome__block_clock_stop(&p->clock);
        return false;
    }
    const dvec_span *span = &s->at[s->span];
    const uint64_t here = s->done / p->each, left = span->count * p->each - s->done;
    uint64_t count = MIN(p->most, left);
    if (p->blocks && p->most < p->block)
        count = MIN(count, p->block - s->done % p->block);
    p->now = (dvec_span){.first = span->first * p->each + s->done, .count = count};
    run->first = span->first + here;
    run->skipped = (size_t)(s->done % p->each);
    run->count = (size_t)(p->rows ? count : (run->skipped + count + p->each - 1) / p->each);
    run->values = (size_t)(p->rows ? count * s->lead->width : count);
    run->width = (size_t)s->lead->width;
    run->terms = p->terms;
    run->out = s->out ? s->out->data + (s->place + here) * DVEC_ELEMENT(s->out) + run->skipped * DVEC_VALUE(s->out) : NULL;
    for (int k = 0; k < s->nin; k++) {
        run->at[k] = operand_at(s, p, k, s->place + here, run);
        run->in[k] = run->at[k];
        run->stride[k] = dvec__alone(s->lead, s->in[k]) ? 0 : (size_t)s->in[k]->width;
    }
    return true;
}
