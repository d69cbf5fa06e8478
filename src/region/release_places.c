/* What tasks access behind a place of synchronisation, and what they write in each interval: units that are opened or fetched
 * before there is a fault. */
#include "region/release_private.h"
#include "transport/collective.h"

/* Gives this right to units, in ascending order, from one of them on: by runs, each of which is a system call. */
static void allow_keys(const dome_release *r, const GArray *keys, guint from, dome_access access)
{
    for (guint k = from, end; k < keys->len; k = end) {
        const uint64_t first = g_array_index(keys, uint64_t, k);
        uint64_t unit;
        const dome_release_units *u = units_of(r, first, &unit);
        for (end = k + 1; end < keys->len && g_array_index(keys, uint64_t, end) == first + (end - k);)
            end++;
        dome__release_allow(u, unit, end - k, access);
    }
}

/* ---- what is written and read behind a place ---- */

/* A program that comes to a place again mostly accesses behind it what it has accessed there before. Units that were written are
 * opened at once, without a fault for each; one that has not changed then is forgotten. Units that were fetched are fetched
 * together. Whether these are read leaves no trace, so now and then there is a fault for each again. */

typedef struct habit {
    GArray *written, *fetched; /* uint64_t: keys in ascending order */
    unsigned visits, trust;    /* so often units are fetched together before faults are to tell which are needed */
    unsigned opened, vain;     /* units that were opened, and those of them that were not written; of the last times */
} habit;

/* Of all tasks: who alone writes a unit behind a place. */
typedef struct owner {
    uint64_t key;
    int32_t rank; /* SEVERAL: more than one */
} owner;

enum { MOST_PLACES = 1 << 16, MOST_KEYS = 1 << 20, LEAST_TRUST = 8, MOST_TRUST = 64 };

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

/* What all tasks know of a place. */
typedef struct known {
    GArray *owners; /* owner, in ascending order */
    bool fetches;   /* a task has fetched many units behind it the last time */
} known;

static void known_free(gpointer data)
{
    known *k = data;
    g_array_unref(k->owners);
    g_free(k);
}

/* The place, and what all tasks wrote before they came to it. If a function is called for each of some arrays, tasks come to its
 * place in as many ways. */
static uint64_t way_to(const dome_release *r, uint64_t place)
{
    const uint64_t *written = r->alike.written;
    return (place ^ written[0] * UINT64_C(0x9e3779b97f4a7c15) ^ written[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) *
           UINT64_C(0xbf58476d1ce4e5b9);
}

static known *known_of(const dome_release *r, uint64_t place)
{
    return g_hash_table_lookup(r->alike.places, &place);
}

void dome__release_places_begin(dome_release *release)
{
    release->habits = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, habit_free);
    release->begun = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    release->asked = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    release->foreseen = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    release->alike.places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, known_free);
    release->alike.owned = g_array_new(FALSE, FALSE, sizeof(owner));
}

void dome__release_places_end(dome_release *release)
{
    g_hash_table_unref(release->habits);
    g_array_unref(release->begun);
    g_array_unref(release->asked);
    g_array_unref(release->foreseen);
    g_hash_table_unref(release->alike.places);
    g_array_unref(release->alike.owned);
}

static habit *habit_of(const dome_release *r, uint64_t place)
{
    return g_hash_table_lookup(r->habits, &place);
}

/* Whether much of what was written behind the place is not written there the next time. */
static bool misleads(const habit *h)
{
    enum { PART = 4, LEAST_OPENED = 16 };
    return h && h->vain * PART > MAX(h->opened, LEAST_OPENED);
}

/* What this task did behind its place the last time. If that misleads: what it did when it came to the place in the same way. */
static habit *habit_now(const dome_release *r)
{
    habit *h = habit_of(r, r->place), *same_way = misleads(h) ? habit_of(r, way_to(r, r->place)) : NULL;
    return same_way ? same_way : h;
}

void dome__release_note_begun(dome_release_units *units, uint64_t unit)
{
    const uint64_t key = key_of(units, unit);
    if (units->writers)
        g_array_append_val(units->setup.release->begun, key);
}

void dome__release_open_ahead(dome_release_units *units, uint64_t unit)
{
    const uint64_t key = key_of(units, unit);
    const uint32_t unread = units->state[unit] & (uint32_t)UNREADS;
    dome__release_note_begun(units, unit);
    dome__release_begin_write(units, unit);
    units->state[unit] |= unread; /* nothing is known of it */
    g_array_append_val(units->setup.release->foreseen, key);
}

