/* For tasks that disagree: finds the first call that differed, and how. */
#include "core/call_log.h"
#include "hub/hub_private.h"

#include <string.h>

/* The last operations of a task, newest first. */
typedef struct call_log {
    int rank;
    GArray *calls; /* of dome_wire_call */
} call_log;

static void call_log_free(void *data)
{
    call_log *t = data;
    g_array_unref(t->calls);
    g_free(t);
}

void dome__hub_ask_call_logs(hub_state *s)
{
    if (s->difference.call_logs || s->failure.told)
        return;
    s->difference.call_logs = g_ptr_array_new_with_free_func(call_log_free);
    dome__hub_to_all_watches(s, DOME_WIRE_CALL_LOG);
}

void dome__hub_wait_for_ever(hub_state *s)
{
    s->difference.for_ever = true;
}

void dome__hub_difference_forget(hub_state *s)
{
    g_clear_pointer(&s->difference.call_logs, g_ptr_array_unref);
    s->difference.for_ever = false;
}

bool dome__hub_has_call_log(const hub_state *s, int rank)
{
    bool has = false;
    for (guint i = 0; i < s->difference.call_logs->len; i++)
        has |= ((const call_log *)s->difference.call_logs->pdata[i])->rank == rank;
    return has;
}

static gint by_rank(gconstpointer a, gconstpointer b)
{
    return (*(const call_log *const *)a)->rank - (*(const call_log *const *)b)->rank;
}

void dome__hub_take_call_log(hub_state *s, int rank, GArray *calls)
{
    if (!s->difference.call_logs || dome__hub_has_call_log(s, rank)) {
        g_array_unref(calls);
        return;
    }
    call_log *t = g_new0(call_log, 1);
    t->rank = rank;
    t->calls = calls;
    g_ptr_array_add(s->difference.call_logs, t);
    g_ptr_array_sort(s->difference.call_logs, by_rank);
}

/* ---- comparing them ---- */

static const dome_wire_call *call_at(const call_log *t, uint64_t sequence)
{
    const dome_wire_call *newest = t->calls->len ? &g_array_index(t->calls, dome_wire_call, 0) : NULL;
    if (!newest || sequence > newest->sequence || newest->sequence - sequence >= t->calls->len)
        return NULL;
    return &g_array_index(t->calls, dome_wire_call, newest->sequence - sequence);
}

/* The first operation from which the histories of two tasks differ; 0 if none of those in both call logs does. *older: they
 * already differed before the first operation that is in both call logs. */
static uint64_t parting(const call_log *a, const call_log *b, bool *older)
{
    uint64_t found = 0;
    *older = false;
    for (guint k = 0; k < a->calls->len; k++) { /* from newest to oldest */
        const dome_wire_call *x = &g_array_index(a->calls, dome_wire_call, k), *y = call_at(b, x->sequence);
        if (!y)
            continue;
        if (x->history == y->history)
            return found;
        found = x->sequence;
    }
    *older = found > 1;
    return found;
}

static const char *host_of(const hub_state *s, int rank)
{
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_watch(c) && c->rank == rank)
            return c->host;
    }
    return "unknown";
}

/* The first argument in which two calls of one function differ: its index, or -1. */
static int other_argument(const dome_wire_call *x, const dome_wire_call *y)
{
    for (int k = 0; x->arguments[k] && x->arguments[k + 1]; k += 2)
        if (!y->arguments[k] || !y->arguments[k + 1] || strcmp(x->arguments[k + 1], y->arguments[k + 1]) != 0)
            return k;
    return y->arguments[g_strv_length(x->arguments)] ? (int)g_strv_length(x->arguments) : -1;
}

static char *line(const hub_state *s, int a, const dome_wire_call *x, int b, const dome_wire_call *y)
{
    const char *on = host_of(s, a), *other = host_of(s, b);
    guint64 number = x->sequence;
    if (strcmp(x->text, y->text) != 0)
        return g_strdup_printf("tasks disagree about operation %" G_GUINT64_FORMAT
                               ": task %d on host %s called %s, task %d on host %s %s",
                               number, a, on, x->text, b, other, y->text);
    int k = other_argument(x, y);
    if (k < 0)
        return NULL; /* the difference is a decision of the library */
    const char *one = x->arguments[k], *first = one ? x->arguments[k + 1] : NULL;
    const char *second = one && y->arguments[k] ? y->arguments[k + 1] : NULL;
    if (!first || !second)
        return g_strdup_printf("tasks disagree about operation %" G_GUINT64_FORMAT
                               ", %s: task %d on host %s gives another number of arguments than task %d on host %s",
                               number, x->text, b, other, a, on);
    if (first[0] == '#' || second[0] == '#')
        return g_strdup_printf("tasks disagree about operation %" G_GUINT64_FORMAT
                               ", %s: task %d on host %s gives another %s than task %d on host %s",
                               number, x->text, b, other, one, a, on);
    return g_strdup_printf("tasks disagree about operation %" G_GUINT64_FORMAT
                           ", %s: %s is %s on task %d on host %s, and %s on task %d on host %s",
                           number, x->text, one, first, a, on, second, b, other);
}

/* A task whose calls differ from those of `first`, and the first operation that does; NULL if there is none. */
static const call_log *other_than(const hub_state *s, const call_log *first, uint64_t *earliest, bool *before)
{
    const call_log *other = NULL;
    for (guint i = 0; i < s->difference.call_logs->len; i++) {
        const call_log *t = s->difference.call_logs->pdata[i];
        bool older;
        uint64_t found = parting(first, t, &older);
        if (found && (!other || found < *earliest)) {
            *earliest = found;
            *before = older;
            other = t;
        }
    }
    return other;
}

bool dome__hub_same_calls(const hub_state *s)
{
    const call_log *first = s->difference.call_logs->len ? s->difference.call_logs->pdata[0] : NULL;
    bool same = first && first->calls->len;
    for (guint i = 1; same && i < s->difference.call_logs->len; i++) {
        const call_log *t = s->difference.call_logs->pdata[i];
        bool older, common = false;
        for (guint k = 0; k < t->calls->len && !common; k++)
            common = call_at(first, g_array_index(t->calls, dome_wire_call, k).sequence) != NULL;
        same = common && !parting(first, t, &older);
    }
    return same;
}

bool dome__hub_message_is_lost(const hub_state *s)
{
    return s->difference.for_ever && s->difference.call_logs && dome__hub_same_calls(s);
}

char *dome__hub_difference(const hub_state *s)
{
    const call_log *first = NULL, *other = NULL;
    uint64_t earliest = 0;
    bool before = false;
    /* Task 0 need not have come to the call that differs: halos couple neighbours alone. */
    for (guint i = 0; i < s->difference.call_logs->len && !other; i++) {
        first = s->difference.call_logs->pdata[i];
        other = other_than(s, first, &earliest, &before);
    }
    if (!other)
        return NULL;
    const dome_wire_call *newest = &g_array_index(first->calls, dome_wire_call, 0);
    if (before)
        return g_strdup_printf("tasks disagree about a call %" G_GUINT64_FORMAT
                               " or more operations ago: what task %d on host %s "
                               "did then is not what task %d on host %s did; it is now at operation %" G_GUINT64_FORMAT,
                               newest->sequence - earliest + 1, first->rank, host_of(s, first->rank), other->rank,
                               host_of(s, other->rank), newest->sequence);
    return line(s, first->rank, call_at(first, earliest), other->rank, call_at(other, earliest));
}
