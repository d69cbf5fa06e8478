/* Linked into a program of dome-cc, with -Wl,--wrap=dome_capture_main, it says on standard error
 *   DOME_MEASURE=intervals  how long a request waits for a poll: 1,000 requests at random times; the processor's time from the
 *                           request until all functions have returned, in microseconds: number, mean, p50, p99, longest.
 *                           DOME_MEASURE_SEED: of the random times. DOME_MEASURE_WAITS: a file to which each wait is appended
 *   DOME_MEASURE=polls      how many polls the program has made
 *   DOME_MEASURE=capture    the first checkpoint, after which the program ends: milliseconds for which the program is stopped,
 * until all is on disk, and of the processor's time for it DOME_MEASURE=restart    milliseconds of the processor's time, and of
 * time, from the beginning of main until globals, heap and streams are there; the program ends then. Without --dome-restart:
 * until main is called */
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

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static double now(void)
{
    return clock_of(CLOCK_THREAD_CPUTIME_ID);
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
    const char *path = getenv("DOME_MEASURE_WAITS");
    FILE *file = path ? fopen(path, "a") : NULL;
    for (int i = 0; file && i < count; i++)
        fprintf(file, "%.1f\n", waits[i]);
    if (file)
        fclose(file);
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

/* ---- one checkpoint, and going on from it ---- */

static double began, began_processor, stopped;

static int begin_clocks(void *context)
{
    (void)context;
    began = clock_of(CLOCK_MONOTONIC);
    began_processor = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    return 0;
}

/* At the end all has been written. */
static void say_capture(void)
{
    if (stopped > 0)
        fprintf(stderr, "capture %.3f %.3f %.3f\n", 1e-3 * stopped, 1e-3 * (clock_of(CLOCK_MONOTONIC) - began),
                1e-3 * (clock_of(CLOCK_PROCESS_CPUTIME_ID) - began_processor));
}

static int end_after_capture(void *context)
{
    (void)context;
    stopped = clock_of(CLOCK_MONOTONIC) - began;
    exit(0);
}

static int end_after_restart(void *context)
{
    (void)context;
    fprintf(stderr, "restart %.3f %.3f\n", 1e-3 * (clock_of(CLOCK_PROCESS_CPUTIME_ID) - began_processor),
            1e-3 * (clock_of(CLOCK_MONOTONIC) - began));
    _exit(0);
}

static int started_program(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return end_after_restart(NULL);
}

int __wrap_dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv))
{
    const char *what = getenv("DOME_MEASURE");
    captured_program = program;
    if (what && strcmp(what, "intervals") == 0) {
        struct sigaction a = {.sa_handler = ask, .sa_flags = SA_RESTART};
        const char *seed = getenv("DOME_MEASURE_SEED");
        random_state += seed ? (uint64_t)atoi(seed) << 20 : 0;
        sigaction(SIGALRM, &a, NULL);
        atexit(say_waits);
        return __real_dome_capture_main(argc, argv, measured_program);
    }
    if (what && strcmp(what, "polls") == 0) {
        atexit(say_polls);
        return __real_dome_capture_main(argc, argv, counted_program);
    }
    if (what && strcmp(what, "capture") == 0) {
        dome_capture_on(DOME_CAPTURE_BEFORE_CHECKPOINT, begin_clocks, NULL);
        dome_capture_on(DOME_CAPTURE_AFTER_CHECKPOINT, end_after_capture, NULL);
        atexit(say_capture);
    }
    if (what && strcmp(what, "restart") == 0) {
        dome_capture_on(DOME_CAPTURE_AFTER_RESTART, end_after_restart, NULL);
        begin_clocks(NULL);
        return __real_dome_capture_main(argc, argv, started_program);
    }
    return __real_dome_capture_main(argc, argv, program);
}
