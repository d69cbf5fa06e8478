/* Standard output that is shown once (wire/shown.h): task 0's, which comes by a pipe or a pseudo-terminal, and with --dome-output
 * all that of the others. */
#include "hub/hub_private.h"
#include "system/say.h"
#include "system/terminal.h"
#include "wire/shown_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct once_task {
    dome_shown shown;
    GString *line; /* of a task other than 0: a line that is to be shown, and not complete */
} once_task;

/* An answer that waits until what comes before it has been written: a loss of this process must not lose what the program never
 * prints again. If there is a copy for other hosts, until it is on the disk: then the loss of this host must not either. */
typedef struct once_owed {
    hub_client *to;
    uint64_t bytes; /* of the stream */
    dome_wire_shown answer;
} once_owed;

/* A task that goes back, and whose process before may have printed more than has come. */
typedef struct once_back {
    hub_client *from;
    dome_wire_shown told;
    double until;
} once_back;

/* Seconds until it goes back all the same: a child of that process may keep its output open. */
static const double PATIENCE = 1;

struct hub_once {
    int fd;   /* where task 0's comes; -1: it is read no more */
    int file; /* of the store */
    dome_shown_store *store;
    GPtrArray *tasks; /* once_task, by rank; NULL: nothing has come */
    GArray *owed;
    GArray *backs;   /* once_back */
    uint64_t before; /* bytes of the stream before those of this hub's queue */
};

/* ---- the stream ---- */

/* Bytes that are written to the stream so far. Lines for standard error may be among them. */
static uint64_t written(const hub_state *s)
{
    return dome__shown_written(dome__shown_writer_of(s->once->store));
}

/* The same with the bytes that wait in the queue. */
static uint64_t stream_bytes(const hub_state *s)
{
    return s->once->before + dome__output_queue_total(s->output.queues[0]);
}

/* Where text begins that is shown now: behind the bytes that clear a bar of progress, which task 0 may have drawn. */
static uint64_t shown_at(const hub_state *s)
{
    return stream_bytes(s) + strlen(dome__terminal_clear(STDOUT_FILENO));
}

/* A hub that was killed may have written a piece to a file that is appended to, and not counted it: the file tells. */
static uint64_t written_before(const hub_state *s, const dome_shown_stream *stream)
{
    const uint64_t all = written(s), now = dome__shown_offset(STDOUT_FILENO), counted = all - stream->since;
    if (now == UINT64_MAX || stream->offset == UINT64_MAX || s->output.queues[0] == s->output.queues[1] ||
        now < stream->offset + counted || now - stream->offset - counted > PIPE_BUF)
        return all;
    return stream->since + now - stream->offset;
}

static ssize_t write_stream(void *store, int fd, const char *text, size_t length)
{
    return dome__shown_store_write(store, fd, text, length);
}

static void sync_stream(void *store, int fd)
{
    dome__shown_store_sync(store, fd);
}

static void say_broken(hub_state *s)
{
    char *broken = dome__shown_store_broken(s->once->store);
    if (!broken)
        return;
    char *text =
        g_strdup_printf("what has been shown cannot be noted in %s: after the loss of this host, lines appear twice", broken);
    dome__hub_say(s, text);
    g_free(text);
    g_free(broken);
}

static void note(hub_state *s, int rank, once_task *task)
{
    dome__shown_store_note(s->once->store, rank, &task->shown);
    say_broken(s);
}

static void note_stream(hub_state *s)
{
    dome__shown_store_note_stream(s->once->store);
    say_broken(s);
}

/* What another hub had not written has not been shown. */
static void take_over(hub_state *s)
{
    hub_once *o = s->once;
    dome_shown_stream *stream = dome__shown_stream_of(o->store);
    dome_shown_writer *writer = dome__shown_writer_of(o->store);
    const uint64_t all = stream->begun ? written_before(s, stream) : written(s);
    if (all != written(s))
        dome__shown_set_written(writer, all);
    for (int r = dome__shown_ranks(o->store) - 1; r >= 0; r--) {
        dome_shown_past *past = dome__shown_past_of(o->store, r);
        if (past && past->begun)
            dome__shown_rewind(past, all, r == 0);
    }
    o->before = all - dome__output_queue_total(s->output.queues[0]);
    stream->since = all;
    stream->offset = dome__shown_offset(STDOUT_FILENO);
    dome__hub_write_by(s, write_stream, sync_stream, o->store);
    say_broken(s);
}

