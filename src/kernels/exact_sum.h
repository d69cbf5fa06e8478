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

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DOME_EXACT_LIMBS 68
#define DOME_EXACT_UNIT  34 /* the limb whose lowest bit weighs 1 */

typedef struct dome_exact_sum {
    int64_t limb[DOME_EXACT_LIMBS]; /* limb k weighs 2^(32 (k - DOME_EXACT_UNIT)); normalized: 32 bits, the last one signed */
    int64_t infinity[2];            /* positive, negative infinities added; normalized: 0 or 1 */
    int64_t nan;
    int64_t pending; /* additions since the carries were last propagated have changed each limb by at most 2^33 times this */
} dome_exact_sum;

#define DOME_EXACT_WORDS (sizeof(dome_exact_sum) / sizeof(int64_t))

void dome__exact_init(dome_exact_sum *sum); /* 0 */

void dome__exact_normalize(dome_exact_sum *sum);

/* The most that these functions let `pending` become, so that a limb of 63 bits does not overflow. */
#define DOME_EXACT_PENDING_MAX ((int64_t)1 << 29)
static inline void dome__exact_count(dome_exact_sum *sum, int64_t change)
{
    if ((sum->pending += change) >= DOME_EXACT_PENDING_MAX)
        dome__exact_normalize(sum);
}

/* The position of the bit of the smallest subnormal, 2^-1074. */
#define DOME_EXACT_FIRST_BIT (32 * DOME_EXACT_UNIT - 1074)

void dome__exact_add_special(dome_exact_sum *sum, double value); /* infinite or NaN */

/* sum += value, which may be infinite or NaN. */
static inline void dome__exact_add(dome_exact_sum *sum, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    const unsigned exponent = (unsigned)(bits >> 52) & 0x7ff;
    if (exponent == 0x7ff) {
        dome__exact_add_special(sum, value);
        return;
    }
    mantissa |= (uint64_t)(exponent != 0) << 52;
    const unsigned bit = exponent - (exponent != 0) + DOME_EXACT_FIRST_BIT, shift = bit % 32;
    const int64_t sign = (int64_t)bits >> 63; /* -1 or 0 */
    int64_t *limb = sum->limb + bit / 32;
    /* 53 bits that begin in the lower limb: bits beyond its 32 go to the higher one, and are below 2^53 */
    limb[0] += ((int64_t)(mantissa << shift & 0xffffffff) ^ sign) - sign;
    limb[1] += ((int64_t)(mantissa >> (32 - shift)) ^ sign) - sign;
    dome__exact_count(sum, (int64_t)1 << 20);
}

/* sum += value * 2^(32 words), for words 0 ... 16. */
void dome__exact_add_i64(dome_exact_sum *sum, int64_t value, int words);
void dome__exact_add_u64(dome_exact_sum *sum, uint64_t value, int words);

/* sum += other. */
void dome__exact_merge(dome_exact_sum *sum, const dome_exact_sum *other);

/* Changes the representation to one with as few non-zero words as possible: a negative sum ends in a negative limb. Such sums may
 * be added word by word like normalized ones. */
void dome__exact_shorten(dome_exact_sum *sum);

/* A sum as two doubles: the first addend of the pair is their sum, rounded, the second what the roundings have lost. It is exact
 * as long as nothing is lost of the latter (D. Knuth, "The art of computer programming" 2, section 4.2.2, theorem B), and then
 * the nearest double to it is the sum of the two. Most sums of some thousand values are. */
typedef struct dome_exact_pair {
    double sum, rest;
    bool exact;
} dome_exact_pair;

#define DOME_EXACT_PAIR_ZERO ((dome_exact_pair){0, 0, FLT_EVAL_METHOD == 0})

static inline void dome__exact_pair_add(dome_exact_pair *pair, double value)
{
    const double sum = pair->sum + value, part = sum - pair->sum, lost = (pair->sum - (sum - part)) + (value - part);
    const double rest = pair->rest + lost, more = rest - pair->rest;
    pair->exact = pair->exact && (pair->rest - (rest - more)) + (lost - more) == 0; /* not if something is infinite or NaN */
    pair->sum = sum;
    pair->rest = rest;
}

/* The pair of a sum, if there is one. */
dome_exact_pair dome__exact_pair_of(const dome_exact_sum *sum);

/* The nearest double to a sum, ties to even; nothing may have been added word by word since it was normalized or shortened. 0 is
 * +0. Sums beyond the largest double are infinite; infinities of both signs give NaN. */
double dome__exact_round(const dome_exact_sum *sum);

/* The same of some doubles that are added up for it. */
double dome__exact_total(const double value[], size_t count);

/* Whether the sum is an integer that fits into an int64_t; if so stores it. */
bool dome__exact_i64(const dome_exact_sum *sum, int64_t *value);

#endif
