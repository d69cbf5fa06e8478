/* Steps that the patterns of the collectives share. */
#include "transport/collective_private.h"

#include <inttypes.h>

int dome__trade(dome_transport *t, dome_type type, outgoing out, incoming in)
{
    int status = out.count ? dome__begin_send(t, out.dest, DOME_CHANNEL_COLLECTIVE, type, out.data, out.count) : DOME_OK;
    if (!status && in.count)
        status = take(t, in.source, type, in.data, in.count);
    if (!status && out.count)
        dome__end_send(t, out.dest);
    return status;
}

int dome__collective_room(dome_transport *t, dome_type type, uint64_t count, void **data)
{
    uint64_t size = dome_type_size(type);
    *data = NULL;
    if (!count)
        return DOME_OK;
    if (count <= SIZE_MAX / size)
        *data = g_try_malloc0(count * size);
    if (*data)
        return DOME_OK;
    return dome__transport_error(t, DOME_ERR_MEMORY, "no memory for %" PRIu64 " elements of %" PRIu64 " bytes", count, size);
}
