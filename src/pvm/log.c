/* Silences PVM's library, which reports every broken connection on standard error: when a program ends because a task is lost,
 * these messages would only repeat the program's own line. This file overrides the library's logging functions (weak, for
 * programs that link it statically). With PVM's debugging variable PVMTASKDEBUG set, the messages are printed. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pvmlogprintf(const char *format, ...) __attribute__((weak, visibility("default"), format(printf, 1, 2)));
int pvmlogerror(const char *text) __attribute__((weak, visibility("default")));
int pvmlogperror(const char *text) __attribute__((weak, visibility("default")));

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
