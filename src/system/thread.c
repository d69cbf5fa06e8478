#include "system/thread.h"

#include <glib.h>

#include <sys/resource.h>
#include <time.h>

void dome__signals_block(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void dome__signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* What the library's own functions and those of C need at most, with some for the program. */
enum { LEAST_STACK = 128 << 10, USUAL_STACK = 8 << 20 };

char *dome__stack_too_small(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= LEAST_STACK)
        return NULL;
    const int have = (int)(limit.rlim_cur >> 10);
    limit.rlim_cur = MIN(limit.rlim_max, USUAL_STACK); /* a stack grows by the limit of the moment */
    if (limit.rlim_cur >= LEAST_STACK && setrlimit(RLIMIT_STACK, &limit) == 0)
        return NULL;
    return g_strdup_printf("the limit on the stack is %d KiB, and a program needs %d: raise it (ulimit -s)", have,
                           LEAST_STACK >> 10);
}

/* Stacks of threads have the size of the limit at the program's start, which may be too small. */
static void set_stack(pthread_attr_t *attributes)
{
    size_t size;
    if (pthread_attr_getstacksize(attributes, &size) == 0 && size < 2 * LEAST_STACK)
        pthread_attr_setstacksize(attributes, 2 * LEAST_STACK);
}

int dome__thread_create(pthread_t *thread, void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    set_stack(&attributes);
    error = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

int dome__thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t before;
    dome__signals_block(&before);
    const int error = dome__thread_create(thread, run, argument);
    dome__signals_restore(&before);
    return error;
}

void dome__condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}
