/* Which way of a transposed product is the cheapest.
 *
 * All tasks count what each way would have them send and hold. Rank 0 adds that up, estimates for each way the time of making it
 * and of as many products as are expected, and tells all tasks the way: they cannot differ, whatever their processors make of the
 * arithmetic. Expected are as many products as the last choice has served, and FIRST of a matrix that has just been made: a
 * matrix that is multiplied once is usually multiplied often. */
#include "sparse/dsparse_transposed_product.h"

#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 8 };

/* Columns are counted by groups of columns, at most so many. */
enum { GROUPS = 1024 };

/* Seconds for an entry: in a product; in counting, sending and adding its product alone; in making the other ways. */
static const double PRODUCT = 1.5e-9, ALONE = 4e-9, LISTING = 15e-9, DIVIDING = 12e-9, SORTING = 8e-9;

/* Where links have not been measured: bytes per second and seconds for a message, in a host and between hosts. */
static const double NEAR_BANDWIDTH = 1e9, FAR_BANDWIDTH = 5e7, NEAR_LATENCY = 2e-5, FAR_LATENCY = 2e-4;

/* A task's contribution; words are added up over tasks. */
enum {
    EXPECTED,
    UNABLE,                          /* by way: a task cannot take it */
    BY_RANK = UNABLE + DSPARSE_WAYS, /* from here on PER_RANK words for each rank, and then one for each group */
    HELD = 0,                        /* entries in its columns */
    RECEIVED,                        /* those of them in rows of other tasks */
    WANTED,                          /* elements of x of other tasks that multiply these */
    ENTRIES,                         /* entries in its rows */
    AVAILABLE,                       /* bytes of memory that it may use */
    PER_RANK
};

typedef struct figures {
    uint64_t *word;
    uint64_t ranks, groups;
    unsigned shift; /* the group of a column: the column without so many low bits */
} figures;

static uint64_t *rank_word(const figures *f, uint64_t rank, unsigned which)
{
    return &f->word[BY_RANK + rank * PER_RANK + which];
}

static uint64_t *groups_of(const figures *f)
{
    return f->word + BY_RANK + f->ranks * PER_RANK;
}

static uint64_t words_of(const figures *f)
{
    return BY_RANK + f->ranks * PER_RANK + f->groups;
}

static figures figures_new(const dsparse *a)
{
    figures f = {.ranks = (uint64_t)a->env->size};
    while (a->columns >> f.shift >= GROUPS)
        f.shift++;
    f.groups = (a->columns >> f.shift) + 1;
    f.word = g_new0(uint64_t, (gsize)words_of(&f));
    return f;
}

/* ---- counting ---- */

/* The columns in ascending order of their owners' parts: columns below `end` that no part before has are of `rank`. */
typedef struct part {
    uint64_t end;
    uint64_t rank;
} part;

static int by_end(const void *x, const void *y)
{
    const part *a = x, *b = y;
    return (a->end > b->end) - (a->end < b->end);
}

static part *parts_of(const dvec *y, uint64_t *count)
{
    part *parts = g_new(part, 2 * (gsize)y->env->size + 1);
    *count = 0;
    for (int r = 0; r < y->env->size; r++) {
        dome_span spans[2];
        const int nspans = dvec__spans_of(y, r, spans);
        for (int s = 0; s < nspans; s++)
            if (spans[s].count > 0)
                parts[(*count)++] = (part){spans[s].first + spans[s].count, (uint64_t)r};
    }
    qsort(parts, (size_t)*count, sizeof *parts, by_end);
    return parts;
}

/* The part of a column, from number `at` on. */
static uint64_t find_part(const part *parts, uint64_t at, uint64_t count, uint64_t column)
{
    enum { NEAR = 8 };
    for (uint64_t k = 0; k < NEAR; k++, at++)
        if (column < parts[at].end)
            return at;
    uint64_t end = count - 1;
    while (at < end) {
        const uint64_t middle = at + (end - at) / 2;
        if (column < parts[middle].end)
            end = middle;
        else
            at = middle + 1;
    }
    return at;
}

