/* Healing: when tasks are lost, those that are left become the program anew at once and go back to the newest checkpoint, and
 * newcomers take the places of the lost (view.h). The hub starts a lost task 0, and task 0 the others. With --on-loss tell the
 * others go on without the lost ones. Only task 0 is replaced, because it holds the program's input and output. */
#include "hub/hub_private.h"
#include "system/terminal.h"
#include "wire/view_note.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Seconds to wait for the end of a lost process that others have told of, and of task 0's process, which must be gone before
 * another one takes its place. */
static const double LOST_PATIENCE = 0.5, RANK0_PATIENCE = 5;

/* A task's connection, unless another one is in its place. */
static bool is_newest(const hub_client *c)
{
    return dome__hub_is_watch(c) && c->state != DOME_CLIENT_REPLACED;
}

static int place_of(const hub_state *s, const hub_client *c)
{
    return is_newest(c) ? dome__view_place(&s->view, c->view, c->rank) : -1;
}

static bool has_ended(const hub_client *c)
{
    struct pollfd p = {.fd = c->process, .events = POLLIN};
    return c->process >= 0 && poll(&p, 1, 0) == 1;
}

/* Whether the process of a task goes on as a task: it is connected, or on its way between two views. */
static bool lives(const hub_state *s, const hub_client *c)
{
    if (c->lost || (c->rank == 0 && s->rank0.ended) || (c->closed && !dome__client_is_away(c->state)))
        return false;
    return !has_ended(c); /* perhaps before the end of its connection has been read: tasks that end at once are one loss */
}

/* ---- whether to heal ---- */

/* A task whose dome_finalize has ended cannot go back. */
static bool someone_has_left(const hub_state *s)
{
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (dome__client_has_left(c->state) && place_of(s, c) >= 0)
            return true;
    }
    return false;
}

/* Whether tasks can go over into another view after the failure that was noticed. */
static bool can_go_over(const hub_state *s)
{
    const dome_hub *h = s->hub;
    return h->rank0_is_child && (h->machine.launcher->can & DOME_LAUNCHER_AGAIN) && s->failure.end == DOME_END_LOSS &&
           !s->rank0.ending && !s->machine->daemon_ended && s->now >= s->machine->overslept_until && !someone_has_left(s) &&
           h->same_file(h->ctx);
}

static bool can_heal(const hub_state *s)
{
    return s->hub->heals && s->healing.left != 0 && s->healing.facts && can_go_over(s);
}

/* Whether a lost task has ended by a signal of its own, which it has announced, and not because its process was killed or its
 * host is gone. */
static bool has_failed(const hub_state *s, const hub_member *members, int r)
{
    const int status = s->rank0.status;
    if (r == 0 && s->rank0.ended)
        return !(WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM));
    return members[r].by && members[r].by->last_signal && members[r].by->last_signal != SIGTERM;
}

/* While the program goes back, what a task has failed in is not known. */
static uint64_t cause_of(const hub_state *s, const hub_member *members, int size)
{
    if (s->machine->daemon_ended) /* its tasks follow it */
        return DOME_CAUSE_DAEMON;
    uint64_t cause = DOME_CAUSE_PROGRAM;
    for (int r = 0; r < size; r++) {
        if (!members[r].lost)
            continue;
        if (s->view.phase != DOME_VIEW_ENTERING && has_failed(s, members, r))
            return DOME_CAUSE_PROGRAM;
        cause = dome__losses_add_task(cause, r);
    }
    return cause;
}

/* Whether the program fails where it failed before: that would repeat for ever. */
static bool is_stuck(hub_state *s, const hub_member *members, int size)
{
    dome_place here = {.known = !s->failure.place_unknown,
                       .checkpoint = (uint64_t)(s->report.checkpoint + 1),
                       .cause = cause_of(s, members, size)};
    for (guint i = 0; i < s->clients->len && s->view.phase != DOME_VIEW_ENTERING; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (place_of(s, c) < 0)
            continue;
        here.loop = MAX(here.loop, s->history.loops_before + c->beat.loop);
        here.sequence = MAX(here.sequence, c->beat.sequence);
    }
    return dome__losses_note(&s->healing.past, &here);
}

