/* Tasks that have begun all their blocks help others (dvec_map_anywhere).
 *
 * Each task has some partners, about 2 log2 of the number of tasks; a partner's partners include the task. Three kinds of
 * messages travel between the two:
 *
 *   END     Every block of mine has begun: I hand over none, and can compute some of yours. One to each partner.
 *   BLOCKS  To a partner that has sent END: compute these. The operands' values follow.
 *   RESULT  The answer: what each block has cost, then the values.
 *
 * A task computes its blocks from the first one on. Between two blocks, but at most once a millisecond, it looks for messages,
 * and hands over blocks from the end to partners that wait. The portions become smaller as fewer blocks are left. Blocks are not
 * handed over if sending them takes longer than computing them.
 *
 * A task leaves when it has END from each partner and a RESULT for each BLOCKS that it has sent. So every message is received in
 * the operation in which it was sent, and no task waits for blocks that others have begun for themselves. If a task is lost, the
 * hub ends the program, as in other waits.
 *
 * Only values travel: the owners of blocks stay the same. A block is computed by one call of the kernel with the same range
 * wherever that is, so it gets the same bits. The costs that load balancing learns stay those of the owner's blocks; the time in
 * which a task computes for others is not part of its own work. */
#include "objects/dvec_help.h"

#include "core/clock.h"
#include "trace/record.h"
#include "transport/agree.h"
#include "transport/message.h"

#include <stdlib.h>
#include <string.h>

enum { END, BLOCKS, RESULT };
enum { ALIGNMENT = 64 };
enum { KIND, FIRST, COUNT, WORDS }; /* a message; END: COUNT is 1 if the task has memory to help */

/* Bytes of values in BLOCKS and RESULT at most, unless one block has more; ns between two looks for messages. */
static const uint64_t MOST_BYTES = 1 << 20, LOOK_NS = 1000000;

/* Where links have not been measured: bytes per second and latency in seconds, in a host and between hosts. */
static const double NEAR_BANDWIDTH = 1e9, FAR_BANDWIDTH = 5e7, NEAR_LATENCY = 2e-5, FAR_LATENCY = 2e-4;

typedef struct partner {
    int rank;
    double bandwidth, latency;
    bool told;                 /* END has been sent to it */
    bool ended;                /* it has sent END */
    bool able;                 /* and has memory to help */
    uint64_t first, count, at; /* the elements that it computes, and their place in out->data; count 0: none */
} partner;

/* Room for values of blocks of another task. */
typedef struct room {
    char *out, *memory;
    double *cost;
    int dest; /* RESULT is on its way to this task; -1: to none */
} room;

typedef struct help {
    dvec *out;
    dvec_kernel kernel;
    void *ctx;
    int nin;
    dvec *const *in;
    dome_transport *t;
    partner *partners;
    int *ranks, npartners;

    dvec_span spans[2];
    uint64_t block_size, in_front; /* blocks of the first span */
    uint64_t begun, end;           /* local numbers of the blocks that have not begun */
    uint64_t block_bytes, most;    /* of the operands and the result; blocks in one message at most */
    double seconds;                /* spent in blocks of this task that it has computed itself */
    uint64_t looked;
    dome_block_clock clock;
    double *block_ns; /* processor time by block; NULL: not measured */

    room rooms[2];
    bool able; /* there is memory for them */
    int turn;
    int status;
} help;

/* ---- blocks ---- */

static uint64_t blocks_in(const help *h, uint64_t elements)
{
    return (elements + h->block_size - 1) / h->block_size;
}

/* The elements of local blocks from number k on, `count` at most and of one span. Returns their place in the local part. */
static uint64_t elements_of(const help *h, uint64_t k, uint64_t count, uint64_t *first, uint64_t *elements)
{
    const dvec_span *span = &h->spans[k >= h->in_front];
    uint64_t offset = (k - (k >= h->in_front ? h->in_front : 0)) * h->block_size;
    *first = span->first + offset;
    *elements = MIN(count * h->block_size, span->count - offset);
    return offset + (k >= h->in_front ? h->spans[0].count : 0);
}

