/* Shared by the files zarr*.c. */
#ifndef DOME_SRC_ZARR_PRIVATE_H
#define DOME_SRC_ZARR_PRIVATE_H

#include "files/zarr.h"

/* Sets *message, unless an earlier failure has; false. */
bool dome__zarr_refuse(char **message, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Computes what follows from the shapes. False if the array or a chunk has more bytes than a machine can address. */
bool dome__zarr_measure(dome_zarr *zarr);

/* The name of a codec in metadata. find: the codec of that name in a version of Zarr, if Dome knows it. */
const char *dome__zarr_codec_name(dome_zarr_codec codec);
bool dome__zarr_codec_find(const char *name, int version, dome_zarr_codec *codec);

/* Metadata as the JSON that libjansson reads: it knows integers of 64 bits with a sign and no NaN, and refuses a whole text for
 * one number. The user's attributes of version 3, which do not concern Dome, become null; an integer that is longer becomes a
 * text of its digits; NaN, Infinity and -Infinity, which Python's writer makes of such values, become texts. The lines stay.
 * g_free'd by the caller. */
char *dome__zarr_plain_json(const char *text, size_t bytes, size_t *length);

#endif
