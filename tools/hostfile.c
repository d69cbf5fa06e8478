#include "commands.h"

#include <string.h>

char **dome__hostfile_read(const char *path, char **message)
{
    char *text = NULL;
    GError *error = NULL;
    if (!g_file_get_contents(path, &text, NULL, &error)) {
        *message = g_strdup_printf("cannot read the hosts: %s", error->message);
        g_error_free(error);
        return NULL;
    }
    char **lines = g_strsplit(text, "\n", 0);
    GPtrArray *hosts = g_ptr_array_new_with_free_func(g_free);
    for (char **line = lines; *line && !*message; line++) {
        char *start = g_strstrip(*line), *comment = strchr(start, '#');
        if (comment)
            *comment = 0;
        g_strchomp(start);
        if (start[0] == '*' || start[0] == '&')
            *message = g_strdup_printf(
                "%s: the line '%s' is of a kind that is not supported: one host a line, with PVM's options", path, start);
        else if (start[0])
            g_ptr_array_add(hosts, g_strdup(start));
    }
    g_strfreev(lines);
    g_free(text);
    if (!*message && hosts->len == 0)
        *message = g_strdup_printf("%s names no host", path);
    if (*message) {
        g_ptr_array_unref(hosts);
        return NULL;
    }
    g_ptr_array_add(hosts, NULL);
    g_ptr_array_set_free_func(hosts, NULL);
    return (char **)g_ptr_array_free(hosts, FALSE);
}
