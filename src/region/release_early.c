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
 * barriers cools. What was written behind a place before is hot there from the start. */
#include "region/release_private.h"
#include "sections/section_pull.h"
#include "system/bytes.h"
#include "transport/collective.h"

#include <errno.h>
#include <malloc.h>
#include <semaphore.h>
#include <string.h>

/* An entry: the region (4 bytes), bytes of the records (4), the unit, the receivers as bits by rank, the records (delta.h). */
enum { ENTRY = 24, MOST_RANKS = 64, MOST_LOOKS = 64, MOST_HOT = 128, QUIET = 8 };

/* Of two tasks: bytes of one's entries; a home sends changes of at most half of a unit to a reader, wherever that reads it. */
enum { MOST_OF_TWO = 1 << 23, PART_OF_TWO = 2 };

/* In an entry's region: the receivers have asked for the unit behind this place. */
#define ASKED (UINT32_C(1) << 31)

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

/* Units in ascending order lose the right to be written, by runs: each is a system call. */
static void close_keys(const dome_release *r, const GArray *keys)
{
    for (guint k = 0, end; k < keys->len; k = end) {
        const uint64_t first = g_array_index(keys, uint64_t, k);
        uint64_t unit;
        const dome_release_units *u = units_of(r, first, &unit);
        for (end = k + 1; end < keys->len && g_array_index(keys, uint64_t, end) == first + (end - k);)
            end++;
        dome__release_allow(u, unit, end - k, DOME_ACCESS_READ);
    }
}

/* ---- what is written and read behind a place ---- */

/* A program that comes to a place again mostly accesses behind it what it has accessed there before. Units that were written are
 * opened at once, without a fault for each; one that has not changed then is forgotten. Units that were fetched are fetched
 * together. Whether these are read leaves no trace, so now and then there is a fault for each again. */

typedef struct habit {
    GArray *written, *fetched; /* uint64_t: keys in ascending order */
    unsigned visits, trust;    /* so often units are fetched together before faults are to tell which are needed */
} habit;

enum { MOST_PLACES = 4096, MOST_KEYS = 1 << 20, LEAST_TRUST = 8, MOST_TRUST = 64 };

static habit *habit_new(void)
{
    habit *h = g_new0(habit, 1);
    h->written = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    h->fetched = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    h->trust = LEAST_TRUST;
    return h;
}

static void habit_free(gpointer data)
{
    habit *h = data;
    g_array_unref(h->written);
    g_array_unref(h->fetched);
    g_free(h);
}

void dome__release_places_begin(dome_release *release)
{
    release->habits = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, habit_free);
    release->begun = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    release->asked = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    release->foreseen = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

void dome__release_places_end(dome_release *release)
{
    g_hash_table_unref(release->habits);
    g_array_unref(release->begun);
    g_array_unref(release->asked);
    g_array_unref(release->foreseen);
}

static habit *habit_of(const dome_release *r, uint64_t place)
{
    return g_hash_table_lookup(r->habits, &place);
}

void dome__release_note_begun(dome_release_units *units, uint64_t unit)
{
    const uint64_t key = key_of(units, unit);
    if (units->writers)
        g_array_append_val(units->setup.release->begun, key);
}

void dome__release_note_asked(dome_release_units *units, const GArray *which)
{
    for (guint k = 0; units->writers && k < which->len; k++) {
        const uint64_t key = key_of(units, g_array_index(which, uint64_t, k));
        g_array_append_val(units->setup.release->asked, key);
    }
}

/* Adds keys to ascending ones; they are taken. */
static void merge_keys(dome_release *r, GArray *known, GArray *more)
{
    const guint room = MOST_KEYS - MIN(r->habit_keys, MOST_KEYS), count = MIN(more->len, room);
    g_array_append_vals(known, more->data, count);
    r->habit_keys += count;
    g_array_set_size(more, 0);
    r->habit_keys -= dome__release_sort_once(known);
}

