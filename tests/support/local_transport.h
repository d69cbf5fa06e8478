/* For tests: a transport between processes of this machine, joined by socket pairs. Some of the processes may pretend to have
 * another data format. */
#ifndef DOME_TESTS_LOCAL_TRANSPORT_H
#define DOME_TESTS_LOCAL_TRANSPORT_H

#include "transport/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct local_frame {
    uint32_t channel, head_bytes;
    uint64_t bytes;
} local_frame;

typedef struct local_message {
    local_frame frame;
    char *content; /* head, then data */
} local_message;

typedef struct local_peer {
    int socket;
    local_frame frame;
    char *content;    /* of the message that is arriving */
    uint64_t arrived; /* bytes of it received, including its frame */
    GQueue *messages; /* local_message *, in order, for all channels */
} local_peer;

typedef struct local_provider {
    local_peer *peers;
    local_message *taken; /* by recv_head */
} local_provider;

static int local_lost(dome_transport *t, int rank)
{
    return dome__transport_error(t, DOME_ERR_LOST, "task %d is gone", rank);
}

/* Receives the available data from a peer without waiting. False if the peer has ended. */
static bool local_take_in(local_peer *peer)
{
    for (;;) {
        char *to = (char *)&peer->frame + peer->arrived;
        uint64_t want = sizeof peer->frame - peer->arrived;
        if (peer->arrived >= sizeof peer->frame) {
            to = peer->content + (peer->arrived - sizeof peer->frame);
            want = sizeof peer->frame + peer->frame.head_bytes + peer->frame.bytes - peer->arrived;
        }
        ssize_t n = recv(peer->socket, to, want, MSG_DONTWAIT);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        if (n == 0)
            return false;
        peer->arrived += (uint64_t)n;
        if (peer->arrived == sizeof peer->frame)
            peer->content = g_malloc(peer->frame.head_bytes + peer->frame.bytes + 1);
        if (peer->arrived >= sizeof peer->frame &&
            peer->arrived == sizeof peer->frame + peer->frame.head_bytes + peer->frame.bytes) {
            local_message *message = g_new(local_message, 1);
            message->frame = peer->frame;
            message->content = peer->content;
            g_queue_push_tail(peer->messages, message);
            peer->arrived = 0;
            peer->content = NULL;
        }
    }
}

static void local_pump(dome_transport_provider *self, int writable)
{
    local_provider *p = self->state;
    struct pollfd *fds = g_new0(struct pollfd, self->transport->group.size);
    for (int r = 0; r < self->transport->group.size; r++) {
        fds[r].fd = p->peers[r].socket;
        fds[r].events = r == writable ? POLLIN | POLLOUT : POLLIN;
    }
    poll(fds, (nfds_t)self->transport->group.size, -1);
    for (int r = 0; r < self->transport->group.size; r++)
        if (fds[r].revents & (POLLIN | POLLHUP | POLLERR) && !local_take_in(&p->peers[r])) {
            close(p->peers[r].socket);
            p->peers[r].socket = -1;
        }
    g_free(fds);
}

static int local_write(dome_transport_provider *self, int dest, const void *data, uint64_t bytes)
{
    local_provider *p = self->state;
    for (const char *at = data; bytes;) {
        if (p->peers[dest].socket < 0)
            return local_lost(self->transport, dest);
        ssize_t n = send(p->peers[dest].socket, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
            at += n;
            bytes -= (uint64_t)n;
        } else if (errno == EAGAIN) {
            local_pump(self, dest);
        } else if (errno != EINTR) {
            return local_lost(self->transport, dest);
        }
    }
    return DOME_OK;
}

static int local_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    local_frame frame = {(uint32_t)channel, (uint32_t)packet->head_bytes, packet->bytes};
    int status = local_write(self, dest, &frame, sizeof frame);
    if (!status)
        status = local_write(self, dest, packet->head, packet->head_bytes);
    return status ? status : local_write(self, dest, packet->data, packet->bytes);
}

static int local_recv_head(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes)
{
    local_provider *p = self->state;
    local_peer *peer = &p->peers[source];
    g_assert_null(p->taken);
    for (;;) {
        for (GList *l = peer->messages->head; l; l = l->next) {
            local_message *message = l->data;
            if (message->frame.channel != (uint32_t)channel)
                continue;
            g_queue_delete_link(peer->messages, l);
            g_assert_cmpuint(message->frame.head_bytes, ==, head_bytes);
            memcpy(head, message->content, head_bytes);
            *bytes = message->frame.bytes;
            p->taken = message;
            return DOME_OK;
        }
        if (peer->socket < 0)
            return local_lost(self->transport, source);
        local_pump(self, -1);
    }
}

