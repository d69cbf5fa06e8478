#include "region/shared_units.h"

#include "region/region_profile.h"
#include "region/unit_packet.h"
#include "transport/agree.h"
#include "transport/message.h"

#include <stdatomic.h>
#include <string.h>

/* us for which a unit stays where it was granted: some accesses, but not longer than a fetch takes. Counters wait for it. */
enum { HOLD = 50 };

struct dome_shared_units {
    dome_shared_units_setup setup;
    const dome_member_table *members;
    uint16_t *homes; /* by unit: a member */
    size_t pages;    /* of a unit */
    dome_region_figures *figures;
    dome_units *units;
    atomic_bool *_Atomic read; /* by unit: this member could read it since the mark, and not write it; NULL: no mark was set */
    dome_memory *offers; /* rights that tasks of this member take by themselves; NULL: all members have one task */
    dome_loading *loading; /* NULL: all values are there */
};

/* ---- what the service asks for ---- */

static void note_right(const dome_shared_units *u, uint64_t unit, dome_unit_right right)
{
    atomic_bool *read = atomic_load(&u->read);
    if (read && right != DOME_UNIT_READ)
        atomic_store(&read[unit], false);
}

static void allow(void *ctx, uint64_t unit, dome_unit_right right)
{
    static const dome_access accesses[] = {
        [DOME_UNIT_NONE] = DOME_ACCESS_NONE, [DOME_UNIT_READ] = DOME_ACCESS_READ, [DOME_UNIT_WRITE] = DOME_ACCESS_WRITE};
    const dome_shared_units *u = ctx;
    note_right(u, unit, right);
    dome__memory_allow_surely(u->setup.memory, unit * u->pages, u->pages, accesses[right]);
    note_right(u, unit, right); /* a mark may have been set meanwhile */
}

static char *place(const dome_shared_units *u, uint64_t unit)
{
    return (char *)dome__memory_alias(u->setup.memory) + unit * u->setup.size.bytes;
}

static dome_format format_of(const dome_shared_units *u, unsigned member)
{
    return dome__format_with(u->setup.env->transport, u->members->firsts[member]);
}

/* Called in the service's thread, too: a unit is a part of few blocks. */
static void load(const dome_shared_units *u, uint64_t unit, uint64_t count)
{
    if (u->loading)
        dome__loading_want(u->loading, unit * u->setup.size.bytes, count * u->setup.size.bytes);
}

static uint32_t pack(void *ctx, uint64_t unit, unsigned member, void *message)
{
    const dome_shared_units *u = ctx;
    load(u, unit, 1);
    const dome_format format = format_of(u, member);
    if (format == DOME_NATIVE) {
        memcpy(message, place(u, unit), u->setup.size.bytes);
        return (uint32_t)u->setup.size.bytes;
    }
    dome_type_pack(u->setup.type, format, message, place(u, unit), u->setup.size.values);
    return (uint32_t)(u->setup.size.values * dome_type_bytes(u->setup.type, format));
}

static bool unpack(void *ctx, uint64_t unit, unsigned member, const void *message, uint32_t bytes)
{
    const dome_shared_units *u = ctx;
    const dome_format format = format_of(u, member);
    const uint64_t values = u->setup.size.values;
    if (bytes != (format == DOME_NATIVE ? u->setup.size.bytes : values * dome_type_bytes(u->setup.type, format)))
        return false;
    u->figures->units[member]++;
    u->figures->bytes += bytes;
    if (format == DOME_NATIVE)
        memcpy(place(u, unit), message, bytes);
    else
        dome_type_unpack(u->setup.type, format, place(u, unit), message, values);
    return true;
}

static void fault(void *ctx, size_t page, bool write)
{
    const dome_shared_units *u = ctx;
    load(u, page / u->pages, 1);
    dome__units_want(u->units, page / u->pages, 1, write);
}

/* ---- homes ---- */

static void find_homes(const dome_shared_units *u, const dome_layout *layout, uint16_t *homes)
{
    const dome_shared_units_setup *s = &u->setup;
    for (uint64_t k = 0; k < s->size.units; k++)
        homes[k] = u->members->of[dome__unit_size_owner(layout, s->element, s->size.bytes, k)];
}

bool dome__shared_units_fetch(dome_shared_units *units, const dome_layout *layout)
{
    const dome_shared_units *u = units;
    const unsigned self = u->members->member;
    uint16_t *homes = g_new(uint16_t, u->setup.size.units);
    find_homes(u, layout, homes);
    for (uint64_t k = 0; u->members->task == 0 && k < u->setup.size.units; k++) {
        uint64_t count = 0;
        while (k + count < u->setup.size.units && homes[k + count] == self && u->homes[k + count] != self)
            count++;
        dome__units_want(u->units, k, count, true);
        k += count;
    }
    g_free(homes);
    return dome__units_flush(u->units) == DOME_PEER_OK;
}