/* ---- healing ---- */

void dome__hub_say_unhealed(hub_state *s)
{
    if (s->healing.reason)
        dome__hub_say(s, s->healing.reason);
    g_clear_pointer(&s->healing.reason, g_free);
}

void dome__hub_send_back(const hub_state *s, hub_client *c)
{
    char *plan = dome__view_plan_text(&s->view.next), *avoid = dome__hub_down_text(s);
    const dome_wire_back back = {s->view.next_number, (uint32_t)dome__view_place(&s->view, c->view, c->rank), plan, avoid,
                                 s->view.returns};
    dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_BACK, .back = back});
    g_free(plan);
    g_free(avoid);
}

/* It is not needed any more. */
static void dismiss(hub_client *c)
{
    dome__hub_step(c, DOME_CLIENT_REPLACE);
    if (!c->closed)
        dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_END, .end = {0, ""}});
}

/* Nothing is expected of it any more. A process of another host that goes on, because the host was cut off or it was stopped, is
 * told so: it must not take its host's daemon down with it. */
static void give_up(hub_state *s, hub_client *c, GArray *kill_too)
{
    if (c->rank == 0 && !s->rank0.ended)
        kill(s->rank0.pid, SIGKILL);
    else if (c->rank != 0)
        dome__hub_process_kill(c);
    if (c->process < 0 && c->tid && !dome__hub_is_down(s, c->host)) /* else PVM would wait for the host */
        g_array_append_val(kill_too, c->tid);
    dismiss(c);
    if (!c->closed)
        shutdown(c->fd, SHUT_RDWR); /* it is closed when that is read */
}

static void send_back(hub_state *s, hub_client *c)
{
    dome__hub_step(c, DOME_CLIENT_BACK);
    if (!c->closed)
        dome__hub_send_back(s, c);
}

/* The rest of its entry is what task 0 left with the hub. */
static bool start_rank0(hub_state *s)
{
    char *plan = dome__view_plan_text(&s->view.next), *avoid = dome__hub_down_text(s);
    const dome_view_entry entry = {.number = s->view.next_number,
                                   .plan = plan,
                                   .kept = {-1, -1},
                                   .profile = -1,
                                   .begun_ns = dome__now_ns(),
                                   .avoid = avoid,
                                   .held = " ",
                                   .rest = s->healing.facts};
    char *view = dome__view_entry_text(&entry);
    const pid_t pid = s->hub->start_rank0(s->hub->ctx, view);
    g_free(view);
    g_free(plan);
    g_free(avoid);
    if (pid == 0)
        return false;
    dome__hub_rank0_started(s, pid);
    return true;
}

/* The failure has been dealt with: the next one is another. */
static void forget_failure(hub_state *s)
{
    dome__hub_standby_end(s);
    dome__hub_failure_forget(s);
    dome__hub_difference_forget(s);
    dome__hub_probe_end(s);
    s->healing.unstarted = false;
}

/* Nothing of the program's state can be kept. */
static bool is_bare(const hub_state *s)
{
    bool bare = false;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        bare |= place_of(s, c) >= 0 && lives(s, c) && c->beat.bare;
    }
    return bare;
}

/* Nothing of it has been saved since the program began. */
static bool is_early(const hub_state *s)
{
    uint64_t loops = s->history.loops_before;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        loops = place_of(s, c) >= 0 ? MAX(loops, c->beat.loop) : loops;
    }
    return loops == 0;
}

/* Seconds from the last sign of a task that is lost. */
static double noticing(const hub_state *s)
{
    double longest = 0;
    for (guint i = 0; i < s->clients->len; i++) {
        const hub_client *c = s->clients->pdata[i];
        if (place_of(s, c) >= 0 && !lives(s, c))
            longest = MAX(longest, s->now - (c->closed ? c->closed_at : c->heard));
    }
    return longest;
}

/* Makes the next view: a newcomer is started on the host of the task whose place it takes; if that is down, where there is room.
 * With --on-loss tell only task 0 gets a newcomer. */
