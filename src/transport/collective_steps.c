/* Steps that the patterns of the collectives share. */
#include "transport/collective_private.h"

#include <inttypes.h>

int dome__trade(dome_transport *t, dome_type type, int dest, const void *out, uint64_t out_count, int source, void *in,
                uint64_t in_count)
{
    int status = out_count ? dome__begin_send(t, dest, DOME_CHANNEL_COLLECTIVE, type, out, out_count) : DOME_OK;
    if (!status && in_count)
        status = take(t, source, type, in, in_count);
    if (!status && out_count)
        dome__end_send(t, dest);
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
