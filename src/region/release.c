#include "region/release.h"

#include "region/release_private.h"
#include "sections/section_pull.h"
#include "system/bytes.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <stdlib.h>
#include <string.h>

/* ---- what others ask for; in the channel's thread ---- */

static dome_release_units *find(const dome_release *r, const uint8_t *message)
{
    const uint32_t number = dome__get_u32(message + 1);
    return number < r->regions->len ? r->regions->pdata[number] : NULL;
}

GArray *dome__release_readers_of(const dome_release_units *units, uint64_t unit)
{
    const gint64 key = (gint64)unit;
    return g_hash_table_lookup(units->readers, &key);
}

static GArray *readers_of(const dome_release_units *u, uint64_t unit)
{
    return dome__release_readers_of(u, unit);
}

static bool is_changed(const dome_release_units *u, uint64_t unit)
{
    return u->changed[unit] == u->setup.release->epoch + 1;
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

static void note_pushing(dome_release *r, uint64_t place, bool pushes)
{
    const gint64 key = (gint64)place;
    if (pushes && !g_hash_table_contains(r->pushing, &key))
        g_hash_table_add(r->pushing, g_memdup2(&key, sizeof key));
    else if (!pushes)
        g_hash_table_remove(r->pushing, &key);
}

void dome__release_readers_drop(dome_release *release, GArray *readers)
{
    for (guint k = 0; k < readers->len; k++)
        count_readers(release, g_array_index(readers, reader, k).place, -1);
    g_array_set_size(readers, 0);
}

void dome__release_keep(dome_release_units *units, uint64_t unit)
{
    const GArray *readers = units->state[unit] & KEPT ? NULL : readers_of(units, unit);
    if (!readers || readers->len == 0)
        return;
    memcpy(units->old + unit * units->setup.unit, place_of(units, unit), units->setup.unit);
    units->state[unit] |= KEPT;
}

static void note_reader(dome_release_units *u, uint64_t unit, int rank)
{
    const reader now = {rank, u->setup.release->place, is_changed(u, unit) && !dome__release_is_told(u, unit)};
    GArray *readers = readers_of(u, unit);
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
    note_pushing(u->setup.release, now.place, true);
}

/* From now on others must know that units are written, as they may have been since the last barrier. */
static void end_privacy(dome_release_units *u, const GArray *which)
{
    GArray *private = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint k = 0; k < which->len; k++) {
        const uint64_t unit = g_array_index(which, uint64_t, k);
        if (!is_private(u, unit))
            continue;
        u->state[unit] |= VALID | SHARED | WRITTEN | IMPLIED;
        u->changed[unit] = u->setup.release->epoch + 1;
        g_array_append_val(u->written, unit);
        g_array_append_val(private, unit);
    }
    dome__release_allow_all(u, private, DOME_ACCESS_READ);
    g_array_unref(private);
}

static bool are_home(const dome_release_units *u, const GArray *which)
{
    for (guint k = 0; k < which->len; k++)
        if (!is_home(u, g_array_index(which, uint64_t, k)))
            return false;
    return true;
}

void dome__release_answer(const waiting_fetch *fetch)
{
    const waiting_fetch *f = fetch;
    if (are_home(f->units, f->which)) {
        end_privacy(f->units, f->which);
        for (guint k = 0; k < f->which->len; k++)
            note_reader(f->units, g_array_index(f->which, uint64_t, k), f->from);
        dome__release_reply(f);
    }
    g_array_unref(f->which);
}

static bool is_any_private(const waiting_fetch *f)
{
    for (guint k = 0; k < f->which->len; k++)
        if (is_private(f->units, g_array_index(f->which, uint64_t, k)))
            return true;
    return false;
}

/* A private unit has what this task has written last, which others may see only with all that it has written before. That is of
 * no interest to a task that is in a section: nothing is published then. */
static bool must_settle(const waiting_fetch *f)
{
    const dome_release *r = f->units->setup.release;
    bool changed = false;
    if (!has_sections(f->units) || !r->sections->entered || f->inside || !is_any_private(f))
        return false;
    for (guint n = 0; n < r->regions->len && !changed; n++) {
        const dome_release_units *u = r->regions->pdata[n];
        changed = u && u->writers && u->dirty->len > 0;
    }
    return changed;
}

static void answer_fetch(const waiting_fetch *f)
{
    if (must_settle(f))
        g_array_append_vals(f->units->setup.release->sections->unsettled, f, 1);
    else
        dome__release_answer(f);
}

