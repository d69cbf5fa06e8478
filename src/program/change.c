#include "program/change.h"

#include "ckpt/checkpoint.h"
#include "core/object_private.h"
#include "machine/standby.h"
#include "peer/peer_start.h"
#include "program/exec.h"
#include "program/placement.h"
#include "program/profile.h"
#include "program/program_operations.h"
#include "program/progress.h"
#include "program/recording.h"
#include "program/restarts.h"
#include "program/start.h"
#include "system/environment_variables.h"
#include "system/own_program.h"
#include "system/say.h"
#include "system/time.h"
#include "system/unconst.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"
#include "watch/watch.h"

#include <dome/env.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

dome_change *dome__change_new(dome_env *env)
{
    dome_change *c = g_new0(dome_change, 1);
    c->view.piece = (dome_handover_piece){-1, -1};
    c->profile = -1;
    dome__healing_begin(&c->healing);
    char *why = dome__exec_take(env, c, dome__restarts_command_line());
    if (why)
        dome__start_failed(NULL, 1,
                           g_strdup_printf("this process cannot take the note that it was left, %s: %s; start the program again, "
                                           "with the same library until its end",
                                           DOME_VARIABLE_VIEW, why));
    if (env->options.loss.action == DOME_LOSS_TELL)
        dome__healing_make_kept(&c->healing);
    return c;
}

void dome__change_free(dome_change *c)
{
    if (!c)
        return;
    dome__healing_clear(&c->healing);
    g_free(c->start.hub);
    g_strfreev(c->exec.words);
    g_free(c->start.program);
    g_free(c->start.host);
    if (c->profile >= 0)
        close(c->profile);
    g_free(c->start.provider_name);
    g_free(c->start.slots);
    g_free(c->start.avoid);
    g_free(c->exec.held);
    g_strfreev(c->exec.own);
    g_free(c->view.standby);
    dome__view_plan_clear(&c->view.plan);
    g_free(c);
}

/* ---- a view begins ---- */

static void say_stands(const dome_env *env)
{
    dome_wire_view view = {.size = (uint32_t)env->size,
                           .least = (uint32_t)env->options.size.least,
                           .most = (uint32_t)env->options.size.most,
                           .saves = env->checkpoints != NULL,
                           .facts = env->change->healing.facts};
    dome__checkpoint_from(env, &view.checkpoint, &view.loop);
    dome__watch_stands(env->watch, &view);
}

/* Whether the view was made by a change that was meant, and the tasks carry the state. The same on all tasks. */
static bool is_carried(const dome_change *c)
{
    return c->view.number > 0 && !c->healing.heals;
}

dome_handover_piece dome__change_piece(const dome_env *env)
{
    const dome_handover_piece *p = &env->change->view.piece;
    return (dome_handover_piece){p->fd >= 0 ? fcntl(p->fd, F_DUPFD_CLOEXEC, 0) : -1, p->number};
}

int dome__change_settle(dome_env *env)
{
    dome_change *c = env->change;
    if (!is_carried(c))
        return DOME_OK;
    if (env->rank == 0) {
        say_stands(env);
        if (!dome__watch_await_stands(env->watch, 2 * MAX(env->options.timeout, 10)))
            dome__watch_fail(env->watch, DOME_END_LOSS, 1, "the process that watches over the program does not answer");
    }
    int status = dome__barrier(env->transport);
    if (status)
        return dome__fail_transport(env, status);
    if (c->view.piece.fd >= 0)
        close(c->view.piece.fd);
    c->view.piece.fd = -1;
    return DOME_OK;
}

void dome__change_stands(dome_env *env)
{
    dome_change *c = env->change;
    dome__healing_stand(&c->healing, env->size);
    if (env->rank == 0 && env->watch && !is_carried(c))
        say_stands(env);
    dome__exec_unblock(c);
    dome__view_times_stand(&c->times);
}

/* ---- the change ---- */