/* Counts the entries of a block by owners and groups. seen: by rank the last of this task's rows, from 1 on, that it wants. */
static void count_block(const figures *f, const dsparse_block *b, const part *parts, uint64_t nparts, uint64_t *seen,
                        uint64_t row)
{
    uint64_t *const groups = groups_of(f);
    for (uint32_t i = 0; i < b->rows; i++, row++)
        for (uint64_t k = b->start[i], at = 0; k < b->start[i + 1];) {
            at = find_part(parts, at, nparts, b->column[k]);
            const uint64_t first = k, rank = parts[at].rank;
            for (; k < b->start[i + 1] && b->column[k] < parts[at].end; k++)
                groups[b->column[k] >> f->shift]++;
            *rank_word(f, rank, HELD) += k - first;
            *rank_word(f, rank, WANTED) += seen[rank] != row;
            seen[rank] = row;
        }
}

/* The numbers that each way sends to other tasks; elements of x as the product of the transpose sends them, where a task that
 * wants most of them gets all. */
static void count_far(const figures *f, const dsparse *a)
{
    const uint64_t rank = (uint64_t)a->env->rank, rows = dome_layout_local(a->layout, a->env->rank);
    for (uint64_t r = 0; r < f->ranks; r++) {
        uint64_t *wanted = rank_word(f, r, WANTED);
        *rank_word(f, rank, ENTRIES) += *rank_word(f, r, HELD);
        *rank_word(f, r, RECEIVED) = r == rank ? 0 : *rank_word(f, r, HELD);
        *wanted = r == rank ? 0 : *wanted > rows / 2 ? rows : *wanted;
    }
}

/* The memory that a task may take: an even part of what the host has, of which half is left. */
static uint64_t memory_of(const dome_env *env)
{
    const uint64_t available = MIN(dome__storage_available(), dome__storage_promised());
    uint64_t tasks = 0;
    for (int r = 0; r < env->size; r++)
        tasks += strcmp(env->hosts[r], env->hosts[env->rank]) == 0;
    return MIN(available, UINT64_C(1) << 60) / 2 / MAX(tasks, 1);
}

static bool many_entries(const dsparse *a)
{
    uint64_t entries = 0;
    for (uint64_t k = 0; k < a->blocks; k++)
        entries += dsparse__block_entries(&a->block[k]);
    return entries > UINT32_MAX;
}

/* Notes the ways that this task cannot take, because numbers would have more than 32 bits. */
static void find_unable(const figures *f, const dsparse *a, const dvec *y)
{
    const uint64_t rank = (uint64_t)a->env->rank, far = *rank_word(f, rank, ENTRIES) - *rank_word(f, rank, HELD);
    uint64_t *unable = f->word + UNABLE;
    unable[DSPARSE_BY_ENTRIES] = y->local > UINT32_MAX - MIN(far, UINT32_MAX);
    unable[DSPARSE_BY_SUMS] =
        many_entries(a) || a->columns >= UINT32_MAX || a->rows == 0 || dome_layout_local(a->layout, a->env->rank) > UINT32_MAX;
    unable[DSPARSE_BY_TRANSPOSE] = a->rows > DSPARSE_COLUMNS_MAX;
}

/* False without memory. */
static bool count(const figures *f, const dsparse *a, const dvec *y)
{
    uint64_t nparts, *seen = g_try_new0(uint64_t, (gsize)f->ranks), row = 1;
    part *parts = parts_of(y, &nparts);
    for (uint64_t k = 0; k < a->blocks && seen; row += a->block[k++].rows)
        if (a->block[k].start)
            count_block(f, &a->block[k], parts, nparts, seen, row);
    g_free(parts);
    g_free(seen);
    count_far(f, a);
    *rank_word(f, (uint64_t)a->env->rank, AVAILABLE) = memory_of(a->env);
    f->word[EXPECTED] = a->expected;
    find_unable(f, a, y);
    return seen != NULL;
}

/* ---- costs, on rank 0 ---- */

typedef struct costs {
    const figures *f;
    const dsparse *a;
    const dvec *y;
    double value, element; /* bytes; of an element with all its values */
    double bandwidth, latency;
    double product;                 /* seconds for an entry */
    uint64_t stages, owned_by_last; /* of products by sums; elements of y of the last task */
} costs;

static double most(const costs *c, unsigned which)
{
    uint64_t largest = 0;
    for (uint64_t r = 0; r < c->f->ranks; r++)
        largest = MAX(largest, *rank_word(c->f, r, which));
    return (double)largest;
}

