#include "transport/transport.h"

#include "transport/ahead.h"

#include <glib.h>
#include <stdio.h>
#include <unistd.h>

dome_transport *dome__transport_new(const dome_transport_ops *ops, void *provider, int rank, int size)
{
    dome_transport *transport = g_new0(dome_transport, 1);
    transport->ops = ops;
    transport->provider = provider;
    transport->can = ops->can;
    transport->rank = rank;
    transport->size = size;
    transport->waited_for = g_new0(uint64_t, size);
    return transport;
}

static dome_transport *outermost(dome_transport *transport)
{
    while (transport->outer)
        transport = transport->outer;
    return transport;
}

static bool stopped;

void dome__transport_stop(void)
{
    __atomic_store_n(&stopped, true, __ATOMIC_RELEASE);
}

void dome__transport_resume(void)
{
    __atomic_store_n(&stopped, false, __ATOMIC_RELEASE);
}

void dome__transport_may_send(void)
{
    while (__atomic_load_n(&stopped, __ATOMIC_ACQUIRE))
        pause();
}

void dome__transport_progress(dome_transport *transport)
{
    transport = outermost(transport);
    __atomic_store_n(&transport->progress, transport->progress + 1, __ATOMIC_RELAXED);
}

int dome__transport_error(dome_transport *transport, int status, const char *format, ...)
{
    va_list args;
    transport = outermost(transport);
    va_start(args, format);
    vsnprintf(transport->reason, sizeof transport->reason, format, args);
    va_end(args);
    return status;
}

void dome__transport_free(dome_transport *transport)
{
    if (!transport)
        return;
    if (transport->ops && transport->ops->close)
        transport->ops->close(transport);
    dome__ahead_line_free(transport);
    g_free(transport->data_format);
    g_free(transport->groups);
    g_free(transport->waited_for);
    dome__transport_free_links(transport);
    g_free(transport);
}
