#include "kernels/sort_keys.h"

#include <string.h>

/* ---- keys ----
 *
 * Bits of floating-point numbers become keys in order if negative numbers have all their bits inverted and the others their sign.
 * NaN with the sign set would come first: as many are subtracted, so that they pass 0 and become the largest. */

#define F32_BELOW UINT32_C(0x007fffff)
#define F64_BELOW UINT64_C(0x000fffffffffffff)

static inline uint32_t f32_key(uint32_t bits)
{
    return (bits ^ ((uint32_t) - (int32_t)(bits >> 31) | UINT32_C(1) << 31)) - F32_BELOW;
}

static inline uint64_t f64_key(uint64_t bits)
{
    return (bits ^ ((uint64_t) - (int64_t)(bits >> 63) | UINT64_C(1) << 63)) - F64_BELOW;
}

static inline uint32_t f32_bits(uint32_t key)
{
    key += F32_BELOW;
    return key ^ (((key >> 31) - 1) | UINT32_C(1) << 31);
}

static inline uint64_t f64_bits(uint64_t key)
{
    key += F64_BELOW;
    return key ^ (((key >> 63) - 1) | UINT64_C(1) << 63);
}

#define F32_QUIET UINT32_C(0x7fc00000)
#define F64_QUIET UINT64_C(0x7ff8000000000000)
#define F32_NAN   UINT32_C(0x7f800001)
#define F64_NAN   UINT64_C(0x7ff0000000000001)

static inline uint64_t f32_equal_key(uint32_t bits)
{
    const uint32_t key = f32_key(bits == UINT32_C(1) << 31 ? 0 : bits);
    return key >= f32_key(F32_NAN) ? f32_key(F32_QUIET) : key;
}

static inline uint64_t f64_equal_key(uint64_t bits)
{
    const uint64_t key = f64_key(bits == UINT64_C(1) << 63 ? 0 : bits);
    return key >= f64_key(F64_NAN) ? f64_key(F64_QUIET) : key;
}

uint64_t dome__nan_key(dome_type type)
{
    switch (dome_type_kind_of(type)) {
    case DOME_KIND_F32:
        return f32_key(F32_NAN);
    case DOME_KIND_F64:
        return f64_key(F64_NAN);
    default:
        return 0;
    }
}

#define EACH_ITEM(T, expression)                                                                                                 \
    {                                                                                                                            \
        const T *from = values;                                                                                                  \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            const T v = from[i];                                                                                                 \
            items[i * (uint64_t)words] = expression;                                                                             \
        }                                                                                                                        \
        return;                                                                                                                  \
    }

void dome__to_keys(dome_type type, const void *values, uint64_t count, dome_keys how, uint64_t *items, int words)
{
    const bool each = how == DOME_KEYS_EACH;
    switch (dome_type_kind_of(type)) {
    case DOME_KIND_I8:
        EACH_ITEM(uint8_t, (uint8_t)(v ^ 0x80))
    case DOME_KIND_I16:
        EACH_ITEM(uint16_t, (uint16_t)(v ^ 0x8000))
    case DOME_KIND_I32:
        EACH_ITEM(uint32_t, v ^ UINT32_C(1) << 31)
    case DOME_KIND_I64:
        EACH_ITEM(uint64_t, v ^ UINT64_C(1) << 63)
    case DOME_KIND_U8:
        EACH_ITEM(uint8_t, v)
    case DOME_KIND_U16:
        EACH_ITEM(uint16_t, v)
    case DOME_KIND_U32:
        EACH_ITEM(uint32_t, v)
    case DOME_KIND_U64:
        EACH_ITEM(uint64_t, v)
    case DOME_KIND_F32:
        if (each)
            EACH_ITEM(uint32_t, f32_key(v))
        EACH_ITEM(uint32_t, f32_equal_key(v))
    case DOME_KIND_F64:
        if (each)
            EACH_ITEM(uint64_t, f64_key(v))
        EACH_ITEM(uint64_t, f64_equal_key(v))
    default:
        return;
    }
}

#define EACH_VALUE(T, expression)                                                                                                \
    {                                                                                                                            \
        T *to = values;                                                                                                          \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            const uint64_t key = items[i * (uint64_t)words];                                                                     \
            to[i] = (T)(expression);                                                                                             \
        }                                                                                                                        \
        return;                                                                                                                  \
    }

void dome__from_keys(dome_type type, const uint64_t *items, int words, uint64_t count, void *values)
{
    switch (dome_type_kind_of(type)) {
    case DOME_KIND_I8:
        EACH_VALUE(uint8_t, key ^ 0x80)
    case DOME_KIND_I16:
        EACH_VALUE(uint16_t, key ^ 0x8000)
    case DOME_KIND_I32:
        EACH_VALUE(uint32_t, key ^ UINT32_C(1) << 31)
    case DOME_KIND_I64:
        EACH_VALUE(uint64_t, key ^ UINT64_C(1) << 63)
    case DOME_KIND_U8:
        EACH_VALUE(uint8_t, key)
    case DOME_KIND_U16:
        EACH_VALUE(uint16_t, key)
    case DOME_KIND_U32:
        EACH_VALUE(uint32_t, key)
    case DOME_KIND_U64:
        EACH_VALUE(uint64_t, key)
    case DOME_KIND_F32:
        EACH_VALUE(uint32_t, f32_bits((uint32_t)key))
    case DOME_KIND_F64:
        EACH_VALUE(uint64_t, f64_bits(key))
    default:
        return;
    }
}

