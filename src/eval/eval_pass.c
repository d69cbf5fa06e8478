/* One pass: recorded values are computed piece by piece, each piece by all operations while it is in the cache. Values that need
 * not be stored are kept in tiles, which are reused. */
#include "core/type_private.h"
#include "eval/eval_private.h"
#include "kernels/repeat.h"
#include "trace/record.h"
#include "transport/ahead.h"

#include <stdlib.h>
#include <string.h>

/* Values of a piece: few enough that the processor is still busy with a slow operation on one piece when it begins the next, and
 * reads memory meanwhile; many enough that the cost of calls does not count. Kernels have loops of exactly this length. */
#define PIECE_VALUES DOME_KERNEL_TILE

/* Values of a group, the unit of a pass's outer loop. Tiles have room for a group, which is one piece while operations are timed
 * separately. */
#define GROUP_VALUES 1024

/* A pass of more pieces than this is long enough to time its operations separately in one of them. */
#define MANY_PIECES 8

/* Tiles begin at different offsets in their pages: processors at first take addresses with equal offsets for the same. */
enum { TILE_ALIGNMENT = 64, TILE_SHIFT = 5 * TILE_ALIGNMENT };

/* The location of values: a vector's memory, or a tile. */
typedef struct operand {
    char *data;
    uint64_t element; /* bytes; 0: a tile, the same for each piece */
    bool global;      /* addressed by global index, not by position in the task's part */
} operand;

/* An operation prepared for a pass. */
typedef struct step {
    dome_kernel kernel;
    dome_kernel_args args;
    operand out, in[INPUTS_MAX];
    int inputs;
    uint64_t out_move, in_move[INPUTS_MAX]; /* bytes from piece to piece; 0 for tiles */
    bool accumulates;                       /* the kernel adds to `out`, so in[1] must be there before: axpy */
    uint64_t bad;                           /* the first value without a result; UINT64_MAX if none */
    int node;
} step;

typedef struct work {
    const eval_list *list;
    const dome_eval_reduction *reduction;
    step step[NODES_MAX];
    int steps, active;        /* the last of them may be left to the reduction: then active < steps */
    step pair[NODES_MAX / 2]; /* two steps done by one kernel */
    step *order[NODES_MAX];   /* the steps of each piece, when operations are not timed separately */
    int ordered;
    operand value[NODES_MAX]; /* location of each value of the list */
    operand x, y;             /* of the reduction */
    dome_terms terms;         /* of the reduction, if it is a sum computed in this file; else DOME_TERMS */
    dome_sum_kernel sum;
    dome_parts_kernel parts; /* NULL: sums are computed over whole blocks */
    uint64_t widest;
    uint64_t piece, group; /* elements at a time; a group is whole blocks */
} work;

static uint64_t element_bytes(const eval_node *node)
{
    return dome_type_size(node->type) * node->width;
}

static operand in_memory(const eval_list *list, const dvec *x)
{
    return (operand){x->data, DVEC_ELEMENT(x), x->layout != list->layout && !dome_layout_equal(x->layout, list->layout)};
}

static char *address(const operand *o, uint64_t first, uint64_t place)
{
    return o->data + (o->global ? first : place) * o->element;
}

static void make_step(work *w, int number, int k)
{
    const eval_node *node = &w->list->node[k];
    step *s = &w->step[number];
    s->bad = UINT64_MAX;
    s->node = k;
    s->out = w->value[k];
    s->accumulates = dome__elementwise_of(node->code)->flags & DOME_ACCUMULATES;
    s->inputs = 0;
    for (int i = 0; i < INPUTS_MAX; i++) {
        s->args.in[i] = NULL;
        s->in_move[i] = 0;
    }
    for (int i = 0; i < INPUTS_MAX; i++) {
        if (node->arg[i] < 0 && !node->leaf[i])
            break;
        s->in[i] = node->leaf[i] ? in_memory(w->list, node->leaf[i]) : w->value[node->arg[i]];
        s->inputs++;
    }
    s->args.value = node->value;
    s->args.width = node->width;
    s->args.bytes = dome_type_size(node->type);
    s->args.ops = node->type->ops ? node->type->ops : node->from ? node->from->ops : NULL;
    s->args.seed = node->scalar;
    memcpy(&s->args.a, &node->scalar, sizeof s->args.a);
    if (node->code == DOME_OP_DVEC_REPEAT)
        s->kernel = node->value ? dome__kernel_repeat_row : dome__kernel_repeat_values;
    else if (node->value)
        s->kernel = dome__kernel_fill_value;
    else
        s->kernel = dome__kernel(node->code, dome__elementwise_by_input(node->code) ? node->from : node->type, node->from);
}

