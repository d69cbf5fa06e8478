/* Functions of the C library that return memory which they have got by malloc: what the program calls for is memory that all
 * tasks share. */
#include "process/omp_names.h"

#include "process/omp_heap.h"
#include "process/omp_next.h"
#include "process/omp_touch.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <wchar.h>

#define CALLER __builtin_return_address(0)

static void *copy_of(const void *from, size_t bytes, const void *caller)
{
    void *copy = dome__omp_heap_get(bytes, caller);
    return copy ? memcpy(copy, from, bytes) : NULL;
}

#undef strdup
#undef strndup

char *strdup(const char *text)
{
    return copy_of(text, strlen(text) + 1, CALLER);
}

char *__strdup(const char *text);
char *__strdup(const char *text)
{
    return copy_of(text, strlen(text) + 1, CALLER);
}

char *strndup(const char *text, size_t most)
{
    const size_t bytes = strnlen(text, most);
    char *copy = dome__omp_heap_get(bytes + 1, CALLER);
    if (copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = 0;
    }
    return copy;
}

wchar_t *wcsdup(const wchar_t *text)
{
    return copy_of(text, (wcslen(text) + 1) * sizeof *text, CALLER);
}

/* ---- formatted ---- */

static int format_text(char **text, const char *format, va_list arguments, const void *caller)
{
    va_list again;
    va_copy(again, arguments);
    const int n = vsnprintf(NULL, 0, format, arguments);
    *text = n < 0 ? NULL : dome__omp_heap_get((size_t)n + 1, caller);
    const int result = *text ? vsnprintf(*text, (size_t)n + 1, format, again) : -1;
    va_end(again);
    return result;
}

int vasprintf(char **text, const char *format, va_list arguments)
{
    return format_text(text, format, arguments, CALLER);
}

int __vasprintf_chk(char **text, int flag, const char *format, va_list arguments);
int __vasprintf_chk(char **text, int flag, const char *format, va_list arguments)
{
    (void)flag;
    return format_text(text, format, arguments, CALLER);
}

int asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int result = format_text(text, format, arguments, CALLER);
    va_end(arguments);
    return result;
}

int __asprintf_chk(char **text, int flag, const char *format, ...);
int __asprintf_chk(char **text, int flag, const char *format, ...)
{
    (void)flag;
    va_list arguments;
    va_start(arguments, format);
    const int result = format_text(text, format, arguments, CALLER);
    va_end(arguments);
    return result;
}

/* ---- lines: the C library enlarges a block by realloc, which leaves it where it is shared ---- */

static ssize_t read_line(char **line, size_t *bytes, int end, FILE *file, const void *caller)
{
    enum { FIRST = 120 };
    typedef ssize_t next(char **, size_t *, int, FILE *);
    if (line && bytes && !*line) {
        *line = dome__omp_heap_get(FIRST, caller);
        *bytes = *line ? FIRST : 0;
    }
    return ((next *)dome__omp_next("getdelim"))(line, bytes, end, file);
}

ssize_t getline(char **line, size_t *bytes, FILE *file)
{
    return read_line(line, bytes, '\n', file, CALLER);
}

ssize_t getdelim(char **line, size_t *bytes, int end, FILE *file)
{
    return read_line(line, bytes, end, file, CALLER);
}

ssize_t __getdelim(char **line, size_t *bytes, int end, FILE *file);
ssize_t __getdelim(char **line, size_t *bytes, int end, FILE *file)
{
    return read_line(line, bytes, end, file, CALLER);
}

/* ---- paths ---- */

static char *resolve(const char *path, char *to, const void *caller)
{
    typedef char *next(const char *, char *);
    char text[PATH_MAX];
    if (path && dome__omp_touches())
        dome__omp_touch_text(path);
    char *found = ((next *)dome__omp_next("realpath"))(path, text);
    if (!found)
        return NULL;
    return to ? strcpy(to, found) : copy_of(found, strlen(found) + 1, caller);
}

char *realpath(const char *path, char *to)
{
    return resolve(path, to, CALLER);
}

char *canonicalize_file_name(const char *path)
{
    return resolve(path, NULL, CALLER);
}

static char *directory(char *to, size_t bytes, const void *caller)
{
    typedef char *next(char *, size_t);
    char text[PATH_MAX];
    if (to && dome__omp_touches())
        dome__omp_touch(to, bytes, true);
    if (to || bytes > sizeof text)
        return ((next *)dome__omp_next("getcwd"))(to, bytes);
    char *found = ((next *)dome__omp_next("getcwd"))(text, bytes ? bytes : sizeof text);
    return found ? copy_of(found, bytes ? bytes : strlen(found) + 1, caller) : NULL;
}

char *getcwd(char *to, size_t bytes)
{
    return directory(to, bytes, CALLER);
}

char *get_current_dir_name(void)
{
    return directory(NULL, 0, CALLER);
}
