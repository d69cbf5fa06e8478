#include "eval/eval_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of more values than this are stored in memory before they are reduced. */
#define PASSING_VALUES 16384

struct dome_eval {
    GPtrArray *lists;
    eval_list *spare; /* an empty list, kept for reuse */
    eval_memory scratch;
    bool plain;
    dome_chains *chains; /* NULL: no generated code */
    unsigned failed;     /* vectors with a failure */
};

dome_eval *dome__eval_new(const dome_options *options)
{
    dome_eval *eval = g_new0(dome_eval, 1);
    eval->lists = g_ptr_array_new();
    eval->plain = options->evaluator == DOME_EVALUATOR_PLAIN;
    if (options->evaluator == DOME_EVALUATOR_AUTO || options->evaluator == DOME_EVALUATOR_COMPILED)
        eval->chains = dome__chains_new(options->evaluator == DOME_EVALUATOR_COMPILED);
    return eval;
}

/* ---- values ---- */

static void take_part(const dvec *x, eval_list *list)
{
    x->lazy->pending++;
    x->lazy->work = list;
}

static void leave(const dvec *x)
{
    x->lazy->pending--;
}

/* Whether a value counts as pending work of its vector. */
static bool holds_out(const eval_node *node)
{
    return node->out && (node->owned || node->must);
}

static void release(eval_list *list, int k)
{
    eval_node *node = &list->node[k];
    list->live &= ~NODE(k);
    if (holds_out(node))
        leave(node->out);
    if (node->out && node->out->lazy->value == (unsigned)k + 1)
        node->out->lazy->value = 0;
    if (node->must)
        list->musts--;
    for (int i = 0; i < INPUTS_MAX; i++) {
        int arg = node->arg[i];
        if (node->leaf[i])
            leave(node->leaf[i]);
        if (arg < 0)
            continue;
        eval_node *input = &list->node[arg];
        input->uses--;
        if (input->uses == 0 && !input->owned && !input->must && input->code != DOME_OP_NONE)
            release(list, arg);
    }
    g_free(node->value);
    node->value = NULL;
    if (node->failure)
        dome__failure_unref(g_steal_pointer(&node->failure));
    node->code = DOME_OP_NONE;
    list->hash[k] = 0;
}

/* Called when the value's vector is about to get another value. */
static void disown(eval_list *list, int k)
{
    eval_node *node = &list->node[k];
    bool held = holds_out(node);
    node->owned = false;
    if (node->out && node->out->lazy->value == (unsigned)k + 1)
        node->out->lazy->value = 0;
    if (held && !holds_out(node))
        leave(node->out);
    if (node->uses == 0 && !node->must)
        release(list, k);
}

static void find_deps(eval_list *list)
{
    for (node_set rest = list->live; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest);
        eval_node *node = &list->node[k];
        node->deps = NODE(k);
        for (int i = 0; i < INPUTS_MAX; i++)
            if (node->arg[i] >= 0)
                node->deps |= list->node[node->arg[i]].deps;
    }
}

/* Values that are computed directly from x's memory. */
static node_set readers(const eval_list *list, const dvec *x)
{
    node_set set = 0;
    if (x->lazy->pending > (x->lazy->value != 0))
        for (node_set rest = list->live; rest; rest &= rest - 1) {
            int k = __builtin_ctzll(rest);
            const eval_node *node = &list->node[k];
            if (node->leaf[0] == x || node->leaf[1] == x || node->leaf[2] == x)
                set |= NODE(k);
        }
    return set;
}

/* The values that belong to vectors and are among these values or depend on them. */
static node_set owners(const eval_list *list, node_set of)
{
    node_set set = 0;
    for (node_set rest = of ? list->live : 0; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest);
        if (list->node[k].owned && list->node[k].deps & of)
            set |= NODE(k);
    }
    return set;
}

/* ---- lists ---- */

static eval_list *list_new(dome_eval *eval, const dvec *out)
{
    eval_list *list = eval->spare ? g_steal_pointer(&eval->spare) : g_new(eval_list, 1);
    list->layout = dome_layout_ref(out->layout);
    list->rank = out->layout_rank;
    list->count = list->musts = 0;
    list->live = 0;
    list->failed = false;
    memset(list->hashes, 0, sizeof list->hashes);
    g_ptr_array_add(eval->lists, list);
    return list;
}

