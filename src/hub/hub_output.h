/* The program's output, and the hub's own lines. hub_output.c alone changes these members. */
#ifndef DOME_SRC_HUB_OUTPUT_H
#define DOME_SRC_HUB_OUTPUT_H

#include "system/output_queue.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_output {
    int bell;                     /* eventfd, signalled when output has been written */
    dome_output_queue *queues[2]; /* for standard output and standard error; the same if both are one file */
    double held_at;               /* when output was last left unread because the hub's own output was not read */
} hub_output;

void dome__hub_output_open(hub_state *s);

/* Prints text on one of this process's streams, STDOUT_FILENO or STDERR_FILENO. Never blocks. */
void dome__hub_print(hub_state *s, int fd, const char *text);

/* Standard output is written by this function from now on (dome__output_queue_write_by). */
void dome__hub_write_by(hub_state *s, dome_output_write function, dome_output_sync sync, void *context);

/* The same of so many bytes, which may have any value. */
void dome__hub_write(hub_state *s, int fd, const char *text, size_t length);

/* As dome__say (system/say.h), without blocking. */
void dome__hub_say(hub_state *s, const char *text);

/* Prints a line about orders of `who`, once, however often it comes. said: the last one, the caller's to g_free. */
void dome__hub_say_once(hub_state *s, char **said, const char *who, const char *text);

/* Waits until all output is written, for at most so many seconds. */
void dome__hub_flush(hub_state *s, double seconds);

/* Prints the whole lines received from a task's output, each after its rank. last: also an incomplete last line. */
void dome__hub_relay(hub_state *s, hub_client *c, bool last);

/* Whether so much output waits for its reader that the hub stops receiving this task's. */
bool dome__hub_holds(const hub_state *s, const hub_client *c);

/* The same of all tasks' output of a stream, STDOUT_FILENO or STDERR_FILENO. */
bool dome__hub_holds_stream(const hub_state *s, int stream);

/* Bytes of both streams that are not yet written, and that have been written. */
size_t dome__hub_output_waiting(const hub_state *s);
size_t dome__hub_output_written(const hub_state *s);

/* Why standard output could not be written, an errno; 0: it could, or its reader has had enough. */
int dome__hub_output_error(const hub_state *s);

/* Closes the output; reports how much of it was not read and drops that. */
void dome__hub_output_close(hub_state *s);

/* The bell has rung. */
void dome__hub_output_rung(hub_state *s);

/* Output is left unread now. */
void dome__hub_output_held(hub_state *s);

#endif
