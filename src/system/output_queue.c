#include "system/outlet.h"

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

/* Number of waiting bytes from which the outlet is full. */
enum { FULL = 1 << 20 };

/* The most bytes of one write: atomic on a pipe that other processes write to, too. */
enum { PIECE = PIPE_BUF };

struct dome_outlet {
    int fd, bell;
    pthread_t thread;
    bool running;
    pthread_mutex_t mutex; /* protects the following */
    pthread_cond_t more;
    GString *text;
    bool over, broken;
    int error;              /* why it is broken: errno */
    gsize waiting, written; /* bytes: in text, or taken by the thread and not yet written; written so far */
};

static bool write_piece(const dome_outlet *outlet, const char *text, size_t length, size_t *written)
{
    ssize_t n = write(outlet->fd, text, length);
    *written = n > 0 ? (size_t)n : 0;
    if (n < 0 && errno == EAGAIN) { /* another process has made it non-blocking */
        struct pollfd p = {.fd = outlet->fd, .events = POLLOUT};
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

static void write_all(dome_outlet *outlet, const GString *text)
{
    bool good = true;
    for (size_t done = 0, n; good && done < text->len; done += n) {
        good = write_piece(outlet, text->str + done, piece_of(text->str + done, text->len - done), &n);
        const int error = errno;
        pthread_mutex_lock(&outlet->mutex);
        outlet->waiting -= n;
        outlet->written += n;
        if (!good) {
            outlet->broken = true;
            outlet->error = error;
            outlet->waiting = 0;
            g_string_truncate(outlet->text, 0);
        }
        pthread_mutex_unlock(&outlet->mutex);
        if (n || !good) {
            uint64_t one = 1;
            ssize_t ignored = write(outlet->bell, &one, sizeof one);
            (void)ignored;
        }
    }
}

static void *write_what_comes(void *argument)
{
    dome_outlet *outlet = argument;
    GString *text = g_string_new(NULL);
    pthread_mutex_lock(&outlet->mutex);
    while (!outlet->over) {
        if (!outlet->text->len) {
            pthread_cond_wait(&outlet->more, &outlet->mutex);
            continue;
        }
        GString *taken = outlet->text;
        outlet->text = text;
        text = taken;
        pthread_mutex_unlock(&outlet->mutex);
        write_all(outlet, text);
        g_string_truncate(text, 0);
        pthread_mutex_lock(&outlet->mutex);
    }
    pthread_mutex_unlock(&outlet->mutex);
    g_string_free(text, TRUE);
    return NULL;
}

dome_outlet *dome__outlet_open(int fd, int bell)
{
    dome_outlet *outlet = g_new0(dome_outlet, 1);
    outlet->fd = fd;
    outlet->bell = bell;
    outlet->text = g_string_new(NULL);
    pthread_mutex_init(&outlet->mutex, NULL);
    pthread_cond_init(&outlet->more, NULL);
    return outlet;
}

/* Starts the thread, at the first write: most programs need none. */
static bool start(dome_outlet *outlet)
{
    sigset_t all, old;
    sigfillset(&all);         /* the main thread handles signals */
    sigdelset(&all, SIGTTOU); /* but SIGTTOU must stop a background job that writes to its terminal */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    outlet->running = dome__thread_create(&outlet->thread, write_what_comes, outlet) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return outlet->running;
}

void dome__outlet_put(dome_outlet *outlet, const char *text, size_t length)
{
    if (!length)
        return;
    pthread_mutex_lock(&outlet->mutex);
    if (!outlet->broken) {
        g_string_append_len(outlet->text, text, (gssize)length);
        outlet->waiting += length;
    }
    pthread_cond_signal(&outlet->more);
    pthread_mutex_unlock(&outlet->mutex);
    if (!outlet->running && !start(outlet)) { /* no thread could be created: write here, even if that blocks */
        write_all(outlet, outlet->text);
        g_string_truncate(outlet->text, 0);
    }
}

static size_t look(dome_outlet *outlet, const gsize *what)
{
    pthread_mutex_lock(&outlet->mutex);
    size_t n = *what;
    pthread_mutex_unlock(&outlet->mutex);
    return n;
}

size_t dome__outlet_waiting(dome_outlet *outlet)
{
    return look(outlet, &outlet->waiting);
}

size_t dome__outlet_written(dome_outlet *outlet)
{
    return look(outlet, &outlet->written);
}

int dome__outlet_error(dome_outlet *outlet)
{
    pthread_mutex_lock(&outlet->mutex);
    const int error = outlet->error;
    pthread_mutex_unlock(&outlet->mutex);
    return error;
}

bool dome__outlet_full(dome_outlet *outlet)
{
    return dome__outlet_waiting(outlet) >= FULL;
}

void dome__outlet_close(dome_outlet *outlet)
{
    if (!outlet || (outlet->running && dome__outlet_waiting(outlet) > 0))
        return;
    pthread_mutex_lock(&outlet->mutex);
    outlet->over = true;
    pthread_cond_signal(&outlet->more);
    pthread_mutex_unlock(&outlet->mutex);
    if (outlet->running)
        pthread_join(outlet->thread, NULL);
    pthread_mutex_destroy(&outlet->mutex);
    pthread_cond_destroy(&outlet->more);
    g_string_free(outlet->text, TRUE);
    g_free(outlet);
}