void dome__release_note_asked(dome_release_units *units, const GArray *which)
{
    for (guint k = 0; units->writers && k < which->len; k++) {
        const uint64_t key = key_of(units, g_array_index(which, uint64_t, k));
        g_array_append_val(units->setup.release->asked, key);
    }
    units->setup.release->fetched += which->len;
}

/* Adds keys to ascending ones. */
static void merge_keys(dome_release *r, GArray *known, const GArray *more)
{
    const guint room = MOST_KEYS - MIN(r->habit_keys, MOST_KEYS), count = MIN(more->len, room);
    g_array_append_vals(known, more->data, count);
    r->habit_keys += count;
    r->habit_keys -= dome__release_sort_once(known);
}

static void learn_at(dome_release *r, uint64_t place)
{
    habit *h = habit_of(r, place);
    if (!h) {
        if (g_hash_table_size(r->habits) >= MOST_PLACES || r->habit_keys >= MOST_KEYS) { /* most are not come to again */
            g_hash_table_remove_all(r->habits);
            r->habit_keys = 0;
        }
        h = habit_new();
        g_hash_table_insert(r->habits, g_memdup2(&place, sizeof place), h);
    }
    merge_keys(r, h->written, r->begun);
    merge_keys(r, h->fetched, r->asked);
}

/* What was accessed since the last barrier. */
static void learn_accesses(dome_release *r)
{
    if (r->begun->len == 0 && r->asked->len == 0)
        return;
    learn_at(r, r->place);
    if (misleads(habit_of(r, r->place)))
        learn_at(r, way_to(r, r->place));
    g_array_set_size(r->begun, 0);
    g_array_set_size(r->asked, 0);
}

/* Opens what is written behind this place. */
static void foresee(dome_release *r)
{
    const habit *h = habit_now(r);
    const guint before = r->foreseen->len;
    for (guint k = 0; h && k < h->written->len; k++) {
        const uint64_t key = g_array_index(h->written, uint64_t, k);
        uint64_t unit;
        dome_release_units *u = units_of(r, key, &unit);
        if (!u || !is_valid(u, unit) || is_private(u, unit) || u->state[unit] & (DIRTY | PINNED | HOT))
            continue;
        dome__release_begin_write(u, unit);
        u->state[unit] &= (uint32_t) ~(UNTOUCHED | MISSED);
        g_array_append_val(r->foreseen, key);
    }
    allow_keys(r, r->foreseen, before, DOME_ACCESS_WRITE);
}

/* Of the next region, the units that are fetched behind this place and that this task lacks. */
static GArray *lacking(const dome_release *r, const habit *h, guint *next, dome_release_units **of)
{
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const uint64_t region = g_array_index(h->fetched, uint64_t, *next) >> UNIT_BITS;
    for (; *next < h->fetched->len && g_array_index(h->fetched, uint64_t, *next) >> UNIT_BITS == region; ++*next) {
        uint64_t unit;
        const dome_release_units *u = *of = units_of(r, g_array_index(h->fetched, uint64_t, *next), &unit);
        if (u && !is_valid(u, unit))
            g_array_append_val(wanted, unit);
    }
    return wanted;
}

/* Whether units are fetched together this time. Now and then they are forgotten, and faults tell which are still read. */
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

/* The lock is held, and let go while units come. */
static void fetch_known(dome_release *r, const habit *h)
{
    for (guint k = 0; k < h->fetched->len;) {
        dome_release_units *u = NULL;
        GArray *wanted = lacking(r, h, &k, &u);
        if (wanted->len > 0) {
            pthread_mutex_unlock(&r->lock);
            dome__release_fetch(u, wanted);
            pthread_mutex_lock(&r->lock);
            r->fetched += wanted->len;
        }
        g_array_unref(wanted);
    }
}

/* Whether all tasks read together what they fetch. Only where all of them can be told: their memory is shown. */
static bool fetch_together(const dome_release *r)
{
    const known *k = known_of(r, r->alike.place);
    return k && k->fetches && r->shows;
}

int dome__release_fetch_ahead(dome_release *release)
{
    dome_release *r = release;
    int status = DOME_OK;
    pthread_mutex_lock(&r->lock);
    habit *h = habit_now(r);
    if (h && (h->fetched->len == 0 || !trusts(r, h)))
        h = NULL;
    if (fetch_together(r)) {
        GArray *keys = h ? g_array_copy(h->fetched) : g_array_new(FALSE, FALSE, sizeof(uint64_t));
        pthread_mutex_unlock(&r->lock);
        status = dome__release_read_ahead(r, keys);
        pthread_mutex_lock(&r->lock);
        g_array_unref(keys);
    }
    if (h && status == DOME_OK) {
        fetch_known(r, h);
        foresee(r);
    }
    pthread_mutex_unlock(&r->lock);
    return status;
}

