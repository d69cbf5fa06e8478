/* Changes of the number of tasks: takes the orders of users, and does what the state machine of views (view.h) says. */
#include "hub/hub_private.h"
#include "transport/door.h"
#include "wire/order.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void to_all(hub_state *s, const dome_wire_message *message)
{
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_there(c) && c->view == s->view.number)
            dome__hub_send(c, message);
    }
}

/* The tasks that have come back are known to each other by new ids. */
static void send_members(hub_state *s)
{
    GString *ids = g_string_new(NULL);
    for (int r = 0; r < s->view.next.size; r++)
        g_string_append_printf(ids, "%s%d", r ? " " : "", s->view.arrivals[r].here ? s->view.arrivals[r].id : 0);
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (dome__hub_is_there(c) && c->rank == 0 && c->view == s->view.next_number)
            dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_MEMBERS, .members = ids->str});
    }
    g_string_free(ids, TRUE);
}

static void send_target(hub_state *s, const dome_view_act *act)
{
    char *plan = dome__view_plan_text(&s->view.wanted);
    to_all(s, &(dome_wire_message){.kind = DOME_WIRE_TARGET, .hold = {act->order, act->loop, plan}});
    g_free(plan);
}

/* ---- users ---- */

void dome__hub_reply(hub_state *s, int fd, const char *word, const char *text)
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

static void answer(hub_state *s, const char *word, const char *text)
{
    const int asker = s->asker;
    s->asker = -1;
    if (asker != -1)
        dome__hub_reply(s, asker, word, text);
}

void dome__hub_view_open(hub_state *s)
{
    dome__view_init(&s->view);
    dome__history_init(&s->history);
    s->order_fd = dome__door_listen(DOME_DOOR_ORDER);
    s->asker = s->adding.fd = s->parking.fd = -1;
    for (int i = 0; i < DOME_HUB_ASKS; i++)
        s->asks[i].fd = -1;
    dome__hub_script_open(s);
    dome__hub_size_open(s);
}

void dome__hub_view_close(hub_state *s)
{
    dome__hub_hosts_close(s);
    dome__hub_park_end(s);
    dome__hub_view_act(s, dome__view_end(&s->view));
    for (int i = 0; i < DOME_HUB_ASKS; i++)
        if (s->asks[i].fd >= 0)
            dome__hub_reply(s, s->asks[i].fd, "no", "the program has ended");
    if (s->order_fd >= 0)
        close(s->order_fd);
    dome__view_clear(&s->view);
    dome__history_clear(&s->history);
    dome__hub_script_close(s);
    dome__hub_size_close(s);
}

void dome__hub_view_act(hub_state *s, dome_view_act act)
{
    switch (act.deed) {
    case DOME_VIEW_HOLD:
        to_all(s, &(dome_wire_message){.kind = DOME_WIRE_HOLD, .hold = {.order = act.order}});
        break;
    case DOME_VIEW_TARGET:
        send_target(s, &act);
        break;
    case DOME_VIEW_MEMBERS:
        send_members(s);
        break;
    case DOME_VIEW_DONE:
        answer(s, "done", act.text);
        break;
    case DOME_VIEW_REFUSED:
        answer(s, "no", act.text);
        break;
    case DOME_VIEW_NOTHING:
    case DOME_VIEW_AGAIN:
    case DOME_VIEW_WRONG:
        break;
    }
    g_free(act.text);
}

/* Why no program like this one can change: a static text, or NULL. */
static const char *never(const hub_state *s)
{
    if (s->failure.noticed || s->failure.told || s->rank0.ended)
        return "the program is ending";
    if (!s->hub->rank0_is_child)
        return "a program that was started from the PVM console keeps its tasks";
    return NULL;
}

void dome__hub_meet(hub_state *s)
{
    if (!s->meet || s->adding.fd >= 0)
        return;
    dome_view_act act = dome__view_meet(&s->view);
    s->meet = act.deed == DOME_VIEW_NOTHING;
    dome__hub_view_act(s, act);
}

void dome__hub_carry_out(hub_state *s, dome_order *order, int asker)
{
    dome_view_plan plan;
    const char **hosts = dome__hub_hosts(s);
    char *why = dome__order_plan(order, s->view.size, hosts, &plan);
    g_free(hosts);
    if (!why && (why = dome__hub_has_no_room(s, plan.size)))
        dome__view_plan_clear(&plan);
    if (!why) {
        dome_view_act act = dome__view_ask(&s->view, &plan);
        if (act.deed != DOME_VIEW_REFUSED) {
            dome__hub_history_ordered(s, order, asker);
            dome__order_clear(order);
            s->asker = asker;
            dome__hub_view_act(s, act);
            return;
        }
        why = act.text;
    }
    dome__order_clear(order);
    dome__hub_reply(s, asker, "no", why);
    g_free(why);
}

