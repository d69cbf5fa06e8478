/* Values of scalars that are not known yet: results of reductions whose exchange runs while the program continues, and what is
 * computed from them.
 *
 * A reduction computes this task's part at once and adds it to a batch. The exchange of a batch begins with the next operation
 * that neither is a reduction of this kind nor is only recorded: several reductions share one exchange, a dome_ahead. A future is
 * `asked` from the operation on in which the program first needs it; that is the same on all tasks, whenever the exchange ended.
 */
#ifndef DOME_SRC_FUTURE_H
#define DOME_SRC_FUTURE_H

#include "eval/failure.h"
#include "kernels/exact_sum.h"

#include <dome/type.h>

typedef struct dome_future dome_future;

/* How all tasks' parts become a value. */
typedef enum dome_future_kind {
    DOME_FUTURE_SUM,    /* exact sums, two of complex elements */
    DOME_FUTURE_NORM,   /* an exact sum: its square root */
    DOME_FUTURE_EXTREME /* a dome_extreme */
} dome_future_kind;

/* This task's part of a reduction. */
typedef struct dome_future_part {
    dome_future_kind kind;
    dome_type type;       /* of the result; no struct */
    dome_type from;       /* of the elements */
    bool alone;           /* every task has all the data: there is nothing to exchange */
    const int64_t *words; /* `count` of them */
    size_t count;
    dome_failure *failure; /* of this task's elements, or NULL; borrowed */
} dome_future_part;

/* A future with a reference for the caller. The first: a known value. */
dome_future *dome__future_of(dome_type type, const void *value);
dome_future *dome__future_reduce(dome_env *env, const dome_future_part *part);

/* The value of an element-wise operation (DOME_OP_DVEC_ADD, ...) with one or two operands of this type (b may be NULL) and the
 * number `value`; computed when it is asked for, or at once if the operands are settled. Must be inside of an operation. A
 * failure is reported when the value is asked for, in both cases. */
dome_future *dome__future_compute(dome_env *env, dome_operation_code code, dome_type type, dome_future *a, dome_future *b,
                                  double value);

dome_future *dome__future_ref(dome_future *future);
void dome__future_unref(dome_future *future); /* NULL is allowed */

/* Whether asking needs no other task: all that it is computed from has been asked for; the same on all tasks. */
bool dome__future_is_settled(const dome_future *future);

/* Whether the operation that has made it asks for it: it is known, or the last of a long chain; the same on all tasks. */
bool dome__future_is_due(const dome_future *future);

/* Inside of an operation, collective unless it is settled: waits for the value and stores it. A failure is reported by the first
 * call; the value is then NaN, or 0 in an integer type. */
int dome__future_ask(dome_env *env, dome_future *future, void *value);

/* Stores the value without asking, once its exchange is complete (dome__futures_complete). Returns NULL, or why there is no
 * value; the text belongs to the future. Communicates only if the exchange is not complete. */
const char *dome__future_peek(dome_env *env, dome_future *future, void *value);

/* Stores an integer of 64 bits (two's complement; is_unsigned: without sign) or two numbers as a value of a type. False if an
 * integer is out of its range. */
bool dome__future_put_integer(dome_type type, uint64_t bits, bool is_unsigned, void *value);
void dome__future_put_real(dome_type type, double re, double im, void *value);

/* At the beginning of an operation: begins and drives exchanges. */
void dome__futures_begin(dome_env *env, dome_operation_code code);

/* Collective: completes all exchanges. */
int dome__futures_complete(dome_env *env);

void dome__futures_free(dome_futures *futures);

#endif
