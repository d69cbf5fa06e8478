/* Loops of reductions along an axis: results that stand side by side, each of which takes one value of a row, or one result that
 * takes values which stand side by side. */
#ifndef DOME_SRC_ALONG_H
#define DOME_SRC_ALONG_H

#include "kernels/exact_sum.h"

#include <dome/type.h>

typedef enum dome_along {
    DOME_ALONG_SUM,   /* of doubles, exactly: first: double, second: what its roundings have lost */
    DOME_ALONG_COUNT, /* sums of integers, modulo 2^64: first: uint64_t */
    DOME_ALONG_PRODUCT,
    DOME_ALONG_LEAST, /* first: the value's type */
    DOME_ALONG_MOST,
    DOME_ALONG_FIRST_LEAST, /* first: the value, second: its position as int64_t, -1: none yet */
    DOME_ALONG_FIRST_MOST,
    DOME_ALONG_ANY, /* first: uint8_t */
    DOME_ALONG_ALL,
    DOME_ALONGS
} dome_along;

/* Results that are not complete yet. */
typedef struct dome_along_state {
    void *first, *second; /* an array each; NULL: there is none */
} dome_along_state;

/* The types of the two arrays; NULL: there is none. */
dome_type dome__along_first(dome_along what, dome_type type);
dome_type dome__along_second(dome_along what);

/* Sets results to those of no values. */
void dome__along_begin(dome_along what, dome_type type, const dome_along_state *s, uint64_t count);

/* Results at, at + 1, ... take one value each, all of position j. Returns whether a sum is no longer exact. */
typedef bool (*dome_along_kernel)(const dome_along_state *s, uint64_t at, const void *values, uint64_t count, int64_t j);

/* NULL: the type has no such reduction. */
dome_along_kernel dome__along_rows(dome_along what, dome_type type);

/* Result number `at` takes `count` values, which have positions j, j + 1, ... */
dome_along_kernel dome__along_run(dome_along what, dome_type type);

/* Results at, at + 1, ... take results of values behind theirs. */
bool dome__along_merge(dome_along what, dome_type type, const dome_along_state *s, uint64_t at, const dome_along_state *from,
                       uint64_t from_at, uint64_t count);

/* The exact sum of `count` doubles or floats that stand `stride` values apart. */
double dome__along_exact(dome_type type, const void *values, uint64_t count, uint64_t stride);

#endif
