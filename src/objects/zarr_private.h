/* Shared by the files zarr*.c. */
#ifndef DOME_SRC_ZARR_PRIVATE_H
#define DOME_SRC_ZARR_PRIVATE_H

#include "objects/zarr.h"

/* Sets *message, unless an earlier failure has; false. */
bool dome__zarr_refuse(char **message, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Computes what follows from the shapes. False if the array or a chunk has more bytes than a machine can address. */
bool dome__zarr_measure(dome_zarr *zarr);

/* By dome_zarr_codec. */
enum { DOME_ZARR_CODEC_KINDS = DOME_ZARR_CRC32C + 1 };
extern const char *const dome__zarr_codec_names[DOME_ZARR_CODEC_KINDS];

#endif
