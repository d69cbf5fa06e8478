/* Load balancing while a program runs: measure, decide, move.
 *
 * A phase is held at the start of an operation in which data may move (dome__balance_due). In one all-gather every task tells the
 * others how long it has computed since the last phase; from these numbers, which are the same on all tasks, each computes the
 * same decision with the functions of policy.h, and the data is migrated (migrate.h). No task waits for another to decide.
 * Between two phases balancing sends only one bit, along with reductions: a task that has begun to wait longer than usual, or has
 * another part of its processor than it had, asks for a phase early. */
#ifndef DOME_SRC_BALANCE_H
#define DOME_SRC_BALANCE_H

#include "core/environment.h"

/* NULL if there is nothing to balance (a single task, or --dome-balance none). */
dome_balance *dome__balance_new(const dome_options *options, dome_transport *transport);
void dome__balance_free(dome_balance *balance);

/* At the start of a program on several hosts: measures briefly how fast each task computes, so that vectors are well distributed
 * from the beginning where speeds differ much. Collective. */
int dome__balance_probe(dome_env *env);

/* Whether a phase must be held before an operation of this kind, which is about to begin. The same on all tasks. */
bool dome__balance_due(dome_env *env, dome_operation_code code);

/* Holds a phase before an operation of an object (may be NULL), which error messages name. Collective. A failure of deferred work
 * is kept for the operation that needs the values. */
void dome__balance(dome_env *env, dome_operation_code code, const dome_object *object);

/* The layout for a vector of a new length: in proportion to the tasks' speeds as known so far. NULL when memory is out. */
dome_layout *dome__balance_first_layout(const dome_env *env, uint64_t length, uint64_t block_size);

/* For the profile. The first and last imbalance (largest computing time over mean) are 0 until one has been measured. */
typedef struct dome_balance_report {
    const char *policy;
    uint64_t phases, moving_phases;
    uint64_t phases_ahead; /* whose numbers travelled ahead */
    double imbalance_first, imbalance_last;
    double seconds; /* this task's, in phases and migrations, without `waited` */
    double waited;  /* at the beginning of phases, for the tasks that reach them last */
} dome_balance_report;

void dome__balance_report(const dome_balance *balance, dome_balance_report *report);

#endif
