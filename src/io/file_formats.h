/* The formats of files that vectors are written to and read from, and what they have in common. dvec_write and dvec_read_with
 * (dvec_file.c) choose the format by the path. */
#ifndef DOME_SRC_FILE_FORMATS_H
#define DOME_SRC_FILE_FORMATS_H

#include "files/file_item.h"
#include "files/npy.h"
#include "files/shared_file.h"
#include "objects/dvec_private.h"

/* Each function is called by all tasks, within the operation dvec_write or dvec_read, with the same arguments: a path that is not
 * empty, and options that are NULL or complete. It has reported its failure (dome__fail, dome__shared_agree) when it returns. */
typedef struct dome_file_format {
    bool (*takes)(const char *path);               /* whether a path means this format */
    int (*write)(const dvec *x, const char *path); /* x is settled; returns a status */
    dvec *(*read)(dome_env *env, const char *name, const char *path, const dvec_options *options); /* NULL after a failure */
} dome_file_format;

/* In the order in which they are asked; .npy takes every path and is the last. */
extern const dome_file_format dome__hdf5_format, dome__zarr_format, dome__npy_format;

/* Sends rank 0's description of an array, a .npy header of npy->header_bytes bytes, to all tasks; each parses it in the same way.
 * *header is then g_free'd by the caller, also after a failure. Collective; returns a status. */
int dome__file_share_header(dome_shared_file *f, dome_npy *npy, char **header);

/* A new vector for an array of a file, whose rank 0 may have noted failures in f, which all tasks report here. Its width is
 * options->width, or array->width. array->item.bytes etc. are equal on all tasks. NULL after a failure. Collective. */
dvec *dome__file_vector(dome_shared_file *f, dome_file_array *array, const char *name, const dvec_options *options);

/* Read x, which dome__file_vector has made, from values in the file that lie one after the other from byte `offset` on; or write
 * them. All tasks call this after rank 0 has opened the file, or made it, in f; then each handles its own part. They end with
 * dome__shared_finish. Return a status. */
int dome__file_read_values(dome_shared_file *f, dvec *x, const dome_file_item *item, uint64_t offset);
int dome__file_write_values(dome_shared_file *f, const dvec *x, const dome_file_item *item, uint64_t offset);

#endif