static void keep_those_with(const dome_release_units *u, GArray *units, uint32_t state)
{
    guint kept = 0;
    for (guint k = 0; k < units->len; k++)
        if (u->state[g_array_index(units, uint64_t, k)] & state)
            g_array_index(units, uint64_t, kept++) = g_array_index(units, uint64_t, k);
    g_array_set_size(units, kept);
}

/* ---- units whose homes move before they are written ---- */

/* What tasks write in turns, as between the sweeps of a solver, has the wrong home in each interval: its writer would keep what
 * it was, and send what it has changed. So behind a place where one task alone wrote a unit the last time, that task is its home
 * at once. This costs a fetch and a barrier, so it is done for many units. All tasks know the same notices, and move the same
 * units. */

void dome__release_note_owner(dome_release_units *units, uint64_t unit, int writer)
{
    if (units->state[unit] & (STAYS | PINNED))
        return;
    g_array_append_val(units->setup.release->alike.owned, ((owner){key_of(units, unit), writer}));
}

static int by_key(const void *a, const void *b)
{
    const owner *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* What was known, and what is; both ascending. Of a key that is in both the latter counts. */
static GArray *merged(const GArray *before, const GArray *news)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(owner));
    for (guint k = 0, j = 0; k < before->len || j < news->len;) {
        const owner *old = k < before->len ? &g_array_index(before, owner, k) : NULL,
                    *new = j < news->len ? &g_array_index(news, owner, j) : NULL;
        const owner *next = !new || (old && old->key < new->key) ? old : new;
        const uint64_t key = next->key;
        if (next->rank != SEVERAL)
            g_array_append_val(all, *next);
        k += old && old->key == key;
        while (j < news->len && g_array_index(news, owner, j).key == key)
            j++;
    }
    return all;
}

/* The same on all tasks, so that they keep and forget the same places. */
static void learn_alike(dome_release *r)
{
    dome_release_alike *a = &r->alike;
    known *k = known_of(r, a->place);
    if (k)
        k->fetches = a->fetches;
    if (a->owned->len == 0 && (k || !a->fetches))
        return;
    if (g_hash_table_size(a->places) >= MOST_PLACES || a->owner_keys >= MOST_KEYS) {
        g_hash_table_remove_all(a->places);
        a->owner_keys = 0;
        k = NULL;
    }
    if (!k) {
        k = g_new(known, 1);
        *k = (known){g_array_new(FALSE, FALSE, sizeof(owner)), a->fetches};
        g_hash_table_insert(a->places, g_memdup2(&a->place, sizeof a->place), k);
    }
    g_array_sort(a->owned, by_key);
    GArray *all = merged(k->owners, a->owned);
    a->owner_keys += all->len - k->owners->len;
    g_array_unref(k->owners);
    k->owners = all;
    g_array_set_size(a->owned, 0);
}

void dome__release_learn(dome_release *release)
{
    learn_accesses(release);
    learn_alike(release);
    release->fetched = 0;
}

/* The units that get another home now; NULL: they are too few. The lock is held. */
static GArray *to_move(const dome_release *r)
{
    const known *of = known_of(r, r->alike.place);
    GArray *moving = of && of->owners->len >= DOME_RELEASE_MANY ? g_array_new(FALSE, FALSE, sizeof(owner)) : NULL;
    for (guint k = 0; moving && k < of->owners->len; k++) {
        const owner *o = &g_array_index(of->owners, owner, k);
        uint64_t unit;
        const dome_release_units *u = units_of(r, o->key, &unit);
        if (u && home_of(u, unit) != o->rank && !(u->state[unit] & (STAYS | PINNED)))
            g_array_append_val(moving, *o);
    }
    if (moving && moving->len < DOME_RELEASE_MANY)
        g_clear_pointer(&moving, g_array_unref);
    return moving;
}

/* Those of this task that it lacks, from *next on, of one region. The lock is held. */
static GArray *lacking_of(const dome_release *r, const GArray *moving, guint *next, dome_release_units **of)
{
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const uint64_t region = g_array_index(moving, owner, *next).key >> UNIT_BITS;
    for (; *next < moving->len && g_array_index(moving, owner, *next).key >> UNIT_BITS == region; ++*next) {
        const owner *o = &g_array_index(moving, owner, *next);
        uint64_t unit;
        const dome_release_units *u = *of = units_of(r, o->key, &unit);
        if (o->rank == r->env->rank && !is_valid(u, unit))
            g_array_append_val(wanted, unit);
    }
    return wanted;
}

