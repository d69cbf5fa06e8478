#include "objects/dvec_fold.h"

#include "core/layout.h"
#include "eval/eval.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

/* A node of the tree that lies in the spans of one task. */
typedef struct node {
    uint64_t first; /* block */
    int level;
    unsigned result; /* number of its result */
} node;

/* The nodes of one or all tasks, in the order of their runs, and their results. */
typedef struct tree {
    const dvec_fold *f;
    uint64_t blocks; /* of the vector */
    int top;         /* level of the root */
    int most;        /* level up to which a task combines its own nodes */
    GArray *nodes;
    char *results, *work; /* work: two results for each level up to the root's, and some for the check */
    size_t bytes;         /* of a result */
    dome_failure *failure;
} tree;

enum { ALIGNMENT = 64, CHECKED = 3 };

static char *results_new(const tree *t, uint64_t count)
{
    void *memory = NULL;
    if (count > (SIZE_MAX - ALIGNMENT) / t->bytes || posix_memalign(&memory, ALIGNMENT, MAX(count, 1) * t->bytes))
        return NULL;
    return memset(memory, 0, MAX(count, 1) * t->bytes);
}

/* The tree's levels. There is memory for results of these alone, because a program's results may be long. */
static size_t levels(const tree *t)
{
    return (size_t)t->top + 1;
}

static char *result_of(const tree *t, unsigned k)
{
    return t->results + k * t->bytes;
}

/* ---- the check ---- */

static void note_failure(tree *t, uint64_t block, const char *about, char *text)
{
    const dvec_fold *f = t->f;
    char *line = g_strdup_printf("%s %s block %" G_GUINT64_FORMAT " %s", f->combine_name, about, block, text);
    g_free(text);
    if (t->failure)
        g_free(line);
    else
        t->failure = dome__failure_new(f->x->env->position.sequence, block, line);
}

/* Combines three results in two orders. Returns the first one, in t->work. */
static char *check_three(tree *t, uint64_t block, const char *about, const void *const part[3])
{
    const dvec_fold *f = t->f;
    char *left = t->work + 2 * levels(t) * t->bytes, *right = left + t->bytes, *end = right + t->bytes;
    memcpy(left, part[0], t->bytes);
    f->combine(f->ctx, left, part[1]);
    f->combine(f->ctx, left, part[2]);
    memcpy(end, part[1], t->bytes);
    f->combine(f->ctx, end, part[2]);
    memcpy(right, part[0], t->bytes);
    f->combine(f->ctx, right, end);
    char *text = NULL;
    if (dvec__fold_differs(f->type, left, right, part, &text))
        note_failure(t, block, about, text);
    return left;
}

/* Compares a block's result with that of its three parts. */
static void check_block(tree *t, uint64_t block, uint64_t first, uint64_t count, const char *x, const char *result)
{
    const dvec_fold *f = t->f;
    if (count < 3 || t->failure)
        return;
    char *parts = results_new(t, 3), *text = NULL;
    const void *part[3];
    for (uint64_t k = 0; k < 3 && parts; k++) {
        const uint64_t begin = k * (count / 3), end = k == 2 ? count : begin + count / 3;
        part[k] = parts + k * t->bytes;
        f->block(f->ctx, first + begin, (size_t)(end - begin), parts + k * t->bytes, x + begin * DVEC_ELEMENT(f->x));
    }
    if (parts) {
        const char *combined = check_three(t, block, "is not associative: as (a b) c or a (b c), three parts of", part);
        if (!t->failure && dvec__fold_differs(f->type, combined, result, part, &text))
            note_failure(t, block, "of parts does not give what block gives of all: three parts, and all, of", text);
    }
    free(parts);
}

/* Combines each three blocks that follow each other, in two orders: all tasks have all results and find the same. */
static int check_all(tree *t)
{
    for (guint k = 0; k + 2 < t->nodes->len && !t->failure; k++) {
        const void *part[3];
        for (guint j = 0; j < 3; j++)
            part[j] = result_of(t, g_array_index(t->nodes, node, k + j).result);
        check_three(t, k, "is not associative: as (a b) c or a (b c), the results of three blocks from", part);
    }
    return dome__failure_report(t->f->x->env, t->failure);
}

/* ---- this task's nodes ---- */

