/* Linked into a program of dome-cc, with -Wl,--wrap=dome_capture_main, it says on standard error
 *   DOME_MEASURE=intervals  how long a request waits for a poll: 1,000 requests at random times; the processor's time from the
 *                           request until all functions have returned, in microseconds: number, mean, p50, p99, longest
 *   DOME_MEASURE=polls      how many polls the program has made */
#include <dome/capture.h>

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 1000, LEAST_GAP = 300, MOST_GAP = 2300 }; /* microseconds */

int __real_dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv));
int __wrap_dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv));

static int (*captured_program)(int argc, char **argv);
static double waits[REQUESTS];
static int count;
static volatile sig_atomic_t asked;
static double asked_at;
static uint64_t random_state = 88172645463325252u;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void ask_later(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    struct itimerval t = {.it_value = {0, (suseconds_t)(LEAST_GAP + random_state % (MOST_GAP - LEAST_GAP))}};
    setitimer(ITIMER_REAL, &t, NULL);
}

static void ask(int signal_number)
{
    (void)signal_number;
    asked_at = now();
    asked = 1;
    dome_capture_request();
}

static int measured_program(int argc, char **argv)
{
    if (asked && count < REQUESTS) {
        waits[count++] = now() - asked_at;
        asked = 0;
    }
    if (count < REQUESTS)
        ask_later();
    return captured_program(argc, argv);
}

static int counted_program(int argc, char **argv)
{
    dome_capture_request_at(UINT64_MAX);
    return captured_program(argc, argv);
}

static int smaller(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void say_waits(void)
{
    double sum = 0;
    struct itimerval never = {0};
    setitimer(ITIMER_REAL, &never, NULL);
    qsort(waits, (size_t)count, sizeof *waits, smaller);
    for (int i = 0; i < count; i++)
        sum += waits[i];
    if (count)
        fprintf(stderr, "intervals %d %.1f %.1f %.1f %.1f\n", count, sum / count, waits[count / 2], waits[count * 99 / 100],
                waits[count - 1]);
    else
        fputs("intervals 0 0 0 0 0\n", stderr);
}

static void say_polls(void)
{
    fprintf(stderr, "polls %llu\n", (unsigned long long)dome_capture_polls());
}

int __wrap_dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv))
{
    const char *what = getenv("DOME_MEASURE");
    captured_program = program;
    if (what && strcmp(what, "intervals") == 0) {
        struct sigaction a = {.sa_handler = ask, .sa_flags = SA_RESTART};
        sigaction(SIGALRM, &a, NULL);
        atexit(say_waits);
        return __real_dome_capture_main(argc, argv, measured_program);
    }
    if (what && strcmp(what, "polls") == 0) {
        atexit(say_polls);
        return __real_dome_capture_main(argc, argv, counted_program);
    }
    return __real_dome_capture_main(argc, argv, program);
}
