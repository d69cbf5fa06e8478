/* Streams that task 0 has opened (fopen), written by threads of other tasks. A stream of the C library is a block of its task's
 * own memory; these blocks have places at the same addresses on all tasks, and another task has a stream there that keeps what is
 * written. Where the tasks meet, task 0 writes it to the stream proper, in the order of the tasks, which is that of the threads.
 *
 *     task 1: fprintf(log, ...)  -->  records  --meet-->  memory that all tasks share  -->  task 0: fwrite(..., log)
 */
#ifndef DOME_SRC_PROCESS_OMP_STREAMS_H
#define DOME_SRC_PROCESS_OMP_STREAMS_H

#include "system/bytes.h"

#include <stdbool.h>
#include <stddef.h>

/* For malloc and free, by the C library: the place of the stream that is being opened, or NULL; and whether it was one. */
void *dome__omp_stream_place(size_t bytes);
bool dome__omp_stream_ends(void *block);

/* A task other than 0: has streams where task 0 has. Before threads of the program run. */
void dome__omp_streams_follow(void);

/* A task other than 0: what its threads have written since, as records; the caller empties it. NULL: nothing. */
GByteArray *dome__omp_streams_written(void);

/* A stream is about to be read: the standard input has no place, and is task 0's. */
void dome__omp_stream_read(const void *file);

/* Task 0: writes such records. */
void dome__omp_streams_write(const char *records, size_t bytes);

/* Task 0, for a checkpoint: which files its streams are at, and where; and opening them again in a new process, which has the
 * program's memory by now. What was written to them since is cut off. */
void dome__omp_streams_save(GByteArray *to);
void dome__omp_streams_reopen(dome_bytes *from);

#endif
