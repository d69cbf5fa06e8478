#include "trace/sink.h"

#include "system/io.h"
#include "system/say.h"
#include "system/thread.h"
#include "system/time.h"
#include "trace/chrome.h"
#include "trace/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most bytes that may wait for a slow disk; further lines are left out. */
#define MOST_WAITING (UINT64_C(64) << 20)

/* Seconds for which the end of a program waits for the disk. */
enum { PATIENCE = 10 };

struct dome_trace_sink {
    char *path, *json; /* json: the file that path is converted to at the end; NULL: none */
    int fd;
    int error; /* errno of the write that failed: nothing is written after it */
    GAsyncQueue *queue, *done;
    pthread_t thread;
    bool running;
    gint waiting; /* bytes in the queue */
    uint64_t dropped, bytes;
    GArray *views; /* uint32_t: of the starts but the first */
};

static char *partial_of(const char *path)
{
    return g_str_has_suffix(path, ".json") ? g_strconcat(path, ".partial", NULL) : g_strdup(path);
}

bool dome__trace_path_good(const char *path, char **message)
{
    char *partial = partial_of(path);
    const char *tried = path;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd >= 0 && strcmp(path, partial) != 0) {
        close(fd);
        tried = partial;
        fd = open(partial, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    }
    if (fd >= 0)
        close(fd);
    else
        *message = g_strdup_printf("--dome-trace: %s cannot be written: %s", tried, g_strerror(errno));
    g_free(partial);
    return fd >= 0;
}

/* Writes the queue; an empty text ends the thread. */
static void *write_queue(void *argument)
{
    dome_trace_sink *sink = argument;
    bool more = true;
    while (more) {
        GString *text = g_async_queue_pop(sink->queue);
        more = text->len > 0;
        g_atomic_int_add(&sink->waiting, -(gint)text->len);
        if (!sink->error && !dome__io_write(sink->fd, text->str, text->len))
            sink->error = errno;
        g_string_free(text, TRUE);
    }
    g_async_queue_push(sink->done, sink);
    return NULL;
}

static void give(dome_trace_sink *sink, GString *text)
{
    if ((uint64_t)g_atomic_int_get(&sink->waiting) + text->len > MOST_WAITING) {
        sink->dropped++;
        g_string_free(text, TRUE);
        return;
    }
    if (sink->dropped > 0) {
        char *note = g_strdup_printf("T -\nd %" PRIu64 " %" PRIu64 "\n", dome__now_ns(), sink->dropped);
        g_string_prepend(text, note);
        g_free(note);
        sink->dropped = 0;
    }
    sink->bytes += text->len;
    g_atomic_int_add(&sink->waiting, (gint)text->len);
    g_async_queue_push(sink->queue, text);
}

/* A start of the program. */
static void put_start(GString *head, const char *command)
{
    g_string_append_printf(head, "T -\nH %" PRIu64 " %" PRId64 " %d", dome__now_ns(), g_get_real_time(), (int)getpid());
    dome__trace_put_text(head, g_get_host_name());
    dome__trace_put_text(head, command);
    g_string_append_c(head, '\n');
}

void dome__trace_sink_again(dome_trace_sink *sink, const char *command, uint32_t view)
{
    if (!sink)
        return;
    g_array_append_val(sink->views, view);
    GString *head = g_string_new(NULL);
    put_start(head, command);
    give(sink, head);
}

/* Starts a sink whose path, fd and error are set. */
static dome_trace_sink *begin(dome_trace_sink *sink, const char *command)
{
    sink->queue = g_async_queue_new();
    sink->done = g_async_queue_new();
    sink->views = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    sink->running = dome__thread_start(&sink->thread, write_queue, sink) == 0;
    GString *head = g_string_new(NULL);
    struct stat info;
    if (sink->fd < 0 || fstat(sink->fd, &info) < 0 || info.st_size == 0)
        g_string_append(head, "dome-trace 1\n");
    else
        g_string_append_c(head, '\n'); /* in case the last line is incomplete */
    put_start(head, command);
    give(sink, head);
    return sink;
}