void dome__shared_units_adopt(dome_shared_units *units, const dome_layout *layout)
{
    find_homes(units, layout, units->homes);
    dome__units_move(units->units, units->homes);
}

bool dome__shared_units_is_home(const dome_shared_units *units, uint64_t unit)
{
    return units->homes[unit] == units->members->member;
}

void dome__shared_units_load(dome_shared_units *units, dome_loading *loading)
{
    units->loading = loading;
}

/* ---- rights ---- */

static bool has(const dome_shared_units *u, uint64_t unit, bool write)
{
    return dome__memory_right(u->setup.memory, unit * u->pages) >= (write ? DOME_ACCESS_WRITE : DOME_ACCESS_READ);
}

void dome__shared_units_want(dome_shared_units *units, uint64_t first, uint64_t bytes, bool write)
{
    const uint64_t size = units->setup.size.bytes, end = bytes ? (first + bytes - 1) / size + 1 : 0;
    load(units, first / size, end - MIN(first / size, end));
    for (uint64_t k = first / size; k < end; k++) {
        uint64_t count = 0;
        while (k + count < end && !has(units, k + count, write))
            count++;
        dome__units_want(units->units, k, count, write);
        k += count;
    }
}

/* ---- what was written ---- */

void dome__shared_units_mark(dome_shared_units *units)
{
    dome_shared_units *u = units;
    atomic_bool *read = u->read;
    if (u->members->tasks > 1)
        return;
    if (!read && !(read = g_try_new0(atomic_bool, (gsize)u->setup.size.units)))
        return;
    atomic_store(&u->read, read);
    for (uint64_t k = 0; k < u->setup.size.units; k++) { /* a right that changes meanwhile is noted before or behind it */
        atomic_store(&read[k], true);
        if (dome__memory_right(u->setup.memory, k * u->pages) != DOME_ACCESS_READ)
            atomic_store(&read[k], false);
    }
}

bool dome__shared_units_unwritten(const dome_shared_units *units, uint64_t first, uint64_t bytes)
{
    const uint64_t size = units->setup.size.bytes, end = bytes ? (first + bytes - 1) / size + 1 : 0;
    atomic_bool *read = atomic_load(&units->read);
    for (uint64_t k = first / size; read && k < end; k++)
        if (!atomic_load(&read[k]))
            return false;
    return read != NULL;
}

/* ---- beginning and end ---- */

static dome_units *register_units(dome_shared_units *u)
{
    const dome_shared_units_setup *s = &u->setup;
    const uint64_t portable = s->size.values * dome_type_portable_size(s->type);
    const dome_units_setup setup = {.region = ++s->env->lazy.members->regions,
                                    .members = u->members->count,
                                    .member = u->members->member,
                                    .task = u->members->task,
                                    .tasks = u->members->tasks,
                                    .firsts = u->members->firsts,
                                    .ranks = u->members->ranks,
                                    .units = s->size.units,
                                    .bytes = (uint32_t)MAX(s->size.bytes, portable),
                                    .hold = HOLD,
                                    .homes = u->homes,
                                    .offers = u->offers ? dome__memory_alias(u->offers) : NULL,
                                    .calls = {allow, pack, unpack},
                                    .ctx = u};
    return dome__units_new(u->members->units, &setup);
}

dome_shared_units *dome__shared_units_new(const dome_shared_units_setup *setup, dome_status *status)
{
    dome_shared_units *u = g_new0(dome_shared_units, 1);
    *u = (dome_shared_units){.setup = *setup, .members = setup->env->lazy.members};
    u->setup.what = u->setup.name = NULL; /* the caller's */
    u->figures = dome__region_profile_add(setup->env, setup->name);
    u->pages = (size_t)(setup->size.bytes / dome__memory_page(setup->memory));
    u->homes = g_new(uint16_t, setup->size.units);
    find_homes(u, setup->layout, u->homes);
    if (u->members->most > 1) {
        u->offers = dome__member_memory(setup->env, setup->what, setup->size.units * u->members->tasks, status);
        if (*status != DOME_OK)
            return dome__shared_units_free(u), NULL;
    }
    u->units = register_units(u);
    const char *why = dome__memory_on_fault(setup->memory, fault, u);
    char *text = why ? g_strdup_printf("%s cannot be shared with other hosts: %s", setup->what, why) : NULL;
    *status = (dome_status)dome__agree(setup->env, why ? DOME_ERR_STATE : DOME_OK, text);
    g_free(text);
    if (*status != DOME_OK)
        g_clear_pointer(&u, dome__shared_units_free);
    return u;
}

void dome__shared_units_free(dome_shared_units *units)
{
    if (!units)
        return;
    dome__units_free(units->units);
    if (units->offers)
        dome__memory_free(units->offers);
    g_free(units->homes);
    g_free(units->read);
    g_free(units);
}
