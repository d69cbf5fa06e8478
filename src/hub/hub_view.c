/* Changes of the number of tasks: tells the state machine of views (view.h) what has happened, and does what it says. This file
 * alone changes the view. */
#include "hub/hub_private.h"
#include <poll.h>
#include <string.h>

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

void dome__hub_view_open(hub_state *s)
{
    dome__view_init(&s->view);
}

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

void dome__hub_view_act(hub_state *s, dome_view_act act)
{
    switch (act.action) {
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
        dome__hub_answer(s, "done", act.text);
        break;
    case DOME_VIEW_REFUSED:
        dome__hub_answer(s, "no", act.text);
        break;
    case DOME_VIEW_NOTHING:
    case DOME_VIEW_AGAIN:
    case DOME_VIEW_WRONG:
        break;
    }
    g_free(act.text);
}

/* ---- orders ---- */

char *dome__hub_view_ask(hub_state *s, dome_view_plan *plan)
{
    const dome_view_act act = dome__view_ask(&s->view, plan);
    if (act.action == DOME_VIEW_REFUSED)
        return act.text;
    dome__hub_view_act(s, act);
    return NULL;
}

bool dome__hub_view_meet(hub_state *s)
{
    const dome_view_act act = dome__view_meet(&s->view);
    dome__hub_view_act(s, act);
    return act.action != DOME_VIEW_NOTHING;
}

void dome__hub_view_held(hub_state *s, const hub_client *c, const dome_wire_hold *hold)
{
    dome__hub_view_act(s, dome__view_held(&s->view, c->rank, hold->order, hold->loop));
}

void dome__hub_view_postpone(hub_state *s, uint64_t order)
{
    dome__hub_view_act(s, dome__view_postpone(&s->view, order));
}

void dome__hub_view_refuse(hub_state *s, const dome_wire_refuse *refuse)
{
    dome__hub_view_act(s, dome__view_refuse(&s->view, refuse->order, refuse->why));
}

/* ---- losses ---- */

void dome__hub_view_heal(hub_state *s, const bool *lost, const char *const *hosts)
{
    dome__hub_view_act(s, s->hub->tells ? dome__view_go_on(&s->view, lost) : dome__view_heal(&s->view, lost, hosts));
    dome__hub_history_entered(s);
}

void dome__hub_view_take_back(hub_state *s, const char *why)
{
    const char **hosts = dome__hub_hosts(s);
    dome__hub_view_act(s, dome__view_take_back(&s->view, hosts, why));
    dome__hub_history_entered(s);
    g_free(hosts);
}

void dome__hub_view_close(hub_state *s)
{
    dome__hub_view_act(s, dome__view_end(&s->view));
    dome__view_clear(&s->view);
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
    if (then->action == DOME_VIEW_WRONG)
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

static void note_entered(hub_state *s, uint32_t before)
{
    if (s->view.number == before)
        return;
    dome__hub_history_ended(s, before);
    dome__hub_standby_end(s);
    dome__hub_history_stands(s);
}

void dome__hub_view_change(hub_state *s, hub_client *c, const dome_wire_change *change)
{
    const bool steady = s->view.phase != DOME_VIEW_ENTERING;
    const uint32_t before = s->view.number;
    dome_view_plan plan;
    dome_view_act act = {.action = DOME_VIEW_WRONG};
    bool ordered = false;
    if (s->view.size == 0 && change->number == s->view.number + 1 &&
        !c->early) { /* the word of task 0 comes by another connection */
        c->early = g_strdup(change->plan);
        dome__hub_step(c, DOME_CLIENT_GOES);
        dome__hub_history_entered(s);
        return;
    }
    if (dome__view_plan_parse(change->plan, 0, &plan)) {
        ordered = dome__view_has_ordered(&s->view, &plan);
        act = dome__view_announce(&s->view, c->rank, change->number, &plan);
    }
    const int size = plan.size;
    dome__view_plan_clear(&plan);
    if (act.action == DOME_VIEW_WRONG) {
        dome__hub_notice(s, DOME_END_OWN, false, 2,
                         g_strdup_printf("tasks disagree about the number of tasks: task %d on host %s changes to %d", c->rank,
                                         c->host, size));
        return;
    }
    note_entered(s, before);
    if ((steady || s->view.number != before) && s->view.phase == DOME_VIEW_ENTERING) {
        dome__hub_history_entered(s);
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
        } else if (s->now - s->history.entered_at > limit) {
            char *how = g_strdup_printf("it did not come back within %.1f s when the program %s", limit,
                                        s->view.returns   ? "took back a change"
                                        : s->view.healing ? "went back to heal"
                                                          : "changed its number of tasks");
            dome__hub_lost(s, c, how);
            g_free(how);
        }
    }
}
