/* The metadata of Zarr arrays, prepared for libjansson. */
#include "files/zarr_private.h"

#include <glib.h>
#include <string.h>

/* A position in a text, of which the part before it is done. */
typedef struct scanner {
    const char *at, *end;
    GString *out;
} scanner;

/* The token that begins here: a string, a number or word, or one character. Strings may hold anything behind a backslash. */
static size_t token(const scanner *s)
{
    const char *p = s->at;
    if (*p == '"') {
        for (p++; p < s->end && *p != '"'; p++)
            if (*p == '\\' && p + 1 < s->end)
                p++;
        return (size_t)(p - s->at) + (p < s->end);
    }
    while (p < s->end && (g_ascii_isalnum(*p) || (*p && strchr("+-._", *p))))
        p++;
    return p > s->at ? (size_t)(p - s->at) : 1;
}

/* Whether the digits are beyond 2^63 - 1; with a minus sign, beyond 2^63. */
static bool too_long(const char *text, size_t length)
{
    static const char largest[] = "9223372036854775807", smallest[] = "9223372036854775808";
    const char *limit = *text == '-' ? smallest : largest;
    if (*text == '-') {
        text++;
        length--;
    }
    for (size_t i = 0; i < length; i++)
        if (!g_ascii_isdigit(text[i]))
            return false;
    return length > strlen(limit) || (length == strlen(limit) && memcmp(text, limit, length) > 0);
}

static bool is(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(text, word, length);
}

static void copy_token(scanner *s)
{
    size_t length = token(s);
    bool quote =
        too_long(s->at, length) || is(s->at, length, "NaN") || is(s->at, length, "Infinity") || is(s->at, length, "-Infinity");
    if (quote)
        g_string_append_c(s->out, '"');
    g_string_append_len(s->out, s->at, (gssize)length);
    if (quote)
        g_string_append_c(s->out, '"');
    s->at += length;
}

static void copy_space(scanner *s)
{
    while (s->at < s->end && g_ascii_isspace(*s->at))
        g_string_append_c(s->out, *s->at++);
}

/* Puts null in the place of the value that begins here, and keeps its ends of lines. A value without an end stays, for libjansson
 * to find. */
static void drop_value(scanner *s)
{
    scanner ahead = *s;
    int depth = 0;
    do {
        depth += *ahead.at == '{' || *ahead.at == '[';
        depth -= *ahead.at == '}' || *ahead.at == ']';
        ahead.at += token(&ahead);
    } while (ahead.at < ahead.end && depth > 0);
    if (depth != 0)
        return;
    g_string_append(s->out, "null");
    for (; s->at < ahead.at; s->at++)
        if (*s->at == '\n')
            g_string_append_c(s->out, '\n');
}

char *dome__zarr_plain_json(const char *text, size_t bytes, size_t *length)
{
    scanner s = {.at = text, .end = text + bytes, .out = g_string_sized_new(bytes + 1)};
    int depth = 0;
    while (s.at < s.end) {
        bool name = depth == 1 && is(s.at, token(&s), "\"attributes\"");
        depth += *s.at == '{' || *s.at == '[';
        depth -= *s.at == '}' || *s.at == ']';
        copy_token(&s);
        if (!name)
            continue;
        copy_space(&s);
        if (s.at < s.end && *s.at == ':') {
            copy_token(&s);
            copy_space(&s);
            if (s.at < s.end)
                drop_value(&s);
        }
    }
    *length = s.out->len;
    return g_string_free(s.out, FALSE);
}
