/* Short blocks of an image without their runs of zeros: a pointer has 16 bytes, most of them 0, and so have other values. */
#ifndef DOME_SRC_CAPTURE_ZEROS_H
#define DOME_SRC_CAPTURE_ZEROS_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

/* Longer blocks stay as they are: beside their data zeros are few, or leaving them out takes the program's time. */
enum { DOME_CAPTURE_ZEROS_MOST = 4096 };

/* Appends `kind`, the number of bytes, and pieces: a byte of how many zeros and how many other bytes (4 bits each; 15: the rest
 * as LEB128), and those bytes. */
void dome__capture_zeros_leave_out(GByteArray *to, uint8_t kind, const uint8_t *bytes, uint64_t length);

/* The block that was made so from (without `kind`), to be freed by g_free; *length: its bytes. NULL: it is damaged. */
uint8_t *dome__capture_zeros_put_back(const uint8_t *from, uint64_t bytes, uint64_t *length);

#endif