static void compute_own(help *h)
{
    uint64_t first, count, at = elements_of(h, h->begun++, 1, &first, &count), begin = dome__now_ns();
    const void *values[DVEC_MAP_MAX];
    for (int i = 0; i < h->nin; i++)
        values[i] = h->in[i]->data + (h->in[i]->distribution == DOME_WHOLE ? first : at) * DVEC_ELEMENT(h->in[i]);
    h->kernel(h->ctx, first, (size_t)count, h->out->data + at * DVEC_ELEMENT(h->out), values);
    dome__block_clock_tick(&h->clock, first, count);
    h->seconds += (double)dome__since_ns(begin) * 1e-9;
}

/* ---- messages ---- */

static void put(help *h, int rank, dome_type type, const void *data, uint64_t count)
{
    if (h->status == DOME_OK)
        h->status = dome__begin_send(h->t, rank, DOME_CHANNEL_DATA, type, data, count);
}

static void put_words(help *h, int rank, int64_t kind, uint64_t first, uint64_t count)
{
    int64_t words[WORDS] = {kind, (int64_t)first, (int64_t)count};
    if (h->status == DOME_OK)
        h->status = dome__send(h->t, rank, DOME_CHANNEL_DATA, DOME_I64, words, WORDS);
}

static void take(help *h, int rank, dome_type type, void *data, uint64_t count)
{
    if (h->status == DOME_OK)
        h->status = dome__recv(h->t, rank, DOME_CHANNEL_DATA, type, data, count);
}

/* This task's processor, to convert the costs of blocks; measured once. */
static double processor(void)
{
    static double speed;
    if (speed == 0)
        speed = dome__processor_speed();
    return speed;
}

/* ---- helping ---- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Memory for the operands and the result of `most` blocks, which are used in turn. */
static bool make_rooms(help *h)
{
    bool have = true;
    for (int k = 0; k < 2; k++) {
        room *r = &h->rooms[k];
        r->dest = -1;
        uint64_t bytes = aligned(h->most * h->block_bytes + DVEC_MAP_MAX * ALIGNMENT);
        r->memory = aligned_alloc(ALIGNMENT, bytes);
        if (r->memory)
            memset(r->memory, 0, bytes); /* padding is never undefined */
        r->cost = g_try_new0(double, h->most);
        have = have && r->memory && r->cost;
    }
    return have;
}

static void free_rooms(help *h)
{
    for (int k = 0; k < 2; k++) {
        if (h->rooms[k].dest >= 0 && h->status == DOME_OK)
            dome__end_send(h->t, h->rooms[k].dest);
        free(h->rooms[k].memory);
        g_free(h->rooms[k].cost);
    }
}

/* Receives the operands into r, in the order in which hand_over sends them. An operand that is also the output lies at its place.
 */
static void take_operands(help *h, int rank, room *r, uint64_t first, uint64_t count, const char *values[DVEC_MAP_MAX])
{
    char *at = r->memory;
    for (int i = -1; i < h->nin; i++) {
        const dvec *x = i < 0 ? h->out : h->in[i];
        if (i >= 0 && x->distribution == DOME_WHOLE) {
            values[i] = x->data + first * DVEC_ELEMENT(x);
            continue;
        }
        char *place = i >= 0 && x == h->out ? r->out : at;
        if (place == at)
            at += aligned(count * DVEC_ELEMENT(x));
        if (i < 0) {
            r->out = place;
            continue;
        }
        take(h, rank, x->type, place, count * x->width);
        values[i] = place;
    }
}

