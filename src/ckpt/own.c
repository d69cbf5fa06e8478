/* Checkpoints of single tasks, with --dome-checkpoint-protocol log. Each is a piece of a checkpoint (store/format.h) with the
 * blocks of one task, and all blocks of objects that every task has complete. Its number belongs to this task alone: pieces of
 * several tasks never form a whole. */
#include "ckpt/checkpoint_private.h"
#include "ckpt/collect.h"
#include "ckpt/interval.h"
#include "ckpt/state.h"
#include "core/object_private.h"
#include "system/say.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <dome/env.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Seconds until the first, by which its cost is known. */
static const double FIRST = 1;

/* Where nobody says how often, the memory of the others is spared: one is due when they keep so many bytes for this task, but not
 * within so many times what one costs. */
static const uint64_t KEPT_MOST = 64 << 20;
static const double KEPT_PAUSE = 20;

/* ---- which there are ---- */

static bool is_own(const dome_env *env, const dome_store_item *item)
{
    return (int)item->piece == env->rank + 1 && dome__copies_is_own(item, env->checkpoints->program, env->size);
}

/* The newest of this task. Those before it are removed, or all. */
static char *find(const dome_env *env, bool all, char **message)
{
    GPtrArray *items = dome__store_list(env->checkpoints->directory, message);
    char *newest = NULL;
    for (guint i = items ? items->len : 0; i-- > 0;) {
        const dome_store_item *item = items->pdata[i];
        if (!is_own(env, item))
            continue;
        if (!all && !newest)
            newest = g_strdup(item->path);
        else if (unlink(item->path) != 0 && errno != ENOENT && !*message)
            *message = g_strdup_printf("'%s' cannot be removed: %s", item->path, g_strerror(errno));
    }
    if (items)
        g_ptr_array_unref(items);
    return newest;
}

static bool is_anew(const dome_env *env, bool stays)
{
    return env->options.restart.from == DOME_RESTART_NONE && !stays;
}

/* The task goes on from its newest checkpoint, if it has one and is to. Where hosts have copies, one that was begun by the
 * process before may be complete on another host, which is not heard of now: its number is not used again. */
static void open_newest(dome_env *env, const dome_checkpoint_view *view, char **message)
{
    dome_checkpoints *c = env->checkpoints;
    const bool stays = view->stays, anew = is_anew(env, stays);
    c->own_path = find(env, anew, message);
    dome_ckpt_file *file = c->own_path && !*message ? dome__ckpt_open(c->own_path, message) : NULL;
    if (file && !stays && !dome__ckpt_verify(file, message))
        g_clear_pointer(&file, dome__ckpt_close);
    c->number = MAX((uint64_t)env->rank + 1, view->next);
    if (file) {
        c->own_newest = dome__ckpt_head(file)->number;
        c->number = MAX(c->own_newest + (uint64_t)env->size * (c->copies ? 2 : 1), view->next);
    }
    if (file && !stays)
        dome__checkpoint_take_up(c, file);
    else
        dome__ckpt_close(file);
}

/* Where the user asks for a checkpoint, at least one task has one. The others then begin at the beginning. */
static int check_there(dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    int64_t there = c->own_path != NULL;
    char *why = NULL;
    int status = dome__allreduce(env->transport, DOME_I64, &there, 1, dome__combine_sum_i64, NULL);
    if (status)
        return dome__fail_transport(env, status);
    if (!there)
        why = g_strdup_printf("there is nothing to go on from: checkpoint directory '%s' has no checkpoint of %d tasks by "
                              "--dome-checkpoint-protocol log; without --dome-restart the program begins anew",
                              c->directory, env->size);
    status = dome__agree(env, why ? DOME_ERR_IO : DOME_OK, why);
    g_free(why);
    return status;
}

static char *objection(const dome_env *env)
{
    if (env->options.restart.from == DOME_RESTART_NUMBER)
        return g_strdup("--dome-restart=NUMBER: with --dome-checkpoint-protocol log checkpoints are of single tasks: leave the "
                        "number out");
    for (int r = 0; r < env->size; r++)
        if (r != env->rank && dome__format_with(env->transport, r) != DOME_NATIVE)
            return g_strdup("--dome-checkpoint-protocol log: tasks are on machines of different kinds: use protocol stop");
    return NULL;
}

