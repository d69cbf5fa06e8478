/* Changes the number of tasks to the one that pays (size_policy.h): --dome-size auto. */
#include "hub/hub_private.h"
#include "manage/size_policy.h"

#include <string.h>
#include <unistd.h>

struct hub_size {
    dome_size_policy *policy;
    bool ordered; /* a change is under way */
    char *said;   /* the last line about one that failed */
};

void dome__hub_size_open(hub_state *s)
{
    if (!s->hub->size_auto)
        return;
    s->size = g_new0(hub_size, 1);
    s->size->policy = dome__size_policy_new();
}

/* The processors of its hosts, if they are known: those of this one. */
static int processors(const hub_state *s, const char *const *hosts)
{
    for (int r = 1; r < s->view.size; r++)
        if (!dome__order_same_host(hosts[r], hosts[0]))
            return 0;
    return (int)g_get_num_processors();
}

static int wanted(hub_state *s)
{
    const char **hosts = dome__hub_hosts(s);
    double *waited = g_new0(double, s->view.size);
    unsigned long loops = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (!dome__hub_is_task(s, c) || c->rank >= s->view.size)
            continue;
        waited[c->rank] = c->beat.waited;
        loops = MAX(loops, (unsigned long)c->beat.loop);
    }
    const dome_size_sample sample = {.now = s->now,
                                     .view = s->view.number,
                                     .tasks = s->view.size,
                                     .processors = processors(s, hosts),
                                     .least = s->view.least,
                                     .most = s->view.most,
                                     .loops = loops,
                                     .waited = waited};
    const int best = dome__size_policy_look(s->size->policy, &sample);
    g_free(waited);
    g_free(hosts);
    return best;
}

void dome__hub_size_tick(hub_state *s)
{
    hub_size *x = s->size;
    if (!x || x->ordered || s->view.size == 0 || !dome__hub_may_order(s))
        return;
    const int best = wanted(s);
    if (!best)
        return;
    const bool more = best > s->view.size;
    dome_order order = {more ? DOME_ORDER_GROW : DOME_ORDER_SHRINK, ABS(best - s->view.size), g_new0(char *, 1)};
    x->ordered = true;
    dome__hub_order(s, &order, DOME_HUB_SIZE);
}

void dome__hub_size_answer(hub_state *s, const char *word, const char *text)
{
    hub_size *x = s->size;
    const bool good = strcmp(word, "done") == 0;
    if (!x || !x->ordered)
        return;
    x->ordered = false;
    dome__size_policy_ended(x->policy, good, s->now);
    if (!good && !s->rank0.ended && !s->failure.noticed)
        dome__hub_say_once(s, &x->said, dome__hub_option(s, DOME_HUB_SIZE), text);
}

void dome__hub_size_close(hub_state *s)
{
    if (!s->size)
        return;
    dome__size_policy_free(s->size->policy);
    g_free(s->size->said);
    g_clear_pointer(&s->size, g_free);
}
