/* What a task knows of units: their states and rights, what they were before, who reads them. The lock is held. */
#include "region/release_private.h"
#include "system/bytes.h"

#include <sys/mman.h>

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
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

void dome__release_put(uint8_t *message, uint8_t word, const dome_release_units *units)
{
    message[0] = word;
    dome__put_u32(message + 1, units->number);
}

void dome__release_allow(const dome_release_units *units, uint64_t first, uint64_t count, dome_access access)
{
    const size_t page = first * units->pages, pages = count * units->pages;
    if (!dome__memory_has(units->setup.memory, page, pages, access))
        dome__memory_allow_surely(units->setup.memory, page, pages, access);
}

void dome__release_allow_all(const dome_release_units *units, const GArray *which, dome_access access)
{
    for (guint k = 0, end; k < which->len; k = end) {
        const uint64_t first = g_array_index(which, uint64_t, k);
        for (end = k + 1; end < which->len && g_array_index(which, uint64_t, end) == first + (end - k);)
            end++;
        dome__release_allow(units, first, end - k, access);
    }
}

void dome__release_protect_all(const dome_release_units *units, const GArray *which)
{
    GArray *touched = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint k = 0; k < which->len; k++) {
        const uint64_t unit = g_array_index(which, uint64_t, k);
        if (!dome__memory_has(units->setup.memory, unit * units->pages, units->pages, DOME_ACCESS_NONE))
            g_array_append_val(touched, unit);
    }
    dome__release_allow_all(units, touched, DOME_ACCESS_READ);
    g_array_unref(touched);
}

bool dome__release_is_untouched(const dome_release_units *units, uint64_t unit, uint64_t *end)
{
    enum { AT_ONCE = 512 };
    if (unit >= *end)
        *end = unit + dome__memory_untouched(units->setup.memory, unit * units->pages, AT_ONCE * units->pages) / units->pages;
    return unit < *end;
}

void dome__release_close(const dome_release_units *units, uint64_t first, uint64_t count)
{
    for (uint64_t k = first, from = k; k <= first + count; k++) {
        const bool closes = k < first + count && !(units->state[k] & PINNED);
        if (!closes && from < k)
            dome__release_allow(units, from, k - from, DOME_ACCESS_NONE);
        from = closes ? from : k + 1;
    }
}

void dome__release_drop(dome_release_units *units, uint64_t first, uint64_t count)
{
    bool any = false;
    for (uint64_t k = first; k < first + count; k++) {
        any |= units->state[k] & VALID;
        units->state[k] &= (uint32_t) ~(VALID | UNTOUCHED | MISSED);
    }
    if (any)
        dome__release_close(units, first, count);
}

void dome__release_free_old(const dome_release_units *units, uint64_t first, uint64_t count)
{
    char *at = units->old + first * units->setup.unit;
    if (madvise(at, count * units->setup.unit, MADV_DONTNEED) < 0)
        return; /* memory alone is lost */
    for (uint64_t k = first; k < first + count; k++)
        units->marks[k] &= (uint8_t)~OLD_USED;
}

void dome__release_free_many(const dome_release_units *units, const GArray *which)
{
    enum { MANY = 1 << 22 };
    if (which->len * units->setup.unit < MANY)
        return;
    for (guint k = 0, end; k < which->len; k = end) {
        const uint64_t first = g_array_index(which, uint64_t, k);
        for (end = k + 1; end < which->len && g_array_index(which, uint64_t, end) == first + (end - k);)
            end++;
        dome__release_free_old(units, first, end - k);
    }
}

GArray *dome__release_readers_of(const dome_release_units *units, uint64_t unit)
{
    const gint64 key = (gint64)unit;
    return g_hash_table_lookup(units->readers, &key);
}

/* Counts readers of all units behind a place. */
static void count_readers(dome_release *r, uint64_t place, int more)
{
    const gint64 key = (gint64)place;
    const int before = GPOINTER_TO_INT(g_hash_table_lookup(r->places, &key));
    if (before + more > 0)
        g_hash_table_insert(r->places, g_memdup2(&key, sizeof key), GINT_TO_POINTER(before + more));
    else
        g_hash_table_remove(r->places, &key);
}

