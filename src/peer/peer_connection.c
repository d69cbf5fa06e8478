/* One connection for each two tasks, whichever connects first. The listening side decides, and says so by the frame HELLO: only
 * then does the other side use it. If both connect at the same time, the higher rank's connection stays: it refuses the other's
 * as long as it attempts itself, and the lower rank gives its own up for it. */
#include "peer/peer_private.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "system/sockets.h"
#include "transport/control_socket.h"

/* Most unknown connections, beside one of each task; how many are accepted in a turn. */
enum { PENDING = 256, ACCEPTS = 64 };

/* Seconds between attempts to connect; while no connection is accepted. */
static const double PAUSE = 0.05, DEAF = 0.1;

/* FRAMES: after so many frames of one connection the thread turns to the others; frames that were read together with the last one
 * are processed first. GULP: bytes of short frames that are read at once, enough for a page of 4 KiB and the heads around it. */
enum { FRAMES = 32, GULP = 8192 };

/* ---- descriptors ---- */

dome_peer_end *dome__peer_end_new(dome_peer *peer, dome_peer_role role, int fd, uint32_t events)
{
    dome_peer_end *end = g_new0(dome_peer_end, 1);
    struct epoll_event e = {.events = events, .data.ptr = end};
    *end = (dome_peer_end){.role = role, .fd = fd, .rank = -1};
    if (epoll_ctl(peer->set, EPOLL_CTL_ADD, fd, &e) == 0)
        return end;
    const int error = errno;
    close(fd);
    g_free(end);
    errno = error;
    return NULL;
}

void dome__peer_end_close(dome_peer *peer, dome_peer_end *end)
{
    if (end->role == DOME_PEER_STRANGER)
        g_ptr_array_remove(peer->pending, end);
    end->role = DOME_PEER_DEAD;
    close(end->fd);
    dome__peer_reader_clear(&end->reader);
    g_ptr_array_add(peer->dead, end);
}

static void begin_handshake(const dome_peer *p, dome_peer_end *end, bool connects)
{
    const dome_peer_setup *s = &p->setup;
    end->until = dome__deadline_in(DOME_HANDSHAKE_PATIENCE);
    dome__handshake_begin(&end->handshake, connects, s->purpose, s->cookie, sizeof s->cookie, (uint32_t)s->rank);
}

/* ---- states of another task ---- */

void dome__peer_over(dome_peer *peer, dome_peer_other *other, dome_peer_status why, int error)
{
    if (other->end)
        dome__peer_end_close(peer, g_steal_pointer(&other->end));
    g_ptr_array_remove(peer->reaching, other);
    other->state = DOME_PEER_OVER;
    other->why = why;
    other->error = error;
    dome__peer_line_drop(other);
    dome__peer_questions_end(peer, other, why);
    pthread_cond_broadcast(&peer->changed);
}

static void open_line(dome_peer *p, dome_peer_other *o, dome_peer_end *end)
{
    if (!end->near)
        dome__socket_be_quick(end->fd);
    end->role = DOME_PEER_LINE;
    end->rank = o->rank;
    o->end = end;
    o->state = DOME_PEER_OPEN;
    g_ptr_array_remove(p->reaching, o);
    pthread_cond_broadcast(&p->changed);
}

static void try_again(dome_peer *p, dome_peer_other *o)
{
    if (o->end)
        dome__peer_end_close(p, g_steal_pointer(&o->end));
    o->again = dome__deadline_in(PAUSE);
}

/* An attempt has failed before anybody accepted it. */
static void refused(dome_peer *p, dome_peer_other *o, int error)
{
    const bool near = o->end ? o->end->near : !o->far;
    if (near && error != EAGAIN)
        o->far = true; /* the local name may belong to another network than this task's */
    else if (error != EAGAIN && error != EINTR) {
        dome__peer_over(p, o, DOME_PEER_UNREACHABLE, error);
        return;
    }
    try_again(p, o);
}

/* ---- the side that connects ---- */

static const dome_peer_place *place_of(const dome_peer *p, dome_peer_other *o)
{
    const dome_peer_place *both = p->places + 2 * (size_t)o->rank;
    o->far |= !both[0].length;
    return &both[o->far ? 1 : 0];
}

static void attempt(dome_peer *p, dome_peer_other *o)
{
    const dome_peer_place *place = place_of(p, o);
    const int fd = place->length ? dome__peer_place_connect(place) : -1;
    dome_peer_end *end = fd >= 0 ? dome__peer_end_new(p, DOME_PEER_ATTEMPT, fd, EPOLLOUT) : NULL;
    if (!end) {
        refused(p, o, place->length ? errno : EDESTADDRREQ);
        return;
    }
    end->rank = o->rank;
    end->near = !o->far;
    begin_handshake(p, end, true);
    o->end = end;
}

