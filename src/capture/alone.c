/* dome_capture_main: calls the program, writes the image each time it returns captured, and calls it again. */
#include "capture/events.h"
#include "capture/foreign.h"
#include "capture/frames.h"
#include "capture/image.h"
#include "capture/library.h"
#include "capture/modules.h"
#include "capture/status.h"
#include "capture/streams.h"
#include "ckpt/checkpoint.h"
#include "core/environment.h"
#include "core/hooks.h"
#include "heap/die.h"
#include "heap/gone.h"
#include "heap/heap.h"
#include "heap/lent.h"
#include "options/option_parse.h"

#include <dome/env.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds until a checkpoint that could not be written is tried again: at first, and in the end. */
static const double AGAIN_SECONDS = 1, AGAIN_MOST = 60;

static dome_env *env;
static dome_capture_image *image;
static GPtrArray *refusals; /* that have been told, the last ones */
static double again;        /* seconds until the next try */
static pid_t process;

/* ---- checkpoints ---- */

static bool writes(void)
{
    return env->checkpoints && env->options.checkpoint_dir;
}

/* Why there can be no checkpoint now; NULL: there can. */
static char *refusal(void)
{
    if (dome__capture_call_back(DOME_CAPTURE_BEFORE_CHECKPOINT) != 0)
        return g_strdup("a function of the program (dome_capture_on) refused it");
    char *directory = g_canonicalize_filename(env->options.checkpoint_dir, NULL), *found = dome__capture_foreign_find(directory),
         *text = NULL;
    g_free(directory);
    if (found)
        text = g_strdup_printf("the program has %s, which cannot be saved", found);
    g_free(found);
    return text ? text : dome__capture_image_take(image);
}

/* Whether two texts are alike but for numbers: of blocks, elements, descriptors. */
static bool is_alike(const char *a, const char *b)
{
    while (*a && *b) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b)
            return false;
        a += *a != '\0';
        b += *b != '\0';
    }
    return *a == *b;
}

static bool is_told(const char *text)
{
    for (guint k = 0; refusals && k < refusals->len; k++)
        if (is_alike(refusals->pdata[k], text))
            return true;
    return false;
}

/* Once, however often the reasons take turns. Takes over the text. */
static void tell_refusal(char *text)
{
    enum { MOST = 16 };
    if (is_told(text)) {
        g_free(text);
        return;
    }
    char *line = g_strdup_printf("no checkpoint was written: %s; the program goes on", text);
    env->hooks->say(env, line);
    g_free(line);
    if (!refusals)
        refusals = g_ptr_array_new_with_free_func(g_free);
    if (refusals->len == MOST)
        g_ptr_array_remove_index(refusals, 0);
    g_ptr_array_add(refusals, text);
}

static void set_timer(double least)
{
    if (!writes())
        return;
    const bool by_polls = env->options.checkpoint_unit == DOME_CHECKPOINT_LOOPS;
    double seconds = by_polls ? INFINITY : dome__checkpoint_due(env);
    if (dome__checkpoint_asked()) /* the one before was still being written */
        seconds = 0;
    dome__capture_timer_set(fmax(seconds, least));
}

/* All functions have returned: writes a checkpoint. */
static void save(void)
{
    if (!writes())
        return;
    if (!dome__capture_requested() && dome__checkpoint_busy(env)) { /* due by time: when the one before has been written */
        set_timer(AGAIN_SECONDS / 10);
        return;
    }
    char *text = refusal();
    const bool refused = text != NULL;
    if (refused) {
        tell_refusal(text);
    } else {
        const bool by_polls = env->options.checkpoint_unit == DOME_CHECKPOINT_LOOPS;
        if (dome__capture_take_request()) /* else it is due by time, if the one before has been written */
            dome__checkpoint_want(env, by_polls ? dome_capture_polls() : 0);
        if (dome_checkpoint(env) != DOME_OK)
            dome__capture_die("%s", dome_error_message(env));
    }
    dome__capture_call_back(DOME_CAPTURE_AFTER_CHECKPOINT);
    again = refused ? fmin(fmax(2 * again, AGAIN_SECONDS), AGAIN_MOST) : 0; /* looking for what cannot be saved takes time */
    set_timer(refused ? again : AGAIN_SECONDS / 100);
}

static void tell_input(void)
{
    const uint64_t bytes = dome__capture_streams_input_read();
    char *line = g_strdup_printf("standard input was a file when the program was saved, read up to byte %" PRIu64
                                 ", and is none now: the program takes all that it is given for what follows",
                                 bytes);
    if (bytes)
        env->hooks->say(env, line);
    g_free(line);
}

