/* Inspecting blocks: their values, and the differences of two blocks. Pure functions on the portable form of fixed objects.
 *
 * A column is one field of all elements, with all values of an array: "mass", "at.x". An object of a basic type has one column
 * without a name; complex numbers have two, "re" and "im". */
#ifndef DOME_SRC_STORE_STORE_INSPECT_H
#define DOME_SRC_STORE_STORE_INSPECT_H

#include "store/format.h"

/* Limits, since a file can describe any number of fields, nested to any depth. */
enum { DOME_CKPT_COLUMNS_MAX = 256, DOME_CKPT_DEPTH_MAX = 16 };

typedef enum dome_ckpt_class { DOME_CKPT_SIGNED, DOME_CKPT_UNSIGNED, DOME_CKPT_FLOAT } dome_ckpt_class;

typedef struct dome_ckpt_value {
    dome_ckpt_class class;
    union {
        int64_t i;
        uint64_t u;
        double f;
    };
} dome_ckpt_value;

typedef struct dome_ckpt_column {
    char *name;
    dome_type_kind kind; /* of its values: basic and real */
    uint64_t offset;     /* of the first value in an element */
    unsigned depth;      /* number of dimensions of nested arrays, outer ones first */
    struct {
        uint64_t count, stride;
    } arrays[DOME_CKPT_DEPTH_MAX + 1];
} dome_ckpt_column;

/* Columns of a type, in the order of the file; *all: none was left out. Freed with g_ptr_array_unref. */
GPtrArray *dome__ckpt_columns(const dome_ckpt *ckpt, uint32_t type, bool *all);

/* Initially zero. min and max are valid if count > nan; they include infinities, the mean does not. */
typedef struct dome_ckpt_statistics {
    uint64_t count, nan, infinite;
    dome_ckpt_value min, max;
    long double sum, lost;
} dome_ckpt_statistics;

/* Adds the values of a column in `elements` elements (values of the object's type) of element_bytes bytes. */
void dome__ckpt_statistics_add(dome_ckpt_statistics *statistics, const dome_ckpt_column *column, const void *data,
                               uint64_t elements, uint64_t element_bytes);

/* NaN if there is no finite value. */
double dome__ckpt_mean(const dome_ckpt_statistics *statistics);

/* Initially zero. Values differ if their bits do. */
typedef struct dome_ckpt_difference {
    uint64_t count;
    uint64_t first; /* index of the first element that differs, counted from that of the first block added */
    dome_ckpt_value a, b;
    double largest; /* of |a - b| over numbers; 0 if only signs of zero or NaNs differ */
} dome_ckpt_difference;

/* Two blocks of as many elements. */
typedef struct dome_ckpt_pair {
    const void *a, *b;
    uint64_t elements, element_bytes;
    uint64_t before; /* number of elements in earlier blocks */
} dome_ckpt_pair;

/* Compares a column of them. */
void dome__ckpt_difference_add(dome_ckpt_difference *difference, const dome_ckpt_column *column, const dome_ckpt_pair *pair);

/* Text with enough digits to convert back to the same value. At most DOME_CKPT_TEXT bytes. */
enum { DOME_CKPT_TEXT = 32 };
void dome__ckpt_value_text(dome_ckpt_value value, dome_type_kind kind, char text[DOME_CKPT_TEXT]);

/* Calls visit for each value of a column, element by element. */
typedef void (*dome_ckpt_visit)(void *context, uint64_t element, dome_ckpt_value value);
void dome__ckpt_each_value(const dome_ckpt_column *column, const void *data, uint64_t elements, uint64_t element_bytes,
                           dome_ckpt_visit visit, void *context);

/* The number of elements (times the width: values of the object's type) in a block of a fixed object. */
uint64_t dome__ckpt_block_values(const dome_ckpt_object *object, uint64_t block);

/* Whether the descriptions of types in two files are equal. */
bool dome__ckpt_types_equal(const dome_ckpt *a, uint32_t of_a, const dome_ckpt *b, uint32_t of_b);

#endif
