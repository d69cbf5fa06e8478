/* A library to preload into a program: it makes one call of a process fail, cuts it short, or kills or stops the process there.
 *
 *     INJECT=CALL:NUMBER[+]:ACTION:TEXT
 *
 * The NUMBER-th call (from 1; with + all later ones, too) of CALL on a file whose path contains TEXT does ACTION: an errno's
 * number, "short" (half of a write), "kill", "stop", "alter" (what is sent or received differs in a bit) or "daemon" (kills the
 * PVM daemon of this host, and goes on when it is gone). CALL is open, write, fsync, rename, link, unlink, allocate, truncate,
 * send, recv or memfd; the path of a socket contains "socket:", that of a file in memory is its name.
 *
 *     INJECT_DAEMON=PID
 *
 * The daemon, if it is not that of $PVMSOCK.
 *
 *     INJECT_TASKS=first|others
 *
 * Only in processes that were started by a user, or only in those that joined a program.
 *
 *     INJECT_ONCE=FILE
 *
 * Once, in the first process that does so after FILE was made; it removes the file.
 *
 *     INJECT_CLOCK=PERIOD:SECONDS
 *
 * The time of day jumps ahead by SECONDS every second period of PERIOD milliseconds, and back; with a PERIOD of 0, every second
 * time that the process reads it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SHORT = -1, ALTER = -2 };

static char call[16], action[16], text[256];
static const char *once;
static int number, seen, clock_period, clock_jump;
static bool active, all_later;

__attribute__((constructor)) static void read_environment(void)
{
    const char *inject = getenv("INJECT"), *tasks = getenv("INJECT_TASKS"), *clock = getenv("INJECT_CLOCK");
    char count[16];
    if (clock)
        sscanf(clock, "%d:%d", &clock_period, &clock_jump);
    if (!inject || sscanf(inject, "%15[^:]:%15[^:]:%15[^:]:%255s", call, count, action, text) != 4)
        return;
    number = atoi(count);
    all_later = strchr(count, '+') != NULL;
    bool joins = getenv("DOME_JOIN") != NULL;
    once = getenv("INJECT_ONCE");
    active = !tasks || joins == (strcmp(tasks, "others") == 0);
}

/* 0: not known. */
static pid_t daemon_pid(void)
{
    const char *given = getenv("INJECT_DAEMON"), *path = getenv("PVMSOCK");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct ucred who = {0};
    socklen_t length = sizeof who;
    if (given)
        return atoi(given);
    if (!path || strlen(path) >= sizeof to.sun_path)
        return 0;
    memcpy(to.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length);
    if (fd >= 0)
        close(fd);
    return who.pid;
}

/* A process that has ended has no program, also while its parent has not waited for it. */
static void kill_daemon(void)
{
    char link[64], target[16];
    pid_t pid = daemon_pid();
    if (pid <= 0 || kill(pid, SIGKILL) < 0)
        return;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    for (int i = 0; i < 5000 && readlink(link, target, sizeof target) >= 0; i++)
        usleep(1000);
}

