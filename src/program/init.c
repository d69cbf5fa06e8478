#include "balance/balance.h"
#include "balance/migrate.h"
#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "comm/comm_operations.h"
#include "core/call_log.h"
#include "core/environment.h"
#include "core/object_private.h"
#include "core/storage.h"
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
#include "program/go_over.h"
#include "program/in_place.h"
#include "program/operations.h"
#include "program/profile.h"
#include "program/program_hooks.h"
#include "program/program_operations.h"
#include "program/progress.h"
#include "program/recording.h"
#include "program/start.h"
#include "region/lock.h"
#include "region/member.h"
#include "sparse/dsparse_notes.h"
#include "store/format.h"
#include "system/environment_variables.h"
#include "system/own_program.h"
#include "system/say.h"
#include "system/thread.h"
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

const char *dome__second_init;

/* A second environment would start the program's tasks again, or wait for them for ever. */
static void refuse_second(dome_env *first)
{
    dome_operation op;
    if (dome__second_init) {
        dome__say("%s", dome__second_init);
        exit(2);
    }
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
    env->change->start.program = g_strdup(called ? called : file);
    if (called)
        dome__ckpt_also_of(file);
    g_free(file);
}

/* Only the parts that need no options. */
static dome_env *new_environment(void)
{
    dome_env *env = g_new0(dome_env, 1);
    env->hooks = &dome__program_hooks;
    env->errors = dome__errors_new();
    env->types = dome__types_new();
    env->clock = dome__clock_new();
    env->moved = dome__moved_new();
    env->progress = dome__progress_new();
    dome__registry_init(env);
    return env;
}

/* Takes the library's options out of argc and argv. Ends the program if they are wrong, or ask for nothing else. */
static void read_options(dome_options *options, int *argc, char ***argv)
{
    char *message;
    if (!dome__options_parse(options, g_getenv(DOME_VARIABLE_OPTIONS), argc, argv, &message))
        dome__start_failed(NULL, 2, message);
    if (options->help || options->version) {
        char *text = options->help ? dome__options_help() : g_strdup("dome " DOME_VERSION "\n");
        fputs(text, stdout);
        exit(0);
    }
}

static dome_checkpoint_view view_of(const dome_env *env)
{
    const dome_change *c = env->change;
    return (dome_checkpoint_view){.number = c->view.number,
                                  .back = c->healing.heals,
                                  .in_place = c->view.in_place,
                                  .piece = dome__change_piece(env),
                                  .kept = dome__healing_keeps(env) ? c->healing.kept : NULL,
                                  .losses = c->healing.losses,
                                  .seconds = dome__since_ns(c->healing.program_ns) * 1e-9};
}

static int start_checkpoints(dome_env *env, bool stays)
{
    dome_checkpoint_view view = view_of(env);
    view.stays = stays;
    if (stays) {
        view.loop = dome__checkpoint_loop(env);
        dome__own_carry(env, &view);
        dome__checkpoint_leave(env);
    }
    const int status = dome__checkpoint_start(env, env->change->start.program, &view);
    g_free(view.host);
    return status;
}

int dome__join_view(dome_env *env, bool stays)
{
    int status = dome__balance_probe(env);
    if (status == DOME_OK)
        status = dome__healing_share(env);
    const uint64_t begin = dome__now_ns();
    if (status == DOME_OK)
        status = start_checkpoints(env, stays);
    dome__view_times_blocks(&env->change->times, begin);
    return status == DOME_OK ? dome__change_settle(env) : status;
}

static void keep_log(dome_env *env)
{
    bool memory;
    char *stem = dome__own_stem(env, &memory);
    dome__comm_log_keep_in(env, stem, !memory);
    g_free(stem);
}

/* All tasks are there, and the transport is open. */
static int begin_view(dome_env *env)
{
    env->balance = dome__balance_new(&env->options, env->transport);
    start_clock(env);
    dome__recording_stand(env);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_INIT, NULL, (uint64_t)env->size);
    const int status = dome__join_view(env, false);
    dome__end(&op, (dome_status)status);
    if (env->watch)
        dome__watch_beat(env->watch); /* tells the hub that dome_init is over, even if this process dies soon */
    dome__change_stands(env);
    if (dome__comm_logs(env))
        keep_log(env);
    dome__boundary_begin(env);
    return status;
}

int dome__enter_in_place(dome_env *env)
{
    dome_operation *boundary = env->operation;
    env->operation = NULL; /* the view begins with operations of its own, as on newcomers */
    dome__in_place_leave(env);
    dome__start(env, env->change->exec.words);
    dome__registry_forget_layouts(env);
    int status = begin_view(env);
    env->operation = boundary;
    if (status == DOME_OK)
        status = dome__in_place_join(env);
    dome__begin_again(boundary);
    return status;
}

/* Whether the messages are logged. */
static bool begin_log(dome_env *env)
{
    const bool logs = dome__own_wanted(env);
    if (logs) {
        env->transport->logs = env->transport->meets = true;
        env->options.balance.policy = DOME_BALANCE_NONE; /* data moves where all tasks meet */
        dome__comm_log(env, dome__go_over_leave);
    }
    return logs;
}

