/* dome_capture_main: a program without calls of Dome, which is one task and polls where it likes. */
#include "capture/capture.h"
#include "ckpt/checkpoint.h"
#include "core/environment.h"
#include "core/hooks.h"
#include "heap/die.h"
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

/* ---- checkpoints ---- */

static bool writes(void)
{
    dome_capture_run *r = &dome__capture->run;
    return r->env->checkpoints && r->env->options.checkpoint.directory;
}

/* Why there can be no checkpoint now, whatever the image; NULL: there can. */
static char *refusal(void)
{
    dome_capture_run *r = &dome__capture->run;
    if (dome__capture_call_back(DOME_CAPTURE_BEFORE_CHECKPOINT) != 0)
        return g_strdup("a function of the program (dome_capture_on) refused it");
    char *directory = g_canonicalize_filename(r->env->options.checkpoint.directory, NULL),
         *found = dome__capture_foreign_find(directory), *text = NULL;
    g_free(directory);
    if (found)
        text = g_strdup_printf("the program has %s, which cannot be saved", found);
    g_free(found);
    return text;
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
    dome_capture_alone *a = &dome__capture->alone;
    for (guint k = 0; a->refusals && k < a->refusals->len; k++)
        if (is_alike(a->refusals->pdata[k], text))
            return true;
    return false;
}

/* Once, however often the reasons take turns. */
static void tell_refusal(const char *text)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_alone *a = &dome__capture->alone;
    enum { MOST = 16 };
    if (is_told(text))
        return;
    char *line = g_strdup_printf("no checkpoint was written: %s; the program goes on", text);
    r->env->hooks->say(r->env, line);
    g_free(line);
    if (!a->refusals)
        a->refusals = g_ptr_array_new_with_free_func(g_free);
    if (a->refusals->len == MOST)
        g_ptr_array_remove_index(a->refusals, 0);
    g_ptr_array_add(a->refusals, g_strdup(text));
}

static void set_timer(double least)
{
    dome_capture_run *r = &dome__capture->run;
    if (!writes())
        return;
    double seconds = dome__capture_seconds_due(r->env);
    if (dome__checkpoint_asked()) /* the one before was still being written */
        seconds = 0;
    dome__capture_timer_set(fmax(seconds, least));
}

/* All functions have returned: writes a checkpoint. */
static void save(void)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_alone *a = &dome__capture->alone;
    if (!writes())
        return;
    if (!dome__capture_requested() && dome__checkpoint_busy(r->env)) { /* due by time: when the one before has been written */
        set_timer(AGAIN_SECONDS / 10);
        return;
    }
    char *own = refusal();
    const char *bound; /* by nothing: this is one task */
    dome__capture_image_object_take(r->image, own, &bound);
    g_free(own);
    const char *refused = dome__capture_image_object_problem(r->image);
    if (refused) {
        tell_refusal(refused);
    } else {
        const bool by_polls = r->env->options.checkpoint.unit == DOME_CHECKPOINT_LOOPS;
        if (dome__capture_take_request()) /* else it is due by time, if the one before has been written */
            dome__checkpoint_want(r->env, by_polls ? dome_capture_polls() : 0);
        if (dome_checkpoint(r->env) != DOME_OK)
            dome__capture_die("%s", dome_error_message(r->env));
    }
    dome__capture_call_back(DOME_CAPTURE_AFTER_CHECKPOINT);
    a->again =
        refused ? fmin(fmax(2 * a->again, AGAIN_SECONDS), AGAIN_MOST) : 0; /* looking for what cannot be saved takes time */
    set_timer(refused ? a->again : AGAIN_SECONDS / 100);
}

static void tell_input(void)
{
    dome_capture_run *r = &dome__capture->run;
    const uint64_t bytes = dome__capture_streams_input_read();
    char *line = g_strdup_printf("standard input was a file when the program was saved, read up to byte %" PRIu64
                                 ", and is none now: the program takes all that it is given for what follows",
                                 bytes);
    if (bytes)
        r->env->hooks->say(r->env, line);
    g_free(line);
}

static void restored(void)
{
    dome__capture_clocks_restore();
    tell_input();
}

/* ---- the program ---- */

static void finish(void)
{
    dome_capture_run *r = &dome__capture->run;
    dome_capture_alone *a = &dome__capture->alone;
    if (a->process != getpid()) /* a child that the program has forked ends by itself */
        return;
    dome_env *ends = g_steal_pointer(&r->env);
    if (!ends || dome__this_env() != ends)
        return;
    dome__checkpoint_on_request(NULL);
    dome__capture_timer_stop();
    dome_finalize(ends);
    r->image = NULL;
}

/* Said here, because dome_init would name the option that start adds, or start PVM. */
static void refuse_tasks(int argc, char **argv)
{
    dome_options options;
    if (!dome__options_look(&options, argc, argv)) /* dome_init says what is wrong */
        return;
    if (options.start.tasks > 1 || g_strcmp0(options.start.transport, "pvm") == 0)
        dome__capture_die("a program that does not call dome_init is one task: leave out %s",
                          options.start.tasks > 1 ? "--dome-tasks" : "--dome-transport");
    dome__options_clear(&options);
}

/* Starts as a program of one task, whatever others there are. */
static dome_env *start(int *argc, char ***argv)
{
    dome_capture_alone *a = &dome__capture->alone;
    int count = 0;
    dome__capture_streams_begin();
    refuse_tasks(*argc, *argv);
    a->arguments = g_new0(char *, *argc + 4);
    a->arguments[count++] = *argc > 0 ? (*argv)[0] : "program";
    a->arguments[count++] = "--dome-transport";
    a->arguments[count++] = "self";
    for (int k = 1; k < *argc; k++)
        a->arguments[count++] = (*argv)[k];
    dome_env *env = dome_init(&count, &a->arguments);
    *argc = count;
    *argv = a->arguments;
    a->process = getpid();
    atexit(finish);
    if (env->checkpoints)
        dome_set_errors_return(env);
    return env;
}

static void begin(void)
{
    dome_capture_run *r = &dome__capture->run;
    if (r->env->options.checkpoint.unit == DOME_CHECKPOINT_LOOPS)
        dome__capture_poll_every((uint64_t)r->env->options.checkpoint.every);
    if (writes()) {
        dome__checkpoint_on_request(dome_capture_request);
        set_timer(0);
    }
    dome__capture_foreign_begin();
}

static const dome_capture_way way = {
    .without_image = "the checkpoint is not of a program that was captured: it has no image",
    .start = start,
    .restored = restored,
    .begin = begin,
    .save = save,
};

int dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv))
{
    if (!argv || !program)
        dome__capture_die("dome_capture_main: argv or the program is NULL");
    const int status = dome__capture_run(&way, argc, argv, program);
    finish();
    return status;
}
