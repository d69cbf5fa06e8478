#include "files/isolated.h"

#include "system/child.h"
#include "system/deadline.h"
#include "system/sockets.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SECONDS = 60 };

struct dome_isolated_process {
    pid_t pid;          /* 0: it has ended */
    int fd;             /* of a stream socket to it */
    const char *reason; /* why it has not answered */
};

/* Questions and answers are a length, as 64 bits, and so many bytes. */

static bool write_text(int fd, const void *text, size_t bytes)
{
    const uint64_t length = bytes;
    return dome__socket_send(fd, &length, sizeof length) && dome__socket_send(fd, text, bytes);
}

/* In the child, which dies as quietly as it can. */
static void run(dome_isolated_function function, void *ctx, int fd)
{
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (uint64_t length; dome__socket_receive(fd, &length, sizeof length);) {
        size_t bytes = 0;
        void *question = g_malloc((gsize)length + 1);
        if (!dome__socket_receive(fd, question, (size_t)length))
            break;
        void *found = function(ctx, question, (size_t)length, &bytes);
        if (!write_text(fd, found, bytes))
            break;
        g_free(found);
        g_free(question);
    }
    _exit(0);
}

/* Reads what the child has announced, to the end of the time at most; whether all of it has come. The end of the socket is not
 * waited for: a process that another thread has forked meanwhile may keep it open. */
static bool read_all(int fd, GByteArray *data, bool *late)
{
    const dome_deadline until = dome__deadline_in(SECONDS);
    uint64_t length = 0;
    uint8_t piece[8192];
    ssize_t got;
    while ((got = dome__deadline_read(fd, piece, sizeof piece, until)) > 0) {
        g_byte_array_append(data, piece, (guint)got);
        if (data->len < sizeof length)
            continue;
        memcpy(&length, data->data, sizeof length);
        if (data->len - sizeof length >= length)
            return data->len - sizeof length == length;
    }
    *late = got < 0 && errno == ETIMEDOUT;
    return false;
}

/* Ends the process at once if it has not ended. */
static void stop(dome_isolated_process *p)
{
    if (p->pid == 0)
        return;
    close(p->fd);
    dome__child_kill(p->pid);
    p->pid = 0;
}

dome_isolated_process *dome__isolated_begin(dome_isolated_function function, void *ctx)
{
    const dome_child_setup setup = {.line = DOME_CHILD_TALKS, .unblocked = true, .handles_none = true, .with_parent = true};
    int fd;
    pid_t pid = dome__child_fork(&setup, &fd);
    if (pid == 0)
        run(function, ctx, fd);
    if (pid < 0)
        return NULL;
    dome_isolated_process *p = g_new(dome_isolated_process, 1);
    *p = (dome_isolated_process){.pid = pid, .fd = fd};
    return p;
}

void *dome__isolated_ask(dome_isolated_process *p, const void *question, size_t question_bytes, size_t *bytes,
                         const char **reason)
{
    *reason = p->reason;
    if (p->pid == 0)
        return NULL;
    GByteArray *data = g_byte_array_new();
    bool late = false;
    void *found = NULL;
    if (write_text(p->fd, question, question_bytes) && read_all(p->fd, data, &late)) {
        *bytes = data->len - sizeof(uint64_t);
        found = g_malloc(*bytes + 1);
        memcpy(found, data->data + sizeof(uint64_t), *bytes);
    } else {
        *reason = p->reason = late ? "does not end" : "crashes";
        stop(p);
    }
    g_byte_array_unref(data);
    return found;
}

void dome__isolated_end(dome_isolated_process *p)
{
    if (p)
        stop(p);
    g_free(p);
}

/* ---- one question ---- */

typedef struct single {
    void *(*function)(void *ctx, size_t *bytes);
    void *ctx;
} single;

static void *answer_single(void *ctx, const void *question, size_t question_bytes, size_t *bytes)
{
    const single *s = ctx;
    (void)question, (void)question_bytes;
    return s->function(s->ctx, bytes);
}

void *dome__isolated_call(void *(*function)(void *ctx, size_t *bytes), void *ctx, size_t *bytes, const char **reason)
{
    single s = {function, ctx};
    dome_isolated_process *p = dome__isolated_begin(answer_single, &s);
    *reason = NULL;
    void *found = p ? dome__isolated_ask(p, NULL, 0, bytes, reason) : NULL;
    int error = errno;
    dome__isolated_end(p);
    errno = error;
    return found;
}
