/* What travels with the first exchange of a barrier. A page that its home changes a little in each interval, as the frame of a
 * function or a few globals, would otherwise cost a fault to write, a message for each reader, and a fault to read:
 *
 *     home      compares the unit with what it was; the few bytes go to all who have a copy, with the card
 *     reader    changes its copy, which stays valid
 *     home      may write the unit on, without a fault: it is hot
 *
 * Only if no other task has written the unit since the last barrier. A hot unit that has not changed for some barriers cools. */
#include "region/release_private.h"
#include "system/bytes.h"

#include <string.h>

/* An entry: the region (4 bytes), bytes of the records (4), the unit, the readers as bits by rank, the records (delta.h). */
enum { ENTRY = 24, MOST_RANKS = 64, MOST_LOOKS = 16, MOST_HOT = 16, QUIET = 8 };

static dome_release_units *units_of(const dome_release *r, uint64_t key, uint64_t *unit)
{
    *unit = key & ((UINT64_C(1) << UNIT_BITS) - 1);
    const uint64_t region = key >> UNIT_BITS;
    return region < r->regions->len ? r->regions->pdata[region] : NULL;
}

static char *old_of(const dome_release_units *u, uint64_t unit)
{
    return u->old + unit * u->setup.unit;
}

/* ---- hot units ---- */

static void take_out(GArray *units, uint64_t unit)
{
    for (guint k = 0; k < units->len; k++)
        if (g_array_index(units, uint64_t, k) == unit) {
            g_array_remove_index_fast(units, k);
            return;
        }
}

/* Nobody need know of the unit. */
static void is_unchanged(dome_release_units *u, uint64_t unit)
{
    take_out(u->dirty, unit);
    take_out(u->written, unit);
    u->state[unit] &= (uint16_t) ~(DIRTY | WRITTEN);
    u->changed[unit] = 0;
}

/* A task may have fetched the unit while it was another one than before and than now. */
static bool is_read_in_the_middle(const dome_release_units *u, uint64_t unit)
{
    const GArray *readers = dome__release_readers_of(u, unit);
    bool any = false;
    for (guint k = 0; readers && k < readers->len; k++)
        any |= g_array_index(readers, reader, k).middle;
    return any;
}

void dome__release_compare_hot(dome_release *release, bool cools)
{
    for (guint k = release->hot->len; k-- > 0;) {
        hot_unit *h = &g_array_index(release->hot, hot_unit, k);
        uint64_t unit;
        dome_release_units *u = units_of(release, h->key, &unit);
        const bool dirty = u && u->state[unit] & DIRTY;
        const bool same = dirty && memcmp(place_of(u, unit), old_of(u, unit), u->setup.unit) == 0;
        const bool unknown = same && !is_read_in_the_middle(u, unit); /* nobody has another value */
        h->quiet = same ? h->quiet + 1 : 0;
        if (unknown)
            is_unchanged(u, unit);
        if (dirty && (h->quiet < QUIET && !cools))
            continue;
        if (unknown) {
            u->state[unit] &= (uint16_t)~KEPT;
            dome__release_allow(u, unit, 1, DOME_ACCESS_READ);
        }
        g_array_remove_index_fast(release->hot, k);
    }
}

/* Whether the unit is hot now: there may be too many. */
static bool heat(dome_release *r, uint64_t key)
{
    for (guint k = 0; k < r->hot->len; k++)
        if (g_array_index(r->hot, hot_unit, k).key == key)
            return true;
    if (r->hot->len == MOST_HOT)
        return false;
    g_array_append_val(r->hot, ((hot_unit){key, 0}));
    return true;
}

void dome__release_keep_hot(dome_release *release)
{
    dome_release *r = release;
    for (guint k = 0; k < r->early->len; k++) {
        const uint64_t key = g_array_index(r->early, uint64_t, k);
        uint64_t unit;
        const dome_release_units *u = heat(r, key) ? NULL : units_of(r, key, &unit);
        if (u && !is_private(u, unit)) /* it has kept the right to be written, and the next store must be noticed */
            dome__release_allow(u, unit, 1, DOME_ACCESS_READ);
    }
    g_array_set_size(r->early, 0);
    for (guint k = r->hot->len; k-- > 0;) {
        uint64_t unit;
        dome_release_units *u = units_of(r, g_array_index(r->hot, hot_unit, k).key, &unit);
        if (!u || !is_home(u, unit) || is_private(u, unit)) {
            if (u && !is_home(u, unit)) /* it has moved */
                dome__release_allow(u, unit, 1, DOME_ACCESS_READ);
            g_array_remove_index_fast(r->hot, k);
            continue;
        }
        memcpy(old_of(u, unit), place_of(u, unit), u->setup.unit);
        u->changed[unit] = r->epoch + 1;
        u->state[unit] |= KEPT | DIRTY | WRITTEN;
        g_array_append_val(u->dirty, unit);
        g_array_append_val(u->written, unit);
        dome__release_allow(u, unit, 1, DOME_ACCESS_WRITE);
    }
}

