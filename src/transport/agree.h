/* Reports failures of communication, and makes a failure that one task finds a failure of all tasks. */
#ifndef DOME_SRC_AGREE_H
#define DOME_SRC_AGREE_H

#include "core/operation.h"
#include "transport/transport.h"

/* dome__fail with the transport's `reason` as text. */
int dome__fail_transport(dome_env *env, int status);

/* Collective. status and text (may be NULL) are this task's; if any task has failed, every task fails with the status and text of
 * the lowest rank that failed. Call it before data is modified. */
int dome__agree(dome_env *env, int status, const char *text);

/* dome__agree for failures with an order, compared as two words: the least is reported, of equal ones the lowest rank's. Sets
 * order to that of the reported failure, if any. */
int dome__agree_first(dome_env *env, int status, const char *text, uint64_t order[2]);

/* Collective: *text, NULL if this task has none, becomes on all tasks that of the lowest rank that has one, g_free'd by the
 * caller; it stays NULL if none has. from, if not NULL, is set to that rank, if any. Returns a status of communication, not yet
 * reported, with *text as it was. */
int dome__agree_text(dome_transport *t, char **text, int *from);

/* Collective: completes all deferred work; a failure on one task is a failure of all. Values that cannot be computed are not a
 * failure here: the operation that needs them fails. */
int dome__env_sync(dome_env *env);

#endif