/* Combines the last nodes as far as the tree has it, after `block` has been added. */
static void combine_last(tree *t, uint64_t block)
{
    for (;;) {
        node *last = &g_array_index(t->nodes, node, t->nodes->len - 1);
        const uint64_t both = (uint64_t)2 << last->level;
        if (last->level >= t->most)
            return;
        if (last->first % both == 0) {
            if (block + 1 < t->blocks)
                return;
            last->level++; /* there is no right half */
            continue;
        }
        node *before = last - 1;
        if (t->nodes->len < 2 || before->level != last->level || before->first + both / 2 != last->first)
            return;
        t->f->combine(t->f->ctx, result_of(t, before->result), result_of(t, last->result));
        before->level++;
        g_array_set_size(t->nodes, t->nodes->len - 1);
    }
}

static void visit(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first)
{
    (void)y;
    tree *t = ctx;
    const dvec_fold *f = t->f;
    const uint64_t width = f->x->width, size = dome_layout_block_size(f->x->layout);
    for (uint64_t done = 0, count; done < values; done += count) {
        count = MIN(block, values - done);
        const uint64_t element = (first + done) / width;
        const node n = {.first = element / size, .result = t->nodes->len};
        const char *from = (const char *)x + done * DVEC_VALUE(f->x);
        char *result = result_of(t, n.result);
        f->block(f->ctx, element, (size_t)(count / width), result, from);
        if (f->check)
            check_block(t, n.first, element, count / width, from, result);
        g_array_append_val(t->nodes, n);
        combine_last(t, n.first);
    }
}

/* Appends the nodes that cover a rank's blocks, in the order of its run: those that its combine_last leaves. */
static void append_nodes(const tree *t, GArray *nodes, int rank)
{
    dome_span ranges[2];
    int count = dome__layout_block_ranges(t->f->x->layout, rank, ranges);
    for (int s = 0; s < count; s++) {
        uint64_t begin = ranges[s].first, stop = begin + ranges[s].count;
        while (begin < stop) {
            int level = 0;
            while (level < t->most && begin % ((uint64_t)2 << level) == 0 &&
                   (stop == t->blocks || begin + ((uint64_t)2 << level) <= stop))
                level++;
            node n = {.first = begin, .level = level, .result = nodes->len};
            g_array_append_val(nodes, n);
            begin = MIN(begin + ((uint64_t)1 << level), stop);
        }
    }
}

/* ---- all tasks' ---- */

static gint node_order(gconstpointer a, gconstpointer b)
{
    uint64_t left = ((const node *)a)->first, right = ((const node *)b)->first;
    return (left > right) - (left < right);
}

/* Computes a node from the nodes below it, which are in the order of their blocks; *next is the first one not used yet. */
static void upper_node(const tree *t, int level, uint64_t first, const node **next, char *result)
{
    if ((*next)->level == level && (*next)->first == first) {
        memcpy(result, result_of(t, (*next)->result), t->bytes);
        ++*next;
        return;
    }
    uint64_t middle = first + ((uint64_t)1 << (level - 1));
    upper_node(t, level - 1, first, next, result);
    if (middle < t->blocks) {
        char *right = t->work + (size_t)(level - 1) * t->bytes;
        upper_node(t, level - 1, middle, next, right);
        t->f->combine(t->f->ctx, result, right);
    }
}

/* Replaces this task's nodes by those of all tasks. A task sends its results in portable form and whether it has failed; how many
 * results the others send follows from the layout. */
static int exchange(tree *t)
{
    const dvec *x = t->f->x;
    dome_env *env = x->env;
    const int size = env->size, rank = env->rank;
    const size_t portable = dome_type_portable_size(t->f->type);
    GArray *all = g_array_new(FALSE, TRUE, sizeof(node));
    uint64_t *counts = g_new(uint64_t, size);
    for (int k = 0; k < size; k++) {
        guint before = all->len;
        append_nodes(t, all, k);
        counts[k] = (all->len - before) * portable + 1;
    }
    char *results = results_new(t, all->len), *recv = g_try_malloc(all->len * portable + (size_t)size);
    char *send = g_try_malloc(counts[rank]), *to = send;
    int status = dvec__agree_memory(x, results && recv && send, "the results of blocks");
    if (status == DOME_OK) {
        for (guint k = 0; k < t->nodes->len; k++, to += portable)
            dome_type_pack(t->f->type, DOME_PORTABLE, to, result_of(t, g_array_index(t->nodes, node, k).result), 1);
        *to = t->failure != NULL;
        status = dome__allgatherv(env->transport, DOME_U8, send, counts, recv);
        if (status != DOME_OK)
            status = dome__fail_transport(env, status);
    }
    if (status == DOME_OK) {
        bool failed = false;
        unsigned k = 0;
        const char *from = recv;
        for (int task = 0; task < size; task++) {
            for (uint64_t left = counts[task]; left > portable; left -= portable, from += portable)
                dome_type_unpack(t->f->type, DOME_PORTABLE, results + k++ * t->bytes, from, 1);
            failed |= *from++ != 0;
        }
        status = failed ? dome__failure_agree(env, t->failure) : DOME_OK;
    }
    g_free(recv);
    g_free(send);
    g_free(counts);
    free(t->results);
    t->results = results;
    g_array_free(t->nodes, TRUE);
    t->nodes = all;
    return status;
}

