#include "system/thread.h"

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

int dome__thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t before;
    dome__signals_block(&before);
    const int error = pthread_create(thread, NULL, run, argument);
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
