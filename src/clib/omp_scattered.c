/* Functions of the C library that read into memory in parts, or through a stream. Memory that tasks share may be taken while they
 * wait (omp_call.h). */
#include "clib/omp_call.h"

#include "process/omp_streams.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- parts ---- */

/* What the system refuses need not be there. */
static bool are_parts(int count)
{
    return count > 0 && count <= IOV_MAX;
}

void dome__omp_touch_parts_in(const struct iovec *parts, int count)
{
    if (!are_parts(count))
        return;
    IN(parts, (size_t)count * sizeof *parts);
    for (int k = 0; k < count; k++)
        IN(parts[k].iov_base, parts[k].iov_len);
}

static size_t bytes_of(const struct iovec *parts, int count)
{
    size_t bytes = 0;
    for (int k = 0; k < count; k++)
        bytes = parts[k].iov_len > SSIZE_MAX - bytes ? SSIZE_MAX : bytes + parts[k].iov_len;
    return bytes;
}

void dome__omp_touch_parts_out(int fd, const struct iovec *parts, int count, int64_t at)
{
    if (!are_parts(count))
        return;
    IN(parts, (size_t)count * sizeof *parts);
    size_t left = dome__omp_readable(fd, bytes_of(parts, count), at);
    for (int k = 0; k < count && left > 0; k++) {
        const size_t bytes = parts[k].iov_len < left ? parts[k].iov_len : left;
        OUT(parts[k].iov_base, bytes);
        left -= bytes;
    }
}

/* A scattered read has returned n. If it has stopped where a page was taken meanwhile, the rest is read. Returns how many bytes
 * that makes. */
static ssize_t read_rest(int fd, const struct iovec *parts, int count, int64_t at, ssize_t n)
{
    int tries = 0;
    size_t before = 0;
    if (n <= 0 || !dome__omp_touches())
        return n;
    for (int k = 0; k < count; before += parts[k++].iov_len) {
        if ((size_t)n >= before + parts[k].iov_len)
            continue;
        char *rest = (char *)parts[k].iov_base + (size_t)n - before;
        const size_t bytes = before + parts[k].iov_len - (size_t)n;
        if (!dome__omp_call_goes_on(fd, rest, &tries))
            break;
        const ssize_t more = at < 0 ? read(fd, rest, bytes) : pread(fd, rest, bytes, at + n);
        n += more > 0 ? more : 0;
        if (more < (ssize_t)bytes)
            break;
    }
    return n;
}

#define CALL_PARTS(name, more, rest, from)                                                                                       \
    static ssize_t (*next_##name)(int fd, const struct iovec *parts, int count more);                                            \
    __attribute__((constructor)) static void find_##name(void)                                                                   \
    {                                                                                                                            \
        next_##name = (ssize_t(*)(int fd, const struct iovec *parts, int count more))dome__omp_next(#name);                      \
    }                                                                                                                            \
    ssize_t own_##name(int fd, const struct iovec *parts, int count more) __asm__("dome__c_" #name);                             \
    ssize_t own_##name(int fd, const struct iovec *parts, int count more)                                                        \
    {                                                                                                                            \
        if (!next_##name)                                                                                                        \
            find_##name();                                                                                                       \
        ssize_t n;                                                                                                               \
        int tries = 0;                                                                                                           \
        do {                                                                                                                     \
            if (dome__omp_touches())                                                                                             \
                dome__omp_touch_parts_out(fd, parts, count, from);                                                               \
            n = next_##name(fd, parts, count rest);                                                                              \
        } while (dome__omp_call_again(n < 0, &tries));                                                                           \
        return read_rest(fd, parts, count, from, n);                                                                             \
    }
#define AND_THERE , at

CALL_PARTS(readv, NO_MORE, NO_MORE, BY_PLACE)
CALL_PARTS(preadv, AND_AT, AND_THERE, at)
CALL_PARTS(preadv64, AND_AT, AND_THERE, at)
CALL(ssize_t, preadv2, (int fd, const struct iovec *parts, int count, int64_t at, int flags), (fd, parts, count, at, flags),
     dome__omp_touch_parts_out(fd, parts, count, at))
CALL(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count), dome__omp_touch_parts_in(parts, count))
CALL(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, int64_t at), (fd, parts, count, at),
     dome__omp_touch_parts_in(parts, count))
