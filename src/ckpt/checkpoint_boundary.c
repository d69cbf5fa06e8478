/* The loop boundary: whether a checkpoint is due, and at which boundary tasks check next. */
#include "ckpt/checkpoint_private.h"
#include "ckpt/interval.h"
#include "core/object_private.h"
#include "transport/transport.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

/* Tasks agree at some boundaries whether a checkpoint is due. To limit the cost this happens at most once in this many seconds.
 */
static const double CHECK_SECONDS = 0.1;

/* The number of boundaries between two checks grows by at most this factor: later loops may take longer. */
enum { CHECK_GROWTH = 4 };

/* Assumed for the first checkpoint: bytes per second that are written to a disk and to memory, and copied; and seconds. */
static const double DISK_SPEED = 200e6, MEMORY_SPEED = 1e9, COPY_SPEED = 1e9, FIRST_COST = 0.01;

/* Before the number of tasks changes, the program waits for so many seconds for a checkpoint, or for this share of what a loss
 * would cost without it. */
static const double CHANGE_SECONDS = 1, CHANGE_SHARE = 0.1;

static double expected_cost(const dome_env *env)
{
    const double speed = env->checkpoints->in_memory ? MEMORY_SPEED : DISK_SPEED;
    return (double)dome__checkpoint_bytes(env) / speed + FIRST_COST;
}

/* Seconds for which the program stops at most while this task copies. How large objects without a type are nobody knows before
 * (src/capture): not larger than all that the process has had. */
static double expected_pause(const dome_env *env)
{
    struct rusage usage;
    double bytes = (double)dome__checkpoint_own_bytes(env);
    if (dome__checkpoint_has_untyped(env) && getrusage(RUSAGE_SELF, &usage) == 0)
        bytes += 1024.0 * (double)usage.ru_maxrss;
    return bytes / COPY_SPEED;
}

/* Seconds from one checkpoint to the next; 0: by loops. */
static double interval(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    const dome_options *o = &env->options;
    if (o->checkpoint.unit == DOME_CHECKPOINT_LOOPS)
        return 0;
    if (o->checkpoint.unit == DOME_CHECKPOINT_SECONDS)
        return o->checkpoint.every;
    const double between = dome__time_between_failures(env);
    const double cost = dome__checkpoint_cost(c);
    if (cost > 0)
        return dome__interval_daly(cost, between);
    const double every = dome__interval_daly(expected_cost(env), between);
    return c->report.failed ? every : dome__interval_first(every, expected_pause(env));
}

/* The next boundary at which to check: soon enough for the next checkpoint, and for requests by signals. */
static uint64_t next_check(const dome_env *env, double now, double left)
{
    dome_checkpoints *c = env->checkpoints;
    uint64_t passed = MAX(c->loop - c->due.checked_loop, 1);
    double each = (now - c->due.checked) / (double)passed;
    double wait = left > 0 ? MIN(left / 2, CHECK_SECONDS) : 0;
    uint64_t most = passed * CHECK_GROWTH, gap = each > 0 && wait / each < (double)most ? (uint64_t)(wait / each) : most;
    if (env->size == 1)
        gap = 1;
    c->due.checked = now;
    c->due.checked_loop = c->loop;
    uint64_t next = c->loop + MAX(gap, 1);
    if (env->options.checkpoint.unit == DOME_CHECKPOINT_LOOPS) {
        uint64_t every = (uint64_t)env->options.checkpoint.every;
        next = MIN(next, (c->loop / every + 1) * every);
    }
    return next;
}

/* Whether the files to which the next checkpoint would refer still exist. */
static bool previous_is_there(const dome_checkpoints *c)
{
    bool there = true;
    for (guint i = 0; there && i <= c->previous->earlier->len; i++) {
        uint64_t number = i < c->previous->earlier->len ? g_array_index(c->previous->earlier, dome_ckpt_earlier, i).number
                                                        : c->previous->number;
        char *path = dome__ckpt_file_path(c->directory, number, c->previous->piece, c->previous->pieces);
        there = access(path, R_OK) == 0;
        g_free(path);
    }
    return there;
}

/* With an interval in loops all tasks know which boundaries have a checkpoint. */
static bool due_by_loops(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    return env->options.checkpoint.unit == DOME_CHECKPOINT_LOOPS &&
           (c->loop % (uint64_t)env->options.checkpoint.every == 0 || (c->due.again && c->loop >= c->due.next_check));
}

