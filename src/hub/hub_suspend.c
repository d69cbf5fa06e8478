/* Stops all processes of the tasks by order of the user (`dome suspend`), and lets them run again (`dome resume`). A stopped task
 * runs again as soon as anything is sent to it, so nothing is; the hub's clock stands still meanwhile, and nothing is a loss for
 * being silent. A loss, a signal for the program or its end lets all tasks run; after a loss that was healed they stop again. */
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

static void stop(hub_state *s)
{
    hub_suspension *x = s->suspension;
    s->suspended = true;
    x->awaited = 0;
    for (guint i = 0; i < s->clients->len; i++)
        x->awaited += dome__hub_is_there(s->clients->pdata[i]);
    dome__hub_to_all_watches(s, DOME_WIRE_STOP);
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
    return !s->suspended || s->suspension->awaited == 0;
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
    if (s->suspended && (s->failure.noticed || s->failure.told || s->rank0.ended))
        go_on(s);
    else if (s->suspension->wanted && !s->suspended && may && s->view.size > 0)
        stop(s);
}
