/* Writing checkpoints beside the program, and processing their results. */
#include "ckpt/checkpoint_private.h"
#include "ckpt/restart_source.h"
#include "ckpt/state.h"
#include "store/windows.h"
#include "trace/record.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <inttypes.h>
#include <stdio.h>

/* Weight of a new measurement of the cost. */
static const double COST_WEIGHT = 0.5;

/* The number of checkpoints without deltas after one whose blocks had changed too much for them. */
enum { WITHOUT_DELTAS = 7 };

/* A chain of deltas ends when its files together are larger than this part of all data. (A file that would make them larger than
 * half is written with whole blocks instead, at more cost: the tasks have copied only what has changed, so rank 0 reads the
 * rest.) */
enum { CHAIN_PART = 4 };

/* Reports a failure once, and once more if the failures continue. */
static void tell_failure(dome_env *env, uint64_t number, const char *reason)
{
    dome_checkpoints *c = env->checkpoints;
    c->writing.failures++;
    if (c->writing.failures == 1)
        dome__checkpoint_say(env, "checkpoint %" PRIu64 " was not written: %s; the program goes on%s", number, reason,
                             c->previous ? ", and the checkpoint before stays" : " without one");
    else if (c->writing.failures == 2)
        dome__checkpoint_say(env, "checkpoint %" PRIu64 " was not written either: %s; this is not said again until one is",
                             number, reason);
}

void dome__checkpoint_tell_left_out(dome_env *env, const char *why, bool ends)
{
    dome_checkpoints *c = env->checkpoints;
    if (c->writing.left_out && !ends)
        return;
    c->writing.left_out = true;
    if (c->directory)
        dome__checkpoint_say(env, "checkpoint %" PRIu64 " is left out: %s%s", c->number, why,
                             ends ? "; the program ends without it" : "");
    else
        dome__checkpoint_say(env, "the state of loop boundary %" PRIu64 " is not kept for --on-loss tell: %s", c->loop, why);
}

bool dome__checkpoint_ends_chain(const dome_ckpt *ckpt)
{
    uint64_t data = 0;
    for (uint64_t i = 0; ckpt->chain > 0 && i < ckpt->entries; i++)
        data += ckpt->table[i].length;
    return ckpt->chain == DOME_CKPT_CHAIN_MAX || dome__ckpt_chain_bytes(ckpt) > data / CHAIN_PART;
}

static void note_deltas(dome_checkpoints *c, const dome_ckpt_job *job)
{
    if (job->tried_deltas)
        c->writing.whole = job->ckpt->windows ? 0 : WITHOUT_DELTAS;
    else if (c->writing.whole > 0)
        c->writing.whole--;
    c->full = dome__checkpoint_ends_chain(job->ckpt);
}

/* On rank 0: processes the result of a job. */
static void conclude(dome_env *env, dome_ckpt_job *job, double pause)
{
    dome_checkpoints *c = env->checkpoints;
    uint64_t number = job->ckpt->number;
    if (job->written) {
        env->hooks->saved(env, number);
        note_deltas(c, job);
        dome__ckpt_free(c->previous);
        c->previous = dome__checkpoint_in_pieces(c) ? NULL : g_steal_pointer(&job->ckpt);
        c->number = number + 1;
        c->full |= dome__checkpoint_in_pieces(c); /* a lost directory's blocks cannot be referred to */
        dome__ckpt_free(g_steal_pointer(&job->ckpt));
        if (c->restart.doubted)
            dome__restart_trust(c->directory);
        c->restart.doubted = false;
        c->writing.mostly_same = job->mostly_same;
        c->writing.failures = 0;
        c->writing.left_out = false;
        c->report.written++;
        c->writing.written_at = dome_wtime();
        c->report.bytes += job->data_bytes;
        c->report.thread += job->cost;
        const bool waits = env->options.checkpoint.copy == DOME_CHECKPOINT_WAIT; /* for the thread */
        double cost = (waits ? 0 : job->cost) + pause;
        c->writing.cost = c->writing.cost > 0 ? (1 - COST_WEIGHT) * c->writing.cost + COST_WEIGHT * cost : cost;
        if (job->message)
            dome__checkpoint_say(env, "%s", job->message);
    } else {
        c->full = true;
        c->report.failed++;
        dome__trace_checkpoint_failed(env->trace, number);
        if (!job->lost || c->writing.unreachable) /* the loss of tasks is reported elsewhere, and ends the program soon */
            tell_failure(env, number, job->message);
        c->writing.unreachable = job->lost;
        dome__ckpt_free(job->ckpt);
        if (job->previous_damaged) {
            dome__ckpt_free(c->previous);
            c->previous = NULL;
        }
    }
    g_free(job->message);
}

void dome__checkpoint_take_result(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c->writing.under_way)
        return;
    c->writing.under_way = false;
    if (env->rank == 0) {
        conclude(env, &c->writing.job, c->writing.job_pause);
        return;
    }
    if (c->writing.job.message && !c->writing.unreachable && c->link.altered(c->link.ctx)) { /* task 0 cannot know */
        dome__checkpoint_say(env, "%s", c->writing.job.message);
        c->writing.unreachable = true;
    }
    g_free(c->writing.job.message);
}

