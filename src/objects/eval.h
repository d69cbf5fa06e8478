/* Deferred element-wise work.
 *
 * Operations are recorded in the order of the calls and run block by block in one pass when a value is needed. This is a
 * plain evaluator: it keeps one list per layout and walks it for each block. Everything cleverer belongs behind these
 * functions. */
#ifndef DOME_SRC_EVAL_H
#define DOME_SRC_EVAL_H

#include "objects/dvec_private.h"

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

dome_eval *dome__eval_new(void);
void dome__eval_free(dome_eval *eval);

/* Records an operation whose operands have been checked. May run everything recorded so far. */
int dome__eval_record(dome_env *env, const dome_eval_op *op);

/* Runs what is recorded for x (and what it depends on); NULL: everything. What fails (an integer divided by zero) is found by
 * this task alone and reported by dome__fail. All of the work is done nevertheless. */
int dome__eval_run(dome_env *env, const dvec *x);

/* The same, but leaves the report to the caller: returns the status and the text, g_free'd by the caller, NULL if all is well.
 * For operations that tell the other tasks, and for slots, which do not print. */
int dome__eval_try(dome_env *env, const dvec *x, char **text);

/* Runs everything, and leaves a failure to be reported by the operation that needs a value. Whether there is none. */
bool dome__eval_settle(dome_env *env);

#endif
