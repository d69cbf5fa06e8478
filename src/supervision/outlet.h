/* Text on its way to a stream of this process that may have no reader just now: a pager, a terminal that was stopped, a slow log.
 * A thread of its own writes it, since the stream cannot be made non-blocking: other processes have it too. */
#ifndef DOME_SRC_OUTLET_H
#define DOME_SRC_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct dome_outlet dome_outlet;

/* bell: an eventfd that rings when some of the text has been written. */
dome_outlet *dome__outlet_open(int fd, int bell);

/* Never waits, and takes all of it. On a stream that cannot be written to any more it is lost, as it is for any program. */
void dome__outlet_put(dome_outlet *outlet, const char *text, size_t length);

/* So much waits that no more should be taken from those who can wait. */
bool dome__outlet_full(const dome_outlet *outlet);

/* Bytes that are not written yet. */
size_t dome__outlet_waiting(const dome_outlet *outlet);

/* Bytes that have been written since the beginning: whether somebody reads. */
size_t dome__outlet_written(const dome_outlet *outlet);

/* Ends the thread if it has nothing to do, and frees. A thread that is still writing goes with the process. */
void dome__outlet_close(dome_outlet *outlet);

#endif
