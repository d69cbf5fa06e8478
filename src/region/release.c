#include "region/release.h"

#include "region/release_private.h"
#include "system/bytes.h"

#include <string.h>

/* ---- publishing ---- */

static void ask(const dome_release *r, int rank, const GByteArray *message)
{
    GByteArray *reply = NULL;
    dome__peer_ask(r->peer, rank, DOME_PEER_RELEASE, message->data, message->len,
                   &reply); /* a loss is noticed by the next collective */
    if (reply)
        g_byte_array_unref(reply);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void note_run(void *ctx, uint64_t first, uint64_t count, const void *values)
{
    const dome_release_units *u = ctx;
    (void)values;
    dome__unit_writes_add(u->writes, first * u->setup.atom, count * u->setup.atom);
}

/* The changes sent to a home are one turn of this task at each of these units. */
static void note_turns(dome_release_units *u, const dome_delta *delta, const uint64_t *units, guint count)
{
    if (!u->writes)
        return;
    dome__delta_runs(delta, note_run, u);
    for (guint k = 0; k < count; k++)
        dome__unit_writes_turn(u->writes, units[k]);
}

void dome__release_sort(GArray *units)
{
    for (guint k = 1; k < units->len; k++)
        if (g_array_index(units, uint64_t, k) < g_array_index(units, uint64_t, k - 1)) {
            g_array_sort(units, by_number);
            return;
        }
}

guint dome__release_sort_once(GArray *units)
{
    guint kept = 0;
    dome__release_sort(units);
    for (guint k = 0; k < units->len; k++)
        if (k == 0 || g_array_index(units, uint64_t, k) != g_array_index(units, uint64_t, k - 1))
            g_array_index(units, uint64_t, kept++) = g_array_index(units, uint64_t, k);
    const guint gone = units->len - kept;
    g_array_set_size(units, kept);
    return gone;
}

/* A message of units, in ascending order, and of what differs in them from before. */
void dome__release_send(dome_release_units *units, int rank, uint8_t word, const uint64_t *which, guint count)
{
    dome_release_units *u = units;
    const bool foreign = dome__release_is_foreign(u, rank);
    dome_delta *delta = foreign ? dome__release_image_delta(u) : dome__delta_new(u->setup.atom);
    GByteArray *message = g_byte_array_new();
    guint sent = 0, noted = 0;
    for (guint k = 0; k < count; k++) {
        const uint64_t at = which[k] * u->setup.unit;
        size_t bytes;
        if (foreign)
            dome__release_find_image(u, delta, which[k]);
        else
            dome__delta_find(delta, at, place_of(u, which[k]), u->old + at, u->setup.unit, 0);
        const void *records = dome__delta_records(delta, &bytes);
        if (k + 1 < count && bytes < MOST_RECORDS)
            continue;
        uint8_t head[MESSAGE], number[8];
        g_byte_array_set_size(message, 0);
        dome__release_put(head, word, u);
        g_byte_array_append(message, head, MESSAGE);
        if (word == DELTA || word == CHANGE) {
            dome__put_u64(number, u->setup.release->meets);
            g_byte_array_append(message, number, 8);
            if (!foreign) /* its offsets are those of memory */
                note_turns(u, delta, which + noted, k + 1 - noted);
            noted = k + 1;
        }
        if (word == PUSH) {
            dome__put_u32(number, k + 1 - sent);
            g_byte_array_append(message, number, 4);
            for (; sent <= k; sent++) {
                dome__put_u64(number, which[sent]);
                g_byte_array_append(message, number, 8);
            }
        }
        g_byte_array_append(message, records, (guint)bytes);
        ask(u->setup.release, rank, message);
        dome__delta_clear(delta);
    }
    g_byte_array_unref(message);
    dome__delta_free(delta);
}

/* The dirty units, in ascending order; they are no longer dirty. */
static GArray *take_dirty(dome_release_units *u)
{
    GArray *dirty = g_array_copy(u->dirty);
    g_array_set_size(u->dirty, 0);
    dome__release_sort(dirty);
    for (guint k = 0; k < dirty->len; k++) {
        const uint64_t unit = g_array_index(dirty, uint64_t, k);
        const uint64_t key = key_of(u, unit);
        u->state[unit] &= (uint32_t)~DIRTY;
        g_array_append_val(u->setup.release->published, key);
    }
    for (guint k = 0, end; k < dirty->len; k = end) { /* by runs: each is a system call */
        const uint64_t first = g_array_index(dirty, uint64_t, k);
        for (end = k + 1; end < dirty->len && g_array_index(dirty, uint64_t, end) == first + (end - k) &&
                          (u->state[first] & SENT) == (u->state[first + (end - k)] & SENT);)
            end++;
        if (!(u->state[first] & SENT)) /* these may become hot */
            dome__release_allow(u, first, end - k, DOME_ACCESS_READ);
    }
    return dirty;
}

/* Whether a unit's changes go to its home. Those that are sent with the exchange need not. */
static bool must_go(dome_release_units *u, uint64_t unit, uint8_t word)
{
    if (is_home(u, unit))
        return false;
    u->state[unit] |= word == CHANGE ? TOLD : 0;
    return !(u->state[unit] & SENT);
}

void dome__release_publish(dome_release_units *units, uint8_t word)
{
    dome_release *r = units->setup.release;
    if (units->dirty->len == 0)
        return;
    pthread_mutex_lock(&r->lock);
    GArray *dirty = take_dirty(units), *some = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    pthread_mutex_unlock(&r->lock);
    uint64_t left = 0; /* units for homes from here on */
    for (guint k = 0; k < dirty->len; k++)
        left += must_go(units, g_array_index(dirty, uint64_t, k), word);
    for (int home = 0; home < r->env->size && left > 0; home++) {
        if (home == r->env->rank)
            continue;
        g_array_set_size(some, 0);
        for (guint k = 0; k < dirty->len; k++)
            if (home_of(units, g_array_index(dirty, uint64_t, k)) == home &&
                must_go(units, g_array_index(dirty, uint64_t, k), word))
                g_array_append_val(some, g_array_index(dirty, uint64_t, k));
        left -= some->len;
        if (some->len > 0)
            dome__release_send(units, home, word, (const uint64_t *)(const void *)some->data, some->len);
    }
    g_array_unref(some);
    g_array_unref(dirty);
}

/* ---- locks ---- */

static void cool(dome_release *r)
{
    pthread_mutex_lock(&r->lock);
    dome__release_compare_hot(r, true);
    pthread_mutex_unlock(&r->lock);
}

/* What a lock carries: the epoch, then keys of units. */
enum { EPOCH = 8, KEY = 8 };

static void know(dome_release *r, uint64_t key)
{
    const gint64 word = (gint64)key;
    g_hash_table_add(r->known, g_memdup2(&word, sizeof word));
}

GByteArray *dome__release_give(dome_release *release)
{
    dome_release *r = release;
    GByteArray *carried = g_byte_array_new();
    uint8_t word[KEY];
    cool(r);
    for (guint n = 0; n < r->regions->len; n++) {
        dome_release_units *u = r->regions->pdata[n];
        if (!u)
            continue;
        dome__release_publish(u, CHANGE);
        pthread_mutex_lock(&r->lock);
        for (guint k = 0; k < u->written->len; k++)
            know(r, key_of(u, g_array_index(u->written, uint64_t, k)));
        pthread_mutex_unlock(&r->lock);
    }
    dome__put_u64(word, r->epoch);
    g_byte_array_append(carried, word, EPOCH);
    GHashTableIter at;
    gpointer key;
    g_hash_table_iter_init(&at, r->known);
    while (g_hash_table_iter_next(&at, &key, NULL)) {
        dome__put_u64(word, (uint64_t) * (const gint64 *)key);
        g_byte_array_append(carried, word, KEY);
    }
    return carried;
}

/* A unit that this task is writing is published first: its changes must not be lost with the copy. */
static void drop_unit(dome_release *r, uint64_t key)
{
    const uint64_t region = key >> UNIT_BITS, unit = key & ((UINT64_C(1) << UNIT_BITS) - 1);
    dome_release_units *u = region < r->regions->len ? r->regions->pdata[region] : NULL;
    if (!u || unit >= u->setup.units || is_home(u, unit))
        return;
    if (u->state[unit] & DIRTY)
        dome__release_publish(u, CHANGE);
    pthread_mutex_lock(&r->lock);
    dome__release_drop(u, unit, 1);
    pthread_mutex_unlock(&r->lock);
}

void dome__release_take(dome_release *release, const void *carried, size_t bytes)
{
    const uint8_t *at = carried;
    if (bytes < EPOCH || dome__get_u64(at) != release->epoch) /* a barrier was since */
        return;
    for (size_t k = EPOCH; k + KEY <= bytes; k += KEY) {
        know(release, dome__get_u64(at + k));
        drop_unit(release, dome__get_u64(at + k));
    }
}

/* ---- who watches ---- */

void dome__release_units_mirror(dome_release_units *units, void *mirror)
{
    pthread_mutex_lock(&units->setup.release->lock);
    units->mirror = mirror;
    pthread_mutex_unlock(&units->setup.release->lock);
}

void dome__release_hold(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
}

void dome__release_let_go(dome_release *release)
{
    pthread_mutex_unlock(&release->lock);
}

/* ---- beginning and end ---- */

dome_release *dome__release_new(dome_env *env)
{
    dome_release *r = g_new0(dome_release, 1);
    r->room = dome__release_room_new();
    dome__release_early_begin(r);
    r->env = env;
    r->peer = env->peer;
    r->regions = g_ptr_array_new();
    r->waiting = g_array_new(FALSE, FALSE, sizeof(waiting_fetch));
    r->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    r->deltas = g_array_new(FALSE, FALSE, sizeof(waiting_delta));
    r->published = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    r->early = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    r->hot = g_array_new(FALSE, FALSE, sizeof(hot_unit));
    dome__release_places_begin(r);
    r->pushing = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    r->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    pthread_mutex_init(&r->lock, NULL);
    dome__peer_on(r->peer, DOME_PEER_RELEASE, dome__release_take_message, r);
    return r;
}

void dome__release_free(dome_release *release)
{
    if (!release)
        return;
    g_ptr_array_unref(release->regions);
    dome__release_room_free(release->room);
    for (guint k = 0; k < release->waiting->len; k++)
        g_array_unref(g_array_index(release->waiting, waiting_fetch, k).which);
    g_array_unref(release->waiting);
    g_hash_table_unref(release->known);
    g_array_unref(release->deltas);
    g_hash_table_unref(release->places);
    g_array_unref(release->published);
    g_array_unref(release->early);
    g_array_unref(release->hot);
    dome__release_places_end(release);
    g_hash_table_unref(release->pushing);
    dome__release_sections_end(release);
    pthread_mutex_destroy(&release->lock);
    g_free(release);
}