static double total(const costs *c, unsigned which)
{
    double sum = 0;
    for (uint64_t r = 0; r < c->f->ranks; r++)
        sum += (double)*rank_word(c->f, r, which);
    return sum;
}

static void find_links(costs *c, const dome_env *env)
{
    const dome_transport_links *links = &env->transport->group.links;
    const bool near = dome__on_one_host(env);
    dome_reach reach = near ? DOME_REACH_HOST : DOME_REACH_CLUSTER;
    for (int r = 1; r < env->size && !near; r++)
        if (dome__reach(links->host, links->cluster, 0, r) == DOME_REACH_FAR)
            reach = DOME_REACH_FAR;
    c->bandwidth = links->bandwidth[reach] > 0 ? links->bandwidth[reach] : near ? NEAR_BANDWIDTH : FAR_BANDWIDTH;
    c->latency = links->latency[reach] > 0 ? links->latency[reach] : near ? NEAR_LATENCY : FAR_LATENCY;
}

static costs costs_of(const figures *f, const dsparse *a, const dvec *y)
{
    costs c = {.f = f, .a = a, .y = y, .value = (double)dome_type_size(a->type), .element = (double)DVEC_ELEMENT(y)};
    dsparse_stage *stages = dsparse__stages(a, &c.stages);
    c.product = PRODUCT * (double)y->width;
    c.owned_by_last = c.stages ? dome_layout_local(y->layout, stages[c.stages - 1].rank) : 0;
    g_free(stages);
    find_links(&c, a->env);
    return c;
}

/* Chunks by which the stages of products by sums overlap best. */
static uint64_t chunks_of(const costs *c)
{
    const double work = most(c, ENTRIES) * c->product + (double)c->a->columns * c->element / c->bandwidth;
    const double best = sqrt((double)(c->stages - MIN(c->stages, 1)) * work / c->latency);
    return (uint64_t)MAX(1, MIN(MIN(best, DSPARSE_CHUNKS), (double)c->a->columns));
}

/* Seconds of one product. */
static double seconds(const costs *c, dsparse_way way)
{
    if (way == DSPARSE_BY_ENTRIES)
        return most(c, ENTRIES) * c->product + most(c, RECEIVED) * (c->element / c->bandwidth + ALONE * (double)c->y->width) +
               2 * c->latency;
    if (way == DSPARSE_BY_TRANSPOSE)
        return most(c, HELD) * c->product + most(c, WANTED) * (c->element / c->bandwidth + c->product) + 2 * c->latency;
    const double chunks = (double)chunks_of(c), steps = chunks + (double)c->stages - 1;
    const double work = most(c, ENTRIES) * c->product + 2 * (double)c->a->columns * c->element / c->bandwidth;
    return work * steps / chunks + (steps + 1) * c->latency;
}

/* Seconds until the first product can begin. */
static double making(const costs *c, dsparse_way way)
{
    if (way == DSPARSE_BY_ENTRIES)
        return most(c, RECEIVED) * ((double)sizeof(uint64_t) / c->bandwidth + LISTING);
    if (way == DSPARSE_BY_SUMS)
        return most(c, ENTRIES) * SORTING;
    return (most(c, ENTRIES) + most(c, HELD)) / 2 * DIVIDING +
           most(c, RECEIVED) * (2 * sizeof(uint32_t) + c->value) / c->bandwidth +
           most(c, WANTED) * (double)sizeof(uint64_t) / c->bandwidth;
}

/* Bytes that all tasks send in one product. */
static double sends(const costs *c, dsparse_way way)
{
    if (way == DSPARSE_BY_ENTRIES)
        return total(c, RECEIVED) * c->element;
    if (way == DSPARSE_BY_TRANSPOSE)
        return total(c, WANTED) * c->element;
    return c->stages > 0 ? ((double)c->a->columns * (double)c->stages - (double)c->owned_by_last) * c->element : 0;
}

/* Bytes of memory that a task needs for a way, at most at any time. */
static double memory(const costs *c, dsparse_way way, uint64_t rank)
{
    const double entries = (double)*rank_word(c->f, rank, ENTRIES), held = (double)*rank_word(c->f, rank, HELD);
    const double in = (double)*rank_word(c->f, rank, RECEIVED), out = entries - (held - in);
    if (way == DSPARSE_BY_ENTRIES)
        return 5 * out * sizeof(uint64_t) + entries * sizeof(uint32_t) + in * sizeof(uint64_t) + (out + in) * c->element;
    if (way == DSPARSE_BY_SUMS)
        return entries * (c->value + sizeof(uint32_t)) + (double)c->a->columns * (c->element + sizeof(uint32_t));
    return (entries + in) * (c->value + 2 * sizeof(uint32_t)) + held * (c->value + sizeof(uint32_t)) +
           (double)c->a->rows * c->element;
}

