/* What travels with the exchange of a barrier. A page of which tasks change a little in each interval, as the frame of a
 * function, a few globals, or the edge between the parts of two tasks, would otherwise cost a fault to write, a message to its
 * home, one for each reader, and a fault to read:
 *
 *     writers    compare the unit with what it was; the bytes go to all, with the cards or behind them
 *     all        change their copies, which stay valid if all who wrote the unit have sent it that way
 *     writers    may write the unit on, without a fault: it is hot (release_places.c)
 *
 * With two tasks much goes that way, because each byte is for the other one; with more only a few bytes. Of what has readers
 * behind some places alone the readers note whether they access it, as of a push. */
#include "region/release_private.h"
#include "system/bytes.h"

/* An entry: the region (4 bytes), bytes of the records (4), the unit, the receivers as bits by rank, the records (delta.h). */
enum { ENTRY = 24, MOST_RANKS = 64, MOST_LOOKS = 64 };

/* Of two tasks: bytes of one's entries; a home sends changes of at most half of a unit to a reader, wherever that reads it. */
enum { MOST_OF_TWO = 1 << 22, PART_OF_TWO = 2 };

/* In an entry's region: the receivers have asked for the unit behind this place; the sender has no copy any more, and wants no
 * changes (there are no records then). */
#define ASKED     (UINT32_C(1) << 31)
#define FORGOTTEN (UINT32_C(1) << 30)

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

void dome__release_forget(dome_release_units *units, uint64_t unit)
{
    const uint64_t key = key_of(units, unit);
    g_array_append_val(units->setup.release->forgotten, key);
}

/* Some of the units of which this task still has no copy; the others wait for the next barrier. */
static void put_forgotten(dome_release *r, GByteArray *to)
{
    enum { MOST_AT_ONCE = 16 };
    guint k = 0;
    for (dome__release_sort_once(r->forgotten); k < r->forgotten->len && to->len < MOST_AT_ONCE * ENTRY; k++) {
        uint64_t unit;
        const dome_release_units *u = units_of(r, g_array_index(r->forgotten, uint64_t, k), &unit);
        if (u && !is_valid(u, unit))
            put_entry(to, u->number | FORGOTTEN, unit, 0, NULL, 0);
    }
    g_array_remove_range(r->forgotten, 0, k);
}

void dome__release_put_early(dome_release *release, GByteArray *to, size_t few, const uint64_t *place)
{
    dome_release *r = release;
    const bool two = r->env->size == 2;
    put_forgotten(r, to);
    const putting p = {to, few, two ? MOST_OF_TWO : few, place, two};
    unsigned looks = 0;
    g_array_set_size(r->early, 0);
    for (guint n = 0; n < r->regions->len && r->env->size <= MOST_RANKS; n++) {
        dome_release_units *u = r->regions->pdata[n];
        for (guint k = 0; u && u->writers && k < u->written->len && (two || looks < MOST_LOOKS); k++, looks++) {
            const uint64_t unit = g_array_index(u->written, uint64_t, k), key = key_of(u, unit);
            if (u->marks[unit] & GIFT || !put_unit(u, unit, &p))
                continue;
            u->state[unit] |= SENT;
            g_array_append_val(r->early, key);
        }
    }
}

/* ---- what need not be sent ---- */

/* Whether most of it is new, by a few words. */
static bool is_mostly_new(const dome_release_units *u, uint64_t unit)
{
    enum { LOOKS = 16 };
    const uint64_t step = u->setup.unit / LOOKS;
    const char *now = place_of(u, unit), *before = old_of(u, unit);
    unsigned differ = 0;
    for (uint64_t at = 0; u->marks[unit] & OLD_USED && at < u->setup.unit; at += step)
        differ += memcmp(now + at, before + at, 8) != 0;
    return !(u->marks[unit] & OLD_USED) || differ >= LOOKS / 2;
}

static bool is_gift(const dome_release_units *u, uint64_t unit)
{
    const uint32_t state = u->state[unit];
    return state & DIRTY && state & VALID && !(state & (TOLD | LOGGED | TOO | HOT | PINNED)) && !is_home(u, unit) &&
           !(u->marks[unit] & REFUSED) && dome__release_would_move(u, unit, u->setup.release->env->rank) &&
           is_mostly_new(u, unit);
}

