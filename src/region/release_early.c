/* What travels with the exchange of a barrier. A page of which tasks change a little in each interval, as the frame of a
 * function, a few globals, or the edge between the parts of two tasks, would otherwise cost a fault to write, a message to its
 * home, one for each reader, and a fault to read:
 *
 *     writers    compare the unit with what it was; the bytes go to all, with the cards or behind them
 *     all        change their copies, which stay valid if all who wrote the unit have sent it that way
 *     writers    may write the unit on, without a fault: it is hot
 *
 * With two tasks much goes that way, because each byte is for the other one; with more only a few bytes. Of what has readers
 * behind some places alone the readers note whether they access it, as of a push. A hot unit that has not changed for some
 * barriers cools. */
#include "region/release_private.h"
#include "system/bytes.h"
#include "system/thread.h"
#include "system/time.h"

#include <string.h>

/* An entry: the region (4 bytes), bytes of the records (4), the unit, the receivers as bits by rank, the records (delta.h). */
enum { ENTRY = 24, MOST_RANKS = 64, MOST_LOOKS = 64, MOST_HOT = 64, QUIET = 8 };

/* Of two tasks; bytes of one's entries. */
enum { MOST_OF_TWO = 1 << 20 };

/* In an entry's region: the receivers have asked for the unit behind this place. */
#define ASKED (UINT32_C(1) << 31)

/* In the same place, at a lock: the copy of the unit is old, and to be dropped. */
#define OLD (UINT32_C(1) << 30)

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
        const dome_release_units *u = units_of(r, key, &unit);
        if (!is_valid(u, unit) || heat(r, key))
            continue;
        if (!is_private(u, unit)) /* it has kept the right to be written, and the next store must be noticed */
            dome__release_allow(u, unit, 1, DOME_ACCESS_READ);
    }
    g_array_set_size(r->early, 0);
    for (guint k = r->hot->len; k-- > 0;) {
        uint64_t unit;
        dome_release_units *u = units_of(r, g_array_index(r->hot, hot_unit, k).key, &unit);
        if (!u || !is_valid(u, unit) || is_private(u, unit)) {
            g_array_remove_index_fast(r->hot, k);
            continue;
        }
        memcpy(old_of(u, unit), place_of(u, unit), u->setup.unit);
        u->changed[unit] = r->epoch + 1;
        u->state[unit] = (uint16_t)((u->state[unit] | KEPT | DIRTY | WRITTEN) & ~(UNTOUCHED | MISSED));
        g_array_append_val(u->dirty, unit);
        g_array_append_val(u->written, unit);
        dome__release_allow(u, unit, 1, DOME_ACCESS_WRITE);
    }
}

/* ---- what is sent ---- */

/* Whose copies are as of the last barrier, of those that read behind this place; NULL: behind any. */
static uint64_t readers_of(const dome_release_units *u, uint64_t unit, const uint64_t *place)
{
    const GArray *readers = dome__release_readers_of(u, unit);
    uint64_t ranks = 0;
    for (guint k = 0; readers && k < readers->len; k++) {
        const reader *r = &g_array_index(readers, reader, k);
        if (!r->middle && (!place || r->place == *place))
            ranks |= (uint64_t)1 << r->rank;
    }
    return ranks;
}

typedef struct putting {
    GByteArray *to;
    size_t few, most;      /* bytes */
    const uint64_t *place; /* NULL: not known */
} putting;

static void put_entry(GByteArray *to, uint32_t region, uint64_t unit, uint64_t receivers, const void *records, size_t bytes)
{
    uint8_t head[ENTRY];
    dome__put_u32(head, region);
    dome__put_u32(head + 4, (uint32_t)bytes);
    dome__put_u64(head + 8, unit);
    dome__put_u64(head + 16, receivers);
    g_byte_array_append(to, head, ENTRY);
    g_byte_array_append(to, records, (guint)bytes);
}

