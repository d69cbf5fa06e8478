/* Takes orders, adds the hosts that they need, and has them carried out by the state machine of views (view.h). */
#include "hub/hub_private.h"
#include "machine/private_machine.h"
#include "system/unconst.h"
#include "transport/control_socket.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void reply(hub_state *s, int fd, const char *word, const char *text)
{
    if (fd == DOME_HUB_SCRIPT) {
        dome__hub_script_answer(s, word, text);
        return;
    }
    if (fd == DOME_HUB_SIZE) {
        dome__hub_size_answer(s, word, text);
        return;
    }
    char *line = g_strdup_printf("%s %s\n", word, text);
    ssize_t ignored = send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored;
    g_free(line);
    close(fd);
}

void dome__hub_answer(hub_state *s, const char *word, const char *text)
{
    const int asker = s->orders.asker;
    s->orders.asker = -1;
    if (asker != -1)
        reply(s, asker, word, text);
}

/* ---- carrying out ---- */

/* Why the order is refused (g_free'd), or NULL: it is under way, or done. */
static char *carried_out(hub_state *s, const dome_order *order, int asker)
{
    dome_view_plan plan;
    const char **hosts = dome__hub_hosts(s);
    char *why = dome__order_plan(order, s->view.size, hosts, &plan);
    g_free(hosts);
    if (why)
        return why;
    if ((why = dome__hub_has_no_room(s, plan.size))) {
        dome__view_plan_clear(&plan);
        return why;
    }
    const int before = s->orders.asker;
    s->orders.asker = asker;
    if ((why = dome__hub_view_ask(s, &plan)))
        s->orders.asker = before;
    else
        dome__hub_history_ordered(s, order, asker);
    return why;
}

/* Takes over the order. */
static void carry_out(hub_state *s, dome_order *order, int asker)
{
    char *why = carried_out(s, order, asker);
    dome__order_clear(order);
    if (why)
        reply(s, asker, "no", why);
    g_free(why);
}

void dome__hub_want_meeting(hub_state *s)
{
    s->orders.meet = true;
    dome__hub_meet(s);
}

void dome__hub_meet(hub_state *s)
{
    if (s->orders.meet && s->orders.adding.fd < 0)
        s->orders.meet = !dome__hub_view_meet(s);
}

/* ---- hosts for new tasks ---- */

/* The hosts of the order on which no task is: lines of a hostfile, g_strfreev'd. */
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
static const char *cannot_add(const hub_state *s)
{
    if (s->orders.adding.fd >= 0)
        return DOME_ORDER_ADDING;
    if (!(s->hub->machine.launcher->can & DOME_LAUNCHER_MACHINE))
        return "its tasks have no virtual machine to which hosts could be added";
    if (s->hub->machine.directory && !s->hub->machine.others)
        return "its private virtual machine is for this host alone: start the program with dome run --hosts, or in a virtual "
               "machine of yours (dome hosts add)";
    return NULL;
}

/* Why the order cannot be carried out (g_free'd), or NULL. lines: hosts that must be added first. */
static char *objection(const hub_state *s, const dome_order *order, const char *const *hosts, char *const *lines)
{
    dome_view_plan plan;
    char *why = dome__order_plan(order, s->view.size, hosts, &plan);
    dome__view_plan_clear(&plan);
    if (!why && lines[0])
        why = g_strdup(cannot_add(s));
    for (char *const *line = lines; !why && *line; line++)
        if (dome__hub_is_down(s, *line))
            why = g_strdup_printf("host %s " DOME_ORDER_LOST_NOW "; %s forgets it within five minutes", *line,
                                  s->hub->machine.launcher->title);
    return why;
}

