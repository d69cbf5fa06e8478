#include "wire/view_plan.h"

#include <glib.h>
#include <string.h>

enum { MEMBERS_MOST = 1000000 };

static dome_view_plan with_room(int size)
{
    return (dome_view_plan){.size = MAX(size, 0), .members = size > 0 ? g_new0(dome_view_member, size) : NULL};
}

/* The host as one pointer for each name, which stays for good: there are few hosts. */
static const char *interned(const char *host)
{
    return host && host[0] ? g_intern_string(host) : NULL;
}

dome_view_plan dome__view_plan_grow(int size, int more, const char *host)
{
    dome_view_plan plan = with_room(size + more);
    for (int r = 0; r < plan.size; r++)
        plan.members[r] = r < size ? (dome_view_member){.before = r} : (dome_view_member){DOME_VIEW_NEWCOMER, interned(host)};
    return plan;
}

dome_view_plan dome__view_plan_shrink(int size, int tasks)
{
    dome_view_plan plan = with_room(MIN(size, tasks));
    for (int r = 0; r < plan.size; r++)
        plan.members[r].before = r;
    return plan;
}

dome_view_plan dome__view_plan_resize(int size, int tasks)
{
    return tasks > size ? dome__view_plan_grow(size, tasks - size, NULL) : dome__view_plan_shrink(size, tasks);
}

dome_view_plan dome__view_plan_replace(int size, const bool *lost, const char *const *hosts)
{
    dome_view_plan plan = with_room(size);
    for (int r = 0; r < plan.size; r++)
        plan.members[r] =
            lost[r] ? (dome_view_member){DOME_VIEW_NEWCOMER, hosts ? interned(hosts[r]) : NULL} : (dome_view_member){.before = r};
    return plan;
}

dome_view_plan dome__view_plan_without(int size, const bool *lost)
{
    dome_view_plan plan = with_room(size);
    int next = 0;
    for (int r = 0; r < size; r++)
        if (r == 0 || !lost[r])
            plan.members[next++].before = lost[r] ? DOME_VIEW_NEWCOMER : r;
    plan.size = next;
    return plan;
}

dome_view_plan dome__view_plan_move(int size, const char *const *hosts, const char *from, const char *to)
{
    bool *moves = g_new0(bool, MAX(size, 1)), any = false;
    for (int r = 0; r < size; r++)
        any |= moves[r] = strcmp(hosts[r], from) == 0;
    dome_view_plan plan = with_room(any ? size : 0);
    for (int r = 0; r < plan.size; r++)
        plan.members[r] = moves[r] ? (dome_view_member){DOME_VIEW_NEWCOMER, interned(to)} : (dome_view_member){.before = r};
    g_free(moves);
    return plan;
}

dome_view_plan dome__view_plan_copy(const dome_view_plan *plan)
{
    dome_view_plan copy = with_room(plan->size);
    if (plan->size > 0)
        memcpy(copy.members, plan->members, (size_t)plan->size * sizeof *plan->members);
    return copy;
}

void dome__view_plan_clear(dome_view_plan *plan)
{
    g_clear_pointer(&plan->members, g_free);
    plan->size = 0;
}

bool dome__view_plan_equal(const dome_view_plan *a, const dome_view_plan *b)
{
    bool equal = a->size == b->size;
    for (int r = 0; equal && r < a->size; r++)
        equal = a->members[r].before == b->members[r].before && a->members[r].host == b->members[r].host;
    return equal;
}

int dome__view_plan_next(const dome_view_plan *plan, int before)
{
    /* Almost always the same rank. */
    if (before >= 0 && before < plan->size && plan->members[before].before == before)
        return before;
    for (int r = 0; before >= 0 && r < plan->size; r++)
        if (plan->members[r].before == before)
            return r;
    return -1;
}

bool dome__view_plan_changes(const dome_view_plan *plan, int size)
{
    bool same = plan->size == size;
    for (int r = 0; same && r < size; r++)
        same = plan->members[r].before == r;
    return !same;
}

int dome__view_plan_newcomers(const dome_view_plan *plan)
{
    int count = 0;
    for (int r = 0; r < plan->size; r++)
        count += plan->members[r].before == DOME_VIEW_NEWCOMER;
    return count;
}

char *dome__view_plan_text(const dome_view_plan *plan)
{
    GString *text = g_string_new(NULL);
    for (int r = 0; r < plan->size; r++) {
        const dome_view_member *m = &plan->members[r];
        if (r)
            g_string_append_c(text, ' ');
        if (m->before != DOME_VIEW_NEWCOMER)
            g_string_append_printf(text, "%d", m->before);
        else
            g_string_append_printf(text, "-%s%s", m->host ? "@" : "", m->host ? m->host : "");
    }
    return g_string_free(text, FALSE);
}

static bool parse_member(const char *word, int size, GHashTable *named, dome_view_member *member)
{
    guint64 before;
    if (word[0] == '-') {
        *member = (dome_view_member){DOME_VIEW_NEWCOMER, word[1] == '@' ? interned(word + 2) : NULL};
        return word[1] == '\0' || (word[1] == '@' && word[2] != '\0');
    }
    if (!g_ascii_string_to_unsigned(word, 10, 0, (guint64)(size > 0 ? size : MEMBERS_MOST) - 1, &before, NULL))
        return false;
    *member = (dome_view_member){.before = (int)before};
    return g_hash_table_add(named, GINT_TO_POINTER((int)before));
}

bool dome__view_plan_parse(const char *text, int size, dome_view_plan *plan)
{
    char **words = g_strsplit(text, " ", MEMBERS_MOST + 1);
    const guint count = g_strv_length(words);
    GHashTable *named = g_hash_table_new(NULL, NULL);
    bool good = count > 0 && count <= MEMBERS_MOST;
    *plan = with_room(good ? (int)count : 0);
    for (guint r = 0; good && r < count; r++)
        good = parse_member(words[r], size, named, &plan->members[r]);
    g_hash_table_unref(named);
    g_strfreev(words);
    if (!good)
        dome__view_plan_clear(plan);
    return good;
}