/* What was accessed since the last barrier. */
static void learn(dome_release *r)
{
    habit *h = habit_of(r, r->place);
    if (r->begun->len == 0 && r->asked->len == 0)
        return;
    if (!h) {
        if (g_hash_table_size(r->habits) >= MOST_PLACES || r->habit_keys >= MOST_KEYS) { /* most are not come to again */
            g_hash_table_remove_all(r->habits);
            r->habit_keys = 0;
        }
        h = habit_new();
        g_hash_table_insert(r->habits, g_memdup2(&r->place, sizeof r->place), h);
    }
    merge_keys(r, h->written, r->begun);
    merge_keys(r, h->fetched, r->asked);
}

/* Opens what is written behind this place, by runs: each is a system call. */
static void foresee(dome_release *r, uint64_t place)
{
    const habit *h = habit_of(r, place);
    dome_release_units *of = NULL;
    uint64_t first = 0, end = 0, unit;
    for (guint k = 0; h && k < h->written->len; k++) {
        const uint64_t key = g_array_index(h->written, uint64_t, k);
        dome_release_units *u = units_of(r, key, &unit);
        if (!u || !is_valid(u, unit) || is_private(u, unit) || u->state[unit] & (DIRTY | PINNED | HOT))
            continue;
        dome__release_begin_write(u, unit);
        u->state[unit] &= (uint32_t) ~(UNTOUCHED | MISSED);
        g_array_append_val(r->foreseen, key);
        if (of && (u != of || unit != end)) {
            dome__release_allow(of, first, end - first, DOME_ACCESS_WRITE);
            of = NULL;
        }
        first = of ? first : unit;
        of = u;
        end = unit + 1;
    }
    if (of)
        dome__release_allow(of, first, end - first, DOME_ACCESS_WRITE);
}

/* Of a region, what is fetched behind this place and lacks. */
static GArray *lacking(const dome_release *r, const habit *h, guint *next, dome_release_units **of)
{
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const uint64_t region = g_array_index(h->fetched, uint64_t, *next) >> UNIT_BITS;
    for (; *next < h->fetched->len && g_array_index(h->fetched, uint64_t, *next) >> UNIT_BITS == region; ++*next) {
        uint64_t unit;
        const dome_release_units *u = *of = units_of(r, g_array_index(h->fetched, uint64_t, *next), &unit);
        const bool again = wanted->len > 0 && g_array_index(wanted, uint64_t, wanted->len - 1) == unit;
        if (u && !is_valid(u, unit) && !again)
            g_array_append_val(wanted, unit);
    }
    return wanted;
}

/* Now and then faults are to tell. */
static bool trusts(dome_release *r, habit *h)
{
    if (++h->visits <= h->trust)
        return true;
    h->visits = 0;
    h->trust = MIN(2 * h->trust, MOST_TRUST);
    r->habit_keys -= h->fetched->len;
    g_array_set_size(h->fetched, 0);
    return false;
}

/* The lock is held, but while units come. Returns whether there were any. */
static bool fetch_known(dome_release *r, const habit *h)
{
    bool any = false;
    for (guint k = 0; k < h->fetched->len;) {
        dome_release_units *u = NULL;
        GArray *wanted = lacking(r, h, &k, &u);
        if (wanted->len > 0) {
            pthread_mutex_unlock(&r->lock);
            dome__release_fetch(u, wanted);
            pthread_mutex_lock(&r->lock);
            any = true;
        }
        g_array_unref(wanted);
    }
    return any;
}

void dome__release_fetch_ahead(dome_release *release, uint64_t place)
{
    dome_release *r = release;
    pthread_mutex_lock(&r->lock);
    habit *h = habit_of(r, place);
    if (h && h->fetched->len > 0 && trusts(r, h) && fetch_known(r, h))
        foresee(r, place);
    pthread_mutex_unlock(&r->lock);
}

/* Removes from ascending keys some of them, which are ascending, too. */
static void remove_keys(GArray *from, const GArray *keys)
{
    guint kept = 0, k = 0;
    for (guint at = 0; at < from->len; at++) {
        const uint64_t key = g_array_index(from, uint64_t, at);
        while (k < keys->len && g_array_index(keys, uint64_t, k) < key)
            k++;
        if (k == keys->len || g_array_index(keys, uint64_t, k) != key)
            g_array_index(from, uint64_t, kept++) = key;
    }
    g_array_set_size(from, kept);
}