/* Whether it is sent. */
static bool put_unit(dome_release_units *u, uint64_t unit, const putting *p)
{
    const bool home = is_home(u, unit), known = is_valid(u, unit) && u->state[unit] & (home ? KEPT : DIRTY | CLEAN);
    const uint64_t readers = home ? readers_of(u, unit, NULL) : UINT64_MAX;
    if (!known || !readers || (!home && u->state[unit] & TOLD) || p->to->len + ENTRY > p->most)
        return false;
    size_t bytes;
    dome_delta *delta = dome__delta_new(u->setup.atom);
    dome__delta_find(delta, unit * u->setup.unit, place_of(u, unit), old_of(u, unit), u->setup.unit, 0);
    const void *records = dome__delta_records(delta, &bytes);
    const bool few = !home || (ENTRY + bytes <= p->few / 4 && p->to->len + ENTRY + bytes <= p->few);
    const uint64_t receivers = few ? readers : p->place ? readers_of(u, unit, p->place) : 0;
    const bool fits = receivers && p->to->len + ENTRY + bytes <= p->most;
    if (fits)
        put_entry(p->to, u->number | (few ? 0 : ASKED), unit, receivers, records, bytes);
    dome__delta_free(delta);
    return fits;
}

void dome__release_put_early(dome_release *release, GByteArray *to, size_t few, const uint64_t *place)
{
    dome_release *r = release;
    const bool two = r->env->size == 2;
    const putting p = {to, few, two ? MOST_OF_TWO : few, place};
    unsigned looks = 0;
    g_array_set_size(r->early, 0);
    for (guint n = 0; n < r->regions->len && r->env->size <= MOST_RANKS; n++) {
        dome_release_units *u = r->regions->pdata[n];
        for (guint k = 0; u && u->writers && k < u->written->len && (two || looks < MOST_LOOKS); k++, looks++) {
            const uint64_t unit = g_array_index(u->written, uint64_t, k), key = key_of(u, unit);
            if (!put_unit(u, unit, &p))
                continue;
            u->state[unit] |= SENT;
            g_array_append_val(r->early, key);
        }
    }
}

/* ---- what has come ---- */

typedef struct entry {
    dome_release_units *units;
    uint64_t unit, receivers;
    const uint8_t *records;
    uint32_t bytes;
    bool asked, old;
} entry;

/* The entries of a unit. */
typedef struct found {
    unsigned entries, for_here; /* for_here: those of others that count this task among their receivers */
    bool own, whole;            /* whole: all who have written the unit have sent one */
} found;

/* The next entry; false: there is none, or it makes no sense. */
static bool next_entry(const dome_release *r, const uint8_t **at, const uint8_t *end, entry *e)
{
    if (end - *at < ENTRY)
        return false;
    const uint32_t region = dome__get_u32(*at) & ~(ASKED | OLD);
    *e = (entry){.asked = dome__get_u32(*at) & ASKED,
                 .old = dome__get_u32(*at) & OLD,
                 .bytes = dome__get_u32(*at + 4),
                 .unit = dome__get_u64(*at + 8),
                 .receivers = dome__get_u64(*at + 16),
                 .records = *at + ENTRY};
    e->units = region < r->regions->len ? r->regions->pdata[region] : NULL;
    if (e->bytes > (size_t)(end - *at) - ENTRY || !e->units || e->unit >= e->units->setup.units)
        return false;
    *at += ENTRY + e->bytes;
    return true;
}

typedef void on_entry(dome_release *r, const entry *e, int from, found *f);

static void each_entry(dome_release *r, const dome_release_entries *entries, GHashTable *units, on_entry *call)
{
    for (int rank = 0; rank < r->env->size; rank++) {
        const uint8_t *at = entries->of[rank], *end = at + entries->bytes[rank];
        entry e;
        while (next_entry(r, &at, end, &e)) {
            const gint64 key = (gint64)key_of(e.units, e.unit);
            found *f = g_hash_table_lookup(units, &key);
            if (!f) {
                f = g_new0(found, 1);
                g_hash_table_insert(units, g_memdup2(&key, sizeof key), f);
            }
            call(r, &e, rank, f);
        }
    }
}

