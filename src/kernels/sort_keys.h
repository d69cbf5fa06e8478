/* Values as unsigned keys in the order of the values, and sorting, merging and searching of keys.
 *
 * An item is one word, a key, or two: a key and the index of its element. Items of two words are in order of their keys, items
 * with equal keys in order of their indices. */
#ifndef DOME_SRC_SORT_KEYS_H
#define DOME_SRC_SORT_KEYS_H

#include <dome/type.h>

#include <stdbool.h>
#include <stdint.h>

/* How values become keys. */
typedef enum dome_keys {
    DOME_KEYS_EACH, /* each value has a key of its own: -0 comes before 0, NaN last in order of bits */
    DOME_KEYS_EQUAL /* equal values have equal keys: both zeros, and all NaN, which come last */
} dome_keys;

/* Whether values of a type have an order: real and integer types. */
static inline bool dome__has_keys(dome_type type)
{
    return dome_type_kind_of(type) <= DOME_KIND_F64;
}

/* Writes the keys of values to the first word of items. Keys use the low 8 * dome_type_size(type) bits. */
void dome__to_keys(dome_type type, const void *values, uint64_t count, dome_keys how, uint64_t *items, int words);

/* The values that keys stand for; of DOME_KEYS_EQUAL 0 and a quiet NaN. */
void dome__from_keys(dome_type type, const uint64_t *items, int words, uint64_t count, void *values);

/* The first key of the values that are NaN: the keys of NaN are this and all above; 0 if the type has none. */
uint64_t dome__nan_key(dome_type type);

/* Sorts items by key, stably; `other` is room for as many. Returns where the sorted items are: items or other. A radix sort, from
 * the lowest digit to the highest (Knuth, The Art of Computer Programming, volume 3, section 5.2.5). */
uint64_t *dome__sort_keys(uint64_t *items, uint64_t *other, uint64_t count, int words);

/* Merges two sorted lists into `to`. */
void dome__merge_keys(uint64_t *to, const uint64_t *a, uint64_t na, const uint64_t *b, uint64_t nb, int words);

/* The number of sorted items whose key is less than `key`. */
uint64_t dome__count_less(const uint64_t *items, uint64_t count, int words, uint64_t key);

#endif
