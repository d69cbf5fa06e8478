/* Deferred element-wise work.
 *
 * Operations are recorded as a graph of values. A value is computed when it is needed, in one pass over the blocks together with
 * all values it depends on and with the reduction that needs it. A value that is overwritten or freed before it is read is never
 * computed; a value that only other values depend on is never written to memory. Equal values are computed once. The bits are
 * those of the operations run one after the other (--dome-evaluator plain runs them so).
 *
 * eval.c records operations and decides what a pass computes; eval_pass.c runs the pass. */
#ifndef DOME_SRC_EVAL_H
#define DOME_SRC_EVAL_H

#include "eval/failure.h"
#include "eval/vector.h"
#include "kernels/kernels_reduce.h"

#include <stdio.h>

typedef struct dome_eval_op {
    dome_operation_code code; /* DOME_OP_DVEC_ADD, ...: determines which operands are used */
    dvec *out;
    const dvec *in[3];
    union {
        double f64;
        uint64_t u64;
    } scalar;    /* of fill, the scalar variants, axpy; the seed of random */
    void *value; /* fill_value's element, or the row that is repeated, g_malloc'd; eval frees it */
} dome_eval_op;

/* Called once per environment, before any vector is made. */
dome_eval *dome__eval_new(const dome_options *options);
void dome__eval_free(dome_eval *eval);

/* Records an operation whose operands have been checked. May run operations recorded before. */
int dome__eval_record(dome_env *env, const dome_eval_op *op);

/* Runs the operations recorded for x and those that read x, so that its memory may be read and changed; NULL: all operations. A
 * value that cannot be computed is noted as the failure of its vector (failure.h), and not reported. */
void dome__eval_run(dome_env *env, const dvec *x);

/* The same if x is only read: operations that read x may stay recorded. */
void dome__eval_read(dome_env *env, const dvec *x);

/* The failure of x's values as this task knows it, after dome__eval_run, _read or _reduce; borrowed, NULL: none. */
dome_failure *dome__eval_failure(const dvec *x);

/* Sets the failure of the values in x's memory; NULL: none. */
void dome__eval_set_failure(dvec *x, dome_failure *failure);

/* A reduction: brings x and y (which may be NULL) up to date as dome__eval_read does, and calls visit for the local blocks of
 * `lead`, which is one of them, in the order of its spans, while their values are in the cache. Each call gets one or more blocks
 * of `block` values each; the last one may be shorter. first: the global number of the first value. Only visit may rely on the
 * values of x and y: they need not be in memory afterwards. */
typedef void (*dome_eval_visit)(void *ctx, const void *x, const void *y, uint64_t values, uint64_t block, uint64_t first);
typedef struct dome_eval_reduction {
    const dvec *lead, *x, *y;
    dome_eval_visit visit;
    void *ctx;
    /* the sum that visit computes: terms of each block, added to the exact sums; DOME_TERMS if it computes another reduction */
    dome_terms terms;
    dome_exact_sum *sums;
} dome_eval_reduction;
void dome__eval_reduce(dome_env *env, const dome_eval_reduction *reduction);

/* Called before x is freed or all its memory overwritten: its value is needed no more, unless others depend on it. */
void dome__eval_forget(dome_env *env, dvec *x);

/* The value of x is needed no more, unless others depend on it or it may fail; its memory stays. This task may call it alone. */
void dome__eval_discard(const dome_env *env, const dvec *x);

/* Called at the end of the program, when no value is needed any more. Runs the operations that can fail. */
void dome__eval_finish(dome_env *env);

/* Prints the profile's lines about chains of operations. */
void dome__eval_profile(const dome_env *env, FILE *file);

/* Runs what has not been run yet. Values that were computed for others and not stored stay recorded. */
void dome__eval_advance(dome_env *env);

#endif
