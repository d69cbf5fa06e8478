/* A Dome program that is saved inside its calls: dome_checkpoint may be called anywhere, and after a restart, or in another view,
 * the program goes on behind that call. Until something is due, the call is as in any program; then all functions return, and
 * what they have becomes an object of the checkpoint. */
#include "capture/events.h"
#include "capture/frames.h"
#include "capture/library.h"
#include "capture/modules.h"
#include "capture/shared.h"
#include "capture/status.h"
#include "capture/streams.h"
#include "ckpt/checkpoint.h"
#include "core/environment.h"
#include "heap/die.h"
#include "heap/gone.h"
#include "program/boundary.h"

#include <dome/env.h>

#include <math.h>

static dome_env *env;
static dome_capture_shared *image;
static bool given;  /* the program has called dome_init */
static bool active; /* its main has been called, and has not returned */
static dome_status result;

static bool between;         /* it polls behind its operations, too */
static uint64_t last_polled; /* the number of the operation behind which it has polled last */

/* Seconds until a checkpoint that could not be written is tried again. */
static const double AGAIN_SECONDS = 0.1;

/* ---- what the program calls ---- */

dome_env *dome_capture_init(int *argc, char ***argv)
{
    (void)argc, (void)argv; /* dome_init has got them already */
    if (given)
        dome__capture_die("dome_init: it has been called already");
    if (!env)
        dome__capture_die("dome_init: the program has not been started by dome_capture_dome_main");
    given = true;
    return env;
}

int dome_capture_finalize(dome_env *ends)
{
    if (ends && ends == env) {
        dome__checkpoint_on_request(NULL);
        dome__capture_timer_stop();
        env = NULL;
    }
    return dome_finalize(ends);
}

bool dome_capture_is_restarting(const dome_env *of)
{
    (void)of; /* it goes on where it was */
    return false;
}

/* Once. */
static void tell_held(void)
{
    static bool told;
    const char *holder = dome__capture_holder();
    if (told || env->rank != 0)
        return;
    told = true;
    char *line =
        g_strdup_printf("dome_checkpoint: nothing is saved here, and the number of tasks stays: %s%s%s is active, which cannot "
                        "be saved (by #pragma dome hold, a variable number of arguments, or a callback)",
                        holder ? "'" : "a function", holder ? holder : "", holder ? "'" : "");
    env->hooks->say(env, line);
    g_free(line);
}

void dome_capture_poll_operations(void)
{
    between = true;
}

/* Task 0 asks when the next checkpoint is due. */
static void set_timer(void)
{
    if (!between || env->rank != 0 || !env->checkpoints || !env->options.checkpoint.directory)
        return;
    const bool by_polls = env->options.checkpoint.unit == DOME_CHECKPOINT_LOOPS;
    const double seconds = by_polls ? INFINITY : dome__checkpoint_due(env);
    dome__capture_timer_set(dome__checkpoint_asked() ? AGAIN_SECONDS : fmax(seconds, AGAIN_SECONDS / 10));
}

/* Whether this poll is to capture by the request of a task. With other tasks, the hub first chooses the poll. */
static bool take_request(void)
{
    if (!(dome_capture_status & DOME_CAPTURE_REQUESTED))
        return false;
    dome__capture_status_clear(DOME_CAPTURE_REQUESTED);
    dome__capture_take_request();
    return dome__boundary_ask(env);
}

/* All tasks are here at the same number of polls. True: the program is captured. */
static bool poll(dome_status *status)
{
    bool due = false;
    const uint64_t before = env->position.sequence;
    *status = dome__boundary_poll(env, take_request(), &due);
    last_polled = env->position.sequence;
    if (due)
        dome__capture_status_set(DOME_CAPTURE_CAPTURING);
    else if (env->position.sequence != before)
        set_timer();
    return due;
}

/* It goes on here. */
static void resume(void)
{
    dome_capture_poll();
    last_polled = env->position.sequence;
    set_timer();
}

int dome_capture_operation(void)
{
    dome_status status;
    if (dome_capture_status & DOME_CAPTURE_RESUMING) {
        resume();
        return 0;
    }
    /* What this task alone calls is no operation, or does nothing. */
    if (!between || !active || !env || env->operation || env->position.sequence == last_polled || dome__capture_held() > 1)
        return 0;
    return poll(&status);
}

