/* Wall time, monotonic. */
#ifndef DOME_SRC_TIME_H
#define DOME_SRC_TIME_H

#include <stdint.h>
#include <time.h>

uint64_t dome__now_ns(void);
double dome__now(void); /* s */

/* So many nanoseconds from now, by CLOCK_MONOTONIC, as waits of the system take it. */
struct timespec dome__in_ns(uint64_t ns);

/* Nanoseconds since `begin`; 0 if the clock has jumped back. */
uint64_t dome__since_ns(uint64_t begin);

/* A clock of the time in which its reader could run, s. While a process is stopped, or its machine stands still, it hears
 * nothing, so the silence of that time does not show that others are gone. Silence is judged by this clock: for a reader that
 * runs it is wall time, and a gap in which it did not run is a moment. Each reading after a gap counts, so a reader that is
 * stopped again and again judges later, but it does judge. */
typedef struct dome_awake {
    double now;  /* its time */
    double real; /* wall time of the last reading */
} dome_awake;

/* Begins at that wall time, s. */
dome_awake dome__awake_from(double real);

/* Its time at a wall time. most: what counts of a gap between two readings; a reader that runs reads it more often than that. */
double dome__awake_read(dome_awake *awake, double real, double most);

#endif
