#include "kernels/exact_sum.h"

#include <math.h>
#include <string.h>

/* Bits below weight 1. */
#define UNIT_BIT (32 * DOME_EXACT_UNIT)

void dome__exact_init(dome_exact_sum *sum)
{
    memset(sum, 0, sizeof *sum);
}

void dome__exact_add_special(dome_exact_sum *sum, double value)
{
    if (value != value)
        sum->nan = 1;
    else
        sum->infinity[value < 0] = 1;
}

void dome__exact_add_u64(dome_exact_sum *sum, uint64_t value, int words)
{
    int64_t *limb = sum->limb + DOME_EXACT_UNIT + words;
    limb[0] += (int64_t)(value & 0xffffffff);
    limb[1] += (int64_t)(value >> 32);
    dome__exact_count(sum, 1);
}

void dome__exact_add_i64(dome_exact_sum *sum, int64_t value, int words)
{
    int64_t *limb = sum->limb + DOME_EXACT_UNIT + words;
    limb[0] += value & 0xffffffff;
    limb[1] += value >> 32;
    dome__exact_count(sum, 1);
}

void dome__exact_normalize(dome_exact_sum *sum)
{
    int last = DOME_EXACT_LIMBS - 2, k = 0;
    while (last >= 0 && !sum->limb[last])
        last--;
    while (k < last && !sum->limb[k])
        k++;
    int64_t carry = 0;
    for (; k <= last || (carry && k < DOME_EXACT_LIMBS - 1); k++) {
        int64_t limb = sum->limb[k] + carry;
        sum->limb[k] = limb & 0xffffffff;
        carry = limb >> 32;
    }
    sum->limb[DOME_EXACT_LIMBS - 1] += carry;
    sum->infinity[0] = sum->infinity[0] != 0;
    sum->infinity[1] = sum->infinity[1] != 0;
    sum->nan = sum->nan != 0;
    sum->pending = 0;
}

void dome__exact_shorten(dome_exact_sum *sum)
{
    dome__exact_normalize(sum);
    for (int k = DOME_EXACT_LIMBS - 1; k > 0 && sum->limb[k] == -1 && sum->limb[k - 1] >> 31; k--) {
        sum->limb[k] = 0;
        sum->limb[k - 1] -= (int64_t)1 << 32;
    }
}

void dome__exact_merge(dome_exact_sum *sum, const dome_exact_sum *other)
{
    dome_exact_sum term = *other;
    dome__exact_normalize(&term);
    dome__exact_normalize(sum);
    int64_t *to = (int64_t *)sum;
    const int64_t *from = (const int64_t *)&term;
    for (size_t k = 0; k < DOME_EXACT_WORDS; k++)
        to[k] += from[k];
    dome__exact_normalize(sum);
}

/* The magnitude of a sum as 32-bit digits; the last limb makes two digits. */
#define DIGITS (DOME_EXACT_LIMBS + 1)

static bool magnitude(const dome_exact_sum *sum, uint32_t digit[DIGITS])
{
    dome_exact_sum copy = *sum;
    if (copy.pending)
        dome__exact_normalize(&copy);
    bool negative = copy.limb[DOME_EXACT_LIMBS - 1] < 0;
    if (negative) {
        for (int k = 0; k < DOME_EXACT_LIMBS; k++)
            copy.limb[k] = -copy.limb[k];
        dome__exact_normalize(&copy);
    }
    for (int k = 0; k < DOME_EXACT_LIMBS; k++)
        digit[k] = (uint32_t)copy.limb[k];
    digit[DOME_EXACT_LIMBS] = (uint32_t)((uint64_t)copy.limb[DOME_EXACT_LIMBS - 1] >> 32);
    return negative;
}

static int top_bit(const uint32_t digit[DIGITS])
{
    for (int k = DIGITS - 1; k >= 0; k--)
        if (digit[k])
            return 32 * k + 31 - __builtin_clz(digit[k]);
    return -1;
}

static inline unsigned bit_at(const uint32_t digit[DIGITS], int bit)
{
    return digit[bit / 32] >> bit % 32 & 1;
}

double dome__exact_round(const dome_exact_sum *sum)
{
    if (sum->nan || (sum->infinity[0] && sum->infinity[1]))
        return NAN;
    if (sum->infinity[0])
        return INFINITY;
    if (sum->infinity[1])
        return -INFINITY;

    uint32_t digit[DIGITS];
    bool negative = magnitude(sum, digit);
    int top = top_bit(digit);
    if (top < 0)
        return 0.0;

    int low = top - 52 > DOME_EXACT_FIRST_BIT ? top - 52 : DOME_EXACT_FIRST_BIT; /* the lowest bit that the result keeps */
    int word = low / 32, shift = low % 32;
    uint64_t mantissa = digit[word];
    if (word + 1 < DIGITS)
        mantissa |= (uint64_t)digit[word + 1] << 32;
    mantissa >>= shift;
    if (shift && word + 2 < DIGITS)
        mantissa |= (uint64_t)digit[word + 2] << (64 - shift);
    mantissa &= ((uint64_t)1 << (top - low + 1)) - 1;
    if (low > DOME_EXACT_FIRST_BIT && bit_at(digit, low - 1)) {
        bool more = mantissa & 1 || digit[(low - 1) / 32] & (((uint32_t)1 << (low - 1) % 32) - 1);
        for (int k = (low - 1) / 32; !more && k-- > 0;)
            more = digit[k];
        mantissa += more;
    }
    double value = ldexp((double)mantissa, low - UNIT_BIT);
    return negative ? -value : value;
}

bool dome__exact_i64(const dome_exact_sum *sum, int64_t *value)
{
    if (sum->nan || sum->infinity[0] || sum->infinity[1])
        return false;
    uint32_t digit[DIGITS];
    bool negative = magnitude(sum, digit);
    for (int k = 0; k < DIGITS; k++)
        if (digit[k] && (k < DOME_EXACT_UNIT || k > DOME_EXACT_UNIT + 1))
            return false;
    uint64_t size = (uint64_t)digit[DOME_EXACT_UNIT + 1] << 32 | digit[DOME_EXACT_UNIT];
    if (size > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}