/* Sets the addresses of an operation's operands for the element with global index first, number `place` of the task's part. */
static void point(step *s, uint64_t first, uint64_t place, uint64_t piece)
{
    for (int i = 0; i < s->inputs; i++) {
        s->args.in[i] = address(&s->in[i], first, place);
        s->in_move[i] = s->in[i].element * piece;
    }
    s->args.out = address(&s->out, first, place);
    s->out_move = s->out.element * piece;
    s->args.first = first;
}

/* Applies an operation to the next count elements. */
static inline void apply(step *s, uint64_t count)
{
    const uint64_t values = count * s->args.width;
    if (s->accumulates && s->args.out != s->args.in[1] && values)
        memcpy(s->args.out, s->args.in[1], values * s->args.bytes);
    const uint64_t done = s->kernel(&s->args, values);
    if (done < values && s->bad > s->args.first * s->args.width + done)
        s->bad = s->args.first * s->args.width + done;
}

/* Advances the operands to the next piece. */
static inline void advance(step *s, uint64_t piece)
{
    s->args.out = (char *)s->args.out + s->out_move;
    for (int i = 0; i < INPUTS_MAX; i++)
        s->args.in[i] = (const char *)s->args.in[i] + s->in_move[i];
    s->args.first += piece;
}

static void note_failure(eval_list *list, const step *s)
{
    eval_node *node = &list->node[s->node];
    if (node->failure) /* found earlier, when the value was computed for others */
        return;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s into '%s': element %" G_GUINT64_FORMAT, dome__operation_name(node->code),
                           dome_object_name(node->out->object), s->bad / node->width);
    if (node->width > 1)
        g_string_append_printf(text, ", value %" G_GUINT64_FORMAT ",", s->bad % node->width);
    g_string_append_printf(text, " is %s", dome__elementwise_of(node->code)->failure);
    node->failure = dome__failure_new(node->operation, s->bad, g_string_free(text, FALSE));
    list->failed = true;
}

/* ---- places ---- */

/* For each value: the last value of the pass that depends on it directly; itself if none does. */
static void find_last_uses(const eval_list *list, node_set needed, int last[NODES_MAX])
{
    for (node_set rest = needed; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest);
        last[k] = k;
        for (int i = 0; i < INPUTS_MAX; i++)
            if (list->node[k].arg[i] >= 0)
                last[list->node[k].arg[i]] = k;
    }
}

/* Gives each value its location: its vector's memory, or a tile that is no longer needed. Returns the number of tiles. */
static int find_places(work *w, const eval_pass *pass, int tile_of[NODES_MAX])
{
    const eval_list *list = pass->list;
    int tiles = 0, last[NODES_MAX], until[NODES_MAX]; /* until: by tile: the last value that needs its contents */
    find_last_uses(list, pass->needed, last);
    node_set kept = 0;
    if (pass->reduction) {
        const dvec *x = pass->reduction->x, *y = pass->reduction->y;
        if (x->lazy->value && x->lazy->work == list)
            kept |= NODE(x->lazy->value - 1);
        if (y && y->lazy->value && y->lazy->work == list)
            kept |= NODE(y->lazy->value - 1);
    }
    for (node_set rest = pass->needed; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest), tile = 0;
        const eval_node *node = &list->node[k];
        tile_of[k] = -1;
        if (pass->stores & NODE(k)) {
            w->value[k] = in_memory(list, node->out);
            continue;
        }
        /* An output may replace an input only if their values are of equal size. */
        for (; tile < tiles; tile++) {
            bool fits = until[tile] < k;
            for (int i = 0; i < INPUTS_MAX && !fits && until[tile] == k; i++)
                fits = node->arg[i] >= 0 && tile_of[node->arg[i]] == tile &&
                       element_bytes(&list->node[node->arg[i]]) == element_bytes(node);
            if (fits && until[tile] == k && dome__elementwise_of(node->code)->flags & DOME_ACCUMULATES)
                fits = node->arg[0] < 0 || tile_of[node->arg[0]] != tile;
            if (fits)
                break;
        }
        tiles = MAX(tiles, tile + 1);
        tile_of[k] = tile;
        until[tile] = kept & NODE(k) ? NODES_MAX : last[k];
    }
    return tiles;
}

