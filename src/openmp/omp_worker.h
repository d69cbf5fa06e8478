/* The life of a task other than 0. */
#ifndef DOME_SRC_OPENMP_OMP_WORKER_H
#define DOME_SRC_OPENMP_OMP_WORKER_H

/* Until task 0 ends. */
void dome__omp_worker(void);

#endif
