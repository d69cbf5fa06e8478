/* The members of a dome_env. */
#ifndef DOME_SRC_ENVIRONMENT_H
#define DOME_SRC_ENVIRONMENT_H

#include "core/clock.h"
#include "core/hooks.h"
#include "core/operation.h"
#include "core/options.h"
#include "core/stamp.h"

#include <glib.h>

/* The parts of an environment. Each is known to its part alone, which creates and frees it. */
typedef struct dome_registry dome_registry;             /* objects, their names and layouts: src/core/object.c */
typedef struct dome_types dome_types;                   /* struct types: src/core/type.c */
typedef struct dome_clock dome_clock;                   /* src/core/clock_private.h */
typedef struct dome_errors dome_errors;                 /* src/core/fail.c */
typedef struct dome_comm dome_comm;                     /* messages of the program: src/comm/comm_messages.c */
typedef struct dome_change dome_change;                 /* the number of tasks: src/program/change.h */
typedef struct dome_eval dome_eval;                     /* deferred element-wise work: src/eval/eval.h */
typedef struct dome_futures dome_futures;               /* values that are being exchanged: src/eval/future.h */
typedef struct dome_sparse_notes dome_sparse_notes;     /* ways of transposed products: src/sparse */
typedef struct dome_balance dome_balance;               /* load balancing: src/balance/balance.h */
typedef struct dome_moved dome_moved;                   /* the data this task has moved to others: src/balance/migrate.h */
typedef struct dome_progress_state dome_progress_state; /* src/program/progress.h */
typedef struct dome_trace dome_trace;                   /* src/trace/record.h */
typedef struct dome_transport dome_transport;           /* src/transport/transport.h */
typedef struct dome_recorder dome_recorder;             /* src/program/recording.c */
typedef struct dome_checkpoints dome_checkpoints;       /* src/ckpt/checkpoint_private.h */
typedef struct dome_peer dome_peer;                     /* the service channel: src/peer/peer.h */
typedef struct dome_locks dome_locks;                   /* src/region/lock.c */
typedef struct dome_member_table dome_member_table;     /* src/region/member.h */
typedef struct dome_call_log dome_call_log;             /* the operations before this one: src/core/call_log.h */
typedef struct dome_watch dome_watch;                   /* this task's line to the hub: src/watch/watch.h */

/* Where the program is in the course of its operations. */
typedef struct dome_position {
    dome_operation_code coming; /* code of the operation that begins after the current phase of balancing */
    const dome_object *stale;   /* a freed object that is an operand of the operation that is beginning; NULL: none */
    uint64_t sequence, history; /* the number of the current operation, and a hash of it and all before */
} dome_position;

/* Parts that few programs have. NULL: none so far. */
typedef struct dome_lazy_parts {
    dome_sparse_notes *sparse_notes;
    dome_locks *locks;
    dome_member_table *members;
} dome_lazy_parts;

/* Of src/program/recording.c. */
typedef struct dome_recording {
    uint32_t number;         /* of the recording on demand; 0: none */
    uint64_t poll_at;        /* when to check next whether to record, by dome__now_ns */
    dome_recorder *recorder; /* with a single task */
} dome_recording;

/* Requests of src/capture to the registry and to checkpoints. */
typedef struct dome_capture_requests {
    bool keeps_all;   /* objects without a name of the program's are in checkpoints, too */
    bool makes_again; /* the objects of an image are being made again, by the names that they had */
} dome_capture_requests;

struct dome_env {
    const dome_hooks *hooks;
    int rank, size;
    dome_transport *transport;
    dome_stamp *stamp;       /* the transport's; NULL before the transport exists */
    const uint64_t *wait_ns; /* likewise: time spent waiting for other tasks */
    dome_options options;
    char **hosts; /* by rank */

    dome_registry *registry;
    dome_types *types;
    dome_clock *clock;
    dome_errors *errors;
    dome_eval *eval;
    dome_comm *comm;
    dome_futures *futures; /* NULL: none so far */
    dome_lazy_parts lazy;

    /* operation.c */
    dome_operation *operation; /* the innermost current one; NULL in the program's own code */
    dome_position position;

    /* src/balance */
    dome_balance *balance; /* NULL: no load balancing */
    dome_moved *moved;

    dome_checkpoints *checkpoints; /* NULL: no checkpoints are written, and the program resumes from none */
    dome_capture_requests capture;
    bool supervised; /* under `dome run --restarts`, which reports a loss and restarts the program */

    dome_peer *peer; /* NULL: nothing uses it, or there is a single task */

    dome_progress_state *progress;

    dome_change *change;

    dome_watch *watch;       /* NULL with a single task */
    dome_call_log *call_log; /* the watch's; NULL with a single task */

    /* recording.c */
    dome_trace *trace; /* NULL: nothing is recorded; belongs to the watcher thread, if there is one */
    dome_recording recording;
};

/* Whether all tasks are on one host. */
bool dome__on_one_host(const dome_env *env);

/* src/core/object.c: creates the registry; destroys the remaining objects, newest first; frees the registry and the handles of
 * destroyed objects. */
void dome__registry_init(dome_env *env);
void dome__registry_clear(dome_env *env);
void dome__registry_free(dome_env *env);

/* The layouts that objects share, by length and block size: number k, or NULL past the last. */
const dome_layout *dome__registry_layout(const dome_env *env, unsigned k);

/* Defers freeing the memory (g_malloc) of a freed handle, so that later uses of the handle are detected. Bury a handle before the
 * memory that it points to. */
void dome__bury(dome_env *env, void *memory);

/* This bit is set in the ids of freed objects. */
#define DOME_FREED (UINT64_C(1) << 63)

/* Adds to an object's computing time. */
void dome__object_charge(const dome_object *object, uint64_t ns);

/* An object's computing time since the last call of this function. */
uint64_t dome__object_recent_ns(dome_object *object);

#endif
