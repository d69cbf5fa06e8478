/* The memory of this process as it is now, while the process goes on: a child that does nothing has it, and the kernel copies the
 * pages that either of them writes (copy-on-write).
 *
 *     dome_frozen frozen;
 *     if (dome__frozen_begin(&frozen, &why)) {
 *         x[7] = 0;                                              // another thread may read meanwhile:
 *         dome__frozen_read(&frozen, to, x, sizeof x, &why);     // x as it was
 *         dome__frozen_end(&frozen);
 *     }
 *
 * Memory that processes share (MAP_SHARED), or that children do not get (MADV_DONTFORK), is not in it. */
#ifndef DOME_SRC_MEMORY_FROZEN_H
#define DOME_SRC_MEMORY_FROZEN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dome_frozen {
    int process; /* 0: none */
    int line;    /* the child ends when it is closed, which the end of this process does, too */
} dome_frozen;

/* False: there is no such child, or its memory cannot be read; *why follows "cannot be ...: " and is static. The program does not
 * see the child: neither by a signal nor by wait, and no function of pthread_atfork is called. */
bool dome__frozen_begin(dome_frozen *frozen, const char **why);

/* Any thread may read. */
bool dome__frozen_read(const dome_frozen *frozen, void *to, const void *from, uint64_t bytes, const char **why);

/* Ends the child. Nothing if there is none. */
void dome__frozen_end(dome_frozen *frozen);

#endif
