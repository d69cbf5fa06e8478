/* Ranges of elements in order of their indices: the spans of all tasks, and values of which each task has some ranges. */
#ifndef DOME_SRC_DVEC_RANGES_H
#define DOME_SRC_DVEC_RANGES_H

#include "objects/dvec_private.h"

/* A span of one task. */
typedef struct dvec_segment {
    uint64_t first, count;
    int rank, number; /* number: 0 or 1, of the task's spans; a second span begins at element 0 */
} dvec_segment;

/* The spans of all tasks in order of their indices. The caller frees them with g_free. x must not be DOME_WHOLE. */
dvec_segment *dvec__segments(const dvec *x, uint64_t *count);

/* Each of this task's spans of x has so many values. Numbers those of all tasks in order of the spans' indices: ranges[2 r + k]
 * are the numbers of rank r's span k. ranges has room for two of each task. Sets how many values there are. Collective, unless x
 * is DOME_WHOLE: then only ranges[2 r + k] of this task are set. */
int dvec__number(const dvec *x, const uint64_t mine[2], dome_span *ranges, uint64_t *total);

/* Room for two ranges of each task. */
dome_span *dvec__new_ranges(const dome_env *env);

/* Gives z, which is not DOME_WHOLE, its elements, of which each task has those in its two ranges, one after the other. z has no
 * recorded work. Collective; returns a status. */
int dvec__deliver(dvec *z, const dome_span *ranges, const void *elements);

/* Makes a vector of `total` elements with the type, width and distribution of x (type: NULL for x's), from elements of which each
 * task has those in its two ranges, one after the other; if x is DOME_WHOLE each task has them all. Collective; fails as
 * dvec_new. */
dvec *dvec__assemble(const dvec *x, dome_type type, const char *name, uint64_t total, const dome_span *ranges,
                     const void *elements);

#endif
