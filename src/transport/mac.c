#include "transport/mac.h"

#include <glib.h>

#include <string.h>

typedef struct state {
    uint64_t v[4];
} state;

static inline uint64_t get_le(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return GUINT64_FROM_LE(word);
}

static inline void put_le(uint8_t *to, uint64_t word)
{
    word = GUINT64_TO_LE(word);
    memcpy(to, &word, sizeof word);
}

static inline uint64_t rotated(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

/* The paper's SipRound, so many times. */
static inline void rounds(state *s, int count)
{
    uint64_t *v = s->v;
    for (int i = 0; i < count; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32) + v[3];
        v[2] += v[1];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] = rotated(v[2], 32);
    }
}

static inline void take(state *s, uint64_t word)
{
    s->v[3] ^= word;
    rounds(s, 2);
    s->v[0] ^= word;
}

static uint64_t finish(state *s, unsigned which)
{
    s->v[which ? 1 : 2] ^= which ? 0xdd : 0xee;
    rounds(s, 4);
    return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

/* The start values are "somepseudorandomlygeneratedbytes", and 0xee and 0xdd stand for the longer result, as in the authors'
 * program. */
static state begin(const uint64_t key[2])
{
    return (state){{key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                    key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)}};
}

dome_mac dome__mac_of(const uint8_t key[DOME_MAC_KEY])
{
    return (dome_mac){.key = {get_le(key), get_le(key + 8)}};
}

void dome__mac_next(dome_mac *mac, const void *data, size_t bytes, uint8_t code[DOME_MAC_BYTES])
{
    const uint8_t *at = data;
    uint8_t last[8] = {0};
    state s = begin(mac->key);
    take(&s, mac->messages++);
    for (size_t k = 0; k < bytes / 8; k++, at += 8)
        take(&s, get_le(at));
    if (bytes % 8)
        memcpy(last, at, bytes % 8);
    last[7] = (uint8_t)(bytes + sizeof mac->messages); /* the length of all, modulo 256 */
    take(&s, get_le(last));
    put_le(code, finish(&s, 0));
    put_le(code + 8, finish(&s, 1));
}

bool dome__mac_check(dome_mac *mac, const void *data, size_t bytes, const uint8_t code[DOME_MAC_BYTES])
{
    uint8_t right[DOME_MAC_BYTES];
    unsigned differ = 0;
    dome__mac_next(mac, data, bytes, right);
    for (size_t k = 0; k < sizeof right; k++)
        differ |= (unsigned)(right[k] ^ code[k]);
    return differ == 0;
}
