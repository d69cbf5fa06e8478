/* How functions of the C library that hand the program's memory to the system are defined: where several tasks share it, each
 * page is accessed before (process/omp_touch.h). The names are those of the C library, old and new; `own_` keeps its headers from
 * renaming them; see also process/omp_names.h. */
#ifndef DOME_SRC_CLIB_OMP_CALL_H
#define DOME_SRC_CLIB_OMP_CALL_H

#include "process/omp_next.h"
#include "process/omp_touch.h"

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define IN(address, bytes)  dome__omp_touch(address, bytes, false)
#define OUT(address, bytes) dome__omp_touch(address, bytes, true)
#define TEXT(text)          dome__omp_touch_text(text)

/* Whether a call is made once more, because another task has taken a page while the call waited. A call that fails so has moved
 * no bytes. Not if it names no shared memory, as most calls of this library's own. The number of tries is bounded: there may be
 * no such memory. */
static inline bool dome__omp_call_again(bool failed, int *tries)
{
    enum { MOST = 1000 };
    return failed && errno == EFAULT && dome__omp_touches() && dome__omp_touched() && ++*tries < MOST;
}

/* How many of the bytes a read from the descriptor may write, from `at` on; -1: from where it is. Programs ask for more than
 * there is, by far. */
size_t dome__omp_readable(int fd, size_t bytes, int64_t at);

/* The same for a read of a file that has stopped at this page, with less than it was to read. */
bool dome__omp_call_goes_on(int fd, const char *stopped, int *tries);

/* The function `name`, which touches, and then calls the C library's. That is looked up early: a signal handler may call, too. */
#define CALL(type, name, parameters, arguments, touches)                                                                         \
    static type(*next_##name) parameters;                                                                                        \
    __attribute__((constructor)) static void find_##name(void)                                                                   \
    {                                                                                                                            \
        next_##name = (type(*) parameters)dome__omp_next(#name);                                                                 \
    }                                                                                                                            \
    type own_##name parameters __asm__("dome__c_" #name);                                                                        \
    type own_##name parameters                                                                                                   \
    {                                                                                                                            \
        if (!next_##name)                                                                                                        \
            find_##name();                                                                                                       \
        type result;                                                                                                             \
        int tries = 0;                                                                                                           \
        do {                                                                                                                     \
            if (dome__omp_touches()) {                                                                                           \
                touches;                                                                                                         \
            }                                                                                                                    \
            result = next_##name arguments;                                                                                      \
        } while (dome__omp_call_again(result == (type)-1, &tries));                                                              \
        return result;                                                                                                           \
    }

/* A function that reads from a descriptor into memory: `more` are its parameters behind these, `rest` what they are for the bytes
 * from `done` on, `from` where in the file those are. */
#define CALL_READ(name, more, rest, from)                                                                                        \
    static ssize_t (*next_##name)(int fd, void *to, size_t bytes more);                                                          \
    __attribute__((constructor)) static void find_##name(void)                                                                   \
    {                                                                                                                            \
        next_##name = (ssize_t(*)(int fd, void *to, size_t bytes more))dome__omp_next(#name);                                    \
    }                                                                                                                            \
    ssize_t own_##name(int fd, void *to, size_t bytes more) __asm__("dome__c_" #name);                                           \
    ssize_t own_##name(int fd, void *to, size_t bytes more)                                                                      \
    {                                                                                                                            \
        if (!next_##name)                                                                                                        \
            find_##name();                                                                                                       \
        size_t done = 0;                                                                                                         \
        ssize_t n;                                                                                                               \
        int tries = 0;                                                                                                           \
        do {                                                                                                                     \
            if (dome__omp_touches())                                                                                             \
                OUT((char *)to + done, dome__omp_readable(fd, bytes - done, from));                                              \
            n = next_##name(fd, (char *)to + done, bytes - done rest);                                                           \
            done += n > 0 ? (size_t)n : 0;                                                                                       \
        } while (dome__omp_call_again(n < 0, &tries) ||                                                                          \
                 (n > 0 && done < bytes && dome__omp_call_goes_on(fd, (char *)to + done, &tries)));                              \
        return done ? (ssize_t)done : n;                                                                                         \
    }
#define NO_MORE
#define AND_AT    , int64_t at
#define BEHIND    at + (int64_t)done
#define AT_BEHIND , BEHIND
#define BY_PLACE  -1

/* The parts of a scattered write; and of a read, likewise. */
void dome__omp_touch_parts_in(const struct iovec *parts, int count);
void dome__omp_touch_parts_out(int fd, const struct iovec *parts, int count, int64_t at);

#endif