void dome__hub_once_open(hub_state *s)
{
    if (s->hub->rank0_output <= 0)
        return;
    hub_once *o = s->once = g_new0(hub_once, 1);
    o->fd = s->hub->rank0_output;
    o->file = s->hub->shown_fd > 0 ? fcntl(s->hub->shown_fd, F_DUPFD_CLOEXEC, 0) : dome__shown_file();
    o->store = o->file >= 0 ? dome__shown_store_open(o->file) : NULL;
    o->tasks = g_ptr_array_new();
    o->owed = g_array_new(FALSE, FALSE, sizeof(once_owed));
    o->backs = g_array_new(FALSE, FALSE, sizeof(once_back));
    if (o->store)
        take_over(s);
    else
        dome__hub_say(s, "there is no memory to note what has been shown: after a loss, lines appear twice");
}

int dome__hub_once_fd(const hub_state *s)
{
    return s->once ? s->once->fd : -1;
}

/* ---- what tasks print ---- */

/* NULL: it is shown as it comes. */
static once_task *task_of(hub_state *s, int rank)
{
    hub_once *o = s->once;
    if (!o || !o->store || rank < 0 || (rank == 0 && !dome__shown_stream_of(o->store)->begun))
        return NULL;
    if ((guint)rank >= o->tasks->len)
        g_ptr_array_set_size(o->tasks, rank + 1);
    dome_shown_past *past = o->tasks->pdata[rank] ? NULL : dome__shown_past_of(o->store, rank);
    if (past) {
        once_task *task = o->tasks->pdata[rank] = g_new0(once_task, 1);
        dome__shown_begin(&task->shown, past, shown_at(s), s->hub->tells);
        task->line = g_string_new(NULL);
        note_stream(s);
    }
    return o->tasks->pdata[rank];
}

static void show(hub_state *s, const GString *text)
{
    if (text->len)
        dome__hub_print(s, STDOUT_FILENO, dome__terminal_clear(STDOUT_FILENO));
    dome__hub_write(s, STDOUT_FILENO, text->str, text->len);
}

static void show_line(hub_state *s, int rank, once_task *task)
{
    if (task->line->len == 0)
        return;
    char *prefix = g_strdup_printf("[%d] ", rank);
    g_string_prepend(task->line, prefix);
    g_free(prefix);
    if (task->line->str[task->line->len - 1] != '\n')
        g_string_append_c(task->line, '\n');
    show(s, task->line);
    g_string_truncate(task->line, 0);
}

/* Of a task other than 0: line by line, so that it is known behind how many bytes of the stream each ends. */
static void take_lines(hub_state *s, int rank, once_task *task, const char *text, size_t length)
{
    char prefix[16];
    const size_t extra = (size_t)g_snprintf(prefix, sizeof prefix, "[%d] ", rank);
    while (length > 0) {
        const char *end = memchr(text, '\n', length);
        const size_t n = end ? (size_t)(end - text) + 1 : length;
        dome__shown_take(&task->shown, text, n, shown_at(s) + extra, task->line);
        note(s, rank, task);
        if (task->line->len && task->line->str[task->line->len - 1] == '\n')
            show_line(s, rank, task);
        text += n;
        length -= n;
    }
}

static void take_rank0(hub_state *s, const char *text, size_t length)
{
    once_task *task = task_of(s, 0);
    GString *out = g_string_new(NULL);
    if (task) {
        dome__shown_take(&task->shown, text, length, shown_at(s), out);
        note(s, 0, task);
    } else {
        g_string_append_len(out, text, (gssize)length);
    }
    show(s, out);
    g_string_free(out, TRUE);
}

bool dome__hub_once_take(hub_state *s, hub_client *c)
{
    once_task *task = task_of(s, c->rank);
    if (!task)
        return false;
    take_lines(s, c->rank, task, (const char *)c->in->data, c->in->len);
    g_byte_array_set_size(c->in, 0);
    return true;
}