void dome__release_note_pushing(dome_release *release, uint64_t place, bool pushes)
{
    dome_release *r = release;
    const gint64 key = (gint64)place;
    if (pushes && !g_hash_table_contains(r->pushing, &key))
        g_hash_table_add(r->pushing, g_memdup2(&key, sizeof key));
    else if (!pushes)
        g_hash_table_remove(r->pushing, &key);
}

void dome__release_reader_drop(dome_release_units *units, uint64_t unit, int rank)
{
    GArray *readers = dome__release_readers_of(units, unit);
    for (guint k = readers ? readers->len : 0; k-- > 0;)
        if (g_array_index(readers, reader, k).rank == rank) {
            count_readers(units->setup.release, g_array_index(readers, reader, k).place, -1);
            g_array_remove_index_fast(readers, k);
        }
}

void dome__release_readers_drop(dome_release *release, GArray *readers)
{
    for (guint k = 0; k < readers->len; k++)
        count_readers(release, g_array_index(readers, reader, k).place, -1);
    g_array_set_size(readers, 0);
}

void dome__release_readers_end(const dome_release_units *units, uint64_t unit)
{
    const gint64 key = (gint64)unit;
    GArray *readers = dome__release_readers_of(units, unit);
    if (readers)
        dome__release_readers_drop(units->setup.release, readers);
    g_hash_table_remove(units->readers, &key);
}

void dome__release_keep_old(dome_release_units *units, uint64_t unit)
{
    if (is_fresh(units, unit))
        return;
    units->marks[unit] |= OLD_USED;
    memcpy(old_of(units, unit), place_of(units, unit), units->setup.unit);
}

void dome__release_keep(dome_release_units *units, uint64_t unit)
{
    const GArray *readers = units->state[unit] & KEPT ? NULL : dome__release_readers_of(units, unit);
    if (!readers || readers->len == 0)
        return;
    dome__release_keep_old(units, unit);
    units->state[unit] |= KEPT;
}

void dome__release_begin_write(dome_release_units *units, uint64_t unit)
{
    dome_release_units *u = units;
    if (u->state[unit] & DIRTY || is_private(u, unit))
        return;
    if (is_home(u, unit)) {
        if (has_sections(u) && !(u->state[unit] & KEPT)) { /* others may be told before the next barrier */
            dome__release_keep_old(u, unit);
            u->state[unit] |= KEPT;
        }
        dome__release_keep(u, unit);
        u->changed[unit] = u->setup.release->epoch + 1;
    } else {
        dome__release_keep_old(u, unit);
    }
    g_array_append_val(u->dirty, unit);
    if (!(u->state[unit] & WRITTEN))
        g_array_append_val(u->written, unit);
    u->state[unit] = (uint32_t)(u->state[unit] | DIRTY | WRITTEN) & ~(uint32_t)(IMPLIED | CLEAN | TOO | UNREADS);
}

static bool is_changed(const dome_release_units *u, uint64_t unit)
{
    return u->changed[unit] == u->setup.release->epoch + 1;
}

void dome__release_note_reader(dome_release_units *units, uint64_t unit, int rank)
{
    dome_release_units *u = units;
    const reader now = {rank, u->setup.release->place, is_changed(u, unit) && !dome__release_is_told(u, unit)};
    GArray *readers = dome__release_readers_of(u, unit);
    if (!readers) {
        const gint64 key = (gint64)unit;
        readers = g_array_new(FALSE, FALSE, sizeof(reader));
        g_hash_table_insert(u->readers, g_memdup2(&key, sizeof key), readers);
    }
    bool known = false;
    for (guint k = 0; k < readers->len; k++) {
        reader *r = &g_array_index(readers, reader, k);
        if (r->rank != rank)
            continue;
        r->middle = now.middle;
        known |= r->place == now.place;
    }
    if (known)
        return;
    g_array_append_val(readers, now);
    count_readers(u->setup.release, now.place, 1);
    dome__release_note_pushing(u->setup.release, now.place, true);
}

