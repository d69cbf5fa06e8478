#include "objects/dvec_mail.h"

#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <string.h>

/* Memory for one batch of an exchange by index on the requesting task, and bytes per element beside the element itself. */
#define BATCH_BYTES    (UINT64_C(32) << 20)
#define BATCH_OVERHEAD 32

static void *try_array(uint64_t count, uint64_t size)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    return g_try_malloc((gsize)MAX(bytes, 1));
}

/* Allocates room for elements of x. Padding received from a machine with other formats stays undefined unless it is 0 before. */
static void *try_elements(const dvec *x, uint64_t count)
{
    void *elements = try_array(count, DVEC_ELEMENT(x));
    if (elements && !x->type->dense)
        memset(elements, 0, (size_t)(count * DVEC_ELEMENT(x)));
    return elements;
}

uint64_t dvec__mail_batch(const dvec *x)
{
    return MAX(1, BATCH_BYTES / (DVEC_ELEMENT(x) + BATCH_OVERHEAD));
}

int dvec__mail_which(const dvec *x, uint64_t count, uint64_t **which)
{
    *which = try_array(count, sizeof **which);
    return dvec__agree_memory(x, *which != NULL, "an exchange of elements");
}

void dvec__mail_clear(dvec_mail *m)
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
}

static int owner_of(const dvec *x, uint64_t index)
{
    return dome_layout_owner(x->layout, index / dome_layout_block_size(x->layout));
}

int dvec__mail_open(dvec_mail *m, const dvec *target, const uint64_t *indices, const uint64_t *which, uint64_t count,
                    uint64_t words)
{
    dome_transport *t = target->env->transport;
    gsize size = (gsize)t->size;
    *m = (dvec_mail){.size = t->size, .total = count};
    m->counts = g_new0(uint64_t, size);
    m->places = g_new0(uint64_t, size);
    m->in_counts = g_new0(uint64_t, size);
    m->scaled = g_new0(uint64_t, size);
    m->in_scaled = g_new0(uint64_t, size);
    for (uint64_t i = 0; i < count; i++)
        m->counts[owner_of(target, indices[which[i]])]++;
    int status = dome__alltoall(t, DOME_U64, m->counts, 1, m->in_counts);
    if (status != DOME_OK)
        return dome__fail_transport(target->env, status);
    for (gsize r = 0; r < size; r++) {
        m->places[r] = r ? m->places[r - 1] + m->counts[r - 1] : 0;
        m->in_total += m->in_counts[r];
    }
    m->items = try_array(count, words * sizeof(uint64_t));
    m->order = try_array(count, sizeof(uint64_t));
    m->elements = try_elements(target, count);
    m->in_items = try_array(m->in_total, words * sizeof(uint64_t));
    m->in_elements = try_elements(target, m->in_total);
    status = dvec__agree_memory(target, m->items && m->order && m->elements && m->in_items && m->in_elements,
                                "an exchange of elements");
    if (status != DOME_OK)
        return status;
    for (uint64_t i = 0; i < count; i++)
        m->order[m->places[owner_of(target, indices[which[i]])]++] = which[i];
    return DOME_OK;
}

int dvec__mail_send(dvec_mail *m, dome_env *env, dome_type type, uint64_t values, const void *send, void *recv, bool back)
{
    for (int r = 0; r < m->size; r++) {
        m->scaled[r] = m->counts[r] * values;
        m->in_scaled[r] = m->in_counts[r] * values;
    }
    int status =
        dome__alltoallv(env->transport, type, send, back ? m->in_scaled : m->scaled, recv, back ? m->scaled : m->in_scaled);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(env, status);
}

/* The rank at distance k from this task: each task begins with another one. */
static int rank_at(const dvec_mail *m, const dome_env *env, int k)
{
    return (env->rank + k) % m->size;
}

int dvec__mail_begin(dvec_mail *m, dome_env *env, dome_type type, uint64_t values, const void *send, bool back)
{
    const uint64_t *counts = back ? m->in_counts : m->counts;
    const char *at = send;
    int status = DOME_OK;
    m->places[0] = 0;
    for (int r = 1; r < m->size; r++)
        m->places[r] = m->places[r - 1] + counts[r - 1];
    for (int k = 1; k < m->size && status == DOME_OK; k++) {
        int r = rank_at(m, env, k);
        if (counts[r] > 0)
            status = dome__begin_send(env->transport, r, DOME_CHANNEL_DATA, type,
                                      at + m->places[r] * values * dome_type_size(type), counts[r] * values);
    }
    return status;
}

int dvec__mail_finish(dvec_mail *m, dome_env *env, dome_type type, uint64_t values, void *recv, bool back)
{
    const uint64_t *sent = back ? m->in_counts : m->counts, *counts = back ? m->counts : m->in_counts;
    char *at = recv;
    int status = DOME_OK;
    m->places[0] = 0;
    for (int r = 1; r < m->size; r++)
        m->places[r] = m->places[r - 1] + counts[r - 1];
    for (int k = 1; k < m->size && status == DOME_OK; k++) {
        int r = rank_at(m, env, m->size - k);
        if (counts[r] > 0)
            status = dome__recv(env->transport, r, DOME_CHANNEL_DATA, type, at + m->places[r] * values * dome_type_size(type),
                                counts[r] * values);
    }
    for (int k = 1; k < m->size && status == DOME_OK; k++)
        if (sent[rank_at(m, env, k)] > 0)
            dome__end_send(env->transport, rank_at(m, env, k));
    return status;
}