/* A program that went on from a checkpoint without objects would take values that it has not got for restored ones. */
static bool has_state(dome_env *env)
{
    for (const dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dome__object_is_named(o))
            return true;
    if (!env->checkpoints->due.empty)
        dome__checkpoint_say(env, "%s, since the program has no objects with names: a loss%s begins it from the beginning",
                             env->checkpoints->directory ? "no checkpoint is written" : "nothing of its state is kept",
                             env->checkpoints->directory ? ", or a restart," : "");
    env->checkpoints->due.empty = true;
    return false;
}

static dome_checkpoint_order decide(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (c->directory && !dome__ckpt_background_busy(c->background))
        dome__checkpoint_take_result(env); /* what the last one has cost, and for the hub's report */
    double now = dome_wtime(), every = interval(env), left = every > 0 ? every - (now - c->due.last) : CHECK_SECONDS;
    dome_checkpoint_order what = {.ending = dome__checkpoint_ending()};
    bool by_loops = due_by_loops(env);
    bool due = dome__checkpoint_asked() || what.ending || c->due.again || (every > 0 ? left <= 0 : by_loops);
    c->report.interval = every;
    /* With an interval in loops, the boundaries that have a checkpoint must not depend on the speed of the disk; otherwise there
     * is no need to wait for the previous one. */
    if (c->directory && due && (by_loops || what.ending))
        dome__checkpoint_finish_writing(env);
    else if (c->directory && due && dome__ckpt_background_busy(c->background))
        due = false;
    const bool first = c->kept && !dome__checkpoint_has_kept(c); /* the state before is of another view, or there is none */
    if (due) {
        dome__checkpoint_take_result(env);
        dome__checkpoint_answered();
        c->due.last = now;
        left = every > 0 ? every : CHECK_SECONDS;
    }
    what.keep = c->kept && (due || first) && has_state(env);
    if (c->directory && due && has_state(env)) {
        if (c->previous && !previous_is_there(c)) {
            dome__ckpt_free(c->previous);
            c->previous = NULL;
            c->full = true;
        }
        what.number = c->number;
        what.full = c->full || env->options.checkpoint.mode == DOME_CHECKPOINT_BASIC;
    }
    what.next = next_check(env, now, left);
    return what;
}

/* Counts a boundary. False: no checkpoints are written. */
static bool pass_boundary(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c)
        return false;
    c->loop++;
    c->due.order = (dome_checkpoint_order){0};
    dome__checkpoint_recovered(env);
    if (!c->directory && !c->kept) {
        dome__checkpoint_free(env);
        return false;
    }
    if (c->directory && !c->due.reserved) { /* by now the program has made its objects */
        c->due.reserved = true;
        dome__ckpt_background_reserve(c->background, c->store, &c->snapshot, dome__checkpoint_own_bytes(env));
    }
    return true;
}

void dome__checkpoint_due_begin(dome_checkpoints *c)
{
    c->due.last = c->due.checked = dome_wtime();
}

void dome__checkpoint_due_from(dome_checkpoints *c)
{
    c->due.next_check = c->due.checked_loop = c->loop;
}

/* Task 0 decides what is due, and tells all tasks. Collective. */
static int consult(dome_env *env, bool *due)
{
    dome_checkpoints *c = env->checkpoints;
    if (c->directory && due_by_loops(env))
        dome__checkpoint_finish_writing(env);
    dome_checkpoint_order what = {0};
    if (env->rank == 0)
        what = decide(env);
    uint64_t words[] = {what.number, what.full, what.next, what.ending, what.keep};
    double begin = dome_wtime();
    int status = dome__checkpoint_share(env, words, G_N_ELEMENTS(words), DOME_U64);
    c->report.consult += dome_wtime() - begin;
    if (status != DOME_OK)
        return status;
    c->due.order = (dome_checkpoint_order){words[0], words[1], words[2], words[3], words[4]};
    c->due.next_check = c->due.order.next;
    *due = c->due.order.number > 0 || c->due.order.keep || c->due.order.ending;
    return DOME_OK;
}

