/* Small collectives of the tasks of one host: the transport's slot `share`. */
#ifndef DOME_SRC_LOCAL_SHARE_H
#define DOME_SRC_LOCAL_SHARE_H

#include "local/local_private.h"

/* A task has SLOTS slots: for the current share, and for earlier ones that other tasks may still be reading. */
enum { SLOTS = 4, SLOT_BYTES = 4096, SLOT_HEAD = 88 };

typedef struct shared_slot {
    _Alignas(LINE) atomic_uint number; /* of the share */
    uint32_t bytes;
    uint8_t head[SLOT_HEAD];
    _Alignas(16) uint8_t data[];
} shared_slot;

int dome__local_share(dome_transport_provider *self, int from, const dome_packet *packet, dome_shared *given, int *last);

#endif