/* The units that a message names; NULL: it makes no sense. */
static GArray *units_in(const dome_release_units *u, const uint8_t *at, size_t bytes)
{
    GArray *which = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    bool good = bytes > 0 && bytes % 8 == 0;
    for (size_t k = 0; good && k < bytes; k += 8) {
        const uint64_t unit = dome__get_u64(at + k);
        good = unit < u->setup.units && (k == 0 || unit > g_array_index(which, uint64_t, which->len - 1));
        g_array_append_val(which, unit);
    }
    if (!good)
        g_clear_pointer(&which, g_array_unref);
    return which;
}

static void take_fetch(dome_release_units *u, const dome_peer_request *q)
{
    const uint8_t *at = (const uint8_t *)q->data + MESSAGE;
    GArray *which = q->bytes > FETCH_HEAD ? units_in(u, (const uint8_t *)q->data + FETCH_HEAD, q->bytes - FETCH_HEAD) : NULL;
    if (!which)
        return;
    const waiting_fetch f = {.units = u,
                             .which = which,
                             .meets = dome__get_u64(at),
                             .have = dome__get_u64(at + 8),
                             .inside = at[16],
                             .id = q->id,
                             .from = q->from};
    if (f.meets > u->setup.release->meets)
        g_array_append_val(u->setup.release->waiting, f);
    else
        answer_fetch(&f);
}

static void take_log(const dome_release *r, const dome_peer_request *q)
{
    if (r->sections && q->bytes == DOME_SECTION_ASK)
        dome__section_pull_reply(r->sections->log, q);
}

static void take_forget(const dome_release_units *u, const dome_peer_request *q)
{
    const uint64_t unit = q->bytes == FORGET_MESSAGE ? dome__get_u64((const uint8_t *)q->data + MESSAGE) : UINT64_MAX;
    GArray *readers = readers_of(u, unit);
    for (guint k = readers ? readers->len : 0; k-- > 0;)
        if (g_array_index(readers, reader, k).rank == q->from) {
            count_readers(u->setup.release, g_array_index(readers, reader, k).place, -1);
            g_array_remove_index_fast(readers, k);
        }
}

/* Records of a task, and whether it sent them at a lock. */
typedef struct change {
    dome_release_units *units;
    int from;
    bool at_lock;
} change;

/* Another task may have overwritten changes that a task sent at a lock. The next push would not repair that task's copy. */
static void mark_changed(void *ctx, uint64_t first, uint64_t count, const void *values)
{
    const change *c = ctx;
    dome_release_units *u = c->units;
    (void)values;
    for (uint64_t k = first * u->setup.atom / u->setup.unit; k <= ((first + count) * u->setup.atom - 1) / u->setup.unit; k++) {
        GArray *readers = c->at_lock ? readers_of(u, k) : NULL;
        u->changed[k] = u->setup.release->epoch + 1;
        for (guint j = 0; readers && j < readers->len; j++)
            g_array_index(readers, reader, j).middle |= g_array_index(readers, reader, j).rank == c->from;
    }
}

static void keep_units(void *ctx, uint64_t first, uint64_t count, const void *values)
{
    dome_release_units *u = ctx;
    (void)values;
    for (uint64_t k = first * u->setup.atom / u->setup.unit; k <= ((first + count) * u->setup.atom - 1) / u->setup.unit; k++)
        dome__release_keep(u, k);
}

/* What a task has sent, as a delta of this task's memory; NULL: the records are damaged. */
static dome_delta *read_records(const dome_release_units *u, int from, const void *records, size_t bytes)
{
    if (dome__release_is_foreign(u, from))
        return dome__release_translate(u, records, bytes);
    dome_delta *delta = dome__delta_new(u->setup.atom);
    if (!dome__delta_set_records(delta, records, bytes, u->setup.unit * u->setup.units))
        g_clear_pointer(&delta, dome__delta_free);
    return delta;
}

/* Writes what another task has changed into this task's copy. */
static bool apply(change *c, const void *records, size_t bytes, bool pushed)
{
    dome_release_units *u = c->units;
    dome_delta *delta = read_records(u, c->from, records, bytes);
    u->figures->bytes += bytes;
    if (!delta)
        return false;
    if (!pushed)
        dome__delta_runs(delta, keep_units, u);
    dome__delta_apply(delta, place_of(u, 0), u->setup.unit * u->setup.units, NULL);
    if (!pushed && u->mirror)
        dome__delta_apply(delta, u->mirror, u->setup.unit * u->setup.units, NULL);
    if (!pushed)
        dome__delta_runs(delta, mark_changed, c);
    dome__delta_free(delta);
    return true;
}

