#include "dickpt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char word[] = "dickpt";

typedef struct place {
    char *file;
    unsigned long line;
} place;

/* # 12 "file" 3 */
static bool read_marker(const char *line, place *p)
{
    if (line[0] != '#' || line[1] != ' ' || !isdigit((unsigned char)line[2]))
        return false;
    char *rest;
    p->line = strtoul(line + 2, &rest, 10);
    const char *quote = rest[0] == ' ' && rest[1] == '"' ? strchr(rest + 2, '"') : NULL;
    if (quote) {
        g_free(p->file);
        p->file = g_strndup(rest + 2, (gsize)(quote - rest - 2));
    }
    return true;
}

static const char *skip(const char *at, const char *what)
{
    while (*at == ' ' || *at == '\t')
        at++;
    const size_t n = strlen(what);
    if (strncmp(at, what, n) != 0 || (isalnum((unsigned char)what[n - 1]) && (isalnum((unsigned char)at[n]) || at[n] == '_')))
        return NULL;
    return at + n;
}

/* What follows "#pragma dickpt", without blanks at its ends; NULL: it is another line. */
static char *directive_of(const char *line, const char *end)
{
    const char *at = skip(line, "#");
    at = at ? skip(at, "pragma") : NULL;
    at = at ? skip(at, word) : NULL;
    return at && at <= end ? g_strstrip(g_strndup(at, (gsize)(end - at))) : NULL;
}

/* The name of the file as an expression. A bare word is the name itself. */
static char *name_of(const char *text)
{
    if (*text == '"' || *text == '(')
        return g_strdup(text);
    char *escaped = g_strescape(text, NULL), *quoted = g_strdup_printf("\"%s\"", escaped);
    g_free(escaped);
    return quoted;
}

/* False: there is no such directive. */
static bool append_call(GString *to, const char *directive, const place *p)
{
    const char *what = NULL, *file = skip(directive, "save");
    if (strcmp(directive, "start") == 0 || strcmp(directive, "stop") == 0)
        what = directive;
    else if (!file || !*(file += strspn(file, " \t")))
        return false;
    if (what) {
        g_string_append_printf(to, "dome_dickpt_%s (\"%s:%lu\");", what, p->file ? p->file : "", p->line);
    } else {
        char *name = name_of(file);
        g_string_append_printf(to, "dome_dickpt_save (%s, \"%s:%lu\");", name, p->file ? p->file : "", p->line);
        g_free(name);
    }
    return true;
}

static void declare(GString *to, bool cplusplus, bool numbered)
{
    const char *linkage = cplusplus ? "extern \"C\"" : "extern";
    g_string_append_printf(to,
                           "%s void dome_dickpt_start (const char *); %s void dome_dickpt_stop (const char *); "
                           "%s void dome_dickpt_save (const char *, const char *);\n%s",
                           linkage, linkage, linkage, numbered ? "" : "# 1 \"text\"\n");
}

bool dickpt_calls(const char *text, bool cplusplus, GString *result, char **wrong)
{
    place p = {NULL, 1};
    bool any = false;
    *wrong = NULL;
    for (const char *line = text; *line && !*wrong;) {
        const char *newline = strchr(line, '\n'), *end = newline ? newline : line + strlen(line);
        const bool marker = read_marker(line, &p);
        char *directive = *line == '#' && !marker ? directive_of(line, end) : NULL;
        if (line == text)
            declare(result, cplusplus, marker);
        if (directive && !append_call(result, directive, &p))
            *wrong = g_strdup_printf("%s:%lu: error: #pragma dickpt %s: start, stop and save FILE are known",
                                     p.file ? p.file : "", p.line, directive);
        if (!directive)
            g_string_append_len(result, line, end - line);
        any = any || directive;
        g_free(directive);
        p.line += !marker;
        if (newline)
            g_string_append_c(result, '\n');
        line = newline ? newline + 1 : end;
    }
    g_free(p.file);
    if (!any)
        g_string_truncate(result, 0);
    return any;
}
