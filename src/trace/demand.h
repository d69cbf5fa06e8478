/* Recording on demand: a program that was started without --dome-trace records while somebody looks at it (`dome view --live`),
 * into a file without a name, in memory. Who looks gets its descriptor over a local socket (transport/door.h, DOME_DOOR_VIEW),
 * keeps the connection for as long as he looks, and reads the file: nobody waits for him. Nothing stays behind, whatever way the
 * program ends.
 *
 * For one thread: the hub's, or the main one of a program of one task. Where NULL is given instead of a demand, nothing happens.
 */
#ifndef DOME_SRC_DEMAND_H
#define DOME_SRC_DEMAND_H

#include "trace/sink.h"

#include <glib.h>

typedef struct dome_demand dome_demand;

/* command gives the program's command line, g_free'd; ending (may be NULL) is called before a recording ends. NULL where there
 * can be no socket: the program runs without. */
dome_demand *dome__demand_open(char *(*command)(void *ctx), void (*ending)(void *ctx), void *ctx);

/* The program records into this file in any case: that is what who looks gets. */
void dome__demand_lend(dome_demand *demand, const char *path);

/* Readable when there is something to do; -1 without a demand. */
int dome__demand_fd(const dome_demand *demand);

/* Lets in who has come, and looks who has gone. Returns the number of the recording under way: 0 if nobody looks or has looked
 * lately, and another one than before where tasks are to begin anew. Call it now and then even if nothing is readable. */
uint32_t dome__demand_step(dome_demand *demand);

/* Where lines of that recording go; NULL if there is none. Of the demand. */
dome_trace_sink *dome__demand_sink(const dome_demand *demand);

/* The program is over. */
void dome__demand_close(dome_demand *demand, int exit_status);

/* In a fork of the program: closes, without a word to anybody. */
void dome__demand_forget(dome_demand *demand);

/* ---- for who looks ---- */

/* A descriptor of the recording of this user's process, and a connection that is to stay open while it is looked at. False with
 * *message (g_free'd). */
bool dome__demand_ask(int pid, int *file, int *connection, char **message);

#endif
