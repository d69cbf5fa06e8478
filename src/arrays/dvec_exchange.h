/* The exchange of elements by index: tasks ask the owners of elements for them, or send them theirs, in batches. */
#ifndef DOME_SRC_DVEC_EXCHANGE_H
#define DOME_SRC_DVEC_EXCHANGE_H

#include "objects/dvec_private.h"

/* Another task with which this one exchanges items: how many go there and come from there, and the first ones' positions. */
typedef struct dvec_partner {
    int rank;
    uint64_t count, at, in_count, in_at;
} dvec_partner;

/* The items that one task sends to each other task. */
typedef struct dvec_exchange {
    int size;
    uint64_t *counts, *places;    /* by rank: items to send, position of the next one */
    uint64_t *in_counts;          /* items that come */
    uint64_t *scaled, *in_scaled; /* the same in values: times the number of values per item */
    uint64_t total, in_total;
    uint64_t *items, *in_items;   /* some words per item */
    uint64_t *order;              /* local number of each item sent */
    char *elements, *in_elements; /* in the direction in which they travel */
    dvec_partner *partners;       /* by distance around the ring; NULL: not found yet */
    int npartners;
} dvec_exchange;

/* Memory for so many things of a size, at least a byte (g_free); NULL if there is none, or addresses are too short for so many.
 */
void *dvec__try_array(uint64_t count, uint64_t size);

/* Items of one batch: all tasks run the same number of batches. */
uint64_t dvec__exchange_batch(const dvec *x);

/* Allocates room for the numbers of those items of a batch that other tasks own; the caller frees it with g_free. */
int dvec__exchange_which(const dvec *x, uint64_t count, uint64_t **which);

/* Sorts items by the rank that owns their index in target, exchanges the counts, and allocates room: words per item, and elements
 * on both sides. Only the items whose numbers are in `which` take part. Fails on all tasks or none. */
int dvec__exchange_open(dvec_exchange *m, const dvec *target, const uint64_t *indices, const uint64_t *which, uint64_t count,
                        uint64_t words);

/* Sends the parts of `send` to their ranks and receives the others' into recv; `back`: from the owners to the tasks that asked.
 */
int dvec__exchange_send(dvec_exchange *m, dome_env *env, dome_type type, uint64_t values, const void *send, void *recv,
                        bool back);

/* Finds the tasks with which this one exchanges anything, once. */
void dvec__exchange_find_partners(dvec_exchange *m, const dome_env *env);

/* The same in two steps, between which the task can do other work and must not communicate: `begin` sends, and `finish` receives
 * the others' parts. send must not change in between. Both return the transport's status, which is not reported. */
int dvec__exchange_begin(dvec_exchange *m, dome_env *env, dome_type type, uint64_t values, const void *send, bool back);
int dvec__exchange_finish(dvec_exchange *m, dome_env *env, dome_type type, uint64_t values, void *recv, bool back);

void dvec__exchange_clear(dvec_exchange *m);

/* Sets out[i] = x[at[i]], where at[i] belongs to local element i of z. x must be settled, z must be whole only if x is, and out
 * must not overlap x's memory. Collective, unless x is DOME_WHOLE. */
int dvec__gather_at(const dvec *z, const dvec *x, const uint64_t *at, char *out);

/* This task's part of a vector, for looking up elements. */
typedef struct own_part {
    dome_span span[2]; /* an unused one has no elements */
} own_part;

static inline own_part dvec__own_part(const dvec *x)
{
    own_part own = {{{0, 0}, {0, 0}}};
    dvec__spans_of(x, x->env->rank, own.span);
    return own;
}

static inline bool dvec__is_own(const own_part *own, uint64_t index)
{
    return index - own->span[0].first < own->span[0].count || index - own->span[1].first < own->span[1].count;
}

/* Position of an element of this task in its memory, in elements. */
static inline uint64_t dvec__own_place(const own_part *own, uint64_t index)
{
    uint64_t at = index - own->span[0].first;
    return at < own->span[0].count ? at : own->span[0].count + (index - own->span[1].first);
}

#endif