static void count_entry(dome_release *r, const entry *e, int from, found *f)
{
    f->entries++;
    f->own |= from == r->env->rank;
    f->for_here += from != r->env->rank && e->receivers >> r->env->rank & 1;
}

/* twin: NULL, or what changes in the same way. */
static void apply(const entry *e, void *twin)
{
    dome_release_units *u = e->units;
    dome_delta *delta = dome__delta_new(u->setup.atom);
    if (dome__delta_set_records(delta, e->records, e->bytes, u->setup.unit * u->setup.units)) {
        dome__delta_apply(delta, place_of(u, 0), u->setup.unit * u->setup.units, twin);
        u->figures->bytes += e->bytes;
    }
    dome__delta_free(delta);
}

/* The home needs all of it; another copy is of use if nothing is missing. */
static void take_entry(dome_release *r, const entry *e, int from, found *f)
{
    dome_release_units *u = e->units;
    const bool has = r->told && r->told->overtaken;
    if (from == r->env->rank)
        return;
    if (is_home(u, e->unit)) {
        dome__release_keep(u, e->unit);
        if (!has)
            apply(e, NULL);
        u->changed[e->unit] = r->epoch + 1;
        u->state[e->unit] |= f->whole ? SENT : 0; /* its readers have it, too */
        return;
    }
    const bool all = f->whole && f->for_here == f->entries - f->own;
    if (all && u->state[e->unit] & VALID && !has)
        apply(e, NULL);
    if (all && e->asked && !(u->state[e->unit] & WRITTEN))
        dome__release_note_push(u, e->unit, from);
    else if (all && u->state[e->unit] & VALID)
        u->state[e->unit] |= EARLY;
}

/* What others have sent in another way, too, goes to the readers as if it had not been sent. */
static void settle(dome_release *r, GHashTable *units)
{
    for (guint k = r->early->len; k-- > 0;) {
        const gint64 key = (gint64)g_array_index(r->early, uint64_t, k);
        const found *f = g_hash_table_lookup(units, &key);
        uint64_t unit;
        dome_release_units *u = units_of(r, (uint64_t)key, &unit);
        if (f && f->whole)
            continue;
        u->state[unit] &= (uint16_t)~SENT;
        if (is_valid(u, unit))
            dome__release_allow(u, unit, 1, DOME_ACCESS_READ);
        g_array_remove_index_fast(r->early, k);
    }
}

void dome__release_take_early(dome_release *release, const dome_release_entries *entries)
{
    GHashTable *units = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    GHashTableIter at;
    gpointer key, value;
    each_entry(release, entries, units, count_entry);
    g_hash_table_iter_init(&at, units);
    while (g_hash_table_iter_next(&at, &key, &value)) {
        found *f = value;
        f->whole = f->entries == entries->writers(entries->notices, (uint64_t) * (const gint64 *)key);
    }
    each_entry(release, entries, units, take_entry);
    settle(release, units);
    g_hash_table_unref(units);
}

/* ---- at locks, between two tasks ---- */

/* What is told: whether the card of the next barrier is made (1 byte), entries. Of a unit that this task is writing both have the
 * same before, in `old`, and the program may write on meanwhile. */

dome_release_told *dome__release_told_new(void)
{
    dome_release_told *t = g_new0(dome_release_told, 1);
    t->waiting = g_byte_array_new();
    dome__condition_init(&t->news);
    return t;
}

void dome__release_told_free(dome_release_told *told)
{
    if (!told)
        return;
    g_byte_array_unref(told->waiting);
    pthread_cond_destroy(&told->news);
    g_free(told);
}

bool dome__release_is_told(const dome_release_units *units, uint64_t unit)
{
    const uint16_t both = DIRTY | KEPT;
    return units->setup.release->told && units->writers && is_home(units, unit) && (units->state[unit] & both) == both;
}

