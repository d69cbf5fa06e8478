/* What other tasks ask of this one, and tell it; in the channel's thread. */
#include "region/release_private.h"
#include "sections/section_pull.h"
#include "system/bytes.h"

#include <string.h>

static dome_release_units *find(const dome_release *r, const uint8_t *message)
{
    const uint32_t number = dome__get_u32(message + 1);
    return number < r->regions->len ? r->regions->pdata[number] : NULL;
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
    dome__release_protect_all(u, private);
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
            dome__release_note_reader(f->units, g_array_index(f->which, uint64_t, k), f->from);
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
    if (f.meets > u->setup.release->meets || (u->setup.release->moving && !are_home(u, which)))
        g_array_append_val(u->setup.release->waiting, f);
    else
        answer_fetch(&f);
}

static void take_log(const dome_release *r, const dome_peer_request *q)
{
    if (r->sections && q->bytes == DOME_SECTION_ASK)
        dome__section_pull_reply(r->sections->log, q);
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
        GArray *readers = c->at_lock ? dome__release_readers_of(u, k) : NULL;
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
        dome__delta_spans(delta, keep_units, u);
    dome__delta_apply(delta, place_of(u, 0), u->setup.unit * u->setup.units, NULL);
    if (!pushed && u->mirror)
        dome__delta_apply(delta, u->mirror, u->setup.unit * u->setup.units, NULL);
    if (!pushed)
        dome__delta_spans(delta, mark_changed, c);
    dome__delta_free(delta);
    return true;
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
        dome__release_note_push(u, dome__get_u64(at + 8 * (size_t)k));
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

void dome__release_take_message(void *ctx, const dome_peer_request *request)
{
    const dome_peer_request *q = request;
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

void dome__release_answer_waiting(dome_release *release)
{
    dome_release *r = release;
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
