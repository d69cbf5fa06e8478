/* What the programs of bench/run share. A program times rivals in turns and prints a line for each:
 *
 *     name seconds seconds ...
 *
 * with as many times as there were turns, so that bench/run can compare them turn by turn. */
#ifndef DOME_BENCH_CASE_H
#define DOME_BENCH_CASE_H

#include <stddef.h>

enum { CASE_RIVALS = 16, CASE_TURNS = 64 };

typedef struct case_times {
    const char *name[CASE_RIVALS];
    double seconds[CASE_RIVALS][CASE_TURNS];
    int rivals, turns;
} case_times;

/* Seconds of a monotonic clock. */
double case_now(void);

/* Seconds of processor time that this process has taken in its own code. */
double case_user(void);

/* n doubles in large pages, touched; the process ends if there is no memory. */
double *case_array(size_t n);

/* Notes what a rival took in a turn. name: a string that stays. */
void case_note(case_times *times, const char *name, int turn, double seconds);

/* How often to repeat work of about n values so that it can be timed, and how many turns to take in about so many seconds. */
int case_repeats(size_t n);
int case_turns(double seconds_of_a_turn, double budget);

void case_print(const case_times *times);

/* The loops one would write by hand, compiled for this processor with everything a compiler can do (hand.c). They do not read
 * what they write. sum of z where they return something. */
double hand_chain(size_t n, double *restrict d, const double *restrict a, const double *restrict b, const double *restrict c);
double hand_inner(size_t n, const double *restrict x, const double *restrict y); /* sum of x y */
double hand_sum(size_t n, const double *x);
double hand_squares(size_t n, const double *x);
void hand_axpy(size_t n, double *restrict y, double a, const double *restrict x);

/* y = A x for compressed rows: those of row i are entries start[i] ... start[i + 1] - 1. */
void hand_rows(int rows, double *restrict y, const int *restrict start, const int *restrict column, const double *restrict value,
               const double *restrict x);

/* Of conjugate gradients. A row of A p of the 5-point Poisson matrix, from the rows of p below, at and above, NULL where there is
 * none; x += alpha p, r -= alpha q and the sum of r r; p = r + beta p. */
void hand_stencil(size_t m, double *restrict q, const double *below, const double *p, const double *above);
double hand_cg_update(size_t n, double alpha, double *restrict x, double *restrict r, const double *restrict p,
                      const double *restrict q);
void hand_cg_turn(size_t n, double *restrict p, double beta, const double *restrict r);

#endif
