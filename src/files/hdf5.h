/* Data sets in HDF5 files, by libhdf5. All calls of that library are in hdf5.c; where Dome was built without it, the functions
 * that open or make a data set fail and say so.
 *
 * The library reports nothing by itself here. Functions that fail return NULL or false and set *message, a text to follow
 * "'FILE' ", g_free'd by the caller. */
#ifndef DOME_SRC_HDF5_H
#define DOME_SRC_HDF5_H

#include "files/file_item.h"

/* A file that a process of its own has open, with one of its data sets: the file may be damaged, and libhdf5 then crash. */
typedef struct dome_hdf5_isolated dome_hdf5_isolated;

/* A data set as the header of a .npy file with the same array, g_free'd by the caller. offset is that of its values in the file,
 * if they lie there one after the other, otherwise DOME_HDF5_SCATTERED. */
#define DOME_HDF5_SCATTERED UINT64_MAX
typedef struct dome_hdf5_set {
    char *header;
    uint64_t header_bytes, offset;
} dome_hdf5_set;

/* Describes a data set of a file of file_bytes bytes. A process of its own opens the file, which may be damaged. */
bool dome__hdf5_describe(const char *file, uint64_t file_bytes, const char *set, dome_hdf5_set *found, char **message);

/* To read values of the item that was described, wherever they are: opens the file when the first are asked for. The arguments
 * must stay valid. */
dome_hdf5_isolated *dome__hdf5_begin_reading(const char *file, const char *set, const dome_file_item *item, char **message);

/* Reads values as they are in the file: `bytes` bytes from byte `offset` of the array on; both are multiples of the bytes of a
 * value. */
bool dome__hdf5_read(dome_hdf5_isolated *h, uint64_t offset, void *data, uint64_t bytes, char **message);

/* NULL is allowed. */
void dome__hdf5_end_reading(dome_hdf5_isolated *h);

/* Whether nothing else is in a file that can be read. A process of its own opens it. */
bool dome__hdf5_is_alone(const char *file, const char *set, bool *alone, char **message);

/* Makes an empty file one with a data set. *offset is the place for its values, which nothing has been written to. A process of
 * its own does it: after a failure to write, this version of libhdf5 crashes when the process ends. */
bool dome__hdf5_make(const char *file, const char *set, const dome_file_array *array, uint64_t *offset, char **message);

/* A length of a file: the process has ended before it could tell. Then the file must not become shorter. */
#define DOME_HDF5_UNKNOWN UINT64_MAX

/* Adds a data set without a name to an existing file, which nobody sees until dome__hdf5_name. The arguments must stay valid.
 * *offset: that of its values; after a failure the length that the file needs, 0 for what it had, or DOME_HDF5_UNKNOWN. */
dome_hdf5_isolated *dome__hdf5_add(const char *file, const char *set, const dome_file_array *array, uint64_t *offset,
                                   char **message);

/* Takes back a data set without a name and closes the file. Returns the length that the file needs, or DOME_HDF5_UNKNOWN. */
uint64_t dome__hdf5_take_back(dome_hdf5_isolated *h);

/* Gives it its name, which another data set may have had until then, and closes the file. If that fails, the data set is taken
 * back, and *needed is the length that the file needs, or DOME_HDF5_UNKNOWN. */
bool dome__hdf5_name(dome_hdf5_isolated *h, uint64_t *needed, char **message);

#endif