/* The hosts of a list without those on which the plan starts tasks by name: these are there again. */
static char *without_planned(const char *hosts, const dome_view_plan *plan)
{
    char **words = g_strsplit(hosts, " ", 0);
    GString *list = g_string_new(NULL);
    for (char **word = words; *word; word++) {
        bool planned = false;
        for (int r = 0; r < plan->size && !planned; r++)
            planned = g_strcmp0(plan->members[r].host, *word) == 0;
        if (**word && !planned)
            g_string_append_printf(list, "%s%s", list->len ? " " : "", *word);
    }
    g_strfreev(words);
    return g_string_free(list, FALSE);
}

static void become_planned(dome_env *env, const dome_view_plan *plan, dome_handover_piece piece) __attribute__((noreturn));

static void become_planned(dome_env *env, const dome_view_plan *plan, dome_handover_piece piece)
{
    const dome_change *c = env->change;
    char *members = dome__view_plan_text(plan);
    char *rest = dome__exec_rest(env, c->view.loops + dome__watch_passed(env->watch), plan->size, piece);
    char *avoid = without_planned(c->start.avoid, plan);
    char *note = dome__exec_note(env, &(dome_view_entry){.number = c->view.number + 1,
                                                         .rank = dome__view_plan_next(plan, env->rank),
                                                         .plan = members,
                                                         .avoid = avoid,
                                                         .held = c->exec.held,
                                                         .rest = rest});
    char *held = piece.fd >= 0 ? g_strdup_printf("%s%d ", c->exec.held, piece.fd) : g_strdup(c->exec.held);
    dome__exec_become(c, note, held, dome__exec_environment(c));
}

/* From here there is no way back. Returns the task's piece of the state. */
static dome_handover_piece leave_view(dome_env *env, const dome_view_plan *plan, dome_handover *handover)
{
    dome_change *c = env->change;
    int failed = env->options.profile ? dome__profile_keep(env) : DOME_OK;
    const uint64_t begin = dome__now_ns();
    const dome_handover_piece piece = dome__handover_write(handover);
    dome__view_times_blocks(&c->times, begin);
    const sigset_t set = dome__exec_requests();
    char *text = dome__view_plan_text(plan);
    if (env->rank == 0)
        dome__watch_beat(env->watch); /* the hub learns of the checkpoint that has just been written */
    dome__watch_change(env->watch, c->view.number + 1, text);
    g_free(text);
    if (!failed)
        failed = dome__barrier(env->transport); /* until then others may need this task */
    if (failed)
        dome__fail_transport(env, failed);
    dome__recording_finish(env);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    dome__checkpoint_leave(env);
    dome__peer_stop(env);
    fflush(NULL);
    dome__watch_leave(env->watch);
    env->stamp = NULL;
    env->wait_ns = NULL;
    dome__transport_free(g_steal_pointer(&env->transport));
    return piece;
}

/* Returns if the program enters the next view in place. */
static void go_over(dome_env *env, const dome_view_plan *plan, dome_handover *handover)
{
    dome_change *c = env->change;
    const bool in_place = dome__in_place_can(env);
    const dome_handover_piece piece = leave_view(env, plan, handover);
    if (dome__view_plan_next(plan, env->rank) >= 0) {
        dome__watch_stop(env->watch);
        if (!in_place)
            become_planned(env, plan, piece);
        c->view.piece = piece;
        c->in_place.plan = dome__view_plan_copy(plan);
        c->in_place.enters = true;
        return;
    }
    env->call_log = NULL;
    dome__watch_close(g_steal_pointer(&env->watch));
    dome__set_this_env(NULL);
    exit(0);
}

const char *dome__change_objection(const dome_env *env, int size)
{
    const dome_launcher *launcher = env->change->start.provider->launcher;
    if (!(launcher->can & DOME_LAUNCHER_AGAIN))
        return "its tasks cannot come back into another view";
    if (size > launcher->most.on_host && dome__on_one_host(env))
        return "these are more tasks than a host can have";
    return NULL;
}

void dome__change_refuse(dome_env *env, uint64_t order, const char *why)
{
    if (env->rank == 0)
        dome__watch_refuse(env->watch, order, why);
}

