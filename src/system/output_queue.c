#include "system/output_queue.h"

#include "system/thread.h"

#include <glib.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Number of waiting bytes from which the queue is full. */
enum { FULL = 1 << 20 };

/* The most bytes of one write: atomic on a pipe that other processes write to, too. */
enum { PIECE = PIPE_BUF };

struct dome_output_queue {
    int fd, bell;
    pthread_t thread;
    bool running;
    pthread_mutex_t mutex; /* protects the following */
    pthread_cond_t more;
    GString *text;
    bool over, broken;
    bool syncs;              /* a caller has asked for it */
    int error;               /* why it is broken: errno */
    dome_output_write write; /* NULL: write(2) */
    dome_output_sync sync;
    void *context;
    gsize waiting, written; /* bytes: in text, or taken by the thread and not yet written; written so far */
    gsize synced;           /* and of those: on the disk */
};

static bool write_piece(const dome_output_queue *queue, const char *text, size_t length, size_t *written)
{
    const ssize_t n = queue->write ? queue->write(queue->context, queue->fd, text, length) : write(queue->fd, text, length);
    *written = n > 0 ? (size_t)n : 0;
    if (n < 0 && errno == EAGAIN) { /* another process has made it non-blocking */
        struct pollfd p = {.fd = queue->fd, .events = POLLOUT};
        poll(&p, 1, 1000);
        return true;
    }
    return n > 0 || (n < 0 && errno == EINTR);
}

/* The length of the next write: whole lines, unless a line is too long. */
static size_t piece_of(const char *text, size_t length)
{
    if (length <= PIECE)
        return length;
    const char *end = memrchr(text, '\n', PIECE);
    return end ? (size_t)(end - text) + 1 : PIECE;
}

static void ring(const dome_output_queue *queue)
{
    uint64_t one = 1;
    ssize_t ignored = write(queue->bell, &one, sizeof one);
    (void)ignored;
}

static void write_all(dome_output_queue *queue, const GString *text)
{
    bool good = true;
    for (size_t done = 0, n; good && done < text->len; done += n) {
        good = write_piece(queue, text->str + done, piece_of(text->str + done, text->len - done), &n);
        const int error = errno;
        pthread_mutex_lock(&queue->mutex);
        queue->waiting -= n;
        queue->written += n;
        if (!good) {
            queue->broken = true;
            queue->error = error;
            queue->waiting = 0;
            g_string_truncate(queue->text, 0);
        }
        pthread_mutex_unlock(&queue->mutex);
        if (n || !good)
            ring(queue);
    }
}

/* With the mutex, which it gives back meanwhile. */
static void sync_written(dome_output_queue *queue)
{
    const gsize written = queue->written;
    queue->syncs = false;
    pthread_mutex_unlock(&queue->mutex);
    if (queue->sync)
        queue->sync(queue->context, queue->fd);
    pthread_mutex_lock(&queue->mutex);
    queue->synced = written;
    ring(queue);
}

static void *write_what_comes(void *argument)
{
    dome_output_queue *queue = argument;
    GString *text = g_string_new(NULL);
    pthread_mutex_lock(&queue->mutex);
    while (!queue->over) {
        if (!queue->text->len && queue->syncs)
            sync_written(queue);
        if (!queue->text->len) {
            if (!queue->syncs && !queue->over)
                pthread_cond_wait(&queue->more, &queue->mutex);
            continue;
        }
        GString *taken = queue->text;
        queue->text = text;
        text = taken;
        pthread_mutex_unlock(&queue->mutex);
        write_all(queue, text);
        g_string_truncate(text, 0);
        pthread_mutex_lock(&queue->mutex);
    }
    pthread_mutex_unlock(&queue->mutex);
    g_string_free(text, TRUE);
    return NULL;
}

dome_output_queue *dome__output_queue_open(int fd, int bell)
{
    dome_output_queue *queue = g_new0(dome_output_queue, 1);
    queue->fd = fd;
    queue->bell = bell;
    queue->text = g_string_new(NULL);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->more, NULL);
    return queue;
}

/* Starts the thread, at the first write: most programs need none. */
static bool start(dome_output_queue *queue)
{
    sigset_t all, old;
    sigfillset(&all);         /* the main thread handles signals */
    sigdelset(&all, SIGTTOU); /* but SIGTTOU must stop a background job that writes to its terminal */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    queue->running = dome__thread_create(&queue->thread, write_what_comes, queue) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return queue->running;
}

void dome__output_queue_write_by(dome_output_queue *queue, dome_output_write function, dome_output_sync sync, void *context)
{
    pthread_mutex_lock(&queue->mutex);
    queue->context = context;
    queue->write = function;
    queue->sync = sync;
    pthread_mutex_unlock(&queue->mutex);
}

void dome__output_queue_put(dome_output_queue *queue, const char *text, size_t length)
{
    if (!length)
        return;
    pthread_mutex_lock(&queue->mutex);
    if (!queue->broken) {
        g_string_append_len(queue->text, text, (gssize)length);
        queue->waiting += length;
    }
    pthread_cond_signal(&queue->more);
    pthread_mutex_unlock(&queue->mutex);
    if (!queue->running && !start(queue)) { /* no thread could be created: write here, even if that blocks */
        write_all(queue, queue->text);
        g_string_truncate(queue->text, 0);
    }
}

void dome__output_queue_sync(dome_output_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->syncs = true;
    pthread_cond_signal(&queue->more);
    pthread_mutex_unlock(&queue->mutex);
    if (!queue->running && !start(queue)) { /* as above */
        pthread_mutex_lock(&queue->mutex);
        sync_written(queue);
        pthread_mutex_unlock(&queue->mutex);
    }
}

static size_t look(dome_output_queue *queue, const gsize *what)
{
    pthread_mutex_lock(&queue->mutex);
    size_t n = *what;
    pthread_mutex_unlock(&queue->mutex);
    return n;
}

size_t dome__output_queue_waiting(dome_output_queue *queue)
{
    return look(queue, &queue->waiting);
}

size_t dome__output_queue_written(dome_output_queue *queue)
{
    return look(queue, &queue->written);
}

size_t dome__output_queue_synced(dome_output_queue *queue)
{
    return look(queue, &queue->synced);
}

size_t dome__output_queue_total(dome_output_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    const size_t n = queue->written + queue->waiting;
    pthread_mutex_unlock(&queue->mutex);
    return n;
}

int dome__output_queue_error(dome_output_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    const int error = queue->error;
    pthread_mutex_unlock(&queue->mutex);
    return error;
}

bool dome__output_queue_full(dome_output_queue *queue)
{
    return dome__output_queue_waiting(queue) >= FULL;
}

void dome__output_queue_close(dome_output_queue *queue)
{
    if (!queue || (queue->running && dome__output_queue_waiting(queue) > 0))
        return;
    pthread_mutex_lock(&queue->mutex);
    queue->over = true;
    pthread_cond_signal(&queue->more);
    pthread_mutex_unlock(&queue->mutex);
    if (queue->running)
        pthread_join(queue->thread, NULL);
    pthread_mutex_destroy(&queue->mutex);
    pthread_cond_destroy(&queue->more);
    g_string_free(queue->text, TRUE);
    g_free(queue);
}