/* Sets the tree's nodes and results on all tasks, in the order of the blocks. */
static int gather_nodes(tree *t)
{
    const dvec *x = t->f->x;
    dome_env *env = x->env;
    const bool alone = x->distribution == DOME_WHOLE || env->size == 1;
    const dome_eval_reduction what = {.lead = x, .x = x, .visit = visit, .ctx = t, .terms = DOME_TERMS};
    dome__eval_reduce(env, &what);
    dome_failure *failure = dome__failure_first(dome__eval_failure(x), t->failure);
    if (failure != t->failure) {
        dome__failure_unref(t->failure);
        t->failure = dome__failure_ref(failure);
    }
    int status = alone ? dome__failure_report(env, t->failure) : exchange(t);
    if (status == DOME_OK) {
        g_array_sort(t->nodes, node_order);
        status = t->f->check ? check_all(t) : DOME_OK;
    }
    return status;
}

/* all: every block is a node, also where a task could combine several. */
static int tree_new(tree *t, const dvec_fold *f, bool all)
{
    const dvec *x = f->x;
    const uint64_t size = dome_layout_block_size(x->layout), local = (x->local + size - 1) / size + 1;
    *t = (tree){.f = f, .blocks = dome_layout_blocks(x->layout), .bytes = dome_type_size(f->type)};
    while (t->blocks > (uint64_t)1 << t->top)
        t->top++;
    t->most = all ? 0 : t->top;
    t->nodes = g_array_new(FALSE, TRUE, sizeof(node));
    /* At any time a task has at most two nodes of each level in each of its two spans, and one that it has just added. */
    t->results = results_new(t, all ? local : MIN(local, 4 * levels(t) + 1));
    t->work = results_new(t, 2 * levels(t) + CHECKED);
    return dvec__agree_memory(x, t->results && t->work, "the results of blocks");
}

static void tree_free(tree *t)
{
    g_array_free(t->nodes, TRUE);
    free(t->results);
    free(t->work);
    dome__failure_unref(t->failure);
}

int dvec__fold(const dvec_fold *f, void *result)
{
    if (f->x->length == 0)
        return DOME_OK;
    tree t;
    int status = tree_new(&t, f, f->check);
    if (status == DOME_OK)
        status = gather_nodes(&t);
    if (status == DOME_OK) {
        const node *next = &g_array_index(t.nodes, node, 0);
        char *root = t.work + (size_t)t.top * t.bytes;
        upper_node(&t, t.top, 0, &next, root);
        memcpy(result, root, t.bytes);
    }
    tree_free(&t);
    return status;
}

int dvec__fold_prefixes(const dvec_fold *f, dvec_prefix each, void *ctx)
{
    if (f->x->length == 0)
        return DOME_OK;
    tree t;
    int status = tree_new(&t, f, true), depth = 0;
    if (status == DOME_OK)
        status = gather_nodes(&t);
    /* whole[d]: the nodes that cover the blocks so far, the largest first; until[d]: the first d + 1 of them combined */
    char *whole = t.work, *until = t.work + levels(&t) * t.bytes;
    for (uint64_t b = 0; b < t.blocks && status == DOME_OK; b++) {
        each(ctx, b, depth ? until + (size_t)(depth - 1) * t.bytes : NULL);
        memcpy(whole + (size_t)depth++ * t.bytes, result_of(&t, g_array_index(t.nodes, node, b).result), t.bytes);
        for (uint64_t n = b + 1; n % 2 == 0; n /= 2, depth--)
            f->combine(f->ctx, whole + (size_t)(depth - 2) * t.bytes, whole + (size_t)(depth - 1) * t.bytes);
        const size_t last = (size_t)(depth - 1) * t.bytes;
        memcpy(until + last, depth > 1 ? until + last - t.bytes : whole, t.bytes);
        if (depth > 1)
            f->combine(f->ctx, until + last, whole + last);
    }
    tree_free(&t);
    return status;
}