static bool has_before(const dome_release_units *u, uint64_t unit)
{
    return !is_home(u, unit) || u->state[unit] & KEPT;
}

bool dome__release_has_changed(dome_release *release)
{
    bool changed = false;
    pthread_mutex_lock(&release->lock);
    for (guint n = 0; n < release->regions->len && !changed; n++) {
        const dome_release_units *u = release->regions->pdata[n];
        for (guint k = u ? u->dirty->len : 0; k-- > 0 && !changed;) { /* the last ones are most likely to be written now */
            const uint64_t unit = g_array_index(u->dirty, uint64_t, k);
            changed = !has_before(u, unit) || memcmp(place_of(u, unit), old_of(u, unit), u->setup.unit) != 0;
        }
    }
    pthread_mutex_unlock(&release->lock);
    return changed;
}

/* Whether there was anything to tell. Of a unit of which the other one has some older copy it gets a new one, which is that of
 * now: from here on changes are told. */
static bool tell_unit(dome_release_units *u, uint64_t unit, GByteArray *told)
{
    if (!has_before(u, unit)) {
        memcpy(old_of(u, unit), place_of(u, unit), u->setup.unit);
        u->state[unit] |= KEPT;
        put_entry(told, u->number | OLD, unit, UINT64_MAX, "", 0);
        return true;
    }
    size_t bytes;
    dome_delta *delta = dome__delta_new(u->setup.atom);
    dome__delta_find(delta, unit * u->setup.unit, place_of(u, unit), old_of(u, unit), u->setup.unit, DOME_DELTA_TAKE);
    const void *records = dome__delta_records(delta, &bytes);
    if (bytes > 0)
        put_entry(told, u->number, unit, UINT64_MAX, records, bytes);
    dome__delta_free(delta);
    return bytes > 0;
}

/* Units about which there was nothing to tell are looked at no more, until they are written again. */
static void clean(dome_release_units *u, GArray *same)
{
    for (guint k = 0, end; k < same->len; k = end) {
        const uint64_t first = g_array_index(same, uint64_t, k);
        for (end = k + 1; end < same->len && g_array_index(same, uint64_t, end) == first + (end - k);)
            end++;
        dome__release_allow(u, first, end - k, DOME_ACCESS_READ);
        for (guint j = k; j < end; j++) {
            const uint64_t unit = first + (j - k);
            if (memcmp(place_of(u, unit), old_of(u, unit), u->setup.unit) != 0) { /* meanwhile */
                dome__release_allow(u, unit, 1, DOME_ACCESS_WRITE);
                g_array_append_val(u->dirty, unit);
            } else {
                u->state[unit] = (uint16_t)((u->state[unit] & ~DIRTY) | CLEAN);
            }
        }
    }
}

static void tell_units(dome_release_units *u, bool cleans, GByteArray *told)
{
    GArray *same = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    guint kept = 0;
    for (guint k = 0; k < u->dirty->len; k++) {
        const uint64_t unit = g_array_index(u->dirty, uint64_t, k);
        if (tell_unit(u, unit, told) || !cleans)
            g_array_index(u->dirty, uint64_t, kept++) = unit;
        else
            g_array_append_val(same, unit);
    }
    g_array_set_size(u->dirty, kept);
    clean(u, same);
    g_array_unref(same);
}

/* A right is taken away so often only: each time may cost a fault. */
enum { SEVERAL_TIMES = 8 };

