/* What a dome_env is made of. */
#ifndef DOME_SRC_ENVIRONMENT_H
#define DOME_SRC_ENVIRONMENT_H

#include "core/clock.h"
#include "core/hooks.h"
#include "core/operation.h"
#include "core/options.h"
#include "core/stamp.h"

#include <glib.h>

typedef struct dome_eval dome_eval;                     /* deferred element-wise work: src/objects/eval.h */
typedef struct dome_balance dome_balance;               /* load balancing: src/balance/balance.h */
typedef struct dome_moved dome_moved;                   /* what this task has sent to others: src/balance/migrate.h */
typedef struct dome_progress_state dome_progress_state; /* src/program/progress.h */
typedef struct dome_trace dome_trace;                   /* src/trace/record.h */
typedef struct dome_transport dome_transport;           /* src/transport/transport.h */
typedef struct dome_recorder dome_recorder;             /* src/program/recording.c */
typedef struct dome_checkpoints dome_checkpoints;       /* src/ckpt/checkpoint_private.h */
typedef struct dome_trail dome_trail;                   /* the operations before this one: src/core/trail.h */
typedef struct dome_watch dome_watch;                   /* this task's line to the hub: src/supervision/watch.h */

struct dome_env {
    const dome_hooks *hooks;
    int rank, size;
    dome_transport *transport;
    dome_stamp *stamp;       /* the transport's; NULL while there is none */
    const uint64_t *wait_ns; /* likewise: the time spent in waiting for other tasks */
    dome_options options;
    char **hosts; /* by rank */

    /* registry (src/core/object.c) */
    GPtrArray *objects; /* dome_object *, live, in creation order */
    GHashTable *names;  /* char * -> dome_object *, of those that the program has named */
    uint64_t last_id;
    const dome_object *stale; /* a freed one that is an operand of the operation that begins; NULL: none */
    void **buried;            /* memory of what was freed lately, so that its handles are known when they are used again */
    size_t burials;
    GPtrArray *layouts; /* dome_layout *, one for each (length, block size) in use */
    GHashTable *types;  /* char * -> struct dome_type_desc * of struct types */
    dome_eval *eval;

    /* operation.c */
    dome_operation *operation;  /* innermost under way; NULL in the program's own code */
    dome_operation_code coming; /* code of the operation that waits for a phase of balancing */
    uint64_t sequence, history;

    /* clock.c */
    uint64_t began_ns; /* when the program stood */
    dome_clock_entry clock[DOME_OPERATIONS_MAX];
    uint64_t eval_ns;       /* spent in running recorded work, within other operations */
    GPtrArray *block_times; /* dome_block_times */

    /* src/balance */
    dome_balance *balance; /* NULL: nothing is balanced */
    dome_moved *moved;

    dome_checkpoints *checkpoints; /* NULL: none are written, and none is gone on from */
    uint64_t loops;                /* boundaries passed since this process began */
    bool supervised;               /* `dome run --restarts` says what is lost and starts the program again */

    bool errors_return;
    dome_status error_status;
    char *error_message;

    dome_progress_state *progress;

    dome_watch *watch; /* NULL with a single task */
    dome_trail *trail; /* the watch's; NULL with a single task */

    /* recording.c */
    dome_trace *trace;       /* NULL: nothing is recorded; the watcher's, where there is one */
    uint32_t recording;      /* number of the one on demand; 0: none */
    uint64_t look_at;        /* when to ask next whether to record, by dome__now_ns */
    dome_recorder *recorder; /* with a single task */
};

/* Whether all tasks are on one host. */
bool dome__on_one_host(const dome_env *env);

/* src/core/object.c: the registry's part of life. */
void dome__registry_init(dome_env *env);
void dome__registry_free(dome_env *env); /* destroys what is left, newest first */

/* Keeps the memory (g_malloc) of a handle that is freed for a while, and frees it then. Who points to whom is buried before. */
void dome__bury(dome_env *env, void *memory);

/* Ids of freed objects have this bit. */
#define DOME_FREED (UINT64_C(1) << 63)

/* Adds to an object's computing time, and what it is by now. */
void dome__object_charge(const dome_object *object, uint64_t ns);
uint64_t dome__object_compute_ns(const dome_object *object);

/* The part of it that came after the last call of this. */
uint64_t dome__object_recent_ns(dome_object *object);

#endif
