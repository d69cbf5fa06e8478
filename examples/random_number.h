/* The random numbers of dvec_random, for sequential programs that must give the same results. */
#ifndef RANDOM_NUMBER_H
#define RANDOM_NUMBER_H

#include <stdint.h>

/* The number in [0, 1) that dvec_random gives for a position: Philox4x32-10. */
double random_number(uint64_t seed, uint64_t position);

#endif
