/* Zarr arrays, versions 2 and 3 (zarr-specs.readthedocs.io), as pure functions on memory. A Zarr array is a folder. A file in it
 * holds metadata in JSON; each chunk, a box of the array, has a file of its own, in which all values of the box lie in row-major
 * order. Chunks at the far ends are as large as the others: what is outside of the array is padding. A chunk without a file has
 * the fill value everywhere. No function here opens a file.
 *
 * Functions that fail return false and set *message, a text to follow "'FILE' ", g_free'd by the caller. */
#ifndef DOME_SRC_ZARR_H
#define DOME_SRC_ZARR_H

#include "files/file_item.h"

/* The codecs that are applied to the bytes of a chunk when it is written. */
typedef enum dome_zarr_codec {
    DOME_ZARR_ZLIB,
    DOME_ZARR_GZIP,
    DOME_ZARR_ZSTD,
    DOME_ZARR_LZ4,
    DOME_ZARR_BLOSC,
    DOME_ZARR_CRC32C
} dome_zarr_codec;

enum { DOME_ZARR_CODECS = 4 }; /* the most that an array may have */

typedef struct dome_zarr {
    int version;
    dome_file_array array;
    uint64_t chunk[DOME_MAX_DIMENSIONS]; /* its shape, in values */
    uint64_t chunk_values, chunk_bytes;  /* of a chunk before the codecs */
    char separator;                      /* between the numbers in the name of a chunk */
    bool prefixed;                       /* the name begins with "c" and a separator */
    int ncodecs;
    dome_zarr_codec codecs[DOME_ZARR_CODECS]; /* in the order in which a writer applies them */
    int level;                                /* of zstd, for writing */
    void *fill;                               /* an item in the form that it has in a chunk; NULL: zero bytes */
} dome_zarr;

/* The file of an array's metadata. */
const char *dome__zarr_metadata_name(int version);

/* Whether the text of a file zarr.json describes an array: it may also describe a group of arrays. */
bool dome__zarr_is_array(const char *text);

/* Parses metadata. The caller clears zarr, also after a failure. */
bool dome__zarr_parse(dome_zarr *zarr, int version, const void *text, size_t bytes, char **message);
void dome__zarr_clear(dome_zarr *zarr);

/* A vector that is to become an array. */
typedef struct dome_zarr_vector {
    dome_type type;
    int ndim;
    const uint64_t *shape;
    uint64_t width; /* values of an element */
    uint64_t block; /* elements of a block */
} dome_zarr_vector;

/* Its array: in chunks of about `elements` elements (0: of some megabytes, and whole blocks where blocks are smaller than that)
 * that lie one after the other in the vector, compressed by zstd if level is not 0. */
bool dome__zarr_describe(dome_zarr *zarr, int version, const dome_zarr_vector *vector, uint64_t elements, int level,
                         char **message);

/* The metadata of an array, g_free'd by the caller; NULL on failure. */
char *dome__zarr_metadata(const dome_zarr *zarr, char **message);

/* ---- chunks ---- */

/* Goes through the chunks that contain some of the array's values first ... end - 1, in row-major order:
 *
 *     dome_zarr_walk walk;
 *     for (bool more = dome__zarr_first_chunk(zarr, &walk, first, end); more; more = dome__zarr_next_chunk(zarr, &walk))
 *         ... walk.index */
typedef struct dome_zarr_walk {
    uint64_t index[DOME_MAX_DIMENSIONS];
    uint64_t first, end;
} dome_zarr_walk;

bool dome__zarr_first_chunk(const dome_zarr *zarr, dome_zarr_walk *walk, uint64_t first, uint64_t end);
bool dome__zarr_next_chunk(const dome_zarr *zarr, dome_zarr_walk *walk);

/* The chunk that contains a value of the array. */
void dome__zarr_chunk_at(const dome_zarr *zarr, uint64_t value, uint64_t index[]);

/* Goes through the values of a chunk, in runs that are consecutive both in the array and in the chunk. Begin with
 * dome__zarr_begin_runs. */
typedef struct dome_zarr_runs {
    uint64_t value, at, count; /* number of the first value in the array; in the chunk; of values */
    uint64_t origin[DOME_MAX_DIMENSIONS], extent[DOME_MAX_DIMENSIONS], place[DOME_MAX_DIMENSIONS];
    int axes; /* the leading dimensions, which a run does not extend over */
    bool begun;
} dome_zarr_runs;

void dome__zarr_begin_runs(const dome_zarr *zarr, const uint64_t index[], dome_zarr_runs *runs);
bool dome__zarr_next_run(const dome_zarr *zarr, dome_zarr_runs *runs);

/* The name of a chunk's file, g_free'd by the caller. */
char *dome__zarr_chunk_name(const dome_zarr *zarr, const uint64_t index[]);

/* The most bytes that the file of a chunk may have. */
uint64_t dome__zarr_most_bytes(const dome_zarr *zarr);

/* Copy the values first ... end - 1 of the array, as far as the chunk has them, from the chunk (NULL: the fill value) to elements
 * of a type that fits the item. `data` begins with value `first`. */
void dome__zarr_unpack(const dome_zarr *zarr, const uint64_t index[], dome_type type, void *data, uint64_t first, uint64_t end,
                       const void *chunk);

/* Sets `count` values of a chunk, from place `at` on, to the fill value. */
void dome__zarr_fill(const dome_zarr *zarr, void *chunk, uint64_t at, uint64_t count);

/* The file of a chunk, for arrays with codecs. encode: *file is g_free'd by the caller. decode: writes chunk_bytes bytes to
 * chunk. */
bool dome__zarr_encode(const dome_zarr *zarr, const void *chunk, void **file, uint64_t *bytes, char **message);
bool dome__zarr_decode(const dome_zarr *zarr, void *chunk, const void *file, uint64_t bytes, char **message);

#endif
