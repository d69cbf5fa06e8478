/* Runs a function in a process of its own: for libraries that may crash, or never end, on a damaged file. */
#ifndef DOME_SRC_APART_H
#define DOME_SRC_APART_H

#include <stddef.h>

/* The function gets ctx in a copy of this process, and returns what it has found, g_malloc'd, and its length. Returns the same
 * here, g_free'd by the caller. If the process ended otherwise, or took more than a minute, returns NULL; *reason is then a
 * static text to follow "it ", or NULL if no process could be started (errno). */
void *dome__apart(void *(*function)(void *ctx, size_t *bytes), void *ctx, size_t *bytes, const char **reason);

#endif
