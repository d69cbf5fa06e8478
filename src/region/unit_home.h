/* A unit at its home: the members that have copies, the request that is served, and the members whose requests wait.
 *
 *     phase   event                             then                                                        phase
 *     FREE    ASK                               it is served, or must wait for the hold                     BUSY, HELD
 *     BUSY    ASK                               it waits                                                    BUSY
 *     BUSY    DONE of the member served         it has the copy; the next in turn is served,                FREE, BUSY,
 *                                               or must wait for the hold, or there is none                 HELD
 *     HELD    ASK of the member served last     it is served: it upgrades what it holds                     BUSY
 *     HELD    ASK of another                    it waits                                                    HELD
 *     HELD    timer                             the next in turn is served, or waits for a newer hold       BUSY, HELD
 *     FREE,   timer                             nothing
 *     BUSY
 *
 *     served            others have copies     sent
 *     ASK_READ          yes                    SHARE, to one of them: this member if it can
 *     ASK_WRITE         yes                    YIELD, to each of them, to one with values if the asking member has no copy
 *     either            no                     GRANT, to the asking member; that is DONE
 *
 * Turns go round the members by their numbers. So before a request has its turn, each other member is served once at most, or
 * twice if it upgrades. The hold: for a while after a grant, no other member's request takes the right away that was granted;
 * one that takes nothing from that member does not wait. All else is a message that fits nothing. */
#ifndef DOME_SRC_UNIT_HOME_H
#define DOME_SRC_UNIT_HOME_H

#include "region/unit_protocol.h"
#include "region/unit_set.h"

typedef enum dome_unit_phase { DOME_UNIT_FREE, DOME_UNIT_BUSY, DOME_UNIT_HELD } dome_unit_phase;

typedef struct dome_unit_home {
    dome_unit_set copies;        /* members that have one; never empty */
    dome_unit_set reads, writes; /* of whom requests wait */
    uint32_t granted;            /* when the last request was done */
    uint16_t turn;               /* the member that is served, or was served last */
    uint8_t phase;
    bool exclusive; /* the one member that has a copy may write it */
    bool writing;   /* BUSY: the request is ASK_WRITE */
    bool timing;    /* a timer runs */
} dome_unit_home;

/* One member has the unit, and may write it. */
void dome__unit_home_init(dome_unit_home *home, unsigned member);

/* Nothing is under way: neither request nor timer. */
bool dome__unit_home_is_idle(const dome_unit_home *home);

/* A message from a member: ASK_READ, ASK_WRITE, DONE. False: it fits nothing. */
bool dome__unit_home_take(dome_unit_home *home, const dome_unit_call *call, unsigned from, dome_unit_message message);

void dome__unit_home_timer(dome_unit_home *home, const dome_unit_call *call);

#endif
