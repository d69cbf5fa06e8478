/* The thread of a task that writes checkpoints while the program computes. It does one job at a time. */
#ifndef DOME_SRC_CKPT_BACKGROUND_H
#define DOME_SRC_CKPT_BACKGROUND_H

#include "ckpt/writer.h"

typedef struct dome_ckpt_background dome_ckpt_background;

/* link must outlive it. NULL with *message if the thread cannot be started. */
dome_ckpt_background *dome__ckpt_background_new(const dome_ckpt_link *link, char **message);

/* Begins a job (dome__ckpt_write_together). The job and its snapshot belong to the thread until dome__ckpt_background_wait has
 * returned, or dome__ckpt_background_busy has returned false. The thread must be idle before. `pause`: seconds for which the
 * program has stopped; the thread delays its work for a fraction of it, to leave the processors to tasks that still copy, unless
 * a caller waits for it, or values are in a child process. */
void dome__ckpt_background_write(dome_ckpt_background *background, dome_ckpt_job *job, double pause);

/* Begins to allocate and touch memory for a snapshot of about so many bytes: copying into fresh memory takes at least ten times
 * as long. Before that, frees the space of files that opening the store has removed. store: NULL if this task has none. */
void dome__ckpt_background_reserve(dome_ckpt_background *background, dome_store *store, dome_ckpt_snapshot *snapshot,
                                   uint64_t bytes);

bool dome__ckpt_background_busy(dome_ckpt_background *background);
void dome__ckpt_background_wait(dome_ckpt_background *background);

/* Waits for the work, ends the thread and frees. */
void dome__ckpt_background_free(dome_ckpt_background *background);

#endif