/* 0: the call is made; SHORT; ALTER; or the errno it fails with. */
static int outcome(const char *what, const char *path)
{
    if (!active || strcmp(what, call) != 0 || !path || !strstr(path, text))
        return 0;
    int n = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
    if (n != number && !(all_later && n > number))
        return 0;
    if (once && syscall(SYS_unlink, once) != 0)
        return 0;
    if (strcmp(action, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(action, "stop") == 0) {
        kill(getpid(), SIGSTOP);
        return 0;
    }
    if (strcmp(action, "daemon") == 0) {
        kill_daemon();
        return 0;
    }
    if (strcmp(action, "alter") == 0)
        return ALTER;
    return strcmp(action, "short") == 0 ? SHORT : atoi(action);
}

static int outcome_at(const char *what, int fd)
{
    if (!active)
        return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return outcome(what, path);
}

#define NEXT(type, name, ...)                                                                                                    \
    static type (*next)(__VA_ARGS__);                                                                                            \
    if (!next)                                                                                                                   \
    next = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define FAIL_IF(error)                                                                                                           \
    do {                                                                                                                         \
        int error_ = (error);                                                                                                    \
        if (error_ > 0) {                                                                                                        \
            errno = error_;                                                                                                      \
            return -1;                                                                                                           \
        }                                                                                                                        \
    } while (0)

/* ---- descriptors ---- */

ssize_t write(int fd, const void *data, size_t n)
{
    NEXT(ssize_t, write, int, const void *, size_t);
    int what = outcome_at("write", fd);
    FAIL_IF(what);
    return next(fd, data, what == SHORT && n > 1 ? n / 2 : n);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    NEXT(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    int what = outcome_at("write", fd);
    FAIL_IF(what);
    return next(fd, data, what == SHORT && n > 1 ? n / 2 : n, at);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    return pwrite64(fd, data, n, at);
}

int fsync(int fd)
{
    NEXT(int, fsync, int);
    FAIL_IF(outcome_at("fsync", fd));
    return next(fd);
}

int fdatasync(int fd)
{
    NEXT(int, fdatasync, int);
    FAIL_IF(outcome_at("fsync", fd));
    return next(fd);
}

int ftruncate64(int fd, off64_t length)
{
    NEXT(int, ftruncate64, int, off64_t);
    FAIL_IF(outcome_at("truncate", fd));
    return next(fd, length);
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

int posix_fallocate64(int fd, off64_t at, off64_t length)
{
    NEXT(int, posix_fallocate64, int, off64_t, off64_t);
    int what = outcome_at("allocate", fd);
    return what > 0 ? what : next(fd, at, length);
}

int posix_fallocate(int fd, off_t at, off_t length)
{
    return posix_fallocate64(fd, at, length);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
    NEXT(ssize_t, send, int, const void *, size_t, int);
    int what = outcome_at("send", fd);
    FAIL_IF(what);
    if (what != ALTER || n == 0)
        return next(fd, data, n, flags);
    char *copy = malloc(n);
    if (!copy)
        abort();
    memcpy(copy, data, n);
    copy[n / 2] ^= 0x10;
    ssize_t sent = next(fd, copy, n, flags);
    free(copy);
    return sent;
}

ssize_t recv(int fd, void *data, size_t n, int flags)
{
    NEXT(ssize_t, recv, int, void *, size_t, int);
    ssize_t got = next(fd, data, n, flags); /* before the outcome: often there is nothing */
    if (got > 0 && outcome_at("recv", fd) == ALTER)
        ((char *)data)[got / 2] ^= 0x10;
    return got;
}

int memfd_create(const char *name, unsigned flags)
{
    NEXT(int, memfd_create, const char *, unsigned);
    FAIL_IF(outcome("memfd", name));
    return next(name, flags);
}

/* ---- paths ---- */

static mode_t mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

int open64(const char *path, int flags, ...)
{
    NEXT(int, open64, const char *, int, ...);
    va_list more;
    va_start(more, flags);
    mode_t mode = mode_of(flags, more);
    va_end(more);
    FAIL_IF(outcome("open", path));
    return next(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = mode_of(flags, more);
    va_end(more);
    return open64(path, flags, mode);
}

/* A path below a folder that is open. */
static int outcome_below(const char *what, int folder, const char *path)
{
    if (!active)
        return 0;
    if (folder == AT_FDCWD || path[0] == '/')
        return outcome(what, path);
    char link[64], all[8192];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, all, 4096);
    if (length < 0)
        return 0;
    snprintf(all + length, sizeof all - (size_t)length, "/%s", path);
    return outcome(what, all);
}

int openat64(int folder, const char *path, int flags, ...)
{
    NEXT(int, openat64, int, const char *, int, ...);
    va_list more;
    va_start(more, flags);
    mode_t mode = mode_of(flags, more);
    va_end(more);
    FAIL_IF(outcome_below("open", folder, path));
    return next(folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = mode_of(flags, more);
    va_end(more);
    return openat64(folder, path, flags, mode);
}

int rename(const char *from, const char *to)
{
    NEXT(int, rename, const char *, const char *);
    FAIL_IF(outcome("rename", from));
    return next(from, to);
}

int renameat(int folder, const char *from, int folder_to, const char *to)
{
    NEXT(int, renameat, int, const char *, int, const char *);
    FAIL_IF(outcome_below("rename", folder, from));
    return next(folder, from, folder_to, to);
}

int linkat(int folder, const char *from, int folder_to, const char *to, int flags)
{
    NEXT(int, linkat, int, const char *, int, const char *, int);
    FAIL_IF(outcome_below("link", folder_to, to));
    return next(folder, from, folder_to, to, flags);
}

int unlink(const char *path)
{
    NEXT(int, unlink, const char *);
    FAIL_IF(outcome("unlink", path));
    return next(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    NEXT(int, unlinkat, int, const char *, int);
    FAIL_IF(outcome_below("unlink", folder, path));
    return next(folder, path, flags);
}

/* ---- the time of day ---- */

static int monotonic_ms(void)
{
    struct timespec t;
    NEXT(int, clock_gettime, clockid_t, struct timespec *);
    next(CLOCK_MONOTONIC, &t);
    return (int)(t.tv_sec % 1000000 * 1000 + t.tv_nsec / 1000000);
}

static int jump(void)
{
    static int calls;
    if (!clock_jump)
        return 0;
    int n = clock_period > 0 ? monotonic_ms() / clock_period : __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    return n % 2 ? clock_jump : 0;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    NEXT(int, clock_gettime, clockid_t, struct timespec *);
    int status = next(id, t);
    if (status == 0 && id == CLOCK_REALTIME)
        t->tv_sec += jump();
    return status;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *t = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t)
        *t = now.tv_sec;
    return now.tv_sec;
}