/* A pushed unit that was not accessed since the push before last is wanted no more. */
void dome__release_note_push(dome_release_units *units, uint64_t unit, int home)
{
    dome_release_units *u = units;
    uint32_t *state = &u->state[unit];
    const bool missed = !(*state & VALID) || *state & UNTOUCHED;
    if (missed && *state & MISSED) { /* the copy is dropped with the interval: the home may think that nobody has one */
        uint8_t message[FORGET_MESSAGE];
        dome__release_put(message, FORGET, u);
        dome__put_u64(message + MESSAGE, unit);
        dome__peer_tell(u->setup.release->peer, home, DOME_PEER_RELEASE, message, FORGET_MESSAGE);
    } else if (*state & VALID) {
        *state |= ARRIVED;
    }
    *state = (uint32_t)(missed ? *state | MISSED : *state & ~MISSED);
}

static bool take_push(dome_release_units *u, const dome_peer_request *q)
{
    const uint8_t *at = (const uint8_t *)q->data + MESSAGE;
    const uint32_t count = q->bytes >= MESSAGE + 4 ? dome__get_u32(at) : UINT32_MAX;
    if (q->bytes < MESSAGE + 4 || count > (q->bytes - MESSAGE - 4) / 8)
        return false;
    at += 4;
    const uint8_t *records = at + (size_t)count * 8, *end = (const uint8_t *)q->data + q->bytes;
    for (uint32_t k = 0; k < count; k++)
        if (dome__get_u64(at + 8 * (size_t)k) >= u->setup.units)
            return false;
    if (!apply(&(change){u, q->from, false}, records, (size_t)(end - records), true))
        return false;
    for (uint32_t k = 0; k < count; k++)
        dome__release_note_push(u, dome__get_u64(at + 8 * (size_t)k), q->from);
    return true;
}

/* What was written behind a barrier at which this task still is would pass for a part of the interval before. */
static bool take_delta(dome_release_units *u, const dome_peer_request *q)
{
    dome_release *r = u->setup.release;
    const uint8_t *bytes = q->data, *at = bytes + MESSAGE;
    if (q->bytes < MESSAGE + 8)
        return false;
    if (dome__get_u64(at) <= r->meets && bytes[0] == ADD)
        return dome__release_add_here(u, at + 8, q->bytes - MESSAGE - 8, q->from, q->id), false;
    if (dome__get_u64(at) <= r->meets)
        return apply(&(change){u, q->from, bytes[0] == CHANGE}, at + 8, q->bytes - MESSAGE - 8, false);
    const waiting_delta d = {u, g_bytes_new(at + 8, q->bytes - MESSAGE - 8), q->id, q->from, bytes[0]};
    g_array_append_val(r->deltas, d);
    return false;
}

