/* Collectives for programs: checks, and calls of transport/collective.h. */
#include "comm/comm_operations.h"
#include "comm/ordered.h"
#include "comm/reductions.h"
#include "core/environment.h"
#include "core/type_private.h"
#include "transport/agree.h"

#include <inttypes.h>
#include <string.h>

/* ---- checks: these errors are the same on all tasks ---- */

static dome_status check_root(dome_env *env, int root)
{
    if (root < 0 || root >= env->size)
        return dome__fail(env, DOME_ERR_ARGUMENT, "there is no task %d among %d", root, env->size);
    return DOME_OK;
}

/* Whether memory can have all tasks' elements together. */
static dome_status check_count(dome_env *env, dome_type type, uint64_t count)
{
    if (count > dome__array_most(dome_type_size(type)) / (uint64_t)env->size)
        return dome__fail(env, DOME_ERR_ARGUMENT,
                          "%" PRIu64 " elements of %zu bytes from each task are more than memory can have", count,
                          dome_type_size(type));
    return DOME_OK;
}

static dome_status check_reduction(dome_env *env, dome_type type, dome_reduction reduction)
{
    const char *name = dome__reduction_name(reduction);
    const dome_operation *op = env->operation;
    while (op->outer)
        op = op->outer;
    if (!name)
        return dome__fail(env, DOME_ERR_ARGUMENT, "there is no reduction %d", (int)reduction);
    if (!dome__reduction_loop(reduction, type) && !dome__reduction_is_exact(reduction, type))
        return dome__fail(env, DOME_ERR_TYPE, "the type %s has no %s; a function of your own can combine it (%s_with)",
                          dome_type_name(type), name, dome__operation_name(op->code));
    return DOME_OK;
}

/* ---- reductions ---- */

static dome_status allreduce_by_tree(dome_env *env, dome_type type, void *data, size_t count, dome_reduction reduction)
{
    dome_combine loop = dome__reduction_loop(reduction, type);
    if (dome__reduction_settles(reduction))
        loop(data, data, count, NULL);
    int status = dome__allreduce(env->transport, type, data, count, loop, NULL);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

/* A reduction: which operation, the tasks that get the result, and what is combined. */
typedef struct reducing {
    dome_operation_code code;
    dome_result result;
    int root; /* 0 where there is none */
    dome_type type;
    void *data;
    size_t count;
} reducing;

static dome_status reduce(dome_env *env, const reducing *r, dome_reduction reduction)
{
    const dome_type type = r->type;
    const size_t count = r->count;
    dome_operation op;
    const char *name = dome__reduction_name(reduction);
    uint64_t words[] = {dome__type_word(env, type), count, dome__text_word(env, name ? name : "unknown"), (uint64_t)r->root};
    dome__begin_with(&op, env, r->code, NULL, words, r->result == DOME_RESULT_AT_ROOT ? 4 : 3);
    dome_status status = check_root(env, r->root);
    if (!status)
        status = check_count(env, type, count);
    if (!status)
        status = check_reduction(env, type, reduction);
    if (status)
        return dome__end(&op, status);
    if (r->result == DOME_RESULT_EVERYWHERE && dome__reduction_commutes(reduction, type))
        return dome__end(&op, allreduce_by_tree(env, type, r->data, count, reduction));
    dome_combine loop = dome__reduction_loop(reduction, type);
    dome_ordered how = {
        .type = type, .loop = loop, .settles = loop && dome__reduction_settles(reduction), .result = r->result, .root = r->root};
    return dome__end(&op, dome__ordered(&op, &how, r->data, count));
}

static dome_status reduce_with(dome_env *env, const reducing *r, dome_combine_function combine, void *ctx)
{
    dome_operation op;
    uint64_t words[] = {dome__type_word(env, r->type), r->count, (uint64_t)r->root};
    dome__begin_with(&op, env, r->code, NULL, words, r->result == DOME_RESULT_AT_ROOT ? 3 : 2);
    dome_status status = check_root(env, r->root);
    if (!status)
        status = check_count(env, r->type, r->count);
    dome_ordered how = {.type = r->type, .function = combine, .ctx = ctx, .result = r->result, .root = r->root};
    return dome__end(&op, status ? status : dome__ordered(&op, &how, r->data, r->count));
}

#define NEEDS_DATA(env, type, data, count)                                                                                       \
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);                                                                       \
    DOME_NEEDS(type, "the type", DOME_ERR_ARGUMENT);                                                                             \
    DOME_NEEDS((data) || (count) == 0, "the place of the elements", DOME_ERR_ARGUMENT)

