/* Moving boxes of values: sets of values whose places are linear in their indices, such as the views of arrays. */
#ifndef DOME_SRC_BOXES_H
#define DOME_SRC_BOXES_H

#include "objects/dvec_private.h"

#include <dome/ndim.h>

/* Value number from + i[0] from_stride[0] + ... of the source becomes value number to + i[0] to_stride[0] + ... of the
 * destination, for all indices below the extents. */
typedef struct dvec_box {
    int ndim;
    int64_t to, from;
    uint64_t extent[DVEC_MAX_AXES];
    int64_t to_stride[DVEC_MAX_AXES], from_stride[DVEC_MAX_AXES];
} dvec_box;

/* What is moved from vector x, or from other values of its type, to a destination whose values are distributed like a vector's:
 * each task has two ranges of them, one after the other in its memory. */
typedef struct dvec_box_move {
    const dvec *x;
    const char *from;         /* this task's values of the source, or all if every_value */
    bool every_value;         /* `from` has all values on every task, so nothing is sent */
    const dome_span *sources; /* by rank, two of each: the numbers of the source's values; NULL: those of x */
    char *to;                 /* this task's values of the destination */
    const dome_span *parts;   /* by rank, two of each: numbers of the destination's values */
    const dvec_box *box;
    size_t nboxes;
} dvec_box_move;

/* Collective, unless `from` has every value. x is settled, and `to` does not overlap `from`. Fails by dome__fail. */
int dvec__move_boxes(const dvec_box_move *move);

/* Copies a box in memory: to and from are the places of values number 0, of `size` bytes each. */
void dvec__copy_box(const dvec_box *box, char *to, const char *from, size_t size);

/* Joins axes that can be walked as one, and drops those of extent 1. */
void dvec__join_axes(dvec_box *box);

/* The parts of all tasks in a vector, in values times `each`; g_free'd by the caller. */
dome_span *dvec__parts_of(const dvec *x, uint64_t each);

/* A box from a view: its values in C order become the destination's from value `to` on. */
dvec_box dvec__box_from(const dvec_view *view, uint64_t to);

/* Sets *view to *given or, if that is NULL, to x with its own shape; checks that x has all its values. Fails by dome__fail. */
int dvec__take_view(const dvec *x, const dvec_view *given, dvec_view *view);

/* dome__hash of a view; 0 for NULL. */
uint64_t dvec__view_word(const dvec_view *view);

/* A new vector for a result of these dimensions, with the distribution of x and width 1. */
dvec *dvec__new_array(const dvec *x, dome_type type, int ndim, const uint64_t extent[], const char *name);

/* Fills the values of z, which is new, with those of a view of x in C order. Collective. */
int dvec__fill_from_view(dvec *z, const dvec *x, const dvec_view *view);

/* Whether a view is of all values of x, in order. */
bool dvec__is_plain(const dvec *x, const dvec_view *view);

#endif
