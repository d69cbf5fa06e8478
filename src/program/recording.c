#include "program/recording.h"

#include "balance/balance.h"
#include "ckpt/checkpoint.h"
#include "region/region_profile.h"
#include "system/environment_variables.h"
#include "trace/demand.h"
#include "trace/record.h"
#include "trace/trace_local.h"
#include "transport/transport.h"
#include "watch/watch.h"

#include <pthread.h>
#include <unistd.h>

/* The state of recording in a program of one task, which has no hub. */
struct dome_recorder {
    pid_t pid;
    char *command;
    dome_demand *demand;
    dome_trace_sink *sink; /* of --dome-trace */
    dome_trace_local *local;
};

/* Time between two checks for a request to record, ns: a viewer waits at most this long, and checking delays operations only this
 * often. */
enum { POLL_NS = 50 * 1000 * 1000 };

/* No more checks. */
#define NEVER UINT64_MAX

static void note_waiting(dome_transport *transport, int rank, uint64_t start, uint64_t took)
{
    const dome_env *env = transport->owner;
    dome__trace_wait(env->trace, rank, start, took);
}

static void set_trace(dome_env *env, dome_trace *trace)
{
    env->trace = trace;
    if (env->transport)
        env->transport->waited = trace ? note_waiting : NULL;
}

static void stand(dome_env *env, dome_trace *trace)
{
    dome__trace_stand(trace, env);
    dome__trace_on_totals(trace, dome__region_profile_record, env);
}

static char *command_of(void *ctx)
{
    const dome_env *env = ctx;
    return g_strdup(env->recording.recorder->command);
}

static void end(dome_env *env);

/* Called before the recording's destination is closed: stops the thread that writes to it. */
static void recording_ends(void *ctx)
{
    end(ctx);
}

/* A forked child stops recording: it is not the program. */
static void leave_fork(void)
{
    dome_env *env = dome__this_env();
    if (!env || !env->recording.recorder)
        return;
    dome__demand_forget(env->recording.recorder->demand);
    env->recording.recorder->demand = NULL;
    env->recording.poll_at = NEVER;
    set_trace(env, NULL);
}

/* Prepares --dome-trace and recordings on demand for a program of one task. */
static void prepare_alone(dome_env *env, const char *path, char *command)
{
    static bool registered;
    dome_recorder *r = env->recording.recorder = g_new0(dome_recorder, 1);
    r->pid = getpid();
    r->command = command;
    r->demand = dome__demand_open(command_of, recording_ends, env);
    if (!registered)
        pthread_atfork(NULL, NULL, leave_fork);
    registered = true;
    if (!path)
        return;
    r->sink = dome__trace_sink_open(path, command, g_getenv(DOME_VARIABLE_TRACE_APPEND) != NULL);
    r->local = dome__trace_local_start(env->trace, r->sink);
    dome__demand_lend(r->demand, dome__trace_sink_path(r->sink));
}

bool dome__recording_prepare(dome_env *env, int rank, char **arguments, char **message)
{
    char *path = env->options.trace ? g_canonicalize_filename(env->options.trace, NULL) : NULL;
    char *command = arguments ? g_strjoinv(" ", arguments) : NULL;
    bool good = !path || rank != 0 || dome__trace_path_good(path, message);
    env->recording.poll_at = NEVER;
    if (good && path)
        env->trace = dome__trace_new(rank, 0);
    if (good && !env->watch)
        prepare_alone(env, path, g_steal_pointer(&command));
    else if (good && path)
        dome__watch_trace(env->watch, env->trace, rank == 0 ? path : NULL, command, g_getenv(DOME_VARIABLE_TRACE_APPEND) != NULL);
    g_free(path);
    g_free(command);
    return good;
}

void dome__recording_stand(dome_env *env)
{
    set_trace(env, env->trace);
    stand(env, env->trace);
    if (env->recording.recorder ? env->recording.recorder->demand != NULL : !env->trace)
        env->recording.poll_at = 0;
}

/* ---- on demand ---- */

static void begin(dome_env *env, uint32_t number)
{
    dome_trace *trace = dome__trace_new(env->rank, number);
    dome_recorder *r = env->recording.recorder;
    if (r)
        r->local = dome__trace_local_start(trace, dome__demand_sink(r->demand));
    else if (!dome__watch_record(env->watch, trace)) { /* the previous recording is still being sent to the hub */
        dome__trace_free(trace);
        return;
    }
    env->recording.number = number;
    stand(env, trace);
    dome_trace_before before = {.ran_ns = dome__clock_ran_ns(env)};
    double age = 0;
    if (dome__checkpoint_last(env, &before.checkpoint, &age)) {
        before.checkpoints = true;
        before.checkpoint_ns = (uint64_t)(age * 1e9);
    }
    if (env->balance) {
        dome_balance_report report;
        dome__balance_report(env->balance, &report);
        before.imbalance = report.imbalance_last;
    }
    dome__trace_catch_up(trace, &before);
    set_trace(env, trace);
}

static void end(dome_env *env)
{
    dome_trace *trace = env->trace;
    if (!env->recording.number)
        return;
    dome_recorder *r = env->recording.recorder;
    dome__trace_flush(trace);
    if (r) {
        dome__trace_local_stop(g_steal_pointer(&r->local), NULL);
        dome__trace_free(trace);
    } else if (!dome__watch_record(env->watch, NULL)) {
        return;
    }
    env->recording.number = 0;
    set_trace(env, NULL);
}

void dome__recording_poll(dome_env *env)
{
    dome_recorder *r = env->recording.recorder;
    uint32_t wanted = r ? dome__demand_step(r->demand) : dome__watch_wanted(env->watch);
    env->recording.poll_at = dome__now_ns() + POLL_NS;
    if (r && r->sink)
        return;
    if (wanted != env->recording.number)
        end(env);
    if (!env->recording.number && wanted)
        begin(env, wanted);
}

void dome__recording_finish(dome_env *env)
{
    env->recording.poll_at = NEVER;
    dome__trace_flush(env->trace);
}

void dome__recording_close(dome_env *env, int exit_status, const char *failure)
{
    dome_recorder *r = env->recording.recorder;
    if (!r || r->pid != getpid())
        return;
    env->recording.poll_at = NEVER;
    dome__trace_local_stop(g_steal_pointer(&r->local), failure);
    dome__trace_sink_close(g_steal_pointer(&r->sink), exit_status, env->supervised);
    dome__demand_close(g_steal_pointer(&r->demand), exit_status);
    dome__trace_free(g_steal_pointer(&env->trace));
    env->recording.recorder = NULL;
    g_free(r->command);
    g_free(r);
}
