/* Comparing, packing and unpacking groups of units, for each kind of processor. */
#include "delta/delta_private.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X86
#endif

#define ARGUMENTS const uint8_t *a, const uint8_t *b

/* ---- any processor ---- */

static bool always(void)
{
    return true;
}

static size_t equal_portable(ARGUMENTS, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && memcmp(a + at, b + at, DOME_DELTA_STEP) == 0)
        at += DOME_DELTA_STEP;
    return at;
}

/* Few units are copied one by one. Of many, each unit is stored, and only those of the mask are kept: no branch depends on the
 * data. */
enum { FEW = 12 };

#define PORTABLE(bits)                                                                                                           \
    static uint64_t differ_##bits(ARGUMENTS)                                                                                     \
    {                                                                                                                            \
        uint##bits##_t x[DOME_DELTA_GROUP], y[DOME_DELTA_GROUP];                                                                 \
        uint64_t mask = 0;                                                                                                       \
        memcpy(x, a, sizeof x);                                                                                                  \
        memcpy(y, b, sizeof y);                                                                                                  \
        for (unsigned k = 0; k < DOME_DELTA_GROUP; k++)                                                                          \
            mask |= (uint64_t)(x[k] != y[k]) << k;                                                                               \
        return mask;                                                                                                             \
    }                                                                                                                            \
    static uint8_t *pack_##bits(uint8_t *to, const uint8_t *group, uint64_t mask)                                                \
    {                                                                                                                            \
        const size_t unit = sizeof(uint##bits##_t);                                                                              \
        if (dome__delta_bits(mask) <= FEW) {                                                                                     \
            for (; mask; mask &= mask - 1, to += unit)                                                                           \
                memcpy(to, group + (size_t)__builtin_ctzll(mask) * unit, unit);                                                  \
            return to;                                                                                                           \
        }                                                                                                                        \
        for (unsigned k = 0; k < DOME_DELTA_GROUP; k++, group += unit, mask >>= 1) {                                             \
            memcpy(to, group, unit);                                                                                             \
            to += mask & 1 ? unit : 0;                                                                                           \
        }                                                                                                                        \
        return to;                                                                                                               \
    }                                                                                                                            \
    static const uint8_t *unpack_##bits(uint8_t *group, const uint8_t *from, uint64_t mask)                                      \
    {                                                                                                                            \
        const size_t unit = sizeof(uint##bits##_t);                                                                              \
        for (; mask; mask &= mask - 1, from += unit)                                                                             \
            memcpy(group + (size_t)__builtin_ctzll(mask) * unit, from, unit);                                                    \
        return from;                                                                                                             \
    }

PORTABLE(8)
PORTABLE(16)
PORTABLE(32)
PORTABLE(64)

#define TABLE(f, s)                                                                                                              \
    {                                                                                                                            \
        f##_8##s, f##_16##s, f##_32##s, f##_64##s                                                                                \
    }

/* ---- x86-64: SSE2, which each has; AVX2; AVX-512 ---- */

#ifdef X86
#define SSE2(v) _mm_loadu_si128((const __m128i *)(v))

static inline bool same_sse2(ARGUMENTS)
{
    for (unsigned at = 0; at < DOME_DELTA_STEP; at += 64) {
        __m128i x = _mm_cmpeq_epi8(SSE2(a + at), SSE2(b + at)), y = _mm_cmpeq_epi8(SSE2(a + at + 16), SSE2(b + at + 16));
        __m128i z = _mm_cmpeq_epi8(SSE2(a + at + 32), SSE2(b + at + 32)),
                u = _mm_cmpeq_epi8(SSE2(a + at + 48), SSE2(b + at + 48));
        if (_mm_movemask_epi8(_mm_and_si128(_mm_and_si128(x, y), _mm_and_si128(z, u))) != 0xffff)
            return false;
    }
    return true;
}

static size_t equal_sse2(ARGUMENTS, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && same_sse2(a + at, b + at))
        at += DOME_DELTA_STEP;
    return at;
}

static uint64_t differ_8_sse2(ARGUMENTS)
{
    uint64_t equal = 0;
    for (unsigned k = 0; k < 4; k++)
        equal |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(SSE2(a + 16 * k), SSE2(b + 16 * k))) << 16 * k;
    return ~equal;
}