dome_status dome_capture_checkpoint(dome_env *at)
{
    bool due = false;
    if (dome_capture_status & DOME_CAPTURE_RESUMING) {
        resume();
        return result;
    }
    if (!at || at != env || at->operation)
        return dome_checkpoint(at); /* which says what is wrong */
    if (!active)
        dome__capture_die("dome_checkpoint: it is called by a function of dome_capture_on, while the program is being saved");
    if (dome__capture_held() > 1) { /* a function is active that cannot be saved; the same on all tasks */
        tell_held();
        return DOME_OK;
    }
    dome_status status;
    if (between) {
        poll(&status);
        return status;
    }
    status = dome__boundary_reach(at, &due);
    if (due)
        dome__capture_status_set(DOME_CAPTURE_CAPTURING);
    return status;
}

/* ---- around the program ---- */

static void restore(void)
{
    char *problem = dome__capture_shared_restore(image);
    if (problem)
        dome__capture_die("the program cannot go on from the checkpoint: %s", problem);
    dome__capture_tell(env, env->rank == 0 && dome_epoch(env) == 0 ? dome__capture_shared_say_changed(image) : NULL);
    dome__checkpoint_recovered(env);
    dome__boundary_restored(env, dome__capture_shared_differs(image));
    given = true;
    dome__capture_mark_restored();
    if (dome__capture_call_back(DOME_CAPTURE_AFTER_RESTART) != 0)
        dome__capture_die("the program cannot go on from the checkpoint: one of its functions (dome_capture_on) refused it");
    dome__capture_status_set(DOME_CAPTURE_RESUMING);
}

static void begin(void)
{
    const bool restarts = dome_is_restarting(env);
    if (env->options.loss.action == DOME_LOSS_TELL)
        dome__capture_die("--dome-on-loss tell: this program goes on inside its calls, where it cannot make again what is lost: "
                          "use --dome-on-loss heal");
    if (restarts && dome__checkpoint_saved_length(env, DOME_CAPTURE_PROGRAM_NAME) == 0)
        dome__capture_die("the checkpoint has no image of a Dome program that was saved inside its calls");
    env->capture.keeps_all = true;
    image = dome__capture_shared_new(env);
    if (restarts)
        restore();
    if (!between)
        return;
    if (env->rank == 0)
        dome__checkpoint_on_request(dome_capture_request);
    if (dome_epoch(env) > 0) /* a request may have come while there was no view */
        dome_capture_request();
    set_timer();
}

/* All functions have returned. Does not come back if the program enters another view. */
static void pass(void)
{
    const char *bound = NULL, *refused = NULL;
    if (dome__capture_call_back(DOME_CAPTURE_BEFORE_CHECKPOINT) != 0)
        refused = "a function of the program (dome_capture_on) refused it";
    result = dome__capture_shared_take(image, refused, &bound);
    result = dome__boundary_pass(env, result, bound);
    if (env->rank == 0 && !between) /* behind any operation, variables may lead to what has just been freed */
        dome__capture_tell_dangling(env);
    dome__capture_shared_leave(image);
    dome__capture_call_back(DOME_CAPTURE_AFTER_CHECKPOINT);
}

int dome_capture_dome_main(int argc, char **argv, int (*program)(int argc, char **argv))
{
    if (!argv || !program)
        dome__capture_die("dome_capture_dome_main: argv or the program is NULL");
    dome__capture_modules_complete();
    dome__capture_name_program();
    env = dome_init(&argc, &argv);
    dome__capture_streams_begin(); /* now that the task is in its directory */
    dome__capture_gone_begin(__builtin_frame_address(0));
    dome_capture_hold(); /* polls in between: all tasks are captured at the same call */
    begin();
    if (!dome_capture_restored())
        argv = dome__capture_copy_arguments(argc, argv);
    for (;;) {
        dome__capture_library_restore();
        active = true;
        int status = program(argc, argv);
        active = false;
        if (dome_capture_status & DOME_CAPTURE_RESUMING)
            dome__capture_die("the program does not resume as it was captured: main returned");
        if (!(dome_capture_status & DOME_CAPTURE_CAPTURING))
            return status;
        if (dome__capture_record_count() == 0)
            dome__capture_die("main returned captured, without dome_capture_push");
        dome__capture_status_clear(DOME_CAPTURE_CAPTURING);
        dome__capture_count_capture();
        dome__capture_library_save();
        pass();
        dome__capture_status_set(DOME_CAPTURE_RESUMING);
    }
}
