/* What programs do when a host's owner comes back (Stardust left such a machine, section 4; Condor first suspends): they give way
 * in steps, so that one that is gone in a moment costs little. A function of times; it does nothing itself. */
#ifndef DOME_SRC_OWNER_POLICY_H
#define DOME_SRC_OWNER_POLICY_H

#include <stdbool.h>

/* Seconds. An owner is there as long as the last activity (a key, a login, a process of the owner's) is at most QUIET old, so
 * that one who comes and goes each second is there all the time; a stay ends when the owner has been away for RETURN. Tasks are
 * nice at once, stopped after STOP, gone after LEAVE. When a stay has ended, stopped tasks go on, and for twice as long they are
 * nice again. A host that was left is offered again after FIRST_OFFER without its owner, and after twice as long each time that
 * the owner came back within an hour. */
#define DOME_OWNER_QUIET         3.0
#define DOME_OWNER_STOP          5.0
#define DOME_OWNER_LEAVE         60.0
#define DOME_OWNER_RETURN        15.0
#define DOME_OWNER_FIRST_OFFER   60.0
#define DOME_OWNER_LONGEST_OFFER 300.0

typedef enum dome_owner_phase {
    DOME_OWNER_AWAY, /* tasks run as always */
    DOME_OWNER_NICE, /* with low priority */
    DOME_OWNER_STOP_TASKS,
    DOME_OWNER_LEAVE_HOST /* tasks move elsewhere, and none comes */
} dome_owner_phase;

/* Of one host. All 0 at first. */
typedef struct dome_owner {
    dome_owner_phase phase;
    bool there, seen;
    double came, active; /* this stay's beginning; the last activity */
    double left;         /* when the host was left last */
    double offer;        /* how long the owner must be away then; 0: never left */
} dome_owner;

/* Takes a look: whether the owner has been active since the look before. Call it each second. */
dome_owner_phase dome__owner_look(dome_owner *owner, double now, bool active);

#endif
