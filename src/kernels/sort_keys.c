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

/* The keys of a complex value's parts become one of two halves. Above all real parts that are numbers there is room for three
 * more: a number and NaN, NaN and a number, NaN twice. */
static inline void join_keys(uint64_t real, uint64_t imaginary, uint64_t first_nan, uint64_t halves[2])
{
    const bool no_real = real >= first_nan, no_imaginary = imaginary >= first_nan;
    halves[0] = no_real ? first_nan + 1 + no_imaginary : no_imaginary ? first_nan : real;
    halves[1] = !no_imaginary ? imaginary : no_real ? 0 : real;
}

/* Parts that are NaN become the key `nan`. */
static inline void divide_keys(const uint64_t halves[2], uint64_t first_nan, uint64_t nan, uint64_t *real, uint64_t *imaginary)
{
    *real = halves[0] > first_nan ? nan : halves[0] == first_nan ? halves[1] : halves[0];
    *imaginary = halves[0] == first_nan || halves[0] == first_nan + 2 ? nan : halves[1];
}

static void c64_to_keys(const uint32_t *from, uint64_t count, uint64_t *items, int words)
{
    for (uint64_t i = 0; i < count; i++, items += words) {
        uint64_t halves[2];
        join_keys(f32_equal_key(from[2 * i]), f32_equal_key(from[2 * i + 1]), f32_key(F32_NAN), halves);
        items[0] = halves[0] << 32 | halves[1];
    }
}

static void c128_to_keys(const uint64_t *from, uint64_t count, uint64_t *items, int words)
{
    for (uint64_t i = 0; i < count; i++, items += words)
        join_keys(f64_equal_key(from[2 * i]), f64_equal_key(from[2 * i + 1]), f64_key(F64_NAN), items);
}

static void c64_from_keys(const uint64_t *items, int words, uint64_t count, uint32_t *to)
{
    for (uint64_t i = 0; i < count; i++, items += words) {
        uint64_t real, imaginary;
        divide_keys((uint64_t[]){items[0] >> 32, (uint32_t)items[0]}, f32_key(F32_NAN), f32_key(F32_QUIET), &real, &imaginary);
        to[2 * i] = f32_bits((uint32_t)real);
        to[2 * i + 1] = f32_bits((uint32_t)imaginary);
    }
}

static void c128_from_keys(const uint64_t *items, int words, uint64_t count, uint64_t *to)
{
    for (uint64_t i = 0; i < count; i++, items += words) {
        uint64_t real, imaginary;
        divide_keys(items, f64_key(F64_NAN), f64_key(F64_QUIET), &real, &imaginary);
        to[2 * i] = f64_bits(real);
        to[2 * i + 1] = f64_bits(imaginary);
    }
}

uint64_t dome__nan_key(dome_type type)
{
    switch (dome_type_kind_of(type)) {
    case DOME_KIND_F32:
        return f32_key(F32_NAN);
    case DOME_KIND_C64:
        return (uint64_t)f32_key(F32_NAN) << 32;
    case DOME_KIND_F64:
    case DOME_KIND_C128:
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
    case DOME_KIND_C64:
        c64_to_keys(values, count, items, words);
        return;
    case DOME_KIND_C128:
        c128_to_keys(values, count, items, words);
        return;
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
    case DOME_KIND_C64:
        c64_from_keys(items, words, count, values);
        return;
    case DOME_KIND_C128:
        c128_from_keys(items, words, count, values);
        return;
    default:
        return;
    }
}

/* ---- sorting ---- */

enum { DIGIT_BITS = 8, DIGITS = 64 / DIGIT_BITS, BUCKETS = 1 << DIGIT_BITS };

/* Lists shorter than this are sorted by insertion. */
enum { SHORT = 48 };

/* These functions are compiled for each form of items. */
#define FOR_EACH_FORM static inline __attribute__((always_inline))
#define BY_FORM(form, function, ...)                                                                                             \
    ((form).words == 1   ? function(__VA_ARGS__, 1, 1)                                                                           \
     : (form).key == 1   ? function(__VA_ARGS__, 1, 2)                                                                           \
     : (form).words == 2 ? function(__VA_ARGS__, 2, 2)                                                                           \
                         : function(__VA_ARGS__, 2, 3))

FOR_EACH_FORM bool less(const uint64_t *a, const uint64_t *b, int words)
{
    int k = 0;
    while (k < words - 1 && a[k] == b[k])
        k++;
    return a[k] < b[k];
}