static void drop(dome_eval *eval, eval_list *list)
{
    while (list->live)
        release(list, 63 - __builtin_clzll(list->live));
    g_ptr_array_remove_fast(eval->lists, list);
    dome_layout_unref(list->layout);
    if (eval->spare)
        g_free(list);
    else
        eval->spare = list;
}

void dome__eval_free(dome_eval *eval)
{
    if (!eval)
        return;
    while (eval->lists->len)
        drop(eval, g_ptr_array_index(eval->lists, 0));
    g_ptr_array_free(eval->lists, TRUE);
    dome__chains_free(eval->chains);
    g_free(eval->spare);
    free(eval->scratch.base);
    g_free(eval);
}

/* ---- running ---- */

/* Adds the values that must be computed and written to memory together with these. */
static void complete(const eval_list *list, node_set *needed, node_set *stores)
{
    const node_set open = list->live;
    node_set add = *stores;
    do {
        node_set next = 0;
        for (node_set rest = add; rest; rest &= rest - 1) {
            const eval_node *node = &list->node[__builtin_ctzll(rest)];
            *needed |= node->deps & open;
            if (node->computed && node->owned) { /* recomputed, so it should have been written the first time */
                node->out->lazy->kept = true;
                node->out->lazy->passing = false;
            }
            /* values that read this memory must be computed before it is overwritten */
            next |= owners(list, readers(list, node->out));
        }
        for (node_set rest = *needed & ~*stores; rest; rest &= rest - 1) {
            int k = __builtin_ctzll(rest);
            const eval_node *node = &list->node[k];
            if (!node->owned)
                continue;
            if (node->computed) {
                node->out->lazy->kept = true;
                node->out->lazy->passing = false;
            }
            if (node->out->lazy->kept)
                next |= NODE(k);
        }
        add = next & ~*stores;
        *stores |= add;
    } while (add);
}

/* Makes the remaining users of a value that is now in memory read it from there. */
static void read_from_memory(eval_list *list, int k)
{
    eval_node *node = &list->node[k];
    for (node_set rest = list->live & ~(NODE(k) | (NODE(k) - 1)); rest && node->uses; rest &= rest - 1) {
        eval_node *user = &list->node[__builtin_ctzll(rest)];
        for (int i = 0; i < INPUTS_MAX; i++)
            if (user->arg[i] == k) {
                user->arg[i] = -1;
                user->leaf[i] = node->out;
                take_part(node->out, list);
                node->uses--;
            }
    }
}

void dome__eval_set_failure(dvec *x, dome_failure *failure)
{
    if (x->lazy->failure == failure)
        return;
    x->env->eval->failed += (failure != NULL) - (x->lazy->failure != NULL);
    dome__failure_unref(x->lazy->failure);
    x->lazy->failure = dome__failure_ref(failure);
}

/* A value computed from one that could not be computed could not be computed either. Processed in the order of the values: a
 * plain pass writes to vectors that its later operations read. */
static void spread_failures(eval_list *list, node_set needed, node_set stores)
{
    for (node_set rest = needed; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest);
        eval_node *node = &list->node[k];
        dome_failure *failure = node->failure;
        for (int i = 0; i < INPUTS_MAX; i++) {
            if (node->arg[i] >= 0)
                failure = dome__failure_first(failure, list->node[node->arg[i]].failure);
            else if (node->leaf[i])
                failure = dome__failure_first(failure, node->leaf[i]->lazy->failure);
        }
        if (failure != node->failure) {
            dome__failure_ref(failure);
            dome__failure_unref(node->failure);
            node->failure = failure;
        }
        list->failed |= failure != NULL;
        if (stores & NODE(k))
            dome__eval_set_failure(node->out, failure);
    }
}

static void run_pass(dome_env *env, eval_list *list, node_set needed, node_set stores, const dome_eval_reduction *reduction)
{
    dome_eval *eval = env->eval;
    eval_pass pass = {list, needed, stores, reduction, eval->chains, eval->plain};
    for (node_set rest = needed; rest; rest &= rest - 1) {
        const eval_node *node = &list->node[__builtin_ctzll(rest)];
        for (int i = 0; i < INPUTS_MAX; i++)
            if (node->leaf[i])
                node->leaf[i]->lazy->unread = false;
    }
    dome__eval_pass(env, &pass, &eval->scratch);
    if (list->failed || eval->failed)
        spread_failures(list, needed, stores);
    for (node_set rest = stores; rest; rest &= rest - 1) {
        dvec *out = list->node[__builtin_ctzll(rest)].out;
        dvec__written(out);
        out->lazy->unread = true;
    }
}

