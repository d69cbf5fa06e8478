/* The .npy file format of NumPy (NEP 1; versions 1.0, 2.0 and 3.0), as pure functions on memory: headers are parsed and written
 * here, and elements converted between memory and their form in a file. Nothing here opens a file.
 *
 * Functions that fail return false and give *message, g_free'd by the caller, which goes on from "'FILE' ". */
#ifndef DOME_SRC_NPY_H
#define DOME_SRC_NPY_H

#include <dome/type.h>

/* What one item in a file looks like: a basic type or a structure, and as a field its name, place and how many there are. */
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
    uint64_t header_bytes; /* the data begin behind them */
    dome_npy_item item;
    uint64_t length, width;
} dome_npy;

enum { DOME_NPY_START = 12 }; /* bytes needed to know how long a header is */

/* The length of the header that begins with these bytes, fewer than DOME_NPY_START only where the file ends. */
bool dome__npy_start(const void *start, size_t bytes, uint64_t *header_bytes, char **message);

/* Parses a whole header. npy is cleared by the caller, also on failure. */
bool dome__npy_parse(dome_npy *npy, const void *header, size_t bytes, char **message);
void dome__npy_clear(dome_npy *npy);

/* Bytes of a whole file; false if they cannot be counted. */
bool dome__npy_file_bytes(const dome_npy *npy, uint64_t *bytes);

/* Whether a file of so many bytes is what its header says. */
bool dome__npy_check_size(const dome_npy *npy, uint64_t file_bytes, char **message);

/* Describes the file of a vector: little-endian, without padding. */
void dome__npy_describe(dome_npy *npy, dome_type type, uint64_t length, uint64_t width);

/* The header of such a file, g_free'd by the caller; sets npy->header_bytes. Version 1.0, or 2.0 where it is too long for 1.0. */
char *dome__npy_header(dome_npy *npy);

/* The item as NumPy's descr. g_free'd by the caller. */
char *dome__npy_descr(const dome_npy_item *item);

/* Whether items can be read as elements of a type: the same basic type, or fields of the same names, counts and types in
 * the same order. */
bool dome__npy_fits(const dome_npy_item *item, dome_type type);

/* Whether elements of a type lie in the file as they do in this machine's memory. */
bool dome__npy_is_native(const dome_npy_item *item, dome_type type);

/* Convert count elements. The type fits the item. Padding of structs is left as it was. */
void dome__npy_pack(const dome_npy_item *item, dome_type type, void *packed, const void *elements, uint64_t count);
void dome__npy_unpack(const dome_npy_item *item, dome_type type, void *elements, const void *packed, uint64_t count);

#endif