static void take_message(void *ctx, const dome_peer_request *q)
{
    dome_release *r = ctx;
    const uint8_t *bytes = q->data;
    if (q->bytes < MESSAGE)
        return;
    pthread_mutex_lock(&r->lock);
    dome_release_units *u = find(r, bytes);
    bool done = false;
    if (bytes[0] == LOG)
        take_log(r, q);
    else if (u && bytes[0] == FETCH)
        take_fetch(u, q);
    else if (u && bytes[0] == FORGET)
        take_forget(u, q);
    else if (u && (bytes[0] == DELTA || bytes[0] == CHANGE || bytes[0] == ADD))
        done = take_delta(u, q);
    else if (u && bytes[0] == PUSH)
        done = take_push(u, q);
    const bool settles = r->sections && r->sections->unsettled->len > 0;
    pthread_mutex_unlock(&r->lock);
    if (done)
        dome__peer_reply(q->peer, q->from, q->id, NULL, 0);
    if (settles)
        r->sections->settle(r->sections->ctx);
}

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
static void send_changes(dome_release_units *u, int rank, uint8_t word, const uint64_t *units, guint count)
{
    const bool foreign = dome__release_is_foreign(u, rank);
    dome_delta *delta = foreign ? dome__release_image_delta(u) : dome__delta_new(u->setup.atom);
    GByteArray *message = g_byte_array_new();
    guint sent = 0, noted = 0;
    for (guint k = 0; k < count; k++) {
        const uint64_t at = units[k] * u->setup.unit;
        size_t bytes;
        if (foreign)
            dome__release_find_image(u, delta, units[k]);
        else
            dome__delta_find(delta, at, place_of(u, units[k]), u->old + at, u->setup.unit, 0);
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
                note_turns(u, delta, units + noted, k + 1 - noted);
            noted = k + 1;
        }
        if (word == PUSH) {
            dome__put_u32(number, k + 1 - sent);
            g_byte_array_append(message, number, 4);
            for (; sent <= k; sent++) {
                dome__put_u64(number, units[sent]);
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
            send_changes(units, home, word, (const uint64_t *)(const void *)some->data, some->len);
    }
    g_array_unref(some);
    g_array_unref(dirty);
}

/* ---- a barrier ---- */

/* Units that a task has written: a run, as words. */
typedef struct run {
    uint64_t region, first, count; /* region: with these bits */
} run;

#define RUN_WHOLE   (UINT64_C(1) << 63) /* the writer's copies are valid */
#define RUN_IMPLIED (UINT64_C(1) << 62) /* written, if at all, before another task had a copy */
#define RUN_REGION  (RUN_IMPLIED - 1)

enum { RUN_WORDS = sizeof(run) / sizeof(uint64_t) };

static GArray *own_runs(const dome_release *r)
{
    GArray *runs = r->room->own_runs;
    g_array_set_size(runs, 0);
    for (guint n = 0; n < r->regions->len; n++) {
        const dome_release_units *u = r->regions->pdata[n];
        if (!u)
            continue;
        dome__release_sort(u->written);
        for (guint k = 0; k < u->written->len; k++) {
            const uint64_t unit = g_array_index(u->written, uint64_t, k);
            const uint64_t region = n | (is_valid(u, unit) ? RUN_WHOLE : 0) | (u->state[unit] & IMPLIED ? RUN_IMPLIED : 0);
            run *last = runs->len ? &g_array_index(runs, run, runs->len - 1) : NULL;
            if (last && last->region == region && last->first + last->count == unit)
                last->count++;
            else
                g_array_append_val(runs, ((run){region, unit, 1}));
        }
    }
    return runs;
}

/* All that was written, by whom. */
typedef struct notices {
    const dome_release *release;
    run *runs;
    uint64_t *counts;        /* words, by rank */
    bool any, pushes;        /* anything was written; a home has readers behind this place */
    const uint8_t **entries; /* by rank (release_early.c) */
    uint64_t *entry_bytes;
    const uint64_t *more; /* runs and entries of those for which there was no room on their cards */
} notices;

/* What each task tells first, its card: the words of its runs, flags, the place, the bytes of entries, the last section that it
 * has; the word of task 0, if there is one; the runs and the entries, if they are few. */
enum { HEAD = 5, EARLY_BYTES = 1536, ROOM = 8 * RUN_WORDS + EARLY_BYTES / 8, CARD = HEAD + DOME_RELEASE_WORDS + ROOM };
enum { PUSHES = 1, SENDS = 2, MOVES = 4, MORE = 8 }; /* MORE: runs and entries come with the second exchange */

static bool sends(const dome_release *r)
{
    for (guint n = 0; n < r->regions->len; n++) {
        const dome_release_units *u = r->regions->pdata[n];
        for (guint k = 0; u && k < u->dirty->len; k++) {
            const uint64_t unit = g_array_index(u->dirty, uint64_t, k);
            if (!is_home(u, unit) && !(u->state[unit] & SENT))
                return true;
        }
    }
    return false;
}

/* Room for so many words. */
static uint64_t *words_of(GArray *room, uint64_t count)
{
    g_array_set_size(room, (guint)count + 1); /* never NULL */
    return (uint64_t *)(void *)room->data;
}

/* What a task brings. */
typedef struct bringing {
    uint64_t card[CARD];
    uint64_t length; /* words of the card */
    GArray *runs;
    GByteArray *entries;
} bringing;

/* Where a card's runs begin. */
static uint64_t runs_at(int rank, bool by_word)
{
    return HEAD + (by_word && rank == 0 ? (uint64_t)DOME_RELEASE_WORDS : 0);
}

static uint64_t longest_card(bool by_word)
{
    return runs_at(0, by_word) + ROOM;
}

static uint64_t words_for(uint64_t bytes)
{
    return (bytes + 7) / 8;
}

static void make_card(dome_release *r, const dome_release_word *word, bool by_word, bringing *b)
{
    const bool knows = !by_word || r->env->rank == 0;
    uint64_t *card = b->card;
    b->entries = r->room->own_entries;
    g_byte_array_set_size(b->entries, 0);
    pthread_mutex_lock(&r->lock);
    if (r->sections)
        dome__release_take_sections(r);
    dome__release_compare_hot(r, false);
    if (r->sections)
        dome__release_drop_logged(r);
    dome__release_put_early(r, b->entries, EARLY_BYTES, knows ? &word->place : NULL);
    b->runs = own_runs(r);
    card[0] = b->runs->len * RUN_WORDS;
    card[1] = (knows && g_hash_table_contains(r->pushing, &word->place) ? PUSHES : 0) | (sends(r) ? SENDS : 0) |
              (word->moves && knows ? MOVES : 0);
    card[2] = word->place;
    card[3] = b->entries->len;
    card[4] = r->sections ? dome__section_log_end(r->sections->log) : 0;
    if (r->sections)
        r->sections->in_barrier = true;
    pthread_mutex_unlock(&r->lock);
    if (by_word && r->env->rank == 0)
        memcpy(card + HEAD, word->words, sizeof word->words);
    b->length = runs_at(r->env->rank, by_word);
    if (card[0] + words_for(card[3]) > ROOM || card[1] & SENDS) {
        card[1] |= MORE;
        return;
    }
    memcpy(card + b->length, b->runs->data, b->runs->len * sizeof(run));
    memcpy(card + b->length + card[0], b->entries->data, b->entries->len);
    b->length += card[0] + words_for(card[3]);
}

/* ---- what came with the cards ---- */

/* Of a task's runs, which are in ascending order: whether it has written the unit. */
static bool has_written(const run *runs, uint64_t count, uint64_t region, uint64_t unit)
{
    uint64_t from = 0;
    for (uint64_t end = count, middle; from < end;) { /* `from` is to be the first run that ends behind the unit */
        middle = from + (end - from) / 2;
        const uint64_t of = runs[middle].region & RUN_REGION;
        if (of < region || (of == region && runs[middle].first + runs[middle].count <= unit))
            from = middle + 1;
        else
            end = middle;
    }
    return from < count && (runs[from].region & RUN_REGION) == region && unit >= runs[from].first &&
           !(runs[from].region & RUN_IMPLIED);
}

static unsigned writers_of(const void *notices, uint64_t key)
{
    const struct notices *n = notices;
    const uint64_t region = key >> UNIT_BITS, unit = key & ((UINT64_C(1) << UNIT_BITS) - 1);
    const run *at = n->runs;
    unsigned writers = 0;
    for (int rank = 0; rank < n->release->env->size; at += n->counts[rank++] / RUN_WORDS)
        writers += has_written(at, n->counts[rank] / RUN_WORDS, region, unit);
    return writers;
}

static void exchange_early(dome_release *r, const notices *n)
{
    pthread_mutex_lock(&r->lock);
    dome__release_take_early(r, &(dome_release_entries){writers_of, n, n->entries, n->entry_bytes});
    pthread_mutex_unlock(&r->lock);
}

/* The runs and entries of those for which there was no room on their cards; this task's have been published. */
static int exchange_more(dome_release *r, const bringing *b, const uint64_t *all, uint64_t length, notices *n)
{
    const uint64_t size = (uint64_t)r->env->size, words = b->runs->len * RUN_WORDS, entries = words_for(b->entries->len);
    uint64_t *counts = words_of(r->room->more_counts, size), total = 0;
    for (uint64_t k = 0; k < size; k++)
        total += counts[k] = all[length * k + 1] & MORE ? all[length * k] + words_for(all[length * k + 3]) : 0;
    uint64_t *own = words_of(r->room->own, words + entries), *more = words_of(r->room->more, total);
    memcpy(own, b->runs->data, words * 8);
    memcpy(own + words, b->entries->data, b->entries->len);
    n->more = more;
    return dome__allgatherv(r->env->transport, DOME_U64, own, counts, more);
}

/* Where each task's runs and entries are. */
static void find_parts(const dome_release *r, const uint64_t *all, bool by_word, notices *n)
{
    const uint64_t length = longest_card(by_word);
    uint64_t *to = (uint64_t *)(void *)n->runs;
    const uint64_t *more = n->more;
    for (uint64_t k = 0; k < (uint64_t)r->env->size; to += n->counts[k++]) {
        const uint64_t *card = all + length * k;
        const bool on_card = !(card[1] & MORE);
        const uint64_t *from = on_card ? card + runs_at((int)k, by_word) : more;
        memcpy(to, from, card[0] * sizeof *to);
        n->entries[k] = (const uint8_t *)(from + card[0]);
        n->entry_bytes[k] = card[3];
        more += on_card ? 0 : card[0] + words_for(card[3]);
    }
}

/* Before anything else of this barrier comes to a task it has all sections. */
static int know_all_sections(dome_release *r, const uint64_t *all, uint64_t length)
{
    uint64_t last = 0;
    bool lacks = false;
    int who = 0;
    for (int rank = 0; rank < r->env->size; rank++)
        if (all[length * (uint64_t)rank + 4] > last)
            last = all[length * (uint64_t)(who = rank) + 4];
    for (int rank = 0; rank < r->env->size; rank++)
        lacks |= all[length * (uint64_t)rank + 4] < last;
    return lacks ? dome__release_catch_up(r, who, last) : DOME_OK;
}

/* All tasks have stopped when the cards are there. What they have written for other homes is there with the second exchange,
 * which is left out if there is no need for it. */
static int exchange(dome_release *r, dome_release_word *word, bool by_word, notices *n)
{
    dome_env *env = r->env;
    const uint64_t size = (uint64_t)env->size, length = longest_card(by_word);
    uint64_t *all = words_of(r->room->cards, length * size), words = 0, flags = 0;
    bringing b;
    make_card(r, word, by_word, &b);
    int status = dome__allgather_some(env->transport, DOME_U64, b.card, b.length, length, all);
    if (status != DOME_OK)
        return status;
    n->counts = words_of(r->room->counts, size);
    n->entry_bytes = words_of(r->room->entry_bytes, size);
    g_array_set_size(r->room->entries, (guint)size);
    n->entries = (const uint8_t **)(void *)r->room->entries->data;
    for (uint64_t k = 0; k < size; k++) {
        words += n->counts[k] = all[length * k];
        flags |= all[length * k + 1];
    }
    if (by_word) {
        word->moves = all[1] & MOVES;
        word->place = all[2];
        memcpy(word->words, all + HEAD, sizeof word->words);
    }
    status = know_all_sections(r, all, length);
    n->any = words > 0;
    n->pushes = flags & PUSHES;
    n->runs = (run *)(void *)words_of(r->room->runs, words);
    for (guint k = 0; status == DOME_OK && n->any && k < r->regions->len; k++)
        if (r->regions->pdata[k])
            dome__release_publish(r->regions->pdata[k], DELTA);
    if (status == DOME_OK && flags & MORE)
        status = exchange_more(r, &b, all, length, n);
    if (status == DOME_OK && n->any) {
        find_parts(r, all, by_word, n);
        exchange_early(r, n);
    }
    return status;
}

typedef void (*on_unit)(dome_release_units *u, uint64_t unit, int writer, void *ctx);
typedef void (*on_run)(dome_release_units *u, const run *units, int writer, void *ctx);

static void each_run(const dome_release *r, const notices *n, on_run call, void *ctx)
{
    const run *at = n->runs;
    for (int writer = 0; writer < r->env->size; writer++)
        for (uint64_t k = 0; k < n->counts[writer] / RUN_WORDS; k++, at++)
            call(r->regions->pdata[at->region & RUN_REGION], at, writer, ctx);
}

static void each(const dome_release *r, const notices *n, on_unit call, void *ctx)
{
    const run *at = n->runs;
    for (int writer = 0; writer < r->env->size; writer++)
        for (uint64_t k = 0; k < n->counts[writer] / RUN_WORDS; k++, at++)
            for (uint64_t j = 0; j < at->count; j++)
                call(r->regions->pdata[at->region & RUN_REGION], at->first + j, writer, ctx);
}

/* Units to be pushed, by the reader. */
typedef struct pushing {
    uint64_t place;
    GHashTable *by_reader; /* GArray of unit by rank + 1 */
} pushing;

static void plan_push(dome_release_units *u, uint64_t unit, int writer, void *ctx)
{
    const pushing *p = ctx;
    (void)writer;
    const GArray *readers = is_home(u, unit) ? readers_of(u, unit) : NULL;
    for (guint k = 0; readers && k < readers->len; k++) {
        const reader *r = &g_array_index(readers, reader, k);
        if (r->place != p->place || r->middle || !(u->state[unit] & KEPT) || u->state[unit] & SENT)
            continue;
        GArray *units = g_hash_table_lookup(p->by_reader, GINT_TO_POINTER(r->rank + 1));
        if (!units) {
            units = g_array_new(FALSE, FALSE, sizeof(uint64_t));
            g_hash_table_insert(p->by_reader, GINT_TO_POINTER(r->rank + 1), units);
        }
        const uint64_t key = key_of(u, unit);
        g_array_append_val(units, key);
    }
}

static void push_to(const dome_release *r, int rank, GArray *keys)
{
    dome__release_sort_once(keys);
    for (guint k = 0; k < keys->len;) {
        const uint64_t region = g_array_index(keys, uint64_t, k) >> UNIT_BITS;
        guint end = k;
        for (; end < keys->len && g_array_index(keys, uint64_t, end) >> UNIT_BITS == region; end++)
            g_array_index(keys, uint64_t, end) &= (UINT64_C(1) << UNIT_BITS) - 1;
        send_changes(r->regions->pdata[region], rank, PUSH, &g_array_index(keys, uint64_t, k), end - k);
        k = end;
    }
}

static void push(dome_release *r, uint64_t place, const notices *n)
{
    if (!g_hash_table_contains(r->places, &place))
        return;
    pushing p = {place, g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref)};
    GHashTableIter at;
    gpointer rank, units;
    pthread_mutex_lock(&r->lock);
    each(r, n, plan_push, &p);
    note_pushing(r, place, g_hash_table_size(p.by_reader) > 0);
    pthread_mutex_unlock(&r->lock);
    g_hash_table_iter_init(&at, p.by_reader);
    while (n->pushes && g_hash_table_iter_next(&at, &rank, &units))
        push_to(r, GPOINTER_TO_INT(rank) - 1, units);
    g_hash_table_unref(p.by_reader);
}

