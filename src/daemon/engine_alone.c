/* The group of a host that is alone: what is sent comes back at the next dispatch. */
#include "daemon/engine.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

struct dome_engine {
    dome_engine_events events;
    bool told; /* who is there: this host */
    GQueue *queue;
    int ends[2]; /* a pipe with a byte for each message */
};

static void bell(dome_engine *e)
{
    /* Full is as good: it can be read. */
    const ssize_t ignored = write(e->ends[1], "", 1);
    (void)ignored;
}

static dome_engine *open_alone(const dome_engine_events *events, char **message)
{
    dome_engine *e = g_new0(dome_engine, 1);
    GError *error = NULL;
    e->events = *events;
    if (!g_unix_open_pipe(e->ends, FD_CLOEXEC, &error)) {
        *message = g_strdup(error->message);
        g_error_free(error);
        g_free(e);
        return NULL;
    }
    g_unix_set_fd_nonblocking(e->ends[0], TRUE, NULL);
    g_unix_set_fd_nonblocking(e->ends[1], TRUE, NULL);
    e->queue = g_queue_new();
    bell(e);
    return e;
}

static void close_alone(dome_engine *e)
{
    close(e->ends[0]);
    close(e->ends[1]);
    g_queue_free_full(e->queue, g_free);
    g_free(e);
}

static uint32_t node(const dome_engine *e)
{
    (void)e;
    return 1;
}

static int fd(const dome_engine *e)
{
    return e->ends[0];
}

static bool dispatch(dome_engine *e)
{
    const uint32_t here = 1;
    char bytes[256];
    while (read(e->ends[0], bytes, sizeof bytes) > 0)
        continue;
    if (!e->told) {
        e->told = true;
        e->events.members(e->events.ctx, &here, 1, NULL, 0);
    }
    for (char *text; (text = g_queue_pop_head(e->queue));) {
        e->events.deliver(e->events.ctx, here, text, strlen(text));
        g_free(text);
    }
    return true;
}

static bool send_alone(dome_engine *e, const char *text, size_t length)
{
    g_queue_push_tail(e->queue, g_strndup(text, length));
    bell(e);
    return true;
}

const dome_engine_kind dome__engine_alone = {"alone", open_alone, close_alone, node, fd, dispatch, send_alone};