dome_status dome_allreduce(dome_env *env, dome_type type, void *data, size_t count, dome_reduction reduction)
{
    NEEDS_DATA(env, type, data, count);
    return reduce(env, &(reducing){DOME_OP_ALLREDUCE, DOME_RESULT_EVERYWHERE, 0, type, data, count}, reduction);
}

dome_status dome_reduce(dome_env *env, int root, dome_type type, void *data, size_t count, dome_reduction reduction)
{
    NEEDS_DATA(env, type, data, count);
    return reduce(env, &(reducing){DOME_OP_REDUCE, DOME_RESULT_AT_ROOT, root, type, data, count}, reduction);
}

dome_status dome_scan(dome_env *env, dome_type type, void *data, size_t count, dome_reduction reduction)
{
    NEEDS_DATA(env, type, data, count);
    return reduce(env, &(reducing){DOME_OP_SCAN, DOME_RESULT_OF_LOWER, 0, type, data, count}, reduction);
}

dome_status dome_allreduce_with(dome_env *env, dome_type type, void *data, size_t count, dome_combine_function combine, void *ctx)
{
    NEEDS_DATA(env, type, data, count);
    DOME_NEEDS(combine, "the function", DOME_ERR_ARGUMENT);
    return reduce_with(env, &(reducing){DOME_OP_ALLREDUCE_WITH, DOME_RESULT_EVERYWHERE, 0, type, data, count}, combine, ctx);
}

dome_status dome_reduce_with(dome_env *env, int root, dome_type type, void *data, size_t count, dome_combine_function combine,
                             void *ctx)
{
    NEEDS_DATA(env, type, data, count);
    DOME_NEEDS(combine, "the function", DOME_ERR_ARGUMENT);
    return reduce_with(env, &(reducing){DOME_OP_REDUCE_WITH, DOME_RESULT_AT_ROOT, root, type, data, count}, combine, ctx);
}

dome_status dome_scan_with(dome_env *env, dome_type type, void *data, size_t count, dome_combine_function combine, void *ctx)
{
    NEEDS_DATA(env, type, data, count);
    DOME_NEEDS(combine, "the function", DOME_ERR_ARGUMENT);
    return reduce_with(env, &(reducing){DOME_OP_SCAN_WITH, DOME_RESULT_OF_LOWER, 0, type, data, count}, combine, ctx);
}

/* ---- gather ---- */

/* A copy of counts, which a size_t of 32 bits needs; *total: their sum. NULL if the elements are more than memory can have. */
static uint64_t *copy_counts(const dome_env *env, dome_type type, const size_t *counts, uint64_t *total)
{
    const uint64_t most = dome__array_most(dome_type_size(type));
    uint64_t *copy = g_new(uint64_t, env->size);
    *total = 0;
    for (int r = 0; r < env->size; r++) {
        copy[r] = counts[r];
        if (counts[r] > most - *total) {
            g_free(copy);
            return NULL;
        }
        *total += counts[r];
    }
    return copy;
}

/* A gather or scatter: which operation, and how many elements each task gives or gets. */
typedef struct portions {
    dome_operation_code code;
    bool rooted;
    int root; /* 0 if all tasks get all elements */
    dome_type type;
    size_t count;         /* of each task, */
    const size_t *counts; /* if this is NULL */
    uint64_t *list;       /* what begin_portions makes of counts; g_free'd by the caller */
    uint64_t total;       /* of the list */
} portions;

