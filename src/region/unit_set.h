/* Sets of members of a program, or of tasks of a member, by their numbers. */
#ifndef DOME_SRC_UNIT_SET_H
#define DOME_SRC_UNIT_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { DOME_UNIT_MOST = 256, DOME_UNIT_WORDS = DOME_UNIT_MOST / 64 };

typedef struct dome_unit_set {
    uint64_t words[DOME_UNIT_WORDS];
} dome_unit_set;

static inline uint64_t dome__unit_set_bit(unsigned k)
{
    return UINT64_C(1) << (k % 64);
}

static inline bool dome__unit_set_has(const dome_unit_set *set, unsigned k)
{
    return set->words[k / 64] & dome__unit_set_bit(k);
}

static inline void dome__unit_set_add(dome_unit_set *set, unsigned k)
{
    set->words[k / 64] |= dome__unit_set_bit(k);
}

static inline void dome__unit_set_remove(dome_unit_set *set, unsigned k)
{
    set->words[k / 64] &= ~dome__unit_set_bit(k);
}

static inline dome_unit_set dome__unit_set_of(unsigned k)
{
    dome_unit_set set = {{0}};
    dome__unit_set_add(&set, k);
    return set;
}

static inline unsigned dome__unit_set_count(const dome_unit_set *set)
{
    unsigned n = 0;
    for (int w = 0; w < DOME_UNIT_WORDS; w++)
        n += (unsigned)__builtin_popcountll(set->words[w]);
    return n;
}

/* The first that is not below `from`; -1: there is none. */
static inline int dome__unit_set_next(const dome_unit_set *set, unsigned from)
{
    uint64_t mask = ~UINT64_C(0) << (from % 64);
    for (unsigned w = from / 64; w < DOME_UNIT_WORDS; w++, mask = ~UINT64_C(0))
        if (set->words[w] & mask)
            return (int)(64 * w) + __builtin_ctzll(set->words[w] & mask);
    return -1;
}

static inline bool dome__unit_set_is_empty(const dome_unit_set *set)
{
    return dome__unit_set_next(set, 0) < 0;
}

#endif
