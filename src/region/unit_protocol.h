/* The sequential protocol: the messages between members about a unit of a region. At any time one member may write the unit, or
 * any number of members may read it. The tasks of one host are a member, and share one copy. One member is the unit's home: it
 * knows which members have copies, and serves their requests one after the other. Home and member are state machines
 * (unit_home.h, unit_member.h), which take events and call a function for each action. They know neither connections nor time nor
 * the unit's values.
 *
 *     member 2 reads; member 1 has written            member 2 writes; 0 (home), 1 and 2 have copies
 *
 *     2 -> home   ASK_READ                            2 -> home     ASK_WRITE
 *     home -> 1   SHARE to 2                          home -> 0, 1  YIELD to 2, of 2
 *     1 -> 2      GRANT, of 1, with the values        0, 1 -> 2     GRANT, of 2
 *     2 -> home   DONE                                2 -> home     DONE
 *
 * The third message brings what was asked for; if the home has the values, the second does. DONE delays nobody but the next
 * request. If all that the asking member gets comes from the home, the home tells itself DONE when it has granted, and the member
 * does not: what the home tells it of the next request arrives behind the grant. Messages between two members, and between a
 * member's first task and its other tasks, stay in order; others may arrive in any order. What a member tells itself is its next
 * event. That is enough, because a home serves one request at a time: until DONE, no message of another request is under way. A
 * member that has a copy and wants to write (an upgrade) also says ASK_WRITE: only the home knows whether that copy is still
 * there when the request has its turn.
 *
 * Pure functions: they use nothing of Dome. */
#ifndef DOME_SRC_UNIT_PROTOCOL_H
#define DOME_SRC_UNIT_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dome_unit_right { DOME_UNIT_NONE, DOME_UNIT_READ, DOME_UNIT_WRITE } dome_unit_right;

typedef enum dome_unit_kind {
    /* to the home */
    DOME_UNIT_ASK_READ = 1,
    DOME_UNIT_ASK_WRITE,
    DOME_UNIT_DONE, /* a member has all grants, or will have them before anything else from the home */
    /* from the home to a member that has a copy */
    DOME_UNIT_SHARE, /* grant, and keep a copy to read */
    DOME_UNIT_YIELD, /* give up the copy, then grant */
    /* to the member that has asked */
    DOME_UNIT_GRANT
} dome_unit_kind;

typedef struct dome_unit_message {
    uint8_t kind;
    bool data;   /* GRANT: the values come with it; SHARE, YIELD: they are to */
    bool done;   /* GRANT: the home knows that it is the last */
    uint16_t to; /* SHARE, YIELD, DONE: the member that has asked */
    uint16_t of; /* SHARE, YIELD, GRANT: so many grants that member gets for this request */
} dome_unit_message;

/* An action, which the caller carries out before it gives the next event. */
typedef enum dome_unit_action {
    DOME_UNIT_SEND,  /* to a member, which may be oneself */
    DOME_UNIT_WAIT,  /* call dome__unit_home_timer after `wait` */
    DOME_UNIT_RAISE, /* give a task of this member the right, and let it go on */
    DOME_UNIT_OFFER, /* tasks may take this right by themselves from now on, and no more: call dome__unit_member_took for each
                      * that has taken more, before this returns */
    DOME_UNIT_LOWER  /* leave a task only the right, and call dome__unit_member_lowered when it has no more */
} dome_unit_action;

typedef struct dome_unit_act {
    dome_unit_action action;
    unsigned to; /* member, or task */
    dome_unit_message message;
    dome_unit_right right;
    uint32_t wait; /* us */
} dome_unit_act;

/* The arguments that all calls have. */
typedef struct dome_unit_call {
    unsigned self, home; /* this member, and the unit's home */
    uint32_t now, hold;  /* us, by any clock, which may run over; a unit that was granted stays so long */
    void (*act)(void *ctx, const dome_unit_act *act);
    void *ctx;
} dome_unit_call;

static inline void dome__unit_send(const dome_unit_call *call, unsigned to, dome_unit_message message)
{
    const dome_unit_act act = {.action = DOME_UNIT_SEND, .to = to, .message = message};
    call->act(call->ctx, &act);
}

#endif