/* Copies that were not pushed are old; the home's is complete. */
static void end_unit(dome_release_units *u, uint64_t unit, int writer)
{
    GArray *readers = is_home(u, unit) ? readers_of(u, unit) : NULL;
    u->state[unit] &= (uint32_t)~KEPT;
    for (guint k = 0; readers && k < readers->len; k++)
        g_array_index(readers, reader, k).middle = false;
    if (is_home(u, unit) && writer != u->setup.release->env->rank)
        u->state[unit] |= OTHERS;
    if (is_home(u, unit) || writer == u->setup.release->env->rank || u->state[unit] & EARLY)
        return;
    if (u->state[unit] & ARRIVED)
        u->state[unit] |= u->state[unit] & PINNED ? 0 : UNTOUCHED;
    else
        u->state[unit] &= (uint32_t) ~(VALID | UNTOUCHED | MISSED);
}

/* Others' copies lose their rights by runs: each is a system call. */
static void end_run(dome_release_units *u, const run *units, int writer, void *ctx)
{
    const uint64_t end = units->first + units->count;
    (void)ctx;
    if (units->region & RUN_IMPLIED && writer != u->setup.release->env->rank)
        return; /* all copies have it */
    for (uint64_t k = units->first, from = k; k <= end; k++) {
        const bool closes =
            k < end && writer != u->setup.release->env->rank && !is_home(u, k) && u->state[k] & VALID && !(u->state[k] & EARLY);
        if (!closes && from < k)
            dome__release_close(u, from, k - from);
        from = closes ? from : k + 1;
        if (k < end)
            end_unit(u, k, writer);
    }
}