/* ---- at the home ---- */

/* Whose copies are as of the last barrier. */
static uint64_t readers_of(const dome_release_units *u, uint64_t unit)
{
    const GArray *readers = dome__release_readers_of(u, unit);
    uint64_t ranks = 0;
    for (guint k = 0; readers && k < readers->len; k++)
        if (!g_array_index(readers, reader, k).middle)
            ranks |= (uint64_t)1 << g_array_index(readers, reader, k).rank;
    return ranks;
}

/* Returns the bytes of the entry; 0: it does not fit. */
static size_t put_unit(dome_release_units *u, uint64_t unit, uint64_t readers, uint8_t *to, size_t room)
{
    size_t bytes;
    dome_delta *delta = dome__delta_new(u->setup.atom);
    dome__delta_find(delta, unit * u->setup.unit, place_of(u, unit), old_of(u, unit), u->setup.unit, 0);
    const void *records = dome__delta_records(delta, &bytes);
    const bool fits = ENTRY + bytes <= room;
    if (fits) {
        dome__put_u32(to, u->number);
        dome__put_u32(to + 4, (uint32_t)bytes);
        dome__put_u64(to + 8, unit);
        dome__put_u64(to + 16, readers);
        memcpy(to + ENTRY, records, bytes);
    }
    dome__delta_free(delta);
    return fits ? ENTRY + bytes : 0;
}

size_t dome__release_put_early(dome_release *release, uint8_t *to, size_t most)
{
    dome_release *r = release;
    size_t used = 0;
    unsigned looks = 0;
    g_array_set_size(r->early, 0);
    for (guint n = 0; n < r->regions->len && r->env->size <= MOST_RANKS; n++) {
        dome_release_units *u = r->regions->pdata[n];
        for (guint k = 0; u && u->writers && k < u->written->len && looks < MOST_LOOKS; k++) {
            const uint64_t unit = g_array_index(u->written, uint64_t, k), key = key_of(u, unit);
            const uint64_t readers = u->state[unit] & KEPT && is_home(u, unit) ? readers_of(u, unit) : 0;
            if (!readers)
                continue;
            looks++;
            const size_t bytes = put_unit(u, unit, readers, to + used, most - used);
            used += bytes;
            if (bytes == 0)
                continue;
            u->state[unit] |= SENT;
            g_array_append_val(r->early, key);
        }
    }
    return used;
}

void dome__release_settle_early(dome_release *release, dome_release_alone *alone, const void *notices)
{
    for (guint k = release->early->len; k-- > 0;) {
        const uint64_t key = g_array_index(release->early, uint64_t, k);
        uint64_t unit;
        dome_release_units *u = units_of(release, key, &unit);
        if (alone(notices, key, release->env->rank))
            continue;
        u->state[unit] &= (uint16_t)~SENT;
        dome__release_allow(u, unit, 1, DOME_ACCESS_READ);
        g_array_remove_index_fast(release->early, k);
    }
}

/* ---- at a reader ---- */

static void take_unit(const dome_release *r, dome_release_units *u, uint64_t unit, const void *records, size_t bytes)
{
    dome_delta *delta = dome__delta_new(u->setup.atom);
    (void)r;
    if (dome__delta_set_records(delta, records, bytes, u->setup.unit * u->setup.units)) {
        dome__delta_apply(delta, place_of(u, 0), u->setup.unit * u->setup.units, NULL);
        u->figures->bytes += bytes;
        u->state[unit] |= EARLY;
    }
    dome__delta_free(delta);
}

void dome__release_take_early(dome_release *release, int from, const uint8_t *entries, size_t bytes, dome_release_alone *alone,
                              const void *notices)
{
    for (const uint8_t *at = entries, *end = entries + bytes; at + ENTRY <= end;) {
        const uint64_t records = dome__get_u32(at + 4), unit = dome__get_u64(at + 8), readers = dome__get_u64(at + 16);
        const uint32_t n = dome__get_u32(at);
        dome_release_units *u = n < release->regions->len ? release->regions->pdata[n] : NULL;
        if (records > (size_t)(end - at) - ENTRY)
            return;
        if (u && unit < u->setup.units && readers >> release->env->rank & 1 && u->state[unit] & VALID && !is_home(u, unit) &&
            alone(notices, key_of(u, unit), from))
            take_unit(release, u, unit, at + ENTRY, records);
        at += ENTRY + records;
    }
}
