/* The provider for a program of one task: there are no tasks to start and none to send messages to. */
#include "transport/transport.h"

static int nobody(dome_transport_provider *self, int peer)
{
    return dome__transport_error(self->transport, DOME_ERR_COMM, "there is no task %d: the program has one task", peer);
}

static int self_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    (void)channel, (void)packet;
    return nobody(self, dest);
}

static int self_recv_head(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes)
{
    (void)channel, (void)head, (void)head_bytes, (void)bytes;
    return nobody(self, source);
}

static int self_recv_data(dome_transport_provider *self, int source, int channel, void *data, uint64_t bytes)
{
    (void)channel, (void)data, (void)bytes;
    return nobody(self, source);
}

static void self_close(dome_transport_provider *self)
{
    (void)self;
}

static dome_transport *self_open(const dome_members *members)
{
    (void)members;
    return dome__transport_new(&dome__transport_self, NULL, 0, 1);
}

const dome_transport_ops dome__transport_self = {
    .size = sizeof(dome_transport_ops),
    .name = "self",
    .open = self_open,
    .send = self_send,
    .recv_head = self_recv_head,
    .recv_data = self_recv_data,
    .close = self_close,
};

static bool fits(int tasks)
{
    return tasks <= 1;
}

const dome_launcher dome__launcher_self = {
    .size = sizeof(dome_launcher),
    .name = "self",
    .title = "one process",
    .most = {1, 1},
    .fits = fits,
};