/* Runs all values of a list. */
static void run_rest(dome_env *env, eval_list *list)
{
    node_set open = list->live, stores = 0;
    for (node_set rest = open; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest);
        if (list->node[k].owned || env->eval->plain)
            stores |= NODE(k);
    }
    if (open)
        run_pass(env, list, open, stores, NULL);
}

static void run_list(dome_env *env, eval_list *list)
{
    run_rest(env, list);
    drop(env->eval, list);
}

/* Runs those values of a list that some vectors' memory must hold, and one or two that only a reduction reads. */
static void run_some(dome_env *env, eval_list *list, node_set stores, node_set passing, const dome_eval_reduction *reduction)
{
    node_set needed = 0;
    for (node_set rest = passing; rest; rest &= rest - 1)
        needed |= list->node[__builtin_ctzll(rest)].deps;
    complete(list, &needed, &stores);
    run_pass(env, list, needed, stores, reduction);
    for (node_set rest = needed; rest;) {
        int k = 63 - __builtin_clzll(rest);
        eval_node *node = &list->node[k];
        rest &= ~NODE(k);
        if (!(list->live & NODE(k)))
            continue;
        if (stores & NODE(k)) {
            read_from_memory(list, k);
            release(list, k);
        } else if (!node->owned && node->uses == 0) {
            release(list, k);
        } else if (node->computed < UINT8_MAX) {
            node->computed++;
        }
    }
    if (list->live)
        find_deps(list);
    else
        drop(env->eval, list);
}

/* Whether the values of a list must all be run together, without leaving any out. */
static bool all_at_once(const eval_list *list)
{
    return list->musts;
}

static eval_list *list_of(const dvec *x)
{
    return x->lazy->pending ? x->lazy->work : NULL;
}

static node_set own_value(const dvec *x)
{
    return x->lazy->value ? NODE(x->lazy->value - 1) : 0;
}

void dome__eval_advance(dome_env *env)
{
    dome_eval *eval = env->eval;
    for (guint k = eval->lists->len; k-- > 0;) {
        eval_list *list = g_ptr_array_index(eval->lists, k);
        if (all_at_once(list)) {
            run_list(env, list);
            continue;
        }
        node_set fresh = 0;
        for (node_set rest = list->live; rest; rest &= rest - 1) {
            int n = __builtin_ctzll(rest);
            if (list->node[n].owned && !list->node[n].computed)
                fresh |= NODE(n);
        }
        if (fresh)
            run_some(env, list, fresh, 0, NULL);
    }
}

void dome__eval_run(dome_env *env, const dvec *x)
{
    dome_eval *eval = env->eval;
    if (!eval)
        return;
    eval_list *list = x ? list_of(x) : NULL;
    if (list && all_at_once(list))
        run_list(env, list);
    else if (list)
        run_some(env, list, own_value(x) | owners(list, own_value(x) | readers(list, x)), 0, NULL);
    while (!x && eval->lists->len)
        run_list(env, g_ptr_array_index(eval->lists, 0));
    if (x)
        x->lazy->unread = false;
}

void dome__eval_read(dome_env *env, const dvec *x)
{
    eval_list *list = list_of(x);
    if (list && all_at_once(list))
        run_list(env, list);
    else if (list && x->lazy->value)
        run_some(env, list, own_value(x), 0, NULL);
    x->lazy->unread = false;
}

dome_failure *dome__eval_failure(const dvec *x)
{
    return x->lazy->value ? x->lazy->work->node[x->lazy->value - 1].failure : x->lazy->failure;
}

/* Values that may fail. */
static node_set fallible(const eval_list *list)
{
    node_set set = 0;
    for (node_set rest = list->live; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest);
        if (list->node[k].may_fail)
            set |= NODE(k);
    }
    return set;
}

/* Called when x leaves the list, which may be freed: values of x that others depend on keep no vector. Values that may fail are
 * computed now, since an error message names the vector. */