/* Hosts that share no directory have copies of each other's. */
static int start_copies(dome_env *env, const dome_checkpoint_view *view)
{
    dome_checkpoints *c = env->checkpoints;
    const dome_copies_view v = {.directory = c->directory,
                                .program = c->program,
                                .memory = c->in_memory,
                                .groups = c->pieces.count,
                                .group = c->pieces.group,
                                .first = c->pieces.leader,
                                .stays = view->stays,
                                .anew = is_anew(env, view->stays),
                                .newest = view->newest,
                                .host = view->host};
    return dome__checkpoint_in_pieces(c) ? dome__copies_start(env, &v, &c->copies) : DOME_OK;
}

int dome__own_start(dome_env *env, const dome_checkpoint_view *view)
{
    dome_checkpoints *c = env->checkpoints;
    char *message = NULL;
    c->own = c->full = true;
    c->own_last = dome_wtime();
    c->loop = view->loop;
    int status = env->options.checkpoint.directory ? dome__checkpoint_agree_directory(env, c) : DOME_OK;
    if (status != DOME_OK || !c->directory)
        return status;
    status = dome__checkpoint_find_groups(env, c);
    if (status != DOME_OK)
        return status;
    message = objection(env);
    if (!message && dome__checkpoint_leads_group(env))
        c->store = dome__store_open(c->directory, c->program, &message);
    status = dome__agree(env, message ? DOME_ERR_OPTION : DOME_OK, message);
    g_clear_pointer(&message, g_free);
    if (status == DOME_OK)
        status = start_copies(env, view);
    if (status != DOME_OK)
        return status;
    open_newest(env, view, &message);
    status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    g_free(message);
    if (status == DOME_OK && env->options.restart.from == DOME_RESTART_NEWEST && !view->stays)
        status = check_there(env);
    return status;
}

char *dome__own_stem(const dome_env *env, bool *memory)
{
    const dome_checkpoints *c = env->checkpoints;
    *memory = c && c->in_memory;
    return c && c->directory ? dome__copies_stem(c->directory, c->program, env->rank, env->size) : NULL;
}

void dome__own_carry(const dome_env *env, dome_checkpoint_view *view)
{
    const dome_checkpoints *c = env->checkpoints;
    view->newest = c ? c->own_newest : 0;
    view->next = c ? c->number : 0;
    view->host = c && c->copies ? g_strdup(dome__copies_host(c->copies)) : NULL;
}

/* ---- when ---- */

static double interval(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    if (env->options.checkpoint.unit == DOME_CHECKPOINT_SECONDS)
        return env->options.checkpoint.every;
    return c->own_cost > 0 ? dome__interval_daly(c->own_cost, dome__time_between_failures(env)) : FIRST;
}

static bool is_time(const dome_env *env, uint64_t kept)
{
    const dome_checkpoints *c = env->checkpoints;
    const double since = dome_wtime() - c->own_last;
    if (env->options.checkpoint.unit == DOME_CHECKPOINT_AUTO && kept >= KEPT_MOST && since >= KEPT_PAUSE * c->own_cost)
        return true;
    return since >= interval(env);
}

bool dome__own_pass(dome_env *env, uint64_t kept)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c)
        return false;
    c->loop++;
    dome__checkpoint_recovered(env);
    if (!c->directory)
        return false;
    if (env->options.checkpoint.unit == DOME_CHECKPOINT_LOOPS)
        return c->loop % (uint64_t)env->options.checkpoint.every == 0;
    return is_time(env, kept);
}

/* ---- writing ---- */

static void plan(dome_env *env, dome_state_piece *w)
{
    const dome_checkpoints *c = env->checkpoints;
    dome__state_piece_describe(w, env, c->program, c->number, c->loop);
    if (!w->why)
        dome__ckpt_add_counter(w->ckpt, DOME_COPIES_OWN, 1, &w->why);
    dome__state_piece_plan(w, env);
    dome__state_piece_room(w);
}

/* ---- copies on another host ---- */

bool dome__own_copies(const dome_env *env)
{
    return env->checkpoints && env->checkpoints->copies;
}

bool dome__own_give(dome_env *env, const dome_copies_range *range)
{
    return dome__copies_range(env->checkpoints->copies, range);
}

bool dome__own_lacks_copy(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    return c && c->copies && c->own_newest && !dome__copies_host(c->copies);
}

