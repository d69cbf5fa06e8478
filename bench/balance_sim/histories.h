#ifndef DOME_BENCH_HISTORIES_H
#define DOME_BENCH_HISTORIES_H

#include <stdbool.h>
#include <stdint.h>

/* Prints how long policies take for so many random histories, over the best schedule. each: and a line for each history. */
void compare_histories(int histories, uint32_t seed, bool each);

#endif
