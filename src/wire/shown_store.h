/* What has been shown of the output of all tasks (shown.h), in a file without a name, in memory. A supervisor makes it, so that
 * it outlives a hub that is killed. It may have a copy in a file that outlives the host (shown_copy.h). */
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

/* The supervisor's: from now on the copy of a new store is in this file, for all that open the store. If another run has left it,
 * the store begins with what that run has shown. fd: the stream, which this run writes behind that one's end. False with a
 * `reason` to follow the path. */
bool dome__shown_store_copy_to(dome_shown_store *store, const char *path, int fd, char **reason);

/* Whether it has a copy. */
bool dome__shown_store_has_copy(const dome_shown_store *store);

/* Why the copy is no longer written: "PATH: reason", g_free'd; NULL: it is written, there is none, or the caller knows already.
 */
char *dome__shown_store_broken(dome_shown_store *store);

/* The stream to which the tasks' standard output is written, and its writer. */
dome_shown_stream *dome__shown_stream_of(dome_shown_store *store);
dome_shown_writer *dome__shown_writer_of(dome_shown_store *store);

/* ---- with a copy; without one the first two do nothing ---- */

/* What is known of the stream, or of a task's output, has changed: the copy has it before text is queued for which that counts.
 */
void dome__shown_store_note_stream(dome_shown_store *store);
void dome__shown_store_note(dome_shown_store *store, int rank, dome_shown *shown);

/* As dome__shown_write. In the thread that writes the stream. */
ssize_t dome__shown_store_write(dome_shown_store *store, int fd, const char *text, size_t length);

/* The stream and the copy are on the disk when this returns. In that thread, too. */
void dome__shown_store_sync(dome_shown_store *store, int fd);

/* What is known of a task's output; NULL: there is no memory for it. It stays until the store is closed. */
dome_shown_past *dome__shown_past_of(dome_shown_store *store, int rank);

/* The number of tasks of which something is known: ranks from 0 on. */
int dome__shown_ranks(const dome_shown_store *store);

/* A line about lines that differ, g_free'd; NULL: none do. */
char *dome__shown_differing(dome_shown_store *store);

#endif