void dome__change_say_no(dome_env *env, uint64_t order, int resize, const char *why)
{
    if (order)
        dome__change_refuse(env, order, why);
    if (resize && env->rank == 0)
        dome__say("dome_resize: the program keeps its %d task%s: %s", env->size, env->size == 1 ? "" : "s", why);
}

/* Why this task cannot become the program anew: a static text, or NULL. */
static const char *obstacle(const dome_change *c)
{
    char *path = dome__own_program_unchanged();
    const bool there = path != NULL, runs = there && access(path, X_OK) == 0;
    g_free(path);
    if (!runs)
        return there ? "its executable file can no longer be executed"
                     : "its executable file has been replaced or removed since it was started";
    return c->exec.directory && access(c->exec.directory, X_OK) == 0
               ? NULL
               : "the directory in which it was started has been removed or closed to it";
}

/* The host on which a newcomer is started: one of these, or NULL with *why. tasks: of each host so far. most: of a host. */
static const char *host_for(const dome_view_member *member, char *const *hosts, const int *slots, int *tasks, int most,
                            char **why)
{
    const int n = (int)g_strv_length(dome__unconst(hosts));
    int host = member->host ? dome__placement_find(hosts, member->host) : dome__placement_next(n, slots, tasks);
    if (host < 0) {
        *why = g_strdup_printf("host %s is not in the virtual machine", member->host);
        return NULL;
    }
    if (tasks[host] >= most) {
        *why = g_strdup_printf("host %s would have more tasks than a host can have, %d", hosts[host], most);
        return NULL;
    }
    tasks[host]++;
    return hosts[host];
}

/* Has the newcomers started on these hosts, by rank (NULL: no newcomer). Returns NULL, or why that cannot be (g_free'd). */
static char *start_standby(const dome_env *env, const char *const *names, int size)
{
    const dome_change *c = env->change;
    char *path = dome__own_program_unchanged(), **environment = dome__exec_environment(c);
    GString *hosts = g_string_new(NULL);
    for (int r = 0; r < size; r++)
        g_string_append_printf(hosts, "%s%s", r ? " " : "", names[r] ? names[r] : "-");
    const int fd = dome__standby_order(path ? path : c->exec.words[0], c->exec.words + 1, environment);
    char *why = fd < 0 ? g_strdup_printf("there is no memory for starting tasks: %s", g_strerror(errno))
                       : dome__watch_standby(env->watch, fd, hosts->str, c->view.standby, size);
    if (fd >= 0)
        close(fd);
    g_string_free(hosts, TRUE);
    g_strfreev(environment);
    g_free(path);
    return why;
}

/* Task 0: starts the newcomers, which wait for the next view. *why (g_free'd): why that cannot be; then none is left. */
static void start_newcomers(dome_env *env, const dome_view_plan *plan, char **why)
{
    dome_change *c = env->change;
    const dome_launcher *launcher = c->start.provider->launcher;
    char **hosts = launcher->hosts(why);
    if (!hosts)
        return;
    int *slots = dome__placement_slots(hosts, c->start.slots), *tasks = g_new0(int, g_strv_length(hosts) + 1);
    const char **names = g_new0(const char *, plan->size);
    dome__placement_avoid(hosts, c->start.avoid, slots);
    for (int r = 0; r < plan->size; r++) {
        const int before = plan->members[r].before;
        const int host = before != DOME_VIEW_NEWCOMER ? dome__placement_find(hosts, env->hosts[before]) : -1;
        if (host >= 0)
            tasks[host]++;
    }
    for (int r = 0; r < plan->size && !*why; r++)
        if (plan->members[r].before == DOME_VIEW_NEWCOMER)
            names[r] = host_for(&plan->members[r], hosts, slots, tasks, launcher->most.on_host, why);
    g_free(c->view.standby);
    c->view.standby = g_new0(int, plan->size);
    if (!*why)
        *why = start_standby(env, names, plan->size);
    g_free(names);
    g_free(tasks);
    g_free(slots);
    g_strfreev(hosts);
}

