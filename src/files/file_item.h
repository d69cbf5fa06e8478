/* Arrays in files, whatever the format of the file: their items, their shape, and conversion of values between memory and file.
 * Pure functions on memory. */
#ifndef DOME_SRC_FILE_ITEM_H
#define DOME_SRC_FILE_ITEM_H

#include <dome/dvec.h>

/* Describes an item in a file: a basic type or a structure, and for a field its name, offset and count. Bytes of a structure that
 * belong to no field are padding. */
typedef struct dome_file_item {
    dome_type_kind kind;
    bool big_endian;
    uint64_t bytes; /* of one item */
    char *name;
    uint64_t count, offset;
    struct dome_file_item *fields; /* of DOME_KIND_STRUCT */
    size_t nfields;
} dome_file_item;

/* A row-major array, and the vector that it becomes: elements of `width` values. */
typedef struct dome_file_array {
    dome_file_item item;
    int ndim;
    uint64_t shape[DOME_MAX_DIMENSIONS];
    uint64_t length, width;
} dome_file_array;

void dome__item_clear(dome_file_item *item);
void dome__file_array_clear(dome_file_array *array);

/* Adds a dimension; more than DOME_MAX_DIMENSIONS are multiplied into the last one. Sets length to the first and width to the
 * product of the others. False if the width, or a dimension, would be more than 2^64 - 1. */
bool dome__file_array_add(dome_file_array *array, uint64_t dimension);

/* How many of the first dimensions count elements, if an element is `width` values: the others have that product. Sets *length to
 * the product of the first. -1 if there is no such number. */
int dome__shape_split(int ndim, const uint64_t shape[], uint64_t width, uint64_t *length);

/* Makes elements of `width` values. False unless that is the product of some number of the last dimensions. */
bool dome__file_array_split(dome_file_array *array, uint64_t width);

/* The bytes of all items; false if they are more than 2^64 - 1. */
bool dome__file_array_bytes(const dome_file_array *array, uint64_t *bytes);

/* Describes items of a type: little-endian, without padding. */
void dome__item_describe(dome_file_item *item, dome_type type);

/* Describes the array of a vector of this type, shape and width. */
void dome__file_array_describe(dome_file_array *array, dome_type type, int ndim, const uint64_t shape[], uint64_t width);

/* Whether items can be read as elements of a type: the same basic type, or fields of the same names, counts and types in the same
 * order. */
bool dome__item_fits(const dome_file_item *item, dome_type type);

/* Whether elements of a type have the same form in the file as in this machine's memory. */
bool dome__item_is_native(const dome_file_item *item, dome_type type);

/* Convert count elements of a type that fits the item. Padding is left unchanged. */
void dome__item_pack(const dome_file_item *item, dome_type type, void *packed, const void *elements, uint64_t count);
void dome__item_unpack(const dome_file_item *item, dome_type type, void *elements, const void *packed, uint64_t count);

#endif
