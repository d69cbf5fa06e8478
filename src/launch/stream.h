/* A stream of rank 0's that leads to the hub: a pipe, or a pseudo-terminal in place of a terminal, so that programs see one. */
#ifndef DOME_SRC_LAUNCH_STREAM_H
#define DOME_SRC_LAUNCH_STREAM_H

#include <stdbool.h>

typedef struct dome_stream {
    int in, out; /* rank 0's end; the hub's, which does not block. -1: not open */
} dome_stream;

#define DOME_STREAM_NONE ((dome_stream){-1, -1})

/* In place of this descriptor. False with errno. */
bool dome__stream_open(dome_stream *stream, int fd);

/* In rank 0's process: its end becomes this descriptor, and the other one is closed. Does nothing if it is not open. */
void dome__stream_take(const dome_stream *stream, int fd);

#endif
