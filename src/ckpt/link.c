#include "ckpt/link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* By rank; -1: none. */
typedef struct sockets {
    int *fd;
    int size;
} sockets;

static bool fails(char **message, const char *what)
{
    return dome__ckpt_refuse(message, "the connections for checkpoints cannot be made: %s: %s", what, strerror(errno));
}

static bool transfer(int fd, void *data, uint64_t bytes, bool out)
{
    char *at = data;
    while (bytes > 0) {
        size_t some = (size_t)MIN(bytes, (uint64_t)1 << 24);
        ssize_t n = out ? send(fd, at, some, MSG_NOSIGNAL) : recv(fd, at, some, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (uint64_t)n;
    }
    return true;
}

static bool link_send(void *ctx, int to, const void *data, uint64_t bytes, char **message)
{
    const sockets *s = ctx;
    uint64_t head = GUINT64_TO_BE(bytes);
    return (transfer(s->fd[to], &head, sizeof head, true) && transfer(s->fd[to], (void *)data, bytes, true)) ||
           dome__ckpt_refuse(message, "task %d is gone", to);
}

static bool link_receive(void *ctx, int from, void **data, uint64_t *bytes, char **message)
{
    const sockets *s = ctx;
    uint64_t head;
    *data = NULL;
    if (!transfer(s->fd[from], &head, sizeof head, false))
        return dome__ckpt_refuse(message, "task %d is gone", from);
    *bytes = GUINT64_FROM_BE(head);
    *data = *bytes <= G_MAXSIZE / 2 ? g_try_malloc((gsize)*bytes + 1) : NULL;
    if (!*data)
        return dome__ckpt_refuse(message, "no memory for what task %d has to say", from);
    if (transfer(s->fd[from], *data, *bytes, false))
        return true;
    g_clear_pointer(data, g_free);
    return dome__ckpt_refuse(message, "task %d is gone", from);
}

static sockets *open_link(dome_ckpt_link *link, int rank, int size)
{
    sockets *s = g_new(sockets, 1);
    s->size = size;
    s->fd = g_new(int, size);
    for (int i = 0; i < size; i++)
        s->fd[i] = -1;
    *link = (dome_ckpt_link){rank, size, s, link_send, link_receive};
    return s;
}

static void send_at_once(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int dome__ckpt_link_listen(dome_ckpt_door *door, char **message)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&any, &length) < 0 ||
        getrandom(door->cookie, sizeof door->cookie, 0) != (ssize_t)sizeof door->cookie) {
        fails(message, "listening");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    door->port = ntohs(any.sin_port);
    return fd;
}

/* What a task says first: the cookie, then its rank. */
typedef struct greeting {
    uint8_t cookie[DOME_CKPT_COOKIE];
    uint32_t rank;
} greeting;

/* Whoever comes: a task, or a stranger, who is sent away. */
static bool greet(sockets *s, int fd, const dome_ckpt_door *door)
{
    greeting g;
    struct timeval limit = {.tv_sec = 5}, none = {0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    bool good = transfer(fd, &g, sizeof g, false) && memcmp(g.cookie, door->cookie, sizeof g.cookie) == 0;
    uint32_t rank = good ? GUINT32_FROM_BE(g.rank) : 0;
    if (rank < 1 || rank >= (uint32_t)s->size || s->fd[rank] >= 0) {
        close(fd);
        return false;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    send_at_once(fd);
    s->fd[rank] = fd;
    return true;
}

bool dome__ckpt_link_accept(dome_ckpt_link *link, int size, int listening, const dome_ckpt_door *door, double seconds,
                            char **message)
{
    sockets *s = open_link(link, 0, size);
    gint64 until = g_get_monotonic_time() + (gint64)(seconds * 1e6);
    bool good = true;
    for (int there = 1; there < size && good;) {
        gint64 left = (until - g_get_monotonic_time()) / 1000;
        struct pollfd p = {.fd = listening, .events = POLLIN};
        int ready = left > 0 ? poll(&p, 1, (int)MIN(left, 1000)) : 0;
        if (ready > 0) {
            int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
            there += fd >= 0 && greet(s, fd, door);
        } else if (left <= 0) {
            errno = ETIMEDOUT;
            good = fails(message, "a task has not come");
        }
    }
    close(listening);
    return good;
}

bool dome__ckpt_link_connect(dome_ckpt_link *link, int rank, int size, const void *address, const dome_ckpt_door *door,
                             char **message)
{
    sockets *s = open_link(link, rank, size);
    struct sockaddr_in to;
    memcpy(&to, address, sizeof to);
    to.sin_port = htons((uint16_t)door->port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    greeting g = {.rank = GUINT32_TO_BE((uint32_t)rank)};
    memcpy(g.cookie, door->cookie, sizeof g.cookie);
    struct timeval limit = {.tv_sec = 5}, none = {0}; /* for the way there */
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0 || !transfer(fd, &g, sizeof g, true)) {
        fails(message, "reaching task 0");
        if (fd >= 0)
            close(fd);
        return false;
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
    send_at_once(fd);
    s->fd[0] = fd;
    return true;
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
    for (int i = 0; i < s->size; i++)
        if (s->fd[i] >= 0)
            close(s->fd[i]);
    g_free(s->fd);
    g_free(s);
    link->ctx = NULL;
}
