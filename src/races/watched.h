/* Memory of a program whose changes are looked for at any time: pages are closed to writes, the first write to one makes a copy
 * of it, and a look compares the two and closes it again. */
#ifndef DOME_SRC_RACES_WATCHED_H
#define DOME_SRC_RACES_WATCHED_H

#include "races/writes.h"
#include "space/space.h"

typedef struct dome_omp_watched dome_omp_watched;

/* A piece of memory, and who has written it. */
typedef struct dome_omp_piece {
    char *at;
    size_t bytes;
    dome_omp_shadow shadow;
} dome_omp_piece;

/* space: whose ranges are watched; NULL: dome__omp_watched_add adds what this process has alone. */
dome_omp_watched *dome__omp_watched_new(dome_space *space);
void dome__omp_watched_free(dome_omp_watched *watched);

/* NULL, or why it cannot be watched: a static text. */
const char *dome__omp_watched_add(dome_omp_watched *watched, void *at, size_t bytes);
const char *dome__omp_watched_add_part(dome_omp_watched *watched, unsigned part);

/* The piece that has the address, or NULL; and each of them. */
dome_omp_piece *dome__omp_watched_at(const dome_omp_watched *watched, const void *address);
void dome__omp_watched_each(const dome_omp_watched *watched, void (*visit)(void *context, dome_omp_piece *piece), void *context);

/* Bytes of the program's memory as they are, which are read without a fault. */
const void *dome__omp_watched_bytes(const dome_omp_watched *watched, const void *address);

/* What has changed since the last call, as runs; visit: NULL: it is forgotten. */
typedef void dome_omp_changed(void *context, dome_omp_piece *piece, size_t first, size_t count, const void *values);
void dome__omp_watched_take(dome_omp_watched *watched, dome_omp_changed *visit, void *context);

#endif
