/* Tasks of one host read units from each other's memory, where all tasks have stopped. A message for units takes four changes of
 * the thread that runs, on processors that all compute, and copies each unit four times. */
#include "region/member.h"
#include "region/release_private.h"
#include "system/unconst.h"
#include "transport/agree.h"
#include "transport/collective.h"

/* ---- where the memory is ---- */

/* A word of each other task's memory. */
static bool can_read(dome_transport *t, int rank, uint64_t there)
{
    uint64_t word;
    const struct iovec from = {(void *)(uintptr_t)there, sizeof word}, to = {&word, sizeof word};
    return there && dome__transport_peek(t, rank, &to, &from, 1);
}

int dome__release_units_show(dome_release_units *const *units, unsigned count)
{
    dome_env *env = units[0]->setup.release->env;
    const size_t size = (size_t)env->size;
    uint64_t *here = g_new(uint64_t, count), *all = g_new(uint64_t, count * size), any = 0;
    for (unsigned k = 0; k < count; k++)
        here[k] = (uintptr_t)dome__memory_alias(units[k]->setup.memory);
    int status = dome__allgather(env->transport, DOME_U64, here, count, all);
    for (size_t r = 0; r < size && !status; r++) {
        const bool good = (int)r != env->rank && can_read(env->transport, (int)r, all[r * count]);
        for (unsigned k = 0; k < count; k++)
            all[r * count + k] = good ? all[r * count + k] : 0;
        any |= good;
    }
    if (!status)
        status = dome__allreduce(env->transport, DOME_U64, &any, 1, dome__combine_max_u64, NULL);
    for (unsigned k = 0; k < count && any && !status; k++) {
        units[k]->shown = g_new(uint64_t, size);
        for (size_t r = 0; r < size; r++)
            units[k]->shown[r] = all[r * count + k];
    }
    units[0]->setup.release->shows |= any && !status;
    g_free(here);
    g_free(all);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

/* ---- reading it ---- */

/* The end of units from `first` on that lie one behind the other at one home. */
static guint end_of_run(const dome_release_units *u, const GArray *units, guint first)
{
    const uint64_t unit = g_array_index(units, uint64_t, first);
    guint end = first + 1;
    while (end < units->len && g_array_index(units, uint64_t, end) == unit + (end - first) &&
           home_of(u, unit + (end - first)) == home_of(u, unit))
        end++;
    return end;
}

/* Those of one home; the others are left. */
static void peek_at(dome_release_units *u, int home, const GArray *wanted, GArray *left)
{
    GArray *here = g_array_new(FALSE, FALSE, sizeof(struct iovec)), *there = g_array_new(FALSE, FALSE, sizeof(struct iovec));
    uint64_t count = 0;
    for (guint k = 0, end; k < wanted->len; k = end) {
        const uint64_t unit = g_array_index(wanted, uint64_t, k);
        end = end_of_run(u, wanted, k);
        if (home_of(u, unit) != home)
            continue;
        const size_t bytes = (end - k) * u->setup.unit;
        g_array_append_val(here, ((struct iovec){place_of(u, unit), bytes}));
        g_array_append_val(there, ((struct iovec){(void *)(uintptr_t)(u->shown[home] + unit * u->setup.unit), bytes}));
        count += end - k;
    }
    if (dome__transport_peek(u->setup.release->env->transport, home, (const struct iovec *)(const void *)here->data,
                             (const struct iovec *)(const void *)there->data, here->len)) {
        u->figures->units[u->setup.release->env->lazy.members->of[home]] += count;
        u->figures->bytes += count * u->setup.unit;
    } else {
        for (guint k = 0; k < wanted->len; k++)
            if (home_of(u, g_array_index(wanted, uint64_t, k)) == home)
                g_array_append_val(left, g_array_index(wanted, uint64_t, k));
    }
    g_array_unref(here);
    g_array_unref(there);
}

GArray *dome__release_peek(dome_release_units *units, GArray *wanted)
{
    dome_release_units *u = units;
    if (!u->shown)
        return wanted;
    GArray *left = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (int home = 0; home < u->setup.release->env->size; home++) {
        if (u->shown[home])
            peek_at(u, home, wanted, left);
    }
    for (guint k = 0; k < wanted->len; k++)
        if (!u->shown[home_of(u, g_array_index(wanted, uint64_t, k))])
            g_array_append_val(left, g_array_index(wanted, uint64_t, k));
    dome__release_sort(left);
    g_array_unref(wanted);
    return left;
}

/* ---- units that are fetched behind a place ---- */

/* Units that a task wants: a run. */
typedef struct wish {
    uint64_t key, count;
} wish;

enum { WISH_WORDS = sizeof(wish) / sizeof(uint64_t) };

/* Of units whose home's memory this task can read. The lock is held. */
static GArray *wishes_of(const dome_release *r, const GArray *keys)
{
    GArray *wishes = g_array_new(FALSE, FALSE, sizeof(wish));
    for (guint k = 0; k < keys->len; k++) {
        const uint64_t key = g_array_index(keys, uint64_t, k);
        uint64_t unit;
        const dome_release_units *u = units_of(r, key, &unit);
        wish *last = wishes->len ? &g_array_index(wishes, wish, wishes->len - 1) : NULL;
        if (!u || !u->shown || is_valid(u, unit) || !u->shown[home_of(u, unit)])
            continue;
        if (last && last->key + last->count == key)
            last->count++;
        else
            g_array_append_val(wishes, ((wish){key, 1}));
    }
    return wishes;
}

/* Of the next region, the units, from *next on. */
static GArray *units_of_wishes(const GArray *wishes, guint *next)
{
    GArray *units = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const uint64_t region = g_array_index(wishes, wish, *next).key >> UNIT_BITS;
    for (; *next < wishes->len && g_array_index(wishes, wish, *next).key >> UNIT_BITS == region; ++*next) {
        const wish *w = &g_array_index(wishes, wish, *next);
        const uint64_t first = w->key & ((UINT64_C(1) << UNIT_BITS) - 1);
        for (uint64_t k = first; k < first + w->count; k++)
            g_array_append_val(units, k);
    }
    return units;
}

/* Another task is about to have a copy of these units, as they are now: nobody has written them since the barrier. The lock is
 * held. */
static void share_with(dome_release *r, const wish *w, int rank)
{
    uint64_t first;
    dome_release_units *u = units_of(r, w->key, &first);
    GArray *private = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (uint64_t k = first; u && k < first + w->count && k < u->setup.units; k++) {
        if (!is_home(u, k))
            continue;
        if (is_private(u, k))
            g_array_append_val(private, k);
        u->state[k] |= VALID | SHARED;
        dome__release_note_reader(u, k, rank);
    }
    if (u)
        dome__release_protect_all(u, private);
    g_array_unref(private);
}

/* The units are of one region. One that cannot be read is fetched when it is accessed. */
static void read_units(dome_release *r, dome_release_units *u, const GArray *units)
{
    GArray *left = dome__release_peek(u, g_array_copy(dome__unconst(units))), *come = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    pthread_mutex_lock(&r->lock);
    for (guint k = 0, j = 0; k < units->len; k++) {
        const uint64_t unit = g_array_index(units, uint64_t, k);
        if (j < left->len && g_array_index(left, uint64_t, j) == unit) {
            j++;
            continue;
        }
        u->state[unit] |= VALID;
        g_array_append_val(come, unit);
    }
    dome__release_allow_all(u, come, DOME_ACCESS_READ);
    r->fetched += come->len;
    pthread_mutex_unlock(&r->lock);
    g_array_unref(come);
    g_array_unref(left);
}

/* All homes know who gets copies when this returns. */
static int tell_wishes(dome_release *r, const GArray *own, bool *any)
{
    const size_t size = (size_t)r->env->size;
    uint64_t *counts = g_new(uint64_t, size), words = own->len * (uint64_t)WISH_WORDS, total = 0;
    int status = dome__allgather(r->env->transport, DOME_U64, &words, 1, counts);
    for (size_t k = 0; k < size && !status; k++)
        total += counts[k];
    *any = total > 0;
    wish *all = g_new(wish, total / WISH_WORDS + 1);
    if (!status && *any)
        status = dome__allgatherv(r->env->transport, DOME_U64, own->data, counts, all);
    pthread_mutex_lock(&r->lock);
    const wish *at = all;
    for (int rank = 0; *any && !status && rank < (int)size; at += counts[rank++] / WISH_WORDS)
        for (uint64_t k = 0; k < counts[rank] / WISH_WORDS && rank != r->env->rank; k++)
            share_with(r, at + k, rank);
    pthread_mutex_unlock(&r->lock);
    g_free(all);
    g_free(counts);
    return status;
}

int dome__release_read_ahead(dome_release *release, const GArray *keys)
{
    dome_release *r = release;
    bool any = false;
    pthread_mutex_lock(&r->lock);
    GArray *own = wishes_of(r, keys);
    pthread_mutex_unlock(&r->lock);
    int status = tell_wishes(r, own, &any);
    for (guint k = 0; k < own->len && !status;) {
        uint64_t unit;
        dome_release_units *u = units_of(r, g_array_index(own, wish, k).key, &unit);
        GArray *units = units_of_wishes(own, &k);
        read_units(r, u, units);
        g_array_unref(units);
    }
    if (!status && any)
        status = dome__barrier(r->env->transport); /* until all have read */
    g_array_unref(own);
    return status;
}
