/* Shared by eval.c and eval_pass.c: recorded values, and a pass over some of them. */
#ifndef DOME_SRC_EVAL_PRIVATE_H
#define DOME_SRC_EVAL_PRIVATE_H

#include "eval/eval.h"
#include "eval/eval_compile.h"
#include "kernels/elementwise.h"
#include "kernels/kernels.h"

/* Most values of a list; a list that is full is run. A set of values is a word of bits. */
enum { NODES_MAX = 64, INPUTS_MAX = 3 };

typedef uint64_t node_set;
#define NODE(k) ((node_set)1 << (k))

/* A recorded value. Its inputs are earlier values of the list, or vectors in memory. */
typedef struct eval_node {
    dome_operation_code code; /* DOME_OP_NONE: an empty slot */
    bool owned;               /* it is the present value of `out`; otherwise `out` has been recorded anew or freed */
    bool must;                /* must be run even if it is not owned */
    bool may_fail;            /* it does not exist for some values of its inputs */
    uint8_t computed;         /* how often, without being stored */
    uint8_t uses;             /* number of values that depend on it directly */
    int8_t arg[INPUTS_MAX];   /* a value of the list, or -1 */
    const dvec *leaf[INPUTS_MAX];
    node_set deps; /* all values it depends on, and itself */
    dvec *out;     /* NULL if it has been freed */
    dome_type type, from;
    uint64_t width;
    uint64_t scalar; /* bits of dome_eval_op's */
    void *value;
    uint64_t operation;    /* number of the operation that recorded it */
    dome_failure *failure; /* found when it was computed; own reference */
    uint32_t hash;
} eval_node;

/* Recorded values of vectors that share a layout, in the order of the calls. A vector with recorded work is in one list only:
 * before an operation adds it to another list, the first list is run. So lists do not depend on each other. */
typedef struct eval_list {
    dome_layout *layout;
    int rank;
    unsigned count, musts;
    node_set live;
    bool failed;              /* some of its values have, or had, a failure */
    uint32_t hash[NODES_MAX]; /* of the values; 0: none */
    uint64_t hashes[4];       /* bits of the hashes of the present values, and of some earlier ones */
    eval_node node[NODES_MAX];
} eval_list;

/* One pass over the local part of a list's layout. */
typedef struct eval_pass {
    eval_list *list;
    node_set needed, stores;              /* values to compute; those of them to write to their vectors */
    const dome_eval_reduction *reduction; /* or NULL */
    dome_chains *chains;                  /* for generated code; NULL: none */
    bool plain;                           /* operation after operation */
} eval_pass;

typedef struct eval_memory {
    void *base;
    size_t bytes;
    uint64_t passes; /* so far */
} eval_memory;

/* Runs a pass: computes, stores, notes the failures of the values that could not be computed, and charges the time. scratch is
 * kept between passes. */
void dome__eval_pass(dome_env *env, const eval_pass *pass, eval_memory *scratch);

/* Calls a reduction's visit for vectors whose values are in memory. */
void dome__eval_visit_memory(const dome_eval_reduction *r);

/* Address in x of the element with global index first, which is number `place` of the task's part in `layout`. */
static inline char *dome__eval_address(const dvec *x, const dome_layout *layout, uint64_t first, uint64_t place)
{
    bool together = x->layout == layout || dome_layout_equal(x->layout, layout);
    return x->data ? x->data + (together ? place : first) * DVEC_ELEMENT(x) : NULL;
}

#endif
