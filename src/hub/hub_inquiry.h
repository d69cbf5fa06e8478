/* Whether tasks wait for ever. hub_inquiry.c alone changes these members. */
#ifndef DOME_SRC_HUB_INQUIRY_H
#define DOME_SRC_HUB_INQUIRY_H

#include "wire/inquiry.h"
#include "wire/wire.h"

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_inquiry {
    dome_inquiry *of; /* NULL: nobody is asked */
    uint32_t number;
    int size;
    double *moved_at; /* by rank: the task's, when it was asked */
    double began, again;
} hub_inquiry;

/* Whether these tasks, by rank (NULL: it is not one of them), none of which has moved for long, wait for ever. Asks them, unless
 * that is going on, and returns false as long as that is not known: call it again and again. */
bool dome__hub_for_ever(hub_state *s, const hub_client *const *tasks, int size);

/* Takes a task's answer. */
void dome__hub_inquiry_answer(hub_state *s, const hub_client *c, const dome_wire_message *answer);
void dome__hub_inquiry_close(hub_state *s);

#endif