static void orphan(dome_env *env, eval_list *list, const dvec *x)
{
    node_set of_x = 0;
    for (node_set rest = list->live; rest; rest &= rest - 1) {
        int k = __builtin_ctzll(rest);
        if (list->node[k].out == x)
            of_x |= NODE(k);
    }
    node_set named = of_x ? of_x & fallible(list) : 0;
    for (node_set rest = of_x & ~named; rest; rest &= rest - 1)
        list->node[__builtin_ctzll(rest)].out = NULL;
    node_set stores = owners(list, named | readers(list, x));
    if (stores)
        run_some(env, list, stores, 0, NULL);
    else if (!list->live)
        drop(env->eval, list);
}

void dome__eval_forget(dome_env *env, dvec *x)
{
    dome_eval *eval = env->eval;
    if (!eval)
        return;
    eval_list *list = list_of(x);
    if (list && all_at_once(list)) {
        run_list(env, list);
    } else if (list) {
        if (x->lazy->value)
            disown(list, (int)x->lazy->value - 1);
        orphan(env, list, x);
    } else { /* x may have had values that were replaced and that others depend on */
        for (guint l = eval->lists->len; l-- > 0;)
            orphan(env, g_ptr_array_index(eval->lists, l), x);
    }
    dome__eval_set_failure(x, NULL);
}

void dome__eval_discard(const dome_env *env, const dvec *x)
{
    eval_list *list = list_of(x);
    if (!env->eval || !list || all_at_once(list) || !x->lazy->value)
        return;
    if (list->node[x->lazy->value - 1].deps & fallible(list)) /* tasks report failures in the same calls */
        return;
    disown(list, (int)x->lazy->value - 1);
    if (!list->live)
        drop(env->eval, list);
}

void dome__eval_finish(dome_env *env)
{
    dome_eval *eval = env->eval;
    while (eval->lists->len) {
        eval_list *list = g_ptr_array_index(eval->lists, 0);
        node_set stores = all_at_once(list) ? 0 : owners(list, fallible(list));
        if (all_at_once(list))
            run_list(env, list);
        else if (stores)
            run_some(env, list, stores, 0, NULL);
        if (eval->lists->len && g_ptr_array_index(eval->lists, 0) == list)
            drop(eval, list);
    }
}

/* Whether recomputing a value costs no more than writing and reading it. Such a value is not written until it is known to be
 * wanted again. */
static bool is_cheap(const eval_list *list, const dvec *x)
{
    enum { FEW = 2 };
    node_set deps = list->node[x->lazy->value - 1].deps;
    if (__builtin_popcountll(deps) > FEW)
        return false;
    for (; deps; deps &= deps - 1)
        if (!(dome__elementwise_of(list->node[__builtin_ctzll(deps)].code)->flags & DOME_CHEAP))
            return false;
    return true;
}

void dome__eval_reduce(dome_env *env, const dome_eval_reduction *reduction)
{
    const dvec *lead = reduction->lead, *x = reduction->x, *y = reduction->y;
    const dvec *vector[2] = {x, y};
    eval_list *list = NULL;
    for (int k = 0; k < 2; k++) {
        const dvec *v = vector[k];
        if (!v || !list_of(v))
            continue;
        /* vectors of another layout need a pass of their own */
        if (all_at_once(list_of(v)))
            run_list(env, list_of(v));
        else if (v->lazy->value && !dome_layout_equal(v->layout, lead->layout))
            run_some(env, list_of(v), own_value(v), 0, NULL);
        else if (v->lazy->value) {
            list = list_of(v);
        }
    }
    if (list) {
        const bool small = dome_layout_block_size(lead->layout) * lead->width <= PASSING_VALUES;
        node_set stores = 0, passing = 0;
        for (int k = 0; k < 2; k++)
            if (vector[k] && vector[k]->lazy->value && list_of(vector[k]) == list)
                *(small && (vector[k]->lazy->passing || (!vector[k]->lazy->kept && is_cheap(list, vector[k]))) ? &passing
                                                                                                               : &stores) |=
                    own_value(vector[k]);
        run_some(env, list, stores, passing, reduction);
    } else {
        dome__eval_visit_memory(reduction);
        x->lazy->unread = false;
        if (y)
            y->lazy->unread = false;
    }
}

void dome__eval_profile(const dome_env *env, FILE *file)
{
    dome__chains_print(env->eval->chains, file);
}

/* ---- recording ---- */

