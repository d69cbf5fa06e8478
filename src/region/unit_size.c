#include "region/unit_size.h"

#include "peer/peer_frame.h"
#include "region/unit_packet.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <inttypes.h>
#include <unistd.h>

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t least_common_multiple(uint64_t a, uint64_t b)
{
    return a / greatest_common_divisor(a, b) * b;
}

/* Whole pages of every member, in bytes; whole values, as few as that takes on each machine. */
static void combine(const uint64_t *all, int size, uint64_t *page, uint64_t *values)
{
    *page = *values = 1;
    for (int r = 0; r < size; r++) {
        *page = MAX(*page, all[2 * r]);
        *values = least_common_multiple(*values, all[2 * r + 1]);
    }
}

int dome__unit_size_agree(dome_env *env, const char *what, dome_type type, dome_unit_size *size)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = dome_type_size(type);
    const uint64_t own[2] = {page, page / greatest_common_divisor(page, bytes)};
    const bool alike = !env->transport->group.data_format;
    uint64_t *all = g_new0(uint64_t, 2 * (size_t)env->size), most_page, most_values;
    const int failed = dome__allgather(env->transport, DOME_U64, own, 2, all);
    combine(all, env->size, &most_page, &most_values);
    g_free(all);
    if (failed)
        return dome__fail_transport(env, failed);
    size->values = alike ? 0 : most_values;
    size->bytes = alike ? most_page : most_values * bytes;
    size->units = 0;
    const uint64_t most = MAX(size->bytes, size->values * dome_type_portable_size(type));
    if (most + DOME_UNIT_PACKET > DOME_PEER_MOST)
        return dome__fail(env, DOME_ERR_STATE,
                          "%s: %" PRIu64 " bytes are the fewest that are whole values and whole pages on all machines, more than "
                          "the %d that unlike machines can share: use a smaller type",
                          what, most, DOME_PEER_MOST - DOME_UNIT_PACKET);
    return DOME_OK;
}

uint64_t dome__unit_size_elements(uint64_t unit, uint64_t element)
{
    return unit / greatest_common_divisor(unit, element);
}

int dome__unit_size_owner(const dome_layout *layout, uint64_t element, uint64_t unit_bytes, uint64_t unit)
{
    const uint64_t last = dome_layout_length(layout) - 1, first = MIN(unit * unit_bytes / element, last);
    return dome_layout_owner(layout, first / dome_layout_block_size(layout));
}
