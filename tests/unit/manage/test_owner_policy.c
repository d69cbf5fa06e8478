/* What programs do when a host's owner comes and goes. */
#include "manage/owner_policy.h"

#include <glib.h>

/* Looks each second for so long. Returns the phase at the end. */
static dome_owner_phase pass(dome_owner *owner, double *now, int seconds, bool active)
{
    dome_owner_phase phase = owner->phase;
    for (int k = 0; k < seconds; k++)
        phase = dome__owner_look(owner, (*now)++, active);
    return phase;
}

#define AFTER(seconds, active, expected) g_assert_cmpint(pass(&owner, &now, seconds, active), ==, expected)

static void test_stays(void)
{
    dome_owner owner = {0};
    double now = 0;
    AFTER(1000, false, DOME_OWNER_AWAY);
    AFTER(1, true, DOME_OWNER_NICE);
    AFTER(4, true, DOME_OWNER_NICE);
    AFTER(1, true, DOME_OWNER_STOP_TASKS); /* five seconds after the first look */
    AFTER(54, true, DOME_OWNER_STOP_TASKS);
    AFTER(1, true, DOME_OWNER_LEAVE_HOST);
    AFTER(5000, true, DOME_OWNER_LEAVE_HOST);
    AFTER(59, false, DOME_OWNER_LEAVE_HOST);
    AFTER(1, false, DOME_OWNER_AWAY);
}

static void test_one_key(void)
{
    dome_owner owner = {0};
    double now = 0;
    AFTER(1, true, DOME_OWNER_NICE);
    AFTER(29, false, DOME_OWNER_NICE);
    AFTER(1, false, DOME_OWNER_AWAY);
}

static void test_short_visit(void)
{
    dome_owner owner = {0};
    double now = 0;
    AFTER(20, true, DOME_OWNER_STOP_TASKS);
    AFTER(14, false, DOME_OWNER_STOP_TASKS);
    AFTER(1, false, DOME_OWNER_NICE);
    AFTER(15, false, DOME_OWNER_AWAY);
}

/* An owner who comes and goes each second, or types a key every ten, is there all the time: nothing is stopped and continued. */
static void test_flapping(void)
{
    for (int period = 2; period <= 14; period++) {
        dome_owner owner = {0};
        double now = 0;
        int changes = 0;
        for (int second = 0; second < 600; second++) {
            const dome_owner_phase before = owner.phase;
            pass(&owner, &now, 1, second % period == 0);
            changes += owner.phase != before;
        }
        g_assert_cmpint(owner.phase, ==, DOME_OWNER_LEAVE_HOST);
        g_assert_cmpint(changes, ==, 3);
    }
}

/* A host whose owner comes back soon is offered later and later. */
static void test_comes_back(void)
{
    dome_owner owner = {0};
    double now = 0;
    for (int wait = 60; wait <= 4 * 60; wait *= 2) {
        AFTER(61, true, DOME_OWNER_LEAVE_HOST);
        AFTER(wait - 1, false, DOME_OWNER_LEAVE_HOST);
        AFTER(1, false, DOME_OWNER_AWAY);
    }
    AFTER(61, true, DOME_OWNER_LEAVE_HOST);
    AFTER((int)DOME_OWNER_LONGEST_OFFER, false, DOME_OWNER_AWAY);
    AFTER(3600, false, DOME_OWNER_AWAY);
    AFTER(61, true, DOME_OWNER_LEAVE_HOST);
    AFTER(60, false, DOME_OWNER_AWAY);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/owner/stays", test_stays);
    g_test_add_func("/owner/one_key", test_one_key);
    g_test_add_func("/owner/short_visit", test_short_visit);
    g_test_add_func("/owner/flapping", test_flapping);
    g_test_add_func("/owner/comes_back", test_comes_back);
    return g_test_run();
}
