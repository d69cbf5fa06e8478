#include "core/layout.h"

#include "core/operation.h"
#include "system/unconst.h"

#include <stdlib.h>
#include <string.h>

struct dome_layout {
    unsigned references;
    int ntasks;
    uint64_t n, block_size, blocks;
    uint64_t start;    /* the block at which rank 0's run starts */
    uint64_t before[]; /* by rank, ntasks + 1 entries: number of blocks that lower ranks own */
};

static uint64_t block_count(uint64_t n, uint64_t block_size)
{
    return n / block_size + (n % block_size != 0);
}

uint64_t dome_block_size(uint64_t n)
{
    uint64_t size = 1;
    while (size < 1024 && size * 2 <= n / 256)
        size *= 2;
    while (block_count(n, size) > UINT64_C(1) << 20)
        size *= 2;
    return size;
}

static dome_layout *layout_alloc(uint64_t n, uint64_t block_size, int ntasks)
{
    if (block_size == 0)
        block_size = dome_block_size(n);
    if (ntasks < 1 || (block_size & (block_size - 1)) != 0)
        return NULL;
    dome_layout *layout = malloc(sizeof *layout + ((size_t)ntasks + 1) * sizeof layout->before[0]);
    if (!layout)
        return NULL;
    layout->references = 1;
    layout->ntasks = ntasks;
    layout->n = n;
    layout->block_size = block_size;
    layout->blocks = block_count(n, block_size);
    layout->start = 0;
    layout->before[0] = 0;
    return layout;
}

dome_layout *dome_layout_new(uint64_t n, uint64_t block_size, int ntasks, uint64_t start, const uint64_t *counts)
{
    DOME_NEEDS(counts, "the list of counts", NULL);
    dome_layout *layout = layout_alloc(n, block_size, ntasks);
    if (!layout)
        return NULL;
    uint64_t left = layout->blocks;
    bool fits = start < left || (left == 0 && start == 0);
    for (int r = 0; r < ntasks && fits; r++) {
        fits = counts[r] <= left;
        left -= counts[r];
        layout->before[r + 1] = layout->before[r] + counts[r];
    }
    if (!fits || left != 0) {
        free(layout);
        return NULL;
    }
    layout->start = start;
    return layout;
}

dome_layout *dome_layout_even(uint64_t n, uint64_t block_size, int ntasks)
{
    dome_layout *layout = layout_alloc(n, block_size, ntasks);
    if (!layout)
        return NULL;
    uint64_t each = layout->blocks / (unsigned)ntasks, more = layout->blocks % (unsigned)ntasks;
    for (int r = 0; r < ntasks; r++)
        layout->before[r + 1] = layout->before[r] + each + ((unsigned)r < more);
    return layout;
}

dome_layout *dome_layout_ref(const dome_layout *layout)
{
    dome_layout *l = dome__unconst(layout); /* a layout never changes; how many hold it is no part of it */
    if (l)
        l->references++;
    return l;
}

void dome_layout_unref(dome_layout *layout)
{
    if (layout && --layout->references == 0)
        free(layout);
}

bool dome_layout_equal(const dome_layout *a, const dome_layout *b)
{
    if (a == b)
        return true;
    return a && b && a->n == b->n && a->block_size == b->block_size && a->ntasks == b->ntasks && a->start == b->start &&
           memcmp(a->before, b->before, ((size_t)a->ntasks + 1) * sizeof a->before[0]) == 0;
}

uint64_t dome_layout_length(const dome_layout *layout)
{
    DOME_NEEDS(layout, "the layout", 0);
    return layout->n;
}

uint64_t dome_layout_block_size(const dome_layout *layout)
{
    DOME_NEEDS(layout, "the layout", 0);
    return layout->block_size;
}

uint64_t dome_layout_blocks(const dome_layout *layout)
{
    DOME_NEEDS(layout, "the layout", 0);
    return layout->blocks;
}

int dome_layout_tasks(const dome_layout *layout)
{
    DOME_NEEDS(layout, "the layout", 0);
    return layout->ntasks;
}

/* The block `steps` blocks after rank 0's first, around the ring. */
static uint64_t ring_block(const dome_layout *layout, uint64_t steps)
{
    uint64_t to_end = layout->blocks - layout->start;
    return steps < to_end ? layout->start + steps : steps - to_end;
}

