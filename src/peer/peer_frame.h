/* Frames: what passes over a connection of the service channel once its handshake is done. A head of 16 bytes, the code of the
 * head (transport/mac.h), then, if the head says that there are any, the bytes and their code:
 *
 *     kind 1  tag 1  flags 2  length 4  id 8      big-endian
 *
 * The head has a code of its own, because nobody may make the receiver wait, or take memory, for more than the sender has said.
 * Pure functions of bytes: they know no sockets. */
#ifndef DOME_SRC_PEER_FRAME_H
#define DOME_SRC_PEER_FRAME_H

#include "transport/mac.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dome_peer_kind {
    DOME_PEER_HELLO = 1, /* the listening side has accepted; the first frame, and the only one of this kind */
    DOME_PEER_REQUEST,   /* id: the asking side's number */
    DOME_PEER_REPLY,     /* id: that of the request */
    DOME_PEER_PART,      /* a part of a message; id: how many bytes of the message are to come, those of this part included */
    DOME_PEER_CREDIT,    /* id: so many bytes of messages of this tag have been taken */
    DOME_PEER_WORD       /* as a request to which there is no reply; id 0 */
} dome_peer_kind;

/* A flag: nobody serves this tag. */
enum { DOME_PEER_NOBODY = 1 };

/* Most bytes of a request or a reply, and of a part of a message. */
enum { DOME_PEER_MOST = 1 << 20, DOME_PEER_PART_MOST = 1 << 18 };

enum { DOME_PEER_HEAD = 16, DOME_PEER_START = DOME_PEER_HEAD + DOME_MAC_BYTES };

typedef struct dome_peer_frame {
    uint8_t kind, tag;
    uint16_t flags;
    uint32_t length;
    uint64_t id;
} dome_peer_frame;

/* Bytes of a whole frame with so many bytes. */
static inline size_t dome__peer_frame_bytes(uint32_t length)
{
    return DOME_PEER_START + (length ? length + DOME_MAC_BYTES : 0u);
}

/* Writes the frame to `to`, which has room for all of it. */
void dome__peer_frame_put(uint8_t *to, const dome_peer_frame *frame, const void *data, dome_mac *mac);

/* ---- reading ---- */

typedef enum dome_peer_reading {
    DOME_PEER_MORE,     /* the frame is not complete */
    DOME_PEER_FRAME,    /* it is; the reader has its head and bytes until the next call */
    DOME_PEER_WRONG,    /* a code is wrong: the bytes are not those that were sent */
    DOME_PEER_MALFORMED /* the code is right, and the head is none */
} dome_peer_reading;

typedef struct dome_peer_reader {
    dome_mac *mac; /* NULL: codes are not looked at */
    dome_peer_frame frame;
    uint8_t start[DOME_PEER_START];
    uint8_t *bytes; /* g_malloc'd; the taker may steal it */
    size_t have;    /* of the frame */
    bool whole;
} dome_peer_reader;

void dome__peer_reader_clear(dome_peer_reader *reader);

/* Where the next bytes go, and at most how many. */
void *dome__peer_reader_room(dome_peer_reader *reader, size_t *bytes);

/* So many bytes have been put there. */
dome_peer_reading dome__peer_reader_filled(dome_peer_reader *reader, size_t bytes);

#endif
