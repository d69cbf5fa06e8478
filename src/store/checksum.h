/* The checksum of checkpoints: XXH3 with 128 bits, seed 0. docs/checkpoint-format.md gives the reasons for it. */
#ifndef DOME_SRC_CKPT_CHECKSUM_H
#define DOME_SRC_CKPT_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the canonical form of XXH3, as in a file: the high 64 bits first, big-endian. */
typedef struct dome_ckpt_sum {
    uint8_t bytes[16];
} dome_ckpt_sum;

dome_ckpt_sum dome__ckpt_sum(const void *data, size_t bytes);
/* The same for bytes given in several calls. _end frees it. */
typedef struct dome_ckpt_summing dome_ckpt_summing;

dome_ckpt_summing *dome__ckpt_sum_begin(void);
void dome__ckpt_sum_add(dome_ckpt_summing *summing, const void *data, size_t bytes);
dome_ckpt_sum dome__ckpt_sum_end(dome_ckpt_summing *summing);

bool dome__ckpt_sum_equal(const dome_ckpt_sum *a, const dome_ckpt_sum *b);

#endif
