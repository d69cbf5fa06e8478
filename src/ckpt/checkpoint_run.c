/* The file `run`: what a directory of checkpoints records about the run that writes there. */
#include "ckpt/checkpoint_private.h"
#include "system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* Assumed mean time between failures, in seconds, until it is known better. */
static const double FIRST_MTBF = 3600;

static char *run_path(const char *directory)
{
    return g_build_filename(directory, "run", NULL);
}

static char *read_run(const char *directory, const char **reason)
{
    enum { MOST_BYTES = 4096 };
    char *path = run_path(directory);
    *reason = dome__file_irregular(path, false); /* there is no legitimate reason for a link here */
    errno = EINVAL;
    char *text = *reason ? NULL : dome__file_read(path, MOST_BYTES, reason);
    g_free(path);
    return text;
}

bool dome__run_check(const char *directory, char **message)
{
    const char *reason;
    char *text = read_run(directory, &reason);
    bool good = text || errno == ENOENT;
    if (!good)
        *message =
            g_strdup_printf("checkpoint directory '%s' cannot be used, as its file 'run' cannot be read: %s; remove it, or "
                            "take another directory",
                            directory, reason);
    g_free(text);
    return good;
}

dome_run dome__run_read(const char *directory)
{
    const char *reason;
    char *text = read_run(directory, &reason), *end;
    dome_run run = {0};
    if (text) {
        run.first = g_ascii_strtoull(text, &end, 10);
        run.failures = g_ascii_strtoull(end, &end, 10);
        double seconds = g_ascii_strtod(end, &end);
        run.seconds = seconds > 0 ? seconds : 0;
        run.running = strstr(end, "running") != NULL;
    }
    g_free(text);
    return run;
}

/* Renames the file when it is complete: a program may be killed at any moment. */
bool dome__run_write(const dome_checkpoints *c, bool running, char **message)
{
    char *path = run_path(c->directory), seconds[G_ASCII_DTOSTR_BUF_SIZE];
    const char *reason;
    g_ascii_formatd(seconds, sizeof seconds, "%.3f", c->past.run.seconds + dome_wtime() - c->past.began);
    char *text = g_strdup_printf("%" PRIu64 "\n%" PRIu64 " %s %s\n", c->past.run.first, c->past.run.failures, seconds,
                                 running ? "running" : "ended");
    bool good = dome__file_replace(path, text, dome__store_file_mode(c->directory), &reason);
    if (!good && message)
        *message = g_strdup_printf("checkpoint directory '%s' cannot be written to: %s", c->directory, reason);
    g_free(text);
    g_free(path);
    return good;
}

/* Adds to the run what the directory does not know: losses before its first checkpoint. */
static void count(dome_checkpoints *c)
{
    c->past.run.failures = MAX(c->past.run.failures, c->past.losses);
    c->past.run.seconds = MAX(c->past.run.seconds, c->past.seconds);
}

void dome__run_begin(dome_checkpoints *c, int losses, double seconds)
{
    c->past.began = dome_wtime();
    c->past.losses = (uint64_t)losses;
    c->past.seconds = seconds;
    count(c);
}

bool dome__run_note(dome_checkpoints *c, bool goes_on, char **message)
{
    c->past.began = dome_wtime();
    c->past.run = goes_on ? dome__run_read(c->directory) : (dome_run){.first = c->number};
    c->past.run.failures += c->past.run.running;
    count(c);
    return dome__run_write(c, true, message);
}

double dome__time_between_failures(const dome_env *env)
{
    const dome_checkpoints *c = env->checkpoints;
    double seconds = c->past.run.seconds + dome_wtime() - c->past.began;
    if (env->options.checkpoint.mtbf > 0)
        return env->options.checkpoint.mtbf;
    return c->past.run.failures > 0 ? seconds / (double)c->past.run.failures : MAX(seconds, FIRST_MTBF);
}
