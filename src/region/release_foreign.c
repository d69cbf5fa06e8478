/* Copies on machines of unlike data formats. What travels is about images: a unit's values in portable form, each unit's at a
 * multiple of a group of deltas. So two tasks may change parts of one struct, which lie elsewhere in the other machine's memory.
 */
#include "region/release_private.h"

#include "system/bytes.h"
#include "transport/message.h"

#include <string.h>

bool dome__release_is_foreign(const dome_release_units *units, int rank)
{
    return units->setup.values > 0 && dome__format_with(units->setup.release->env->transport, rank) != DOME_NATIVE;
}

static uint64_t image_bytes(const dome_release_units *u)
{
    enum { GROUP = 64 * 8 };
    const uint64_t bytes = u->setup.values * dome_type_portable_size(u->setup.type);
    return (bytes + GROUP - 1) / GROUP * GROUP;
}

static unsigned image_atom(const dome_release_units *u)
{
    const bool parts = dome_type_kind_of(u->setup.type) == DOME_KIND_STRUCT;
    return parts ? 1 : (unsigned)MIN(dome_type_portable_size(u->setup.type), 8);
}

static void pack(const dome_release_units *u, void *image, const char *unit)
{
    dome_type_pack(u->setup.type, DOME_PORTABLE, image, unit, (size_t)u->setup.values);
}

static void unpack(const dome_release_units *u, char *unit, const void *image)
{
    dome_type_unpack(u->setup.type, DOME_PORTABLE, unit, image, (size_t)u->setup.values);
}

/* ---- whole units ---- */

uint64_t dome__release_packed_bytes(const dome_release_units *units, int rank)
{
    const dome_release_setup *s = &units->setup;
    return dome__release_is_foreign(units, rank) ? s->values * dome_type_portable_size(s->type) : s->unit;
}

void dome__release_unpack(const dome_release_units *units, uint64_t unit, int rank, const void *packed)
{
    if (dome__release_is_foreign(units, rank))
        unpack(units, place_of(units, unit), packed);
    else
        memcpy(place_of(units, unit), packed, units->setup.unit);
}

/* The last section that this task's memory has, and the last one that must be known with the values; the bytes of those that the
 * other task has not, and these, if they are few. */
static void put_sections(const waiting_fetch *f, GByteArray *reply)
{
    enum { FEW = 1 << 18 };
    dome_section_log *log = f->units->setup.release->sections->log;
    const dome_section_range all = {f->have, dome__section_log_end(log), 0, FEW};
    uint8_t head[SECTIONS_HEAD] = {0};
    g_byte_array_append(reply, head, SECTIONS_HEAD);
    if (dome__section_log_since(log, &all, reply) > FEW)
        g_byte_array_set_size(reply, SECTIONS_HEAD);
    dome__put_u64(reply->data, dome__section_log_taken(log));
    dome__put_u64(reply->data + 8, all.upto);
    dome__put_u32(reply->data + 16, reply->len - SECTIONS_HEAD);
}

/* Without looking at a unit of which this task's program knows nothing. */
static bool is_nothing(const dome_release_units *u, uint64_t unit, const char *from, uint64_t *untouched)
{
    if (dome__memory_has(u->setup.memory, unit * u->pages, u->pages, DOME_ACCESS_NONE) &&
        dome__release_is_untouched(u, unit, untouched))
        return true;
    return are_zeros(from, u->setup.unit);
}