/* Begins the operation and checks its root and its counts. */
static dome_status begin_portions(dome_operation *op, dome_env *env, portions *p)
{
    uint64_t words[3] = {dome__type_word(env, p->type), p->counts ? 0 : p->count, (uint64_t)p->root};
    for (int r = 0; p->counts && r < env->size; r++)
        words[1] = dome__hash(words[1], p->counts[r]);
    dome__begin_with(op, env, p->code, NULL, words, p->rooted ? 3 : 2);
    dome_status status = check_root(env, p->root);
    if (status || !p->counts)
        return status ? status : check_count(env, p->type, p->count);
    p->list = copy_counts(env, p->type, p->counts, &p->total);
    return p->list ? DOME_OK : dome__fail(env, DOME_ERR_ARGUMENT, "the counts add up to more than memory can have");
}

static dome_status gather(dome_env *env, portions *p, const void *send, void *recv)
{
    dome_transport *t = env->transport;
    dome_operation op;
    dome_status status = begin_portions(&op, env, p);
    const dome_type type = p->type;
    const size_t count = p->count;
    const uint64_t *list = p->list;
    if (!status && (list ? p->total : count)) {
        int failed = !p->rooted ? list ? dome__allgatherv(t, type, send, list, recv) : dome__allgather(t, type, send, count, recv)
                     : list ? dome__gatherv(t, p->root, type, send, list, recv)
                                : dome__gather(t, p->root, type, send, count, recv);
        status = failed ? dome__fail_transport(env, failed) : DOME_OK;
    }
    g_free(p->list);
    return dome__end(&op, status);
}

/* recv may be NULL where nothing arrives. A root that does not exist is reported later. */
static bool needs_recv(const dome_env *env, int root)
{
    return env->rank == root;
}

dome_status dome_gather(dome_env *env, int root, dome_type type, const void *send, size_t count, void *recv)
{
    NEEDS_DATA(env, type, send, count);
    DOME_NEEDS(recv || count == 0 || !needs_recv(env, root), "the place of the result", DOME_ERR_ARGUMENT);
    portions p = {.code = DOME_OP_GATHER, .rooted = true, .root = root, .type = type, .count = count};
    return gather(env, &p, send, recv);
}

dome_status dome_allgather(dome_env *env, dome_type type, const void *send, size_t count, void *recv)
{
    NEEDS_DATA(env, type, send, count);
    DOME_NEEDS(recv || count == 0, "the place of the result", DOME_ERR_ARGUMENT);
    portions p = {.code = DOME_OP_ALLGATHER, .type = type, .count = count};
    return gather(env, &p, send, recv);
}

static uint64_t sum_of(const dome_env *env, const size_t *counts)
{
    uint64_t sum = 0;
    for (int r = 0; r < env->size; r++)
        sum |= counts[r];
    return sum;
}

dome_status dome_gatherv(dome_env *env, int root, dome_type type, const void *send, const size_t *counts, void *recv)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(counts, "the list of counts", DOME_ERR_ARGUMENT);
    NEEDS_DATA(env, type, send, counts[env->rank]);
    DOME_NEEDS(recv || !needs_recv(env, root) || sum_of(env, counts) == 0, "the place of the result", DOME_ERR_ARGUMENT);
    portions p = {.code = DOME_OP_GATHERV, .rooted = true, .root = root, .type = type, .counts = counts};
    return gather(env, &p, send, recv);
}

dome_status dome_allgatherv(dome_env *env, dome_type type, const void *send, const size_t *counts, void *recv)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(counts, "the list of counts", DOME_ERR_ARGUMENT);
    NEEDS_DATA(env, type, send, counts[env->rank]);
    DOME_NEEDS(recv || sum_of(env, counts) == 0, "the place of the result", DOME_ERR_ARGUMENT);
    portions p = {.code = DOME_OP_ALLGATHERV, .type = type, .counts = counts};
    return gather(env, &p, send, recv);
}

/* ---- scatter ---- */

