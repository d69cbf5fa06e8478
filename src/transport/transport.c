#include "transport/transport.h"

#include "core/unconst.h"

#include <glib.h>
#include <stdio.h>

dome_transport *dome__transport_new(const dome_transport_ops *ops, void *provider, int rank, int size)
{
    dome_transport *transport = g_new0(dome_transport, 1);
    transport->ops = ops;
    transport->provider = provider;
    transport->can = ops->can;
    transport->rank = rank;
    transport->size = size;
    return transport;
}

static dome_transport *outermost(dome_transport *transport)
{
    while (transport->outer)
        transport = transport->outer;
    return transport;
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

static void free_links(dome_transport *transport)
{
    g_free(dome__unconst(transport->links.host));
    g_free(dome__unconst(transport->links.cluster));
    transport->links = (dome_transport_links){0};
}

void dome__transport_set_links(dome_transport *transport, const dome_transport_links *links)
{
    const size_t bytes = (size_t)transport->size * sizeof(int);
    free_links(transport);
    transport->links = *links;
    transport->links.host = links->host ? g_memdup2(links->host, bytes) : NULL;
    transport->links.cluster = links->cluster ? g_memdup2(links->cluster, bytes) : NULL;
}

dome_reach dome__transport_reach(const dome_transport *transport, int a, int b)
{
    const dome_transport_links *l = &transport->links;
    if (a == b || (l->host && l->host[a] == l->host[b]))
        return DOME_REACH_HOST;
    return l->cluster && l->cluster[a] != l->cluster[b] ? DOME_REACH_FAR : DOME_REACH_CLUSTER;
}

void dome__transport_free(dome_transport *transport)
{
    if (!transport)
        return;
    if (transport->ops && transport->ops->close)
        transport->ops->close(transport);
    g_free(transport->data_format);
    g_free(transport->groups);
    free_links(transport);
    g_free(transport);
}
