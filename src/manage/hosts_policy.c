#include "manage/hosts_policy.h"

#include <string.h>

/* A host of which the script has spoken. */
typedef struct host {
    char *name;
    int slots;    /* offered; 0: none any more */
    double since; /* when that was first said */
    int failures; /* in a row */
    double wait;  /* until then no task is started there */
} host;

struct dome_hosts_policy {
    GArray *hosts;
    double changed; /* when the last order ended */
};

/* ---- what a script prints ---- */

bool dome__script_succeeded(const char *output)
{
    static const char good[] = "#status 0\n";
    return g_str_has_suffix(output, good) && (strlen(output) < sizeof good || output[strlen(output) - sizeof good] == '\n');
}

static void clear_offer(void *item)
{
    g_free(((dome_offer *)item)->host);
}

static void add_offer(GArray *offers, char *name, int slots)
{
    for (guint i = 0; i < offers->len; i++) {
        dome_offer *o = &g_array_index(offers, dome_offer, i);
        if (strcmp(o->host, name) == 0) {
            o->slots += slots;
            g_free(name);
            return;
        }
    }
    const dome_offer o = {name, slots};
    g_array_append_val(offers, o);
}

GArray *dome__offers_parse(const char *text, char **message)
{
    enum { SLOTS_MOST = 100000, HOSTS_MOST = 4095 }; /* of a virtual machine */
    GArray *offers = g_array_new(FALSE, TRUE, sizeof(dome_offer));
    g_array_set_clear_func(offers, clear_offer);
    char **lines = g_strsplit(text, "\n", 0);
    for (char **line = lines; *line && !*message; line++) {
        (*line)[strcspn(*line, "#")] = '\0';
        const char *word = g_strstrip(*line), *colon = strrchr(word, ':');
        guint64 slots = 1;
        char *name = colon ? g_strndup(word, (gsize)(colon - word)) : g_strdup(word);
        const bool counted = !colon || g_ascii_string_to_unsigned(colon + 1, 10, 0, SLOTS_MOST, &slots, NULL);
        if (word[0] && (!counted || !dome__order_is_host(name)))
            *message = g_strdup_printf("'%.80s' is not host:slots", word);
        else if (offers->len > HOSTS_MOST)
            *message = g_strdup_printf("names more than %d hosts", HOSTS_MOST);
        if (word[0] && !*message && slots > 0)
            add_offer(offers, g_steal_pointer(&name), (int)slots);
        g_free(name);
    }
    g_strfreev(lines);
    if (!*message)
        return offers;
    g_array_unref(offers);
    return NULL;
}

/* ---- when ---- */

static void clear_host(void *item)
{
    g_free(((host *)item)->name);
}

dome_hosts_policy *dome__hosts_policy_new(void)
{
    dome_hosts_policy *p = g_new0(dome_hosts_policy, 1);
    p->hosts = g_array_new(FALSE, TRUE, sizeof(host));
    g_array_set_clear_func(p->hosts, clear_host);
    p->changed = -DOME_HOSTS_REST;
    return p;
}

void dome__hosts_policy_free(dome_hosts_policy *p)
{
    if (!p)
        return;
    g_array_unref(p->hosts);
    g_free(p);
}

static host *find(const dome_hosts_policy *p, const char *name)
{
    for (guint i = 0; i < p->hosts->len; i++)
        if (dome__order_same_host(g_array_index(p->hosts, host, i).name, name))
            return &g_array_index(p->hosts, host, i);
    return NULL;
}

static void note(host *h, int slots, double now)
{
    if (h->slots != slots)
        h->since = now;
    h->slots = slots;
}

void dome__hosts_policy_offer(dome_hosts_policy *p, const GArray *offers, double now)
{
    for (guint i = 0; i < p->hosts->len; i++) {
        host *h = &g_array_index(p->hosts, host, i);
        bool offered = false;
        for (guint k = 0; k < offers->len; k++)
            offered |= dome__order_same_host(g_array_index(offers, dome_offer, k).host, h->name);
        if (!offered)
            note(h, 0, now);
    }
    for (guint k = 0; k < offers->len; k++) {
        const dome_offer *o = &g_array_index(offers, dome_offer, k);
        host *h = find(p, o->host);
        if (!h) {
            const host fresh = {.name = g_strdup(o->host)};
            g_array_append_val(p->hosts, fresh);
            h = &g_array_index(p->hosts, host, p->hosts->len - 1);
        }
        note(h, o->slots, now);
    }
}

static int tasks_on(const char *name, int size, const char *const *hosts)
{
    int count = 0;
    for (int r = 0; r < size; r++)
        count += dome__order_same_host(hosts[r], name);
    return count;
}

static bool let_go(const dome_hosts_policy *p, const dome_hosts_sample *x, dome_order *order)
{
    for (guint i = 0; i < p->hosts->len; i++) {
        const host *h = &g_array_index(p->hosts, host, i);
        const int there = tasks_on(h->name, x->size, x->hosts), keep = dome__order_same_host(h->name, x->hosts[0]) ? 1 : 0;
        const int leave = MIN(there - MAX(h->slots, keep), x->size - MAX(x->least, 1));
        if (leave <= 0 || x->now - h->since < DOME_HOSTS_SETTLE)
            continue;
        *order = (dome_order){DOME_ORDER_SHRINK, leave == there ? 0 : leave, g_new0(char *, 2)};
        order->hosts[0] = g_strdup(h->name);
        return true;
    }
    return false;
}

static bool take(const dome_hosts_policy *p, const dome_hosts_sample *x, dome_order *order)
{
    GPtrArray *names = g_ptr_array_new();
    bool doubtful = false; /* a host that has failed is tried alone */
    for (guint i = 0; i < p->hosts->len && !doubtful; i++) {
        const host *h = &g_array_index(p->hosts, host, i);
        int more = h->slots - tasks_on(h->name, x->size, x->hosts);
        if (x->now - h->since < DOME_HOSTS_SETTLE || x->now < h->wait || (h->failures && names->len))
            continue;
        if (x->most)
            more = MIN(more, x->most - x->size - (int)names->len);
        for (int k = 0; k < more; k++)
            g_ptr_array_add(names, g_strdup(h->name));
        doubtful = h->failures && more > 0;
    }
    const bool any = names->len > 0;
    g_ptr_array_add(names, NULL);
    char **list = (char **)g_ptr_array_free(names, FALSE);
    if (any)
        *order = (dome_order){DOME_ORDER_GROW, 0, list};
    else
        g_strfreev(list);
    return any;
}

bool dome__hosts_policy_order(const dome_hosts_policy *p, const dome_hosts_sample *program, dome_order *order)
{
    if (program->size < 1 || program->now - p->changed < DOME_HOSTS_REST)
        return false;
    return let_go(p, program, order) || take(p, program, order);
}

void dome__hosts_policy_ended(dome_hosts_policy *p, const dome_order *order, bool good, double now)
{
    p->changed = now;
    for (char **name = order->hosts; name && *name; name++) {
        host *h = find(p, *name);
        if (!h || order->kind != DOME_ORDER_GROW || (name > order->hosts && strcmp(name[-1], *name) == 0))
            continue;
        double wait = DOME_HOSTS_FIRST_WAIT;
        for (int k = 0; k < h->failures && wait < DOME_HOSTS_LONGEST_WAIT; k++)
            wait *= 2;
        h->failures = good ? 0 : h->failures + 1;
        h->wait = good ? now : now + MIN(wait, DOME_HOSTS_LONGEST_WAIT);
    }
}