/* Whether the connection is made; if it cannot be, that is said. */
static bool is_connected(dome_peer *p, dome_peer_other *o, dome_peer_end *end)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = end};
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(end->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 || epoll_ctl(p->set, EPOLL_CTL_MOD, end->fd, &e) < 0)
        error = errno;
    if (!error && end->near && !dome__control_socket_is_own(end->fd))
        error = EACCES;
    if (error)
        refused(p, o, error);
    end->connected = !error;
    return !error;
}

static void go_on_connecting(dome_peer *p, dome_peer_other *o, dome_peer_end *end)
{
    if (!end->connected && !is_connected(p, o, end))
        return;
    const dome_handshake_state state = dome__handshake_step(&end->handshake, end->fd);
    if (state == DOME_HANDSHAKE_FAILED ||
        (state == DOME_HANDSHAKE_DONE && !dome__handshake_macs(&end->handshake, end->fd, &end->macs)))
        try_again(p, o);
    else if (state == DOME_HANDSHAKE_DONE)
        end->proven = true;
    end->reader.mac = &end->macs.in;
}

/* ---- the side that listens ---- */

/* Whether this task's own attempt, if there is one, gives way. */
static bool is_wanted(const dome_peer *p, const dome_peer_other *o)
{
    return o->state == DOME_PEER_UNUSED || (o->state == DOME_PEER_REACHING && o->rank > p->setup.rank);
}

static void let_in(dome_peer *p, dome_peer_end *end)
{
    const uint32_t rank = end->handshake.word;
    dome_peer_other *o = rank < (uint32_t)p->setup.size && (int)rank != p->setup.rank ? dome__peer_other(p, (int)rank) : NULL;
    if (!o || p->stopping || !is_wanted(p, o) || !dome__handshake_macs(&end->handshake, end->fd, &end->macs)) {
        dome__peer_end_close(p, end);
        return;
    }
    g_ptr_array_remove(p->pending, end);
    if (o->end)
        dome__peer_end_close(p, g_steal_pointer(&o->end));
    end->reader.mac = &end->macs.in;
    open_line(p, o, end);
    dome__peer_line_put(p, o, &(dome_peer_frame){.kind = DOME_PEER_HELLO}, NULL);
    dome__peer_questions_send(p, o);
}

static void hear_pending(dome_peer *p, dome_peer_end *end)
{
    const dome_handshake_state state = dome__handshake_step(&end->handshake, end->fd);
    if (state == DOME_HANDSHAKE_DONE)
        let_in(p, end);
    else if (state == DOME_HANDSHAKE_FAILED)
        dome__peer_end_close(p, end);
}

/* Connections are accepted, or left in the kernel's queue for a while. */
static void listen_to_all(dome_peer *p, bool listens)
{
    p->deaf = !listens;
    p->hears_again = dome__deadline_in(DEAF);
    for (size_t k = 0; k < G_N_ELEMENTS(p->own); k++) {
        struct epoll_event e = {.events = listens ? EPOLLIN : 0, .data.ptr = p->own[k]};
        if (p->own[k] && p->own[k]->role == DOME_PEER_LISTENS)
            epoll_ctl(p->set, EPOLL_CTL_MOD, p->own[k]->fd, &e);
    }
}

