/* Which segment has written a byte last. A segment is what a thread does between two of its acts of synchronisation. All acts of
 * a program have one order, so a segment is what its thread did after one act and before another one:
 *
 *     thread 0      segment: began 0, ended 3   act 3        segment: began 3
 *     thread 1          act 1    segment: began 1, ended 4         act 4
 *
 * Segments are ordered if one had ended when the other one began; else their threads may do both at the same time. An *interval*
 * lasts from one meeting of all threads to the next: all its segments come before those of the next one. */
#ifndef DOME_SRC_RACES_WRITES_H
#define DOME_SRC_RACES_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOME_OMP_NOT_ENDED UINT64_MAX

typedef struct dome_omp_segment {
    uint64_t began, ended; /* acts; DOME_OMP_NOT_ENDED */
    const void *function;  /* of the region */
    uint32_t thread;
} dome_omp_segment;

static inline bool dome__omp_segments_ordered(const dome_omp_segment *a, const dome_omp_segment *b)
{
    return a->thread == b->thread || a->ended <= b->began || b->ended <= a->began;
}

typedef struct dome_omp_writes dome_omp_writes;

dome_omp_writes *dome__omp_writes_new(void);
void dome__omp_writes_free(dome_omp_writes *writes);

/* A new segment of this interval; its number, which is not 0. */
uint32_t dome__omp_writes_begin(dome_omp_writes *writes, uint32_t thread, uint64_t began, const void *function);

/* The segment with this number; NULL: it was in an earlier interval, or there is none. Valid until the next one begins. */
dome_omp_segment *dome__omp_writes_segment(const dome_omp_writes *writes, uint32_t number);

/* The next interval begins. False: numbers begin anew, so all shadows must be cleared (dome__omp_shadow_clear). */
bool dome__omp_writes_next(dome_omp_writes *writes);

/* For each byte of some memory: the number of the segment that has written it last. What is never written costs nothing. */
typedef struct dome_omp_shadow {
    uint32_t *owners;
    uint8_t *values; /* what it has written */
    size_t bytes;
} dome_omp_shadow;

/* NULL, or why there is no memory for it. */
const char *dome__omp_shadow_make(dome_omp_shadow *shadow, size_t bytes);
void dome__omp_shadow_clear(dome_omp_shadow *shadow);
void dome__omp_shadow_free(dome_omp_shadow *shadow);

/* Bytes that another segment had written before, with other values, at the same time. */
typedef void dome_omp_overlap(void *context, size_t first, size_t count, uint32_t earlier);

/* These bytes are nobody's, whoever writes them, or again as all others. */
void dome__omp_shadow_exempt(dome_omp_shadow *shadow, size_t first, size_t count, bool exempt);

/* The segment has changed these bytes: each now has another value than before. */
void dome__omp_writes_note(const dome_omp_writes *writes, dome_omp_shadow *shadow, uint32_t segment, size_t first, size_t count,
                           const void *values, dome_omp_overlap *tell, void *context);

/* Runs of bytes between first and end that one segment of this interval has written. */
typedef void dome_omp_owned(void *context, size_t first, size_t count, uint32_t segment, const uint8_t *values);
void dome__omp_writes_owned(const dome_omp_writes *writes, const dome_omp_shadow *shadow, size_t first, size_t end,
                            dome_omp_owned *visit, void *context);

#endif
