/* Recording on demand: a program that was started without --dome-trace records while it has a viewer (`dome view --live`), into
 * an unnamed file in memory. The viewer gets its descriptor over a local socket (transport/control_socket.h, DOME_CONTROL_VIEW),
 * keeps the connection open while viewing, and reads the file; the program never waits for a viewer. However the program ends,
 * nothing is left behind.
 *
 * All functions are for one thread: the hub's, or the main thread of a program of one task. With NULL for the demand they do
 * nothing. */
#ifndef DOME_SRC_DEMAND_H
#define DOME_SRC_DEMAND_H

#include "trace/sink.h"

#include <glib.h>

typedef struct dome_demand dome_demand;

/* command returns the program's command line, g_free'd; ending (may be NULL) is called before a recording ends. NULL if the
 * socket cannot be made: the program then runs without recording on demand. */
dome_demand *dome__demand_open(char *(*command)(void *ctx), void (*ending)(void *ctx), void *ctx);

/* Tells the demand that the program records into this file in any case: viewers get that file. */
void dome__demand_lend(dome_demand *demand, const char *path);

/* Readable when dome__demand_step has work; -1 without a demand. */
int dome__demand_fd(const dome_demand *demand);

/* Accepts new viewers and removes those that have left. Returns the number of the current recording: 0 if there is no viewer and
 * was none lately, and a new number when tasks are to begin anew. Must be called now and then even if nothing is readable. */
uint32_t dome__demand_step(dome_demand *demand);

/* The sink for the lines of that recording; NULL if there is none. Owned by the demand. */
dome_trace_sink *dome__demand_sink(const dome_demand *demand);

/* Ends the recording at the end of the program. */
void dome__demand_close(dome_demand *demand, int exit_status);

/* In a fork of the program: closes the descriptors, and sends nothing. */
void dome__demand_forget(dome_demand *demand);

/* ---- for viewers ---- */

/* Gets a descriptor of the recording of a process of this user, and a connection that must stay open while the recording is
 * viewed. False with *message (g_free'd). */
bool dome__demand_ask(int pid, int *file, int *connection, char **message);

#endif
