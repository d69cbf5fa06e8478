/* Normal random numbers: the inverse of the normal distribution function at uniform ones. The rational approximations are those
 * of M. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37 (1988), 477-484:
 * their relative error is about 1e-16. Nothing but + - * / and sqrt is used, each rounded once, so the bits are the same on all
 * machines; the logarithm of the tails is computed here for the same reason. */
#ifndef DOME_SRC_NORMAL_H
#define DOME_SRC_NORMAL_H

#include "kernels/kernels.h"
#include "kernels/random.h"

#include <math.h>
#include <string.h>

/* c[0] + c[1] r + ... + c[7] r^7. */
static inline double dome__normal_polynomial(const double c[8], double r)
{
    double sum = c[7];
    for (int k = 6; k >= 0; k--)
        sum = DOME_ROUNDED(sum * r) + c[k];
    return sum;
}

/* -log(p) for 0 < p < 1, normalized: p = 2^e m with m between the roots of 1/2 and 2, and log m is twice the area tangent of
 * s = (m - 1) / (m + 1), whose series ends below the last bit after 11 terms. */
static inline double dome__normal_minus_log(double p)
{
    static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33; /* high: e times it is exact */
    uint64_t bits;
    memcpy(&bits, &p, sizeof bits);
    int e = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffff) | 0x3ff0000000000000;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m /= 2;
        e++;
    }
    const double s = (m - 1) / (m + 1), t = s * s;
    double sum = 1.0 / 21;
    for (int k = 19; k >= 1; k -= 2)
        sum = DOME_ROUNDED(sum * t) + 1.0 / k;
    return -(DOME_ROUNDED(e * ln2_high) + (DOME_ROUNDED(2 * s * sum) + DOME_ROUNDED(e * ln2_low)));
}

/* Where q = p - 1/2 is at most 0.425. */
static inline double dome__normal_middle(double q)
{
    static const double a[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                3.3430575583588128105e4, 2.5090809287301226727e3};
    static const double b[8] = {1,
                                4.2313330701600911252e1,
                                6.8718700749205790830e2,
                                5.3941960214247511077e3,
                                2.1213794301586595867e4,
                                3.9307895800092710610e4,
                                2.8729085735721942674e4,
                                5.2264952788528545610e3};
    const double r = 0.180625 - DOME_ROUNDED(q * q);
    return q * dome__normal_polynomial(a, r) / dome__normal_polynomial(b, r);
}

/* For p below 0.075. */
static inline double dome__normal_tail(double p)
{
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    const double r = sqrt(dome__normal_minus_log(p));
    if (r <= 5)
        return -dome__normal_polynomial(c, r - 1.6) / dome__normal_polynomial(d, r - 1.6);
    return -dome__normal_polynomial(e, r - 5) / dome__normal_polynomial(f, r - 5);
}

/* 64 random bits as a probability in (0, 1/2], and the sign of the number: the last bit. */
static inline double dome__normal_probability(uint64_t bits)
{
    return (double)(bits | 1) * 0x1p-65;
}

static inline double dome__normal_f64(uint64_t bits)
{
    const double p = dome__normal_probability(bits);
    const double z = p < 0.075 ? dome__normal_tail(p) : dome__normal_middle(p - 0.5);
    return bits & 1 ? -z : z;
}

/* The words of position p, others than those of dome__random_words: with one seed, normal and uniform numbers are independent. */
static inline void dome__normal_words(uint64_t seed, uint64_t p, uint64_t bits[2])
{
    const uint32_t counter[4] = {(uint32_t)p, (uint32_t)(p >> 32), 1, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t word[4];
    dome__philox(counter, key, word);
    bits[0] = dome__random_u64(word[0], word[1]);
    bits[1] = dome__random_u64(word[2], word[3]);
}

/* As dome__random_fill_f64, ...: positions first ... first + count - 1. The numbers in the middle are computed by loops that
 * compilers turn into vector instructions, and those in the tails (15 of 100) one by one. Complex: both parts of a position. */
enum { DOME_NORMAL_PIECE = 64 };
#define DOME_NORMAL_FILL(suffix, ctype, parts)                                                                                   \
    static inline void dome__normal_fill_##suffix(ctype *out, uint64_t count, uint64_t seed, uint64_t first)                     \
    {                                                                                                                            \
        uint64_t bits[2 * DOME_NORMAL_PIECE];                                                                                    \
        double p[2 * DOME_NORMAL_PIECE], z[2 * DOME_NORMAL_PIECE];                                                               \
        for (uint64_t done = 0; done < count; done += DOME_NORMAL_PIECE) {                                                       \
            const uint64_t here = count - done < DOME_NORMAL_PIECE ? count - done : DOME_NORMAL_PIECE;                           \
            for (uint64_t i = 0; i < here; i++) {                                                                                \
                uint64_t both[2];                                                                                                \
                dome__normal_words(seed, first + done + i, both);                                                                \
                for (int part = 0; part < (parts); part++)                                                                       \
                    bits[(parts)*i + part] = both[part];                                                                         \
            }                                                                                                                    \
            for (uint64_t i = 0; i < (parts)*here; i++) {                                                                        \
                p[i] = dome__normal_probability(bits[i]);                                                                        \
                z[i] = dome__normal_middle(p[i] - 0.5);                                                                          \
            }                                                                                                                    \
            for (uint64_t i = 0; i < (parts)*here; i++)                                                                          \
                if (p[i] < 0.075)                                                                                                \
                    z[i] = dome__normal_tail(p[i]);                                                                              \
            for (uint64_t i = 0; i < (parts)*here; i++)                                                                          \
                out[(parts)*done + i] = (ctype)(bits[i] & 1 ? -z[i] : z[i]);                                                     \
        }                                                                                                                        \
    }
DOME_NORMAL_FILL(f32, float, 1)
DOME_NORMAL_FILL(f64, double, 1)
DOME_NORMAL_FILL(c64, float, 2)
DOME_NORMAL_FILL(c128, double, 2)
#undef DOME_NORMAL_FILL

#endif
