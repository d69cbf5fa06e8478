/* How many tasks a program has on each host, or is to have; and the orders by which a hub brings one to the other. Pure. */
#ifndef DOME_SRC_TASK_PLACES_H
#define DOME_SRC_TASK_PLACES_H

#include "daemon/daemon_record.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct dome_place {
    char *host;
    int64_t tasks; /* 1 or more */
} dome_place;

/* By name, so that equal places have equal texts. */
typedef struct dome_places {
    GArray *all; /* dome_place */
} dome_places;

dome_places dome__places_new(void);
dome_places dome__places_copy(const dome_places *from);
void dome__places_clear(dome_places *places);

void dome__places_set(dome_places *places, const char *host, int64_t tasks);
int64_t dome__places_get(const dome_places *places, const char *host);
int64_t dome__places_sum(const dome_places *places);
bool dome__places_equal(const dome_places *a, const dome_places *b);

/* Pairs name=HOST:TASKS of a record; false: one is no such pair. */
void dome__places_add_to(const dome_places *places, dome_record *record, const char *name);
bool dome__places_from(const dome_record *record, const char *name, dome_places *places);

/* The next order (wire/order.h) to the hub of a program that has tasks at `from` and is to have them at `to`, g_free'd. It never
 * has fewer than `least` or more than `most` tasks in between, if there is a way. NULL: it has them there. */
char *dome__places_order(const dome_places *from, const dome_places *to, int64_t least, int64_t most);

#endif
