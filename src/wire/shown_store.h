/* What has been shown of the output of all tasks (shown.h), in a file without a name, in memory. A supervisor makes it, so that
 * it outlives a hub that is killed. */
#ifndef DOME_SRC_WIRE_SHOWN_STORE_H
#define DOME_SRC_WIRE_SHOWN_STORE_H

#include "wire/shown.h"
#include "wire/shown_stream.h"

typedef struct dome_shown_store dome_shown_store;

/* A new file; -1 with errno. */
int dome__shown_file(void);

/* NULL with errno. The descriptor stays the caller's. */
dome_shown_store *dome__shown_store_open(int fd);
void dome__shown_store_close(dome_shown_store *store);

/* The stream to which the tasks' standard output is written, and its writer. */
dome_shown_stream *dome__shown_stream_of(dome_shown_store *store);
dome_shown_writer *dome__shown_writer_of(dome_shown_store *store);

/* What is known of a task's output; NULL: there is no memory for it. It stays until the store is closed. */
dome_shown_past *dome__shown_past_of(dome_shown_store *store, int rank);

/* The number of tasks of which something is known: ranks from 0 on. */
int dome__shown_ranks(const dome_shown_store *store);

/* A line about lines that differ, g_free'd; NULL: none do. */
char *dome__shown_differing(dome_shown_store *store);

#endif
