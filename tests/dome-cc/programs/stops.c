/* Linked into a program of dome-cc, with -Wl,--wrap=dome_capture_main, it requests checkpoints at the polls whose numbers
 *   STOPS="3 9 20"          has, in this order;
 *   STOPS_END=20            after a checkpoint at this poll or a later one the program ends.
 * Standard error has at the end how many polls the program has made. */
#include <dome/capture.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int __real_dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv));
int __wrap_dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv));

static int (*stopped_program)(int argc, char **argv);

/* The first stop behind a poll; UINT64_MAX: none. */
static uint64_t next_stop(uint64_t poll)
{
    const char *stops = getenv("STOPS");
    for (char *at = (char *)(stops ? stops : ""), *end; *at; at = end) {
        const uint64_t stop = strtoull(at, &end, 10);
        if (end == at || stop > poll)
            return end == at ? UINT64_MAX : stop;
    }
    return UINT64_MAX;
}

/* Called at the beginning, and again after each checkpoint. */
static int stopping_program(int argc, char **argv)
{
    const char *end = getenv("STOPS_END");
    if (end && dome_capture_polls() >= strtoull(end, NULL, 10))
        exit(0);
    dome_capture_request_at(next_stop(dome_capture_polls()));
    return stopped_program(argc, argv);
}

static void say_polls(void)
{
    fprintf(stderr, "polls %llu\n", (unsigned long long)dome_capture_polls());
}

int __wrap_dome_capture_main(int argc, char **argv, int (*program)(int argc, char **argv))
{
    stopped_program = program;
    atexit(say_polls);
    return __real_dome_capture_main(argc, argv, stopping_program);
}