CALL(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, int64_t at), (fd, parts, count, at),
     dome__omp_touch_parts_in(parts, count))
CALL(ssize_t, pwritev2, (int fd, const struct iovec *parts, int count, int64_t at, int flags), (fd, parts, count, at, flags),
     dome__omp_touch_parts_in(parts, count))

/* ---- streams ---- */

/* What is large, and all where a stream has no buffer, the C library reads into the memory it is given. So that is the task's
 * own. */
static char bounce[1 << 16];
static bool is_used; /* a signal handler may read, too */

typedef size_t read_function(void *to, size_t bytes, size_t n, FILE *file);

static size_t read_stream(read_function *next, void *to, size_t bytes, size_t n, FILE *file)
{
    size_t all, done = 0;
    dome__omp_stream_read(file);
    if (!dome__omp_touches() || is_used || bytes == 0)
        return next(to, bytes, n, file);
    if (__builtin_mul_overflow(bytes, n, &all))
        all = SIZE_MAX;
    is_used = true;
    while (done < all) {
        const size_t part = all - done < sizeof bounce ? all - done : sizeof bounce, got = next(bounce, 1, part, file);
        memcpy((char *)to + done, bounce, got);
        done += got;
        if (got < part)
            break;
    }
    is_used = false;
    return done / bytes;
}

#define CALL_STREAM(name)                                                                                                        \
    static read_function *next_##name;                                                                                           \
    __attribute__((constructor)) static void find_##name(void)                                                                   \
    {                                                                                                                            \
        next_##name = (read_function *)dome__omp_next(#name);                                                                    \
    }                                                                                                                            \
    read_function own_##name __asm__("dome__c_" #name);                                                                          \
    size_t own_##name(void *to, size_t bytes, size_t n, FILE *file)                                                              \
    {                                                                                                                            \
        if (!next_##name)                                                                                                        \
            find_##name();                                                                                                       \
        return read_stream(next_##name, to, bytes, n, file);                                                                     \
    }

CALL_STREAM(fread)
CALL_STREAM(fread_unlocked)

/* With -D_FORTIFY_SOURCE. */
size_t own_fread_chk(void *to, size_t room, size_t bytes, size_t n, FILE *file) __asm__("dome__c___fread_chk");
size_t own_fread_chk(void *to, size_t room, size_t bytes, size_t n, FILE *file)
{
    typedef size_t checked_function(void *, size_t, size_t, size_t, FILE *);
    size_t all;
    if (__builtin_mul_overflow(bytes, n, &all) || all > room)
        return ((checked_function *)dome__omp_next("__fread_chk"))(to, room, bytes, n, file); /* it ends the program */
    return own_fread(to, bytes, n, file);
}

/* A buffer that the program gives would be read and written by the system when another task has its page. The stream has one of
 * its own instead. */
int own_setvbuf(FILE *file, char *buffer, int mode, size_t bytes) __asm__("dome__c_setvbuf");
int own_setvbuf(FILE *file, char *buffer, int mode, size_t bytes)
{
    typedef int function(FILE *, char *, int, size_t);
    return ((function *)dome__omp_next("setvbuf"))(file, dome__omp_touches() ? NULL : buffer, mode, bytes);
}

void own_setbuf(FILE *file, char *buffer) __asm__("dome__c_setbuf");
void own_setbuf(FILE *file, char *buffer)
{
    own_setvbuf(file, buffer, buffer ? _IOFBF : _IONBF, BUFSIZ);
}

void own_setbuffer(FILE *file, char *buffer, size_t bytes) __asm__("dome__c_setbuffer");
void own_setbuffer(FILE *file, char *buffer, size_t bytes)
{
    own_setvbuf(file, buffer, buffer ? _IOFBF : _IONBF, bytes);
}
