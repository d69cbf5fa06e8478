#include "peer/peer_private.h"

#include "core/clock.h"
#include "system/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* ---- beginning and end ---- */

static void free_message(void *message)
{
    g_free(((dome_peer_message *)message)->data);
    g_free(message);
}

static void free_other(dome_peer_other *o)
{
    if (!o)
        return;
    dome__peer_line_drop(o);
    for (int tag = 0; tag < DOME_PEER_TAGS; tag++)
        g_queue_clear_full(&o->in[tag].messages, free_message);
    g_ptr_array_unref(o->askers); /* it is empty: the thread has ended all questions */
    g_free(o);
}

static void close_end(dome_peer *p, dome_peer_end *end)
{
    if (end)
        dome__peer_end_close(p, end);
}

/* The thread has ended, or has not begun. */
static void clear(dome_peer *p)
{
    for (int r = 0; r < p->setup.size; r++)
        close_end(p, p->other[r] ? g_steal_pointer(&p->other[r]->end) : NULL);
    for (size_t k = 0; k < G_N_ELEMENTS(p->own); k++)
        close_end(p, p->own[k]);
    g_ptr_array_unref(p->dead);
    g_ptr_array_unref(p->pending);
    g_ptr_array_unref(p->reaching);
    for (int r = 0; r < p->setup.size; r++)
        free_other(p->other[r]);
    g_queue_clear_full(&p->timers, g_free);
    for (int k = 0; k < 2; k++)
        if (p->setup.listening[k] >= 0)
            close(p->setup.listening[k]);
    if (p->wake[1] >= 0)
        close(p->wake[1]);
    if (p->set >= 0)
        close(p->set);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    g_free(p->other);
    g_free(p->places);
    g_free(p);
}

static dome_peer *new_peer(const dome_peer_setup *setup)
{
    dome_peer *p = g_new0(dome_peer, 1);
    p->setup = *setup;
    p->places = g_memdup2(setup->places, 2 * (gsize)setup->size * sizeof *setup->places);
    p->owner = pthread_self();
    p->set = p->clock = p->wake[0] = p->wake[1] = -1;
    p->other = g_new0(dome_peer_other *, (gsize)setup->size);
    p->reaching = g_ptr_array_new();
    p->pending = g_ptr_array_new();
    p->dead = g_ptr_array_new_with_free_func(g_free);
    pthread_mutex_init(&p->lock, NULL);
    dome__condition_init(&p->changed);
    return p;
}

