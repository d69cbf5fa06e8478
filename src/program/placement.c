#include "program/placement.h"

#include "system/unconst.h"

#include <stdlib.h>
#include <string.h>

int *dome__placement_slots(char *const *hosts, const char *text)
{
    const int n = (int)g_strv_length(dome__unconst(hosts));
    int *slots = g_new(int, n + 1);
    char **words = g_strsplit(text ? text : "", " ", 0);
    for (int h = 0; h < n; h++) {
        const size_t length = strlen(hosts[h]);
        slots[h] = 1;
        for (char **word = words; *word; word++)
            if (strncmp(*word, hosts[h], length) == 0 && (*word)[length] == '=')
                slots[h] = MAX(1, atoi(*word + length + 1));
    }
    g_strfreev(words);
    return slots;
}

void dome__placement_avoid(char *const *hosts, const char *text, int *slots)
{
    char **words = g_strsplit(text ? text : "", " ", 0);
    for (int h = 1; hosts[0] && hosts[h]; h++)
        if (g_strv_contains((const char *const *)words, hosts[h]))
            slots[h] = 0;
    g_strfreev(words);
}

int dome__placement_default(int hosts, const int *slots)
{
    int tasks = 0;
    for (int h = 0; h < hosts; h++)
        tasks += slots[h];
    return tasks;
}

void dome__placement_deal(dome_placing how, int hosts, const int *slots, int tasks, int *host)
{
    int *count = g_new0(int, hosts), left = tasks;
    while (left)
        for (int h = 0; h < hosts; h++) {
            const int more = MIN(slots[h], left);
            count[h] += more;
            left -= more;
        }
    for (int r = 0; r < tasks;)
        for (int h = 0; h < hosts; h++) {
            const int run = how == DOME_PLACE_FILL ? count[h] : MIN(count[h], 1);
            for (int i = 0; i < run; i++)
                host[r++] = h;
            count[h] -= run;
        }
    g_free(count);
}

int dome__placement_next(int hosts, const int *slots, const int *tasks)
{
    int best = 0;
    for (int h = 1; h < hosts; h++)
        if ((int64_t)tasks[h] * slots[best] < (int64_t)tasks[best] * slots[h])
            best = h;
    return best;
}

int dome__placement_find(char *const *hosts, const char *name)
{
    const size_t length = strlen(name);
    for (int h = 0; hosts[h]; h++)
        if (strcmp(hosts[h], name) == 0)
            return h;
    for (int h = 0; hosts[h]; h++)
        if (strncmp(hosts[h], name, length) == 0 && hosts[h][length] == '.')
            return h;
    return -1;
}

char **dome__placement_hosts(int tasks, char *const *host)
{
    char **hosts = g_new0(char *, tasks + 1);
    for (int r = 0, n = 0; r < tasks; r++)
        if (!g_strv_contains((const char *const *)hosts, host[r]))
            hosts[n++] = g_strdup(host[r]);
    return hosts;
}

void dome__placement_sort(dome_members *m, char *const *hosts)
{
    dome_members old = *m;
    int r = 0;
    m->ids = g_new(int, m->size);
    m->hosts = g_new0(char *, m->size + 1);
    m->formats = g_new(int, m->size);
    bool *taken = g_new0(bool, m->size);
    const int n = (int)g_strv_length(dome__unconst(hosts));
    for (int h = 0; h <= n; h++) /* at last those of hosts that the list does not name */
        for (int i = 0; i < m->size; i++)
            if (!taken[i] && (h == n || strcmp(old.hosts[i], hosts[h]) == 0)) {
                taken[i] = true;
                m->ids[r] = old.ids[i];
                m->hosts[r] = old.hosts[i];
                m->formats[r++] = old.formats[i];
            }
    g_free(taken);
    g_free(old.ids);
    g_free(old.hosts);
    g_free(old.formats);
}

int dome__placement_boundaries(int tasks, char *const *host)
{
    int boundaries = 0;
    for (int r = 0; r < tasks; r++)
        boundaries += strcmp(host[r], host[(r + 1) % tasks]) != 0;
    return boundaries;
}
