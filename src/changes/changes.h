/* What the files of this folder share: memory whose changes are tracked, and files of changes. */
#ifndef DOME_SRC_CHANGES_H
#define DOME_SRC_CHANGES_H

#include "delta/delta.h"
#include "memory/memory.h"

#include <glib.h>

/* Memory that a program has named. Deltas speak of the memory from `base` on, the beginning of the area's first page. */
typedef struct dome_area {
    char *at, *base;
    size_t bytes, page, pages; /* pages: from base to the end of the last page */
    unsigned unit;
    dome_memory *memory; /* of pages that are all the area's; NULL: not tracked, or there are none */
    char *twin;          /* from base on: pages as they were before the first write; NULL: not tracked */
    uint8_t *written;    /* of each page */
    GArray *wrote;       /* dome_written: dome_delta_wrote */
} dome_area;

/* Whether tasks keep this memory equal (libdome-omp), so that the rights of its pages are theirs; NULL: there are no such. */
extern bool (*dome__changes_taken)(const void *memory, size_t bytes);

typedef struct dome_written {
    size_t first, count; /* bytes from base on */
} dome_written;

/* area.c. NULL, or why not: a static text. */
dome_area *dome__area_new(void *at, size_t bytes, unsigned unit);
const char *dome__area_track(dome_area *area);
void dome__area_untrack(dome_area *area);
size_t dome__area_skew(const dome_area *area); /* bytes from base to the area */

/* What has changed since tracking began or the last call; the next call begins anew. */
dome_delta *dome__area_take(dome_area *area);

/* The same of these bytes of the area; for others it is as if there had been no call. Multiples of the unit. */
dome_delta *dome__area_take_part(dome_area *area, size_t first, size_t bytes);

/* These bytes of the area are changed, whatever their values are when they are taken. */
void dome__area_wrote(dome_area *area, size_t first, size_t bytes);

/* The changes are forgotten. */
void dome__area_forget(dome_area *area);

/* Of a delta whose area had the same number of bytes, but may have had another skew; false: it speaks of other memory. */
bool dome__area_fits(const dome_area *area, const dome_delta *delta, size_t skew);
void dome__area_apply(dome_area *area, const dome_delta *delta, size_t skew, size_t first, size_t bytes); /* to this part of it */

/* A file of changes. Its form, integers big-endian:
 *     "DOMECHNG", u32 version (1), u32 region, u32 areas
 *     for each area: u64 bytes, u32 skew, u64 length, length bytes: a delta with its head (delta.h)
 *     u64 checksum (XXH3 with 64 bits) of all that */
typedef struct dome_changes {
    uint32_t region;  /* the number of starts before the save */
    GPtrArray *areas; /* dome_change * */
} dome_changes;

typedef struct dome_change {
    uint64_t bytes;
    size_t skew;
    dome_delta *delta;
} dome_change;

/* changes_file.c */
dome_changes *dome__changes_new(uint32_t region);
void dome__changes_add(dome_changes *changes, uint64_t bytes, size_t skew, dome_delta *delta); /* takes the delta */
void dome__changes_free(dome_changes *changes);
bool dome__changes_write(const dome_changes *changes, const char *file, char **why);
dome_changes *dome__changes_read(const char *file, char **why); /* NULL with *why, to be freed */

/* `into` gets the values of `more`, too. NULL, or why they cannot be merged. */
const char *dome__changes_merge(dome_changes *into, const dome_changes *more);

#endif
