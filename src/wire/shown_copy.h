/* A copy of what has been shown, in a file beside the output. It outlives the host. A run that goes on elsewhere reads it,
 * appends to the same output, and shows nothing twice.
 *
 * The file has numbers of 64 bits, least byte first, so a host of any kind can read it. It begins with a page for the state; then
 * each task has its part. What one writer interrupts is never worse than lines that are shown twice or said to differ. */
#ifndef DOME_SRC_WIRE_SHOWN_COPY_H
#define DOME_SRC_WIRE_SHOWN_COPY_H

#include "wire/shown.h"

/* As in dome_shown_stream. */
typedef struct dome_shown_state {
    uint64_t ranks, begun;
} dome_shown_state;

typedef struct dome_shown_position {
    uint64_t written; /* bytes of the stream */
    uint64_t offset;  /* how long the file was then to which it is written; UINT64_MAX: it is no file */
} dome_shown_position;

/* Opens the file, or makes it. -1 with errno and `reason`, to follow "cannot be ...: ". */
int dome__shown_copy_open(const char *path, const char **reason);

/* Where the task's lines and the position are written, by two threads that share nothing. False with errno. */
bool dome__shown_copy_write_state(int fd, const dome_shown_state *state);
bool dome__shown_copy_write_position(int fd, const dome_shown_position *position);

/* Lines before `since` are in the file already. */
bool dome__shown_copy_write(int fd, int rank, const dome_shown_past *past, uint64_t since);

typedef enum { DOME_SHOWN_COPY_NEW, DOME_SHOWN_COPY_THERE, DOME_SHOWN_COPY_STRANGE } dome_shown_copy_kind;

/* What the file is: empty, such a copy, or something else. */
dome_shown_copy_kind dome__shown_copy_read_state(int fd, dome_shown_state *state, dome_shown_position *position);

/* False: the part is damaged. */
bool dome__shown_copy_read(int fd, int rank, dome_shown_past *past);

#endif
