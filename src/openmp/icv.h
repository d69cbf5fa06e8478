/* What the environment says about OpenMP: OMP_NUM_THREADS and its companions. */
#ifndef DOME_SRC_OPENMP_ICV_H
#define DOME_SRC_OPENMP_ICV_H

#include "openmp/team.h"

typedef struct dome_omp_environment {
    dome_omp_variables variables; /* with which thread 0 begins */
    uint64_t stack_bytes;
    bool cancellation;
    bool display_affinity;
    unsigned teams, teams_thread_limit;
    int max_task_priority;
} dome_omp_environment;

/* Read at the first call. A wrong value is told in one line, and the default is used. */
dome_omp_environment *dome__omp_environment(void);

/* Prints them as OMP_DISPLAY_ENV asks for. */
void dome__omp_environment_display(bool verbose);

#endif
