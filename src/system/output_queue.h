/* A queue of text for a stream of this process whose reader may be slow: a pager, a stopped terminal, a slow log. A separate
 * thread writes it, since the stream cannot be made non-blocking: other processes share it. */
#ifndef DOME_SRC_OUTPUT_QUEUE_H
#define DOME_SRC_OUTPUT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct dome_output_queue dome_output_queue;

/* bell: an eventfd that is signalled when some of the text has been written. */
dome_output_queue *dome__output_queue_open(int fd, int bell);

/* What writes from now on in place of write(2), with its results; the queue's thread calls it, or the caller's. */
typedef ssize_t (*dome_output_write)(void *context, int fd, const char *text, size_t length);
/* Called in that thread when a caller wants all text that it has put to be on the disk. */
typedef void (*dome_output_sync)(void *context, int fd);
void dome__output_queue_write_by(dome_output_queue *queue, dome_output_write function, dome_output_sync sync, void *context);

/* Queues all of the text; never blocks. If the stream can no longer be written to, the text is lost, as for any program. */
void dome__output_queue_put(dome_output_queue *queue, const char *text, size_t length);

/* Whether so much text waits that sources which can wait should be held back. */
bool dome__output_queue_full(dome_output_queue *queue);

/* Bytes not yet written. */
size_t dome__output_queue_waiting(dome_output_queue *queue);

/* Bytes written so far: they increase while the reader reads. */
size_t dome__output_queue_written(dome_output_queue *queue);

/* Bytes written and bytes not yet written. */
size_t dome__output_queue_total(dome_output_queue *queue);

/* Text that waits is written, and then brought to the disk. Returns at once; the bell tells when both are done. */
void dome__output_queue_sync(dome_output_queue *queue);

/* Bytes written that are on the disk, as far as a caller has asked for it. */
size_t dome__output_queue_synced(dome_output_queue *queue);

/* Why text has been lost: an errno, or 0. */
int dome__output_queue_error(dome_output_queue *queue);

/* Ends the thread, if it is idle, and frees. A thread that is still writing ends with the process. */
void dome__output_queue_close(dome_output_queue *queue);

#endif
