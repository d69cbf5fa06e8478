/* For test programs: numbers that follow from their position, so that every task knows those of all. */
#ifndef DOME_TESTS_NUMBERS_H
#define DOME_TESTS_NUMBERS_H

#include "checked.h"

static inline uint64_t mixed(uint64_t k)
{
    k = (k + 1) * 0x9e3779b97f4a7c15u;
    return k ^ k >> 29;
}

static inline double number(uint64_t k)
{
    return (double)(int64_t)(mixed(k) >> 40) / 1024 - 8000;
}

/* x[i] = number(i) */
static inline void set_numbers(dvec *x)
{
    dvec_span span[2];
    CHECK(dvec_local_spans(x, span) == DOME_OK);
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < span[s].count; j++)
            ((double *)span[s].data)[j] = number(span[s].first + j);
}

#endif
