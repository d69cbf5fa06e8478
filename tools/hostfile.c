#include "commands.h"

#include <string.h>

/* Takes the word slots=N out of a line. Returns the number, 1 if there is none, 0 if it is not a number of slots. */
static int take_slots(char *line)
{
    enum { MOST_SLOTS = 100000 };
    char **words = g_strsplit_set(line, " \t", -1);
    int slots = 1;
    line[0] = 0; /* the words, joined again, are no longer than the line was */
    char *end = line;
    for (char **word = words; *word; word++) {
        gint64 number;
        if (g_str_has_prefix(*word, "slots="))
            slots = g_ascii_string_to_signed(*word + strlen("slots="), 10, 1, MOST_SLOTS, &number, NULL) ? (int)number : 0;
        else if (**word)
            end = g_stpcpy(g_stpcpy(end, end == line ? "" : " "), *word);
    }
    g_strfreev(words);
    return slots;
}

/* Adds a line's host. A host that is named again gets the sum of the slots. */
static void add_host(GPtrArray *hosts, GHashTable *slots, char *line, int number)
{
    char *name = g_strndup(line, strcspn(line, " "));
    const int before = GPOINTER_TO_INT(g_hash_table_lookup(slots, name));
    if (!before)
        g_ptr_array_add(hosts, g_strdup(line));
    g_hash_table_insert(slots, name, GINT_TO_POINTER(before + number));
}

/* "h1=2 h2=4": what placement.h reads. */
static char *slots_text(GPtrArray *hosts, GHashTable *slots)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < hosts->len; i++) {
        const char *line = hosts->pdata[i];
        char *name = g_strndup(line, strcspn(line, " "));
        g_string_append_printf(text, "%s%s=%d", text->len ? " " : "", name, GPOINTER_TO_INT(g_hash_table_lookup(slots, name)));
        g_free(name);
    }
    return g_string_free(text, FALSE);
}

char **dome__hostfile_read(const char *path, char **slots, char **message)
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
    GHashTable *numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (char **line = lines; *line && !*message; line++) {
        char *start = g_strstrip(*line), *comment = strchr(start, '#');
        if (comment)
            *comment = 0;
        g_strchomp(start);
        if (start[0] == '*' || start[0] == '&') {
            *message = g_strdup_printf(
                "%s: the line '%s' is of a kind that is not supported: one host a line, with PVM's options", path, start);
        } else if (start[0]) {
            char *whole = g_strdup(start);
            const int number = take_slots(start);
            if (number && start[0])
                add_host(hosts, numbers, start, number);
            else
                *message = g_strdup_printf("%s: the line '%s' should be a host with slots=N, N from 1 on", path, whole);
            g_free(whole);
        }
    }
    g_strfreev(lines);
    g_free(text);
    if (!*message && hosts->len == 0)
        *message = g_strdup_printf("%s names no host", path);
    if (!*message && slots)
        *slots = slots_text(hosts, numbers);
    g_hash_table_destroy(numbers);
    if (*message) {
        g_ptr_array_unref(hosts);
        return NULL;
    }
    g_ptr_array_add(hosts, NULL);
    g_ptr_array_set_free_func(hosts, NULL);
    return (char **)g_ptr_array_free(hosts, FALSE);
}