static void make_view(hub_state *s, const hub_member *members, int size)
{
    bool *lost = g_new0(bool, size);
    const char **hosts = g_new0(const char *, size);
    GString *without = g_string_new(s->view.healing ? s->healing.without : NULL); /* the loss before has not been healed */
    for (int r = 0; r < size; r++) {
        const bool is_down = dome__hub_is_down(s, members[r].host);
        lost[r] = members[r].lost;
        hosts[r] = is_down ? NULL : members[r].host;
        bool is_first = is_down;
        for (int k = 0; k < r && is_first; k++)
            is_first = g_strcmp0(members[k].host, members[r].host) != 0;
        if (is_first)
            g_string_append_printf(without, "%s%s", without->len ? ", " : "", members[r].host);
    }
    g_free(s->healing.without);
    s->healing.without = g_string_free(without, without->len == 0);
    dome__hub_view_heal(s, lost, hosts);
    g_free(hosts);
    g_free(lost);
}

static bool begin(hub_state *s, const hub_member *members, int size)
{
    GArray *kill_too = g_array_new(FALSE, FALSE, sizeof(int));
    dome__hub_say_unhealed(s);
    s->healing.bare = is_bare(s);
    s->healing.early = is_early(s);
    s->healing.reason = dome__hub_reason(s);
    dome__hub_history_loss(s, s->healing.reason, noticing(s));
    make_view(s, members, size);
    s->healing.number = s->view.next_number;
    s->healing.heals++;
    if (s->healing.left > 0)
        s->healing.left--;
    /* The survivors are sent back first: a task of a host whose daemon is gone must not end before the others have disconnected
     * from it. The survey of the survivors is not repeated: a process that has ended meanwhile is the next loss. */
    GHashTable *going = g_hash_table_new(NULL, NULL);
    for (int r = 0; r < size; r++)
        if (!members[r].lost) {
            send_back(s, members[r].by);
            g_hash_table_add(going, members[r].by);
        }
    const guint known = s->clients->len;
    for (guint i = 0; i < known; i++) {
        hub_client *c = s->clients->pdata[i];
        if (!is_newest(c) || g_hash_table_contains(going, c))
            continue;
        if (!lives(s, c) || dome__hub_is_down(s, c->host))
            give_up(s, c, kill_too);
        else
            dismiss(c);
    }
    g_hash_table_unref(going);
    dome__hub_launcher_kill(s, (const int *)(const void *)kill_too->data, (int)kill_too->len);
    g_array_unref(kill_too);
    if (members[0].lost && !start_rank0(s)) {
        g_clear_pointer(&s->healing.reason, g_free); /* the same reason is told now */
        return false;
    }
    s->hub->healing(s->hub->ctx, s->rank0.pid);
    forget_failure(s);
    return true;
}

/* The tasks of the view that is healed, by rank; g_free'd. One whose process has not come yet is lost. */
static hub_member *survey(const hub_state *s, int size)
{
    hub_member *members = g_new0(hub_member, (gsize)MAX(size, 1));
    const bool entering = s->view.phase == DOME_VIEW_ENTERING;
    for (int r = 0; r < size; r++)
        members[r] = (hub_member){.host = entering ? s->view.next.members[r].host : NULL, .lost = true};
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        const int place = place_of(s, c);
        if (place < 0 || !members[place].lost)
            continue;
        members[place] = (hub_member){.by = c,
                                      .host = c->host,
                                      .lost = !lives(s, c),
                                      .failed = dome__client_has_failed(c->state),
                                      .unheard = !c->closed && dome__hub_silent(s, c),
                                      .daemon = c->parent};
    }
    return members;
}

uint64_t dome__hub_cause(const hub_state *s)
{
    const int size = dome__view_healed_size(&s->view);
    hub_member *members = survey(s, size);
    const uint64_t cause = cause_of(s, members, size);
    g_free(members);
    return cause;
}

static int count_lost(const hub_member *members, int size)
{
    int count = 0;
    for (int r = 0; r < size; r++)
        count += members[r].lost;
    return count;
}