int dome__checkpoint_decide(dome_env *env, bool *due)
{
    *due = false;
    return pass_boundary(env) && env->checkpoints->loop >= env->checkpoints->due.next_check ? consult(env, due) : DOME_OK;
}

/* On rank 0. */
static bool is_worth_waiting(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    const double took = dome__checkpoint_took(c), takes = took > 0 ? took : expected_cost(env);
    return takes <= MAX(CHANGE_SECONDS, (dome_wtime() - c->due.last) * CHANGE_SHARE);
}

int dome__checkpoint_before_change(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    bool due = false;
    if (!c || !c->directory)
        return DOME_OK;
    dome__checkpoint_finish_writing(env);
    if (dome__checkpoint_saved_here(c)) /* it was due there; the same on all tasks */
        return DOME_OK;
    if (env->rank == 0 && is_worth_waiting(env))
        dome__checkpoint_ask();
    int status = consult(env, &due);
    if (status == DOME_OK)
        status = dome__checkpoint_carry_out(env);
    if (status == DOME_OK)
        dome__checkpoint_finish_writing(env);
    return status;
}

bool dome__checkpoint_pass(dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    return pass_boundary(env) && (due_by_loops(env) || (c->due.again && c->loop >= c->due.next_check));
}

int dome__checkpoint_consult(dome_env *env, bool asked, bool *due)
{
    *due = false;
    if (!env->checkpoints)
        return DOME_OK;
    if (asked && env->rank == 0)
        dome__checkpoint_ask();
    return consult(env, due);
}

bool dome__checkpoint_is_due(const dome_env *env)
{
    return env->checkpoints && env->checkpoints->due.order.number > 0;
}

bool dome__checkpoint_saves(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    return c && (c->due.order.number > 0 || c->due.order.keep);
}

bool dome__checkpoint_ends(const dome_env *env)
{
    return env->checkpoints && env->checkpoints->due.order.ending;
}

/* SIGTERM has requested it. */
static void end(dome_env *env)
{
    dome__checkpoint_finish_writing(env);
    if (env->rank == 0) {
        dome__run_write(env->checkpoints, false, NULL);
        dome__checkpoint_leave_signals(true);
    }
}

int dome__checkpoint_carry_out(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    if (!c)
        return DOME_OK;
    const dome_checkpoint_order what = c->due.order;
    c->due.order = (dome_checkpoint_order){0};
    int status = what.keep ? dome__checkpoint_keep(env) : DOME_OK;
    if (status != DOME_OK)
        return status;
    if (what.number > 0)
        status = dome__checkpoint_begin_writing(env, what.number, what.full != 0);
    if (status != DOME_OK)
        return status;
    if (what.number > 0 || what.keep)
        c->due.again = false;
    if (what.ending)
        end(env);
    return DOME_OK;
}

void dome__checkpoint_put_off(dome_env *env, uint64_t boundaries)
{
    dome_checkpoints *c = env->checkpoints;
    if (!dome__checkpoint_saves(env))
        return;
    c->due.again = true;
    c->due.order = (dome_checkpoint_order){0};
    c->due.next_check = c->loop + boundaries;
}

void dome__checkpoint_leave_out(dome_env *env, const char *why)
{
    dome_checkpoints *c = env->checkpoints;
    if (!dome__checkpoint_saves(env) && !(c && c->due.again))
        return;
    const bool ends = c->due.order.ending;
    c->due.again = false;
    c->due.order = (dome_checkpoint_order){0};
    c->report.failed++;
    if (env->rank == 0)
        dome__checkpoint_tell_left_out(env, why, ends);
    if (ends)
        end(env);
}

double dome__checkpoint_due(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    double every = c && c->directory ? interval(env) : 0;
    return every > 0 ? MAX(every - (dome_wtime() - c->due.last), 0) : INFINITY;
}

bool dome__checkpoint_busy(const dome_env *env)
{
    return dome__ckpt_background_busy(env->checkpoints->background);
}

void dome__checkpoint_want(dome_env *env, uint64_t loops)
{
    dome_checkpoints *c = env->checkpoints;
    c->due.reserved = true; /* the thread need not make room first, for which a boundary would not wait */
    dome__checkpoint_finish_writing(env);
    dome__checkpoint_ask();
    if (loops > 0)
        c->loop = c->due.checked_loop = c->due.next_check = loops - 1; /* it may be less than at the boundary before a restart */
}
