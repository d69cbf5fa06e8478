#include "manage/topology.h"

#include <glib.h>

#include <string.h>

enum { TASKS_MOST = 100000, WISHES_MOST = 100, DIGITS_MOST = 9 };

/* ---- patterns of hosts ---- */

/* Reads the digits at *p. Returns how many there are; 0: none, or too many. */
static size_t number(const char **p, int *value)
{
    size_t digits = 0;
    for (*value = 0; g_ascii_isdigit((*p)[digits]) && digits <= DIGITS_MOST; digits++)
        *value = *value * 10 + ((*p)[digits] - '0');
    if (digits > DIGITS_MOST)
        return 0;
    *p += digits;
    return digits;
}

/* Reads one part of a list, "3" or "1-4", at *p. digits: of its first number. */
static bool part(const char **p, int *first, int *last, size_t *digits)
{
    if (!(*digits = number(p, first)))
        return false;
    *last = *first;
    if (**p != '-')
        return true;
    ++*p;
    return number(p, last) && *last >= *first;
}

/* The place in the pattern that is wrong; NULL: none. */
static const char *mistake(const char *pattern)
{
    const char *p = pattern + strcspn(pattern, "[]");
    if (!pattern[0] || *p == ']')
        return p;
    if (!*p)
        return NULL;
    do {
        int first, last;
        size_t digits;
        p++;
        if (!part(&p, &first, &last, &digits))
            return p;
    } while (*p == ',');
    if (*p != ']')
        return p;
    p++;
    return p[strcspn(p, "[]")] ? p + strcspn(p, "[]") : NULL;
}

bool dome__topology_is_host(const char *pattern, const char *name)
{
    const size_t before = strcspn(pattern, "[");
    if (!pattern[before])
        return strcmp(pattern, name) == 0;
    if (strncmp(pattern, name, before) != 0)
        return false;
    const char *rest = name + before, *behind = strchr(pattern, ']');
    int wanted;
    const size_t length = number(&rest, &wanted);
    if (!length || !behind || strcmp(rest, behind + 1) != 0)
        return false;
    const bool zeros = length > 1 && name[before] == '0';
    for (const char *p = pattern + before; *p != ']';) {
        int first, last;
        size_t digits;
        const bool padded = *++p == '0';
        if (!part(&p, &first, &last, &digits))
            return false;
        /* h[1-12] names h9 and h10; h[01-12] names h09 and h10 */
        if (wanted >= first && wanted <= last && (padded ? length == digits : !zeros))
            return true;
    }
    return false;
}

bool dome__topology_admits(const dome_wish *wish, const char *name, const char *architecture)
{
    if (wish->architecture && (!architecture || strcmp(wish->architecture, architecture) != 0))
        return false;
    bool named = !wish->hosts;
    for (char **pattern = wish->hosts; pattern && *pattern && !named; pattern++)
        named = dome__topology_is_host(*pattern, name);
    return named;
}

/* ---- files ---- */

typedef struct parser {
    GArray *wishes;
    int line;
    const char *text; /* of the line */
    char *message;
} parser;

static void fail(parser *p, const char *where, const char *what)
{
    if (!p->message)
        p->message = g_strdup_printf("line %d, column %d: %s", MAX(p->line, 1), (int)(where - p->text) + 1, what);
}

static void clear_wish(void *item)
{
    dome_wish *wish = item;
    g_free(wish->architecture);
    g_strfreev(wish->hosts);
}

static dome_wish *last_wish(const parser *p)
{
    return p->wishes->len ? &g_array_index(p->wishes, dome_wish, p->wishes->len - 1) : NULL;
}

/* The names are patterns, with commas between them; a comma within brackets belongs to a pattern. */
static void read_hosts(parser *p, dome_wish *wish, const char *value)
{
    GPtrArray *hosts = g_ptr_array_new();
    for (const char *v = value;; v++) {
        size_t length = 0;
        v += strspn(v, " \t");
        for (bool inside = false; v[length] && (inside || v[length] != ','); length++)
            inside = v[length] == '[' || (inside && v[length] != ']');
        char *pattern = g_strndup(v, length);
        g_strchomp(pattern);
        const char *wrong = mistake(pattern);
        if (wrong)
            fail(p, v + (wrong - pattern), "hosts are names such as h1 or h[1-4,7], with commas between them");
        g_ptr_array_add(hosts, pattern);
        v += length;
        if (!*v)
            break;
    }
    g_ptr_array_add(hosts, NULL);
    wish->hosts = (char **)g_ptr_array_free(hosts, FALSE);
}

