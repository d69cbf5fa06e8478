/* The handle of an object: the registry (object.c) creates it, operations read it. */
#ifndef DOME_SRC_HANDLE_H
#define DOME_SRC_HANDLE_H

#include "core/environment.h"

/* Computing time that operations have charged to an object, which may be const in them. */
typedef struct dome_object_clock {
    uint64_t compute_ns, reported_ns;
} dome_object_clock;

struct dome_object {
    void *content;
    const dome_object_ops *ops;
    dome_env *env;
    char *name;
    uint64_t id;
    bool named;                                    /* by the program */
    bool binds;                                    /* dome__object_binds */
    bool in_order;                                 /* dome__object_keeps_order */
    bool followed;                                 /* dome__object_is_followed */
    dome_object_clock *clock;                      /* in the same allocation */
    const char *(*why)(const dome_object *object); /* dome__object_defers */
};

#endif
