/* Finds tasks that wait for each other's messages (dome_recv, dome_wait) and would do so for ever. */
#include "supervision/hub_private.h"
#include "transport/transport.h"

/* Seconds without any data movement after which a waiting task counts as idle: on a slow link packets arrive one by one. If it
 * has not been heard for as long, it may be lost, and what it waited for may have arrived. */
static const double STILL = 3;

bool dome__hub_idle(const hub_state *s, const hub_client *c)
{
    return c->idle >= 3 && s->now - c->moved_at >= STILL && s->now - c->heard < STILL;
}

static bool is_task(const hub_state *s, const hub_client *c)
{
    return c->greeted && c->channel == DOME_WIRE_WATCH && c->view == s->view.number;
}

static const hub_client *task(const hub_state *s, int rank)
{
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (is_task(s, c) && c->rank == rank)
            return c;
    }
    return NULL;
}

/* The task whose message this one waits for; NULL if there is none, or it might go on. */
static const hub_client *waits_for(const hub_state *s, const hub_client *c)
{
    if (!c || c->closed || c->left || !c->awaited || !dome__hub_idle(s, c))
        return NULL;
    return task(s, DOME_AWAITED_RANK(c->awaited));
}

static void describe(GString *text, const hub_client *c)
{
    int rank = DOME_AWAITED_RANK(c->awaited), tag = DOME_AWAITED_TAG(c->awaited);
    char operation[160], from[32] = "any task", with[32] = "";
    dome__hub_operation_text(c, operation, sizeof operation);
    if (rank >= 0)
        g_snprintf(from, sizeof from, "task %d", rank);
    if (tag >= 0)
        g_snprintf(with, sizeof with, " with tag %d", tag);
    g_string_append_printf(text, "%stask %d on host %s is in %s", text->len ? "; " : "", c->rank, c->host, operation);
    if (c->awaited)
        g_string_append_printf(text, " and waits for a message from %s%s", from, with);
}

static void notice(hub_state *s, GString *text)
{
    g_string_prepend(text, "tasks wait for each other: ");
    dome__hub_notice(s, DOME_END_OWN, false, 2, g_string_free(text, FALSE));
}

/* The most tasks that a line describes. */
enum { DESCRIBED = 4 };

/* Follows from a task to the task it waits for, and so on, until one comes again. */
static bool find_circle(hub_state *s, const hub_client *c)
{
    const hub_client *at = c;
    for (guint steps = 0; at && steps <= s->clients->len; steps++)
        at = waits_for(s, at);
    if (!at)
        return false;
    const hub_client *lowest = at, *begin = at; /* in the circle, whether or not c is */
    while ((at = waits_for(s, at)) != begin)
        if (at->rank < lowest->rank)
            lowest = at;
    GString *text = g_string_new(NULL);
    int described = 0;
    at = lowest;
    do
        describe(text, at);
    while (++described < DESCRIBED && (at = waits_for(s, at)) != lowest);
    if (described == DESCRIBED && at != lowest && waits_for(s, at) != lowest)
        g_string_append(text, "; and so on");
    notice(s, text);
    return true;
}

/* All tasks wait, at least one of them for a message: nobody is left to send it. */
static bool all_wait(hub_state *s)
{
    const hub_client *receiver = NULL, *other = NULL;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (!is_task(s, c))
            continue;
        if (c->closed || c->left || !c->beaten || !dome__hub_idle(s, c))
            return false;
        if (c->awaited && (!receiver || c->rank < receiver->rank))
            receiver = c;
    }
    if (!receiver)
        return false;
    other = task(s, DOME_AWAITED_RANK(receiver->awaited));
    for (guint i = 0; !other && i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (is_task(s, c) && c != receiver)
            other = c;
    }
    GString *text = g_string_new(NULL);
    describe(text, receiver);
    if (other && other != receiver)
        describe(text, other);
    notice(s, text);
    return true;
}

bool dome__hub_find_deadlock(hub_state *s, const hub_client *c)
{
    return (c->awaited && find_circle(s, c)) || all_wait(s);
}
