/* What the environment says about OpenMP: OMP_NUM_THREADS and its companions. */
#ifndef DOME_SRC_OPENMP_ICV_H
#define DOME_SRC_OPENMP_ICV_H

#include "openmp/team.h"

/* Of teams: what all threads have in common. It goes with each region, and is part of the program's state. */
typedef struct dome_omp_league {
    unsigned number, size;        /* of the team that runs; how many there are */
    unsigned teams, thread_limit; /* of the next league and its teams; 0: nobody has said */
} dome_omp_league;

typedef struct dome_omp_environment {
    dome_omp_variables variables; /* with which thread 0 begins */
    uint64_t stack_bytes;
    bool cancellation;
    bool display_affinity;
    int max_task_priority;
    dome_omp_league league;
} dome_omp_environment;

/* Read at the first call. A wrong value is told in one line, and the default is used. */
dome_omp_environment *dome__omp_environment(void);

/* Before dome__omp_environment: this task says nothing about wrong values, since task 0 reads the same variables. */
void dome__omp_environment_mute(void);

/* Prints them as OMP_DISPLAY_ENV asks for. */
void dome__omp_environment_display(bool verbose);

#endif
