#include "ckpt/link.h"

#include "system/bytes.h"
#include "system/deadline.h"
#include "system/entropy.h"
#include "system/sockets.h"
#include "transport/handshake.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Purpose of the handshake; its word is the rank. */
static const char PURPOSE[] = "dome checkpoint";

/* Most unknown connections at a time, besides those of the missing tasks. */
enum { STRANGERS = 256 };

/* A connection whose handshake is under way. */
typedef struct peer {
    int fd;
    dome_deadline until; /* sent away then */
    dome_handshake handshake;
} peer;

typedef struct sockets {
    int *fd;         /* by rank; -1: none */
    dome_macs *macs; /* likewise */
    int size, missing;
    bool altered;
    dome_ckpt_door door;
    int listening;         /* rank 0: -1 once all tasks are connected */
    GArray *peers;         /* rank 0: peer, the oldest first */
    struct sockaddr_in to; /* another task */
    peer own;
    bool connected;
    dome_deadline again; /* the next attempt, if there is no connection */
} sockets;

static bool fails(char **message, const char *what)
{
    return dome__ckpt_refuse(message, "the connections for checkpoints cannot be made: %s: %s", what, strerror(errno));
}

/* Bytes before a message: its length, with a code of its own, because nobody may make the receiver wait for more. */
enum { LENGTH = sizeof(uint64_t), HEAD = LENGTH + DOME_MAC_BYTES };

static bool link_send(void *ctx, int to, const void *data, uint64_t bytes, char **message)
{
    sockets *s = ctx;
    uint8_t head[HEAD], code[DOME_MAC_BYTES];
    dome__put_u64(head, bytes);
    dome__mac_next(&s->macs[to].out, head, LENGTH, head + LENGTH);
    dome__mac_next(&s->macs[to].out, data, (size_t)bytes, code);
    return (dome__socket_send(s->fd[to], head, sizeof head) && dome__socket_send(s->fd[to], data, bytes) &&
            dome__socket_send(s->fd[to], code, sizeof code)) ||
           dome__ckpt_refuse(message, "task %d is gone", to);
}

/* The connection cannot be used any more, by neither side. */
static bool end_altered(sockets *s, int from, char **message)
{
    s->altered = true;
    shutdown(s->fd[from], SHUT_RDWR);
    return dome__ckpt_refuse(message, "a message of task %d was altered on the way, and the connection to it is closed", from);
}

static bool link_receive(void *ctx, int from, void **data, uint64_t *bytes, char **message)
{
    sockets *s = ctx;
    uint8_t head[HEAD], code[DOME_MAC_BYTES];
    *data = NULL;
    if (!dome__socket_receive(s->fd[from], head, sizeof head))
        return dome__ckpt_refuse(message, "task %d is gone", from);
    if (!dome__mac_check(&s->macs[from].in, head, LENGTH, head + LENGTH))
        return end_altered(s, from, message);
    *bytes = dome__get_u64(head);
    *data = *bytes <= G_MAXSIZE / 2 ? g_try_malloc((gsize)*bytes + 1) : NULL;
    if (!*data)
        return dome__ckpt_refuse(message, "no memory for what task %d has to say", from);
    const bool whole = dome__socket_receive(s->fd[from], *data, *bytes) && dome__socket_receive(s->fd[from], code, sizeof code);
    if (whole && dome__mac_check(&s->macs[from].in, *data, (size_t)*bytes, code))
        return true;
    g_clear_pointer(data, g_free);
    return whole ? end_altered(s, from, message) : dome__ckpt_refuse(message, "task %d is gone", from);
}

static bool link_altered(const void *ctx)
{
    return ((const sockets *)ctx)->altered;
}