static void make_tiles(dome_env *env, work *w, const eval_pass *pass, const int tile_of[NODES_MAX], int tiles,
                       eval_memory *scratch)
{
    uint64_t most = 0;
    for (node_set rest = pass->needed & ~pass->stores; rest; rest &= rest - 1)
        most = MAX(most, element_bytes(&pass->list->node[__builtin_ctzll(rest)]));
    uint64_t stride = (most * w->group + TILE_ALIGNMENT - 1) / TILE_ALIGNMENT * TILE_ALIGNMENT + TILE_SHIFT;
    uint64_t bytes = stride * (uint64_t)tiles;
    if (bytes > scratch->bytes) {
        free(scratch->base);
        scratch->bytes = 0;
        if (posix_memalign(&scratch->base, TILE_ALIGNMENT, bytes))
            dome_abort(env, "no memory for %" G_GUINT64_FORMAT " bytes of intermediate values", bytes);
        scratch->bytes = bytes;
    }
    for (node_set rest = pass->needed & ~pass->stores; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest);
        w->value[k] = (operand){.data = (char *)scratch->base + stride * (uint64_t)tile_of[k]};
    }
}

/* The largest power of two up to x. */
static uint64_t power_up_to(uint64_t x)
{
    return (uint64_t)1 << (63 - __builtin_clzll(x | 1));
}

/* Sets the sizes of pieces and groups. Pieces are whole blocks or parts of one. Values in tiles are summed over whole blocks, or
 * part by part. */
static void find_pieces(work *w, const eval_pass *pass)
{
    const dome_eval_reduction *r = pass->reduction;
    w->widest = 1;
    for (node_set rest = pass->needed; rest; rest &= rest - 1)
        w->widest = MAX(w->widest, pass->list->node[__builtin_ctzll(rest)].width);
    const uint64_t block = dome_layout_block_size(pass->list->layout);
    w->group = MAX(GROUP_VALUES / w->widest / block, 1) * block;
    w->piece = w->group;
    if (pass->needed & (pass->needed - 1)) /* a single operation has no other to overlap with */
        w->piece = MIN(power_up_to(PIECE_VALUES / w->widest), w->group);
    if (w->piece >= block || w->piece * w->widest % DOME_PARTS)
        w->parts = NULL;
    if (r && !w->parts && !(w->x.element && (w->y.element || !r->y)))
        w->piece = MAX(w->piece, block);
}

static operand reduced(const work *w, const eval_pass *pass, const dvec *x)
{
    if (x->lazy->value && x->lazy->work == w->list && !(pass->stores & NODE(x->lazy->value - 1)))
        return w->value[x->lazy->value - 1];
    return in_memory(w->list, x);
}

/* ---- pairs ---- */

/* Whether step k can be delayed until just before step m: its inputs are not overwritten in between. */
static bool can_wait(const work *w, int k, int m)
{
    const step *first = &w->step[k];
    for (int j = k + 1; j < m; j++)
        for (int i = 0; i < first->inputs; i++)
            if (w->step[j].out.data == first->in[i].data)
                return false;
    return true;
}

/* Combines step m with the step that computes its operand number i; false if there is no kernel for the two. */
static bool make_pair(const work *w, int k, int m, int i, step *pair)
{
    const step *first = &w->step[k], *second = &w->step[m];
    const eval_node *one = &w->list->node[first->node], *two = &w->list->node[second->node];
    if (one->value || two->value || one->type != two->type || one->width != two->width || second->inputs != 2)
        return false;
    dome_kernel kernel = dome__pair_kernel(one->code, two->code, i == 0, two->type);
    if (!kernel)
        return false;
    *pair = *second;
    pair->kernel = kernel;
    pair->args.a = first->args.a;
    pair->in[0] = first->in[0];
    pair->in[1] = first->inputs > 1 ? first->in[1] : first->in[0];
    pair->in[2] = second->in[1 - i];
    pair->inputs = 3;
    return true;
}

