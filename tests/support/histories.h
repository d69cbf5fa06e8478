/* Histories of memory that tasks share: what each task did, in its order, and what it saw. A history is explained if there is one
 * order of all events that keeps each task's own order, and in which each load sees what the last store before it has left.
 *
 *     history_is_explained(&history, HISTORY_SEQUENTIAL)
 *
 * The search is complete: it tries every order, but visits no state twice. Values need not be unique. */
#ifndef DOME_TESTS_HISTORIES_H
#define DOME_TESTS_HISTORIES_H

#include <stdbool.h>
#include <stdint.h>

enum { HISTORY_TASKS = 8, HISTORY_EVENTS = 24, HISTORY_PLACES = 8, HISTORY_LOCKS = 2 };

typedef enum history_kind {
    HISTORY_LOAD,
    HISTORY_STORE,
    HISTORY_SWAP, /* loads and stores in one step */
    HISTORY_ADD,  /* likewise, by dome_region_fetch_add: what it left depends on what it saw */
    HISTORY_ACQUIRE,
    HISTORY_RELEASE
} history_kind;

typedef struct history_event {
    int64_t kind;
    int64_t where;      /* a place; ACQUIRE, RELEASE: a lock */
    int64_t seen, left; /* what a load saw, what a store left */
} history_event;

typedef struct history {
    unsigned tasks;
    unsigned counts[HISTORY_TASKS]; /* of events; all places are 0 before */
    history_event events[HISTORY_TASKS][HISTORY_EVENTS];
} history;

typedef enum history_order {
    HISTORY_SEQUENTIAL,
    HISTORY_TOTAL_STORE /* x86: a task's stores wait in a queue of its own, from which its loads take values; SWAP, ADD, ACQUIRE
                           and RELEASE wait until the queue is empty */
} history_order;

bool history_is_explained(const history *h, history_order order);

/* On standard error, a line for each task. */
void history_print(const history *h);

#endif