static uint64_t differ_16_sse2(ARGUMENTS)
{
    uint64_t equal = 0;
    for (unsigned k = 0; k < 4; k++, a += 32, b += 32) {
        __m128i x = _mm_cmpeq_epi16(SSE2(a), SSE2(b)), y = _mm_cmpeq_epi16(SSE2(a + 16), SSE2(b + 16));
        equal |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_packs_epi16(x, y)) << 16 * k;
    }
    return ~equal;
}

static uint64_t differ_32_sse2(ARGUMENTS)
{
    uint64_t equal = 0;
    for (unsigned k = 0; k < 16; k++)
        equal |= (uint64_t)(unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(SSE2(a + 16 * k), SSE2(b + 16 * k))))
                 << 4 * k;
    return ~equal;
}

static uint64_t differ_64_sse2(ARGUMENTS)
{
    uint64_t equal = 0;
    for (unsigned k = 0; k < 32; k++) {
        __m128i halves = _mm_cmpeq_epi32(SSE2(a + 16 * k), SSE2(b + 16 * k));
        __m128i whole = _mm_and_si128(halves, _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1)));
        equal |= (uint64_t)(unsigned)_mm_movemask_pd(_mm_castsi128_pd(whole)) << 2 * k;
    }
    return ~equal;
}

#define AVX2   __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
#define YMM(v) _mm256_loadu_si256((const __m256i *)(v))

static bool have_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

AVX2 static inline bool same_avx2(ARGUMENTS)
{
    for (unsigned at = 0; at < DOME_DELTA_STEP; at += 128) {
        __m256i x = _mm256_xor_si256(YMM(a + at), YMM(b + at)), y = _mm256_xor_si256(YMM(a + at + 32), YMM(b + at + 32));
        __m256i z = _mm256_xor_si256(YMM(a + at + 64), YMM(b + at + 64)),
                u = _mm256_xor_si256(YMM(a + at + 96), YMM(b + at + 96));
        __m256i any = _mm256_or_si256(_mm256_or_si256(x, y), _mm256_or_si256(z, u));
        if (!_mm256_testz_si256(any, any))
            return false;
    }
    return true;
}

AVX2 static size_t equal_avx2(ARGUMENTS, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && same_avx2(a + at, b + at))
        at += DOME_DELTA_STEP;
    return at;
}

AVX2 static uint64_t differ_8_avx2(ARGUMENTS)
{
    uint64_t low = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(YMM(a), YMM(b)));
    uint64_t high = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(YMM(a + 32), YMM(b + 32)));
    return ~(low | high << 32);
}

AVX2 static uint64_t differ_32_avx2(ARGUMENTS)
{
    uint64_t equal = 0;
    for (unsigned k = 0; k < 8; k++)
        equal |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(YMM(a + 32 * k), YMM(b + 32 * k))))
                 << 8 * k;
    return ~equal;
}

AVX2 static uint64_t differ_64_avx2(ARGUMENTS)
{
    uint64_t equal = 0;
    for (unsigned k = 0; k < 16; k++)
        equal |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(YMM(a + 32 * k), YMM(b + 32 * k))))
                 << 4 * k;
    return ~equal;
}

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2,bmi,bmi2,popcnt,lzcnt")))
#define ZMM(v) _mm512_loadu_si512(v)

static bool have_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi2");
}

AVX512 static inline bool same_avx512(ARGUMENTS)
{
    for (unsigned at = 0; at < DOME_DELTA_STEP; at += 256) {
        __m512i x = _mm512_xor_si512(ZMM(a + at), ZMM(b + at)), y = _mm512_xor_si512(ZMM(a + at + 64), ZMM(b + at + 64));
        __m512i z = _mm512_xor_si512(ZMM(a + at + 128), ZMM(b + at + 128)),
                u = _mm512_xor_si512(ZMM(a + at + 192), ZMM(b + at + 192));
        __m512i any = _mm512_or_si512(_mm512_or_si512(x, y), _mm512_or_si512(z, u));
        if (_mm512_test_epi64_mask(any, any))
            return false;
    }
    return true;
}

