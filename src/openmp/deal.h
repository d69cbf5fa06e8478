/* Iterations of a loop, dealt to the threads of a team. Every schedule is decided by the numbers of threads and iterations alone,
 * so no thread asks another one: chunk k of `dynamic` and `guided` is thread k mod n's. */
#ifndef DOME_SRC_OPENMP_DEAL_H
#define DOME_SRC_OPENMP_DEAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dome_omp_schedule {
    DOME_OMP_RUNTIME = 0,
    DOME_OMP_STATIC = 1,
    DOME_OMP_DYNAMIC = 2,
    DOME_OMP_GUIDED = 3,
    DOME_OMP_AUTO = 4,
} dome_omp_schedule;

typedef struct dome_omp_loop {
    uint64_t start, step;  /* iteration i has the value start + i * step, modulo 2^64 */
    uint64_t count, chunk; /* iterations; chunk 0: one chunk for each thread */
    dome_omp_schedule schedule;
    bool sections;       /* it deals sections */
    uint64_t next, from; /* the number of the next chunk to be looked at, and the iteration with which it begins (guided) */
    uint64_t mine;       /* the number of the chunk that the thread has */
    bool has_chunk;
    bool ordered;
    uint64_t construct; /* its number among the constructs of the region */
    unsigned slot;      /* ordered and doacross loops: which of the team's words are its own */
} dome_omp_loop;

/* The iterations [*from, *to) of the next chunk of thread `number` of `threads`. False: it has none. */
bool dome__omp_loop_next(dome_omp_loop *loop, unsigned number, unsigned threads, uint64_t *from, uint64_t *to);

/* The thread that has the iteration. */
unsigned dome__omp_loop_owner(const dome_omp_loop *loop, uint64_t iteration, unsigned threads);

/* How many iterations `for (i = start; i < end; i += step)` has, or with > where the step is negative. */
uint64_t dome__omp_loop_count(long start, long end, long step);
uint64_t dome__omp_loop_count_ull(bool up, uint64_t start, uint64_t end, uint64_t step);

/* Of schedule(runtime): what OMP_SCHEDULE or omp_set_schedule say. */
struct dome_omp_thread;
void dome__omp_loop_runtime(dome_omp_loop *loop, const struct dome_omp_thread *thread);

/* The thread begins the loop: the rest of it is set as for the first chunk. */
void dome__omp_loop_begin(struct dome_omp_thread *thread, const dome_omp_loop *loop);

#endif
