/* The exchange of elements by index: tasks ask the owners of elements for them, or send them theirs, in batches. */
#ifndef DOME_SRC_DVEC_MAIL_H
#define DOME_SRC_DVEC_MAIL_H

#include "objects/dvec_private.h"

/* What one task sends to each other task. */
typedef struct dvec_mail {
    int size;
    uint64_t *counts, *places;    /* by rank: items to send, position of the next one */
    uint64_t *in_counts;          /* items that come */
    uint64_t *scaled, *in_scaled; /* the same in values: times the number of values per item */
    uint64_t total, in_total;
    uint64_t *items, *in_items;   /* one or two words per item */
    uint64_t *order;              /* local number of each item sent */
    char *elements, *in_elements; /* in the direction in which they travel */
} dvec_mail;

/* Items of one batch: all tasks run the same number of batches. */
uint64_t dvec__mail_batch(const dvec *x);

/* Allocates room for the numbers of those items of a batch that other tasks own; the caller frees it with g_free. */
int dvec__mail_which(const dvec *x, uint64_t count, uint64_t **which);

/* Sorts items by the rank that owns their index in target, exchanges the counts, and allocates room: words per item, and elements
 * on both sides. Only the items whose numbers are in `which` take part. Fails on all tasks or none. */
int dvec__mail_open(dvec_mail *m, const dvec *target, const uint64_t *indices, const uint64_t *which, uint64_t count,
                    uint64_t words);

/* Sends the parts of `send` to their ranks and receives the others' into recv; `back`: from the owners to the tasks that asked.
 */
int dvec__mail_send(dvec_mail *m, dome_env *env, dome_type type, uint64_t values, const void *send, void *recv, bool back);

void dvec__mail_clear(dvec_mail *m);

#endif
