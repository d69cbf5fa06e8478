/* A queue of text for a stream of this process whose reader may be slow: a pager, a stopped terminal, a slow log. A separate
 * thread writes it, since the stream cannot be made non-blocking: other processes share it. */
#ifndef DOME_SRC_OUTLET_H
#define DOME_SRC_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct dome_outlet dome_outlet;

/* bell: an eventfd that is signalled when some of the text has been written. */
dome_outlet *dome__outlet_open(int fd, int bell);

/* Queues all of the text; never blocks. If the stream can no longer be written to, the text is lost, as for any program. */
void dome__outlet_put(dome_outlet *outlet, const char *text, size_t length);

/* Whether so much text waits that sources which can wait should be held back. */
bool dome__outlet_full(dome_outlet *outlet);

/* Bytes not yet written. */
size_t dome__outlet_waiting(dome_outlet *outlet);

/* Bytes written so far: they increase while the reader reads. */
size_t dome__outlet_written(dome_outlet *outlet);

/* Why text has been lost: an errno, or 0. */
int dome__outlet_error(dome_outlet *outlet);

/* Ends the thread, if it is idle, and frees. A thread that is still writing ends with the process. */
void dome__outlet_close(dome_outlet *outlet);

#endif
