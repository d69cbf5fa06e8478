#ifndef DOME_SRC_OPENMP_TASKGROUP_H
#define DOME_SRC_OPENMP_TASKGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct dome_omp_thread;

typedef struct dome_omp_taskgroup {
    struct dome_omp_taskgroup *outer;
    bool cancelled;
    uintptr_t *reductions; /* reduction.h */
} dome_omp_taskgroup;

void dome__omp_taskgroup_start(struct dome_omp_thread *t);
void dome__omp_taskgroup_end(struct dome_omp_thread *t);

#endif