static void restore(void)
{
    char *problem = dome__capture_image_restored(image);
    if (problem)
        dome__capture_die("the program cannot go on from the checkpoint: %s", problem);
    dome__capture_mark_restored();
    dome__capture_clocks_restore();
    dome__capture_tell(env, dome__capture_image_say_changed(image));
    tell_input();
    if (dome__capture_call_back(DOME_CAPTURE_AFTER_RESTART) != 0)
        dome__capture_die("the program cannot go on from the checkpoint: one of its functions (dome_capture_on) refused it");
    dome__capture_status_set(DOME_CAPTURE_RESUMING);
}

static void open_image(void)
{
    if (!env->checkpoints)
        return;
    const bool restarts = dome_is_restarting(env);
    uint64_t saved = restarts ? dome__checkpoint_saved_length(env, DOME_CAPTURE_IMAGE_NAME) : 0;
    if (restarts && saved == 0)
        dome__capture_die("the checkpoint is not of a program that was captured: it has no image");
    image = dome__capture_image_new(saved);
    dome_set_errors_return(env);
    if (dome_object_new(env, DOME_CAPTURE_IMAGE_NAME, &dome__capture_image_ops, image)) {
        if (restarts)
            restore();
        return;
    }
    char *text = g_strdup(dome_error_message(env));
    const char *problem = dome__capture_image_problem(image);
    dome__capture_die("the program cannot go on from the checkpoint: %s", problem ? problem : text);
}

/* ---- the program ---- */

static void finish(void)
{
    if (process != getpid()) /* a child that the program has forked ends by itself */
        return;
    dome_env *ends = g_steal_pointer(&env);
    if (!ends || dome__this_env() != ends)
        return;
    dome__checkpoint_on_request(NULL);
    dome__capture_timer_stop();
    dome_finalize(ends);
    image = NULL;
}

/* Said here, because dome_init would name the option that start adds, or start PVM. */
static void refuse_tasks(int argc, char **argv)
{
    dome_options options;
    if (!dome__options_look(&options, argc, argv)) /* dome_init says what is wrong */
        return;
    if (options.tasks > 1 || g_strcmp0(options.transport, "pvm") == 0)
        dome__capture_die("a program that does not call dome_init is one task: leave out %s",
                          options.tasks > 1 ? "--dome-tasks" : "--dome-transport");
    dome__options_clear(&options);
}

/* Starts as a program of one task, whatever others there are. */
static void start(int *argc, char ***argv)
{
    static char **arguments; /* kept: the program may keep it */
    int count = 0;
    refuse_tasks(*argc, *argv);
    arguments = g_new0(char *, *argc + 4);
    arguments[count++] = *argc > 0 ? (*argv)[0] : "program";
    arguments[count++] = "--dome-transport";
    arguments[count++] = "self";
    for (int k = 1; k < *argc; k++)
        arguments[count++] = (*argv)[k];
    env = dome_init(&count, &arguments);
    *argc = count;
    *argv = arguments;
}

int dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv))
{
    if (!argv || !program)
        dome__capture_die("dome_capture_main: argv or the program is NULL");
    dome__capture_modules_complete();
    dome__capture_name_program();
    dome__capture_streams_begin();
    start(&argc, &argv);
    process = getpid();
    dome__capture_gone_begin(__builtin_frame_address(0));
    atexit(finish);
    open_image();
    if (env->options.checkpoint_unit == DOME_CHECKPOINT_LOOPS)
        dome__capture_poll_every((uint64_t)env->options.checkpoint_every);
    if (writes()) {
        dome__checkpoint_on_request(dome_capture_request);
        set_timer(0);
    }
    dome__capture_foreign_begin();
    if (!dome_capture_restored())
        argv = dome__capture_copy_arguments(argc, argv);
    for (;;) {
        dome__capture_library_restore();
        int status = program(argc, argv);
        if (dome_capture_status & DOME_CAPTURE_RESUMING)
            dome__capture_die("the program does not resume as it was captured: main returned");
        if (!(dome_capture_status & DOME_CAPTURE_CAPTURING)) {
            finish();
            return status;
        }
        if (dome__capture_record_count() == 0)
            dome__capture_die("main returned captured, without dome_capture_push");
        dome__capture_status_clear(DOME_CAPTURE_CAPTURING);
        dome__capture_count_capture();
        dome__capture_library_save();
        save();
        dome__capture_status_set(DOME_CAPTURE_RESUMING);
    }
}
