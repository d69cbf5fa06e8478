/* The text of a file: what stands where, apart from literals and line markers. */
#include "front/front.h"

#include <string.h>

/* ---- text ---- */

/* Behind a literal or line marker that begins at `at`; `at` itself if none does. */
static unsigned over(const unit *u, unsigned at)
{
    const char *t = u->original;
    if (t[at] == '"' || t[at] == '\'') {
        char quote = t[at++];
        while (at < u->length && t[at] != quote)
            at += t[at] == '\\' ? 2 : 1;
        return at + 1;
    }
    if (t[at] == '#' && (at == 0 || t[at - 1] == '\n')) {
        while (at < u->length && t[at] != '\n')
            at++;
    }
    return at;
}

unsigned text_skip(const unit *u, unsigned at)
{
    while (at < u->length) {
        unsigned next = u->original[at] == '#' ? over(u, at) : at;
        if (next == at && !g_ascii_isspace(u->original[at]))
            break;
        at = next == at ? at + 1 : next;
    }
    return at;
}

unsigned text_find(const unit *u, unsigned at, unsigned end, char what)
{
    int depth = 0;
    while (at < end) {
        unsigned next = over(u, at);
        if (next != at) {
            at = next;
            continue;
        }
        char c = u->original[at];
        if (depth == 0 && c == what)
            return at;
        depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        at++;
    }
    return end;
}

unsigned text_close(const unit *u, unsigned at)
{
    return text_find(u, at + 1, u->length, ')');
}

char *text_flat(const unit *u, unsigned a, unsigned b)
{
    GString *s = g_string_new(NULL);
    while (a < b) {
        unsigned next = over(u, a);
        if (next == a) {
            char c = u->original[a++];
            if (!g_ascii_isspace(c))
                g_string_append_c(s, c);
            else if (s->len && s->str[s->len - 1] != ' ')
                g_string_append_c(s, ' ');
        } else {
            if (u->original[a] != '#')
                g_string_append_len(s, u->original + a, MIN(next, b) - a);
            a = next;
        }
    }
    return g_string_free(s, FALSE);
}

guint64 text_hash_on(guint64 hash, const char *text)
{
    for (const char *p = text; *p; p++)
        if (*p != ' ')
            hash = (hash ^ (guchar)*p) * G_GUINT64_CONSTANT(1099511628211);
    return hash;
}

guint64 text_hash(const unit *u, unsigned a, unsigned b)
{
    char *text = text_flat(u, a, b);
    guint64 hash = text_hash_on(G_GUINT64_CONSTANT(14695981039346656037), text);
    g_free(text);
    return hash;
}

/* Without numbers and strings: those that macros of headers leave (UINTPTR_MAX, PRId64) differ between machines. */
char *text_without_literals(char *text)
{
    char *to = text, before = ' ';
    for (char *at = text; *at;) {
        if (*at == '\'') { /* a character, which may be a quote */
            do {
                if (*at == '\\' && at[1])
                    *to++ = *at++;
                *to++ = *at++;
            } while (*at && *at != '\'');
            if (*at)
                *to++ = *at++;
        } else if (*at == '"') {
            for (at++; *at && *at != '"'; at += *at == '\\' && at[1] ? 2 : 1)
                ;
            at += *at != '\0';
        } else if (g_ascii_isdigit(*at) && !g_ascii_isalnum(before) && before != '_') {
            while (g_ascii_isalnum(*at) || *at == '.' || ((*at == '+' || *at == '-') && strchr("eEpP", at[-1])))
                at++;
        } else {
            before = *to++ = *at++;
            continue;
        }
        before = ' ';
    }
    *to = '\0';
    return text;
}

bool text_in_list(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}
