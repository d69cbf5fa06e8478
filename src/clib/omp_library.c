/* Functions of the C library that keep something, or get memory for it: all tasks have what they keep. Elsewhere a pointer that
 * one task has got leads others to nothing. */
#include "process/omp_names.h"

#include "clib/omp_library.h"

#include "openmp/critical.h"
#include "openmp/tasks.h"
#include "openmp/team.h"
#include "process/omp_heap.h"
#include "process/omp_next.h"
#include "process/omp_state.h"
#include "process/omp_touch.h"

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <string.h>

_Static_assert(sizeof(dome_omp_library) <= sizeof((dome_omp_state_page){0}.library), "omp_state.h");

dome_omp_library *dome__omp_library(void)
{
    return (dome_omp_library *)(void *)dome__omp_state()->library;
}

static bool is_in_region(void)
{
    return dome__omp_running && dome__omp_running->team->active_level > 0;
}

void dome__omp_library_enter(void)
{
    if (is_in_region())
        dome__omp_enter(&dome__omp_library()->lock, "a function of the C library");
}

void dome__omp_library_leave(void)
{
    if (is_in_region())
        dome__omp_leave(&dome__omp_library()->lock);
}

/* The function `name`: for threads of the program `ours`, for others the C library's. */
#define LIBRARY(type, name, parameters, arguments, ours)                                                                         \
    type name parameters                                                                                                         \
    {                                                                                                                            \
        if (!dome__omp_by_thread())                                                                                              \
            return ((type(*) parameters)dome__omp_next(#name))arguments;                                                         \
        return ours;                                                                                                             \
    }

/* What the C library gets in the call is the program's. */
#define SHARED(type, name, parameters, arguments)                                                                                \
    type name parameters                                                                                                         \
    {                                                                                                                            \
        type(*next) parameters = (type(*) parameters)dome__omp_next(#name);                                                      \
        if (!dome__omp_by_thread())                                                                                              \
            return next arguments;                                                                                               \
        dome__omp_heap_lends++;                                                                                                  \
        type result = next arguments;                                                                                            \
        dome__omp_heap_lends--;                                                                                                  \
        return result;                                                                                                           \
    }

/* ---- texts and times ---- */

LIBRARY(char *, strtok, (char *restrict text, const char *restrict ends), (text, ends),
        strtok_r(text, ends, &dome__omp_library()->tokens))

static struct tm *local_time(const time_t *time)
{
    tzset();
    return localtime_r(time, &dome__omp_library()->time);
}

LIBRARY(struct tm *, localtime, (const time_t *time), (time), local_time(time))
LIBRARY(struct tm *, gmtime, (const time_t *time), (time), gmtime_r(time, &dome__omp_library()->time))
LIBRARY(char *, asctime, (const struct tm *time), (time), asctime_r(time, dome__omp_library()->time_text))
LIBRARY(char *, ctime, (const time_t *time), (time), asctime_r(local_time(time), dome__omp_library()->time_text))

/* ---- tables, trees, expressions, folders ---- */

SHARED(int, hcreate_r, (size_t count, struct hsearch_data *table), (count, table))
SHARED(void *, tsearch, (const void *key, void **root, int (*compare)(const void *, const void *)), (key, root, compare))
SHARED(int, regcomp, (regex_t * to, const char *text, int flags), (to, text, flags))

/* Under both of its names, which are the same to programs; the headers rename it. */
int own_scandir(const char *, void *, void *, void *) __asm__("dome__c_scandir");
int own_scandir64(const char *, void *, void *, void *) __asm__("dome__c_scandir64");

int own_scandir(const char *path, void *to, void *is_wanted, void *compare)
{
    int (*next)(const char *, void *, void *, void *) = (int (*)(const char *, void *, void *, void *))dome__omp_next("scandir");
    const bool lends = dome__omp_by_thread();
    if (dome__omp_touches())
        dome__omp_touch_text(path);
    dome__omp_heap_lends += lends;
    const int result = next(path, to, is_wanted, compare);
    dome__omp_heap_lends -= lends;
    return result;
}

int own_scandir64(const char *path, void *to, void *is_wanted, void *compare)
{
    return own_scandir(path, to, is_wanted, compare);
}

LIBRARY(int, hcreate, (size_t count), (count), hcreate_r(count, &dome__omp_library()->table))

static ENTRY *search(ENTRY entry, ACTION action)
{
    ENTRY *found = NULL;
    hsearch_r(entry, action, &found, &dome__omp_library()->table);
    return found;
}

LIBRARY(ENTRY *, hsearch, (ENTRY entry, ACTION action), (entry, action), search(entry, action))

void hdestroy(void)
{
    if (dome__omp_by_thread())
        hdestroy_r(&dome__omp_library()->table);
    else
        ((void (*)(void))dome__omp_next("hdestroy"))();
}

typedef int regexec_function(const regex_t *, const char *, size_t, regmatch_t *, int);

/* It changes the expression, which may be shared: it keeps states that it has found. */
int regexec(const regex_t *restrict of, const char *restrict text, size_t count, regmatch_t matches[restrict count], int flags)
{
    regexec_function *next = (regexec_function *)dome__omp_next("regexec");
    if (!dome__omp_by_thread())
        return next(of, text, count, matches, flags);
    dome__omp_library_enter();
    dome__omp_heap_lends++;
    const int result = next(of, text, count, matches, flags);
    dome__omp_heap_lends--;
    dome__omp_library_leave();
    return result;
}

DIR *opendir(const char *path)
{
    if (dome__omp_touches())
        dome__omp_touch_text(path);
    return ((DIR * (*)(const char *)) dome__omp_next("opendir"))(path);
}