static int local_recv_data(dome_transport_provider *self, int source, int channel, void *data, uint64_t bytes)
{
    local_provider *p = self->state;
    (void)source;
    g_assert_nonnull(p->taken);
    g_assert_cmpuint(p->taken->frame.channel, ==, (uint32_t)channel);
    g_assert_cmpuint(p->taken->frame.bytes, ==, bytes);
    if (bytes)
        memcpy(data, p->taken->content + p->taken->frame.head_bytes, bytes);
    g_free(p->taken->content);
    g_free(p->taken);
    p->taken = NULL;
    return DOME_OK;
}

static bool local_arrived(dome_transport_provider *self, int source, int channel)
{
    local_provider *p = self->state;
    for (int r = 0; r < self->transport->group.size; r++)
        if (p->peers[r].socket >= 0)
            local_take_in(&p->peers[r]);
    for (GList *l = source < 0 ? NULL : p->peers[source].messages->head; l; l = l->next)
        if (((local_message *)l->data)->frame.channel == (uint32_t)channel)
            return true;
    return false;
}

static int local_descriptors(dome_transport_provider *self, const int **fds)
{
    static int list[1024];
    local_provider *p = self->state;
    int n = 0;
    for (int r = 0; r < self->transport->group.size; r++)
        if (p->peers[r].socket >= 0)
            list[n++] = p->peers[r].socket;
    *fds = list;
    return n;
}

static void local_close(dome_transport_provider *self)
{
    local_provider *p = self->state;
    for (int r = 0; r < self->transport->group.size; r++) {
        local_peer *peer = &p->peers[r];
        for (local_message *m; (m = g_queue_pop_head(peer->messages)); g_free(m)) {
            fprintf(stderr, "task %d: a message of task %d was left over\n", self->transport->group.rank, r);
            g_free(m->content);
            _exit(3);
        }
        g_queue_free(peer->messages);
        if (peer->socket >= 0)
            close(peer->socket);
    }
    g_free(p->peers);
    g_free(p);
}

static const dome_transport_ops local_ops = {
    .size = sizeof(dome_transport_ops),
    .name = "sockets",
    .can = DOME_TRANSPORT_LISTEN | DOME_TRANSPORT_PROBE,
    .send = local_send,
    .recv_head = local_recv_head,
    .recv_data = local_recv_data,
    .arrived = local_arrived,
    .descriptors = local_descriptors,
    .close = local_close,
};

/* Runs `task` in `size` processes and returns how many of them did not return 0. formats, if not NULL, gives each a data format.
 */
static int local_run(int size, const int *formats, int (*task)(dome_transport *transport, void *ctx), void *ctx)
{
    int *sockets = g_new(int, size *size);
    for (int a = 0; a < size; a++)
        for (int b = a; b < size; b++) {
            int pair[2] = {-1, -1};
            if (a != b)
                g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
            sockets[a * size + b] = pair[0];
            sockets[b * size + a] = pair[1];
        }
    pid_t *pids = g_new(pid_t, size);
    fflush(NULL);
    for (int r = 0; r < size; r++) {
        pids[r] = fork();
        g_assert_cmpint(pids[r], >=, 0);
        if (pids[r])
            continue;
        local_provider *p = g_new0(local_provider, 1);
        dome_transport *t = dome__transport_new(&local_ops, p, r, size);
        if (formats)
            dome__group_set_formats(&t->group, formats);
        p->peers = g_new0(local_peer, size);
        for (int i = 0; i < size * size; i++)
            if (i / size == r)
                p->peers[i % size] = (local_peer){.socket = sockets[i], .messages = g_queue_new()};
            else if (sockets[i] >= 0)
                close(sockets[i]);
        int failed = task(t, ctx);
        dome__transport_free(t);
        g_free(sockets);
        g_free(pids);
        fflush(NULL);
        _exit(failed != 0);
    }
    for (int i = 0; i < size * size; i++)
        if (sockets[i] >= 0)
            close(sockets[i]);
    int failures = 0;
    for (int r = 0; r < size; r++) {
        int status = 0;
        while (waitpid(pids[r], &status, 0) < 0 && errno == EINTR)
            ;
        if (status)
            failures++;
    }
    g_free(pids);
    g_free(sockets);
    return failures;
}

#endif
