/* The checker of consistency (tests/support/histories.h): known histories, and random ones made by memory that keeps its promise
 * or breaks it. */
#include "draw.h"
#include "histories.h"

#include <glib.h>

#include <string.h>

/* A history in words: "a1" stores 1 to place a, "a?1" loads 1, "a1/2" loads 1 and stores 2 in one step, "(p" and ")p" take and
 * give back a lock; tasks are divided by ";". */
static history read_history(const char *text)
{
    history h = {.tasks = 1};
    gchar **words = g_strsplit(text, " ", -1);
    for (gchar **w = words; *w; w++) {
        const unsigned t = h.tasks - 1;
        history_event *e = &h.events[t][h.counts[t]];
        if (strcmp(*w, ";") == 0) {
            h.tasks++;
            continue;
        }
        h.counts[t]++;
        if (**w == '(' || **w == ')') {
            *e = (history_event){**w == '(' ? HISTORY_ACQUIRE : HISTORY_RELEASE, (*w)[1] - 'p', 0, 0};
            continue;
        }
        const char *number = *w + 1;
        *e = (history_event){HISTORY_STORE, **w - 'a', 0, 0};
        if (*number == '?')
            e->kind = HISTORY_LOAD, number++;
        const char *second = strchr(number, '/');
        if (second)
            e->kind = HISTORY_SWAP;
        e->seen = g_ascii_strtoll(number, NULL, 10);
        e->left = second ? g_ascii_strtoll(second + 1, NULL, 10) : e->seen;
    }
    g_strfreev(words);
    return h;
}

static void test_known(void)
{
    static const struct {
        const char *name, *text;
        bool sequential, total_store;
    } cases[] = {
        {"empty", "", true, true},
        {"one task", "a?0 a1 a?1 a2 a?2", true, true},
        {"own store is not seen", "a1 a?0", false, false},
        {"a value from nowhere", "a?7 ; a1", false, false},
        {"store buffering", "a1 b?0 ; b1 a?0", false, true},
        {"store buffering with a swap", "a1 c0/1 b?0 ; b1 d0/1 a?0", false, false},
        {"store buffering, own stores seen", "a1 a?1 b?0 ; b1 b?1 a?0", false, true},
        {"message", "a1 b1 ; b?1 a?1", true, true},
        {"message that overtakes", "a1 b1 ; b?1 a?0", false, false},
        {"load buffering", "a?1 b1 ; b?1 a1", false, false},
        {"independent reads", "a1 ; b1 ; a?1 b?0 ; b?1 a?0", false, false},
        {"one place goes back", "a1 a2 ; a?2 a?1", false, false},
        {"two orders of one place", "a1 ; a2 ; a?1 a?2 ; a?2 a?1", false, false},
        {"a chain", "a1 ; a?1 b1 ; b?1 a?0", false, false},
        {"counter", "a0/1 a2/3 ; a1/2", true, true},
        {"a swap is lost", "a0/1 ; a0/2", false, false},
        {"2+2 stores", "a1 b2 ; b1 a2 ; a?2 a?1 b?2 b?1", false, false},
        {"locked", "(p a?0 a1 )p ; (p a?1 a2 )p", true, true},
        {"both in the lock", "(p a?0 a1 )p ; (p a?0 a2 )p", false, false},
        {"stores buffered in a lock", "(p a1 b?0 )p ; (p b1 a?0 )p", false, false},
        {"two locks do not exclude", "(p a?0 a1 )p ; (q a?0 a2 )q", true, true},
    };
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        const history h = read_history(cases[k].text);
        g_test_message("%s", cases[k].name);
        g_assert_cmpint(history_is_explained(&h, HISTORY_SEQUENTIAL), ==, cases[k].sequential);
        g_assert_cmpint(history_is_explained(&h, HISTORY_TOTAL_STORE), ==, cases[k].total_store);
    }
}

enum { PLACES = 3, TASKS = 4, EVENTS = 6 };

/* A memory made up: stores of a task wait for a while (queues), or change memory at once. */
static history make_history(bool queues)
{
    history h = {.tasks = 2 + (unsigned)draw(TASKS - 1)};
    int64_t values[PLACES] = {0};
    unsigned shown[TASKS] = {0};
    for (int64_t next = 1; next < EVENTS * TASKS; next++) {
        const unsigned t = (unsigned)draw(h.tasks);
        history_event *e = &h.events[t][h.counts[t]];
        if (queues && shown[t] < h.counts[t] && draw(4) == 0) {
            const history_event *store = &h.events[t][shown[t]++];
            if (store->kind == HISTORY_STORE)
                values[store->where] = store->left;
        } else if (h.counts[t] < EVENTS) {
            const int64_t place = (int64_t)draw(PLACES);
            *e = (history_event){draw(2) ? HISTORY_STORE : HISTORY_LOAD, place, values[place], next};
            for (unsigned k = shown[t]; k < h.counts[t]; k++)
                if (h.events[t][k].kind == HISTORY_STORE && h.events[t][k].where == place)
                    e->seen = h.events[t][k].left;
            if (e->kind == HISTORY_STORE && !queues)
                values[place] = next;
            h.counts[t]++;
            shown[t] = queues ? shown[t] : h.counts[t];
        }
    }
    return h;
}

/* Two loads of a task see each other's value. False: there is nothing to exchange. */
static bool exchange(history *h)
{
    history_event *first = NULL;
    for (unsigned t = 0; t < h->tasks; t++)
        for (unsigned k = 0; k < h->counts[t]; k++) {
            history_event *e = &h->events[t][k];
            if (e->kind != HISTORY_LOAD)
                continue;
            if (first && first->where == e->where && first->seen != e->seen) {
                const int64_t seen = first->seen;
                first->seen = e->seen;
                e->seen = seen;
                return true;
            }
            first = first ? first : e;
        }
    return false;
}

static void test_random(void)
{
    unsigned exchanged = 0, refused = 0, buffered = 0;
    draw_state = 1;
    for (int round = 0; round < 400; round++) {
        history h = make_history(false);
        g_assert_true(history_is_explained(&h, HISTORY_SEQUENTIAL));
        g_assert_true(history_is_explained(&h, HISTORY_TOTAL_STORE));
        if (exchange(&h)) {
            exchanged++;
            refused += !history_is_explained(&h, HISTORY_SEQUENTIAL);
        }
        h = make_history(true);
        g_assert_true(history_is_explained(&h, HISTORY_TOTAL_STORE));
        buffered += !history_is_explained(&h, HISTORY_SEQUENTIAL);
    }
    g_test_message("%u of %u histories with exchanged results refused; %u show that stores wait", refused, exchanged, buffered);
    g_assert_cmpuint(2 * refused, >, exchanged);
    g_assert_cmpuint(buffered, >, 20);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/histories/known", test_known);
    g_test_add_func("/histories/random", test_random);
    return g_test_run();
}