/* Combines an operation whose value only one other operation reads with that one, if there is a kernel for the two. */
static void find_order(work *w, const eval_pass *pass)
{
    w->ordered = 0;
    if (w->active < 2 || dome_layout_local(w->list->layout, w->list->rank) <= w->piece) { /* the search would cost more than it
                                                                                           * gains */
        for (; w->ordered < w->active; w->ordered++)
            w->order[w->ordered] = &w->step[w->ordered];
        return;
    }
    int uses[NODES_MAX] = {0}, step_of[NODES_MAX], pairs = 0;
    const eval_list *list = w->list;
    for (int k = 0; k < w->steps; k++) {
        const eval_node *node = &list->node[w->step[k].node];
        step_of[w->step[k].node] = k;
        for (int i = 0; i < INPUTS_MAX; i++)
            if (node->arg[i] >= 0)
                uses[node->arg[i]]++;
    }
    for (int v = 0; pass->reduction && v < 2; v++) {
        const dvec *x = v ? pass->reduction->y : pass->reduction->x;
        if (x && x->lazy->value && x->lazy->work == list)
            uses[x->lazy->value - 1] += 2;
    }
    for (int m = 0; m < w->active; m++) {
        const eval_node *node = &list->node[w->step[m].node];
        w->order[m] = &w->step[m];
        for (int i = 1; i >= 0 && w->order[m] == &w->step[m]; i--) {
            int arg = node->arg[i], k = arg >= 0 ? step_of[arg] : -1;
            if (k < 0 || uses[arg] != 1 || pass->stores & NODE(arg) || w->order[k] != &w->step[k] || !can_wait(w, k, m) ||
                !make_pair(w, k, m, i, &w->pair[pairs]))
                continue;
            w->order[k] = NULL;
            w->order[m] = &w->pair[pairs++];
        }
    }
    for (int m = 0; m < w->active; m++)
        if (w->order[m])
            w->order[w->ordered++] = w->order[m];
}

/* ---- running ---- */

static const char *reduced_address(const operand *o, uint64_t first, uint64_t place)
{
    return o->element ? address(o, first, place) : o->data;
}

/* Reduces count elements that have been computed: whole blocks, or the end of one. Tiles begin at the first of them. */
static void reduce_blocks(const work *w, uint64_t first, uint64_t place, uint64_t count)
{
    const dome_eval_reduction *r = w->reduction;
    const uint64_t block = dome_layout_block_size(w->list->layout) * r->lead->width, values = count * r->lead->width;
    const char *x = reduced_address(&w->x, first, place), *y = reduced_address(&w->y, first, place);
    if (w->sum)
        w->sum(x, y, values, block, NULL, r->sums);
    else
        r->visit(r->ctx, x, y, values, block, first * r->lead->width);
}

/* Adds the terms of a piece to the sum of its block, which ends there if `last`. */
static void reduce_part(const work *w, uint64_t first, uint64_t place, uint64_t count, bool last, double part[DOME_PARTS])
{
    w->parts(reduced_address(&w->x, first, place), reduced_address(&w->y, first, place), count * w->reduction->lead->width, part);
    if (!last)
        return;
    dome__exact_add(&w->reduction->sums[0], dome__fold_parts(part));
    memset(part, 0, DOME_PARTS * sizeof *part);
}

/* Runs all operations on one group, `piece` elements at a time; takes their times if weight is not NULL. */
static void run_group(work *w, uint64_t first, uint64_t place, uint64_t count, uint64_t piece, double *weight)
{
    const uint64_t block = dome_layout_block_size(w->list->layout);
    const bool by_parts = w->reduction && w->parts && piece < block;
    const bool by_pieces = w->reduction && !by_parts && piece % block == 0;
    double part[DOME_PARTS] = {0};
    uint64_t before = weight ? dome__now_ns() : 0;
    const int steps = weight ? w->active : w->ordered;
    for (int k = 0; weight && k <= w->steps; k++)
        weight[k] = 0;
    for (int k = 0; k < steps; k++)
        point(weight ? &w->step[k] : w->order[k], first, place, piece);
    for (uint64_t done = 0, n; done < count; done += n) {
        n = MIN(piece, count - done);
        for (int k = 0; k < steps; k++) {
            step *s = weight ? &w->step[k] : w->order[k];
            apply(s, n);
            advance(s, n);
            if (weight) {
                uint64_t now = dome__now_ns();
                weight[k] += (double)(now - before);
                before = now;
            }
        }
        if (by_parts)
            reduce_part(w, first + done, place + done, n, done + n == count || (done + n) % block == 0, part);
        else if (by_pieces)
            reduce_blocks(w, first + done, place + done, n);
        if (weight && (by_parts || by_pieces)) {
            uint64_t now = dome__now_ns();
            weight[w->steps] += (double)(now - before);
            before = now;
        }
    }
    if (w->reduction && !by_parts && !by_pieces) {
        reduce_blocks(w, first, place, count);
        if (weight)
            weight[w->steps] = (double)(dome__now_ns() - before);
    }
}

