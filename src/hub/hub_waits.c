/* Finds tasks that wait for each other's messages (dome_recv, dome_wait) and locks, and would do so for ever. */
#include "hub/hub_private.h"
#include "transport/transport.h"

/* Seconds without any data movement after which a waiting task counts as idle: on a slow link packets arrive one by one. If it
 * has not been heard for as long, it may be lost, and what it waited for may have arrived. */
static const double STILL = 3;

bool dome__hub_idle(const hub_state *s, const hub_client *c)
{
    return c->beat.idle >= 3 && s->now - c->beat.moved_at >= STILL && s->now - c->heard < STILL;
}

/* The tasks by rank. */
typedef struct tasks {
    const hub_client **task;
    int size;
} tasks;

const hub_client **dome__hub_tasks(const hub_state *s, int *size)
{
    *size = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        *size = dome__hub_is_task(s, c) ? MAX(*size, c->rank + 1) : *size;
    }
    const hub_client **by_rank = g_new0(const hub_client *, *size + 1);
    for (guint i = s->clients->len; i-- > 0;) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_task(s, c))
            by_rank[c->rank] = c;
    }
    return by_rank;
}

static const hub_client *task(const tasks *t, int rank)
{
    return rank >= 0 && rank < t->size ? t->task[rank] : NULL;
}

/* The task whose message or lock this one waits for; NULL if there is none, or it might go on. */
static const hub_client *waits_for(const hub_state *s, const tasks *t, const hub_client *c)
{
    if (!c || c->closed || dome__client_has_left(c->state) || !c->beat.awaited || !dome__hub_idle(s, c))
        return NULL;
    return task(t, DOME_AWAITED_RANK(c->beat.awaited));
}

static void describe(GString *text, const hub_client *c)
{
    int rank = DOME_AWAITED_RANK(c->beat.awaited), tag = DOME_AWAITED_TAG(c->beat.awaited);
    char operation[160], from[32] = "any task", with[32] = "";
    dome__hub_operation_text(c, operation, sizeof operation);
    if (rank >= 0)
        g_snprintf(from, sizeof from, "task %d", rank);
    if (tag >= 0)
        g_snprintf(with, sizeof with, " with tag %d", tag);
    g_string_append_printf(text, "%stask %d on host %s is in %s", text->len ? "; " : "", c->rank, c->host, operation);
    if (c->beat.awaited && tag == DOME_AWAITED_LOCK)
        g_string_append_printf(text, " and waits for %s, which has the lock", from);
    else if (c->beat.awaited)
        g_string_append_printf(text, " and waits for a message from %s%s", from, with);
}

static void notice(hub_state *s, GString *text)
{
    g_string_prepend(text, "tasks wait for each other: ");
    dome__hub_notice(s, DOME_END_OWN, false, 2, g_string_free(text, FALSE));
}

/* The most tasks that a line describes. */
enum { DESCRIBED = 4 };

/* Whether the tasks of a circle wait for messages that are not under way. */
static bool is_for_ever(hub_state *s, const tasks *t, const hub_client *begin)
{
    const hub_client **circle = g_new0(const hub_client *, t->size), *at = begin;
    do
        circle[at->rank] = at;
    while ((at = waits_for(s, t, at)) != begin);
    const bool for_ever = dome__hub_for_ever(s, circle, t->size);
    g_free(circle);
    return for_ever;
}

static void tell_circle(hub_state *s, const tasks *t, const hub_client *begin)
{
    const hub_client *lowest = begin;
    for (const hub_client *at = begin; (at = waits_for(s, t, at)) != begin;)
        if (at->rank < lowest->rank)
            lowest = at;
    GString *text = g_string_new(NULL);
    int described = 0;
    const hub_client *at = lowest;
    do
        describe(text, at);
    while (++described < DESCRIBED && (at = waits_for(s, t, at)) != lowest);
    if (described == DESCRIBED && at != lowest && waits_for(s, t, at) != lowest)
        g_string_append(text, "; and so on");
    notice(s, text);
}

/* Follows from each task to the task it waits for, and so on, until one comes again that was met on the same way. */
static bool find_circle(hub_state *s, const tasks *t)
{
    int *way = g_new0(int, t->size + 1);
    const hub_client *found = NULL;
    for (int r = 0; r < t->size && !found; r++) {
        const hub_client *at = t->task[r];
        while (at && !way[at->rank]) {
            way[at->rank] = r + 1;
            at = waits_for(s, t, at);
        }
        if (at && way[at->rank] == r + 1)
            found = at;
    }
    g_free(way);
    if (found && is_for_ever(s, t, found))
        tell_circle(s, t, found);
    return found != NULL;
}

/* All tasks wait, at least one of them for a message: nobody is left to send it. */
static bool all_wait(hub_state *s, const tasks *t)
{
    const hub_client *receiver = NULL, *other = NULL;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_task(s, c))
            continue;
        if (c->closed || dome__client_has_left(c->state) || !c->beat.came || !dome__hub_idle(s, c))
            return false;
        if (c->beat.awaited && (!receiver || c->rank < receiver->rank))
            receiver = c;
    }
    if (!receiver)
        return false;
    if (!dome__hub_for_ever(s, t->task, t->size))
        return true;
    other = task(t, DOME_AWAITED_RANK(receiver->beat.awaited));
    for (guint i = 0; !other && i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_task(s, c) && c != receiver)
            other = c;
    }
    GString *text = g_string_new(NULL);
    describe(text, receiver);
    if (other && other != receiver)
        describe(text, other);
    notice(s, text);
    return true;
}

static bool any_waits(const hub_state *s)
{
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_task(s, c) && c->beat.awaited && dome__hub_idle(s, c))
            return true;
    }
    return false;
}

bool dome__hub_find_deadlock(hub_state *s)
{
    if (!any_waits(s))
        return false;
    tasks t;
    t.task = dome__hub_tasks(s, &t.size);
    const bool found = find_circle(s, &t) || all_wait(s, &t);
    g_free(t.task);
    return found;
}
