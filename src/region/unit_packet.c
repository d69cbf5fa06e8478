#include "region/unit_packet.h"

#include "region/unit_set.h"
#include "system/bytes.h"

static void put_u16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static uint16_t get_u16(const uint8_t *from)
{
    return (uint16_t)(from[0] << 8 | from[1]);
}

void dome__unit_packet_put(const dome_unit_packet *packet, uint8_t bytes[DOME_UNIT_PACKET])
{
    bytes[0] = packet->word;
    bytes[1] = packet->right;
    bytes[2] = packet->data;
    bytes[3] = packet->done;
    bytes[4] = bytes[5] = 0;
    put_u16(bytes + 6, packet->from);
    put_u16(bytes + 8, packet->to);
    put_u16(bytes + 10, packet->of);
    dome__put_u32(bytes + 12, packet->region);
    dome__put_u64(bytes + 16, packet->unit);
}

bool dome__unit_packet_get(dome_unit_packet *packet, const uint8_t bytes[DOME_UNIT_PACKET])
{
    *packet = (dome_unit_packet){.word = bytes[0],
                                 .right = bytes[1],
                                 .data = bytes[2] == 1,
                                 .done = bytes[3] == 1,
                                 .from = get_u16(bytes + 6),
                                 .to = get_u16(bytes + 8),
                                 .of = get_u16(bytes + 10),
                                 .region = dome__get_u32(bytes + 12),
                                 .unit = dome__get_u64(bytes + 16)};
    return packet->word >= DOME_UNIT_ASK_READ && packet->word <= DOME_UNIT_ADD && packet->right <= DOME_UNIT_WRITE &&
           bytes[2] <= 1 && bytes[3] <= 1 && packet->from < DOME_UNIT_MOST && packet->to < DOME_UNIT_MOST &&
           packet->of < DOME_UNIT_MOST;
}