/* ---- hot units ---- */

/* Nobody need know of the unit. */
static void is_unchanged(dome_release_units *u, uint64_t unit)
{
    u->state[unit] &= (uint32_t) ~(DIRTY | WRITTEN | LOGGED);
    u->changed[unit] = 0;
}

static void keep_those_with(const dome_release_units *u, GArray *units, uint32_t state)
{
    guint kept = 0;
    for (guint k = 0; k < units->len; k++)
        if (u->state[g_array_index(units, uint64_t, k)] & state)
            g_array_index(units, uint64_t, kept++) = g_array_index(units, uint64_t, k);
    g_array_set_size(units, kept);
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

/* Whether nobody has another value of the unit, which has not changed. quiet: nor is it in a section, so it was not written. */
static bool look_at(dome_release_units *u, uint64_t unit, bool *quiet)
{
    const bool same = memcmp(place_of(u, unit), old_of(u, unit), u->setup.unit) == 0;
    const bool unknown = same && !is_read_in_the_middle(u, unit);
    *quiet = same && !(u->state[unit] & LOGGED);
    if (unknown)
        is_unchanged(u, unit);
    return unknown;
}

/* Returns whether there is a unit of which nobody need know. */
static bool compare_hot(dome_release *r, bool cools)
{
    bool any = false;
    for (guint k = r->hot->len; k-- > 0;) {
        hot_unit *h = &g_array_index(r->hot, hot_unit, k);
        uint64_t unit;
        dome_release_units *u = units_of(r, h->key, &unit);
        bool quiet = false;
        const bool dirty = u && u->state[unit] & DIRTY, unknown = dirty && look_at(u, unit, &quiet);
        h->quiet = quiet ? h->quiet + 1 : 0;
        any |= unknown;
        if (dirty && (h->quiet < QUIET && !cools))
            continue;
        if (unknown) {
            u->state[unit] &= (uint32_t)~KEPT;
            dome__release_allow(u, unit, 1, DOME_ACCESS_READ);
        }
        if (u)
            u->state[unit] &= (uint32_t)~HOT;
        g_array_remove_index_fast(r->hot, k);
    }
    return any;
}

/* The same of units that were foreseen: those that were not written are so no more behind this place. */
static bool compare_foreseen(dome_release *r)
{
    GArray *wrong = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const habit *h = habit_of(r, r->place);
    guint kept = 0;
    dome__release_sort(r->foreseen);
    for (guint k = 0; k < r->foreseen->len; k++) {
        const uint64_t key = g_array_index(r->foreseen, uint64_t, k);
        uint64_t unit;
        dome_release_units *u = units_of(r, key, &unit);
        bool quiet = false;
        if (u && u->state[unit] & DIRTY && look_at(u, unit, &quiet)) {
            u->state[unit] &= (uint32_t)~KEPT;
            g_array_index(r->foreseen, uint64_t, kept++) = key;
        }
        if (quiet)
            g_array_append_val(wrong, key);
    }
    g_array_set_size(r->foreseen, kept);
    close_keys(r, r->foreseen);
    g_array_set_size(r->foreseen, 0);
    if (h) {
        r->habit_keys -= h->written->len;
        remove_keys(h->written, wrong);
        r->habit_keys += h->written->len;
    }
    g_array_unref(wrong);
    return kept > 0;
}

void dome__release_compare_hot(dome_release *release, bool cools)
{
    const bool hot = compare_hot(release, cools), foreseen = compare_foreseen(release);
    for (guint n = 0; (hot || foreseen) && n < release->regions->len; n++) {
        dome_release_units *u = release->regions->pdata[n];
        if (!u)
            continue;
        keep_those_with(u, u->dirty, DIRTY);
        keep_those_with(u, u->written, WRITTEN);
    }
}

/* Whether the unit is hot now: there may be too many. */
static bool heat(dome_release *r, uint64_t key)
{
    uint64_t unit;
    dome_release_units *u = units_of(r, key, &unit);
    if (u->state[unit] & HOT)
        return true;
    if (r->hot->len == MOST_HOT)
        return false;
    g_array_append_val(r->hot, ((hot_unit){.key = key}));
    u->state[unit] |= HOT;
    return true;
}

/* What this task has sent with the exchange has kept the right to be written. */
static void heat_early(dome_release *r)
{
    guint cold = 0;
    dome__release_sort(r->early);
    for (guint k = 0; k < r->early->len; k++) {
        const uint64_t key = g_array_index(r->early, uint64_t, k);
        uint64_t unit;
        const dome_release_units *u = units_of(r, key, &unit);
        const bool open = u->state[unit] & DIRTY || is_private(u, unit); /* it is foreseen again, or nobody's concern */
        if (is_valid(u, unit) && !open && !heat(r, key))
            g_array_index(r->early, uint64_t, cold++) = key;
    }
    g_array_set_size(r->early, cold);
    close_keys(r, r->early); /* the next store must be noticed */
    g_array_set_size(r->early, 0);
}

void dome__release_keep_hot(dome_release *release, uint64_t place)
{
    dome_release *r = release;
    learn(r);
    foresee(r, place);
    heat_early(r);
    for (guint k = r->hot->len; k-- > 0;) {
        uint64_t unit;
        const uint64_t key = g_array_index(r->hot, hot_unit, k).key;
        dome_release_units *u = units_of(r, key, &unit);
        if (!u || !is_valid(u, unit) || is_private(u, unit)) {
            if (u)
                u->state[unit] &= (uint32_t)~HOT;
            g_array_remove_index_fast(r->hot, k);
            continue;
        }
        memcpy(old_of(u, unit), place_of(u, unit), u->setup.unit);
        u->changed[unit] = r->epoch + 1;
        u->state[unit] = (uint32_t)((u->state[unit] | KEPT | DIRTY | WRITTEN) & ~(UNTOUCHED | MISSED));
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
    bool two;              /* tasks */
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
    dome__delta_clear(u->delta);
    dome__delta_find(u->delta, unit * u->setup.unit, place_of(u, unit), old_of(u, unit), u->setup.unit, 0);
    const void *records = dome__delta_records(u->delta, &bytes);
    const bool few = !home || (p->two ? bytes <= u->setup.unit / PART_OF_TWO
                                      : ENTRY + bytes <= p->few / 4 && p->to->len + ENTRY + bytes <= p->few);
    const uint64_t receivers = few ? readers : p->place ? readers_of(u, unit, p->place) : 0;
    const bool fits = receivers && p->to->len + ENTRY + bytes <= p->most;
    if (fits)
        put_entry(p->to, u->number | (few ? 0 : ASKED), unit, receivers, records, bytes);
    return fits;
}

void dome__release_put_early(dome_release *release, GByteArray *to, size_t few, const uint64_t *place)
{
    dome_release *r = release;
    const bool two = r->env->size == 2;
    const putting p = {to, few, two ? MOST_OF_TWO : few, place, two};
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
    bool asked;
} entry;

/* An entry, and the task that has sent it. */
typedef struct part {
    uint64_t key;
    entry e;
    int from;
} part;

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
    const uint32_t region = dome__get_u32(*at) & ~ASKED;
    *e = (entry){.asked = dome__get_u32(*at) & ASKED,
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

static int by_unit(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->from - y->from;
}

/* All entries: those of a unit one behind the other, in the order of ranks. */
static GArray *take_parts(dome_release *r, const dome_release_entries *entries)
{
    GArray *parts = r->room->parts;
    g_array_set_size(parts, 0);
    for (int rank = 0; rank < r->env->size; rank++) {
        const uint8_t *at = entries->of[rank], *end = at + entries->bytes[rank];
        entry e;
        while (next_entry(r, &at, end, &e))
            g_array_append_val(parts, ((part){key_of(e.units, e.unit), e, rank}));
    }
    g_array_sort(parts, by_unit);
    return parts;
}

static found look(const dome_release *r, const part *of_unit, guint count)
{
    found f = {.entries = count};
    for (guint k = 0; k < count; k++) {
        f.own |= of_unit[k].from == r->env->rank;
        f.for_here += of_unit[k].from != r->env->rank && of_unit[k].e.receivers >> r->env->rank & 1;
    }
    return f;
}

static void apply(const entry *e)
{
    dome_release_units *u = e->units;
    if (dome__delta_set_records(u->delta, e->records, e->bytes, u->setup.unit * u->setup.units)) {
        dome__delta_apply(u->delta, place_of(u, 0), u->setup.unit * u->setup.units, NULL);
        u->figures->bytes += e->bytes;
    }
}

/* The home needs all of it; another copy is of use if nothing is missing. */
static void take_entry(dome_release *r, const entry *e, int from, const found *f)
{
    dome_release_units *u = e->units;
    const bool has = r->sections && dome__section_log_is_late(r->sections->log, from);
    if (from == r->env->rank) {
        u->state[e->unit] &= (uint32_t)(f->whole ? ~0 : ~SENT);
        return;
    }
    if (is_home(u, e->unit)) {
        dome__release_keep(u, e->unit);
        if (!has)
            apply(e);
        u->changed[e->unit] = r->epoch + 1;
        u->state[e->unit] |= f->whole ? SENT : 0; /* its readers have it, too */
        return;
    }
    const bool all = f->whole && f->for_here == f->entries - f->own;
    if (all && u->state[e->unit] & VALID && !has)
        apply(e);
    if (all && e->asked && !(u->state[e->unit] & WRITTEN))
        dome__release_note_push(u, e->unit, from);
    else if (all && u->state[e->unit] & VALID)
        u->state[e->unit] |= EARLY;
}

/* What others have sent in another way, too, goes to the readers as if it had not been sent. */
static void settle(dome_release *r)
{
    guint kept = 0;
    for (guint k = 0; k < r->early->len; k++) {
        const uint64_t key = g_array_index(r->early, uint64_t, k);
        uint64_t unit;
        const dome_release_units *u = units_of(r, key, &unit);
        if (u->state[unit] & SENT)
            g_array_index(r->early, uint64_t, kept++) = key;
        else if (is_valid(u, unit))
            dome__release_allow(u, unit, 1, DOME_ACCESS_READ);
    }
    g_array_set_size(r->early, kept);
}

void dome__release_take_early(dome_release *release, const dome_release_entries *entries)
{
    const GArray *parts = take_parts(release, entries);
    for (guint k = 0, end; k < parts->len; k = end) {
        const part *first = &g_array_index(parts, part, k);
        for (end = k + 1; end < parts->len && g_array_index(parts, part, end).key == first->key;)
            end++;
        found f = look(release, first, end - k);
        f.whole = f.entries == entries->writers(entries->notices, first->key);
        for (guint j = 0; j < end - k; j++)
            take_entry(release, &first[j].e, first[j].from, &f);
    }
    settle(release);
}

void dome__release_early_begin(dome_release *release)
{
    release->room->parts = g_array_new(FALSE, FALSE, sizeof(part));
}

/* ---- sections ---- */

/* Of a unit that this task writes `old` is what is published of it, at its home too, and the program may write on meanwhile. */

void dome__release_sections_begin(dome_release *release, void (*settle)(void *ctx), void *ctx)
{
    dome_release_sections *s = g_new0(dome_release_sections, 1);
    s->log = dome__section_log_new();
    s->unsettled = g_array_new(FALSE, FALSE, sizeof(waiting_fetch));
    s->settle = settle;
    s->ctx = ctx;
    pthread_mutex_lock(&release->lock);
    release->sections = s;
    pthread_mutex_unlock(&release->lock);
}

void dome__release_sections_end(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    dome_release_sections *s = release->sections;
    release->sections = NULL;
    pthread_mutex_unlock(&release->lock);
    if (!s)
        return;
    dome__section_log_free(s->log);
    g_array_unref(s->unsettled);
    g_free(s);
}

static bool has_before(const dome_release_units *u, uint64_t unit)
{
    return u->state[unit] & (is_home(u, unit) ? KEPT : DIRTY | CLEAN);
}

bool dome__release_is_told(const dome_release_units *units, uint64_t unit)
{
    return has_sections(units) && is_home(units, unit) && units->state[unit] & KEPT && units->state[unit] & (DIRTY | CLEAN);
}

static bool is_as_before(const dome_release_units *u, uint64_t unit)
{
    return has_before(u, unit) && memcmp(place_of(u, unit), old_of(u, unit), u->setup.unit) == 0;
}

bool dome__release_has_changed(dome_release *release)
{
    bool changed = false;
    pthread_mutex_lock(&release->lock);
    for (guint n = 0; n < release->regions->len && !changed; n++) {
        const dome_release_units *u = release->regions->pdata[n];
        for (guint k = u && u->writers ? u->dirty->len : 0; k-- > 0 && !changed;) /* the last ones are most likely written now */
            changed = !is_as_before(u, g_array_index(u->dirty, uint64_t, k));
    }
    pthread_mutex_unlock(&release->lock);
    return changed;
}

/* Whether there was anything to tell. */
static bool tell_unit(dome_release_units *u, uint64_t unit, GByteArray *told)
{
    size_t bytes;
    dome__delta_clear(u->delta);
    dome__delta_find(u->delta, unit * u->setup.unit, place_of(u, unit), old_of(u, unit), u->setup.unit, DOME_DELTA_TAKE);
    const void *records = dome__delta_records(u->delta, &bytes);
    if (bytes > 0) {
        dome__section_put(told, key_of(u, unit), records, bytes);
        u->state[unit] |= LOGGED;
    }
    return bytes > 0;
}

/* Units about which there was nothing to tell are looked at no more, until they are written again. */
static void clean(dome_release_units *u, const GArray *same)
{
    dome__release_allow_all(u, same, DOME_ACCESS_READ);
    for (guint k = 0; k < same->len; k++) {
        const uint64_t unit = g_array_index(same, uint64_t, k);
        if (!is_as_before(u, unit)) { /* meanwhile */
            dome__release_allow(u, unit, 1, DOME_ACCESS_WRITE);
            g_array_append_val(u->dirty, unit);
        } else {
            u->state[unit] = (uint32_t)((u->state[unit] & ~DIRTY) | CLEAN);
        }
    }
}

/* runs: nobody writes between two looks. Otherwise another task might see a later store without one before it. */
static void tell_units(dome_release_units *u, bool cleans, bool runs, GByteArray *told)
{
    GArray *same = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    guint kept = 0;
    if (runs)
        dome__release_allow_all(u, u->dirty, DOME_ACCESS_READ);
    for (guint k = 0; k < u->dirty->len; k++) {
        const uint64_t unit = g_array_index(u->dirty, uint64_t, k);
        if (tell_unit(u, unit, told) || !cleans)
            g_array_index(u->dirty, uint64_t, kept++) = unit;
        else
            g_array_append_val(same, unit);
    }
    g_array_set_size(u->dirty, kept);
    if (runs)
        dome__release_allow_all(u, u->dirty, DOME_ACCESS_WRITE);
    clean(u, same);
    g_array_unref(same);
}

/* A right is taken away so often only: each time may cost a fault. */
enum { SEVERAL_TIMES = 8 };

static void answer_unsettled(dome_release_sections *s)
{
    for (guint k = 0; k < s->unsettled->len; k++)
        dome__release_answer(&g_array_index(s->unsettled, waiting_fetch, k));
    g_array_set_size(s->unsettled, 0);
}

bool dome__release_publish_section(dome_release *release, bool runs)
{
    dome_release_sections *s = release->sections;
    GByteArray *told = g_byte_array_new();
    pthread_mutex_lock(&release->lock);
    const bool cleans = !s->in_barrier && (runs || s->published % SEVERAL_TIMES == 0);
    for (guint n = 0; n < release->regions->len; n++) {
        dome_release_units *u = release->regions->pdata[n];
        if (u && u->writers)
            tell_units(u, cleans, runs, told);
    }
    const bool any = told->len > 0;
    if (any)
        dome__section_log_add(s->log, release->env->rank, s->in_barrier, told);
    s->published++;
    answer_unsettled(s);
    pthread_mutex_unlock(&release->lock);
    g_byte_array_unref(told);
    return any;
}

/* ---- sections of others ---- */

/* Records of other tasks, for this task's copy; both: and for `old`. */
static void write_records(dome_release_units *u, const void *records, size_t bytes, bool both)
{
    const uint64_t all = u->setup.unit * u->setup.units;
    if (dome__delta_set_records(u->delta, records, bytes, all)) {
        dome__delta_apply(u->delta, place_of(u, 0), all, both ? u->old : NULL);
        if (u->mirror)
            dome__delta_apply(u->delta, u->mirror, all, NULL);
        u->figures->bytes += bytes;
    }
}

/* A copy that is old gets it when it is fetched. */
static void take_part(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    uint64_t unit;
    dome_release_units *u = units_of(ctx, key, &unit);
    if (u && unit < u->setup.units && is_valid(u, unit))
        write_records(u, records, bytes, has_before(u, unit));
}

void dome__release_take_sections(dome_release *release)
{
    dome__section_log_take(release->sections->log, release->env->rank, take_part, release);
}

void dome__release_enter(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    release->sections->entered = release->sections->inside = true;
    dome__release_take_sections(release);
    pthread_mutex_unlock(&release->lock);
}

void dome__release_leave(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    release->sections->inside = false;
    pthread_mutex_unlock(&release->lock);
}

uint64_t dome__release_section(dome_release *release)
{
    pthread_mutex_lock(&release->lock);
    const uint64_t end = dome__section_log_end(release->sections->log);
    pthread_mutex_unlock(&release->lock);
    return end;
}

bool dome__release_sections_since(dome_release *release, uint64_t have, uint64_t most, GByteArray *to)
{
    const guint before = to->len;
    uint8_t meets[8];
    pthread_mutex_lock(&release->lock);
    const dome_section_log *log = release->sections->log;
    const dome_section_range range = {have, dome__section_log_end(log), 0, most};
    dome__put_u64(meets, release->meets);
    g_byte_array_append(to, meets, sizeof meets);
    const bool all = dome__section_log_since(log, &range, to) <= most;
    pthread_mutex_unlock(&release->lock);
    if (!all)
        g_byte_array_set_size(to, before);
    return all;
}

/* What came from before the last meeting is known. */
void dome__release_hear(dome_release *release, const void *sections, size_t bytes)
{
    pthread_mutex_lock(&release->lock);
    if (bytes >= 8 && dome__get_u64(sections) == release->meets)
        dome__section_log_hear(release->sections->log, (const uint8_t *)sections + 8, bytes - 8);
    pthread_mutex_unlock(&release->lock);
}

void dome__release_merge(dome_release *release, uint64_t all_have)
{
    enum { MUCH = 1 << 20 };
    pthread_mutex_lock(&release->lock);
    dome__section_log_merge(release->sections->log, all_have, MUCH);
    pthread_mutex_unlock(&release->lock);
}

/* The C library keeps what is freed. */
void dome__release_clear_sections(dome_release *release)
{
    enum { MUCH = 1 << 20 };
    const bool much = dome__section_log_bytes(release->sections->log) > MUCH;
    dome__section_log_clear(release->sections->log);
    if (much)
        malloc_trim(0);
}

/* Sections that are asked for, as of a meeting. */
typedef struct pulling {
    dome_release *release;
    uint64_t meets;
    void (*come)(void *ctx);
    void *ctx;
} pulling;

static void pulled(void *ctx, const void *bytes, size_t count)
{
    pulling *p = ctx;
    pthread_mutex_lock(&p->release->lock);
    if (p->meets == p->release->meets)
        dome__section_log_hear(p->release->sections->log, bytes, count);
    pthread_mutex_unlock(&p->release->lock);
    p->come(p->ctx);
    g_free(p);
}

void dome__release_pull(dome_release *release, int rank, void (*come)(void *ctx), void *ctx)
{
    pulling *p = g_new(pulling, 1);
    *p = (pulling){release, release->meets, come, ctx};
    const dome_section_pull pull = {.peer = release->peer,
                                    .tag = DOME_PEER_RELEASE,
                                    .from = rank,
                                    .head = {LOG},
                                    .have = dome__release_section(release),
                                    .come = pulled,
                                    .ctx = p};
    dome__section_pull(&pull);
}

static void post(void *ctx)
{
    sem_post(ctx);
}

/* In a thread that may wait. */
static void pull_and_wait(dome_release *r, int rank)
{
    sem_t come;
    sem_init(&come, 0, 0);
    dome__release_pull(r, rank, post, &come);
    while (sem_wait(&come) < 0 && errno == EINTR)
        continue;
    sem_destroy(&come);
}

int dome__release_catch_up(dome_release *release, int rank, uint64_t section)
{
    if (dome__release_section(release) < section)
        pull_and_wait(release, rank);
    pthread_mutex_lock(&release->lock);
    dome__release_take_sections(release);
    pthread_mutex_unlock(&release->lock);
    return dome__barrier(release->env->transport);
}

void dome__release_reach(dome_release *release, int rank, const dome_release_state *state)
{
    dome_section_log *log = release->sections->log;
    pthread_mutex_lock(&release->lock);
    dome__section_log_hear(log, state->sections, state->bytes);
    const bool lacks = dome__section_log_end(log) < state->end;
    pthread_mutex_unlock(&release->lock);
    if (lacks)
        pull_and_wait(release, rank);
    pthread_mutex_lock(&release->lock);
    if (dome__section_log_taken(log) < state->end)
        dome__release_take_sections(release);
    pthread_mutex_unlock(&release->lock);
}

static void renew_part(void *ctx, uint64_t key, const void *records, size_t bytes)
{
    (void)key;
    write_records(ctx, records, bytes, false);
}

void dome__release_renew(dome_release_units *units, uint64_t unit, uint64_t taken)
{
    dome__section_log_behind(units->setup.release->sections->log, key_of(units, unit), taken, renew_part, units);
}

/* ---- sections before a barrier ---- */

/* All copies are as this one. */
static void drop_unit(dome_release_units *u, uint64_t unit)
{
    GArray *readers = dome__release_readers_of(u, unit);
    for (guint k = 0; readers && k < readers->len; k++)
        g_array_index(readers, reader, k).middle = false;
    u->state[unit] &= (uint32_t) ~(DIRTY | WRITTEN | LOGGED | KEPT | IMPLIED | CLEAN);
    u->changed[unit] = 0;
}

/* These units are hot from now on, like those that are sent with the exchange. If there are too many, the rest lose the right to
 * write, so that the next store is noticed. */
static void heat_logged(dome_release *r, const dome_release_units *u, const GArray *units)
{
    GArray *cold = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint k = 0; k < units->len; k++)
        if (!heat(r, key_of(u, g_array_index(units, uint64_t, k))))
            g_array_append_val(cold, g_array_index(units, uint64_t, k));
    dome__release_allow_all(u, cold, DOME_ACCESS_READ);
    dome__release_free_many(u, cold);
    g_array_unref(cold);
}

void dome__release_drop_logged(dome_release *release)
{
    for (guint n = 0; n < release->regions->len; n++) {
        dome_release_units *u = release->regions->pdata[n];
        if (!u || !u->writers || u->written->len == 0)
            continue;
        GArray *same = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        guint kept = 0;
        for (guint k = 0; k < u->written->len; k++) {
            const uint64_t unit = g_array_index(u->written, uint64_t, k);
            const bool logged = u->state[unit] & LOGGED;
            u->state[unit] &= (uint32_t)~LOGGED;
            if (logged && is_valid(u, unit) && is_as_before(u, unit))
                g_array_append_val(same, unit);
            else
                g_array_index(u->written, uint64_t, kept++) = unit;
        }
        if (same->len > 0) {
            g_array_set_size(u->written, kept);
            kept = 0;
            for (guint k = 0; k < same->len; k++)
                drop_unit(u, g_array_index(same, uint64_t, k));
            for (guint k = 0; k < u->dirty->len; k++)
                if (u->state[g_array_index(u->dirty, uint64_t, k)] & DIRTY)
                    g_array_index(u->dirty, uint64_t, kept++) = g_array_index(u->dirty, uint64_t, k);
            g_array_set_size(u->dirty, kept);
            heat_logged(release, u, same);
        }
        g_array_unref(same);
    }
}