/* Takes over the order, unless it returns why the hosts cannot be added (g_free'd). */
static char *add_hosts(hub_state *s, const dome_order *order, int asker, char **lines)
{
    hub_adding *a = &s->orders.adding;
    *a = (hub_adding){.order = *order, .asker = asker, .said = g_string_new(NULL)};
    a->process = dome__machine_add(s->hub->machine.launcher, lines, true, &a->fd);
    a->until = s->now + dome__machine_add_seconds(lines);
    if (a->process > 0)
        return NULL;
    const int error = errno;
    g_string_free(a->said, TRUE);
    a->fd = -1;
    return g_strdup_printf("hosts " DOME_ORDER_NOT_ADDED "%s", g_strerror(error));
}

void dome__hub_order(hub_state *s, dome_order *order, int asker)
{
    const char **hosts = dome__hub_hosts(s);
    char **lines = missing_hosts(s, order, hosts), *why = objection(s, order, hosts, lines);
    const bool adds = lines[0] != NULL;
    g_free(hosts);
    if (!why && dome__view_is_free(&s->view) && s->orders.adding.fd < 0) /* else it is that of the order before */
        s->orders.asked_at = s->now;
    if (!why && adds)
        why = add_hosts(s, order, asker, lines);
    else if (!why)
        carry_out(s, order, asker);
    g_strfreev(lines);
    if (!why)
        return;
    dome__order_clear(order);
    reply(s, asker, "no", why);
    g_free(why);
}

/* why: NULL if all hosts have been added. */
static void end_adding(hub_state *s, const char *why)
{
    hub_adding *a = &s->orders.adding;
    close(a->fd);
    a->fd = -1;
    if (why) {
        dome__order_clear(&a->order);
        reply(s, a->asker, "no", why);
    } else {
        carry_out(s, &a->order, a->asker);
    }
    g_string_free(a->said, TRUE);
}

static void hear_hosts(hub_state *s)
{
    hub_adding *a = &s->orders.adding;
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
        char *why =
            g_strdup_printf("hosts " DOME_ORDER_NOT_ADDED "no answer in time from all of: %s (host down or link cut)", names);
        end_adding(s, why);
        g_free(why);
        g_free(names);
    }
}

/* ---- users ---- */

/* Why no program like this one can change (g_free'd), or NULL. */
static char *cannot_change(const hub_state *s)
{
    if (s->failure.noticed || s->failure.told || s->rank0.ended)
        return g_strdup("the program is ending");
    if (!s->hub->rank0_is_child)
        return g_strdup_printf("a program that was started from the %s console keeps its tasks", s->hub->machine.launcher->title);
    return NULL;
}

/* Takes over the descriptor; the answer comes when all tasks have stopped. */
static char *suspend(hub_state *s, const dome_order *order, int fd)
{
    const bool stops = order->kind == DOME_ORDER_SUSPEND;
    if (s->orders.suspending != DOME_HUB_NO_SUSPENDING)
        return g_strdup(DOME_ORDER_ANOTHER);
    char *why = dome__hub_suspend(s, stops, dome__hub_may_suspend(s));
    if (why)
        return why;
    s->orders.suspender = fd;
    s->orders.suspending = stops ? DOME_HUB_STOPS : DOME_HUB_GOES_ON_AGAIN;
    return NULL;
}

static void answer_suspender(hub_state *s, const char *word, const char *text)
{
    s->orders.suspending = DOME_HUB_NO_SUSPENDING;
    reply(s, s->orders.suspender, word, text);
    s->orders.suspender = -1;
}

static void answer_suspended(hub_state *s)
{
    const bool stops = s->orders.suspending == DOME_HUB_STOPS;
    if (s->orders.suspending == DOME_HUB_NO_SUSPENDING || !dome__hub_suspend_is_done(s))
        return;
    char *line = g_strdup_printf("%d task%s %s", s->view.size, s->view.size == 1 ? "" : "s", stops ? "stopped" : "run");
    answer_suspender(s, s->suspended == stops ? "done" : "no", s->suspended == stops ? line : "a task was lost");
    g_free(line);
}

