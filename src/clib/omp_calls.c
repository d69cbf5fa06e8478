/* Functions of the C library that hand the program's memory to the system (omp_call.h). Less common ones: omp_more_calls.c. */
#include "clib/omp_call.h"

#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void touch_message(const struct msghdr *message, bool write)
{
    dome__omp_touch(message, sizeof *message, write);
    dome__omp_touch(message->msg_name, message->msg_namelen, write);
    dome__omp_touch(message->msg_control, message->msg_controllen, write);
    if (write)
        dome__omp_touch_parts_out(-1, message->msg_iov, (int)message->msg_iovlen, -1);
    else
        dome__omp_touch_parts_in(message->msg_iov, (int)message->msg_iovlen);
}

/* ---- descriptors ---- */

/* The system stops at the end of a page where the next one has been taken meanwhile. What is no file may have had no more. */
bool dome__omp_call_goes_on(int fd, const char *stopped, int *tries)
{
    enum { PAGE = 4096, MOST = 1000 };
    return (uintptr_t)stopped % PAGE == 0 && dome__omp_touches() && ++*tries < MOST && lseek(fd, 0, SEEK_CUR) >= 0;
}

enum { FEW = 1 << 20, MOST = 0x7ffff000 }; /* that need no question; that one call moves */

size_t dome__omp_readable(int fd, size_t bytes, int64_t at)
{
    struct stat status;
    if (bytes <= FEW)
        return bytes;
    if (fstat(fd, &status) || !(S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)))
        return FEW;
    const int64_t from = at >= 0 ? at : lseek(fd, 0, SEEK_CUR), left = (int64_t)status.st_size - from;
    const size_t there = S_ISBLK(status.st_mode) ? MOST : left > FEW ? (size_t)left : FEW; /* some that have more say 0 */
    return bytes < there ? bytes : there;
}

CALL_READ(read, NO_MORE, NO_MORE, BY_PLACE)
CALL(ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes), IN(from, bytes))
CALL_READ(pread, AND_AT, AT_BEHIND, BEHIND)
CALL_READ(pread64, AND_AT, AT_BEHIND, BEHIND)
CALL(ssize_t, pwrite, (int fd, const void *from, size_t bytes, int64_t at), (fd, from, bytes, at), IN(from, bytes))
CALL(ssize_t, pwrite64, (int fd, const void *from, size_t bytes, int64_t at), (fd, from, bytes, at), IN(from, bytes))
CALL(ssize_t, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags), OUT(to, bytes))
CALL(ssize_t, send, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags), IN(from, bytes))
CALL(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), touch_message(message, true))
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), touch_message(message, false))
CALL(int, pipe, (int *fds), (fds), OUT(fds, 2 * sizeof *fds))
CALL(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout), OUT(fds, count * sizeof *fds))
CALL(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout), (n, r, w, e, timeout), OUT(r, sizeof *r);
     OUT(w, sizeof *w); OUT(e, sizeof *e); OUT(timeout, sizeof *timeout))

/* ---- streams: what is large goes past their buffers ---- */

CALL(size_t, fwrite, (const void *from, size_t bytes, size_t n, FILE *file), (from, bytes, n, file), IN(from, bytes *n))
CALL(size_t, fwrite_unlocked, (const void *from, size_t bytes, size_t n, FILE *file), (from, bytes, n, file), IN(from, bytes *n))
CALL(int, fputs, (const char *text, FILE *file), (text, file), TEXT(text))
CALL(int, puts, (const char *text), (text), TEXT(text))
CALL(FILE *, freopen, (const char *path, const char *mode, FILE *file), (path, mode, file), TEXT(path); TEXT(mode))
CALL(FILE *, freopen64, (const char *path, const char *mode, FILE *file), (path, mode, file), TEXT(path); TEXT(mode))

/* ---- the same with -D_FORTIFY_SOURCE ---- */

CALL(ssize_t, __read_chk, (int fd, void *to, size_t bytes, size_t room), (fd, to, bytes, room),
     OUT(to, dome__omp_readable(fd, bytes, BY_PLACE)))
CALL(ssize_t, __pread_chk, (int fd, void *to, size_t bytes, int64_t at, size_t room), (fd, to, bytes, at, room),
     OUT(to, dome__omp_readable(fd, bytes, at)))
CALL(ssize_t, __pread64_chk, (int fd, void *to, size_t bytes, int64_t at, size_t room), (fd, to, bytes, at, room),
     OUT(to, dome__omp_readable(fd, bytes, at)))
CALL(ssize_t, __recv_chk, (int fd, void *to, size_t bytes, size_t room, int flags), (fd, to, bytes, room, flags), OUT(to, bytes))
CALL(ssize_t, __readlink_chk, (const char *path, char *to, size_t bytes, size_t room), (path, to, bytes, room), TEXT(path);
     OUT(to, bytes))

/* ---- files ---- */

CALL(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode), TEXT(path))
CALL(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode), TEXT(path))
CALL(int, openat, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode), TEXT(path))
CALL(int, openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode), TEXT(path))
CALL(int, creat, (const char *path, mode_t mode), (path, mode), TEXT(path))
CALL(int, access, (const char *path, int mode), (path, mode), TEXT(path))
CALL(int, unlink, (const char *path), (path), TEXT(path))
CALL(int, remove, (const char *path), (path), TEXT(path))
CALL(int, rmdir, (const char *path), (path), TEXT(path))
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), TEXT(path))
CALL(int, rename, (const char *from, const char *to), (from, to), TEXT(from); TEXT(to))
CALL(int, stat, (const char *path, struct stat *to), (path, to), TEXT(path); OUT(to, sizeof *to))
CALL(int, stat64, (const char *path, struct stat *to), (path, to), TEXT(path); OUT(to, sizeof *to))
CALL(int, lstat, (const char *path, struct stat *to), (path, to), TEXT(path); OUT(to, sizeof *to))
CALL(int, lstat64, (const char *path, struct stat *to), (path, to), TEXT(path); OUT(to, sizeof *to))
CALL(int, fstat, (int fd, struct stat *to), (fd, to), OUT(to, sizeof *to))
CALL(int, fstat64, (int fd, struct stat *to), (fd, to), OUT(to, sizeof *to))
CALL(int, statfs, (const char *path, struct statfs *to), (path, to), TEXT(path); OUT(to, sizeof *to))
CALL(ssize_t, readlink, (const char *path, char *to, size_t bytes), (path, to, bytes), TEXT(path); OUT(to, bytes))

/* ---- times, and the system ---- */

CALL(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to), OUT(to, sizeof *to))
CALL(int, gettimeofday, (struct timeval * to, void *zone), (to, zone), OUT(to, sizeof *to))
CALL(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest), IN(time, sizeof *time);
     OUT(rest, sizeof *rest))
CALL(int, getrusage, (int who, struct rusage *to), (who, to), OUT(to, sizeof *to))
CALL(clock_t, times, (struct tms * to), (to), OUT(to, sizeof *to))
CALL(int, uname, (struct utsname * to), (to), OUT(to, sizeof *to))
