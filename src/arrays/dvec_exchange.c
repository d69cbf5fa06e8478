#include "arrays/dvec_exchange.h"

#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <string.h>

/* Memory for one batch of an exchange by index on the requesting task, and bytes per element beside the element itself. */
#define BATCH_BYTES    (UINT64_C(32) << 20)
#define BATCH_OVERHEAD 32

void *dvec__try_array(uint64_t count, uint64_t size)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    return g_try_malloc((gsize)MAX(bytes, 1));
}

/* Allocates room for elements of x. Padding received from a machine with other formats stays undefined unless it is 0 before. */
static void *try_elements(const dvec *x, uint64_t count)
{
    void *elements = dvec__try_array(count, DVEC_ELEMENT(x));
    if (elements && !x->type->dense)
        memset(elements, 0, (size_t)(count * DVEC_ELEMENT(x)));
    return elements;
}

uint64_t dvec__exchange_batch(const dvec *x)
{
    return MAX(1, BATCH_BYTES / (DVEC_ELEMENT(x) + BATCH_OVERHEAD));
}

int dvec__exchange_which(const dvec *x, uint64_t count, uint64_t **which)
{
    *which = dvec__try_array(count, sizeof **which);
    return dvec__agree_memory(x, *which != NULL, "an exchange of elements");
}

void dvec__exchange_clear(dvec_exchange *m)
{
    g_free(m->counts);
    g_free(m->places);
    g_free(m->in_counts);
    g_free(m->scaled);
    g_free(m->in_scaled);
    g_free(m->items);
    g_free(m->in_items);
    g_free(m->order);
    g_free(m->elements);
    g_free(m->in_elements);
    g_free(m->partners);
}

static int owner_of(const dvec *x, uint64_t index)
{
    return dome_layout_owner(x->layout, index / dome_layout_block_size(x->layout));
}

/* Tells each task how many items come to it. Programs repeat exchanges with the same indices: then an all-reduce finds that all
 * tasks send as many as before, which takes fewer messages than telling each. It is tried once the last two were alike, as every
 * task hears with the numbers. */
static int exchange_counts(dvec_exchange *m, const dvec *target)
{
    dome_transport *t = target->env->transport;
    dvec_lazy *lazy = target->lazy;
    const size_t size = (size_t)t->group.size;
    const uint64_t other = !lazy->exchange_counts || memcmp(lazy->exchange_counts, m->counts, size * sizeof *m->counts) != 0;
    int status = DOME_OK;
    if (lazy->exchange_steady) {
        uint64_t any = other;
        status = dome__allreduce(t, DOME_U64, &any, 1, dome__combine_max_u64, NULL);
        if (status || !any) {
            memcpy(m->in_counts, lazy->exchange_counts + size, size * sizeof *m->in_counts);
            return status;
        }
    }
    for (size_t r = 0; r < size; r++)
        m->scaled[r] = m->counts[r] << 1 | other;
    status = dome__alltoall(t, DOME_U64, m->scaled, 1, m->in_scaled);
    if (status)
        return status;
    lazy->exchange_steady = true;
    for (size_t r = 0; r < size; r++) {
        m->in_counts[r] = m->in_scaled[r] >> 1;
        lazy->exchange_steady = lazy->exchange_steady && !(m->in_scaled[r] & 1);
    }
    if (!lazy->exchange_counts)
        lazy->exchange_counts = g_new(uint64_t, 2 * size);
    memcpy(lazy->exchange_counts, m->counts, size * sizeof *m->counts);
    memcpy(lazy->exchange_counts + size, m->in_counts, size * sizeof *m->in_counts);
    return DOME_OK;
}

