/* Checksums of data: all that the library takes are taken here. (The hashes of a program's history, which tell whether tasks make
 * the same calls, are in core/operation.h.) */
#ifndef DOME_SRC_SYSTEM_CHECKSUM_H
#define DOME_SRC_SYSTEM_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- of checkpoints: XXH3 with 128 bits, seed 0. docs/checkpoint-format.md gives the reasons for it ---- */

/* In the canonical form of XXH3, as in a file: the high 64 bits first, big-endian. */
typedef struct dome_checksum {
    uint8_t bytes[16];
} dome_checksum;

dome_checksum dome__checksum(const void *data, size_t bytes);
bool dome__checksum_equal(const dome_checksum *a, const dome_checksum *b);

/* The same for bytes given in several calls. _end frees it. */
typedef struct dome_checksumming dome_checksumming;

dome_checksumming *dome__checksum_begin(void);
void dome__checksum_add(dome_checksumming *summing, const void *data, size_t bytes);
dome_checksum dome__checksum_end(dome_checksumming *summing);

/* ---- XXH3 with 64 bits ---- */

/* Built without checkpoints there is no XXH3, and nothing is compared with what this returns then. */
uint64_t dome__checksum64(const void *data, size_t bytes);

/* Of two stretches of memory, as if they lay one after the other. */
uint64_t dome__checksum64_of_two(const void *first, size_t first_bytes, const void *second, size_t second_bytes);

/* ---- CRC-32C (RFC 3720, appendix B.4), reflected: of chunks of Zarr arrays ---- */

uint32_t dome__crc32c(const void *data, size_t bytes);

#endif
