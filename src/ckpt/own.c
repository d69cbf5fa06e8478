/* Checkpoints of single tasks, with --dome-checkpoint-protocol log. Each is a piece of a checkpoint (store/format.h) with the
 * blocks of one task, and all blocks of objects that every task has complete. Its number belongs to this task alone: pieces of
 * several tasks never form a whole. */
#include "ckpt/checkpoint_private.h"
#include "ckpt/collect.h"
#include "ckpt/interval.h"
#include "ckpt/state.h"
#include "core/object_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <dome/env.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The counter by which such a piece is known. */
static const char OWN[] = "own";

/* Seconds until the first, by which its cost is known. */
static const double FIRST = 1;

/* Where nobody says how often, the memory of the others is spared: one is due when they keep so many bytes for this task, but not
 * within so many times what one costs. */
static const uint64_t KEPT_MOST = 64 << 20;
static const double KEPT_PAUSE = 20;

/* ---- which there are ---- */

static bool is_own(const dome_env *env, const dome_store_item *item)
{
    const dome_ckpt *head = item->file ? dome__ckpt_head(item->file) : NULL;
    bool own = false;
    for (guint k = 0; head && k < head->counters->len; k++)
        own |= strcmp(g_array_index(head->counters, dome_ckpt_counter, k).name, OWN) == 0;
    return own && (int)item->piece == env->rank + 1 && (int)item->pieces == env->size &&
           dome__ckpt_is_of(head, env->checkpoints->program);
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

/* The task goes on from its newest checkpoint, if it has one and is to. */
static void open_newest(dome_env *env, bool stays, char **message)
{
    dome_checkpoints *c = env->checkpoints;
    const bool anew = env->options.restart.from == DOME_RESTART_NONE && !stays;
    c->own_path = find(env, anew, message);
    dome_ckpt_file *file = c->own_path && !*message ? dome__ckpt_open(c->own_path, message) : NULL;
    if (file && !stays && !dome__ckpt_verify(file, message))
        g_clear_pointer(&file, dome__ckpt_close);
    c->number = (uint64_t)env->rank + 1;
    if (file)
        c->number = dome__ckpt_head(file)->number + (uint64_t)env->size;
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

/* The directory must outlive the task, wherever its successor is started. */
static char *objection(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    if (env->options.restart.from == DOME_RESTART_NUMBER)
        return g_strdup("--dome-restart=NUMBER: with --dome-checkpoint-protocol log checkpoints are of single tasks: leave the "
                        "number out");
    for (int r = 0; r < env->size; r++)
        if (r != env->rank && dome__format_with(env->transport, r) != DOME_NATIVE)
            return g_strdup("--dome-checkpoint-protocol log: tasks are on machines of different kinds: use protocol stop");
    if (dome__on_one_host(env) || (!c->in_memory && !dome__checkpoint_in_pieces(c)))
        return NULL;
    return g_strdup("--dome-checkpoint-protocol log: with tasks on several hosts it needs a directory that all hosts share "
                    "(--dome-checkpoint-dir)");
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
    if (!message && env->rank == 0)
        c->store = dome__store_open(c->directory, c->program, &message);
    status = dome__agree(env, message ? DOME_ERR_OPTION : DOME_OK, message);
    g_clear_pointer(&message, g_free);
    if (status != DOME_OK)
        return status;
    open_newest(env, view->stays, &message);
    status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    g_free(message);
    if (status == DOME_OK && env->options.restart.from == DOME_RESTART_NEWEST && !view->stays)
        status = check_there(env);
    return status;
}

/* Several programs may have their checkpoints there. */
char *dome__own_stem(const dome_env *env)
{
    enum { DIGITS = 8 };
    const dome_checkpoints *c = env->checkpoints;
    if (!c || !c->directory)
        return NULL;
    char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, c->program, -1);
    char *stem = g_strdup_printf("%s/messages-%.*s-%d-of-%d", c->directory, DIGITS, sum, env->rank, env->size);
    g_free(sum);
    return stem;
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
        dome__ckpt_add_counter(w->ckpt, OWN, 1, &w->why);
    dome__state_piece_plan(w, env);
    dome__state_piece_room(w);
}

static void write_file(const dome_env *env, dome_state_piece *w)
{
    const dome_checkpoints *c = env->checkpoints;
    w->file.fd = w->why ? -1 : dome__store_create(c->directory, w->ckpt, &w->why);
    if (w->file.fd < 0)
        return;
    dome__state_piece_write(w, env);
    if (w->why)
        dome__store_abandon(c->directory, w->ckpt, w->file.fd);
    else
        dome__store_commit(c->directory, w->ckpt, w->file.fd, &w->why);
}

/* The one before is not needed: a file with the name of a checkpoint is complete. */
static void replace(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (c->own_path)
        unlink(c->own_path);
    g_free(c->own_path);
    c->own_path = dome__ckpt_file_path(c->directory, c->number, (uint32_t)env->rank + 1, (uint32_t)env->size);
    c->number += (uint64_t)env->size;
    c->report.written++;
}

int dome__own_write(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    dome_state_piece w = {.file.fd = -1};
    c->own_last = dome_wtime();
    plan(env, &w);
    write_file(env, &w);
    c->own_cost = dome_wtime() - c->own_last;
    c->report.longest_pause = MAX(c->report.longest_pause, c->own_cost);
    c->report.pause += c->own_cost;
    int status = DOME_OK;
    if (w.why)
        status = dome__fail(env, DOME_ERR_IO, "no checkpoint can be written: %s", w.why);
    else
        replace(env);
    dome__ckpt_free(w.ckpt);
    g_free(w.file.buffer);
    g_free(w.why);
    return status;
}