int dvec__exchange_open(dvec_exchange *m, const dvec *target, const uint64_t *indices, const uint64_t *which, uint64_t count,
                        uint64_t words)
{
    const gsize size = (gsize)target->env->size;
    *m = (dvec_exchange){.size = (int)size, .total = count};
    m->counts = g_new0(uint64_t, size);
    m->places = g_new0(uint64_t, size);
    m->in_counts = g_new0(uint64_t, size);
    m->scaled = g_new0(uint64_t, size);
    m->in_scaled = g_new0(uint64_t, size);
    for (uint64_t i = 0; i < count; i++)
        m->counts[owner_of(target, indices[which[i]])]++;
    int status = exchange_counts(m, target);
    if (status != DOME_OK)
        return dome__fail_transport(target->env, status);
    for (gsize r = 0; r < size; r++) {
        m->places[r] = r ? m->places[r - 1] + m->counts[r - 1] : 0;
        m->in_total += m->in_counts[r];
    }
    m->items = dvec__try_array(count, words * sizeof(uint64_t));
    m->order = dvec__try_array(count, sizeof(uint64_t));
    m->elements = try_elements(target, count);
    m->in_items = dvec__try_array(m->in_total, words * sizeof(uint64_t));
    m->in_elements = try_elements(target, m->in_total);
    status = dvec__agree_memory(target, m->items && m->order && m->elements && m->in_items && m->in_elements,
                                "an exchange of elements");
    if (status != DOME_OK)
        return status;
    for (uint64_t i = 0; i < count; i++)
        m->order[m->places[owner_of(target, indices[which[i]])]++] = which[i];
    return DOME_OK;
}

int dvec__exchange_send(dvec_exchange *m, dome_env *env, dome_type type, uint64_t values, const void *send, void *recv, bool back)
{
    for (int r = 0; r < m->size; r++) {
        m->scaled[r] = m->counts[r] * values;
        m->in_scaled[r] = m->in_counts[r] * values;
    }
    int status =
        dome__alltoallv(env->transport, type, send, back ? m->in_scaled : m->scaled, recv, back ? m->scaled : m->in_scaled);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(env, status);
}

/* Where an exchange is repeated, the number of tasks then does not matter. Each task begins with another one. */
void dvec__exchange_find_partners(dvec_exchange *m, const dome_env *env)
{
    if (m->partners)
        return;
    uint64_t at = 0, in_at = 0;
    dvec_partner *by_rank = g_new(dvec_partner, m->size);
    for (int r = 0; r < m->size; r++) {
        by_rank[r] = (dvec_partner){r, m->counts[r], at, m->in_counts[r], in_at};
        at += m->counts[r];
        in_at += m->in_counts[r];
        m->npartners += r != env->rank && (m->counts[r] > 0 || m->in_counts[r] > 0);
    }
    m->partners = g_new(dvec_partner, m->npartners + 1); /* not NULL: found, even if there are none */
    m->npartners = 0;
    for (int k = 1; k < m->size; k++) {
        const dvec_partner *p = &by_rank[(unsigned)(env->rank + k) % (unsigned)m->size];
        if (p->count > 0 || p->in_count > 0)
            m->partners[m->npartners++] = *p;
    }
    g_free(by_rank);
}

int dvec__exchange_begin(dvec_exchange *m, dome_env *env, dome_type type, uint64_t values, const void *send, bool back)
{
    const uint64_t item = values * dome_type_size(type);
    int status = DOME_OK;
    dvec__exchange_find_partners(m, env);
    for (int k = 0; k < m->npartners && status == DOME_OK; k++) {
        const dvec_partner *p = &m->partners[k];
        const uint64_t count = back ? p->in_count : p->count;
        if (count > 0)
            status = dome__begin_send(env->transport, p->rank, DOME_CHANNEL_DATA, type,
                                      (const char *)send + (back ? p->in_at : p->at) * item, count * values);
    }
    return status;
}

int dvec__exchange_finish(dvec_exchange *m, dome_env *env, dome_type type, uint64_t values, void *recv, bool back)
{
    const uint64_t item = values * dome_type_size(type);
    int status = DOME_OK;
    for (int k = m->npartners; k-- > 0 && status == DOME_OK;) {
        const dvec_partner *p = &m->partners[k];
        const uint64_t count = back ? p->count : p->in_count;
        if (count > 0)
            status = dome__recv(env->transport, p->rank, DOME_CHANNEL_DATA, type, (char *)recv + (back ? p->at : p->in_at) * item,
                                count * values);
    }
    for (int k = 0; k < m->npartners; k++) /* after a failure, too: others may still read what this task has sent */
        if ((back ? m->partners[k].in_count : m->partners[k].count) > 0)
            dome__end_send(env->transport, m->partners[k].rank);
    return status;
}
