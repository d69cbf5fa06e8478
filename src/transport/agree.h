/* Failures of communication, and failures that one task finds made those of all. */
#ifndef DOME_SRC_AGREE_H
#define DOME_SRC_AGREE_H

#include "core/operation.h"

/* dome__fail with the transport's reason as text. */
int dome__fail_transport(dome_env *env, int status);

/* Collective: makes a failure that one task found the failure of all. status and text (may be NULL) are this task's; if any task
 * has failed, every task fails with the status and text of the lowest such rank. For use before data is touched. */
int dome__agree(dome_env *env, int status, const char *text);

/* The same where failures have an order, two words: the one that comes first counts, of equal ones the lowest rank's. order
 * becomes that of the failure that counts, if there is one. */
int dome__agree_first(dome_env *env, int status, const char *text, uint64_t order[2]);

/* Completes all deferred work. Values that cannot be computed are no failure here: they are one of the operation that needs them.
 * Collective: what one task found is the failure of all. */
int dome__env_sync(dome_env *env);

#endif