static void run_spans(work *w, bool plain, double weight[])
{
    dome_span span[2];
    int spans = dome_layout_spans(w->list->layout, w->list->rank, span);
    uint64_t place = 0, probe = MANY_PIECES * w->group;
    if (plain) {
        for (int k = 0; k < w->steps; k++) {
            uint64_t begin = dome__now_ns();
            place = 0;
            for (int s = 0; s < spans; place += span[s++].count) {
                point(&w->step[k], span[s].first, place, 0);
                apply(&w->step[k], span[s].count);
            }
            weight[k] = (double)dome__since_ns(begin);
        }
        return;
    }
    for (int s = 0; s < spans; s++)
        for (uint64_t done = 0, count; done < span[s].count; done += count, place += count) {
            if (done)
                dome__ahead_poll(dome__this_env()->transport);
            count = MIN(w->group, span[s].count - done);
            const bool timed = place == probe;
            run_group(w, span[s].first + done, place, count, timed ? w->group : w->piece, timed ? weight : NULL);
        }
}

/* ---- generated code ---- */

/* A pass as a program for generated code, with the arguments for calling it. */
typedef struct generated {
    chain_program program;
    double scalar[NODES_MAX];
    operand memory[CHAIN_MEMORY_MAX];
    bool written[CHAIN_MEMORY_MAX];
    int memories;
    uint64_t width;
    bool sums; /* the code computes the reduction's sums too */
} generated;

/* The number of a memory location as input or output of a step; CHAIN_NONE if there are too many. */
static uint8_t memory_number(generated *g, const operand *o)
{
    for (int m = 0; m < g->memories; m++)
        if (g->memory[m].data == o->data && g->memory[m].global == o->global)
            return CHAIN_MEMORY(m);
    if (g->memories == CHAIN_MEMORY_MAX)
        return CHAIN_NONE;
    g->memory[g->memories] = *o;
    return CHAIN_MEMORY(g->memories++);
}

/* What describe_step has found so far. */
typedef struct described {
    uint8_t step_of[NODES_MAX]; /* the steps, by their values */
    uint64_t read, written;     /* bytes of each element */
} described;

/* The reduction's operand x: in memory, or the result of the step that computes it. */
static uint8_t reduced_operand(const work *w, generated *g, const dvec *x, const operand *o, const uint8_t step_of[NODES_MAX])
{
    if (x->lazy->value && x->lazy->work == w->list)
        return CHAIN_RESULT(step_of[x->lazy->value - 1]);
    return memory_number(g, o);
}

/* One step; false: it has no generated code. */
static bool describe_step(const work *w, const eval_pass *pass, generated *g, int k, described *d)
{
    const dome_eval_reduction *r = w->reduction;
    const eval_list *list = w->list;
    const step *s = &w->step[k];
    const eval_node *node = &list->node[s->node], *first = &list->node[w->step[0].node];
    const uint64_t value = dome_type_size(first->type);
    chain_program *p = &g->program;
    if (!dome__elementwise_of(node->code)->expression || node->value || node->type != first->type || node->width != g->width)
        return false;
    chain_step *to = &p->step[p->steps];
    d->step_of[s->node] = p->steps++;
    to->number = (uint8_t)dome__elementwise_number(node->code);
    memcpy(&g->scalar[k], &node->scalar, sizeof g->scalar[k]);
    for (int i = 0; i < s->inputs; i++) {
        int known = g->memories;
        to->in[i] = node->arg[i] >= 0 ? CHAIN_RESULT(d->step_of[node->arg[i]]) : memory_number(g, &s->in[i]);
        if (to->in[i] == CHAIN_NONE)
            return false;
        d->read += g->memories > known ? value : 0;
    }
    /* tiles are written only if the reduction reads them */
    bool seen = r && !g->sums && (s->out.data == w->x.data || (r->y && s->out.data == w->y.data)) &&
                ((r->x->lazy->value == (unsigned)s->node + 1 && r->x->lazy->work == list) ||
                 (r->y && r->y->lazy->value == (unsigned)s->node + 1 && r->y->lazy->work == list));
    if (pass->stores & NODE(s->node) || seen) {
        to->out = memory_number(g, &s->out);
        if (to->out == CHAIN_NONE)
            return false;
        d->written += s->out.element ? value : 0;
    }
    return true;
}

