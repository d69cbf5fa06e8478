/* Runs functions in processes of their own: for libraries that may crash, or never end, on a damaged file. */
#ifndef DOME_SRC_APART_H
#define DOME_SRC_APART_H

#include <stddef.h>

/* The function gets ctx in a copy of this process, and returns what it has found, g_malloc'd, and its length. Returns the same
 * here, g_free'd by the caller. If the process ended otherwise, or took more than a minute, returns NULL; *reason is then a
 * static text to follow "it ", or NULL if no process could be started (errno). */
void *dome__apart(void *(*function)(void *ctx, size_t *bytes), void *ctx, size_t *bytes, const char **reason);

/* The same for a function that is called several times in one process, which keeps what it has opened in between: with a question
 * each time. The process dies with this one. */
typedef struct dome_apart_process dome_apart_process;
typedef void *(*dome_apart_function)(void *ctx, const void *question, size_t question_bytes, size_t *bytes);

/* NULL if no process can be started (errno). */
dome_apart_process *dome__apart_begin(dome_apart_function function, void *ctx);

/* As dome__apart. A process that has failed to answer once answers no more. */
void *dome__apart_ask(dome_apart_process *process, const void *question, size_t question_bytes, size_t *bytes,
                      const char **reason);

/* Ends the process. NULL is allowed. */
void dome__apart_end(dome_apart_process *process);

#endif
