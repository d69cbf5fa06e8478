/* What a dome_env is made of. */
#ifndef DOME_SRC_ENVIRONMENT_H
#define DOME_SRC_ENVIRONMENT_H

#include "runtime/operation.h"
#include "runtime/options.h"
#include "transport/transport.h"

#include <glib.h>

typedef struct dome_eval dome_eval;   /* deferred element-wise work: src/objects/eval.h */
typedef struct dome_watch dome_watch; /* this task's line to the hub: src/runtime/watch.h */

/* The operation clock: what each operation has cost this task. */
typedef struct dome_clock_entry {
    uint64_t count;
    uint64_t compute_ns; /* waiting excluded */
    uint64_t wait_ns;
} dome_clock_entry;

struct dome_env {
    dome_transport *transport;
    dome_options options;
    char **hosts; /* by rank */

    /* registry (src/objects/object.c) */
    GPtrArray *objects; /* dome_object *, live, in creation order */
    GHashTable *names;  /* char * -> dome_object * */
    uint64_t last_id;
    GPtrArray *layouts; /* dome_layout *, one for each (length, block size) in use */
    GHashTable *types;  /* char * -> struct dome_type_desc * of struct types */
    dome_eval *eval;

    /* operation.c */
    dome_operation *operation; /* innermost under way; NULL in the program's own code */
    uint64_t sequence, history;
    dome_clock_entry clock[DOME_OPERATIONS];

    bool errors_return;
    int error_status;
    char *error_message;

    dome_watch *watch; /* NULL with a single task */
};

/* src/objects/object.c: the registry's part of life. */
void dome__registry_init(dome_env *env);
void dome__registry_free(dome_env *env); /* destroys what is left, newest first */

#endif
