/* Values that could not be computed: an integer divided by zero, 0 raised to a negative power.
 *
 * A failure belongs to the vector whose value an operation could not compute and to every vector that is computed from it, on the
 * task that found it, until the vector is overwritten. The call that needs the vector's values reports it. Of several failures
 * the one of the earliest operation is reported, and of that the one at the lowest position, whichever task found it: so the
 * report does not depend on the number of tasks, on the layout, or on when the operation was run. */
#ifndef DOME_SRC_FAILURE_H
#define DOME_SRC_FAILURE_H

#include "core/environment.h"

typedef struct dome_failure {
    uint64_t order[2]; /* number of the operation; position of the value */
    char *text;
    bool told; /* a call has reported a failure of this operation */
} dome_failure;

/* Takes ownership of text. The caller owns one reference. */
dome_failure *dome__failure_new(uint64_t operation, uint64_t position, char *text);

/* All of these allow NULL. */
dome_failure *dome__failure_ref(dome_failure *failure);
void dome__failure_unref(dome_failure *failure);

/* The one of the two that is reported; borrowed. */
dome_failure *dome__failure_first(dome_failure *a, dome_failure *b);

/* Collective: reports the first of the failures that the tasks have found (NULL: this one has found none). DOME_OK if none has
 * found one. */
int dome__failure_agree(dome_env *env, dome_failure *failure);

/* Reports a failure that the other tasks find as well or do not need to know. */
int dome__failure_report(dome_env *env, dome_failure *failure);

/* Collective, at the end of the program: reports a failure that a vector still has and no call has reported. */
int dome__failure_finish(dome_env *env);

#endif
