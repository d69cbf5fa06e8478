/* Functions of the C library that hand the program's memory to the system, and are called less often than those of omp_calls.c.
 */
#include "clib/omp_call.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/stat.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---- descriptors ---- */

CALL(ssize_t, sendfile, (int to, int from, int64_t *at, size_t bytes), (to, from, at, bytes), OUT(at, sizeof *at))
CALL(ssize_t, sendfile64, (int to, int from, int64_t *at, size_t bytes), (to, from, at, bytes), OUT(at, sizeof *at))
CALL(ssize_t, copy_file_range, (int from, int64_t *at, int to, int64_t *to_at, size_t bytes, unsigned flags),
     (from, at, to, to_at, bytes, flags), OUT(at, sizeof *at);
     OUT(to_at, sizeof *to_at))
CALL(int, pipe2, (int *fds, int flags), (fds, flags), OUT(fds, 2 * sizeof *fds))
CALL(int, pselect, (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout, const sigset_t *set),
     (n, r, w, e, timeout, set), OUT(r, sizeof *r);
     OUT(w, sizeof *w); OUT(e, sizeof *e); IN(timeout, sizeof *timeout); IN(set, sizeof *set))
CALL(int, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event), (epoll, what, fd, event), IN(event, sizeof *event))
CALL(int, epoll_wait, (int epoll, struct epoll_event *events, int most, int timeout), (epoll, events, most, timeout),
     OUT(events, (size_t)most * sizeof *events))
CALL(ssize_t, getrandom, (void *to, size_t bytes, unsigned flags), (to, bytes, flags), OUT(to, bytes))
CALL(int, getentropy, (void *to, size_t bytes), (to, bytes), OUT(to, bytes))

/* The argument of many is an address; a number is no address that tasks share. */
CALL(int, ioctl, (int fd, unsigned long request, void *argument), (fd, request, argument),
     OUT(argument, _IOC_SIZE(request) ? _IOC_SIZE(request) : 64))

/* ---- sockets ---- */

CALL(ssize_t, recvfrom, (int fd, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *length),
     (fd, to, bytes, flags, from, length), OUT(to, bytes);
     OUT(length, sizeof *length); OUT(from, length ? *length : 0))
CALL(ssize_t, sendto, (int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to, socklen_t length),
     (fd, from, bytes, flags, to, length), IN(from, bytes);
     IN(to, length))
CALL(int, accept, (int fd, struct sockaddr *from, socklen_t *length), (fd, from, length), OUT(length, sizeof *length);
     OUT(from, length ? *length : 0))
CALL(int, accept4, (int fd, struct sockaddr *from, socklen_t *length, int flags), (fd, from, length, flags),
     OUT(length, sizeof *length);
     OUT(from, length ? *length : 0))
CALL(int, connect, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length), IN(to, length))
CALL(int, bind, (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length), IN(to, length))
CALL(int, getsockname, (int fd, struct sockaddr *to, socklen_t *length), (fd, to, length), OUT(length, sizeof *length);
     OUT(to, length ? *length : 0))
CALL(int, getpeername, (int fd, struct sockaddr *to, socklen_t *length), (fd, to, length), OUT(length, sizeof *length);
     OUT(to, length ? *length : 0))
CALL(int, getsockopt, (int fd, int level, int name, void *to, socklen_t *length), (fd, level, name, to, length),
     OUT(length, sizeof *length);
     OUT(to, length ? *length : 0))
CALL(int, setsockopt, (int fd, int level, int name, const void *from, socklen_t length), (fd, level, name, from, length),
     IN(from, length))
CALL(int, socketpair, (int domain, int type, int protocol, int *fds), (domain, type, protocol, fds), OUT(fds, 2 * sizeof *fds))

/* ---- files ---- */

