/* Frames of the service channel: whatever arrives, in pieces of any size, is refused, or is a frame that becomes the same bytes
 * again; the reader never asks for more than a frame may have. */
#include "peer/peer_frame.h"

#include <glib.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const dome_peer_reader *r)
{
    const size_t bytes = dome__peer_frame_bytes(r->frame.length);
    uint8_t *again = g_malloc(bytes);
    dome_mac mac = {{0}, 0}, other = mac;
    dome_peer_reader second = {.mac = &other};
    dome_peer_reading reading = DOME_PEER_MORE;
    dome__peer_frame_put(again, &r->frame, r->bytes, &mac);
    if (memcmp(again, r->start, DOME_PEER_HEAD) != 0)
        abort();
    for (size_t at = 0, room; at < bytes; at += room) {
        void *to = dome__peer_reader_room(&second, &room);
        if (reading != DOME_PEER_MORE || room == 0 || room > bytes - at)
            abort();
        memcpy(to, again + at, room);
        reading = dome__peer_reader_filled(&second, room);
    }
    if (reading != DOME_PEER_FRAME || (r->frame.length && memcmp(second.bytes, r->bytes, r->frame.length) != 0))
        abort();
    dome__peer_reader_clear(&second);
    g_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dome_peer_reader r = {0};
    dome_peer_reading reading = DOME_PEER_MORE;
    const size_t most = size ? 1 + data[size - 1] : 1;
    for (size_t at = 0, n; at < size && reading <= DOME_PEER_FRAME; at += n) {
        size_t room;
        void *to = dome__peer_reader_room(&r, &room);
        if (room == 0 || room > DOME_PEER_MOST + DOME_MAC_BYTES)
            abort();
        n = MIN(MIN(room, most), size - at);
        memcpy(to, data + at, n);
        reading = dome__peer_reader_filled(&r, n);
        if (reading == DOME_PEER_FRAME)
            check(&r);
    }
    dome__peer_reader_clear(&r);
    return 0;
}
