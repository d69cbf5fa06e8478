#include "daemon/daemon_record.h"

#include <string.h>

static void clear_pair(void *item)
{
    dome_pair *pair = item;
    g_free(pair->name);
    g_free(pair->value);
}

dome_record dome__record_new(const char *verb)
{
    dome_record record = {g_strdup(verb), g_array_new(FALSE, FALSE, sizeof(dome_pair))};
    g_array_set_clear_func(record.pairs, clear_pair);
    return record;
}

void dome__record_clear(dome_record *record)
{
    g_clear_pointer(&record->verb, g_free);
    g_clear_pointer(&record->pairs, g_array_unref);
}

/* ---- reading ---- */

/* Length of a word of small letters, digits and "-". */
static size_t word_length(const char *at, size_t length)
{
    size_t n = 0;
    while (n < length && (g_ascii_islower(at[n]) || g_ascii_isdigit(at[n]) || at[n] == '-'))
        n++;
    return n;
}

static bool is_plain(char c)
{
    return g_ascii_isalnum(c) || (c && strchr("-_./:,=+@~", c));
}

/* NULL if a byte may not stand so. */
static char *unescape(const char *at, size_t length)
{
    GString *text = g_string_sized_new(length);
    for (size_t i = 0; i < length; i++) {
        if (is_plain(at[i])) {
            g_string_append_c(text, at[i]);
            continue;
        }
        const int high = at[i] == '%' && i + 2 < length ? g_ascii_xdigit_value(at[i + 1]) : -1;
        const int low = high >= 0 ? g_ascii_xdigit_value(at[i + 2]) : -1;
        if (low < 0 || high * 16 + low == 0) {
            g_string_free(text, TRUE);
            return NULL;
        }
        g_string_append_c(text, (char)(high * 16 + low));
        i += 2;
    }
    return g_string_free(text, FALSE);
}

static bool parse_pair(const char *at, size_t length, dome_record *record)
{
    const size_t name = word_length(at, length);
    if (name == 0 || name == length || at[name] != '=' || record->pairs->len >= DOME_RECORD_PAIRS)
        return false;
    char *value = unescape(at + name + 1, length - name - 1);
    if (!value)
        return false;
    const dome_pair pair = {g_strndup(at, name), value};
    g_array_append_val(record->pairs, pair);
    return true;
}

bool dome__record_parse(const char *line, size_t length, dome_record *record)
{
    const size_t verb = word_length(line, length);
    *record = (dome_record){0};
    if (length > DOME_RECORD_MOST || verb == 0 || (verb < length && line[verb] != ' '))
        return false;
    char *name = g_strndup(line, verb);
    *record = dome__record_new(name);
    g_free(name);
    bool good = true;
    for (size_t at = verb; good && at < length;) {
        const char *end = memchr(line + at + 1, ' ', length - at - 1);
        const size_t next = end ? (size_t)(end - line) : length;
        good = parse_pair(line + at + 1, next - at - 1, record);
        at = next;
    }
    if (!good)
        dome__record_clear(record);
    return good;
}

/* ---- writing ---- */

char *dome__record_line(const dome_record *record)
{
    GString *line = g_string_new(record->verb);
    for (guint i = 0; i < record->pairs->len; i++) {
        const dome_pair *pair = &g_array_index(record->pairs, dome_pair, i);
        g_string_append_printf(line, " %s=", pair->name);
        for (const char *at = pair->value; *at; at++) {
            if (is_plain(*at))
                g_string_append_c(line, *at);
            else
                g_string_append_printf(line, "%%%02X", (unsigned char)*at);
        }
    }
    return g_string_free(line, FALSE);
}

void dome__record_add(dome_record *record, const char *name, const char *value)
{
    if (!value)
        return;
    const dome_pair pair = {g_strdup(name), g_strdup(value)};
    g_array_append_val(record->pairs, pair);
}

void dome__record_add_number(dome_record *record, const char *name, int64_t value)
{
    char text[32];
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, value);
    dome__record_add(record, name, text);
}

void dome__record_add_all(dome_record *record, const char *name, char *const *values)
{
    for (; values && *values; values++)
        dome__record_add(record, name, *values);
}

/* ---- asking ---- */

const char *dome__record_get(const dome_record *record, const char *name)
{
    for (guint i = 0; i < record->pairs->len; i++) {
        const dome_pair *pair = &g_array_index(record->pairs, dome_pair, i);
        if (strcmp(pair->name, name) == 0)
            return pair->value;
    }
    return NULL;
}

bool dome__record_number(const dome_record *record, const char *name, int64_t least, int64_t most, int64_t otherwise,
                         int64_t *value)
{
    const char *text = dome__record_get(record, name);
    gint64 number = otherwise;
    const bool good = !text || g_ascii_string_to_signed(text, 10, least, most, &number, NULL);
    *value = good ? number : otherwise;
    return good;
}

char **dome__record_all(const dome_record *record, const char *name)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint i = 0; i < record->pairs->len; i++) {
        const dome_pair *pair = &g_array_index(record->pairs, dome_pair, i);
        if (strcmp(pair->name, name) == 0)
            g_ptr_array_add(all, g_strdup(pair->value));
    }
    g_ptr_array_add(all, NULL);
    return (char **)g_ptr_array_free(all, FALSE);
}
