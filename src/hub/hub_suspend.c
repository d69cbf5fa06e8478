/* Stops all processes of the tasks by order of the user (`dome suspend`), and lets them run again (`dome resume`). A stopped task
 * runs again as soon as anything is sent to it. The hub says nothing of its own meanwhile, but it may have to answer what a task
 * asked just before it stopped: that task is told to stop once more. The hub's clock stands still, and nothing is a loss for
 * being silent. A loss, a signal for the program or its end lets all tasks run; after a loss that was healed they stop again. An
 * order that waits for its loop boundary goes on waiting; if tasks had begun to change when they were to stop, they stop then. */
#include "hub/hub_private.h"

struct hub_suspension {
    bool wanted;
    guint awaited; /* tasks that have not said yet that they stop */
};

void dome__hub_suspend_open(hub_state *s)
{
    s->suspension = g_new0(hub_suspension, 1);
}

void dome__hub_suspend_close(hub_state *s)
{
    g_clear_pointer(&s->suspension, g_free);
}

/* Tells those tasks to stop to which something else than that was sent last. */
static void stop_those_that_run(hub_state *s)
{
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_there(c) || !dome__client_has_greeted(c->state) || c->macs.out.messages == c->stopped_at)
            continue;
        dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_STOP});
        c->stopped_at = c->macs.out.messages;
        s->suspension->awaited++;
    }
}

static void stop(hub_state *s)
{
    s->suspended = true;
    s->suspension->awaited = 0;
    stop_those_that_run(s);
}

static void go_on(hub_state *s)
{
    s->suspended = false;
    dome__hub_to_all_watches(s, DOME_WIRE_RESUME);
}

char *dome__hub_suspend(hub_state *s, bool wanted, bool may)
{
    if (wanted && !s->suspended && (!may || s->view.size == 0))
        return g_strdup(s->view.size ? "the program is changing; try again" : "the program is still starting");
    s->suspension->wanted = wanted;
    if (wanted && !s->suspended)
        stop(s);
    else if (!wanted && s->suspended)
        go_on(s);
    return NULL;
}

bool dome__hub_suspend_is_done(const hub_state *s)
{
    return s->suspended ? s->suspension->awaited == 0 : !s->suspension->wanted || s->view.phase != DOME_VIEW_ENTERING;
}

void dome__hub_suspend_said(hub_state *s)
{
    s->suspension->awaited -= s->suspension->awaited > 0;
}

void dome__hub_suspend_end(hub_state *s)
{
    s->suspension->wanted = false;
    if (s->suspended)
        go_on(s);
}

void dome__hub_suspend_tick(hub_state *s, bool may)
{
    const bool ends = s->failure.noticed || s->failure.told || s->rank0.ended;
    if (s->suspended && (ends || s->view.phase == DOME_VIEW_ENTERING))
        go_on(s);
    else if (s->suspension->wanted && !s->suspended && may && s->view.size > 0)
        stop(s);
    else if (s->suspended)
        stop_those_that_run(s);
}
