/* The views that the program has had, and what led to the change that is under way. hub_history.c alone changes these members. */
#ifndef DOME_SRC_HUB_HISTORY_H
#define DOME_SRC_HUB_HISTORY_H

#include "trace/sink.h"
#include "wire/history.h"
#include "wire/order.h"
#include "wire/wire.h"

typedef struct hub_state hub_state;

typedef struct hub_history {
    dome_history views;
    const char *order_from; /* who gave the last order: a static text */
    double entered_at;      /* when the last change began */
    uint64_t loops_before;  /* loop boundaries passed in earlier views */
} hub_history;

void dome__hub_history_open(hub_state *s);
void dome__hub_history_close(hub_state *s);

/* An order is being carried out: it came at s->orders.asked_at. */
void dome__hub_history_ordered(hub_state *s, const dome_order *order, int asker);

/* A change begins: tasks enter another view. */
void dome__hub_history_entered(hub_state *s);

/* The program changes, by that order or at its own request. */
void dome__hub_history_changes(hub_state *s, bool ordered);

/* It changes because of a loss, noticed so many seconds after the last sign of the lost task. */
void dome__hub_history_loss(hub_state *s, const char *reason, double noticing);

/* View `number` has ended, after the loop boundaries that its tasks have passed. */
void dome__hub_history_ended(hub_state *s, uint32_t number);

/* The present view begins after so many loop boundaries. */
void dome__hub_history_count_from(hub_state *s, uint64_t loops);

/* All tasks of the present view have joined. */
void dome__hub_history_stands(hub_state *s);
void dome__hub_history_took(hub_state *s, const dome_wire_times *times);

/* Writes all views so far into what begins to be recorded. */
void dome__hub_history_recite(const hub_state *s, dome_trace_sink *sink);

/* The option that gives orders, DOME_HUB_SCRIPT or DOME_HUB_SIZE, as the user has written it. */
const char *dome__hub_option(const hub_state *s, int asker);

#endif
