/* What members and tasks send each other about units, as bytes that are the same on every machine. The values of a grant follow.
 */
#ifndef DOME_SRC_UNIT_PACKET_H
#define DOME_SRC_UNIT_PACKET_H

#include "region/unit_protocol.h"

/* Words between a member's first task and its tasks, behind those of dome_unit_kind. */
typedef enum dome_unit_word {
    DOME_UNIT_FAULT = DOME_UNIT_GRANT + 1, /* to the first: a task needs the right */
    DOME_UNIT_LOWERED,                     /* to the first: a task has no other right any more */
    DOME_UNIT_TASK_RAISE,                  /* to a task: it has the right */
    DOME_UNIT_TASK_LOWER,                  /* to a task: it keeps only the right */
    DOME_UNIT_ADD                          /* a question to the home: values to be added, which follow */
} dome_unit_word;

typedef struct dome_unit_packet {
    uint8_t word, right;
    bool data; /* of a message between members; those of GRANT follow */
    bool done;
    uint16_t from; /* the member; FAULT, LOWERED: the task's number in it */
    uint16_t to, of;
    uint32_t region;
    uint64_t unit;
} dome_unit_packet;

enum { DOME_UNIT_PACKET = 24 };

void dome__unit_packet_put(const dome_unit_packet *packet, uint8_t bytes[DOME_UNIT_PACKET]);

/* False: that is none. */
bool dome__unit_packet_get(dome_unit_packet *packet, const uint8_t bytes[DOME_UNIT_PACKET]);

#endif