void dome__release_choose_gifts(dome_release *release)
{
    dome_release *r = release;
    g_array_set_size(r->gifts, 0);
    for (guint n = 0; n < r->regions->len; n++) {
        const dome_release_units *u = r->regions->pdata[n];
        const guint count = u && u->writers && u->dirty->len >= DOME_RELEASE_MANY ? u->dirty->len : 0;
        for (guint k = 0; k < count; k++) {
            const uint64_t unit = g_array_index(u->dirty, uint64_t, k), key = key_of(u, unit);
            if (is_gift(u, unit))
                g_array_append_val(r->gifts, key);
        }
    }
    if (r->gifts->len < DOME_RELEASE_MANY)
        g_array_set_size(r->gifts, 0);
    for (guint k = 0; k < r->gifts->len; k++) {
        uint64_t unit;
        dome_release_units *u = units_of(r, g_array_index(r->gifts, uint64_t, k), &unit);
        u->marks[unit] |= GIFT;
    }
}

/* ---- what has come ---- */

typedef struct entry {
    dome_release_units *units;
    uint64_t unit, receivers;
    const uint8_t *records;
    uint32_t bytes;
    bool asked, forgotten;
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
    bool all, wanted;           /* all: and this task gets all of it; wanted: its copy is to last */
} found;

/* The next entry; false: there is none, or it makes no sense. */
static bool next_entry(const dome_release *r, const uint8_t **at, const uint8_t *end, entry *e)
{
    if (end - *at < ENTRY)
        return false;
    const uint32_t region = dome__get_u32(*at) & ~(ASKED | FORGOTTEN);
    *e = (entry){.asked = dome__get_u32(*at) & ASKED,
                 .forgotten = dome__get_u32(*at) & FORGOTTEN,
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

/* All entries with records: those of a unit one behind the other, in the order of ranks. */
static GArray *take_parts(dome_release *r, const dome_release_entries *entries)
{
    GArray *parts = r->room->parts;
    g_array_set_size(parts, 0);
    for (int rank = 0; rank < r->env->size; rank++) {
        const uint8_t *at = entries->of[rank], *end = at + entries->bytes[rank];
        entry e;
        while (next_entry(r, &at, end, &e))
            if (e.forgotten)
                dome__release_reader_drop(e.units, e.unit, rank);
            else
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
    const bool has = r->sections && dome__section_log_has_late(r->sections->log, from);
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
    if (f->all && u->state[e->unit] & VALID && !has)
        apply(e);
    if (f->all && e->asked && !(u->state[e->unit] & WRITTEN))
        dome__release_note_push(u, e->unit);
    else if (f->wanted)
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

/* What was pushed has an account of its own (dome__release_note_push). */
static bool is_wanted(const entry *e)
{
    const uint32_t state = e->units->state[e->unit];
    return e->asked && !(state & WRITTEN) ? is_valid(e->units, e->unit) : dome__release_is_wanted(e->units, e->unit);
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
        f.all = f.whole && f.for_here == f.entries - f.own;
        f.wanted = f.for_here > 0 && is_wanted(&first->e) && f.all;
        for (guint j = 0; j < end - k; j++)
            take_entry(release, &first[j].e, first[j].from, &f);
    }
    settle(release);
}

void dome__release_early_begin(dome_release *release)
{
    release->room->parts = g_array_new(FALSE, FALSE, sizeof(part));
}

/* ---- what is sent to homes ---- */

static void ask(const dome_release *r, int rank, const GByteArray *message)
{
    GByteArray *reply = NULL;
    dome__peer_ask(r->peer, rank, DOME_PEER_RELEASE, message->data, message->len,
                   &reply); /* a loss is noticed by the next collective */
    if (reply)
        g_byte_array_unref(reply);
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

/* The task may write on units that it has sent (they may become hot), and gifts, which it alone has. */
static bool keeps_right(const dome_release_units *u, uint64_t unit)
{
    return u->state[unit] & SENT || u->marks[unit] & GIFT;
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
                          keeps_right(u, first) == keeps_right(u, first + (end - k));)
            end++;
        if (!keeps_right(u, first))
            dome__release_allow(u, first, end - k, DOME_ACCESS_READ);
    }
    return dirty;
}

/* Whether a unit's changes go to its home. Changes that are sent with the exchange need not. */
static bool must_go(dome_release_units *u, uint64_t unit, uint8_t word)
{
    if (is_home(u, unit))
        return false;
    u->state[unit] |= word == CHANGE ? TOLD : 0;
    return !keeps_right(u, unit);
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
