/* Deferred element-wise work.
 *
 * Operations are recorded as a graph of values. A value is computed when somebody needs it, in one pass over the blocks together
 * with all that it is made of and with the reduction that asked for it. What is overwritten or freed before anybody reads it is
 * never computed; what only other values are made of is never written to memory. Equal values are computed once. The bits are
 * those of the operations done one after the other (--dome-evaluator plain does them so).
 *
 * eval.c records and decides what a pass has to do; eval_pass.c does it. */
#ifndef DOME_SRC_EVAL_H
#define DOME_SRC_EVAL_H

#include "kernels/kernels_reduce.h"
#include "objects/dvec_private.h"
#include "objects/failure.h"

#include <stdio.h>

typedef struct dome_eval_op {
    dome_operation_code code; /* DOME_OP_DVEC_ADD, ...: says which operands are in use */
    dvec *out;
    const dvec *in[3];
    union {
        double f64;
        uint64_t u64;
    } scalar;    /* of fill, the scalar variants, axpy; the seed of random */
    void *value; /* fill_value's element, g_malloc'd; eval frees it */
} dome_eval_op;

/* Once per environment, before any vector is made. */
dome_eval *dome__eval_new(const dome_options *options);
void dome__eval_free(dome_eval *eval);

/* Records an operation whose operands have been checked. May run what was recorded before. */
int dome__eval_record(dome_env *env, const dome_eval_op *op);

/* Runs what is recorded for x and what else reads x, so that its memory may be read and changed; NULL: everything. What cannot be
 * computed is noted as the failure of its vector (failure.h), and not reported. */
void dome__eval_run(dome_env *env, const dvec *x);

/* The same, but x is only going to be read: what reads x may stay recorded. */
void dome__eval_read(dome_env *env, const dvec *x);

/* The failure of x's values as this task knows it, after dome__eval_run, _read or _reduce; borrowed, NULL: none. */
dome_failure *dome__eval_failure(const dvec *x);

/* The values in x's memory have this failure from now on, or none. */
void dome__eval_set_failure(dvec *x, dome_failure *failure);

/* A reduction brings x and y (which may be NULL) up to date as dome__eval_read does, and calls visit for the local blocks of
 * `lead`, which is one of them, in the order of its spans, while their values are at hand: for as many blocks at a time as there
 * are, of `block` values each, the last one what is left. first: the global number of the first value. x and y may be at hand
 * there alone: what has been read of them by visit need not be in memory afterwards. */
typedef void (*dome_eval_visit)(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first);
typedef struct dome_eval_reduction {
    const dvec *lead, *x, *y;
    dome_eval_visit visit;
    void *ctx;
    /* what visit does, if it is a sum: terms of each block, added to the exact sums; DOME_TERMS if it is not */
    dome_terms terms;
    dome_exact_sum *sums;
} dome_eval_reduction;
void dome__eval_reduce(dome_env *env, const dome_eval_reduction *reduction);

/* x is about to go: its value is needed no more, unless others are made of it. */
void dome__eval_forget(dome_env *env, dvec *x);

/* The program ends: no value is needed any more. What can fail is run. */
void dome__eval_finish(dome_env *env);

/* Lines about chains of operations, for the profile. */
void dome__eval_profile(const dome_env *env, FILE *file);

/* Runs what has not been run yet. Values that were computed for others and not stored stay recorded. */
void dome__eval_advance(dome_env *env);

#endif
