/* Whether tasks that wait will wait for ever. A task that has not moved for some time may wait for a message that is under way:
 * where a link is cut and mended, data can stand still for longer than heartbeats do, because each connection of TCP tries again
 * after ever longer pauses. So time alone tells nothing. Messages are counted instead (transport.h: given, taken), and the hub
 * asks for the counts when it suspects something. In two steps, so that it takes few numbers:
 *
 *     1. each task says what it waits for, and how many such messages it has taken
 *     2. the tasks that these messages come from say how many they have given
 *
 * If all tasks still waited when they answered the first question, and no task has given more messages than were taken, none of
 * them can go on: the first one that did would have needed a message that was given before the answer to the second question, or
 * by a task that went on before it. Pure functions of numbers, for hub_inquiry.c and the watcher. */
#ifndef DOME_SRC_INQUIRY_H
#define DOME_SRC_INQUIRY_H

#include "transport/transport.h"

#include <glib.h>

/* ---- a task's side: arrays of uint32_t, g_array_unref'd by the caller ---- */

/* The answer to the first question. */
GArray *dome__inquiry_waits(const dome_transport *transport);

/* The answer to the second one: how many messages this task has given for each pair of rank and channel. */
GArray *dome__inquiry_given(const dome_transport *transport, const GArray *pairs);

/* ---- the hub's side ---- */

typedef struct dome_inquiry dome_inquiry;

typedef enum dome_inquiry_state {
    DOME_INQUIRY_WAITS,    /* answers to the first question are missing */
    DOME_INQUIRY_GIVEN,    /* answers to the second one are missing */
    DOME_INQUIRY_MOVES,    /* a task moves, or a message is under way */
    DOME_INQUIRY_FOR_EVER, /* none of the tasks can go on */
} dome_inquiry_state;

/* Among `size` tasks; asked: by rank. */
dome_inquiry *dome__inquiry_new(int size, const bool *asked);
void dome__inquiry_free(dome_inquiry *inquiry);

dome_inquiry_state dome__inquiry_state(const dome_inquiry *inquiry);
bool dome__inquiry_is_asked(const dome_inquiry *inquiry, int rank);

/* An answer to the first question. */
void dome__inquiry_take_waits(dome_inquiry *inquiry, int rank, const GArray *answer);

/* Call when the state has become DOME_INQUIRY_GIVEN: the pairs that a task is asked for, NULL: it is not. */
const GArray *dome__inquiry_pairs(const dome_inquiry *inquiry, int rank);

/* An answer to the second one. */
void dome__inquiry_take_given(dome_inquiry *inquiry, int rank, const GArray *answer);

#endif
