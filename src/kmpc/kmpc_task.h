/* Explicit tasks: a block of memory that the compiler's code fills in, and then gives back to be run. */
#ifndef DOME_SRC_KMPC_KMPC_TASK_H
#define DOME_SRC_KMPC_KMPC_TASK_H

#include "kmpc/kmpc.h"
#include "openmp/task.h"

struct dome_kmpc_task;
typedef int32_t (*dome_kmpc_entry)(int32_t number, struct dome_kmpc_task *task);

typedef struct dome_kmpc_task {
    void *shareds; /* addresses of variables that are not its own; behind the block */
    dome_kmpc_entry entry;
    int32_t part;
    union {
        dome_kmpc_entry destroy; /* of its own variables: flag DESTRUCTORS */
        int32_t priority;
    } first, second;
    /* then its own variables, and in a taskloop the range */
} dome_kmpc_task;

/* The flags. */
enum { DOME_KMPC_FINAL = 2, DOME_KMPC_DESTRUCTORS = 8 };

/* What the library knows of a task stands in front of the block. */
typedef struct dome_kmpc_block {
    uint32_t flags;
    size_t bytes, shareds_bytes; /* of the block, and behind it */
    dome_omp_event *event;       /* of a detached one */
    dome_omp_outer outer;
} dome_kmpc_block;

dome_kmpc_block *dome__kmpc_block_of(dome_kmpc_task *task);

/* A copy of the task, to be run beside it. */
dome_kmpc_task *dome__kmpc_task_copy(dome_kmpc_task *task);

/* Runs it unless it is cancelled, and frees it. */
void dome__kmpc_task_run(dome_omp_thread *t, dome_kmpc_task *task);

/* Puts it off; false: it cannot be. */
bool dome__kmpc_task_put_off(dome_omp_thread *t, dome_kmpc_task *task, const dome_omp_dependence *depends, unsigned count);

/* Frees it, and what its own variables have. */
void dome__kmpc_task_free(dome_kmpc_task *task);

#endif