dome_trace_sink *dome__trace_sink_open(const char *path, const char *command, bool append)
{
    dome_trace_sink *sink = g_new0(dome_trace_sink, 1);
    sink->path = partial_of(path);
    if (strcmp(sink->path, path) != 0)
        sink->json = g_strdup(path);
    sink->fd = open(sink->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_APPEND | (append ? 0 : O_TRUNC), 0666);
    sink->error = sink->fd < 0 ? errno : 0;
    return begin(sink, command);
}

dome_trace_sink *dome__trace_sink_open_fd(int fd, const char *command)
{
    dome_trace_sink *sink = g_new0(dome_trace_sink, 1);
    sink->path = g_strdup("");
    sink->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    sink->error = sink->fd < 0 ? errno : 0;
    return begin(sink, command);
}

uint64_t dome__trace_sink_bytes(const dome_trace_sink *sink)
{
    return sink->bytes;
}

const char *dome__trace_sink_path(const dome_trace_sink *sink)
{
    return sink->path;
}

/* How many starts have followed that of a view. */
static guint starts_since(const dome_trace_sink *sink, uint32_t view)
{
    guint count = 0;
    while (count < sink->views->len && g_array_index(sink->views, uint32_t, sink->views->len - 1 - count) > view)
        count++;
    return count;
}

void dome__trace_sink_take(dome_trace_sink *sink, uint32_t view, int rank, const char *lines, size_t length)
{
    if (!sink || length == 0)
        return;
    const guint since = starts_since(sink, view);
    GString *text = g_string_sized_new(length + 24);
    g_string_append_printf(text, since ? "T %d %u\n" : "T %d\n", rank, since);
    g_string_append_len(text, lines, (gssize)length);
    give(sink, text);
}

void dome__trace_sink_failure(dome_trace_sink *sink, const char *line)
{
    if (!sink)
        return;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "T -\nF %" PRIu64, dome__now_ns());
    char *words = dome__say_text(line);
    dome__trace_put_text(text, words);
    g_free(words);
    g_string_append_c(text, '\n');
    give(sink, text);
}

void dome__trace_sink_line(dome_trace_sink *sink, const char *line)
{
    if (!sink)
        return;
    GString *text = g_string_new("T -\n");
    g_string_append(text, line);
    give(sink, text);
}

/* continues: the program may be restarted, which needs PATH.partial. */
static void close_sink(dome_trace_sink *sink, bool continues)
{
    g_async_queue_push(sink->queue, g_string_new(NULL));
    if (sink->running && !g_async_queue_timeout_pop(sink->done, PATIENCE * G_USEC_PER_SEC)) {
        if (sink->path[0])
            dome__say("the trace %s is not whole: the disk does not take it", sink->path);
        return; /* the thread is still at work, so nothing may be freed */
    }
    if (sink->running)
        pthread_join(sink->thread, NULL);
    if (sink->fd >= 0 && close(sink->fd) < 0 && !sink->error)
        sink->error = errno;
    char *message = NULL;
    if (!sink->path[0])
        ; /* the user did not ask for this recording: no message */
    else if (sink->error)
        dome__say("the trace %s is not whole: %s", sink->path, g_strerror(sink->error));
    else if (sink->json && !dome__trace_convert(sink->path, sink->json, &message))
        dome__say("the trace stays in %s: %s", sink->path, message);
    else if (sink->json && !continues)
        unlink(sink->path);
    g_free(message);
    g_async_queue_unref(sink->queue);
    g_async_queue_unref(sink->done);
    g_array_unref(sink->views);
    g_free(sink->path);
    g_free(sink->json);
    g_free(sink);
}

void dome__trace_sink_close(dome_trace_sink *sink, int exit_status, bool supervised)
{
    if (!sink)
        return;
    GString *last = g_string_new(NULL);
    g_string_append_printf(last, "T -\nZ %" PRIu64 " %d\n", dome__now_ns(), exit_status);
    give(sink, last);
    close_sink(sink, exit_status && supervised);
}

void dome__trace_sink_leave(dome_trace_sink *sink)
{
    if (sink)
        close_sink(sink, false);
}