void dome__checkpoint_finish_writing(dome_env *env)
{
    dome__ckpt_background_wait(env->checkpoints->background);
    dome__checkpoint_take_result(env);
}

/* Called in the thread: writing files takes time. */
static void note_time(void *checkpoints)
{
    dome_checkpoints *c = checkpoints;
    c->writing.took = dome_wtime() - c->writing.job_began;
    dome__run_write(c, true, NULL);
}

/* The program has stopped at this time, and waits until all is written, or goes on. */
static void begin_job(dome_checkpoints *c, double stopped, bool waits)
{
    c->writing.job_pause = dome_wtime() - stopped;
    dome__ckpt_background_write(c->background, &c->writing.job, c->writing.job_pause);
    if (!waits)
        return;
    dome__ckpt_background_wait(c->background);
    c->writing.job_pause = dome_wtime() - stopped;
}

int dome__checkpoint_begin_writing(dome_env *env, uint64_t number, bool full)
{
    dome_checkpoints *c = env->checkpoints;
    uint64_t stopped = dome__now_ns();
    dome__checkpoint_finish_writing(env);
    int status = dome__state_meet(env);
    if (status != DOME_OK)
        return status;
    double begin = c->writing.job_began = dome_wtime();
    c->writing.saved_loop = c->loop;
    dome__checkpoint_copy(env, full);
    uint64_t bytes = c->snapshot.used; /* from here on the snapshot belongs to the thread */
    c->writing.job = (dome_ckpt_job){.directory = c->directory,
                                     .snapshot = &c->snapshot,
                                     .pieces = dome__checkpoint_in_pieces(c) ? &c->pieces : NULL,
                                     .store = c->store,
                                     .keep = env->options.checkpoint.keep};
    if (env->rank == 0) {
        char *problem = NULL;
        c->writing.job.ckpt = dome__state_describe(env, c->program, number, c->loop, &problem);
        if (problem && !c->snapshot.problem)
            c->snapshot.problem = problem;
        const dome_checkpoint_mode mode = env->options.checkpoint.mode;
        c->writing.job.previous = mode == DOME_CHECKPOINT_BASIC ? NULL : c->previous;
        c->writing.job.full = full;
        c->writing.job.uncompared = mode != DOME_CHECKPOINT_ACCURATE;
        c->writing.job.eager = !c->writing.mostly_same || c->writing.job.uncompared;
        c->writing.job.deltas =
            mode == DOME_CHECKPOINT_ACCURATE && env->options.checkpoint.deltas == DOME_DELTAS_AUTO && c->writing.whole == 0;
        c->writing.job.then = note_time;
        c->writing.job.then_ctx = c;
    }
    c->writing.under_way = true;
    begin_job(c, begin, env->options.checkpoint.copy == DOME_CHECKPOINT_WAIT);
    c->report.pause += c->writing.job_pause;
    c->report.longest_pause = MAX(c->report.longest_pause, c->writing.job_pause);
    dome__trace_checkpoint(env->trace, number, stopped, bytes);
    if (env->options.checkpoint.copy == DOME_CHECKPOINT_WAIT && (status = dome__barrier(env->transport)) != DOME_OK)
        return dome__fail_transport(env, status); /* task 0 has made it a checkpoint last */
    return dome__state_meet(env);
}

/* ---- what others ask ---- */

double dome__checkpoint_cost(const dome_checkpoints *c)
{
    return c->writing.cost;
}

double dome__checkpoint_took(const dome_checkpoints *c)
{
    return c->writing.took;
}

bool dome__checkpoint_saved_here(const dome_checkpoints *c)
{
    return c->writing.saved_loop == c->loop;
}

bool dome__checkpoint_last(const dome_env *env, uint64_t *number, double *age)
{
    const dome_checkpoints *c = env->checkpoints;
    if (!c || env->rank != 0 || !c->report.written)
        return false;
    *number = c->number - 1;
    *age = dome_wtime() - c->writing.written_at;
    return true;
}

/* ---- what each task keeps for itself ---- */

bool dome__checkpoint_has_kept(const dome_checkpoints *c)
{
    return c->writing.kept_any;
}

/* Called while the program waits: there is nothing to do beside it. */
int dome__checkpoint_keep(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    char *why = NULL;
    const double begin = dome_wtime();
    fflush(stdout); /* as for a checkpoint */
    int status = dome__state_meet(env);
    if (status == DOME_OK)
        status = dome__kept_write(c->kept, c->program, c->loop, &why); /* ends when all tasks have written */
    const double cost = dome_wtime() - begin;
    if (status == DOME_OK && !why) {
        c->writing.kept_any = true;
        c->writing.unkept = c->writing.left_out = false;
        if (!c->directory)
            c->writing.cost = c->writing.cost > 0 ? (1 - COST_WEIGHT) * c->writing.cost + COST_WEIGHT * cost : cost;
    } else if (status == DOME_OK && !c->writing.unkept) {
        c->writing.unkept = true;
        if (env->rank == 0)
            dome__checkpoint_say(
                env, "the state of loop boundary %" PRIu64 " is not kept for --on-loss tell: %s; the program goes on%s", c->loop,
                why, c->writing.kept_any ? ", and the state before stays" : "");
    }
    g_free(why);
    return status;
}
