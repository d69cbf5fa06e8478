/* Newcomers of the next view: task 0 asks for them, and a separate process starts them (standby.h). */
#include "hub/hub_private.h"
#include "machine/standby.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Seconds for a task to start, besides those for the first. */
static const double FOR_EACH = 0.1;

static void tell(const hub_state *s, const char *line)
{
    hub_client *c = dome__hub_watch_of(s, 0);
    if (c && !c->closed && c->view == s->standby.view)
        dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_STANDBY, .standby = {0, line}});
}

void dome__hub_standby_open(hub_state *s)
{
    s->standby.fd = -1;
}

void dome__hub_standby_end(hub_state *s)
{
    hub_standby *p = &s->standby;
    if (p->fd < 0)
        return;
    if (!p->over)
        kill(p->process, SIGKILL); /* it has not closed its end, so it is there; handle_signals waits for it */
    close(p->fd);
    g_free(p->hosts);
    g_string_free(p->said, TRUE);
    *p = (hub_standby){.fd = -1};
}

void dome__hub_standby_start(hub_state *s, const hub_client *c, const dome_wire_standby *standby)
{
    hub_standby *p = &s->standby;
    const double timeout = MAX(s->hub->timeout, 10);
    int newcomers = 0;
    dome__hub_standby_end(s); /* of a change that has not come about */
    if (c->rank != 0 || c->view != s->view.number)
        return;
    for (const char *at = standby->text; *at; at++)
        newcomers += *at == ' ';
    const dome_standby_request request = {.launcher = s->hub->machine.launcher,
                                          .process = c->pid,
                                          .descriptor = (int)standby->descriptor,
                                          .hosts = standby->text,
                                          .timeout = timeout,
                                          .patience = 2 * timeout};
    p->view = c->view;
    p->process = dome__standby_start(&request, &p->fd);
    if (p->process > 0) {
        p->hosts = g_strdup(standby->text);
        p->said = g_string_new(NULL);
        p->until = s->now + 1.5 * timeout + FOR_EACH * newcomers;
        return;
    }
    char *line = g_strdup_printf("!no process for starting tasks: %s", g_strerror(errno));
    tell(s, line);
    g_free(line);
}

/* The hosts of newcomers, each once; g_free'd. */
static char *hosts_of(const char *text)
{
    char **words = g_strsplit(text, " ", 0);
    GPtrArray *names = g_ptr_array_new();
    for (char **word = words; *word; word++)
        if (strcmp(*word, "-") != 0 && !g_ptr_array_find_with_equal_func(names, *word, g_str_equal, NULL))
            g_ptr_array_add(names, *word);
    g_ptr_array_add(names, NULL);
    char *joined = g_strjoinv(", ", (char **)names->pdata);
    g_ptr_array_unref(names);
    g_strfreev(words);
    return joined;
}

static void give_up(hub_state *s)
{
    hub_standby *p = &s->standby;
    char *hosts = hosts_of(p->hosts);
    char *line = g_strdup_printf("!new tasks did not start in time on host%s %s (host down or link cut)",
                                 strchr(hosts, ',') ? "s" : "", hosts);
    tell(s, line);
    g_free(line);
    g_free(hosts);
    dome__hub_standby_end(s);
}

void dome__hub_hear_standby(hub_state *s, bool readable)
{
    hub_standby *p = &s->standby;
    if (p->fd < 0 || p->over)
        return;
    if (readable) {
        char buffer[1024];
        const ssize_t n = read(p->fd, buffer, sizeof buffer);
        if (n > 0)
            g_string_append_len(p->said, buffer, n);
        char *end = strchr(p->said->str, '\n');
        p->over = end != NULL || n == 0;
        if (end)
            *end = '\0';
        if (p->over)
            tell(s, p->said->str);
        if (p->over && p->said->str[0] != '=') /* there are none */
            dome__hub_standby_end(s);
    } else if (s->now > p->until) {
        give_up(s);
    }
}