static sockets *open_link(dome_ckpt_link *link, int rank, int size, const dome_ckpt_door *door)
{
    sockets *s = g_new0(sockets, 1);
    s->size = size;
    s->fd = g_new(int, size);
    s->macs = g_new0(dome_macs, size);
    for (int i = 0; i < size; i++)
        s->fd[i] = -1;
    s->door = *door;
    s->listening = s->own.fd = -1;
    s->peers = g_array_new(FALSE, FALSE, sizeof(peer));
    *link = (dome_ckpt_link){rank, size, s, link_send, link_receive, link_altered};
    return s;
}

/* False: the connection is lost. */
static bool keep(sockets *s, int rank, const peer *p)
{
    int on = 1, fd = p->fd;
    if (!dome__handshake_macs(&p->handshake, fd, &s->macs[rank]))
        return false;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    s->fd[rank] = fd;
    s->missing--;
    return true;
}

static void greet(const sockets *s, peer *p, int fd, bool connects, uint32_t word)
{
    p->fd = fd;
    p->until = dome__deadline_in(DOME_HANDSHAKE_PATIENCE);
    dome__handshake_begin(&p->handshake, connects, PURPOSE, s->door.cookie, sizeof s->door.cookie, word);
}

/* ---- rank 0 ---- */

int dome__ckpt_link_listen(uint32_t address, dome_ckpt_door *door, char **message)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = address};
    socklen_t length = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof here) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&here, &length) < 0 || !dome__random(door->cookie, sizeof door->cookie)) {
        fails(message, "listening");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    door->port = ntohs(here.sin_port);
    return fd;
}

void dome__ckpt_link_accept(dome_ckpt_link *link, int size, int listening, const dome_ckpt_door *door)
{
    sockets *s = open_link(link, 0, size, door);
    s->listening = listening;
    s->missing = size - 1;
}

static void send_away(sockets *s, guint i)
{
    close(g_array_index(s->peers, peer, i).fd);
    g_array_remove_index(s->peers, i);
}

static void stop_listening(sockets *s)
{
    while (s->peers->len)
        send_away(s, s->peers->len - 1);
    if (s->listening >= 0)
        close(s->listening);
    s->listening = -1;
}

/* Processes whatever any connection, of a task or a stranger, has sent; waits for none. */
static void hear_peers(sockets *s)
{
    for (guint i = 0; i < s->peers->len;) {
        peer *p = &g_array_index(s->peers, peer, i);
        dome_handshake_state state = dome__handshake_step(&p->handshake, p->fd);
        uint32_t rank = p->handshake.word;
        if (state == DOME_HANDSHAKE_DONE && rank >= 1 && rank < (uint32_t)s->size && s->fd[rank] < 0 && keep(s, (int)rank, p)) {
            g_array_remove_index(s->peers, i);
        } else if (state != DOME_HANDSHAKE_MORE || dome__deadline_passed(p->until)) {
            send_away(s, i);
        } else {
            i++;
        }
    }
}

static void let_in(sockets *s)
{
    for (int turn = 0; turn < STRANGERS; turn++) {
        peer p;
        int fd = accept4(s->listening, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            break;
        greet(s, &p, fd, false, 0);
        g_array_append_val(s->peers, p);
        if (s->peers->len > (guint)s->missing + STRANGERS)
            send_away(s, 0);
    }
}

/* ---- another task ---- */

void dome__ckpt_link_connect(dome_ckpt_link *link, int rank, int size, const void *address, const dome_ckpt_door *door)
{
    sockets *s = open_link(link, rank, size, door);
    memcpy(&s->to, address, sizeof s->to);
    s->to.sin_port = htons((uint16_t)door->port);
    s->missing = 1;
}

/* Among many strangers rank 0 may have closed this connection like one of theirs, so the task tries again. */
static void try_again(sockets *s)
{
    close(s->own.fd);
    s->own.fd = -1;
    s->again = dome__deadline_in(0.05);
}

static bool begin_connecting(sockets *s, int rank, char **message)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || (connect(fd, (struct sockaddr *)&s->to, sizeof s->to) < 0 && errno != EINPROGRESS)) {
        fails(message, "reaching task 0");
        if (fd >= 0)
            close(fd);
        return false;
    }
    greet(s, &s->own, fd, true, (uint32_t)rank);
    s->connected = false;
    return true;
}