static void take_order(hub_state *s, hub_ask *ask)
{
    dome_order order;
    char *why = dome__order_parse(ask->line, &order) ? cannot_change(s)
                                                     : g_strdup("the order is not understood: is dome of another version?");
    const int fd = ask->fd;
    ask->fd = -1;
    if (!why && dome__order_changes(&order)) {
        if (!s->suspended) {
            dome__hub_order(s, &order, fd);
            return;
        }
        why = g_strdup(DOME_ORDER_SUSPENDED "; dome resume lets it run");
    } else if (!why) {
        why = suspend(s, &order, fd);
    }
    dome__order_clear(&order);
    if (why)
        reply(s, fd, "no", why);
    g_free(why);
}

static void hear(hub_ask *ask)
{
    ssize_t n = recv(ask->fd, ask->line + ask->used, sizeof ask->line - 1 - ask->used, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    ask->used += n > 0 ? (guint)n : 0;
    ask->line[ask->used] = '\0';
    char *end = strchr(ask->line, '\n');
    if (end) {
        *end = '\0';
        ask->waits = true;
    } else if (n <= 0 || ask->used == sizeof ask->line - 1) {
        close(ask->fd);
        ask->fd = -1;
    }
}

static void accept_ask(hub_state *s)
{
    hub_ask *asks = s->orders.asks;
    const int fd = dome__control_socket_accept(s->orders.listen_fd);
    int free = 0;
    while (free < DOME_HUB_ASKS && asks[free].fd >= 0)
        free++;
    if (fd < 0 && errno != EACCES && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        dome__hub_accept_later(s);
    if (fd >= 0 && free < DOME_HUB_ASKS)
        asks[free] = (hub_ask){.fd = fd};
    else if (fd >= 0)
        reply(s, fd, "no", DOME_ORDER_TOO_MANY);
}

void dome__hub_take_orders(hub_state *s)
{
    hear_hosts(s);
    dome__hub_script_tick(s);
    s->orders.script_fd = dome__hub_script_fd(s);
    dome__hub_size_tick(s);
    for (int i = 0; i < DOME_HUB_ASKS; i++) {
        hub_ask *ask = &s->orders.asks[i];
        if (!ask->waits && dome__hub_happened(s, DOME_POLL_ASK + i))
            hear(ask);
        if (ask->waits && !dome__view_meets(&s->view)) {
            ask->waits = false;
            take_order(s, ask);
        }
    }
    answer_suspended(s);
    dome__hub_meet(s);
    if (dome__hub_happened(s, DOME_POLL_ORDER))
        accept_ask(s);
}

bool dome__hub_may_suspend(const hub_state *s)
{
    return s->view.phase != DOME_VIEW_ENTERING && s->orders.adding.fd < 0 && !s->rank0.ended && !s->failure.noticed;
}

bool dome__hub_may_order(const hub_state *s)
{
    return dome__hub_may_suspend(s) && dome__view_is_free(&s->view) && s->orders.asker == -1 &&
           s->orders.suspending == DOME_HUB_NO_SUSPENDING;
}

void dome__hub_orders_open(hub_state *s)
{
    hub_orders *o = &s->orders;
    o->listen_fd = dome__control_socket_listen(DOME_CONTROL_ORDER);
    o->asker = o->suspender = o->adding.fd = o->script_fd = -1;
    for (int i = 0; i < DOME_HUB_ASKS; i++)
        o->asks[i].fd = -1;
    dome__hub_script_open(s);
    dome__hub_size_open(s);
}

void dome__hub_orders_close(hub_state *s)
{
    hub_orders *o = &s->orders;
    if (o->adding.fd >= 0) {
        kill(o->adding.process, SIGKILL);
        end_adding(s, "the program has ended");
    }
    for (int i = 0; i < DOME_HUB_ASKS; i++)
        if (o->asks[i].fd >= 0)
            reply(s, o->asks[i].fd, "no", "the program has ended");
    if (o->suspending != DOME_HUB_NO_SUSPENDING)
        answer_suspender(s, "no", "the program has ended");
    if (o->listen_fd >= 0)
        close(o->listen_fd);
    dome__hub_script_close(s);
    dome__hub_size_close(s);
}
