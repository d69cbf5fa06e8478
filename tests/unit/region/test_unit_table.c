/* Units as they are kept: random accesses of a few members, beside the same state machines that are never folded. */
#include "region/unit_table.h"

#include <glib.h>

#include <string.h>

enum { UNITS = 5, MEMBERS = 70, FIRST = 3, TASKS = 6, STEPS = 200000 };

typedef struct message {
    unsigned from, to;
    dome_unit_message message;
} message;

/* A region's units at all members; folded: as the tables keep them, which the others compare with. */
typedef struct model {
    dome_unit_homes *homes;
    dome_unit_members *members[MEMBERS];
    dome_unit_home home[UNITS];
    dome_unit_member member[UNITS][MEMBERS];
    GArray *messages;
    GArray *lowers; /* letters: from the member, to the task */
    bool quiet;     /* acts are those of the other machine */
    unsigned self;
    uint64_t acts; /* a sum of what was wanted */
} model;

static void act(void *ctx, const dome_unit_act *a)
{
    model *m = ctx;
    const message l = {m->self, a->to, a->message};
    m->acts = m->acts * 31 + a->to + 7 * a->action + 11 * a->right + 13 * a->message.kind + 17 * a->message.of +
              19 * a->message.data + 23 * a->message.done;
    if (m->quiet)
        return;
    if (a->action == DOME_UNIT_SEND)
        g_array_append_val(m->messages, l);
    else if (a->action == DOME_UNIT_LOWER)
        g_array_append_val(m->lowers, l);
}

static dome_unit_call call_of(model *m, unsigned self)
{
    m->self = self;
    m->acts = 0;
    return (dome_unit_call){.self = self, .home = FIRST, .act = act, .ctx = m};
}

static bool to_home(uint8_t kind)
{
    return kind <= DOME_UNIT_DONE;
}

static void deliver(model *m, int unit, message l)
{
    const dome_unit_call c = call_of(m, l.to);
    m->quiet = true;
    g_assert_true(to_home(l.message.kind) ? dome__unit_home_take(&m->home[unit], &c, l.from, l.message)
                                          : dome__unit_member_take(&m->member[unit][l.to], &c, l.message));
    const uint64_t wanted = m->acts;
    m->quiet = false;
    m->acts = 0;
    if (to_home(l.message.kind)) {
        g_assert_true(dome__unit_home_take(dome__unit_homes_take(m->homes, (uint64_t)unit), &c, l.from, l.message));
        dome__unit_homes_put(m->homes, (uint64_t)unit);
    } else {
        g_assert_true(dome__unit_member_take(dome__unit_members_take(m->members[l.to], (uint64_t)unit), &c, l.message));
        dome__unit_members_put(m->members[l.to], (uint64_t)unit);
    }
    g_assert_cmpuint(m->acts, ==, wanted);
}

static void touch(model *m, int unit, unsigned member, unsigned task, bool write)
{
    const dome_unit_call c = call_of(m, member);
    m->quiet = true;
    dome__unit_member_fault(&m->member[unit][member], &c, task, write);
    const uint64_t wanted = m->acts;
    m->quiet = false;
    m->acts = 0;
    dome__unit_member_fault(dome__unit_members_take(m->members[member], (uint64_t)unit), &c, task, write);
    dome__unit_members_put(m->members[member], (uint64_t)unit);
    g_assert_cmpuint(m->acts, ==, wanted);
}

static void lower(model *m, int unit, message l)
{
    const dome_unit_call c = call_of(m, l.from);
    m->quiet = true;
    g_assert_true(dome__unit_member_lowered(&m->member[unit][l.from], &c, l.to));
    const uint64_t wanted = m->acts;
    m->quiet = false;
    m->acts = 0;
    g_assert_true(dome__unit_member_lowered(dome__unit_members_take(m->members[l.from], (uint64_t)unit), &c, l.to));
    dome__unit_members_put(m->members[l.from], (uint64_t)unit);
    g_assert_cmpuint(m->acts, ==, wanted);
}

/* All that follows from an access, in the order in which it was sent. */
static void settle(model *m, int unit)
{
    for (guint k = 0; k < 10000 && (m->messages->len || m->lowers->len); k++) {
        GArray *from = m->lowers->len ? m->lowers : m->messages;
        const message l = g_array_index(from, message, 0);
        g_array_remove_index(from, 0);
        if (from == m->lowers)
            lower(m, unit, l);
        else
            deliver(m, unit, l);
    }
    g_assert_cmpuint(m->messages->len + m->lowers->len, ==, 0);
}

static void test_folded(void)
{
    model *m = g_new0(model, 1);
    GRand *r = g_rand_new_with_seed(5);
    m->messages = g_array_new(FALSE, FALSE, sizeof(message));
    m->lowers = g_array_new(FALSE, FALSE, sizeof(message));
    m->homes = dome__unit_homes_new(UNITS, MEMBERS, FIRST);
    for (unsigned k = 0; k < MEMBERS; k++) {
        const dome_unit_right have = k == FIRST ? DOME_UNIT_WRITE : DOME_UNIT_NONE;
        m->members[k] = dome__unit_members_new(UNITS, TASKS, have);
        for (int u = 0; u < UNITS; u++)
            dome__unit_member_init(&m->member[u][k], have);
    }
    for (int u = 0; u < UNITS; u++)
        dome__unit_home_init(&m->home[u], FIRST);
    for (int k = 0; k < STEPS; k++) {
        const int unit = g_rand_int_range(r, 0, UNITS);
        const bool write = g_rand_int_range(r, 0, 8) == 0;
        for (int several = g_rand_int_range(r, 0, 3); several >= 0; several--)
            touch(m, unit, (unsigned)g_rand_int_range(r, 0, MEMBERS), (unsigned)g_rand_int_range(r, 0, TASKS), write);
        settle(m, unit);
        g_assert_cmpuint(dome__unit_homes_busy(m->homes), ==, 0);
    }
    for (unsigned k = 0; k < MEMBERS; k++) {
        g_assert_cmpuint(dome__unit_members_busy(m->members[k]), ==, 0);
        dome__unit_members_free(m->members[k]);
    }
    dome__unit_homes_free(m->homes);
    g_array_unref(m->messages);
    g_array_unref(m->lowers);
    g_rand_free(r);
    g_free(m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unit-table/folded", test_folded);
    return g_test_run();
}
