/* What a dvec is made of. Only the dvec_*.c and eval.c files include this. */
#ifndef DOME_SRC_DVEC_PRIVATE_H
#define DOME_SRC_DVEC_PRIVATE_H

#include "runtime/environment.h"

#include <dome/dvec.h>

struct dvec {
    dome_object *object;
    dome_env *env;
    dome_type type;
    uint64_t length, width;
    dome_distribution distribution;
    dome_layout *layout; /* own reference; DOME_WHOLE: over one task */
    int layout_rank;     /* the rank to ask the layout for: the task's, or 0 for DOME_WHOLE */

    char *data;     /* local elements in the order of the layout's spans; 64-byte aligned; NULL if none */
    uint64_t local; /* local elements */

    unsigned pending; /* recorded operations that read or write it (eval.c) */
    uint64_t version; /* goes up when its values change or move */
    uint8_t *dirty;   /* by local block: written since the last mark_saved; NULL before the first mark_saved (all are) */

    void *whole; /* dvec_whole's copy, of whole_version */
    uint64_t whole_version;
    void *halo[2]; /* dvec_halo's copies, by span */
};

#define DVEC_VALUE(x)   dome_type_size((x)->type)
#define DVEC_ELEMENT(x) (DVEC_VALUE(x) * (x)->width)

/* Does recorded work that x takes part in. Every access to x->data comes after it. */
int dvec__sync(const dvec *x);

/* Values are about to change: for whole vectors, or for the elements of one span. */
void dvec__written(dvec *x);

/* Whether x can take part in one element-wise operation with z as `output`: 0, or fails with the line. */
int dvec__conforms(const dvec *z, const dvec *x, bool same_type, bool same_width);

/* This task's spans of x with pointers; returns their number. x is synced. */
int dvec__spans(const dvec *x, dvec_span spans[2]);

/* Copies count elements from global index first of x to out, from whichever tasks own them: one call answers all tasks' wants.
 * wants is this task's list of n ranges; out gets them one after the other. Collective. x is synced. Used by shift, halo, copy,
 * whole. */
int dvec__fetch(const dvec *x, const dome_span *wants, int n, void *out);

/* Aligned storage that is all zero. NULL when memory is out; bytes 0 gives NULL too. */
void *dvec__storage(uint64_t bytes);
void dvec__storage_free(void *data);

#endif
