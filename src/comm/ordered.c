#include "comm/ordered.h"

#include "comm/reductions.h"
#include "core/environment.h"
#include "transport/agree.h"

#include <string.h>

/* Up to this many bytes of all tasks together, in portable form, each task gets all elements and combines them itself: one
 * exchange. Beyond that each task combines a piece of all tasks' elements: two exchanges, of as many bytes as the data has. */
static const uint64_t SHORT_BYTES = 64 << 10;

static char *element(dome_type type, void *data, uint64_t i)
{
    return (char *)data + i * dome_type_size(type);
}

/* inout = inout (op) in, n elements. */
static void combine(dome_operation *op, const dome_ordered *how, void *inout, const void *in, uint64_t n)
{
    if (how->loop) {
        how->loop(inout, in, n, NULL);
        return;
    }
    op->program = true;
    how->function(how->ctx, n, inout, in);
    op->program = false;
}

static void settle(const dome_ordered *how, void *row, uint64_t n)
{
    if (how->settles)
        how->loop(row, row, n, NULL);
}

/* Combines the first `count` rows, of n elements each, into row 0. */
static void fold(dome_operation *op, const dome_ordered *how, void *rows, int count, uint64_t n)
{
    if (!how->loop && !how->function) {
        dome__exact_rows(how->type, rows, count, n, rows);
        return;
    }
    settle(how, rows, n);
    for (int r = 1; r < count; r++)
        combine(op, how, rows, element(how->type, rows, (uint64_t)r * n), n);
}

/* Makes each row the combination of itself and all rows before. `sum` has room for n elements. */
static void fold_each(dome_operation *op, const dome_ordered *how, void *rows, int count, uint64_t n, void *sum)
{
    if (!how->loop && !how->function) {
        for (int r = count - 1; r >= 0; r--)
            dome__exact_rows(how->type, rows, r + 1, n, element(how->type, rows, (uint64_t)r * n));
        return;
    }
    settle(how, rows, n);
    memcpy(sum, rows, n * dome_type_size(how->type));
    for (int r = 1; r < count; r++) {
        char *row = element(how->type, rows, (uint64_t)r * n);
        combine(op, how, sum, row, n);
        memcpy(row, sum, n * dome_type_size(how->type));
    }
}

/* Every task that needs a result gets all elements. */
static int by_rows(dome_operation *op, const dome_ordered *how, void *data, uint64_t count)
{
    dome_transport *t = op->env->transport;
    const uint64_t bytes = count * dome_type_size(how->type);
    const bool needed = how->result != DOME_RESULT_AT_ROOT || t->group.rank == how->root;
    void *rows = needed ? g_malloc0(bytes * (uint64_t)t->group.size) : NULL;
    int status = how->result == DOME_RESULT_AT_ROOT ? dome__gather(t, how->root, how->type, data, count, rows)
                                                    : dome__allgather(t, how->type, data, count, rows);
    if (!status && needed) {
        fold(op, how, rows, how->result == DOME_RESULT_OF_LOWER ? t->group.rank + 1 : t->group.size, count);
        memcpy(data, rows, bytes);
    }
    g_free(rows);
    return status;
}

typedef struct pieces {
    uint64_t *mine, *theirs; /* by rank: elements of each task's piece; how many of each task's elements are in this task's */
    uint64_t own;            /* elements of this task's piece */
    void *rows, *sum;        /* this task's piece of all tasks' elements; room for one row */
} pieces;

static bool pieces_new(pieces *p, const dome_transport *t, const dome_ordered *how, uint64_t count)
{
    const uint64_t even = count / (uint64_t)t->group.size, more = count % (uint64_t)t->group.size;
    p->mine = g_new(uint64_t, t->group.size);
    p->theirs = g_new(uint64_t, t->group.size);
    for (int r = 0; r < t->group.size; r++)
        p->mine[r] = even + ((uint64_t)r < more);
    p->own = p->mine[t->group.rank];
    for (int r = 0; r < t->group.size; r++)
        p->theirs[r] = p->own;
    const uint64_t row = p->own * dome_type_size(how->type);
    const bool fits = row <= SIZE_MAX / (size_t)t->group.size;
    p->rows = fits ? g_try_malloc0(MAX(row, 1) * (size_t)t->group.size) : NULL;
    p->sum = how->result == DOME_RESULT_OF_LOWER ? g_try_malloc0(MAX(row, 1)) : NULL;
    return p->rows && (p->sum || how->result != DOME_RESULT_OF_LOWER);
}

static void pieces_free(pieces *p)
{
    g_free(p->mine);
    g_free(p->theirs);
    g_free(p->rows);
    g_free(p->sum);
}

static int exchange(dome_operation *op, const dome_ordered *how, const pieces *p, void *data)
{
    dome_transport *t = op->env->transport;
    int status = dome__alltoallv(t, how->type, data, p->mine, p->rows, p->theirs);
    if (status)
        return status;
    if (how->result == DOME_RESULT_OF_LOWER) {
        if (p->own)
            fold_each(op, how, p->rows, t->group.size, p->own, p->sum);
        return dome__alltoallv(t, how->type, p->rows, p->theirs, data, p->mine);
    }
    if (p->own)
        fold(op, how, p->rows, t->group.size, p->own);
    return how->result == DOME_RESULT_AT_ROOT ? dome__gatherv(t, how->root, how->type, p->rows, p->mine, data)
                                              : dome__allgatherv(t, how->type, p->rows, p->mine, data);
}

dome_status dome__ordered(dome_operation *op, const dome_ordered *how, void *data, uint64_t count)
{
    dome_env *env = op->env;
    dome_transport *t = env->transport;
    if (!count)
        return DOME_OK;
    int status;
    if (t->group.size == 1) {
        fold(op, how, data, 1, count);
        status = DOME_OK;
    } else if (count <= SHORT_BYTES / ((uint64_t)t->group.size * dome_type_portable_size(how->type))) {
        status = by_rows(op, how, data, count);
    } else {
        pieces p;
        bool room = pieces_new(&p, t, how, count);
        status = dome__agree(env, room ? DOME_OK : DOME_ERR_MEMORY, "no memory for the other tasks' elements");
        if (status) {
            pieces_free(&p);
            return status;
        }
        status = exchange(op, how, &p, data);
        pieces_free(&p);
    }
    return status ? dome__fail_transport(env, status) : DOME_OK;
}
