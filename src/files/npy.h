/* The .npy file format of NumPy (NEP 1; versions 1.0, 2.0 and 3.0), as pure functions on memory: parsing and writing headers. No
 * function here opens a file.
 *
 * Functions that fail return false and set *message, a text to follow "'FILE' ", g_free'd by the caller. */
#ifndef DOME_SRC_NPY_H
#define DOME_SRC_NPY_H

#include "files/file_item.h"

typedef struct dome_npy {
    uint64_t header_bytes; /* the data begin after them */
    dome_file_array array; /* its width is the product of all dimensions but the first */
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

/* The header of a file with npy->array, g_free'd by the caller; sets npy->header_bytes. Version 1.0, or 2.0 where it is too long
 * for 1.0. */
char *dome__npy_header(dome_npy *npy);

/* The item for a basic dtype such as '<f8', or for padding ('|V4'): only its kind, order and bytes are set. *message is NULL
 * before. */
bool dome__npy_basic(const char *dtype, dome_file_item *item, bool *padding, char **message);

/* The item as NumPy's descr, without padding. g_free'd by the caller. */
char *dome__npy_descr(const dome_file_item *item);

#endif