static int accept_one(const dome_peer_end *at)
{
    return at->near ? dome__control_socket_accept(at->fd) : accept4(at->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static void accept_some(dome_peer *p, const dome_peer_end *at)
{
    for (int k = 0; k < ACCEPTS; k++) {
        const int fd = accept_one(at);
        dome_peer_end *end = fd >= 0 ? dome__peer_end_new(p, DOME_PEER_STRANGER, fd, EPOLLIN) : NULL;
        if (!end) {
            if (errno != EAGAIN && errno != EACCES && errno != ECONNABORTED && errno != EINTR)
                listen_to_all(p, false);
            return;
        }
        end->near = at->near;
        begin_handshake(p, end, false);
        g_ptr_array_add(p->pending, end);
        if (p->pending->len > (guint)p->setup.size + PENDING)
            dome__peer_end_close(p, p->pending->pdata[0]);
    }
}

/* ---- a connection in use ---- */

/* Bytes that were read at once and not taken yet: of several frames, or of a short one with its head. */
typedef struct gulp {
    size_t at, end;
    bool dry; /* the connection had no more */
    uint8_t bytes[GULP];
} gulp;

static ssize_t receive(const dome_peer_end *end, void *to, size_t room, gulp *g)
{
    ssize_t n;
    do
        n = recv(end->fd, to, room, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    g->dry = n < (ssize_t)room;
    return n;
}

/* Gives the reader some bytes: long frames are read into their place. */
static ssize_t feed(dome_peer_end *end, gulp *g)
{
    size_t room;
    void *to = dome__peer_reader_room(&end->reader, &room);
    if (g->at == g->end && room >= GULP)
        return receive(end, to, room, g);
    if (g->at == g->end) {
        const ssize_t n = receive(end, g->bytes, GULP, g);
        if (n <= 0)
            return n;
        g->at = 0;
        g->end = (size_t)n;
    }
    const size_t n = MIN(room, g->end - g->at);
    memcpy(to, g->bytes + g->at, n);
    g->at += n;
    return (ssize_t)n;
}

/* Reads some bytes, without the lock: codes of long frames take time. *reading is valid if the result is positive. */
static ssize_t read_some(dome_peer *p, dome_peer_end *end, gulp *g, dome_peer_reading *reading)
{
    ssize_t n;
    pthread_mutex_unlock(&p->lock);
    do {
        n = feed(end, g);
        *reading = n > 0 ? dome__peer_reader_filled(&end->reader, (size_t)n) : DOME_PEER_MORE;
    } while (n > 0 && *reading == DOME_PEER_MORE && g->at < g->end);
    const int error = errno;
    pthread_mutex_lock(&p->lock);
    errno = error;
    return n;
}

/* The first frame on a connection that this side has made. */
static bool is_accepted(dome_peer *p, dome_peer_other *o, dome_peer_end *end)
{
    if (end->reader.frame.kind != DOME_PEER_HELLO)
        return false;
    open_line(p, o, end);
    dome__peer_questions_send(p, o);
    return true;
}

static bool take(dome_peer *p, dome_peer_other *o, dome_peer_end *end)
{
    return end->role == DOME_PEER_ATTEMPT ? is_accepted(p, o, end) : dome__peer_line_take(p, o, &end->reader);
}

/* The connection has ended: for an attempt, the other side has refused it. */
static void lose(dome_peer *p, dome_peer_other *o, const dome_peer_end *end)
{
    if (end->role == DOME_PEER_ATTEMPT)
        try_again(p, o);
    else
        dome__peer_over(p, o, DOME_PEER_GONE, 0);
}

static void read_frames(dome_peer *p, dome_peer_other *o, dome_peer_end *end)
{
    gulp g;
    g.at = g.end = 0;
    g.dry = false;
    for (int frames = 0; g.at < g.end || (!g.dry && frames < FRAMES);) {
        dome_peer_reading reading;
        const ssize_t n = read_some(p, end, &g, &reading);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            lose(p, o, end);
            return;
        }
        if (reading == DOME_PEER_WRONG || reading == DOME_PEER_MALFORMED || (reading == DOME_PEER_FRAME && !take(p, o, end))) {
            dome__peer_over(p, o, DOME_PEER_ALTERED, 0);
            return;
        }
        frames += reading == DOME_PEER_FRAME;
    }
}

static void hear_task(dome_peer *p, dome_peer_end *end, uint32_t events)
{
    dome_peer_other *o = p->other[end->rank];
    if (end->role == DOME_PEER_ATTEMPT && !end->proven)
        go_on_connecting(p, o, end);
    if (end->role == DOME_PEER_LINE && (events & EPOLLOUT)) {
        dome__peer_line_flush(p, o);
        dome__peer_questions_send(p, o);
        pthread_cond_broadcast(&p->changed);
    }
    if ((end->role == DOME_PEER_ATTEMPT && end->proven) || end->role == DOME_PEER_LINE)
        read_frames(p, o, end);
}

/* ---- events and times ---- */

static void drain(int fd)
{
    char bytes[64];
    while (read(fd, bytes, sizeof bytes) > 0)
        continue;
}

void dome__peer_end_event(dome_peer *peer, dome_peer_end *end, uint32_t events)
{
    switch (end->role) {
    case DOME_PEER_WAKES:
        drain(end->fd);
        break;
    case DOME_PEER_LISTENS:
        accept_some(peer, end);
        break;
    case DOME_PEER_RINGS:
        dome__peer_timers_run(peer);
        break;
    case DOME_PEER_STRANGER:
        hear_pending(peer, end);
        break;
    case DOME_PEER_ATTEMPT:
    case DOME_PEER_LINE:
        hear_task(peer, end, events);
        break;
    case DOME_PEER_DEAD:
        break;
    }
}

/* A side that has proven itself waits: the other one may have accepted already. */
static void look_at(dome_peer *p, dome_peer_other *o)
{
    if (dome__deadline_passed(o->until))
        dome__peer_over(p, o, DOME_PEER_UNREACHABLE, ETIMEDOUT);
    else if (o->end && !o->end->proven && dome__deadline_passed(o->end->until))
        try_again(p, o);
    else if (!o->end && dome__deadline_passed(o->again))
        attempt(p, o);
}

void dome__peer_look(dome_peer *peer)
{
    for (guint k = peer->reaching->len; k-- > 0;)
        look_at(peer, peer->reaching->pdata[k]);
    while (peer->pending->len && dome__deadline_passed(((dome_peer_end *)peer->pending->pdata[0])->until))
        dome__peer_end_close(peer, peer->pending->pdata[0]);
    if (peer->deaf && dome__deadline_passed(peer->hears_again))
        listen_to_all(peer, true);
}
