#include "kernels/exact_sum.h"

#include "system/words.h"

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

/* Makes limbs of 32 bits of those in use but the last one of the sum. Returns how many there are; *carry is of weight
 * 2^(32 (their number - DOME_EXACT_UNIT)). */
static size_t carry_through(dome_exact_sum *sum, int64_t *carry)
{
    size_t k, end;
    dome__words_in_use(sum->limb, DOME_EXACT_LIMBS - 1, &k, &end);
    int64_t over = 0;
    for (; k < end; k++) {
        int64_t limb = sum->limb[k] + over;
        sum->limb[k] = limb & 0xffffffff;
        over = limb >> 32;
    }
    sum->infinity[0] = sum->infinity[0] != 0;
    sum->infinity[1] = sum->infinity[1] != 0;
    sum->nan = sum->nan != 0;
    sum->pending = 0;
    *carry = over;
    return end;
}

void dome__exact_normalize(dome_exact_sum *sum)
{
    int64_t carry;
    size_t k = carry_through(sum, &carry);
    for (; carry && k < DOME_EXACT_LIMBS - 1; k++) {
        sum->limb[k] = carry & 0xffffffff;
        carry >>= 32;
    }
    sum->limb[DOME_EXACT_LIMBS - 1] += carry;
}

void dome__exact_shorten(dome_exact_sum *sum)
{
    int64_t carry;
    size_t k = carry_through(sum, &carry);
    sum->limb[k] += carry;
    if (sum->limb[DOME_EXACT_LIMBS - 1] < 0)
        k = DOME_EXACT_LIMBS - 1;
    for (; k > 0 && sum->limb[k] == -1 && sum->limb[k - 1] >> 31; k--) {
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

/* The magnitude of a sum as 32-bit digits; the last limb makes two digits. Digits outside of first ... end - 1 are 0 and are not
 * stored. */
typedef struct magnitude {
    size_t first, end;
    bool negative;
    uint32_t digit[DOME_EXACT_LIMBS + 1];
} magnitude;

static void find_magnitude(const dome_exact_sum *sum, magnitude *m)
{
    dome_exact_sum copy;
    if (sum->pending) {
        copy = *sum;
        dome__exact_normalize(&copy);
        sum = &copy;
    }
    dome__words_in_use(sum->limb, DOME_EXACT_LIMBS, &m->first, &m->end);
    /* normalized or shortened: the highest limb has the sign */
    m->negative = m->end && sum->limb[m->end - 1] < 0;
    int64_t carry = 0;
    for (size_t k = m->first; k < m->end; k++) {
        int64_t limb = (m->negative ? -sum->limb[k] : sum->limb[k]) + carry;
        m->digit[k] = (uint32_t)limb;
        carry = limb >> 32;
    }
    if (carry)
        m->digit[m->end++] = (uint32_t)carry;
    while (m->end > m->first && !m->digit[m->end - 1])
        m->end--;
}

static inline uint64_t digit_at(const magnitude *m, size_t k)
{
    return k >= m->first && k < m->end ? m->digit[k] : 0;
}

double dome__exact_round(const dome_exact_sum *sum)
{
    if (sum->nan || (sum->infinity[0] && sum->infinity[1]))
        return NAN;
    if (sum->infinity[0])
        return INFINITY;
    if (sum->infinity[1])
        return -INFINITY;

    magnitude m;
    find_magnitude(sum, &m);
    if (m.first == m.end)
        return 0.0;

    const int top = 32 * (int)m.end - 1 - __builtin_clz(m.digit[m.end - 1]);
    const int low = top - 52 > DOME_EXACT_FIRST_BIT ? top - 52 : DOME_EXACT_FIRST_BIT; /* the lowest bit that the result keeps */
    const size_t word = (size_t)low / 32, shift = (size_t)low % 32;
    uint64_t mantissa = (digit_at(&m, word) | digit_at(&m, word + 1) << 32) >> shift;
    if (shift)
        mantissa |= digit_at(&m, word + 2) << (64 - shift);
    mantissa &= ((uint64_t)1 << (top - low + 1)) - 1;
    if (low > DOME_EXACT_FIRST_BIT) {
        const size_t next = (size_t)(low - 1) / 32;
        const uint64_t half = (uint64_t)1 << (low - 1) % 32, digit = digit_at(&m, next);
        bool more = mantissa & 1 || digit & (half - 1);
        for (size_t k = m.first; !more && k < next; k++)
            more = m.digit[k];
        mantissa += digit & half && more;
    }
    double value = ldexp((double)mantissa, low - UNIT_BIT);
    return m.negative ? -value : value;
}

dome_exact_pair dome__exact_pair_of(const dome_exact_sum *sum)
{
    dome_exact_sum left = *sum;
    dome_exact_pair pair = DOME_EXACT_PAIR_ZERO;
    pair.sum = dome__exact_round(&left);
    dome__exact_add(&left, -pair.sum);
    pair.rest = dome__exact_round(&left);
    dome__exact_add(&left, -pair.rest);
    pair.exact = pair.exact && dome__exact_round(&left) == 0;
    return pair;
}

double dome__exact_total(const double *value, size_t count)
{
    dome_exact_sum sum;
    dome_exact_pair pair = DOME_EXACT_PAIR_ZERO;
    if (count == 2 && pair.exact)
        return value[0] + value[1] + 0.0; /* not -0 */
    for (size_t k = 0; k < count; k++)
        dome__exact_pair_add(&pair, value[k]);
    if (pair.exact)
        return pair.sum + pair.rest;
    dome__exact_init(&sum);
    for (size_t k = 0; k < count; k++)
        dome__exact_add(&sum, value[k]);
    return dome__exact_round(&sum);
}

bool dome__exact_i64(const dome_exact_sum *sum, int64_t *value)
{
    if (sum->nan || sum->infinity[0] || sum->infinity[1])
        return false;
    magnitude m;
    find_magnitude(sum, &m);
    if (m.first < m.end && (m.first < DOME_EXACT_UNIT || m.end > DOME_EXACT_UNIT + 2))
        return false;
    uint64_t size = digit_at(&m, DOME_EXACT_UNIT + 1) << 32 | digit_at(&m, DOME_EXACT_UNIT);
    if (size > (uint64_t)INT64_MAX + m.negative)
        return false;
    *value = m.negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}
