/* The board of a host: memory that its tasks share, on which their watchers put their beats, so that one of them tells the hub of
 * all (watch/watch.c). The provider that shares memory gives it to the transport. All times are of the host's monotonic
 * clock, in ns. */
#ifndef DOME_SRC_BOARD_H
#define DOME_SRC_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fewest tasks of a host that have one: fewer cost the hub nothing. */
enum { DOME_BOARD_FROM = 32 };

/* Bytes of the longest beat. */
enum { DOME_BOARD_MOST = 376 };

typedef struct dome_board_place {
    _Alignas(128) atomic_uint turn; /* odd while the rest is written */
    uint32_t count;                 /* of the beats that were put here, from 1 */
    uint32_t length;
    uint8_t beat[DOME_BOARD_MOST]; /* the message to the hub */
} dome_board_place;

typedef struct dome_board {
    _Alignas(128) uint64_t told;  /* when the first task last told the hub; 0: never */
    _Alignas(128) uint64_t heard; /* when it last heard of the hub */
    dome_board_place place[];
} dome_board;

/* Bytes for so many tasks. */
static inline size_t dome__board_bytes(int tasks)
{
    return sizeof(dome_board) + (size_t)tasks * sizeof(dome_board_place);
}

/* Only the task of the place calls it. False: the beat is too long. */
bool dome__board_put(dome_board *board, int place, const uint8_t *beat, size_t length);

/* The length of the beat of a place, if it is another than the one with this number, which becomes its number. 0: there is none,
 * or it is just being written. */
size_t dome__board_take(const dome_board *board, int place, uint32_t *count, uint8_t beat[DOME_BOARD_MOST]);

#endif
