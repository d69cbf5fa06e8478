/* Domains: all objects of one length and block size. */
#include "balance/balance_private.h"
#include "core/layout.h"
#include "core/object_private.h"

#include <string.h>

/* Domains that are kept although they have no objects. */
enum { DOMAINS_KEPT = 64 };

void dome__domain_free(void *data)
{
    domain *d = data;
    g_free(d->costs);
    g_free(d->seen);
    g_free(d->told);
    g_free(d->flow);
    g_free(d->counts);
    dome_layout_unref(d->layout);
    g_free(d);
}

static domain *domain_of(dome_balance *b, const dome_layout *layout)
{
    uint64_t length = dome_layout_length(layout), block_size = dome_layout_block_size(layout);
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (d->length == length && d->block_size == block_size)
            return d;
    }
    domain *d = g_new0(domain, 1);
    *d = (domain){.length = length, .block_size = block_size, .blocks = dome_layout_blocks(layout), .topology = b->topology};
    d->flow = g_new0(dome_flow, b->size);
    d->counts = g_new0(uint64_t, b->size);
    g_ptr_array_add(b->domains, d);
    return d;
}

static uint64_t object_block_bytes(const dome_object_info *info)
{
    return (info->type ? dome_type_size(info->type) : sizeof(double)) * info->width * dome_layout_block_size(info->layout);
}

/* Without this, a program that makes vectors of ever new lengths would use ever more memory. */
static void forget_dead(dome_env *env, dome_balance *b)
{
    for (guint k = b->domains->len; k-- > 0 && b->domains->len > DOMAINS_KEPT;) {
        const domain *d = g_ptr_array_index(b->domains, k);
        if (dome__domain_is_live(d))
            continue;
        dome__block_times_forget(env, d->length, d->block_size);
        g_ptr_array_remove_index(b->domains, k);
    }
}

void dome__domains_survey(dome_env *env, dome_balance *b)
{
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        dome_layout_unref(d->layout);
        d->layout = NULL;
        d->object = NULL;
        d->topology = b->topology;
        d->followed = false;
        d->block_bytes = 0;
    }
    for (dome_object *o = NULL; (o = dome_object_next(env, o));) {
        dome_object_info info = {.size = sizeof info};
        if (dome_object_describe(o, &info) != DOME_OK || info.distribution != DOME_DYNAMIC || info.length == 0)
            continue;
        domain *d = domain_of(b, info.layout);
        if (!d->layout)
            d->layout = dome_layout_ref(info.layout);
        if (!d->object && dome__object_has_cost(o))
            d->object = o;
        if (dome__object_is_in_order(o))
            d->topology = DOME_LINEAR;
        d->followed |= dome__object_has_followers(o);
        d->block_bytes += object_block_bytes(&info);
        d->seconds += (double)dome__object_recent_ns(o) * 1e-9;
    }
    forget_dead(env, b);
}

void dome__domains_restart(dome_env *env, dome_balance *b)
{
    for (guint k = 0; k < b->domains->len; k++) {
        domain *d = g_ptr_array_index(b->domains, k);
        if (!dome__domain_is_live(d))
            continue;
        dome_block_times *times = dome__block_times(env, d->layout);
        memset(times->ns, 0, times->blocks * sizeof *times->ns);
        d->seconds = 0;
    }
}

double dome__domain_owned_part(const domain *d, int rank)
{
    uint64_t count = dome_layout_run(d->layout, rank, NULL);
    double sum = (double)count;
    if (d->costs) {
        sum = 0;
        for (uint64_t k = 0; k < count; k++)
            sum += d->costs[dome__layout_block_at(d->layout, rank, k)];
    }
    return sum / (double)d->blocks;
}
