/* The tasks of one host: short data through the memory that they share, other data by messages between them. */
#include "transport/collective_private.h"

#include "system/words.h"

#include <inttypes.h>

bool dome__host_shares(const dome_transport *t, dome_type type, uint64_t count)
{
    return dome_type_kind_of(type) != DOME_KIND_STRUCT && count <= t->group.share_bytes / dome_type_size(type) &&
           t->group.share_bytes;
}

int dome__host_spread(dome_transport *t, int from, dome_type type, void *data, uint64_t count)
{
    dome_shared given[DOME_NEAR_MAX];
    const dome_share_part sharing = {.from = from, .type = type, .data = data, .own = count, .least = count, .most = count};
    int status = dome__share(t, &sharing, given);
    if (status || from == t->group.rank)
        return status;
    for (int i = 0; i < t->group.near.count; i++)
        if (t->group.near.rank[i] == from)
            copy(type, data, given[i].data, count);
    return DOME_OK;
}

int dome__host_bcast(dome_transport *t, int from, dome_type type, void *data, uint64_t count)
{
    if (t->group.near.count <= 1)
        return DOME_OK;
    if (dome__host_shares(t, type, count))
        return dome__host_spread(t, from, type, data, count);
    return dome__tree_bcast(t, &t->group.near, dome__group_place(&t->group.near, from), type, data, count);
}

/* Sums by share. Each task gives its words without leading and trailing zeros: the number of leading zeros, then the words. */
static int add_shared(dome_transport *t, int64_t *data, uint64_t count)
{
    dome_shared given[DOME_NEAR_MAX];
    int64_t *word = g_newa(int64_t, count + 1);
    size_t zeros, end;
    dome__words_in_use(data, count, &zeros, &end);
    word[0] = (int64_t)zeros;
    memcpy(word + 1, data + zeros, (end - zeros) * sizeof *word);
    const dome_share_part sharing = {
        .from = -1, .type = DOME_I64, .data = word, .own = 1 + end - zeros, .least = 1, .most = 1 + count};
    int status = dome__share(t, &sharing, given);
    if (status)
        return status;
    memset(data + zeros, 0, (end - zeros) * sizeof *data);
    for (int i = 0; i < t->group.near.count; i++) {
        const int64_t *theirs = given[i].data;
        const uint64_t words = given[i].bytes / sizeof *theirs - 1;
        if ((uint64_t)theirs[0] > count - words)
            return dome__transport_error(t, DOME_ERR_COMM,
                                         "task %d gives %" PRIu64 " words from word %" PRId64 " on, of %" PRIu64,
                                         t->group.near.rank[i], words, theirs[0], count);
        dome__combine_sum_i64(data + theirs[0], theirs + 1, words, NULL);
    }
    return DOME_OK;
}

/* So many words are copied sooner than searched for zeros. */
enum { FEW_WORDS = 16 };

int dome__host_combine(dome_transport *t, const dome_combining *c)
{
    dome_shared given[DOME_NEAR_MAX];
    const uint64_t count = c->count;
    if (count > FEW_WORDS && c->combine == dome__combine_sum_i64 && dome__host_shares(t, c->type, count + 1))
        return add_shared(t, c->data, count);
    const dome_share_part sharing = {.from = -1, .type = c->type, .data = c->data, .own = count, .least = count, .most = count};
    int status = dome__share(t, &sharing, given);
    if (status || !count)
        return status;
    copy(c->type, c->data, given[0].data, count);
    for (int i = 1; i < t->group.near.count; i++)
        c->combine(c->data, given[i].data, count, c->ctx);
    return DOME_OK;
}

int dome__host_reduce(dome_transport *t, const dome_combining *c)
{
    if (t->group.near.count <= 1)
        return DOME_OK;
    if (dome__host_shares(t, c->type, c->count))
        return dome__host_combine(t, c);
    return dome__tree_reduce(t, &t->group.near, c);
}
