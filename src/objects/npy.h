/* The .npy file format of NumPy (NEP 1; versions 1.0, 2.0 and 3.0), as pure functions on memory: parsing and writing headers, and
 * converting elements between memory and file format. No function here opens a file.
 *
 * Functions that fail return false and set *message, a text to follow "'FILE' ", g_free'd by the caller. */
#ifndef DOME_SRC_NPY_H
#define DOME_SRC_NPY_H

#include <dome/type.h>

/* Describes an item in a file: a basic type or a structure, and for a field its name, offset and count. */
typedef struct dome_npy_item {
    dome_type_kind kind;
    bool big_endian;
    uint64_t bytes; /* of one item */
    char *name;
    uint64_t count, offset;
    struct dome_npy_item *fields; /* of DOME_KIND_STRUCT */
    size_t nfields;
} dome_npy_item;

typedef struct dome_npy {
    uint64_t header_bytes; /* the data begin after them */
    dome_npy_item item;
    uint64_t length, width;
} dome_npy;

enum { DOME_NPY_START = 12 }; /* bytes needed to find the length of a header */

/* The length of the header that begins with these bytes; there may be fewer than DOME_NPY_START only if the file ends. */
bool dome__npy_start(const void *start, size_t bytes, uint64_t *header_bytes, char **message);

/* Parses a whole header. The caller clears npy, also after a failure. */
bool dome__npy_parse(dome_npy *npy, const void *header, size_t bytes, char **message);
void dome__npy_clear(dome_npy *npy);

/* The size of the whole file in bytes; false if no file can be that large. */
bool dome__npy_file_bytes(const dome_npy *npy, uint64_t *bytes);

/* Whether a file of so many bytes has the size that its header implies. */
bool dome__npy_check_size(const dome_npy *npy, uint64_t file_bytes, char **message);

/* Describes the file of a vector: little-endian, without padding. */
void dome__npy_describe(dome_npy *npy, dome_type type, uint64_t length, uint64_t width);

/* The header of such a file, g_free'd by the caller; sets npy->header_bytes. Version 1.0, or 2.0 where it is too long for 1.0. */
char *dome__npy_header(dome_npy *npy);

/* The item as NumPy's descr. g_free'd by the caller. */
char *dome__npy_descr(const dome_npy_item *item);

/* Whether items can be read as elements of a type: the same basic type, or fields of the same names, counts and types in the same
 * order. */
bool dome__npy_fits(const dome_npy_item *item, dome_type type);

/* Whether elements of a type have the same form in the file as in this machine's memory. */
bool dome__npy_is_native(const dome_npy_item *item, dome_type type);

/* Convert count elements of a type that fits the item. Padding of structs is left unchanged. */
void dome__npy_pack(const dome_npy_item *item, dome_type type, void *packed, const void *elements, uint64_t count);
void dome__npy_unpack(const dome_npy_item *item, dome_type type, void *elements, const void *packed, uint64_t count);

#endif
