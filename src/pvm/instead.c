/* Functions of PVM's library that are replaced here. They are weak, for programs that link that library statically.
 *
 * Its clock. The library takes differences of the time of day, for example in the second half of each pvm_send. If that is set
 * back in between, the difference is negative, and the call waits for as long as the clock was set back.
 *
 * Its log. The library reports every broken connection on standard error: when a program ends because a task is lost, these
 * messages would only repeat the program's own line. With PVM's debugging variable PVMTASKDEBUG set, the messages are printed. */
#include "pvm/pvm.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

int pvmgetclock(struct timeval *now) __attribute__((weak, visibility("default")));
int pvmlogprintf(const char *format, ...) __attribute__((weak, visibility("default"), format(printf, 1, 2)));
int pvmlogerror(const char *text) __attribute__((weak, visibility("default")));
int pvmlogperror(const char *text) __attribute__((weak, visibility("default")));

void dome__pvm_instead(void)
{
}

int pvmgetclock(struct timeval *now)
{
    struct timespec t;
    int status = clock_gettime(CLOCK_MONOTONIC, &t);
    *now = (struct timeval){.tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000};
    return status;
}

static bool heard(void)
{
    return getenv("PVMTASKDEBUG") != NULL;
}

int pvmlogprintf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = heard() ? vfprintf(stderr, format, arguments) : 0;
    va_end(arguments);
    return n;
}

int pvmlogerror(const char *text)
{
    return heard() ? fputs(text, stderr) : 0;
}

int pvmlogperror(const char *text)
{
    return heard() ? fprintf(stderr, "%s: %s\n", text, strerror(errno)) : 0;
}
