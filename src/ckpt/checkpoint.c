#include "ckpt/checkpoint.h"

#include "system/files.h"
#include "transport/agree.h"
#include "transport/transport.h"

bool dome__own_wanted(const dome_env *env)
{
    return env->options.checkpoint.protocol == DOME_CHECKPOINT_LOG && env->size > 1;
}

#ifdef DOME_WITH_CHECKPOINT

#include "ckpt/checkpoint_private.h"
#include "ckpt/collect.h"
#include "peer/peer_start.h"
#include "system/environment_variables.h"

#include <stdio.h>
#include <string.h>

/* ---- starting ---- */

int dome__checkpoint_agree_directory(dome_env *env, dome_checkpoints *c)
{
    const char *given = env->options.checkpoint.directory;
    c->in_memory = strcmp(given, DOME_CHECKPOINT_MEMORY) == 0;
    if (c->in_memory)
        given = g_getenv(DOME_VARIABLE_MEMORY);
    char *path = env->rank == 0 && given ? g_canonicalize_filename(given, NULL) : NULL;
    int missing =
        dome__agree(env, env->rank == 0 && !given ? DOME_ERR_OPTION : DOME_OK,
                    "--dome-checkpoint-dir memory: keeps checkpoints for losses: use --dome-restarts, or --dome-on-loss heal");
    if (missing != DOME_OK) {
        g_free(path);
        return missing;
    }
    uint64_t length = path ? strlen(path) : 0;
    int status = dome__checkpoint_share(env, &length, 1, DOME_U64);
    if (status != DOME_OK) {
        g_free(path);
        return status;
    }
    if (!path)
        path = g_malloc0(length + 1);
    c->directory = path;
    return dome__checkpoint_share(env, path, length, DOME_U8);
}

/* Connects the tasks' checkpoint threads, apart from the transport. That no connection can be made is known at the start. */
static int connect_tasks(dome_env *env, dome_checkpoints *c)
{
    char *message = NULL;
    int status = dome__peer_start(env, "checkpoints");
    c->link = (dome_ckpt_link){.rank = 0, .size = 1};
    if (status != DOME_OK || env->size == 1)
        return status;
    dome__ckpt_link_open(&c->link, env->peer, DOME_PEER_CHECKPOINT, env->rank, env->size, NULL);
    if (env->rank > 0)
        dome__ckpt_link_reach(&c->link, 0, &message);
    status = dome__agree(env, message ? DOME_ERR_START : DOME_OK, message);
    g_free(message);
    return status;
}

/* Where no process outlives the tasks, there is nothing to heal, and no directory in memory. One that was not asked for is not
 * missed then. */
static int drop_default(dome_env *env)
{
    uint64_t there = g_getenv(DOME_VARIABLE_MEMORY) != NULL;
    if (!env->options.checkpoint.by_default)
        return DOME_OK;
    int status = dome__checkpoint_share(env, &there, 1, DOME_U64);
    if (status == DOME_OK && !there)
        g_clear_pointer(&env->options.checkpoint.directory, g_free);
    return status;
}

int dome__checkpoint_find_groups(dome_env *env, dome_checkpoints *c)
{
    const dome_store_owner owner = c->in_memory                    ? DOME_STORE_OWN
                                   : env->options.checkpoint.trust ? DOME_STORE_ANY
                                                                   : DOME_STORE_TRUSTED;
    dome__ckpt_only_trusted(owner != DOME_STORE_ANY);
    return dome__find_groups(env, c->directory, owner, &c->pieces);
}

static int start_in_directory(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    c->full = true;
    int status = dome__checkpoint_agree_directory(env, c);
    char *message = NULL;
    if (status != DOME_OK)
        return status;
    status = dome__checkpoint_find_groups(env, c);
    if (status != DOME_OK)
        return status;
    if (dome__checkpoint_leads_group(env)) {
        c->store = dome__store_open(c->directory, c->program, &message);
        if (c->store && dome__run_check(c->directory, &message))
            dome__clean_directory(c->directory);
    }
    status = dome__agree(env, message ? DOME_ERR_IO : DOME_OK, message);
    g_clear_pointer(&message, g_free);
    if (status == DOME_OK)
        status = connect_tasks(env, c);
    if (status == DOME_OK && dome__checkpoint_in_pieces(c))
        status = dome__connect_groups(env, &c->pieces);
    if (status == DOME_OK) {
        c->background = dome__ckpt_background_new(&c->link, &message);
        status = dome__agree(env, message ? DOME_ERR_START : DOME_OK, message);
        g_free(message);
    }
    if (env->rank == 0)
        dome__checkpoint_catch_signals();
    return status;
}

