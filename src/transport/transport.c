#include "transport/transport.h"

#include "transport/ahead.h"

#include <glib.h>
#include <stdio.h>

dome_transport *dome__transport_new(const dome_transport_ops *ops, void *state, int rank, int size)
{
    dome_transport *transport = g_new0(dome_transport, 1);
    transport->provider = (dome_transport_provider){.ops = ops, .state = state, .can = ops->can, .transport = transport};
    transport->group.rank = rank;
    transport->group.size = size;
    dome__account_open(&transport->account, size);
    return transport;
}

dome_transport_provider dome__transport_wrap(dome_transport *transport, const dome_transport_ops *ops, void *state, unsigned can)
{
    const dome_transport_provider inner = transport->provider;
    transport->provider = (dome_transport_provider){.ops = ops, .state = state, .can = can, .transport = transport};
    return inner;
}

int dome__transport_error(dome_transport *transport, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(transport->reason, sizeof transport->reason, format, args);
    va_end(args);
    return status;
}

void dome__transport_free(dome_transport *transport)
{
    if (!transport)
        return;
    if (transport->provider.ops && transport->provider.ops->close)
        transport->provider.ops->close(&transport->provider);
    dome__ahead_line_free(transport);
    dome__account_clear(&transport->account);
    dome__group_clear(&transport->group);
    g_free(transport);
}