static bool describe_pass(const work *w, const eval_pass *pass, generated *g)
{
    const dome_eval_reduction *r = w->reduction;
    const eval_node *first = &w->list->node[w->step[0].node];
    const dome_type_kind kind = dome_type_kind_of(first->type);
    described d;
    d.read = d.written = 0;
    const uint64_t value = dome_type_size(first->type);
    chain_program *p = &g->program;
    if (kind != DOME_KIND_F64 && kind != DOME_KIND_F32)
        return false;
    memset(p, 0, sizeof *p);
    p->kind = (uint8_t)kind;
    p->terms = DOME_TERMS;
    g->memories = 0;
    g->width = first->width;
    g->sums = r && r->terms < DOME_TERMS_SCALED && r->x->type == first->type;
    for (int k = 0; k < w->steps; k++)
        if (!describe_step(w, pass, g, k, &d))
            return false;
    if (g->sums) {
        int known = g->memories;
        p->terms = (uint8_t)r->terms;
        p->x = reduced_operand(w, g, r->x, &w->x, d.step_of);
        if (r->terms == DOME_TERMS_DOT)
            p->y = reduced_operand(w, g, r->y, &w->y, d.step_of);
        if (p->x == CHAIN_NONE || (r->terms == DOME_TERMS_DOT && p->y == CHAIN_NONE))
            return false;
        d.read += (uint64_t)(g->memories - known) * value;
    }
    for (int m = 0; m < g->memories; m++)
        g->written[m] = false;
    for (int k = 0; k < p->steps; k++)
        if (p->step[k].out != CHAIN_NONE)
            g->written[p->step[k].out - CHAIN_MEMORY(0)] = true;
    p->bytes_read = (uint8_t)MIN(d.read, UINT8_MAX);
    p->bytes_written = (uint8_t)MIN(d.written, UINT8_MAX);
    return true;
}

enum { SUMS_MAX = 1024 };

static void run_code(const work *w, const generated *g, chain_code code)
{
    const uint64_t block = dome_layout_block_size(w->list->layout);
    uint64_t most = w->group;
    if (!w->reduction || g->sums)
        most = MAX(most, MIN(64 * w->group, SUMS_MAX * block));
    dome_span span[2];
    int spans = dome_layout_spans(w->list->layout, w->list->rank, span);
    uint64_t place = 0;
    for (int s = 0; s < spans; s++)
        for (uint64_t done = 0, count; done < span[s].count; done += count, place += count) {
            void *memory[CHAIN_MEMORY_MAX];
            double sum[SUMS_MAX];
            uint64_t first = span[s].first + done;
            if (done)
                dome__ahead_poll(dome__this_env()->transport);
            count = MIN(most, span[s].count - done);
            for (int m = 0; m < g->memories; m++)
                memory[m] = address(&g->memory[m], first, place);
            code(memory, g->scalar, count * g->width, block * g->width, sum);
            if (g->sums)
                for (uint64_t b = 0; b * block < count; b++)
                    dome__exact_add(&w->reduction->sums[0], sum[b]);
            else if (w->reduction)
                reduce_blocks(w, first, place, count);
        }
}

static bool same_bits(const void *x, const void *y, uint64_t values, bool single)
{
    for (uint64_t k = 0; k < values; k++) {
        if (single) {
            float a = ((const float *)x)[k], b = ((const float *)y)[k];
            if (memcmp(&a, &b, sizeof a) != 0 && (a == a || b == b))
                return false;
        } else {
            double a = ((const double *)x)[k], b = ((const double *)y)[k];
            if (memcmp(&a, &b, sizeof a) != 0 && (a == a || b == b))
                return false;
        }
    }
    return true;
}

/* The results of the code for the first group, in copies of the memory that it writes to. */
typedef struct trial {
    uint64_t first, count;
    void *memory[CHAIN_MEMORY_MAX];
    double sum[SUMS_MAX];
} trial;

