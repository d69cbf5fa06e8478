/* Time as a test wants it: computing that is only said to take time, clocks that jump, clocks that stand still.
 *
 * What the library measures is then the test's to say, however fast the machine is and whatever else it has to do. The thread of
 * main alone sees such times: what watches over the program lives in real ones. For one source file of a program. */
#ifndef DOME_TESTS_MADE_UP_TIME_H
#define DOME_TESTS_MADE_UP_TIME_H

#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local long long computed_ns, jumped_ns, wait_ns;
static _Thread_local bool stands_still;
static _Thread_local long long slower;         /* how much slower real time passes; 0: it passes as it does */
static _Thread_local long long slower_from[2]; /* real time since when: wall, processor */
static _Thread_local const uint32_t *waiting;  /* whether the library is waiting for others */

/* In the place of the C library's, also for the libraries that the program loads. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    const long long second = 1000000000;
    bool monotonic = clock == CLOCK_MONOTONIC, processor = clock == CLOCK_THREAD_CPUTIME_ID;
    if (stands_still && (monotonic || processor)) {
        *t = (struct timespec){.tv_sec = 1000000};
        return 0;
    }
    int status = (int)syscall(SYS_clock_gettime, clock, t);
    long long more = monotonic ? computed_ns + jumped_ns : processor ? computed_ns : 0;
    if (status == 0 && (monotonic || processor) && (more != 0 || slower > 0)) {
        long long all = (long long)t->tv_sec * second + t->tv_nsec, from = slower_from[processor];
        all = (slower > 0 ? from + (all - from) / slower : all) + more;
        *t = (struct timespec){.tv_sec = (time_t)(all / second), .tv_nsec = (long)(all % second)};
    }
    if (monotonic && waiting && *waiting) { /* from the clock being read when a wait begins to its being read when it ends */
        jumped_ns += wait_ns;
        wait_ns = 0;
    }
    return status;
}

/* As if this thread had computed for so long, while the processor was with others for all but a part of the time. */
static inline void compute_for(double seconds, double part_of_processor)
{
    computed_ns += (long long)(seconds * 1e9);
    jumped_ns += (long long)(seconds * (1 / part_of_processor - 1) * 1e9);
}

/* As if it had to wait for others so much longer, the next time it does. */
static inline void wait_for(double seconds)
{
    wait_ns += (long long)(seconds * 1e9);
}

/* Of wall time only; seconds may be negative. */
static inline void clock_jumps(double seconds)
{
    jumped_ns += (long long)(seconds * 1e9);
}

/* Processor time of this thread. */
static inline double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* From now on real time passes so many times slower: on a machine with other things to do a task may lose the processor in the
 * middle of what it measures, for longer than the computing is said to take. */
static inline void real_time_slows(long long times)
{
    struct timespec t[2];
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t[1]);
    long long more[2] = {computed_ns + jumped_ns, computed_ns};
    for (int i = 0; i < 2; i++)
        slower_from[i] = (long long)t[i].tv_sec * 1000000000 + t[i].tv_nsec - more[i];
    slower = times;
}

/* Every measurement is zero. */
static inline void clock_stands(bool still)
{
    stands_still = still;
}

#endif
