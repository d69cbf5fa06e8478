/* Losses that are healed: what is known for the next one, and the one that is under way. hub_heal.c alone changes these members.
 */
#ifndef DOME_SRC_HUB_HEAL_H
#define DOME_SRC_HUB_HEAL_H

#include "manage/losses.h"
#include "wire/wire.h"

#include <stdbool.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_healing {
    char *facts;      /* what task 0 of this view has left with the hub for another one: dome_wire_view; NULL: it has not yet */
    char *reason;     /* of the loss that is being healed; NULL: none */
    uint32_t number;  /* of the view that heals it */
    bool bare;        /* the program had no object with a name */
    bool early;       /* it had come to no loop boundary */
    bool unstarted;   /* a view that heals could not start; a part of the failure that was noticed */
    int heals;        /* so far */
    int left;         /* the most to come; below 0: no limit */
    char *without;    /* hosts that have been given up with that loss, ", " between them; NULL: none */
    dome_losses past; /* whether a program is lost at one place again and again */
} hub_healing;

/* A task of the view that is to be healed, by its rank there. */
typedef struct hub_member {
    hub_client *by;   /* its connection; NULL: it has not come yet */
    const char *host; /* NULL: it is not known */
    bool lost;        /* no process of it goes on */
    bool failed;      /* it has told of a failure, which may be that of its host */
    bool unheard;     /* it is connected, and has been silent for long */
    int daemon;       /* process number of the launcher's daemon on its host; 0: it is not known */
} hub_member;

/* Instead of telling of the failure that was noticed (hub_failure.h). Returns whether it is being healed, or may be soon. */
bool dome__hub_heal(hub_state *s);

/* The cause of the failure that was noticed (manage/losses.h). */
uint64_t dome__hub_cause(const hub_state *s);

/* Prints the reason of a loss that could not be healed. */
void dome__hub_say_unhealed(hub_state *s);

/* Tells a task which rank it has in the next view. */
void dome__hub_send_back(const hub_state *s, hub_client *c);

/* Notices that a host does not start a task of the view that heals a loss: task 0, which waits for it, has not finished starting
 * for so many seconds. Returns whether that is so. */
bool dome__hub_look_for_host(hub_state *s, const hub_client *c, const char *host, double limit);

/* A view stands, and task 0 leaves this for another one. */
void dome__hub_heal_keep_facts(hub_state *s, const char *facts);

/* Task 0 says that all tasks of a view have joined. */
void dome__hub_healed(hub_state *s, const dome_wire_view *view);

void dome__hub_heal_open(hub_state *s);
void dome__hub_heal_close(hub_state *s);

#endif
