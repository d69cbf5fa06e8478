/* Types, for the library's own files. */
#ifndef DOME_SRC_TYPE_PRIVATE_H
#define DOME_SRC_TYPE_PRIVATE_H

#include "system/basic_types.h"

/* A hash of the whole description, equal on machines whose structs are padded differently. */
uint64_t dome__type_hash(dome_type type);

/* Words for dome__begin (operation.h): of a type, and of a value, whose portable form is the same on all machines. 0 of NULL. */
uint64_t dome__type_word(dome_env *env, dome_type type);
uint64_t dome__value_word(dome_type type, const void *value);

/* The most elements of so many bytes that an array in memory can have: no processor has addresses for more than 2^56 bytes. More
 * of them are a mistake, such as a count below 0, that is found before the array is touched. */
static inline uint64_t dome__array_most(size_t size)
{
    const uint64_t addresses = UINT64_C(1) << 56;
    return (addresses < PTRDIFF_MAX ? addresses : PTRDIFF_MAX) / size;
}

/* The struct types of a program. */
struct dome_types *dome__types_new(void);
void dome__types_free(struct dome_types *types);

/* The first by name of the struct types for which fits(ctx, type); NULL: none. */
dome_type dome__types_find(const dome_env *env, bool (*fits)(const void *ctx, dome_type type), const void *ctx);

#endif
