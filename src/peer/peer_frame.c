#include "peer/peer_frame.h"

#include "peer/peer.h"
#include "system/bytes.h"

static void put_head(uint8_t head[DOME_PEER_HEAD], const dome_peer_frame *frame)
{
    head[0] = frame->kind;
    head[1] = frame->tag;
    head[2] = (uint8_t)(frame->flags >> 8);
    head[3] = (uint8_t)frame->flags;
    dome__put_u32(head + 4, frame->length);
    dome__put_u64(head + 8, frame->id);
}

void dome__peer_frame_put(uint8_t *to, const dome_peer_frame *frame, const void *data, dome_mac *mac)
{
    put_head(to, frame);
    dome__mac_next(mac, to, DOME_PEER_HEAD, to + DOME_PEER_HEAD);
    if (!frame->length)
        return;
    memcpy(to + DOME_PEER_START, data, frame->length);
    dome__mac_next(mac, to + DOME_PEER_START, frame->length, to + DOME_PEER_START + frame->length);
}

/* ---- reading ---- */

static dome_peer_frame get_head(const uint8_t head[DOME_PEER_HEAD])
{
    return (dome_peer_frame){.kind = head[0],
                             .tag = head[1],
                             .flags = (uint16_t)(head[2] << 8 | head[3]),
                             .length = dome__get_u32(head + 4),
                             .id = dome__get_u64(head + 8)};
}

/* Whether a sender may say this. */
static bool is_sensible(const dome_peer_frame *f)
{
    if (f->tag >= DOME_PEER_TAGS || f->flags > (f->kind == DOME_PEER_REPLY ? DOME_PEER_NOBODY : 0))
        return false;
    switch (f->kind) {
    case DOME_PEER_HELLO:
    case DOME_PEER_CREDIT:
        return f->length == 0;
    case DOME_PEER_REQUEST:
    case DOME_PEER_REPLY:
        return f->length <= DOME_PEER_MOST;
    case DOME_PEER_WORD:
        return f->length <= DOME_PEER_MOST && f->id == 0;
    case DOME_PEER_PART:
        return f->length <= DOME_PEER_PART_MOST && f->length <= f->id && (f->length > 0 || f->id == 0);
    default:
        return false;
    }
}

static bool is_right(dome_peer_reader *r, const uint8_t *bytes, size_t length)
{
    return !r->mac || dome__mac_check(r->mac, bytes, length, bytes + length);
}

void dome__peer_reader_clear(dome_peer_reader *reader)
{
    g_clear_pointer(&reader->bytes, g_free);
    reader->have = 0;
    reader->whole = false;
}

void *dome__peer_reader_room(dome_peer_reader *reader, size_t *bytes)
{
    if (reader->whole)
        dome__peer_reader_clear(reader);
    if (reader->have < DOME_PEER_START) {
        *bytes = DOME_PEER_START - reader->have;
        return reader->start + reader->have;
    }
    *bytes = dome__peer_frame_bytes(reader->frame.length) - reader->have;
    return reader->bytes + (reader->have - DOME_PEER_START);
}

static dome_peer_reading end_start(dome_peer_reader *r)
{
    if (!is_right(r, r->start, DOME_PEER_HEAD))
        return DOME_PEER_WRONG;
    r->frame = get_head(r->start);
    if (!is_sensible(&r->frame))
        return DOME_PEER_MALFORMED;
    r->whole = r->frame.length == 0;
    if (!r->whole)
        r->bytes = g_malloc(r->frame.length + DOME_MAC_BYTES);
    return r->whole ? DOME_PEER_FRAME : DOME_PEER_MORE;
}

dome_peer_reading dome__peer_reader_filled(dome_peer_reader *reader, size_t bytes)
{
    reader->have += bytes;
    if (reader->have < DOME_PEER_START)
        return DOME_PEER_MORE;
    if (!reader->bytes)
        return end_start(reader);
    if (reader->have < dome__peer_frame_bytes(reader->frame.length))
        return DOME_PEER_MORE;
    reader->whole = true;
    return is_right(reader, reader->bytes, reader->frame.length) ? DOME_PEER_FRAME : DOME_PEER_WRONG;
}