/* Whether all tasks have the memory; of all tasks, sets *needed to the largest part of its memory that one needs. */
static bool fits(const costs *c, dsparse_way way, double *needed)
{
    *needed = 0;
    for (uint64_t r = 0; r < c->f->ranks; r++)
        *needed = MAX(*needed, memory(c, way, r) / (double)MAX(*rank_word(c->f, r, AVAILABLE), 1));
    return *needed <= 1;
}

/* The way with the least time that fits into the memory; if none does, the one with the least memory. */
static dsparse_way cheapest(const costs *c)
{
    const double times = c->f->word[EXPECTED] ? (double)c->f->word[EXPECTED] / (double)c->f->ranks : FIRST;
    dsparse_way best = DSPARSE_BY_ENTRIES;
    double least = INFINITY, smallest = INFINITY;
    for (dsparse_way way = DSPARSE_BY_ENTRIES; way < DSPARSE_WAYS; way++) {
        double needed, cost = making(c, way) + times * seconds(c, way);
        if (c->f->word[UNABLE + way])
            continue;
        if (fits(c, way, &needed) ? cost < least : least == INFINITY && needed < smallest) {
            best = way;
            smallest = needed;
            least = needed <= 1 ? cost : INFINITY;
        }
    }
    return best;
}

/* Cuts the columns into chunks that are about the same work for all tasks together. */
static void find_chunks(const costs *c, dsparse_choice *choice)
{
    const figures *f = c->f;
    const uint64_t chunks = c->a->columns > 0 ? chunks_of(c) : 1, *groups = groups_of(f);
    uint64_t work = c->a->columns, done = 0, from = 0;
    choice->chunks = 0;
    choice->bound[0] = 0;
    for (uint64_t g = 0; g < f->groups; g++)
        work += groups[g];
    for (uint64_t g = 0; g < f->groups && from < c->a->columns; g++) {
        const uint64_t end = MIN((g + 1) << f->shift, c->a->columns);
        done += groups[g] + (end - from);
        from = end;
        if (from == c->a->columns || (double)done * (double)chunks >= (double)work * (double)(choice->chunks + 1))
            choice->bound[++choice->chunks] = from;
    }
}

static void decide(const figures *f, const dsparse *a, const dvec *y, dsparse_choice *choice)
{
    const costs c = costs_of(f, a, y);
    choice->way = a->wanted && !f->word[UNABLE + a->wanted] ? (dsparse_way)a->wanted : cheapest(&c);
    find_chunks(&c, choice);
    for (dsparse_way way = DSPARSE_BY_ENTRIES; way < DSPARSE_WAYS; way++)
        choice->sends[way] = sends(&c, way);
}

dome_status dsparse__choose(const dsparse *a, const dvec *y, dsparse_choice *choice)
{
    dome_transport *t = a->env->transport;
    figures f = figures_new(a);
    uint64_t told[2 + DSPARSE_CHUNKS + 1] = {0};
    *choice = (dsparse_choice){.way = DSPARSE_BY_ENTRIES};
    int failed = dsparse__plan_memory(a, count(&f, a, y));
    if (failed) {
        g_free(f.word);
        return failed;
    }
    failed = dome__reduce(t, 0, &(dome_combining){DOME_U64, f.word, words_of(&f), dome__combine_sum_i64, NULL});
    if (!failed && t->group.rank == 0) {
        decide(&f, a, y, choice);
        told[0] = choice->way;
        told[1] = choice->chunks;
        memcpy(told + 2, choice->bound, sizeof choice->bound);
    }
    if (!failed)
        failed = dome__bcast(t, 0, DOME_U64, told, G_N_ELEMENTS(told));
    choice->way = (dsparse_way)told[0];
    choice->chunks = told[1];
    memcpy(choice->bound, told + 2, sizeof choice->bound);
    g_free(f.word);
    return failed ? (dome_status)dome__fail_transport(a->env, failed) : DOME_OK;
}
