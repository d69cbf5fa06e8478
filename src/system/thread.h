/* Threads of the library: signals are for the program's own threads, so these block all of them. */
#ifndef DOME_SRC_THREAD_H
#define DOME_SRC_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Blocks all signals of the calling thread, which threads that it starts inherit; *before: its mask, for dome__signals_restore.
 */
void dome__signals_block(sigset_t *before);
void dome__signals_restore(const sigset_t *before);

/* Raises the limit on this process's stack where it is too low for the library. NULL, or a line if the system does not allow that
 * (g_free'd). Call it early, in a function that needs little. */
char *dome__stack_too_small(void);

/* Starts a thread, with a stack that suffices whatever the limit is. 0, or the number of the error; *thread is then undefined. */
int dome__thread_create(pthread_t *thread, void *(*run)(void *), void *argument);

/* Starts a thread that blocks all signals. 0, or the number of the error; *thread is then undefined. */
int dome__thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* Tells the processor that this thread looks again and again for something that another one is about to do. */
static inline void dome__thread_relax(void)
{
#if defined(__i386__) || defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* A condition whose waits end by the monotonic clock. */
void dome__condition_init(pthread_cond_t *condition);

#endif
