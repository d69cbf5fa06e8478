#include "store/checksum.h"

#include <glib.h>
#include <string.h>
#include <xxhash.h>

static dome_ckpt_sum canonical(XXH128_hash_t hash)
{
    XXH128_canonical_t form;
    dome_ckpt_sum sum;
    XXH128_canonicalFromHash(&form, hash);
    memcpy(sum.bytes, form.digest, sizeof sum.bytes);
    return sum;
}

dome_ckpt_sum dome__ckpt_sum(const void *data, size_t bytes)
{
    return canonical(XXH3_128bits(data, bytes));
}

dome_ckpt_summing *dome__ckpt_sum_begin(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state || XXH3_128bits_reset(state) != XXH_OK)
        g_error("there is no memory for a checksum");
    return (dome_ckpt_summing *)state;
}

void dome__ckpt_sum_add(dome_ckpt_summing *summing, const void *data, size_t bytes)
{
    XXH3_128bits_update((XXH3_state_t *)summing, data, bytes);
}

dome_ckpt_sum dome__ckpt_sum_end(dome_ckpt_summing *summing)
{
    dome_ckpt_sum sum = canonical(XXH3_128bits_digest((XXH3_state_t *)summing));
    XXH3_freeState((XXH3_state_t *)summing);
    return sum;
}

bool dome__ckpt_sum_equal(const dome_ckpt_sum *a, const dome_ckpt_sum *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}
