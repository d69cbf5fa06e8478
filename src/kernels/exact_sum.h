/* Exact sums: a superaccumulator.
 *
 * Holds the sum of any number of doubles and integers as one fixed-point number wide enough for every finite double, so that
 * adding never rounds and the order of additions does not matter. The idea is Kulisch's; U. Kulisch, "Computer arithmetic and
 * validity", 2008, chapter 8.
 *
 * All members are int64_t, so that a sum travels as DOME_EXACT_WORDS elements of DOME_I64. After dome__exact_normalize a
 * value has one representation only, and normalized sums may be added word by word (dome__combine_sum_i64, for up to 2^30 of
 * them) and normalized again: that is how they are merged between tasks. */
#ifndef DOME_SRC_EXACT_SUM_H
#define DOME_SRC_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

#define DOME_EXACT_LIMBS 68
#define DOME_EXACT_UNIT  34 /* the limb whose lowest bit weighs 1 */

typedef struct dome_exact_sum {
    int64_t limb[DOME_EXACT_LIMBS]; /* limb k weighs 2^(32 (k - DOME_EXACT_UNIT)); normalized: 32 bits, the last one signed */
    int64_t infinity[2];            /* positive, negative infinities added; normalized: 0 or 1 */
    int64_t nan;
    int64_t pending; /* additions since the carries were last propagated */
} dome_exact_sum;

#define DOME_EXACT_WORDS (sizeof(dome_exact_sum) / sizeof(int64_t))

void dome__exact_init(dome_exact_sum *sum); /* 0 */

/* sum += value, which may be infinite or NaN. */
void dome__exact_add(dome_exact_sum *sum, double value);

/* sum += value * 2^(32 words), for words 0 ... 16. */
void dome__exact_add_i64(dome_exact_sum *sum, int64_t value, int words);
void dome__exact_add_u64(dome_exact_sum *sum, uint64_t value, int words);

/* sum += other. */
void dome__exact_merge(dome_exact_sum *sum, const dome_exact_sum *other);

void dome__exact_normalize(dome_exact_sum *sum);

/* The nearest double, ties to even. 0 is +0. Sums beyond the largest double are infinite; infinities of both signs make NaN. */
double dome__exact_round(const dome_exact_sum *sum);

/* Whether the sum is an integer that an int64_t holds; if so stores it. */
bool dome__exact_i64(const dome_exact_sum *sum, int64_t *value);

#endif
