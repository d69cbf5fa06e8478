/* A Dome program that is saved inside its calls: dome_checkpoint may be called anywhere, and after a restart, or in another view,
 * the program goes on behind that call. Until something is due, the call is as in any program; then all functions return, and
 * what they have becomes an object of the checkpoint. */
#include "capture/capture.h"
#include "ckpt/checkpoint.h"
#include "core/environment.h"
#include "heap/die.h"
#include "program/boundary.h"

#include <dome/env.h>

#include <math.h>

/* Seconds until a checkpoint that could not be written is tried again. */
static const double AGAIN_SECONDS = 0.1;

/* ---- what the program calls ---- */

dome_env *dome_capture_init(int *argc, char ***argv)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    (void)argc, (void)argv; /* dome_init has got them already */
    if (p->given)
        dome__capture_die("dome_init: it has been called already");
    if (!r->env)
        dome__capture_die("dome_init: the program has not been started by dome_capture_dome_main");
    p->given = true;
    return r->env;
}

int dome_capture_finalize(dome_env *ends)
{
    dome_capture_run *r = &dome__capture->run;
    if (ends && ends == r->env) {
        dome__checkpoint_on_request(NULL);
        dome__capture_timer_stop();
        r->env = NULL;
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
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    const char *holder = dome__capture_holder();
    if (p->held_told || r->env->rank != 0)
        return;
    p->held_told = true;
    char *line =
        g_strdup_printf("dome_checkpoint: nothing is saved here, and the number of tasks stays: %s%s%s is active, which cannot "
                        "be saved (by #pragma dome hold, a variable number of arguments, or a callback)",
                        holder ? "'" : "a function", holder ? holder : "", holder ? "'" : "");
    r->env->hooks->say(r->env, line);
    g_free(line);
}

void dome_capture_poll_operations(void)
{
    dome_capture_parallel *p = &dome__capture->parallel;
    p->between = true;
}

/* Task 0 asks when the next checkpoint is due. */
static void set_timer(void)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    if (!p->between || r->env->rank != 0 || !r->env->checkpoints || !r->env->options.checkpoint.directory)
        return;
    const double seconds = dome__capture_seconds_due(r->env);
    dome__capture_timer_set(dome__checkpoint_asked() ? AGAIN_SECONDS : fmax(seconds, AGAIN_SECONDS / 10));
}

/* Whether this poll is to capture by the request of a task. With other tasks, the hub first chooses the poll. */
static bool take_request(void)
{
    dome_capture_run *r = &dome__capture->run;
    if (!(dome_capture_status & DOME_CAPTURE_REQUESTED))
        return false;
    dome__capture_status_clear(DOME_CAPTURE_REQUESTED);
    dome__capture_take_request();
    return dome__boundary_ask(r->env);
}

/* All tasks are here at the same number of polls. True: the program is captured. */
static bool poll(dome_status *status)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    bool due = false;
    const uint64_t before = r->env->position.sequence;
    *status = dome__boundary_poll(r->env, take_request(), &due);
    p->last_polled = r->env->position.sequence;
    if (due)
        dome__capture_status_set(DOME_CAPTURE_CAPTURING);
    else if (r->env->position.sequence != before)
        set_timer();
    return due;
}

/* It goes on here. */
static void resume(void)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    dome_capture_poll();
    p->last_polled = r->env->position.sequence;
    set_timer();
}

int dome_capture_operation(void)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    dome_status status;
    if (dome_capture_status & DOME_CAPTURE_RESUMING) {
        resume();
        return 0;
    }
    /* What this task alone calls is no operation, or does nothing. */
    if (!p->between || !r->active || !r->env || r->env->operation || r->env->position.sequence == p->last_polled ||
        dome__capture_held() > 1)
        return 0;
    return poll(&status);
}

dome_status dome_capture_checkpoint(dome_env *at)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    bool due = false;
    if (dome_capture_status & DOME_CAPTURE_RESUMING) {
        resume();
        return p->result;
    }
    if (!at || at != r->env || at->operation)
        return dome_checkpoint(at); /* which says what is wrong */
    if (!r->active)
        dome__capture_die("dome_checkpoint: it is called by a function of dome_capture_on, while the program is being saved");
    if (dome__capture_held() > 1) { /* a function is active that cannot be saved; the same on all tasks */
        tell_held();
        return DOME_OK;
    }
    dome_status status;
    if (p->between) {
        poll(&status);
        return status;
    }
    status = dome__boundary_reach(at, &due);
    if (due)
        dome__capture_status_set(DOME_CAPTURE_CAPTURING);
    return status;
}

/* ---- around the program ---- */

static dome_env *start(int *argc, char ***argv)
{
    dome_env *started = dome_init(argc, argv);
    dome__capture_streams_begin(); /* now that the task is in its directory */
    dome_capture_hold();           /* polls in between: all tasks are captured at the same call */
    if (started->options.loss.action == DOME_LOSS_TELL)
        dome__capture_die("--dome-on-loss tell: this program goes on inside its calls, where it cannot make again what is lost: "
                          "use --dome-on-loss heal");
    started->capture.keeps_all = true;
    return started;
}

static void restored(void)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    dome__checkpoint_recovered(r->env);
    dome__boundary_restored(r->env, dome__capture_image_object_differs(r->image));
    p->given = true;
}

static void begin(void)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    if (!p->between)
        return;
    if (r->env->rank == 0)
        dome__checkpoint_on_request(dome_capture_request);
    if (dome_epoch(r->env) > 0) /* a request may have come while there was no view */
        dome_capture_request();
    set_timer();
}

/* All functions have returned. Does not come back if the program enters another view. */
static void save(void)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_parallel *p = &dome__capture->parallel;
    const char *bound = NULL, *refused = NULL;
    if (dome__capture_call_back(DOME_CAPTURE_BEFORE_CHECKPOINT) != 0)
        refused = "a function of the program (dome_capture_on) refused it";
    p->result = dome__capture_image_object_take(r->image, refused, &bound);
    p->result = dome__boundary_pass(r->env, p->result, bound);
    if (r->env->rank == 0 && !p->between) /* behind any operation, variables may lead to what has just been freed */
        dome__capture_tell_dangling(r->env);
    dome__capture_image_object_leave(r->image);
    dome__capture_call_back(DOME_CAPTURE_AFTER_CHECKPOINT);
}

static const dome_capture_way way = {
    .calls_dome = true,
    .without_image = "the checkpoint has no image of a Dome program that was saved inside its calls",
    .start = start,
    .restored = restored,
    .begin = begin,
    .save = save,
};

int dome_capture_dome_main(int argc, char **argv, int (*program)(int argc, char **argv))
{
    if (!argv || !program)
        dome__capture_die("dome_capture_dome_main: argv or the program is NULL");
    return dome__capture_run(&way, argc, argv, program);
}
