/* A distributed structure of one's own: n lists of numbers, each as long as it likes. docs/adding-a-structure.md explains it line
 * by line. */
#ifndef STRUCTURE_LISTS_H
#define STRUCTURE_LISTS_H

#include <dome/dome.h>

typedef struct lists lists;

/* n empty lists, distributed dynamically. Collective in order. Owned by env until lists_free. NULL on failure. */
lists *lists_new(dome_env *env, const char *name, size_t n);
void lists_free(lists *l);

/* This task's lists, as ranges of indices. Returns their number, 0 to 2. Not collective. */
int lists_local(const lists *l, dome_span spans[2]);

/* Appends to a list this task owns: DOME_ERR_ARGUMENT if it does not, DOME_ERR_MEMORY. Not collective. */
int lists_push(lists *l, size_t index, double value);

/* The values of a list this task owns; NULL and 0 for others and for empty ones. Not collective. */
const double *lists_values(const lists *l, size_t index, size_t *count);

/* sums[i] = the sum of list i. sums is a DOME_F64 vector of as many elements (DOME_ERR_SHAPE). An operation: collective in order;
 * data may move before it. */
int lists_sums(dvec *sums, lists *l);

dome_object *lists_object(const lists *l);

#endif