FOR_EACH_FORM void insertion_sort(uint64_t *items, uint64_t count, int key, int words)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t item[3], at = i;
        memcpy(item, items + i * (uint64_t)words, (size_t)words * sizeof *items);
        for (; at > 0 && less(item, items + (at - 1) * (uint64_t)words, key); at--)
            memcpy(items + at * (uint64_t)words, items + (at - 1) * (uint64_t)words, (size_t)words * sizeof *items);
        memcpy(items + at * (uint64_t)words, item, (size_t)words * sizeof *items);
    }
}

/* The bits in which words of keys differ; 0 if the items are in their order already. */
FOR_EACH_FORM uint64_t bits_to_sort(const uint64_t *keys, uint64_t count, int words)
{
    uint64_t differ = 0, before = keys[0];
    bool ordered = true;
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t key = keys[i * (uint64_t)words];
        differ |= key ^ keys[0];
        ordered &= before <= key;
        before = key;
    }
    return ordered ? 0 : differ;
}

static inline unsigned digit_of(uint64_t key, int digit)
{
    return (unsigned)(key >> (digit * DIGIT_BITS)) & (BUCKETS - 1);
}

/* Sorts by one word of the items. */
FOR_EACH_FORM uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint64_t count, int word, int words)
{
    uint64_t places[DIGITS][BUCKETS];
    const uint64_t differ = bits_to_sort(items + word, count, words);
    int digits[DIGITS], ndigits = 0;
    for (int d = 0; d < DIGITS; d++)
        if (digit_of(differ, d))
            digits[ndigits++] = d;
    memset(places, 0, (size_t)ndigits * sizeof *places);
    if (ndigits == DIGITS) {
        for (uint64_t i = 0; i < count; i++)
            for (int k = 0; k < DIGITS; k++)
                places[k][digit_of(items[i * (uint64_t)words + (uint64_t)word], k)]++;
    } else {
        for (int k = 0; k < ndigits; k++)
            for (uint64_t i = 0; i < count; i++)
                places[k][digit_of(items[i * (uint64_t)words + (uint64_t)word], digits[k])]++;
    }
    for (int k = 0; k < ndigits; k++) {
        uint64_t place = 0, *at = places[k], *from = items;
        for (int b = 0; b < BUCKETS; b++) {
            const uint64_t here = at[b];
            at[b] = place;
            place += here;
        }
        for (uint64_t i = 0; i < count; i++)
            memcpy(other + (uint64_t)words * at[digit_of(items[i * (uint64_t)words + (uint64_t)word], digits[k])]++,
                   items + i * (uint64_t)words, (size_t)words * sizeof *items);
        items = other;
        other = from;
    }
    return items;
}

FOR_EACH_FORM uint64_t *sort_items(uint64_t *items, uint64_t *other, uint64_t count, int key, int words)
{
    if (count < SHORT) {
        insertion_sort(items, count, key, words);
        return items;
    }
    for (int word = key - 1; word >= 0; word--) {
        uint64_t *sorted = radix_sort(items, other, count, word, words);
        other = sorted == items ? other : items;
        items = sorted;
    }
    return items;
}

uint64_t *dome__sort_keys(uint64_t *items, uint64_t *other, uint64_t count, dome_item form)
{
    return BY_FORM(form, sort_items, items, other, count);
}

/* ---- merging and searching ---- */

/* Items with equal keys come in order of their indices, which are the last words. */
FOR_EACH_FORM void merge(uint64_t *to, const uint64_t *a, uint64_t na, const uint64_t *b, uint64_t nb, int key, int words)
{
    const uint64_t *a_end = a + na * (uint64_t)words, *b_end = b + nb * (uint64_t)words;
    (void)key;
    for (; a < a_end && b < b_end; to += words) {
        const bool second = less(b, a, words);
        memcpy(to, second ? b : a, (size_t)words * sizeof *to);
        a += words * !second;
        b += words * second;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

void dome__merge_keys(uint64_t *to, const uint64_t *a, uint64_t na, const uint64_t *b, uint64_t nb, dome_item form)
{
    BY_FORM(form, merge, to, a, na, b, nb);
}

FOR_EACH_FORM uint64_t count_less(const uint64_t *items, uint64_t count, const uint64_t *key, bool or_equal, int key_words,
                                  int words)
{
    uint64_t low = 0;
    while (count > 0) {
        const uint64_t half = count / 2, *item = items + (low + half) * (uint64_t)words;
        if (or_equal ? !less(key, item, key_words) : less(item, key, key_words)) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

uint64_t dome__count_less(const uint64_t *items, uint64_t count, dome_item form, const uint64_t *key, bool or_equal)
{
    return BY_FORM(form, count_less, items, count, key, or_equal);
}