static void read_key(parser *p, const char *line)
{
    const char *equals = strchr(line, '=');
    dome_wish *wish = last_wish(p);
    if (!equals || equals == line) {
        fail(p, line, "not a [group], nor a key=value");
        return;
    }
    if (!wish) {
        fail(p, line, "a key before the first [group]");
        return;
    }
    char *key = g_strstrip(g_strndup(line, (gsize)(equals - line)));
    const char *value = equals + 1 + strspn(equals + 1, " \t");
    guint64 tasks = 0;
    if (strcmp(key, "tasks") == 0) {
        if (!g_ascii_string_to_unsigned(value, 10, 1, TASKS_MOST, &tasks, NULL))
            fail(p, value, "tasks is a number from 1 to 100000");
        else if (wish->tasks)
            fail(p, line, "tasks stands twice in this group");
        wish->tasks = (int)tasks;
    } else if (strcmp(key, "arch") == 0) {
        if (!*value || wish->architecture)
            fail(p, value, *value ? "arch stands twice in this group" : "arch is a name such as x86-64");
        g_free(wish->architecture);
        wish->architecture = g_strdup(value);
    } else if (strcmp(key, "hosts") == 0) {
        if (wish->hosts)
            fail(p, line, "hosts stands twice in this group");
        else
            read_hosts(p, wish, value);
    } else
        fail(p, line, "the keys are tasks, arch and hosts");
    g_free(key);
}

static void end_group(parser *p)
{
    const dome_wish *wish = last_wish(p);
    if (wish && !wish->tasks)
        fail(p, p->text, "the group before this line has no tasks=");
}

static void read_line(parser *p, char *line)
{
    const char *word = line + strspn(line, " \t");
    p->line++;
    p->text = line;
    line[strcspn(line, "#")] = '\0';
    g_strchomp(line);
    if (*word == '[') {
        const dome_wish fresh = {0};
        end_group(p);
        if (word[1] == ']' || word[strcspn(word, "]")] == '\0' || word[strcspn(word, "]") + 1] != '\0')
            fail(p, word, "a group is a name in brackets, such as [1]");
        else if (p->wishes->len >= WISHES_MOST)
            fail(p, word, "more than 100 groups");
        g_array_append_val(p->wishes, fresh);
    } else if (*word)
        read_key(p, word);
}

dome_topologies *dome__topologies_parse(const char *text, char **message)
{
    parser p = {.wishes = g_array_new(FALSE, TRUE, sizeof(dome_wish)), .text = ""};
    g_array_set_clear_func(p.wishes, clear_wish);
    char **lines = g_strsplit(text, "\n", 0);
    for (char **line = lines; *line && !p.message; line++)
        read_line(&p, *line);
    if (!p.message)
        end_group(&p);
    if (!p.message && p.wishes->len == 0)
        fail(&p, p.text, "no [group]: a topology has at least tasks=");
    g_strfreev(lines);
    if (p.message) {
        *message = p.message;
        g_array_unref(p.wishes);
        return NULL;
    }
    dome_topologies *t = g_new(dome_topologies, 1);
    t->count = p.wishes->len;
    t->wishes = (dome_wish *)(void *)g_array_free(p.wishes, FALSE);
    return t;
}

bool dome__topologies_within(const dome_topologies *t, int least, int most)
{
    bool within = false;
    for (size_t k = 0; k < t->count; k++)
        within |= t->wishes[k].tasks >= least && t->wishes[k].tasks <= most;
    return within;
}

void dome__topologies_free(dome_topologies *t)
{
    if (!t)
        return;
    for (size_t k = 0; k < t->count; k++)
        clear_wish(&t->wishes[k]);
    g_free(t->wishes);
    g_free(t);
}