/* Memory of a program that was never written is zeros, and is fetched to be written. */
void dome__release_reply(const waiting_fetch *fetch)
{
    const dome_release_units *u = fetch->units;
    const int rank = fetch->from;
    dome_peer *peer = u->setup.release->peer;
    const uint32_t each = (uint32_t)dome__release_packed_bytes(u, rank);
    const bool foreign = dome__release_is_foreign(u, rank);
    const uint64_t *which = &g_array_index(fetch->which, uint64_t, 0);
    const guint count = fetch->which->len;
    if (!foreign && !has_sections(u) && which[count - 1] - which[0] == count - 1) {
        dome__peer_reply(peer, rank, fetch->id, place_of(u, which[0]), each * count);
        return;
    }
    GByteArray *reply = g_byte_array_new();
    uint64_t untouched = 0;
    guint zeros = 0; /* where the bits are that say which units are zeros */
    if (has_sections(u)) {
        put_sections(fetch, reply);
        zeros = reply->len;
        g_byte_array_set_size(reply, zeros + (count + 7) / 8);
        memset(reply->data + zeros, 0, (count + 7) / 8);
    }
    for (guint k = 0; k < count; k++) {
        const char *from = dome__release_is_told(u, which[k]) ? u->old + which[k] * u->setup.unit : place_of(u, which[k]);
        if (has_sections(u) && is_nothing(u, which[k], from, &untouched)) {
            reply->data[zeros + k / 8] |= (uint8_t)(1 << k % 8);
            continue;
        }
        g_byte_array_set_size(reply, reply->len + each);
        if (foreign)
            pack(u, (char *)reply->data + reply->len - each, from);
        else
            memcpy(reply->data + reply->len - each, from, each);
    }
    dome__peer_reply(peer, rank, fetch->id, reply->data, reply->len);
    g_byte_array_unref(reply);
}

/* ---- what has changed ---- */

dome_delta *dome__release_image_delta(const dome_release_units *units)
{
    return dome__delta_new(image_atom(units));
}

void dome__release_find_image(const dome_release_units *units, dome_delta *delta, uint64_t unit)
{
    const uint64_t bytes = image_bytes(units);
    char *now = g_malloc0(2 * bytes), *then = now + bytes;
    pack(units, now, place_of(units, unit));
    pack(units, then, units->old + unit * units->setup.unit);
    dome__delta_find(delta, unit * bytes, now, then, bytes, 0);
    g_free(now);
}

/* A delta of images that becomes one of this task's memory, unit by unit. */
typedef struct translating {
    const dome_release_units *units;
    dome_delta *native;
    uint64_t unit, image; /* image: bytes of one */
    bool open;            /* the image of the unit is there */
    char *before, *after; /* images of the unit */
    char *then, *now;     /* the unit as these have it */
} translating;

static void open_image(translating *t, uint64_t unit)
{
    const dome_release_units *u = t->units;
    t->unit = unit;
    t->open = true;
    memcpy(t->then, place_of(u, unit), u->setup.unit);
    pack(u, t->before, t->then);
    memcpy(t->after, t->before, t->image);
}

/* Of the unit that is open. Both ways through the portable form: only what the delta has changed differs then. */
static void close_image(translating *t)
{
    const dome_release_units *u = t->units;
    if (!t->open)
        return;
    t->open = false;
    memcpy(t->now, t->then, u->setup.unit);
    unpack(u, t->then, t->before);
    unpack(u, t->now, t->after);
    dome__delta_find(t->native, t->unit * u->setup.unit, t->now, t->then, u->setup.unit, 0);
}

static void take_run(void *ctx, uint64_t first, uint64_t count, const void *values)
{
    translating *t = ctx;
    const unsigned atom = image_atom(t->units);
    const char *from = values;
    for (uint64_t at = first * atom, end = at + count * atom, some; at < end; at += some, from += some) {
        const uint64_t unit = at / t->image;
        some = MIN(end, (unit + 1) * t->image) - at;
        if (!t->open || t->unit != unit) {
            close_image(t);
            open_image(t, unit);
        }
        memcpy(t->after + at % t->image, from, some);
    }
}

dome_delta *dome__release_translate(const dome_release_units *units, const void *records, size_t bytes)
{
    const uint64_t image = image_bytes(units), unit = units->setup.unit;
    dome_delta *foreign = dome__release_image_delta(units);
    translating t = {.units = units, .image = image};
    if (dome__delta_set_records(foreign, records, bytes, image * units->setup.units)) {
        t.native = dome__delta_new(units->setup.atom);
        t.before = g_malloc0(2 * (image + unit));
        t.after = t.before + image;
        t.then = t.after + image;
        t.now = t.then + unit;
        dome__delta_runs(foreign, take_run, &t);
        close_image(&t);
        g_free(t.before);
    }
    dome__delta_free(foreign);
    return t.native;
}
