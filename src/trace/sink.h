/* Where traces of all tasks come together: the file of --dome-trace, written as lines arrive, by a thread of its own. Used by the
 * hub, and by a program of one task itself. */
#ifndef DOME_SRC_TRACE_SINK_H
#define DOME_SRC_TRACE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dome_trace_sink dome_trace_sink;

/* Whether a trace can be written to this path; else *message (g_free'd) says why not. */
bool dome__trace_path_good(const char *path, char **message);

/* path: absolute. One that ends in .json gets the trace as JSON when the sink is closed; until then it stands in PATH.partial.
 * append: the program goes on after a restart, and the trace with it. */
dome_trace_sink *dome__trace_sink_open(const char *path, const char *command, bool append);

/* Into an open file that has no name. fd stays the caller's; it appends. */
dome_trace_sink *dome__trace_sink_open_fd(int fd, const char *command);

/* Bytes that it has been given. */
uint64_t dome__trace_sink_bytes(const dome_trace_sink *sink);

/* Writes what is left: the program goes on, its recording does not. NULL is allowed. */
void dome__trace_sink_leave(dome_trace_sink *sink);

/* The file that lines go to; "" if it has no name. Borrowed. */
const char *dome__trace_sink_path(const dome_trace_sink *sink);

/* Lines of a task. Does not wait for the disk. */
void dome__trace_sink_take(dome_trace_sink *sink, int rank, const char *lines, size_t length);

/* The line that says why the program failed. */
void dome__trace_sink_failure(dome_trace_sink *sink, const char *line);

/* The program is over. Writes what is left; says so on standard error if something could not be written. */
void dome__trace_sink_close(dome_trace_sink *sink, int exit_status);

#endif
