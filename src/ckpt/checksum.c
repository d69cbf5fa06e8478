#include "ckpt/checksum.h"

#include <string.h>
#include <xxhash.h>

dome_ckpt_sum dome__ckpt_sum(const void *data, size_t bytes)
{
    XXH128_canonical_t canonical;
    dome_ckpt_sum sum;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, bytes));
    memcpy(sum.bytes, canonical.digest, sizeof sum.bytes);
    return sum;
}

bool dome__ckpt_sum_equal(const dome_ckpt_sum *a, const dome_ckpt_sum *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}
