/* What a directory of checkpoints knows of the run that writes there: the file `run`. */
#include "runtime/checkpoint_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A failure an hour is expected until it is known better. */
static const double FIRST_MTBF = 3600;

static char *run_path(const char *directory)
{
    return g_build_filename(directory, "run", NULL);
}

dome_run dome__run_read(const char *directory)
{
    char *path = run_path(directory), *text = NULL, *end;
    dome_run run = {0};
    if (g_file_get_contents(path, &text, NULL, NULL)) {
        run.first = g_ascii_strtoull(text, &end, 10);
        run.failures = g_ascii_strtoull(end, &end, 10);
        double seconds = g_ascii_strtod(end, &end);
        run.seconds = seconds > 0 ? seconds : 0;
        run.running = strstr(end, "running") != NULL;
    }
    g_free(text);
    g_free(path);
    return run;
}

/* Renamed when it is complete: a program may be killed at any moment. */
bool dome__run_write(const dome_checkpoints *c, bool running, char **message)
{
    char *path = run_path(c->directory), *part = g_strconcat(path, ".part", NULL), seconds[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(seconds, sizeof seconds, "%.3f", c->run.seconds + dome_wtime() - c->began);
    char *text = g_strdup_printf("%" PRIu64 "\n%" PRIu64 " %s %s\n", c->run.first, c->run.failures, seconds,
                                 running ? "running" : "ended");
    bool good = g_file_set_contents_full(part, text, -1, G_FILE_SET_CONTENTS_NONE, 0666, NULL) && rename(part, path) == 0;
    if (!good && message)
        *message = g_strdup_printf("checkpoint directory '%s' cannot be written to: %s", c->directory, strerror(errno));
    g_free(text);
    g_free(part);
    g_free(path);
    return good;
}

bool dome__run_note(dome_checkpoints *c, bool goes_on, char **message)
{
    c->began = dome_wtime();
    c->run = goes_on ? dome__run_read(c->directory) : (dome_run){.first = c->number};
    c->run.failures += c->run.running;
    return dome__run_write(c, true, message);
}

double dome__time_between_failures(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    double seconds = c->run.seconds + dome_wtime() - c->began;
    if (env->options.checkpoint_mtbf > 0)
        return env->options.checkpoint_mtbf;
    return c->run.failures > 0 ? seconds / (double)c->run.failures : MAX(seconds, FIRST_MTBF);
}
