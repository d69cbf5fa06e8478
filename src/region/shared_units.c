#include "region/shared_units.h"

#include "peer/peer_frame.h"
#include "region/region_profile.h"
#include "region/unit_packet.h"
#include "system/say.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* us for which a unit stays where it was granted: some accesses, but not longer than a few fetches take. */
enum { HOLD = 100 };

struct dome_shared_units {
    dome_shared_units_setup setup;
    const dome_member_table *members;
    uint16_t *homes; /* by unit: a member */
    size_t pages;    /* of a unit */
    dome_region_figures *figures;
    dome_units *units;
};

/* ---- sizes ---- */

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t least_common_multiple(uint64_t a, uint64_t b)
{
    return a / greatest_common_divisor(a, b) * b;
}

/* Whole pages of every member, in bytes; whole values, as few as that takes on each machine. */
static void combine(const uint64_t *all, int size, uint64_t *page, uint64_t *values)
{
    *page = *values = 1;
    for (int r = 0; r < size; r++) {
        *page = MAX(*page, all[2 * r]);
        *values = least_common_multiple(*values, all[2 * r + 1]);
    }
}

int dome__shared_units_size(dome_env *env, const char *what, dome_type type, uint64_t values, dome_unit_size *size)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = dome_type_size(type);
    const uint64_t own[2] = {page, page / greatest_common_divisor(page, bytes)};
    const bool alike = !env->transport->group.data_format;
    uint64_t *all = g_new0(uint64_t, 2 * (size_t)env->size), most_page, most_values;
    const int failed = dome__allgather(env->transport, DOME_U64, own, 2, all);
    combine(all, env->size, &most_page, &most_values);
    g_free(all);
    if (failed)
        return dome__fail_transport(env, failed);
    size->values = alike ? 0 : most_values;
    size->bytes = alike ? most_page : most_values * bytes;
    size->units = alike ? (values * bytes + most_page - 1) / most_page : (values + most_values - 1) / most_values;
    const uint64_t most = MAX(size->bytes, size->values * dome_type_portable_size(type));
    if (most + DOME_UNIT_PACKET > DOME_PEER_MOST)
        return dome__fail(env, DOME_ERR_STATE,
                          "%s: %" PRIu64 " bytes are the fewest that are whole values and whole pages on all machines, more than "
                          "the %d that unlike machines can share: use a smaller type",
                          what, most, DOME_PEER_MOST - DOME_UNIT_PACKET);
    return DOME_OK;
}

/* ---- what the service asks for ---- */

static void cannot_go_on(const char *why)
{
    dome__say_at_once("memory that tasks share cannot be accessed: %s", why);
    abort();
}

static void allow(void *ctx, uint64_t unit, dome_unit_right right)
{
    static const dome_access accesses[] = {
        [DOME_UNIT_NONE] = DOME_ACCESS_NONE, [DOME_UNIT_READ] = DOME_ACCESS_READ, [DOME_UNIT_WRITE] = DOME_ACCESS_WRITE};
    const dome_shared_units *u = ctx;
    const char *why = dome__memory_allow(u->setup.memory, unit * u->pages, u->pages, accesses[right]);
    if (why)
        cannot_go_on(why);
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
    dome__units_want(u->units, page / u->pages, 1, write);
}

/* ---- homes ---- */

static void find_homes(const dome_shared_units *u, const dome_layout *layout, uint16_t *homes)
{
    const dome_shared_units_setup *s = &u->setup;
    const uint64_t last = dome_layout_length(layout) - 1, block = dome_layout_block_size(layout);
    for (uint64_t k = 0; k < s->size.units; k++) {
        const uint64_t element = MIN(k * s->size.bytes / s->element, last);
        homes[k] = u->members->of[dome_layout_owner(layout, element / block)];
    }
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

/* ---- rights ---- */

static bool has(const dome_shared_units *u, uint64_t unit, bool write)
{
    return dome__memory_right(u->setup.memory, unit * u->pages) >= (write ? DOME_ACCESS_WRITE : DOME_ACCESS_READ);
}

void dome__shared_units_want(dome_shared_units *units, uint64_t first, uint64_t bytes, bool write)
{
    const uint64_t size = units->setup.size.bytes, end = bytes ? (first + bytes - 1) / size + 1 : 0;
    for (uint64_t k = first / size; k < end; k++) {
        uint64_t count = 0;
        while (k + count < end && !has(units, k + count, write))
            count++;
        dome__units_want(units->units, k, count, write);
        k += count;
    }
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
    g_free(units->homes);
    g_free(units);
}