/* Task 0 is lost and its process has not ended: another one could not take its place yet. */
static bool awaits_rank0(hub_state *s, bool is_lost)
{
    if (!is_lost || s->rank0.ended)
        return false;
    kill(s->rank0.pid, SIGKILL);
    return s->now - s->failure.noticed_at <= RANK0_PATIENCE;
}

/* Why the program is given up instead (g_free'd), or NULL. count: how many of its tasks are lost. */
static char *objection(hub_state *s, const hub_member *members, int size)
{
    const int count = count_lost(members, size), left = size - count + members[0].lost;
    if (is_stuck(s, members, size))
        return g_strdup_printf("that is the same place %d times in a row: the program is not started again", DOME_LOSSES_MOST);
    if (s->hub->tells && count == size)
        return g_strdup("no task is left that could go on");
    if (s->hub->tells && left < s->view.least)
        return g_strdup_printf("%d task%s would be fewer than its least number, %d", left, left == 1 ? "" : "s", s->view.least);
    return NULL;
}

/* ---- taking a change back ---- */

/* A newcomer is lost before the view stands: the others still have the state that they carry, and no restart is used up. */
static bool can_take_back(const hub_state *s, const hub_member *members, int size)
{
    bool *lost = g_new(bool, (gsize)MAX(size, 1));
    for (int r = 0; r < size; r++)
        lost[r] = members[r].lost;
    const bool can = can_go_over(s) && dome__view_can_take_back(&s->view, lost);
    g_free(lost);
    return can;
}

/* Tasks on their way are told when they greet. A task that has not gone yet must not: it is still handing over its part. */
static void send_over(hub_state *s, hub_client *c)
{
    dome__hub_step(c, DOME_CLIENT_BACK);
    if (!c->closed && c->view > s->view.number)
        dome__hub_send_back(s, c);
}

static void take_back(hub_state *s, const hub_member *members, int size)
{
    GArray *kill_too = g_array_new(FALSE, FALSE, sizeof(int));
    char *reason = dome__hub_reason(s), *text = g_strdup_printf("%s; " DOME_ORDER_TAKEN_BACK, reason);
    const bool asked = s->orders.asker != -1;
    bool *newcomer = g_new(bool, size);
    for (int r = 0; r < size; r++)
        newcomer[r] = s->view.next.members[r].before == DOME_VIEW_NEWCOMER;
    dome__hub_history_loss(s, reason, noticing(s));
    dome__hub_view_take_back(s, text);
    for (int r = 0; r < size; r++)
        if (!newcomer[r])
            send_over(s, members[r].by);
        else if (members[r].by)
            give_up(s, members[r].by, kill_too);
    dome__hub_launcher_kill(s, (const int *)(const void *)kill_too->data, (int)kill_too->len);
    if (!asked)
        dome__hub_say(s, text);
    forget_failure(s);
    g_array_unref(kill_too);
    g_free(newcomer);
    g_free(text);
    g_free(reason);
}

/* While a host is down: whether PVM's daemons have messages for it, or may have, so that starting the program again is quicker.
 * When a task ends, its daemon tells the daemons of all hosts to which the task was connected. */
static bool is_held_up(const hub_state *s)
{
    const bool restarts = s->hub->report_fd >= 0 && s->healing.left > 0;
    return s->healing.unstarted || (s->healing.reason && restarts);
}