static bool go_on_connecting(sockets *s, int rank, short events, char **message)
{
    int error = 0;
    socklen_t length = sizeof error;
    if (s->own.fd < 0)
        return !dome__deadline_passed(s->again) || begin_connecting(s, rank, message);
    if (!s->connected) {
        if (!events && !dome__deadline_passed(s->own.until))
            return true;
        if (!events || getsockopt(s->own.fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 || error) {
            errno = events ? error : ETIMEDOUT;
            return fails(message, "reaching task 0");
        }
        s->connected = true;
    }
    dome_handshake_state state = dome__handshake_step(&s->own.handshake, s->own.fd);
    if (state == DOME_HANDSHAKE_DONE && keep(s, 0, &s->own)) {
        s->own.fd = -1;
    } else if (state != DOME_HANDSHAKE_MORE || dome__deadline_passed(s->own.until)) {
        try_again(s);
    }
    return true;
}

/* ---- both ---- */

static void gather(const dome_ckpt_link *link, GArray *polls)
{
    const sockets *s = link->ctx;
    struct pollfd p = {.fd = s->listening, .events = POLLIN};
    g_array_append_val(polls, p);
    p = (struct pollfd){.fd = s->missing ? s->own.fd : -1, .events = s->connected ? POLLIN : POLLOUT};
    g_array_append_val(polls, p);
    for (guint i = 0; i < s->peers->len; i++) {
        p = (struct pollfd){.fd = g_array_index(s->peers, peer, i).fd, .events = POLLIN};
        g_array_append_val(polls, p);
    }
}

static bool go_on(dome_ckpt_link *link, short own_events, char **message)
{
    sockets *s = link->ctx;
    if (!s->missing)
        return true;
    if (link->rank > 0)
        return go_on_connecting(s, link->rank, own_events, message);
    hear_peers(s);
    if (s->missing)
        let_in(s);
    return true;
}

bool dome__ckpt_link_complete(dome_ckpt_link *const *links, int n, double seconds, char **message)
{
    const dome_deadline until = dome__deadline_in(seconds);
    GArray *polls = g_array_new(FALSE, TRUE, sizeof(struct pollfd));
    bool good = true;
    for (int missing = 1, patience = 0; missing && good; patience = 20) { /* those that connect begin at once */
        guint own[2] = {0};
        g_array_set_size(polls, 0);
        for (int k = 0; k < n; k++) {
            own[k] = polls->len + 1;
            gather(links[k], polls);
        }
        if (poll((struct pollfd *)(void *)polls->data, polls->len, patience) < 0)
            g_usleep(1000);
        missing = 0;
        for (int k = 0; k < n && good; k++) {
            good = go_on(links[k], g_array_index(polls, struct pollfd, own[k]).revents, message);
            missing += ((sockets *)links[k]->ctx)->missing;
        }
        if (good && missing && dome__deadline_passed(until)) {
            errno = ETIMEDOUT;
            good = fails(message, "a task has not come");
        }
    }
    for (int k = 0; k < n; k++)
        stop_listening(links[k]->ctx);
    g_array_free(polls, TRUE);
    return good;
}

bool dome__ckpt_link_local(const dome_ckpt_link *link, void *address)
{
    const sockets *s = link->ctx;
    socklen_t length = sizeof(struct sockaddr_in);
    return getsockname(s->fd[0], address, &length) == 0;
}

void dome__ckpt_link_close(dome_ckpt_link *link)
{
    sockets *s = link->ctx;
    if (!s)
        return;
    stop_listening(s);
    if (s->own.fd >= 0)
        close(s->own.fd);
    for (int i = 0; i < s->size; i++)
        if (s->fd[i] >= 0)
            close(s->fd[i]);
    g_array_free(s->peers, TRUE);
    g_free(s->fd);
    g_free(s->macs);
    g_free(s);
    link->ctx = NULL;
}
