/* Values as unsigned keys in the order of the values, and sorting, merging and searching of keys.
 *
 * A key is one word, or two for values of 16 bytes, the higher one first. An item is a key, or a key and the index of its element
 * in one more word. Items are in order of their keys, items with equal keys in order of their indices. */
#ifndef DOME_SRC_SORT_KEYS_H
#define DOME_SRC_SORT_KEYS_H

#include <dome/type.h>

#include <stdbool.h>
#include <stdint.h>

/* How values become keys. */
typedef enum dome_keys {
    DOME_KEYS_EACH, /* each value has a key of its own: -0 comes before 0, NaN last in order of bits; not for complex types */
    DOME_KEYS_EQUAL /* equal values have equal keys: both zeros, and all NaN, which come last */
} dome_keys;

/* The words of a key, and of an item. */
typedef struct dome_item {
    int key, words;
} dome_item;

/* Whether values of a type have an order. Complex values are in order of their real parts, then of their imaginary parts; behind
 * all others come those whose imaginary part is NaN, in order of their real parts, then those whose real part is NaN, in order of
 * their imaginary parts, then those of which both are (NumPy: sort). */
static inline bool dome__has_order(dome_type type)
{
    return dome_type_kind_of(type) != DOME_KIND_STRUCT;
}

/* Whether a type is real or integer: each value then has a key of its own, of one word. */
static inline bool dome__has_keys(dome_type type)
{
    return dome_type_kind_of(type) <= DOME_KIND_F64;
}

static inline dome_item dome__item_of(dome_type type, bool indexed)
{
    const int key = dome_type_kind_of(type) == DOME_KIND_C128 ? 2 : 1;
    return (dome_item){key, key + indexed};
}

/* Writes the keys of values to the first words of items, which have so many words each. Keys use the low 8 * dome_type_size(type)
 * bits. */
void dome__to_keys(dome_type type, const void *values, uint64_t count, dome_keys how, uint64_t *items, int words);

/* The values that keys stand for; of DOME_KEYS_EQUAL 0 and a quiet NaN. */
void dome__from_keys(dome_type type, const uint64_t *items, int words, uint64_t count, void *values);

/* The first word of the first key of the values that are NaN, or have a part that is: theirs are this and all above; 0 if the
 * type has none. */
uint64_t dome__nan_key(dome_type type);

/* Sorts items by key, stably; `other` is room for as many. Returns where the sorted items are: items or other. A radix sort, from
 * the lowest digit to the highest (Knuth, The Art of Computer Programming, volume 3, section 5.2.5). */
uint64_t *dome__sort_keys(uint64_t *items, uint64_t *other, uint64_t count, dome_item form);

/* Merges two sorted lists into `to`. */
void dome__merge_keys(uint64_t *to, const uint64_t *a, uint64_t na, const uint64_t *b, uint64_t nb, dome_item form);

/* The number of sorted items whose key is less than `key`, or also equal to it. */
uint64_t dome__count_less(const uint64_t *items, uint64_t count, dome_item form, const uint64_t *key, bool or_equal);

#endif