/* Everything that may fail before the change. *why as in handover.h. */
static int prepare(dome_env *env, const dome_view_plan *plan, dome_handover **handover, char **why)
{
    dome_change *c = env->change;
    bool *stays = g_new0(bool, env->size);
    for (int r = 0; r < env->size; r++)
        stays[r] = dome__view_plan_next(plan, r) >= 0;
    int status =
        dome__checkpoint_handover(env, c->start.program, c->view.loops + dome__watch_passed(env->watch), stays, handover, why);
    g_free(stays);
    dome__view_times_prepared(&c->times);
    if (status != DOME_OK || *why || dome__view_plan_newcomers(plan) == 0)
        return status;
    const uint64_t begin = dome__now_ns();
    if (env->rank == 0)
        start_newcomers(env, plan, why);
    status = dome__handover_confirm(*handover, why);
    dome__view_times_members(&c->times, begin);
    if (status != DOME_OK || *why)
        g_clear_pointer(handover, dome__handover_free);
    return status;
}

/* The plan for this boundary, of size 0 if there is none: the program's own request goes before an order. */
static dome_view_plan plan_for(const dome_env *env, const dome_change_demand *demand)
{
    dome_view_plan plan = {0};
    if (demand->resize)
        return dome__view_plan_resize(env->size, demand->resize);
    if (demand->plan)
        dome__view_plan_parse(demand->plan, env->size, &plan);
    return plan;
}

int dome__change_boundary(dome_env *env, const dome_change_demand *demand)
{
    dome_change *c = env->change;
    if (!demand->resize && !demand->plan)
        return DOME_OK;
    dome_view_plan plan = plan_for(env, demand);
    if (plan.size == 0 || !dome__view_plan_changes(&plan, env->size)) {
        if (demand->order)
            dome__change_refuse(env, demand->order, "nothing changes");
        dome__view_plan_clear(&plan);
        return DOME_OK;
    }
    g_clear_pointer(&c->view.standby, g_free); /* of the change before */
    char *why = g_strdup(dome__change_objection(env, plan.size));
    if (!why && plan.size != env->size)
        why = g_strdup(demand->bound);
    dome_handover *handover = NULL;
    int status = DOME_OK;
    if (!why) {
        dome__progress_hide(env);
        dome__view_times_begin(&c->times);
        status = dome__checkpoint_before_change(env);
        why = g_strdup(obstacle(c));
        if (status == DOME_OK)
            status = prepare(env, &plan, &handover, &why);
    }
    const bool goes = status == DOME_OK && !why;
    if (goes)
        go_over(env, &plan, handover);
    dome__view_plan_clear(&plan);
    if (goes)
        return DOME_OK;
    if (status != DOME_OK && demand->order)
        dome__change_refuse(env, demand->order, dome_status_text((dome_status)status));
    else if (why)
        dome__change_say_no(env, demand->order, demand->resize, why);
    g_free(why);
    return status;
}

char *dome__change_never(const dome_env *env)
{
    if (env->rank != 0)
        return NULL;
    if (!env->change->start.hub)
        return g_strdup("a program of one task has no process that watches over it: start it by dome run --max, or with "
                        "--dome-max");
    if (env->change->start.console)
        return g_strdup_printf("a program that was started from the %s console keeps its tasks",
                               env->change->start.provider->launcher->title);
    return NULL;
}

/* ---- for programs ---- */

uint64_t dome_epoch(const dome_env *env)
{
    DOME_NEEDS(env, "the environment", 0);
    return env->change ? env->change->view.number : 0;
}

size_t dome_lost(const dome_object *object, const dome_span **spans)
{
    DOME_NEEDS(object, "the object", 0);
    DOME_NEEDS(spans, "the place for the spans", 0);
    dome_env *env = dome_object_env(object);
    dome_operation op;
    *spans = NULL;
    dome__begin_with(&op, env, DOME_OP_LOST, object, NULL, 0);
    size_t count = 0;
    int status = DOME_OK;
    if (!dome__object_is_named(object))
        status =
            dome__fail(env, DOME_ERR_NAME, "the program has not given it a name, so nothing of it is kept: all of it is new");
    else
        count = dome__checkpoint_lost(env, object, spans);
    dome__end(&op, status);
    return count;
}
