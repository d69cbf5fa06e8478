/* A network that delays: every message between tasks of one host arrives so many seconds after it was sent. */
#ifndef DOME_BENCH_DELAYED_H
#define DOME_BENCH_DELAYED_H

#include "core/environment.h"
#include "system/time.h"
#include "transport/collective.h"

#include <string.h>
#include <time.h>

/* A message that has arrived at the transport below. */
typedef struct delayed_message {
    int source, channel;
    uint64_t due, bytes; /* due: ns */
    char *head, *data;
} delayed_message;

static struct {
    const dome_transport_ops *below;
    dome_transport_ops ops;
    uint64_t ns;
    GQueue *messages;
    delayed_message *taken;
} delayed;

enum { DELAYED_HEAD = 64 }; /* room for a head */

static int delayed_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    char longer[DELAYED_HEAD + sizeof(uint64_t)];
    const uint64_t due = dome__now_ns() + delayed.ns;
    memcpy(longer, packet->head, packet->head_bytes);
    memcpy(longer + packet->head_bytes, &due, sizeof due);
    const dome_packet later = {longer, packet->head_bytes + sizeof due, packet->data, packet->bytes};
    return delayed.below->send(self, dest, channel, &later);
}

/* The next message of a source, if it is here or `wait`. Its head has head_bytes. */
static delayed_message *delayed_find(dome_transport_provider *self, int source, int channel, size_t head_bytes, bool wait)
{
    for (GList *l = delayed.messages->head; l; l = l->next) {
        delayed_message *m = l->data;
        if (m->source == source && m->channel == channel)
            return m;
    }
    if (!wait && !delayed.below->arrived(self, source, channel))
        return NULL;
    delayed_message *m = g_new0(delayed_message, 1);
    m->source = source;
    m->channel = channel;
    m->head = g_malloc(head_bytes + sizeof m->due);
    int status = delayed.below->recv_head(self, source, channel, m->head, head_bytes + sizeof m->due, &m->bytes);
    m->data = g_malloc(m->bytes + 1);
    if (status == DOME_OK)
        status = delayed.below->recv_data(self, source, channel, m->data, m->bytes);
    memcpy(&m->due, m->head + head_bytes, sizeof m->due);
    g_queue_push_tail(delayed.messages, m);
    if (status != DOME_OK)
        dome_abort(self->transport->owner, "%s", self->transport->reason);
    return m;
}

static size_t delayed_head_bytes = 60; /* of message.c */

static bool delayed_arrived(dome_transport_provider *self, int source, int channel)
{
    if (source < 0)
        return delayed.below->arrived(self, source, channel);
    const delayed_message *m = delayed_find(self, source, channel, delayed_head_bytes, false);
    return m && m->due <= dome__now_ns();
}

static int delayed_recv_head(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes,
                             uint64_t *bytes)
{
    delayed_message *m = delayed_find(self, source, channel, head_bytes, true);
    for (uint64_t now; (now = dome__now_ns()) < m->due;)
        nanosleep(&(struct timespec){.tv_nsec = (long)(m->due - now)}, NULL);
    g_queue_remove(delayed.messages, m);
    memcpy(head, m->head, head_bytes);
    *bytes = m->bytes;
    delayed.taken = m;
    return DOME_OK;
}

static int delayed_recv_data(dome_transport_provider *self, int source, int channel, void *data, uint64_t bytes)
{
    delayed_message *m = g_steal_pointer(&delayed.taken);
    (void)self, (void)source, (void)channel;
    if (bytes)
        memcpy(data, m->data, bytes);
    g_free(m->head);
    g_free(m->data);
    g_free(m);
    return DOME_OK;
}

/* From now on messages take this long. Collective; the program was started with --dome-road pvm, so that all are messages. */
static void delayed_begin(dome_env *env, double seconds)
{
    dome_transport *t = env->transport;
    delayed.messages = g_queue_new();
    delayed.ns = (uint64_t)(seconds * 1e9);
    if (dome__barrier(t))
        dome_abort(env, "%s", t->reason);
    delayed.below = t->provider.ops;
    delayed.ops = *t->provider.ops;
    delayed.ops.send = delayed_send;
    delayed.ops.arrived = delayed_arrived;
    delayed.ops.recv_head = delayed_recv_head;
    delayed.ops.recv_data = delayed_recv_data;
    t->provider.can &= ~(unsigned)DOME_TRANSPORT_OFFER;
    t->provider.ops = &delayed.ops;
}

/* Not with messages under way. */
static void delayed_end(dome_env *env)
{
    if (dome__barrier(env->transport))
        dome_abort(env, "%s", env->transport->reason);
    env->transport->provider.ops = delayed.below;
    g_queue_free(delayed.messages);
}

#endif