static bool watch_own(dome_peer *p)
{
    p->set = epoll_create1(EPOLL_CLOEXEC);
    p->clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (p->clock >= 0)
        p->own[3] = dome__peer_end_new(p, DOME_PEER_RINGS, p->clock, EPOLLIN);
    if (p->set < 0 || !p->own[3] || pipe2(p->wake, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    p->own[0] = dome__peer_end_new(p, DOME_PEER_WAKES, p->wake[0], EPOLLIN);
    bool good = p->own[0] != NULL;
    for (int k = 0; good && k < 2; k++) {
        const int fd = p->setup.listening[k];
        p->setup.listening[k] = -1;
        if (fd >= 0)
            p->own[k + 1] = dome__peer_end_new(p, DOME_PEER_LISTENS, fd, EPOLLIN);
        good = fd < 0 || p->own[k + 1];
        if (p->own[k + 1])
            p->own[k + 1]->near = k == 0;
    }
    return good;
}

dome_peer *dome__peer_new(const dome_peer_setup *setup)
{
    dome_peer *p = new_peer(setup);
    int error = watch_own(p) ? 0 : errno;
    if (!error)
        error = dome__thread_start(&p->thread, dome__peer_serve, p);
    if (!error)
        return p;
    clear(p);
    errno = error;
    return NULL;
}

void dome__peer_free(dome_peer *peer)
{
    if (!peer)
        return;
    pthread_mutex_lock(&peer->lock);
    peer->stopping = true;
    dome__peer_questions_stop(peer);
    pthread_cond_broadcast(&peer->changed);
    pthread_mutex_unlock(&peer->lock);
    dome__peer_wake(peer);
    pthread_join(peer->thread, NULL);
    clear(peer);
}

/* ---- waiting; the lock is held ---- */

static void wait_changed(dome_peer *p)
{
    pthread_cond_wait(&p->changed, &p->lock);
}

static dome_peer_status wait_open(dome_peer *p, dome_peer_other *o)
{
    while (o->state == DOME_PEER_REACHING && !p->stopping)
        wait_changed(p);
    return dome__peer_fate(p, o);
}

/* A wait of the thread that calls the transport counts in its account, as one for this rank; 0: it does not. */
static uint64_t begin(dome_peer *p, int rank)
{
    dome_transport *t = p->setup.transport;
    const bool counts = t && pthread_equal(pthread_self(), p->owner);
    const uint64_t start = counts ? dome__account_begin_wait(&t->account, DOME_WAITS(rank, DOME_WAITS_SERVICE), 0) : 0;
    pthread_mutex_lock(&p->lock);
    return start;
}

static void end(dome_peer *p, int rank, uint64_t start)
{
    dome_transport *t = p->setup.transport;
    pthread_mutex_unlock(&p->lock);
    if (!start)
        return;
    const uint64_t took = dome__account_end_wait(&t->account, rank, start);
    if (t->waited)
        t->waited(t, rank, start, took);
}

dome_peer_status dome__peer_reach(dome_peer *peer, int rank)
{
    const uint64_t start = begin(peer, rank);
    const dome_peer_status status = wait_open(peer, dome__peer_use(peer, rank));
    end(peer, rank, start);
    return status;
}

int dome__peer_error(dome_peer *peer, int rank)
{
    pthread_mutex_lock(&peer->lock);
    const int error = peer->other[rank] ? peer->other[rank]->error : 0;
    pthread_mutex_unlock(&peer->lock);
    return error;
}

dome_peer_count dome__peer_sent(dome_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    const dome_peer_count sent = peer->sent;
    pthread_mutex_unlock(&peer->lock);
    return sent;
}

/* ---- requests ---- */

void dome__peer_on(dome_peer *peer, dome_peer_tag tag, dome_peer_handler handler, void *ctx)
{
    pthread_mutex_lock(&peer->lock);
    dome__peer_wait_handled(peer);
    peer->handlers[tag].handler = handler;
    peer->handlers[tag].ctx = ctx;
    pthread_mutex_unlock(&peer->lock);
}

void dome__peer_reply(dome_peer *peer, int to, uint64_t id, const void *data, uint32_t bytes)
{
    pthread_mutex_lock(&peer->lock);
    dome_peer_other *o = peer->other[to];
    if (o && o->state == DOME_PEER_OPEN)
        dome__peer_line_put(peer, o, &(dome_peer_frame){.kind = DOME_PEER_REPLY, .length = bytes, .id = id}, data);
    pthread_mutex_unlock(&peer->lock);
}

dome_peer_status dome__peer_ask(dome_peer *peer, int rank, dome_peer_tag tag, const void *data, uint32_t bytes,
                                GByteArray **reply)
{
    pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
    dome_peer_asker a = {.rank = rank, .tag = (uint8_t)tag, .bytes = bytes, .data = data, .answered = &answered};
    const uint64_t start = begin(peer, rank);
    dome_peer_other *o = dome__peer_use(peer, rank);
    a.status = dome__peer_fate(peer, o);
    if (!a.status) {
        g_queue_push_tail(&o->later, &a);
        dome__peer_questions_send(peer, o);
        while (!a.done)
            pthread_cond_wait(&answered, &peer->lock);
    }
    end(peer, rank, start);
    pthread_cond_destroy(&answered);
    if (!a.status)
        *reply = a.reply;
    return a.status;
}

/* ---- messages ---- */

static dome_peer_status wait_room(dome_peer *p, const dome_peer_other *o, const dome_peer_outbox *to, uint64_t bytes)
{
    dome_peer_status status;
    while (!(status = dome__peer_fate(p, o)) && (to->there + bytes > DOME_PEER_WINDOW || o->queued >= DOME_PEER_QUEUE_MOST))
        wait_changed(p);
    return status;
}

/* Until the kernel has all of it: then it arrives even if this process is killed. */
static dome_peer_status wait_passed(dome_peer *p, const dome_peer_other *o)
{
    const uint64_t put = o->put;
    dome_peer_status status;
    while (!(status = dome__peer_fate(p, o)) && o->passed < put)
        wait_changed(p);
    return status;
}

static dome_peer_status send_parts(dome_peer *p, dome_peer_other *o, dome_peer_tag tag, const char *data, uint64_t bytes)
{
    dome_peer_outbox *to = &o->to[tag];
    uint64_t done = 0;
    do {
        const uint32_t part = (uint32_t)MIN(bytes - done, DOME_PEER_PART_MOST);
        const dome_peer_status status = wait_room(p, o, to, part);
        if (status)
            return status;
        const dome_peer_frame f = {.kind = DOME_PEER_PART, .tag = (uint8_t)tag, .length = part, .id = bytes - done};
        dome__peer_line_put(p, o, &f, data + done);
        to->there += part;
        done += part;
    } while (done < bytes);
    return wait_passed(p, o);
}

dome_peer_status dome__peer_send(dome_peer *peer, int rank, dome_peer_tag tag, const void *data, uint64_t bytes)
{
    const uint64_t start = begin(peer, rank);
    dome_peer_other *o = dome__peer_use(peer, rank);
    dome_peer_status status = wait_open(peer, o);
    while (!status && o->to[tag].busy) {
        wait_changed(peer);
        status = dome__peer_fate(peer, o);
    }
    if (!status) {
        o->to[tag].busy = true;
        status = send_parts(peer, o, tag, data, bytes);
        o->to[tag].busy = false;
        pthread_cond_broadcast(&peer->changed);
    }
    end(peer, rank, start);
    return status;
}

/* A message that has arrived, of a task that may be gone by now; NULL: there will be none. */
static dome_peer_message *wait_message(dome_peer *p, dome_peer_other *o, dome_peer_tag tag, dome_peer_status *status)
{
    dome_peer_inbox *in = &o->in[tag];
    in->readers++;
    dome__peer_line_credit(p, o, tag);
    while (g_queue_is_empty(&in->messages) && !(*status = dome__peer_fate(p, o)))
        wait_changed(p);
    in->readers--;
    dome_peer_message *message = g_queue_pop_head(&in->messages);
    if (message) {
        in->held -= message->bytes;
        dome__peer_line_credit(p, o, tag);
    }
    return message;
}

dome_peer_status dome__peer_receive(dome_peer *peer, int rank, dome_peer_tag tag, void **data, uint64_t *bytes)
{
    dome_peer_status status = DOME_PEER_OK;
    const uint64_t start = begin(peer, rank);
    dome_peer_message *message = wait_message(peer, dome__peer_use(peer, rank), tag, &status);
    end(peer, rank, start);
    if (!message)
        return status;
    *data = message->data;
    *bytes = message->bytes;
    g_free(message);
    return *data ? DOME_PEER_OK : DOME_PEER_NO_MEMORY;
}
