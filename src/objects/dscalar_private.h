/* The fields of a dscalar. Only the dscalar files include this. */
#ifndef DOME_SRC_DSCALAR_PRIVATE_H
#define DOME_SRC_DSCALAR_PRIVATE_H

#include "core/environment.h"
#include "eval/future.h"
#include "objects/dscalar_operations.h"

#include <dome/dscalar.h>

struct dscalar {
    dome_object *object;
    dome_env *env;
    dome_type type;
    uint8_t written; /* the marks since which its value was set (core/marks.h) */
    char *value;
    dome_future *future; /* own reference: its value, which `value` does not hold yet; NULL: none */
};

/* Makes a future the scalar's value; takes the reference. NULL: `value` has been set. */
void dscalar__set_future(dscalar *s, dome_future *future);

/* The scalar's value as a future, with a reference for the caller. */
dome_future *dscalar__future(const dscalar *s);

/* Collective, inside of an operation: afterwards `value` holds the scalar's value. A failure is reported. */
dome_status dscalar__ask(const dscalar *s);

/* The id for the program's history; 0 for NULL. dome__begin refuses the operation if s was freed. */
static inline uint64_t dscalar__id(const dscalar *s)
{
    uint64_t id = s ? dome_object_id(s->object) : 0;
    if (id & DOME_FREED)
        s->env->position.stale = s->object;
    return id;
}

#endif