static void take_order(hub_state *s, hub_ask *ask)
{
    dome_order order;
    const char *why =
        dome__order_parse(ask->line, &order) ? never(s) : "the order is not understood: is dome of another version?";
    const int fd = ask->fd;
    ask->fd = -1;
    if (!why) {
        dome__hub_add_hosts(s, &order, fd);
        return;
    }
    dome__order_clear(&order);
    dome__hub_reply(s, fd, "no", why);
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

void dome__hub_take_orders(hub_state *s)
{
    dome__hub_hear_hosts(s);
    dome__hub_script_tick(s);
    dome__hub_size_tick(s);
    for (int i = 0; i < DOME_HUB_ASKS; i++) {
        hub_ask *ask = &s->asks[i];
        if (!ask->waits && dome__hub_happened(s, DOME_POLL_ASK + i))
            hear(ask);
        if (ask->waits && !dome__view_meets(&s->view)) {
            ask->waits = false;
            take_order(s, ask);
        }
    }
    dome__hub_meet(s);
    if (!dome__hub_happened(s, DOME_POLL_ORDER))
        return;
    int fd = dome__door_accept(s->order_fd), free = 0;
    while (free < DOME_HUB_ASKS && s->asks[free].fd >= 0)
        free++;
    if (fd < 0 && errno != EACCES && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        dome__hub_accept_later(s);
    if (fd >= 0 && free < DOME_HUB_ASKS)
        s->asks[free] = (hub_ask){.fd = fd};
    else if (fd >= 0)
        dome__hub_reply(s, fd, "no", "too many orders at once");
}

/* ---- tasks ---- */

static uint32_t newest(const hub_state *s)
{
    return s->view.phase == DOME_VIEW_ENTERING ? s->view.next_number : s->view.number;
}

bool dome__hub_view_greet(hub_state *s, hub_client *c, dome_view_act *then)
{
    *then = (dome_view_act){0};
    if (c->channel != DOME_WIRE_WATCH)
        return c->view >= s->view.number && c->view <= newest(s);
    *then = dome__view_greet(&s->view, c->rank, c->view, c->tid);
    if (then->deed == DOME_VIEW_WRONG)
        return false;
    const int place = dome__view_place(&s->view, c->view, c->rank);
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *before = s->clients->pdata[i];
        if (dome__client_is_away(before->state) && dome__view_place(&s->view, before->view, before->rank) == place)
            dome__hub_step(before, DOME_CLIENT_REPLACE);
    }
    dome__hub_set_up(s, c->host);
    return true;
}

/* Counts the loop boundaries of a view that has ended, and notes the one that has begun. */
static void note_entered(hub_state *s, uint32_t before)
{
    uint64_t loops = 0;
    for (guint i = 0; s->view.number != before && i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        loops = c->view == before ? MAX(loops, c->beat.loop) : loops;
    }
    s->loops_before += loops;
    if (s->view.number != before) {
        dome__hub_park_end(s);
        dome__hub_history_stands(s);
    }
}

void dome__hub_view_entered(hub_state *s)
{
    s->entered_at = s->now;
}

void dome__hub_view_count_from(hub_state *s, uint64_t loops)
{
    s->loops_before = loops;
}

void dome__hub_view_change(hub_state *s, hub_client *c, const dome_wire_change *change)
{
    const bool steady = s->view.phase != DOME_VIEW_ENTERING;
    const uint32_t before = s->view.number;
    dome_view_plan plan;
    dome_view_act act = {.deed = DOME_VIEW_WRONG};
    bool ordered = false;
    if (s->view.size == 0 && change->number == s->view.number + 1 &&
        !c->early) { /* the word of task 0 comes by another connection */
        c->early = g_strdup(change->plan);
        dome__hub_step(c, DOME_CLIENT_GOES);
        dome__hub_view_entered(s);
        return;
    }
    if (dome__view_plan_parse(change->plan, 0, &plan)) {
        ordered = dome__view_has_ordered(&s->view, &plan);
        act = dome__view_announce(&s->view, c->rank, change->number, &plan);
    }
    const int size = plan.size;
    dome__view_plan_clear(&plan);
    if (act.deed == DOME_VIEW_WRONG) {
        dome__hub_notice(s, DOME_END_OWN, false, 2,
                         g_strdup_printf("tasks disagree about the number of tasks: task %d on host %s changes to %d", c->rank,
                                         c->host, size));
        return;
    }
    note_entered(s, before);
    if ((steady || s->view.number != before) && s->view.phase == DOME_VIEW_ENTERING) {
        dome__hub_view_entered(s);
        dome__hub_history_changes(s, ordered);
    }
    if (!s->view.healing)
        dome__hub_step(c, dome__view_away(&s->view, c->rank) ? DOME_CLIENT_GOES : DOME_CLIENT_STAYS);
    dome__hub_view_act(s, act);
}

void dome__hub_view_stands(hub_state *s, const dome_wire_view *view)
{
    const uint32_t before = s->view.number;
    const bool first = s->view.size == 0;
    dome_view_act act = dome__view_stands(&s->view, view->number, (int)view->size, (int)view->least, (int)view->most);
    note_entered(s, before);
    if (first && s->view.size > 0)
        dome__hub_history_stands(s);
    dome__hub_tell_hosts(s);
    dome__hub_view_act(s, act);
    for (guint i = 0; first && s->view.size > 0 && i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        char *plan = g_steal_pointer(&c->early);
        if (plan)
            dome__hub_view_change(s, c, &(dome_wire_change){.number = s->view.number + 1, .plan = plan});
        g_free(plan);
    }
}

void dome__hub_look_for_away(hub_state *s, double limit)
{
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        if (!dome__client_is_away(c->state) || s->failure.noticed)
            continue;
        struct pollfd p = {.fd = c->process, .events = POLLIN};
        if (c->rank != 0 && c->process >= 0 && poll(&p, 1, 0) == 1) {
            dome__hub_process_ended(s, c);
        } else if (s->now - s->entered_at > limit) {
            char *how = g_strdup_printf("it did not come back within %.1f s when the program %s", limit,
                                        s->view.returns   ? "took back a change"
                                        : s->view.healing ? "went back to heal"
                                                          : "changed its number of tasks");
            dome__hub_lost(s, c, how);
            g_free(how);
        }
    }
}