/* The host may be lost, and then the next view is near. If it is not, the user is told, once. */
static void note_uncopied(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    const double now = dome_wtime(), patience = 2 * env->options.timeout;
    if (dome__transport_asks_to_leave() || c->uncopied < 0)
        return;
    if (c->uncopied == 0)
        c->uncopied = now;
    if (now - c->uncopied <= patience)
        return;
    c->uncopied = -1;
    dome__say(
        "for %.0f s no checkpoint of task %d has been written: the task that keeps a copy of it on another host does not answer",
        patience, env->rank);
}

/* False: there is no copy; *why (g_free'd) if it cannot be made, NULL if the host is gone or this task is to leave. */
static bool give(dome_env *env, uint64_t number, const char *path, const GArray *used, char **why)
{
    dome_checkpoints *c = env->checkpoints;
    if (dome__copies_file(c->copies, number, path) &&
        dome__copies_commit(c->copies, number, (const uint64_t *)(const void *)used->data, used->len)) {
        c->uncopied = 0;
        return true;
    }
    char *reason = dome__copies_why(c->copies);
    if (reason)
        *why = g_strdup_printf("there is no copy of it on another host: %s", reason);
    else
        note_uncopied(env);
    g_free(reason);
    return false;
}

int dome__own_renew(dome_env *env, const GArray *used)
{
    const dome_checkpoints *c = env->checkpoints;
    char *why = NULL;
    give(env, c->own_newest, c->own_path, used, &why);
    const int status = why ? dome__fail(env, DOME_ERR_IO, "the checkpoint of task %d: %s", env->rank, why) : DOME_OK;
    g_free(why);
    return status;
}

/* ---- writing a file ---- */

/* On the other host first: then the file that is here is never newer than the copy, and the newest is always good to go on from.
 */
static bool give_part(dome_env *env, dome_state_piece *w, const GArray *used)
{
    const dome_checkpoints *c = env->checkpoints;
    char *path = dome__ckpt_file_path(c->directory, c->number, (uint32_t)env->rank + 1, (uint32_t)env->size),
         *part = g_strconcat(path, DOME_STORE_PART, NULL);
    void *head = dome__ckpt_encode(w->ckpt);
    const bool good =
        dome__store_write(w->file.fd, head, w->ckpt->head_bytes, 0, &w->why) && give(env, c->number, part, used, &w->why);
    g_free(head);
    g_free(part);
    g_free(path);
    return good;
}

/* Whether there is a checkpoint now. */
static bool write_file(dome_env *env, dome_state_piece *w, const GArray *used)
{
    const dome_checkpoints *c = env->checkpoints;
    w->file.fd = w->why ? -1 : dome__store_create(c->directory, w->ckpt, &w->why);
    if (w->file.fd < 0)
        return false;
    dome__state_piece_write(w, env);
    if (!w->why && (!c->copies || give_part(env, w, used)))
        return dome__store_commit(c->directory, w->ckpt, w->file.fd, &w->why);
    dome__store_abandon(c->directory, w->ckpt, w->file.fd);
    return false;
}

/* The one before is not needed: a file with the name of a checkpoint is complete. */
static void replace(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (c->own_path)
        unlink(c->own_path);
    g_free(c->own_path);
    c->own_path = dome__ckpt_file_path(c->directory, c->number, (uint32_t)env->rank + 1, (uint32_t)env->size);
    c->own_newest = c->number;
    c->report.written++;
}

int dome__own_write(dome_env *env, const GArray *used, bool *written)
{
    dome_checkpoints *c = env->checkpoints;
    dome_state_piece w = {.file.fd = -1};
    c->own_last = dome_wtime();
    plan(env, &w);
    *written = write_file(env, &w, used);
    c->own_cost = dome_wtime() - c->own_last;
    c->report.longest_pause = MAX(c->report.longest_pause, c->own_cost);
    c->report.pause += c->own_cost;
    if (*written)
        replace(env);
    c->number += (uint64_t)env->size; /* a copy of one that was given up may be complete */
    const int status = w.why ? dome__fail(env, DOME_ERR_IO, "no checkpoint can be written: %s", w.why) : DOME_OK;
    dome__ckpt_free(w.ckpt);
    g_free(w.file.buffer);
    g_free(w.why);
    return status;
}