static void compute_for(help *h, int rank, uint64_t first, uint64_t count)
{
    room *r = &h->rooms[h->turn];
    h->turn = !h->turn;
    if (r->dest >= 0)
        dome__end_send(h->t, r->dest);
    r->dest = rank;
    const char *operands[DVEC_MAP_MAX] = {0};
    take_operands(h, rank, r, first, count, operands);
    uint64_t begin = dome__now_ns(), blocks = blocks_in(h, count);
    for (uint64_t k = 0; k < blocks && h->status == DOME_OK; k++) {
        uint64_t done = k * h->block_size, part = MIN(h->block_size, count - done), start = dome__processor_ns();
        const void *values[DVEC_MAP_MAX];
        for (int i = 0; i < h->nin; i++)
            values[i] = operands[i] + done * DVEC_ELEMENT(h->in[i]);
        h->kernel(h->ctx, first + done, (size_t)part, r->out + done * DVEC_ELEMENT(h->out), values);
        r->cost[k] = (double)(dome__processor_ns() - start) * processor();
    }
    dome__clock_helped(h->out->env, dome__since_ns(begin), blocks);
    dome__trace_help(h->out->env->trace, rank, begin, blocks);
    put_words(h, rank, RESULT, first, count);
    put(h, rank, DOME_F64, r->cost, blocks);
    put(h, rank, h->out->type, r->out, count * h->out->width);
}

/* ---- being helped ---- */

static void tell_end(help *h, partner *p)
{
    p->told = true;
    put_words(h, p->rank, END, 0, h->able);
}

static void take_result(help *h, partner *p)
{
    uint64_t blocks = blocks_in(h, p->count);
    double *cost = g_new(double, blocks);
    take(h, p->rank, DOME_F64, cost, blocks);
    take(h, p->rank, h->out->type, h->out->data + p->at * DVEC_ELEMENT(h->out), p->count * h->out->width);
    for (uint64_t k = 0; k < blocks && h->block_ns; k++)
        h->block_ns[p->first / h->block_size + k] += cost[k] / processor();
    g_free(cost);
    p->count = 0;
}

/* Receives one message, whose first words have arrived. */
static void take_message(help *h, partner *p)
{
    int64_t words[WORDS] = {0};
    take(h, p->rank, DOME_I64, words, WORDS);
    if (h->status != DOME_OK)
        return;
    if (words[KIND] == END) {
        p->ended = true;
        p->able = words[COUNT];
    } else if (words[KIND] == BLOCKS) {
        compute_for(h, p->rank, (uint64_t)words[FIRST], (uint64_t)words[COUNT]);
    } else {
        take_result(h, p);
        if (h->begun == h->end && !p->told)
            tell_end(h, p);
    }
}

/* Hands some of the last blocks over to a partner that waits. */
static void hand_over(help *h, partner *p, uint64_t helpers)
{
    uint64_t left = h->end - h->begun;
    uint64_t blocks = CLAMP(left / (2 * (helpers + 1)), 1, h->most);
    if (h->end - blocks < h->in_front && h->end > h->in_front)
        blocks = h->end - h->in_front; /* those of one span */
    double each = h->seconds / (double)h->begun, sending = (double)h->block_bytes / p->bandwidth;
    if (left < 2 || !h->begun || (each - sending) * (double)blocks < 2 * p->latency)
        return;
    h->end -= blocks;
    p->at = elements_of(h, h->end, blocks, &p->first, &p->count);
    put_words(h, p->rank, BLOCKS, p->first, p->count);
    for (int i = 0; i < h->nin; i++)
        if (h->in[i]->distribution != DOME_WHOLE)
            put(h, p->rank, h->in[i]->type, h->in[i]->data + p->at * DVEC_ELEMENT(h->in[i]), p->count * h->in[i]->width);
}

static void look(help *h)
{
    uint64_t helpers = 0, now = dome__now_ns();
    if (now - h->looked < LOOK_NS)
        return;
    h->looked = now;
    for (int k = 0; k < h->npartners && h->status == DOME_OK; k++) {
        partner *p = &h->partners[k];
        while (h->status == DOME_OK && dome__transport_arrived(h->t, p->rank, DOME_CHANNEL_DATA))
            take_message(h, p);
        helpers += p->able;
    }
    for (int k = 0; k < h->npartners && h->status == DOME_OK; k++)
        if (h->partners[k].able && !h->partners[k].count)
            hand_over(h, &h->partners[k], helpers);
}

