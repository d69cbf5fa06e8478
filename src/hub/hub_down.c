/* Hosts that are down: no task can be started on them. A host is down when all of its tasks have fallen silent, or when no task
 * is left there and PVM's daemon does not run. PVM waits for minutes for such a host, and its daemons hold up all other messages
 * as long as one of them has a message for it. So nobody asks it by PVM. */
#include "hub/hub_private.h"
#include "machine/private_machine.h"
#include "system/unconst.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Seconds for a host to answer, and for the process that asks. */
static const double ANSWER = 1.5, PROBE = 3;

/* Seconds after which PVM has forgotten a host that is down: it tries for 180 at least. */
static const double FORGOTTEN = 300;

static void clear_host(void *item)
{
    hub_host *host = item;
    g_free(host->name);
}

GArray *dome__hub_down_new(void)
{
    GArray *down = g_array_new(FALSE, TRUE, sizeof(hub_host));
    g_array_set_clear_func(down, clear_host);
    return down;
}

static const hub_host *find(const hub_state *s, const char *name)
{
    for (guint i = 0; name && i < s->machine->down->len; i++)
        if (strcmp(g_array_index(s->machine->down, hub_host, i).name, name) == 0)
            return &g_array_index(s->machine->down, hub_host, i);
    return NULL;
}

bool dome__hub_is_down(const hub_state *s, const char *host)
{
    const hub_host *h = find(s, host);
    return h && s->now - h->at < FORGOTTEN;
}

void dome__hub_set_up(hub_state *s, const char *host)
{
    const hub_host *h = find(s, host);
    if (h)
        g_array_remove_index(s->machine->down, (guint)(h - (const hub_host *)(const void *)s->machine->down->data));
}

void dome__hub_set_down(hub_state *s, const char *host)
{
    if (dome__hub_is_down(s, host))
        return;
    dome__hub_set_up(s, host); /* that was long ago */
    const hub_host h = {g_strdup(host), s->now};
    g_array_append_val(s->machine->down, h);
}

char *dome__hub_down_text(const hub_state *s)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < s->machine->down->len; i++) {
        const hub_host *h = &g_array_index(s->machine->down, hub_host, i);
        if (s->now - h->at < FORGOTTEN)
            g_string_append_printf(text, "%s%s", text->len ? " " : "", h->name);
    }
    return g_string_free(text, FALSE);
}

/* ---- judging by what the tasks do ---- */

/* Tasks of this host have been seen to end by other means, and its daemon is known to run. */
static bool is_elsewhere(const hub_member *m)
{
    return m->host && strcmp(m->host, g_get_host_name()) != 0;
}

/* Whether a host is not heard any more. */
static bool is_silent(const hub_member *members, int size, const char *host)
{
    bool any = false;
    for (int r = 0; r < size; r++) {
        const hub_member *m = &members[r];
        if (!m->host || strcmp(m->host, host) != 0)
            continue;
        if (!m->lost && !m->unheard)
            return false;
        any |= m->unheard;
    }
    return any;
}

/* Several hosts may fall silent together, though a task of one of them is noticed first. */
static void note_silent(hub_state *s, const hub_member *members, int size)
{
    bool any = false;
    for (int r = 0; r < size; r++)
        any |= is_elsewhere(&members[r]) && members[r].lost && members[r].unheard;
    for (int r = 0; any && r < size; r++)
        if (is_elsewhere(&members[r]) && is_silent(members, size, members[r].host))
            dome__hub_set_down(s, members[r].host);
}

/* Whether no task of a host is well. */
static bool is_out(const hub_member *members, int size, const char *host)
{
    for (int r = 0; r < size; r++)
        if (members[r].host && strcmp(members[r].host, host) == 0 && !members[r].lost && !members[r].failed)
            return false;
    return true;
}

/* Whether a host may be down: the others of its tasks may compute, and not have noticed that PVM's daemon is gone. */
static bool is_in_doubt(const hub_member *members, int size, const char *host)
{
    bool any = is_out(members, size, host);
    for (int r = 0; r < size; r++)
        any |= members[r].failed && members[r].host && strcmp(members[r].host, host) == 0;
    return any;
}

/* ---- asking the others ---- */

