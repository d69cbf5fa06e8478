/* The tasks' output, and the hub's own lines. A slow reader slows only the tasks that write, not the hub. */
#include "hub/hub_private.h"
#include "system/say.h"
#include "system/terminal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

static bool one_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void dome__hub_output_open(hub_state *s)
{
    s->output.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->output.queues[0] = dome__output_queue_open(STDOUT_FILENO, s->output.bell);
    s->output.queues[1] =
        one_file(STDOUT_FILENO, STDERR_FILENO) ? s->output.queues[0] : dome__output_queue_open(STDERR_FILENO, s->output.bell);
}

static dome_output_queue *queue_of(const hub_state *s, int fd)
{
    return s->output.queues[fd == STDERR_FILENO];
}

static int stream_of(const hub_client *c)
{
    return c->channel == DOME_WIRE_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
}

void dome__hub_write_by(hub_state *s, dome_output_write function, dome_output_sync sync, void *context)
{
    dome__output_queue_write_by(s->output.queues[0], function, sync, context);
}

void dome__hub_write(hub_state *s, int fd, const char *text, size_t length)
{
    dome__output_queue_put(queue_of(s, fd), text, length);
}

void dome__hub_print(hub_state *s, int fd, const char *text)
{
    dome__output_queue_put(queue_of(s, fd), text, strlen(text));
}

void dome__hub_say(hub_state *s, const char *text)
{
    char *line = dome__say_line(text);
    dome__hub_print(s, STDERR_FILENO, line);
    g_free(line);
}

static size_t both(const hub_state *s, size_t (*of)(dome_output_queue *queue))
{
    return of(s->output.queues[0]) + (s->output.queues[1] != s->output.queues[0] ? of(s->output.queues[1]) : 0);
}

size_t dome__hub_output_waiting(const hub_state *s)
{
    return both(s, dome__output_queue_waiting);
}

size_t dome__hub_output_written(const hub_state *s)
{
    return both(s, dome__output_queue_written);
}

void dome__hub_flush(hub_state *s, double seconds)
{
    double until = dome__hub_now() + seconds;
    while (dome__hub_output_waiting(s) && dome__hub_now() < until) {
        struct pollfd p = {.fd = s->output.bell, .events = POLLIN};
        uint64_t rung;
        if (poll(&p, 1, 10) > 0 && read(s->output.bell, &rung, sizeof rung) < 0)
            return;
    }
}

bool dome__hub_holds_stream(const hub_state *s, int stream)
{
    return dome__output_queue_full(queue_of(s, stream));
}

bool dome__hub_holds(const hub_state *s, const hub_client *c)
{
    return dome__hub_is_output(c) && dome__hub_holds_stream(s, stream_of(c));
}

void dome__hub_relay(hub_state *s, hub_client *c, bool last)
{
    if (c->channel == DOME_WIRE_STDOUT && dome__hub_once_take(s, c))
        return;
    const char *clear = dome__terminal_clear(stream_of(c));
    GString *text = g_string_new(NULL);
    guint done = 0;
    for (;;) {
        const guint8 *line = c->in->data + done, *end = c->in->len > done ? memchr(line, '\n', c->in->len - done) : NULL;
        guint length = end ? (guint)(end - line) + 1 : c->in->len - done;
        if (!length || (!end && !last && length < 8192))
            break;
        /* Drop messages of PVM's library about the end of its daemon, which the hub reports itself. */
        bool word = c->channel == DOME_WIRE_STDERR && length > 8 && memcmp(line, "libpvm [", 8) == 0;
        if (!word) {
            g_string_append_printf(text, "%s[%d] ", clear, c->rank);
            g_string_append_len(text, (const char *)line, length);
            g_string_append(text, end ? "" : "\n");
        }
        done += length;
    }
    if (done)
        g_byte_array_remove_range(c->in, 0, done);
    dome__output_queue_put(queue_of(s, stream_of(c)), text->str, text->len);
    g_string_free(text, TRUE);
}

void dome__hub_output_held(hub_state *s)
{
    s->output.held_at = s->now;
}

void dome__hub_output_rung(hub_state *s)
{
    uint64_t rung;
    if (read(s->output.bell, &rung, sizeof rung) < 0)
        dome__hub_output_held(s); /* it rings again */
}

int dome__hub_output_error(const hub_state *s)
{
    const int error = dome__output_queue_error(s->output.queues[0]);
    return error == EPIPE ? 0 : error; /* a reader that has enough, such as `head` */
}

/* Does not block: a writable stream has room for a line. */
static void say_dropped(size_t bytes)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&p, 1, 0) > 0 && (p.revents & POLLOUT))
        dome__say_at_once("nobody read the program's output: its last %zu bytes are dropped", bytes);
}

void dome__hub_output_close(hub_state *s)
{
    size_t left = dome__hub_output_waiting(s);
    if (left > 0) { /* the thread is still writing, and ends with this process */
        say_dropped(left);
        return;
    }
    if (s->output.queues[1] != s->output.queues[0])
        dome__output_queue_close(s->output.queues[1]);
    dome__output_queue_close(s->output.queues[0]);
    close(s->output.bell);
}

void dome__hub_say_once(hub_state *s, char **said, const char *who, const char *text)
{
    if (g_strcmp0(text, *said) == 0)
        return;
    g_free(*said);
    *said = g_strdup(text);
    char *line = g_strdup_printf("%s: %s", who, text);
    dome__hub_say(s, line);
    g_free(line);
}
