#include "region/unit_table.h"

#include <glib.h>

#include <string.h>

/* ---- at home ---- */

struct dome_unit_homes {
    size_t words;     /* of a set of members */
    uint64_t *copies; /* words for each unit */
    uint32_t *granted;
    uint16_t *turn;     /* with EXCLUSIVE */
    GHashTable *active; /* dome_unit_home by unit */
};

enum { EXCLUSIVE = 1 << 15 };

/* The key is in the entry. */
typedef struct active_home {
    gint64 unit;
    dome_unit_home home;
} active_home;

typedef struct active_member {
    gint64 unit;
    dome_unit_member member;
} active_member;

static void fold_home(dome_unit_homes *h, uint64_t unit, const dome_unit_home *home)
{
    memcpy(h->copies + unit * h->words, home->copies.words, h->words * sizeof *h->copies);
    h->granted[unit] = home->granted;
    h->turn[unit] = (uint16_t)(home->turn | (home->exclusive ? EXCLUSIVE : 0));
}

static void unfold_home(const dome_unit_homes *h, uint64_t unit, dome_unit_home *home)
{
    memset(home, 0, sizeof *home);
    memcpy(home->copies.words, h->copies + unit * h->words, h->words * sizeof *h->copies);
    home->granted = h->granted[unit];
    home->turn = h->turn[unit] & (EXCLUSIVE - 1);
    home->exclusive = h->turn[unit] & EXCLUSIVE;
}

dome_unit_homes *dome__unit_homes_new(uint64_t units, unsigned members, unsigned member)
{
    dome_unit_homes *h = g_new0(dome_unit_homes, 1);
    dome_unit_home first;
    h->words = (members + 63) / 64;
    h->copies = g_new(uint64_t, units * h->words);
    h->granted = g_new(uint32_t, units);
    h->turn = g_new(uint16_t, units);
    h->active = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    dome__unit_home_init(&first, member);
    for (uint64_t k = 0; k < units; k++)
        fold_home(h, k, &first);
    return h;
}

void dome__unit_homes_free(dome_unit_homes *homes)
{
    if (!homes)
        return;
    g_hash_table_unref(homes->active);
    g_free(homes->copies);
    g_free(homes->granted);
    g_free(homes->turn);
    g_free(homes);
}

dome_unit_home *dome__unit_homes_take(dome_unit_homes *homes, uint64_t unit)
{
    const gint64 key = (gint64)unit;
    active_home *a = g_hash_table_lookup(homes->active, &key);
    if (!a) {
        a = g_new(active_home, 1);
        a->unit = key;
        unfold_home(homes, unit, &a->home);
        g_hash_table_insert(homes->active, &a->unit, a);
    }
    return &a->home;
}

void dome__unit_homes_put(dome_unit_homes *homes, uint64_t unit)
{
    const gint64 key = (gint64)unit;
    const active_home *a = g_hash_table_lookup(homes->active, &key);
    if (!a || !dome__unit_home_is_idle(&a->home))
        return;
    fold_home(homes, unit, &a->home);
    g_hash_table_remove(homes->active, &key);
}

void dome__unit_homes_settle(dome_unit_homes *homes, uint64_t unit, unsigned member)
{
    dome_unit_home *home = dome__unit_homes_take(homes, unit);
    const bool timing = home->timing;
    dome__unit_home_init(home, member);
    home->timing = timing;
    dome__unit_homes_put(homes, unit);
}

uint64_t dome__unit_homes_busy(const dome_unit_homes *homes)
{
    return g_hash_table_size(homes->active);
}

/* ---- at a member ---- */

struct dome_unit_members {
    unsigned tasks;
    size_t bytes; /* of a unit: two bits for the member's right and for that of each task */
    uint8_t *rights;
    GHashTable *active; /* dome_unit_member by unit */
};

static void fold_right(uint8_t *bytes, unsigned k, unsigned right)
{
    bytes[k / 4] = (uint8_t)((bytes[k / 4] & ~(3u << 2 * (k % 4))) | right << 2 * (k % 4));
}

static unsigned unfold_right(const uint8_t *bytes, unsigned k)
{
    return bytes[k / 4] >> 2 * (k % 4) & 3u;
}

static unsigned right_of(const dome_unit_member *m, unsigned task)
{
    return dome__unit_set_has(&m->writers, task)   ? DOME_UNIT_WRITE
           : dome__unit_set_has(&m->readers, task) ? DOME_UNIT_READ
                                                   : DOME_UNIT_NONE;
}

static void fold_member(dome_unit_members *m, uint64_t unit, const dome_unit_member *member)
{
    uint8_t *bytes = m->rights + unit * m->bytes;
    fold_right(bytes, 0, member->have);
    for (unsigned t = 0; t < m->tasks; t++)
        fold_right(bytes, t + 1, right_of(member, t));
}

static void unfold_member(const dome_unit_members *m, uint64_t unit, dome_unit_member *member)
{
    const uint8_t *bytes = m->rights + unit * m->bytes;
    dome__unit_member_init(member, (dome_unit_right)unfold_right(bytes, 0));
    for (unsigned t = 0; t < m->tasks; t++) {
        const unsigned right = unfold_right(bytes, t + 1);
        if (right != DOME_UNIT_NONE)
            dome__unit_set_add(&member->readers, t);
        if (right == DOME_UNIT_WRITE)
            dome__unit_set_add(&member->writers, t);
    }
}

dome_unit_members *dome__unit_members_new(uint64_t units, unsigned tasks, dome_unit_right have)
{
    dome_unit_members *m = g_new0(dome_unit_members, 1);
    m->tasks = tasks;
    m->bytes = (tasks + 4) / 4;
    m->rights = g_malloc0(units * m->bytes);
    m->active = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    for (uint64_t k = 0; k < units; k++)
        fold_right(m->rights + k * m->bytes, 0, have);
    return m;
}

void dome__unit_members_free(dome_unit_members *members)
{
    if (!members)
        return;
    g_hash_table_unref(members->active);
    g_free(members->rights);
    g_free(members);
}

dome_unit_member *dome__unit_members_take(dome_unit_members *members, uint64_t unit)
{
    const gint64 key = (gint64)unit;
    active_member *a = g_hash_table_lookup(members->active, &key);
    if (!a) {
        a = g_new(active_member, 1);
        a->unit = key;
        unfold_member(members, unit, &a->member);
        g_hash_table_insert(members->active, &a->unit, a);
    }
    return &a->member;
}

void dome__unit_members_put(dome_unit_members *members, uint64_t unit)
{
    const gint64 key = (gint64)unit;
    const active_member *a = g_hash_table_lookup(members->active, &key);
    if (!a || !dome__unit_member_is_idle(&a->member))
        return;
    fold_member(members, unit, &a->member);
    g_hash_table_remove(members->active, &key);
}

uint64_t dome__unit_members_busy(const dome_unit_members *members)
{
    return g_hash_table_size(members->active);
}
