/* Wall time, monotonic. */
#ifndef DOME_SRC_TIME_H
#define DOME_SRC_TIME_H

#include <stdint.h>

uint64_t dome__now_ns(void);

/* Nanoseconds since `begin`; 0 if the clock has jumped back. */
uint64_t dome__since_ns(uint64_t begin);

#endif
