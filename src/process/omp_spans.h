/* Which memory belongs to the state of the program at the beginning of a region: as few stretches as there are, without what was
 * never used. */
#ifndef DOME_SRC_PROCESS_OMP_SPANS_H
#define DOME_SRC_PROCESS_OMP_SPANS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct dome_omp_span {
    uint64_t address, bytes;
} dome_omp_span;

/* Of task 0: variables, arguments, heaps, and the stack of main from where it is now. An array of dome_omp_span, the caller's. */
GArray *dome__omp_spans(void);

/* Before memory is put back: maps what a fresh program has not got yet. False: the stretch is no part of this program. */
bool dome__omp_spans_reach(const dome_omp_span *span);

#endif