static int start_from(dome_env *env, const dome_checkpoint_view *view)
{
    dome_checkpoints *c = env->checkpoints;
    int status = DOME_OK;
    if (view->kept)
        status = dome__kept_new(env, view->kept, &c->kept);
    if (status == DOME_OK && view->number > 0 && !view->back)
        status = dome__checkpoint_open_handover(env, view);
    else if (status == DOME_OK && view->back && c->kept)
        status = dome__checkpoint_open_kept(env, view->number);
    if (status == DOME_OK && !dome__checkpoint_restarting(env) && c->directory)
        status = dome__checkpoint_open(env);
    else if (status == DOME_OK && c->directory && view->back)
        status = dome__checkpoint_go_on(env);
    dome__checkpoint_due_from(c);
    return status;
}

int dome__checkpoint_start(dome_env *env, const char *program, const dome_checkpoint_view *view)
{
    const bool enters = view->number > 0 && !view->back;
    int status = drop_default(env);
    if (status != DOME_OK)
        return status;
    if (!env->options.checkpoint.directory && !enters && !view->kept)
        return DOME_OK;
    dome_checkpoints *c = env->checkpoints = g_new0(dome_checkpoints, 1);
    c->program = g_path_get_basename(program);
    dome__checkpoint_due_begin(c);
    dome__run_begin(c, view->losses, view->seconds);
    dome__ckpt_snapshot_init(&c->snapshot);
    if (dome__own_wanted(env))
        return dome__own_start(env, view);
    status = env->options.checkpoint.directory ? start_in_directory(env) : DOME_OK;
    return status == DOME_OK ? start_from(env, view) : status;
}

int dome__checkpoint_handover(dome_env *env, const char *program, uint64_t loop, const bool *stays, dome_handover **handover,
                              char **why)
{
    const dome_checkpoints *c = env->checkpoints;
    return c ? dome__handover_prepare(env, c->program, c->loop, stays, handover, why)
             : dome__handover_prepare(env, program, loop, stays, handover, why);
}

/* ---- the end ---- */

void dome__checkpoint_finish(dome_env *env)
{
    if (env->checkpoints && env->checkpoints->background)
        dome__checkpoint_finish_writing(env);
}

void dome__checkpoint_free(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c)
        return;
    dome__ckpt_background_free(c->background);
    dome__ckpt_link_close(&c->link);
    dome__copies_free(c->copies);
    dome__groups_free(&c->pieces);
    if (env->rank == 0 && c->directory && !c->own) {
        dome__run_write(c, false, NULL);
        dome__checkpoint_leave_signals(false);
    }
    dome__checkpoint_restart_free(c);
    dome__kept_free(c->kept);
    dome__ckpt_snapshot_free(&c->snapshot);
    dome__ckpt_free(c->previous);
    if (c->in_memory && c->store)
        dome__remove_directory(c->directory);
    dome__store_close(c->store);
    g_free(c->own_path);
    g_free(c->directory);
    g_free(c->program);
    g_free(c);
    env->checkpoints = NULL;
}

void dome__checkpoint_leave(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (c)
        c->in_memory = false; /* the directory is needed */
    if (c && c->directory && env->rank == 0 && !c->own)
        dome__checkpoint_keep_signals();
    dome__checkpoint_free(env);
}

void dome__checkpoint_go_back(void)
{
    dome__checkpoint_keep_signals();
}

bool dome__checkpoint_report(const dome_env *env, dome_checkpoint_report *report)
{
    const bool writes = env->checkpoints && env->checkpoints->directory;
    if (writes) {
        *report = env->checkpoints->report;
        report->cost = dome__checkpoint_cost(env->checkpoints);
    }
    return writes;
}

#else

char *dome__own_stem(const dome_env *env, bool *memory)
{
    (void)env;
    *memory = false;
    return NULL;
}

bool dome__own_pass(dome_env *env, uint64_t kept)
{
    (void)env, (void)kept;
    return false;
}

int dome__own_write(dome_env *env, const GArray *used, bool *written)
{
    (void)env, (void)used;
    *written = false;
    return DOME_OK;
}

bool dome__own_copies(const dome_env *env)
{
    (void)env;
    return false;
}

bool dome__own_give(dome_env *env, const struct dome_copies_range *range)
{
    (void)env, (void)range;
    return false;
}

bool dome__own_lacks_copy(const dome_env *env)
{
    (void)env;
    return false;
}

