/* The last operations of tasks that disagree, and what follows from them. hub_difference.c alone changes these members. */
#ifndef DOME_SRC_HUB_DIFFERENCE_H
#define DOME_SRC_HUB_DIFFERENCE_H

#include <glib.h>
#include <stdbool.h>

typedef struct hub_state hub_state;

typedef struct hub_difference {
    GPtrArray *call_logs; /* NULL: not requested */
    bool for_ever;        /* tasks wait in different operations for messages that nobody has sent */
} hub_difference;

/* Asks all tasks for their last operations, when tasks disagree. */
void dome__hub_ask_call_logs(hub_state *s);
void dome__hub_take_call_log(hub_state *s, int rank, GArray *calls);
bool dome__hub_has_call_log(const hub_state *s, int rank);

/* They wait for ever. */
void dome__hub_wait_for_ever(hub_state *s);

/* Whether all tasks have made the same calls, as far as these are known. */
bool dome__hub_same_calls(const hub_state *s);

/* Whether tasks that wait for ever have made the same calls: then a message was lost on its way. */
bool dome__hub_message_is_lost(const hub_state *s);

/* A line about the first call that differed (g_free); NULL if it is unknown. */
char *dome__hub_difference(const hub_state *s);

/* The failure has been dealt with. */
void dome__hub_difference_forget(hub_state *s);

#endif