static eval_list *list_for(const dome_eval *eval, const dvec *out)
{
    for (guint k = 0; k < eval->lists->len; k++) {
        eval_list *list = g_ptr_array_index(eval->lists, k);
        if (list->rank == out->layout_rank && dome_layout_equal(list->layout, out->layout))
            return list;
    }
    return NULL;
}

static void note_hash(eval_list *list, unsigned k, uint32_t hash)
{
    list->hash[k] = hash;
    list->hashes[hash >> 6 & 3] |= (uint64_t)1 << (hash & 63);
}

/* Moves the live values together, to make room for more. */
static void compact(eval_list *list)
{
    int8_t becomes[NODES_MAX];
    unsigned count = 0;
    memset(list->hashes, 0, sizeof list->hashes);
    for (unsigned k = 0; k < list->count; k++) {
        eval_node *node = &list->node[k];
        if (!(list->live & NODE(k)))
            continue;
        becomes[k] = (int8_t)count;
        for (int i = 0; i < INPUTS_MAX; i++)
            if (node->arg[i] >= 0)
                node->arg[i] = becomes[node->arg[i]];
        if (node->out && node->out->lazy->value == k + 1)
            node->out->lazy->value = count + 1;
        note_hash(list, count, list->hash[k]);
        if (count != k)
            list->node[count] = *node;
        count++;
    }
    list->count = count;
    list->live = count < NODES_MAX ? NODE(count) - 1 : ~(node_set)0;
    find_deps(list);
}

static bool may_fail(const dome_eval_op *op)
{
    return dome__elementwise_of(op->code)->failure && dome_type_kind_of(op->out->type) <= DOME_KIND_U64;
}

/* Whether a floating-point division may be replaced by a multiplication: the exact results are the same, and so are the rounded
 * ones. */
static bool by_power_of_two(const dome_eval_op *op)
{
    int exponent;
    dome_type_kind kind = dome_type_kind_of(op->out->type);
    return (kind == DOME_KIND_F32 || kind == DOME_KIND_F64) && fabs(frexp(op->scalar.f64, &exponent)) == 0.5 &&
           abs(exponent) < 100;
}

/* The products do not depend on each other, so that the processor can overlap them. */
static uint32_t hash_of_node(const eval_node *node)
{
    static const uint64_t factor[INPUTS_MAX] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0xd6e8feb86659fd93u};
    uint64_t hash = ((uint64_t)node->code << 32 ^ node->scalar) * 0xff51afd7ed558ccdu;
    for (int i = 0; i < INPUTS_MAX; i++)
        hash ^= (node->leaf[i] ? (uint64_t)(uintptr_t)node->leaf[i] : (uint64_t)(node->arg[i] + 2)) * factor[i];
    hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32) | 1;
}

/* Fills in the value of an operation, with its operands resolved to values of the list (the output's old value may be one). */
static void make_node(eval_node *node, const eval_list *list, const dome_eval_op *op, bool plain)
{
    const dvec *out = op->out;
    node->code = op->code;
    node->owned = true;
    node->must = plain;
    node->may_fail = may_fail(op);
    node->computed = node->uses = 0;
    for (int i = 0; i < INPUTS_MAX; i++) {
        node->arg[i] = -1;
        node->leaf[i] = NULL;
    }
    node->deps = 0;
    node->out = op->out;
    node->type = out->type;
    node->from = op->in[0] ? op->in[0]->type : NULL;
    node->width = out->width;
    node->scalar = op->scalar.u64;
    node->value = op->value;
    node->operation = out->env->position.sequence;
    node->failure = NULL;
    if (op->code == DOME_OP_DVEC_DIVS && !plain && by_power_of_two(op)) {
        double inverse = 1 / op->scalar.f64;
        node->code = DOME_OP_DVEC_MULS;
        memcpy(&node->scalar, &inverse, sizeof inverse);
    }
    const dvec *in[INPUTS_MAX] = {op->in[0], op->in[1], op->in[2]};
    if (dome__elementwise_of(op->code)->flags & DOME_ACCUMULATES)
        in[1] = op->out;
    for (int i = 0; i < INPUTS_MAX; i++) {
        if (!in[i])
            continue;
        if (!in[i]->lazy->value || plain) {
            node->leaf[i] = in[i];
            in[i]->lazy->unread = false;
            continue;
        }
        int arg = (int)in[i]->lazy->value - 1;
        const eval_node *input = &list->node[arg];
        /* A value that is read from memory must be read before its vector's next value is recorded. */
        if (input->code == DOME_OP_DVEC_COPY && !(input->leaf[0] && input->leaf[0]->lazy->value)) {
            node->arg[i] = input->arg[0];
            node->leaf[i] = input->leaf[0];
        } else {
            node->arg[i] = (int8_t)arg;
        }
    }
    node->hash = hash_of_node(node);
}

