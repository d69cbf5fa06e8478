/* The life of a task as the hub sees it: every state that any order of events reaches, beside the plain facts that these events
 * tell. */
#include "hub/client_state.h"

#include <glib.h>
#include <string.h>

/* What has happened, one fact at a time. */
typedef struct facts {
    bool greeted, away, done, left, failed, replaced;
} facts;

typedef struct life {
    dome_client_state state;
    facts facts;
} life;

static bool same(const life *a, const life *b)
{
    return a->state == b->state && memcmp(&a->facts, &b->facts, sizeof a->facts) == 0;
}

/* How an event changes the facts of a task that has greeted, and has not been replaced. */
static void change(facts *f, dome_client_event event)
{
    switch (event) {
    case DOME_CLIENT_IS_DONE:
        f->done = true;
        break;
    case DOME_CLIENT_BYE:
        f->left = true;
        break;
    case DOME_CLIENT_FAIL:
        f->failed = true;
        break;
    case DOME_CLIENT_GOES:
    case DOME_CLIENT_STAYS:
        f->away = event == DOME_CLIENT_GOES;
        break;
    case DOME_CLIENT_BACK:
        *f = (facts){.greeted = true, .away = true};
        break;
    case DOME_CLIENT_REPLACE:
        *f = (facts){.greeted = true, .left = true, .replaced = true};
        break;
    case DOME_CLIENT_END: /* of a task that may end it is no news */
        f->done &= f->left || f->failed;
        break;
    default:
        break;
    }
}

static life after(life l, dome_client_event event)
{
    const bool greets = event == DOME_CLIENT_HELLO || event == DOME_CLIENT_ASTRAY;
    l.state = dome__client_next(l.state, event);
    if (!l.facts.greeted && greets)
        l.facts = (facts){.greeted = true, .away = event == DOME_CLIENT_ASTRAY};
    else if (l.facts.greeted && !l.facts.replaced)
        change(&l.facts, event);
    return l;
}

/* The state tells each fact that anybody asks for: one that has left is asked for nothing else, and one that has failed is not
 * asked whether it was done. */
static void check(const life *l)
{
    const facts *f = &l->facts;
    const dome_client_state s = l->state;
    g_assert_cmpint(dome__client_has_greeted(s), ==, f->greeted);
    g_assert_cmpint(dome__client_is_away(s), ==, f->away);
    g_assert_cmpint(dome__client_has_left(s), ==, f->left);
    g_assert_cmpint(dome__client_has_failed(s), ==, f->failed && !f->left);
    g_assert_cmpint(dome__client_is_done(s), ==, f->done && !f->left && !f->failed);
    g_assert_cmpint(dome__client_may_end(s), ==, f->left || f->failed);
    g_assert_cmpint(s == DOME_CLIENT_REPLACED, ==, f->replaced);
}

/* All lives that any order of events leads to; g_array_unref'd. */
static GArray *explore(void)
{
    GArray *lives = g_array_new(FALSE, FALSE, sizeof(life));
    life first;
    memset(&first, 0, sizeof first);
    g_array_append_val(lives, first);
    for (guint at = 0; at < lives->len; at++)
        for (int event = 0; event < DOME_CLIENT_EVENTS; event++) {
            const life next = after(g_array_index(lives, life, at), (dome_client_event)event);
            bool known = false;
            for (guint i = 0; i < lives->len && !known; i++)
                known = same(&g_array_index(lives, life, i), &next);
            if (!known)
                g_array_append_val(lives, next);
        }
    return lives;
}

static void test_facts(void)
{
    bool reached[DOME_CLIENT_STATES] = {false};
    GArray *lives = explore();
    for (guint i = 0; i < lives->len; i++) {
        check(&g_array_index(lives, life, i));
        reached[g_array_index(lives, life, i).state] = true;
    }
    for (int s = 0; s < DOME_CLIENT_STATES; s++)
        g_assert_true(reached[s]);
    g_test_message("%u lives", lives->len);
    g_array_unref(lives);
}

/* No two states are the same for whoever asks: neither now nor after any one event. */
static void test_different(void)
{
    for (int a = 0; a < DOME_CLIENT_STATES; a++)
        for (int b = 0; b < a; b++) {
            const dome_client_state x = (dome_client_state)a, y = (dome_client_state)b;
            g_assert_true(
                dome__client_has_greeted(x) != dome__client_has_greeted(y) ||
                dome__client_is_away(x) != dome__client_is_away(y) || dome__client_has_left(x) != dome__client_has_left(y) ||
                dome__client_has_failed(x) != dome__client_has_failed(y) || dome__client_is_done(x) != dome__client_is_done(y) ||
                (x == DOME_CLIENT_REPLACED) != (y == DOME_CLIENT_REPLACED));
        }
}

/* What holds of every row, whatever came before. */
static void test_rows(void)
{
    for (int k = 0; k < DOME_CLIENT_STATES; k++) {
        const dome_client_state s = (dome_client_state)k;
        const bool fresh = s == DOME_CLIENT_NEW, gone = s == DOME_CLIENT_REPLACED;
        for (int e = 0; e < DOME_CLIENT_EVENTS; e++) {
            const dome_client_event event = (dome_client_event)e;
            const dome_client_state next = dome__client_next(s, event);
            const bool greets = event == DOME_CLIENT_HELLO || event == DOME_CLIENT_ASTRAY;
            g_assert_cmpint(next, <, DOME_CLIENT_STATES);
            g_assert_true(fresh == greets || next == s || !(fresh || greets)); /* a task greets once, and first */
            g_assert_true(fresh || next != DOME_CLIENT_NEW);
            g_assert_true(!gone || next == s);
            g_assert_cmpint(dome__client_next(next, event), ==, next); /* a word said twice is said once */
        }
        g_assert_true(fresh || dome__client_next(s, DOME_CLIENT_REPLACE) == DOME_CLIENT_REPLACED);
        g_assert_true(fresh || gone || dome__client_next(s, DOME_CLIENT_BACK) == DOME_CLIENT_AWAY);
        g_assert_true(fresh || dome__client_has_left(dome__client_next(s, DOME_CLIENT_BYE)));
        g_assert_false(dome__client_is_done(dome__client_next(s, DOME_CLIENT_END)));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client_state/facts", test_facts);
    g_test_add_func("/client_state/different", test_different);
    g_test_add_func("/client_state/rows", test_rows);
    return g_test_run();
}
