/* Runs functions in processes of their own: for libraries that may crash, or never end, on a damaged file. */
#ifndef DOME_SRC_ISOLATED_H
#define DOME_SRC_ISOLATED_H

#include <stddef.h>

/* The function gets ctx in a copy of this process, and returns what it has found, g_malloc'd, and its length. Returns the same
 * here, g_free'd by the caller. If the process ended otherwise, or took more than a minute, returns NULL; *reason is then a
 * static text to follow "it ", or NULL if no process could be started (errno). */
void *dome__isolated_call(void *(*function)(void *ctx, size_t *bytes), void *ctx, size_t *bytes, const char **reason);

/* The same for a function that is called several times in one process, which keeps what it has opened in between: with a question
 * each time. The process dies with this one. */
typedef struct dome_isolated_process dome_isolated_process;
typedef void *(*dome_isolated_function)(void *ctx, const void *question, size_t question_bytes, size_t *bytes);

/* NULL if no process can be started (errno). */
dome_isolated_process *dome__isolated_begin(dome_isolated_function function, void *ctx);

/* As dome__isolated_call. A process that has failed to answer once answers no more. */
void *dome__isolated_ask(dome_isolated_process *process, const void *question, size_t question_bytes, size_t *bytes,
                         const char **reason);

/* Ends the process. NULL is allowed. */
void dome__isolated_end(dome_isolated_process *process);

#endif