static trial *try_code(const work *w, const generated *g, chain_code code)
{
    dome_span span[2];
    if (dome_layout_spans(w->list->layout, w->list->rank, span) == 0 || span[0].count == 0)
        return NULL;
    trial *t = g_new(trial, 1);
    const uint64_t value = g->program.kind == DOME_KIND_F32 ? sizeof(float) : sizeof(double);
    t->first = span[0].first;
    t->count = MIN(w->group, span[0].count);
    for (int m = 0; m < g->memories; m++) {
        char *real = address(&g->memory[m], t->first, 0);
        t->memory[m] = g->written[m] ? g_memdup2(real, t->count * g->width * value) : real;
    }
    code(t->memory, g->scalar, t->count * g->width, dome_layout_block_size(w->list->layout) * g->width, t->sum);
    return t;
}

/* Whether the kernels, which have run the same group since, have given the same results. Ends the trial. */
static bool end_trial(const work *w, const generated *g, trial *t)
{
    bool equal = true, single = g->program.kind == DOME_KIND_F32;
    for (int m = 0; m < g->memories; m++)
        if (g->written[m]) {
            if (g->memory[m].element)
                equal &= same_bits(address(&g->memory[m], t->first, 0), t->memory[m], t->count * g->width, single);
            g_free(t->memory[m]);
        }
    const dome_eval_reduction *r = w->reduction;
    const uint64_t block = dome_layout_block_size(w->list->layout);
    if (g->sums && w->x.element && (!r->y || w->y.element))
        for (uint64_t b = 0; b * block < t->count; b++) {
            dome_exact_sum sums[2];
            uint64_t n = MIN(block, t->count - b * block);
            dome__exact_init(&sums[0]);
            dome__sum_kernel(r->terms, r->x->type)(address(&w->x, t->first + b * block, b * block),
                                                   r->y ? address(&w->y, t->first + b * block, b * block) : NULL, n * g->width,
                                                   n * g->width, NULL, sums);
            double expected = dome__exact_round(&sums[0]), got = t->sum[b] + 0.0; /* exact sums have only one zero */
            equal &= same_bits(&expected, &got, 1, false);
        }
    g_free(t);
    return equal;
}

/* No generated code is used for passes over fewer values than this. */
#define FEW_VALUES 8192

/* Runs the pass, by generated code if there is some. */
static void run(work *w, const eval_pass *pass, double weight[])
{
    uint64_t values = dome_layout_local(w->list->layout, w->list->rank) * w->widest;
    generated g;
    dome_chain *chain = NULL;
    chain_code code = NULL;
    bool check = false;
    if (pass->chains && w->active == w->steps && (values >= FEW_VALUES || dome__chains_now(pass->chains)) && values &&
        describe_pass(w, pass, &g))
        chain = dome__chains_note(pass->chains, &g.program, values);
    if (chain)
        code = dome__chain_code(chain, &check);
    if (code && !check) {
        run_code(w, &g, code);
        return;
    }
    trial *t = code ? try_code(w, &g, code) : NULL;
    if (!pass->plain)
        find_order(w, pass);
    run_spans(w, pass->plain, weight);
    if (t)
        dome__chain_checked(chain, end_trial(w, &g, t));
}

/* ---- the cost ---- */

/* Bytes that a step reads from or writes to memory, per element: each vector is read once in a pass. */
static uint64_t traffic(const work *w, const step *s, uint64_t pass)
{
    const eval_node *node = &w->list->node[s->node];
    uint64_t bytes = s->out.element;
    for (int i = 0; i < s->inputs; i++) {
        const dvec *leaf = node->leaf[i];
        if (!leaf || leaf->lazy->pass == pass)
            continue;
        leaf->lazy->pass = pass;
        bytes += s->in[i].element;
    }
    return bytes;
}

/* Charges the time of a pass to its operations. weight: of each operation, and of the reduction, in any unit. The reduction's
 * share is left to the reduction's own operation. */
static void charge(dome_env *env, const work *w, const double weight[], uint64_t ns, uint64_t pass)
{
    double sum = 0;
    uint64_t charged = 0, elements = dome_layout_local(w->list->layout, w->list->rank);
    for (int k = 0; k <= w->steps; k++)
        sum += weight[k];
    for (int k = 0; k < w->steps; k++) {
        const eval_node *node = &w->list->node[w->step[k].node];
        uint64_t part = sum > 0 ? (uint64_t)((double)ns * (weight[k] / sum)) : 0;
        dome__clock_charge(env, node->code, part, traffic(w, &w->step[k], pass) * elements);
        if (node->out)
            dome__object_charge(node->out->object, part);
        charged += part;
    }
    dome__clock_charged(env, charged);
}

