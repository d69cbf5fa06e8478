#include "balance/balance.h"
#include "balance/migrate.h"
#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "comm/comm_operations.h"
#include "core/environment.h"
#include "core/storage.h"
#include "core/trail.h"
#include "core/type_private.h"
#include "eval/eval.h"
#include "eval/failure.h"
#include "eval/future.h"
#include "kernels/kernels.h"
#include "launch/launch.h"
#include "options/option_parse.h"
#include "options/option_print.h"
#include "peer/peer_start.h"
#include "program/boundary.h"
#include "program/change.h"
#include "program/operations.h"
#include "program/profile.h"
#include "program/program_hooks.h"
#include "program/program_operations.h"
#include "program/progress.h"
#include "program/recording.h"
#include "program/start.h"
#include "sparse/dsparse_notes.h"
#include "store/format.h"
#include "system/environment_variables.h"
#include "system/own_program.h"
#include "system/say.h"
#include "system/time.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"
#include "watch/watch.h"

#include <dome/env.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A second environment would start the program's tasks again, or wait for them for ever. */
static void refuse_second(dome_env *first)
{
    dome_operation op;
    dome__begin(&op, first, DOME_OP_INIT, NULL, 0);
    dome__errors_end(first); /* end the program: dome_init has no environment to return */
    dome__fail(first, DOME_ERR_STATE, "it has been called already");
}

/* The last environment that was finalized, with the handles of its objects: calls with them are reported, by its hooks. */
static dome_env *finalized;

/* Nothing may use the handles any more. */
static void release_finalized(void)
{
    dome_env *env = g_steal_pointer(&finalized);
    if (!env)
        return;
    dome__operation_table_reset();
    dome__registry_free(env);
    dome__types_free(env->types);
    dome__clock_free(env->clock);
    dome__errors_free(env->errors);
    g_strfreev(env->hosts);
    g_free(env);
}

/* All tasks are there. What they have waited for each other until now is no part of an operation. */
static void start_clock(dome_env *env)
{
    dome__account_forget_waits(&env->transport->account, env->size);
    dome__clock_start(env);
}

static void name_program(dome_env *env, const char *path)
{
    char *file = g_path_get_basename(path);
    const char *called = dome__own_program_called();
    env->change->program = g_strdup(called ? called : file);
    if (called)
        dome__ckpt_also_of(file);
    g_free(file);
}

dome_env *dome_init(int *argc, char ***argv)
{
    if (dome__this_env())
        refuse_second(dome__this_env());
    release_finalized();
    dome__open_streams();
    dome__change_begin();
    dome__operations_add();
    dome_env *env = g_new0(dome_env, 1);
    env->hooks = &dome__program_hooks;
    env->errors = dome__errors_new();
    env->types = dome__types_new();
    env->clock = dome__clock_new();
    env->moved = dome__moved_new();
    env->progress = dome__progress_new();
    dome__registry_init(env);
    char *message = NULL, *none[] = {"program", NULL};
    char **arguments = g_strdupv(argv ? *argv : none); /* a copy with all options, which the other tasks read, too */
    if (!dome__options_parse(&env->options, g_getenv(DOME_VARIABLE_OPTIONS), argc, argv, &message))
        dome__start_failed(NULL, 2, message);
    if (env->options.help || env->options.version) {
        char *text = env->options.help ? dome__options_help() : g_strdup("dome " DOME_VERSION "\n");
        fputs(text, stdout);
        exit(0);
    }
    env->eval = dome__eval_new(&env->options);
    dome__kernels_limit(env->options.kernels);
    if (env->options.check_pointers)
        dome__storage_check(env);
    env->change = dome__change_new(env);
    name_program(env, arguments[0] ? arguments[0] : "program");
    dome__start(env, arguments);
    dome__set_this_env(env);
    env->balance = dome__balance_new(&env->options, env->transport);
    start_clock(env);
    dome__recording_stand(env);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_INIT, NULL, (uint64_t)env->size);
    int status = dome__balance_probe(env);
    if (status == DOME_OK)
        status = dome__change_share(env);
    const uint64_t begin = dome__now_ns();
    if (status == DOME_OK)
        status = dome__checkpoint_start(env, env->change->program,
                                        &(dome_checkpoint_view){.number = env->change->view,
                                                                .back = env->change->heals,
                                                                .piece = dome__change_piece(env),
                                                                .kept = dome__change_keeps(env) ? env->change->kept : NULL,
                                                                .losses = env->change->losses,
                                                                .seconds = dome__since_ns(env->change->program_ns) * 1e-9});
    env->change->blocks_ns += dome__since_ns(begin);
    if (status == DOME_OK)
        status = dome__change_settle(env);
    dome__end(&op, status);
    if (env->watch)
        dome__watch_beat(env->watch); /* tells the hub that dome_init is over, even if this process dies soon */
    dome__change_stands(env);
    g_strfreev(arguments);
    return env;
}

