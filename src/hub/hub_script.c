/* Runs the user's script of hosts (dome run --hosts-script) now and then, and gives the orders that follow from what it prints
 * (hosts_policy.h). */
#include "hub/hub_private.h"
#include "machine/hosts_script.h"
#include "manage/hosts_policy.h"

#include <string.h>

/* Seconds from one run to the next. */
static const double PERIOD = 2;

struct hub_script {
    dome_hosts_script run;
    dome_hosts_policy *policy;
    dome_order order; /* under way; hosts NULL: none */
    double next;
    char *said; /* the last line about it */
};

void dome__hub_script_open(hub_state *s)
{
    if (!s->hub->script)
        return;
    s->script = g_new0(hub_script, 1);
    s->script->run = dome__hosts_script_new(s->hub->script);
    s->script->policy = dome__hosts_policy_new();
    s->script->next = s->now + PERIOD;
}

static void say(hub_state *s, const char *text)
{
    dome__hub_say_once(s, &s->script->said, dome__hub_option(s, DOME_HUB_SCRIPT), text);
}

static void hear(hub_state *s)
{
    hub_script *x = s->script;
    GArray *offers;
    char *why;
    if (!dome__hosts_script_hear(&x->run, dome__hub_happened(s, DOME_POLL_SCRIPT), s->now, &offers, &why))
        return;
    if (offers) {
        dome__hosts_policy_offer(x->policy, offers, s->now);
        g_array_unref(offers);
    } else {
        char *text = g_strdup_printf("%s; the program keeps its hosts", why);
        say(s, text);
        g_free(text);
    }
    g_free(why);
}

static void begin(hub_state *s)
{
    s->script->next = s->now + PERIOD;
    dome__hosts_script_begin(&s->script->run, s->now); /* or the next time */
}

static void order(hub_state *s)
{
    hub_script *x = s->script;
    if (x->order.hosts || !dome__hub_may_order(s))
        return;
    const char **hosts = dome__hub_hosts(s);
    const dome_hosts_sample program = {s->now, s->view.size, s->view.least, s->view.most, hosts};
    dome_order order;
    if (dome__hosts_policy_order(x->policy, &program, &order)) {
        x->order = order;
        x->order.hosts = g_strdupv(order.hosts);
        dome__hub_order(s, &order, DOME_HUB_SCRIPT);
    }
    g_free(hosts);
}

int dome__hub_script_fd(const hub_state *s)
{
    return s->script ? s->script->run.fd : -1;
}

void dome__hub_script_tick(hub_state *s)
{
    hub_script *x = s->script;
    if (!x || s->view.size == 0)
        return;
    if (x->run.fd >= 0)
        hear(s);
    else if (s->now > x->next && !s->rank0.ended)
        begin(s);
    order(s);
}

void dome__hub_script_answer(hub_state *s, const char *word, const char *text)
{
    hub_script *x = s->script;
    const bool good = strcmp(word, "done") == 0;
    if (!x || !x->order.hosts)
        return;
    dome__hosts_policy_ended(x->policy, &x->order, good, s->now);
    dome__order_clear(&x->order);
    if (!good && !s->rank0.ended && !s->failure.noticed)
        say(s, text);
}

void dome__hub_script_close(hub_state *s)
{
    hub_script *x = s->script;
    if (!x)
        return;
    dome__hosts_script_clear(&x->run);
    dome__order_clear(&x->order);
    dome__hosts_policy_free(x->policy);
    g_free(x->said);
    g_clear_pointer(&s->script, g_free);
}
