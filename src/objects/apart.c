#include "objects/apart.h"

#include "core/time.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t LIMIT_NS = UINT64_C(60000000000);

static void write_all(int fd, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t n = write(fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(1);
        at += n;
        bytes -= (size_t)n;
    }
}

/* In the child: it dies as quietly as it can, and with its parent. */
static void run(void *(*function)(void *ctx, size_t *bytes), void *ctx, int fd)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    size_t bytes = 0;
    void *found = function(ctx, &bytes);
    uint64_t length = bytes;
    write_all(fd, &length, sizeof length);
    write_all(fd, found, bytes);
    _exit(0);
}

/* Reads what the child has announced, to the end of the time at most; whether all of it has come. The end of the pipe is not
 * waited for: a process that another thread has forked meanwhile may keep it open. */
static bool read_all(int fd, GByteArray *data, bool *late)
{
    uint64_t begin = dome__now_ns(), length = 0;
    for (;;) {
        uint8_t piece[65536];
        uint64_t passed = dome__since_ns(begin);
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        *late = passed >= LIMIT_NS;
        if (*late)
            return false;
        int n = poll(&ready, 1, (int)((LIMIT_NS - passed) / 1000000) + 1);
        if (n <= 0)
            continue;
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        g_byte_array_append(data, piece, (guint)got);
        if (data->len < sizeof length)
            continue;
        memcpy(&length, data->data, sizeof length);
        if (data->len - sizeof length >= length)
            return data->len - sizeof length == length;
    }
    return false;
}

void *dome__apart(void *(*function)(void *ctx, size_t *bytes), void *ctx, size_t *bytes, const char **reason)
{
    int ends[2];
    *reason = NULL;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    pid_t pid = fork();
    if (pid == 0)
        run(function, ctx, ends[1]);
    int error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = error;
        return NULL;
    }
    GByteArray *data = g_byte_array_new();
    bool late = false, good = read_all(ends[0], data, &late);
    close(ends[0]);
    if (!good)
        kill(pid, SIGKILL); /* if it has not ended */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    void *found = NULL;
    if (good) {
        *bytes = data->len - sizeof(uint64_t);
        found = g_malloc(*bytes + 1);
        memcpy(found, data->data + sizeof(uint64_t), *bytes);
    } else {
        *reason = late ? "does not end" : "crashes";
    }
    g_byte_array_unref(data);
    return found;
}