int dome_finalize(dome_env *env)
{
    if (!env)
        return 0;
    dome_operation op;
    dome__begin(&op, env, DOME_OP_FINALIZE, NULL, 0);
    /* A failure of one task's deferred work is made a failure of all: either all tasks enter the barrier below, or none. */
    int known = dome_error_status(env);
    int failed = dome__futures_complete(env);
    dome__eval_finish(env);
    failed = failed ? failed : dome__failure_finish(env);
    dome__progress_end(env);
    dome__transit_end(env);
    dome__checkpoint_finish(env);
    dome__change_over(env);
    if (!failed) {
        if (env->options.profile)
            failed = dome__profile_print(env);
        if (!failed)
            failed = dome__comm_finish(env);
        if (!failed)
            failed = dome__barrier(env->transport);
        if (failed)
            dome__fail_transport(env, failed);
    }
    if (failed && !known && env->rank == 0) /* the program can no longer query it */
        dome__say("%s", dome_error_message(env));
    dome__registry_clear(env);
    dome__eval_free(g_steal_pointer(&env->eval));
    dome__comm_free(g_steal_pointer(&env->comm));
    dome__futures_free(g_steal_pointer(&env->futures));
    dsparse__notes_free(g_steal_pointer(&env->sparse_notes));
    dome__storage_check_no_more();
    dome__storage_trim();
    dome__end(&op, DOME_OK);
    dome__recording_finish(env);
    dome__checkpoint_free(env);
    dome__peer_stop(env);
    dome__balance_free(g_steal_pointer(&env->balance));
    int status = dome_error_status(env) ? 1 : 0;
    fflush(NULL);
    if (env->watch && !failed)
        dome__watch_done(env->watch);
    if (env->watch)
        dome__watch_leave(env->watch);
    env->stamp = NULL;
    env->wait_ns = NULL;
    dome__transport_free(g_steal_pointer(&env->transport));
    env->trail = NULL;
    dome__watch_close(g_steal_pointer(&env->watch));
    dome__recording_close(env, status, NULL);
    dome__options_clear(&env->options);
    dome__change_free(g_steal_pointer(&env->change));
    g_clear_pointer(&env->moved, g_free);
    g_clear_pointer(&env->progress, g_free);
    env->trace = NULL;
    env->hooks = dome__hooks_after_finalize();
    finalized = env;
    dome__set_this_env(NULL);
    return status;
}

/* ---- collective functions ---- */

void dome_print(dome_env *env, const char *format, ...)
{
    DOME_NEEDS(env, "the environment", );
    DOME_NEEDS(format, "the format", );
    if (!env->transport)
        dome__called_late(env, __func__);
    if (env->rank != 0)
        return;
    dome__progress_hide(env);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

/* Whether there is an order, and it is that tasks meet here, and do not change. *other_size: it demands another number. */
static bool meets(const dome_env *env, bool *other_size)
{
    dome_view_plan plan;
    *other_size = false;
    if (!env->change->ordered || !dome__view_plan_parse(env->change->ordered, env->size, &plan))
        return false;
    const bool same = !dome__view_plan_changes(&plan, env->size);
    *other_size = plan.size != env->size;
    dome__view_plan_clear(&plan);
    return same;
}

/* Whether what waits is tried again at this boundary, but not where tasks meet, or an order has come: then at the next. */
static bool is_again(dome_tries *tries, bool waits, bool other)
{
    if (!waits)
        *tries = (dome_tries){0};
    else if (--tries->left == 0 && other)
        tries->left = 1;
    return waits && tries->left == 0;
}

/* The order of the hub for this boundary, or the one that was postponed to it; and the wish that was. */
static void take_order(const dome_env *env)
{
    dome_change *c = env->change;
    c->order = 0;
    c->ordered = env->watch ? dome__watch_loop(env->watch, &c->order) : NULL;
    const bool other = c->ordered != NULL;
    if (is_again(&c->order_tries, c->late != NULL, other)) {
        c->ordered = g_steal_pointer(&c->late);
        c->order = c->late_order;
    }
    if (is_again(&c->wish_tries, c->late_wish != 0, other)) {
        c->wish = c->late_wish;
        c->late_wish = 0;
    }
}

/* Whether something is due at this boundary: kept in the environment's parts until it is carried out. */
static int decide(dome_env *env, bool *due)
{
    dome_change *c = env->change;
    take_order(env);
    c->passed = true;
    dome__change_over(env);
    int status = dome__checkpoint_decide(env, due);
    *due = *due || c->ordered || c->wish;
    return status == DOME_OK && *due ? dome__transit_look(env, due) : status;
}

static int carry_out(dome_env *env, int status, const char *bound)
{
    dome_change *c = env->change;
    char *plan = g_steal_pointer(&c->ordered);
    if (status == DOME_OK)
        status = dome__checkpoint_carry_out(env);
    if (status == DOME_OK)
        status = dome__change_boundary(env, c->order, plan, bound);
    else if (c->order)
        dome__change_refuse(env, c->order, dome_status_text((dome_status)status));
    g_free(plan);
    return status;
}

dome_status dome_checkpoint(dome_env *env)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    bool due;
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, 0);
    int status = decide(env, &due);
    return dome__end(&op, carry_out(env, status, NULL));
}

