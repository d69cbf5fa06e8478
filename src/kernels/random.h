/* Counter-based random numbers: Philox4x32-10 of J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011. Number p of a sequence is a function of seed and p alone. */
#ifndef DOME_SRC_RANDOM_H
#define DOME_SRC_RANDOM_H

#include <stdint.h>

#define DOME_PHILOX_ROUNDS 10

/* One call of the block cipher: four 32-bit words from a counter and a key. */
static inline void dome__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < DOME_PHILOX_ROUNDS; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* The four words of position p: counter (low word of p, high word of p, 0, 0), key (low word of seed, high word of seed). */
static inline void dome__random_words(uint64_t seed, uint64_t p, uint32_t out[4])
{
    const uint32_t counter[4] = {(uint32_t)p, (uint32_t)(p >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    dome__philox(counter, key, out);
}

/* Conversion of words to values: 64-bit integers are out[0] + 2^32 out[1], shorter ones the low bits of out[0]. A double in [0,
 * 1) is the upper 53 bits of such a 64-bit number, a float the upper 24 of out[0]. Complex values take their imaginary part from
 * out[2] and out[3] (double) or out[1] (float). */
static inline uint64_t dome__random_u64(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static inline double dome__random_f64(uint32_t low, uint32_t high)
{
    return (double)(dome__random_u64(low, high) >> 11) * 0x1p-53;
}

static inline float dome__random_f32(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24f;
}

/* Writes positions first ... first + count - 1 into an array of the type named. Complex types: real and imaginary parts
 * alternate. Inline, so that each variant of the kernels has its own. */
#define DOME_RANDOM_FILL(suffix, ctype, assign)                                                                                  \
    static inline void dome__random_fill_##suffix(ctype *out, uint64_t count, uint64_t seed, uint64_t first)                     \
    {                                                                                                                            \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            uint32_t word[4];                                                                                                    \
            dome__random_words(seed, first + i, word);                                                                           \
            assign;                                                                                                              \
        }                                                                                                                        \
    }
DOME_RANDOM_FILL(u8, uint8_t, out[i] = (uint8_t)word[0])
DOME_RANDOM_FILL(u16, uint16_t, out[i] = (uint16_t)word[0])
DOME_RANDOM_FILL(u32, uint32_t, out[i] = word[0])
DOME_RANDOM_FILL(u64, uint64_t, out[i] = dome__random_u64(word[0], word[1]))
DOME_RANDOM_FILL(f32, float, out[i] = dome__random_f32(word[0]))
DOME_RANDOM_FILL(f64, double, out[i] = dome__random_f64(word[0], word[1]))
DOME_RANDOM_FILL(c64, float, (out[2 * i] = dome__random_f32(word[0]), out[2 * i + 1] = dome__random_f32(word[1])))
DOME_RANDOM_FILL(c128, double,
                 (out[2 * i] = dome__random_f64(word[0], word[1]), out[2 * i + 1] = dome__random_f64(word[2], word[3])))
#undef DOME_RANDOM_FILL

#endif