/* The program's next output meets what it would meet without this process: a reader that has enough. */
static void stop_reading(hub_once *o)
{
    close(o->fd);
    o->fd = -1;
}

static char buffer[65536]; /* one thread reads; stacks may be small */

/* Returns how many bytes came. */
static size_t hear_piece(hub_state *s)
{
    hub_once *o = s->once;
    if (o->fd >= 0 && dome__output_queue_error(s->output.queues[0]) == EPIPE)
        stop_reading(o);
    const ssize_t n = o->fd >= 0 ? read(o->fd, buffer, sizeof buffer) : 0;
    if (n > 0)
        take_rank0(s, buffer, (size_t)n);
    return (size_t)MAX(n, 0);
}

bool dome__hub_once_hear(hub_state *s)
{
    return s->once && hear_piece(s) > 0;
}

/* Takes all that this task has printed so far, also beyond what the reader of this process's output has read. */
static void catch_up(hub_state *s, int rank)
{
    once_task *task = task_of(s, rank);
    if (rank == 0)
        while (hear_piece(s) > 0)
            ;
    for (guint i = 0; task && i < s->clients->len && rank != 0; i++) {
        hub_client *c = s->clients->pdata[i];
        if (c->rank != rank || c->closed || !dome__hub_is_output(c) || c->channel != DOME_WIRE_STDOUT)
            continue;
        for (ssize_t n; (n = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0;)
            take_lines(s, rank, task, buffer, (size_t)n);
    }
}

void dome__hub_once_greeted(hub_state *s, const hub_client *c)
{
    hub_once *o = s->once;
    if (!o || c->rank != 0)
        return;
    catch_up(s, 0);
    if (o->store) {
        dome__shown_stream_of(o->store)->begun = 1;
        note_stream(s);
    }
}

/* ---- places ---- */

static void answer(hub_client *c, const dome_wire_shown *told)
{
    dome__hub_send(c, &(dome_wire_message){.kind = DOME_WIRE_SHOWN, .shown = *told});
}

static uint64_t take_place(hub_state *s, const hub_client *c, once_task *task, const dome_wire_shown *told)
{
    GString *out = c->rank == 0 ? g_string_new(NULL) : task->line;
    uint64_t again = 0;
    switch (told->what) {
    case DOME_WIRE_SHOWN_BACK:
        again = dome__shown_back(&task->shown, told->loop);
        break;
    case DOME_WIRE_SHOWN_MADE:
        dome__shown_made(&task->shown);
        break;
    case DOME_WIRE_SHOWN_PASS:
        dome__shown_pass(&task->shown, shown_at(s), out);
        break;
    case DOME_WIRE_SHOWN_MARK:
        dome__shown_mark(&task->shown, told->loop);
        break;
    default:
        break;
    }
    note(s, c->rank, task);
    if (c->rank == 0) {
        show(s, out);
        g_string_free(out, TRUE);
    }
    return again;
}

/* Whether a task is silent, as those of a host that is lost: its connections do not end. */
static bool is_silent(const hub_state *s, const hub_client *output)
{
    bool silent = false;
    for (guint i = 0; i < s->clients->len && !silent; i++) {
        const hub_client *c = s->clients->pdata[i];
        silent = dome__hub_is_watch(c) && c->rank == output->rank && c->view == output->view && c->lost && !c->closed;
    }
    return silent;
}

/* Whether nothing more comes by it: its end is read with all others. */
static bool is_at_end(const hub_client *output)
{
    char byte;
    const ssize_t n = output->closed ? 0 : recv(output->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Whether output of the process that had this rank in a view before may still come: by a connection of its own, which the words
 * of the process of now can overtake. */
static bool is_behind(const hub_state *s, const hub_client *c)
{
    bool behind = false;
    for (guint i = 0; i < s->clients->len && !behind; i++) {
        const hub_client *old = s->clients->pdata[i];
        behind = dome__hub_is_output(old) && old->channel == DOME_WIRE_STDOUT && old->rank == c->rank && old->view < c->view &&
                 !is_at_end(old) && !is_silent(s, old);
    }
    return behind;
}

/* Whether so many bytes of the stream outlive what they are to outlive. What the stream does not take is lost in any case. */
static bool is_safe(const hub_state *s, uint64_t bytes)
{
    dome_output_queue *queue = s->output.queues[0];
    const bool copied = dome__shown_store_has_copy(s->once->store);
    if (dome__output_queue_error(queue) || (!copied && dome__output_queue_waiting(queue) == 0))
        return true;
    return copied ? s->once->before + dome__output_queue_synced(queue) >= bytes : written(s) >= bytes;
}

static void follow(hub_state *s, hub_client *c, const dome_wire_shown *told)
{
    dome_wire_shown said = {told->what, 0};
    once_task *task = task_of(s, c->rank);
    if (task)
        said.loop = take_place(s, c, task, told);
    const bool waits = task && told->what == DOME_WIRE_SHOWN_MARK && s->hub->shown_fd > 0;
    if (waits && dome__shown_store_has_copy(s->once->store))
        dome__output_queue_sync(s->output.queues[0]);
    if (waits && !is_safe(s, stream_bytes(s))) {
        const once_owed owed = {c, stream_bytes(s), said};
        g_array_append_val(s->once->owed, owed);
    } else {
        answer(c, &said);
    }
}

void dome__hub_once_told(hub_state *s, hub_client *c, const dome_wire_shown *told)
{
    if (s->once)
        catch_up(s, c->rank);
    if (s->once && told->what == DOME_WIRE_SHOWN_BACK && is_behind(s, c)) {
        const once_back back = {c, *told, s->now + PATIENCE};
        g_array_append_val(s->once->backs, back);
        return;
    }
    follow(s, c, told);
}

static bool is_there(const hub_state *s, hub_client *c)
{
    return g_ptr_array_find(s->clients, c, NULL) && !c->closed;
}

void dome__hub_once_tick(hub_state *s)
{
    for (guint i = 0; s->once && i < s->once->backs->len;) {
        const once_back back = g_array_index(s->once->backs, once_back, i);
        const bool there = is_there(s, back.from);
        if (there)
            catch_up(s, back.from->rank);
        if (there && s->now < back.until && is_behind(s, back.from)) {
            i++;
            continue;
        }
        g_array_remove_index(s->once->backs, i);
        if (there)
            follow(s, back.from, &back.told);
    }
}

void dome__hub_once_rung(hub_state *s)
{
    if (!s->once)
        return;
    GArray *all = s->once->owed;
    for (guint i = 0; i < all->len;) {
        const once_owed owed = g_array_index(all, once_owed, i);
        const bool there = is_there(s, owed.to);
        if (there && !is_safe(s, owed.bytes)) {
            i++;
            continue;
        }
        g_array_remove_index(all, i);
        if (there)
            answer(owed.to, &owed.answer);
    }
}

/* ---- the end ---- */

void dome__hub_once_rest(hub_state *s)
{
    const bool again = s->hub->shown_fd > 0 && s->failure.told;
    for (guint r = 0; s->once && r < s->once->tasks->len && !again; r++) {
        once_task *task = s->once->tasks->pdata[r];
        if (!task)
            continue;
        GString *out = r == 0 ? g_string_new(NULL) : task->line;
        dome__shown_pass(&task->shown, shown_at(s), out);
        note(s, (int)r, task);
        if (r == 0) {
            show(s, out);
            g_string_free(out, TRUE);
        } else {
            show_line(s, (int)r, task);
        }
    }
}

void dome__hub_once_close(hub_state *s, bool well)
{
    hub_once *o = s->once;
    if (!o)
        return;
    for (guint r = 0; r < o->tasks->len; r++) {
        once_task *task = o->tasks->pdata[r];
        if (task && well)
            dome__shown_end(&task->shown);
    }
    char *differing = o->store && s->hub->shown_fd <= 0 ? dome__shown_differing(o->store) : NULL;
    if (differing)
        dome__say("%s", differing);
    g_free(differing);
    for (guint r = 0; r < o->tasks->len; r++) {
        once_task *task = o->tasks->pdata[r];
        if (task) {
            dome__shown_clear(&task->shown);
            g_string_free(task->line, TRUE);
            g_free(task);
        }
    }
    g_ptr_array_free(o->tasks, TRUE);
    g_array_free(o->owed, TRUE);
    g_array_free(o->backs, TRUE);
    /* The queue may still be counting in the store, which ends with this process. */
}