int dome__own_renew(dome_env *env, const GArray *used)
{
    (void)env, (void)used;
    return DOME_OK;
}

void dome__own_carry(const dome_env *env, dome_checkpoint_view *view)
{
    (void)env, (void)view;
}

bool dome__checkpoint_newest(const char *directory, const char *program, dome_checkpoint_point *point)
{
    (void)directory, (void)program, (void)point;
    return false;
}

bool dome__checkpoint_wanted(const char *directory, const dome_restart_options *wanted, dome_checkpoint_point *point)
{
    (void)directory, (void)wanted, (void)point;
    return false;
}

int dome__checkpoint_start(dome_env *env, const char *program, const dome_checkpoint_view *view)
{
    (void)program;
    if (view->kept)
        return dome__fail(env, DOME_ERR_OPTION, "--dome-on-loss tell: this library was built without checkpoints");
    if (!env->options.checkpoint.directory)
        return DOME_OK;
    return dome__fail(env, DOME_ERR_OPTION, "--dome-checkpoint-dir: this library was built without checkpoints");
}

int dome__checkpoint_decide(dome_env *env, bool *due)
{
    (void)env;
    *due = false;
    return DOME_OK;
}

bool dome__checkpoint_pass(dome_env *env)
{
    (void)env;
    return false;
}

int dome__checkpoint_consult(dome_env *env, bool asked, bool *due)
{
    (void)env, (void)asked;
    *due = false;
    return DOME_OK;
}

bool dome__checkpoint_is_due(const dome_env *env)
{
    (void)env;
    return false;
}

bool dome__checkpoint_saves(const dome_env *env)
{
    (void)env;
    return false;
}

bool dome__checkpoint_ends(const dome_env *env)
{
    (void)env;
    return false;
}

void dome__checkpoint_put_off(dome_env *env, uint64_t boundaries)
{
    (void)env, (void)boundaries;
}

void dome__checkpoint_leave_out(dome_env *env, const char *why)
{
    (void)env, (void)why;
}

int dome__checkpoint_before_change(dome_env *env)
{
    (void)env;
    return DOME_OK;
}

int dome__checkpoint_carry_out(dome_env *env)
{
    (void)env;
    return DOME_OK;
}

void dome__checkpoint_finish(dome_env *env)
{
    (void)env;
}

void dome__checkpoint_free(dome_env *env)
{
    (void)env;
}

void dome__checkpoint_leave(dome_env *env)
{
    (void)env;
}

int dome__checkpoint_handover(dome_env *env, const char *program, uint64_t loop, const bool *stays, dome_handover **handover,
                              char **why)
{
    (void)env, (void)program, (void)loop, (void)stays;
    *handover = NULL;
    g_free(*why);
    *why = g_strdup("this library was built without checkpoints, whose format carries a program's state");
    return DOME_OK;
}

int dome__handover_confirm(dome_handover *handover, char **why)
{
    (void)handover, (void)why;
    return DOME_OK;
}

dome_handover_piece dome__handover_write(dome_handover *handover)
{
    (void)handover;
    return (dome_handover_piece){-1, -1};
}

void dome__handover_free(dome_handover *handover)
{
    (void)handover;
}

int dome__checkpoint_restore(dome_env *env, dome_object *object)
{
    (void)env, (void)object;
    return DOME_OK;
}

bool dome__checkpoint_restarting(const dome_env *env)
{
    (void)env;
    return false;
}

size_t dome__checkpoint_lost(const dome_env *env, const dome_object *object, const dome_span **spans)
{
    (void)env, (void)object;
    *spans = NULL;
    return 0;
}

void dome__checkpoint_restored(const dome_env *env, uint64_t *took_ns, uint64_t *at)
{
    (void)env;
    *took_ns = *at = 0;
}

bool dome__checkpoint_from(const dome_env *env, uint64_t *number, uint64_t *loop)
{
    (void)env;
    *number = *loop = 0;
    return false;
}

bool dome__checkpoint_complete(const dome_env *env)
{
    (void)env;
    return false;
}

uint64_t dome__checkpoint_loop(const dome_env *env)
{
    (void)env;
    return 0;
}

void dome__checkpoint_go_back(void)
{
}

bool dome__checkpoint_last(const dome_env *env, uint64_t *number, double *age)
{
    (void)env, (void)number, (void)age;
    return false;
}

bool dome__checkpoint_report(const dome_env *env, dome_checkpoint_report *report)
{
    (void)env, (void)report;
    return false;
}

#endif
