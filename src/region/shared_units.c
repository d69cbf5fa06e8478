#include "region/shared_units.h"

#include "core/atomic_add.h"
#include "region/region_profile.h"
#include "region/unit_packet.h"
#include "system/bytes.h"
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
    dome_unit_writes *writes; /* NULL: nobody asks for it */
    dome_units *units;
    atomic_bool *_Atomic read; /* by unit: this member could read it since the mark, and not write it; NULL: no mark was set */
    dome_memory *offers;       /* rights that tasks of this member take by themselves; NULL: all members have one task */
    dome_loading *loading;     /* NULL: all values are there */
};

/* ---- what the service asks for ---- */

static void note_right(const dome_shared_units *u, uint64_t unit, dome_unit_right right)
{
    atomic_bool *read = atomic_load(&u->read);
    if (read && right != DOME_UNIT_READ)
        atomic_store(&read[unit], false);
}

/* Called in the service's thread, too: a unit is a part of few blocks. */
static void load(const dome_shared_units *u, uint64_t unit, uint64_t count)
{
    if (u->loading)
        dome__loading_want(u->loading, unit * u->setup.size.bytes, count * u->setup.size.bytes);
}

static void allow(void *ctx, uint64_t unit, dome_unit_right right)
{
    static const dome_access accesses[] = {
        [DOME_UNIT_NONE] = DOME_ACCESS_NONE, [DOME_UNIT_READ] = DOME_ACCESS_READ, [DOME_UNIT_WRITE] = DOME_ACCESS_WRITE};
    const dome_shared_units *u = ctx;
    if (right != DOME_UNIT_NONE)
        load(u, unit, 1); /* a task may take units ahead */
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

static uint32_t pack(void *ctx, uint64_t unit, unsigned member, void *message)
{
    const dome_shared_units *u = ctx;
    load(u, unit, 1);
    const dome_format format = format_of(u, member);
    dome__unit_writes_end(u->writes, unit, place(u, unit));
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
    dome__unit_writes_begin(u->writes, unit, place(u, unit));
    return true;
}

/* ---- additions ---- */

/* A message: the first value and how many, 1 if what was there is wanted, the values. */
enum { ADD_HEAD = 8 + 4 + 1, MOST_ADDED = 4096 };

static bool add(void *ctx, uint64_t unit, unsigned member, const void *message, uint32_t bytes, GByteArray *reply)
{
    const dome_shared_units *u = ctx;
    const dome_type type = u->setup.type;
    const dome_format format = format_of(u, member);
    const size_t packed = dome_type_bytes(type, format), size = dome_type_size(type);
    const uint64_t most = u->setup.size.bytes / size, begin = unit * most;
    if (bytes < ADD_HEAD)
        return false;
    const uint8_t *at = message;
    const uint64_t first = dome__get_u64(at), count = dome__get_u32(at + 8);
    if (first < begin || first >= begin + most || count > begin + most - first || bytes != ADD_HEAD + count * packed)
        return false;
    load(u, unit, 1);
    char *values = g_malloc(2 * count * size + 1), *before = values + count * size;
    dome_type_unpack(type, format, values, at + ADD_HEAD, (size_t)count);
    char *at_home = (char *)dome__memory_alias(u->setup.memory) + first * size;
    dome__atomic_add(type, at_home, values, before, count);
    dome__unit_writes_others(u->writes, first * size, at_home, count * size);
    if (at[ADD_HEAD - 1]) {
        g_byte_array_set_size(reply, (guint)(count * packed));
        dome_type_pack(type, format, reply->data, before, (size_t)count);
    }
    g_free(values);
    return true;
}

static void fault(void *ctx, size_t offset, bool write)
{
    const dome_shared_units *u = ctx;
    const dome_region_stop stop = dome__region_stop_begin(u->setup.env, u->figures);
    load(u, offset / u->setup.size.bytes, 1);
    dome__unit_writes_touch(u->writes, offset, write);
    dome__units_want(u->units, offset / u->setup.size.bytes, 1, write);
    dome__region_fault_end(&stop, write);
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
    const dome_region_stop stop = dome__region_stop_begin(units->setup.env, units->figures);
    load(units, first / size, end - MIN(first / size, end));
    for (uint64_t k = first / size; k < end; k++) {
        uint64_t count = 0;
        while (k + count < end && !has(units, k + count, write))
            count++;
        dome__units_want(units->units, k, count, write);
        k += count;
    }
    dome__region_stop_end(&stop);
}

/* Values of one unit, at its home. */
static void add_there(dome_shared_units *u, uint64_t unit, uint64_t first, uint64_t count, const void *values, void *before)
{
    const dome_type type = u->setup.type;
    const dome_format format = format_of(u, u->homes[unit]);
    const size_t bytes = DOME_UNIT_PACKET + ADD_HEAD + count * dome_type_bytes(type, format);
    uint8_t *message = g_malloc(bytes), *at = message + DOME_UNIT_PACKET;
    dome__put_u64(at, first);
    dome__put_u32(at + 8, (uint32_t)count);
    at[ADD_HEAD - 1] = before != NULL;
    dome_type_pack(type, format, at + ADD_HEAD, values, (size_t)count);
    const dome_region_stop stop = dome__region_stop_begin(u->setup.env, u->figures);
    GByteArray *reply = dome__units_add(u->units, unit, message, (uint32_t)bytes);
    dome__region_stop_end(&stop);
    if (before && reply->len == count * dome_type_bytes(type, format))
        dome_type_unpack(type, format, before, reply->data, (size_t)count);
    g_byte_array_unref(reply);
    g_free(message);
}

void dome__shared_units_add(dome_shared_units *units, uint64_t first, uint64_t count, const void *values, void *before)
{
    dome_shared_units *u = units;
    const size_t size = dome_type_size(u->setup.type);
    const uint64_t each = u->setup.size.bytes / size;
    for (uint64_t done = 0, some; done < count; done += some) {
        const uint64_t value = first + done, unit = value / each;
        const char *from = (const char *)values + done * size;
        char *to = before ? (char *)before + done * size : NULL;
        some = MIN(MIN(count - done, (unit + 1) * each - value), MOST_ADDED);
        if (u->homes[unit] == u->members->member || has(u, unit, true)) /* its loss meanwhile is a page fault */
            dome__atomic_add(u->setup.type, (char *)dome__memory_data(u->setup.memory) + value * size, from, to, some);
        else
            add_there(u, unit, value, some, from, to);
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
                                    .calls = {allow, pack, unpack, add},
                                    .ctx = u};
    return dome__units_new(u->members->units, &setup);
}

dome_shared_units *dome__shared_units_new(const dome_shared_units_setup *setup, dome_status *status)
{
    dome_shared_units *u = g_new0(dome_shared_units, 1);
    *u = (dome_shared_units){.setup = *setup, .members = setup->env->lazy.members};
    u->setup.what = u->setup.name = NULL; /* the caller's */
    u->figures = dome__region_profile_add(setup->env, setup->name);
    u->writes = dome__region_profile_watch(setup->env, u->figures,
                                           &(dome_unit_writes_setup){.task = u->members->firsts[u->members->member],
                                                                     .element = setup->element,
                                                                     .unit = setup->size.bytes,
                                                                     .units = setup->size.units});
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
    dome__unit_writes_stop(units->writes);
    if (units->offers)
        dome__memory_free(units->offers);
    g_free(units->homes);
    g_free(units->read);
    g_free(units);
}
