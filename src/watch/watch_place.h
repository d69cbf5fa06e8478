/* Where the task is in its program: written by its own thread, read by the watch's. watch_place.c alone changes these members. */
#ifndef DOME_SRC_WATCH_PLACE_H
#define DOME_SRC_WATCH_PLACE_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct watch_position {
    uint64_t sequence, history, object; /* object: the number of its name in the call log; 0: none */
    uint32_t operation;
} watch_position;

typedef struct watch_place {
    atomic_uint_fast64_t turn; /* odd while the position is being written */
    watch_position at;
} watch_place;

void dome__watch_place_set(watch_place *place, const watch_position *at);
watch_position dome__watch_place_read(watch_place *place);

#endif
