#include "daemon/descent.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* 0: there is no such process. */
static int parent_of(int pid)
{
    char *path = g_strdup_printf("/proc/%d/stat", pid), *text = NULL;
    int parent = 0;
    if (g_file_get_contents(path, &text, NULL, NULL)) {
        const char *name_end = strrchr(text, ')');
        if (!name_end || sscanf(name_end + 1, " %*c %d", &parent) != 1)
            parent = 0;
    }
    g_free(path);
    g_free(text);
    return parent;
}

bool dome__descends(int pid, int from)
{
    enum { DEEPEST = 1000 }; /* pids may pass to other processes meanwhile */
    if (from <= 1)
        return false;
    for (int k = 0; k < DEEPEST && pid > 1; k++)
        if ((pid = parent_of(pid)) == from)
            return true;
    return false;
}