/* ---- sorting ---- */

enum { DIGIT_BITS = 8, DIGITS = 64 / DIGIT_BITS, BUCKETS = 1 << DIGIT_BITS };

/* Lists shorter than this are sorted by insertion. */
enum { SHORT = 48 };

/* Both functions are compiled for one word and for two. */
#define FOR_BOTH static inline __attribute__((always_inline))

FOR_BOTH void insertion_sort(uint64_t *items, uint64_t count, int words)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t item[2], at = i;
        memcpy(item, items + i * (uint64_t)words, (size_t)words * sizeof *items);
        for (; at > 0 && items[(at - 1) * (uint64_t)words] > item[0]; at--)
            memcpy(items + at * (uint64_t)words, items + (at - 1) * (uint64_t)words, (size_t)words * sizeof *items);
        memcpy(items + at * (uint64_t)words, item, (size_t)words * sizeof *items);
    }
}

/* The bits in which keys differ; 0 if the items are in order already. */
FOR_BOTH uint64_t bits_to_sort(const uint64_t *items, uint64_t count, int words)
{
    uint64_t differ = 0, before = items[0];
    bool ordered = true;
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t key = items[i * (uint64_t)words];
        differ |= key ^ items[0];
        ordered &= before <= key;
        before = key;
    }
    return ordered ? 0 : differ;
}

static inline unsigned digit_of(uint64_t key, int digit)
{
    return (unsigned)(key >> (digit * DIGIT_BITS)) & (BUCKETS - 1);
}

FOR_BOTH uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint64_t count, int words)
{
    uint64_t places[DIGITS][BUCKETS];
    const uint64_t differ = bits_to_sort(items, count, words);
    int digits[DIGITS], ndigits = 0;
    for (int d = 0; d < DIGITS; d++)
        if (digit_of(differ, d))
            digits[ndigits++] = d;
    memset(places, 0, (size_t)ndigits * sizeof *places);
    if (ndigits == DIGITS) {
        for (uint64_t i = 0; i < count; i++)
            for (int k = 0; k < DIGITS; k++)
                places[k][digit_of(items[i * (uint64_t)words], k)]++;
    } else {
        for (int k = 0; k < ndigits; k++)
            for (uint64_t i = 0; i < count; i++)
                places[k][digit_of(items[i * (uint64_t)words], digits[k])]++;
    }
    for (int k = 0; k < ndigits; k++) {
        uint64_t place = 0, *at = places[k], *from = items;
        for (int b = 0; b < BUCKETS; b++) {
            const uint64_t here = at[b];
            at[b] = place;
            place += here;
        }
        for (uint64_t i = 0; i < count; i++)
            memcpy(other + (uint64_t)words * at[digit_of(items[i * (uint64_t)words], digits[k])]++, items + i * (uint64_t)words,
                   (size_t)words * sizeof *items);
        items = other;
        other = from;
    }
    return items;
}

uint64_t *dome__sort_keys(uint64_t *items, uint64_t *other, uint64_t count, int words)
{
    if (count < SHORT) {
        if (words == 1)
            insertion_sort(items, count, 1);
        else
            insertion_sort(items, count, 2);
        return items;
    }
    return words == 1 ? radix_sort(items, other, count, 1) : radix_sort(items, other, count, 2);
}

/* ---- merging and searching ---- */

static void merge_one(uint64_t *to, const uint64_t *a, const uint64_t *a_end, const uint64_t *b, const uint64_t *b_end)
{
    while (a < a_end && b < b_end) {
        const bool second = *b < *a;
        *to++ = second ? *b : *a;
        a += !second;
        b += second;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

static void merge_two(uint64_t *to, const uint64_t *a, const uint64_t *a_end, const uint64_t *b, const uint64_t *b_end)
{
    for (; a < a_end && b < b_end; to += 2) {
        const bool second = b[0] < a[0] || (b[0] == a[0] && b[1] < a[1]);
        memcpy(to, second ? b : a, 2 * sizeof *to);
        a += second ? 0 : 2;
        b += second ? 2 : 0;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

void dome__merge_keys(uint64_t *to, const uint64_t *a, uint64_t na, const uint64_t *b, uint64_t nb, int words)
{
    (words == 1 ? merge_one : merge_two)(to, a, a + na * (uint64_t)words, b, b + nb * (uint64_t)words);
}

uint64_t dome__count_less(const uint64_t *items, uint64_t count, int words, uint64_t key)
{
    uint64_t low = 0;
    while (count > 0) {
        const uint64_t half = count / 2;
        if (items[(low + half) * (uint64_t)words] < key) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}
