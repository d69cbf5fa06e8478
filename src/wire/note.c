#include "wire/note.h"

#include <stdbool.h>
#include <string.h>

struct dome_note {
    GHashTable *values; /* by key */
};

void dome__note_begin(GString *to, const char *kind, unsigned version)
{
    g_string_append_printf(to, "%s %u\n", kind, version);
}

void dome__note_put(GString *to, const char *key, const char *value)
{
    g_string_append_printf(to, "%s=", key);
    for (const char *c = value; *c; c++)
        switch (*c) {
        case '\\':
            g_string_append(to, "\\\\");
            break;
        case '\n':
            g_string_append(to, "\\n");
            break;
        default:
            g_string_append_c(to, *c);
        }
    g_string_append_c(to, '\n');
}

/* In place. False: a backslash stands before something else. */
static bool unescape(char *value)
{
    char *to = value;
    for (const char *c = value; *c; c++) {
        const bool escaped = *c == '\\';
        c += escaped;
        if (escaped && *c != '\\' && *c != 'n')
            return false;
        *to++ = (char)(escaped && *c == 'n' ? '\n' : *c);
    }
    *to = '\0';
    return true;
}

static bool is_key(const char *word)
{
    return *word && strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(word);
}

/* Takes the line apart, which then holds key and value. */
static bool read_line(char *line, GHashTable *values)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return false;
    *equals = '\0';
    if (!is_key(line) || g_hash_table_contains(values, line) || !unescape(equals + 1))
        return false;
    return g_hash_table_insert(values, g_strdup(line), g_strdup(equals + 1));
}

/* Whether the first line is that of such a note. */
static bool read_first(const char *line, const char *kind, unsigned version, char **why)
{
    const size_t length = strlen(kind);
    guint64 found;
    if (strncmp(line, kind, length) != 0 || line[length] != ' ' ||
        !g_ascii_string_to_unsigned(line + length + 1, 10, 0, G_MAXUINT, &found, NULL))
        *why = g_strdup("it is none of Dome's");
    else if (found != version)
        *why = g_strdup_printf("it is of version %u, and this library reads version %u", (unsigned)found, version);
    return !*why;
}

dome_note *dome__note_read(const char *text, const char *kind, unsigned version, char **why)
{
    char **lines = g_strsplit(text, "\n", -1);
    dome_note *note = g_new(dome_note, 1);
    note->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    *why = NULL;
    bool good = read_first(lines[0] ? lines[0] : "", kind, version, why);
    for (int k = 1; good && lines[k]; k++)
        if ((*lines[k] || lines[k + 1]) && !read_line(lines[k], note->values)) { /* after the last line there is nothing */
            *why = g_strdup_printf("its line %d is damaged", k + 1);
            good = false;
        }
    g_strfreev(lines);
    if (!good)
        g_clear_pointer(&note, dome__note_free);
    return note;
}

const char *dome__note_get(const dome_note *note, const char *key)
{
    return g_hash_table_lookup(note->values, key);
}

void dome__note_free(dome_note *note)
{
    if (!note)
        return;
    g_hash_table_unref(note->values);
    g_free(note);
}
