/* Exact sums by school arithmetic, as a reference for the library: two magnitudes (of the positive and of the negative terms)
 * with digits of base 65536, subtracted and rounded at the end. Shares no code with src/kernels/exact_sum.c. */
#ifndef DOME_TESTS_REFERENCE_SUM_H
#define DOME_TESTS_REFERENCE_SUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REFERENCE_DIGITS 152
#define REFERENCE_POINT  70 /* digit whose lowest bit weighs 1 */

typedef struct reference_sum {
    uint16_t size[2][REFERENCE_DIGITS];
    bool infinity[2], nan;
} reference_sum;

/* sum += sign * whole * 2^power, power >= -1074. */
static inline void reference_add_scaled(reference_sum *sum, bool negative, uint64_t whole, int power)
{
    int bit = 16 * REFERENCE_POINT + power;
    uint16_t *digit = sum->size[negative];
    for (int k = 0; k < 64; k++) {
        if (!(whole >> k & 1))
            continue;
        int place = (bit + k) / 16;
        uint32_t carry = (uint32_t)1 << (bit + k) % 16;
        while (carry) {
            carry += digit[place];
            digit[place++] = (uint16_t)carry;
            carry >>= 16;
        }
    }
}

static inline void reference_add(reference_sum *sum, double value)
{
    if (isnan(value)) {
        sum->nan = true;
    } else if (isinf(value)) {
        sum->infinity[value < 0] = true;
    } else if (value != 0) {
        int exponent;
        double fraction = frexp(fabs(value), &exponent);
        int power = exponent - 53 < -1074 ? -1074 : exponent - 53;
        reference_add_scaled(sum, value < 0, (uint64_t)ldexp(fraction, exponent - power), power);
    }
}

/* sum += x * y for integers of 64 bits given as sign and magnitude. */
static inline void reference_add_product(reference_sum *sum, bool xs, uint64_t x, bool ys, uint64_t y)
{
    for (int k = 0; k < 64; k++)
        if (y >> k & 1)
            reference_add_scaled(sum, xs != ys, x, k);
}

/* The difference of the two magnitudes; returns whether it is negative. */
static inline bool reference_difference(const reference_sum *sum, uint16_t digit[REFERENCE_DIGITS])
{
    bool negative = false;
    for (int k = REFERENCE_DIGITS - 1; k >= 0; k--)
        if (sum->size[0][k] != sum->size[1][k]) {
            negative = sum->size[0][k] < sum->size[1][k];
            break;
        }
    int32_t borrow = 0;
    for (int k = 0; k < REFERENCE_DIGITS; k++) {
        int32_t d = (int32_t)sum->size[negative][k] - sum->size[!negative][k] - borrow;
        borrow = d < 0;
        digit[k] = (uint16_t)(d + (borrow << 16));
    }
    return negative;
}

static inline double reference_round(const reference_sum *sum)
{
    if (sum->nan || (sum->infinity[0] && sum->infinity[1]))
        return NAN;
    if (sum->infinity[0] || sum->infinity[1])
        return sum->infinity[0] ? INFINITY : -INFINITY;

    uint16_t digit[REFERENCE_DIGITS];
    bool negative = reference_difference(sum, digit);
    int top = 16 * REFERENCE_DIGITS - 1;
    while (top >= 0 && !(digit[top / 16] >> top % 16 & 1))
        top--;
    if (top < 0)
        return 0;
    int power = top - 16 * REFERENCE_POINT - 52; /* exponent of the weight of the last bit kept */
    if (power < -1074)
        power = -1074;
    double whole = 0, rest = 0, weight = 0.5;
    for (int bit = top; bit >= 0; bit--) {
        bool one = digit[bit / 16] >> bit % 16 & 1;
        if (bit - 16 * REFERENCE_POINT >= power) {
            whole = 2 * whole + one;
        } else {
            if (one)
                rest = rest == 0.5 && weight < 0.5 ? 0.75 : rest == 0 ? (weight == 0.5 ? 0.5 : 0.25) : rest;
            weight = weight == 0.5 ? 0.25 : weight;
        }
    }
    if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1))
        whole += 1;
    whole = ldexp(whole, power);
    return negative ? -whole : whole;
}

/* Whether the sum is an integer of 64 bits with sign. */
static inline bool reference_i64(const reference_sum *sum, int64_t *value)
{
    uint16_t digit[REFERENCE_DIGITS];
    bool negative = reference_difference(sum, digit);
    uint64_t size = 0;
    for (int k = 0; k < REFERENCE_DIGITS; k++) {
        if (k >= REFERENCE_POINT && k < REFERENCE_POINT + 4)
            size |= (uint64_t)digit[k] << 16 * (k - REFERENCE_POINT);
        else if (digit[k])
            return false;
    }
    if (size > (uint64_t)INT64_MAX + negative)
        return false;
    *value = (int64_t)(negative ? 0 - size : size);
    return true;
}

#endif
