/* What the cases in Dome share. */
#ifndef DOME_BENCH_CASE_DOME_H
#define DOME_BENCH_CASE_DOME_H

#include "case.h"

#include <dome/dome.h>

/* A random vector of [1, 2). */
dvec *case_random(dome_env *env, const char *name, size_t n, uint64_t seed);

/* The sum of what the tasks have, rounded as it comes. */
double case_everyones(dome_env *env, double mine);

/* ---- rivals ---- */

/* What rivals work on: each case has its own. */
struct vectors;

typedef struct case_rival {
    const char *name;
    double (*run)(struct vectors *v);
    int like; /* the rival, itself or one before it, that returns the same but for rounding: the program ends when it does not */
} case_rival;

/* Runs the rivals in turns, each `repeats` times in a turn, for about so many seconds, and prints what they took, divided by
 * `parts`. */
void case_compete(dome_env *env, const case_rival *rivals, int count, struct vectors *v, int repeats, int parts, double budget);

/* ---- conjugate gradients on the 5-point Poisson matrix of an m x m grid, right-hand side 1 ---- */

typedef struct case_cg {
    size_t m;
    dvec *x, *r, *p, *q;
} case_cg;

void case_cg_new(case_cg *cg, dome_env *env, size_t m);

/* Both return the square of the residual. */
double case_cg_start(const case_cg *cg);
double case_cg_iterate(const case_cg *cg, int iterations, double rr);

#endif
