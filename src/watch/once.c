#include "watch/once.h"

#include "core/object_private.h"
#include "system/environment_variables.h"
#include "system/io.h"
#include "system/say.h"
#include "watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- before dome_init ---- */

/* The standard output of this process, while a file in memory has its place. */
static int kept = -1;
static pid_t keeper;

static void show_rest(void);

/* Whether this process is the program anew, and main has run before. */
static bool is_anew(void)
{
    const char *supervised = getenv(DOME_VARIABLE_SUPERVISED);
    return (supervised && supervised[0] != '0') || getenv(DOME_VARIABLE_LOSSES) ||
           (getenv(DOME_VARIABLE_ONCE) && getenv(DOME_VARIABLE_VIEW));
}

/* main has not begun. */
__attribute__((constructor)) static void hold_back(void)
{
    const bool anew = is_anew();
    const int file = anew ? memfd_create("output", MFD_CLOEXEC) : -1;
    if (file < 0)
        return;
    kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (kept >= 0 && dup2(file, STDOUT_FILENO) < 0) {
        close(kept);
        kept = -1;
    }
    keeper = getpid();
    if (kept >= 0)
        atexit(show_rest);
    close(file);
}

static void copy_to_kept(void)
{
    char part[4096];
    ssize_t n;
    for (off_t at = 0; (n = pread(STDOUT_FILENO, part, sizeof part, at)) > 0; at += n)
        if (!dome__io_write(kept, part, (uint64_t)n))
            return; /* as a program's own printing would fail */
}

void dome__once_open(bool dropped)
{
    if (kept < 0)
        return;
    fflush(stdout);
    if (!dropped)
        copy_to_kept();
    if (dup2(kept, STDOUT_FILENO) < 0)
        dome__say("the program's output is lost: %s", strerror(errno));
    close(kept);
    kept = -1;
    if (isatty(STDOUT_FILENO)) /* the file was none */
        setvbuf(stdout, NULL, _IOLBF, 0);
}

/* The program has never called dome_init. */
static void show_rest(void)
{
    if (getpid() == keeper)
        dome__once_open(false);
}

/* ---- from dome_init on ---- */

static bool leads_to_hub;

void dome__once_begin(void)
{
    leads_to_hub = getenv(DOME_VARIABLE_ONCE) != NULL;
    dome__once_open(leads_to_hub);
    fflush(stdout);
}

static bool tells(const dome_env *env)
{
    return env->watch && (env->rank == 0 ? leads_to_hub : env->options.output == DOME_OUTPUT_ALL);
}

/* What is printed leaves this process: over a connection it is where the hub reads it when all of it has been acknowledged. */
static void hand_over(const dome_env *env)
{
    int left = 0;
    fflush(stdout);
    for (int i = 0; env->rank != 0 && i < 200 && ioctl(STDOUT_FILENO, SIOCOUTQ, &left) == 0 && left > 0; i++)
        g_usleep(i < 20 ? 100 : 10000);
}

static uint64_t tell(dome_env *env, dome_wire_shown_what what, uint64_t loop)
{
    if (!tells(env))
        return 0;
    hand_over(env);
    return dome__watch_shown(env->watch, what, loop);
}

static bool makes;       /* it goes on, and has not all of its objects */
static uint64_t made_id; /* it goes on, in front of its loop, with objects up to this id; 0: it does not */

void dome__once_back(dome_env *env, uint64_t loop)
{
    makes = tell(env, DOME_WIRE_SHOWN_BACK, loop) != 0;
    made_id = 0;
}

void dome__once_made(dome_env *env)
{
    if (makes) {
        tell(env, DOME_WIRE_SHOWN_MADE, 0);
        made_id = dome__registry_last_id(env);
    }
    makes = false;
}

void dome__once_pass(dome_env *env)
{
    tell(env, DOME_WIRE_SHOWN_PASS, 0);
    makes = false;
    made_id = 0;
}

void dome__once_updates(dome_env *env, const dome_object *object)
{
    if (made_id && dome_object_id(object) <= made_id && dome__object_is_named(object))
        dome__once_pass(env);
}

void dome__once_mark(dome_env *env, uint64_t loop)
{
    tell(env, DOME_WIRE_SHOWN_MARK, loop);
}