bool dome__hub_heal(hub_state *s)
{
    if (s->view.phase == DOME_VIEW_ENTERING && s->failure.end == DOME_END_START) {
        dome__hub_notice_loss(s);
        s->healing.unstarted = true;
    }
    if (!can_heal(s) && !(can_go_over(s) && s->view.phase == DOME_VIEW_ENTERING && !s->view.healing))
        return false;
    const int size = dome__view_healed_size(&s->view), down = dome__hub_count_down(s);
    hub_member *members = survey(s, size);
    bool heals = true;
    char *why = NULL;
    if (!dome__hub_find_down(s, members, size)) {
        heals = true;
    } else if (count_lost(members, size) == 0 && s->now - s->failure.noticed_at <= LOST_PATIENCE) {
        heals = true; /* another task was quicker to tell of the loss */
    } else if (can_take_back(s, members, size)) {
        take_back(s, members, size);
    } else if (!can_heal(s)) {
        heals = false;
    } else if (down > 0 && dome__hub_count_down(s) == down && is_held_up(s)) {
        heals = false;
    } else if (awaits_rank0(s, members[0].lost)) {
        heals = true;
    } else if ((why = objection(s, members, size))) {
        char *reason = dome__hub_reason(s);
        dome__hub_notice_anew(s, dome__losses_repeat(&s->healing.past) ? DOME_END_OWN : s->failure.end, s->failure.exit_status,
                              g_strdup_printf("%s; %s", reason, why));
        g_free(reason);
        heals = false;
    } else {
        heals = (!members[0].lost || s->rank0.ended) && begin(s, members, size);
    }
    g_free(why);
    g_free(members);
    return heals;
}

/* ---- afterwards ---- */

bool dome__hub_look_for_host(hub_state *s, const hub_client *c, const char *host, double limit)
{
    if (!s->view.healing || c->rank != 0 || strcmp(host, c->host) == 0)
        return false;
    dome__hub_set_down(s, host);
    dome__hub_notice(s, DOME_END_LOSS, false, 1,
                     g_strdup_printf("host %s is lost: it did not start a task within %.1f s", host, limit));
    return true;
}

/* Why the program goes on from its beginning, and what helps. */
static const char *why_beginning(const hub_state *s, const dome_wire_view *view)
{
    if (s->healing.bare)
        return "it has no objects with names: name those that hold its state";
    if (!view->saves)
        return "it writes no checkpoints: --dome-checkpoint-dir memory: keeps them in memory";
    if (s->healing.early)
        return "it had come to no loop boundary: dome_checkpoint in its main loop is one";
    if (s->hub->tells)
        return "its tasks had kept nothing yet";
    return "it had written no checkpoint yet: --dome-checkpoint-every says when";
}

void dome__hub_healed(hub_state *s, const dome_wire_view *view)
{
    if (!s->healing.reason || view->number < s->healing.number)
        return;
    const bool kept = s->hub->tells && view->checkpoint;
    char *from = s->hub->logs ? g_strdup("checkpoints of the lost tasks alone")
                 : kept       ? g_strdup_printf("loop boundary %" PRIu64, view->loop)
                 : view->checkpoint
                     ? g_strdup_printf("checkpoint %" PRIu64 " (loop boundary %" PRIu64 ")", view->checkpoint, view->loop)
                     : g_strdup_printf("the beginning (%s)", why_beginning(s, view));
    char *most = s->healing.left < 0 ? g_strdup("") : g_strdup_printf(" of %d", s->healing.heals + s->healing.left);
    char *without = s->healing.without ? g_strdup_printf(" (without %s)", s->healing.without) : g_strdup("");
    char *how = s->hub->tells ? g_strdup_printf("the program goes on with %d task%s", s->view.size, s->view.size == 1 ? "" : "s")
                              : g_strdup("healed");
    char *text = g_strdup_printf("%s; %s%s from %s, %d%s", s->healing.reason, how, without, from, s->healing.heals, most);
    dome__hub_say(s, text);
    g_free(text);
    g_free(how);
    g_free(without);
    g_free(most);
    g_free(from);
    g_clear_pointer(&s->healing.reason, g_free);
    if (view->checkpoint && !s->hub->tells) /* else it is what the tasks have kept, which is no checkpoint for others */
        dome__hub_report_back(s, (int64_t)view->checkpoint);
    dome__hub_history_count_from(s, s->hub->tells ? view->loop : 0); /* its boundaries are counted from the checkpoint */
}

void dome__hub_heal_keep_facts(hub_state *s, const char *facts)
{
    g_free(s->healing.facts);
    s->healing.facts = g_strdup(facts);
}

void dome__hub_heal_open(hub_state *s)
{
    s->healing.left = s->hub->left;
}

void dome__hub_heal_close(hub_state *s)
{
    g_free(s->healing.facts);
    g_free(s->healing.reason);
    g_free(s->healing.without);
}
