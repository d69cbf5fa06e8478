/* Hosts for new tasks: adds them to the virtual machine before an order is carried out. PVM may take long for that, or for ever,
 * so a process of its own does it. */
#include "hub/hub_private.h"
#include "machine/private_machine.h"
#include "system/unconst.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const char **dome__hub_hosts(const hub_state *s)
{
    const char **hosts = g_new0(const char *, s->view.size + 1);
    for (int r = 0; r < s->view.size; r++)
        hosts[r] = "?";
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_task(s, c) && c->rank < s->view.size)
            hosts[c->rank] = c->host;
    }
    return hosts;
}

void dome__hub_tell_hosts(const hub_state *s)
{
    if (s->hub->report_fd < 0)
        return;
    const char **hosts = dome__hub_hosts(s);
    GString *text = g_string_new(NULL);
    for (int r = 0; r < s->view.size; r++) {
        bool first = strcmp(hosts[r], "?") != 0;
        for (int k = 0; k < r && first; k++)
            first = strcmp(hosts[k], hosts[r]) != 0;
        if (first)
            g_string_append_printf(text, "%s%s", text->len ? " " : "", hosts[r]);
    }
    dome__wire_send(s->hub->report_fd, NULL, &(dome_wire_message){.kind = DOME_WIRE_HOSTS, .hosts = text->str});
    g_string_free(text, TRUE);
    g_free(hosts);
}

void dome__hub_say_once(hub_state *s, char **said, const char *who, const char *text)
{
    if (g_strcmp0(text, *said) == 0)
        return;
    g_free(*said);
    *said = g_strdup(text);
    char *line = g_strdup_printf("%s: %s", who, text);
    dome__hub_say(s, line);
    g_free(line);
}

/* Those of the order's hosts on which no task is: lines of a hostfile, g_strfreev'd. */
static char **missing_hosts(const hub_state *s, const dome_order *order, const char *const *hosts)
{
    GPtrArray *missing = g_ptr_array_new();
    for (char *const *name = dome__order_new_hosts(order); name && *name; name++) {
        bool there = false;
        for (int r = 0; r < s->view.size; r++)
            there |= dome__order_same_host(hosts[r], *name);
        for (guint i = 0; i < missing->len; i++)
            there |= strcmp(missing->pdata[i], *name) == 0;
        if (!there)
            g_ptr_array_add(missing, g_strdup(*name));
    }
    g_ptr_array_add(missing, NULL);
    return (char **)g_ptr_array_free(missing, FALSE);
}

/* Why no hosts can be added: a static text, or NULL. */
static const char *never(const hub_state *s)
{
    if (s->adding.fd >= 0)
        return "hosts are being added for another order";
    if (!(s->hub->launcher->can & DOME_LAUNCHER_MACHINE))
        return "its tasks have no virtual machine to which hosts could be added";
    if (s->hub->directory && !s->hub->others)
        return "its private virtual machine is for this host alone: start the program with dome run --hosts, or in a virtual "
               "machine of yours (dome hosts add)";
    return NULL;
}

void dome__hub_add_hosts(hub_state *s, dome_order *order, int asker)
{
    dome_view_plan plan;
    const char **hosts = dome__hub_hosts(s);
    char *why = dome__order_plan(order, s->view.size, hosts, &plan), **lines = missing_hosts(s, order, hosts);
    dome__view_plan_clear(&plan);
    g_free(hosts);
    if (!why && lines[0])
        why = g_strdup(never(s));
    if (!why && dome__view_is_free(&s->view) && s->adding.fd < 0) /* else it is that of the order before */
        s->asked_at = s->now;
    hub_adding *a = &s->adding;
    for (char **line = lines; !why && *line; line++)
        if (dome__hub_is_down(s, *line))
            why = g_strdup_printf("host %s was lost a moment ago; PVM forgets it within five minutes", *line);
    if (!why && lines[0]) {
        *a = (hub_adding){.order = *order, .asker = asker, .said = g_string_new(NULL)};
        a->process = dome__machine_add(s->hub->launcher, lines, true, &a->fd);
        a->until = s->now + dome__machine_add_seconds(lines);
        if (a->process > 0) {
            g_strfreev(lines);
            return;
        }
        why = g_strdup_printf("hosts cannot be added: %s", g_strerror(errno));
        g_string_free(a->said, TRUE);
        a->fd = -1;
    }
    g_strfreev(lines);
    if (!why) {
        dome__hub_carry_out(s, order, asker);
        return;
    }
    dome__order_clear(order);
    dome__hub_reply(s, asker, "no", why);
    g_free(why);
}

/* why: NULL if all hosts have been added. */
static void end_adding(hub_state *s, const char *why)
{
    hub_adding *a = &s->adding;
    close(a->fd);
    a->fd = -1;
    if (why) {
        dome__order_clear(&a->order);
        dome__hub_reply(s, a->asker, "no", why);
    } else {
        dome__hub_carry_out(s, &a->order, a->asker);
    }
    g_string_free(a->said, TRUE);
}

void dome__hub_hear_hosts(hub_state *s)
{
    hub_adding *a = &s->adding;
    if (a->fd < 0)
        return;
    if (dome__hub_happened(s, DOME_POLL_ADDING)) {
        char buffer[1024];
        ssize_t n = read(a->fd, buffer, sizeof buffer);
        if (n > 0)
            g_string_append_len(a->said, buffer, n);
        else if (n == 0)
            end_adding(s, dome__machine_add_failed(a->said->str));
    } else if (s->now > a->until) {
        char *names = g_strjoinv(", ", dome__unconst(dome__order_new_hosts(&a->order)));
        kill(a->process, SIGKILL); /* it has not closed its end, so it is there; handle_signals waits for it */
        char *why = g_strdup_printf("hosts cannot be added: no answer in time from all of: %s (host down or link cut)", names);
        end_adding(s, why);
        g_free(why);
        g_free(names);
    }
}

void dome__hub_hosts_close(hub_state *s)
{
    if (s->adding.fd < 0)
        return;
    kill(s->adding.process, SIGKILL);
    end_adding(s, "the program has ended");
}