/* ---- the whole ---- */

static int compare_partners(const void *a, const void *b)
{
    const partner *x = a, *y = b;
    return (x->latency > y->latency) - (x->latency < y->latency);
}

/* Tasks at distances of powers of two, either way; the nearest by link first. */
static void choose_partners(help *h)
{
    const dome_transport *t = h->t;
    h->partners = g_new0(partner, t->group.size);
    h->ranks = g_new(int, t->group.size);
    for (int distance = 1; distance < t->group.size; distance *= 2)
        for (int side = 0; side < 2; side++) {
            int rank = (t->group.rank + (side ? distance : t->group.size - distance)) % t->group.size;
            bool known = false;
            for (int k = 0; k < h->npartners; k++)
                known |= h->partners[k].rank == rank;
            if (known)
                continue;
            dome_reach reach = dome__group_reach(&t->group, t->group.rank, rank);
            bool near = reach == DOME_REACH_HOST || (t->group.leader && t->group.leader[rank] == t->group.leader[t->group.rank]);
            double bandwidth = t->group.links.crowded[reach], latency = t->group.links.latency[reach];
            h->partners[h->npartners++] = (partner){.rank = rank,
                                                    .bandwidth = bandwidth > 0 ? bandwidth
                                                                 : near        ? NEAR_BANDWIDTH
                                                                               : FAR_BANDWIDTH,
                                                    .latency = latency > 0 ? latency
                                                               : near      ? NEAR_LATENCY
                                                                           : FAR_LATENCY};
        }
    qsort(h->partners, (size_t)h->npartners, sizeof *h->partners, compare_partners);
}

static void survey(help *h)
{
    dvec__spans(h->out, h->spans);
    h->block_size = dome_layout_block_size(h->out->layout);
    h->in_front = blocks_in(h, h->spans[0].count);
    h->end = h->in_front + blocks_in(h, h->spans[1].count);
    uint64_t element = DVEC_ELEMENT(h->out);
    for (int i = 0; i < h->nin; i++)
        element += h->in[i]->distribution == DOME_WHOLE ? 0 : DVEC_ELEMENT(h->in[i]);
    h->block_bytes = element * h->block_size;
    h->most = MAX(1, MOST_BYTES / h->block_bytes);
    choose_partners(h);
}

/* Waits for the partners, and helps them. */
static void await_others(help *h)
{
    h->able = make_rooms(h);
    for (int k = 0; k < h->npartners; k++)
        if (!h->partners[k].count)
            tell_end(h, &h->partners[k]);
    while (h->status == DOME_OK) {
        int n = 0;
        for (int k = 0; k < h->npartners; k++)
            if (!h->partners[k].ended || h->partners[k].count)
                h->ranks[n++] = h->partners[k].rank;
        if (n == 0)
            break;
        int rank = dome__wait_for_any(h->t, h->ranks, n, DOME_CHANNEL_DATA);
        for (int k = 0; k < h->npartners; k++)
            if (h->partners[k].rank == rank)
                take_message(h, &h->partners[k]);
    }
    free_rooms(h);
}

int dvec__map_anywhere(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[])
{
    dome_env *env = out->env;
    help h = {.out = out, .kernel = kernel, .ctx = ctx, .nin = nin, .in = in, .t = env->transport};
    survey(&h);
    dome__block_clock_start(&h.clock, env, out->distribution == DOME_DYNAMIC ? out->layout : NULL);
    h.block_ns = h.clock.times ? h.clock.times->ns : NULL;
    h.looked = dome__now_ns();
    while (h.begun < h.end && h.status == DOME_OK) {
        compute_own(&h);
        if (h.begun < h.end)
            look(&h);
    }
    dome__block_clock_stop(&h.clock);
    await_others(&h);
    g_free(h.partners);
    g_free(h.ranks);
    return h.status == DOME_OK ? DOME_OK : dome__fail_transport(env, h.status);
}
