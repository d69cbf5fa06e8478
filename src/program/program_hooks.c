#include "program/program_hooks.h"

#include "balance/balance.h"
#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "core/environment.h"
#include "eval/eval.h"
#include "eval/future.h"
#include "program/progress.h"
#include "program/recording.h"
#include "program/start.h"
#include "system/say.h"
#include "trace/record.h"
#include "watch/once.h"
#include "watch/watch.h"

#include <stdio.h>
#include <unistd.h>

static bool due(dome_env *env, uint32_t code)
{
    return dome__balance_due(env, code);
}

static void move(dome_env *env, uint32_t code, const dome_object *object)
{
    dome__balance(env, code, object);
}

static void at(dome_env *env, uint32_t code, uint64_t id)
{
    /* where messages are logged, tasks are at different operations */
    dome__watch_note(env->watch, env->position.sequence, dome__comm_logs(env) ? 0 : env->position.history, code, id);
}

static void updates(dome_env *env, const dome_object *object)
{
    dome__once_updates(env, object);
}

static void ended(dome_env *env, const dome_operation *op, uint64_t total, uint64_t wait)
{
    dome__trace_operation(env->trace, op->code, op->object, op->start_ns, total, wait);
}

static void ahead(dome_env *env, uint32_t code)
{
    dome__futures_begin(env, code);
}

static void registered(dome_env *env, uint32_t code)
{
    dome__trace_operation_name(env->trace, code);
}

static void say(dome_env *env, const char *line)
{
    dome__progress_hide(env);
    dome__say("%s", line);
}

static void print(dome_env *env, const char *text)
{
    dome_print(env, "%s", text);
}

static void saved(dome_env *env, uint64_t number)
{
    if (env->watch)
        dome__watch_checkpoint(env->watch, number);
}

static void fail(dome_env *env, int status, int exit_status, const char *line) __attribute__((noreturn));
static void fail(dome_env *env, int status, int exit_status, const char *line)
{
    fflush(stdout);
    if (env->watch && status == DOME_ERR_MISMATCH)
        dome__watch_disagree(env->watch, exit_status, line);
    if (env->watch)
        dome__watch_fail(env->watch, dome__is_loss(status) ? DOME_END_LOSS : DOME_END_OWN, exit_status, line);
    dome__say("%s", line);
    dome__recording_close(env, exit_status, line);
    _exit(exit_status);
}

static int restore(dome_env *env, dome_object *object)
{
    const int status = dome__checkpoint_restore(env, object);
    if (status == DOME_OK && dome__checkpoint_complete(env))
        dome__once_made(env);
    return status;
}

static void made(dome_env *env, const dome_object *object)
{
    dome__trace_object(env->trace, object);
}

static void gone(dome_env *env, const dome_object *object)
{
    dome__trace_object_gone(env->trace, object);
}

static bool first_address(const dome_env *env, void *address)
{
    return env->watch && dome__watch_peer(env->watch, address);
}

static void layout(dome_env *env, const dome_layout *layout)
{
    dome__trace_layout(env->trace, layout);
}

static void settle(dome_env *env)
{
    dome__futures_complete(env); /* a failure is found by those who ask for a value */
    dome__eval_run(env, NULL);
}

const dome_hooks dome__program_hooks = {
    .due = due,
    .move = move,
    .at = at,
    .updates = updates,
    .ended = ended,
    .registered = registered,
    .poll = dome__recording_poll,
    .ahead = ahead,
    .say = say,
    .print = print,
    .saved = saved,
    .fail = fail,
    .restarting = dome__checkpoint_restarting,
    .restore = restore,
    .made = made,
    .gone = gone,
    .first_address = first_address,
    .first_layout = dome__balance_first_layout,
    .layout = layout,
    .settle = settle,
    .advance = dome__eval_advance,
};

static bool called_late(dome_env *env, uint32_t code)
{
    dome__called_late(env, dome__operation_name(code));
}

const dome_hooks *dome__hooks_after_finalize(void)
{
    static dome_hooks hooks;
    hooks = dome__program_hooks;
    hooks.due = called_late;
    return &hooks;
}