static void start_probe(hub_state *s, const hub_member *members, int size)
{
    hub_probe *l = &s->probe;
    GPtrArray *hosts = g_ptr_array_new(), *skip = g_ptr_array_new();
    GArray *daemons = g_array_new(FALSE, FALSE, sizeof(int));
    for (guint i = 0; i < s->machine->down->len; i++)
        if (dome__hub_is_down(s, g_array_index(s->machine->down, hub_host, i).name))
            g_ptr_array_add(skip, g_array_index(s->machine->down, hub_host, i).name);
    for (int r = 0; r < size; r++) {
        const hub_member *m = &members[r];
        char *name = is_elsewhere(m) ? dome__unconst(m->host) : NULL;
        if (!name || dome__hub_is_down(s, name) || g_ptr_array_find_with_equal_func(hosts, name, g_str_equal, NULL))
            continue;
        if (is_in_doubt(members, size, name)) {
            g_ptr_array_add(hosts, name);
            g_array_append_val(daemons, m->daemon);
        } else {
            g_ptr_array_add(skip, name);
        }
    }
    g_ptr_array_add(hosts, NULL);
    g_ptr_array_add(skip, NULL);
    *l = (hub_probe){.fd = -1, .said = g_string_new(NULL), .until = s->now + PROBE};
    if (s->hub->machine.launcher->can & DOME_LAUNCHER_MACHINE)
        l->process = dome__machine_probe(s->hub->machine.launcher, (char **)hosts->pdata,
                                         (const int *)(const void *)daemons->data, (char **)skip->pdata, ANSWER, &l->fd);
    g_array_unref(daemons);
    g_ptr_array_unref(skip);
    g_ptr_array_unref(hosts);
}

/* Whether all that the process says has come, or nothing will. */
static bool is_known(hub_state *s)
{
    hub_probe *l = &s->probe;
    char buffer[1024];
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    ssize_t n = 1;
    while (l->fd >= 0 && n > 0 && poll(&p, 1, 0) == 1)
        if ((n = read(l->fd, buffer, sizeof buffer)) > 0)
            g_string_append_len(l->said, buffer, n);
    if (l->fd >= 0 && n > 0 && s->now <= l->until)
        return false;
    if (l->fd >= 0 && n > 0)
        kill(l->process, SIGKILL); /* it has not closed its end, so it is there; handle_signals waits for it */
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    return true;
}

void dome__hub_probe_end(hub_state *s)
{
    hub_probe *l = &s->probe;
    if (l->said && l->fd >= 0) {
        kill(l->process, SIGKILL);
        close(l->fd);
    }
    if (l->said)
        g_string_free(l->said, TRUE);
    *l = (hub_probe){.fd = -1};
}

static void judge(hub_state *s, const hub_member *members, int size)
{
    GString *said = s->probe.said;
    if (!g_str_has_suffix(said->str, "\n")) { /* it cannot be found out */
        for (int r = 0; r < size; r++)
            if (is_elsewhere(&members[r]) && !dome__hub_is_down(s, members[r].host) && is_out(members, size, members[r].host))
                dome__hub_set_down(s, members[r].host);
        return;
    }
    char *line = g_strndup(said->str, said->len - 1), **silent = g_strsplit(line, " ", 0);
    for (char **host = silent; *host; host++)
        if (**host && is_in_doubt(members, size, *host))
            dome__hub_set_down(s, *host);
    g_strfreev(silent);
    g_free(line);
}

int dome__hub_count_down(const hub_state *s)
{
    int count = 0;
    for (guint i = 0; i < s->machine->down->len; i++)
        count += dome__hub_is_down(s, g_array_index(s->machine->down, hub_host, i).name);
    return count;
}

bool dome__hub_find_down(hub_state *s, hub_member *members, int size)
{
    bool asks = false;
    note_silent(s, members, size);
    for (int r = 0; r < size; r++)
        asks |= is_elsewhere(&members[r]) && (members[r].lost || members[r].failed);
    if (asks && !s->probe.said)
        start_probe(s, members, size);
    if (asks && !is_known(s))
        return false;
    if (asks)
        judge(s, members, size);
    for (int r = 0; r < size; r++)
        members[r].lost |= dome__hub_is_down(s, members[r].host);
    return true;
}