AVX512 static size_t equal_avx512(ARGUMENTS, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && same_avx512(a + at, b + at))
        at += DOME_DELTA_STEP;
    return at;
}

/* lanes: units in 64 bytes. */
#define AVX512_UNIT(bits, lanes, name)                                                                                           \
    AVX512 static uint64_t differ_##bits##_avx512(ARGUMENTS)                                                                     \
    {                                                                                                                            \
        uint64_t mask = 0;                                                                                                       \
        for (unsigned k = 0; k < 64 / (lanes); k++)                                                                              \
            mask |= (uint64_t)_mm512_cmpneq_##name##_mask(ZMM(a + 64 * k), ZMM(b + 64 * k)) << (lanes)*k;                        \
        return mask;                                                                                                             \
    }                                                                                                                            \
    AVX512 static uint8_t *pack_##bits##_avx512(uint8_t *to, const uint8_t *group, uint64_t mask)                                \
    {                                                                                                                            \
        for (unsigned k = 0; k < 64 / (lanes); k++) {                                                                            \
            __mmask##lanes part = (__mmask##lanes)(mask >> (lanes)*k);                                                           \
            _mm512_storeu_si512(to, _mm512_maskz_compress_##name(part, ZMM(group + 64 * k)));                                    \
            to += (size_t)__builtin_popcountll(part) * ((bits) / 8);                                                             \
        }                                                                                                                        \
        return to;                                                                                                               \
    }                                                                                                                            \
    AVX512 static const uint8_t *unpack_##bits##_avx512(uint8_t *group, const uint8_t *from, uint64_t mask)                      \
    {                                                                                                                            \
        for (unsigned k = 0; k < 64 / (lanes); k++) {                                                                            \
            __mmask##lanes part = (__mmask##lanes)(mask >> (lanes)*k);                                                           \
            if (!part)                                                                                                           \
                continue;                                                                                                        \
            _mm512_mask_storeu_##name(group + 64 * k, part, _mm512_maskz_expandloadu_##name(part, from));                        \
            from += (size_t)__builtin_popcountll(part) * ((bits) / 8);                                                           \
        }                                                                                                                        \
        return from;                                                                                                             \
    }

AVX512_UNIT(8, 64, epi8)
AVX512_UNIT(16, 32, epi16)
AVX512_UNIT(32, 16, epi32)
AVX512_UNIT(64, 8, epi64)
#endif

/* ---- choosing ---- */

/* The best first; the last is always usable. */
static const dome_delta_code codes[] = {
#ifdef X86
    {"avx512", have_avx512, TABLE(differ, _avx512), TABLE(pack, _avx512), TABLE(unpack, _avx512), equal_avx512},
    {"avx2",
     have_avx2,
     {differ_8_avx2, differ_16_sse2, differ_32_avx2, differ_64_avx2},
     TABLE(pack, ),
     TABLE(unpack, ),
     equal_avx2},
    {"sse2", always, TABLE(differ, _sse2), TABLE(pack, ), TABLE(unpack, ), equal_sse2},
#endif
    {"portable", always, TABLE(differ, ), TABLE(pack, ), TABLE(unpack, ), equal_portable},
};

static const dome_delta_code *chosen; /* NULL: not chosen yet */

const char *dome__delta_limit(const char *name)
{
    for (unsigned k = 0; k < sizeof codes / sizeof *codes; k++) {
        if ((strcmp(name, "auto") != 0 && strcmp(name, codes[k].name) != 0) || !codes[k].usable())
            continue;
        __atomic_store_n(&chosen, &codes[k], __ATOMIC_RELAXED);
        return codes[k].name;
    }
    return NULL;
}

const dome_delta_code *dome__delta_code(void)
{
    const dome_delta_code *code = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (!code) {
        dome__delta_limit("auto");
        code = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    }
    return code;
}
