/* Units of regions at a task, over the service channel: who touches one without the right waits here until the task has it.
 *
 *     service = dome__unit_service_new(peer, transport);             // each task
 *     units = dome__units_new(service, &setup);                      // each task, with the same region; then a barrier
 *
 *     dome__units_want(units, unit, 1, true);                        // a thread that may not write; then it tries again
 *
 * The first task of each member acts for it: its state machines (unit_home.h, unit_member.h) run in whichever thread brings the
 * event, under one lock. Its other tasks take what it offers, and send it no message then; else they are told by messages.
 * Nothing here waits but dome__units_want and dome__units_flush, which no handler of the channel may call. If a task is lost that
 * they wait for, they wait until this process goes back or ends. */
#ifndef DOME_SRC_UNIT_SERVICE_H
#define DOME_SRC_UNIT_SERVICE_H

#include "peer/peer.h"
#include "region/unit_protocol.h"

#include <stdatomic.h>

typedef struct dome_unit_service dome_unit_service;
typedef struct dome_units dome_units;

/* transport: where the calling thread's waits are counted; NULL: nowhere. */
dome_unit_service *dome__unit_service_new(dome_peer *peer, dome_transport *transport);

/* After the channel is freed, which may still call it. */
void dome__unit_service_free(dome_unit_service *service);

typedef struct dome_units_calls {
    void (*allow)(void *ctx, uint64_t unit, dome_unit_right right);             /* this task has this right from now on */
    uint32_t (*pack)(void *ctx, uint64_t unit, unsigned member, void *message); /* values for a member; returns their bytes */
    bool (*unpack)(void *ctx, uint64_t unit, unsigned member, const void *message, uint32_t bytes); /* false: not so many */
    /* Adds what a member has asked for to values of a unit, which this task may write. Appends the answer to reply. False: the
     * message is damaged. */
    bool (*add)(void *ctx, uint64_t unit, unsigned member, const void *message, uint32_t bytes, GByteArray *reply);
} dome_units_calls;

typedef struct dome_units_setup {
    uint32_t region;       /* a number that all tasks have for it, and no other region */
    unsigned members;      /* at most DOME_UNIT_MOST, as tasks of a member */
    unsigned member, task; /* this task's member, and its number in it */
    unsigned tasks;        /* of this member */
    const int *firsts;     /* by member: the rank of its first task; copied */
    const int *ranks;      /* by task of this member: its rank; copied */
    uint64_t units;
    uint32_t bytes; /* most bytes of a unit in a message; with DOME_UNIT_PACKET more at most DOME_PEER_MOST */
    uint32_t hold;  /* us for which a unit stays where it was granted */
    /* Zeros in memory that the tasks of a member share, units * tasks bytes; NULL: they take no right by themselves. Row 0 is
     * what the first task offers, by unit, row t what task t has taken. */
    _Atomic uint8_t *offers;
    const uint16_t *homes;  /* by unit: a member, which has the unit at first. Changed by dome__units_move alone */
    dome_units_calls calls; /* in any thread, under the lock of the service */
    void *ctx;
} dome_units_setup;

/* No task has any right at first. */
dome_units *dome__units_new(dome_unit_service *service, const dome_units_setup *setup);

/* Nothing may be under way: all tasks have met since the last access. */
void dome__units_free(dome_units *units);

/* Returns when this task has the right to each of these units, or has had it for a while. Any thread but the channel's. */
void dome__units_want(dome_units *units, uint64_t first, uint64_t count, bool write);

/* Sends an addition to the unit's home, which is another member, and waits for its answer (calls.add there makes it). message:
 * DOME_UNIT_PACKET bytes of room, then the addition. The caller unrefs the answer. */
GByteArray *dome__units_add(dome_units *units, uint64_t unit, uint8_t *message, uint32_t bytes);

/* ---- other homes, at a boundary: no thread of any task accesses the region, and nobody wants a unit ----
 *
 *     dome__units_want(units, ...)          // first task of a member: to write all units of which it becomes the home
 *     all tasks wait for each other
 *     dome__units_flush(units);
 *     all tasks wait for each other
 *     dome__units_move(units, homes);
 *     all tasks wait for each other */

/* All that this task has sent to other members about units has been processed there. A status of the channel. */
dome_peer_status dome__units_flush(dome_units *units);

/* homes: by unit, the same on all tasks; copied. */
void dome__units_move(dome_units *units, const uint16_t *homes);

#endif