/* An equal value of the list, or -1. */
static int find_equal(const eval_list *list, const eval_node *node)
{
    if (node->must || node->may_fail || node->value || !(list->hashes[node->hash >> 6 & 3] >> (node->hash & 63) & 1))
        return -1;
    for (unsigned k = 0; k < list->count; k++) {
        const eval_node *other = &list->node[k];
        if (list->hash[k] != node->hash || other->code != node->code || other->scalar != node->scalar ||
            other->type != node->type || other->from != node->from || other->width != node->width || other->value ||
            other->computed) /* a value computed but not stored cannot be used again */
            continue;
        if (memcmp(other->leaf, node->leaf, sizeof node->leaf) == 0 && memcmp(other->arg, node->arg, sizeof node->arg) == 0)
            return (int)k;
    }
    return -1;
}

/* Makes the node after the last one part of the list. */
static void append(eval_list *list)
{
    unsigned k = list->count++;
    eval_node *new = &list->node[k];
    note_hash(list, k, new->hash);
    list->live |= NODE(k);
    new->deps = NODE(k);
    if (new->must)
        list->musts++;
    for (int i = 0; i < INPUTS_MAX; i++) {
        if (new->leaf[i])
            take_part(new->leaf[i], list);
        if (new->arg[i] >= 0) {
            new->deps |= list->node[new->arg[i]].deps;
            list->node[new->arg[i]].uses++;
        }
    }
    /* after the inputs, since the old value may be one of them */
    if (new->out->lazy->value)
        disown(list, (int)new->out->lazy->value - 1);
    take_part(new->out, list);
    new->out->lazy->value = k + 1;
}

/* Records an operation in its list, which must have room. */
static void record(eval_list *list, const dome_eval_op *op, bool plain)
{
    dvec *out = op->out;
    eval_node *node = &list->node[list->count];
    make_node(node, list, op, plain);
    if (!plain && node->code == DOME_OP_DVEC_COPY) { /* of itself */
        if (out->lazy->value ? node->arg[0] == (int)out->lazy->value - 1 : node->leaf[0] == out)
            return;
    }
    int equal = find_equal(list, node);
    if (equal >= 0) {
        eval_node *old = &list->node[equal];
        if (old->owned && old->out == out)
            return;
        /* The equal value can belong to `out` from the beginning, if no later value reads out's memory. */
        if (!old->owned && !readers(list, out)) {
            old->owned = true;
            if (out->lazy->value)
                disown(list, (int)out->lazy->value - 1);
            old->out = out;
            take_part(out, list);
            out->lazy->value = (unsigned)equal + 1;
            return;
        }
        *node = (eval_node){.code = DOME_OP_DVEC_COPY,
                            .out = out,
                            .type = node->type,
                            .from = node->type,
                            .width = node->width,
                            .arg = {(int8_t)equal, -1, -1},
                            .owned = true,
                            .hash = 1};
    }
    if (!out->lazy->value && out->lazy->unread) { /* it was written in vain */
        out->lazy->kept = false;
        out->lazy->passing = true;
        out->lazy->unread = false;
    }
    append(list);
}

int dome__eval_record(dome_env *env, const dome_eval_op *op)
{
    dome_eval *eval = env->eval;
    eval_list *list = list_for(eval, op->out);
    const dvec *vector[4] = {op->out, op->in[0], op->in[1], op->in[2]};
    for (int k = 0; k < 4; k++) {
        eval_list *other = vector[k] ? list_of(vector[k]) : NULL;
        if (other && other != list)
            run_list(env, other);
    }
    if (list && list->count == NODES_MAX) {
        compact(list);
        if (list->count > NODES_MAX / 2) {
            run_list(env, list);
            list = NULL;
        }
    }
    record(list ? list : list_new(eval, op->out), op, eval->plain);
    return DOME_OK;
}