dome_status dome__boundary_reach(dome_env *env, bool *due)
{
    dome_operation op;
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, 0);
    int status = decide(env, due);
    if (status != DOME_OK || !*due) {
        *due = false;
        status = carry_out(env, status, NULL);
    }
    return dome__end(&op, status);
}

/* An order or a wish that no other number of tasks can follow here is tried again behind later operations: the 1st, the 2nd from
 * there, the 4th, and so on. Each has its own tries: a program may wish something else all the time. In between tasks may meet
 * for a checkpoint. */
enum { LATE_TRIES = 10 };

static bool may_wait(dome_tries *tries)
{
    if (tries->count == LATE_TRIES)
        return false;
    tries->left = (uint64_t)1 << tries->count++;
    return true;
}

static void postpone(const dome_env *env)
{
    dome_change *c = env->change;
    bool other_size;
    meets(env, &other_size);
    if (!c->polls)
        return;
    if (other_size && may_wait(&c->order_tries))
        dome__transit_put_off_order(env, c->order_tries.left);
    if (c->wish && may_wait(&c->wish_tries))
        dome__transit_put_off_wish(env, c->wish_tries.left);
}

static int look(dome_env *env, bool asked, bool *due)
{
    const dome_change *c = env->change;
    bool other_size;
    const bool met = meets(env, &other_size), writes = env->checkpoints && env->options.checkpoint.directory;
    int status = dome__checkpoint_consult(env, asked || met, due);
    *due = *due || c->wish || (c->ordered && !met) || ((asked || met) && !writes);
    return status == DOME_OK && *due ? dome__transit_look(env, due) : status;
}

dome_status dome__boundary_poll(dome_env *env, bool asked, bool *due)
{
    dome_change *c = env->change;
    c->polls = true;
    take_order(env);
    dome__change_over(env);
    const bool consults = dome__checkpoint_pass(env);
    *due = false;
    if (!c->ordered && !asked && !consults && !c->wish)
        return DOME_OK;
    dome_operation op;
    c->passed = true;
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, env->watch ? dome__watch_passed(env->watch) : 0);
    int status = look(env, asked, due);
    if (status != DOME_OK || !*due) {
        *due = false;
        status = carry_out(env, status, NULL);
    }
    return dome__end(&op, status);
}

bool dome__boundary_ask(dome_env *env)
{
    if (env->watch)
        dome__watch_meet(env->watch);
    return !env->watch;
}

/* Before the number of tasks changes: if the newest checkpoint needs the number before, another one is written here. Else a loss
 * soon after the change could not be healed. */
static int write_first(dome_env *env, bool bound)
{
    dome_change *c = env->change;
    bool due;
    int status = DOME_OK;
    if (c->bound && !bound && (c->wish || c->ordered) && !dome__checkpoint_is_due(env)) {
        dome__checkpoint_finish(env);
        status = dome__checkpoint_consult(env, true, &due);
    }
    if (dome__checkpoint_is_due(env))
        c->bound = bound;
    return status;
}

dome_status dome__boundary_pass(dome_env *env, dome_status status, const char *bound)
{
    dome_operation op;
    bool due = true;
    dome__begin(&op, env, DOME_OP_CHECKPOINT, NULL, 0);
    if (status == DOME_OK) /* a function of the program may have sent something before it was captured (dome_capture_on) */
        status = dome__transit_look(env, &due);
    if (status == DOME_OK && bound)
        postpone(env);
    if (status == DOME_OK)
        status = write_first(env, bound != NULL);
    return dome__end(&op, carry_out(env, status, bound));
}

void dome__boundary_restored(dome_env *env, bool bound)
{
    env->change->bound = bound;
}

dome_status dome_barrier(dome_env *env)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_BARRIER, NULL, 0);
    int status = dome__barrier(env->transport);
    return dome__end(&op, status ? dome__fail_transport(env, status) : DOME_OK);
}

dome_status dome_bcast(dome_env *env, int root, dome_type type, void *data, size_t count)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    DOME_NEEDS(type, "the type", DOME_ERR_ARGUMENT);
    DOME_NEEDS(data || count == 0, "the place of the elements", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, env, DOME_OP_BCAST, NULL, (uint64_t[]){(uint64_t)root, count, dome_type_size(type)}, 3);
    int status;
    if (root < 0 || root >= env->size)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "there is no task %d among %d", root, env->size);
    else if (count > dome__array_most(dome_type_size(type)))
        status = dome__fail(env, DOME_ERR_ARGUMENT, "%zu elements of %zu bytes are more than memory can have", count,
                            dome_type_size(type));
    else if ((status = dome__bcast(env->transport, root, type, data, count)))
        status = dome__fail_transport(env, status);
    return dome__end(&op, status);
}