CALL(int, fstatat, (int at, const char *path, struct stat *to, int flags), (at, path, to, flags), TEXT(path); OUT(to, sizeof *to))
CALL(int, fstatat64, (int at, const char *path, struct stat *to, int flags), (at, path, to, flags), TEXT(path);
     OUT(to, sizeof *to))
CALL(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *to), (at, path, flags, mask, to), TEXT(path);
     OUT(to, sizeof *to))
CALL(int, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags), TEXT(path))
CALL(ssize_t, readlinkat, (int at, const char *path, char *to, size_t bytes), (at, path, to, bytes), TEXT(path); OUT(to, bytes))
CALL(int, unlinkat, (int at, const char *path, int flags), (at, path, flags), TEXT(path))
CALL(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), TEXT(path))
CALL(int, renameat, (int at, const char *from, int to_at, const char *to), (at, from, to_at, to), TEXT(from); TEXT(to))
CALL(int, link, (const char *from, const char *to), (from, to), TEXT(from); TEXT(to))
CALL(int, symlink, (const char *from, const char *to), (from, to), TEXT(from); TEXT(to))
CALL(int, truncate, (const char *path, int64_t bytes), (path, bytes), TEXT(path))
CALL(int, truncate64, (const char *path, int64_t bytes), (path, bytes), TEXT(path))
CALL(int, chmod, (const char *path, mode_t mode), (path, mode), TEXT(path))
CALL(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group), TEXT(path))
CALL(int, mkfifo, (const char *path, mode_t mode), (path, mode), TEXT(path))
CALL(int, utimes, (const char *path, const struct timeval *times), (path, times), TEXT(path); IN(times, 2 * sizeof *times))
CALL(int, utimensat, (int at, const char *path, const struct timespec *times, int flags), (at, path, times, flags), TEXT(path);
     IN(times, 2 * sizeof *times))
CALL(int, futimens, (int fd, const struct timespec *times), (fd, times), IN(times, 2 * sizeof *times))
CALL(int, mkstemp, (char *path), (path), OUT(path, strlen(path)))
CALL(int, mkstemp64, (char *path), (path), OUT(path, strlen(path)))
CALL(char *, mkdtemp, (char *path), (path), OUT(path, strlen(path)))

/* ---- children, times, signals ---- */

CALL(pid_t, wait, (int *status), (status), OUT(status, sizeof *status))
CALL(pid_t, waitpid, (pid_t child, int *status, int flags), (child, status, flags), OUT(status, sizeof *status))
CALL(pid_t, wait4, (pid_t child, int *status, int flags, struct rusage *used), (child, status, flags, used),
     OUT(status, sizeof *status);
     OUT(used, sizeof *used))
CALL(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),
     (clock, flags, time, rest), IN(time, sizeof *time);
     OUT(rest, sizeof *rest))
CALL(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to), OUT(to, sizeof *to))
CALL(int, getitimer, (int which, struct itimerval *to), (which, to), OUT(to, sizeof *to))
CALL(int, setitimer, (int which, const struct itimerval *time, struct itimerval *before), (which, time, before),
     IN(time, sizeof *time);
     OUT(before, sizeof *before))
CALL(int, getrlimit, (int which, struct rlimit *to), (which, to), OUT(to, sizeof *to))
CALL(int, getrlimit64, (int which, struct rlimit *to), (which, to), OUT(to, sizeof *to))
CALL(int, setrlimit, (int which, const struct rlimit *from), (which, from), IN(from, sizeof *from))
CALL(int, sysinfo, (struct sysinfo * to), (to), OUT(to, sizeof *to))
CALL(int, sigpending, (sigset_t * to), (to), OUT(to, sizeof *to))
CALL(int, sigsuspend, (const sigset_t *set), (set), IN(set, sizeof *set))
CALL(int, sigwait, (const sigset_t *set, int *number), (set, number), IN(set, sizeof *set); OUT(number, sizeof *number))
CALL(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *time), (set, info, time),
     IN(set, sizeof *set);
     OUT(info, sizeof *info); IN(time, sizeof *time))
