#include "objects/random.h"

#define FILL(suffix, ctype, assign)                                                                                              \
    void dome__random_fill_##suffix(ctype *out, uint64_t count, uint64_t seed, uint64_t first)                                   \
    {                                                                                                                            \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            uint32_t word[4];                                                                                                    \
            dome__random_words(seed, first + i, word);                                                                           \
            assign;                                                                                                              \
        }                                                                                                                        \
    }

FILL(u8, uint8_t, out[i] = (uint8_t)word[0])
FILL(u16, uint16_t, out[i] = (uint16_t)word[0])
FILL(u32, uint32_t, out[i] = word[0])
FILL(u64, uint64_t, out[i] = dome__random_u64(word[0], word[1]))
FILL(f32, float, out[i] = dome__random_f32(word[0]))
FILL(f64, double, out[i] = dome__random_f64(word[0], word[1]))
FILL(c64, float, (out[2 * i] = dome__random_f32(word[0]), out[2 * i + 1] = dome__random_f32(word[1])))
FILL(c128, double, (out[2 * i] = dome__random_f64(word[0], word[1]), out[2 * i + 1] = dome__random_f64(word[2], word[3])))
