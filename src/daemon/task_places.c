#include "daemon/task_places.h"

#include <string.h>

enum { TASKS_MOST = 1000000, LINE_MOST = 3000 };

static void clear_place(void *item)
{
    g_free(((dome_place *)item)->host);
}

dome_places dome__places_new(void)
{
    dome_places places = {g_array_new(FALSE, FALSE, sizeof(dome_place))};
    g_array_set_clear_func(places.all, clear_place);
    return places;
}

dome_places dome__places_copy(const dome_places *from)
{
    dome_places places = dome__places_new();
    for (guint i = 0; i < from->all->len; i++) {
        const dome_place *p = &g_array_index(from->all, dome_place, i);
        dome__places_set(&places, p->host, p->tasks);
    }
    return places;
}

void dome__places_clear(dome_places *places)
{
    g_clear_pointer(&places->all, g_array_unref);
}

static const dome_place *at(const dome_places *places, guint i)
{
    return &g_array_index(places->all, dome_place, i);
}

void dome__places_set(dome_places *places, const char *host, int64_t tasks)
{
    guint i = 0;
    while (i < places->all->len && strcmp(at(places, i)->host, host) < 0)
        i++;
    const bool is = i < places->all->len && strcmp(at(places, i)->host, host) == 0;
    if (is && tasks > 0) {
        g_array_index(places->all, dome_place, i).tasks = tasks;
    } else if (is) {
        g_array_remove_index(places->all, i);
    } else if (tasks > 0) {
        const dome_place p = {g_strdup(host), tasks};
        g_array_insert_val(places->all, i, p);
    }
}

int64_t dome__places_get(const dome_places *places, const char *host)
{
    for (guint i = 0; i < places->all->len; i++)
        if (strcmp(at(places, i)->host, host) == 0)
            return at(places, i)->tasks;
    return 0;
}

int64_t dome__places_sum(const dome_places *places)
{
    int64_t sum = 0;
    for (guint i = 0; i < places->all->len; i++)
        sum += at(places, i)->tasks;
    return sum;
}

bool dome__places_equal(const dome_places *a, const dome_places *b)
{
    bool equal = a->all->len == b->all->len;
    for (guint i = 0; equal && i < a->all->len; i++)
        equal = strcmp(at(a, i)->host, at(b, i)->host) == 0 && at(a, i)->tasks == at(b, i)->tasks;
    return equal;
}

void dome__places_add_to(const dome_places *places, dome_record *record, const char *name)
{
    for (guint i = 0; i < places->all->len; i++) {
        char *text = g_strdup_printf("%s:%" G_GINT64_FORMAT, at(places, i)->host, at(places, i)->tasks);
        dome__record_add(record, name, text);
        g_free(text);
    }
}

bool dome__places_from(const dome_record *record, const char *name, dome_places *places)
{
    char **texts = dome__record_all(record, name);
    bool good = true;
    *places = dome__places_new();
    for (char **text = texts; good && *text; text++) {
        char *colon = strrchr(*text, ':');
        gint64 tasks = 0;
        good = colon && colon > *text && g_ascii_string_to_signed(colon + 1, 10, 1, TASKS_MOST, &tasks, NULL);
        if (good) {
            *colon = '\0';
            dome__places_set(places, *text, tasks);
        }
    }
    g_strfreev(texts);
    if (!good)
        dome__places_clear(places);
    return good;
}

/* ---- orders ---- */

/* The tasks of a host all go to one that wants as many. */
static char *move_all(const dome_places *from, const dome_places *to)
{
    for (guint i = 0; i < from->all->len; i++)
        for (guint k = 0; dome__places_get(to, at(from, i)->host) == 0 && k < to->all->len; k++)
            if (at(to, k)->tasks - dome__places_get(from, at(to, k)->host) == at(from, i)->tasks)
                return g_strdup_printf("move %s %s", at(from, i)->host, at(to, k)->host);
    return NULL;
}

/* From the host that has the most too many; at most so many. */
static char *shrink(const dome_places *from, const dome_places *to, int64_t may)
{
    const dome_place *best = NULL;
    int64_t most = 0;
    for (guint i = 0; i < from->all->len; i++) {
        const int64_t more = at(from, i)->tasks - dome__places_get(to, at(from, i)->host);
        if (more > most) {
            most = more;
            best = at(from, i);
        }
    }
    most = MIN(most, may);
    return best && most > 0 ? g_strdup_printf("shrink %" G_GINT64_FORMAT " %s", most, best->host) : NULL;
}

/* On all hosts that have too few; at most so many. */
static char *grow(const dome_places *from, const dome_places *to, int64_t may)
{
    GString *hosts = g_string_new(NULL);
    int64_t count = 0;
    for (guint i = 0; i < to->all->len; i++) {
        int64_t fewer = at(to, i)->tasks - dome__places_get(from, at(to, i)->host);
        for (; fewer > 0 && count < may && hosts->len < LINE_MOST; fewer--, count++)
            g_string_append_printf(hosts, " %s", at(to, i)->host);
    }
    char *line = count ? g_strdup_printf("grow %" G_GINT64_FORMAT "%s", count, hosts->str) : NULL;
    g_string_free(hosts, TRUE);
    return line;
}

char *dome__places_order(const dome_places *from, const dome_places *to, int64_t least, int64_t most)
{
    const int64_t now = dome__places_sum(from);
    char *line = move_all(from, to);
    if (!line)
        line = shrink(from, to, now - MAX(least, 1));
    if (!line)
        line = grow(from, to, most - now);
    /* between its least and its most there may be no room for either */
    if (!line)
        line = shrink(from, to, now - 1);
    if (!line)
        line = grow(from, to, G_MAXINT64);
    return line;
}
