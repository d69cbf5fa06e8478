/* A flush is made a call. gcc itself makes it an instruction, which says nothing to other processes.
 *
 *     #pragma omp flush(x)              C, preprocessed: the pragma stays, so that the compiler judges it
 *     dome__omp_flush_here ();
 *     # 8 "prog.c"                      the next line has the number that it had */
#include "dome_omp.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char declaration[] =
    "extern void dome__omp_flush_here (void) __asm__ (\"dome_omp_flush\") __attribute__ ((__nothrow__));\n";
static const char call[] = "dome__omp_flush_here ();\n";

typedef struct reader {
    const char *at, *end;
    unsigned long line; /* of the file that the compiler names */
    char *file;         /* in quotes, as the preprocessor wrote it; NULL: it has named none */
    GString *raw;       /* the end of the raw string that the reader is in: ")x\""; empty: in none */
} reader;

static bool is_word(int c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* `at` is behind the word's last character or NULL: the line does not continue so. Blanks may precede the word. */
static const char *skip_word(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    while (at && at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (!at || (size_t)(end - at) < length || g_ascii_strncasecmp(at, word, length) != 0)
        return NULL;
    at += length;
    return at < end && is_word(word[length - 1]) && is_word(*at) ? NULL : at;
}

/* # 12 "file" 3 */
static bool read_marker(reader *r, const char *line, const char *end)
{
    char *rest = NULL;
    const char *at = skip_word(line, end, "#");
    const unsigned long number = at ? strtoul(at, &rest, 10) : 0;
    if (!at || rest == at || rest >= end || *rest != ' ' || rest[1] != '"')
        return false;
    const char *quote = rest + 2;
    while (quote < end && *quote != '"')
        quote += 1 + (*quote == '\\');
    if (quote >= end)
        return false;
    g_free(r->file);
    r->file = g_strndup(rest + 1, (gsize)(quote - rest));
    r->line = number;
    return true;
}

/* A string or a character, up to its end or that of the line. */
static const char *skip_quoted(const char *at, const char *end)
{
    const char quote = *at++;
    while (at < end && *at != quote && *at != '\n')
        at += 1 + (*at == '\\' && at + 1 < end);
    return at < end && *at == quote ? at + 1 : at;
}

/* A name, a number ("1'000"), or, if it is the prefix of one, the beginning of a raw string. */
static const char *skip_name(const char *at, const char *end, GString *raw)
{
    static const char *const prefixes[] = {"R", "u8R", "uR", "UR", "LR"};
    const char *begin = at;
    const bool number = isdigit((unsigned char)*at);
    while (at < end && (is_word(*at) || (number && *at == '\'' && at + 1 < end && is_word(at[1]))))
        at++;
    const char *open = at < end && *at == '"' ? memchr(at, '(', (size_t)(end - at)) : NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(prefixes) && open; i++) {
        if (strlen(prefixes[i]) != (size_t)(at - begin) || memcmp(begin, prefixes[i], strlen(prefixes[i])) != 0)
            continue;
        g_string_printf(raw, ")%.*s\"", (int)(open - at - 1), at + 1);
        return open + 1;
    }
    return at;
}

const char *text_skip(const char *at, const char *end, GString *raw)
{
    if (raw->len) {
        const char *close = memmem(at, (size_t)(end - at), raw->str, raw->len);
        if (!close)
            return end;
        at = close + raw->len;
        g_string_truncate(raw, 0);
        return at;
    }
    if (*at == '"' || *at == '\'')
        return skip_quoted(at, end);
    return is_word(*at) ? skip_name(at, end, raw) : at + 1;
}

/* Follows strings through a line of the program, because a raw one has lines that look like others. */
static void follow(reader *r, const char *at, const char *end)
{
    while (at < end)
        at = text_skip(at, end, r->raw);
}

bool flush_calls(const char *text, gsize length, GString *result)
{
    reader r = {.at = text, .end = text + length, .line = 1, .raw = g_string_new(NULL)};
    bool any = false, declared = false;
    while (r.at < r.end) {
        const char *newline = memchr(r.at, '\n', (size_t)(r.end - r.at)), *end = newline ? newline + 1 : r.end;
        const char *pragma = r.raw->len ? NULL : skip_word(skip_word(skip_word(r.at, end, "#"), end, "pragma"), end, "omp");
        const bool marker = !r.raw->len && read_marker(&r, r.at, end), flush = skip_word(pragma, end, "flush") != NULL;
        g_string_append_len(result, r.at, end - r.at);
        if (!marker)
            r.line++;
        if (!marker && !pragma)
            follow(&r, r.at, end);
        if (!declared || flush) { /* behind the first line, which names the file */
            g_string_append(result, declared ? call : declaration);
            if (r.file)
                g_string_append_printf(result, "# %lu %s\n", r.line, r.file);
        }
        declared = true;
        any = any || flush;
        r.at = end;
    }
    g_string_free(r.raw, TRUE);
    g_free(r.file);
    return any;
}

/* The call precedes the directive, which may have lines of continuation. */
bool flush_calls_fortran(const char *text, const char *name, bool fixed, GString *result)
{
    char *escaped = g_strescape(name, NULL);
    reader r = {.line = 1, .file = g_strdup_printf("\"%s\"", escaped)};
    bool any = false;
    g_string_append_printf(result, "# 1 %s\n", r.file);
    for (const char *at = text, *end; *at; at = end) {
        const char *newline = strchr(at, '\n'), *sentinel = NULL;
        end = newline ? newline + 1 : at + strlen(at);
        const bool marker = read_marker(&r, at, end);
        if (!fixed)
            sentinel = skip_word(at, end, "!$omp");
        else if (strchr("!cC*", *at) && g_ascii_strncasecmp(at + 1, "$omp", 4) == 0 && (at[5] == ' ' || at[5] == '0'))
            sentinel = at + 6;
        if (skip_word(sentinel, end, "flush")) {
            g_string_append_printf(result, "      call dome_omp_flush()\n# %lu %s\n", r.line, r.file);
            any = true;
        }
        g_string_append_len(result, at, end - at);
        r.line += !marker;
    }
    g_free(escaped);
    g_free(r.file);
    return any;
}
