#include "histories.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NOBODY = 255 };

/* Between two events. */
typedef struct state {
    int64_t values[HISTORY_PLACES];
    uint8_t next[HISTORY_TASKS];    /* this task's next event */
    uint8_t visible[HISTORY_TASKS]; /* its first store that others do not see yet; next: they see all */
    uint8_t holders[HISTORY_LOCKS];
} state;

typedef struct search {
    const history *h;
    history_order order;
    GHashTable *seen; /* state *: nothing explains the rest from there */
} search;

static guint hash_state(gconstpointer key)
{
    const unsigned char *bytes = key;
    uint64_t hash = 1;
    for (size_t k = 0; k < sizeof(state); k++)
        hash = (hash ^ bytes[k]) * UINT64_C(0x100000001b3);
    return (guint)(hash ^ hash >> 32);
}

static gboolean same_state(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(state)) == 0;
}

/* Skips what is no store. */
static void skip_to_store(const search *s, state *now, unsigned t)
{
    while (now->visible[t] < now->next[t] && s->h->events[t][now->visible[t]].kind != HISTORY_STORE)
        now->visible[t]++;
}

/* What this task sees at a place. */
static int64_t value_at(const search *s, const state *now, unsigned t, int64_t place)
{
    for (int k = now->next[t]; k-- > now->visible[t];) {
        const history_event *e = &s->h->events[t][k];
        if (e->kind == HISTORY_STORE && e->where == place)
            return e->left;
    }
    return now->values[place];
}

/* The first of its stores that wait becomes visible. */
static bool show_store(const search *s, state *now, unsigned t)
{
    if (now->visible[t] == now->next[t])
        return false;
    const history_event *e = &s->h->events[t][now->visible[t]++];
    now->values[e->where] = e->left;
    skip_to_store(s, now, t);
    return true;
}

static bool may_happen(const search *s, const state *now, unsigned t, const history_event *e)
{
    const bool all_visible = now->visible[t] == now->next[t];
    switch (e->kind) {
    case HISTORY_LOAD:
        return value_at(s, now, t, e->where) == e->seen;
    case HISTORY_SWAP:
    case HISTORY_ADD:
        return all_visible && now->values[e->where] == e->seen;
    case HISTORY_ACQUIRE:
        return all_visible && now->holders[e->where] == NOBODY;
    case HISTORY_RELEASE:
        return all_visible && now->holders[e->where] == t;
    default:
        return true;
    }
}

/* False: a task's next event cannot be the next one of all. */
static bool happen(const search *s, state *now, unsigned t)
{
    if (now->next[t] == s->h->counts[t])
        return false;
    const history_event *e = &s->h->events[t][now->next[t]];
    if (!may_happen(s, now, t, e))
        return false;
    if (e->kind == HISTORY_SWAP || e->kind == HISTORY_ADD)
        now->values[e->where] = e->left;
    else if (e->kind == HISTORY_ACQUIRE || e->kind == HISTORY_RELEASE)
        now->holders[e->where] = e->kind == HISTORY_ACQUIRE ? (uint8_t)t : NOBODY;
    now->next[t]++;
    skip_to_store(s, now, t);
    if (s->order == HISTORY_SEQUENTIAL)
        show_store(s, now, t);
    return true;
}

/* What hinders nothing later happens at once, so it need not be tried in other orders: loads that see the right value, and locks
 * that are released. */
static void take_free(const search *s, state *now)
{
    bool any = true;
    while (any) {
        any = false;
        for (unsigned t = 0; t < s->h->tasks; t++) {
            const int64_t kind = s->h->events[t][now->next[t]].kind;
            if (now->next[t] < s->h->counts[t] && (kind == HISTORY_LOAD || kind == HISTORY_RELEASE))
                any |= happen(s, now, t);
        }
    }
}

static bool is_over(const search *s, const state *now)
{
    for (unsigned t = 0; t < s->h->tasks; t++)
        if (now->next[t] < s->h->counts[t])
            return false;
    return true;
}

static bool explain(search *s, state now)
{
    take_free(s, &now);
    if (is_over(s, &now))
        return true;
    if (!g_hash_table_add(s->seen, g_memdup2(&now, sizeof now)))
        return false;
    for (unsigned t = 0; t < s->h->tasks; t++) {
        state after = now;
        if (happen(s, &after, t) && explain(s, after))
            return true;
        after = now;
        if (show_store(s, &after, t) && explain(s, after))
            return true;
    }
    return false;
}

bool history_is_explained(const history *h, history_order order)
{
    search s = {h, order, g_hash_table_new_full(hash_state, same_state, g_free, NULL)};
    state begin;
    memset(&begin, 0, sizeof begin); /* padding is compared, too */
    memset(begin.holders, NOBODY, sizeof begin.holders);
    const bool explained = explain(&s, begin);
    g_hash_table_unref(s.seen);
    return explained;
}

void history_print(const history *h)
{
    for (unsigned t = 0; t < h->tasks; t++) {
        fprintf(stderr, "   task %u:", t);
        for (unsigned k = 0; k < h->counts[t]; k++) {
            const history_event *e = &h->events[t][k];
            static const char *const words[] = {"load", "store", "swap", "add", "acquire", "release"};
            fprintf(stderr, " %s %c", words[e->kind], (char)((e->kind >= HISTORY_ACQUIRE ? 'p' : 'a') + e->where));
            if (e->kind != HISTORY_STORE && e->kind < HISTORY_ACQUIRE)
                fprintf(stderr, "=%" PRId64, e->seen);
            if (e->kind != HISTORY_LOAD && e->kind < HISTORY_ACQUIRE)
                fprintf(stderr, ":=%" PRId64, e->left);
            fprintf(stderr, "%s", k + 1 < h->counts[t] ? "," : "");
        }
        fprintf(stderr, "\n");
    }
}
