/* Transposes of matrices nearly all of whose values are the same, as those of graphs: the values do not travel, and are not even
 * written. The few others, which for instance stand for two links, travel apart. */
#include "sparse/dsparse_transpose.h"

#include "transport/collective.h"
#include "transport/transport.h"

#include <stdlib.h>

/* Values are nearly all the same if at most one of so many differs. */
enum { NEARLY = 64 };

/* A real value as bits. */
static uint64_t bits_of(const transposition *p, const void *value)
{
    uint64_t bits = 0;
    uint32_t half;
    memcpy(&half, value, sizeof half);
    bits = half;
    if (p->size == sizeof bits)
        memcpy(&bits, value, sizeof bits);
    return bits;
}

/* This task's entries in uniform blocks and in others, and the value of the first uniform block. */
static void look_at_blocks(const transposition *p, uint64_t *alike, uint64_t *unlike, uint64_t *value)
{
    *alike = *unlike = *value = 0;
    for (uint64_t k = 0; k < p->a->blocks; k++) {
        const dsparse_block *b = &p->a->block[k];
        const uint64_t entries = dsparse__block_entries(b);
        if (entries > 0 && b->uniform && *alike == 0)
            *value = bits_of(p, b->same);
        *(b->uniform ? alike : unlike) += entries;
    }
}

static uint64_t count_odd(const transposition *p)
{
    uint64_t odd = 0;
    for (uint64_t b = 0; b < p->a->blocks; b++) {
        const dsparse_block *block = &p->a->block[b];
        const uint64_t entries = dsparse__block_entries(block);
        if (block->uniform)
            odd += memcmp(block->same, p->same, p->size) != 0 ? entries : 0;
        for (uint64_t k = 0; !block->uniform && k < entries; k++)
            odd += memcmp((const char *)block->value + k * p->size, p->same, p->size) != 0;
    }
    return odd;
}

/* Some value is the one of which most blocks consist; of several, all tasks take the same. */
int dsparse__transpose_find_uniform(transposition *p)
{
    dome_transport *t = p->a->env->transport;
    uint64_t alike, unlike, value, words[2] = {p->a->parts > 1, 0};
    p->uniform = p->any_odd = false;
    look_at_blocks(p, &alike, &unlike, &value);
    words[0] = words[0] || unlike > alike;
    words[1] = alike > 0 ? value : 0;
    int failed = dome__allreduce(t, DOME_U64, words, 2, dome__combine_max_u64, NULL);
    if (failed || words[0])
        return failed;
    if (p->size == sizeof(uint64_t))
        memcpy(p->same, &words[1], sizeof words[1]);
    else
        memcpy(p->same, &(uint32_t){(uint32_t)words[1]}, sizeof(uint32_t));
    p->own_odd = count_odd(p);
    uint64_t sums[2] = {p->own_odd, alike + unlike};
    failed = dome__allreduce(t, DOME_U64, sums, 2, dome__combine_sum_i64, NULL);
    p->uniform = !failed && sums[0] <= sums[1] / NEARLY;
    p->any_odd = p->uniform && sums[0] > 0;
    return failed;
}

/* ---- the exchange ---- */

bool dsparse__transpose_odd_room(transposition *p)
{
    p->odd_sent.entry = dvec__try_array(p->any_odd ? p->own_odd : 0, sizeof *p->odd_sent.entry);
    return p->odd_sent.entry != NULL;
}

void dsparse__transpose_note_odd(odd_entries *odd, const transposition *p, uint64_t at, const void *value)
{
    odd_entry *e = &odd->entry[odd->count++];
    *e = (odd_entry){.at = at};
    memcpy(e->value, value, p->size);
}

static int by_number(const void *x, const void *y)
{
    const odd_entry *a = x, *b = y;
    return (a->at > b->at) - (a->at < b->at);
}

/* Numbers the entries of each rank from its first one on, and counts them. words: two for each entry of `mine` for a rank. */
static void number_from_first(odd_entries *odd, const uint64_t *words, int size, uint64_t *counts)
{
    uint64_t first = 0, k = 0;
    for (int r = 0; r < size; first += words[r++] / 2)
        for (counts[r] = 0; k < odd->count && odd->entry[k].at < first + words[r] / 2; k++, counts[r]++)
            odd->entry[k].at -= first;
}

static int exchange_parts(dome_transport *t, const transposition *p, const uint64_t *counts, const uint64_t *in_counts)
{
    const uint64_t sent = p->odd_sent.count, come = p->odd_come.count;
    uint64_t *at = g_new(uint64_t, sent + 1), *in_at = g_new(uint64_t, come + 1);
    char *value = g_malloc(sent * p->size + 1), *in_value = g_malloc(come * p->size + 1);
    for (uint64_t k = 0; k < sent; k++) {
        at[k] = p->odd_sent.entry[k].at;
        memcpy(value + k * p->size, p->odd_sent.entry[k].value, p->size);
    }
    int failed = dome__alltoallv(t, DOME_U64, at, counts, in_at, in_counts);
    if (!failed)
        failed = dome__alltoallv(t, p->a->type, value, counts, in_value, in_counts);
    for (uint64_t k = 0; k < come && !failed; k++) {
        p->odd_come.entry[k] = (odd_entry){.at = in_at[k]};
        memcpy(p->odd_come.entry[k].value, in_value + k * p->size, p->size);
    }
    g_free(at);
    g_free(in_at);
    g_free(value);
    g_free(in_value);
    return failed;
}

int dsparse__transpose_odd_exchange(transposition *p)
{
    dome_transport *t = p->a->env->transport;
    const gsize size = (gsize)t->group.size;
    uint64_t *counts = g_new0(uint64_t, size), *in_counts = g_new0(uint64_t, size);
    p->odd_from = g_new0(uint64_t, size + 1);
    if (p->odd_sent.count > 0)
        qsort(p->odd_sent.entry, (size_t)p->odd_sent.count, sizeof *p->odd_sent.entry, by_number);
    number_from_first(&p->odd_sent, p->sent, t->group.size, counts);
    int failed = dome__alltoall(t, DOME_U64, counts, 1, in_counts);
    for (gsize r = 0; r < size; r++)
        p->odd_from[r + 1] = p->odd_from[r] + in_counts[r];
    p->odd_come.count = p->odd_from[size];
    p->odd_come.entry = g_new0(odd_entry, p->odd_come.count + 1);
    if (!failed)
        failed = exchange_parts(t, p, counts, in_counts);
    g_free(counts);
    g_free(in_counts);
    return failed;
}

/* ---- the new blocks ---- */

void dsparse__transpose_put_odd(const transposition *p, odd_entries *odd, dsparse_block *block)
{
    uint64_t first = 0, k = 0;
    if (odd->count > 0)
        qsort(odd->entry, (size_t)odd->count, sizeof *odd->entry, by_number);
    for (uint64_t b = 0; b < p->t->blocks && k < odd->count; b++) {
        const uint64_t entries = dsparse__block_entries(&block[b]);
        const bool any = odd->entry[k].at < first + entries;
        if (any) {
            dsparse__block_separate(p->t, &block[b], entries);
            dsparse__block_spread(p->t, &block[b]);
        }
        for (; k < odd->count && odd->entry[k].at < first + entries; k++)
            memcpy((char *)block[b].value + (odd->entry[k].at - first) * p->size, odd->entry[k].value, p->size);
        first += entries;
    }
}
