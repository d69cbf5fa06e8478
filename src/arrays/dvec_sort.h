/* Sorted values of a vector, spread over the tasks by a layout. */
#ifndef DOME_SRC_DVEC_SORT_H
#define DOME_SRC_DVEC_SORT_H

#include "kernels/sort_keys.h"
#include "objects/dvec_private.h"

/* Items (sort_keys.h) of this task's part, in the order of its memory, and room for as many. */
typedef struct dvec_sorted {
    uint64_t *items, *other;
} dvec_sorted;

/* Sorts x's values: this task gets the items at the positions of its elements of z, which has x's length, and its layout unless x
 * or z is whole. indexed: keys with the indices of their elements. x must be settled. Collective. The caller clears `sorted`,
 * also after a failure. */
int dvec__sort(const dvec *x, const dvec *z, dome_keys how, bool indexed, dvec_sorted *sorted);
void dvec__sorted_clear(dvec_sorted *sorted);

/* 0 if values of x can be sorted: they have an order, and x has width 1. */
int dvec__check_order(const dvec *x);

/* 0 if positions of elements can be written to `index`. */
int dvec__check_positions(const dvec *index);

#endif