/* The inverse of ring_block: the distance of a block from rank 0's first. */
static uint64_t ring_steps(const dome_layout *layout, uint64_t block)
{
    return block >= layout->start ? block - layout->start : layout->blocks - layout->start + block;
}

static uint64_t run_of(const dome_layout *layout, int rank, uint64_t *start)
{
    if (rank < 0 || rank >= layout->ntasks) {
        if (start)
            *start = 0;
        return 0;
    }
    if (start)
        *start = layout->before[rank] < layout->blocks ? ring_block(layout, layout->before[rank]) : layout->start;
    return layout->before[rank + 1] - layout->before[rank];
}

uint64_t dome_layout_run(const dome_layout *layout, int rank, uint64_t *start)
{
    DOME_NEEDS(layout, "the layout", 0);
    return run_of(layout, rank, start);
}

/* The length of a rank's run; *start: its first block; *first: how many of its blocks lie before the end of the ring. */
static inline uint64_t cut_run(const dome_layout *layout, int rank, uint64_t *start, uint64_t *first)
{
    uint64_t count = run_of(layout, rank, start), to_end = layout->blocks - *start;
    *first = count < to_end ? count : to_end;
    return count;
}

int dome__layout_block_ranges(const dome_layout *layout, int rank, dome_span ranges[2])
{
    uint64_t start, first, count = cut_run(layout, rank, &start, &first);
    ranges[0] = (dome_span){start, first};
    ranges[1] = (dome_span){0, count - first};
    return (count > 0) + (count > first);
}

uint64_t dome__layout_block_at(const dome_layout *layout, int rank, uint64_t position)
{
    return ring_block(layout, layout->before[rank] + position);
}

uint64_t dome__layout_position_of(const dome_layout *layout, int rank, uint64_t block)
{
    uint64_t steps = ring_steps(layout, block), before = layout->before[rank];
    return steps >= before ? steps - before : UINT64_MAX;
}

static dome_span block_range(const dome_layout *layout, uint64_t first, uint64_t count)
{
    uint64_t begin = first * layout->block_size;
    uint64_t end = first + count == layout->blocks ? layout->n : (first + count) * layout->block_size;
    return (dome_span){begin, end - begin};
}

static inline int spans_of(const dome_layout *layout, int rank, dome_span spans[2])
{
    uint64_t start, first, count = cut_run(layout, rank, &start, &first);
    if (!count)
        return 0;
    spans[0] = block_range(layout, start, first);
    if (count == first)
        return 1;
    spans[1] = block_range(layout, 0, count - first);
    return 2;
}

int dome_layout_spans(const dome_layout *layout, int rank, dome_span spans[2])
{
    DOME_NEEDS(layout, "the layout", 0);
    DOME_NEEDS(spans, "the place for the spans", 0);
    return spans_of(layout, rank, spans);
}

uint64_t dome_layout_local(const dome_layout *layout, int rank)
{
    DOME_NEEDS(layout, "the layout", 0);
    dome_span spans[2];
    uint64_t local = 0;
    for (int s = 0, n = spans_of(layout, rank, spans); s < n; s++)
        local += spans[s].count;
    return local;
}

int dome_layout_owner(const dome_layout *layout, uint64_t block)
{
    DOME_NEEDS(layout, "the layout", -1);
    if (block >= layout->blocks)
        return -1;
    uint64_t steps = ring_steps(layout, block);
    int low = 0, high = layout->ntasks; /* before[low] <= steps < before[high] */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (layout->before[middle] <= steps)
            low = middle;
        else
            high = middle;
    }
    return low;
}

dome_span dome_layout_block(const dome_layout *layout, uint64_t block)
{
    DOME_NEEDS(layout, "the layout", (dome_span){0, 0});
    return block < layout->blocks ? block_range(layout, block, 1) : (dome_span){layout->n, 0};
}

uint64_t dome_layout_position(const dome_layout *layout, int rank, uint64_t index)
{
    DOME_NEEDS(layout, "the layout", UINT64_MAX);
    dome_span spans[2];
    uint64_t before = 0;
    for (int s = 0, n = spans_of(layout, rank, spans); s < n; s++) {
        if (index >= spans[s].first && index - spans[s].first < spans[s].count)
            return before + (index - spans[s].first);
        before += spans[s].count;
    }
    return UINT64_MAX;
}