/* Decides how the reduction's terms are computed. A sum of products that nothing else reads is a dot product: each product is
 * rounded, then added. (Terms of a sum of floats are rounded to float, those of a dot product are not.) */
static void find_terms(work *w)
{
    const dome_eval_reduction *r = w->reduction;
    w->terms = r->terms < DOME_TERMS_SCALED ? r->terms : DOME_TERMS;
    const step *last = w->steps == 1 ? &w->step[0] : NULL;
    if (last && w->terms == DOME_TERMS_SUM && dome_type_kind_of(r->x->type) == DOME_KIND_F64 && !last->out.element &&
        w->list->node[last->node].code == DOME_OP_DVEC_MUL) {
        const bool square = last->in[0].data == last->in[1].data && last->in[0].global == last->in[1].global;
        w->terms = square ? DOME_TERMS_SQUARES : DOME_TERMS_DOT;
        w->x = last->in[0];
        w->y = last->in[1];
        w->active = 0;
        w->parts = NULL;
        /* no tiles are used: all blocks at once */
        const uint64_t block = dome_layout_block_size(w->list->layout);
        w->group = w->piece = (dome_layout_local(w->list->layout, w->list->rank) / block + 1) * block;
    }
    if (w->terms != DOME_TERMS)
        w->sum = dome__sum_kernel(w->terms, r->x->type);
}

void dome__eval_pass(dome_env *env, const eval_pass *pass, eval_memory *scratch)
{
    uint64_t begin = dome__now_ns();
    work w;
    int tile_of[NODES_MAX];
    double weight[NODES_MAX + 1];
    w.list = pass->list;
    w.reduction = pass->reduction;
    w.steps = 0;
    w.sum = NULL;
    w.parts = NULL;
    int tiles = find_places(&w, pass, tile_of);
    if (pass->reduction) {
        const dome_eval_reduction *r = pass->reduction;
        for (node_set rest = pass->needed & ~pass->stores; rest; rest &= rest - 1)
            w.value[__builtin_ctzll(rest)] = (operand){0};
        w.x = reduced(&w, pass, r->x);
        w.y = r->y ? reduced(&w, pass, r->y) : (operand){0};
        if (r->terms < DOME_TERMS_SCALED)
            w.parts = dome__parts_kernel(r->terms, r->x->type);
    }
    find_pieces(&w, pass);
    if (tiles)
        make_tiles(env, &w, pass, tile_of, tiles, scratch);
    if (pass->reduction) {
        w.x = reduced(&w, pass, pass->reduction->x);
        w.y = pass->reduction->y ? reduced(&w, pass, pass->reduction->y) : (operand){0};
    }
    for (node_set rest = pass->needed; rest; rest &= rest - 1)
        make_step(&w, w.steps++, __builtin_ctzll(rest));
    w.active = w.steps;
    if (pass->reduction)
        find_terms(&w);
    for (int k = 0; k < w.steps; k++) {
        weight[k] = (double)w.step[k].out.element + 1;
        for (int i = 0; i < w.step[k].inputs; i++)
            weight[k] += (double)w.step[k].in[i].element + 1;
    }
    weight[w.steps] = w.reduction ? 2 : 0;

    run(&w, pass, weight);

    for (int k = 0; k < w.steps; k++)
        if (w.step[k].bad != UINT64_MAX)
            note_failure(pass->list, &w.step[k]);
    uint64_t took = dome__since_ns(begin);
    charge(env, &w, weight, took, ++scratch->passes);
    dome__trace_evaluation(env->trace, (unsigned)w.steps, begin, took);
}

void dome__eval_visit_memory(const dome_eval_reduction *r)
{
    const dvec *lead = r->lead;
    const uint64_t block = dome_layout_block_size(lead->layout), width = lead->width;
    dome_span span[2];
    int spans = dome_layout_spans(lead->layout, lead->layout_rank, span);
    uint64_t place = 0;
    for (int s = 0; s < spans; place += span[s++].count) {
        const uint64_t first = span[s].first, count = span[s].count;
        const char *x = dome__eval_address(r->x, lead->layout, first, place);
        const char *y = r->y ? dome__eval_address(r->y, lead->layout, first, place) : NULL;
        if (count)
            r->visit(r->ctx, x, y, count * width, block * width, first * width);
    }
}
