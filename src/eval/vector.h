/* A dvec as its files and the evaluator know it: values in memory, or recorded as work that has not run yet. */
#ifndef DOME_SRC_VECTOR_H
#define DOME_SRC_VECTOR_H

#include "core/environment.h"
#include "core/marks.h"

#include <dome/dvec.h>

/* The state of evaluation and copies of the values: all that may change while the values of the vector stay the same. */
typedef struct dvec_lazy {
    unsigned pending;       /* recorded values that are computed from the vector, or are its own */
    struct eval_list *work; /* the list that holds them */
    unsigned value;         /* number of its own value in the list, from 1 on; 0: its values are in memory */
    uint64_t pass;          /* the last pass that read it */
    bool unread;            /* the memory has been written and not read since */
    bool kept;              /* its values are often wanted after they were computed for others */
    bool passing;           /* its values are never read from memory */

    struct dome_failure *failure; /* of the values in memory (failure.h); set by dome__eval_set_failure */

    void *whole; /* dvec_allgather's copy */
    char *text;  /* of dvec_text */

    void *halo; /* dvec_halo_elements's copies, for these arguments and this layout (own reference) */
    uint64_t halo_below, halo_above, halo_plane;
    bool halo_periodic;
    dome_layout *halo_layout;

    uint64_t *exchange_counts; /* by rank: how many items the last exchange by index sent to each task, and then how many came
                                  (dvec_exchange.c) */
    bool exchange_steady;      /* as many as the one before, on all tasks */

    struct dvec_mapped *mapped; /* of the last dvec_map into it (dvec_mapped.h); NULL: none */
    bool pointed;               /* the program has had a pointer for writing */
} dvec_lazy;

struct dvec {
    dome_object *object;
    dome_env *env;
    dome_type type;
    uint64_t length, width;
    int ndim; /* 0: the shape is (length), or (length, width) */
    uint64_t shape[DOME_MAX_DIMENSIONS];
    dome_distribution distribution;
    dome_layout *layout; /* own reference; DOME_WHOLE: over one task */
    int layout_rank;     /* the rank to ask the layout for: the task's, or 0 for DOME_WHOLE */

    char *data;     /* local elements in the order of the layout's spans; 64-byte aligned; NULL if none */
    uint64_t local; /* local elements */
    char *next;     /* during a migration: the data under the layout that will be adopted */
    bool next_here; /* `next` lies in the storage of `data` */

    dvec_lazy *lazy; /* in the same allocation; not const in a const vector, which may be evaluated */

    uint64_t version; /* increases when its values change or move */
    uint8_t *dirty;   /* by local block: the marks since which it was written (core/marks.h); NULL: all count as written */
    bool lent;        /* it does not move, and the program has got a pointer for writing that may still be in use */
    uint64_t *sums[DOME_MARKS]; /* by mark and local block: checksum when the mark was set, if lent then; NULL: not known */
};

#define DVEC_VALUE(x)   dome_type_size((x)->type)
#define DVEC_ELEMENT(x) (DVEC_VALUE(x) * (x)->width)

/* Notes that all of this task's values have changed or are about to. */
void dvec__written(dvec *x);

#endif
