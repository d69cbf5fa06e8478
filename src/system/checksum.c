#include "system/checksum.h"

#include <glib.h>
#include <string.h>

#ifdef DOME_WITH_CHECKPOINT
#include <xxhash.h>

static dome_checksum canonical(XXH128_hash_t hash)
{
    XXH128_canonical_t form;
    dome_checksum sum;
    XXH128_canonicalFromHash(&form, hash);
    memcpy(sum.bytes, form.digest, sizeof sum.bytes);
    return sum;
}

dome_checksum dome__checksum(const void *data, size_t bytes)
{
    return canonical(XXH3_128bits(data, bytes));
}

static XXH3_state_t *new_state(XXH_errorcode (*reset)(XXH3_state_t *state))
{
    XXH3_state_t *state = XXH3_createState();
    if (!state || reset(state) != XXH_OK)
        g_error("there is no memory for a checksum");
    return state;
}

dome_checksumming *dome__checksum_begin(void)
{
    return (dome_checksumming *)new_state(XXH3_128bits_reset);
}

void dome__checksum_add(dome_checksumming *summing, const void *data, size_t bytes)
{
    XXH3_128bits_update((XXH3_state_t *)summing, data, bytes);
}

dome_checksum dome__checksum_end(dome_checksumming *summing)
{
    dome_checksum sum = canonical(XXH3_128bits_digest((XXH3_state_t *)summing));
    XXH3_freeState((XXH3_state_t *)summing);
    return sum;
}

bool dome__checksum_equal(const dome_checksum *a, const dome_checksum *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

uint64_t dome__checksum64(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

uint64_t dome__checksum64_of_two(const void *first, size_t first_bytes, const void *second, size_t second_bytes)
{
    XXH3_state_t *state = new_state(XXH3_64bits_reset);
    XXH3_64bits_update(state, first, first_bytes);
    if (second_bytes)
        XXH3_64bits_update(state, second, second_bytes);
    uint64_t sum = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return sum;
}
#else
uint64_t dome__checksum64(const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    return 0;
}
#endif

static void fill_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? UINT32_C(0x82f63b78) : 0);
        table[i] = c;
    }
}

uint32_t dome__crc32c(const void *data, size_t bytes)
{
    static uint32_t table[256];
    static gsize ready;
    const uint8_t *at = data;
    if (g_once_init_enter(&ready)) {
        fill_table(table);
        g_once_init_leave(&ready, 1);
    }
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < bytes; i++)
        crc = crc >> 8 ^ table[(crc ^ at[i]) & 0xff];
    return ~crc;
}