static void forget_marks(dome_release_units *u, uint64_t unit, int writer, void *ctx)
{
    (void)writer, (void)ctx;
    u->state[unit] &= (uint32_t) ~(ARRIVED | OTHERS | SENT | EARLY | TOLD | CLEAN);
}

/* ---- homes that move ---- */

enum { SEVERAL = -1 };

static void note_writer(dome_release_units *u, const run *units, int writer, void *ctx)
{
    (void)ctx;
    if (!u->writers || units->region & RUN_IMPLIED)
        return;
    for (uint64_t k = units->first; k < units->first + units->count; k++)
        if (u->homes[k] == 0)
            u->writers[k] = u->writers[k] == 0 && units->region & RUN_WHOLE ? writer + 1 : SEVERAL;
}

/* Neither the home that was nor the new one needs what a unit was before. By runs: each is a system call. */
static void free_old(dome_release_units *u, const run *units, int writer, void *ctx)
{
    const uint64_t end = units->first + units->count;
    const bool mine = writer == u->setup.release->env->rank;
    (void)ctx;
    if (!u->writers || writer == u->setup.home)
        return;
    for (uint64_t k = units->first, from = k; k <= end; k++) {
        const bool frees = k < end && u->writers[k] == writer + 1 && (mine || is_home(u, k)) && !(u->state[k] & (DIRTY | KEPT));
        if (!frees && from < k)
            dome__release_free_old(u, from, k - from);
        from = frees ? from : k + 1;
    }
}