/* So often a copy may be changed before it is closed, and then before it is forgotten. One that is read at once when it is closed
 * is trusted more the next time: a fault takes as long as ten changes. Of one that is trusted most few changes count. */
enum { LEAST_UNREAD = 4, CLOSED = 4, MOST_TRUSTED = 3, SELDOM = 32 };

static unsigned unread_of(uint32_t state)
{
    return state / UNREAD;
}

static unsigned most_unread(uint32_t state)
{
    return LEAST_UNREAD << (state & TRUSTS) / TRUST;
}

void dome__release_note_access(dome_release_units *units, uint64_t unit)
{
    uint32_t *state = &units->state[unit];
    const unsigned trusted = (*state & TRUSTS) / TRUST, unread = unread_of(*state), most = most_unread(*state);
    *state &= ~(uint32_t)(UNTOUCHED | MISSED | UNREADS);
    if (unread == most && trusted < MOST_TRUSTED)
        *state += TRUST;
    else if (unread > most && trusted > 0)
        *state -= TRUST;
}

bool dome__release_is_wanted(dome_release_units *units, uint64_t unit)
{
    uint32_t *state = &units->state[unit];
    if (is_home(units, unit) || *state & (DIRTY | WRITTEN | HOT | PINNED)) { /* hot: between its last interval and the next one */
        *state &= ~(uint32_t)UNREADS;
        return true;
    }
    const bool valid = is_valid(units, unit);
    if (valid && (*state & TRUSTS) == MOST_TRUSTED * TRUST && unread_of(*state) < most_unread(*state) &&
        units->setup.release->unasked++ % SELDOM)
        return true;
    *state += UNREAD;
    const unsigned most = valid ? most_unread(*state) : 0; /* what is not valid is closed already */
    if (valid && unread_of(*state) == most)
        dome__release_close(units, unit, 1);
    if (unread_of(*state) < most + CLOSED)
        return valid;
    *state &= ~(uint32_t)(UNREADS | TRUSTS);
    dome__release_forget(units, unit);
    return false;
}

/* A pushed unit that was not accessed since the push before last is wanted no more. */
void dome__release_note_push(dome_release_units *units, uint64_t unit)
{
    dome_release_units *u = units;
    uint32_t *state = &u->state[unit];
    const bool missed = !(*state & VALID) || *state & UNTOUCHED;
    if (missed && *state & MISSED) { /* the copy is dropped with the interval: the home may think that nobody has one */
        dome__release_forget(u, unit);
    } else if (*state & VALID) {
        *state |= ARRIVED;
    }
    *state = (uint32_t)(missed ? *state | MISSED : *state & ~MISSED);
}

bool dome__release_is_told(const dome_release_units *units, uint64_t unit)
{
    return has_sections(units) && is_home(units, unit) && units->state[unit] & KEPT && units->state[unit] & (DIRTY | CLEAN);
}

/* A unit's home is the task that writes it alone: at once if it was not moved before, otherwise if nobody else has written it for
 * some meetings, the more the more often it has moved. */
enum { LEAST_STREAK = 2 };

int dome__release_streak(const dome_release_trend *trend, int writer)
{
    const dome_release_trend *t = trend;
    return t->writer == writer + 1 ? MIN(t->streak + 1, DOME_RELEASE_STREAK) : 1;
}

bool dome__release_would_move(const dome_release_units *units, uint64_t unit, int writer)
{
    const dome_release_trend *t = &units->trends[unit];
    if (home_of(units, unit) == writer || units->state[unit] & STAYS)
        return false;
    return t->moved == 0 || dome__release_streak(t, writer) >= MIN(LEAST_STREAK + t->moved, DOME_RELEASE_STREAK);
}
