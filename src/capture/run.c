#include "capture/capture.h"
#include "ckpt/checkpoint.h"
#include "core/environment.h"
#include "heap/dangling.h"
#include "heap/die.h"

#include <math.h>

double dome__capture_seconds_due(dome_env *env)
{
    return env->options.checkpoint.unit == DOME_CHECKPOINT_LOOPS ? INFINITY : dome__checkpoint_due(env);
}

static void restore(const dome_capture_way *way, const dome_capture_run *r)
{
    static const char cannot[] = "the program cannot go on from the checkpoint";
    char *problem = dome__capture_image_object_restore(r->image);
    if (problem)
        dome__capture_die("%s: %s", cannot, problem);
    const bool first = r->env->rank == 0 && dome_epoch(r->env) == 0;
    dome__capture_tell(r->env, first ? dome__capture_image_object_say_changed(r->image) : NULL);
    way->restored();
    dome__capture_mark_restored();
    if (dome__capture_call_back(DOME_CAPTURE_AFTER_RESTART) != 0)
        dome__capture_die("%s: one of its functions (dome_capture_on) refused it", cannot);
    dome__capture_status_set(DOME_CAPTURE_RESUMING);
}

/* A program without calls of Dome that writes no checkpoint needs no image; a Dome program may enter another view. */
static void open_image(const dome_capture_way *way, dome_capture_run *r)
{
    const char *name = way->calls_dome ? DOME_CAPTURE_PROGRAM_NAME : DOME_CAPTURE_IMAGE_NAME;
    const bool restarts = dome_is_restarting(r->env);
    char *problem = NULL;
    if (!way->calls_dome && !r->env->checkpoints)
        return;
    if (restarts && dome__checkpoint_saved_length(r->env, name) == 0)
        dome__capture_die("%s", way->without_image);
    r->image = dome__capture_image_object_new(r->env, way->calls_dome, &problem);
    if (!r->image)
        dome__capture_die("the program cannot go on from the checkpoint: %s", problem);
    if (restarts)
        restore(way, r);
}

/* Main has returned. True: captured. */
static bool is_captured(void)
{
    if (dome_capture_status & DOME_CAPTURE_RESUMING)
        dome__capture_die("the program does not resume as it was captured: main returned");
    if (!(dome_capture_status & DOME_CAPTURE_CAPTURING))
        return false;
    if (dome__capture_record_count() == 0)
        dome__capture_die("main returned captured, without dome_capture_push");
    return true;
}

int dome__capture_run(const dome_capture_way *way, int argc, char **argv, int (*program)(int argc, char **argv))
{
    dome_capture_run *r = &dome__capture->run;
    dome__capture_modules_complete();
    dome__capture_name_program();
    r->env = way->start(&argc, &argv);
    dome__capture_dangling_begin(__builtin_frame_address(0));
    open_image(way, r);
    way->begin();
    if (!dome_capture_restored())
        argv = dome__capture_copy_arguments(argc, argv);
    for (;;) {
        dome__capture_library_restore();
        r->active = true;
        const int status = program(argc, argv);
        r->active = false;
        if (!is_captured())
            return status;
        dome__capture_status_clear(DOME_CAPTURE_CAPTURING);
        dome__capture_count_capture();
        dome__capture_library_save();
        way->save();
        dome__capture_status_set(DOME_CAPTURE_RESUMING);
    }
}
