/* Collects the traces of all tasks: the file of --dome-trace. Lines are written as they arrive, by a separate thread. Used by the
 * hub, and by a program of a single task itself. */
#ifndef DOME_SRC_TRACE_SINK_H
#define DOME_SRC_TRACE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dome_trace_sink dome_trace_sink;

/* Whether a trace can be written to this path; otherwise *message (g_free'd) says why not. */
bool dome__trace_path_good(const char *path, char **message);

/* path: absolute. If it ends in .json, the trace is converted to JSON when the sink is closed; until then it is in PATH.partial.
 * append: the program continues after a restart, and the trace with it. */
dome_trace_sink *dome__trace_sink_open(const char *path, const char *command, bool append);

/* The program goes on in another view (wire/view.h), whose number is larger: tasks and objects are new, as after a
 * restart. NULL is allowed. */
void dome__trace_sink_again(dome_trace_sink *sink, const char *command, uint32_t view);

/* Writes to an open file that has no name. The caller keeps fd; the sink appends. */
dome_trace_sink *dome__trace_sink_open_fd(int fd, const char *command);

/* The number of bytes given to the sink. */
uint64_t dome__trace_sink_bytes(const dome_trace_sink *sink);

/* Writes what is left and frees the sink: the recording ends but the program continues. NULL is allowed. */
void dome__trace_sink_leave(dome_trace_sink *sink);

/* The path of the file that is written; "" if it has no name. Borrowed. */
const char *dome__trace_sink_path(const dome_trace_sink *sink);

/* Adds lines of a task of a view, which may come when the next view is there. Does not wait for the disk. */
void dome__trace_sink_take(dome_trace_sink *sink, uint32_t view, int rank, const char *lines, size_t length);

/* Adds the error message with which the program failed. */
void dome__trace_sink_failure(dome_trace_sink *sink, const char *line);

/* Adds a line of the hub, with its end. NULL is allowed. */
void dome__trace_sink_line(dome_trace_sink *sink, const char *line);

/* Closes the sink at the end of the program: writes what is left, and prints a message on standard error if something could not
 * be written. supervised: a program that has failed may be restarted, and the trace continue; PATH.partial is kept for that. */
void dome__trace_sink_close(dome_trace_sink *sink, int exit_status, bool supervised);

#endif