/* The home that was keeps its copy until the new one writes; the new one knows of no readers. */
static void move_unit(dome_release_units *u, uint64_t unit, int writer, void *ctx)
{
    dome_release *r = u->setup.release;
    (void)ctx;
    if (!u->writers || u->writers[unit] != writer + 1 || writer == u->setup.home)
        return;
    if (is_home(u, unit)) {
        const gint64 key = (gint64)unit;
        GArray *readers = readers_of(u, unit);
        if (readers)
            dome__release_readers_drop(r, readers);
        g_hash_table_remove(u->readers, &key);
        u->state[unit] = (uint32_t)(VALID | (u->state[unit] & PINNED));
    }
    if (writer == r->env->rank)
        u->state[unit] |= VALID | SHARED;
    u->homes[unit] = writer + 1;
    u->moved_first = u->moved_end ? MIN(u->moved_first, unit) : unit;
    u->moved_end = MAX(u->moved_end, unit + 1);
}

static void forget_writer(dome_release_units *u, uint64_t unit, int writer, void *ctx)
{
    (void)writer, (void)ctx;
    if (u->writers)
        u->writers[unit] = 0;
}

static void move_homes(const dome_release *r, const notices *n)
{
    each_run(r, n, note_writer, NULL);
    each_run(r, n, free_old, NULL);
    each(r, n, move_unit, NULL);
    each(r, n, forget_writer, NULL);
}

/* A unit of which only its home has a copy now, which has written it alone, may be written on without a word. */
static bool becomes_private(dome_release_units *u, uint64_t unit)
{
    const GArray *readers = readers_of(u, unit);
    u->state[unit] &= (uint32_t) ~(WRITTEN | IMPLIED);
    if (!is_home(u, unit) || u->state[unit] & OTHERS || (readers && readers->len > 0))
        return false;
    u->state[unit] &= (uint32_t)~SHARED;
    return true;
}