static void fetch_moving(dome_release *r, const GArray *moving)
{
    for (guint k = 0; k < moving->len;) {
        dome_release_units *u = NULL;
        pthread_mutex_lock(&r->lock);
        GArray *wanted = lacking_of(r, moving, &k, &u);
        pthread_mutex_unlock(&r->lock);
        wanted = dome__release_peek(u, wanted);
        if (wanted->len > 0)
            dome__release_fetch(u, wanted);
        g_array_unref(wanted);
    }
}

/* The new home alone has a copy. The lock is held. */
static void move(dome_release_units *u, uint64_t unit, int to)
{
    dome__release_readers_end(u, unit);
    u->state[unit] = 0;
    u->changed[unit] = 0;
    u->homes[unit] = to + 1;
    u->moved_first = u->moved_end ? MIN(u->moved_first, unit) : unit;
    u->moved_end = MAX(u->moved_end, unit + 1);
}

/* By runs: each is a system call. The lock is held. */
static void move_all(const dome_release *r, const GArray *moving)
{
    for (guint k = 0, end; k < moving->len; k = end) {
        const owner *first = &g_array_index(moving, owner, k);
        uint64_t unit;
        dome_release_units *u = units_of(r, first->key, &unit);
        for (end = k; end < moving->len; end++) {
            const owner *o = &g_array_index(moving, owner, end);
            if (o->key != first->key + (end - k) || o->rank != first->rank)
                break;
            move(u, unit + (end - k), o->rank);
        }
        dome__release_allow(u, unit, end - k, first->rank == r->env->rank ? DOME_ACCESS_WRITE : DOME_ACCESS_NONE);
    }
    for (guint n = 0; n < r->regions->len; n++) {
        dome_release_units *u = r->regions->pdata[n];
        if (!u)
            continue;
        keep_those_with(u, u->dirty, DIRTY);
        keep_those_with(u, u->written, WRITTEN);
    }
}

int dome__release_move_ahead(dome_release *release)
{
    dome_release *r = release;
    pthread_mutex_lock(&r->lock);
    GArray *moving = to_move(r);
    r->moving = moving;
    pthread_mutex_unlock(&r->lock);
    if (!moving)
        return DOME_OK;
    int status = r->shows ? dome__barrier(r->env->transport) : DOME_OK; /* until all homes have what was sent to them */
    if (status == DOME_OK) {
        fetch_moving(r, moving);
        status = dome__barrier(r->env->transport);
    }
    pthread_mutex_lock(&r->lock);
    if (status == DOME_OK)
        move_all(r, moving);
    r->moving = false;
    dome__release_answer_waiting(r);
    pthread_mutex_unlock(&r->lock);
    g_array_unref(moving);
    return status;
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

/* A unit that was sent with the exchange of a barrier may be written on. One that has not changed for some barriers cools. */
enum { MOST_HOT = 128, QUIET = 8 };

/* No other task need know of the unit. */
static void is_unchanged(dome_release_units *u, uint64_t unit)
{
    u->state[unit] &= (uint32_t) ~(DIRTY | WRITTEN | LOGGED);
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

/* Whether nobody has another value of the unit, which has not changed. quiet: nor is it in a section, so it was not written. */
static bool look_at(dome_release_units *u, uint64_t unit, bool *quiet)
{
    const bool same = is_same(u, unit);
    const bool unknown = same && !is_read_in_the_middle(u, unit);
    *quiet = same && !(u->state[unit] & LOGGED);
    if (unknown)
        is_unchanged(u, unit);
    return unknown;
}

/* Returns whether there is a unit that no other task need know of. */
static bool compare_hot(dome_release *r, bool cools)
{
    GArray *closing = g_array_new(FALSE, FALSE, sizeof(uint64_t));
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
            g_array_append_val(closing, h->key);
        }
        if (u)
            u->state[unit] &= (uint32_t)~HOT;
        g_array_remove_index_fast(r->hot, k);
    }
    dome__release_sort(closing);
    allow_keys(r, closing, 0, DOME_ACCESS_READ);
    g_array_unref(closing);
    return any;
}

