/* The thread of a task that writes checkpoints while the program computes. It takes one piece of work at a time. */
#ifndef DOME_SRC_CKPT_BACKGROUND_H
#define DOME_SRC_CKPT_BACKGROUND_H

#include "ckpt/writer.h"

typedef struct dome_ckpt_background dome_ckpt_background;

/* link lives longer. NULL with *message if there can be no thread. */
dome_ckpt_background *dome__ckpt_background_new(const dome_ckpt_link *link, char **message);

/* Begins a job (dome__ckpt_write_together). It belongs to the thread until dome__ckpt_background_wait has returned, or
 * dome__ckpt_background_busy false; so does its capture. The thread must have nothing else to do.
 * The program has stood still for `pause` seconds; the thread leaves it the processors for a little longer, unless somebody
 * waits. */
void dome__ckpt_background_write(dome_ckpt_background *background, dome_ckpt_job *job, double pause);

/* Begins to make room for a capture that will have about so many bytes, in memory that has been touched: what is copied into
 * fresh memory takes ten times as long and more. */
void dome__ckpt_background_reserve(dome_ckpt_background *background, dome_ckpt_capture *capture, uint64_t bytes);

bool dome__ckpt_background_busy(dome_ckpt_background *background);
void dome__ckpt_background_wait(dome_ckpt_background *background);

/* Waits, ends the thread and frees. */
void dome__ckpt_background_free(dome_ckpt_background *background);

#endif