static void end_written(dome_release_units *u)
{
    if (u->written->len == 0)
        return;
    GArray *private = g_array_new(FALSE, FALSE, sizeof(uint64_t)), *done = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint k = 0; k < u->written->len; k++) {
        const uint64_t unit = g_array_index(u->written, uint64_t, k);
        if (becomes_private(u, unit))
            g_array_append_val(private, unit);
        if (!(u->state[unit] & (DIRTY | KEPT)))
            g_array_append_val(done, unit);
    }
    dome__release_allow_all(u, private, DOME_ACCESS_WRITE);
    dome__release_free_many(u, done);
    g_array_set_size(u->written, 0);
    g_array_unref(private);
    g_array_unref(done);
}

static void end_interval(dome_release *r, const notices *n, bool moves)
{
    each_run(r, n, end_run, NULL);
    for (guint k = 0; k < r->regions->len; k++)
        if (r->regions->pdata[k])
            end_written(r->regions->pdata[k]);
    each(r, n, forget_marks, NULL);
    if (moves)
        move_homes(r, n);
    g_hash_table_remove_all(r->known);
    g_array_set_size(r->published, 0);
    r->epoch++;
}

static void answer_waiting(dome_release *r)
{
    for (guint k = 0; k < r->deltas->len; k++) {
        const waiting_delta *d = &g_array_index(r->deltas, waiting_delta, k);
        gsize bytes;
        const void *records = g_bytes_get_data(d->records, &bytes);
        if (d->word == ADD)
            dome__release_add_here(d->units, records, bytes, d->from, d->id);
        else if (apply(&(change){d->units, d->from, d->word == CHANGE}, records, bytes, false))
            dome__peer_reply(r->peer, d->from, d->id, NULL, 0);
        g_bytes_unref(d->records);
    }
    g_array_set_size(r->deltas, 0);
    for (guint k = 0; k < r->waiting->len; k++)
        answer_fetch(&g_array_index(r->waiting, waiting_fetch, k));
    g_array_set_size(r->waiting, 0);
}

static int meet(dome_release *r, dome_release_word *word, bool by_word)
{
    notices n = {.release = r};
    int status = exchange(r, word, by_word, &n);
    if (status == DOME_OK && n.any)
        push(r, word->place, &n);
    if (status == DOME_OK && n.any && n.pushes)
        status = dome__barrier(r->env->transport);
    pthread_mutex_lock(&r->lock);
    if (status == DOME_OK && n.any)
        end_interval(r, &n, word->moves);
    if (status == DOME_OK)
        dome__release_keep_hot(r, word->place);
    if (r->sections) {
        r->sections->in_barrier = r->sections->entered = false;
        dome__release_clear_sections(r);
    }
    r->place = word->place;
    r->meets++;
    answer_waiting(r);
    pthread_mutex_unlock(&r->lock);
    if (status == DOME_OK) {
        dome__release_refresh(r);
        dome__release_fetch_ahead(r, word->place);
    }
    return status ? dome__fail_transport(r->env, status) : DOME_OK;
}

int dome__release_meet(dome_release *release, uint64_t place)
{
    return dome__release_meet_at(release, place, false);
}

int dome__release_meet_at(dome_release *release, uint64_t place, bool moves)
{
    return meet(release, &(dome_release_word){.place = place, .moves = moves}, false);
}

int dome__release_meet_by(dome_release *release, dome_release_word *word)
{
    return meet(release, word, true);
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

static dome_release_room *room_new(void)
{
    dome_release_room *room = g_new0(dome_release_room, 1);
    GArray **words[] = {&room->cards, &room->runs, &room->counts,     &room->entry_bytes,
                        &room->own,   &room->more, &room->more_counts};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        *words[k] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    room->own_runs = g_array_new(FALSE, FALSE, sizeof(run));
    room->entries = g_array_new(FALSE, FALSE, sizeof(const uint8_t *));
    room->own_entries = g_byte_array_new();
    return room;
}

static void room_free(dome_release_room *room)
{
    GArray *arrays[] = {room->cards, room->runs,        room->counts,   room->entry_bytes, room->own,
                        room->more,  room->more_counts, room->own_runs, room->entries,     room->parts};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        g_array_unref(arrays[k]);
    g_byte_array_unref(room->own_entries);
    g_free(room);
}

dome_release *dome__release_new(dome_env *env)
{
    dome_release *r = g_new0(dome_release, 1);
    r->room = room_new();
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
    dome__peer_on(r->peer, DOME_PEER_RELEASE, take_message, r);
    return r;
}

void dome__release_free(dome_release *release)
{
    if (!release)
        return;
    g_ptr_array_unref(release->regions);
    room_free(release->room);
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