void dome__release_tell_other(dome_release *release, GByteArray *told)
{
    dome_release *r = release;
    pthread_mutex_lock(&r->lock);
    const uint8_t in_barrier = r->told->in_barrier;
    g_byte_array_append(told, &in_barrier, 1);
    for (guint n = 0; n < r->regions->len; n++) {
        dome_release_units *u = r->regions->pdata[n];
        if (u && u->writers)
            tell_units(u, r->told->sent % SEVERAL_TIMES == 0 && !in_barrier, told);
    }
    for (guint k = 0; k < r->published->len; k++) {
        uint64_t unit;
        const dome_release_units *u = units_of(r, g_array_index(r->published, uint64_t, k), &unit);
        if (u && is_home(u, unit))
            put_entry(told, u->number | OLD, unit, UINT64_MAX, "", 0);
    }
    g_array_set_size(r->published, 0);
    r->told->sent++;
    pthread_mutex_unlock(&r->lock);
}

uint64_t dome__release_unsent(dome_release *release)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&release->lock);
    for (guint n = 0; n < release->regions->len; n++) {
        const dome_release_units *u = release->regions->pdata[n];
        bytes += u ? u->dirty->len * (u->setup.unit + ENTRY) : 0;
    }
    pthread_mutex_unlock(&release->lock);
    return bytes;
}

void dome__release_send(dome_release *release)
{
    for (guint n = 0; n < release->regions->len; n++)
        if (release->regions->pdata[n])
            dome__release_publish(release->regions->pdata[n], CHANGE);
}

void dome__release_hear(dome_release *release, const void *told, size_t bytes)
{
    dome_release_told *t = release->told;
    pthread_mutex_lock(&release->lock);
    if (bytes > 0) {
        t->overtaken |= *(const uint8_t *)told;
        g_byte_array_append(t->waiting, (const uint8_t *)told + 1, (guint)bytes - 1);
    }
    t->heard++;
    pthread_cond_signal(&t->news);
    pthread_mutex_unlock(&release->lock);
}

/* The lock is held. */
static void take_told(const entry *e)
{
    dome_release_units *u = e->units;
    if (!is_valid(u, e->unit))
        return;
    const bool home = is_home(u, e->unit);
    apply(e, u->state[e->unit] & (home ? KEPT : DIRTY | CLEAN) ? u->old : NULL);
    if (home)
        u->changed[e->unit] = u->setup.release->epoch + 1;
}

/* All entries but those of units that are old, which stay. */
void dome__release_listen_now(dome_release *release)
{
    GByteArray *heard = release->told ? release->told->waiting : NULL;
    if (!heard || heard->len == 0)
        return;
    GByteArray *stay = g_byte_array_new();
    const uint8_t *at = heard->data, *end = at + heard->len;
    entry e;
    while (next_entry(release, &at, end, &e)) {
        if (e.old)
            put_entry(stay, e.units->number | OLD, e.unit, e.receivers, "", 0);
        else
            take_told(&e);
    }
    release->told->waiting = stay;
    g_byte_array_unref(heard);
}

/* A copy that this task is writing is sent to its home before it is dropped. */
void dome__release_listen(dome_release *release)
{
    dome_release *r = release;
    pthread_mutex_lock(&r->lock);
    dome__release_listen_now(r);
    GByteArray *old = r->told->waiting;
    if (old->len > 0)
        r->told->waiting = g_byte_array_new();
    pthread_mutex_unlock(&r->lock);
    if (old->len == 0)
        return;
    const uint8_t *at = old->data, *end = at + old->len;
    entry e;
    while (next_entry(r, &at, end, &e)) {
        const uint64_t key = key_of(e.units, e.unit);
        dome__release_forget(r, &key, 1);
    }
    g_byte_array_unref(old);
}

bool dome__release_hear_all(dome_release *release, uint64_t sent)
{
    enum { LOOKS = 60, LOOK = 1000000000 };
    dome_release_told *t = release->told;
    pthread_mutex_lock(&release->lock);
    for (int k = 0; k < LOOKS && t->heard < sent; k++) {
        const struct timespec until = dome__in_ns(LOOK);
        pthread_cond_clockwait(&t->news, &release->lock, CLOCK_MONOTONIC, &until);
    }
    const bool all = t->heard >= sent;
    pthread_mutex_unlock(&release->lock);
    dome__release_listen(release);
    return all;
}
