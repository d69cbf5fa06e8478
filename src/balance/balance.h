/* Load balancing while a program runs: measure, decide, move.
 *
 * A phase happens at the start of an operation in which data may move (dome__balance_due). Every task says in one allgather how
 * long it has computed since the last phase; from these numbers, equal everywhere, every task computes the same decision by the
 * functions of policy.h, and what has to move moves (migrate.h). Nobody waits for a decision, and between two phases nothing is
 * sent for balancing but one bit, along with reductions: a task that has begun to wait more than it used to asks for a phase
 * early. */
#ifndef DOME_SRC_BALANCE_H
#define DOME_SRC_BALANCE_H

#include "core/environment.h"

/* NULL where nothing is to be balanced (a single task, --dome-balance none). */
dome_balance *dome__balance_new(const dome_options *options, const dome_transport *transport);
void dome__balance_free(dome_balance *balance);

/* At the start of a program on several hosts: looks for a moment how fast each task can compute, so that vectors lie well from
 * the beginning where speeds differ much. Collective. */
int dome__balance_probe(dome_env *env);

/* Whether a phase has to come before an operation of this kind, which is about to begin. The same on all tasks. */
bool dome__balance_due(dome_env *env, dome_operation_code code);

/* The phase, before an operation of an object (may be NULL), which lines about failures name. Collective. A failure that deferred
 * work holds stays there for the operation that needs the values. */
void dome__balance(dome_env *env, dome_operation_code code, const dome_object *object);

/* How a vector of a length that is new should lie: in proportion to what is known of the tasks' speeds. NULL when memory is out.
 */
dome_layout *dome__balance_first_layout(const dome_env *env, uint64_t length, uint64_t block_size);

/* For the profile. The first and last imbalance (largest computing time over mean) are 0 while there is none. */
typedef struct dome_balance_report {
    const char *policy;
    uint64_t phases, moving_phases;
    double imbalance_first, imbalance_last;
    double seconds; /* in phases and moves, of this task, but for the next */
    double waited;  /* at the beginning of phases, for the tasks that come to them last */
} dome_balance_report;

void dome__balance_report(const dome_balance *balance, dome_balance_report *report);

#endif
