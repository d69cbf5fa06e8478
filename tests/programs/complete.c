/* A task is killed at the very end of the program, inside of dome_finalize.
 *
 *     complete RANK written|writing|waited
 *
 * written: its output is written, and it leaves PVM. writing: its output is being written. waited: as written, but the task after
 * it never comes so far. */
#define _GNU_SOURCE
#include <dome/dome.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool leaves, stays; /* this task is the one that is killed; the one that stays */
static bool written;

/* In the place of PVM's, which the library calls when a task leaves. */
int pvm_exit(void);
int pvm_exit(void)
{
    int (*next)(void);
    void *found = dlsym(RTLD_NEXT, "pvm_exit");
    memcpy(&next, &found, sizeof next);
    if (leaves && written)
        raise(SIGKILL);
    return next();
}

static ssize_t put(void *what, const char *text, size_t bytes)
{
    (void)text;
    if (leaves && strcmp(what, "writing") == 0)
        raise(SIGKILL);
    while (stays)
        pause();
    written = true;
    return (ssize_t)bytes;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const int rank = argc > 1 ? atoi(argv[1]) : 1;
    char *what = argc > 2 ? argv[2] : "written";
    FILE *last = fopencookie(what, "w", (cookie_io_functions_t){.write = put}); /* dome_finalize writes it out */
    if (!last || fputs("the last word\n", last) < 0)
        dome_abort(env, "no stream");
    leaves = dome_rank(env) == rank;
    stays = strcmp(what, "waited") == 0 && dome_rank(env) == rank + 1;
    printf("complete\n");
    return dome_finalize(env);
}
