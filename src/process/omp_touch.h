/* Memory that other tasks share, before the system reads or writes it: a call of the system does not wait for a page as the
 * program's own access does, but fails with EFAULT. */
#ifndef DOME_SRC_PROCESS_OMP_TOUCH_H
#define DOME_SRC_PROCESS_OMP_TOUCH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a virtual thread calls. */
bool dome__omp_by_thread(void);

/* Whether a call of the program's is to touch what it names: by a virtual thread, if there are several tasks. */
bool dome__omp_touches(void);

/* Accesses each page of the bytes that is shared. Bytes stay as they are. */
void dome__omp_touch(const void *address, size_t bytes, bool write);

/* Whether any has been since the last call. */
bool dome__omp_touched(void);

/* A text. */
void dome__omp_touch_text(const char *text);

/* From now on a thread that waits for a plain variable ends the program after some seconds, by a line; and one that accesses what
 * only another task has, a local variable of a thread there or memory of a library, says so in one line before the program ends
 * (omp_signals.c). */
void dome__omp_signals_begin(void);

#endif
