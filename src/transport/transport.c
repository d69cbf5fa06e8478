#include "transport/transport.h"

#include <glib.h>
#include <stdio.h>

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
    if (transport->ops && transport->ops->close)
        transport->ops->close(transport);
    g_free(transport->data_format);
    g_free(transport->groups);
    g_free(transport);
}
