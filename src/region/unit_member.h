/* A unit at a member: its right, the rights of its tasks, the right that it has asked for, the right that it is losing.
 *
 *     have      event                            then                                                       have
 *     NONE      fault                            ASK_READ, ASK_WRITE                                        NONE
 *     READ      fault of a reader                RAISE to READ                                              READ
 *     READ      fault of a writer                ASK_WRITE                                                  READ
 *     WRITE     fault                            RAISE to WRITE                                             WRITE
 *     NONE,     GRANT, not the last              it is counted                                              the same
 *     READ
 *     NONE,     GRANT, the last                  RAISE of the tasks that wait; DONE; ASK_WRITE, if          READ, WRITE
 *     READ                                       more tasks wait to write
 *     READ,     SHARE                            LOWER to READ of the tasks that may write; after that,     READ
 *     WRITE                                      GRANT to the member that has asked
 *     READ,     YIELD                            LOWER to NONE of the tasks that have a right; after        NONE
 *     WRITE                                      that, GRANT
 *
 * The home's own member says DONE for the other when it has sent the only grant, which says so; that member then does not.
 * What a member has asked for is beside that: one request at a time. So a YIELD may arrive at a member that has READ and has
 * asked to write; its request is still waiting at the home then, and will bring the values. While tasks are lowered, faults wait:
 * what they need is asked for when the copy is gone. Rights are given only as far as the member has them, and as far as they go:
 * who reads a unit that the member may write gets WRITE at once. All else is a message that fits nothing.
 *
 * Tasks need no message for a right that the member has: it is offered to them (OFFER), and they take it by themselves. A task
 * notes what it takes, then looks whether it is still offered; before a loss, the member ends the offer, then looks at what was
 * noted. So one of the two sees the other. */
#ifndef DOME_SRC_UNIT_MEMBER_H
#define DOME_SRC_UNIT_MEMBER_H

#include "region/unit_protocol.h"
#include "region/unit_set.h"

typedef struct dome_unit_member {
    uint8_t have;                          /* dome_unit_right */
    uint8_t asked;                         /* the right that it has asked for; NONE: nothing */
    uint8_t loses;                         /* SHARE or YIELD, while tasks are lowered; 0: nothing */
    bool data;                             /* loses: the values go with the grant */
    bool filled;                           /* asked: the values have come */
    uint16_t to;                           /* loses: who gets the grant */
    uint16_t of;                           /* loses: of so many; asked, after the first grant: of so many */
    uint16_t got;                          /* asked: so many grants */
    dome_unit_set readers, writers;        /* tasks that have a right; those that may write are among both */
    dome_unit_set waits_read, waits_write; /* tasks that wait for a right */
    dome_unit_set lowers;                  /* tasks that are to be lowered */
} dome_unit_member;

/* No task has a right yet. */
void dome__unit_member_init(dome_unit_member *member, dome_unit_right have);

/* Nothing is under way. */
bool dome__unit_member_is_idle(const dome_unit_member *member);

/* A task has touched the unit without the right to do so. */
void dome__unit_member_fault(dome_unit_member *member, const dome_unit_call *call, unsigned task, bool write);

/* A message: SHARE, YIELD, GRANT. The values of a GRANT are in the member's copy by now, and those of one that is sent are taken
 * from there. False: it fits nothing. */
bool dome__unit_member_take(dome_unit_member *member, const dome_unit_call *call, dome_unit_message message);

/* During OFFER: a task has taken this right by itself, or is about to find that it may not. */
void dome__unit_member_took(dome_unit_member *member, unsigned task, dome_unit_right right);

/* A task has only the right that LOWER has left to it. False: it was not asked to. */
bool dome__unit_member_lowered(dome_unit_member *member, const dome_unit_call *call, unsigned task);

#endif