dome_env *dome_init(int *argc, char ***argv)
{
    if (dome__this_env())
        refuse_second(dome__this_env());
    release_finalized();
    dome__open_streams();
    char *message = dome__stack_too_small(), *none[] = {"program", NULL};
    if (message)
        dome__start_failed(NULL, 1, message);
    dome__exec_begin();
    dome__operations_add();
    dome_env *env = new_environment();
    char **arguments = g_strdupv(argv ? *argv : none); /* a copy with all options, which the other tasks read, too */
    read_options(&env->options, argc, argv);
    env->eval = dome__eval_new(&env->options);
    dome__kernels_limit(env->options.kernels);
    if (env->options.check_pointers)
        dome__storage_check(env);
    env->change = dome__change_new(env);
    env->change->boundary = dome__boundary_new();
    name_program(env, arguments[0] ? arguments[0] : "program");
    dome__start(env, arguments);
    dome__set_this_env(env);
    const bool logs = begin_log(env);
    begin_view(env);
    if (logs)
        dome__go_over_open(env);
    g_strfreev(arguments);
    return env;
}

/* Says once that what the program prints is lost, as on a disk that is full. error: an errno; 0: not known. */
static void say_output_lost(const char *function, int error)
{
    static bool said;
    if (!said)
        dome__say("%s: the program's output cannot be written%s%s", function, error ? ": " : "", error ? g_strerror(error) : "");
    said = true;
}

/* Whether all that rank 0 has printed, by whatever function, has been written. */
static bool finish_output(const dome_env *env)
{
    errno = 0;
    const bool flushed = fflush(stdout) == 0;
    const int error = errno;
    fflush(NULL);
    if (env->rank != 0 || (flushed && !ferror(stdout)))
        return true;
    say_output_lost("dome_finalize", flushed ? 0 : error);
    return false;
}

static void free_objects(dome_env *env)
{
    dome__registry_clear(env);
    dome__eval_free(g_steal_pointer(&env->eval));
    dome__comm_free(g_steal_pointer(&env->comm));
    dome__locks_free(g_steal_pointer(&env->lazy.locks));
    dome__futures_free(g_steal_pointer(&env->futures));
    dsparse__notes_free(g_steal_pointer(&env->lazy.sparse_notes));
    dome__storage_check_no_more();
    dome__storage_trim();
}

/* The handles of objects stay known, so that later calls with them are reported. */
static void close_env(dome_env *env, int status)
{
    env->stamp = NULL;
    env->wait_ns = NULL;
    dome__transport_free(g_steal_pointer(&env->transport));
    env->call_log = NULL;
    dome__watch_close(g_steal_pointer(&env->watch));
    dome__recording_close(env, status, NULL);
    dome__options_clear(&env->options);
    dome__boundary_free(g_steal_pointer(&env->change->boundary));
    dome__change_free(g_steal_pointer(&env->change));
    g_clear_pointer(&env->moved, g_free);
    g_clear_pointer(&env->progress, g_free);
    env->trace = NULL;
    env->hooks = dome__hooks_after_finalize();
    finalized = env;
    dome__set_this_env(NULL);
}

static int meet(dome_env *env)
{
    int failed = env->options.profile ? dome__profile_print(env) : DOME_OK;
    if (!failed)
        failed = dome__comm_finish(env);
    return failed ? failed : dome__barrier(env->transport);
}

/* All tasks have come to the end. With messages that are logged, a task that waits there goes over into another view while one
 * that is lost computes on. */
static int meet_last(dome_env *env)
{
    jmp_buf left;
    int failed = DOME_OK;
    if (!dome__comm_logs(env))
        return meet(env);
    while (_setjmp(left) != 0 || dome__transport_asks_to_leave())
        if (dome__go_over_leave(env) != DOME_OK)
            return DOME_ERR_STATE;
    env->transport->meets = true;
    dome__transport_leave_to(&left);
    failed = dome__failure_finish(env);
    if (!failed)
        failed = meet(env);
    dome__go_over_close();
    return failed;
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
    failed = failed || dome__comm_logs(env) ? failed : dome__failure_finish(env);
    dome__progress_end(env);
    dome__boundary_end(env);
    dome__checkpoint_finish(env);
    dome__view_times_tell(env);
    if (!failed && (failed = meet_last(env)))
        dome__fail_transport(env, failed);
    if (failed && !known && env->rank == 0) /* the program can no longer query it */
        dome__say("%s", dome_error_message(env));
    free_objects(env);
    dome__end(&op, DOME_OK);
    dome__recording_finish(env);
    dome__checkpoint_free(env);
    dome__peer_stop(env);
    dome__member_free(g_steal_pointer(&env->lazy.members));
    dome__balance_free(g_steal_pointer(&env->balance));
    int status = dome_error_status(env) ? 1 : 0;
    if (!finish_output(env))
        status = 1;
    if (env->watch && !failed)
        dome__watch_done(env->watch);
    if (env->watch)
        dome__watch_leave(env->watch);
    close_env(env, status);
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
    const int printed = vprintf(format, arguments), error = errno;
    va_end(arguments);
    if (printed < 0)
        say_output_lost("dome_print", error);
}

dome_status dome_barrier(dome_env *env)
{
    DOME_NEEDS(env, "the environment", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, env, DOME_OP_BARRIER, NULL, 0);
    const dome_member_table *members = env->lazy.members;
    if (members && members->release) /* the place of the call tells what tasks need behind it */
        return dome__end(&op,
                         (dome_status)dome__release_meet(members->release, (uint64_t)(uintptr_t)__builtin_return_address(0)));
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