static dome_status scatter(dome_env *env, portions *p, const void *send, void *recv)
{
    dome_operation op;
    dome_status status = begin_portions(&op, env, p);
    if (!status) {
        uint64_t *out = g_new0(uint64_t, env->size), *in = g_new0(uint64_t, env->size);
        for (int r = 0; r < env->size && env->rank == p->root; r++)
            out[r] = p->list ? p->list[r] : p->count;
        in[p->root] = p->list ? p->list[env->rank] : p->count;
        int failed = dome__alltoallv(env->transport, p->type, send, out, recv, in);
        status = failed ? dome__fail_transport(env, failed) : DOME_OK;
        g_free(out);
        g_free(in);
    }
    g_free(p->list);
    return dome__end(&op, status);
}

dome_status dome_scatter(dome_env *env, int root, dome_type type, const void *send, size_t count, void *recv)
{
    NEEDS_DATA(env, type, recv, count);
    DOME_NEEDS(send || count == 0 || env->rank != root, "the place of all elements", DOME_ERR_ARGUMENT);
    portions p = {.code = DOME_OP_SCATTER, .rooted = true, .root = root, .type = type, .count = count};
    return scatter(env, &p, send, recv);
}

dome_status dome_scatterv(dome_env *env, int root, dome_type type, const void *send, const size_t *counts, void *recv)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(counts, "the list of counts", DOME_ERR_ARGUMENT);
    NEEDS_DATA(env, type, recv, counts[env->rank]);
    DOME_NEEDS(send || env->rank != root || sum_of(env, counts) == 0, "the place of all elements", DOME_ERR_ARGUMENT);
    portions p = {.code = DOME_OP_SCATTERV, .rooted = true, .root = root, .type = type, .counts = counts};
    return scatter(env, &p, send, recv);
}

/* ---- all to all ---- */

/* Tells every task how many elements it gets, and compares that with what it expects: the exchange itself sends nothing for a
 * count of 0, and would wait for it. *text: what is wrong (g_free). */
static int compare_counts(dome_env *env, const uint64_t *out, const uint64_t *in, char **text)
{
    dome_transport *t = env->transport;
    uint64_t *told = g_new0(uint64_t, t->group.size);
    int status = dome__alltoall(t, DOME_U64, out, 1, told);
    for (int r = 0; r < t->group.size && !status && !*text; r++)
        if (told[r] != in[r])
            *text =
                g_strdup_printf("task %d sends %" PRIu64 " elements to task %d, which expects %" PRIu64 ": set recv_counts[%d]",
                                r, told[r], t->group.rank, in[r], r);
    g_free(told);
    return status;
}

dome_status dome_alltoall(dome_env *env, dome_type type, const void *send, const size_t *send_counts, void *recv,
                          const size_t *recv_counts)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(type, "the type", DOME_ERR_ARGUMENT);
    DOME_NEEDS(send_counts, "the list of counts to send", DOME_ERR_ARGUMENT);
    DOME_NEEDS(recv_counts, "the list of counts to receive", DOME_ERR_ARGUMENT);
    DOME_NEEDS(send || sum_of(env, send_counts) == 0, "the place of the elements", DOME_ERR_ARGUMENT);
    DOME_NEEDS(recv || sum_of(env, recv_counts) == 0, "the place of the result", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_ALLTOALL, NULL, dome__type_word(env, type));
    uint64_t total;
    uint64_t *out = copy_counts(env, type, send_counts, &total), *in = copy_counts(env, type, recv_counts, &total);
    char *text = NULL;
    dome_status status = DOME_OK;
    int failed = dome__agree(env, out && in ? DOME_OK : DOME_ERR_ARGUMENT, "the counts add up to more than memory can have");
    if (failed)
        status = (dome_status)failed;
    else if ((failed = compare_counts(env, out, in, &text)))
        status = dome__fail_transport(env, failed);
    else
        status = dome__agree(env, text ? DOME_ERR_MISMATCH : DOME_OK, text);
    if (!status && (failed = dome__alltoallv(env->transport, type, send, out, recv, in)))
        status = dome__fail_transport(env, failed);
    g_free(text);
    g_free(out);
    g_free(in);
    return dome__end(&op, status);
}
