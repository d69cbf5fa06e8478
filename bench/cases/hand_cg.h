/* Conjugate gradients on the 5-point Poisson matrix of an m x m grid, right-hand side 1, by hand for PVM: rows spread evenly,
 * rows at the borders and sums sent as raw messages, loops fused. */
#ifndef DOME_BENCH_HAND_CG_H
#define DOME_BENCH_HAND_CG_H

#include <stddef.h>

enum { HAND_CG_TASKS = 64 };

typedef struct hand_cg {
    int rank, size, tids[HAND_CG_TASKS]; /* tids: not needed by a task alone */
    size_t m, rows;                      /* rows: of this task */
    double *x, *r, *p, *q;               /* p: with a row of each neighbour around the own, 0 where there is none */
} hand_cg;

/* rank, size and tids are there. */
void hand_cg_new(hand_cg *cg, size_t m);
void hand_cg_free(hand_cg *cg);

/* Both return the square of the residual. */
double hand_cg_start(const hand_cg *cg);
double hand_cg_iterate(const hand_cg *cg, int iterations, double rr);

/* The sum of what the tasks have. */
double hand_cg_sum(const hand_cg *cg, double mine);

#endif