/* Some of the units that were opened are not written behind this place. */
static void forget_written(dome_release *r, habit *h, const GArray *wrong)
{
    if (!h)
        return;
    r->habit_keys -= h->written->len;
    remove_keys(h->written, wrong);
    r->habit_keys += h->written->len;
}

/* How much of what was opened was written. */
static void note_vain(habit *h, guint opened, guint vain)
{
    enum { RECENT = 256 };
    h->opened += opened;
    h->vain += vain;
    for (; h->opened > RECENT; h->vain /= 2)
        h->opened /= 2;
}

/* The same of units that were opened because they were written behind this place before. A unit that was not written this time is
 * forgotten there. */
static bool compare_foreseen(dome_release *r, bool cools)
{
    enum { FEW = 4 };
    GArray *wrong = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    habit *h = habit_of(r, r->place), *same_way = habit_of(r, way_to(r, r->place));
    const bool misled = misleads(h);
    const guint opened = r->foreseen->len;
    const bool heats = !cools && r->foreseen->len <= FEW; /* each hot unit is closed and opened whenever a section is published */
    bool any = false;
    guint kept = 0;
    dome__release_sort(r->foreseen);
    for (guint k = 0; k < r->foreseen->len; k++) {
        const uint64_t key = g_array_index(r->foreseen, uint64_t, k);
        uint64_t unit;
        dome_release_units *u = units_of(r, key, &unit);
        bool quiet = false;
        const bool told = u && u->state[unit] & LOGGED, unknown = u && u->state[unit] & DIRTY && look_at(u, unit, &quiet);
        any |= unknown;
        if (unknown && !(told && heats && dome__release_heat(r, key))) {
            u->state[unit] &= (uint32_t)~KEPT;
            g_array_index(r->foreseen, uint64_t, kept++) = key;
        }
        if (quiet)
            g_array_append_val(wrong, key);
        else if (!same_way && misled)
            g_array_append_val(r->begun, key);
    }
    g_array_set_size(r->foreseen, kept);
    allow_keys(r, r->foreseen, 0, DOME_ACCESS_READ);
    g_array_set_size(r->foreseen, 0);
    if (wrong->len > 0) {
        dome__release_sort(r->begun);
        remove_keys(r->begun, wrong);
    }
    forget_written(r, same_way, wrong);
    forget_written(r, h, wrong);
    if (h && !(misled && same_way))
        note_vain(h, opened, wrong->len);
    g_array_unref(wrong);
    return any;
}

void dome__release_compare_hot(dome_release *release, bool cools)
{
    const bool hot = compare_hot(release, cools), foreseen = compare_foreseen(release, cools);
    for (guint n = 0; (hot || foreseen) && n < release->regions->len; n++) {
        dome_release_units *u = release->regions->pdata[n];
        if (!u)
            continue;
        keep_those_with(u, u->dirty, DIRTY);
        keep_those_with(u, u->written, WRITTEN);
    }
}

/* Whether the unit is hot now: there may be too many. */
bool dome__release_heat(dome_release *release, uint64_t key)
{
    dome_release *r = release;
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
        if (is_valid(u, unit) && !open && !dome__release_heat(r, key))
            g_array_index(r->early, uint64_t, cold++) = key;
    }
    g_array_set_size(r->early, cold);
    allow_keys(r, r->early, 0, DOME_ACCESS_READ); /* the next store must be noticed */
    g_array_set_size(r->early, 0);
}

void dome__release_keep_hot(dome_release *release)
{
    dome_release *r = release;
    foresee(r);
    heat_early(r);
    for (guint k = r->hot->len; k-- > 0;) {
        uint64_t unit;
        const uint64_t key = g_array_index(r->hot, hot_unit, k).key;
        dome_release_units *u = units_of(r, key, &unit);
        if (!u || !(u->state[unit] & HOT) || !is_valid(u, unit) || is_private(u, unit)) {
            if (u)
                u->state[unit] &= (uint32_t)~HOT;
            g_array_remove_index_fast(r->hot, k);
            continue;
        }
        dome__release_keep_old(u, unit);
        u->changed[unit] = r->epoch + 1;
        if (!(u->state[unit] & WRITTEN)) /* another task may have fetched it already */
            g_array_append_val(u->written, unit);
        u->state[unit] = (uint32_t)((u->state[unit] | KEPT | DIRTY | WRITTEN) & ~(UNTOUCHED | MISSED | TOO | IMPLIED));
        g_array_append_val(u->dirty, unit);
        dome__release_allow(u, unit, 1, DOME_ACCESS_WRITE);
    }
}
